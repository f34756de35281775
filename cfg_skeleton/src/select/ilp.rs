//! The cheapest program by the integer program: makes the product, extracts from it, and reads a program back.

use super::choices::Choices;
use super::draft::Draft;
use super::error::SelectError;
use super::options::Options;
use super::pass::{Extracted, Pass, PassState};
use super::placement::Placement;
use super::product::product;
use super::report::Effort;
use rewright_extract::{Extraction, Highs, Limits, Method, Solver, clock, extract_with};

/// The pass.
pub(crate) struct Extract;

impl Pass for Extract {
    fn name(&self) -> &'static str {
        "extract"
    }

    fn run(&self, state: &mut PassState) -> Result<(), SelectError> {
        let budget = &state.options.budget;
        let (limit, work) = match state.options.method {
            Method::Auto => (budget.auto_model, budget.auto_work),
            Method::Greedy | Method::Tree | Method::Ilp => (budget.model, budget.work),
        };
        let start = state.placement.draft();
        if let Some((best, slack, effort)) = improve(state.choices, start, state.options, limit, work) {
            let best = Placement::new(state.choices, best);
            let start = state.placement.clone();
            // The program knows nothing of paths on which a statement that moves is executed twice: it bounds what there
            // is, and what it found is of use only where there is no such path.
            let slack = match best.repeats() {
                true => slack + start.cost().saturating_sub(best.cost()) as f64,
                false => {
                    state.placement = best;
                    slack
                }
            };
            state.extracted = Some(Extracted { start, slack });
            state.effort = Some(effort);
        }
        Ok(())
    }
}

/// Units of work per node of the product that making it, presolve and reading a selection back take at least.
const PER_NODE: u64 = 400;

/// Improves a program, and says how much cheaper one may be. `None` where the product is over its budget.
fn improve(
    choices: &Choices,
    start: Draft,
    options: &Options,
    limit: usize,
    work: u64,
) -> Option<(Draft, f64, Effort)> {
    let start_of_build = clock::now();
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
    let start_of_solve = clock::now();
    let Extraction { picks, cost, bound, ended, left, parts, runs, work: spent, .. } =
        extract_with(&product.graph, Method::Auto, &limits, Some(&located), solver).ok()?;
    // Of what costs the same: the smallest, as far as presolve and local search go.
    let smaller = choices
        .given
        .cfg
        .arms_share()
        .then(|| extract_with(&product.with_sizes(choices), Method::Greedy, &limits, Some(&picks), solver).ok());
    let picks = smaller.flatten().map_or(picks, |smaller| smaller.picks);
    let effort = Effort {
        classes: product.graph.classes.len(),
        nodes: product.graph.node_count(),
        left,
        parts,
        runs,
        work: spent,
        ended,
        build: start_of_solve - start_of_build,
        solve: clock::since(start_of_solve),
    };
    Some((product.decode(choices, &picks)?, cost - bound, effort))
}
