//! Writes as something to choose: which node is executed where a write stays.
//!
//! The class of what is executed at the site of a write ([`super::calls`]) has the nodes of the state after it that take
//! the state that is live before it, and that may be executed in its place: they write the same, and trap exactly where it
//! does. So a store to `p + 8` may become one to `p` with the offset 8, and a copy of a product the product in place.

use super::check_identity::CheckIdentities;
use crate::Saturated;
use crate::egraph::{ClassId, EGraphView, Head, Node, NodeId};
use crate::skeleton::{SiteId, Skeleton, StatementKind};
use rewright_typeprop::{Op, OpId, Universe};
use std::collections::BTreeSet;

/// Which nodes may be executed at the sites of writes.
#[derive(Clone, Copy)]
pub(super) struct Writes<'a, 'k> {
    skeleton: &'a Skeleton,
    view: &'a EGraphView,
    universe: &'a Universe,
    keys: &'a CheckIdentities<'k>,
    unavailable: &'a BTreeSet<OpId>,
}

impl<'a, 'k> Writes<'a, 'k> {
    pub(super) fn new(given: Saturated<'a>, keys: &'a CheckIdentities<'k>, unavailable: &'a BTreeSet<OpId>) -> Self {
        let Saturated { skeleton, view, universe, .. } = given;
        Writes { skeleton, view, universe, keys, unavailable }
    }

    /// Those that may be executed at a site where a state is live: first the same operation on the same operands as the
    /// original, if it is among them.
    pub(super) fn nodes(&self, site: SiteId, state: ClassId) -> Vec<NodeId> {
        let StatementKind::Write { out, trap, .. } = &self.skeleton.statement(site).kind else { return vec![] };
        let original = self.keys.in_view(self.skeleton, *out);
        let usable = |id: &NodeId| {
            let node = self.view.node(*id);
            let available = matches!(node.head, Head::Op(op) if !self.unavailable.contains(&op));
            node.children.last() == Some(&state)
                && (node.is_same_but_for_state(&original)
                    || available && self.stands_for(node, &original, trap.is_some()))
        };
        let mut nodes: Vec<NodeId> = self.view.members(self.view.class_of(*out)).into_iter().filter(usable).collect();
        nodes.sort_by_key(|id| !self.view.node(*id).is_same_but_for_state(&original));
        nodes
    }

    /// Is a node the same operation on the same operands as what is executed at a site in the original?
    pub(super) fn is_original(&self, site: SiteId, id: NodeId) -> bool {
        let StatementKind::Write { out, .. } = &self.skeleton.statement(site).kind else { return false };
        self.view.node(id).is_same_but_for_state(&self.keys.in_view(self.skeleton, *out))
    }

    /// May a node be executed where another one was that leaves the same state behind?
    fn stands_for(&self, node: &Node<ClassId>, original: &Node<ClassId>, may_trap: bool) -> bool {
        let (Head::Op(op), Head::Op(was)) = (node.head, original.head) else { return false };
        let [op, was] = [op, was].map(|op| self.universe.ops.get(op));
        let effects = &op.effects;
        let writes_the_same = op.gives_state()
            && !op.is_for_matching()
            && effects.writes == was.effects.writes
            && effects.reads.iter().all(|read| effects.writes.contains(read));
        let is_access = [op, was].map(Op::is_access);
        let traps = match is_access {
            // As executing the original does, at the same bytes.
            [true, true] => self.keys.operation(node) != self.keys.operation(original),
            [false, false] => may_trap || effects.traps,
            _ => true,
        };
        writes_the_same && !traps
    }
}
