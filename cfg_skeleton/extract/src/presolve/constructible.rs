//! P1: drops nodes that need what cannot be made, and classes that no root leads to.
//!
//! A class can be made if some node of it has only children that can: the least fixed point over ordered children,
//! since a choice orders its classes, and the greatest over deferred ones. A choice uses no other node, and what no
//! root leads to is in no choice.

use super::Work;
use crate::graph::Class;

/// Drops nodes with children that cannot be made, and nodes that are their own children.
pub(super) fn drop_unconstructible(work: &mut Work) {
    loop {
        let mut users: Vec<Vec<(Class, u32)>> = vec![vec![]; work.nodes.len()];
        let mut waiting: Vec<Vec<u32>> = vec![vec![]; work.nodes.len()];
        let mut made = vec![false; work.nodes.len()];
        let mut ready = vec![];
        for class in &work.open {
            for (n, left) in work.nodes[class.index()].iter().enumerate() {
                waiting[class.index()].push(left.node.children.len() as u32);
                left.node.children.iter().for_each(|child| users[child.index()].push((*class, n as u32)));
                if left.node.children.is_empty() {
                    ready.push(*class);
                }
            }
        }
        while let Some(class) = ready.pop() {
            if std::mem::replace(&mut made[class.index()], true) {
                continue;
            }
            for (user, n) in &users[class.index()] {
                let waiting = &mut waiting[user.index()][*n as usize];
                *waiting -= 1;
                if *waiting == 0 {
                    ready.push(*user);
                }
            }
        }
        let mut changed = false;
        for class in &work.open {
            let nodes = &mut work.nodes[class.index()];
            let before = nodes.len();
            nodes.retain(|left| {
                left.node.children.binary_search(class).is_err() && left.node.needs().all(|c| made[c.index()])
            });
            changed |= nodes.len() != before;
        }
        if !changed {
            return;
        }
        work.sweep();
    }
}

/// Closes classes that no forced class leads to.
pub(super) fn drop_unreachable(work: &mut Work) {
    let mut seen = vec![false; work.nodes.len()];
    let mut stack: Vec<Class> = work.open.iter().copied().filter(|c| work.forced[c.index()]).collect();
    while let Some(class) = stack.pop() {
        if !std::mem::replace(&mut seen[class.index()], true) {
            stack.extend(work.nodes[class.index()].iter().flat_map(|left| left.node.needs()));
        }
    }
    let unreachable: Vec<Class> = work.open.iter().copied().filter(|c| !seen[c.index()]).collect();
    unreachable.into_iter().for_each(|class| work.close(class));
    work.sweep();
}
