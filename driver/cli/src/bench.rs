//! `rewright bench`: time per phase, and what the result costs, against Cranelift's own mid-end on the same functions
//! ([`corpus`]), and with `--native` what it executes ([`native`]); at the end, all that is compared is in one table
//! ([`table`]). `--curve`, `--long`, `--stories`, `--sharing` and `--loops` measure other things: see [`curve`], [`long`],
//! [`stories`], [`sharing`] and [`loops`].
//!
//! All figures come from one run. All times are processor times.

mod corpus;
mod curve;
mod long;
mod loops;
mod native;
mod sharing;
mod stories;
mod table;

use super::{Finding, Format, opt, out, packs};
use anyhow::{Context, Result};
use rewright_clif::optimise::ClifOptimiser;
use rewright_files as files;
use rewright_report::bench::{Chart, Measurements};
use std::path::PathBuf;

/// Arguments of `bench`.
#[derive(clap::Args)]
pub(super) struct Args {
    /// CLIF files, or directories of them; with `--stories`, stories, or directories of them
    #[arg(required_unless_present_any = ["curve", "long"])]
    paths: Vec<PathBuf>,
    #[command(flatten)]
    rules: packs::Rules,
    #[command(flatten)]
    how: opt::How,
    /// Times that each file is run; the fastest counts. All times are processor times
    #[arg(long, value_name = "N", default_value_t = 3)]
    repeat: u32,
    /// Instead of files: made-up modules of 10 to this many statements, and the conversion both ways
    #[arg(long, value_name = "STATEMENTS", num_args = 0..=1, default_missing_value = "5000")]
    #[arg(conflicts_with = "stories")]
    curve: Option<usize>,
    /// Instead of files: random functions of one block with about so many instructions, `1000,3000`: cost against
    /// Cranelift's mid-end, processor time, how it grows, and memory
    #[arg(long, value_name = "INSTRUCTIONS", value_delimiter = ',', conflicts_with_all = ["curve", "stories", "paths"])]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    long: Vec<u32>,
    /// Functions of each length
    #[arg(long, value_name = "N", default_value_t = 20, requires = "long")]
    #[arg(value_parser = clap::value_parser!(u64).range(1..))]
    seeds: u64,
    /// For each folder with a pack and an input: processor time per phase, and the integer program's size and time
    #[arg(long)]
    stories: bool,
    /// Instead of phases: each function (of CLIF, or of a module `.ir`) as the integer program, greedy, tree costs and
    /// Cranelift choose, in cost, instructions and processor time, called `--repeat` times in turn
    #[arg(long, conflicts_with_all = ["curve", "long", "losses", "stories"])]
    sharing: bool,
    /// The first argument of each call, a number of iterations: so many that it takes a millisecond or more
    #[arg(long, value_name = "N", default_value_t = 50_000, requires = "sharing")]
    iterations: u64,
    /// By how much of the larger one floating-point results may differ
    #[arg(long, value_name = "RATIO", default_value_t = 0.0, requires = "sharing")]
    tolerance: f64,
    /// Instead of phases: each function as it is, without the rules about loops of `std.loops`, and with them, in cost,
    /// processor time, and instructions that our interpreter executes on the file's own directives (`; run: %f(1) == 2`)
    #[arg(long, conflicts_with_all = ["curve", "long", "losses", "stories", "sharing"])]
    loops: bool,
    /// Also run functions that are called, by the file's own directives or with a made-up context of WebAssembly: what they
    /// execute as they are, as Cranelift's mid-end makes them, as rules do, and as both do, and the same results
    #[arg(long, conflicts_with_all = ["curve", "long", "stories", "sharing", "loops"])]
    native: bool,
    /// List the functions whose result costs more than Cranelift's, each with the reason
    #[arg(long)]
    losses: bool,
    /// Write a page of HTML with the figures, and with curves of processor time and cost over size, beside Cranelift's
    #[arg(long, value_name = "FILE", conflicts_with_all = ["loops", "sharing", "stories"])]
    report: Option<PathBuf>,
    /// How to report
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

pub(super) fn run(args: Args) -> Result<Finding> {
    if args.stories {
        return stories::run(&args);
    }
    let Some(program) = args.rules.load()? else { return Ok(Finding::Found) };
    let options = args.how.options(&program)?;
    if args.sharing {
        return sharing::run(&args, program, &options);
    }
    let clif = ClifOptimiser::new(program).context("the rules do not form a program")?;
    if args.loops {
        return loops::run(&args, &clif, &options);
    }
    // Preparing rules is not measured.
    clif.optimiser.accept_all().context("the rules do not form a program")?;
    match args.curve {
        Some(most) => curve::run(&args, &clif.optimiser, &options, most),
        None if !args.long.is_empty() => long::run(&args, &clif, &options),
        None => corpus::run(&args, &clif, &options),
    }
}

/// What curves are of.
const OURS: &str = "Rewright";
/// See [`OURS`].
const THEIRS: &str = "Cranelift's mid-end";

/// What a command has measured, in all forms.
struct Told {
    /// The command, for the page.
    title: String,
    text: String,
    json: serde_json::Value,
    charts: Vec<Chart>,
}

/// Prints figures, and writes the page if one is asked for.
fn tell(args: &Args, Told { title, text, json, charts }: Told) -> Result<()> {
    if let Some(path) = &args.report {
        files::write(path, Measurements { title: &title, charts: &charts, text: &text }.html())?;
    }
    out::result(&match args.format {
        Format::Json => format!("{json:#}\n"),
        Format::Text => text,
    });
    Ok(())
}

/// The most memory that this process has held so far, where the system says it (Linux).
fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.split_whitespace().next()?.parse::<u64>().ok().map(|kib| kib * 1024)
}
