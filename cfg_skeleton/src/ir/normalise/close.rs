//! Loop-closed values: a use outside the loop of a definition takes a parameter of a block that the loop exits to.
//!
//! Per value, the definitions to choose from are the value itself and one parameter per exit block that it
//! dominates, and parameters where those meet (the iterated dominance frontier); each use takes the nearest one up
//! the dominator tree. Parameters are made only where a use asks for one.

use super::is_opaque;
use crate::ir::frontier::Frontiers;
use crate::ir::uses::{Use, uses};
use crate::ir::{BlockId, Cfg, EdgeArg, Function, InstKind, LoopId, Terminator, Value};
use indexmap::IndexMap;
use std::collections::{BTreeMap, BTreeSet};

/// Closes all loops; blocks and edges stay.
pub(super) fn close_loops(function: &mut Function, cfg: &Cfg) {
    let frontiers = Frontiers::new(function, cfg);
    let mut exits: Vec<Option<Vec<BlockId>>> = vec![None; cfg.loop_count()];
    let mut left_open = BTreeSet::new();
    // Each round moves every use out by at least one loop.
    for _ in 0..=cfg.loop_count() {
        let def_block = definitions(function);
        let escaping = escaping_uses(function, cfg, &def_block, &left_open);
        if escaping.is_empty() {
            return;
        }
        for (value, (l, uses)) in escaping {
            let exits = exits[l.index()].get_or_insert_with(|| exit_blocks(function, cfg, l));
            let Some(home) = def_block[value.index()] else { continue };
            if !close(function, cfg, &frontiers, exits, value, home, &uses) {
                left_open.insert(value);
            }
        }
    }
}

/// Is no value used outside a loop in which it is defined?
pub(super) fn is_closed(function: &Function, cfg: &Cfg) -> bool {
    cfg.loop_count() == 0 || escaping_uses(function, cfg, &definitions(function), &BTreeSet::new()).is_empty()
}

/// The block of each value's definition; none for constants, which may be used anywhere below it.
fn definitions(function: &Function) -> Vec<Option<BlockId>> {
    let mut def_block = vec![None; function.values.len()];
    for b in &function.layout {
        let block = function.block(*b);
        let insts = block.insts.iter().map(|i| function.inst(*i)).filter(|i| !matches!(i.kind, InstKind::Const(_)));
        for v in block.params.iter().chain(insts.flat_map(|i| &i.results)) {
            def_block[v.index()] = Some(*b);
        }
    }
    def_block
}

/// Uses outside the innermost loop of the definition.
fn escaping_uses(
    function: &Function,
    cfg: &Cfg,
    def_block: &[Option<BlockId>],
    left_open: &BTreeSet<Value>,
) -> IndexMap<Value, (LoopId, Vec<Use>)> {
    let mut escaping: IndexMap<Value, (LoopId, Vec<Use>)> = IndexMap::new();
    let mut visit = |value: Value, at: Use| {
        let home = def_block[value.index()].and_then(|b| cfg.loop_of(b));
        if let Some(l) = home
            && !cfg.loop_contains(l, at.block())
            && !left_open.contains(&value)
        {
            escaping.entry(value).or_insert_with(|| (l, vec![])).1.push(at);
        }
    };
    for b in &function.layout {
        // Edges of an opaque terminator stay, and what they carry with them.
        let is_opaque = matches!(function.block(*b).term, Terminator::Opaque { .. });
        uses(function, *b, |value, at| {
            if !(is_opaque && matches!(at, Use::Edge(..))) {
                visit(value, at);
            }
        });
    }
    escaping
}

/// Blocks that a loop exits to and that nothing else enters.
fn exit_blocks(function: &Function, cfg: &Cfg, l: LoopId) -> Vec<BlockId> {
    let mut blocks: Vec<BlockId> = Vec::new();
    for edge in cfg.loop_exits(function, l) {
        let target = function.block(edge.from).term.edges()[edge.slot as usize].target;
        if cfg.predecessors(target).iter().all(|e| cfg.loop_contains(l, e.from)) {
            blocks.push(target);
        }
    }
    blocks.sort_unstable();
    blocks.dedup();
    blocks
}

/// Takes what `uses` need from parameters; false if an opaque terminator's edge would have to change, or nothing to be
/// done.
fn close(
    function: &mut Function,
    cfg: &Cfg,
    frontiers: &Frontiers,
    exits: &[BlockId],
    value: Value,
    home: BlockId,
    uses: &[Use],
) -> bool {
    let exits: Vec<BlockId> = exits.iter().copied().filter(|e| *e != home && cfg.dominates(home, *e)).collect();
    let mut defines = frontiers.joins(exits.iter().copied());
    for e in exits {
        defines[e.index()] = true;
    }
    // The block whose parameter a use in `at` takes; `None` for the value itself.
    let nearest = |mut at: BlockId| loop {
        if at == home {
            return None;
        }
        if defines[at.index()] {
            return Some(at);
        }
        at = cfg.idom(at)?;
    };
    let mut demanded: BTreeMap<BlockId, Value> = BTreeMap::new();
    let mut work: Vec<BlockId> = uses.iter().filter_map(|u| nearest(u.block())).collect();
    while let Some(block) = work.pop() {
        if demanded.insert(block, value).is_some() {
            continue;
        }
        for edge in cfg.predecessors(block) {
            if is_opaque(function, *edge) {
                return false;
            }
            work.extend(nearest(edge.from));
        }
    }
    if demanded.is_empty() {
        return false;
    }
    let ty = function.ty(value);
    for (block, param) in &mut demanded {
        *param = function.add_value(ty);
        function.blocks[block.index()].params.push(*param);
    }
    let reaching = |at: BlockId| nearest(at).map_or(value, |b| demanded[&b]);
    for block in demanded.keys() {
        for edge in cfg.predecessors(*block) {
            let arg = EdgeArg::Value(reaching(edge.from));
            function.blocks[edge.from.index()].term.edges_mut()[edge.slot as usize].args.push(arg);
        }
    }
    for at in uses {
        at.replace(function, reaching(at.block()));
    }
    true
}
