//! Does what is executed where a write stood leave the same behind, and trap where it did?

use super::Validator;
use super::checks::Fact;
use crate::egraph::{ClassId, Head, Node};
use crate::select::Def;
use crate::skeleton::{SegmentId, SiteId, StatementKind};
use rewright_typeprop::Model;

impl Validator<'_> {
    /// The node that a definition says is executed at a write's site, if it may be: it leaves the same state behind. In
    /// which state it may be executed is asked elsewhere.
    pub(super) fn written(&self, site: SiteId, def: Def) -> Option<&Node<ClassId>> {
        let StatementKind::Write { out, .. } = &self.skeleton.statement(site).kind else { return None };
        let Def::Node(id) = def else { return None };
        let node = self.view.nodes.get(id.index())?;
        let (_, constants) = self.operands(node);
        let fits = self.view.members(self.class_of(*out)).contains(&id)
            && constants.iter().all(|c| self.view.class(*c).constant.is_some())
            && self.writes_like(node, &self.original(*out), site);
        fits.then_some(node)
    }

    /// Is a class what is executed at the site of a write? It traps as its statement does.
    pub(super) fn is_written_at(&self, class: ClassId) -> bool {
        let site = self.site_of(class).map(|site| &self.skeleton.statement(site).kind);
        matches!(site, Some(StatementKind::Write { .. }))
    }

    fn writes_like(&self, node: &Node<ClassId>, original: &Node<ClassId>, site: SiteId) -> bool {
        let (Head::Op(op), Head::Op(was)) = (node.head, original.head) else { return false };
        let (op, was) = (self.universe.ops.get(op), self.universe.ops.get(was));
        if op.is_of_control() {
            return false;
        }
        if node.head == original.head && node.types == original.types && self.split(node).0 == self.split(original).0 {
            return true;
        }
        let (ours, theirs) = (&op.effects, &was.effects);
        if op.is_for_matching() && !op.is_state_after()
            || !op.gives_state()
            || ours.writes != theirs.writes
            || ours.reads.iter().any(|r| !ours.writes.contains(r))
        {
            return false;
        }
        match (op.is_access(), was.is_access()) {
            (true, true) => match (self.runs(node), self.runs(original)) {
                (Some(ours), Some(theirs)) => ours == theirs || !self.may_trap(site) && self.is_inside(&ours, site),
                _ => false,
            },
            (false, false) => self.said(site) && !ours.traps,
            (true, false) | (false, true) => false,
        }
    }

    /// Are all bits of an access bits of others that do not trap at a write's site: the write itself, if it is said not to,
    /// or such that have been executed, or said not to trap?
    fn is_inside(&self, access: &Fact, site: SiteId) -> bool {
        let own = match &self.skeleton.statement(site).kind {
            StatementKind::Write { out, .. } if self.said(site) => self.runs(&self.original(*out)),
            _ => None,
        };
        self.are_bits_of(access, self.skeleton.segment_before(site), own.as_ref())
    }

    /// Is each byte of an access one of those that some write proves, or that are given? Not behind what may have freed it.
    fn are_bits_of(&self, access: &Fact, at: SegmentId, given: Option<&Fact>) -> bool {
        let Fact::Bits(base, offset, bits) = access else { return false };
        let holds = |from: SegmentId| self.flow.dominates(from, at) && self.skeleton.stays_accessible(from, at);
        let proved = self.places.iter().filter(|(_, places)| places.iter().any(|(from, write)| *write && holds(*from)));
        let parts: Vec<(i64, u32)> = proved
            .map(|(fact, _)| fact)
            .chain(given)
            .filter_map(|fact| match fact {
                Fact::Bits(other, offset, bits) if other == base => Some((*offset, *bits)),
                _ => None,
            })
            .collect();
        (0..i64::from(bits.div_ceil(8))).all(|byte| {
            let byte = offset.wrapping_add(byte);
            parts.iter().any(|(start, width)| (byte.wrapping_sub(*start) as u64) < u64::from(*width / 8))
        })
    }

    /// An address with an offset, without the constants that are added to it on the way.
    pub(super) fn address(&self, address: ClassId, offset: i64) -> (ClassId, i64) {
        let mut passed: Vec<(ClassId, i64)> = vec![];
        let mut at = (address, offset);
        loop {
            if let Some(n) = passed.iter().position(|(class, _)| *class == at.0) {
                return passed[n..].iter().copied().min().unwrap_or(at);
            }
            passed.push(at);
            let constant = |class: ClassId| self.view.class(class).constant;
            let mut sums = vec![];
            for id in &self.view.class(at.0).nodes {
                let node = self.view.node(*id);
                let Head::Op(op) = node.head else { continue };
                let ([x, y], Some(Model::Add)) = (&node.children[..], self.universe.ops.get(op).model) else {
                    continue;
                };
                match (constant(*x), constant(*y)) {
                    (None, Some(n)) => sums.push((*x, n)),
                    (Some(n), None) => sums.push((*y, n)),
                    (None, None) | (Some(_), Some(_)) => {}
                }
            }
            sums.sort_unstable();
            let Some((base, added)) = sums.first() else { return at };
            at = (*base, at.1.wrapping_add(*added));
        }
    }
}
