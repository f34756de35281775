//! Classes that a class cannot be had without, and P2: a node goes if a child of it requires its class.
//!
//! ```text
//! Req(C) = {C} + intersection over nodes n of C of the union over ordered children c of n of Req(c)
//! ```
//!
//! the greatest solution, as for dominators. Every choice that has C has some node of it, hence by induction along
//! its order all of Req(C), and those that come from ordered children before C. So a node of C with a child that
//! requires C closes a cycle in every choice (P2). Along deferred edges the induction has no foot; there, only the
//! deferred child itself and what *it* requires by order is added ([`Required::all`]).
//!
//! Sets are cut at [`LONGEST`] members, which only makes them weaker; where the fixed point is not reached within
//! [`WORK`], or a share of what the meter has left, nothing is required.

use super::Work;
use crate::graph::Class;
use crate::meter::Meter;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Members that a set keeps at most.
const LONGEST: usize = 512;

/// Members looked at, over all sets.
const WORK: usize = 40_000_000;

/// Units of work per member.
const STEP: u64 = 2;

/// Of what a meter has left, a part that may be spent on it.
const SHARE: u64 = 8;

/// For each open class, what it requires.
pub(super) struct Required {
    /// Sorted; along ordered children only.
    ordered: Vec<Vec<Class>>,
    /// Along both kinds; empty where there are no deferred children.
    all: Vec<Vec<Class>>,
}

impl Required {
    /// Nothing but the class itself.
    pub(super) fn nothing(work: &Work) -> Self {
        Required { ordered: own(work), all: vec![] }
    }

    /// The fixed point.
    pub(super) fn of(work: &Work, meter: &Meter) -> Self {
        let found = |deferred| fixed_point(work, deferred, meter);
        let ordered = found(None).unwrap_or_else(|| own(work));
        let deferred = work.all().any(|(_, left)| !left.node.deferred.is_empty());
        let all = if deferred { found(Some(&ordered)).unwrap_or_else(|| ordered.clone()) } else { vec![] };
        Required { ordered, all }
    }

    /// What comes before a class, and the class itself.
    pub(super) fn ordered(&self, class: Class) -> &[Class] {
        &self.ordered[class.index()]
    }

    /// What must be had with a class.
    pub(super) fn all(&self, class: Class) -> &[Class] {
        let sets = if self.all.is_empty() { &self.ordered } else { &self.all };
        &sets[class.index()]
    }
}

fn own(work: &Work) -> Vec<Vec<Class>> {
    let mut sets = vec![vec![]; work.nodes.len()];
    work.open.iter().for_each(|c| sets[c.index()].push(*c));
    sets
}

/// The greatest fixed point; `deferred` has what deferred children add. `None` where it takes too long.
fn fixed_point(work: &Work, deferred: Option<&[Vec<Class>]>, meter: &Meter) -> Option<Vec<Vec<Class>>> {
    let most = WORK.min(usize::try_from(meter.left() / SHARE).unwrap_or(usize::MAX));
    let mut users: Vec<Vec<Class>> = vec![vec![]; work.nodes.len()];
    for (class, left) in work.all() {
        left.node.children.iter().for_each(|child| users[child.index()].push(class));
    }
    let order = derivation_order(work, &users);
    let mut rank = vec![u32::MAX; work.nodes.len()];
    order.iter().enumerate().for_each(|(n, class)| rank[class.index()] = n as u32);
    // `None` stands for all classes.
    let mut sets: Vec<Option<Vec<Class>>> = vec![None; work.nodes.len()];
    let mut queue: BinaryHeap<Reverse<u32>> = (0..order.len() as u32).map(Reverse).collect();
    let mut queued = vec![true; order.len()];
    // By class: the last node for which it was marked.
    let mut mark = vec![0u32; work.nodes.len()];
    let (mut stamp, mut spent) = (0u32, 0usize);
    let mut common: Vec<Class> = vec![];
    while let Some(Reverse(at)) = queue.pop() {
        queued[at as usize] = false;
        let class = order[at as usize];
        let mut first = true;
        for left in &work.nodes[class.index()] {
            if left.node.children.iter().any(|child| sets[child.index()].is_none()) {
                continue;
            }
            stamp += 1;
            let mut union = vec![];
            let before = left.node.children.iter().filter_map(|child| sets[child.index()].as_ref());
            let later = deferred.iter().flat_map(|sets| left.node.deferred.iter().map(|child| &sets[child.index()]));
            for member in before.chain(later).flatten() {
                if std::mem::replace(&mut mark[member.index()], stamp) != stamp {
                    union.push(*member);
                }
            }
            spent += union.len() + 1;
            if std::mem::take(&mut first) {
                common = union;
            } else {
                common.retain(|member| mark[member.index()] == stamp);
            }
            if common.is_empty() {
                break;
            }
        }
        if spent > most {
            meter.spend(STEP * spent as u64);
            return None;
        }
        if first {
            continue;
        }
        common.push(class);
        common.sort_unstable();
        common.dedup();
        let set = &mut sets[class.index()];
        match set {
            None => {
                if common.len() > LONGEST {
                    common.retain(|member| *member != class);
                    common.truncate(LONGEST);
                    common.push(class);
                    common.sort_unstable();
                }
                *set = Some(common.clone());
            }
            Some(known) => {
                let before = known.len();
                known.retain(|member| common.binary_search(member).is_ok());
                if known.len() == before {
                    continue;
                }
            }
        }
        for user in &users[class.index()] {
            let rank = rank[user.index()];
            if rank != u32::MAX && !std::mem::replace(&mut queued[rank as usize], true) {
                queue.push(Reverse(rank));
            }
        }
    }
    meter.spend(STEP * spent as u64);
    Some(sets.into_iter().map(Option::unwrap_or_default).collect())
}

/// Classes in an order in which each has a node whose children come before it.
fn derivation_order(work: &Work, users: &[Vec<Class>]) -> Vec<Class> {
    let mut order = Vec::with_capacity(work.open.len());
    let mut made = vec![false; work.nodes.len()];
    let mut ready: std::collections::VecDeque<Class> = work.open.iter().copied().collect();
    // Each class is looked at once by itself and once for each child that becomes available.
    while let Some(class) = ready.pop_front() {
        if made[class.index()] {
            continue;
        }
        let complete = |children: &[Class]| children.iter().all(|child| made[child.index()]);
        if work.nodes[class.index()].iter().any(|left| complete(&left.node.children)) {
            made[class.index()] = true;
            order.push(class);
            ready.extend(users[class.index()].iter().filter(|user| !made[user.index()]));
        }
    }
    order
}

/// P2.
pub(super) fn drop_cycles(work: &mut Work, required: &Required) -> bool {
    let mut changed = false;
    for class in &work.open {
        let nodes = &mut work.nodes[class.index()];
        let before = nodes.len();
        nodes.retain(|left| {
            !left.node.children.iter().any(|child| required.ordered(*child).binary_search(class).is_ok())
        });
        changed |= nodes.len() != before;
    }
    changed
}
