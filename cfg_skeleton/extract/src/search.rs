//! Tries all choices of a small graph.

use super::check::check;
use super::graph::{Class, Graph};
use super::{Answer, Meter, tolerance};

/// Units of work that a step takes ..
const STEP: u64 = 16;

/// .. and one more for every such number of picks that it copies.
const COPIED: u64 = 8;

/// The cheapest choice, or `None` if there are more than `most` combinations of nodes, or the work is used up.
pub(crate) fn search(graph: &Graph, most: u64, meter: &Meter) -> Option<Answer> {
    graph.classes.iter().try_fold(1u64, |n, nodes| {
        let n = n.checked_mul(nodes.len() as u64 + 1)?;
        (n <= most).then_some(n)
    })?;
    let mut best: Option<(f64, Vec<Option<u32>>)> = None;
    // Picks so far, classes still to be decided, and the cost of the picks.
    let mut stack: Vec<(Vec<Option<u32>>, Vec<Class>, f64)> =
        vec![(vec![None; graph.classes.len()], graph.roots.clone(), 0.0)];
    while let Some((picks, mut wanted, sum)) = stack.pop() {
        if best.as_ref().is_some_and(|(cost, _)| sum >= *cost - tolerance(*cost)) {
            continue;
        }
        meter.spend(STEP + graph.classes.len() as u64 / COPIED);
        if meter.used_up() {
            return None;
        }
        let Some(class) = wanted.pop() else {
            if let Ok(cost) = check(graph, &picks) {
                best = Some((cost, picks));
            }
            continue;
        };
        if picks[class.index()].is_some() {
            stack.push((picks, wanted, sum));
            continue;
        }
        let nodes = &graph.classes[class.index()];
        let mut order: Vec<usize> = (0..nodes.len()).collect();
        // The cheapest is tried first: it is pushed last.
        order.sort_by(|a, b| nodes[*b].cost.total_cmp(&nodes[*a].cost));
        for n in order {
            let (mut picks, mut wanted) = (picks.clone(), wanted.clone());
            picks[class.index()] = Some(n as u32);
            wanted.extend(nodes[n].needs());
            stack.push((picks, wanted, sum + nodes[n].cost));
        }
    }
    best.map(|(bound, picks)| Answer { picks, bound, runs: 0, ended: None })
}
