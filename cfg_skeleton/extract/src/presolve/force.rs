//! P8: what must be had in any case is paid once, and nothing needs it any more.
//!
//! The children of the only node of a forced class are forced, and so is what any forced class [requires]. A forced
//! class costs at least its least cost: that goes to the offset. A node need not say that it needs a forced class: it
//! is had anyway; but where both stand on a cycle the child stays, so that the cycle is seen.
//!
//! [requires]: super::required

use super::Work;
use super::required::Required;
use crate::graph::Class;

/// Forces what follows, pays what is forced, and cuts edges to it.
pub(super) fn pay(work: &mut Work) -> bool {
    let mut changed = spread(work);
    let scc = work.cycles(false);
    for class in work.open.clone() {
        let (at, own) = (class.index(), scc[class.index()]);
        let forced = &work.forced;
        for left in &mut work.nodes[at] {
            let before = left.node.children.len() + left.node.deferred.len();
            left.node.children.retain(|c| !(forced[c.index()] && (own == 0 || scc[c.index()] != own)));
            left.node.deferred.retain(|c| !forced[c.index()]);
            changed |= before != left.node.children.len() + left.node.deferred.len();
        }
        if work.forced[at] {
            let least = work.nodes[at].iter().map(|left| left.node.cost).fold(f64::INFINITY, f64::min);
            if least > 0.0 && least.is_finite() {
                work.offset += least;
                work.nodes[at].iter_mut().for_each(|left| left.node.cost -= least);
                changed = true;
            }
            // No node refers to it any more, and what it needs is forced.
            if let [only] = &work.nodes[at][..]
                && own == 0
            {
                work.picked[at] = Some(only.number);
                work.close(class);
                changed = true;
            }
        }
    }
    work.sweep();
    changed
}

/// Forces the classes that the only node of a forced class needs.
fn spread(work: &mut Work) -> bool {
    let mut stack: Vec<Class> = work.open.iter().copied().filter(|c| work.forced[c.index()]).collect();
    let mut changed = false;
    while let Some(class) = stack.pop() {
        let [only] = &work.nodes[class.index()][..] else { continue };
        for child in only.node.needs() {
            if !std::mem::replace(&mut work.forced[child.index()], true) {
                stack.push(child);
                changed = true;
            }
        }
    }
    changed
}

/// Forces what forced classes require.
pub(super) fn require(work: &mut Work, required: &Required) -> bool {
    let mut changed = false;
    for class in work.open.clone().into_iter().filter(|c| work.forced[c.index()]).collect::<Vec<_>>() {
        for needed in required.all(class) {
            changed |= !std::mem::replace(&mut work.forced[needed.index()], true);
        }
    }
    changed
}
