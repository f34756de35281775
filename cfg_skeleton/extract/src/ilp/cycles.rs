//! Cycle cuts that a fractional solution violates.
//!
//! For a cycle of classes `S`, what a class C in it is had by other than nodes that need its next class D is at most
//! `w(C, D) = a(C) - sum { x in C : D an ordered child }`. If these weights add up to less than `a(J)` for some J of
//! `S`, so does what leads out of `S`, and the cut (3) of [`super::model`] for `S` is violated. A cycle of least
//! weight through J is found by Dijkstra's algorithm; all weights are at least 0 by (1).

use super::Program;
use super::acyclicity_cuts::Cut;
use crate::cycle;
use crate::graph::{Class, Graph};
use crate::meter::Meter;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

/// A cut must be violated by this much.
const LEAST: f64 = 0.02;

/// Units of work that a class takes, beside its edges.
const STEP: u64 = 10;

/// Weights as whole numbers, to have an order.
const SCALE: f64 = 1e6;

/// The edges of a graph that lie on cycles.
pub(super) struct Edges {
    /// By class: the next class, and which nodes lead there.
    from: Vec<Vec<(Class, Vec<u32>)>>,
}

impl Edges {
    pub(super) fn new(graph: &Graph) -> Self {
        let children = |class: usize| graph.classes[class].iter().flat_map(|node| &node.children);
        let all = (0..graph.classes.len()).flat_map(|class| children(class).map(move |child| (class as u32, child.0)));
        let mut part = vec![0; graph.classes.len()];
        let found = cycle::components(graph.classes.len(), all);
        for (n, members) in found.into_iter().filter(|m| m.len() > 1).enumerate() {
            members.into_iter().for_each(|m| part[m as usize] = n + 1);
        }
        let edges = |class: usize| -> Vec<(Class, Vec<u32>)> {
            let inside = |child: &&Class| part[class] != 0 && part[child.index()] == part[class];
            let next: BTreeSet<Class> = children(class).filter(inside).copied().collect();
            let leading = |to: Class| {
                let nodes = graph.classes[class].iter().enumerate();
                nodes.filter(|(_, node)| node.children.binary_search(&to).is_ok()).map(|(n, _)| n as u32).collect()
            };
            next.into_iter().map(|to| (to, leading(to))).collect()
        };
        Edges { from: (0..graph.classes.len()).map(edges).collect() }
    }

    /// Violated cycles; for each class at most one, as long as there is work left.
    pub(super) fn violated(&self, graph: &Graph, program: &Program, values: &[f64], meter: &Meter) -> Vec<Cut> {
        let had: Vec<f64> = (0..graph.classes.len())
            .map(|class| {
                let nodes = 0..graph.classes[class].len();
                nodes.map(|n| program.value(values, Class(class as u32), n)).sum()
            })
            .collect();
        let weighted = |class: usize, (to, nodes): &(Class, Vec<u32>)| {
            let leading: f64 = nodes.iter().map(|n| program.value(values, Class(class as u32), *n as usize)).sum();
            (*to, ((had[class] - leading).max(0.0) * SCALE) as u64)
        };
        let edges: Vec<Vec<(Class, u64)>> = self
            .from
            .iter()
            .enumerate()
            .map(|(class, list)| list.iter().map(|edge| weighted(class, edge)).collect())
            .collect();
        let mut found: BTreeMap<Vec<Class>, Cut> = BTreeMap::new();
        let mut best = vec![u64::MAX; graph.classes.len()];
        let mut before = vec![Class(0); graph.classes.len()];
        for start in (0..graph.classes.len()).filter(|class| had[*class] > LEAST && !self.from[*class].is_empty()) {
            if meter.used_up() {
                break;
            }
            let limit = ((had[start] - LEAST) * SCALE) as u64;
            let mut touched = vec![];
            let mut heap = BinaryHeap::from([Reverse((0u64, Class(start as u32)))]);
            let mut close = None;
            'search: while let Some(Reverse((weight, class))) = heap.pop() {
                if weight > best[class.index()] {
                    continue;
                }
                meter.spend(STEP + edges[class.index()].len() as u64);
                for (to, more) in &edges[class.index()] {
                    let sum = weight + more;
                    if sum >= limit {
                        continue;
                    }
                    if to.index() == start {
                        close = Some((class, sum));
                        break 'search;
                    }
                    if sum < best[to.index()] {
                        best[to.index()] = sum;
                        before[to.index()] = class;
                        touched.push(*to);
                        heap.push(Reverse((sum, *to)));
                    }
                }
            }
            if let Some((mut class, sum)) = close {
                let mut cycle = vec![Class(start as u32)];
                while class.index() != start {
                    cycle.push(class);
                    class = before[class.index()];
                }
                cycle.sort_unstable();
                let violation = had[start] - sum as f64 / SCALE;
                found.entry(cycle.clone()).or_insert(Cut { set: cycle, class: Class(start as u32), violation });
            }
            touched.into_iter().for_each(|class| best[class.index()] = u64::MAX);
        }
        found.into_values().collect()
    }
}
