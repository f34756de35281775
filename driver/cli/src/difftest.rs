//! `rewright difftest`: runs the directives of CLIF files before and after optimisation, and compares.

use super::shard::{Run, Sharding};
use super::{Finding, Format, opt, out, packs, sources};
use anyhow::{Context, Result, bail};
use rewright_clif::optimise::ClifOptimiser;
use rewright_clif::read::File;
use rewright_dsl::diagnostic::count;
use rewright_lab::difftest::{self, Change, Config, DiffTestReport};
use rewright_native::runtest::CallOutcome;
use rewright_pipeline::optimiser::Fate;
use std::path::PathBuf;

/// Arguments of `difftest`.
#[derive(clap::Args)]
pub(super) struct Args {
    /// CLIF files, or directories of them
    #[arg(required = true)]
    paths: Vec<PathBuf>,
    #[command(flatten)]
    rules: packs::Rules,
    #[command(flatten)]
    how: opt::How,
    /// Seconds that one call may take
    #[arg(long, alias = "seconds", value_name = "SECONDS", default_value_t = 10)]
    timeout: u64,
    #[command(flatten)]
    sharding: Sharding,
    /// How to report
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

pub(super) fn run(args: Args) -> Result<Finding> {
    let Some(program) = args.rules.load()? else { return Ok(Finding::Found) };
    // Files are what runs side by side here; within a file there is one thread.
    let options = rewright_pipeline::optimiser::Options { threads: 1, ..args.how.options(&program)? };
    let clif = ClifOptimiser::new(program).context("the rules do not form a program")?;
    let paths: Vec<PathBuf> = args.paths.iter().map(|path| sources::openable(path).to_path_buf()).collect();
    let files = difftest::collect(&paths)?;
    if files.is_empty() {
        bail!("no .clif file in {}", args.paths.iter().map(|p| p.display().to_string()).collect::<Vec<_>>().join(", "));
    }
    let names: Vec<String> = files.iter().map(|file| file.display().to_string()).collect();
    let files = args.sharding.of(files, "file");
    let progress = out::progress("files", files.len() as u64);
    let threads = args.how.threads();
    let optimise = |file: &File| -> Vec<Change> {
        let outcome = clif.optimise(file, &options, |_| true);
        let fates = outcome.statistics.functions.into_iter().zip(outcome.replaced);
        fates
            .map(|(function, replaced)| match (function.map(|f| f.fate), replaced) {
                (Some(Fate::Optimised), Some(function)) => Change::Optimised(Box::new(function)),
                (Some(Fate::PassedThrough(reason)), _) => Change::PassedThrough(reason),
                (Some(Fate::Failed(reason)), _) => Change::Failed(reason),
                _ => Change::Unchanged,
            })
            .collect()
    };
    let config = Config {
        program: std::env::current_exe().context("cannot find this program's own file")?,
        seconds: args.timeout,
        reference: Some((&clif.optimiser.program().universe, &clif.names)),
        progress: &|| progress.inc(1),
    };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().context("cannot start threads")?;
    let report = pool.install(|| difftest::difftest(&files, &optimise, &config));
    progress.finish_and_clear();
    match args.format {
        Format::Json => {
            let run = Run {
                command: "difftest",
                program: clif.optimiser.program(),
                inputs: names.iter().cloned().chain([format!("{options:?} {}", args.timeout)]).collect(),
                settings: &[],
                item: &|_, _, entry| names.iter().position(|name| entry["file"] == name.as_str()),
                error: None,
            };
            let report = args.sharding.document(serde_json::to_value(&report)?, &run, !report.is_clean());
            out::result(&format!("{report:#}\n"));
        }
        Format::Text => out::result(&text(&report)),
    }
    Ok(if report.is_clean() { Finding::Clean } else { Finding::Found })
}

fn text(report: &DiffTestReport) -> String {
    let (f, d) = (&report.functions, &report.directives);
    let mut text = format!(
        "{}\nfunctions: {} total, {} optimised, {} unchanged, {} passed through, {} failed\n\
         directives: {} total, {} run, {} passed, {} failed, {} skipped\n",
        count(report.files as usize, "file"),
        f.total,
        f.optimised,
        f.unchanged,
        f.passed_through,
        f.failed,
        d.total,
        d.run,
        d.passed,
        d.failed,
        d.skipped
    );
    for (engine, runs) in &report.engines {
        text += &format!("  {runs} runs on {engine}\n");
    }
    for (reason, count) in &report.skipped_reasons {
        text += &format!("  {count} skipped: {reason}\n");
    }
    for (reason, count) in &report.passed_through_reasons {
        text += &format!("  {count} passed through: {reason}\n");
    }
    for (what, list) in [("mismatch", &report.mismatches), ("fails as it stands, too", &report.failed_before)] {
        for m in list {
            let (before, after) = (outcome(&m.before), outcome(&m.after));
            let call = format!("{}: {}: `{}` on {}", m.file, m.function, m.directive, m.engine);
            text += &format!("{what}: {call}: before {before}, after {after}\n");
        }
    }
    for failure in report.failures.iter().chain(&report.errors) {
        let function = failure.function.as_ref().map_or(String::new(), |f| format!("{f}: "));
        text += &format!("failure: {}: {function}{}\n", failure.file, failure.reason);
    }
    text
}

fn outcome(outcome: &CallOutcome) -> String {
    match outcome {
        CallOutcome::Returned { values, .. } => values.clone(),
        CallOutcome::Trapped(how) => format!("trap {how}"),
        CallOutcome::TimedOut => "no end in time".to_string(),
        CallOutcome::Failed(reason) => format!("not run: {reason}"),
    }
}
