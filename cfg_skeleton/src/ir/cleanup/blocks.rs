//! Terminators that need not choose, and blocks that need not be.

use super::Renaming;
use crate::ir::{BlockId, Cfg, Edge, EdgeArg, EdgeId, Function, InstKind, Terminator};
use rewright_typeprop::Universe;

/// Turns branches and switches that always go the same way into jumps.
pub(super) fn fold_terminators(function: &mut Function, universe: &Universe) -> bool {
    let mut constant = vec![None; function.values.len()];
    for b in &function.layout {
        for inst in function.block(*b).insts.iter().map(|i| function.inst(*i)) {
            if let InstKind::Const(n) = inst.kind {
                constant[inst.results[0].index()] = Some(n);
            }
        }
    }
    let mut changed = false;
    for b in function.layout.clone() {
        let taken = match &function.block(b).term {
            Terminator::Branch { cond, then, els } => match constant[cond.index()] {
                _ if then == els => Some(then.clone()),
                Some(n) => Some(if n != 0 { then } else { els }.clone()),
                None => None,
            },
            Terminator::Switch { targets, default, .. } if targets.iter().all(|t| t == default) => {
                Some(default.clone())
            }
            Terminator::Switch { index, targets, default } => {
                let scalar = universe.types.scalar(function.ty(*index));
                let bits = constant[index.index()].zip(scalar).map(|(n, s)| s.zero_extended(n));
                let target = |n: u64| usize::try_from(n).ok().and_then(|n| targets.get(n)).unwrap_or(default);
                bits.map(|n| target(n).clone())
            }
            _ => None,
        };
        if let Some(edge) = taken {
            function.blocks[b.index()].term = Terminator::Jump(edge);
            changed = true;
        }
    }
    changed
}

/// Takes empty blocks that only go on out of the way of the edges into them.
///
/// Legal where the block's parameters are used by its own jump alone, and no opaque terminator leads to it. The
/// other values that its jump carries are defined above the block, hence above all blocks that lead to it.
///
/// Of blocks that `keep` wants, those stay in which several edges into a loop's header meet.
pub(super) fn forward(function: &mut Function, cfg: &Cfg, keep: &dyn Fn(BlockId) -> bool) -> bool {
    let n = function.blocks.len();
    let mut header = vec![false; n];
    for (_, l) in cfg.loops() {
        header[l.header.index()] = true;
    }
    let mut preds: Vec<Vec<EdgeId>> = vec![Vec::new(); n];
    let mut uses = count_uses(function);
    for b in &function.layout {
        for (slot, edge) in function.block(*b).term.edges().iter().enumerate() {
            preds[edge.target.index()].push(EdgeId { from: *b, slot: slot as u32 });
        }
    }
    let mut gone = vec![false; n];
    // A block that stays sees where it leads to once the others are gone.
    let mut order = function.layout[1..].to_vec();
    order.sort_by_key(|b| keep(*b));
    for b in order {
        let block = function.block(b);
        let Terminator::Jump(edge) = &block.term else { continue };
        if !block.insts.is_empty() || edge.target == b {
            continue;
        }
        if header[edge.target.index()] && preds[b.index()].len() > 1 && keep(b) {
            continue;
        }
        let own = |p| edge.args.iter().filter(|a| **a == EdgeArg::Value(p)).count() as u32;
        let mut into = preds[b.index()].iter().filter(|e| !gone[e.from.index()]);
        if block.params.iter().any(|p| uses[p.index()] != own(*p))
            || into.any(|e| matches!(function.block(e.from).term, Terminator::Opaque { .. }))
        {
            continue;
        }
        let (params, edge) = (block.params.clone(), edge.clone());
        let alone = preds[edge.target.index()].iter().all(|e| e.from == b || gone[e.from.index()]);
        for e in std::mem::take(&mut preds[b.index()]) {
            if gone[e.from.index()] {
                continue;
            }
            let mut edges = function.blocks[e.from.index()].term.edges_mut();
            let old = &mut edges[e.slot as usize];
            let args = edge.args.iter().map(|arg| match arg {
                EdgeArg::Value(v) => params.iter().position(|p| p == v).map_or(*arg, |i| old.args[i]),
                EdgeArg::Terminator(_) => *arg,
            });
            let new = Edge { target: edge.target, args: args.collect() };
            count(&mut uses, old, -1);
            count(&mut uses, &new, 1);
            **old = new;
            preds[edge.target.index()].push(e);
        }
        count(&mut uses, &edge, -1);
        gone[b.index()] = true;
        // A header's only successor becomes the header; another header is one of both loops from now on.
        let (trips, must_progress) = (function.block(b).counts.trips, function.block(b).must_progress);
        let target = &mut function.blocks[edge.target.index()];
        if alone {
            (target.counts.trips, target.must_progress) = (trips, must_progress);
        } else if header[b.index()] {
            target.must_progress &= must_progress;
        }
    }
    let before = function.layout.len();
    function.layout.retain(|b| !gone[b.index()]);
    before != function.layout.len()
}

fn count(uses: &mut [u32], edge: &Edge, by: i32) {
    for arg in &edge.args {
        if let EdgeArg::Value(v) = arg {
            uses[v.index()] = uses[v.index()].wrapping_add_signed(by);
        }
    }
}

fn count_uses(function: &Function) -> Vec<u32> {
    let mut uses = vec![0; function.values.len()];
    for b in &function.layout {
        let block = function.block(*b);
        for v in block.insts.iter().flat_map(|i| &function.inst(*i).args).chain(block.term.operands()) {
            uses[v.index()] += 1;
        }
        for edge in block.term.edges() {
            count(&mut uses, edge, 1);
        }
    }
    uses
}

/// Makes one block of two where control can only go from the one to the other.
pub fn merge(function: &mut Function) -> bool {
    let mut ways_in = vec![0u32; function.blocks.len()];
    for b in &function.layout {
        for edge in function.block(*b).term.edges() {
            ways_in[edge.target.index()] += 1;
        }
    }
    let entry = function.entry();
    let mut renaming = Renaming::new(function);
    let mut gone = vec![false; function.blocks.len()];
    for a in function.layout.clone() {
        while let Some(b) = only_successor(function, a)
            && !gone[a.index()]
            && b != a
            && b != entry
            && ways_in[b.index()] == 1
        {
            let mut block = function.block(b).clone();
            let first = &mut function.blocks[a.index()];
            first.insts.append(&mut block.insts);
            first.cold |= block.cold;
            first.counts.share = match (first.counts.share, block.counts.share) {
                // As rare as each other, as above: a branch between them has been decided.
                (Some(first), Some(second)) => Some(first.min(second)),
                (first, second) => first.or(second),
            };
            first.counts.executions = first.counts.executions.or(block.counts.executions);
            let jump = std::mem::replace(&mut first.term, block.term);
            for (param, arg) in block.params.iter().zip(&jump.edges()[0].args) {
                if let EdgeArg::Value(v) = arg {
                    renaming.replace(*param, *v);
                }
            }
            gone[b.index()] = true;
        }
    }
    let before = function.layout.len();
    function.layout.retain(|b| !gone[b.index()]);
    renaming.apply(function);
    before != function.layout.len()
}

fn only_successor(function: &Function, block: BlockId) -> Option<BlockId> {
    match &function.block(block).term {
        Terminator::Jump(edge) => Some(edge.target),
        _ => None,
    }
}
