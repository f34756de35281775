//! What arms of unknown probability are worth: the arms of a branch share the executions of its block, so that a merge is
//! executed as often as the branch above it.
//!
//! An edge that leaves a loop takes no share where another one stays in it: what stays is executed once more for each
//! iteration. All edges that leave a loop together are taken as often as the loop is entered. A block that is marked as
//! rarely executed takes no share either; it has its own weight. A branch on a constant goes one way.
//!
//! Shares are noted in functions with statements that move, and in those that call functions of packs that no language has
//! an instruction for ([`note_shares`]): there, what one arm can do without is worth a choice. Of machine instructions all
//! forms cost about the same, and a value stands as far down as its uses anyway: blocks of other functions weigh what the
//! branch above them weighs.

use super::cfg::SHARE_ONE;
use super::definitions::{Definition, definitions};
use super::{BlockId, Cfg, EdgeArg, Function, InstKind, LoopId, Terminator, Value};
use rewright_typeprop::Universe;

/// Notes the shares of blocks in a function that allocates or calls functions of packs, instead of those that it has.
///
/// That is done for what functions come from, not for what is made of them: where rules decide a branch, the result would
/// be dearer than the original.
pub fn note_shares(function: &mut Function, universe: &Universe) {
    let counts = |kind: &InstKind| match kind {
        InstKind::Op { op, .. } => {
            let op = universe.ops.get(*op);
            op.effects.only_allocates() || op.names.is_empty() && op.model.is_none()
        }
        _ => false,
    };
    let mut insts = function.layout.iter().flat_map(|block| &function.block(*block).insts);
    if function.layout.is_empty() || !insts.any(|inst| counts(&function.inst(*inst).kind)) {
        return;
    }
    let cfg = Cfg::new(function);
    let shares = Shares::new(function, &cfg).of_calls();
    for block in cfg.reverse_post_order() {
        function.blocks[block.index()].counts.share = Some(shares[block.index()].clamp(1, SHARE_ONE) as u32);
    }
}

/// Shares of one function's blocks.
struct Shares<'a> {
    function: &'a Function,
    cfg: &'a Cfg,
    definitions: Vec<Option<Definition>>,
    /// By block: its part of the executions of its innermost loop's header, or of the function outside loops.
    parts: Vec<u64>,
    /// By loop: the part of the executions of the header, seen from the loop around it.
    entered: Vec<u64>,
    /// By loop: where the edges that leave it go, with their parts of all of them.
    exits: Vec<Vec<(BlockId, u64)>>,
}

impl<'a> Shares<'a> {
    fn new(function: &'a Function, cfg: &'a Cfg) -> Self {
        let (blocks, loops) = (function.blocks.len(), cfg.loop_count());
        let (parts, entered, exits) = (vec![0; blocks], vec![0; loops], vec![vec![]; loops]);
        let definitions = definitions(function);
        let mut shares = Shares { function, cfg, definitions, parts, entered, exits };
        let mut levels: Vec<Vec<BlockId>> = vec![vec![]; loops + 1];
        // Of a loop inside, its header stands for all of it.
        for block in cfg.reverse_post_order() {
            let own = cfg.loop_of(*block);
            levels[own.map_or(loops, LoopId::index)].push(*block);
            if let Some(inner) = cfg.loop_with_header(*block) {
                levels[cfg.natural_loop(inner).parent.map_or(loops, LoopId::index)].push(*block);
            }
        }
        let inner_first: Vec<LoopId> = cfg.loops().map(|(id, _)| id).rev().collect();
        for id in inner_first {
            shares.level(Some(id), &levels[id.index()]);
        }
        shares.level(None, &levels[loops]);
        shares
    }

    /// Divides what enters a loop, or the function, among the blocks in it.
    fn level(&mut self, of: Option<LoopId>, blocks: &[BlockId]) {
        let Some(top) = blocks.first().copied() else { return };
        let mut flow = vec![0u64; self.parts.len()];
        let mut out: Vec<(BlockId, u64)> = vec![];
        flow[top.index()] = SHARE_ONE;
        for block in blocks {
            let inner = self.cfg.loop_with_header(*block).filter(|inner| Some(*inner) != of);
            // No block is executed more often than one that dominates it, except in loops.
            let own = flow[block.index()].min(self.above(*block, of, &flow));
            match inner {
                Some(inner) => self.entered[inner.index()] = own,
                None => self.parts[block.index()] = own,
            }
            flow[block.index()] = own;
            let edges: Vec<(BlockId, u64)> = match inner {
                Some(inner) => self.exits[inner.index()].clone(),
                None => self.taken(*block).into_iter().map(|target| (target, 1)).collect(),
            };
            let stays = |target: BlockId| of.is_none_or(|id| self.cfg.loop_contains(id, target));
            let whole: u64 = edges.iter().map(|(_, weight)| weight).sum();
            out.extend(
                edges.iter().filter(|(to, _)| !stays(*to)).map(|(to, weight)| (*to, portion(own, *weight, whole))),
            );
            let inside: Vec<(BlockId, u64)> = edges.into_iter().filter(|(to, _)| stays(*to)).collect();
            let is_rare = |to: BlockId| self.cfg.is_cold(to) && !self.cfg.is_cold(*block);
            let shared: u64 = inside.iter().filter(|(to, _)| !is_rare(*to)).map(|(_, weight)| weight).sum();
            let mut rest = own;
            for (n, (to, weight)) in inside.iter().enumerate() {
                let last = inside[n + 1..].iter().all(|(to, _)| is_rare(*to));
                let part = match (is_rare(*to), last) {
                    (true, _) => own,
                    (false, true) => rest,
                    (false, false) => portion(own, *weight, shared),
                };
                if !is_rare(*to) {
                    rest = rest.saturating_sub(part);
                }
                // Edges back are counted by iterations.
                if self.cfg.position(*to) > self.cfg.position(*block) {
                    flow[to.index()] = flow[to.index()].saturating_add(part);
                }
            }
        }
        if let Some(id) = of {
            let whole: u64 = out.iter().map(|(_, weight)| weight).sum();
            self.exits[id.index()] = match whole {
                0 => out.iter().map(|(to, _)| (*to, 1)).collect(),
                _ => out,
            };
        }
    }

    /// Where the edges lead that leave a block, without those that a constant keeps from being taken.
    fn taken(&self, block: BlockId) -> Vec<BlockId> {
        let term = &self.function.block(block).term;
        let decided = match term {
            Terminator::Branch { cond, then, els } => {
                self.constant(*cond).map(|number| if number == 0 { els } else { then })
            }
            Terminator::Switch { index, targets, default } => self
                .constant(*index)
                .map(|number| usize::try_from(number).ok().and_then(|number| targets.get(number)).unwrap_or(default)),
            _ => None,
        };
        match decided {
            Some(edge) => vec![edge.target],
            None => term.edges().iter().map(|edge| edge.target).collect(),
        }
    }

    /// The number that a value is, if it is a constant, or the parameter of a block that one edge enters with it.
    fn constant(&self, mut value: Value) -> Option<i64> {
        for _ in 0..self.function.blocks.len() {
            match self.definitions[value.index()]? {
                Definition::Result(_, inst, _) => match self.function.inst(inst).kind {
                    InstKind::Const(number) => return Some(number),
                    _ => return None,
                },
                Definition::Param(block, n) => {
                    let [only] = self.cfg.predecessors(block) else { return None };
                    let edges = self.function.block(only.from).term.edges();
                    let EdgeArg::Value(given) = edges[only.slot as usize].args[n] else { return None };
                    value = given;
                }
            }
        }
        None
    }

    /// The flow of what dominates a block at its level; the whole one above that.
    fn above(&self, block: BlockId, of: Option<LoopId>, flow: &[u64]) -> u64 {
        let mut up = self.cfg.idom(block);
        while let Some(dominator) = up {
            let level = self.cfg.loop_of(dominator);
            if level == of {
                return flow[dominator.index()];
            }
            let Some(inner) = level else { return SHARE_ONE };
            let header = self.cfg.natural_loop(inner).header;
            if self.cfg.natural_loop(inner).parent == of {
                return flow[header.index()];
            }
            up = self.cfg.idom(header);
        }
        SHARE_ONE
    }

    /// By block: its part of the calls of the function, loops counted as one iteration.
    fn of_calls(self) -> Vec<u64> {
        let mut factors: Vec<u64> = vec![];
        for (id, l) in self.cfg.loops() {
            let around = l.parent.map_or(SHARE_ONE, |parent| factors[parent.index()]);
            factors.push(portion(around, self.entered[id.index()], SHARE_ONE));
        }
        let of_block = |n: usize| {
            let factor = self.cfg.loop_of(BlockId(n as u32)).map_or(SHARE_ONE, |id| factors[id.index()]);
            portion(factor, self.parts[n], SHARE_ONE)
        };
        (0..self.parts.len()).map(of_block).collect()
    }
}

/// `parts` of `whole` parts of an amount.
fn portion(amount: u64, parts: u64, whole: u64) -> u64 {
    (u128::from(amount) * u128::from(parts) / u128::from(whole.max(1))) as u64
}

#[cfg(test)]
mod tests;
