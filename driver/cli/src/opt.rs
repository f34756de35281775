//! `rewright opt`: optimises a file of CLIF, LLVM IR or our own text; which, its name tells.

mod changes;
mod report;

use super::limits::Limits;
use super::units::units;
use super::{Finding, Format, emit, out, packs, sources};
use anyhow::{Context, Result, bail};
use clap::ValueEnum;
use report::{Made, last_matches, report};
use rewright_cfg_skeleton::ir::BlockId;
use rewright_cfg_skeleton::select::Method;
use rewright_clif::optimise::ClifOptimiser;
use rewright_clif::read::{FileFunction, write};
use rewright_dsl::program::Program;
use rewright_files as files;
use rewright_llvm::module::UNKNOWN_LAYOUT;
use rewright_llvm::optimise::LlvmOptimiser;
use rewright_pipeline::optimiser::{FunctionOutcome, Options, ValueNames};
use rewright_pipeline::profile::BlockCounts;
use rewright_pipeline::{config, costs};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Arguments of `opt`.
#[derive(clap::Args)]
pub(super) struct Args {
    /// A CLIF file, a file of textual LLVM IR (`.ll`), or a module of Rewright's own text (`.ir`)
    file: PathBuf,
    /// Where the result goes; stdout by default
    #[arg(short, long)]
    output: Option<PathBuf>,
    #[command(flatten)]
    rules: packs::Rules,
    #[command(flatten)]
    how: How,
    /// Only this function (with or without its `%` or `@`); the others stay as they are
    #[arg(long = "fn", value_name = "NAME")]
    function: Option<String>,
    /// How often blocks were executed, for CLIF and Rewright's own text (not for LLVM IR):
    /// `{"f": {"block0": 1000, "block3": 12}}`, in own text `b0`, `b3` as `--emit ir` numbers them. The entry's count is
    /// the number of calls; blocks without a count weigh as if there were none
    #[arg(long, value_name = "FILE", verbatim_doc_comment)]
    block_counts: Option<PathBuf>,
    /// What to print
    #[arg(long, value_enum, default_value_t)]
    emit: Emit,
    /// Say on stderr what became of each function, and how long each phase took
    #[arg(long)]
    stats: bool,
    /// Say on stderr which rules took part in each function, and which are behind each changed value
    #[arg(long)]
    remarks: bool,
    /// Apply only the first N matches of rules in the function's e-graph, and say on stderr which rule the last of them
    /// is of. Halving N finds the rule that makes a result wrong
    #[arg(long, value_name = "N", requires = "function", conflicts_with = "emit")]
    bisect_limit: Option<u64>,
    /// Form of what `--stats` and `--remarks` say on stderr
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// How to optimise; shared with other commands.
#[derive(clap::Args, Clone)]
pub(super) struct How {
    /// How to choose the program
    #[arg(long, value_enum, default_value = "auto")]
    extract: Extract,
    /// What executing something costs: `latency` or `size` on x86-64, `llvm` before LLVM's own passes (the default for
    /// LLVM IR); without it, what packs declare
    #[arg(long, value_name = "NAME")]
    profile: Option<String>,
    /// A configuration file; by default the nearest `rewright.json` from here upwards. Its
    /// `{"costs": {"operations": {"imul": 9, "udiv{i64}": 42}}}` come before the profile's
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Threads; the result does not depend on it
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=256))]
    threads: u16,
    #[command(flatten)]
    limits: Limits,
}

impl How {
    /// The options, for the packs of a program.
    ///
    /// # Errors
    /// Mistakes in the configuration.
    pub(super) fn options(&self, program: &Program) -> Result<Options> {
        let config = config::load(self.config.as_deref())?;
        let cost = costs::model(&config.costs, self.profile.as_deref(), &program.universe)?;
        let method = match self.extract {
            Extract::Tree => Method::Tree,
            Extract::Greedy => Method::Greedy,
            Extract::Ilp => Method::Ilp,
            Extract::Auto => Method::Auto,
        };
        let effort = self.limits.budget();
        Ok(Options { method, cost, effort, threads: self.threads.into(), ..Options::default() })
    }

    /// The same for a file: LLVM IR has costs of its own.
    pub(super) fn options_for(&self, file: &Path, program: &Program) -> Result<Options> {
        let mut options = self.options(program)?;
        if file.extension().is_some_and(|e| e == "ll") {
            let costs = config::load(self.config.as_deref())?.costs;
            options.cost = costs::model_for_llvm(&costs, self.profile.as_deref(), &program.universe)?;
        }
        Ok(options)
    }

    pub(super) fn threads(&self) -> usize {
        self.threads.into()
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum Extract {
    /// By tree costs, which miss sharing: to compare with
    Tree,
    /// Fast, no bound
    Greedy,
    /// Integer linear program
    Ilp,
    /// By size
    Auto,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, ValueEnum)]
enum Emit {
    /// The whole file, in the format that it came in
    #[default]
    #[value(alias = "llvm")]
    File,
    /// CLIF: what a module of Rewright's own text is compiled from; a CLIF file as it is
    Clif,
    /// Rewright's own IR, optimised
    Ir,
    /// The program that egglog runs, for egglog's own binary
    Egglog,
    /// The skeleton and the saturated e-graph, for Graphviz
    Dot,
    /// The saturated e-graph in egraph-serialize's format
    Json,
}

impl Emit {
    /// The picture of a saturated e-graph that is asked for.
    fn saturated(self) -> Option<emit::Saturated> {
        match self {
            Emit::Egglog => Some(emit::Saturated::Egglog),
            Emit::Dot => Some(emit::Saturated::Dot),
            Emit::Json => Some(emit::Saturated::Json),
            Emit::File | Emit::Clif | Emit::Ir => None,
        }
    }
}

pub(super) fn run(args: Args) -> Result<Finding> {
    let Some(program) = args.rules.load()? else { return Ok(Finding::Found) };
    let mut options = args.how.options_for(&args.file, &program)?;
    options.log = args.remarks;
    if let Some(path) = &args.block_counts {
        options.counts = Some(Arc::new(BlockCounts::read(path)?));
    }
    if let Some(limit) = args.bisect_limit {
        (options.budget.matches, options.budget.matches_per_input) = (limit, 0);
    }
    if let Some(what) = args.emit.saturated() {
        let Some(units) = units(&args.file, program, args.function.as_deref())? else { return Ok(Finding::Found) };
        return finish(&args, emit::functions(&units.optimiser, units.functions, &units.universe, &options, what)?);
    }
    let again = args.bisect_limit.filter(|limit| *limit > 0).map(|limit| (limit, program.clone()));
    let Some(made) = make(&args, program, &options)? else { return Ok(Finding::Found) };
    report(&args, &made);
    if let Some((limit, program)) = again {
        options.budget.matches = limit - 1;
        let Some(before) = make(&args, program, &options)? else { return Ok(Finding::Found) };
        last_matches(limit, &before, &made);
    }
    finish(&args, made.printed)
}

/// What an input becomes; `None` where it has mistakes, which are on stderr then.
fn make(args: &Args, program: Program, options: &Options) -> Result<Option<Made>> {
    match args.file.extension().and_then(|e| e.to_str()) {
        // Bitcode is told to be that.
        Some("ll" | "bc") => llvm(args, program, options),
        Some("ir") => module(args, program, options),
        _ => clif(args, program, options),
    }
}

/// Writes what goes out to where it goes.
fn finish(args: &Args, printed: String) -> Result<Finding> {
    match &args.output {
        Some(path) => files::write(path, printed)?,
        None => out::result(&printed),
    }
    Ok(Finding::Clean)
}

/// What goes out for a module of our own text; `None` where it has mistakes, which are on stderr then.
fn module(args: &Args, program: Program, options: &Options) -> Result<Option<Made>> {
    let Some(mut module) = sources::module(&args.file, program)? else { return Ok(None) };
    if let Some(counts) = &options.counts {
        let name = |block: BlockId| format!("b{}", block.0);
        let functions = module.module.functions.iter();
        let known: Vec<_> = functions.map(|f| (f.name.clone(), f.layout.iter().map(|b| name(*b)).collect())).collect();
        counts.check(&known)?;
        module.module.functions.iter_mut().for_each(|f| counts.note(f, name));
    }
    let originals = &module.module.functions;
    let chosen = match &args.function {
        None => None,
        Some(name) => Some(sources::function(&args.file, originals.iter().map(|f| f.name.clone()), name)?),
    };
    let wanted = |index| chosen.is_none_or(|chosen| chosen == index);
    let outcome = module.optimise(options, wanted);
    let named = outcome.functions.iter().zip(originals).filter_map(|(o, f)| o.as_ref().map(|o| (f, o)));
    let functions: Vec<_> = named
        .map(|(f, o)| FunctionOutcome {
            name: f.name.clone(),
            fate: o.fate.clone(),
            outcome: Some(o.clone()),
            names: ValueNames::default(),
        })
        .collect();
    let printed = match args.emit {
        Emit::Clif => module.compile(&outcome)?.text,
        _ => outcome.print(),
    };
    Ok(Some(Made { printed, optimiser: module.optimiser, functions, phases: outcome.phases, rules: outcome.rules }))
}

/// What goes out for a CLIF file; `None` where it has mistakes, which are on stderr then.
fn clif(args: &Args, program: Program, options: &Options) -> Result<Option<Made>> {
    let Some(file) = sources::clif(&args.file)? else { return Ok(None) };
    if let Some(counts) = &options.counts {
        let blocks = |f: &FileFunction| f.func.layout.blocks().map(|b| b.to_string()).collect();
        let known: Vec<_> = file.functions.iter().map(|f| (f.name(), blocks(f))).collect();
        counts.check(&known)?;
    }
    let clif = ClifOptimiser::new(program).context("the rules do not form a program")?;
    let chosen = match &args.function {
        None => None,
        Some(name) => Some(sources::function(&args.file, file.functions.iter().map(|f| f.name()), name)?),
    };
    let wanted = |index| chosen.is_none_or(|chosen| chosen == index);
    let universe = &clif.optimiser.program().universe;
    let outcome = clif.optimise(&file, options, wanted);
    let functions: Vec<_> = outcome.functions.iter().flatten().cloned().collect();
    let printed = match args.emit {
        Emit::Ir => emit::ir(universe, &functions),
        _ => {
            let replaced: Vec<_> = outcome.replaced.iter().map(Option::as_ref).collect();
            write(&file, &replaced)
        }
    };
    Ok(Some(Made { printed, optimiser: clif.optimiser, functions, phases: outcome.phases, rules: outcome.rules }))
}

/// What goes out for a file of LLVM IR; `None` where it has mistakes, which are on stderr then.
fn llvm(args: &Args, program: Program, options: &Options) -> Result<Option<Made>> {
    if args.block_counts.is_some() {
        bail!("--block-counts is for CLIF and for Rewright's own text; {} is LLVM IR", args.file.display());
    }
    let Some(file) = sources::llvm(&args.file)? else { return Ok(None) };
    if !file.known_layout && !file.functions.is_empty() {
        out::note(&format!("warning: {}: no function is optimised: {UNKNOWN_LAYOUT}", args.file.display()));
    }
    let llvm = LlvmOptimiser::new(program);
    let chosen = match &args.function {
        None => None,
        Some(name) => Some(sources::function(&args.file, file.functions.iter().map(|f| f.name.clone()), name)?),
    };
    let wanted = |index| chosen.is_none_or(|chosen| chosen == index);
    let outcome = llvm.optimise(&file, options, wanted);
    let printed = match args.emit {
        Emit::Ir => emit::ir(&outcome.universe, &outcome.functions),
        _ => outcome.text,
    };
    let (functions, phases, rules) = (outcome.functions, outcome.phases, outcome.rules);
    Ok(Some(Made { printed, optimiser: llvm.optimiser, functions, phases, rules }))
}
