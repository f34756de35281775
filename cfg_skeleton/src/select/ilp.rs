//! The cheapest selection by the integer program: makes the product, extracts from it, and reads a selection back.

use super::construct::Choices;
use super::product::product;
use super::{Budget, Method, Selection, Status, place};
use crate::extract::{Extraction, Limits, extract};

/// How large it was.
#[derive(Clone, Copy, Debug, Default)]
#[allow(dead_code, reason = "read by measurements in tests")]
pub(crate) struct Size {
    /// Product classes and their nodes before presolve.
    pub(crate) classes: usize,
    pub(crate) nodes: usize,
    /// Nodes in parts that a solver or a search has to decide.
    pub(crate) left: usize,
    pub(crate) parts: usize,
    /// Solver runs.
    pub(crate) runs: u32,
}

/// Improves a selection. `None` where the product is over its budget.
pub(crate) fn improve(
    choices: &Choices,
    start: &Selection,
    budget: &Budget,
    limit: usize,
) -> Option<(Selection, Size)> {
    // Presolve leaves a small part; a product that is many times too large is not worth making.
    let (product, moved) = product(choices, start, limit.saturating_mul(16))?;
    let located = product.locate(choices, &moved);
    let limits =
        Limits { model: limit, search: budget.search, nodes: budget.nodes, runs: budget.runs, ..Limits::default() };
    let Extraction { picks, cost, bound, left, parts, runs, .. } =
        extract(&product.graph, Method::Auto, &limits, Some(&located)).ok()?;
    let size = Size { classes: product.graph.classes.len(), nodes: product.graph.node_count(), left, parts, runs };
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
    Some((selection, size))
}
