//! Writes as something to choose: which node is executed where a write stays.
//!
//! The class of what is executed at the site of a write ([`super::calls`]) has the nodes of the state after it that take
//! the state that is live before it, and that may be executed in its place: they write the same, and trap exactly where it
//! does. So a store to `p + 8` may become one to `p` with the offset 8, and a copy of a product the product in place. One of them
//! may be a call that gives a value, which nothing uses then. A
//! store of other bytes, as of those that a store before it was to write, may be executed where neither may trap.

use super::accesses::Bits;
use super::check_identity::{CheckIdentities, CheckIdentity};
use super::usable::Usable;
use crate::Saturated;
use crate::egraph::{ClassId, EGraphView, Head, Node, NodeId};
use crate::skeleton::{SiteId, Skeleton, StatementKind};
use rewright_typeprop::{Op, Universe};

/// Which nodes may be executed at the sites of writes.
#[derive(Clone, Copy)]
pub(super) struct Writes<'a, 'k> {
    skeleton: &'a Skeleton,
    view: &'a EGraphView,
    universe: &'a Universe,
    keys: &'a CheckIdentities<'k>,
    usable: &'a Usable<'a>,
}

impl<'a, 'k> Writes<'a, 'k> {
    pub(super) fn new(given: Saturated<'a>, keys: &'a CheckIdentities<'k>, usable: &'a Usable<'a>) -> Self {
        let Saturated { skeleton, view, universe, .. } = given;
        Writes { skeleton, view, universe, keys, usable }
    }

    /// Those that may be executed at a site where a state is live: first the same operation on the same operands as the
    /// original, if it is among them. `known` are accesses near some bits that are known not
    /// to trap there, if they write.
    pub(super) fn nodes(&self, site: SiteId, state: ClassId, known: &dyn Fn(Bits) -> Vec<Bits>) -> Vec<NodeId> {
        let StatementKind::Write { out, .. } = &self.skeleton.statement(site).kind else { return vec![] };
        let original = self.keys.in_view(self.skeleton, *out);
        // Nothing executes that.
        let is_state_of_loop = matches!(original.head, Head::Op(op) if self.universe.ops.get(op).is_of_control());
        let usable = |id: &NodeId| {
            let node = self.view.node(*id);
            let available = matches!(node.head, Head::Op(op) if self.usable.operation(self.universe.ops.whole(op)));
            node.children.last() == Some(&state)
                && (!is_state_of_loop && node.is_same_but_for_state(&original)
                    || available && self.usable.has_operands(node) && self.stands_for(node, &original, site, known))
        };
        let mut nodes: Vec<NodeId> = self.view.members(self.view.class_of(*out)).into_iter().filter(usable).collect();
        nodes.sort_by_key(|id| !self.view.node(*id).is_same_but_for_state(&original));
        nodes
    }

    /// Those that may be executed at the site of a call that writes and gives a value, where a state is live: other calls
    /// that leave the same behind there, and give the same. They are nodes of the states after them.
    pub(super) fn calls(&self, site: SiteId, state: ClassId) -> Vec<NodeId> {
        let StatementKind::Call { node: value, after: Some(after), .. } = &self.skeleton.statement(site).kind else {
            return vec![];
        };
        let ops = &self.universe.ops;
        let original = self.keys.in_view(self.skeleton, *value);
        let Head::Op(was) = original.head else { return vec![] };
        let given = &self.view.class(self.view.class_of(*value)).nodes;
        let usable = |id: &NodeId| {
            let node = self.view.node(*id);
            let Head::Op(part) = node.head else { return false };
            let whole = ops.whole(part);
            let Some(parts) = ops.get(whole).parts.filter(|parts| parts.state == part) else { return false };
            let gives = |other: &Node<ClassId>| {
                other.head == Head::Op(parts.value) && other.types == node.types && other.children == node.children
            };
            let is_original =
                whole == was && Node { head: original.head, ..node.clone() }.is_same_but_for_state(&original);
            node.children.last() == Some(&state)
                && !is_original
                && self.usable.operation(whole)
                && self.usable.has_operands(node)
                && ops.get(whole).effects.writes == ops.get(was).effects.writes
                && given.iter().any(|id| gives(self.view.node(*id)))
        };
        self.view.class(self.view.class_of(after.out)).nodes.iter().copied().filter(usable).collect()
    }

    /// Is a node the same operation on the same operands as what is executed at a site in the original?
    pub(super) fn is_original(&self, site: SiteId, id: NodeId) -> bool {
        let StatementKind::Write { out, .. } = &self.skeleton.statement(site).kind else { return false };
        self.view.node(id).is_same_but_for_state(&self.keys.in_view(self.skeleton, *out))
    }

    /// May a node be executed where another one was that leaves the same state behind?
    fn stands_for(
        &self,
        node: &Node<ClassId>,
        original: &Node<ClassId>,
        site: SiteId,
        known: &dyn Fn(Bits) -> Vec<Bits>,
    ) -> bool {
        let (Head::Op(op), Head::Op(was)) = (node.head, original.head) else { return false };
        let [op, was] = [op, was].map(|op| self.universe.ops.get(op));
        let effects = &op.effects;
        let writes_the_same = op.gives_state()
            && (!op.is_for_matching() || op.is_state_after())
            && effects.writes == was.effects.writes
            && effects.reads.iter().all(|read| effects.writes.contains(read));
        let is_access = [op, was].map(Op::is_access);
        let traps = match is_access {
            // As executing the original does, at the same bytes; or neither does.
            [true, true] => match [node, original].map(|node| self.keys.operation(node)) {
                [ours, theirs] if ours == theirs => false,
                [Some(ours), Some(theirs)] => !self.are_writable(&ours, &theirs, site, known),
                _ => true,
            },
            [false, false] => self.may_trap(site) || effects.traps,
            _ => true,
        };
        writes_the_same && !traps
    }

    fn may_trap(&self, site: SiteId) -> bool {
        matches!(self.skeleton.statement(site).kind, StatementKind::Write { trap: Some(_), .. })
    }

    /// May all bytes of an access be written at a site where the original writes its own, and can the original not trap?
    fn are_writable(
        &self,
        access: &CheckIdentity,
        original: &CheckIdentity,
        site: SiteId,
        known: &dyn Fn(Bits) -> Vec<Bits>,
    ) -> bool {
        let (Some(access), Some(own)) = (Bits::of(access), Bits::of(original)) else { return false };
        let beside = known(access);
        match self.may_trap(site) {
            true => known(own).contains(&own) && access.are_among(beside.into_iter()),
            false => access.are_among(beside.into_iter().chain([own])),
        }
    }
}
