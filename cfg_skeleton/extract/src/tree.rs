//! The cheapest trees: for each class, what it costs if nothing is shared, and the node with which.
//!
//! Least fixed point by Knuth's generalisation of Dijkstra's algorithm: a class is settled when the cheapest node
//! whose children are settled is. Deferred children are no part of a tree, since they may lead back to it; a node is
//! charged for the cheapest trees that they have without this charge. **Invariants**: every class that can be made has
//! a tree; the ordered children of trees' nodes form no cycle, also where costs are zero.

use super::graph::{Class, Node};
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// The cheapest tree of a class.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Tree {
    /// Sum over the tree.
    pub(crate) cost: f64,
    /// Position among the nodes that are left.
    pub(crate) node: usize,
}

/// A class that could be settled.
#[derive(PartialEq)]
struct Offer {
    cost: f64,
    /// Settled later at the same cost: earlier offers first.
    turn: u32,
    class: Class,
    node: usize,
}

impl Eq for Offer {}

impl PartialOrd for Offer {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Offer {
    fn cmp(&self, other: &Self) -> Ordering {
        self.cost.total_cmp(&other.cost).then(self.turn.cmp(&other.turn))
    }
}

/// Trees are as large as this at most: sums over shared trees grow exponentially with depth.
const MOST: f64 = 1e200;

/// By class: its cheapest tree, with costs as `price` says. A class that is `had` costs nothing and has no tree of its
/// own.
pub(crate) fn trees<N: AsRef<Node>>(
    nodes: &[Vec<N>],
    price: impl Fn(Class, usize) -> f64,
    had: impl Fn(Class) -> bool,
) -> Vec<Option<Tree>> {
    let deferred = |class: Class, n: usize| &nodes[class.index()][n].as_ref().deferred;
    let trees = without_deferred(nodes, &price, &had);
    if nodes.iter().flatten().all(|node| node.as_ref().deferred.is_empty()) {
        return trees;
    }
    let later = |child: &Class| trees[child.index()].map_or(0.0, |tree| tree.cost);
    let charged = |class: Class, n: usize| price(class, n) + deferred(class, n).iter().map(later).sum::<f64>();
    without_deferred(nodes, charged, had)
}

fn without_deferred<N: AsRef<Node>>(
    nodes: &[Vec<N>],
    price: impl Fn(Class, usize) -> f64,
    had: impl Fn(Class) -> bool,
) -> Vec<Option<Tree>> {
    let mut users: Vec<Vec<(Class, u32)>> = vec![vec![]; nodes.len()];
    let mut waiting: Vec<Vec<u32>> = nodes.iter().map(|list| vec![0; list.len()]).collect();
    let mut trees: Vec<Option<Tree>> = vec![None; nodes.len()];
    let mut offers = BinaryHeap::new();
    let mut turn = 0;
    for (class, list) in nodes.iter().enumerate() {
        let class = Class(class as u32);
        if had(class) {
            continue;
        }
        for (n, node) in list.iter().enumerate() {
            for child in node.as_ref().children.iter().filter(|child| !had(**child)) {
                users[child.index()].push((class, n as u32));
                waiting[class.index()][n] += 1;
            }
            if waiting[class.index()][n] == 0 {
                offers.push(Reverse(Offer { cost: price(class, n), turn, class, node: n }));
                turn += 1;
            }
        }
    }
    while let Some(Reverse(offer)) = offers.pop() {
        let tree = &mut trees[offer.class.index()];
        if tree.is_some() {
            continue;
        }
        *tree = Some(Tree { cost: offer.cost, node: offer.node });
        for (user, n) in &users[offer.class.index()] {
            let waiting = &mut waiting[user.index()][*n as usize];
            *waiting -= 1;
            if *waiting > 0 || trees[user.index()].is_some() {
                continue;
            }
            let below = &nodes[user.index()][*n as usize].as_ref().children;
            let below: f64 = below.iter().filter_map(|child| trees[child.index()]).map(|tree| tree.cost).sum();
            let cost = (price(*user, *n as usize) + below).min(MOST);
            offers.push(Reverse(Offer { cost, turn, class: *user, node: *n as usize }));
            turn += 1;
        }
    }
    trees
}
