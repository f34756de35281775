//! Merges that are copied for each way into them.
//!
//! More is known of a parameter of a block where only one value arrives: a rule may match operations of an arm together
//! with those behind the merge. Values alone are looked at through merges anyway, so
//! only merges with statements of packs, which cannot be computed in an arm, are worth copies.

use super::copies::{Copies, Witness};
use super::instructions;
use crate::ir::{BlockId, Cfg, Function, InstKind, Terminator};
use rewright_typeprop::Universe;

/// Instructions of a merge that is copied, at most.
const MAX_MERGE: usize = 20;

/// Ways into a merge that is copied, at most.
const MAX_WAYS: usize = 4;

/// Merges that may be worth it: those with a statement of a pack.
pub(super) fn worth_copies(function: &Function, cfg: &Cfg, universe: &Universe) -> Vec<BlockId> {
    let is_statement = |kind: &InstKind| match kind {
        InstKind::Op { op, .. } => universe.ops.get(*op).is_sited(),
        InstKind::Const(_) | InstKind::Check { .. } | InstKind::Opaque { .. } => false,
    };
    let has_statement =
        |block: &BlockId| function.block(*block).insts.iter().any(|inst| is_statement(&function.inst(*inst).kind));
    let blocks = cfg.reverse_post_order().iter().copied();
    blocks.filter(|block| has_statement(block) && is_copyable(function, cfg, *block)).collect()
}

/// Does a block merge values of a few jumps from where it is itself?
pub(super) fn is_copyable(function: &Function, cfg: &Cfg, block: BlockId) -> bool {
    let data = function.block(block);
    let ways = cfg.predecessors(block);
    let jumps_from_here = |from: BlockId| {
        let jumps = matches!(function.block(from).term, Terminator::Jump(_));
        jumps && cfg.loop_of(from) == cfg.loop_of(block) && !cfg.is_back_edge(from, block)
    };
    (2..=MAX_WAYS).contains(&ways.len())
        && ways.iter().all(|edge| jumps_from_here(edge.from))
        && !cfg.is_irreducible(block)
        && !data.params.is_empty()
        && !matches!(data.term, Terminator::Opaque { .. })
        && instructions(function, block) <= MAX_MERGE
}

/// The function with a copy of a merge for each way into it. Each runs as often as what jumps to it.
pub(super) fn copied(function: &Function, cfg: &Cfg, merge: BlockId) -> Option<(Function, Witness)> {
    let mut copies = Copies::new(function);
    for (n, edge) in cfg.predecessors(merge).iter().enumerate() {
        let copy = match n {
            0 => merge,
            _ => copies.copy(&[merge])[&merge],
        };
        copies.redirect(edge.from, merge, copy);
        let from = function.block(edge.from);
        let data = copies.block_mut(copy);
        (data.cold, data.counts) = (from.cold, from.counts);
        data.counts.trips = None;
    }
    copies.finish()
}
