//! Which blocks of a loop are copied, and where edges lead then.
//!
//! Loops are those of the normal form: a jump enters each, and a jump closes it. Known numbers of executions of blocks
//! are divided among their copies, so that a loop and its variant are weighted alike.

use super::Change;
use super::condition::steady_branches;
use super::copies::{Copies, Witness};
use crate::ir::trip_count::CountedLoops;
use crate::ir::{
    BlockId, Cfg, Definition, EdgeArg, EdgeId, Function, InstKind, LoopId, Terminator, Value, definitions,
};
use rewright_typeprop::{Model, Universe};
use std::collections::{BTreeMap, BTreeSet};

/// A loop that can be copied.
#[derive(Clone, Copy)]
pub(super) struct Copyable<'a> {
    pub(super) function: &'a Function,
    pub(super) cfg: &'a Cfg,
    pub(super) id: LoopId,
    pub(super) header: BlockId,
    /// The block that enters it.
    pub(super) before: BlockId,
    /// The block that closes it.
    pub(super) latch: BlockId,
}

/// Values by what defines them, and constants among them.
fn is_known_before(
    function: &Function,
    cfg: &Cfg,
    id: LoopId,
    definition: &[Option<Definition>],
    value: Value,
) -> bool {
    definition[value.index()].is_some_and(|d| {
        let is_constant = d.inst().is_some_and(|inst| matches!(function.inst(inst).kind, InstKind::Const(_)));
        is_constant || !cfg.loop_contains(id, d.block())
    })
}

impl<'a> Copyable<'a> {
    /// A loop in normal form, without anything of which a front end knows where it stands.
    pub(super) fn new(function: &'a Function, cfg: &'a Cfg, id: LoopId) -> Option<Self> {
        let header = cfg.natural_loop(id).header;
        let (closing, entering): (Vec<&EdgeId>, Vec<&EdgeId>) =
            cfg.predecessors(header).iter().partition(|edge| cfg.loop_contains(id, edge.from));
        let ([latch], [before]) = (&closing[..], &entering[..]) else { return None };
        let jumps = |from: BlockId| matches!(function.block(from).term, Terminator::Jump(_));
        let is_opaque = |b: &BlockId| matches!(function.block(*b).term, Terminator::Opaque { .. });
        let blocks = cfg.loop_blocks(id);
        let is_simple = jumps(before.from) && jumps(latch.from) && !blocks.iter().any(is_opaque);
        let found = Copyable { function, cfg, id, header, before: before.from, latch: latch.from };
        (is_simple && !cfg.is_irreducible(header)).then_some(found)
    }

    pub(super) fn blocks(&self) -> &'a [BlockId] {
        self.cfg.loop_blocks(self.id)
    }

    /// Does a block enter it or close it?
    pub(super) fn ends(&self, block: BlockId) -> bool {
        block == self.before || block == self.latch
    }

    /// The block that the header goes on to, if it tests whether the loop goes on, before anything else of it. Where it goes
    /// back to itself, at once or by a latch that does nothing, its test is the last.
    pub(super) fn tested_first(&self) -> Option<BlockId> {
        let Terminator::Branch { then, els, .. } = &self.function.block(self.header).term else { return None };
        let inside = |block: BlockId| self.cfg.loop_contains(self.id, block);
        let on = match (inside(then.target), inside(els.target)) {
            (true, false) => then.target,
            (false, true) => els.target,
            _ => return None,
        };
        let does_nothing = on == self.latch && self.function.block(on).insts.is_empty();
        (on != self.header && !does_nothing).then_some(on)
    }

    /// Is something known of the first iteration alone, or of all others? A parameter of the header that all others begin
    /// with alike, or a test whether one still is what it began with.
    pub(super) fn first_differs(&self, universe: &Universe) -> bool {
        let definition = definitions(self.function);
        let is_known = |value| is_known_before(self.function, self.cfg, self.id, &definition, value);
        let Terminator::Jump(edge) = &self.function.block(self.latch).term else { return false };
        let is_set_once = |arg: &EdgeArg| matches!(arg, EdgeArg::Value(value) if is_known(*value));
        let tests_first = |block: &BlockId| {
            let Terminator::Branch { cond, .. } = self.function.block(*block).term else { return false };
            let Some(inst) = definition[cond.index()].and_then(Definition::inst) else { return false };
            let InstKind::Op { op, .. } = self.function.inst(inst).kind else { return false };
            let is_equality = matches!(universe.ops.get(op).model, Some(Model::Eq | Model::Ne));
            let args = &self.function.inst(inst).args;
            is_equality && args.iter().any(|arg| is_known(*arg)) && args.iter().any(|arg| self.is_param(*arg))
        };
        let inner = self.blocks().iter().filter(|block| **block != self.header);
        edge.args.iter().any(is_set_once) || inner.into_iter().any(tests_first)
    }

    fn is_param(&self, value: Value) -> bool {
        self.function.block(self.header).params.contains(&value)
    }

    /// Iterations each time that it is entered, where that is known. A test before the first one does not count.
    pub(super) fn trips(&self, universe: &Universe) -> Option<u64> {
        let l = self.cfg.natural_loop(self.id);
        CountedLoops::new(self.function, self.cfg, universe).trips(self.id, l)
    }

    pub(super) fn assumed_trips(&self) -> u64 {
        let [header, before] = [self.header, self.before].map(|block| self.cfg.frequency(block));
        (header / before.max(1)).max(1)
    }

    /// The loop as a change makes it. None where an edge that must stay would have to carry more.
    pub(super) fn changed(&self, change: Change, universe: &Universe) -> Option<(Function, Witness)> {
        let mut copies = Copies::new(self.function);
        match change {
            Change::TestLast => self.test_last(&mut copies)?,
            Change::Ahead(times) => self.ahead(&mut copies, times, self.assumed_trips()),
            Change::Instead(times) => self.ahead(&mut copies, times, times),
            Change::Unrolled(times) => self.unrolled(&mut copies, times),
            Change::Together(times) => self.together(&mut copies, times, universe)?,
            Change::Divided(branch) => self.divided(&mut copies, branch, universe)?,
            // These are no copies of a loop.
            Change::Fused(_) | Change::Interchanged(_) | Change::Copied(_) => return None,
        }
        copies.finish()
    }

    /// The first test is made ahead of the loop. Further ones stand at its end.
    fn test_last(&self, copies: &mut Copies<'_>) -> Option<()> {
        let body = self.tested_first()?;
        let first = copies.copy(&[self.header])[&self.header];
        copies.redirect(self.before, self.header, first);
        let executions = Some(self.cfg.frequency(self.before));
        let data = self.function.block(self.header);
        let (trips, must_progress) = (data.counts.trips, data.must_progress);
        let data = copies.block_mut(first);
        (data.counts.trips, data.counts.executions, data.must_progress) = (None, executions, false);
        let data = copies.block_mut(self.header);
        (data.counts.trips, data.must_progress) = (None, false);
        // The block that it goes on to is its header now.
        let data = copies.block_mut(body);
        (data.counts.trips, data.must_progress) = (trips, must_progress);
        Some(())
    }

    /// Some iterations come ahead of the loop, each of which goes on to the next: `times` of `trips`.
    fn ahead(&self, copies: &mut Copies<'_>, times: u64, trips: u64) {
        let mut entering = self.before;
        for _ in 0..times {
            let iteration = copies.copy(self.blocks());
            copies.redirect(entering, self.header, iteration[&self.header]);
            self.follow(copies, &iteration, (1, trips));
            entering = iteration[&self.latch];
            copies.redirect(entering, iteration[&self.header], self.header);
        }
        let rest = (trips.saturating_sub(times), trips);
        self.blocks().iter().for_each(|block| self.share(copies, *block, *block, rest));
    }

    /// Several iterations are one.
    fn unrolled(&self, copies: &mut Copies<'_>, times: u64) {
        let mut latch = self.latch;
        for _ in 1..times {
            let iteration = copies.copy(self.blocks());
            copies.redirect(latch, self.header, iteration[&self.header]);
            self.follow(copies, &iteration, (1, times));
            latch = iteration[&self.latch];
            copies.redirect(latch, iteration[&self.header], self.header);
        }
        self.blocks().iter().for_each(|block| self.share(copies, *block, *block, (1, times)));
    }

    /// One loop for each way that a branch goes which always goes the same way.
    fn divided(&self, copies: &mut Copies<'_>, branch: BlockId, universe: &Universe) -> Option<()> {
        let found = steady_branches(self.function, self.cfg, universe, self.id);
        let (_, condition) = found.into_iter().find(|(block, _)| *block == branch)?;
        let other = copies.copy(self.blocks());
        let choice = copies.choice(self.header, self.before);
        let cond = copies.again(choice, condition.value, &condition.expression);
        copies.choose(choice, cond, [self.header, other[&self.header]]);
        copies.redirect(self.before, self.header, choice);
        // Blocks that only one way leads to run as often as before, the others in either copy half the time.
        let reached = [0, 1].map(|slot| self.reached(branch, slot));
        for block in self.blocks() {
            let whole = self.cfg.frequency(*block);
            let [here, there] = [0, 1].map(|way: usize| match reached[1 - way].contains(block) {
                true => whole.div_ceil(2),
                false => whole,
            });
            copies.block_mut(*block).counts.executions = Some(here);
            copies.block_mut(other[block]).counts.executions = Some(there);
        }
        Some(())
    }

    /// Blocks of an iteration in which a branch goes one way.
    fn reached(&self, branch: BlockId, slot: usize) -> BTreeSet<BlockId> {
        let mut reached = BTreeSet::from([self.header]);
        let mut work = vec![self.header];
        while let Some(block) = work.pop() {
            let edges = self.function.block(block).term.edges();
            let taken = edges.iter().enumerate().filter(|(n, _)| block != branch || *n == slot);
            let targets = taken.map(|(_, edge)| edge.target).filter(|target| self.cfg.loop_contains(self.id, *target));
            for target in targets {
                if reached.insert(target) {
                    work.push(target);
                }
            }
        }
        reached
    }

    /// An iteration whose header is not that of a loop. It runs `share.0` times out of `share.1`.
    pub(super) fn follow(&self, copies: &mut Copies<'_>, iteration: &BTreeMap<BlockId, BlockId>, share: (u64, u64)) {
        iteration.iter().for_each(|(of, copy)| self.share(copies, *of, *copy, share));
        let data = copies.block_mut(iteration[&self.header]);
        (data.counts.trips, data.must_progress) = (None, false);
    }

    /// A copy of a block runs `share` times out of `whole`.
    pub(super) fn share(&self, copies: &mut Copies<'_>, of: BlockId, copy: BlockId, (share, whole): (u64, u64)) {
        let executions = self.cfg.frequency(of).saturating_mul(share) / whole;
        copies.block_mut(copy).counts.executions = Some(executions.max(1));
    }
}
