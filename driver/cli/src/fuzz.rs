//! `rewright fuzz`: optimises random functions and compares what they do before and after.
//!
//! A finding goes to stderr at once, in a line; the report with all of them comes at the end, in order of seeds.

use super::{Finding, Format, opt, out, packs};
use anyhow::{Context, Result};
use rewright_clif::optimise::ClifOptimiser;
use rewright_dsl::diagnostic::count;
use rewright_lab::fuzz::{self, Config, FuzzReport};
use rewright_lab::generate::Shape;

/// Arguments of `fuzz`.
#[derive(clap::Args)]
pub(super) struct Args {
    /// How many functions
    #[arg(long, value_name = "N", default_value_t = 1_000)]
    count: u64,
    /// The first function is made from this number, the next from the next one, and so on
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// About how many instructions a function has
    #[arg(long, value_name = "N", default_value_t = 40, value_parser = clap::value_parser!(u16).range(1..=5_000))]
    size: u16,
    /// Interpret only; do not run compiled code
    #[arg(long)]
    interpret: bool,
    #[command(flatten)]
    rules: packs::Rules,
    #[command(flatten)]
    how: opt::How,
    /// How to report
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

pub(super) fn run(args: Args) -> Result<Finding> {
    let Some(program) = args.rules.load()? else { return Ok(Finding::Found) };
    let options = args.how.options(&program)?;
    let clif = ClifOptimiser::new(program).context("the rules do not form a program")?;
    let progress = out::progress("functions", args.count);
    let own = std::env::current_exe().context("cannot find this program's own file")?;
    let config = Config {
        clif: &clif,
        program: (!args.interpret).then_some(own),
        count: args.count,
        seed: args.seed,
        shape: Shape { size: args.size.into(), ..Shape::default() },
        options,
        progress: &|done| progress.inc(done),
        found: &|line| progress.suspend(|| out::report(line)),
    };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(args.how.threads()).build();
    let report = pool.context("cannot start threads")?.install(|| fuzz::fuzz(&config));
    progress.finish_and_clear();
    match args.format {
        Format::Json => out::result(&format!("{}\n", serde_json::to_string_pretty(&report)?)),
        Format::Text => out::result(&text(&report)),
    }
    Ok(if report.findings.is_empty() { Finding::Clean } else { Finding::Found })
}

fn text(report: &FuzzReport) -> String {
    let mut text = String::new();
    for f in &report.findings {
        text += &format!(
            "seed {}, {}: {}\narguments {:?}\nmemory {}\nrules: {}\n{}\nbecomes\n{}\n",
            f.seed,
            f.engine,
            f.difference,
            f.arguments,
            f.memory,
            f.rules.join(", "),
            f.original,
            f.optimised
        );
    }
    text += &format!(
        "{} from seed {}, {} changed, {}\n{} interpreted ({} trap, \
         {} depend on NaNs), {} compiled\n",
        count(report.functions as usize, "function"),
        report.seed,
        report.changed,
        count(report.findings.len(), "finding"),
        count(report.interpreted as usize, "call"),
        report.trapped,
        report.nan_dependent,
        report.compiled
    );
    for (reason, n) in &report.not_compiled {
        text += &format!("  {} not compiled: {reason}\n", count(*n as usize, "function"));
    }
    text
}
