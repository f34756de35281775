//! `rewright bench --native`: what functions execute that are called, by version, and whether all versions do the same,
//! beside everything else that is measured of files.
//!
//! Executed instructions are those of the intermediate language, counted by our interpreter: all but constants and jumps
//! to the next block. The machine code is from the same back end in all versions.

use super::out;
use super::table::{self, Comparison};
use crate::input;
use anyhow::{Context, Result};
use rewright_clif::optimise::ClifOptimiser;
use rewright_dsl::diagnostic::count;
use rewright_lab::midend::Cranelift;
use rewright_lab::native::{Row, Version, measure};
use rewright_native::isolate::Worker;
use rewright_pipeline::optimiser::Options;
use serde_json::{Map, Value, json};
use std::fmt::Write as _;
use std::path::PathBuf;

/// The functions of files that are called.
type Files = Vec<(PathBuf, Vec<Row>)>;

/// What they execute.
pub(super) struct Called(Files);

/// Runs what is called in files that can be read.
pub(super) fn measured(
    paths: &[&PathBuf],
    clif: &ClifOptimiser,
    cranelift: &Cranelift,
    options: &Options,
) -> Result<Called> {
    let mut worker = Worker::new(std::env::current_exe().context("cannot find this program's own file")?);
    let mut files = Files::new();
    let progress = out::progress("files", paths.len() as u64);
    for path in paths {
        progress.inc(1);
        let Some(file) = input::clif(path)? else { continue };
        match measure(&file, clif, cranelift, options, &mut worker) {
            Ok(rows) => files.push((path.to_path_buf(), rows)),
            Err(why) => progress.suspend(|| out::note(&format!("warning: {} is left out: {why}", path.display()))),
        }
    }
    progress.finish_and_clear();
    Ok(Called(files))
}

impl Called {
    /// Do all versions do the same?
    pub(super) fn same(&self) -> bool {
        rows(&self.0).all(|row| row.difference.is_none())
    }

    /// Function by function, for people.
    pub(super) fn text(&self) -> String {
        as_text(&self.0)
    }

    /// The same for programs.
    pub(super) fn json(&self) -> Map<String, Value> {
        as_json(&self.0)
    }
}

/// Rows of the table, also where nothing was run.
pub(super) fn table_rows(called: Option<&Called>) -> Vec<table::Row> {
    let versions = [(Version::Ours, "executed instructions"), (Version::Both, "executed, Cranelift's pass after ours")];
    let row = |(version, figure): (Version, &str)| {
        let compared = called.map_or(Comparison::NotMeasured("`--native`"), |Called(files)| {
            let ratios = Ratios::new(files, version, executed);
            Comparison::Mean { ratio: ratios.mean, over: ratios.count }
        });
        table::Row::new(figure, compared)
    };
    versions.into_iter().map(row).collect()
}

fn rows(files: &Files) -> impl Iterator<Item = &Row> {
    files.iter().flat_map(|(_, rows)| rows)
}

/// Executed instructions by version, where every version ran to the end.
fn executed(row: &Row) -> Option<[u64; 4]> {
    let [original, theirs, ours, both] = row.made.each_ref().map(|made| made.executed.as_ref().ok().copied());
    Some([original?, theirs?, ours?, both?])
}

/// The ratios of a version's figures to those of Cranelift's mid-end: their geometric mean, and the highest.
struct Ratios {
    mean: f64,
    worst: f64,
    count: usize,
}

impl Ratios {
    fn new(files: &Files, version: Version, figures: impl Fn(&Row) -> Option<[u64; 4]>) -> Ratios {
        let figures = rows(files).filter_map(figures);
        let ratios = figures.map(|of| of[version as usize] as f64 / of[Version::Cranelift as usize] as f64);
        let ratios: Vec<f64> = ratios.filter(|ratio| ratio.is_finite() && *ratio > 0.0).collect();
        let mean = (ratios.iter().map(|ratio| ratio.ln()).sum::<f64>() / ratios.len().max(1) as f64).exp();
        Ratios { mean, worst: ratios.iter().copied().fold(0.0, f64::max), count: ratios.len() }
    }
}

fn bytes(row: &Row) -> Option<[u64; 4]> {
    let [original, theirs, ours, both] = row.made.each_ref().map(|made| Some(made.code?.bytes as u64));
    Some([original?, theirs?, ours?, both?])
}

/// Why a function was not run, or not compiled.
fn problem(row: &Row) -> Option<String> {
    let not_run = row.made.iter().find_map(|made| made.executed.as_ref().err());
    let not_run = not_run.map(|why| format!("not run: {why}"));
    not_run.or_else(|| row.only_interpreted.as_ref().map(|why| format!("only interpreted: {why}")))
}

fn as_text(files: &Files) -> String {
    let mut text = format!("{:<48}", "executed instructions");
    Version::ALL.iter().for_each(|version| _ = write!(text, "{:>12}", version.name()));
    text += "   ours/cranelift\n";
    for (path, rows) in files.iter().filter(|(_, rows)| !rows.is_empty()) {
        let _ = writeln!(text, "{}", path.display());
        for row in rows {
            let _ = write!(text, "  {:<46}", row.name);
            for made in &row.made {
                let _ = write!(text, "{:>12}", made.executed.as_ref().map_or("-".into(), u64::to_string));
            }
            if let Some(of) = executed(row) {
                let _ = write!(
                    text,
                    "{:>11.4}",
                    of[Version::Ours as usize] as f64 / of[Version::Cranelift as usize].max(1) as f64
                );
            }
            if let Some(difference) = &row.difference {
                let _ = write!(text, "  DIFFERENT: {difference}");
            } else if let Some(problem) = problem(row) {
                let _ = write!(text, "  {}", problem.lines().next().unwrap_or_default());
            }
            text.push('\n');
        }
    }
    let different = rows(files).filter(|row| row.difference.is_some()).count();
    let confirmed = rows(files).filter(|row| executed(row).is_some() && row.only_interpreted.is_none()).count();
    let _ = writeln!(
        text,
        "{}: {} run in all versions, {confirmed} of them compiled, too; {different} DIFFERENT",
        count(rows(files).count(), "called function"),
        rows(files).filter_map(executed).count(),
    );
    for version in [Version::Ours, Version::Both] {
        let (executed, bytes) = (Ratios::new(files, version, executed), Ratios::new(files, version, bytes));
        let _ = writeln!(
            text,
            "{}: executed instructions {:.4} of Cranelift's over {} (geometric mean; worst {:.4}), bytes of machine code \
             {:.4} (worst {:.4})",
            version.name(),
            executed.mean,
            executed.count,
            executed.worst,
            bytes.mean,
            bytes.worst,
        );
    }
    text
}

fn as_json(files: &Files) -> Map<String, Value> {
    let function = |row: &Row| {
        let versions = Version::ALL.iter().zip(&row.made).map(|(version, made)| {
            let figures = json!({
                "executed": made.executed.as_ref().ok(),
                "bytes": made.code.map(|code| code.bytes),
                "instructions": made.code.map(|code| code.instructions),
            });
            (version.name().to_string(), figures)
        });
        json!({
            "name": row.name,
            "versions": Value::from(versions.collect::<Map<_, _>>()),
            "difference": row.difference,
            "problem": problem(row),
        })
    };
    let file = |(path, rows): &(PathBuf, Vec<Row>)| json!({ "file": path.display().to_string(), "functions": rows.iter().map(function).collect::<Vec<_>>() });
    let ratios = |version: Version| {
        let (executed, bytes) = (Ratios::new(files, version, executed), Ratios::new(files, version, bytes));
        json!({ "executed": executed.mean, "worst_executed": executed.worst, "bytes": bytes.mean, "worst_bytes": bytes.worst })
    };
    let files: Value = files.iter().map(file).collect();
    let [ours, both] = [Version::Ours, Version::Both].map(ratios);
    let named = [("files", files), ("ours_to_cranelift", ours), ("both_to_cranelift", both)];
    named.into_iter().map(|(name, value)| (name.to_string(), value)).collect()
}
