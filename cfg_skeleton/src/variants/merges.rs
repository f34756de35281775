//! Merges that are copied for each way into them.
//!
//! More is known of a parameter of a block where only one value arrives: a rule may match operations of an arm together
//! with those behind the merge. Most values are looked at through merges anyway, so only two kinds of merges are worth
//! copies: those with statements of packs, which cannot be computed in an arm, and those that compute something of constants, which
//! each way brings.

use super::copies::{Copies, Witness};
use super::instructions;
use crate::ir::{BlockId, Cfg, EdgeArg, Function, Inst, InstKind, Terminator, Value};
use rewright_typeprop::Universe;
use std::collections::BTreeSet;

/// Instructions of a merge that is copied, at most.
const MAX_MERGE: usize = 20;

/// Ways into a merge that is copied, at most.
const MAX_WAYS: usize = 4;

/// Merges that may be worth it.
pub(super) fn worth_copies(function: &Function, cfg: &Cfg, universe: &Universe) -> Vec<BlockId> {
    let constants = constants(function);
    let is_statement = |inst: &Inst| matches!(inst.kind, InstKind::Op { op, .. } if universe.ops.get(op).is_sited());
    let is_worth = |block: &BlockId| {
        let params = constant_params(function, cfg, *block, &constants);
        let folds = |inst: &Inst| {
            let is_known = |arg: &Value| params.contains(arg) || constants.contains(arg);
            inst.is_silent(universe)
                && inst.args.iter().all(is_known)
                && inst.args.iter().any(|arg| params.contains(arg))
        };
        let mut insts = function.block(*block).insts.iter().map(|id| function.inst(*id));
        insts.any(|inst| is_statement(inst) || folds(inst))
    };
    let blocks = cfg.reverse_post_order().iter().copied();
    blocks.filter(|block| is_copyable(function, cfg, *block) && is_worth(block)).collect()
}

fn constants(function: &Function) -> BTreeSet<Value> {
    let insts = function.layout.iter().flat_map(|block| &function.block(*block).insts);
    let constants = insts.map(|id| function.inst(*id)).filter(|inst| inst.kind.constant().is_some());
    constants.flat_map(|inst| inst.results.iter().copied()).collect()
}

/// Parameters of a block that are constants on each way into it.
fn constant_params(function: &Function, cfg: &Cfg, block: BlockId, constants: &BTreeSet<Value>) -> BTreeSet<Value> {
    let is_constant = |n: usize| {
        cfg.predecessors(block).iter().all(|edge| {
            let arg = function.block(edge.from).term.edges()[edge.slot as usize].args.get(n).copied();
            matches!(arg, Some(EdgeArg::Value(value)) if constants.contains(&value))
        })
    };
    let params = function.block(block).params.iter().enumerate();
    params.filter(|(n, _)| is_constant(*n)).map(|(_, param)| *param).collect()
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
