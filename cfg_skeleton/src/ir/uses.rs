//! Places where values are used.

use super::{BlockId, EdgeArg, Function, InstId, Value};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

/// A place where a value is used, with the block at whose end or in which it must be available.
#[derive(Clone, Copy)]
pub(crate) enum Use {
    /// An operand of an instruction.
    Operand(BlockId, InstId, u32),
    /// An operand of a block's terminator.
    Terminator(BlockId, u32),
    /// What an edge carries: the slot of the edge, and the position of the argument.
    Edge(BlockId, u32, u32),
}

impl Use {
    pub(crate) fn block(self) -> BlockId {
        match self {
            Use::Operand(b, ..) | Use::Terminator(b, _) | Use::Edge(b, ..) => b,
        }
    }

    /// Uses another value there.
    pub(crate) fn replace(self, function: &mut Function, by: Value) {
        match self {
            Use::Operand(_, inst, i) => function.insts[inst.index()].args[i as usize] = by,
            Use::Terminator(b, i) => function.blocks[b.index()].term.operands_mut()[i as usize] = by,
            Use::Edge(b, slot, i) => {
                let mut edges = function.blocks[b.index()].term.edges_mut();
                edges[slot as usize].args[i as usize] = EdgeArg::Value(by);
            }
        }
    }
}

/// Visits the uses of values in a block: by its instructions, its terminator, and its edges.
pub(crate) fn uses(function: &Function, b: BlockId, mut visit: impl FnMut(Value, Use)) {
    let block = function.block(b);
    for id in &block.insts {
        for (i, v) in function.inst(*id).args.iter().enumerate() {
            visit(*v, Use::Operand(b, *id, i as u32));
        }
    }
    for (i, v) in block.term.operands().iter().enumerate() {
        visit(*v, Use::Terminator(b, i as u32));
    }
    for (slot, edge) in block.term.edges().iter().enumerate() {
        for (i, arg) in edge.args.iter().enumerate() {
            if let EdgeArg::Value(v) = arg {
                visit(*v, Use::Edge(b, slot as u32, i as u32));
            }
        }
    }
}

impl Function {
    /// The values that instructions, terminators and edges use.
    pub fn used_values(&self) -> BTreeSet<Value> {
        let mut used = BTreeSet::new();
        for block in &self.layout {
            uses(self, *block, |value, _| {
                used.insert(value);
            });
        }
        used
    }
}

/// Replaces values by others, and these by others again.
pub(crate) fn replace_uses(f: &mut Function, instead: &FxHashMap<Value, Value>) {
    let mut changed: Vec<(Use, Value)> = vec![];
    for block in &f.layout {
        uses(f, *block, |value, at| {
            let mut by = value;
            while let Some(next) = instead.get(&by) {
                by = *next;
            }
            if by != value {
                changed.push((at, by));
            }
        });
    }
    changed.into_iter().for_each(|(at, by)| at.replace(f, by));
}
