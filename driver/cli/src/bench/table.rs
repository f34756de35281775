//! The one table at the end of `rewright bench FILES`: all that is compared with Cranelift's mid-end, a figure a row.
//! Rows that a run does not measure say what would.

use serde_json::{Value, json};
use std::fmt::Write as _;
use std::time::Duration;

/// A row.
pub(super) struct Row {
    /// What is compared.
    pub(super) figure: String,
    pub(super) compared: Comparison,
}

/// How ours compares.
pub(super) enum Comparison {
    /// A mean of ratios of ours to Cranelift's, over so many.
    Mean { ratio: f64, over: usize },
    /// Ours and Cranelift's.
    Times { ours: Duration, theirs: Duration },
    /// So many of so many.
    Count { count: usize, of: usize },
    /// What would measure it.
    NotMeasured(&'static str),
}

impl Row {
    pub(super) fn new(figure: impl Into<String>, compared: Comparison) -> Row {
        Row { figure: figure.into(), compared }
    }
}

fn milliseconds(time: Duration) -> String {
    format!("{:.3} ms", time.as_secs_f64() * 1e3)
}

fn ratio(ours: Duration, theirs: Duration) -> f64 {
    ours.as_secs_f64() / theirs.as_secs_f64().max(1e-9)
}

pub(super) fn as_text(rows: &[Row]) -> String {
    let width = rows.iter().map(|row| row.figure.chars().count()).max().unwrap_or_default();
    let mut text =
        format!("{:<width$} {:>14} {:>14} {:>10}\n", "against Cranelift's mid-end", "ours", "Cranelift's", "ratio");
    for Row { figure, compared } in rows {
        let _ = write!(text, "{figure:<width$} ");
        let _ = match compared {
            Comparison::Mean { ratio, over } => writeln!(text, "{:>14} {:>14} {ratio:>10.4}  over {over}", "", ""),
            Comparison::Times { ours, theirs } => {
                let (left, right) = (milliseconds(*ours), milliseconds(*theirs));
                writeln!(text, "{left:>14} {right:>14} {:>10.2}", ratio(*ours, *theirs))
            }
            Comparison::Count { count, of } => writeln!(text, "{count:>14} {:>14} {:>10}  of {of}", "", ""),
            Comparison::NotMeasured(with) => writeln!(text, "not measured: {with}"),
        };
    }
    text
}

pub(super) fn as_json(rows: &[Row]) -> Value {
    let row = |Row { figure, compared }: &Row| match compared {
        Comparison::Mean { ratio, over } => json!({ "figure": figure, "ratio": ratio, "over": over }),
        Comparison::Times { ours, theirs } => json!({
            "figure": figure,
            "ours_seconds": ours.as_secs_f64(),
            "cranelift_seconds": theirs.as_secs_f64(),
            "ratio": ratio(*ours, *theirs),
        }),
        Comparison::Count { count, of } => json!({ "figure": figure, "count": count, "of": of }),
        Comparison::NotMeasured(with) => json!({ "figure": figure, "not_measured": with }),
    };
    rows.iter().map(row).collect()
}
