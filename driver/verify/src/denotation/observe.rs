//! Follows a run: what leaves and tokens are at each moment, and what opaque statements do.

use super::evaluate::{Denotation, Environment, Found, Unknown, mix, unknown, unknown_result};
use super::invariance::Steady;
use super::{DenotationReport, Harness, Witness};
use rewright_cfg_skeleton::ir::interp::{Host, InterpreterState, Memory, Outcome, Point};
use rewright_cfg_skeleton::ir::{BlockId, Inst, InstKind, OpaqueEffects, Terminator};
use rewright_cfg_skeleton::skeleton::SegmentId;
use rewright_typeprop::{Model, Scalar};
use smallvec::SmallVec;
use std::rc::Rc;

/// The host of a harness's run.
pub(super) struct Recorder<'h, 'a> {
    harness: &'h Harness<'a>,
    report: &'h mut DenotationReport,
    /// Of what opaque statements do.
    random: u64,
    max_visits: u32,
    visits: Vec<u32>,
    env: Environment,
    /// By row: the segment's state when it was last entered.
    last: Vec<Option<(SegmentId, Rc<Memory>)>>,
    steady: Steady,
    /// By node that says what a loop carries or is left with: that, since the loop's header was last entered or left.
    registers: Vec<Option<i64>>,
    /// The block that was executed last, and what classes were at its end, if that was looked at.
    left: Option<(BlockId, Option<Found>)>,
}

impl<'h, 'a> Recorder<'h, 'a> {
    pub(super) fn new(harness: &'h Harness<'a>, seed: u64, max_visits: u32, report: &'h mut DenotationReport) -> Self {
        let graph = &harness.graph;
        let env = Environment {
            leaves: vec![None; graph.leaf_count],
            tokens: vec![None; graph.token_home.len()],
            registers: vec![None; graph.carried.len()],
            known: vec![],
            touched: vec![vec![]; harness.function.regions.len()],
        };
        let last = vec![None; graph.skeleton.live.len()];
        let visits = vec![0; harness.function.blocks.len()];
        let registers = vec![None; graph.carried.len()];
        let steady = Steady::default();
        Recorder { harness, report, random: seed, max_visits, visits, env, last, steady, registers, left: None }
    }

    fn draw(&mut self) -> u64 {
        self.random = mix(self.random, 1);
        self.random
    }

    fn scalar(&self, value: rewright_cfg_skeleton::ir::Value) -> Option<Scalar> {
        self.harness.universe.types.lane(self.harness.function.ty(value))
    }

    /// The segment at a point: the one after all statements that came from instructions before it.
    fn segment(&self, at: Point) -> SegmentId {
        let skeleton = self.harness.graph.skeleton;
        let insts = &self.harness.function.block(at.block).insts[..at.executed];
        let sites = skeleton.sites(at.block);
        let done = sites.filter(|s| insts.contains(&skeleton.statement(*s).inst)).count();
        SegmentId(skeleton.blocks[at.block.index()].first_segment + done as u32)
    }

    fn record_states(&mut self, at: Point, memory: &Memory) {
        let graph = &self.harness.graph;
        if graph.skeleton.live.is_empty() {
            return;
        }
        let segment = self.segment(at);
        let mut shared: Option<Rc<Memory>> = None;
        for (row, input) in graph.live(segment) {
            let snapshot = shared.get_or_insert_with(|| Rc::new(memory.clone())).clone();
            if let Some(token) = graph.token(input) {
                self.env.tokens[token] = Some(snapshot.clone());
            }
            self.last[row] = Some((segment, snapshot));
        }
    }

    /// Which bytes belong to which region, as far as accesses tell.
    fn record_access(&mut self, inst: &Inst, state: &InterpreterState<'_>) {
        let InstKind::Op { op, access: Some(access), .. } = &inst.kind else { return };
        let model = self.harness.universe.ops.get(*op).model.and_then(Model::memory);
        let (Some(model), [address, .., offset]) = (model, inst.args.as_slice()) else { return };
        let moved = if model.store { inst.args.get(1) } else { inst.results.first() };
        let bits = model.bits.or(moved.and_then(|v| self.scalar(*v)).map(Scalar::bits)).unwrap_or(64);
        let word = |v: &rewright_cfg_skeleton::ir::Value| state.values[v.index()];
        let (Some(address), Some(offset)) = (word(address), word(offset)) else { return };
        let start = (address as u64).wrapping_add(offset as u64);
        if let Some(touched) = self.env.touched.get_mut(access.region.index()) {
            for byte in (0..u64::from(bits / 8)).map(|i| start.wrapping_add(i)) {
                if !touched.contains(&byte) {
                    touched.push(byte);
                }
            }
        }
    }

    /// Steps what loops carry and are left with, as a block is entered.
    fn enter(&mut self, block: BlockId) {
        let Harness { graph, cfg, .. } = self.harness;
        let Some((from, found)) = &self.left else { return };
        // Where nothing was evaluated, nothing is known.
        let unknown = vec![None; graph.classes()];
        let found = found.as_ref().unwrap_or(&unknown);
        for (carried, register) in graph.carried.iter().zip(&mut self.registers) {
            if let Some(next) = graph.step(carried, (*from, block), cfg, *register, found) {
                *register = next;
            }
        }
    }

    /// Evaluates the graph as it is now; gives what classes are.
    fn evaluate(&mut self, at: Point, state: &InterpreterState<'_>) -> Found {
        let (graph, cfg) = (&self.harness.graph, &self.harness.cfg);
        let mut env = std::mem::take(&mut self.env);
        // Outside the blocks that its definition dominates, a value has none (or that of an earlier visit).
        let here = |block| cfg.dominates(block, at.block);
        for (leaf, value, home) in &graph.leaves {
            env.leaves[*leaf] = state.values[value.index()].filter(|_| here(*home));
        }
        let tokens = env.tokens.clone();
        for (token, home) in env.tokens.iter_mut().zip(&graph.token_home) {
            if !home.is_some_and(here) {
                *token = None;
            }
        }
        for ((carried, register), now) in graph.carried.iter().zip(&mut env.registers).zip(&self.registers) {
            *register = now.filter(|_| here(carried.of.header));
        }
        env.known.clear();
        for (class, value, home) in &graph.values {
            if let Some(n) = state.values[value.index()].filter(|_| here(*home)) {
                env.known.push((*class, Witness::Value(*value), Denotation::Word(n)));
            }
        }
        let regions = self.harness.function.regions.len();
        for (row, input) in graph.live(self.segment(at)) {
            if let Some((_, memory)) = &self.last[row]
                && row < regions
            {
                env.known.push((graph.class_of(input), Witness::Memory, Denotation::State(memory.clone())));
            }
        }
        let found = graph.evaluate(&env, at.block, self.report);
        self.harness.ranges.compare(at.block, &found, self.report);
        env.tokens = tokens;
        self.env = env;
        found
    }
}

impl Host for Recorder<'_, '_> {
    fn execute(&mut self, inst: &Inst, args: &[i64], memory: &mut Memory) -> Result<SmallVec<[i64; 2]>, Outcome> {
        let operands = || inst.args.iter().zip(args).map(|(v, n)| (self.scalar(*v), *n));
        let hash = match &inst.kind {
            InstKind::Opaque { payload, effects: OpaqueEffects::Pure } => {
                unknown(Unknown::Opaque(*payload), operands())
            }
            InstKind::Op { op, .. } if self.harness.universe.ops.get(*op).effects.is_pure() => {
                unknown(Unknown::Op(*op), operands())
            }
            InstKind::Opaque { effects: OpaqueEffects::Pinned | OpaqueEffects::Observes, .. } => self.draw(),
            _ => {
                let hash = self.draw();
                scramble(memory, hash);
                hash
            }
        };
        Ok((0..).zip(&inst.results).map(|(i, v)| unknown_result(hash, i, self.scalar(*v))).collect())
    }

    fn leave(&mut self, term: &Terminator, _: &[i64], memory: &mut Memory) -> Result<(usize, Vec<i64>), Outcome> {
        let edges = term.edges();
        if edges.is_empty() {
            return Err(Outcome::Unsupported("an opaque terminator that leaves the function".into()));
        }
        let hash = self.draw();
        scramble(memory, hash);
        let numbers = edges.iter().flat_map(|e| &e.args).filter_map(|a| match a {
            rewright_cfg_skeleton::ir::EdgeArg::Terminator(n) => Some(*n),
            rewright_cfg_skeleton::ir::EdgeArg::Value(_) => None,
        });
        let count = numbers.max().map_or(0, |n| u64::from(n) + 1).min(64);
        Ok((hash as usize % edges.len(), (0..count).map(|i| mix(hash, i) as i64).collect()))
    }

    fn observe(&mut self, at: Point, state: InterpreterState<'_>) {
        let block = self.harness.function.block(at.block);
        if at.executed > 0 {
            let inst = self.harness.function.inst(block.insts[at.executed - 1]);
            self.record_access(inst, &state);
        }
        self.record_states(at, state.memory);
        let Harness { claims, cfg, .. } = self.harness;
        claims.enter(&mut self.steady, cfg, at.block);
        if at.executed == 0 {
            self.enter(at.block);
        }
        if at.executed < block.insts.len() {
            return;
        }
        let mut found = None;
        if self.visits[at.block.index()] < self.max_visits {
            self.visits[at.block.index()] += 1;
            claims.compare(&mut self.steady, at.block, state.values, self.report);
            found = Some(self.evaluate(at, &state));
        }
        self.left = Some((at.block, found));
    }
}

/// Changes some bytes.
fn scramble(memory: &mut Memory, hash: u64) {
    let areas: Vec<(u64, u64)> = memory.areas().iter().map(|a| (a.base, a.bytes.len() as u64)).collect();
    for (i, (base, len)) in areas.into_iter().enumerate().filter(|(_, (_, len))| *len > 0) {
        let place = mix(hash, i as u64);
        for at in 0..len.min(4) {
            memory.store(base + mix(place, at) % len, 1, mix(place, at + 8));
        }
    }
}
