//! Cuts in a linear program, and cuts that left it.
//!
//! Most cuts are slack in the next solution already, and all they do then is to make linear programs slow, which is
//! where the time goes. So what is slack rests: it is taken out, and comes back when a solution violates it.
//!
//! **Invariant**: `stated` are the rows that were added to the relaxation and not taken out, in the order that it has
//! them in. The rows that are taken out are slack, hence basic, so the basis that is left is one and the next run goes
//! on from it.

use super::Relaxation;
use super::acyclicity_cuts::Cut;
use super::model::{Program, Row};
use crate::graph::{Class, Graph};
use std::collections::BTreeSet;

/// A row is tight to this.
const TIGHT: f64 = 1e-6;

/// A row comes back if it is violated by this much.
const LEAST: f64 = 0.01;

/// All cuts that were ever found.
#[derive(Default)]
pub(super) struct Pool {
    known: BTreeSet<(Vec<Class>, Class)>,
    stated: Vec<Row>,
    resting: Vec<Row>,
}

impl Pool {
    /// Is this cut a new one?
    pub(super) fn lacks(&self, cut: &Cut) -> bool {
        !self.known.contains(&(cut.set.clone(), cut.class))
    }

    /// One more cut, which rests for now.
    pub(super) fn keep(&mut self, graph: &Graph, program: &Program, Cut { set, class, .. }: Cut) {
        let row = program.founded(graph, &set, class);
        if self.known.insert((set, class)) {
            self.resting.push(row);
        }
    }

    /// Takes out what is slack in a solution.
    pub(super) fn rest(&mut self, relaxation: &mut dyn Relaxation, values: &[f64]) {
        let slack = |row: &Row| excess(row, values) > TIGHT;
        let places: Vec<usize> = (0..self.stated.len()).filter(|n| slack(&self.stated[*n])).collect();
        relaxation.remove(&places);
        self.resting.extend(self.stated.extract_if(.., |row| slack(row)));
    }

    /// Adds the resting rows that a solution violates most; how many?
    pub(super) fn state(&mut self, relaxation: &mut dyn Relaxation, values: &[f64], most: usize) -> usize {
        let by = self.resting.iter().map(|row| -excess(row, values)).enumerate();
        let mut order: Vec<(usize, f64)> = by.filter(|(_, violation)| *violation > LEAST).collect();
        let size = |n: usize| self.resting[n].terms.len();
        order.sort_by(|(n, a), (m, b)| b.total_cmp(a).then_with(|| size(*n).cmp(&size(*m))));
        order.truncate(most);
        let mut places: Vec<usize> = order.into_iter().map(|(n, _)| n).collect();
        places.sort_unstable_by(|a, b| b.cmp(a));
        for n in &places {
            let row = self.resting.swap_remove(*n);
            relaxation.add(&row);
            self.stated.push(row);
        }
        places.len()
    }

    /// Rows that are tight in a solution.
    pub(super) fn tight(self, values: &[f64]) -> impl Iterator<Item = Row> {
        self.stated.into_iter().filter(|row| excess(row, values) < TIGHT)
    }
}

/// By how much a row holds.
fn excess(row: &Row, values: &[f64]) -> f64 {
    let sum: f64 = row.terms.iter().map(|(n, factor)| factor * values.get(*n).copied().unwrap_or(0.0)).sum();
    sum - row.low
}
