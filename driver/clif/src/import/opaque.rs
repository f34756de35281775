//! Instructions that no pack declares: what they may do, and which are alike.

use crate::entities::entities_stay;
use cranelift_codegen::entity::EntityRef;
use cranelift_codegen::ir::instructions::InstructionMapper;
use cranelift_codegen::ir::{self as clif, InstructionData, Opcode, ValueList};
use rewright_cfg_skeleton::ir::OpaqueEffects;

/// What an instruction that is not modelled may do, from Cranelift's own properties of its opcode.
pub(super) fn effects(func: &clif::Function, inst: clif::Inst) -> OpaqueEffects {
    let data = &func.dfg.insts[inst];
    let opcode = data.opcode();
    // The pinned register is state that no memory region holds, but that only calls and writes of it change.
    if opcode == Opcode::GetPinnedReg {
        return OpaqueEffects::Observes;
    }
    if opcode.is_call() || opcode.can_store() || opcode.other_side_effects() {
        return OpaqueEffects::Writes;
    }
    if opcode.can_trap() {
        return OpaqueEffects::Observes;
    }
    if opcode.can_load() {
        let flags = data.memflags().map(|flags| func.dfg.mem_flags[flags]);
        let pure = flags.is_some_and(|f| f.notrap() && f.readonly() && f.can_move());
        return if pure { OpaqueEffects::Pure } else { OpaqueEffects::Observes };
    }
    let pinned = match data {
        // `nop`, and the registers of this frame: nothing to share, and dropping them gains nothing.
        InstructionData::NullAry { .. } | InstructionData::ExceptionHandlerAddress { .. } => true,
        _ => func.dfg.inst_results(inst).len() != 1,
    };
    if pinned { OpaqueEffects::Pinned } else { OpaqueEffects::Pure }
}

/// Takes the operands out of an instruction, so that what is left can be compared.
pub(super) struct WithoutOperands;

impl InstructionMapper for WithoutOperands {
    fn map_value(&mut self, _: clif::Value) -> clif::Value {
        clif::Value::new(0)
    }
    fn map_value_list(&mut self, _: ValueList) -> ValueList {
        ValueList::new()
    }
    entities_stay!();
    fn map_exception_table(&mut self, table: clif::ExceptionTable) -> clif::ExceptionTable {
        table
    }
    fn map_block(&mut self, block: clif::Block) -> clif::Block {
        block
    }
}
