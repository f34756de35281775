//! P6: a class that only nodes of one class refer to gives its least cost to those nodes.
//!
//! The referring class picks one node. If that refers to the class, the class is had and costs at least its least
//! cost; if not, no node refers to it and it is not had. So every choice costs what it did before, but the cost stands
//! where the decision is made, and contraction and domination see it.

use super::Work;
use crate::graph::Class;

/// The classes that refer to a class.
#[derive(Clone, Copy, PartialEq)]
enum Parent {
    None,
    One(Class),
    Many,
}

/// Moves costs up, from leaves to roots.
pub(super) fn pull_up(work: &mut Work) -> bool {
    let mut parents = vec![Parent::None; work.nodes.len()];
    for (class, left) in work.all() {
        for child in left.node.needs() {
            let parent = &mut parents[child.index()];
            *parent = match *parent {
                Parent::None => Parent::One(class),
                Parent::One(known) if known == class => Parent::One(class),
                _ => Parent::Many,
            };
        }
    }
    let mut changed = false;
    for class in work.children_first() {
        let Parent::One(parent) = parents[class.index()] else { continue };
        if parent == class || work.forced[class.index()] {
            continue;
        }
        let least = work.nodes[class.index()].iter().map(|left| left.node.cost).fold(f64::INFINITY, f64::min);
        if !(least > 0.0 && least.is_finite()) {
            continue;
        }
        for left in &mut work.nodes[class.index()] {
            left.node.cost -= least;
        }
        for left in &mut work.nodes[parent.index()] {
            if left.node.needs().any(|child| child == class) {
                left.node.cost += least;
            }
        }
        changed = true;
    }
    changed
}

impl Work {
    /// Open classes, each after those that it leads to, as far as cycles allow.
    pub(super) fn children_first(&self) -> Vec<Class> {
        let mut order = Vec::with_capacity(self.open.len());
        let mut seen = vec![false; self.nodes.len()];
        let mut stack: Vec<(Class, bool)> = vec![];
        for start in &self.open {
            stack.push((*start, false));
            while let Some((class, leave)) = stack.pop() {
                if leave {
                    order.push(class);
                } else if !std::mem::replace(&mut seen[class.index()], true) {
                    stack.push((class, true));
                    let children = self.nodes[class.index()].iter().flat_map(|left| left.node.needs());
                    stack.extend(children.filter(|c| !seen[c.index()]).map(|c| (c, false)));
                }
            }
        }
        order
    }
}
