//! A function of which blocks are copied, and values brought to where the copies meet.

use super::rename::rename;
use crate::ir::{Block, BlockId, Cfg, Counts, Edge, EdgeArg, Function, Inst, InstId, InstKind, Terminator, Value};
use rewright_typeprop::Ty;
use smallvec::SmallVec;
use std::collections::BTreeMap;

/// The role of a block of a variant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Part {
    /// It is a copy of a block of the original.
    Copy(BlockId),
    /// It has the parameters of a block of the original, and only chooses between copies of that.
    Choice(BlockId),
}

impl Part {
    /// The block of the original: control arrives here where it arrives there.
    pub(super) fn of(self) -> BlockId {
        match self {
            Part::Copy(of) | Part::Choice(of) => of,
        }
    }
}

/// What a variant's parts are copies of.
#[derive(Clone, Debug)]
pub(super) struct Witness {
    /// By block: what it stands for.
    pub(super) blocks: Vec<Part>,
    /// Parameters that copies have beyond those of the original, and the values of the original that they stand for.
    pub(super) params: BTreeMap<Value, Value>,
}

/// A function of which blocks are being copied. Operands name values of the original until [`Copies::finish`].
pub(super) struct Copies<'a> {
    original: &'a Function,
    function: Function,
    blocks: Vec<Part>,
    /// By value: the value of the original that it is a copy of, or itself.
    copy_of: Vec<Value>,
}

impl<'a> Copies<'a> {
    /// Each block is the only copy of itself.
    pub(super) fn new(original: &'a Function) -> Self {
        Copies {
            original,
            function: original.clone(),
            blocks: (0..original.blocks.len() as u32).map(|b| Part::Copy(BlockId(b))).collect(),
            copy_of: (0..original.values.len() as u32).map(Value).collect(),
        }
    }

    /// Copies blocks of the original. Edges between them lead to the copies, others where they lead in the original.
    pub(super) fn copy(&mut self, blocks: &[BlockId]) -> BTreeMap<BlockId, BlockId> {
        let copies: BTreeMap<BlockId, BlockId> = blocks.iter().map(|b| (*b, self.add_block(Part::Copy(*b)))).collect();
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

    /// Adds a block that chooses between copies of a block, of which it has the parameters. It is executed as often as
    /// another one.
    pub(super) fn choice(&mut self, of: BlockId, as_often_as: BlockId) -> BlockId {
        let choice = self.add_block(Part::Choice(of));
        let original = self.original;
        let params = original.block(of).params.iter().map(|p| self.value(*p)).collect();
        let Block { cold, counts, .. } = *original.block(as_often_as);
        let data = &mut self.function.blocks[choice.index()];
        (data.params, data.cold, data.counts) = (params, cold, Counts { trips: None, ..counts });
        choice
    }

    /// Computes a value of the original again in a block that chooses. `expression` are the instructions that compute it
    /// from what is known there, operands first.
    pub(super) fn again(&mut self, choice: BlockId, value: Value, expression: &[InstId]) -> Value {
        let mut made: BTreeMap<Value, Value> = BTreeMap::new();
        for id in expression {
            let Inst { kind, args, results, .. } = self.original.inst(*id);
            let args: Vec<Value> = args.iter().map(|v| made.get(v).copied().unwrap_or(*v)).collect();
            let types: Vec<Ty> = results.iter().map(|v| self.original.ty(*v)).collect();
            let again = self.compute(choice, kind.clone(), &args, &types);
            made.extend(results.iter().copied().zip(again));
        }
        made.get(&value).copied().unwrap_or(value)
    }

    /// Computes something new in a block that chooses.
    pub(super) fn compute(
        &mut self,
        choice: BlockId,
        kind: InstKind,
        args: &[Value],
        types: &[Ty],
    ) -> SmallVec<[Value; 1]> {
        let id = self.function.append(choice, kind, args, types);
        let results = self.function.inst(id).results.clone();
        self.copy_of.extend(&results);
        results
    }

    /// Has a block choose one of two copies by a condition.
    pub(super) fn choose(&mut self, choice: BlockId, cond: Value, copies: [BlockId; 2]) {
        let args: SmallVec<[EdgeArg; 2]> =
            self.function.block(choice).params.iter().map(|param| EdgeArg::Value(*param)).collect();
        let [then, els] = copies.map(|target| Edge { target, args: args.clone() });
        self.function.blocks[choice.index()].term = Terminator::Branch { cond, then, els };
    }

    /// Has a copy of a block always go the way that its branch goes first (0) or second (1).
    pub(super) fn decide(&mut self, block: BlockId, slot: usize) {
        let term = &mut self.function.blocks[block.index()].term;
        let edge = term.edges()[slot].clone();
        *term = Terminator::Jump(edge);
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

    fn add_block(&mut self, part: Part) -> BlockId {
        self.blocks.push(part);
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
