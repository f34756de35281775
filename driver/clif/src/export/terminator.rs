//! Terminators on the way out, with what their edges carry.

use super::opaque::Clone;
use super::{ExportError, Exporter, trap_code};
use crate::import::operands;
use cranelift_codegen::ir::instructions::ValueList;
use cranelift_codegen::ir::{
    self as clif, BlockArg, BlockCall, ExceptionTableData, ExceptionTableItem, InstructionData, JumpTableData, Opcode,
};
use rewright_cfg_skeleton::ir::{BlockId, Edge, EdgeArg, PayloadId, Terminator, Value};
use smallvec::SmallVec;

impl Exporter<'_> {
    fn edge(&mut self, edge: &Edge) -> Result<BlockCall, ExportError> {
        let target = self.blocks[edge.target.index()].expect("the target of a reachable edge is reachable");
        let args: SmallVec<[BlockArg; 4]> = edge
            .args
            .iter()
            .map(|arg| {
                Ok(match *arg {
                    EdgeArg::Value(value) => BlockArg::Value(self.value(value)?),
                    EdgeArg::Terminator(n) if n % 2 == 0 => BlockArg::TryCallRet(n / 2),
                    EdgeArg::Terminator(n) => BlockArg::TryCallExn(n / 2),
                })
            })
            .collect::<Result<_, ExportError>>()?;
        Ok(BlockCall::new(target, args, &mut self.out.dfg.value_lists))
    }

    pub(super) fn terminator(&mut self, id: BlockId, block: clif::Block) -> Result<(), ExportError> {
        let term = &self.function.block(id).term;
        let block = match self.entry_call.filter(|_| id == self.function.entry()) {
            Some(call) => {
                let destination = BlockCall::new(call, [], &mut self.out.dfg.value_lists);
                self.append(block, InstructionData::Jump { opcode: Opcode::Jump, destination }, clif::types::INVALID);
                call
            }
            None => block,
        };
        let made = match term {
            Terminator::Jump(edge) => {
                let data = InstructionData::Jump { opcode: Opcode::Jump, destination: self.edge(edge)? };
                self.append(block, data, clif::types::INVALID)
            }
            Terminator::Branch { cond, then, els } => {
                let blocks = [self.edge(then)?, self.edge(els)?];
                let data = InstructionData::Brif { opcode: Opcode::Brif, arg: self.value(*cond)?, blocks };
                self.append(block, data, clif::types::INVALID)
            }
            Terminator::Switch { index, targets, default } => {
                let default = self.edge(default)?;
                let targets = targets.iter().map(|e| self.edge(e)).collect::<Result<Vec<_>, _>>()?;
                let table = self.out.create_jump_table(JumpTableData::new(default, &targets));
                let data = InstructionData::BranchTable { opcode: Opcode::BrTable, arg: self.value(*index)?, table };
                self.append(block, data, clif::types::INVALID)
            }
            Terminator::Return(values) => {
                let values = self.values(values)?;
                let args = ValueList::from_iter(values, &mut self.out.dfg.value_lists);
                self.append(block, InstructionData::MultiAry { opcode: Opcode::Return, args }, clif::types::INVALID)
            }
            Terminator::Trap { code } => {
                let data = InstructionData::Trap { opcode: Opcode::Trap, code: trap_code(*code)? };
                self.append(block, data, clif::types::INVALID)
            }
            Terminator::Opaque { payload, args, targets } => {
                let made = self.opaque_terminator(block, *payload, args, targets)?;
                self.carry_over(made, self.payloads.inst(*payload).ok_or(ExportError::Payload(*payload))?);
                return Ok(());
            }
        };
        // A block that is still the original's ends where the original ended.
        let origin = self.payloads.blocks.get(id.index()).and_then(|b| self.original.layout.last_inst(*b));
        if let Some(origin) = origin
            && self.original.dfg.insts[origin].opcode() == self.out.dfg.insts[made].opcode()
        {
            self.locate(made, origin);
        }
        Ok(())
    }

    fn opaque_terminator(
        &mut self,
        block: clif::Block,
        payload: PayloadId,
        args: &[Value],
        targets: &[Edge],
    ) -> Result<clif::Inst, ExportError> {
        let representative = self.payloads.inst(payload).ok_or(ExportError::Payload(payload))?;
        let args = self.values(args)?;
        let data = &self.original.dfg.insts[representative];
        let bad = || ExportError::Operands(data.opcode());
        if args.len() != operands(self.original, representative).count() {
            return Err(bad());
        }
        let mut exception_table = None;
        if let Some(table) = data.exception_table() {
            let table = &self.original.dfg.exception_tables[table];
            let mut calls = targets.iter().map(|e| self.edge(e)).collect::<Result<Vec<_>, _>>()?;
            let normal = calls.pop().ok_or_else(bad)?;
            let mut calls = calls.into_iter();
            let mut contexts = args.iter().skip(self.original.dfg.inst_args(representative).len());
            let mut items = Vec::new();
            for item in table.items() {
                items.push(match item {
                    ExceptionTableItem::Tag(tag, _) => ExceptionTableItem::Tag(tag, calls.next().ok_or_else(bad)?),
                    ExceptionTableItem::Default(_) => ExceptionTableItem::Default(calls.next().ok_or_else(bad)?),
                    ExceptionTableItem::Context(_) => ExceptionTableItem::Context(*contexts.next().ok_or_else(bad)?),
                });
            }
            let table = ExceptionTableData::new(table.signature(), normal, items);
            exception_table = Some(self.out.dfg.exception_tables.push(table));
        } else if !targets.is_empty() {
            return Err(bad());
        }
        let original = &self.original.dfg;
        let mut mapper = Clone { original, out: &mut self.out.dfg, args: &args, handler: None, exception_table };
        let data = data.map(&mut mapper);
        Ok(self.append(block, data, original.ctrl_typevar(representative)))
    }
}
