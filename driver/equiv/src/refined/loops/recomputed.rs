//! Instructions that may be computed again from what they are given, instead of being carried through a cut.

use super::super::instructions::is_of_operands;
use super::super::symexec::is_arithmetic;
use rewright_llvm::body::{Instruction, Shape};
use rewright_llvm::types::Type;

/// Does it give the same whenever it is given the same? Not what chooses how often it rounds.
pub(super) fn is_computed(i: &Instruction) -> bool {
    let chooses = |callee: &Option<String>| callee.as_ref().is_some_and(|name| name.starts_with("@llvm.fmuladd."));
    match &i.shape {
        Shape::Call { callee, .. } if chooses(callee) => false,
        Shape::Call { callee, bundles: false, .. } => is_arithmetic(callee.as_deref()),
        _ => is_of_operands(i),
    }
}

/// Is it the same wherever it is computed from the same? Not what may be a NaN, of which each has bits of its own.
pub(super) fn is_settled(i: &Instruction) -> bool {
    let rounds = || ["fadd", "fsub", "fmul", "fdiv", "frem", "fptrunc", "fpext"].contains(&i.opcode.as_str());
    let may_be_nan = || matches!(i.shape, Shape::Call { .. }) || rounds();
    is_computed(i) && (matches!(i.ty, Type::Int(_) | Type::Ptr) || !may_be_nan())
}

/// Is it soon computed anew where it is needed? Flags make no difference: one version may have them, and not the other.
pub(super) fn is_light(i: &Instruction) -> bool {
    match &i.shape {
        Shape::Offset { .. } => true,
        Shape::Plain(_) => ["zext", "sext", "trunc"].contains(&i.opcode.as_str()) || i.opcode.starts_with("icmp "),
        _ => false,
    }
}
