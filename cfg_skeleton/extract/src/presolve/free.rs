//! P5: classes that can be had for nothing are had, and nothing needs them any more.
//!
//! A class is free if it has a node that costs nothing and has only free children (the least fixed point, so the
//! free nodes form no cycle). Whatever a choice picks elsewhere, it can pick the free node here: the cost does not
//! grow, and no cycle goes through a class whose picks lead only to free classes.

use super::Work;
use crate::graph::Class;

/// Decides free classes.
pub(super) fn decide(work: &mut Work) -> bool {
    let mut users: Vec<Vec<Class>> = vec![vec![]; work.nodes.len()];
    let mut ready = vec![];
    for (class, left) in work.all().filter(|(_, left)| left.node.cost == 0.0) {
        left.node.needs().for_each(|child| users[child.index()].push(class));
        if left.node.needs().next().is_none() {
            ready.push(class);
        }
    }
    let mut free = vec![false; work.nodes.len()];
    let mut changed = false;
    while let Some(class) = ready.pop() {
        if free[class.index()] {
            continue;
        }
        let costless = work.nodes[class.index()]
            .iter()
            .find(|left| left.node.cost == 0.0 && left.node.needs().all(|child| free[child.index()]));
        if let Some(left) = costless {
            work.picked[class.index()] = Some(left.number);
            free[class.index()] = true;
            changed = true;
            ready.extend(&users[class.index()]);
        }
    }
    if changed {
        for class in work.open.clone() {
            if free[class.index()] {
                work.close(class);
                continue;
            }
            for left in &mut work.nodes[class.index()] {
                left.node.children.retain(|child| !free[child.index()]);
                left.node.deferred.retain(|child| !free[child.index()]);
            }
        }
        work.sweep();
    }
    changed
}
