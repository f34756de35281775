//! Cuts for unfounded sets of classes, which a fractional solution violates.
//!
//! Let `S` be any set of classes, cycle or not. From a class of `S` that is had, follow its node to an ordered child in
//! `S`, and so on; since a choice has no cycles, this ends with a node that has no ordered child in `S`. So (3) of
//! [`super::model`] holds for every `S` and every J in it:
//!
//! ```text
//! sum { x in S : no ordered child in S } >= a(J)
//! ```
//!
//! Rows (1) and (2) let a solution have a class `E` by halves along two ways that lead to it from `J`, and pay half of
//! it. With `S` between `J` and `E` the cut asks for all of it. That is what the plain relaxation lacks most. The
//! public e-graphs (`../shared/corpus`) that were not solved in 10 s of processor time without these cuts, and with
//! them:
//!
//! | | without | with | with, in 60 s |
//! |---|---|---|---|
//! | `rover/box_filter_4` | 48.5 % | optimal in 0.6 s | |
//! | `diospyros/vector_matrix_multiply_2x3_3x3` | 33.5 % | optimal in 0.5 s | |
//! | `herbie/3120` | 20.3 % | optimal in 5 to 7 s | |
//! | `herbie/6712` | 15.3 % | 5.6 to 6.9 % | 1.4 % |
//! | `rover/fir_8_tap_8` | 76.8 % | 20.1 % | 15.8 % |
//!
//! To find the best `S` is as hard as extraction. Here each node is given one child that it leads to: for each `E` the
//! one by which a random walk along the solution comes to `E` most likely. Then nodes are arcs, and `S` is the side of
//! `J` in a minimum cut. Classes of which every node leads into `S` are added: they only take nodes out of the sum.
//!
//! **Invariant**: whatever is found here, the cut is valid; a bad guess only costs time.

use super::Program;
use crate::cycle;
use crate::graph::{Class, Graph};
use crate::meter::Meter;
use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::EdgeRef;
use std::collections::{BTreeMap, BTreeSet};

/// A cut must be violated by this much.
const LEAST: f64 = 0.01;

/// A class that is had by less counts as not had.
const NONE: f64 = 1e-6;

/// Capacities as whole numbers.
const SCALE: f64 = 1e7;

/// What every arc can carry: among cuts of one weight, one of few nodes.
const CREEP: u64 = 100;

/// Nodes looked at in one search, over all targets.
const WORK: usize = 30_000_000;

/// Units of work per node that ways to a target take ..
const STEP: u64 = 4;

/// .. and per arc of a network, its minimum cut.
const FLOW: u64 = 100;

/// The search ends when there are this many cuts: where there are hundreds of roots, it finds over a thousand and takes
/// several times as long as the linear program. It goes on from there for the next solution.
pub(super) const ENOUGH: usize = 120;

/// Classes from which a target is looked for, beside roots.
const WIDE: usize = 4;

/// A violated set, sorted, and the class in it that is had most.
pub(super) struct Cut {
    pub(super) set: Vec<Class>,
    pub(super) class: Class,
    pub(super) violation: f64,
}

/// What of a graph all searches need.
pub(super) struct CutFinder<'g> {
    graph: &'g Graph,
    /// Classes, children first as far as there are no cycles.
    order: Vec<usize>,
    /// By class, its position there.
    place: Vec<usize>,
    /// By class: nodes that have it as an ordered child.
    users: Vec<Vec<(Class, u32)>>,
    /// Where to go on looking, if all is too much or enough was found.
    next: usize,
}

/// How a class is led to a target: the child of each of its nodes, if that comes there.
type Ways = Vec<Vec<Option<Class>>>;

/// Values of a solution.
struct Values<'s> {
    program: &'s Program,
    values: &'s [f64],
    /// By class.
    had: Vec<f64>,
}

impl Values<'_> {
    fn node(&self, class: usize, n: usize) -> f64 {
        self.program.value(self.values, Class(class as u32), n).max(0.0)
    }
}

impl<'g> CutFinder<'g> {
    pub(super) fn new(graph: &'g Graph) -> Self {
        let size = graph.classes.len();
        let mut users = vec![vec![]; size];
        let mut edges = vec![];
        for (class, nodes) in graph.classes.iter().enumerate() {
            for (n, node) in nodes.iter().enumerate() {
                for child in &node.children {
                    users[child.index()].push((Class(class as u32), n as u32));
                    edges.push((class as u32, child.0));
                }
            }
        }
        let components = cycle::components(size, edges.into_iter());
        let order: Vec<usize> = components.into_iter().flatten().map(|class| class as usize).collect();
        let mut place = vec![0; size];
        order.iter().enumerate().for_each(|(n, class)| place[*class] = n);
        CutFinder { graph, order, place, users, next: 0 }
    }

    /// Violated cuts, as long as there is work left. `wide`: from other classes than the roots, too.
    pub(super) fn violated(&mut self, program: &Program, values: &[f64], wide: bool, meter: &Meter) -> Vec<Cut> {
        let size = self.graph.classes.len();
        let mut solution = Values { program, values, had: vec![0.0; size] };
        for class in 0..size {
            solution.had[class] = (0..self.graph.classes[class].len()).map(|n| solution.node(class, n)).sum();
        }
        let mut root = vec![false; size];
        self.graph.roots.iter().for_each(|class| root[class.index()] = true);
        let mut found: BTreeMap<Vec<Class>, Cut> = BTreeMap::new();
        for _ in 0..size.min(WORK / self.graph.node_count().max(1) + 1) {
            if found.len() >= ENOUGH || meter.used_up() {
                break;
            }
            self.next = (self.next + 1) % size;
            let target = self.next;
            if !(NONE..1.0 - LEAST).contains(&solution.had[target]) {
                continue;
            }
            meter.spend(STEP * self.graph.node_count() as u64);
            let (ways, reach) = self.ways(&solution, target);
            let excess = |class: usize| solution.had[class] * reach[class] - solution.had[target];
            let mut from: Vec<usize> = self.order[self.place[target] + 1..]
                .iter()
                .copied()
                .filter(|class| (wide || root[*class]) && excess(*class) > LEAST)
                .collect();
            if wide {
                from.sort_by(|a, b| excess(*b).total_cmp(&excess(*a)).then(a.cmp(b)));
                from.truncate(WIDE);
            }
            for source in from {
                if let Some(cut) = self.cut(&solution, &ways, &reach, (source, target), meter) {
                    found.entry(cut.set.clone()).or_insert(cut);
                }
            }
        }
        found.into_values().collect()
    }

    /// By class and node, the child that leads to the target, and by class how likely it is to come there.
    fn ways(&self, solution: &Values, target: usize) -> (Ways, Vec<f64>) {
        let mut reach = vec![0.0f64; self.order.len()];
        let mut ways: Ways = vec![vec![]; self.order.len()];
        reach[target] = 1.0;
        for class in self.order[self.place[target] + 1..].iter().copied() {
            let mut own = Vec::with_capacity(self.graph.classes[class].len());
            let (mut sum, mut least) = (0.0, 1.0f64);
            for (n, node) in self.graph.classes[class].iter().enumerate() {
                let (mut best, mut way) = (0.0, None);
                for child in &node.children {
                    if reach[child.index()] > best {
                        (best, way) = (reach[child.index()], Some(*child));
                    }
                }
                sum += solution.node(class, n) * best;
                least = least.min(best);
                own.push(way);
            }
            ways[class] = own;
            let had = solution.had[class];
            // A class that is not had is as likely to come there as the least likely of its nodes.
            reach[class] = if had > NONE { (sum / had).min(1.0) } else { least };
        }
        (ways, reach)
    }

    /// The minimum cut between two classes, if it is violated.
    fn cut(
        &self,
        solution: &Values,
        ways: &Ways,
        reach: &[f64],
        (source, target): (usize, usize),
        meter: &Meter,
    ) -> Option<Cut> {
        let capacity = |value: f64| (value * SCALE) as u64;
        let mut network: DiGraph<usize, u64> = DiGraph::new();
        let sink = network.add_node(usize::MAX);
        let mut vertex: BTreeMap<usize, NodeIndex> = BTreeMap::from([(source, network.add_node(source))]);
        let mut stack = vec![source];
        while let Some(class) = stack.pop() {
            let at = vertex[&class];
            if class == target {
                network.add_edge(at, sink, capacity(solution.had[class]).max(1));
                continue;
            }
            let mut arcs: BTreeMap<Option<Class>, u64> = BTreeMap::new();
            for (n, way) in ways[class].iter().enumerate() {
                *arcs.entry(*way).or_default() += capacity(solution.node(class, n)) + CREEP;
            }
            for (way, carries) in arcs {
                let to = match way.map(Class::index).filter(|to| reach[*to] > 0.0) {
                    Some(to) => *vertex.entry(to).or_insert_with(|| {
                        stack.push(to);
                        network.add_node(to)
                    }),
                    None => sink,
                };
                network.add_edge(at, to, carries);
            }
        }
        meter.spend(FLOW * network.edge_count() as u64);
        let (_, flows) = petgraph::algo::dinics(&network, vertex[&source], sink);
        // What the source still reaches.
        let mut inside = vec![false; network.node_count()];
        let mut stack = vec![vertex[&source]];
        inside[vertex[&source].index()] = true;
        while let Some(at) = stack.pop() {
            let forth = network.edges_directed(at, petgraph::Outgoing);
            let forth = forth.filter(|arc| flows[arc.id().index()] < *arc.weight()).map(|arc| arc.target());
            let back = network.edges_directed(at, petgraph::Incoming);
            let back = back.filter(|arc| flows[arc.id().index()] > 0).map(|arc| arc.source());
            let next: Vec<NodeIndex> = forth.chain(back).collect();
            for to in next {
                if !std::mem::replace(&mut inside[to.index()], true) {
                    stack.push(to);
                }
            }
        }
        let classes = network.node_indices().filter(|at| inside[at.index()] && *at != sink);
        let set = self.closed(classes.map(|at| Class(network[at] as u32)).collect());
        let class = set
            .iter()
            .copied()
            .max_by(|a, b| solution.had[a.index()].total_cmp(&solution.had[b.index()]).then(b.cmp(a)))?;
        let leaving: f64 = leaving(self.graph, &set).map(|(class, n)| solution.node(class.index(), n)).sum();
        let violation = solution.had[class.index()] - leaving;
        (violation > LEAST).then_some(Cut { set, class, violation })
    }

    /// With all classes of which every node leads into the set; sorted.
    fn closed(&self, mut set: BTreeSet<Class>) -> Vec<Class> {
        let mut stack: Vec<Class> = set.iter().copied().collect();
        let mut leading: BTreeMap<Class, BTreeSet<u32>> = BTreeMap::new();
        while let Some(class) = stack.pop() {
            for (user, n) in &self.users[class.index()] {
                let nodes = leading.entry(*user).or_default();
                nodes.insert(*n);
                if nodes.len() == self.graph.classes[user.index()].len() && set.insert(*user) {
                    stack.push(*user);
                }
            }
        }
        set.into_iter().collect()
    }
}

/// The nodes of a sorted set of classes that have no ordered child in it.
pub(super) fn leaving<'g>(graph: &'g Graph, set: &'g [Class]) -> impl Iterator<Item = (Class, usize)> + 'g {
    set.iter().flat_map(move |class| {
        let nodes = graph.classes[class.index()].iter().enumerate();
        let out = nodes.filter(|(_, node)| !node.children.iter().any(|child| set.binary_search(child).is_ok()));
        out.map(move |(n, _)| (*class, n))
    })
}
