//! `rewright validate`: two versions of functions, proved, refuted, tested or unknown: those of two files or folders,
//! before and after a command, before and after rules.

mod blocks;
mod by_rules;
mod certify;
pub(crate) mod compare;
mod files;
mod ir;
mod nests;
mod parts;
mod passes;
mod report;
pub(crate) mod text;
mod values;

use super::language::Language;
use super::shard::Sharding;
use super::{Finding, Format, former, out, packs, sources};
use anyhow::{Context, Result, bail};
use by_rules::ByRules;
use clap::ValueEnum;
use compare::Comparer;
use files::Pair;
use parts::Division;
use passes::Passes;
use report::{Compared, Report};
use rewright_cfg_skeleton::select;
use rewright_cfg_skeleton::verdict::Side;
use rewright_dsl::diagnostic::count;
use rewright_equiv::nests::Checker;
use rewright_equiv::verdict::ValidationReport;
use rewright_equiv::{Config, Method, SOLVER_STEPS, ValidateError};
use rewright_llvm::declared_calls::of_packs;
use rewright_llvm::optimise::LlvmOptimiser;
use rewright_pipeline::costs;
use rewright_pipeline::optimiser::Options;
use rewright_wrap::rules::Ready;
use serde::de::DeserializeOwned;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use text::Text;
use values::Values;

/// Arguments of `validate`.
#[derive(clap::Args)]
#[command(after_help = HELP)]
pub(super) struct Args {
    /// The earlier version: a file of LLVM IR (`.ll`), MLIR (`.mlir`), CLIF (`.clif`) or Rewright's own text (`.ir`),
    /// or a folder of such files, say what `rewright wrap --keep` has kept; `-` is standard input
    #[arg(value_name = "BEFORE")]
    before: PathBuf,
    /// The later version, in the same language; files of two folders are paired by their names. Without it, and
    /// without `--after`, each file is compared with what a build with these rules would make of it
    #[arg(value_name = "AFTER")]
    later: Option<PathBuf>,
    /// The later version, as it was named before
    #[arg(long, value_name = "FILE", hide = true, conflicts_with = "later")]
    with: Option<PathBuf>,
    /// Make the later version with this command (see below)
    #[arg(long, value_name = "COMMAND", conflicts_with_all = ["later", "with"])]
    after: Option<String>,
    /// Run these passes one after the other, compare before and after each, and name the first one after which
    /// something is refuted. Without `--after` they are run by `opt-19 -S -passes={pass}` (or `REWRIGHT_OPT`), those of
    /// MLIR by `mlir-opt --{pass}`. Commas inside of brackets are a pass's own
    #[arg(long, value_name = "PASSES", conflicts_with_all = ["later", "with"])]
    each: Option<String>,
    /// Seconds that a command of `--after` may take
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    timeout: u64,
    /// The language of files that are named. Otherwise their names tell it, and standard input is in that of the other
    /// file
    #[arg(long, value_enum, value_name = "NAME")]
    language: Option<Language>,
    /// Make anything less than this a finding (exit code 1): functions that are not proved, or only under a
    /// precondition, and what else differs between modules and is seen outside of them
    #[arg(long, value_enum, value_name = "VERDICT")]
    require: Option<Required>,
    /// Write certificates of functions that are proved to do the same as nests of loops: what each proof found. For two
    /// files
    #[arg(long, value_name = "FILE", requires = "later", conflicts_with = "check_certificate")]
    certificate: Option<PathBuf>,
    /// Do not search for proofs: check the certificates in this file, by the solver alone. For two files
    #[arg(long, value_name = "FILE", requires = "later")]
    check_certificate: Option<PathBuf>,
    #[command(flatten)]
    nests: nests::Assumed,
    /// Compare only this function
    #[arg(long = "fn", alias = "function", value_name = "NAME", conflicts_with = "shard")]
    function: Option<String>,
    /// Run both versions of the function on this input and compare them in no other way; a refuted function says one.
    /// Not for MLIR
    #[arg(long, value_name = "FILE", requires = "function")]
    input: Option<PathBuf>,
    #[command(flatten)]
    rules: packs::Rules,
    /// Costs of the build: `latency` or `size` on x86-64, `llvm` if none are named
    #[arg(long, value_name = "NAME")]
    profile: Option<String>,
    /// How to compare LLVM IR; all ways if none is named
    #[arg(long, value_enum, value_delimiter = ',', value_name = "HOW")]
    method: Vec<Method>,
    /// What compiles both versions (`compiled`)
    #[arg(long, value_name = "PROGRAM", default_value = rewright_equiv::CLANG)]
    clang: PathBuf,
    /// The solver with its arguments (`refined`); it reads SMT-LIB from its standard input
    #[arg(long, value_name = "COMMAND", default_value = rewright_equiv::SOLVER)]
    solver: String,
    /// Steps of the solver for one function; the functions of a file have twenty times as many together. A solver that
    /// does not count its steps has a second for each 300000 of them
    #[arg(long, value_name = "N", default_value_t = SOLVER_STEPS)]
    solver_steps: u64,
    /// Inputs for each function
    #[arg(long, value_name = "N", default_value_t = rewright_equiv::RUNS)]
    runs: u32,
    /// Of the random numbers
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    #[command(flatten)]
    sharding: Sharding,
    /// Form of the report
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

const HELP: &str = "\
The command of --after is split into words as a shell splits them, and run without a shell: `$`, `*` and `|` mean
nothing in it (`sh -c '...'` is a command like any other). `{}` stands for a file with the earlier version, a copy whose
name ends as that of the original; without it, the earlier version is the command's standard input. `{out}` stands for
the file that the command writes; without it, the later version is what it prints. LLVM's `opt` gets `-S`. A command
that fails, takes too long, or gives no program is an error:

  rewright validate a.ll --after 'opt-19 -passes=licm'
  rewright validate a.ll --each 'sroa,licm,gvn'
  rewright validate a.mlir --after 'mlir-opt --{pass}' --each 'affine-loop-unroll=unroll-factor=4,canonicalize'

Exit codes: 0 if nothing is refuted; 1 if something is, or, with --require, is not what is required; 2 if versions
could not be compared.";

/// What verdicts have to be.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum Required {
    /// Each function is proved, for all arguments that `--assume` allows
    Proved,
}

/// Where second versions come from.
enum Second {
    Files,
    Commands(Passes),
    Rules,
}

pub(super) fn run(args: Args) -> Result<Finding> {
    if args.with.is_some() {
        former::warn_positional("validate", "with", "the second argument");
    }
    let later = args.later.as_deref().or(args.with.as_deref());
    let passes = Passes::new(args.after.as_deref(), args.each.as_deref(), args.timeout)?;
    let mut files = match later {
        Some(after) => files::paired(&args.before, after, args.language)?,
        None => files::single(&args.before, args.language)?,
    };
    let second = match (later, passes) {
        (Some(_), _) => Second::Files,
        (None, Some(passes)) => Second::Commands(passes),
        (None, None) => Second::Rules,
    };
    if args.before.is_dir() && matches!(second, Second::Rules) {
        // No rules are about them.
        let others = files.pairs.extract_if(.., |pair| pair.language == Language::Mlir).count();
        files.others += others;
    }
    let all = || files.pairs.iter().chain(files.only.iter().flatten());
    usable(&args, all())?;
    let nests = args.nests.options(all())?;
    let Some(mut comparer) = comparer(&args, &second, nests, all())? else { return Ok(Finding::Found) };
    if let Some(certificates) = &args.check_certificate {
        if let Some(option) = args.nests.given() {
            bail!("{option} has no effect on --check-certificate: a certificate says what it assumes");
        }
        let (language, before, after) = two_files(&files)?;
        let checker = || Checker::new(solver(&args), args.solver_steps);
        let files = certify::Files { language, versions: [&before, &after], comparer: &comparer };
        return certify::check(certificates, &files, &checker, values(&args));
    }
    let division = Division::of(&args, &second, &mut files, &mut comparer)?;
    let all = || files.pairs.iter().chain(files.only.iter().flatten());
    let by_pass = matches!(&second, Second::Commands(passes) if passes.by_pass());
    let mut report = Report { by_pass, is_part: division.is_part(), ..Report::default() };
    let bar = out::progress("files", all().count() as u64);
    let mut missing = None;
    for pair in &files.pairs {
        bar.inc(1);
        if let Err(error) = one(pair, &second, &comparer, &mut report) {
            match error.downcast_ref() {
                // Another file may have it.
                Some(ValidateError::Function(_)) => missing = Some(error),
                // Nor would it be there for the next file.
                Some(ValidateError::Tool(_)) => return Err(error),
                _ => report.failed(&pair.name, &error),
            }
        }
    }
    for (side, pairs) in [Side::First, Side::Second].into_iter().zip(&files.only) {
        for pair in pairs {
            bar.inc(1);
            if let Err(error) = alone(pair, side, &comparer, &mut report)
                && !matches!(error.downcast_ref(), Some(ValidateError::Function(_)))
            {
                report.failed(&pair.name, &error);
            }
        }
    }
    bar.finish_and_clear();
    if let Some(path) = &args.certificate {
        let (language, before, after) = two_files(&files)?;
        let files = certify::Files { language, versions: [&before, &after], comparer: &comparer };
        certify::write(path, &files, values(&args), &report)?;
    }
    division.say(&report);
    if let Some(error) = missing.filter(|_| report.is_empty() && report.failed.is_empty()) {
        return Err(error);
    }
    if files.others > 0 {
        out::note(&format!(
            "note: {} in no language that is compared here",
            count(files.others, "other file") + if files.others == 1 { " is" } else { " are" }
        ));
    }
    let can_be_empty = matches!(second, Second::Rules) || division.is_part();
    let found = finding(args.require, can_be_empty, &report).and_then(|found| match report.says_nothing() {
        Some(reason) if args.input.is_some() => bail!("the versions could not be compared on this input: {reason}"),
        _ => Ok(found),
    });
    match args.format {
        Format::Json => out::result(&format!("{:#}\n", division.document(&report, &comparer, &found))),
        Format::Text if report.compared.is_empty() => {}
        Format::Text => out::result(&report.text()),
    }
    found
}

/// The texts of two files, and their language.
fn two_files(files: &files::Files) -> Result<(Language, Text, Text)> {
    match files.pairs.as_slice() {
        [Pair { language, before, after: Some(after), .. }] => Ok((*language, read(before)?, read(after)?)),
        _ => bail!("certificates are about two files"),
    }
}

fn solver(args: &Args) -> Vec<String> {
    args.solver.split_whitespace().map(String::from).collect()
}

/// Says which values of MLIR are equal.
fn values(args: &Args) -> Values {
    Values::new(args.rules.clone(), solver(args), args.solver_steps)
}

/// What a report means for the exit code.
fn finding(required: Option<Required>, can_be_empty: bool, report: &Report) -> Result<Finding> {
    if report.is_refuted()? {
        return Ok(Finding::Found);
    }
    if !report.failed.is_empty() {
        bail!(
            "{} not compared",
            count(report.failed.len(), "file") + if report.failed.len() == 1 { " was" } else { " were" }
        );
    }
    if report.is_empty() && !can_be_empty {
        bail!("neither version has a function with a body: nothing is compared");
    }
    Ok(match required {
        Some(Required::Proved) if !report.is_proved() => Finding::Found,
        _ => Finding::Clean,
    })
}

/// Options that say nothing of these files are mistakes.
fn usable<'p>(args: &Args, pairs: impl Iterator<Item = &'p Pair>) -> Result<()> {
    let (mut has_llvm, mut has_mlir, mut has_ir) = (false, false, false);
    for pair in pairs {
        has_llvm |= pair.language == Language::Llvm;
        has_ir |= matches!(pair.language, Language::Clif | Language::Own);
        has_mlir |= pair.language == Language::Mlir;
    }
    if !has_llvm && !args.method.is_empty() {
        bail!("--method is for LLVM IR");
    }
    if args.input.is_some() && (has_mlir || (has_llvm && has_ir)) {
        bail!("--input is for files of one language, and not for MLIR");
    }
    if let (false, Some(option)) = (has_mlir, args.nests.given()) {
        bail!("{option} is about MLIR");
    }
    Ok(())
}

/// Compares a file with its second version.
fn one(pair: &Pair, second: &Second, comparer: &Comparer, report: &mut Report) -> Result<()> {
    let before = read(&pair.before)?;
    let note = |pass: Option<String>, found| Compared {
        file: pair.name.clone(),
        pass,
        replayable: pair.language != Language::Mlir,
        report: found,
    };
    match (second, &pair.after) {
        (Second::Commands(passes), _) => {
            let mut before = before;
            for step in passes.steps(pair.language)? {
                let in_file = || pair.name.clone();
                let (after, said) = step.run(&before, pair.language).with_context(in_file)?;
                out::bytes(&said);
                let found = comparer.compare(pair.language, &before, &after)?;
                if has_lost_all(&found) {
                    return Err(step.no_function(&after)).with_context(in_file);
                }
                report.compared.push(note(step.pass.clone(), found));
                before = after;
            }
        }
        (_, Some(after)) => {
            let found = comparer.compare(pair.language, &before, &read(after)?)?;
            report.compared.push(note(None, found));
        }
        (_, None) => report.compared.push(note(None, comparer.with_rules(pair.language, &before)?)),
    }
    Ok(())
}

/// Has the second version no function at all, and the first one some?
fn has_lost_all(report: &ValidationReport) -> bool {
    report.unchanged == 0 && report.counts.pairs > 0 && report.counts.pairs == report.counts.only_first
}

/// Notes the functions of a file that only one folder has.
fn alone(pair: &Pair, side: Side, comparer: &Comparer, report: &mut Report) -> Result<()> {
    let (text, nothing) = (read(&pair.before)?, Text { name: String::new(), bytes: vec![] });
    let mut found = match side {
        Side::First => comparer.compare(pair.language, &text, &nothing)?,
        Side::Second => comparer.compare(pair.language, &nothing, &text)?,
    };
    // All that it has is not there in the other folder; that is said of the file.
    found.modules.clear();
    report.only.push((side, pair.name.clone()));
    report.compared.push(Compared { file: pair.name.clone(), pass: None, replayable: false, report: found });
    Ok(())
}

fn read(path: &Path) -> Result<Text> {
    Ok(Text { name: path.display().to_string(), bytes: sources::bytes(path)? })
}

/// How to compare; `None` where packs have mistakes, which have been said.
fn comparer<'p>(
    args: &Args,
    second: &Second,
    nests: rewright_mlir::Options,
    pairs: impl Iterator<Item = &'p Pair>,
) -> Result<Option<Comparer>> {
    let (mut has_llvm, mut has_ir, mut has_blocks) = (false, false, false);
    for pair in pairs {
        has_llvm |= pair.language == Language::Llvm;
        has_ir |= matches!(pair.language, Language::Clif | Language::Own);
        has_blocks |= blocks::has(pair);
    }
    let methods = match (&args.input, args.method.is_empty()) {
        (Some(_), _) => vec![Method::Replayed],
        (None, true) => Method::value_variants().to_vec(),
        (None, false) => args.method.clone(),
    };
    let by_rules = matches!(second, Second::Rules);
    let llvm_rules = has_llvm && (by_rules || methods.iter().any(|method| method.needs_packs()));
    // Rules would prove their own results.
    let helps = !by_rules && args.rules.are_named() && methods.contains(&Method::Refined);
    let (mut rules, mut program, mut options) = (None, None, Options::default());
    let (mut equations, mut vouched) = (None, BTreeSet::new());
    if by_rules {
        args.rules.say_without_std();
    }
    if llvm_rules || has_ir || has_blocks || (has_llvm && helps) {
        let written = if has_blocks { Language::Mlir } else { Language::Own };
        let Some(loaded) = args.rules.needed_by(written)?.load()? else { return Ok(None) };
        let costs = super::project::costs(None)?;
        let profile = args.profile.as_deref();
        if helps && !has_blocks {
            vouched = of_packs(&loaded.universe);
            equations = Some(ByRules::new(loaded.clone()));
        }
        if has_ir || has_blocks {
            options.select.cost = costs::model(&costs, profile, &loaded.universe)?;
            program = Some(loaded.clone());
        }
        if llvm_rules {
            let cost = costs::model_for_llvm(&costs, profile, &loaded.universe)?;
            let usual = Options::default();
            let select = select::Options { method: select::Method::Greedy, cost, ..usual.select };
            rules = Some(Ready::new(LlvmOptimiser::new(loaded), Options { select, ..usual }));
        }
    }
    let function = args.function.clone().map(|name| if name.starts_with('@') { name } else { format!("@{name}") });
    let config = Config {
        methods,
        runs: args.runs,
        seed: args.seed,
        clang: args.clang.clone(),
        solver: solver(args),
        solver_steps: args.solver_steps,
        whole_modules: !by_rules,
        vouched,
        function,
        part: None,
        input: args.input.as_deref().filter(|_| has_llvm).map(input).transpose()?,
        words: args.input.as_deref().filter(|_| !has_llvm).map(input).transpose()?,
    };
    let values = Some(values(args).into());
    Ok(Some(Comparer { rules, program, options, config, nests, values, by_rules: equations }))
}

/// An input in a file.
fn input<T: DeserializeOwned>(path: &Path) -> Result<T> {
    let text = sources::read(path)?;
    serde_json::from_str(&text).with_context(|| format!("{} is no input", path.display()))
}
