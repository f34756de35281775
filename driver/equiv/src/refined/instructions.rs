//! Instructions that no text has, and what is counted of those that texts have.

use rewright_llvm::body::{Body, Instruction, MemoryAccess, Operand, Shape, Template};
use rewright_llvm::types::Type;
use rustc_hash::FxHashMap;

/// Goes to a block.
pub(super) fn jump(label: &str) -> Instruction {
    made(None, Type::Void, "br", Shape::Jump(label.into()), taking([]))
}

/// One of several values, by the block that control comes from.
pub(super) fn phi(result: String, ty: Type, values: Vec<(Operand, String)>) -> Instruction {
    let template = taking(values.iter().map(|(value, _)| value));
    made(Some(result), ty, "phi", Shape::Phi(values), template)
}

/// Computes a value, without effects.
pub(super) fn plain(result: &str, ty: &Type, opcode: &str, operands: Vec<Operand>) -> Instruction {
    let template = taking(&operands);
    made(Some(result.to_string()), ty.clone(), opcode, Shape::Plain(operands), template)
}

/// Reads a value that is called as it is where it is stored.
pub(super) fn load(value: &Operand, address: &Operand, said: MemoryAccess) -> Instruction {
    let template = taking([address]);
    made(Some(value.text.clone()), value.ty.clone(), "load", Shape::Load(address.clone(), said), template)
}

fn made(result: Option<String>, ty: Type, opcode: &str, shape: Shape, template: Template) -> Instruction {
    let opcode = opcode.to_string();
    Instruction { result, ty, opcode, flags: vec![], indices: vec![], shape, template, bare: None, metadata: vec![] }
}

/// Does it compute a value of its operands alone? A value that is frozen is chosen, and `va_arg` reads a list.
pub(super) fn is_of_operands(i: &Instruction) -> bool {
    match &i.shape {
        Shape::Plain(_) => !["freeze", "va_arg"].contains(&i.opcode.as_str()),
        Shape::Offset { .. } => true,
        _ => false,
    }
}

/// A template that lists an instruction's operands and has no text.
pub(super) fn taking<'o>(operands: impl IntoIterator<Item = &'o Operand>) -> Template {
    let locals = operands.into_iter().filter(|operand| operand.is_local());
    Template { pieces: vec![], holes: locals.map(|operand| operand.text.clone()).collect() }
}

/// How often a body calls each function.
pub(super) fn calls(body: &Body) -> FxHashMap<&str, usize> {
    let mut found = FxHashMap::default();
    for i in body.blocks.iter().flat_map(|block| &block.instructions) {
        if let Shape::Call { callee: Some(callee), .. } = &i.shape {
            *found.entry(callee.as_str()).or_default() += 1;
        }
    }
    found
}
