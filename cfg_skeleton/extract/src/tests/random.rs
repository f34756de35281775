//! Small graphs that look random: with cycles, free nodes, shared and deferred children.

use super::*;
use crate::testing::Random;

/// How large, and of what kind.
#[derive(Clone, Copy)]
pub(super) struct Shape {
    pub(super) classes: usize,
    pub(super) nodes: usize,
    pub(super) deferred: bool,
}

/// The `n`th graph.
pub(super) fn graph(random: &mut Random, shape: Shape) -> Graph {
    let classes = 2 + random.below(shape.classes - 1);
    let class = |random: &mut Random| Class(random.below(classes) as u32);
    let node = |random: &mut Random| {
        // Many equal and many free ones.
        let cost = [0, 0, 1, 1, 2, 3, 5, 7][random.below(8)] as f64;
        let children: Vec<Class> = (0..random.below(4)).map(|_| class(random)).collect();
        let deferred = shape.deferred && random.below(4) == 0;
        let deferred: Vec<Class> = (0..usize::from(deferred)).map(|_| class(random)).collect();
        Node::new(cost, children, deferred)
    };
    let list = |random: &mut Random| (0..1 + random.below(shape.nodes)).map(|_| node(random)).collect();
    let classes: Vec<Vec<Node>> = (0..classes).map(|_| list(random)).collect();
    let roots = (0..1 + random.below(2)).map(|_| Class(random.below(classes.len()) as u32)).collect();
    Graph { classes, roots }
}

/// The least cost of any choice, by trying all; `None` if there is none.
pub(super) fn brute_force(graph: &Graph) -> Option<f64> {
    fn descend(graph: &Graph, picks: &mut Vec<Option<u32>>, mut wanted: Vec<Class>, best: &mut Option<f64>) {
        let Some(class) = wanted.pop() else {
            if let Ok(cost) = check(graph, picks)
                && best.is_none_or(|known| cost < known)
            {
                *best = Some(cost);
            }
            return;
        };
        if picks[class.index()].is_some() {
            return descend(graph, picks, wanted, best);
        }
        for (n, node) in graph.classes[class.index()].iter().enumerate() {
            picks[class.index()] = Some(n as u32);
            let more = wanted.iter().copied().chain(node.needs()).collect();
            descend(graph, picks, more, best);
        }
        picks[class.index()] = None;
    }
    let mut best = None;
    descend(graph, &mut vec![None; graph.classes.len()], graph.roots.clone(), &mut best);
    best
}
