//! Latches that only take a few steps to the next iteration, behind a branch that leaves the loop: the steps are taken before
//! the branch, which then goes back to the header itself. That saves a jump per iteration, and costs the steps once more,
//! when the loop is left.

use crate::ir::{BlockId, Cfg, Edge, Function, InstKind, Terminator};
use rewright_typeprop::{Model, Universe};

/// A latch takes no more steps than this, so that leaving a loop stays cheap.
const MAX_STEPS: usize = 8;

/// Lifts the latches of a verified function; was there one?
pub fn lift_latches(function: &mut Function, universe: &Universe) -> bool {
    let cfg = Cfg::new(function);
    let found: Vec<(BlockId, BlockId, Edge)> =
        cfg.loops().filter_map(|(_, l)| lifted(function, &cfg, universe, l.header)).collect();
    for (block, latch, back) in &found {
        let insts = std::mem::take(&mut function.blocks[latch.index()].insts);
        let block = &mut function.blocks[block.index()];
        block.insts.extend(insts);
        for edge in block.term.edges_mut() {
            if edge.target == *latch {
                *edge = back.clone();
            }
        }
    }
    function.layout.retain(|block| found.iter().all(|(_, latch, _)| latch != block));
    !found.is_empty()
}

/// The block whose branch leads to a loop's latch or leaves the loop, the latch, and its edge to the header.
fn lifted(function: &Function, cfg: &Cfg, universe: &Universe, header: BlockId) -> Option<(BlockId, BlockId, Edge)> {
    let mut back = cfg.predecessors(header).iter().filter(|edge| cfg.is_back_edge(edge.from, header));
    let (Some(only), None) = (back.next(), back.next()) else { return None };
    let latch = function.block(only.from);
    let ([before], Terminator::Jump(edge)) = (cfg.predecessors(only.from), &latch.term) else { return None };
    let Terminator::Branch { then, els, .. } = &function.block(before.from).term else { return None };
    let other = if then.target == only.from { els.target } else { then.target };
    let leaves = !cfg.loop_contains(cfg.loop_with_header(header)?, other);
    let is_step = |id| match &function.inst(id).kind {
        InstKind::Const(_) => true,
        InstKind::Op { op, .. } => matches!(universe.ops.get(*op).model, Some(Model::Add | Model::Sub)),
        InstKind::Check { .. } | InstKind::Opaque { .. } => false,
    };
    let is_plain = latch.params.is_empty() && latch.counts.executions.is_none() && !latch.insts.is_empty();
    let is_small = latch.insts.len() <= MAX_STEPS && latch.insts.iter().all(|id| is_step(*id));
    (leaves && is_plain && is_small && only.from != header).then(|| (before.from, only.from, edge.clone()))
}
