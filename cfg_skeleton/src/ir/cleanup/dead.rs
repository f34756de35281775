//! Instructions and parameters that nothing needs: mark from what must stay, sweep the rest.

use super::{is_droppable, pinned_blocks, remove_params};
use crate::ir::{BlockId, Cfg, EdgeArg, Function, InstId, Value};
use rewright_typeprop::Universe;

#[derive(Clone, Copy)]
enum Definition {
    Inst(InstId),
    Param(BlockId, u32),
}

/// Removes them. `cfg` knows the current blocks and edges.
pub(super) fn remove(function: &mut Function, cfg: &Cfg, universe: &Universe) -> bool {
    let pinned = pinned_blocks(function);
    let mut definition = vec![None; function.values.len()];
    let mut live = vec![false; function.values.len()];
    let mut work: Vec<Value> = vec![];
    for b in &function.layout {
        let block = function.block(*b);
        for (i, p) in block.params.iter().enumerate() {
            definition[p.index()] = Some(Definition::Param(*b, i as u32));
        }
        for id in &block.insts {
            let inst = function.inst(*id);
            for r in &inst.results {
                definition[r.index()] = Some(Definition::Inst(*id));
            }
            if !is_droppable(&inst.kind, universe) {
                work.extend_from_slice(&inst.args);
            }
        }
        work.extend_from_slice(block.term.operands());
        for edge in block.term.edges().iter().filter(|e| pinned[e.target.index()]) {
            work.extend(edge.args.iter().filter_map(carried));
        }
    }
    while let Some(value) = work.pop() {
        if std::mem::replace(&mut live[value.index()], true) {
            continue;
        }
        match definition[value.index()] {
            Some(Definition::Inst(id)) => work.extend_from_slice(&function.inst(id).args),
            Some(Definition::Param(b, i)) => {
                for edge in cfg.predecessors(b) {
                    let arg = &function.block(edge.from).term.edges()[edge.slot as usize].args[i as usize];
                    work.extend(carried(arg));
                }
            }
            None => {}
        }
    }
    let mut changed = false;
    let mut gone: Vec<Vec<bool>> = vec![Vec::new(); function.blocks.len()];
    let mut any_param = false;
    for b in function.layout.clone() {
        let mut insts = std::mem::take(&mut function.blocks[b.index()].insts);
        let before = insts.len();
        insts.retain(|id| {
            let inst = function.inst(*id);
            !is_droppable(&inst.kind, universe) || inst.results.iter().any(|r| live[r.index()])
        });
        changed |= insts.len() != before;
        let block = &mut function.blocks[b.index()];
        block.insts = insts;
        if !pinned[b.index()] {
            gone[b.index()] = block.params.iter().map(|p| !live[p.index()]).collect();
            any_param |= gone[b.index()].contains(&true);
        }
    }
    if any_param {
        remove_params(function, &gone);
    }
    changed | any_param
}

fn carried(arg: &EdgeArg) -> Option<Value> {
    match arg {
        EdgeArg::Value(v) => Some(*v),
        EdgeArg::Terminator(_) => None,
    }
}
