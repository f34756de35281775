//! Which pointers other code may come to know.

use super::body::{Block, Instruction, Shape};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

/// Names of local values that are captured, with all values that they were computed from. `passed` gives those that a
/// call or a return captures; an instruction that accesses memory, compares pointers or computes one from another
/// captures none. A volatile or atomic access captures its address: other code may watch it.
pub fn captured<'b>(blocks: &'b [Block], passed: impl Fn(&'b Instruction) -> Vec<&'b str>) -> BTreeSet<&'b str> {
    captured_by(blocks.iter().flat_map(|block| &block.instructions), passed)
}

/// As [`captured`], by some instructions alone, and those that make what they are given.
pub fn captured_by<'b>(
    all: impl Iterator<Item = &'b Instruction> + Clone,
    passed: impl Fn(&'b Instruction) -> Vec<&'b str>,
) -> BTreeSet<&'b str> {
    let made: FxHashMap<&str, &Instruction> = all.clone().filter_map(|i| Some((i.result.as_deref()?, i))).collect();
    let mut captured: BTreeSet<&str> = BTreeSet::new();
    let mut todo: Vec<&str> = vec![];
    for i in all {
        match &i.shape {
            Shape::Load(from, access) if !access.plain => todo.push(&from.text),
            Shape::Store(value, to, access) if !access.plain => {
                todo.extend([&value.text, &to.text].map(String::as_str))
            }
            Shape::Load(..) | Shape::Phi(_) | Shape::Offset { .. } | Shape::Branch(..) | Shape::Alloca(_) => {}
            Shape::Store(value, ..) => todo.push(&value.text),
            Shape::Plain(_) if i.opcode == "select" || i.opcode == "bitcast" || i.opcode.starts_with("icmp") => {}
            Shape::Call { .. } | Shape::Return(_) => todo.extend(passed(i)),
            _ => todo.extend(holes(i)),
        }
    }
    while let Some(name) = todo.pop() {
        if !captured.insert(name) {
            continue;
        }
        if let Some(i) = made.get(name) {
            match &i.shape {
                Shape::Phi(values) => todo.extend(values.iter().map(|(operand, _)| operand.text.as_str())),
                Shape::Offset { base, .. } => todo.push(&base.text),
                Shape::Plain(operands) => todo.extend(operands.iter().map(|operand| operand.text.as_str())),
                _ => {}
            }
        }
    }
    captured
}

/// All local values that an instruction uses.
pub fn holes(i: &Instruction) -> impl Iterator<Item = &str> {
    i.template.holes.iter().map(String::as_str)
}
