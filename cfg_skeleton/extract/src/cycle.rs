//! Strongly connected components, and cycles in a choice.

use super::graph::{Class, Graph};
use petgraph::graph::DiGraph;

/// Strongly connected components of a graph of `n` vertices, each after those that it leads to.
pub(crate) fn components(n: usize, edges: impl Iterator<Item = (u32, u32)>) -> Vec<Vec<u32>> {
    let mut graph: DiGraph<(), ()> = DiGraph::with_capacity(n, edges.size_hint().0);
    for _ in 0..n {
        graph.add_node(());
    }
    for (from, to) in edges {
        graph.add_edge(from.into(), to.into(), ());
    }
    let found = petgraph::algo::tarjan_scc(&graph);
    found.into_iter().map(|members| members.into_iter().map(|m| m.index() as u32).collect()).collect()
}

/// Cycles in a choice: for each strongly connected set of picks the set itself and a shortest cycle in it; sorted.
pub(crate) fn of_choice(graph: &Graph, picks: &[Option<u32>]) -> Vec<Vec<Class>> {
    let children = |class: u32| -> &[Class] {
        let pick = picks[class as usize].and_then(|n| graph.classes[class as usize].get(n as usize));
        pick.map_or(&[], |node| &node.children)
    };
    let edges = (0..picks.len() as u32).flat_map(|class| children(class).iter().map(move |child| (class, child.0)));
    let mut found: Vec<Vec<Class>> = vec![];
    for mut members in components(picks.len(), edges).into_iter().filter(|m| m.len() > 1) {
        members.sort_unstable();
        let set: Vec<Class> = members.iter().copied().map(Class).collect();
        let short = shortest(&members, children);
        if short.len() < set.len() {
            found.push(short);
        }
        found.push(set);
    }
    found
}

/// A shortest cycle through the first of some members, sorted.
fn shortest<'g>(members: &[u32], children: impl Fn(u32) -> &'g [Class]) -> Vec<Class> {
    let place = |class: u32| members.binary_search(&class).ok();
    let mut from: Vec<Option<usize>> = vec![None; members.len()];
    let mut queue = std::collections::VecDeque::from([0usize]);
    while let Some(at) = queue.pop_front() {
        for child in children(members[at]).iter().filter_map(|c| place(c.0)) {
            if child == 0 {
                let mut cycle = vec![Class(members[at])];
                let mut back = at;
                while let Some(previous) = from[back].filter(|_| back != 0) {
                    cycle.push(Class(members[previous]));
                    back = previous;
                }
                cycle.sort_unstable();
                cycle.dedup();
                return cycle;
            }
            if from[child].is_none() {
                from[child] = Some(at);
                queue.push_back(child);
            }
        }
    }
    members.iter().copied().map(Class).collect()
}
