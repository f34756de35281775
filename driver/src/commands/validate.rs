//! `rewright validate`: functions that rules change, before and after.

mod mlir;

use super::{Finding, Format, out, packs, progress, sources};
use crate::llvm::optimise::LlvmOptimiser;
use crate::llvm::validate::{Config, Method, NotCompared, Report, Tally, ValidateError, validate};
use crate::pipeline::Options;
use crate::wrapper::apply::apply;
use crate::wrapper::rules::Ready;
use crate::{config, costs};
use anyhow::{Result, anyhow};
use clap::ValueEnum;
use rewright_cfg_skeleton::select;
use std::fmt::Write as _;
use std::path::PathBuf;

/// Arguments of `validate`.
#[derive(clap::Args)]
pub(super) struct Args {
    /// Files of textual LLVM IR (`.ll`), or directories of them, say what `rewright wrap --keep` has kept. Each is compared
    /// with what a build would make of it. Or two files of MLIR (`.mlir`), which are compared with each other
    #[arg(required = true)]
    paths: Vec<PathBuf>,
    /// Compare the one file with this one instead
    #[arg(long, value_name = "FILE")]
    with: Option<PathBuf>,
    #[command(flatten)]
    rules: packs::Rules,
    /// Costs of the build: `latency` or `size` on x86-64, `llvm` if none are named
    #[arg(long, value_name = "NAME")]
    profile: Option<String>,
    /// How to compare; all ways if none is named
    #[arg(long, value_enum, value_delimiter = ',', value_name = "HOW")]
    method: Vec<Method>,
    /// What compiles both versions (`compiled`)
    #[arg(long, value_name = "PROGRAM", default_value = "clang-19")]
    clang: PathBuf,
    /// The solver with its arguments (`refined`); it reads SMT-LIB from its standard input
    #[arg(long, value_name = "COMMAND", default_value = "z3 -in")]
    solver: String,
    /// Inputs for each function
    #[arg(long, default_value_t = 64)]
    runs: u32,
    /// Of the random numbers
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Form of the report
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

pub(super) fn run(args: Args) -> Result<Finding> {
    if let Some((before, after)) = mlir::pair(&args.paths, args.with.as_deref())? {
        return mlir::run(before, after, args.format);
    }
    let Some(program) = args.rules.load()? else { return Ok(Finding::Found) };
    // As builds choose.
    let cost = costs::model_for_llvm(&config::load(None)?.costs, args.profile.as_deref(), &program.universe)?;
    let options = Options { method: select::Method::Greedy, cost, ..Options::default() };
    let rules = Ready::new(LlvmOptimiser::new(program), options);
    let methods = if args.method.is_empty() { Method::value_variants().to_vec() } else { args.method };
    let solver = args.solver.split_whitespace().map(String::from).collect();
    let config = Config { methods, runs: args.runs, seed: args.seed, clang: args.clang, solver };
    let files = sources::llvm_files(&args.paths)?;
    if args.with.is_some() && files.len() != 1 {
        return Err(anyhow!("`--with` compares one file with another; there are {}", files.len()));
    }
    let bar = progress("files", files.len() as u64);
    let (mut report, mut finding) = (Report::default(), Finding::Clean);
    for path in &files {
        bar.inc(1);
        let Some(before) = sources::llvm(path)? else {
            finding = Finding::Found;
            continue;
        };
        let after = match &args.with {
            Some(path) => Some(sources::read(path)?),
            None => apply(&rules, before.text.clone().into_bytes())?.text,
        };
        let Some(after) = after else { continue };
        match validate(&rules.optimiser, &before, &after, &config) {
            Ok(found) => report.add(found),
            // Nor would it be there for the next file.
            Err(error @ ValidateError::Tool(_)) => return Err(error.into()),
            Err(reason) => {
                out::error(&format!("{}: {reason}", path.display()));
                finding = Finding::Found;
            }
        }
    }
    bar.finish_and_clear();
    if !report.refuted.is_empty() {
        finding = Finding::Found;
    }
    out::result(&match args.format {
        Format::Json => format!("{}\n", serde_json::to_string_pretty(&report)?),
        Format::Text => text(files.len(), &report),
    });
    Ok(finding)
}

fn text(files: usize, report: &Report) -> String {
    let Report { changed, compared, methods, not_compared, refuted } = report;
    let mut text = String::new();
    for r in refuted {
        let _ =
            writeln!(text, "{}: on ({}): {} ({})", r.function, r.arguments.join(", "), r.difference, name(r.method));
    }
    let _ =
        writeln!(text, "{files} files, {changed} functions changed, {compared} compared, {} refuted", refuted.len());
    for (method, Tally { compared, runs, open, .. }) in methods {
        let (each, done) = match method {
            Method::Interpreted | Method::Compiled => ("inputs", "compared"),
            Method::Refined => ("questions", "decided"),
        };
        let _ = writeln!(text, "{}: {compared} functions compared, by {runs} {each}", name(*method));
        for (reason, n) in open {
            let _ = writeln!(text, "{n:>6}  {each} not {done}: {reason}");
        }
    }
    for NotCompared { function, reasons } in not_compared {
        let reasons: Vec<String> = reasons.iter().map(|(method, why)| format!("{}: {why}", name(*method))).collect();
        let _ = writeln!(text, "{function}: not compared; mostly {}", reasons.join("; "));
    }
    text
}

/// As it is named on the command line.
fn name(method: Method) -> String {
    method.to_possible_value().map(|value| value.get_name().to_string()).unwrap_or_default()
}
