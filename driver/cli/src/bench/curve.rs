//! `rewright bench --curve`: how the time of each conversion grows with the number of statements.
//!
//! A module of our own text with one function, of 10 statements and more, is read, taken apart into skeleton and
//! e-graph, saturated, selected from, put together again and printed. A linear phase takes the same time per
//! statement at all sizes. The function is straight line code in which every statement is needed and none can be
//! simplified: what is measured is the number of statements, and as many come back as went in. The same function as CLIF
//! goes through Cranelift's own mid-end.

use super::{Args, OURS, THEIRS, Told, out, tell};
use crate::Finding;
use anyhow::{Result, anyhow};
use rewright_cfg_skeleton::ir::inline::instructions;
use rewright_cfg_skeleton::ir::parse;
use rewright_cfg_skeleton::ir::text::Printer;
use rewright_clif::read::read_bytes;
use rewright_extract::clock;
use rewright_lab::midend::Cranelift;
use rewright_pipeline::optimiser::{Optimiser, Options, Phase};
use rewright_report::bench::{Axis, Chart, Series};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::time::Duration;

/// What is measured, in order; conversions to the e-graph come before saturation, conversions back after.
const STEPS: [(&str, &[Phase]); 6] = [
    ("text->IR", &[]),
    ("IR->e-graph", &[Phase::Normalise, Phase::Build]),
    ("saturate", &[Phase::Saturate]),
    ("select", &[Phase::ReadBack, Phase::Changes, Phase::Select]),
    ("e-graph->IR", &[Phase::Elaborate, Phase::Cleanup]),
    ("IR->text", &[]),
];

/// One size.
struct Row {
    statements: usize,
    /// Statements that come back.
    back: usize,
    /// By step; the fastest of all runs.
    times: [Duration; STEPS.len()],
    /// Of Cranelift's mid-end.
    theirs: Duration,
}

pub(super) fn run(args: &Args, optimiser: &Optimiser, options: &Options, most: usize) -> Result<Finding> {
    let cranelift = Cranelift::host().map_err(|e| anyhow!("Cranelift does not support this host: {e}"))?;
    let sizes = sizes(most);
    let progress = out::progress("sizes", sizes.len() as u64);
    let measured = |n| {
        progress.inc(1);
        measure(optimiser, &cranelift, options, n, args.repeat.max(1))
    };
    let rows = sizes.into_iter().map(measured).collect::<Result<Vec<Row>>>();
    progress.finish_and_clear();
    let rows = rows?;
    let title = format!("bench --curve {most}");
    tell(args, Told { title, text: as_text(&rows), json: as_json(&rows), charts: charts(&rows) })?;
    Ok(Finding::Clean)
}

/// Times by step, as a whole and per statement, over sizes.
fn charts(rows: &[Row]) -> Vec<Chart> {
    let curve = |name: &str, of: &dyn Fn(&Row) -> f64| {
        let points = rows.iter().map(|row| (row.statements as f64, of(row)));
        Series { name: name.into(), points: points.collect(), joined: true }
    };
    let over = |title: &str, y: Axis, series: Vec<Series>| Chart {
        title: title.into(),
        x: Axis::logarithmic("statements"),
        y,
        series,
    };
    let steps = STEPS.iter().enumerate();
    vec![
        over(
            "Time from text to text",
            Axis::logarithmic("ms"),
            vec![
                curve(OURS, &|row| row.times.iter().sum::<Duration>().as_secs_f64() * 1e3),
                curve(THEIRS, &|row| row.theirs.as_secs_f64() * 1e3),
            ],
        ),
        over(
            "Time per statement, by step",
            Axis::logarithmic("us"),
            steps.map(|(step, (name, _))| curve(name, &|row| per_statement(row, step))).collect(),
        ),
    ]
}

/// 10, 30, 100, .. and the most.
fn sizes(most: usize) -> Vec<usize> {
    let mut sizes: Vec<usize> = (1..)
        .map(|n: u32| if n % 2 == 1 { 10usize.pow(n / 2 + 1) } else { 3 * 10usize.pow(n / 2) })
        .take_while(|n| *n < most)
        .collect();
    sizes.push(most);
    sizes
}

/// Each statement takes the results of the two before it, so that only the last one is returned.
fn chain(statements: usize) -> String {
    let mut text = String::from("func %chain(%v0: i64, %v1: i64) -> i64 {\n");
    for n in 0..statements {
        let name = ["iadd", "imul", "bxor"][n % 3];
        let _ = writeln!(text, "  %v{} = {name} %v{}, %v{n}", n + 2, n + 1);
    }
    let _ = writeln!(text, "  return %v{}\n}}", statements + 1);
    text
}

/// The same as CLIF.
fn chain_of_clif(statements: usize) -> String {
    let mut text = String::from("function %chain(i64, i64) -> i64 {\nblock0(v0: i64, v1: i64):\n");
    for n in 0..statements {
        let name = ["iadd", "imul", "bxor"][n % 3];
        let _ = writeln!(text, "    v{} = {name} v{}, v{n}", n + 2, n + 1);
    }
    let _ = writeln!(text, "    return v{}\n}}", statements + 1);
    text
}

fn measure(optimiser: &Optimiser, cranelift: &Cranelift, options: &Options, size: usize, repeat: u32) -> Result<Row> {
    let clif = read_bytes(chain_of_clif(size).as_bytes())?;
    let mut theirs = Duration::MAX;
    let universe = &optimiser.program().universe;
    let text = chain(size);
    let mut back = 0;
    let mut times = [Duration::MAX; STEPS.len()];
    for _ in 0..repeat {
        let mut keep = |step: &str, time: Duration| {
            let slot = STEPS.iter().position(|(name, _)| *name == step);
            slot.into_iter().for_each(|slot| times[slot] = times[slot].min(time));
        };
        let mut own = universe.clone();
        let start = clock::now();
        let mut module = parse::read(&text, &mut own).map_err(|errors| match errors.first() {
            Some(error) => anyhow!("the rules do not declare the operations of the made-up module: {error}"),
            None => anyhow!("the made-up module cannot be read"),
        })?;
        keep("text->IR", clock::since(start));
        let mut batch = optimiser.optimise(&module.functions, &own, options);
        for (name, phases) in STEPS.iter().filter(|(_, phases)| !phases.is_empty()) {
            keep(name, phases.iter().filter_map(|phase| batch.phases.times.get(phase)).sum());
        }
        module.functions = batch.outcomes.drain(..).map(|outcome| outcome.function).collect();
        back = module.functions.iter().map(instructions).sum();
        let start = clock::now();
        let printed = Printer(&module, &own).to_string();
        keep("IR->text", clock::since(start));
        std::hint::black_box(printed);
        for function in &clif.functions {
            theirs = theirs.min(cranelift.optimise(&function.func)?.1);
        }
    }
    Ok(Row { statements: size, back, times, theirs })
}

/// Microseconds per statement.
fn per_statement(row: &Row, step: usize) -> f64 {
    row.times[step].as_secs_f64() * 1e6 / row.statements.max(1) as f64
}

fn as_text(rows: &[Row]) -> String {
    let mut text = format!("us per statement\n{:>10}  {:>10}", "statements", "come back");
    STEPS.iter().for_each(|(name, _)| text += &format!("  {name:>11}"));
    text += "    Cranelift\n";
    for row in rows {
        text += &format!("{:>10}  {:>10}", row.statements, row.back);
        (0..STEPS.len()).for_each(|step| text += &format!("  {:>11.2}", per_statement(row, step)));
        text += &format!("  {:>11.2}\n", row.theirs.as_secs_f64() * 1e6 / row.statements.max(1) as f64);
    }
    text
}

fn as_json(rows: &[Row]) -> Value {
    let row = |row: &Row| {
        let times = STEPS.iter().zip(&row.times).map(|((name, _), time)| (name.to_string(), json!(time.as_secs_f64())));
        let seconds: serde_json::Map<_, _> = times.collect();
        json!({
            "statements": row.statements,
            "come_back": row.back,
            "seconds": seconds,
            "cranelift_seconds": row.theirs.as_secs_f64(),
        })
    };
    json!(rows.iter().map(row).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::sizes;

    #[test]
    fn sizes_end_at_the_most() {
        assert_eq!(sizes(5000), [10, 30, 100, 300, 1000, 3000, 5000]);
        assert_eq!(sizes(100), [10, 30, 100]);
        assert_eq!(sizes(3), [3]);
    }
}
