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

/// How the intrinsics are called, up to the types of their pointers, and how many these are.
const INTRINSICS: [(&str, usize, BlockOperation); 5] = [
    ("@llvm.memset.", 1, BlockOperation::Set),
    ("@llvm.memset.inline.", 1, BlockOperation::Set),
    ("@llvm.memcpy.", 2, BlockOperation::Copy),
    ("@llvm.memcpy.inline.", 2, BlockOperation::Copy),
    ("@llvm.memmove.", 2, BlockOperation::Move),
];

/// How a pointer into the usual address space is called in names of intrinsics, today and when pointers had types.
const POINTERS: [&str; 2] = ["p0", "p0i8"];

/// The operation of an intrinsic of this name.
fn operation(name: &str) -> Option<BlockOperation> {
    INTRINSICS.into_iter().find_map(|(start, pointers, operation)| {
        let parts: Vec<&str> = name.strip_prefix(start)?.split('.').collect();
        let is_one = parts.len() == pointers + 1 && parts[..pointers].iter().all(|part| POINTERS.contains(part));
        is_one.then_some(operation)
    })
}

impl<'a> MemoryBlock<'a> {
    /// What the instruction does to a block, where it is one of these intrinsics.
    pub(crate) fn of(i: &'a Instruction) -> Option<MemoryBlock<'a>> {
        let Shape::Call { callee: Some(callee), args, promises, bundles: false, .. } = &i.shape else { return None };
        let operation = operation(callee)?;
        let [to, from, length, volatile] = args.as_slice() else { return None };
        let is_plain = ["false", "0"].contains(&volatile.text.as_str());
        is_plain.then_some(MemoryBlock { operation, to, from, length, promises })
    }

    /// How many bytes it has, where that is a number.
    pub(crate) fn bytes(&self) -> Option<u64> {
        self.length.text.parse().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::{BlockOperation, operation};

    #[test]
    fn blocks_of_the_usual_address_space_are_known_by_name() {
        for (name, known) in [
            ("@llvm.memset.p0.i64", Some(BlockOperation::Set)),
            ("@llvm.memset.p0i8.i64", Some(BlockOperation::Set)),
            ("@llvm.memset.inline.p0.i64", Some(BlockOperation::Set)),
            ("@llvm.memcpy.p0i8.p0i8.i32", Some(BlockOperation::Copy)),
            ("@llvm.memmove.p0.p0.i64", Some(BlockOperation::Move)),
            ("@llvm.memset.p1.i64", None),
            ("@llvm.memcpy.p0.p3.i64", None),
            ("@llvm.memset.element.unordered.atomic.p0.i64", None),
            ("@memset", None),
        ] {
            assert_eq!(operation(name), known, "{name}");
        }
    }
}
