//! Conditions that a loop does not change, and what computes them before it.

use crate::ir::{BlockId, Cfg, Definition, Function, InstId, LoopId, Terminator, Value, definitions};
use rewright_typeprop::Universe;

/// Instructions that may be computed again before a loop.
const MAX_EXPRESSION: usize = 8;

/// A condition that a loop does not change.
pub(super) struct Condition {
    /// As the loop has it.
    pub(super) value: Value,
    /// What computes it from values that are known before the loop, operands first.
    pub(super) expression: Vec<InstId>,
}

/// Branches of a loop that always go the same way while it runs, with their conditions.
pub(super) fn steady_branches(
    function: &Function,
    cfg: &Cfg,
    universe: &Universe,
    id: LoopId,
) -> Vec<(BlockId, Condition)> {
    let definition = definitions(function);
    let blocks = cfg.loop_blocks(id).iter().filter(|block| cfg.loop_of(**block) == Some(id));
    let steady = |block: &BlockId| {
        let Terminator::Branch { cond, .. } = function.block(*block).term else { return None };
        let mut expression = vec![];
        // Each is reached by way of its users.
        let mut work = vec![cond];
        while let Some(value) = work.pop() {
            let Some(Definition::Result(home, inst, _)) = definition[value.index()] else {
                let outside = definition[value.index()].is_some_and(|d| !cfg.loop_contains(id, d.block()));
                if outside { continue } else { return None }
            };
            if !cfg.loop_contains(id, home) {
                continue;
            }
            if !function.inst(inst).is_silent(universe) || expression.len() == MAX_EXPRESSION {
                return None;
            }
            expression.retain(|other| *other != inst);
            expression.push(inst);
            work.extend(&function.inst(inst).args);
        }
        expression.reverse();
        Some((*block, Condition { value: cond, expression }))
    };
    blocks.filter_map(steady).collect()
}
