//! `rewright validate`: functions before and after rules, or those of two files: proved, refuted, tested or unknown.

mod mlir;

use super::{Finding, Format, input, out, packs, sources};
use anyhow::{Context, Result, anyhow};
use clap::ValueEnum;
use rewright_cfg_skeleton::select;
use rewright_cfg_skeleton::verdict::{Kind, Verdict, assumptions};
use rewright_dsl::diagnostic::count;
use rewright_equiv::replay::Input;
use rewright_equiv::verdict::{Tally, ValidationReport};
use rewright_equiv::{Config, Method, SOLVER_STEPS, ValidateError, validate};
use rewright_llvm::optimise::LlvmOptimiser;
use rewright_pipeline::costs;
use rewright_pipeline::optimiser::Options;
use rewright_project::settings;
use rewright_wrap::rewrite_file::apply;
use rewright_wrap::rules::Ready;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// Arguments of `validate`.
#[derive(clap::Args)]
pub(super) struct Args {
    /// Files of textual LLVM IR (`.ll`), or directories of them, say what `rewright wrap --keep` has kept. Each is
    /// compared with what a build would make of it. Or two files of MLIR (`.mlir`), which are compared with each other
    #[arg(required = true)]
    paths: Vec<PathBuf>,
    /// Compare the one file with this one instead
    #[arg(long, value_name = "FILE")]
    with: Option<PathBuf>,
    /// Compare only this function
    #[arg(long = "fn", alias = "function", value_name = "NAME")]
    function: Option<String>,
    /// Run both versions of the function on this input and compare them in no other way; a refuted function says one
    #[arg(long, value_name = "FILE", requires = "function")]
    input: Option<PathBuf>,
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
    /// Steps of the solver for one function; the functions of a file have five times as many together. A solver that
    /// does not count its steps has a second for each 300000 of them
    #[arg(long, value_name = "N", default_value_t = SOLVER_STEPS)]
    solver_steps: u64,
    /// Inputs for each function
    #[arg(long, value_name = "N", default_value_t = 64)]
    runs: u32,
    /// Of the random numbers
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Form of the report
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

pub(super) fn run(args: Args) -> Result<Finding> {
    if let Some((before, after)) = mlir::pair(&args.paths, args.with.as_deref())? {
        return mlir::run(before, after, args.format);
    }
    let methods = match (&args.input, args.method.is_empty()) {
        (Some(_), _) => vec![Method::Replayed],
        (None, true) => Method::value_variants().to_vec(),
        (None, false) => args.method.clone(),
    };
    let rules = match args.with.is_none() || methods.iter().any(|method| method.needs_packs()) {
        true => match ready(&args)? {
            Some(rules) => Some(rules),
            None => return Ok(Finding::Found),
        },
        false => None,
    };
    let solver = args.solver.split_whitespace().map(String::from).collect();
    let function = args.function.map(|name| if name.starts_with('@') { name } else { format!("@{name}") });
    let input = args.input.as_deref().map(input).transpose()?;
    let whole_modules = args.with.is_some();
    let config = Config {
        methods,
        runs: args.runs,
        seed: args.seed,
        clang: args.clang,
        solver,
        solver_steps: args.solver_steps,
        whole_modules,
        function,
        input,
    };
    let files = sources::llvm_files(&args.paths)?;
    if args.with.is_some() && files.len() != 1 {
        return Err(anyhow!("`--with` compares one file with another; there are {}", files.len()));
    }
    let bar = out::progress("files", files.len() as u64);
    let (mut report, mut finding) = (ValidationReport::default(), Finding::Clean);
    for path in &files {
        bar.inc(1);
        let Some(before) = input::llvm(path)? else {
            finding = Finding::Found;
            continue;
        };
        let after = match (&args.with, &rules) {
            (Some(path), _) => Some(sources::read(path)?),
            (None, Some(rules)) => apply(rules, before.text.clone().into_bytes())?.text,
            (None, None) => None,
        };
        let Some(after) = after else {
            report.unchanged += before.functions.len() as u64;
            continue;
        };
        match validate(rules.as_ref().map(|rules| &rules.optimiser), &before, &after, &config) {
            Ok(found) => report.add(found),
            // Nor would it be there for the next file.
            Err(error @ (ValidateError::Tool(_) | ValidateError::Function(_))) => return Err(error.into()),
            Err(reason) => {
                out::error(&format!("{}: {reason}", path.display()));
                finding = Finding::Found;
            }
        }
    }
    bar.finish_and_clear();
    out::result(&match args.format {
        Format::Json => format!("{}\n", serde_json::to_string_pretty(&report)?),
        Format::Text => text(files.len(), &report),
    });
    let refuted = self::finding(&report.functions)?;
    Ok(if finding == Finding::Found { finding } else { refuted })
}

/// A refuted function is a finding; one that is proved as well is a mistake of this program.
fn finding(functions: &[Verdict]) -> Result<Finding> {
    if let Some(verdict) = functions.iter().find(|verdict| verdict.is_contradiction()) {
        let function = &verdict.function;
        return Err(anyhow!("a proof and a run of {function} contradict each other: please report both files"));
    }
    let refuted = functions.iter().any(|verdict| verdict.verdict == Kind::Refuted);
    Ok(if refuted { Finding::Found } else { Finding::Clean })
}

/// An input in a file.
fn input(path: &Path) -> Result<Input> {
    let text = sources::read(path)?;
    serde_json::from_str(&text).with_context(|| format!("{} is no input", path.display()))
}

/// Rules and costs as builds choose; `None` where packs have mistakes, which have been said.
fn ready(args: &Args) -> Result<Option<Ready>> {
    let Some(program) = args.rules.load()? else { return Ok(None) };
    let cost = costs::model_for_llvm(&settings::costs(None)?, args.profile.as_deref(), &program.universe)?;
    let usual = Options::default();
    let select = select::Options { method: select::Method::Greedy, cost, ..usual.select };
    let options = Options { select, ..usual };
    Ok(Some(Ready::new(LlvmOptimiser::new(program), options)))
}

fn text(files: usize, report: &ValidationReport) -> String {
    let ValidationReport { counts, unchanged, methods, functions, .. } = report;
    let mut text = String::new();
    for verdict in functions {
        function(&mut text, verdict);
    }
    let unchanged = count(*unchanged as usize, "function");
    let _ = writeln!(text, "{}, {unchanged} unchanged, {} others: {counts}", count(files, "file"), counts.pairs);
    for (method, Tally { compared, runs, open, .. }) in methods {
        let (each, done) = match method {
            Method::Replayed | Method::Interpreted | Method::Compiled => ("input", "compared"),
            Method::Refined => ("question", "decided"),
        };
        let functions = count(*compared as usize, "function");
        let by = count(*runs as usize, each);
        let _ = writeln!(text, "{}: {functions} compared, by {by}", name(*method));
        for (reason, n) in open {
            let each = count(*n as usize, each);
            let _ = writeln!(text, "{each:>12} not {done}: {reason}");
        }
    }
    text.extend(assumptions(functions).map(|assumptions| assumptions + "\n"));
    text
}

/// What is said of one function, and how to see it again.
fn function(text: &mut String, verdict: &Verdict) {
    let _ = writeln!(text, "{verdict}");
    if let Some(found) = &verdict.counterexample {
        let _ =
            writeln!(text, "    again with `--fn {} --input FILE`, where FILE has {}", verdict.function, found.input);
    }
}

/// As it is named on the command line.
fn name(method: Method) -> String {
    method.to_possible_value().map(|value| value.get_name().to_string()).unwrap_or_default()
}
