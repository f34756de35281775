//! Writes as something to choose: which node is executed where a write stays.
//!
//! The class of what is executed at the site of a write ([`super::calls`]) has the nodes of the state after it that take
//! the state that is live before it, and that may be executed in its place: they write the same, and trap exactly where it
//! does. So a store to `p + 8` may become one to `p` with the offset 8, and a copy of a product the product in place.

use super::calls::executed;
use super::check_identity::{CheckIdentities, Speculation};
use super::choices::{Alternative, Choices};
use super::cost::CostAndSize;
use super::selection::Def;
use crate::egraph::{ClassId, Head, Node, NodeId};
use crate::skeleton::{SiteId, StatementKind};
use rewright_typeprop::{Op, OpId};
use std::collections::BTreeSet;

impl Choices<'_> {
    /// What may be executed at the site of a write that stays.
    pub(super) fn write(&mut self, site: SiteId, keys: &CheckIdentities, unavailable: &BTreeSet<OpId>) {
        let StatementKind::Write { out, region, trap, .. } = &self.given.skeleton.statement(site).kind else { return };
        let (skeleton, view) = (self.given.skeleton, self.given.view);
        let before = skeleton.segment_before(site);
        let Some(state) = self.plan.live.get(region.index()).map(|row| row[before.index()]) else { return };
        let original = keys.in_view(skeleton, *out);
        let is_original = |node: &Node<ClassId>| node.is_same_but_for_state(&original);
        let members = || view.members(view.class_of(*out)).into_iter();
        let usable = |id: &NodeId| {
            let node = view.node(*id);
            let available = matches!(node.head, Head::Op(op) if !unavailable.contains(&op));
            is_original(node) || available && self.stands_for(node, &original, trap.is_some(), keys)
        };
        let in_state = members().filter(|id| view.node(*id).children.last() == Some(&state));
        // Of those that cost the same, the first one is taken.
        let mut nodes: Vec<NodeId> = in_state.filter(usable).collect();
        nodes.sort_by_key(|id| !is_original(view.node(*id)));
        for id in nodes {
            let node = view.node(id);
            let Some(children) = self.operands(node.head, &node.children) else { continue };
            let cost = CostAndSize::of(1, self.model.node(self.given.universe, &self.classes, node));
            self.add(Alternative {
                class: executed(view, site),
                def: Def::Node(id),
                children,
                state: Some(state),
                speculation: Speculation::Always,
                cost,
                at: Some(before),
                group: None,
            });
        }
    }

    /// May a node be executed where another one was that leaves the same state behind?
    fn stands_for(
        &self,
        node: &Node<ClassId>,
        original: &Node<ClassId>,
        may_trap: bool,
        keys: &CheckIdentities,
    ) -> bool {
        let (Head::Op(op), Head::Op(was)) = (node.head, original.head) else { return false };
        let [op, was] = [op, was].map(|op| self.given.universe.ops.get(op));
        let effects = &op.effects;
        let writes_the_same = op.gives_state()
            && !op.is_for_matching()
            && effects.writes == was.effects.writes
            && effects.reads.iter().all(|read| effects.writes.contains(read));
        let is_access = [op, was].map(Op::is_access);
        let traps = match is_access {
            // As executing the original does, at the same bytes.
            [true, true] => keys.operation(node) != keys.operation(original),
            [false, false] => may_trap || effects.traps,
            _ => true,
        };
        writes_the_same && !traps
    }
}
