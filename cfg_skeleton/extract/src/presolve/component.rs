//! P10: what is left, in parts that do not meet, each numbered anew.
//!
//! No node of one part refers to another, so a best choice of the whole is a best choice of each part. No node refers
//! to forced classes that are on no cycle, so these connect nothing.

use super::{Left, Work};
use crate::graph::{Class, Classes, Graph, Node};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// Classes that depend on each other. Children are numbered within it; deferred ones are never forced.
#[derive(Clone, Debug)]
pub(crate) struct Component {
    /// By own number: the class of the graph.
    pub(crate) classes: Vec<Class>,
    /// By own number: must be had in any case.
    pub(crate) forced: Vec<bool>,
    /// By own number.
    pub(crate) nodes: Vec<Vec<Left>>,
}

impl Component {
    /// How many nodes there are to choose from.
    pub(crate) fn node_count(&self) -> usize {
        self.nodes.iter().map(Vec::len).sum()
    }

    /// As a graph of its own, whose roots are what is forced.
    pub(crate) fn graph(&self) -> Graph {
        let classes = self.nodes.iter().map(|list| list.iter().map(|left| left.node.clone()).collect()).collect();
        let roots = (0..self.forced.len() as u32).map(Class).filter(|c| self.forced[c.index()]).collect();
        Graph { classes, roots }
    }
}

/// Splits what is left; parts without a choice are decided.
pub(super) fn split(work: &mut Work) -> Vec<Component> {
    super::constructible::drop_unreachable(work);
    let mut up: Vec<u32> = (0..work.nodes.len() as u32).collect();
    fn find(up: &mut [u32], mut at: u32) -> u32 {
        while up[at as usize] != at {
            up[at as usize] = up[up[at as usize] as usize];
            at = up[at as usize];
        }
        at
    }
    for (class, left) in work.all() {
        for child in left.node.needs() {
            let (a, b) = (find(&mut up, class.0), find(&mut up, child.0));
            up[a.max(b) as usize] = a.min(b);
        }
    }
    let mut parts: BTreeMap<u32, Vec<Class>> = BTreeMap::new();
    for class in &work.open {
        parts.entry(find(&mut up, class.0)).or_default().push(*class);
    }
    let cycles = work.cycles(true);
    let mut components = vec![];
    for classes in parts.into_values() {
        if classes.iter().any(|c| work.nodes[c.index()].len() > 1) {
            components.push(component(work, classes, &cycles));
            continue;
        }
        for class in classes {
            if let Some(only) = work.nodes[class.index()].first() {
                work.picked[class.index()] = Some(only.number);
                // All of it is led to from what is forced.
                work.offset += only.node.cost;
            }
        }
    }
    components
}

fn component(work: &Work, classes: Vec<Class>, cycles: &[u32]) -> Component {
    let number: FxHashMap<Class, Class> = classes.iter().enumerate().map(|(n, c)| (*c, Class(n as u32))).collect();
    let local = |list: &Classes| -> Classes { list.iter().filter_map(|c| number.get(c).copied()).collect() };
    let nodes = classes.iter().map(|class| {
        let list = work.nodes[class.index()].iter().map(|left| {
            let deferred: Classes = left.node.deferred.iter().copied().filter(|c| !work.forced[c.index()]).collect();
            // On no cycle, it does not matter which class waits for which; what is ordered says more.
            let (later, first): (Classes, Classes) = deferred
                .into_iter()
                .partition(|c| c == class || cycles[c.index()] != 0 && cycles[c.index()] == cycles[class.index()]);
            let mut children = local(&left.node.children);
            children.extend(local(&first));
            let mut node = Node { cost: left.node.cost, children, deferred: local(&later) };
            node.normalise();
            Left { number: left.number, node }
        });
        list.collect()
    });
    let nodes = nodes.collect();
    let forced = classes.iter().map(|c| work.forced[c.index()]).collect();
    Component { classes, forced, nodes }
}
