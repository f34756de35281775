//! P3 and P4: drops a node `m` of a class C if another node `n` of it is as good in every choice.
//!
//! *By subset or requirement (P3)*: `n` costs no more, its ordered children are all [required] by ordered children of
//! `m`, and its deferred ones by any child of `m`, or are C itself. A choice with `m` has them all, the ordered ones
//! before C, so with `n` in its place it is a choice and costs no more.
//!
//! *By an upper bound (P4)*: children of `n` that `m` does not bring along may be missing if they stand on no cycle
//! with C: then whatever they add, their cheapest trees, never comes back to C. The cost of those, less that of what is
//! had anyway, must be no more than `n` is cheaper.
//!
//! Dropping nodes only makes more required, so one pass with requirements from its start is right. The subset form
//! needs no requirements and is near-linear.
//!
//! [required]: super::required

use super::required::Required;
use super::{Left, Work};
use crate::graph::Class;
use crate::meter::Meter;
use crate::tree::{Tree, trees};

/// Nodes of one class that a node is compared with at most.
const RIVALS: usize = 64;

/// The same, by requirements.
const DEEP_RIVALS: usize = 400;

/// Units of work that comparing with one takes.
const STEP: u64 = 16;

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

/// Drops nodes that another one beats by requirements, and by upper bounds, as long as there is work left.
pub(super) fn by_required(work: &mut Work, required: &Required, upper_bound: bool, meter: &Meter) -> bool {
    let mut bounds = upper_bound.then(|| UpperBounds::of(work));
    let size = work.nodes.len();
    let mut marks = Marks { stamp: 0, before: vec![0; size], had: vec![0; size], counted: vec![0; size], walk: 0 };
    let mut changed = false;
    for class in work.open.clone() {
        if work.nodes[class.index()].len() < 2 {
            continue;
        }
        if meter.used_up() {
            break;
        }
        let mut order: Vec<usize> = (0..work.nodes[class.index()].len()).collect();
        let list = &work.nodes[class.index()];
        order.sort_by(|a, b| rank(&list[*a]).partial_cmp(&rank(&list[*b])).unwrap_or(std::cmp::Ordering::Equal));
        let mut gone = vec![false; list.len()];
        for m in order.iter().rev().copied() {
            meter.spend(marks.take(class, &list[m], required));
            let rivals = order.iter().copied().filter(|n| *n != m && !gone[*n]).take(DEEP_RIVALS);
            let rivals = rivals.inspect(|_| meter.spend(STEP));
            let found = rivals.take_while(|n| list[*n].node.cost <= list[m].node.cost).find(|n| {
                let missing = marks.missing(&list[*n]);
                let slack = list[m].node.cost - list[*n].node.cost;
                missing.is_empty() || bounds.as_ref().is_some_and(|b| b.cover(work, &mut marks, class, missing, slack))
            });
            let Some(better) = found else { continue };
            gone[m] = true;
            work.replaced.insert((class, list[m].number), list[better].number);
            if let Some(bounds) = &mut bounds {
                bounds.replace(class, m, better);
            }
        }
        if gone.contains(&true) {
            changed = true;
            if let Some(bounds) = &mut bounds {
                bounds.renumber(class, &gone);
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
    /// Marks what a node brings along; gives the number of marks.
    fn take(&mut self, class: Class, left: &Left, required: &Required) -> u64 {
        self.stamp += 1;
        let mut count = 0;
        for child in &left.node.children {
            count += required.ordered(*child).len();
            required.ordered(*child).iter().for_each(|c| self.before[c.index()] = self.stamp);
        }
        for child in left.node.needs() {
            count += required.all(child).len();
            required.all(child).iter().for_each(|c| self.had[c.index()] = self.stamp);
        }
        self.had[class.index()] = self.stamp;
        count as u64
    }

    /// What `n` needs that the node that is marked does not bring along.
    fn missing(&self, n: &Left) -> Vec<Class> {
        let lacks = |c: &Class| self.before[c.index()] != self.stamp;
        let late = |c: &Class| lacks(c) && self.had[c.index()] != self.stamp;
        let children = n.node.children.iter().filter(|c| lacks(c));
        children.chain(n.node.deferred.iter().filter(|c| late(c))).copied().collect()
    }
}

/// What classes cost at most.
struct UpperBounds {
    trees: Vec<Option<Tree>>,
    /// By class: its strongly connected component, 0 where it stands on no cycle.
    scc: Vec<u32>,
}

impl UpperBounds {
    fn of(work: &Work) -> Self {
        let cost = |class: Class, n: usize| work.nodes[class.index()][n].node.cost;
        UpperBounds { trees: trees(&work.nodes, cost, |_| false), scc: work.cycles(true) }
    }

    /// A node of a class stands for another one.
    fn replace(&mut self, class: Class, node: usize, by: usize) {
        if let Some(Some(tree)) = self.trees.get_mut(class.index())
            && tree.node == node
        {
            tree.node = by;
        }
    }

    /// Trees speak of positions, of which some are gone.
    fn renumber(&mut self, class: Class, gone: &[bool]) {
        if let Some(Some(tree)) = self.trees.get_mut(class.index()) {
            tree.node -= gone[..tree.node].iter().filter(|g| **g).count();
        }
    }

    /// Do classes cost no more than `slack`, less what is had with the node that is marked, without leading back to
    /// its class?
    fn cover(&self, work: &Work, marks: &mut Marks, class: Class, mut missing: Vec<Class>, slack: f64) -> bool {
        let own = self.scc[class.index()];
        if slack <= 0.0 || missing.iter().any(|c| *c == class || (own != 0 && self.scc[c.index()] == own)) {
            return false;
        }
        marks.walk += 1;
        let (mut rest, mut steps) = (slack, 0);
        while let Some(child) = missing.pop() {
            let at = child.index();
            let had = work.forced[at] || marks.had[at] == marks.stamp || marks.before[at] == marks.stamp;
            if had || std::mem::replace(&mut marks.counted[at], marks.walk) == marks.walk {
                continue;
            }
            let Some(tree) = self.trees[at] else { return false };
            let node = &work.nodes[at][tree.node].node;
            rest -= node.cost;
            steps += 1;
            if rest < 0.0 || steps > STEPS {
                return false;
            }
            missing.extend(node.needs());
        }
        true
    }
}
