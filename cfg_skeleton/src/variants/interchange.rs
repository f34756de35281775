//! Two loops, one in the other, the other way round: the inner one's iterations are those of the outer one.
//!
//! Only how the blocks are connected then is decided here. Whether that does the same, [`super::interchanged`] decides.

use super::fusion::{Single, Tested};
use crate::ir::operations::Operations;
use crate::ir::{BlockId, Cfg, Edge, EdgeArg, Function, InstId, LoopId, Terminator, Value};
use rewright_typeprop::{Model, Universe};
use std::collections::{BTreeMap, BTreeSet};

/// On which iterations a value of a nest depends: of the outer loop, of the inner one; and on anything else that changes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Dependence {
    pub(super) outer: bool,
    pub(super) inner: bool,
    pub(super) other: bool,
}

impl Dependence {
    const OUTER: Dependence = Dependence { outer: true, inner: false, other: false };
    const INNER: Dependence = Dependence { outer: false, inner: true, other: false };
    const OTHER: Dependence = Dependence { outer: false, inner: false, other: true };

    fn and(self, other: Dependence) -> Dependence {
        Dependence {
            outer: self.outer || other.outer,
            inner: self.inner || other.inner,
            other: self.other || other.other,
        }
    }

    /// Is it the same in all iterations of the nest?
    pub(super) fn is_steady(self) -> bool {
        self == Dependence::default()
    }

    /// Does the iteration of the outer loop alone decide?
    pub(super) fn is_of_outer(self) -> bool {
        !self.inner && !self.other
    }

    /// Does the iteration of the inner loop alone decide?
    pub(super) fn is_of_inner(self) -> bool {
        !self.outer && !self.other
    }
}

/// A result that both loops carry: each iteration adds to it, multiplies it or the like, and nothing else sees it.
#[derive(Clone, Debug)]
pub(super) struct Reduction {
    /// The parameter of the outer header, and its position.
    pub(super) outer: (Value, usize),
    /// The parameter of the inner header, and its position.
    pub(super) inner: (Value, usize),
    /// Its value at the end of an iteration, and the values from its beginning to there.
    pub(super) next: Value,
    pub(super) partial: Vec<Value>,
    /// The parameter behind the inner loop.
    pub(super) left: Value,
}

/// A loop with nothing but values around the one in it.
pub(super) struct Nest<'a> {
    pub(super) outer: Single<'a>,
    pub(super) inner: Single<'a>,
    pub(super) tested: Tested,
    pub(super) reductions: Vec<Reduction>,
    /// Of values that are defined in it.
    dependence: BTreeMap<Value, Dependence>,
    universe: &'a Universe,
}

impl<'a> Nest<'a> {
    /// A loop and the only one in it, if all iterations of both do the same whatever the order; but for what they
    /// access, and how often they are made.
    pub(super) fn new(function: &'a Function, cfg: &'a Cfg, universe: &'a Universe, id: LoopId) -> Option<Self> {
        let mut inside = cfg.loops().filter(|(_, l)| l.parent == Some(id));
        let (Some((within, _)), None) = (inside.next(), inside.next()) else { return None };
        let [outer, inner] = [id, within].map(|id| Single::new(function, cfg, id));
        let (outer, inner) = (outer?, inner?);
        let tested = Tested::of(&[&outer, &inner], universe)?;
        let around = || outer.of.blocks().iter().filter(|block| !cfg.loop_contains(within, **block));
        let is_plain = |block: &BlockId| {
            let data = function.block(*block);
            let is_linear = matches!(data.term, Terminator::Jump(_)) || *block == outer.test;
            let may_carry = *block == outer.of.header || *block == inner.leaves.target;
            is_linear && (may_carry || data.params.is_empty()) && outer.is_silent(*block, universe)
        };
        if !around().all(is_plain) || ![outer.stays, inner.stays].iter().all(|edge| edge.args.is_empty()) {
            return None;
        }
        let mut nest = Nest { outer, inner, tested, reductions: vec![], dependence: BTreeMap::new(), universe };
        nest.reductions = nest.reductions()?;
        nest.dependence = nest.dependences();
        Some(nest)
    }

    pub(super) fn function(&self) -> &'a Function {
        self.outer.of.function
    }

    pub(super) fn of(&self, value: Value) -> Dependence {
        self.dependence.get(&value).copied().unwrap_or_default()
    }

    /// The blocks around the inner loop.
    fn around(&self) -> impl Iterator<Item = BlockId> {
        let (cfg, inner) = (self.outer.of.cfg, self.inner.of.id);
        self.outer.of.blocks().iter().copied().filter(move |block| !cfg.loop_contains(inner, *block))
    }

    fn carried(&self, from: BlockId) -> &'a [EdgeArg] {
        match &self.function().block(from).term {
            Terminator::Jump(edge) => &edge.args,
            _ => &[],
        }
    }

    /// Parameters of a header that are no reductions, and their positions.
    pub(super) fn counters(&self, header: BlockId) -> Vec<(usize, Value)> {
        let is_result = |param: Value| self.reductions.iter().any(|r| r.outer.0 == param || r.inner.0 == param);
        let params = self.function().block(header).params.iter().copied().enumerate();
        params.filter(|(_, param)| !is_result(*param)).collect()
    }

    /// The reductions of both loops; none if a parameter behind the inner one is something else.
    fn reductions(&self) -> Option<Vec<Reduction>> {
        let f = self.function();
        let operations = Operations::new(f, self.universe);
        let header = &f.block(self.inner.of.header).params;
        let behind = f.block(self.inner.leaves.target).params.iter();
        let reduction = |(left, arg): (&Value, &EdgeArg)| {
            let position = |args: &[EdgeArg], value: Value| args.iter().position(|arg| *arg == EdgeArg::Value(value));
            let outer = position(self.carried(self.outer.of.latch), *left)?;
            let param = *f.block(self.outer.of.header).params.get(outer)?;
            let inner = position(self.carried(self.inner.of.before), param)?;
            let EdgeArg::Value(next) = *self.carried(self.inner.of.latch).get(inner)? else { return None };
            let leaves = if self.tested == Tested::First { header[inner] } else { next };
            let partial = self.partial(&operations, header[inner], next)?;
            (*arg == EdgeArg::Value(leaves)).then_some(Reduction {
                outer: (param, outer),
                inner: (header[inner], inner),
                next,
                partial,
                left: *left,
            })
        };
        let found: Vec<Reduction> = behind.zip(&self.inner.leaves.args).map(reduction).collect::<Option<_>>()?;
        found.iter().all(|reduction| self.is_used_as_one(reduction)).then_some(found)
    }

    /// The values from `first` to `next`, both included, if operations compute them whose order is free.
    fn partial(&self, operations: &Operations<'_>, first: Value, next: Value) -> Option<Vec<Value>> {
        let is_int = |value: Value| self.universe.types.scalar(self.function().ty(value)).is_some_and(|s| s.is_int());
        let family = |model: Model| match model {
            Model::Add | Model::Sub => Some(Model::Add),
            Model::Mul | Model::And | Model::Or | Model::Xor => Some(model),
            Model::Umin | Model::Umax | Model::Smin | Model::Smax => Some(model),
            _ => None,
        };
        let users = |value: Value| {
            let insts = self.inner.of.blocks().iter().flat_map(|block| &self.function().block(*block).insts);
            insts.map(|id| self.function().inst(*id)).filter(move |inst| inst.args.contains(&value)).collect::<Vec<_>>()
        };
        let (mut partial, mut all) = (vec![first], None);
        while *partial.last()? != next {
            let at = *partial.last()?;
            let [inst] = users(at)[..] else { return None };
            let [result] = inst.results[..] else { return None };
            let (model, [x, y]) = operations.binary(result)?;
            let kind = family(model)?;
            let is_operand = (x == at) != (y == at) && (model != Model::Sub || x == at);
            if !is_operand || !is_int(at) || *all.get_or_insert(kind) != kind || partial.contains(&result) {
                return None;
            }
            partial.push(result);
        }
        Some(partial)
    }

    /// Does nothing else use a reduction?
    fn is_used_as_one(&self, reduction: &Reduction) -> bool {
        let f = self.function();
        let mut carried: BTreeMap<Value, usize> = BTreeMap::new();
        let mut expect = |value: Value, times: usize| *carried.entry(value).or_default() += times;
        expect(reduction.outer.0, 1);
        reduction.partial.iter().for_each(|value| expect(*value, 1));
        expect(reduction.left, 1);
        // What the inner loop leaves with is one of these, and what the outer one leaves with another.
        let (inner, outer) = match self.tested {
            Tested::First => (reduction.inner.0, reduction.outer.0),
            Tested::Last => (reduction.next, reduction.left),
        };
        let exits = self.outer.leaves.args.iter().filter(|arg| **arg == EdgeArg::Value(outer)).count();
        expect(inner, 1);
        expect(outer, exits);
        let mut used: BTreeMap<Value, usize> = BTreeMap::new();
        for block in self.outer.of.blocks() {
            crate::ir::uses::uses(f, *block, |value, _| *used.entry(value).or_default() += 1);
        }
        carried.iter().all(|(value, times)| used.get(value).copied().unwrap_or_default() == *times)
    }

    /// On what values of the nest depend.
    fn dependences(&self) -> BTreeMap<Value, Dependence> {
        let f = self.function();
        let cfg = self.outer.of.cfg;
        let mut found = BTreeMap::new();
        for (header, dependence) in
            [(self.outer.of.header, Dependence::OUTER), (self.inner.of.header, Dependence::INNER)]
        {
            found.extend(self.counters(header).into_iter().map(|(_, param)| (param, dependence)));
        }
        let blocks = cfg.reverse_post_order().iter().filter(|block| cfg.loop_contains(self.outer.of.id, **block));
        for block in blocks {
            let data = f.block(*block);
            data.params.iter().for_each(|param| _ = found.entry(*param).or_insert(Dependence::OTHER));
            for inst in data.insts.iter().map(|id| f.inst(*id)) {
                let of = |arg: &Value| found.get(arg).copied().unwrap_or_default();
                let dependence = match inst.is_silent(self.universe) {
                    true => inst.args.iter().map(of).fold(Dependence::default(), Dependence::and),
                    false => Dependence::OTHER,
                };
                found.extend(inst.results.iter().map(|result| (*result, dependence)));
            }
        }
        found
    }

    /// The nest, the other way round.
    pub(super) fn interchanged(&self) -> Function {
        let f = self.function();
        let mut made = f.clone();
        let (outer, inner) = (&self.outer.of, &self.inner.of);
        self.place_values(&mut made);
        let results = |of: fn(&Reduction) -> Value| self.reductions.iter().map(of).collect::<Vec<_>>();
        let params = |header: BlockId, results: Vec<Value>| {
            let counters = self.counters(header).into_iter().map(|(_, param)| param);
            counters.chain(results).collect::<Vec<_>>()
        };
        made.blocks[outer.header.index()].params = params(inner.header, results(|r| r.outer.0));
        made.blocks[inner.header.index()].params = params(outer.header, results(|r| r.inner.0));
        for [from, like, target] in self.jumps() {
            made.blocks[from.index()].term = Terminator::Jump(Edge { target, args: self.arguments(from, like) });
        }
        made.blocks[self.outer.test.index()].term = self.test(&self.outer, &self.inner);
        made.blocks[self.inner.test.index()].term = self.test(&self.inner, &self.outer);
        let [one, other] = [outer.header, inner.header].map(|header| f.block(header));
        let must_progress = one.must_progress && other.must_progress;
        for (header, trips) in [(outer.header, other.counts.trips), (inner.header, one.counts.trips)] {
            let block = &mut made.blocks[header.index()];
            (block.counts.trips, block.must_progress) = (trips, must_progress);
        }
        for block in self.around().chain([inner.header]) {
            made.blocks[block.index()].counts.executions = None;
        }
        made
    }

    /// The blocks that jump to the headers, those that do so for the counters that each has to carry, and the headers.
    pub(super) fn jumps(&self) -> [[BlockId; 3]; 4] {
        let (outer, inner) = (&self.outer.of, &self.inner.of);
        [
            [outer.before, inner.before, outer.header],
            [outer.latch, inner.latch, outer.header],
            [inner.before, outer.before, inner.header],
            [inner.latch, outer.latch, inner.header],
        ]
    }

    /// The arguments of the jump of one of these blocks: those that another one has for counters, and its own for reductions.
    pub(super) fn arguments(&self, from: BlockId, like: BlockId) -> smallvec::SmallVec<[EdgeArg; 2]> {
        let header = |from: BlockId| if self.inner.of.ends(from) { self.inner.of.header } else { self.outer.of.header };
        let counters = self.counters(header(like)).into_iter().map(|(n, _)| self.carried(like)[n]);
        let position = |r: &Reduction| if self.inner.of.ends(from) { r.inner.1 } else { r.outer.1 };
        counters.chain(self.reductions.iter().map(|r| self.carried(from)[position(r)])).collect()
    }

    /// How the block ends in which one loop decides whether to go on, as the other one does.
    pub(super) fn test(&self, of: &Single<'a>, like: &Single<'a>) -> Terminator {
        let mut term = self.function().block(like.test).term.clone();
        for edge in term.edges_mut() {
            *edge = if edge == like.stays { of.stays.clone() } else { of.leaves.clone() };
        }
        term
    }

    /// Values go where what they depend on is known: ahead of both loops, in the outer header, or in the inner one.
    fn place_values(&self, made: &mut Function) {
        let f = self.function();
        let (outer, inner) = (&self.outer.of, &self.inner.of);
        let [mut before, mut first, mut second]: [Vec<InstId>; 3] = Default::default();
        let around: BTreeSet<BlockId> = self.around().collect();
        let order = outer.cfg.reverse_post_order().iter().filter(|block| outer.cfg.loop_contains(outer.id, **block));
        for block in order {
            let data = f.block(*block);
            let mut stay = vec![];
            for id in &data.insts {
                let inst = f.inst(*id);
                let of = inst.args.iter().map(|arg| self.of(*arg)).fold(Dependence::default(), Dependence::and);
                let to = match inst.is_silent(self.universe) {
                    true if of.is_steady() => &mut before,
                    true if of.is_of_inner() => &mut first,
                    true if of.is_of_outer() || around.contains(block) => &mut second,
                    _ if *block == inner.header => &mut second,
                    _ => &mut stay,
                };
                to.push(*id);
            }
            made.blocks[block.index()].insts = stay;
        }
        made.blocks[outer.before.index()].insts.extend(before);
        made.blocks[outer.header.index()].insts = first;
        made.blocks[inner.header.index()].insts = second;
    }
}
