//! `rewright extract`: the cheapest choice of nodes from serialised e-graphs, sharing counted, with a bound.

use super::limits::seconds;
use super::{Finding, Format, out, sources};
use anyhow::{Context, Result};
use clap::ValueEnum;
use rewright_dsl::diagnostic::count;
use rewright_extract::{Ended, Extraction, Limits, Method, Status, extract, serialized};
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Arguments of `extract`.
///
/// An e-graph is a JSON file of the crate egraph-serialize. It may have a tree of blocks beside its nodes; a class is
/// then computed in a block, at that block's frequency, from what is available there, and roots stand in blocks:
///
///   "block_tree": { "blocks": [{ "id": "entry" }, { "id": "loop", "parent": "entry", "frequency": 10 }],
///                   "roots": [{ "eclass": "a", "block": "loop" }], "pinned": { "NODE": "entry" } }
///
/// A pinned node can be computed in its block only.
///
/// For one file `--format json` prints one object, for several and for directories an array of them, one per file.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub(super) struct Args {
    /// E-graphs, or directories of them
    #[arg(required = true)]
    paths: Vec<PathBuf>,
    /// Classes, or nodes of them, to extract instead of the file's roots; with a block tree CLASS@BLOCK
    #[arg(long, value_delimiter = ',', value_name = "CLASS,...")]
    roots: Option<Vec<String>>,
    /// How to choose
    #[arg(long, alias = "method", value_enum, default_value_t, value_name = "HOW")]
    extract: How,
    /// Seconds of processor time for one file; without it, work is counted, which comes to five to fifteen seconds, and
    /// results do not depend on the machine
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    time_limit: Option<Duration>,
    /// Print what is picked, too: for each class that is computed, its node
    #[arg(long)]
    choices: bool,
    /// How to report
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// How to choose.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, ValueEnum)]
enum How {
    /// Cheapest trees, as if nothing were shared: to compare with
    Tree,
    /// Cheapest trees and local search, no bound
    Greedy,
    /// An integer program for every part
    Ilp,
    /// An integer program for parts of which presolve leaves little
    #[default]
    Auto,
}

/// Nodes that a part may have to be solved with `auto`.
const AUTO: usize = 20_000;

/// Moves of the local search per node with a time limit.
const MOVES: u32 = 64;

/// What is reported of a file.
#[derive(Serialize)]
struct Row<'s> {
    file: String,
    cost: f64,
    bound: Option<f64>,
    /// `optimal`, `gap` or `greedy`.
    status: &'static str,
    /// Of the cost; no choice is cheaper by more.
    gap: Option<f64>,
    /// What ended the search, where the status is `gap`.
    ended: Option<&'static str>,
    /// Processor time, without reading the file.
    seconds: f64,
    presolve: Presolve,
    #[serde(skip_serializing_if = "Option::is_none")]
    choices: Option<Vec<serialized::Pick<'s>>>,
}

/// Nodes to decide between.
#[derive(Clone, Copy, Serialize)]
struct Presolve {
    nodes_before: usize,
    nodes_after: usize,
}

/// A file from which nothing could be extracted.
#[derive(Serialize)]
struct Failure {
    file: String,
    error: String,
}

pub(super) fn run(args: Args) -> Result<Finding> {
    let files = sources::egraphs(&args.paths)?;
    let single = files.len() == 1 && args.paths.len() == 1 && !args.paths[0].is_dir();
    let progress = out::progress("files", files.len() as u64);
    let (mut rows, mut proved, mut failed) = (vec![], 0, 0);
    for path in &files {
        let text = sources::read(path)?;
        match row(&args, path, &text) {
            Ok((status, json, line)) => {
                proved += usize::from(status == Status::Optimal);
                match args.format {
                    Format::Json => rows.push(json),
                    Format::Text => progress.suspend(|| out::result(&line)),
                }
            }
            Err(error) => {
                failed += 1;
                let error = error.to_string();
                progress.suspend(|| out::error(&format!("{}: {error}", path.display())));
                rows.push(serde_json::to_value(Failure { file: path.display().to_string(), error })?);
            }
        }
        progress.inc(1);
    }
    progress.finish_and_clear();
    match args.format {
        Format::Json => {
            let text = match &rows[..] {
                [row] if single => serde_json::to_string_pretty(row)?,
                rows => serde_json::to_string_pretty(rows)?,
            };
            out::result(&format!("{text}\n"));
        }
        Format::Text if !single => out::result(&format!("{}, {proved} proved optimal\n", count(files.len(), "file"))),
        Format::Text => {}
    }
    Ok(if failed == 0 { Finding::Clean } else { Finding::Found })
}

/// One file: how good, as JSON, and as a line.
fn row(args: &Args, path: &Path, text: &str) -> Result<(Status, serde_json::Value, String)> {
    let file = serialized::read(text, args.roots.as_deref())?;
    let method = match args.extract {
        How::Tree => Method::Tree,
        How::Greedy => Method::Greedy,
        How::Ilp => Method::Ilp,
        How::Auto => Method::Auto,
    };
    let mut limits = Limits { time: args.time_limit, ..Limits::default() };
    limits.model = if method == Method::Auto { AUTO } else { usize::MAX };
    if args.time_limit.is_some() {
        (limits.nodes, limits.runs, limits.cut_rounds) = (u32::MAX, u32::MAX, u32::MAX);
        (limits.moves, limits.work) = (MOVES, u64::MAX);
    }
    let Extraction { picks, cost, bound, status, ended, left, time, .. } = extract(&file.graph, method, &limits, None)?;
    let seconds = time.as_secs_f64();
    let presolve = Presolve { nodes_before: file.graph.node_count(), nodes_after: left };
    let (word, gap) = match status {
        Status::Optimal => ("optimal", Some(0.0)),
        Status::Gap(gap) => ("gap", Some(gap)),
        Status::Greedy => ("greedy", None),
    };
    let choices = args.choices.then(|| file.picks(&picks));
    let bound = gap.map(|_| bound);
    let named = ended.map(Ended::name);
    let mut line = format!("{}: cost {cost}", path.display());
    line += &match status {
        Status::Optimal => ", optimal".to_string(),
        Status::Gap(gap) => {
            let because = ended.map_or(String::new(), |ended| format!(", {}", ended.name()));
            format!(", gap {:.2} % (bound {}{because})", 100.0 * gap, bound.unwrap_or(0.0))
        }
        Status::Greedy => ", greedy".to_string(),
    };
    line += &format!("; {seconds:.3} s, nodes {} -> {left}\n", presolve.nodes_before);
    for pick in choices.iter().flatten() {
        let at = pick.block.map_or(String::new(), |block| format!(" in {block}"));
        line += &format!("  {}{at} = {}\n", pick.eclass, pick.node);
    }
    let row = Row {
        file: path.display().to_string(),
        cost,
        bound,
        status: word,
        gap,
        ended: named,
        seconds,
        presolve,
        choices,
    };
    Ok((status, serde_json::to_value(row).context("cannot write a row")?, line))
}
