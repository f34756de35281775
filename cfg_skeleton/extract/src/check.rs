//! What a choice costs, or why it is not a valid choice: walks from the roots through what is picked. Knows nothing of
//! how the choice was found; every answer of this module's callers goes through here.

use super::graph::{Class, Graph};
use thiserror::Error;

/// What is wrong with a choice.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum Fault {
    /// A class that must be had has no pick, or one that is no node of it.
    #[error("class {} must be had, and no node of it is picked", .0.0)]
    NotPicked(Class),
    /// Ordered children lead from these classes, each a child of the one before, back to the first.
    #[error("{} picked classes need each other first", .0.len())]
    Cycle(Vec<Class>),
}

/// The cost of a choice: `picks[c]` is the position of the node that class `c` picks.
pub fn check(graph: &Graph, picks: &[Option<u32>]) -> Result<f64, Fault> {
    const NEW: u8 = 0;
    const OPEN: u8 = 1;
    const DONE: u8 = 2;
    let picked = |class: Class| {
        let pick = picks.get(class.index()).copied().flatten().ok_or(Fault::NotPicked(class))?;
        let node = graph.classes.get(class.index()).and_then(|nodes| nodes.get(pick as usize));
        node.ok_or(Fault::NotPicked(class))
    };
    let mut state = vec![NEW; graph.classes.len()];
    let mut costs = vec![];
    // Deferred children start walks of their own.
    let mut starts: Vec<Class> = graph.roots.iter().rev().copied().collect();
    let mut path: Vec<(Class, usize)> = vec![];
    while let Some(start) = starts.pop() {
        if state.get(start.index()).copied().ok_or(Fault::NotPicked(start))? != NEW {
            continue;
        }
        path.push((start, 0));
        while let Some((class, next)) = path.pop() {
            let node = picked(class)?;
            if next == 0 {
                state[class.index()] = OPEN;
                costs.push(node.cost);
                starts.extend(&node.deferred);
            }
            let Some(child) = node.children.get(next).copied() else {
                state[class.index()] = DONE;
                continue;
            };
            path.push((class, next + 1));
            match state.get(child.index()).copied().ok_or(Fault::NotPicked(child))? {
                NEW => path.push((child, 0)),
                OPEN => {
                    let from = path.iter().position(|(c, _)| *c == child).unwrap_or(0);
                    return Err(Fault::Cycle(path[from..].iter().map(|(c, _)| *c).collect()));
                }
                _ => {}
            }
        }
    }
    // The small ones first, so that the sum does not depend on the order of the walk.
    costs.sort_unstable_by(f64::total_cmp);
    Ok(costs.iter().sum())
}
