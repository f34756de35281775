//! `rewright bench --sharing`: what seeing sharing is worth, in cost, in instructions, and in measured time.
//!
//! Each function is called with a number of iterations as its first argument and made-up words as the others, in our
//! version and in a rival's in turn. The ratio of times is the median over pairs: whatever else the machine does meets
//! both alike.

use super::{Args, Finding, Format, out, sources};
use crate::clif::midend::Cranelift;
use crate::clif::optimise::ClifOptimiser;
use crate::clif::read::{File, read_bytes};
use crate::clif::sharing::{Rival, Version, by, chosen, directive};
use crate::isolate::{Call, Comparison, Engine, Job, Version as Text, Worker};
use crate::jit::Imports;
use crate::pipeline::Options;
use crate::runtest::Outcome;
use anyhow::{Context, Result, anyhow, bail};
use rewright_cfg_skeleton::select::cost::reported;
use rewright_cfg_skeleton::select::{Method, Status};
use serde_json::json;

/// Iterations of a call: a millisecond or more of a loop of a hundred instructions.
const ITERATIONS: u64 = 50_000;

/// Seconds that one call may take.
const SECONDS: u64 = 20;

pub(super) fn run(args: &Args, clif: &ClifOptimiser, options: &Options) -> Result<Finding> {
    let cranelift = Cranelift::host().map_err(|e| anyhow!("Cranelift does not support this host: {e}"))?;
    let options = Options { method: Method::Ilp, ..options.clone() };
    let mut worker = Worker::new(std::env::current_exe().context("cannot find this program's own file")?);
    let (mut rows, mut text) = (vec![], String::new());
    let mut same = true;
    for path in sources::clif_files(&args.paths)? {
        let bytes = std::fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let file = read_bytes(&bytes).map_err(|e| anyhow!("{}: {e}", path.display()))?;
        let failed = |e| anyhow!("{}: {e}", path.display());
        let ours = chosen(clif, &cranelift, &file, &options).map_err(failed)?;
        let mut rivals = vec![];
        for rival in Rival::ALL {
            rivals.push((rival, by(rival, clif, &cranelift, &file, &options).map_err(failed)?));
        }
        for (index, function) in file.functions.iter().enumerate() {
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
                let (comparison, equal) = measure(&mut worker, &file, index, version, &ours, args.repeat)?;
                same &= equal;
                let [low, ratio, high] = comparison.ratios();
                let nanoseconds = |n| comparison.median(n).as_secs_f64() * 1e9 / ITERATIONS as f64;
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
    match args.format {
        Format::Json => out::result(&format!("{:#}\n", json!(rows))),
        Format::Text => out::result(&text),
    }
    Ok(if same { Finding::Clean } else { Finding::Found })
}

/// A rival's version against ours.
fn measure(
    worker: &mut Worker,
    file: &File,
    index: usize,
    theirs: &Version,
    ours: &Version,
    pairs: u32,
) -> Result<(Comparison, bool)> {
    let name = file.functions[index].name();
    let text = directive(file, index, ITERATIONS).map_err(|e| anyhow!("{name}: {e}"))?;
    let with = Text { text: ours.text.clone(), imports: Imports::default() };
    let call = Call::Compare { function: index, text, pairs: pairs.max(1), with };
    let job = Job {
        text: theirs.text.clone(),
        engine: Engine::Jit,
        target: 0,
        calls: vec![call],
        seconds: SECONDS,
        imports: Imports::default(),
    };
    match worker.run(&job)?.pop() {
        Some(Outcome::Returned { values, holds }) => {
            Ok((serde_json::from_str(&values).context("the call's report cannot be read")?, holds))
        }
        Some(Outcome::Trapped(how)) => bail!("{name} trapped: {how}"),
        Some(Outcome::TimedOut) => bail!("{name} did not return within {SECONDS} s"),
        Some(Outcome::Failed(reason)) => bail!("{name}: {reason}"),
        None => bail!("{name}: the call gave nothing"),
    }
}
