//! `rewright run`: optimises a CLIF file or a module of our own text, compiles it for this host, and calls a function
//! of it.

use super::{Finding, opt, out, packs, sources};
use crate::clif::optimise::ClifOptimiser;
use crate::clif::read::{File, write};
use crate::isolate::{Call, Engine, Job, Worker};
use crate::jit::Imports;
use crate::pipeline::Fate;
use crate::runtest::{Outcome, host_targets};
use anyhow::{Context, Result, bail};
use std::path::PathBuf;

/// Arguments of `run`.
#[derive(clap::Args)]
pub(super) struct Args {
    /// A CLIF file, or a module of Rewright's own text (`.ir`)
    file: PathBuf,
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
    /// Seconds that the call may take
    #[arg(long, default_value_t = 10)]
    seconds: u64,
}

pub(super) fn run(args: Args) -> Result<Finding> {
    let Some(program) = args.rules.load()? else { return Ok(Finding::Found) };
    let options = args.how.options(&program)?;
    if sources::is_module(&args.file) {
        let Some(module) = sources::module(&args.file, program)? else { return Ok(Finding::Found) };
        let index = {
            let names = module.module.functions.iter().map(|f| f.name.clone());
            sources::function(&args.file, names, &args.function)?
        };
        let optimised = module.optimise(&options, |_| true);
        for (f, outcome) in module.module.functions.iter().zip(&optimised.functions) {
            if let Some(Fate::Failed(reason)) = outcome.as_ref().map(|o| &o.fate) {
                out::note(&format!("warning: {}: {reason}; the original is run", f.name));
            }
        }
        let clif = module.compile(&optimised)?;
        if let Some(name) = clif.hosts.first() {
            bail!("`{name}` is a Rust function of an embedding program: this program has none");
        }
        return call(&args, &clif.file, clif.text, index, clif.imports);
    }
    let Some(file) = sources::clif(&args.file)? else { return Ok(Finding::Found) };
    let index = sources::function(&args.file, file.functions.iter().map(|f| f.name()), &args.function)?;
    let params: Vec<_> = file.functions[index].func.signature.params.iter().map(|p| p.value_type.to_string()).collect();
    if params.len() != args.args.len() {
        let (name, types) = (file.functions[index].name(), params.join(", "));
        bail!("{name} takes {} arguments ({types}), {} given", params.len(), args.args.len());
    }
    let clif = ClifOptimiser::new(program).context("the rules do not form a program")?;
    let outcome = clif.optimise(&file, &options, |_| true);
    let replaced: Vec<_> = outcome.replaced.iter().map(Option::as_ref).collect();
    call(&args, &file, write(&file, &replaced), index, Imports::default())
}

/// Calls a function of a file in a process of its own.
fn call(args: &Args, file: &File, text: String, index: usize, imports: Imports) -> Result<Finding> {
    let name = file.functions[index].name();
    let directive = format!("print: {name}({})", args.args.join(", "));
    let mut worker = Worker::new(std::env::current_exe().context("cannot find this program's own file")?);
    let target = host_targets(file).iter().position(Result::is_ok).unwrap_or(0);
    let job = Job {
        text,
        engine: Engine::Jit,
        target,
        calls: vec![Call::Directive { function: index, text: directive }],
        seconds: args.seconds,
        imports,
    };
    match worker.run(&job)?.pop() {
        Some(Outcome::Returned { values, .. }) => {
            out::result(&format!("{values}\n"));
            Ok(Finding::Clean)
        }
        Some(Outcome::Trapped(how)) => {
            out::error(&format!("{name} trapped: {how}"));
            Ok(Finding::Found)
        }
        Some(Outcome::TimedOut) => bail!("{name} did not return within {} s", args.seconds),
        Some(Outcome::Failed(reason)) => bail!("{name}: {reason}"),
        None => bail!("{name}: the call gave nothing"),
    }
}
