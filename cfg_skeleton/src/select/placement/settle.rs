//! A placement as a selection means it: uses take the nearest definitions, and what is not needed is left out.

use super::super::calls::executed;
use super::super::choices::Demand;
use super::super::cost::CostAndSize;
use super::{Def, PlacedId, Placement, StatementChoice, Use};
use crate::egraph::{ClassId, InputId};
use crate::skeleton::{CheckKey, SiteId, StatementKind};
use rustc_hash::FxHashSet;
use smallvec::SmallVec;

impl Placement<'_, '_> {
    /// Leaves out nodes whose class another definition above them defines, then everything that is unused.
    pub(crate) fn settle(&mut self) {
        self.merge();
        self.relink();
        while self.drop_statements() {
            self.relink();
        }
        let unused = |id: &PlacedId| self.placed[id.index()].uses.is_empty();
        for id in self.all_standing().filter(unused).collect::<Vec<_>>() {
            self.leave_out(id);
        }
        let definitions: CostAndSize = self.used().map(|id| self.choices.cost(self.alt(id), self.at(id))).sum();
        let cost = definitions.plus(self.choices.cost_of_statements(&self.statements));
        self.cost = cost.in_function(self.choices.given.cfg);
    }

    fn all_standing(&self) -> impl Iterator<Item = PlacedId> + '_ {
        let ids = (0..self.placed.len() as u32).map(PlacedId);
        ids.filter(|id| self.standing(self.class(*id), self.at(*id)) == Some(*id))
    }

    fn leave_out(&mut self, id: PlacedId) {
        let (class, at) = (self.class(id), self.at(id));
        if let Some(standing) = self.of_class.get_mut(&class) {
            standing.remove(self.choices.tree, at);
        }
    }

    fn merge(&mut self) {
        let is_needless = |id: &PlacedId| {
            let above = self.choices.tree.parent(self.at(*id));
            !self.placed[id.index()].again
                && matches!(self.def(*id), Def::Node(_))
                && above.is_some_and(|up| self.nearest(self.class(*id), up).is_some())
        };
        for id in self.all_standing().filter(is_needless).collect::<Vec<_>>() {
            self.leave_out(id);
        }
    }

    /// Finds anew what is used, and by what.
    pub(crate) fn relink(&mut self) {
        for placed in &mut self.placed {
            placed.needs.clear();
            placed.uses.clear();
        }
        self.link(self.roots());
    }

    /// Drops statements that are executed only for a result that is unused. Are there any?
    fn drop_statements(&mut self) -> bool {
        let choices = self.choices;
        let mut wanted: FxHashSet<SiteId> = FxHashSet::default();
        for id in self.used() {
            if let Def::Result { site, .. } = self.def(id) {
                wanted.insert(site);
                wanted.extend(choices.plan.removable.of(site));
            }
        }
        let checks = choices.groups.iter().filter(|group| !group.required).map(|group| group.sites[0]);
        let mut dropped = false;
        for site in checks.chain(choices.optional_calls()).filter(|site| !wanted.contains(site)) {
            let before = std::mem::replace(&mut self.statements[site.index()], StatementChoice::Drop);
            dropped |= before != StatementChoice::Drop;
        }
        dropped
    }

    /// What statements and terminators use.
    fn roots(&self) -> Vec<(Demand, Use)> {
        let (skeleton, view) = (self.choices.given.skeleton, self.choices.given.view);
        let mut roots = vec![];
        let mut add = |segment, class| roots.push((Demand { segment, class }, Use::Root(segment)));
        for block in self.choices.given.cfg.reverse_post_order() {
            for site in skeleton.sites(*block) {
                let segment = skeleton.segment_before(site);
                self.statement(site).into_iter().for_each(|class| add(segment, class));
            }
            let operands = skeleton.blocks[block.index()].operands.iter();
            operands.for_each(|operand| add(skeleton.last_segment(*block), view.class_of(*operand)));
        }
        roots
    }

    /// What a statement uses, as it is executed.
    fn statement(&self, site: SiteId) -> SmallVec<[ClassId; 3]> {
        let StatementChoice::Keep { fused } = self.statements[site.index()] else { return SmallVec::new() };
        let (skeleton, view) = (self.choices.given.skeleton, self.choices.given.view);
        let operands = |input: InputId| {
            let node = &skeleton.input.nodes[input.index()];
            let children: SmallVec<[ClassId; 3]> = node.children.iter().map(|c| view.class_of(*c)).collect();
            self.choices.operands(node.head, &children).unwrap_or_default()
        };
        match &skeleton.statement(site).kind {
            StatementKind::Opaque { operands, .. } => operands.iter().map(|o| view.class_of(*o)).collect(),
            StatementKind::Call { .. } | StatementKind::Write { .. } => [executed(view, site)].into_iter().collect(),
            StatementKind::Check { value: Some(value), .. } if fused => operands(*value),
            StatementKind::Check { key: CheckKey::Condition { tested, .. }, .. } => {
                [view.class_of(*tested)].into_iter().collect()
            }
            StatementKind::Check { .. } => SmallVec::new(),
        }
    }
}
