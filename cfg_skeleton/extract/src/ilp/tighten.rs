//! Linear programs that find cuts, a bound, and choices near their solutions, before the integer program is solved.
//!
//! Rounds of solving, taking out the cuts that became slack ([`super::pool`]), looking for violated ones, and adding
//! those, as long as the bound rises. The cuts that are tight in the end are stated in the integer program.

use super::acyclicity_cuts::{Cut, CutFinder, ENOUGH};
use super::pool::Pool;
use super::{BranchAndCut, Solved, cycles, rounded};
use crate::graph::Class;
use crate::incumbent;

/// Of a budget, what linear programs may take.
const SHARE: f64 = 0.9;

/// Cuts that are added in one round.
const MOST: usize = 40;

/// With so few cuts, more are looked for.
const FEW: usize = 40;

/// Rounds after which the bound must have risen ..
const PATIENCE: usize = 6;

/// .. by this share of what it is below the best choice.
const RISE: f64 = 0.02;

impl BranchAndCut<'_> {
    /// Adds cuts to the program, offers choices, and raises the bound.
    pub(super) fn tighten(&mut self) {
        let graph = self.graph;
        let Some(mut relaxation) = self.solver.relax(&self.program.model) else { return };
        let budget = self.budget.share(SHARE);
        let edges = cycles::Edges::new(graph);
        let mut founded = CutFinder::new(graph);
        let mut pool = Pool::default();
        let mut last = vec![];
        let mut gaps: Vec<f64> = vec![];
        for _ in 0..self.limits.cut_rounds {
            if budget.ended().is_some() {
                break;
            }
            self.runs += 1;
            let Solved::Answer { values, bound } = relaxation.solve(budget.seconds(), &budget.meter) else { break };
            // Linear programs are solved to tolerances of 1e-7.
            let bound = bound - 1e-6 * bound.abs().max(1.0);
            if !bound.is_finite() || !self.best.allows(bound) {
                break;
            }
            self.raise(bound);
            self.best.offer(graph, rounded(graph, &self.program, &values));
            let value = |class: Class, n: usize| self.program.value(&values, class, n).clamp(0.0, 1.0);
            if let Some(near) = incumbent::guided(graph, value, &budget) {
                self.best.offer(graph, near);
            }
            last = values;
            gaps.push(self.best.cost - self.bound);
            let slow = gaps.len().checked_sub(PATIENCE).is_some_and(|n| gaps[gaps.len() - 1] > gaps[n] * (1.0 - RISE));
            if self.best.meets(self.bound) || slow {
                break;
            }
            pool.rest(&mut *relaxation, &last);
            let mut cuts: Vec<Cut> = edges.violated(graph, &self.program, &last, &budget.meter);
            cuts.extend(founded.violated(&self.program, &last, false, &budget.meter));
            cuts.retain(|cut| pool.lacks(cut));
            if cuts.len() < FEW {
                cuts.extend(founded.violated(&self.program, &last, true, &budget.meter));
                cuts.retain(|cut| pool.lacks(cut));
            }
            cuts.sort_by(|a, b| b.violation.total_cmp(&a.violation).then_with(|| a.set.len().cmp(&b.set.len())));
            cuts.into_iter().take(ENOUGH).for_each(|cut| pool.keep(graph, &self.program, cut));
            if pool.state(&mut *relaxation, &last, MOST) == 0 {
                break;
            }
        }
        self.program.model.rows.extend(pool.tight(&last));
        self.budget.settle(&budget);
    }
}
