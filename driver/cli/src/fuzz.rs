//! `rewright fuzz`: optimises random functions and compares what they do before and after.
//!
//! A finding goes to stderr at once, in a line; the report with all of them comes at the end, in order of seeds.

use super::shard::{Run, Sharding};
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
    #[command(flatten)]
    sharding: Sharding,
    /// How to report
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

pub(super) fn run(args: Args) -> Result<Finding> {
    let Some(program) = args.rules.load()? else { return Ok(Finding::Found) };
    let options = args.how.options(&program)?;
    let clif = ClifOptimiser::new(program).context("the rules do not form a program")?;
    let part = |chunk: usize| args.sharding.shard.is_none_or(|shard| shard.has(chunk));
    let own = fuzz::functions_of(args.count, &part);
    args.sharding.say(own as usize, args.count as usize, "function");
    let progress = out::progress("functions", own);
    let own = std::env::current_exe().context("cannot find this program's own file")?;
    let config = Config {
        clif: &clif,
        program: (!args.interpret).then_some(own),
        count: args.count,
        seed: args.seed,
        part: &part,
        shape: Shape { size: args.size.into(), ..Shape::default() },
        options: options.clone(),
        progress: &|done| progress.inc(done),
        found: &|line| progress.suspend(|| out::report(line)),
    };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(args.how.threads()).build();
    let report = pool.context("cannot start threads")?.install(|| fuzz::fuzz(&config));
    progress.finish_and_clear();
    let found = !report.findings.is_empty();
    match args.format {
        Format::Json => {
            let options = rewright_pipeline::optimiser::Options { threads: 1, ..options };
            let run = Run {
                command: "fuzz",
                program: clif.optimiser.program(),
                inputs: vec![format!("{} {} {} {} {options:?}", args.count, args.seed, args.size, args.interpret)],
                settings: &["seed"],
                item: &|_, _, entry| usize::try_from(entry["seed"].as_u64()?.wrapping_sub(args.seed)).ok(),
                error: None,
            };
            let report = args.sharding.document(serde_json::to_value(&report)?, &run, found);
            out::result(&format!("{report:#}\n"));
        }
        Format::Text => out::result(&text(&report)),
    }
    Ok(if found { Finding::Found } else { Finding::Clean })
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
