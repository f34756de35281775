//! `rewright opt`: optimises a file of CLIF, LLVM IR or our own text.

pub(super) mod loops;
mod statistics;

use super::input;
use super::language::{Input, Language};
use super::limits::Limits;
use super::report::Told;
use super::specialise::Specialise;
use super::validate::compare::Comparer;
use super::validate::text::Text;
use super::{Finding, Format, emit, out, packs, project, sources};
use anyhow::{Result, anyhow, bail};
use clap::ValueEnum;
use rewright_cfg_skeleton::select::{self, CostModel, Method};
use rewright_dsl::program::Program;
use rewright_files as files;
use rewright_pipeline::costs::{self, CostError};
use rewright_pipeline::optimiser::{FunctionOutcome, Options};
use rewright_pipeline::profile::BlockCounts;
use rewright_project::costs::Costs;
use rewright_report::remarks::{FileReport, FunctionReport, Names};
use rewright_typeprop::Universe;
use statistics::{Made, last_matches, report};
use std::path::PathBuf;
use std::sync::Arc;

/// Arguments of `opt`.
#[derive(clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    input: Input,
    /// Where the result goes; stdout by default, or for `-`
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    rules: packs::Rules,
    #[command(flatten)]
    how: How,
    #[command(flatten)]
    specialise: Specialise,
    /// Only this function (with or without its `%` or `@`); the others stay as they are
    #[arg(long = "fn", value_name = "NAME")]
    function: Option<String>,
    /// How often blocks were executed, for CLIF and Rewright's own text (not for LLVM IR):
    /// `{"f": {"block0": 1000, "block3": 12}}`, in own text `b0`, `b3` as `--emit ir` numbers them. The entry's count
    /// is the number of calls; blocks without a count weigh as if there were none
    #[arg(long, value_name = "FILE", verbatim_doc_comment)]
    block_counts: Option<PathBuf>,
    /// What to print
    #[arg(long, value_enum, default_value_t)]
    emit: Emit,
    /// Compare what goes out with what came in, as `rewright validate` does, and say the verdicts on stderr. Where one is
    /// refuted, the file goes out as it came in (exit code 1). Needs z3
    #[arg(long)]
    validate: bool,
    /// Say on stderr what became of each function, and how long each phase took
    #[arg(long)]
    stats: bool,
    /// Say on stderr which rules took part in each function, and which are behind each changed value
    #[arg(long)]
    remarks: bool,
    /// Write a page of HTML about it: functions before and after, the rules behind each change and their evidence, and
    /// what was not optimised, with the reason. Where LLVM IR has debug information (`-g`), with lines of the source
    #[arg(long, value_name = "FILE", conflicts_with_all = ["bisect_limit"])]
    report: Option<PathBuf>,
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
    #[arg(long, value_name = "HOW", value_enum, default_value = "auto")]
    extract: Extract,
    /// What executing something costs: `latency` or `size` on x86-64, `llvm` before LLVM's own passes (the default for
    /// LLVM IR without `--standalone`); otherwise, what packs declare
    #[arg(long, value_name = "NAME")]
    profile: Option<String>,
    /// For LLVM IR: do what is left to LLVM's own passes otherwise (what is computed where, decided branches, memory across
    /// merges and loops, checks), because none of them follows
    #[arg(long)]
    standalone: bool,
    /// A file with `[costs]`; by default the nearest `rewright.toml` from here upwards. Its `profile = "size"` and
    /// `operations = { imul = 9, "udiv{i64}" = 42 }` come before what packs declare
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Threads; the result does not depend on it
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=256))]
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
        self.options_for(Language::Own, program)
    }

    /// The same for a language: LLVM IR has costs of its own.
    pub(super) fn options_for(&self, language: Language, program: &Program) -> Result<Options> {
        if self.standalone && language != Language::Llvm {
            bail!("`--standalone` is about LLVM IR: in other languages, nothing is left to other passes anyway");
        }
        self.options_with(
            program,
            if language == Language::Llvm && !self.standalone { costs::model_for_llvm } else { costs::model },
        )
    }

    fn options_with(
        &self,
        program: &Program,
        model: fn(&Costs, Option<&str>, &Universe) -> Result<CostModel, CostError>,
    ) -> Result<Options> {
        if self.config.is_none() {
            project::say_former();
        }
        let said = super::project::costs(self.config.as_deref().map(sources::openable))?;
        let cost = model(&said, self.profile.as_deref(), &program.universe)?;
        let method = match self.extract {
            Extract::Tree => Method::Tree,
            Extract::Greedy => Method::Greedy,
            Extract::Ilp => Method::Ilp,
            Extract::Auto => Method::Auto,
        };
        let usual = Options::default();
        let select = select::Options { method, cost, budget: self.limits.budget(), ..usual.select };
        let (budget, threads) = (self.limits.saturation(), self.threads.into());
        let standalone = self.standalone;
        Ok(Options { select, budget, threads, standalone, variants: true, ..usual })
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
    /// The skeleton and the saturated e-graph, for Graphviz: chosen nodes are filled, with the rules that made them, and
    /// costs are in the packs' unit
    Dot,
    /// The same as a picture, drawn by Graphviz's `dot`, of one function
    Svg,
    /// The saturated e-graph in egraph-serialize's format
    Json,
}

impl Emit {
    /// The picture of a saturated e-graph that is asked for.
    fn saturated(self) -> Option<emit::Saturated> {
        match self {
            Emit::Egglog => Some(emit::Saturated::Egglog),
            Emit::Dot => Some(emit::Saturated::Dot),
            Emit::Svg => Some(emit::Saturated::Svg),
            Emit::Json => Some(emit::Saturated::Json),
            Emit::File | Emit::Clif | Emit::Ir => None,
        }
    }
}

pub(super) fn run(args: Args) -> Result<Finding> {
    let Some(program) = args.rules.load_for(&args.input)? else { return Ok(Finding::Found) };
    // JSON on stderr stands alone.
    if args.format == Format::Text {
        args.rules.say_without_std();
    }
    let mut options = args.how.options_for(args.input.language(), &program)?;
    options.log = args.remarks || args.stats || args.report.is_some();
    if let Some(path) = &args.block_counts {
        options.counts = Some(Arc::new(BlockCounts::read(sources::openable(path))?));
    }
    if let Some(limit) = args.bisect_limit {
        (options.budget.matches, options.budget.matches_per_input) = (limit, 0);
    }
    if args.validate && args.emit != Emit::File {
        bail!("--validate compares what comes in with what goes out, in one language: it is for `--emit file`");
    }
    if let Some(what) = args.emit.saturated() {
        if args.report.is_some() {
            bail!("--report tells of what goes out: it is not for `--emit` of what is in between");
        }
        let Some(mut input) = input::open(&args.input.file, args.input.language(), program)? else {
            return Ok(Finding::Found);
        };
        args.specialise.add(|request| input.specialise(request))?;
        if let Some(reason) = input.out_of_scope() {
            bail!("{}: no function is optimised, so there is nothing to show: {reason}", args.input.file.display());
        }
        let imported = input.import(&input::wanted(&args.input.file, &*input, args.function.as_deref())?);
        return finish(&args, emit::functions(input.optimiser(), imported, &input.options(&options), what)?);
    }
    let comparer = args.validate.then(|| Comparer::of_own_changes(program.clone()));
    let again = args.bisect_limit.filter(|limit| *limit > 0).map(|limit| (limit, program.clone()));
    let spinner = out::spinner("optimising");
    let made = make(&args, program, &options)?;
    spinner.finish_and_clear();
    let Some(made) = made else { return Ok(Finding::Found) };
    report(&args, &made);
    if let Some(page) = &args.report {
        let told = Told { files: vec![made.told.clone()], ..Told::default() };
        told.page(page, &made.told.name, Some(made.optimiser.program()))?;
    }
    if let Some((limit, program)) = again {
        options.budget.matches = limit - 1;
        let Some(before) = make(&args, program, &options)? else { return Ok(Finding::Found) };
        last_matches(limit, &before, &made);
    }
    let is_right = comparer.map_or(Ok(true), |comparer| is_right(&args, &comparer, &made))?;
    if is_right {
        return finish(&args, made.printed);
    }
    out::error("what rules make is refuted: the file goes out as it came in");
    finish(&args, sources::read(&args.input.file)?)?;
    Ok(Finding::Found)
}

/// Does what goes out do what came in, as far as that is known? The verdicts are said.
fn is_right(args: &Args, comparer: &Comparer, made: &Made) -> Result<bool> {
    let before = Text { name: args.input.file.display().to_string(), bytes: made.came_in.clone() };
    let after = Text { name: "what rules make of it".into(), bytes: made.printed.clone().into() };
    let report = comparer.compare(args.input.language(), &before, &after)?;
    report.functions.iter().for_each(|verdict| out::report(&verdict.to_string()));
    let unchanged = rewright_dsl::diagnostic::count(report.unchanged as usize, "function");
    out::report(&format!("validated: {unchanged} unchanged; others: {}", report.counts));
    Ok(report.functions.iter().all(|verdict| verdict.counterexample.is_none()))
}

/// What an input becomes; `None` where it has mistakes, which are on stderr then.
fn make(args: &Args, program: Program, options: &Options) -> Result<Option<Made>> {
    if args.block_counts.is_some() && args.input.language() == Language::Llvm {
        bail!("--block-counts is for CLIF and for Rewright's own text; {} is LLVM IR", args.input.file.display());
    }
    let Some(mut input) = input::open(&args.input.file, args.input.language(), program)? else { return Ok(None) };
    args.specialise.add(|request| input.specialise(request))?;
    if let Some(counts) = &options.counts {
        counts.check(&input.functions())?;
    }
    if let Some(reason) = input.out_of_scope() {
        out::note(&format!("warning: {}: no function is optimised: {reason}", args.input.file.display()));
    }
    let wanted = input::wanted(&args.input.file, &*input, args.function.as_deref())?;
    let optimised = input.optimise(options, &wanted);
    let printed = match args.emit {
        Emit::Clif => optimised.write_compilable().map_err(|error| anyhow!(error))?,
        Emit::Ir => optimised.write_ir(),
        Emit::File | Emit::Egglog | Emit::Dot | Emit::Svg | Emit::Json => optimised.write(),
    };
    let statistics = optimised.statistics().clone();
    let optimiser = input.optimiser().clone();
    let of = |(index, f): (usize, &Option<FunctionOutcome>)| {
        Some(FunctionReport::of(optimiser.program(), f.as_ref()?, optimised.sides(index), Names::OfResult))
    };
    let functions = statistics.functions.iter().enumerate().filter_map(of).collect();
    let told = FileReport { name: args.input.file.display().to_string(), functions };
    let came_in = match args.specialise.is_asked() {
        true => input.optimise(options, &|_| false).write().into(),
        false => sources::bytes(&args.input.file)?,
    };
    Ok(Some(Made { came_in, printed, optimiser, statistics, told }))
}

/// Writes what goes out to where it goes.
fn finish(args: &Args, printed: String) -> Result<Finding> {
    match &args.output {
        Some(path) if !sources::is_dash(path) => files::write(path, printed)?,
        _ => out::result(&printed),
    }
    Ok(Finding::Clean)
}
