//! Opaque instructions on the way out: the originals, cloned with new operands.

use super::{ExportError, Exporter};
use crate::entities::entities_stay;
use crate::import::operands;
use cranelift_codegen::ir::instructions::{InstructionMapper, ValueList};
use cranelift_codegen::ir::{self as clif, InstructionData};
use rewright_cfg_skeleton::ir::{BlockId, InstKind, Terminator};

impl Exporter<'_> {
    /// The original instruction with new operands. Result types are those of the original.
    pub(super) fn opaque(
        &mut self,
        block: clif::Block,
        representative: clif::Inst,
        args: &[clif::Value],
    ) -> Result<clif::Inst, ExportError> {
        let original = &self.original.dfg;
        let data = &original.insts[representative];
        if args.len() != operands(self.original, representative).count() {
            return Err(ExportError::Operands(data.opcode()));
        }
        let handler = match *data {
            InstructionData::ExceptionHandlerAddress { block, .. } => Some(self.handler(block)?),
            _ => None,
        };
        let mut mapper = Clone { original, out: &mut self.out.dfg, args, handler, exception_table: None };
        let data = data.map(&mut mapper);
        Ok(self.append(block, data, original.ctrl_typevar(representative)))
    }

    /// The block that now ends in the call that `block` ended in.
    fn handler(&self, block: clif::Block) -> Result<clif::Block, ExportError> {
        let call = self.original.layout.last_inst(block).ok_or(ExportError::Handler)?;
        let mut ours = self.function.layout.iter().copied();
        let id = ours.find(|id| self.ends_in(*id, call)).ok_or(ExportError::Handler)?;
        let own = self.entry_call.filter(|_| id == self.function.entry());
        own.or(self.blocks[id.index()]).ok_or(ExportError::Handler)
    }

    fn ends_in(&self, id: BlockId, call: clif::Inst) -> bool {
        match self.function.block(id).term {
            Terminator::Opaque { payload, .. } => self.payloads.inst(payload) == Some(call),
            _ => false,
        }
    }

    /// Does an instruction take the address of a handler of the entry's call?
    pub(super) fn entry_is_named(&self) -> bool {
        let insts = self.function.layout.iter().flat_map(|b| &self.function.block(*b).insts);
        insts.map(|i| self.function.inst(*i)).any(|inst| {
            let InstKind::Opaque { payload, .. } = inst.kind else { return false };
            match self.payloads.inst(payload).map(|i| self.original.dfg.insts[i]) {
                Some(InstructionData::ExceptionHandlerAddress { block, .. }) => {
                    let call = self.original.layout.last_inst(block);
                    call.is_some_and(|call| self.ends_in(self.function.entry(), call))
                }
                _ => false,
            }
        })
    }

    /// What Cranelift keeps beside a call or a sequence point.
    pub(super) fn carry_over(&mut self, made: clif::Inst, origin: clif::Inst) {
        if !self.original.dfg.inst_is_valid(origin) {
            return;
        }
        self.locate(made, origin);
        self.out.debug_tags.set(made, self.original.debug_tags.get(origin).iter().cloned());
        if let Some(entries) = self.original.dfg.user_stack_map_entries(origin) {
            self.out.dfg.append_user_stack_map_entries(made, entries.iter().cloned());
        }
    }
}

/// Clones an instruction into another function whose tables are the same, with new operands in order.
pub(super) struct Clone<'a> {
    pub(super) original: &'a clif::DataFlowGraph,
    pub(super) out: &'a mut clif::DataFlowGraph,
    pub(super) args: &'a [clif::Value],
    pub(super) handler: Option<clif::Block>,
    pub(super) exception_table: Option<clif::ExceptionTable>,
}

impl Clone<'_> {
    fn next(&mut self) -> clif::Value {
        // The caller has compared the numbers of operands.
        let (first, rest) = self.args.split_first().expect("as many operands as the original has");
        self.args = rest;
        *first
    }
}

impl InstructionMapper for Clone<'_> {
    fn map_value(&mut self, _: clif::Value) -> clif::Value {
        self.next()
    }
    fn map_value_list(&mut self, list: ValueList) -> ValueList {
        let values: Vec<_> = (0..list.len(&self.original.value_lists)).map(|_| self.next()).collect();
        ValueList::from_slice(&values, &mut self.out.value_lists)
    }
    entities_stay!();
    fn map_exception_table(&mut self, table: clif::ExceptionTable) -> clif::ExceptionTable {
        self.exception_table.unwrap_or(table)
    }
    fn map_block(&mut self, block: clif::Block) -> clif::Block {
        self.handler.unwrap_or(block)
    }
}
