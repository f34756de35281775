//! The integers of a function: what computes them, and what is known of them everywhere.

use crate::egraph::known::{Computes, IntTerm, solve};
use rewright_typeprop::{Known, Model};

/// The integers of a function's e-graph.
pub(super) struct Integers {
    /// The nodes that compute them.
    terms: Vec<IntTerm>,
    /// By class: its terms.
    of_class: Vec<Vec<u32>>,
    /// By class: what is known everywhere.
    pub(super) everywhere: Vec<Option<Known>>,
}

impl Integers {
    pub(super) fn new(classes: usize, terms: Vec<IntTerm>) -> Self {
        let everywhere = solve(classes, &terms);
        let mut of_class = vec![vec![]; classes];
        for (number, term) in (0u32..).zip(&terms) {
            of_class[term.class].push(number);
        }
        Integers { terms, of_class, everywhere }
    }

    pub(super) fn terms_of(&self, class: usize) -> impl Iterator<Item = &IntTerm> {
        self.of_class[class].iter().map(|number| &self.terms[*number as usize])
    }

    /// Comparisons of integers that a class is, with what they compare.
    pub(super) fn comparisons(&self, class: usize) -> impl Iterator<Item = (Model, usize, usize)> {
        self.terms_of(class).filter_map(|term| match (term.computes, &term.children[..]) {
            (Computes::Model(model), [x, y]) => model.negation().map(|_| (model, *x, *y)),
            _ => None,
        })
    }
}
