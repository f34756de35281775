//! Recurrences as definitions: a new parameter of a loop's header, which begins as one class and takes steps of another.

use crate::Saturated;
use crate::egraph::{ClassId, Head, NodeId};
use crate::skeleton::SimpleLoop;
use rewright_typeprop::{OpId, Ty};
use smallvec::SmallVec;

/// What a node that is a recurrence says.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Recurrence {
    /// The loop that carries it.
    pub(crate) of: SimpleLoop,
    /// What it is in the first iteration, taken where the loop is entered.
    pub(crate) first: ClassId,
    /// What takes it to the next iteration, with itself as the first operand and `by` as the second.
    pub(crate) step: OpId,
    /// Taken at the end of each iteration.
    pub(crate) by: ClassId,
    /// Type arguments of both, which are declared over the same types.
    pub(crate) types: SmallVec<[Ty; 2]>,
    /// Its type.
    pub(crate) ty: Ty,
}

impl Recurrence {
    /// What a node says, if it is a recurrence of a loop of the function.
    pub(crate) fn new(given: Saturated, id: NodeId) -> Option<Self> {
        let Saturated { universe, skeleton, view, .. } = given;
        let node = view.nodes.get(id.index())?;
        let Head::Op(op) = node.head else { return None };
        let step = universe.ops.get(op).recurrence()?;
        let [l, first, by] = node.children[..] else { return None };
        let of = skeleton.loops.iter().copied().find(|of| view.class_of(of.constant) == l)?;
        let ty = node.ty(universe)?;
        Some(Recurrence { of, first, step, by, types: node.types.clone(), ty })
    }
}
