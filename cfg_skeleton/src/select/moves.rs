//! Statements that move: those that only allocate.
//!
//! Such a statement is observable only by the uses of its result, so it may be executed wherever the result is needed,
//! or not at all. Its result is one object, though, and objects have identities: for each time that the original
//! executes the statement, it is executed once at most. A node that is executed in its place is an alternative of its
//! own class like that of any value. It reads the state that stands for the site, and that state is *live* in all
//! segments in which the node may stand: those that the statement dominates in the same innermost loop.
//!
//! An operand that is no number may name something that is gone, or is another thing, after a write: a pointer, an
//! object of a library. A statement that takes one does not move past statements that write.
//!
//! **Invariant**: no path leads from one of the places to another, or round to itself, without passing the statement.
//! Places of one definition are made so ([`super::code_motion`]). A pass's change is undone where it breaks that, and
//! where it is broken nevertheless, the statement stays where the original has it.

use super::segments::SegmentTree;
use super::selection::{Def, Selection, StatementChoice};
use crate::Saturated;
use crate::egraph::{ClassId, Head, Node};
use crate::ir::BlockId;
use crate::skeleton::{SegmentId, SiteId, Statement, StatementKind};
use rewright_typeprop::{Repr, RuleId};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::{BTreeMap, BTreeSet};

/// The statements that move.
pub(crate) struct Moves<'a> {
    given: Saturated<'a>,
    /// By the state that stands for a site.
    sites: FxHashMap<ClassId, SiteId>,
    /// By site, of those that do not move past writes: blocks before which something may have been written since.
    written: FxHashMap<SiteId, FxHashSet<BlockId>>,
}

impl<'a> Moves<'a> {
    /// All that only allocate, without those that are `kept` in their places, by site.
    pub(crate) fn new(given: Saturated<'a>, kept: &[bool]) -> Self {
        let mut sites = allocations(given);
        sites.retain(|_, site| !kept[site.index()]);
        let mut moves = Moves { given, sites, written: FxHashMap::default() };
        let things = given.view.nodes.iter().filter(|node| moves.may_execute(node) && !takes_numbers(given, node));
        let held: BTreeSet<SiteId> = things.filter_map(|node| moves.of(*node.children.last()?)).collect();
        moves.written = held.into_iter().map(|site| (site, moves.written_since(site))).collect();
        moves
    }

    /// The blocks that control comes to from a statement, without passing it again, past one that may write.
    fn written_since(&self, site: SiteId) -> FxHashSet<BlockId> {
        let own = self.given.skeleton.statement(site).block;
        let (mut seen, mut written) = (FxHashSet::default(), FxHashSet::default());
        let mut work = vec![(own, false)];
        while let Some((block, before)) = work.pop() {
            let data = &self.given.skeleton.blocks[block.index()];
            let from = if block == own { site.0 } else { data.first_site };
            let sites = (from..data.first_site + data.sites).map(SiteId);
            let after = before || self.may_write(sites) || data.observes;
            for to in data.edges.iter().map(|edge| edge.target).filter(|to| *to != own) {
                let new = if after { written.insert(to) } else { seen.insert(to) };
                work.extend(new.then_some((to, after)));
            }
        }
        written
    }

    fn may_write(&self, mut sites: impl Iterator<Item = SiteId>) -> bool {
        sites.any(|site| match self.given.skeleton.statement(site).kind {
            StatementKind::Opaque { writes, .. } | StatementKind::Call { writes, .. } => writes,
            StatementKind::Write { .. } => true,
            StatementKind::Check { .. } => false,
        })
    }

    /// Are there statements that move?
    pub(crate) fn any(&self) -> bool {
        !self.sites.is_empty()
    }

    /// Does the statement at a site move?
    pub(crate) fn moves(&self, site: SiteId) -> bool {
        matches!(self.given.skeleton.statement(site).kind,
            StatementKind::Call { site: state, .. } if self.of(self.given.view.class_of(state)) == Some(site))
    }

    /// The statement that moves for which a state stands.
    pub(crate) fn of(&self, state: ClassId) -> Option<SiteId> {
        self.sites.get(&state).copied()
    }

    /// The states that stand for statements that move, each with the segment before its statement.
    pub(crate) fn states(&self) -> impl Iterator<Item = (ClassId, SegmentId)> + '_ {
        self.sites.iter().map(|(state, site)| (*state, self.given.skeleton.segment_before(*site)))
    }

    /// May a node be executed in place of a statement that moves?
    pub(crate) fn may_execute(&self, node: &Node<ClassId>) -> bool {
        let Head::Op(op) = node.head else { return false };
        let only_allocates = self.given.universe.ops.get(op).effects.only_allocates();
        only_allocates && node.children.last().is_some_and(|state| self.of(*state).is_some())
    }

    /// May the statement for which a state stands be executed in a segment?
    pub(crate) fn may_stand(&self, tree: &SegmentTree, state: ClassId, at: SegmentId) -> bool {
        let Some(site) = self.of(state) else { return false };
        let (from, to) = (self.given.skeleton.statement(site).block, tree.block(at));
        let cfg = self.given.cfg;
        tree.dominates(self.given.skeleton.segment_before(site), at)
            && (from == to || cfg.loop_of(from) == cfg.loop_of(to) && !cfg.is_irreducible(to))
            && self.written.get(&site).is_none_or(|written| {
                let first = if from == to { site } else { SiteId(self.given.skeleton.blocks[to.index()].first_site) };
                let behind = at.0 - tree.first(to).0 + self.given.skeleton.blocks[to.index()].first_site;
                !written.contains(&to) && !self.may_write((first.0..behind).map(SiteId))
            })
    }

    /// Statements that a selection executes more often than the original on some path.
    pub(crate) fn repeated(&self, tree: &SegmentTree, selection: &Selection) -> Vec<SiteId> {
        let moved = places(self.given, selection).into_iter().filter(|(site, _)| self.moves(*site));
        moved.filter(|(site, places)| self.meet(tree, *site, places)).map(|(site, _)| site).collect()
    }

    /// Is one of these places reached from one of them without passing the statement in between?
    pub(crate) fn meet(&self, tree: &SegmentTree, site: SiteId, places: &[SegmentId]) -> bool {
        let own = self.given.skeleton.statement(site).block;
        places.iter().enumerate().any(|(n, from)| {
            let others = || places.iter().enumerate().filter(|(m, _)| *m != n).map(|(_, to)| *to);
            let start = tree.block(*from);
            let mut passed = FxHashSet::default();
            let mut work = vec![start];
            while let Some(block) = work.pop() {
                let next = self.given.skeleton.blocks[block.index()].edges.iter().map(|edge| edge.target);
                work.extend(next.filter(|next| *next != own && passed.insert(*next)));
            }
            others().any(|to| tree.block(to) == start && to >= *from)
                || places.iter().any(|to| passed.contains(&tree.block(*to)))
        })
    }
}

/// Are all operands of a node numbers?
fn takes_numbers(given: Saturated, node: &Node<ClassId>) -> bool {
    let Head::Op(op) = node.head else { return false };
    let types = &given.universe.types;
    given.universe.ops.get(op).params.iter().all(|param| {
        let repr = types.find_instance(&param.ty, &node.types).and_then(|ty| types.repr(ty));
        matches!(repr, Some(Repr::Scalar(_) | Repr::Int128 | Repr::F16 | Repr::F128 | Repr::Lanes(..)))
    })
}

/// The statements that only allocate, by the states that stand for their sites.
fn allocations(given: Saturated) -> FxHashMap<ClassId, SiteId> {
    let state = |statement: &Statement| match statement.kind {
        StatementKind::Call { site, observes: false, writes: false, .. } => Some(given.view.class_of(site)),
        _ => None,
    };
    let statements = given.skeleton.statements.iter().enumerate();
    let reachable = statements.filter(|(_, statement)| given.cfg.is_reachable(statement.block));
    reachable.filter_map(|(n, statement)| Some((state(statement)?, SiteId(n as u32)))).collect()
}

/// Where statements that only allocate are executed, in no particular order; one that is not executed is not there.
pub(crate) fn places(given: Saturated, selection: &Selection) -> BTreeMap<SiteId, Vec<SegmentId>> {
    let sites = allocations(given);
    let mut places: BTreeMap<SiteId, Vec<SegmentId>> = BTreeMap::new();
    for ((at, _), def) in &selection.defs {
        let Def::Node(id) = def else { continue };
        let state = given.view.nodes.get(id.index()).and_then(|node| node.children.last());
        if let Some(site) = state.and_then(|state| sites.get(state)) {
            places.entry(*site).or_default().push(*at);
        }
    }
    places
}

/// Statements that only allocate and that a selection executes in other blocks than the original: each with in how many
/// places, none if nothing needs what it gives. Those that [`relaxed`] names are not among them.
pub fn moved(given: Saturated, selection: &Selection) -> Vec<(SiteId, usize)> {
    let Saturated { skeleton, view, .. } = given;
    let places = places(given, selection);
    let block = |at: &SegmentId| skeleton.segment_block[at.index()];
    let sites = (0..skeleton.statements.len() as u32).map(SiteId);
    let moved = sites.filter_map(|site| {
        let statement = skeleton.statement(site);
        let StatementKind::Call { site: state, observes: false, writes: false, .. } = &statement.kind else {
            return None;
        };
        let kept = selection.statements[site.index()] != StatementChoice::Drop;
        let licensed = || view.removable.iter().any(|row| row.site == view.class_of(*state));
        match places.get(&site) {
            _ if kept => None,
            None => (!licensed()).then_some((site, 0)),
            Some(places) => places.iter().any(|at| block(at) != statement.block).then_some((site, places.len())),
        }
    });
    moved.collect()
}

/// Statements that a selection leaves out because rules license it: what each is, and a rule that says so.
pub fn relaxed(given: Saturated, selection: &Selection) -> Vec<(SiteId, RuleId)> {
    let Saturated { skeleton, view, .. } = given;
    let places = places(given, selection);
    let mut out = vec![];
    for (i, (statement, choice)) in skeleton.statements.iter().zip(&selection.statements).enumerate() {
        if let (StatementKind::Call { site, .. }, StatementChoice::Drop) = (&statement.kind, choice)
            && !places.contains_key(&SiteId(i as u32))
            && let Some(row) = view.removable.iter().find(|row| row.site == view.class_of(*site))
        {
            out.push((SiteId(i as u32), row.rule));
        }
    }
    out
}
