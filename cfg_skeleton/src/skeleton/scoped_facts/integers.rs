//! The integers of a function: what computes them, and what is known of them everywhere.

use crate::egraph::known::{Computes, IntTerm, Solved};
use rewright_typeprop::{Known, Model};
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// What the nodes of a function's e-graph say of integers.
pub(super) struct Nodes {
    solved: Solved,
    /// By class: its terms.
    of_class: Vec<Vec<usize>>,
}

/// The integers of a function's e-graph.
pub(super) struct Integers {
    nodes: Rc<Nodes>,
    /// What arrives at parameters of blocks, by class.
    arriving: FxHashMap<usize, Vec<IntTerm>>,
    /// By class: what is known everywhere.
    pub(super) everywhere: Vec<Option<Known>>,
}

impl Nodes {
    pub(super) fn new(classes: usize, terms: Vec<IntTerm>) -> Self {
        let mut of_class = vec![vec![]; classes];
        for (number, term) in terms.iter().enumerate() {
            of_class[term.class].push(number);
        }
        Nodes { solved: Solved::new(classes, terms), of_class }
    }
}

impl Integers {
    /// The integers where this arrives at parameters of blocks, with classes of its own beyond the nodes'.
    pub(super) fn new(nodes: Rc<Nodes>, classes: usize, arriving: Vec<IntTerm>) -> Self {
        let everywhere = nodes.solved.with(classes, &arriving);
        let mut by_class: FxHashMap<usize, Vec<IntTerm>> = FxHashMap::default();
        arriving.into_iter().for_each(|term| by_class.entry(term.class).or_default().push(term));
        Integers { nodes, arriving: by_class, everywhere }
    }

    pub(super) fn terms_of(&self, class: usize) -> impl Iterator<Item = &IntTerm> {
        let of_nodes = self.nodes.of_class.get(class).into_iter().flatten();
        let of_nodes = of_nodes.map(|number| &self.nodes.solved.terms[*number]);
        of_nodes.chain(self.arriving.get(&class).into_iter().flatten())
    }

    /// Classes of nodes that have a class as an operand.
    pub(super) fn computed_from(&self, class: usize) -> impl Iterator<Item = usize> {
        self.nodes.solved.users(class).map(|term| term.class)
    }

    /// Comparisons of integers that a class is, with what they compare.
    pub(super) fn comparisons(&self, class: usize) -> impl Iterator<Item = (Model, usize, usize)> {
        self.terms_of(class).filter_map(|term| match (term.computes, &term.children[..]) {
            (Computes::Model(model), [x, y]) => model.negation().map(|_| (model, *x, *y)),
            _ => None,
        })
    }
}
