//! A function of which blocks are copied, and values brought to where the copies meet.

use super::rename::rename;
use crate::ir::{Block, BlockId, Cfg, Counts, Edge, Function, Inst, InstId, Terminator, Value};
use smallvec::SmallVec;
use std::collections::BTreeMap;

/// What a variant's parts are copies of.
#[derive(Clone, Debug)]
pub(super) struct Witness {
    /// By block: the block of the original; none for one that only chooses between copies.
    pub(super) blocks: Vec<Option<BlockId>>,
    /// Parameters that copies have beyond those of the original, and the values of the original that they stand for.
    pub(super) params: BTreeMap<Value, Value>,
}

/// A function of which blocks are being copied. Operands name values of the original until [`Copies::finish`].
pub(super) struct Copies<'a> {
    original: &'a Function,
    function: Function,
    blocks: Vec<Option<BlockId>>,
    /// By value: the value of the original that it is a copy of, or itself.
    copy_of: Vec<Value>,
}

impl<'a> Copies<'a> {
    /// Each block is the only copy of itself.
    pub(super) fn new(original: &'a Function) -> Self {
        Copies {
            original,
            function: original.clone(),
            blocks: (0..original.blocks.len() as u32).map(|b| Some(BlockId(b))).collect(),
            copy_of: (0..original.values.len() as u32).map(Value).collect(),
        }
    }

    /// Copies blocks of the original. Edges between them lead to the copies, others where they lead in the original.
    pub(super) fn copy(&mut self, blocks: &[BlockId]) -> BTreeMap<BlockId, BlockId> {
        let copies: BTreeMap<BlockId, BlockId> = blocks.iter().map(|b| (*b, self.add_block(Some(*b)))).collect();
        let original = self.original;
        for (of, copy) in &copies {
            let Block { params, insts, term, cold, counts, must_progress } = original.block(*of);
            let params = params.iter().map(|p| self.value(*p)).collect();
            let insts = insts.iter().map(|id| self.inst(original.inst(*id))).collect();
            let mut term = term.clone();
            for edge in term.edges_mut() {
                edge.target = copies.get(&edge.target).copied().unwrap_or(edge.target);
            }
            let data = Block { params, insts, term, cold: *cold, counts: *counts, must_progress: *must_progress };
            self.function.blocks[copy.index()] = data;
        }
        copies
    }

    /// Has the edges from one block to another lead to a copy of the other.
    pub(super) fn redirect(&mut self, from: BlockId, target: BlockId, to: BlockId) {
        for edge in self.function.blocks[from.index()].term.edges_mut() {
            if edge.target == target {
                edge.target = to;
            }
        }
    }

    /// Where one block jumps to another, computes a condition anew, and jumps there or to a copy by how it comes out.
    /// `expression` are the instructions that compute it, operands first.
    pub(super) fn choose(&mut self, from: BlockId, cond: Value, expression: &[InstId], [then, els]: [BlockId; 2]) {
        let chooser = self.add_block(None);
        let mut made: BTreeMap<Value, Value> = BTreeMap::new();
        let mut insts = vec![];
        for id in expression {
            let inst = self.original.inst(*id);
            let results = inst.results.iter().map(|v| {
                let result = self.function.add_value(self.original.ty(*v));
                self.copy_of.push(result);
                made.insert(*v, result);
                result
            });
            let results = results.collect();
            let args = inst.args.iter().map(|v| made.get(v).copied().unwrap_or(*v)).collect();
            insts.push(self.add_inst(Inst { kind: inst.kind.clone(), args, results, origin: inst.origin }));
        }
        let args = match &self.function.block(from).term {
            Terminator::Jump(edge) => edge.args.clone(),
            _ => unreachable!("the block before a loop jumps into it"),
        };
        let (cond, cold) = (made.get(&cond).copied().unwrap_or(cond), self.function.block(from).cold);
        let Counts { executions, share, .. } = self.function.block(from).counts;
        let data = &mut self.function.blocks[chooser.index()];
        let edge = |target| Edge { target, args: args.clone() };
        (data.insts, data.cold) = (insts, cold);
        (data.counts.executions, data.counts.share) = (executions, share);
        data.term = Terminator::Branch { cond, then: edge(then), els: edge(els) };
        self.function.blocks[from.index()].term = Terminator::Jump(Edge { target: chooser, args: SmallVec::new() });
    }

    /// A block, to change what is known of how often it runs.
    pub(super) fn block_mut(&mut self, block: BlockId) -> &mut Block {
        &mut self.function.blocks[block.index()]
    }

    /// Has each use take the latest copy of its value. None where an edge that must stay would have to carry more.
    pub(super) fn finish(self) -> Option<(Function, Witness)> {
        let Copies { mut function, blocks, copy_of, .. } = self;
        let cfg = Cfg::new(&function);
        function.layout.retain(|b| cfg.is_reachable(*b));
        let params = rename(&mut function, &cfg, &copy_of)?;
        Some((function, Witness { blocks, params }))
    }

    fn add_block(&mut self, of: Option<BlockId>) -> BlockId {
        self.blocks.push(of);
        self.function.add_block()
    }

    fn add_inst(&mut self, inst: Inst) -> InstId {
        self.function.insts.push(inst);
        InstId(self.function.insts.len() as u32 - 1)
    }

    fn inst(&mut self, of: &Inst) -> InstId {
        let results = of.results.iter().map(|v| self.value(*v)).collect();
        self.add_inst(Inst { results, ..of.clone() })
    }

    fn value(&mut self, of: Value) -> Value {
        self.copy_of.push(of);
        self.function.add_value(self.original.ty(of))
    }
}
