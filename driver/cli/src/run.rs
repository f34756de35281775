//! `rewright run`: optimises a CLIF file or a module of our own text, compiles it for this host, and calls a function
//! of it; with `--compare`, of the original in turn, to see what it gains.

use super::input;
use super::language::{Input, Language};
use super::specialise::Specialise;
use super::{Finding, Format, limits, opt, out, packs, sources};
use anyhow::{Context, Result, bail};
use rewright_clif::front::ClifInput;
use rewright_clif::optimise::ClifOptimiser;
use rewright_clif::read::{File, write};
use rewright_dsl::diagnostic::count;
use rewright_dsl::program::Program;
use rewright_native::isolate::{Call, Comparison, Engine, Job, Printed, Version, Worker};
use rewright_native::jit::Imports;
use rewright_native::runtest::{CallOutcome, host_targets};
use rewright_pipeline::front::{FrontEnd, Statistics};
use rewright_pipeline::optimiser::{Fate, Options};
use serde_json::json;

/// Arguments of `run`.
#[derive(clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    input: Input,
    /// The function (with or without its `%`)
    #[arg(long = "fn", value_name = "NAME")]
    function: String,
    /// Its arguments as CLIF writes them: `7`, `-1`, `0x1.8p0`, `[1 2 3 4]`
    #[arg(allow_hyphen_values = true)]
    args: Vec<String>,
    #[command(flatten)]
    rules: packs::Rules,
    #[command(flatten)]
    how: opt::How,
    #[command(flatten)]
    specialise: Specialise,
    /// Seconds that the call may take
    #[arg(long, alias = "seconds", value_name = "SECONDS", default_value_t = 10)]
    timeout: u64,
    /// Call the original and the optimised function in turn, so many times each, and compare results and times
    #[arg(long, value_name = "PAIRS", num_args = 0..=1, require_equals = true, default_missing_value = "15")]
    compare: Option<u32>,
    /// By how much of the larger one floating-point results of both may differ
    #[arg(long, value_name = "RATIO", default_value_t = 0.0, requires = "compare")]
    tolerance: f64,
    /// How to report
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

pub(super) fn run(args: Args) -> Result<Finding> {
    let Some(program) = args.rules.load_for(&args.input)? else { return Ok(Finding::Found) };
    args.rules.say_without_std();
    let options = args.how.options(&program)?;
    let spinner = out::spinner("optimising");
    let runnable = match args.input.language() {
        Language::Own | Language::Mlir => module(&args, program, &options),
        Language::Clif | Language::Llvm => clif(&args, program, &options),
    };
    spinner.finish_and_clear();
    let Some(Runnable { file, index, original, optimised }) = runnable? else { return Ok(Finding::Found) };
    match original {
        Some(original) => {
            let spinner = out::spinner("calling both versions in turn");
            let found = compare(&args, &file, original, optimised, index);
            spinner.finish_and_clear();
            found
        }
        None => call(&args, &file, optimised, index),
    }
}

/// A function that can be called.
struct Runnable {
    /// For its signature.
    file: File,
    /// Where it stands there.
    index: usize,
    /// As it came in, where that is to be compared with.
    original: Option<Version>,
    /// What rules made of it.
    optimised: Version,
}

/// A function of a module of our own text, or of MLIR; `None` where that has mistakes, which are on stderr then.
fn module(args: &Args, program: Program, options: &Options) -> Result<Option<Runnable>> {
    let Some(mut module) = input::module(&args.input.file, args.input.language(), program)? else { return Ok(None) };
    args.specialise.add(|request| FrontEnd::specialise(&mut module, request))?;
    let names = module.module.functions.iter().map(|f| f.name.clone());
    let index = sources::function(&args.input.file, names, &args.function)?;
    let outcome = module.optimise(options, |_| true);
    report(&outcome.statistics);
    let clif = module.compile(&outcome)?;
    if let Some(name) = clif.hosts.first() {
        bail!("`{name}` is a Rust function of an embedding program: this program has none");
    }
    let optimised = Version { text: clif.text, imports: clif.imports };
    if args.compare.is_none() {
        return Ok(Some(Runnable { file: clif.file, index, original: None, optimised }));
    }
    let original = module.compile(&module.optimise(options, |_| false))?;
    let version = Version { text: original.text, imports: original.imports };
    Ok(Some(Runnable { file: original.file, index, original: Some(version), optimised }))
}

/// A function of a CLIF file; `None` where that has mistakes, which are on stderr then.
fn clif(args: &Args, program: Program, options: &Options) -> Result<Option<Runnable>> {
    let Some(file) = input::clif(&args.input.file)? else { return Ok(None) };
    let clif = ClifOptimiser::new(program).context("the rules do not form a program")?;
    let mut input = ClifInput { rules: clif, file };
    args.specialise.add(|request| input.specialise(request))?;
    let ClifInput { rules: clif, file } = input;
    let index = sources::function(&args.input.file, file.functions.iter().map(|f| f.name()), &args.function)?;
    let outcome = clif.optimise(&file, options, |_| true);
    report(&outcome.statistics);
    let version = |replaced: &[_]| Version { text: write(&file, replaced), imports: Imports::default() };
    let replaced: Vec<_> = outcome.replaced.iter().map(Option::as_ref).collect();
    let optimised = version(&replaced);
    let original = args.compare.map(|_| version(&vec![None; replaced.len()]));
    Ok(Some(Runnable { file, index, original, optimised }))
}

/// Says on stderr what failed, and where limits cut the search for something better short.
fn report(statistics: &Statistics) {
    for function in statistics.wanted() {
        if let Fate::Failed(reason) = &function.fate {
            out::note(&format!("warning: {}: {reason}; the original is run", function.name));
        }
    }
    limits::report(statistics.outcomes());
}

/// Calls a function of a file.
fn call(args: &Args, file: &File, version: Version, index: usize) -> Result<Finding> {
    let text = directive(args, file, index)?;
    let show = |values: String, _| {
        out::result(&match args.format {
            Format::Json => format!("{:#}\n", json!({ "values": values })),
            Format::Text => format!("{values}\n"),
        });
        Ok(Finding::Clean)
    };
    isolated(args, file, version, Call::Directive { function: index, text }, show)
}

/// Calls a function of a file and of its optimised version in turn.
fn compare(args: &Args, file: &File, original: Version, optimised: Version, index: usize) -> Result<Finding> {
    let text = directive(args, file, index)?;
    let (pairs, tolerance) = (args.compare.unwrap_or(0).max(1), args.tolerance);
    let call = Call::Compare { function: index, text, pairs, with: optimised, tolerance };
    let show = |values: String, same: bool| {
        let comparison: Comparison = serde_json::from_str(&values).context("the call's report cannot be read")?;
        let [low, middle, high] = comparison.ratios();
        if args.format == Format::Json {
            let version =
                |n: usize| json!({ "values": comparison.values[n], "seconds": comparison.median(n).as_secs_f64() });
            let report = json!({
                "before": version(0), "after": version(1), "same_results": same, "pairs": comparison.seconds.len(),
                "ratio": middle, "quartiles": [low, high],
            });
            out::result(&format!("{report:#}\n"));
            return Ok(if same { Finding::Clean } else { Finding::Found });
        }
        let mut text = String::new();
        for (version, name) in ["before", "after"].into_iter().enumerate() {
            let time = comparison.median(version).as_secs_f64() * 1e3;
            text += &format!("{name:<6} {time:>10.4} ms  {}\n", comparison.values[version]);
        }
        text += &format!("ratio  {middle:.3} (quartiles {low:.3} to {high:.3}, {} pairs)\n", comparison.seconds.len());
        out::result(&text);
        if same {
            return Ok(Finding::Clean);
        }
        out::error("the results differ");
        Ok(Finding::Found)
    };
    isolated(args, file, original, call, show)
}

fn directive(args: &Args, file: &File, index: usize) -> Result<String> {
    let (name, signature) = (file.functions[index].name(), &file.functions[index].func.signature);
    let params: Vec<_> = signature.params.iter().map(|p| p.value_type.to_string()).collect();
    if params.len() != args.args.len() {
        // A word that looks like an option is an argument here: it may be a negative number.
        let late = args.args.iter().find(|arg| arg.starts_with("--"));
        let late = late.map_or(String::new(), |arg| format!("; options such as {arg} stand before the arguments"));
        bail!(
            "{name} takes {} ({}), {} given{late}",
            count(params.len(), "argument"),
            params.join(", "),
            args.args.len()
        );
    }
    Ok(format!("print: {name}({})", args.args.join(", ")))
}

/// Runs a call in a process of its own; `show` says what came back.
fn isolated(
    args: &Args,
    file: &File,
    version: Version,
    call: Call,
    show: impl FnOnce(String, bool) -> Result<Finding>,
) -> Result<Finding> {
    let name = file.functions[call.function()].name();
    let own = std::env::current_exe().context("cannot find this program's own file")?;
    let mut worker = Worker::new(own).printing(Printed::ToStreams);
    let target = host_targets(file).iter().position(Result::is_ok).unwrap_or(0);
    let Version { text, imports } = version;
    let job = Job { text, engine: Engine::Jit, target, calls: vec![call], seconds: args.timeout, imports };
    match worker.run(&job)?.pop() {
        Some(CallOutcome::Returned { values, holds }) => show(values, holds),
        Some(CallOutcome::Trapped(how)) => {
            if args.format == Format::Json {
                out::result(&format!("{:#}\n", json!({ "function": name, "trapped": how })));
            }
            out::error(&format!("{name} trapped: {how}"));
            Ok(Finding::Found)
        }
        Some(CallOutcome::TimedOut) => bail!("{name} did not return within {} s", args.timeout),
        Some(CallOutcome::Failed(reason)) => bail!("{name}: {reason}"),
        None => bail!("{name}: the call gave nothing"),
    }
}
