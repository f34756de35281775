//! Constraints on integers.

use super::affine::{Affine, Var};

/// `expr = 0` or `expr >= 0`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Constraint {
    /// The polynomial that is compared with zero.
    pub expr: Affine,
    /// Whether it is zero.
    pub equality: bool,
}

impl Constraint {
    /// `a >= b`.
    #[must_use]
    pub fn at_least(a: &Affine, b: &Affine) -> Self {
        Constraint { expr: a.plus(-1, b), equality: false }
    }

    /// `a < b`.
    #[must_use]
    pub fn less(a: &Affine, b: &Affine) -> Self {
        Constraint::at_least(b, &a.offset(1))
    }

    /// `a = b`.
    #[must_use]
    pub fn equal(a: &Affine, b: &Affine) -> Self {
        Constraint { expr: a.plus(-1, b), equality: true }
    }

    /// The cases in which the constraint does not hold; they exclude each other.
    #[must_use]
    pub fn negated(&self) -> Vec<Constraint> {
        let below = Constraint { expr: self.expr.times(-1).offset(-1), equality: false };
        if !self.equality {
            return vec![below];
        }
        vec![below, Constraint { expr: self.expr.offset(-1), equality: false }]
    }

    /// With variables replaced.
    #[must_use]
    pub fn replace(&self, of: &dyn Fn(Var) -> Option<Affine>) -> Self {
        Constraint { expr: self.expr.replace(of), equality: self.equality }
    }

    /// Whether the constraint holds for all values, as its text says.
    #[must_use]
    pub fn is_trivial(&self) -> bool {
        self.expr.as_constant().is_some_and(|c| if self.equality { c == 0 } else { c >= 0 })
    }
}
