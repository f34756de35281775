//! `rewright bench FILES`: time per phase, and what results cost, against Cranelift's own mid-end on the same functions.
//!
//! For each file our pipeline and Cranelift's pass alternate, `--repeat` times, and the fastest time of each is kept.

use super::{Args, Finding, OURS, THEIRS, Told, peak_memory, tell};
use crate::{input, out, sources};
use anyhow::{Result, anyhow};
use rewright_cfg_skeleton::select::{Status, cost::reported};
use rewright_clif::optimise::{ClifOptimiser, FileOutcome};
use rewright_clif::read::{FileFunction, read_bytes};
use rewright_dsl::diagnostic::count;
use rewright_lab::losses::{Compared, Loss, compare};
use rewright_lab::midend::{Code, Cranelift};
use rewright_pipeline::optimiser::{Options, Phase, Selected};
use rewright_report::bench::{Axis, Chart, Series};
use serde_json::json;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// The back end's phase: machine code of what we emit. Not part of our ratio to Cranelift's pass.
const CODE: &str = "code";

/// The yardstick, among the phases.
const CRANELIFT: &str = "cranelift";

/// What was measured of one function.
struct Measured {
    name: String,
    /// In the original.
    instructions: usize,
    before: u64,
    ours: u64,
    theirs: u64,
    code: Option<(Code, Code)>,
    /// Where ours costs more.
    loss: Option<Loss>,
}

/// The fastest times of a file.
struct FileTimes {
    /// In the original.
    instructions: usize,
    ours: Duration,
    theirs: Duration,
}

pub(super) fn run(args: &Args, clif: &ClifOptimiser, options: &Options) -> Result<Finding> {
    let cranelift = Cranelift::host().map_err(|e| anyhow!("Cranelift does not support this host: {e}"))?;
    let files = sources::clif_files(&args.paths)?;
    let mut measured = vec![];
    let mut phases: BTreeMap<&str, Duration> = BTreeMap::new();
    let mut theirs_total = Duration::ZERO;
    // Each function is charged the mean of its file: phases take files, or batches of functions.
    let mut per_function: BTreeMap<&str, Vec<Duration>> = BTreeMap::new();
    let progress = out::progress("files", files.len() as u64);
    let (mut unreadable, mut selections, mut times) = (0, vec![], vec![]);
    for path in &files {
        progress.inc(1);
        if input::clif(path)?.is_none() {
            unreadable += 1;
            continue;
        }
        let bytes = sources::bytes(path)?;
        let mut best: BTreeMap<&str, Duration> = BTreeMap::new();
        let mut best_theirs = Duration::MAX;
        let mut last = None;
        for _ in 0..args.repeat.max(1) {
            let mut keep = |name, time: Duration| {
                let slot = best.entry(name).or_insert(time);
                *slot = (*slot).min(time);
            };
            let start = Instant::now();
            let Ok(file) = read_bytes(&bytes) else { break };
            keep("parse", start.elapsed());
            let outcome = clif.optimise(&file, options, |_| true);
            keep("import", outcome.import);
            keep("export", outcome.export);
            for phase in Phase::ALL {
                keep(phase.name(), outcome.statistics.phases.times.get(&phase).copied().unwrap_or_default());
            }
            let mut sum = Duration::ZERO;
            let theirs: Vec<_> = file
                .functions
                .iter()
                .map(|f| {
                    let done = cranelift.optimise(&f.func).ok();
                    sum += done.as_ref().map_or(Duration::ZERO, |(_, time)| *time);
                    done.map(|(f, _)| f)
                })
                .collect();
            best_theirs = best_theirs.min(sum);
            last = Some((file, outcome, theirs));
        }
        let Some((file, FileOutcome { replaced, statistics, .. }, theirs)) = last else { continue };
        let count = file.functions.len();
        selections.extend(&statistics.phases.selections);
        theirs_total += best_theirs;
        times.push(FileTimes {
            instructions: file.functions.iter().map(FileFunction::instructions).sum(),
            ours: Phase::ALL.iter().filter_map(|phase| best.get(phase.name())).sum(),
            theirs: best_theirs,
        });
        for (phase, time) in best.into_iter().chain([(CRANELIFT, best_theirs)]) {
            *phases.entry(phase).or_default() += time;
            let share = time / count.max(1) as u32;
            per_function.entry(phase).or_default().extend(std::iter::repeat_n(share, count));
        }
        for (index, function) in file.functions.iter().enumerate() {
            let (Some(theirs), Some(made)) = (&theirs[index], &statistics.functions[index]) else { continue };
            let emitted = replaced[index].as_ref().unwrap_or(&function.func);
            let Some(Compared { before, ours, theirs: cost_of_theirs, loss }) =
                compare(clif, options, &file, made, [emitted, theirs])
            else {
                continue;
            };
            let code = cranelift.code(emitted).ok().zip(cranelift.code(theirs).ok());
            if let Some(((_, time), _)) = &code {
                *phases.entry(CODE).or_default() += *time;
                per_function.entry(CODE).or_default().push(*time);
            }
            measured.push(Measured {
                name: format!("{} {}", path.display(), made.name),
                instructions: function.instructions(),
                before,
                ours,
                theirs: cost_of_theirs,
                code: code.map(|((a, _), (b, _))| (a, b)),
                loss,
            });
        }
    }
    progress.finish_and_clear();
    let selections = Selections::new(selections);
    let told = report(args, &measured, &phases, theirs_total, unreadable, per_function, &selections);
    tell(args, Told { charts: charts(&measured, &times), ..told })?;
    Ok(if unreadable == 0 { Finding::Clean } else { Finding::Found })
}

/// The geometric mean of ratios; pairs with a zero are counted as equal where both are zero and left out otherwise.
fn geometric_mean(pairs: impl Iterator<Item = (f64, f64)>) -> (f64, usize) {
    let logs: Vec<f64> = pairs
        .filter_map(|(a, b)| match (a == 0.0, b == 0.0) {
            (true, true) => Some(0.0),
            (false, false) => Some((a / b).ln()),
            _ => None,
        })
        .collect();
    ((logs.iter().sum::<f64>() / logs.len().max(1) as f64).exp(), logs.len())
}

/// How long selections took, and how good they are.
struct Selections {
    /// Sorted.
    times: Vec<Duration>,
    optimal: usize,
    greedy: usize,
    /// Of the rest, sorted.
    gaps: Vec<f64>,
}

impl Selections {
    fn new(list: Vec<Selected>) -> Self {
        let mut found = Selections { times: vec![], optimal: 0, greedy: 0, gaps: vec![] };
        for Selected { time, status, .. } in list {
            found.times.push(time);
            match status {
                Status::Optimal => found.optimal += 1,
                Status::Gap(gap) => found.gaps.push(gap),
                Status::Greedy => found.greedy += 1,
            }
        }
        found.times.sort();
        found.gaps.sort_by(f64::total_cmp);
        found
    }

    /// The time of selection, in milliseconds, that this many per cent do not exceed.
    fn percentile(&self, percent: usize) -> f64 {
        let rank = (self.times.len() * percent).div_ceil(100).max(1);
        self.times.get(rank - 1).map_or(0.0, |time| time.as_secs_f64() * 1e3)
    }

    fn json(&self) -> serde_json::Value {
        json!({
            "optimal": self.optimal,
            "gap": self.gaps.len(),
            "largest_gap": self.gaps.last(),
            "greedy": self.greedy,
            "milliseconds": {
                "p50": self.percentile(50),
                "p90": self.percentile(90),
                "p99": self.percentile(99),
                "max": self.percentile(100),
            },
        })
    }

    fn text(&self) -> String {
        let [p50, p90, p99, max] = [50, 90, 99, 100].map(|p| self.percentile(p));
        let largest = self.gaps.last().map_or(String::new(), |gap| format!(" of at most {:.1} %", gap * 100.0));
        format!(
            "selection: {} optimal, {} with a gap{largest}, {} greedy; ms per function p50 {p50:.3}, p90 {p90:.3}, \
             p99 {p99:.3}, max {max:.3}\n",
            self.optimal,
            self.gaps.len(),
            self.greedy
        )
    }
}

fn median(mut times: Vec<Duration>) -> f64 {
    times.sort();
    times.get(times.len() / 2).map_or(0.0, Duration::as_secs_f64)
}

/// The figures, without curves.
fn report(
    args: &Args,
    measured: &[Measured],
    phases: &BTreeMap<&str, Duration>,
    theirs: Duration,
    unreadable: usize,
    per_function: BTreeMap<&str, Vec<Duration>>,
    selections: &Selections,
) -> Told {
    let (mean, counted) = geometric_mean(measured.iter().map(|m| (m.ours as f64, m.theirs as f64)));
    let (mean_original, _) = geometric_mean(measured.iter().map(|m| (m.ours as f64, m.before as f64)));
    let with_code = || measured.iter().filter_map(|m| m.code);
    let (bytes, _) = geometric_mean(with_code().map(|(a, b)| (a.bytes as f64, b.bytes as f64)));
    let (instructions, _) = geometric_mean(with_code().map(|(a, b)| (a.instructions as f64, b.instructions as f64)));
    let mut losses: Vec<_> = measured.iter().filter(|m| m.ours > m.theirs).collect();
    losses.sort_by(|a, b| (b.ours as f64 / b.theirs as f64).total_cmp(&(a.ours as f64 / a.theirs as f64)));
    let wins = measured.iter().filter(|m| m.ours < m.theirs).count();
    let order: Vec<_> =
        ["parse", "import"].into_iter().chain(Phase::ALL.iter().map(|p| p.name())).chain(["export", CODE]).collect();
    let seconds = |name: &str| phases.get(name).map_or(0.0, Duration::as_secs_f64);
    let own: f64 = Phase::ALL.iter().map(|p| seconds(p.name())).sum();
    let own_but_saturation = own - seconds(Phase::Saturate.name());
    let base = theirs.as_secs_f64().max(1e-9);
    let medians: BTreeMap<&str, f64> = per_function.into_iter().map(|(name, times)| (name, median(times))).collect();
    let middle = |name: &str| medians.get(name).copied().unwrap_or_default();
    let document = {
        let losses: Vec<_> = losses
            .iter()
            .map(|m| {
                let loss = m.loss.as_ref();
                json!({
                    "function": m.name,
                    "before": reported(m.before),
                    "ours": reported(m.ours),
                    "cranelift": reported(m.theirs),
                    "reason": loss.map(|l| l.reason.code()),
                    "explanation": loss.map(|l| l.reason.to_string()),
                    "only_ours": loss.map(|l| l.ours.clone()),
                    "only_cranelift": loss.map(|l| l.theirs.clone()),
                })
            })
            .collect();
        json!({
            "functions": measured.len(),
            "peak_memory_bytes": peak_memory(),
            "unreadable_files": unreadable,
            "seconds": order.iter().map(|n| (n.to_string(), json!(seconds(n)))).collect::<serde_json::Map<_, _>>(),
            "median_seconds_per_function": medians,
            "cranelift_seconds": base,
            "ratio_all": own / base,
            "ratio_without_saturation": own_but_saturation / base,
            "cost_ratio_to_cranelift": mean,
            "cost_ratio_to_original": mean_original,
            "machine_code_bytes_ratio": bytes,
            "machine_code_instructions_ratio": instructions,
            "selection": selections.json(),
            "cheaper": wins,
            "dearer": losses,
        })
    };
    let mut text = format!("{}, {}\n", count(measured.len(), "function"), count(unreadable, "unreadable file"));
    for name in order {
        text += &format!(
            "  {name:<10} {:>9.2} ms  {:>6.2}x of Cranelift's pass  {:>7.1} us median per function\n",
            seconds(name) * 1e3,
            seconds(name) / base,
            middle(name) * 1e6
        );
    }
    text +=
        &format!("  Cranelift's pass {:.2} ms, {:.1} us median per function\n", base * 1e3, middle(CRANELIFT) * 1e6);
    text += &selections.text();
    text += &format!("  all phases {:.1}x, without saturation {:.1}x of it\n", own / base, own_but_saturation / base);
    text += &format!(
        "cost: geometric mean {mean:.4} of Cranelift's over {} ({wins} cheaper, {} dearer), \
         {mean_original:.4} of the originals'\n",
        count(counted, "function"),
        losses.len()
    );
    if let Some(bytes) = peak_memory() {
        text += &format!("peak memory of this process: {:.1} MiB\n", bytes as f64 / f64::from(1 << 20));
    }
    text += &format!("machine code, same back end: {bytes:.4} of the bytes, {instructions:.4} of the instructions\n");
    if args.losses {
        for m in losses {
            text += &format!(
                "  {:<70} {} -> {} (Cranelift {})\n",
                m.name,
                reported(m.before),
                reported(m.ours),
                reported(m.theirs)
            );
            if let Some(loss) = &m.loss {
                text += &format!("    {loss}\n");
            }
        }
    }
    Told { title: "bench".into(), text, json: document, charts: vec![] }
}

/// Time by file, and cost by function, over their sizes.
fn charts(measured: &[Measured], files: &[FileTimes]) -> Vec<Chart> {
    let time = |name: &str, time: fn(&FileTimes) -> Duration| {
        let points = files.iter().map(|file| (file.instructions as f64, time(file).as_secs_f64() * 1e3));
        Series { name: name.into(), points: points.collect(), joined: false }
    };
    let cost = |name: &str, cost: fn(&Measured) -> f64| {
        let points = measured.iter().map(|m| (m.instructions as f64, cost(m)));
        Series { name: name.into(), points: points.collect(), joined: false }
    };
    let ratio = |m: &Measured| m.ours as f64 / m.theirs.max(1) as f64;
    vec![
        Chart {
            title: "Time by file".into(),
            x: Axis::logarithmic("instructions"),
            y: Axis::logarithmic("ms"),
            series: vec![time(OURS, |file| file.ours), time(THEIRS, |file| file.theirs)],
        },
        Chart {
            title: "Cost by function".into(),
            x: Axis::logarithmic("instructions"),
            y: Axis::logarithmic("cost"),
            series: vec![
                cost("original", |m| reported(m.before)),
                cost(THEIRS, |m| reported(m.theirs)),
                cost(OURS, |m| reported(m.ours)),
            ],
        },
        Chart {
            title: "Cost in proportion to Cranelift's, by function".into(),
            x: Axis::logarithmic("instructions"),
            y: Axis::linear("ratio"),
            series: vec![cost(OURS, ratio)],
        },
    ]
}
