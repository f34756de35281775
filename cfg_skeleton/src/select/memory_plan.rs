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
//!   operands in the planned state);
//!
//! and its own check is covered: it cannot trap, an equal check dominates it (for an idempotent write, a read of
//! the same bytes will do), or the next thing that is executed, whichever way control goes, is an equal check with the
//! same trap code (and nothing between them loops, or is said not to trap: that is said only of executions that have
//! passed the check).
//!
//! Dropping a write takes its state away from the values that read it; [`super::construct`] finds out, and the
//! plan is made again with that write kept.

use super::calls::RemovalGroups;
use super::check_identity::{CheckIdentities, CheckIdentityId, Speculation};
use super::segments::SegmentTree;
use crate::Saturated;
use crate::egraph::{ClassId, EGraphView, Head, InputId, Node};
use crate::ir::cfg::Cfg;
use crate::ir::{BlockId, RegionId};
use crate::skeleton::{CheckKey, SegmentId, SiteId, Skeleton, StateAfter, StatementKind};
use indexmap::IndexMap;
use rewright_typeprop::{Op, OpId, Universe};
use rustc_hash::FxHashMap;

/// How many blocks and statements one look-ahead may visit. Dead stores are overwritten soon.
const LOOK_AHEAD: u32 = 256;

/// What becomes of a statement.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum StatementPlan {
    /// Executed.
    Keep,
    /// A check that observes nothing, or a statement that a rule licenses to go: executed iff somebody wants its
    /// result.
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
    /// Which statements at sites may go.
    pub(crate) removable: RemovalGroups,
}

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

    fn learn(&mut self, key: CheckIdentityId, from: SegmentId, write: bool) {
        if self.known.len() <= key.0 as usize {
            self.known.resize_with(key.0 as usize + 1, Vec::new);
        }
        self.known[key.0 as usize].push(AvailableCheck { from, write });
    }
}

/// Makes the plan; writes in `kept` are executed.
pub(crate) fn plan(given: Saturated, tree: &SegmentTree, keys: &mut CheckIdentities, kept: &[bool]) -> Plan {
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
    };
    let desynced = vec![FxHashMap::default(); original.len()];
    let forced = vec![false; skeleton.statements.len()];
    let relied = forced.clone();
    let mut planner =
        Planner { skeleton, view, universe, cfg, tree, kept, checks, original, plan, desynced, forced, relied };
    planner.checks();
    planner.writes();
    planner.facts();
    planner.plan
}

struct Planner<'a> {
    skeleton: &'a Skeleton,
    view: &'a EGraphView,
    universe: &'a Universe,
    cfg: &'a Cfg,
    tree: &'a SegmentTree<'a>,
    /// By site: writes that are not to be dropped.
    kept: &'a [bool],
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

impl Planner<'_> {
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
        self.kept[site.index()] || self.plan.fates[site.index()] == StatementPlan::Optional
    }

    /// What a dropped write said is not known any more, unless its front end says it.
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
            steps: 0,
        };
        // An idempotent write whose check has to move needs no other write to set the state right.
        if !self.walk(&mut walk, site, idempotent) {
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

    /// Follows all paths from a dropped write until the planned state is right again.
    fn walk(&self, walk: &mut Walk, site: SiteId, synced: bool) -> bool {
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
                // Only the check is still to be found. Who goes round until the steps are used up does not come to it.
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
        let holds = |class: ClassId, own: &Node<ClassId>| {
            let mut nodes = self.view.class(class).nodes.iter().map(|n| self.view.node(*n));
            nodes.any(|n| n.children.last() == Some(&planned) && n.is_same_but_for_state(own))
        };
        let in_view = |input: InputId| {
            let node = &self.skeleton.input.nodes[input.index()];
            let children = node.children.iter().map(|child| self.view.class_of(*child)).collect();
            Node { head: node.head, types: node.types.clone(), children }
        };
        let op = |node: &Node<ClassId>| match node.head {
            Head::Op(op) => Some(self.universe.ops.get(op)),
            _ => None,
        };
        match &self.skeleton.statement(site).kind {
            StatementKind::Write { out, .. } => {
                let own = in_view(*out);
                op(&own).is_some_and(Op::takes_state) && holds(self.view.class_of(*out), &own)
            }
            StatementKind::Call { node, after: Some(after), .. } => {
                let own = in_view(*node);
                let Some(parts) = op(&own).and_then(|op| op.parts) else { return false };
                let part = |op: OpId| Node { head: Head::Op(op), ..own.clone() };
                holds(self.view.class_of(after.out), &part(parts.state))
                    && holds(self.view.class_of(*node), &part(parts.value))
            }
            _ => false,
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
                // What a dominator says already is nothing new.
                let stated = said || self.plan.fates[site.index()] == StatementPlan::Keep;
                if stated && !self.plan.is_known(self.tree, key, after, write) {
                    self.plan.learn(key, after, write);
                }
            }
        }
    }
}

/// A look-ahead from one dropped write.
struct Walk {
    row: usize,
    planned: ClassId,
    /// What the dropped write checks.
    key: Option<CheckIdentityId>,
    /// Its check, while nothing covers it.
    pending: Option<(CheckIdentityId, Option<u32>)>,
    pending_any: bool,
    /// Blocks entered in the planned state, and over how many edges.
    entered: IndexMap<BlockId, u32>,
    forced: Vec<SiteId>,
    /// The writes that take over the check, one on each way.
    relied: Vec<SiteId>,
    steps: u32,
}

enum Step {
    /// Nothing happens here.
    On,
    /// From here on the planned state is the original one.
    Right,
    /// The region is observed, or too much happens.
    Observed,
}
