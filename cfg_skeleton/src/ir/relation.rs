//! Comparisons of integers, as relations.

use rewright_typeprop::Model;

/// How one integer stands to another, signed or unsigned.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Relation {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}

impl Relation {
    /// The relation of a comparison, and whether it is signed.
    pub(crate) fn of(model: Model) -> Option<(Relation, bool)> {
        Some(match model {
            Model::Eq => (Relation::Eq, false),
            Model::Ne => (Relation::Ne, false),
            Model::Slt => (Relation::Lt, true),
            Model::Sle => (Relation::Le, true),
            Model::Sgt => (Relation::Gt, true),
            Model::Sge => (Relation::Ge, true),
            Model::Ult => (Relation::Lt, false),
            Model::Ule => (Relation::Le, false),
            Model::Ugt => (Relation::Gt, false),
            Model::Uge => (Relation::Ge, false),
            _ => return None,
        })
    }

    /// The comparison.
    pub(crate) fn model(self, signed: bool) -> Model {
        match (self, signed) {
            (Relation::Eq, _) => Model::Eq,
            (Relation::Ne, _) => Model::Ne,
            (Relation::Lt, true) => Model::Slt,
            (Relation::Le, true) => Model::Sle,
            (Relation::Gt, true) => Model::Sgt,
            (Relation::Ge, true) => Model::Sge,
            (Relation::Lt, false) => Model::Ult,
            (Relation::Le, false) => Model::Ule,
            (Relation::Gt, false) => Model::Ugt,
            (Relation::Ge, false) => Model::Uge,
        }
    }

    /// The relation that holds exactly where this one does not.
    pub(crate) fn negated(self) -> Relation {
        match self {
            Relation::Eq => Relation::Ne,
            Relation::Ne => Relation::Eq,
            Relation::Lt => Relation::Ge,
            Relation::Le => Relation::Gt,
            Relation::Gt => Relation::Le,
            Relation::Ge => Relation::Lt,
        }
    }

    /// `x R y` as `y R' x`.
    pub(crate) fn swapped(self) -> Relation {
        match self {
            Relation::Lt => Relation::Gt,
            Relation::Le => Relation::Ge,
            Relation::Gt => Relation::Lt,
            Relation::Ge => Relation::Le,
            same => same,
        }
    }

    /// Of two integers whose signs do not count, or have been made not to.
    pub(crate) fn holds(self, x: u64, n: u64) -> bool {
        match self {
            Relation::Eq => x == n,
            Relation::Ne => x != n,
            Relation::Lt => x < n,
            Relation::Le => x <= n,
            Relation::Gt => x > n,
            Relation::Ge => x >= n,
        }
    }

    /// Does another one hold wherever it does, of the same two integers?
    pub(crate) fn implies(self, other: Relation) -> bool {
        match self {
            Relation::Eq => matches!(other, Relation::Eq | Relation::Le | Relation::Ge),
            Relation::Lt => matches!(other, Relation::Lt | Relation::Le | Relation::Ne),
            Relation::Gt => matches!(other, Relation::Gt | Relation::Ge | Relation::Ne),
            Relation::Ne | Relation::Le | Relation::Ge => self == other,
        }
    }

    /// Does it look at signs?
    pub(crate) fn orders(self) -> bool {
        !matches!(self, Relation::Eq | Relation::Ne)
    }
}
