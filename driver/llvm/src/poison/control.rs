//! Blocks: which edges and ends are those of the original, and which parameters.
//!
//! Blocks keep their numbers. The optimised function has further ones, on edges that were to be split, which jump to
//! where the edge led; and it may lack some, which have become part of the only block that leads to them, or which only
//! jump on.

use super::{PoisonAnalysis, value_of};
use rewright_cfg_skeleton::ir::{BlockId, Definition, Edge, EdgeArg, Terminator, Value};
use smallvec::SmallVec;

/// An edge of the original, and those that go on from where it leads, up to a block that there still is.
struct Way {
    target: BlockId,
    /// What arrives there.
    args: Vec<Option<Value>>,
}

impl<'a> PoisonAnalysis<'a> {
    /// The original's end of a block, where it is of the same kind and leads to the same blocks.
    pub fn original_end(&self, block: BlockId) -> Option<&'a Terminator> {
        let (before, now) = (self.end(block)?, self.destinations(block));
        (now == self.destinations_before(before)).then_some(before)
    }

    /// What the original used as an operand of a block's end. What a block chooses by, it chose by before, though other
    /// targets may stand for other values.
    pub(super) fn wanted_at_end(&self, block: BlockId, index: usize) -> Option<Value> {
        let before = self.end(block)?;
        let (mut now, mut then) = (self.destinations(block), self.destinations_before(before));
        now.sort_unstable();
        then.sort_unstable();
        before.operands().get(index).copied().filter(|_| now == then)
    }

    /// The end of the original's block, or of what was behind it and is part of it now, if it is of the same kind.
    fn end(&self, block: BlockId) -> Option<&'a Terminator> {
        let mut end = &self.original.function.blocks.get(block.index())?.term;
        for _ in 0..self.absorbed.len() {
            match end {
                Terminator::Jump(edge) if self.absorbed.contains(&edge.target) => {
                    end = &self.original.function.block(edge.target).term;
                }
                _ => break,
            }
        }
        let now = &self.function.block(block).term;
        (std::mem::discriminant(end) == std::mem::discriminant(now)).then_some(end)
    }

    /// Where a block leads to, of the blocks that the original has.
    fn destinations(&self, block: BlockId) -> SmallVec<[BlockId; 4]> {
        let edges = self.function.block(block).term.edges();
        edges.iter().map(|edge| self.destination(edge.target)).collect()
    }

    /// Where an end of the original leads to, of the blocks that there still are.
    fn destinations_before(&self, end: &Terminator) -> SmallVec<[BlockId; 4]> {
        end.edges().iter().map(|edge| self.way(edge).target).collect()
    }

    fn way(&self, edge: &Edge) -> Way {
        let before = self.original.function;
        let mut way = Way { target: edge.target, args: edge.args.iter().map(value_of).collect() };
        for _ in 0..self.absorbed.len() {
            let block = before.block(way.target);
            match &block.term {
                Terminator::Jump(next) if self.absorbed.contains(&way.target) => {
                    let substituted = |value: Value| match block.params.iter().position(|p| *p == value) {
                        Some(i) => way.args.get(i).copied().flatten(),
                        None => Some(value),
                    };
                    let args = next.args.iter().map(|arg| value_of(arg).and_then(substituted)).collect();
                    way = Way { target: next.target, args };
                }
                _ => break,
            }
        }
        way
    }

    fn destination(&self, mut block: BlockId) -> BlockId {
        for _ in 0..self.inserted.len() {
            match &self.function.block(block).term {
                Terminator::Jump(edge) if self.inserted.contains_key(&block) => block = edge.target,
                _ => break,
            }
        }
        block
    }

    /// Notes which blocks are not in both functions.
    pub(super) fn compare_blocks(&mut self) {
        let (before, now) = (self.original.function, self.function);
        let mut kept = vec![false; before.blocks.len()];
        for from in &now.layout {
            match kept.get_mut(from.index()) {
                Some(kept) => *kept = true,
                None => {
                    self.inserted.entry(*from).or_default();
                }
            }
            for (slot, edge) in now.block(*from).term.edges().iter().enumerate() {
                if edge.target.index() >= before.blocks.len() {
                    self.inserted.entry(edge.target).or_default().push((*from, slot));
                }
            }
        }
        self.absorbed = before.layout.iter().copied().filter(|b| !kept[b.index()]).collect();
    }

    /// Edges of the original in whose place one is; none if there may be others.
    fn ways_before(&self, from: BlockId, slot: usize) -> Vec<Way> {
        let (mut ways, mut work, mut seen) = (vec![], vec![(from, slot)], 0);
        while let Some((from, slot)) = work.pop() {
            match self.inserted.get(&from) {
                Some(arriving) if seen < self.inserted.len() => {
                    work.extend(arriving);
                    seen += 1;
                }
                Some(_) => return vec![],
                None => {
                    let target = self.destination(self.function.block(from).term.edges()[slot].target);
                    match self.end(from).and_then(|end| Some(self.way(end.edges().get(slot)?))) {
                        Some(way) if way.target == target => ways.push(way),
                        _ => return vec![],
                    }
                }
            }
        }
        ways
    }

    /// Starts with every parameter that stands in the same block and has the same type, and strikes out those to
    /// which other values arrive.
    pub(super) fn match_params(&mut self) {
        let (before, now) = (self.original.function, self.function);
        for b in now.layout.iter().filter(|b| **b != now.entry()) {
            let Some(block) = before.blocks.get(self.destination(*b).index()) else { continue };
            for p in &now.block(*b).params {
                let fitting = block.params.iter().copied().filter(|o| before.ty(*o) == now.ty(*p)).collect();
                self.params.insert(*p, fitting);
            }
        }
        loop {
            let mut struck = vec![];
            for from in &now.layout {
                for (slot, edge) in now.block(*from).term.edges().iter().enumerate() {
                    let old = self.ways_before(*from, slot);
                    for (i, param) in now.block(edge.target).params.iter().enumerate() {
                        for candidate in self.params.get(param).into_iter().flatten() {
                            if !self.arrives(*from, edge.args.get(i), &old, *candidate) {
                                struck.push((*param, *candidate));
                            }
                        }
                    }
                }
            }
            if struck.is_empty() {
                return;
            }
            for (param, candidate) in struck {
                if let Some(all) = self.params.get_mut(&param) {
                    all.retain(|o| *o != candidate);
                }
            }
        }
    }

    /// Is what arrives over an edge poison at most where what arrived at a parameter of the original over `old` was?
    fn arrives(&self, from: BlockId, arg: Option<&EdgeArg>, old: &[Way], candidate: Value) -> bool {
        let Some(EdgeArg::Value(new)) = arg else { return false };
        // A parameter of a block on the way.
        if matches!(self.definitions[new.index()], Some(Definition::Param(block, _)) if block == from)
            && self.inserted.contains_key(&from)
        {
            return self.params.get(new).is_some_and(|all| all.contains(&candidate));
        }
        let same = |old: &Way| {
            let at = self.original.function.block(old.target).params.iter().position(|o| *o == candidate);
            at.and_then(|at| *old.args.get(at)?).is_some_and(|old| self.covers(old, *new))
        };
        !old.is_empty() && old.iter().all(same)
    }
}
