//! `rewright opt`: optimises a CLIF file.

use super::{Finding, Format, emit, out, packs, sources};
use crate::clif::optimise::{ClifOptimiser, FileOutcome};
use crate::clif::read::write;
use crate::pipeline::{Fate, Options, Phase, Relaxed};
use anyhow::{Context, Result};
use clap::ValueEnum;
use rewright_cfg_skeleton::select::{Method, Status};
use serde_json::json;
use std::path::PathBuf;

/// Arguments of `opt`.
#[derive(clap::Args)]
pub(super) struct Args {
    /// A CLIF file
    file: PathBuf,
    /// Where the result goes; stdout by default
    #[arg(short, long)]
    output: Option<PathBuf>,
    #[command(flatten)]
    rules: packs::Rules,
    #[command(flatten)]
    how: How,
    /// Only this function (with or without its `%`); the others stay as they are
    #[arg(long = "fn", value_name = "NAME")]
    function: Option<String>,
    /// What to print
    #[arg(long, value_enum, default_value_t)]
    emit: Emit,
    /// Say on stderr what became of each function, and how long each phase took
    #[arg(long)]
    stats: bool,
    /// Say on stderr which rules took part in each function
    #[arg(long)]
    remarks: bool,
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
    /// Threads; the result does not depend on it
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=256))]
    threads: u16,
}

impl How {
    pub(super) fn options(&self) -> Options {
        let method = match self.extract {
            Extract::Greedy => Method::Greedy,
            Extract::Ilp => Method::Ilp,
            Extract::Auto => Method::Auto,
        };
        Options { method, threads: self.threads.into(), ..Options::default() }
    }

    pub(super) fn threads(&self) -> usize {
        self.threads.into()
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum Extract {
    /// Fast, no bound
    Greedy,
    /// Integer linear program
    Ilp,
    /// By size
    Auto,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, ValueEnum)]
enum Emit {
    /// The whole file as CLIF
    #[default]
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

pub(super) fn run(args: Args) -> Result<Finding> {
    let Some(program) = args.rules.load()? else { return Ok(Finding::Found) };
    let Some(file) = sources::clif(&args.file)? else { return Ok(Finding::Found) };
    let clif = ClifOptimiser::new(program).context("the rules do not form a program")?;
    let mut options = args.how.options();
    options.log = args.remarks;
    let chosen = match &args.function {
        None => None,
        Some(name) => Some(sources::function(&args.file, &file, name)?),
    };
    let wanted = |index| chosen.is_none_or(|chosen| chosen == index);
    let printed = match args.emit {
        Emit::Egglog => emit::functions(&clif, &file, &options, wanted, emit::Saturated::Egglog)?,
        Emit::Dot => emit::functions(&clif, &file, &options, wanted, emit::Saturated::Dot)?,
        Emit::Json => emit::functions(&clif, &file, &options, wanted, emit::Saturated::Json)?,
        Emit::Clif | Emit::Ir => {
            let outcome = clif.optimise(&file, &options, wanted);
            report(&args, &clif, &outcome);
            if args.emit == Emit::Ir {
                emit::ir(&clif, &outcome)
            } else {
                let replaced: Vec<_> = outcome.replaced.iter().map(Option::as_ref).collect();
                write(&file, &replaced)
            }
        }
    };
    match &args.output {
        Some(path) => std::fs::write(path, printed).with_context(|| format!("cannot write {}", path.display()))?,
        None => out::result(&printed),
    }
    Ok(Finding::Clean)
}

fn report(args: &Args, clif: &ClifOptimiser, file: &FileOutcome) {
    let functions = || file.functions.iter().flatten();
    let matched = || file.rules.iter().filter(|(_, report)| report.matches > 0);
    for function in functions() {
        if let Fate::Failed(reason) = &function.fate {
            out::note(&format!("warning: {}: {reason}; the original goes out", function.name));
        }
    }
    if !args.stats && !args.remarks {
        return;
    }
    let rule = |r: &u32| clif.optimiser.program().rules[*r as usize].name.clone();
    if args.format == Format::Json {
        let functions: Vec<_> = functions()
            .map(|f| {
                let mut entry = json!({ "name": f.name, "fate": fate(&f.fate) });
                if let Some(o) = &f.outcome {
                    entry["cost_before"] = json!(o.cost_before);
                    entry["cost_after"] = json!(o.cost_after);
                    entry["status"] = json!(status(o.status));
                    entry["nodes"] = json!(o.nodes);
                    entry["classes"] = json!(o.classes);
                    entry["rounds"] = json!(o.rounds);
                    entry["exhausted"] = json!(o.exhausted);
                    entry["rules"] = json!(o.rules.iter().map(rule).collect::<Vec<_>>());
                    let relaxed = |r: &Relaxed| json!({ "operation": r.operation, "rule": rule(&r.rule) });
                    entry["relaxed"] = json!(o.relaxed.iter().map(relaxed).collect::<Vec<_>>());
                }
                entry
            })
            .collect();
        let phases: serde_json::Map<_, _> = Phase::ALL
            .iter()
            .map(|p| (p.name().to_string(), json!(file.phases.times.get(p).map_or(0.0, |t| t.as_secs_f64()))))
            .collect();
        let rules: serde_json::Map<_, _> = matched()
            .map(|(r, report)| (rule(r), json!({ "matches": report.matches, "seconds": report.time.as_secs_f64() })))
            .collect();
        out::note(&json!({ "functions": functions, "seconds": phases, "rules": rules }).to_string());
        return;
    }
    for f in functions() {
        let figures = f.outcome.as_ref().map_or(String::new(), |o| {
            let budget = if o.exhausted { ", budget exhausted" } else { "" };
            format!(
                ", cost {} -> {} ({}), {} nodes in {} classes, {} rounds{budget}",
                o.cost_before,
                o.cost_after,
                status(o.status),
                o.nodes,
                o.classes,
                o.rounds
            )
        });
        out::note(&format!("{}: {}{figures}", f.name, fate(&f.fate)));
        if args.remarks {
            for r in f.outcome.iter().flat_map(|o| &o.rules) {
                out::note(&format!("  {}", rule(r)));
            }
            for relaxed in f.outcome.iter().flat_map(|o| &o.relaxed) {
                let because = clif.optimiser.program().rules[relaxed.rule as usize].relaxation.as_ref();
                let because = because.map_or("", |relaxation| &relaxation.because);
                out::note(&format!("  `{}` is left out by {}: {because}", relaxed.operation, rule(&relaxed.rule)));
            }
        }
    }
    if args.stats {
        let shown: Vec<_> = Phase::ALL
            .iter()
            .filter_map(|p| file.phases.times.get(p).map(|t| format!("{} {:.2} ms", p.name(), t.as_secs_f64() * 1e3)))
            .collect();
        out::note(&format!("time: {}", shown.join(", ")));
        let mut by_count: Vec<_> = matched().collect();
        by_count.sort_by_key(|(r, report)| (std::cmp::Reverse(report.matches), **r));
        for (r, report) in by_count.iter().take(20) {
            let time = report.time.as_secs_f64() * 1e3;
            out::note(&format!("{:>8} matches {time:>8.2} ms  {}", report.matches, rule(r)));
        }
    }
}

/// A fate as reports name it.
pub(super) fn fate(fate: &Fate) -> String {
    match fate {
        Fate::Optimised => "optimised".into(),
        Fate::Unchanged => "unchanged".into(),
        Fate::PassedThrough(reason) => format!("passed through: {reason}"),
        Fate::Failed(reason) => format!("failed: {reason}"),
    }
}

fn status(status: Status) -> String {
    match status {
        Status::Optimal => "optimal".into(),
        Status::Gap(gap) => format!("gap {:.1} %", gap * 100.0),
        Status::Greedy => "greedy".into(),
    }
}
