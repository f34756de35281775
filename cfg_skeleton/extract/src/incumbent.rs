//! Good choices without a bound: cheapest trees, trees whose shared parts are cheaper, then local search.
//!
//! A move gives one class another node. Classes that this node newly needs take their default picks; those that are not
//! needed any more go.
//! **Invariant**: picks of classes that are not had are cheapest trees that end in what is had. So they form no cycle
//! among themselves, what is had refers only to what is had, and a move can close a cycle only through its class.

use super::check::check;
use super::graph::{Class, Graph};
use super::tree::{Tree, trees};
use super::{Budget, reachable};

/// A move that helps has trees made again: as much as trying this share of all moves.
const TREES: usize = 64;

/// Units of work per class that a move looks at.
const STEP: u64 = 3;

/// Units of work per node that making trees takes.
const TREE: u64 = 16;

/// Rounds of trees with shared prices.
const ROUNDS: usize = 4;

/// The cheapest choice found; `None` if there is none. Deterministic unless time is limited.
pub(crate) fn find(
    graph: &Graph,
    start: Option<Vec<Option<u32>>>,
    moves: u32,
    budget: &Budget,
) -> Option<Vec<Option<u32>>> {
    let mut best: Option<(f64, Vec<Option<u32>>)> = None;
    let mut offer = |picks: Vec<Option<u32>>| {
        let Ok(cost) = check(graph, &picks) else { return };
        if best.as_ref().is_none_or(|(known, _)| cost < *known) {
            best = Some((cost, picks));
        }
    };
    if let Some(start) = start {
        offer(start);
    }
    let mut users = vec![1.0f64; graph.classes.len()];
    for _ in 0..ROUNDS {
        budget.meter.spend(graph.node_count() as u64 * TREE);
        // A class that several use is paid by each in part.
        let trees =
            trees(&graph.classes, |class, n| graph.classes[class.index()][n].cost / users[class.index()], |_| false);
        let picks = reachable(graph, &picked(&trees));
        users = vec![0.0; graph.classes.len()];
        for (class, pick) in picks.iter().enumerate() {
            let node = pick.and_then(|n| graph.classes[class].get(n as usize));
            node.into_iter().flat_map(|node| node.needs()).for_each(|child| users[child.index()] += 1.0);
        }
        users.iter_mut().for_each(|n| *n = n.max(1.0));
        offer(picks);
    }
    let (_, picks) = best?;
    Some(Descent::new(graph, picks).run(moves, budget))
}

/// A choice near picks that have cycles.
pub(crate) fn repair(graph: &Graph, picks: &[Option<u32>], budget: &Budget) -> Option<Vec<Option<u32>>> {
    let price = |class: Class, n: usize| match picks[class.index()] {
        Some(pick) if pick as usize == n => 0.0,
        _ => graph.classes[class.index()][n].cost + 1.0,
    };
    let picks = reachable(graph, &picked(&trees(&graph.classes, price, |_| false)));
    check(graph, &picks).ok()?;
    Some(Descent::new(graph, picks).run(1, budget))
}

/// A choice by prices that are less where a relaxation has a node: `values` are between 0 and 1.
pub(crate) fn guided(graph: &Graph, values: impl Fn(Class, usize) -> f64, budget: &Budget) -> Option<Vec<Option<u32>>> {
    let price = |class: Class, n: usize| graph.classes[class.index()][n].cost * (1.0 - values(class, n));
    let picks = reachable(graph, &picked(&trees(&graph.classes, price, |_| false)));
    check(graph, &picks).ok()?;
    Some(Descent::new(graph, picks).run(1, budget))
}

fn picked(trees: &[Option<Tree>]) -> Vec<Option<u32>> {
    trees.iter().map(|tree| tree.map(|tree| tree.node as u32)).collect()
}

/// A choice that moves change.
struct Descent<'g> {
    graph: &'g Graph,
    /// By class; of classes that are had, and defaults for the rest.
    picks: Vec<Option<u32>>,
    /// By class: how many picks of classes that are had refer to it, and roots.
    uses: Vec<u32>,
    mark: Vec<u32>,
    stamp: u32,
    /// Classes that were looked at since this was last charged.
    steps: u64,
}

impl<'g> Descent<'g> {
    fn new(graph: &'g Graph, picks: Vec<Option<u32>>) -> Self {
        let mut uses = vec![0; picks.len()];
        graph.roots.iter().for_each(|root| uses[root.index()] += 1);
        for (class, pick) in picks.iter().enumerate() {
            let node = pick.and_then(|n| graph.classes[class].get(n as usize));
            node.into_iter().flat_map(|node| node.needs()).for_each(|child| uses[child.index()] += 1);
        }
        let size = picks.len();
        let mut descent = Descent { graph, picks, uses, mark: vec![0; size], stamp: 0, steps: 0 };
        descent.defaults();
        descent
    }

    /// Tries moves, class by class, until none helps or their number is used up.
    fn run(mut self, moves: u32, budget: &Budget) -> Vec<Option<u32>> {
        let size = self.graph.node_count();
        budget.meter.spend(size as u64 * TREE);
        let mut left = size.saturating_mul(moves as usize);
        let mut since = 0;
        let mut class = 0;
        while since < self.picks.len() && left > 0 {
            since += 1;
            class = (class + 1) % self.picks.len();
            if self.uses[class] == 0 {
                continue;
            }
            for n in 0..self.graph.classes[class].len() {
                if self.picks[class] == Some(n as u32) || self.uses[class] == 0 {
                    continue;
                }
                left = left.saturating_sub(1);
                budget.meter.spend(1 + std::mem::take(&mut self.steps));
                if left.is_multiple_of(64) && budget.ended().is_some() {
                    left = 0;
                }
                if self.change(Class(class as u32), n as u32) {
                    since = 0;
                    self.defaults();
                    budget.meter.spend(size as u64 * TREE);
                    left = left.saturating_sub(size / TREES);
                }
            }
        }
        for class in 0..self.picks.len() {
            if self.uses[class] == 0 {
                self.picks[class] = None;
            }
        }
        self.picks
    }

    /// Picks for what is not had: trees to which what is had costs nothing.
    fn defaults(&mut self) {
        let graph = self.graph;
        let price = |class: Class, n: usize| graph.classes[class.index()][n].cost;
        let found = trees(&graph.classes, price, |class| self.uses[class.index()] > 0);
        for (class, tree) in found.iter().enumerate() {
            if self.uses[class] == 0 {
                self.picks[class] = tree.map(|tree| tree.node as u32);
            }
        }
    }

    fn node(&self, class: Class) -> Option<&'g super::Node> {
        self.graph.classes[class.index()].get(self.picks[class.index()]? as usize)
    }

    /// Does a child lead to the class by order?
    fn leads_back(&mut self, class: Class, node: &super::Node) -> bool {
        self.stamp += 1;
        let mut stack: Vec<Class> = node.children.to_vec();
        while let Some(at) = stack.pop() {
            if at == class {
                return true;
            }
            if std::mem::replace(&mut self.mark[at.index()], self.stamp) != self.stamp {
                self.steps += STEP;
                stack.extend(self.node(at).into_iter().flat_map(|node| &node.children));
            }
        }
        false
    }

    /// Gives a class that is had another node if the choice gets cheaper.
    fn change(&mut self, class: Class, n: u32) -> bool {
        let Some(old) = self.node(class) else { return false };
        let new = &self.graph.classes[class.index()][n as usize];
        let mut delta = new.cost - old.cost;
        let before = self.picks[class.index()];
        let mut added = vec![];
        let complete = self.add(new, &mut added, &mut delta);
        if complete && !self.leads_back(class, new) {
            let mut removed = vec![];
            self.picks[class.index()] = Some(n);
            self.remove(old, &mut removed, &mut delta);
            if delta < -super::tolerance(old.cost) {
                return true;
            }
            removed.into_iter().for_each(|child: Class| self.uses[child.index()] += 1);
            self.picks[class.index()] = before;
        }
        added.into_iter().for_each(|child: Class| self.uses[child.index()] -= 1);
        false
    }

    /// Counts what a node refers to; false where something has no pick.
    fn add(&mut self, node: &super::Node, added: &mut Vec<Class>, delta: &mut f64) -> bool {
        let mut stack: Vec<Class> = node.needs().collect();
        while let Some(class) = stack.pop() {
            self.uses[class.index()] += 1;
            self.steps += STEP;
            added.push(class);
            if self.uses[class.index()] == 1 {
                let Some(node) = self.node(class) else { return false };
                *delta += node.cost;
                stack.extend(node.needs());
            }
        }
        true
    }

    /// Takes back what a node refers to.
    fn remove(&mut self, node: &super::Node, removed: &mut Vec<Class>, delta: &mut f64) {
        let mut stack: Vec<Class> = node.needs().collect();
        while let Some(class) = stack.pop() {
            self.uses[class.index()] -= 1;
            self.steps += STEP;
            removed.push(class);
            if self.uses[class.index()] == 0
                && let Some(node) = self.node(class)
            {
                *delta -= node.cost;
                stack.extend(node.needs());
            }
        }
    }
}
