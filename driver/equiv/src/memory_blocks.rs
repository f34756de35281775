//! Intrinsics of LLVM that set or copy a block of memory.

use rewright_llvm::body::{Instruction, Operand, Shape};

/// What is done to a block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum BlockOperation {
    /// Each byte is set to one value.
    Set,
    /// It is copied from a block that is the same, or has nothing in common with it.
    Copy,
    /// It is copied from a block that may overlap it.
    Move,
}

/// An instruction that sets or copies a block, and is not volatile.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MemoryBlock<'a> {
    pub(crate) operation: BlockOperation,
    /// The address of the block.
    pub(crate) to: &'a Operand,
    /// The byte that it is set to, or the address that it is copied from.
    pub(crate) from: &'a Operand,
    /// How many bytes it has.
    pub(crate) length: &'a Operand,
    /// Attributes of the operands, in this order, at this call.
    pub(crate) promises: &'a [Vec<String>],
}

/// How the intrinsics are called, up to the type of the length.
const INTRINSICS: [(&str, BlockOperation); 5] = [
    ("@llvm.memset.p0.", BlockOperation::Set),
    ("@llvm.memset.inline.p0.", BlockOperation::Set),
    ("@llvm.memcpy.p0.p0.", BlockOperation::Copy),
    ("@llvm.memcpy.inline.p0.p0.", BlockOperation::Copy),
    ("@llvm.memmove.p0.p0.", BlockOperation::Move),
];

impl<'a> MemoryBlock<'a> {
    /// What the instruction does to a block, where it is one of these intrinsics.
    pub(crate) fn of(i: &'a Instruction) -> Option<MemoryBlock<'a>> {
        let Shape::Call { callee: Some(callee), args, promises, bundles: false, .. } = &i.shape else { return None };
        let (_, operation) = INTRINSICS.into_iter().find(|(name, _)| callee.starts_with(name))?;
        let [to, from, length, volatile] = args.as_slice() else { return None };
        let is_plain = ["false", "0"].contains(&volatile.text.as_str());
        is_plain.then_some(MemoryBlock { operation, to, from, length, promises })
    }

    /// How many bytes it has, where that is a number.
    pub(crate) fn bytes(&self) -> Option<u64> {
        self.length.text.parse().ok()
    }
}
