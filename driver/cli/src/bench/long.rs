//! `rewright bench --long`: long functions of one block, against Cranelift's mid-end.
//!
//! Each random function is optimised alone. Its cost is compared with that of what Cranelift makes of it; its time is
//! processor time from import to export, rules prepared. The exponent is that of the growth from one length to the
//! next: 1 is linear. Memory is the most that this process has held up to then, so lengths are measured in ascending
//! order.

use super::{Args, OURS, THEIRS, Told, out, peak_memory, tell};
use crate::Finding;
use anyhow::{Result, anyhow};
use rewright_cfg_skeleton::select::cost::reported;
use rewright_clif::optimise::ClifOptimiser;
use rewright_extract::clock;
use rewright_lab::losses::{Compared, compare};
use rewright_lab::midend::Cranelift;
use rewright_lab::straight_line::StraightLines;
use rewright_pipeline::optimiser::Options;
use rewright_report::bench::{Axis, Chart, Series};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::time::Duration;

/// One function.
struct Measured {
    seed: u64,
    compared: Compared,
    time: Duration,
    /// Of Cranelift's mid-end.
    theirs: Duration,
    exhausted: bool,
}

/// All functions of a length.
struct Row {
    instructions: u32,
    functions: Vec<Measured>,
    /// Bytes, where the system says it.
    peak: Option<u64>,
}

pub(super) fn run(args: &Args, clif: &ClifOptimiser, options: &Options) -> Result<Finding> {
    let cranelift = Cranelift::host().map_err(|e| anyhow!("Cranelift does not support this host: {e}"))?;
    let maker = StraightLines::new(clif);
    let mut lengths = args.long.clone();
    lengths.sort_unstable();
    lengths.dedup();
    let progress = out::progress("functions", lengths.len() as u64 * args.seeds);
    let mut rows = vec![];
    for instructions in lengths {
        let mut row = Row { instructions, functions: vec![], peak: None };
        for seed in 0..args.seeds {
            row.functions.push(measure(clif, options, &cranelift, &maker, seed, instructions)?);
            progress.inc(1);
        }
        row.peak = peak_memory();
        rows.push(row);
    }
    progress.finish_and_clear();
    let lengths: Vec<String> = rows.iter().map(|row| row.instructions.to_string()).collect();
    let title = format!("bench --long {} --seeds {}", lengths.join(","), args.seeds);
    tell(args, Told { title, text: as_text(&rows, args.losses), json: as_json(&rows), charts: charts(&rows) })?;
    Ok(Finding::Clean)
}

/// Means over functions of a length, over lengths.
fn charts(rows: &[Row]) -> Vec<Chart> {
    let curve = |name: &str, of: &dyn Fn(&Row) -> Option<f64>| {
        let points = rows.iter().filter_map(|row| Some((f64::from(row.instructions), of(row)?)));
        Series { name: name.into(), points: points.collect(), joined: true }
    };
    let cost =
        |name: &str, cost: fn(&Compared) -> u64| curve(name, &|row| Some(row.mean(&|f| reported(cost(&f.compared)))));
    let over = |title: &str, y: Axis, series: Vec<Series>| Chart {
        title: title.into(),
        x: Axis::logarithmic("instructions"),
        y,
        series,
    };
    vec![
        over(
            "Time per function",
            Axis::logarithmic("ms"),
            vec![
                curve(OURS, &|row| Some(row.seconds() * 1e3)),
                curve(THEIRS, &|row| Some(row.mean(&|f| f.theirs.as_secs_f64()) * 1e3)),
            ],
        ),
        over(
            "Cost per function",
            Axis::logarithmic("cost"),
            vec![cost("original", |c| c.before), cost(THEIRS, |c| c.theirs), cost(OURS, |c| c.ours)],
        ),
        over(
            "Cost in proportion to Cranelift's",
            Axis::linear("ratio"),
            vec![curve("all functions", &|row| Some(row.ratio())), curve("the worst one", &|row| Some(row.worst()))],
        ),
        over(
            "Memory of the process, up to then",
            Axis::linear("MiB"),
            vec![curve(OURS, &|row| Some(row.peak? as f64 / f64::from(1 << 20)))],
        ),
    ]
}

fn measure(
    clif: &ClifOptimiser,
    options: &Options,
    cranelift: &Cranelift,
    maker: &StraightLines<'_>,
    seed: u64,
    instructions: u32,
) -> Result<Measured> {
    let about = |reason: &dyn std::fmt::Display| anyhow!("{instructions} instructions from seed {seed}: {reason}");
    let file = maker.file(seed, instructions as usize).map_err(|error| about(&error))?;
    // This thread does all the work whatever `--threads` says: there is one function.
    let start = clock::now();
    let outcome = clif.optimise(&file, options, |_| true);
    let time = clock::since(start);
    let original = &file.functions[0].func;
    let start = clock::now();
    let (theirs, _) = cranelift.optimise(original).map_err(|error| about(&error))?;
    let time_of_theirs = clock::since(start);
    let made = outcome.statistics.wanted().next().ok_or_else(|| about(&"it did not go through"))?;
    let ours = outcome.replaced[0].as_ref().unwrap_or(original);
    let compared =
        compare(clif, options, &file, made, [ours, &theirs]).ok_or_else(|| about(&"the result is not read again"))?;
    let exhausted = made.outcome.as_ref().is_some_and(rewright_pipeline::optimiser::OptimisedFunction::exhausted);
    Ok(Measured { seed, compared, time, theirs: time_of_theirs, exhausted })
}

impl Row {
    /// Seconds of processor time per function.
    fn seconds(&self) -> f64 {
        self.mean(&|f| f.time.as_secs_f64())
    }

    /// The mean over functions.
    fn mean(&self, figure: &dyn Fn(&Measured) -> f64) -> f64 {
        self.functions.iter().map(figure).sum::<f64>() / self.functions.len().max(1) as f64
    }

    /// Our costs by Cranelift's, over all functions.
    fn ratio(&self) -> f64 {
        let sum = |cost: fn(&Compared) -> u64| self.functions.iter().map(|f| cost(&f.compared)).sum::<u64>() as f64;
        sum(|c| c.ours) / sum(|c| c.theirs).max(1.0)
    }

    /// The highest ratio of a function.
    fn worst(&self) -> f64 {
        let ratios = self.functions.iter().map(|f| f.compared.ours as f64 / f.compared.theirs.max(1) as f64);
        ratios.fold(0.0, f64::max)
    }

    fn dearer(&self) -> impl Iterator<Item = &Measured> {
        self.functions.iter().filter(|f| f.compared.ours > f.compared.theirs)
    }

    fn exhausted(&self) -> usize {
        self.functions.iter().filter(|f| f.exhausted).count()
    }

    /// How time grows from a shorter length to this one.
    fn exponent(&self, shorter: Option<&Row>) -> Option<f64> {
        let shorter = shorter?;
        let length = f64::from(self.instructions) / f64::from(shorter.instructions);
        Some((self.seconds() / shorter.seconds().max(1e-9)).ln() / length.ln())
    }
}

/// Each row with the one before it.
fn grown(rows: &[Row]) -> impl Iterator<Item = (&Row, Option<f64>)> {
    (0..rows.len()).map(|i| (&rows[i], rows[i].exponent(i.checked_sub(1).map(|before| &rows[before]))))
}

fn as_text(rows: &[Row], losses: bool) -> String {
    let heads =
        ["instructions", "functions", "cost ratio", "worst", "dearer", "exhausted", "CPU ms", "exponent", "MiB"];
    let mut text = String::new();
    heads.iter().for_each(|head| _ = write!(text, "{head:>12}"));
    for (row, exponent) in grown(rows) {
        let _ = write!(
            text,
            "\n{:>12}{:>12}{:>12.4}{:>12.4}{:>12}{:>12}{:>12.1}{:>12}{:>12}",
            row.instructions,
            row.functions.len(),
            row.ratio(),
            row.worst(),
            row.dearer().count(),
            row.exhausted(),
            row.seconds() * 1e3,
            exponent.map_or("-".into(), |exponent| format!("{exponent:.2}")),
            row.peak.map_or("-".into(), |bytes| format!("{}", bytes >> 20)),
        );
    }
    text += "\n";
    for row in rows.iter().filter(|_| losses) {
        for Measured { seed, compared: Compared { ours, theirs, loss, .. }, .. } in row.dearer() {
            let (ours, theirs) = (reported(*ours), reported(*theirs));
            let why = loss.as_ref().map_or(String::new(), |loss| format!(": {loss}"));
            let _ = writeln!(text, "{} instructions, seed {seed}: {ours} against {theirs}{why}", row.instructions);
        }
    }
    text
}

fn as_json(rows: &[Row]) -> Value {
    let function = |f: &Measured| {
        json!({
            "seed": f.seed,
            "before": reported(f.compared.before),
            "ours": reported(f.compared.ours),
            "cranelift": reported(f.compared.theirs),
            "reason": f.compared.loss.as_ref().map(|loss| loss.reason.code()),
            "seconds": f.time.as_secs_f64(),
            "cranelift_seconds": f.theirs.as_secs_f64(),
            "exhausted": f.exhausted,
        })
    };
    let row = |(row, exponent): (&Row, Option<f64>)| {
        json!({
            "instructions": row.instructions,
            "cost_ratio_to_cranelift": row.ratio(),
            "worst_cost_ratio_to_cranelift": row.worst(),
            "seconds_per_function": row.seconds(),
            "exponent": exponent,
            "peak_memory_bytes": row.peak,
            "functions": row.functions.iter().map(function).collect::<Vec<_>>(),
        })
    };
    json!(grown(rows).map(row).collect::<Vec<_>>())
}
