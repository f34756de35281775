//! Are statements that only allocate executed below their places, and not more often than in the original?
//!
//! The result of such a statement is an object of its own. Between two executions of it the original makes one object;
//! so from a place where it is made no path leads to another one, or to the same one again, without coming to the
//! statement first. A statement that takes an operand that is no number stands where nothing may have been written
//! since.

use super::{Validator, Violation};
use crate::egraph::{ClassId, Head, Node};
use crate::ir::BlockId;
use crate::select::Def;
use crate::skeleton::{SegmentId, SiteId, StatementKind};
use rewright_typeprop::Repr;
use std::collections::{BTreeMap, BTreeSet};

impl Validator<'_> {
    /// Does a statement allocate, and do nothing else?
    pub(super) fn only_allocates(&self, site: SiteId) -> bool {
        let StatementKind::Call { node, .. } = &self.skeleton.statement(site).kind else { return false };
        let Head::Op(op) = self.original(*node).head else { return false };
        self.universe.ops.get(op).effects.only_allocates()
    }

    /// The statement in whose place a node allocates, and does nothing else.
    pub(super) fn allocates_for(&self, node: &Node<ClassId>) -> Option<SiteId> {
        let (Head::Op(op), Some(state)) = (node.head, node.children.last()) else { return None };
        if !self.universe.ops.get(op).effects.only_allocates() {
            return None;
        }
        let stands_for = |site: &SiteId| match &self.skeleton.statement(*site).kind {
            StatementKind::Call { site: own, .. } => self.class_of(*own) == *state && self.only_allocates(*site),
            _ => false,
        };
        (0..self.skeleton.statements.len() as u32).map(SiteId).find(stands_for)
    }

    pub(super) fn moves(&mut self) {
        let mut places: BTreeMap<SiteId, Vec<SegmentId>> = BTreeMap::new();
        let mut past = vec![];
        for ((at, _), def) in &self.selection.defs {
            if let Def::Node(id) = def
                && let Some(node) = self.view.nodes.get(id.index())
                && self.flow.is_reachable(*at)
                && let Some(site) = self.allocates_for(node)
            {
                places.entry(site).or_default().push(*at);
                if !self.takes_numbers(node) && self.is_past_write(site, *at) {
                    past.push(Violation::MovedOverWrite(*at, site));
                }
            }
        }
        self.found.extend(past);
        for (site, places) in places {
            let before = self.skeleton.segment_before(site);
            let stray = places.iter().filter(|at| !self.flow.dominates(before, **at));
            self.found.extend(stray.map(|at| Violation::MovedTooFar(*at, site)));
            for (n, from) in places.iter().enumerate() {
                let reached = self.reached_without(site, *from);
                let again = |(m, to): &(usize, &SegmentId)| {
                    let block = self.skeleton.segment_block[to.index()];
                    let goes_on = *m != n && block == self.skeleton.segment_block[from.index()] && *to >= from;
                    goes_on || reached.contains(&block)
                };
                let twice = places.iter().enumerate().find(again);
                self.found.extend(twice.map(|(_, to)| Violation::ExecutedTwice(site, *from, *to)));
            }
        }
    }

    fn takes_numbers(&self, node: &Node<ClassId>) -> bool {
        let Head::Op(op) = node.head else { return false };
        let mut types = self.universe.ops.get(op).params.iter().map(|param| &param.ty);
        types.all(|ty| {
            let repr = self.universe.types.find_instance(ty, &node.types).map(|ty| self.universe.types.repr(ty));
            matches!(repr, Some(Some(Repr::Scalar(_) | Repr::Int128 | Repr::F16 | Repr::F128 | Repr::Lanes(..))))
        })
    }

    /// Goes back from a segment on all ways to a statement: is there one that may write?
    fn is_past_write(&self, site: SiteId, at: SegmentId) -> bool {
        let own = self.skeleton.statement(site).block;
        let writes = |other: u32| match self.skeleton.statements[other as usize].kind {
            StatementKind::Write { .. } => true,
            StatementKind::Opaque { writes, .. } | StatementKind::Call { writes, .. } => writes,
            StatementKind::Check { .. } => false,
        };
        let here = self.skeleton.segment_block[at.index()];
        let data = &self.skeleton.blocks[here.index()];
        let mut work = vec![(here, data.first_site + (at.0 - data.first_segment))];
        let mut seen = BTreeSet::new();
        while let Some((block, end)) = work.pop() {
            let start = if block == own { site.0 } else { self.skeleton.blocks[block.index()].first_site };
            if (start..end).any(writes) {
                return true;
            }
            if block == own {
                continue;
            }
            for from in self.flow.predecessors(block).into_iter().filter(|from| seen.insert(*from)) {
                let data = &self.skeleton.blocks[from.index()];
                if data.observes {
                    return true;
                }
                work.push((from, data.first_site + data.sites));
            }
        }
        false
    }

    /// The blocks that control may enter after a segment before it enters the block of a statement.
    fn reached_without(&self, site: SiteId, from: SegmentId) -> BTreeSet<BlockId> {
        let stop = self.skeleton.statement(site).block;
        let mut reached = BTreeSet::new();
        let mut work = vec![self.skeleton.segment_block[from.index()]];
        while let Some(block) = work.pop() {
            for edge in &self.skeleton.blocks[block.index()].edges {
                if edge.target != stop && reached.insert(edge.target) {
                    work.push(edge.target);
                }
            }
        }
        reached
    }
}
