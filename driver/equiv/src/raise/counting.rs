//! A loop that may count: where it is tested and left, and what goes around it.

use super::scalar::Val;
use rewright_cfg_skeleton::ir::{BlockId, Edge, Value};
use rewright_cfg_skeleton::nest::{ArrayId, Var};

/// A loop to be.
pub(super) struct Counting {
    pub(super) header: BlockId,
    pub(super) latch: BlockId,
    /// The block that leaves it, its edge out, and its edge further.
    pub(super) test: BlockId,
    pub(super) out: Edge,
    pub(super) further: Edge,
    /// The value that is tested, and whether the loop goes on if that is not zero.
    pub(super) cond: Value,
    pub(super) goes_on_if: bool,
    pub(super) at_top: bool,
    pub(super) var: Var,
    /// Of each parameter of the header.
    pub(super) carried: Vec<Carried>,
}

/// What a parameter of a header is.
#[derive(Clone, Debug)]
pub(super) enum Carried {
    /// A number that each iteration adds a constant to.
    Counter(Val),
    /// The same in all iterations.
    Fixed(Option<Val>),
    /// Anything else.
    Cell(ArrayId),
}
