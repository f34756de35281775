//! Where values are defined, to follow them backwards. A view of one state of a function: changes make it stale.

use super::{BlockId, Function, InstId};

/// Where a value of a function comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Definition {
    /// A parameter of this block.
    Param(BlockId, usize),
    /// A result of this instruction.
    Result(BlockId, InstId, usize),
}

impl Definition {
    /// The block that it is in.
    pub fn block(self) -> BlockId {
        match self {
            Definition::Param(block, _) | Definition::Result(block, ..) => block,
        }
    }

    /// The instruction, if it is not a parameter's.
    pub fn inst(self) -> Option<InstId> {
        match self {
            Definition::Param(..) => None,
            Definition::Result(_, inst, _) => Some(inst),
        }
    }
}

/// By value: its definition; `None` for values that nothing in the layout defines.
pub fn definitions(function: &Function) -> Vec<Option<Definition>> {
    let mut found = vec![None; function.values.len()];
    for b in &function.layout {
        for (i, p) in function.block(*b).params.iter().enumerate() {
            found[p.index()] = Some(Definition::Param(*b, i));
        }
        for id in &function.block(*b).insts {
            for (i, r) in function.inst(*id).results.iter().enumerate() {
                found[r.index()] = Some(Definition::Result(*b, *id, i));
            }
        }
    }
    found
}
