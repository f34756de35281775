//! Counted work: what bounds an extraction where no time is given, so that its result does not depend on the machine.
//!
//! A unit is about what it takes to look at one edge of the graph, a few nanoseconds. A step of the simplex method
//! counts as many units as its linear program has rows and columns, times what `ilp::highs` has measured.
//!
//! **Invariant**: a meter is asked between steps, so the last step may exceed it; no step is larger than what it is
//! charged for by more than a constant factor.

use std::cell::Cell;

/// Work that may still be done.
#[derive(Clone, Debug)]
pub struct Meter {
    granted: u64,
    spent: Cell<u64>,
}

impl Meter {
    /// A meter of this many units.
    pub fn new(work: u64) -> Meter {
        Meter { granted: work, spent: Cell::new(0) }
    }

    /// More than anything takes.
    pub fn unlimited() -> Meter {
        Meter::new(u64::MAX)
    }

    /// Units that are left.
    pub fn left(&self) -> u64 {
        self.granted.saturating_sub(self.spent.get())
    }

    /// Units that were spent; the last step may have taken more than was left.
    pub fn spent(&self) -> u64 {
        self.spent.get()
    }

    /// Takes units off.
    pub fn spend(&self, work: u64) {
        self.spent.set(self.spent.get().saturating_add(work));
    }

    /// Is nothing left?
    pub fn used_up(&self) -> bool {
        self.left() == 0
    }

    /// A meter for a part of what is left; what is done by it is to be [`Meter::settle`]d.
    pub(crate) fn share(&self, share: f64) -> Meter {
        Meter::new(match self.granted {
            u64::MAX => u64::MAX,
            _ => (self.left() as f64 * share.clamp(0.0, 1.0)) as u64,
        })
    }

    /// Takes off what was done by a part.
    pub(crate) fn settle(&self, part: &Meter) {
        self.spend(part.spent());
    }
}
