//! P7: a class with one node that costs nothing is replaced, wherever it is a child, by the children of that node.
//!
//! A choice has the class iff something that it picks refers to it, and then has its children, too; order is kept,
//! since what came before the class comes before its users. A deferred child's children become deferred: the class
//! itself is no longer there to be waited for. A node that becomes its own ordered child closed a cycle through the
//! class and goes; its own deferred child it may be. Skipped where it would multiply children.

use super::Work;
use crate::graph::{Class, Classes};

/// How many children more a contraction may cause.
const GROWTH: usize = 4;

/// Replaces classes that leave no choice and cost nothing.
pub(super) fn contract(work: &mut Work) -> bool {
    let mut users: Vec<Vec<Class>> = vec![vec![]; work.nodes.len()];
    for (class, left) in work.all() {
        for child in left.node.needs() {
            let users = &mut users[child.index()];
            if users.last() != Some(&class) {
                users.push(class);
            }
        }
    }
    let mut changed = false;
    for class in work.open.clone() {
        let [only] = &work.nodes[class.index()][..] else { continue };
        let own = &only.node;
        let self_child = own.needs().any(|child| child == class);
        if own.cost != 0.0 || self_child || work.forced[class.index()] {
            continue;
        }
        let (number, children, deferred) = (only.number, own.children.clone(), own.deferred.clone());
        let needs = children.len() + deferred.len();
        let mut referring = std::mem::take(&mut users[class.index()]);
        referring.sort_unstable();
        referring.dedup();
        let refers = |work: &Work, user: &Class| {
            work.nodes[user.index()].iter().filter(|left| left.node.needs().any(|c| c == class)).count()
        };
        let fan_in: usize = referring.iter().map(|user| refers(work, user)).sum();
        if fan_in * needs > fan_in + needs + GROWTH {
            users[class.index()] = referring;
            continue;
        }
        for user in &referring {
            let mut cyclic = false;
            for left in &mut work.nodes[user.index()] {
                let node = &mut left.node;
                if let Ok(at) = node.children.binary_search(&class) {
                    node.children.remove(at);
                    node.children.extend(children.iter().copied());
                    node.deferred.extend(deferred.iter().copied());
                } else if let Ok(at) = node.deferred.binary_search(&class) {
                    node.deferred.remove(at);
                    node.deferred.extend(children.iter().chain(&deferred).copied());
                } else {
                    continue;
                }
                node.deferred.retain(|d| *d != *user);
                node.normalise();
                cyclic |= node.children.binary_search(user).is_ok();
            }
            if cyclic {
                work.nodes[user.index()].retain(|left| left.node.children.binary_search(user).is_err());
            }
        }
        let kept: Classes = children.iter().chain(&deferred).copied().collect();
        for child in kept {
            users[child.index()].extend(referring.iter().copied());
        }
        work.picked[class.index()] = Some(number);
        work.close(class);
        changed = true;
    }
    if changed {
        // A class may have lost its last node.
        super::constructible::drop_unconstructible(work);
        work.sweep();
    }
    changed
}
