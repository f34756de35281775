//! Calls of a function by itself that it returns at once, of which jumps are made
//! ([`rewright_cfg_skeleton::ir::tail_calls`]).

use crate::import::{Imported, Payloads};
use crate::inline::{called, callee_name};
use cranelift_codegen::ir::{self as clif, ArgumentPurpose, Opcode};
use rewright_cfg_skeleton::ir::tail_calls::jump_for_tail_calls;
use rewright_cfg_skeleton::ir::{Inst, InstKind, Value};
use rewright_typeprop::Universe;

/// Makes jumps of a function's tail calls of itself; gives how many. No other function that may be called has its name.
pub(crate) fn jump(original: &clif::Function, imported: &mut Imported, universe: &Universe) -> usize {
    if knows_its_frame(original) {
        return 0;
    }
    let Imported { function, payloads } = imported;
    let params = function.block(function.entry()).params.clone();
    jump_for_tail_calls(function, universe, |inst| is_own(original, payloads, &params, inst))
}

/// Is something in the function's frame, or can it tell one frame from another?
fn knows_its_frame(f: &clif::Function) -> bool {
    let mut insts = f.layout.blocks().flat_map(|block| f.layout.block_insts(block));
    let asks = |inst| {
        let opcode = f.dfg.insts[inst].opcode();
        matches!(opcode, Opcode::GetFramePointer | Opcode::GetStackPointer | Opcode::GetReturnAddress)
    };
    !f.sized_stack_slots.is_empty() || !f.dynamic_stack_slots.is_empty() || insts.any(asks)
}

/// Does an instruction call the function itself, with what is special about its parameters as it is?
fn is_own(original: &clif::Function, payloads: &Payloads, params: &[Value], inst: &Inst) -> bool {
    let InstKind::Opaque { payload, .. } = inst.kind else { return false };
    let Some(callee) = payloads.inst(payload).and_then(|call| called(original, call)) else { return false };
    let data = &original.dfg.ext_funcs[callee];
    let is_special = |param: &clif::AbiParam| param.purpose != ArgumentPurpose::Normal;
    let mut purposes = original.signature.params.iter().zip(params.iter().zip(&inst.args));
    data.colocated
        && callee_name(original, callee) == Some(original.name.to_string())
        && original.dfg.signatures[data.signature] == original.signature
        && purposes.all(|(purpose, (param, arg))| !is_special(purpose) || param == arg)
}
