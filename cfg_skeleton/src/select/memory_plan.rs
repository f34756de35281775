//! The state plan: which writes are executed, which checks are kept, and which state is therefore live where.
//!
//! Decided before values. A forward simulation follows, per region, the *planned* live state beside the original
//! one. They part where a write is dropped, and must be one class again wherever the region is observed: at opaque
//! statements, kept checks, writes that may trap, exits, and edges into a block with a state parameter. A write `w`
//! goes if
//!
//! * the state after it is the planned one already (idempotent), or
//! * on every path from it, before anything observes the region, the planned state is right again: a later write
//!   gives the planned state, or can be executed from it (the class after it holds the same operation on the same
//!   operands in the planned state; or another one, where it is to take the place of the writes before it, too:
//!   [`super::merged_writes`]);
//!
//! and its own check is covered: it cannot trap, an equal check dominates it (for an idempotent write, a read of
//! the same bytes will do), or the next thing that is executed, whichever way control goes, is an equal check with the
//! same trap code (and nothing between them loops, or is said not to trap: that is said only of executions that have
//! passed the check).
//!
//! Dropping a write takes its state away from the values that read it; [`super::construct`] finds out, and the
//! plan is made again with that write kept.

mod look_ahead;

use super::accesses::{Accesses, Bits};
use super::calls::RemovalGroups;
use super::check_identity::{CheckIdentities, CheckIdentityId, Speculation};
use super::segments::SegmentTree;
use super::usable::Usable;
use super::writes::Writes;
use crate::Saturated;
use crate::egraph::{ClassId, EGraphView};
use crate::ir::cfg::Cfg;
use crate::ir::{BlockId, RegionId};
use crate::skeleton::{CheckKey, SegmentId, SiteId, Skeleton, StateAfter, StatementKind};
use indexmap::IndexMap;
use look_ahead::Walk;
use rewright_typeprop::Universe;
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};

/// What becomes of a statement.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum StatementPlan {
    /// Executed.
    Keep,
    /// A check that observes nothing, or a statement that a rule licenses to go: executed iff its result is used.
    Optional,
    /// Gone.
    Drop,
}

/// A fact: from this segment on, the key does not trap; that of an access until a statement may free memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AvailableCheck {
    pub(crate) from: SegmentId,
    /// Stated by a write, or at least as strong.
    write: bool,
}

/// Decided states.
pub(crate) struct Plan {
    /// By site.
    pub(crate) fates: Vec<StatementPlan>,
    /// By row and segment: the live state.
    pub(crate) live: Vec<Vec<ClassId>>,
    /// By key.
    pub(crate) known: Vec<Vec<AvailableCheck>>,
    /// By key: is it about memory, which calls may free?
    accesses: Vec<bool>,
    /// Those about memory, by where.
    places: Accesses,
    /// Which statements at sites may go.
    pub(crate) removable: RemovalGroups,
    /// By write: later ones at which another operation could be executed in its place, and of those in between.
    pub(crate) mergeable: Mergeable,
}

/// By write, later ones at which another operation could be executed in its place, and of those in between.
pub(crate) type Mergeable = BTreeMap<SiteId, BTreeSet<SiteId>>;

impl Plan {
    /// May a value that needs this be computed there?
    pub(crate) fn may_speculate(&self, tree: &SegmentTree, needs: &Speculation, at: SegmentId) -> bool {
        match needs {
            Speculation::Always => true,
            Speculation::Never => false,
            Speculation::IfChecked(keys) => keys.iter().all(|k| self.is_known(tree, *k, at, false)),
        }
    }

    fn is_known(&self, tree: &SegmentTree, key: CheckIdentityId, at: SegmentId, write: bool) -> bool {
        let known = self.known.get(key.0 as usize);
        let access = self.accesses.get(key.0 as usize) == Some(&true);
        let holds =
            |k: &AvailableCheck| tree.dominates(k.from, at) && (!access || tree.skeleton.stays_accessible(k.from, at));
        known.is_some_and(|list| list.iter().any(|k| (k.write || !write) && holds(k)))
    }

    /// Accesses near some bits that are known not to trap there, if they write.
    pub(super) fn writable(&self, tree: &SegmentTree, at: SegmentId) -> impl Fn(Bits) -> Vec<Bits> {
        move |bits| {
            let known = self.places.beside(bits).filter(|(_, key)| self.is_known(tree, *key, at, true));
            known.map(|(bits, _)| bits).collect()
        }
    }

    fn learn(&mut self, key: CheckIdentityId, from: SegmentId, write: bool) {
        if self.known.len() <= key.0 as usize {
            self.known.resize_with(key.0 as usize + 1, Vec::new);
        }
        self.known[key.0 as usize].push(AvailableCheck { from, write });
    }
}

/// The constraints under which a plan is made.
#[derive(Clone, Copy)]
pub(crate) struct Asked<'a> {
    /// By site: writes that are executed.
    pub(crate) kept: &'a [bool],
    /// Writes at which another operation is executed in place of those before it.
    pub(crate) merged: &'a BTreeSet<SiteId>,
    /// The operations that may be executed.
    pub(crate) usable: &'a Usable<'a>,
}

/// Makes the plan.
pub(crate) fn plan(given: Saturated, tree: &SegmentTree, keys: &mut CheckIdentities, asked: Asked) -> Plan {
    let Saturated { cfg, universe, skeleton, view, .. } = given;
    let checks: Vec<_> = skeleton.statements.iter().map(|s| keys.of_statement(skeleton, s)).collect();
    let original: Vec<Vec<ClassId>> =
        skeleton.live.iter().map(|row| row.iter().map(|input| view.class_of(*input)).collect()).collect();
    let plan = Plan {
        fates: vec![StatementPlan::Drop; skeleton.statements.len()],
        live: original.clone(),
        known: vec![vec![]; keys.len()],
        accesses: keys.accesses(),
        removable: RemovalGroups::new(given),
        places: Accesses::new(keys),
        mergeable: BTreeMap::new(),
    };
    let desynced = vec![FxHashMap::default(); original.len()];
    let forced = vec![false; skeleton.statements.len()];
    let relied = forced.clone();
    let writes = Writes::new(given, keys, asked.usable);
    let mut planner = Planner {
        skeleton,
        view,
        universe,
        cfg,
        tree,
        writes,
        asked,
        checks,
        original,
        plan,
        desynced,
        forced,
        relied,
    };
    planner.checks();
    planner.writes();
    planner.facts();
    planner.plan
}

struct Planner<'a, 'k> {
    skeleton: &'a Skeleton,
    view: &'a EGraphView,
    universe: &'a Universe,
    cfg: &'a Cfg,
    tree: &'a SegmentTree<'a>,
    writes: Writes<'a, 'k>,
    asked: Asked<'a>,
    /// By site: key and trap code.
    checks: Vec<Option<(CheckIdentityId, Option<u32>)>>,
    original: Vec<Vec<ClassId>>,
    plan: Plan,
    /// By row: the planned state at the entry of blocks where it is not the original one.
    desynced: Vec<FxHashMap<BlockId, ClassId>>,
    /// Writes that an accepted look-ahead relies on to be dropped.
    forced: Vec<bool>,
    /// Writes that are executed in place of an equal check before them.
    relied: Vec<bool>,
}

impl Planner<'_, '_> {
    /// Decides checks, as if every write were executed.
    fn checks(&mut self) {
        for block in self.cfg.reverse_post_order() {
            for site in self.skeleton.sites(*block) {
                let (before, after) = (self.skeleton.segment_before(site), self.skeleton.segment_after(site));
                let mut fate = StatementPlan::Keep;
                match &self.skeleton.statement(site).kind {
                    StatementKind::Opaque { .. } => {}
                    StatementKind::Call { .. } => {
                        if self.plan.removable.may_go(site) {
                            fate = StatementPlan::Optional;
                        }
                    }
                    StatementKind::Write { .. } => {
                        if let Some((key, _)) = self.checks[site.index()] {
                            self.plan.learn(key, after, true);
                        }
                    }
                    StatementKind::Check { key, observes, .. } => {
                        let never = matches!(key, CheckKey::Condition { condition, .. }
                            if self.view.class(self.view.class_of(*condition)).constant == Some(0));
                        match self.checks[site.index()] {
                            _ if never => fate = StatementPlan::Drop,
                            Some((key, _)) if self.plan.is_known(self.tree, key, before, false) => {
                                fate = if *observes { StatementPlan::Drop } else { StatementPlan::Optional };
                            }
                            Some((key, _)) => {
                                fate = if *observes { StatementPlan::Keep } else { StatementPlan::Optional };
                                self.plan.learn(key, after, false);
                            }
                            None => {}
                        }
                    }
                }
                self.plan.fates[site.index()] = fate;
            }
        }
    }

    /// Decides writes by forward simulation.
    fn writes(&mut self) {
        for block in self.cfg.reverse_post_order() {
            let first = self.tree.first(*block);
            let mut now: Vec<ClassId> = (0..self.original.len())
                .map(|row| self.desynced[row].get(block).copied().unwrap_or(self.original[row][first.index()]))
                .collect();
            self.set_live(first, &now);
            for site in self.skeleton.sites(*block) {
                let after = self.skeleton.segment_after(site);
                match &self.skeleton.statement(site).kind {
                    StatementKind::Opaque { writes: true, .. }
                    | StatementKind::Call { writes: true, after: None, .. } => {
                        for (row, state) in now.iter_mut().enumerate() {
                            *state = self.original[row][after.index()];
                        }
                    }
                    StatementKind::Write { region, .. }
                    | StatementKind::Call { after: Some(StateAfter { region, .. }), .. } => {
                        let state = now.get_mut(region.index());
                        let pinned = self.is_pinned(site) || self.relied[site.index()];
                        let (Some(state), false) = (state, pinned) else {
                            if let Some(state) = now.get_mut(region.index()) {
                                *state = self.original[region.index()][after.index()];
                            }
                            continue;
                        };
                        if self.forced[site.index()] || self.droppable(site, *region, *state) {
                            self.plan.fates[site.index()] = StatementPlan::Drop;
                            self.forget(site, after);
                        } else {
                            *state = self.original[region.index()][after.index()];
                        }
                    }
                    StatementKind::Opaque { .. } | StatementKind::Call { .. } | StatementKind::Check { .. } => {}
                }
                self.set_live(after, &now);
            }
        }
    }

    /// Is a write executed whatever states say? So is a call that rules let go by its effects: it goes as they say.
    fn is_pinned(&self, site: SiteId) -> bool {
        self.asked.kept[site.index()] || self.plan.fates[site.index()] == StatementPlan::Optional
    }

    /// Forgets what a dropped write said, unless its front end says it.
    fn forget(&mut self, site: SiteId, after: SegmentId) {
        if let Some((key, Some(_))) = self.checks[site.index()]
            && let Some(known) = self.plan.known.get_mut(key.0 as usize)
        {
            known.retain(|k| k.from != after);
        }
    }

    fn set_live(&mut self, segment: SegmentId, now: &[ClassId]) {
        for (row, state) in self.plan.live.iter_mut().zip(now) {
            row[segment.index()] = *state;
        }
    }

    /// May this write go, with `planned` live before it? Notes what an accepted look-ahead relies on.
    fn droppable(&mut self, site: SiteId, region: RegionId, planned: ClassId) -> bool {
        let row = region.index();
        let (before, after) = (self.skeleton.segment_before(site), self.skeleton.segment_after(site));
        let idempotent = self.original[row][after.index()] == planned;
        let covered = self.cannot_trap(site, before, !idempotent);
        if idempotent && covered {
            return true;
        }
        let mut walk = Walk {
            row,
            planned,
            key: self.checks[site.index()].map(|c| c.0),
            pending: (!covered).then(|| self.checks[site.index()]).flatten(),
            pending_any: !covered,
            entered: IndexMap::new(),
            forced: vec![],
            relied: vec![],
            mergeable: vec![],
            steps: 0,
        };
        // An idempotent write whose check has to move needs no other write to set the state right.
        let right = self.walk(&mut walk, site, idempotent);
        if !walk.mergeable.is_empty() {
            self.plan.mergeable.entry(site).or_default().extend(walk.mergeable);
        }
        if !right {
            return false;
        }
        for (block, _) in &walk.entered {
            self.desynced[row].insert(*block, planned);
        }
        for site in walk.forced {
            self.forced[site.index()] = true;
        }
        for site in walk.relied {
            self.relied[site.index()] = true;
        }
        true
    }

    /// The write does not trap there, whether or not it is executed: so it is said, or an equal check dominates.
    fn cannot_trap(&self, site: SiteId, before: SegmentId, write: bool) -> bool {
        match self.checks[site.index()] {
            None | Some((_, None)) => true,
            Some((key, Some(_))) => self.plan.is_known(self.tree, key, before, write),
        }
    }

    /// States anew what is known, now that it is decided which writes are executed.
    fn facts(&mut self) {
        self.plan.known.iter_mut().for_each(Vec::clear);
        for block in self.cfg.reverse_post_order() {
            for site in self.skeleton.sites(*block) {
                let Some((key, code)) = self.checks[site.index()] else { continue };
                let after = self.skeleton.segment_after(site);
                let write = matches!(self.skeleton.statement(site).kind, StatementKind::Write { .. });
                // An access that cannot trap says so whether or not it is executed.
                let said = match &self.skeleton.statement(site).kind {
                    StatementKind::Write { .. } => code.is_none(),
                    StatementKind::Check { observes, .. } => !observes,
                    StatementKind::Opaque { .. } | StatementKind::Call { .. } => false,
                };
                // A fact that a dominator states already is nothing new.
                let stated = said || self.plan.fates[site.index()] == StatementPlan::Keep;
                if stated && !self.plan.is_known(self.tree, key, after, write) {
                    self.plan.learn(key, after, write);
                }
            }
        }
    }
}
