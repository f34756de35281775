//! `rewright bench --loops`: what the pack `std.loops` is worth to functions, in cost, in executed instructions, and in
//! processor time.
//!
//! Each file is optimised without the pack and with it. Our interpreter counts what is executed on the file's own
//! directives (`; run: %f(1) == 2`, `; print: %f(1)`), calls of the file's functions included; all versions must return
//! and call the same.

use super::{Args, Finding, Format, out};
use crate::{input, sources};
use anyhow::{Context, Result, anyhow};
use rewright_cfg_skeleton::select::cost::reported;
use rewright_clif::optimise::ClifOptimiser;
use rewright_dsl::diagnostic::count;
use rewright_extract::clock;
use rewright_lab::loops::{Measured, Row, Version, measure};
use rewright_pipeline::optimiser::Options;
use serde_json::{Map, Value, json};
use std::fmt::Write as _;
use std::path::PathBuf;
use std::time::Duration;

/// The pack that is measured.
const PACK: &str = "std.loops";

pub(super) fn run(args: &Args, without: &ClifOptimiser, options: &Options) -> Result<Finding> {
    let Some(program) = args.rules.and(PACK.into())?.load()? else { return Ok(Finding::Found) };
    let with = ClifOptimiser::new(program).context("the rules do not form a program")?;
    for clif in [without, &with] {
        clif.optimiser.accept_all().context("the rules do not form a program")?;
    }
    let mut files = vec![];
    let mut unreadable = 0;
    let paths = sources::clif_files(&args.paths)?;
    let progress = out::progress("files", paths.len() as u64);
    for path in paths {
        progress.inc(1);
        let Some(file) = input::clif(&path)? else {
            unreadable += 1;
            continue;
        };
        let measured =
            measure(&file, [without, &with], options, clock::now).map_err(|e| anyhow!("{}: {e}", path.display()))?;
        if file.functions.is_empty() {
            progress.suspend(|| out::note(&format!("warning: {} has no functions", path.display())));
        }
        files.push((path, measured));
    }
    progress.finish_and_clear();
    out::result(&match args.format {
        Format::Json => as_json(&files),
        Format::Text => as_text(&files),
    });
    let same = files.iter().flat_map(|(_, measured)| &measured.rows).all(Row::same);
    Ok(if unreadable == 0 && same { Finding::Clean } else { Finding::Found })
}

/// A figure of each version.
fn of_each<T>(row: &Row, figure: impl Fn(&rewright_lab::loops::Made) -> T) -> [T; 3] {
    row.made.each_ref().map(figure)
}

fn executed(row: &Row) -> [Option<u64>; 3] {
    let ran = |made: &rewright_lab::loops::Made| made.executed.as_ref().ok().map(|executed| executed.instructions);
    if row.directives == 0 { [None; 3] } else { of_each(row, ran) }
}

fn problem(row: &Row) -> Option<&str> {
    row.made.iter().find_map(|made| made.executed.as_ref().err()).map(String::as_str)
}

fn milliseconds(measured: &Measured) -> [f64; 2] {
    measured.times.map(|time| time.as_secs_f64() * 1e3)
}

fn as_text(files: &[(PathBuf, Measured)]) -> String {
    let mut text = String::new();
    let _ = writeln!(text, "{:<40} {:^11} {:^29} {:^29}", "", "loops", "cost", "executed instructions");
    let heads = ["before", "without", "with"];
    let _ = write!(text, "{:<40} {:>5}{:>6}", "function", "from", "to");
    heads.iter().chain(&heads).for_each(|head| _ = write!(text, "{head:>10}"));
    text.push('\n');
    for (path, measured) in files {
        let [without, with] = milliseconds(measured);
        let _ = writeln!(text, "{}: {without:.1} ms of processor time without, {with:.1} with", path.display());
        for row in &measured.rows {
            let loops = of_each(row, |made| made.loops);
            let _ = write!(text, "  {:<38} {:>5}{:>6}", row.name, loops[0], loops[2]);
            of_each(row, |made| made.cost).iter().for_each(|cost| _ = write!(text, "{:>10}", reported(*cost)));
            for n in executed(row) {
                let _ = write!(text, "{:>10}", n.map_or_else(|| "-".to_string(), |n| n.to_string()));
            }
            if row.made.iter().any(|made| made.exhausted) {
                text += "  a budget ended";
            }
            if !row.same() {
                text += "  THE RESULTS DIFFER";
            }
            if let Some(problem) = problem(row) {
                let _ = write!(text, "  not run: {problem}");
            }
            text.push('\n');
        }
    }
    text + &summary(files)
}

fn summary(files: &[(PathBuf, Measured)]) -> String {
    let rows: Vec<&Row> = files.iter().flat_map(|(_, measured)| &measured.rows).collect();
    let ran: Vec<[u64; 3]> = rows
        .iter()
        .filter_map(|row| {
            let [before, without, with] = executed(row);
            Some([before?, without?, with?])
        })
        .collect();
    let sum = |version: usize| ran.iter().map(|counts| counts[version]).sum::<u64>();
    let fewer = ran.iter().filter(|[_, without, with]| with < without).count();
    let more = ran.iter().filter(|[_, without, with]| with > without).count();
    let seconds = |version: usize| files.iter().map(|(_, m)| m.times[version]).sum::<Duration>().as_secs_f64();
    format!(
        "{} in {}: {} run, executed {} before, {} without, {} with the pack ({fewer} fewer, {more} more than without); \
         {:.2} s of processor time without, {:.2} with\n",
        count(rows.len(), "function"),
        count(files.len(), "file"),
        ran.len(),
        sum(0),
        sum(1),
        sum(2),
        seconds(0),
        seconds(1),
    )
}

fn as_json(files: &[(PathBuf, Measured)]) -> String {
    let named = |values: [Value; 3]| -> Value {
        Version::ALL
            .iter()
            .zip(values)
            .map(|(version, value)| (version.name().to_string(), value))
            .collect::<Map<_, _>>()
            .into()
    };
    let function = |row: &Row| {
        let calls = row.made[0].executed.as_ref().map(|executed| {
            let calls = executed.calls.iter().map(|(callee, calls)| {
                (callee.clone(), json!({ "count": calls.count, "trace": format!("{:016x}", calls.trace) }))
            });
            Value::from(calls.collect::<Map<_, _>>())
        });
        json!({
            "name": row.name,
            "directives": row.directives,
            "loops": named(of_each(row, |made| json!(made.loops))),
            "cost": named(of_each(row, |made| json!(reported(made.cost)))),
            "executed": named(executed(row).map(|n| json!(n))),
            "calls": calls.unwrap_or_default(),
            "same": row.same(),
            "exhausted": row.made.iter().any(|made| made.exhausted),
            "problem": problem(row),
        })
    };
    let file = |(path, measured): &(PathBuf, Measured)| {
        let [without, with] = milliseconds(measured);
        json!({
            "file": path.display().to_string(),
            "milliseconds": { "without": without, "with_loops": with },
            "functions": measured.rows.iter().map(function).collect::<Vec<_>>(),
        })
    };
    format!("{:#}\n", json!({ "files": files.iter().map(file).collect::<Vec<_>>() }))
}
