//! What a function of WebAssembly finds when it is called: a context of wasmtime's with a linear memory, made up.
//!
//! wasmtime's front end says of each access what it reaches (`VMMemoryDefinition+0x0`), so what functions load of their
//! context tells where in it the address of the linear memory stands, its size, the stack pointer and the limit of the
//! machine's stack. All else is zero: tables, imports and what the module's data segments hold.
//!
//! **Invariant**: addresses in a context are words that [`Context::pointers`] names, so it can stand anywhere.

use cranelift_codegen::ir::{ArgumentPurpose, Function, GlobalValueData, InstructionData, Type, types};
use rewright_native::runtest::relocate;

/// Bytes for the words of the context itself.
const WORDS: usize = 1 << 14;
/// Where what all modules of a store share stands, and where linear memory begins behind that.
const STORE: usize = WORDS;
/// See [`STORE`].
const LINEAR: usize = 2 * WORDS;
/// Bytes of linear memory.
const SIZE: usize = 2 << 20;

/// A context with its linear memory.
#[derive(Clone, Debug)]
pub(super) struct Context {
    /// The context comes first.
    pub(super) memory: Vec<u8>,
    /// Where words stand that are places in this memory.
    pub(super) pointers: Vec<usize>,
}

impl Context {
    /// What functions of one module find.
    pub(super) fn of<'f>(functions: impl Iterator<Item = &'f Function>) -> Context {
        let mut context = Context { memory: vec![0; LINEAR + SIZE], pointers: vec![] };
        functions.flat_map(words).for_each(|word| context.add(&word));
        context
    }

    fn add(&mut self, word: &Word<'_>) {
        let (value, is_pointer) = match word.name {
            "VMContext+0x8" => (STORE, true),
            "VMMemoryDefinition+0x0" => (LINEAR, true),
            "VMMemoryDefinition+0x8" => (SIZE, false),
            // C has one variable of this kind: its stack, which grows down.
            name if name.starts_with("DefinedGlobal(") && word.ty == types::I32 => (SIZE, false),
            _ => return,
        };
        let size = word.ty.bytes() as usize;
        let Some(bytes) = self.memory[..WORDS].get_mut(word.offset..).and_then(|rest| rest.get_mut(..size)) else {
            return;
        };
        bytes.copy_from_slice(&value.to_le_bytes()[..size]);
        if is_pointer && !self.pointers.contains(&word.offset) {
            self.pointers.push(word.offset);
        }
    }

    /// The memory as it is at an address.
    pub(super) fn at(&self, base: u64) -> Vec<u8> {
        let mut memory = self.memory.clone();
        relocate(&mut memory, &self.pointers, base);
        memory
    }
}

/// Can a function be called with a context alone? Its second parameter is the context of its caller.
pub(super) fn wants_context_only(function: &Function) -> bool {
    let params = &function.signature.params;
    let [context, caller] = params.as_slice() else { return false };
    context.purpose == ArgumentPurpose::VMContext && [context, caller].map(|p| p.value_type) == [types::I64; 2]
}

/// What a function loads of its context.
struct Word<'f> {
    offset: usize,
    ty: Type,
    /// What the front end says it is.
    name: &'f str,
}

fn words(function: &Function) -> Vec<Word<'_>> {
    let dfg = &function.dfg;
    let context = function.special_param(ArgumentPurpose::VMContext);
    let word = |offset: i32, ty, region| {
        let name = dfg.alias_regions.iter().find(|(known, _)| Some(*known) == region)?.1.description.as_ref();
        Some(Word { offset: usize::try_from(offset).ok()?, ty, name })
    };
    let instructions = function.layout.blocks().flat_map(|block| function.layout.block_insts(block));
    let loaded = instructions.filter_map(|inst| match dfg.insts[inst] {
        InstructionData::Load { arg, offset, .. } if Some(arg) == context => {
            let ty = dfg.value_type(dfg.first_result(inst));
            word(offset.into(), ty, dfg.insts[inst].alias_region(dfg))
        }
        _ => None,
    });
    // What the machine's prologue loads.
    let global = function.global_values.values().filter_map(|data| match data {
        GlobalValueData::Load { base, offset, global_type, flags }
            if matches!(function.global_values[*base], GlobalValueData::VMContext) =>
        {
            word((*offset).into(), *global_type, dfg.mem_flags[*flags].alias_region())
        }
        _ => None,
    });
    loaded.chain(global).collect()
}
