//! The cheapest selection by the integer program: makes the product, extracts from it, and reads a selection back.

use super::choices::Choices;
use super::product::product;
use super::{Method, Options, Selection, Status, place};
use crate::extract::{Extraction, Highs, Limits, Solver, extract_with};
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
    /// Making the product.
    pub build: Duration,
    /// Presolve, and all that finds the choice and its bound.
    pub solve: Duration,
}

/// Improves a selection. `None` where the product is over its budget.
pub(crate) fn improve(
    choices: &Choices,
    start: &Selection,
    options: &Options,
    limit: usize,
) -> Option<(Selection, Effort)> {
    let start_of_build = Instant::now();
    let budget = &options.budget;
    let solver: &dyn Solver = options.solver.as_deref().unwrap_or(&Highs);
    // Presolve leaves a small part; a product that is many times too large is not worth making.
    let (product, moved) = product(choices, start, limit.saturating_mul(16))?;
    let located = product.locate(choices, &moved);
    let limits = Limits {
        model: limit,
        search: budget.search,
        nodes: budget.nodes,
        runs: budget.runs,
        time: budget.time,
        ..Limits::default()
    };
    let start_of_solve = Instant::now();
    let Extraction { picks, cost, bound, left, parts, runs, .. } =
        extract_with(&product.graph, Method::Auto, &limits, Some(&located), solver).ok()?;
    let effort = Effort {
        classes: product.graph.classes.len(),
        nodes: product.graph.node_count(),
        left,
        parts,
        runs,
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
