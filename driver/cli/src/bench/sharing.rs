//! `rewright bench --sharing`: what seeing sharing is worth, in cost, in instructions, and in measured time.
//!
//! Each function is called with a number of iterations as its first argument and made-up words as the others, in our
//! version and in a rival's in turn. The ratio of times is the median over pairs: whatever else the machine does meets
//! both alike.

use super::{Args, Finding, Format, out};
use crate::language::Language;
use crate::{input, sources};
use anyhow::{Context, Result, anyhow, bail};
use rewright_cfg_skeleton::select::Status;
use rewright_cfg_skeleton::select::cost::reported;
use rewright_clif::optimise::ClifOptimiser;
use rewright_dsl::program::Program;
use rewright_lab::midend::Cranelift;
use rewright_lab::sharing::clif::{ClifSubject, directive};
use rewright_lab::sharing::{Subject, Version, Versions};
use rewright_native::isolate::{Call, Comparison, Engine, Job, Worker};
use rewright_native::module::ModuleOptimiser;
use rewright_native::runtest::CallOutcome;
use rewright_pipeline::optimiser::Options;
use serde_json::json;
use std::path::Path;

/// Seconds that one call may take.
const SECONDS: u64 = 20;

pub(super) fn run(args: &Args, program: Program, options: &Options) -> Result<Finding> {
    let cranelift = Cranelift::host().map_err(|e| anyhow!("Cranelift does not support this host: {e}"))?;
    let mut worker = Worker::new(std::env::current_exe().context("cannot find this program's own file")?);
    let (mut rows, mut text) = (vec![], String::new());
    let mut same = true;
    let paths = sources::clif_files(&args.paths)?;
    // The rules are prepared once for all files of CLIF, and for each module by itself.
    let mut clif = None;
    let progress = out::progress("files", paths.len() as u64);
    for path in &paths {
        progress.inc(1);
        let Some(Versions { ours, rivals }) = versions(path, &program, &mut clif, &cranelift, options)? else {
            return Ok(Finding::Found);
        };
        for (index, function) in ours.file.functions.iter().enumerate() {
            let made = &ours.made[index];
            let status = match ours.statuses[index] {
                Status::Optimal => "optimal".to_string(),
                Status::Gap(gap) => format!("gap {:.1} %", gap * 100.0),
                Status::Greedy => "greedy".to_string(),
            };
            text += &format!("{} {}: {status}\n", path.display(), function.name());
            text += &format!(
                "  {:<10} cost {:>7}  instructions {:>5}\n",
                "ours",
                reported(made.cost),
                made.code.instructions
            );
            let mut others = serde_json::Map::new();
            for (rival, version) in &rivals {
                let theirs = &version.made[index];
                let (comparison, equal) = measure(&mut worker, index, version, &ours, args)?;
                same &= equal;
                let [low, ratio, high] = comparison.ratios();
                let nanoseconds = |n| comparison.median(n).as_secs_f64() * 1e9 / args.iterations.max(1) as f64;
                text += &format!(
                    "  {:<10} cost {:>7}  instructions {:>5}  {:>6.2} ns per iteration, ours {:.2}; ratio {ratio:.3} \
                     (quartiles {low:.3} to {high:.3}){}\n",
                    rival.name(),
                    reported(theirs.cost),
                    theirs.code.instructions,
                    nanoseconds(0),
                    nanoseconds(1),
                    if equal { "" } else { "; THE RESULTS DIFFER" },
                );
                let facts = json!({
                    "cost": reported(theirs.cost),
                    "instructions": theirs.code.instructions,
                    "nanoseconds": nanoseconds(0),
                    "ours_nanoseconds": nanoseconds(1),
                    "ratio": ratio,
                    "quartiles": [low, high],
                    "same_results": equal,
                });
                others.insert(rival.name().into(), facts);
            }
            rows.push(json!({
                "file": path.display().to_string(),
                "function": function.name(),
                "status": status,
                "cost": reported(made.cost),
                "instructions": made.code.instructions,
                "rivals": others,
            }));
        }
    }
    progress.finish_and_clear();
    match args.format {
        Format::Json => out::result(&format!("{:#}\n", json!(rows))),
        Format::Text => out::result(&text),
    }
    Ok(if same { Finding::Clean } else { Finding::Found })
}

/// A file as we choose, and as each rival does; `None` where it has mistakes, which are on stderr then.
fn versions(
    path: &Path,
    program: &Program,
    clif: &mut Option<ClifOptimiser>,
    cranelift: &Cranelift,
    options: &Options,
) -> Result<Option<Versions>> {
    let made = if Language::of(path) == Language::Own {
        let Some(module) = input::read::<ModuleOptimiser>(path, program.clone())? else { return Ok(None) };
        module.versions(cranelift, options)
    } else {
        let Some(file) = input::clif(path)? else { return Ok(None) };
        let clif = match clif {
            Some(clif) => clif,
            none => none.insert(ClifOptimiser::new(program.clone()).context("the rules do not form a program")?),
        };
        ClifSubject { clif, file: &file }.versions(cranelift, options)
    };
    made.map(Some).map_err(|e| anyhow!("{}: {e}", path.display()))
}

/// A rival's version against ours.
fn measure(
    worker: &mut Worker,
    index: usize,
    theirs: &Version,
    ours: &Version,
    args: &Args,
) -> Result<(Comparison, bool)> {
    let name = theirs.file.functions[index].name();
    let text = directive(&theirs.file, index, args.iterations).map_err(|e| anyhow!("{name}: {e}"))?;
    let (pairs, tolerance) = (args.repeat.max(1), args.tolerance);
    let call = Call::Compare { function: index, text, pairs, with: ours.runnable.clone(), tolerance };
    let job = Job {
        text: theirs.runnable.text.clone(),
        engine: Engine::Jit,
        target: 0,
        calls: vec![call],
        seconds: SECONDS,
        imports: theirs.runnable.imports.clone(),
    };
    match worker.run(&job)?.pop() {
        Some(CallOutcome::Returned { values, holds }) => {
            Ok((serde_json::from_str(&values).context("the call's report cannot be read")?, holds))
        }
        Some(CallOutcome::Trapped(how)) => bail!("{name} trapped: {how}"),
        Some(CallOutcome::TimedOut) => bail!("{name} did not return within {SECONDS} s"),
        Some(CallOutcome::Failed(reason)) => bail!("{name}: {reason}"),
        None => bail!("{name}: the call gave nothing"),
    }
}
