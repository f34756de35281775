//! P3 and P4: drops a node `m` of a class C if another node `n` of it is as good in every choice.
//!
//! *By subset or requirement (P3)*: `n` costs no more, its ordered children are all [required] by ordered children of
//! `m`, and its deferred ones by any child of `m`, or are C itself. A choice with `m` has them all, the ordered ones
//! before C, so with `n` in its place it is a choice and costs no more.
//!
//! *By an upper bound (P4)*: children of `n` that `m` does not bring along may be missing if they stand on no cycle
//! with C: then whatever they add, their cheapest trees, never comes back to C. What those cost, less what is had
//! anyway, must be no more than `n` is cheaper.
//!
//! Dropping nodes only makes more required, so one pass with requirements from its start is right. The subset form
//! needs no requirements and is near-linear.
//!
//! [required]: super::required

use super::required::Required;
use super::{Left, Work};
use crate::extract::graph::Class;
use crate::extract::tree::{Tree, trees};

/// Nodes of one class that a node is compared with at most.
const RIVALS: usize = 64;

/// The same, by requirements.
const DEEP_RIVALS: usize = 400;

/// Classes that a missing child may add.
const STEPS: usize = 64;

/// Drops nodes that need what a cheaper one needs, and more.
pub(super) fn by_subset(work: &mut Work) -> bool {
    let mut changed = false;
    for class in &work.open {
        let list = &mut work.nodes[class.index()];
        if list.len() < 2 {
            continue;
        }
        list.sort_by(|a, b| rank(a).partial_cmp(&rank(b)).unwrap_or(std::cmp::Ordering::Equal));
        let mut kept: Vec<Left> = vec![];
        for left in list.drain(..) {
            let m = &left.node;
            let beats = |n: &&Left| {
                let n = &n.node;
                n.children.iter().all(|c| m.children.binary_search(c).is_ok())
                    && n.deferred.iter().all(|c| {
                        m.deferred.binary_search(c).is_ok() || m.children.binary_search(c).is_ok() || c == class
                    })
            };
            match kept.iter().take(RIVALS).find(beats) {
                Some(better) => {
                    work.replaced.insert((*class, left.number), better.number);
                    changed = true;
                }
                None => kept.push(left),
            }
        }
        *list = kept;
    }
    changed
}

/// The cheap ones that need little first.
fn rank(left: &Left) -> (f64, usize, u32) {
    (left.node.cost, left.node.needs().count(), left.number)
}

/// What a node brings along, as marks on classes.
struct Marks {
    stamp: u32,
    /// Had before the class.
    before: Vec<u32>,
    /// Had at all.
    had: Vec<u32>,
    /// Counted already.
    counted: Vec<u32>,
    walk: u32,
}

/// Drops nodes that another one beats by requirements, and by upper bounds.
pub(super) fn by_required(work: &mut Work, required: &Required, upper_bound: bool) -> bool {
    let scc = if upper_bound { work.cycles(true) } else { vec![] };
    let mut trees = match upper_bound {
        true => trees(&work.nodes, |c, n| work.nodes[c.index()][n].node.cost, |_| false),
        false => vec![],
    };
    let size = work.nodes.len();
    let mut marks = Marks { stamp: 0, before: vec![0; size], had: vec![0; size], counted: vec![0; size], walk: 0 };
    let mut changed = false;
    for class in work.open.clone() {
        if work.nodes[class.index()].len() < 2 {
            continue;
        }
        let mut order: Vec<usize> = (0..work.nodes[class.index()].len()).collect();
        let list = &work.nodes[class.index()];
        order.sort_by(|a, b| rank(&list[*a]).partial_cmp(&rank(&list[*b])).unwrap_or(std::cmp::Ordering::Equal));
        let mut gone = vec![false; list.len()];
        for m in order.iter().rev().copied() {
            marks.take(class, &list[m], required);
            let rivals = order.iter().copied().filter(|n| *n != m && !gone[*n]).take(DEEP_RIVALS);
            let found = rivals.take_while(|n| list[*n].node.cost <= list[m].node.cost).find(|n| {
                let slack = list[m].node.cost - list[*n].node.cost;
                marks.beats(class, &list[*n], slack, &work.nodes, &work.forced, &trees, &scc)
            });
            let Some(better) = found else { continue };
            gone[m] = true;
            work.replaced.insert((class, list[m].number), list[better].number);
            if let Some(Some(tree)) = trees.get_mut(class.index())
                && tree.node == m
            {
                tree.node = better;
            }
        }
        if gone.contains(&true) {
            changed = true;
            // Trees speak of positions.
            if let Some(Some(tree)) = trees.get_mut(class.index()) {
                tree.node -= gone[..tree.node].iter().filter(|g| **g).count();
            }
            let mut at = 0;
            work.nodes[class.index()].retain(|_| {
                at += 1;
                !gone[at - 1]
            });
        }
    }
    changed
}

impl Marks {
    fn take(&mut self, class: Class, left: &Left, required: &Required) {
        self.stamp += 1;
        for child in &left.node.children {
            required.ordered(*child).iter().for_each(|c| self.before[c.index()] = self.stamp);
        }
        for child in left.node.needs() {
            required.all(child).iter().for_each(|c| self.had[c.index()] = self.stamp);
        }
        self.had[class.index()] = self.stamp;
    }

    /// May `n` stand for the node that is marked, which costs `slack` more?
    #[allow(clippy::too_many_arguments, reason = "one question about one pair of nodes, asked in one place")]
    fn beats(
        &mut self,
        class: Class,
        n: &Left,
        slack: f64,
        nodes: &[Vec<Left>],
        forced: &[bool],
        trees: &[Option<Tree>],
        scc: &[u32],
    ) -> bool {
        let stamp = self.stamp;
        let lacks = |c: &Class| self.before[c.index()] != stamp;
        let late = |c: &Class| self.had[c.index()] != stamp && self.before[c.index()] != stamp;
        let missing = n.node.children.iter().filter(|c| lacks(c)).chain(n.node.deferred.iter().filter(|c| late(c)));
        let mut stack: Vec<Class> = missing.copied().collect();
        if stack.is_empty() {
            return true;
        }
        if trees.is_empty() || slack <= 0.0 {
            return false;
        }
        let own = scc[class.index()];
        if stack.iter().any(|c| *c == class || (own != 0 && scc[c.index()] == own)) {
            return false;
        }
        self.walk += 1;
        let (mut rest, mut steps) = (slack, 0);
        while let Some(child) = stack.pop() {
            let at = child.index();
            let had = forced[at] || self.had[at] == stamp || self.before[at] == stamp;
            if had || std::mem::replace(&mut self.counted[at], self.walk) == self.walk {
                continue;
            }
            let Some(tree) = trees[at] else { return false };
            let node = &nodes[at][tree.node].node;
            rest -= node.cost;
            steps += 1;
            if rest < 0.0 || steps > STEPS {
                return false;
            }
            stack.extend(node.needs());
        }
        true
    }
}
