//! Addresses: sums of terms and a constant.

use super::expr::Expr;

/// A sum modulo 2^64.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Address {
    /// In order, each as often as it occurs.
    pub(super) terms: Vec<Expr>,
    pub(super) constant: u64,
}

impl Address {
    /// The address that a term is.
    pub(super) fn of(term: Expr) -> Self {
        Address { terms: vec![term], constant: 0 }
    }

    /// This many bytes further on.
    pub fn plus(&self, n: u64) -> Self {
        Address { terms: self.terms.clone(), constant: self.constant.wrapping_add(n) }
    }

    /// Is a term among those that are summed?
    pub fn is_from(&self, term: Expr) -> bool {
        self.terms.contains(&term)
    }
}
