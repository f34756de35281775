//! Is what is executed at a site what stands there, and may what is not executed go?

use super::{Validator, Violation};
use crate::egraph::{ClassId, Head, Node, NodeId};
use crate::ir::BlockId;
use crate::select::Def;
use crate::skeleton::{CheckKey, SegmentId, SiteId, StatementKind};
use rewright_typeprop::ops::Part;
use rustc_hash::FxHashSet;

impl Validator<'_> {
    /// Classes after those of the view are what is executed at the sites, in order.
    pub(super) fn executed_class(&self, site: SiteId) -> ClassId {
        ClassId(self.view.classes.len() as u32 + site.0)
    }

    pub(super) fn site_of(&self, class: ClassId) -> Option<SiteId> {
        let site = class.index().checked_sub(self.view.classes.len())?;
        let statement = self.skeleton.statements.get(site)?;
        let chosen = matches!(statement.kind, StatementKind::Call { .. } | StatementKind::Write { .. });
        chosen.then_some(SiteId(site as u32))
    }

    /// The operation that is executed at a site is a node of its statement's class over its state, right before it.
    pub(super) fn misplaced(&self, site: SiteId, segment: SegmentId, def: Def) -> Option<Violation> {
        if let StatementKind::Write { .. } = self.skeleton.statement(site).kind {
            let written = segment == self.skeleton.segment_before(site) && self.written(site, def).is_some();
            return (!written).then_some(Violation::NotAtSite(segment, site));
        }
        let StatementKind::Call { node: original, site: token, .. } = &self.skeleton.statement(site).kind else {
            return Some(Violation::NotAtSite(segment, site));
        };
        if let Some(node) = self.part_at(site, def) {
            let fits = segment == self.skeleton.segment_before(site)
                && self.operands(node).1.iter().all(|c| self.view.class(*c).constant.is_some());
            return (!fits).then_some(Violation::NotAtSite(segment, site));
        }
        let stands = || {
            let Def::Node(id) = def else { return false };
            let Some(node) = self.view.nodes.get(id.index()) else { return false };
            let (_, constants) = self.operands(node);
            let Head::Op(op) = node.head else { return false };
            segment == self.skeleton.segment_before(site)
                && self.computes_class(id, self.class_of(*original))
                && self.universe.ops.get(op).is_sited()
                && node.children.last() == Some(&self.class_of(*token))
                && constants.iter().all(|c| self.view.class(*c).constant.is_some())
        };
        (!stands()).then_some(Violation::NotAtSite(segment, site))
    }

    /// The node of the state after a call, if such a call is to be executed at the site of another one that gives a value:
    /// it leaves the same behind. In which state, and what it gives, is asked elsewhere.
    pub(super) fn part_at(&self, site: SiteId, def: Def) -> Option<&Node<ClassId>> {
        let (StatementKind::Call { node: original, after: Some(after), .. }, Def::Node(id)) =
            (&self.skeleton.statement(site).kind, def)
        else {
            return None;
        };
        let node = self.view.nodes.get(id.index())?;
        let (Head::Op(op), Head::Op(was)) = (node.head, self.original(*original).head) else { return None };
        let (op, was) = (self.universe.ops.get(op), self.universe.ops.get(was));
        let is_state = matches!(op.part_of, Some(Part::State(_)));
        let is_there = self.view.node_class[id.index()] == self.class_of(after.out);
        (is_state && is_there && op.effects.writes == was.effects.writes).then_some(node)
    }

    /// Is a node one of a class, or of a class that is copied into it?
    fn computes_class(&self, node: NodeId, class: ClassId) -> bool {
        let mut from = FxHashSet::from_iter([self.view.node_class[node.index()]]);
        while !from.contains(&class) {
            let copies = self.view.nodes.iter().zip(&self.view.node_class).filter(|(n, _)| n.head == Head::Copy);
            let into = copies.filter(|(n, _)| n.children.iter().any(|c| from.contains(c))).map(|(_, into)| *into);
            let more: Vec<ClassId> = into.filter(|into| !from.contains(into)).collect();
            if more.is_empty() {
                return false;
            }
            from.extend(more);
        }
        true
    }

    /// A rule says that it may go: by itself where it only allocates. Otherwise all that the same match lets go
    /// are gone, and each is executed exactly when the match's root is.
    pub(super) fn may_go(&self, site: SiteId) -> bool {
        let call = |site: SiteId| match &self.skeleton.statement(site).kind {
            StatementKind::Call { site, observes, writes, .. } => Some((self.class_of(*site), !observes && !writes)),
            _ => None,
        };
        let at = |state: ClassId| {
            let mut sites = (0..self.skeleton.statements.len() as u32).map(SiteId);
            sites.find(|site| call(*site).is_some_and(|own| own.0 == state))
        };
        let Some((own, harmless)) = call(site) else { return false };
        self.view.removable.iter().filter(|row| row.site == own).any(|row| {
            let members = self.view.removable.iter().filter(|l| l.root == row.root && l.rule == row.rule);
            let members = members.filter_map(|l| at(l.site)).filter(|s| call(*s).is_some_and(|own| !own.1));
            let members: Vec<SiteId> = members.collect();
            let root = at(row.root);
            let with_root = |s: SiteId| root.is_some_and(|root| s == root || self.together(s, root, &members));
            harmless || members.iter().all(|s| !self.executed(*s) && with_root(*s))
        })
    }

    /// Between `a` and `b` control has one way in, one way out, does not loop, and does not stop: every path from
    /// `a` comes to `b`, and every path to `b` comes from `a`. Statements in `gone` are as good as not there.
    fn together(&self, a: SiteId, b: SiteId, gone: &[SiteId]) -> bool {
        let (from, to): (BlockId, BlockId) = (self.skeleton.statement(a).block, self.skeleton.statement(b).block);
        let blocks = if from == to { (a < b).then(Vec::new) } else { self.region(from, to) };
        let Some(blocks) = blocks else { return false };
        let on_the_way = |site: &SiteId| {
            let block = self.skeleton.statement(*site).block;
            match (block == from, block == to) {
                (true, true) => a < *site && *site < b,
                (true, false) => a < *site,
                (false, true) => *site < b,
                (false, false) => blocks.contains(&block),
            }
        };
        let mut sites = (0..self.skeleton.statements.len() as u32).map(SiteId).filter(on_the_way);
        sites.all(|site| gone.contains(&site) || self.comes_out(site))
    }

    /// The blocks between two, if they form a region without cycles that is entered from the first only and left to
    /// the second only.
    fn region(&self, from: BlockId, to: BlockId) -> Option<Vec<BlockId>> {
        let mut blocks = vec![];
        // Depth first, so that an edge to a block that is being left open closes a cycle.
        let mut open = vec![(from, 0)];
        while let Some((block, edge)) = open.last_mut() {
            let data = &self.skeleton.blocks[block.index()];
            if data.edges.is_empty() || data.observes {
                return None;
            }
            let Some(next) = data.edges.get(*edge).map(|edge| edge.target) else {
                blocks.extend(open.pop().map(|(block, _)| block));
                continue;
            };
            *edge += 1;
            if open.iter().any(|(block, _)| *block == next) {
                return None;
            }
            if next != to && !blocks.contains(&next) {
                open.push((next, 0));
            }
        }
        let entry = self.skeleton.layout[0];
        let entered_inside = |block: BlockId| {
            block != entry && self.flow.predecessors(block).iter().all(|before| blocks.contains(before))
        };
        let closed = blocks.iter().all(|block| *block == from || entered_inside(*block)) && entered_inside(to);
        closed.then_some(blocks)
    }

    /// A statement neither traps nor keeps control for ever.
    fn comes_out(&self, site: SiteId) -> bool {
        match &self.skeleton.statement(site).kind {
            StatementKind::Opaque { observes, writes, .. } => !(*observes || *writes),
            StatementKind::Check { key: CheckKey::Condition { condition, .. }, .. }
                if self.view.class(self.class_of(*condition)).constant == Some(0) =>
            {
                true
            }
            StatementKind::Check { .. } | StatementKind::Write { .. } => self.said(site),
            StatementKind::Call { node, .. } => {
                let Head::Op(op) = self.original(*node).head else { return false };
                let effects = &self.universe.ops.get(op).effects;
                !(effects.traps || effects.diverges)
            }
        }
    }
}
