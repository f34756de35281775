//! Block parameters that are always the same value.
//!
//! "Trivial" parameters of Braun et al., "Simple and Efficient Construction of Static Single Assignment Form" (CC
//! 2013): all arguments are one value, or the parameter itself. That value is defined above the block, since it is
//! available at the end of every predecessor that is not below the block.

use super::{Renaming, pinned_blocks, remove_params};
use crate::ir::{Cfg, EdgeArg, Function, Value};

/// Replaces them by that value. `cfg` knows the current blocks and edges.
pub(super) fn remove_redundant(function: &mut Function, cfg: &Cfg) -> bool {
    let pinned = pinned_blocks(function);
    let mut renaming = Renaming::new(function);
    let mut gone: Vec<Vec<bool>> = vec![Vec::new(); function.blocks.len()];
    // In reverse post-order arguments have been renamed before they are looked at, except for back edges.
    for b in cfg.reverse_post_order().iter().filter(|b| !pinned[b.index()]) {
        for (i, param) in function.block(*b).params.iter().enumerate() {
            if let Some(value) = only_argument(function, cfg, &mut renaming, *b, *param, i) {
                renaming.replace(*param, value);
                gone[b.index()].resize(i, false);
                gone[b.index()].push(true);
            }
        }
    }
    if renaming.any {
        remove_params(function, &gone);
    }
    renaming.apply(function)
}

fn only_argument(
    function: &Function,
    cfg: &Cfg,
    renaming: &mut Renaming,
    block: crate::ir::BlockId,
    param: Value,
    index: usize,
) -> Option<Value> {
    let mut only = None;
    for edge in cfg.predecessors(block) {
        let EdgeArg::Value(v) = function.block(edge.from).term.edges()[edge.slot as usize].args[index] else {
            return None;
        };
        let v = renaming.find(v);
        if v != param && only.is_some_and(|o| o != v) {
            return None;
        }
        if v != param {
            only = Some(v);
        }
    }
    only
}
