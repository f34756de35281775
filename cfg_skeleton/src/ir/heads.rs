//! The beginning of a function, up to where it returns early: what a call executes where there is little to do.
//!
//! A function's *head* consists of blocks at its entry that only compute values and cannot trap, and from each of
//! which control may come to a return among them. Where control leaves these blocks, a call of the function itself,
//! with the same arguments, does the rest; it executes the head once more, which nothing can notice. So the head
//! does what the function does, and may stand in the place of a call whose body is too large for that, or leads
//! back to itself.
//!
//! **Invariant**: the head of a verified function is verified. No block of it is in a loop, so it is executed once at
//! most.

use super::alias::Aliases;
use super::cfg::{FREQUENCY_ONE, SHARE_ONE};
use super::objects::Objects;
use super::{Block, BlockId, Cfg, Counts, Edge, EdgeArg, Function, InstKind, Terminator};
use rewright_typeprop::Universe;
use smallvec::smallvec;
use std::collections::{BTreeMap, BTreeSet};

/// Instructions of a head, at most; constants do not count.
const MAX_INSTRUCTIONS: usize = 12;

/// Which blocks are a function's head.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Head {
    /// The entry, and each other one behind all that lead to it.
    pub blocks: Vec<BlockId>,
    /// The part of the calls of the function that goes on behind the head, in units of 1 / [`SHARE_ONE`]: edges out
    /// of a block are taken equally often, except for those to blocks that are marked as rarely executed.
    pub goes_on: u64,
}

impl Head {
    /// The head of a function, if it has one.
    pub fn new(function: &Function, universe: &Universe) -> Option<Head> {
        let cfg = Cfg::new(function);
        let size = |block: &BlockId| {
            let insts = function.block(*block).insts.iter();
            insts.filter(|id| !matches!(function.inst(**id).kind, InstKind::Const(_))).count()
        };
        let mut found = that_return(function, &plain_blocks(function, &cfg, universe));
        while found.iter().map(size).sum::<usize>() > MAX_INSTRUCTIONS {
            // The largest one is left to the call; of several the one that is farthest away.
            let largest = (0..found.len()).max_by_key(|n| size(&found[*n]))?;
            found.remove(largest);
            found = that_return(function, &found);
        }
        let found: BTreeSet<BlockId> = found.into_iter().collect();
        let blocks: Vec<BlockId> =
            cfg.reverse_post_order().iter().copied().filter(|block| found.contains(block)).collect();
        let goes_on = goes_on(function, &cfg, &blocks);
        (goes_on > 0 && blocks.first() == Some(&function.entry())).then_some(Head { blocks, goes_on })
    }

    /// The head as a function that traps where it would go on.
    pub fn alone(&self, function: &Function) -> Function {
        self.with_rest(function).0
    }

    /// The head as a function that goes on with a call of the function: `call` says how that is called.
    pub fn calling(&self, function: &Function, call: InstKind) -> Function {
        let (mut head, rest) = self.with_rest(function);
        let params = head.block(head.entry()).params.clone();
        let types = head.results.clone();
        let call = head.append(rest, call, &params, &types);
        let results = head.inst(call).results.iter().copied().collect();
        head.blocks[rest.index()].term = Terminator::Return(results);
        head
    }

    /// What one call saves, in the unit of sums of costs, by executing the head in its place: where it returns, a
    /// call with its return and what the head costs there. `alone`: what the head costs, in that unit; `transfer`:
    /// what a call or a return costs.
    pub fn saved(&self, alone: u64, transfer: u64) -> u64 {
        let once = alone + 2 * transfer * FREQUENCY_ONE;
        once - once * self.goes_on / SHARE_ONE
    }

    /// The head, and the block in which control leaves it.
    fn with_rest(&self, function: &Function) -> (Function, BlockId) {
        let mut head = function.clone();
        let rest = head.add_block();
        head.layout = self.blocks.iter().copied().chain([rest]).collect();
        for block in &self.blocks {
            let Block { term, counts, .. } = &mut head.blocks[block.index()];
            *counts = Counts::default();
            for edge in term.edges_mut().into_iter().filter(|edge| !self.blocks.contains(&edge.target)) {
                *edge = Edge { target: rest, args: smallvec![] };
            }
        }
        head.promises.clear();
        head.aliases = Aliases::default();
        head.objects = Objects::default();
        (head, rest)
    }
}

/// The blocks at the entry that only compute, those that are fewer edges away from it first.
fn plain_blocks(function: &Function, cfg: &Cfg, universe: &Universe) -> Vec<BlockId> {
    let is_plain = |id: &BlockId| {
        let block = function.block(*id);
        let only_values = block.term.edges().iter().flat_map(|e| &e.args).all(|a| matches!(a, EdgeArg::Value(_)));
        let goes_on = !matches!(block.term, Terminator::Trap { .. } | Terminator::Opaque { .. });
        let is_once = cfg.loop_of(*id).is_none() && !cfg.is_irreducible(*id);
        is_once && goes_on && only_values && block.insts.iter().all(|inst| function.inst(*inst).is_silent(universe))
    };
    let mut found: Vec<BlockId> = [function.entry()].into_iter().filter(is_plain).collect();
    let mut looked_at = 0;
    while let Some(block) = found.get(looked_at) {
        looked_at += 1;
        for edge in function.block(*block).term.edges() {
            if !found.contains(&edge.target) && is_plain(&edge.target) {
                found.push(edge.target);
            }
        }
    }
    found
}

/// Those of some blocks from which control may come to a return without leaving them.
fn that_return(function: &Function, blocks: &[BlockId]) -> Vec<BlockId> {
    let mut ends: BTreeSet<BlockId> = BTreeSet::new();
    loop {
        let leads_to_one = |block: &BlockId| match &function.block(*block).term {
            Terminator::Return(_) => true,
            term => term.edges().iter().any(|edge| ends.contains(&edge.target)),
        };
        let more: BTreeSet<BlockId> = blocks.iter().copied().filter(leads_to_one).collect();
        if more.len() == ends.len() {
            return blocks.iter().copied().filter(|block| ends.contains(block)).collect();
        }
        ends = more;
    }
}

/// The part of the executions of the first block that leaves these blocks.
fn goes_on(function: &Function, cfg: &Cfg, blocks: &[BlockId]) -> u64 {
    let mut flow: BTreeMap<BlockId, u64> = blocks.iter().map(|block| (*block, 0)).collect();
    let mut leaves = 0;
    for (n, block) in blocks.iter().enumerate() {
        let own = if n == 0 { SHARE_ONE } else { flow[block] };
        let targets: Vec<BlockId> = function.block(*block).term.edges().iter().map(|edge| edge.target).collect();
        let all_rare = targets.iter().all(|target| cfg.is_cold(*target));
        let taken: Vec<BlockId> = targets.into_iter().filter(|to| all_rare || !cfg.is_cold(*to)).collect();
        for (n, target) in taken.iter().enumerate() {
            let (n, edges) = (n as u64, taken.len() as u64);
            let part = own * (n + 1) / edges - own * n / edges;
            match flow.get_mut(target) {
                Some(flow) => *flow += part,
                None => leaves += part,
            }
        }
    }
    leaves
}

#[cfg(test)]
mod tests;
