//! The cheapest selection by the integer program: makes the product, extracts from it, and reads a selection back.

use super::choices::Choices;
use super::product::product;
use super::{Method, Options, Selection, Status, place};
use rewright_extract::{Ended, Extraction, Highs, Limits, Solver, extract_with};
use std::time::{Duration, Instant};

/// What the integer program of a selection was: how large, and how much work.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Effort {
    /// Classes of the product, before presolve.
    pub classes: usize,
    /// Their nodes.
    pub nodes: usize,
    /// Nodes that presolve left for a solver or a search to decide between.
    pub left: usize,
    /// Parts that do not meet.
    pub parts: usize,
    /// Solver runs.
    pub runs: u32,
    /// Units of counted work of the extraction ([`rewright_extract::meter`]).
    pub work: u64,
    /// Why it is not known to be better; `None` where it is optimal.
    pub ended: Option<Ended>,
    /// Making the product.
    pub build: Duration,
    /// Presolve, and all that finds the choice and its bound.
    pub solve: Duration,
}

/// Units of work per node of the product that making it, presolve and reading a selection back take at least.
const PER_NODE: u64 = 400;

/// Improves a selection. `None` where the product is over its budget.
pub(crate) fn improve(
    choices: &Choices,
    start: &Selection,
    options: &Options,
    limit: usize,
    work: u64,
) -> Option<(Selection, Effort)> {
    let start_of_build = Instant::now();
    let budget = &options.budget;
    let solver: &dyn Solver = options.solver.as_deref().unwrap_or(&Highs);
    // Presolve leaves a small part; a product that is many times too large is not worth making.
    let affordable = usize::try_from(work / PER_NODE).unwrap_or(usize::MAX);
    let (product, moved) = product(choices, start, limit.saturating_mul(16).min(affordable))?;
    let located = product.locate(choices, &moved);
    let limits = Limits {
        model: limit,
        search: budget.search,
        nodes: budget.nodes,
        runs: budget.runs,
        work,
        time: budget.time,
        ..Limits::default()
    };
    let start_of_solve = Instant::now();
    let Extraction { picks, cost, bound, ended, left, parts, runs, work: spent, .. } =
        extract_with(&product.graph, Method::Auto, &limits, Some(&located), solver).ok()?;
    let effort = Effort {
        classes: product.graph.classes.len(),
        nodes: product.graph.node_count(),
        left,
        parts,
        runs,
        work: spent,
        ended,
        build: start_of_solve - start_of_build,
        solve: start_of_solve.elapsed(),
    };
    let mut selection = place::sink(choices, place::tidy(choices, product.decode(choices, &picks)?));
    if selection.cost > start.cost {
        // Only where a part was left at its start's choices and presolve had better ones.
        selection = start.clone();
    }
    // The product leaves out what every selection executes, such as stores. Costs are whole numbers.
    let slack = cost - bound;
    selection.status = match slack {
        slack if slack < 0.5 => Status::Optimal,
        slack => Status::Gap(slack / (selection.cost.max(1) as f64)),
    };
    Some((selection, effort))
}
