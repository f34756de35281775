//! Printing a function such that reading it back gives the same function.
//!
//! Cranelift's own writer loses the memory flags of `atomic_rmw` and `atomic_cas`, byte order among them, and always
//! states calling conventions, so that a text which left them to the reader's host is tied to this one; this is
//! Cranelift's writer with the flags put back and those conventions left out.

use cranelift_codegen::entity::SecondaryMap;
use cranelift_codegen::ir::entities::AnyEntity;
use cranelift_codegen::ir::{Block, Function, Inst, InstructionData, Value};
use cranelift_codegen::isa::CallConv;
use cranelift_codegen::write::{FuncWriter, PlainWriter, decorate_function};
use std::fmt::{self, Write};

/// Which signatures of a function get their calling convention from the reader, not from the text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unstated {
    /// The function's own.
    pub own: bool,
    /// Those that it declares, by number.
    pub declared: Vec<bool>,
}

impl Unstated {
    /// What differs between two readings of one text under two defaults.
    pub fn between(one: &Function, other: &Function) -> Unstated {
        let declared = one.dfg.signatures.values().zip(other.dfg.signatures.values());
        Unstated {
            own: one.signature.call_conv != other.signature.call_conv,
            declared: declared.map(|(a, b)| a.call_conv != b.call_conv).collect(),
        }
    }
}

/// The function as text.
pub fn print(func: &Function) -> String {
    print_as_written(func, &Unstated::default())
}

/// The function as text, without the calling conventions that are `unstated`.
pub fn print_as_written(func: &Function, unstated: &Unstated) -> String {
    let mut out = String::new();
    // Writing to a string does not fail.
    let _ = decorate_function(&mut Writer { unstated }, &mut out, func);
    if unstated.own {
        let stated = func.signature.to_string();
        out = out.replacen(&stated, without_convention(&stated, func.signature.call_conv), 1);
    }
    out
}

/// A signature's text without the convention at its end.
fn without_convention(signature: &str, convention: CallConv) -> &str {
    signature.strip_suffix(&convention.to_string()).map_or(signature, str::trim_end)
}

struct Writer<'a> {
    unstated: &'a Unstated,
}

impl FuncWriter for Writer<'_> {
    fn write_block_header(&mut self, w: &mut dyn Write, func: &Function, block: Block, indent: usize) -> fmt::Result {
        PlainWriter.write_block_header(w, func, block, indent)
    }

    fn write_entity_definition(
        &mut self,
        w: &mut dyn Write,
        func: &Function,
        entity: AnyEntity,
        value: &dyn fmt::Display,
    ) -> fmt::Result {
        let convention = match entity {
            AnyEntity::SigRef(sig) if self.unstated.declared.get(sig.as_u32() as usize) == Some(&true) => {
                func.dfg.signatures[sig].call_conv
            }
            _ => return self.super_entity_definition(w, func, entity, value),
        };
        let stated = value.to_string();
        self.super_entity_definition(w, func, entity, &without_convention(&stated, convention))
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
