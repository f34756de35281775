//! Linear programs that find cuts, a bound, and choices near their solutions, before the integer program is solved.
//!
//! Rounds of solving, taking out the cuts that became slack ([`super::pool`]), looking for violated ones, and adding
//! those, as long as the bound rises. What is tight in the end is stated in the integer program.

use super::founded::{Cut, ENOUGH, Founded};
use super::model::Program;
use super::pool::Pool;
use super::{Best, Solved, Solver, cycles, round_up, rounded};
use crate::extract::clock::Deadline;
use crate::extract::graph::{Class, Graph};
use crate::extract::{Limits, incumbent};

/// Of the time, what linear programs may take.
const SHARE: f64 = 0.9;

/// Cuts that are added in one round.
const MOST: usize = 40;

/// With so few cuts, more are looked for.
const FEW: usize = 40;

/// Rounds after which the bound must have risen ..
const PATIENCE: usize = 6;

/// .. by this share of what it is below the best choice.
const RISE: f64 = 0.02;

/// Adds cuts to a program, offers choices, and gives the bound that it has.
#[expect(clippy::too_many_arguments, reason = "what `ilp::solve` knows")]
pub(super) fn tighten(
    graph: &Graph,
    program: &mut Program,
    best: &mut Best,
    step: Option<f64>,
    limits: &Limits,
    deadline: Option<Deadline>,
    solver: &dyn Solver,
    runs: &mut u32,
) -> f64 {
    let mut bound = 0.0f64;
    let Some(mut relaxation) = solver.relax(&program.model) else { return bound };
    let end = deadline.map(|end| end.share(SHARE));
    let edges = cycles::Edges::new(graph);
    let mut founded = Founded::new(graph);
    let mut pool = Pool::default();
    let mut last = vec![];
    let mut gaps: Vec<f64> = vec![];
    for _ in 0..limits.cut_rounds {
        let seconds = end.map(|end| end.left().as_secs_f64());
        if seconds.is_some_and(|s| s <= 0.0) {
            break;
        }
        *runs += 1;
        let Solved::Answer { values, bound: found } = relaxation.solve(seconds) else { break };
        // Linear programs are solved to tolerances of 1e-7.
        let found = found - 1e-6 * found.abs().max(1.0);
        if !found.is_finite() || !best.allows(found) {
            break;
        }
        bound = bound.max(round_up(found, step));
        let value = |class: Class, n: usize| program.value(&values, class, n).clamp(0.0, 1.0);
        best.offer(graph, rounded(graph, program, &values));
        if let Some(near) = incumbent::guided(graph, value, end) {
            best.offer(graph, near);
        }
        last = values;
        gaps.push(best.cost - bound);
        let slow = gaps.len().checked_sub(PATIENCE).is_some_and(|n| gaps[gaps.len() - 1] > gaps[n] * (1.0 - RISE));
        if best.meets(bound) || slow {
            break;
        }
        pool.rest(&mut *relaxation, &last);
        let mut cuts: Vec<Cut> = edges.violated(graph, program, &last);
        cuts.extend(founded.violated(program, &last, false));
        cuts.retain(|cut| pool.lacks(cut));
        if cuts.len() < FEW {
            cuts.extend(founded.violated(program, &last, true));
            cuts.retain(|cut| pool.lacks(cut));
        }
        cuts.sort_by(|a, b| b.violation.total_cmp(&a.violation).then_with(|| a.set.len().cmp(&b.set.len())));
        cuts.into_iter().take(ENOUGH).for_each(|cut| pool.keep(graph, program, cut));
        if pool.state(&mut *relaxation, &last, MOST) == 0 {
            break;
        }
    }
    program.model.rows.extend(pool.tight(&last));
    bound
}
