//! Two loops that follow one another, as one: each iteration of the one is followed by that of the other.
//!
//! Only how the blocks are connected then is decided here. Whether that does the same, [`super::fused`] decides.

use super::shapes::Copyable;
use crate::ir::{BlockId, Cfg, Edge, Function, InstId, LoopId, Terminator, Value};
use rewright_typeprop::Universe;
use std::collections::BTreeSet;

/// Blocks between two loops, at most.
const MAX_BETWEEN: usize = 4;

/// A loop that is left at one place.
#[derive(Clone)]
pub(super) struct Single<'a> {
    pub(super) of: Copyable<'a>,
    /// The block that decides whether it goes on.
    pub(super) test: BlockId,
    pub(super) stays: &'a Edge,
    pub(super) leaves: &'a Edge,
}

impl<'a> Single<'a> {
    pub(super) fn new(function: &'a Function, cfg: &'a Cfg, id: LoopId) -> Option<Self> {
        let of = Copyable::new(function, cfg, id)?;
        let [exit] = cfg.loop_exits(function, id)[..] else { return None };
        let Terminator::Branch { then, els, .. } = &function.block(exit.from).term else { return None };
        let (leaves, stays) = if exit.slot == 0 { (then, els) } else { (els, then) };
        Some(Single { of, test: exit.from, stays, leaves })
    }

    /// Does a block do nothing but compute?
    pub(super) fn is_silent(&self, block: BlockId, universe: &Universe) -> bool {
        let function = self.of.function;
        function.block(block).insts.iter().all(|id| function.inst(*id).is_silent(universe))
    }
}

/// Two loops, one behind the other.
#[derive(Clone)]
pub(super) struct Pair<'a> {
    pub(super) first: Single<'a>,
    pub(super) second: Single<'a>,
    /// The blocks between them, of which each goes on to the next, and the last one to the second loop.
    pub(super) between: Vec<BlockId>,
}

/// Where loops test whether they go on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Tested {
    /// In the header, which only computes.
    First,
    /// Right before the latch, which only computes.
    Last,
}

impl Tested {
    /// Where all of some loops test, if that is at the same place.
    pub(super) fn of(loops: &[&Single<'_>], universe: &Universe) -> Option<Self> {
        let all = |of: &dyn Fn(&Single<'_>) -> bool| loops.iter().all(|l| of(l));
        if all(&|l| l.test == l.of.header && l.is_silent(l.of.header, universe)) {
            return Some(Tested::First);
        }
        all(&|l| l.stays.target == l.of.latch && l.is_silent(l.of.latch, universe)).then_some(Tested::Last)
    }
}

impl<'a> Pair<'a> {
    /// A loop and the one that follows it.
    pub(super) fn new(function: &'a Function, cfg: &'a Cfg, id: LoopId) -> Option<Self> {
        let first = Single::new(function, cfg, id)?;
        let mut between = vec![];
        let mut at = first.leaves.target;
        while between.len() < MAX_BETWEEN {
            let Terminator::Jump(edge) = &function.block(at).term else { return None };
            if cfg.predecessors(at).len() != 1 {
                return None;
            }
            between.push(at);
            if let Some(second) = cfg.loop_with_header(edge.target) {
                let second = Single::new(function, cfg, second)?;
                return (second.of.before == at).then_some(Pair { first, second, between });
            }
            at = edge.target;
        }
        None
    }

    /// Where both test, if that is at the same place.
    pub(super) fn tested(&self, universe: &Universe) -> Option<Tested> {
        Tested::of(&[&self.first, &self.second], universe)
    }

    /// Both loops as one. What is computed between them and does not need the first one is computed before it.
    pub(super) fn fused(&self, tested: Tested) -> Option<Function> {
        let Pair { first, second, between } = self;
        let mut f = first.of.function.clone();
        let early = self.early();
        for block in between {
            f.blocks[block.index()].insts.retain(|id| !early.contains(id));
        }
        f.blocks[first.of.before.index()].insts.extend(early);
        let (own, other) = (first.of.header, second.of.header);
        let params = std::mem::take(&mut f.blocks[other.index()].params);
        f.blocks[own.index()].params.extend(params);
        f.blocks[own.index()].must_progress &= f.block(other).must_progress;
        f.blocks[other.index()].must_progress = false;
        let edge = |from: BlockId| match &first.of.function.block(from).term {
            Terminator::Jump(edge) => Some(edge.clone()),
            _ => None,
        };
        let both = |one: BlockId, two: BlockId| {
            let (mut joined, more) = (edge(one)?, edge(two)?);
            joined.args.extend(more.args);
            Some(joined)
        };
        let entering = both(first.of.before, second.of.before)?;
        let closing = both(first.of.latch, second.of.latch)?;
        f.blocks[first.of.before.index()].term = Terminator::Jump(entering);
        f.blocks[second.of.latch.index()].term = Terminator::Jump(closing);
        f.blocks[second.of.before.index()].term = Terminator::Jump(second.leaves.clone());
        match tested {
            Tested::First => {
                let insts = std::mem::take(&mut f.blocks[other.index()].insts);
                f.blocks[own.index()].insts.extend(insts);
                f.blocks[first.of.latch.index()].term = Terminator::Jump(second.stays.clone());
                f.layout.retain(|block| *block != other);
            }
            Tested::Last => {
                f.blocks[first.test.index()].term = Terminator::Jump(Edge { target: other, args: Default::default() });
                if let Terminator::Branch { then, els, .. } = &mut f.blocks[second.test.index()].term {
                    let turn = |edge: &mut Edge| {
                        *edge = if *edge == *second.stays { first.stays.clone() } else { first.leaves.clone() };
                    };
                    turn(then);
                    turn(els);
                }
                f.blocks[first.of.latch.index()].term = Terminator::Jump(second.stays.clone());
            }
        }
        Some(f)
    }

    /// Instructions between the loops that need nothing of the first one.
    fn early(&self) -> Vec<InstId> {
        let function = self.first.of.function;
        let mut late: BTreeSet<Value> = BTreeSet::new();
        for block in self.first.of.blocks() {
            late.extend(defined(function, *block));
        }
        let mut early = vec![];
        for block in &self.between {
            late.extend(&function.block(*block).params);
            for id in &function.block(*block).insts {
                let inst = function.inst(*id);
                if inst.args.iter().any(|arg| late.contains(arg)) {
                    late.extend(&inst.results);
                } else {
                    early.push(*id);
                }
            }
        }
        early
    }
}

/// What a block defines.
pub(super) fn defined(function: &Function, block: BlockId) -> impl Iterator<Item = Value> {
    let data = function.block(block);
    let results = data.insts.iter().flat_map(|id| &function.inst(*id).results);
    data.params.iter().chain(results).copied()
}
