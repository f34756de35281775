//! Is a recurrence what its node says? Which block is the header of the loop is taken from the skeleton; that it is one
//! that one edge enters and one edge closes is seen in the edges.

use super::{Validator, Violation};
use crate::egraph::{ClassId, Head, NodeId};
use crate::ir::BlockId;
use crate::skeleton::SegmentId;
use rewright_typeprop::ops::LoopRole;

/// A node that is a recurrence, and the edges into its loop's header.
pub(super) struct Carried {
    /// Where the loop is entered, and what the recurrence is then.
    first: (BlockId, ClassId),
    /// Where an iteration ends, and what is taken then.
    step: (BlockId, ClassId),
}

impl Validator<'_> {
    /// What is wrong with a recurrence that is to define a class there.
    pub(super) fn recurrence_violation(&self, id: NodeId, at: SegmentId, class: ClassId) -> Option<Violation> {
        let Some(node) = self.view.nodes.get(id.index()) else { return Some(Violation::OutOfRange(at, class)) };
        if self.view.node_class[id.index()] != class {
            return Some(Violation::WrongClass(at, class));
        }
        let Some(header) = self.header(id) else { return Some(Violation::NotAValue(at, class)) };
        if self.skeleton.blocks[header.index()].first_segment != at.0 {
            return Some(Violation::WrongSegment(at, class));
        }
        let is_pure = |op| {
            let step: Option<rewright_typeprop::OpId> = self.universe.ops.get(op).recurrence();
            step.is_some_and(|step| self.universe.ops.get(step).effects.is_pure())
        };
        match (self.recurrence(id), node.head) {
            (None, _) => Some(Violation::NoLoop(at, class)),
            (Some(_), Head::Op(op)) if is_pure(op) => None,
            (Some(_), _) => Some(Violation::NotAValue(at, class)),
        }
    }

    /// The header of the loop that a recurrence is of.
    fn header(&self, id: NodeId) -> Option<BlockId> {
        let node = self.view.nodes.get(id.index())?;
        let Head::Op(op) = node.head else { return None };
        if !matches!(self.universe.ops.get(op).in_loop, Some(LoopRole::Recurrence(_))) || node.children.len() != 3 {
            return None;
        }
        let of = self.skeleton.loops.iter().find(|of| self.class_of(of.constant) == node.children[0])?;
        Some(of.header)
    }

    /// A node as a recurrence of a loop that one edge enters and one edge closes.
    pub(super) fn recurrence(&self, id: NodeId) -> Option<Carried> {
        let (header, node) = (self.header(id)?, self.view.nodes.get(id.index())?);
        let start = SegmentId(self.skeleton.blocks[header.index()].first_segment);
        let mut edges = vec![];
        for from in self.flow.predecessors(header) {
            let out = &self.skeleton.blocks[from.index()].edges;
            edges.extend(out.iter().filter(|edge| edge.target == header).map(|_| from));
        }
        let closes = |from: &BlockId| self.flow.dominates(start, self.skeleton.last_segment(*from));
        let (closing, entering): (Vec<BlockId>, Vec<BlockId>) = edges.into_iter().partition(closes);
        let ([latch], [before]) = (&closing[..], &entering[..]) else { return None };
        Some(Carried { first: (*before, node.children[1]), step: (*latch, node.children[2]) })
    }

    /// What a recurrence takes, and where.
    pub(super) fn taken(&self, carried: &Carried) -> [(SegmentId, ClassId); 2] {
        [carried.first, carried.step].map(|(from, class)| (self.skeleton.last_segment(from), class))
    }

    /// Has everything that a recurrence takes the type that is declared?
    pub(super) fn carries_its_type(&self, id: NodeId) -> bool {
        let (Some(carried), Some(node)) = (self.recurrence(id), self.view.nodes.get(id.index())) else { return true };
        let (types, wanted) = (&self.universe.types, node.ty(self.universe));
        let fits = |(at, class): (SegmentId, ClassId)| {
            let chosen = self.chosen_type(class, at);
            chosen.is_none_or(|ty| wanted.is_some_and(|wanted| types.is_subtype(ty, wanted)))
        };
        self.taken(&carried).into_iter().all(fits)
    }
}
