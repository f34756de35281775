//! Looks ahead from a write that might be dropped: later writes must restore the original state on every path before
//! anything observes the region, and the next thing executed must make the dropped write's check.

use super::{Planner, StatementPlan};
use crate::egraph::{ClassId, Head, InputId, Node};
use crate::ir::BlockId;
use crate::select::check_identity::CheckIdentityId;
use crate::skeleton::{SegmentId, SiteId, StatementKind};
use indexmap::IndexMap;
use rewright_typeprop::OpId;
use smallvec::SmallVec;

/// How many blocks and statements one look-ahead may visit. Dead stores are overwritten soon.
const LOOK_AHEAD: u32 = 256;

/// A look-ahead from one dropped write.
pub(super) struct Walk {
    pub(super) row: usize,
    pub(super) planned: ClassId,
    /// What the dropped write checks.
    pub(super) key: Option<CheckIdentityId>,
    /// Its check, while nothing covers it.
    pub(super) pending: Option<(CheckIdentityId, Option<u32>)>,
    pub(super) pending_any: bool,
    /// Blocks entered in the planned state, and over how many edges.
    pub(super) entered: IndexMap<BlockId, u32>,
    pub(super) forced: Vec<SiteId>,
    /// The writes that take over the check, one on each way.
    pub(super) relied: Vec<SiteId>,
    /// Writes that could be executed from the planned state as other operations.
    pub(super) mergeable: Vec<SiteId>,
    pub(super) steps: u32,
}

enum Step {
    /// Nothing happens here.
    On,
    /// From here on the planned state is the original one.
    Right,
    /// The region is observed, or too much happens.
    Observed,
}

impl Planner<'_, '_> {
    /// Follows all paths from a dropped write until the planned state is right again.
    pub(super) fn walk(&self, walk: &mut Walk, site: SiteId, synced: bool) -> bool {
        let start = self.skeleton.statement(site).block;
        let mut ready: Vec<(BlockId, u32)> = vec![(start, site.0 + 1)];
        while let Some((block, from)) = ready.pop() {
            let data = &self.skeleton.blocks[block.index()];
            let mut done = false;
            for next in (from..data.first_site + data.sites).map(SiteId) {
                walk.steps += 1;
                match self.step(walk, next, synced) {
                    Step::On => {}
                    Step::Right => {
                        done = true;
                        break;
                    }
                    Step::Observed => return false,
                }
            }
            if done {
                continue;
            }
            walk.steps += 1;
            if data.observes || walk.steps > LOOK_AHEAD || (walk.pending_any && data.edges.is_empty()) {
                return false;
            }
            for edge in &data.edges {
                let target = edge.target;
                // Only the check is still to be found. A path that stays in a loop until the steps are used up does not
                // come to it.
                if synced {
                    ready.push((target, self.skeleton.blocks[target.index()].first_site));
                    continue;
                }
                let goes_round = || self.cfg.predecessors(target).iter().any(|e| self.cfg.dominates(target, e.from));
                if walk.pending_any && goes_round() {
                    return false;
                }
                let tokens = &self.skeleton.blocks[target.index()].tokens;
                if tokens.iter().any(|(region, _)| region.index() == walk.row) {
                    return false;
                }
                let arrived = walk.entered.entry(target).or_insert(0);
                *arrived += 1;
                // Back edges arrive later, in the planned state: a loop without a state parameter changes nothing.
                let ahead = self.cfg.predecessors(target).iter().filter(|e| !self.cfg.dominates(target, e.from));
                if *arrived == ahead.count() as u32 {
                    ready.push((target, self.skeleton.blocks[target.index()].first_site));
                }
            }
        }
        let complete = |(block, arrived): (&BlockId, &u32)| *arrived as usize == self.cfg.predecessors(*block).len();
        // A block entered from a path that the look-ahead has not been on would be in two states.
        walk.entered.iter().all(complete)
    }

    fn step(&self, walk: &mut Walk, site: SiteId, synced: bool) -> Step {
        if walk.steps > LOOK_AHEAD {
            return Step::Observed;
        }
        let own = self.checks[site.index()];
        match &self.skeleton.statement(site).kind {
            StatementKind::Call { after: Some(after), .. } if after.region.index() == walk.row && !synced => {
                self.step_write(walk, site, true)
            }
            StatementKind::Opaque { observes, writes, .. } | StatementKind::Call { observes, writes, .. } => {
                if *observes || *writes || walk.pending_any {
                    Step::Observed
                } else {
                    Step::On
                }
            }
            StatementKind::Check { observes, .. } => match self.plan.fates[site.index()] {
                // It would be executed without the check that it was behind, and may not trap only there.
                StatementPlan::Optional if walk.pending_any => Step::Observed,
                StatementPlan::Optional => Step::On,
                StatementPlan::Keep if *observes => Step::Observed,
                StatementPlan::Keep => Step::On,
                // It may have gone because of the very write that is to go now.
                StatementPlan::Drop => match (walk.pending, own) {
                    (Some((key, code)), Some((other, other_code))) if key == other && code != other_code => {
                        Step::Observed
                    }
                    _ => Step::On,
                },
            },
            StatementKind::Write { region, trap, .. } => {
                let before = self.skeleton.segment_before(site);
                // What dominates the dropped write, too, is a fact without it.
                let inert = trap.is_none() || self.inert(walk, site, before);
                let equal = walk.pending_any && walk.pending.is_some() && walk.pending == own;
                if region.index() != walk.row {
                    // Executed for all that is known here: it ends the search for a check, and observes if it traps.
                    return if walk.pending_any || !inert { Step::Observed } else { Step::On };
                }
                if equal {
                    walk.relied.push(site);
                }
                match synced {
                    true if equal => Step::Right,
                    true => Step::Observed,
                    false => self.step_write(walk, site, inert),
                }
            }
        }
    }

    /// Comes to a write of the walk's region.
    fn step_write(&self, walk: &mut Walk, site: SiteId, inert: bool) -> Step {
        let (before, after) = (self.skeleton.segment_before(site), self.skeleton.segment_after(site));
        let [was, result] = [before, after].map(|segment| self.original[walk.row][segment.index()]);
        let free = inert && !walk.pending_any;
        let may_go = free && !self.is_pinned(site);
        if result == walk.planned && may_go {
            return Step::Right;
        }
        if result == was {
            // It changes nothing, so it will go anyway: nothing is gained by executing it instead.
            if may_go {
                walk.forced.push(site);
                return Step::On;
            }
            return Step::Observed;
        }
        if (free || walk.relied.contains(&site)) && self.executable(site, walk.planned) {
            return Step::Right;
        }
        let others = || match self.skeleton.statement(site).kind {
            StatementKind::Call { .. } => self.writes.calls(site, walk.planned),
            _ => self.writes.nodes(site, walk.planned, &self.plan.writable(self.tree, before)),
        };
        if free && !others().is_empty() {
            walk.mergeable.push(site);
            if self.asked.merged.contains(&site) {
                return Step::Right;
            }
        }
        if may_go {
            walk.forced.push(site);
            return Step::On;
        }
        Step::Observed
    }

    /// Does a write on the way not trap, by facts that do not come from the way itself?
    fn inert(&self, walk: &Walk, site: SiteId, before: SegmentId) -> bool {
        let Some((key, Some(_))) = self.checks[site.index()] else { return true };
        // The dropped write itself is no such fact, not even where it is said not to trap: Cranelift keeps a store
        // that cannot trap before one to the same address that may.
        walk.key != Some(key) && self.plan.is_known(self.tree, key, before, true)
    }

    /// Does the class after the write hold the same operation on the same operands in the planned state, and that of the
    /// value that it gives, if it gives one?
    fn executable(&self, site: SiteId, planned: ClassId) -> bool {
        let known = self.plan.writable(self.tree, self.skeleton.segment_before(site));
        let StatementKind::Call { node: value, after: Some(after), .. } = &self.skeleton.statement(site).kind else {
            return self
                .writes
                .nodes(site, planned, &known)
                .first()
                .is_some_and(|id| self.writes.is_original(site, *id));
        };
        let node = &self.skeleton.input.nodes[value.index()];
        let Head::Op(op) = node.head else { return false };
        let Some(parts) = self.universe.ops.get(op).parts else { return false };
        let children: SmallVec<[ClassId; 3]> = node.children.iter().map(|child| self.view.class_of(*child)).collect();
        let holds = |input: InputId, part: OpId| {
            let own = Node { head: Head::Op(part), types: node.types.clone(), children: children.clone() };
            let mut nodes = self.view.class(self.view.class_of(input)).nodes.iter().map(|n| self.view.node(*n));
            nodes.any(|n| n.children.last() == Some(&planned) && n.is_same_but_for_state(&own))
        };
        holds(after.out, parts.state) && holds(*value, parts.value)
    }
}
