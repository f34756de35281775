//! Printing a function such that reading it back gives the same function.
//!
//! Cranelift's own writer loses the memory flags of `atomic_rmw` and `atomic_cas`, byte order among them; this one
//! is Cranelift's with these put back.

use cranelift_codegen::entity::SecondaryMap;
use cranelift_codegen::ir::{Block, Function, Inst, InstructionData, Value};
use cranelift_codegen::write::{FuncWriter, PlainWriter, decorate_function};
use std::fmt::{self, Write};

/// The function as text.
pub fn print(func: &Function) -> String {
    let mut out = String::new();
    // Writing to a string does not fail.
    let _ = decorate_function(&mut WithFlags, &mut out, func);
    out
}

struct WithFlags;

impl FuncWriter for WithFlags {
    fn write_block_header(&mut self, w: &mut dyn Write, func: &Function, block: Block, indent: usize) -> fmt::Result {
        PlainWriter.write_block_header(w, func, block, indent)
    }

    fn write_instruction(
        &mut self,
        w: &mut dyn Write,
        func: &Function,
        aliases: &SecondaryMap<Value, Vec<Value>>,
        inst: Inst,
        indent: usize,
    ) -> fmt::Result {
        let data = &func.dfg.insts[inst];
        let (InstructionData::AtomicRmw { flags, opcode, .. } | InstructionData::AtomicCas { flags, opcode, .. }) =
            *data
        else {
            return PlainWriter.write_instruction(w, func, aliases, inst, indent);
        };
        let mut text = String::new();
        PlainWriter.write_instruction(&mut text, func, aliases, inst, indent)?;
        let opcode = opcode.to_string();
        // `v1 = atomic_rmw.i16 add v2, v3`: flags stand after the opcode and its type.
        let at = text.find(&opcode).map(|start| {
            let rest = &text[start..];
            start + rest.find(' ').unwrap_or(rest.len())
        });
        if let Some(at) = at {
            text.insert_str(at, &func.dfg.mem_flags[flags].to_string());
        }
        w.write_str(&text)
    }
}
