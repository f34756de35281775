//! An answer of the solver as an input: arguments, and a block of memory behind each pointer.
//!
//! The behaviour of callees and the contents of globals in the answer are left out: a replay shows whether that
//! matters.

use super::super::replay::{Block, Bytes, Cell, Datum, Input, InputAddress, Layout, Scalar};
use super::inputs::{Inputs, Leaf};
use rewright_llvm::types::Type;
use rewright_smt::{Expr, Read, Script};

/// Bytes behind a pointer.
const BLOCK: u64 = 64;

/// The input that an answer is, for parameters of some types; `value` gives what it says of a variable.
pub(super) fn input<'t>(
    s: &Script,
    given: &Inputs,
    layout: &Layout<'_>,
    types: impl Iterator<Item = &'t Type>,
    value: impl Fn(Expr) -> Option<u128>,
) -> Input {
    let mut memory = vec![];
    let mut arguments = vec![];
    for (leaves, ty) in given.parameters.iter().zip(types) {
        let lanes = leaves.iter().map(|leaf| argument(s, given, leaf, &value, &mut memory)).collect::<Vec<_>>();
        arguments.extend(datum(layout, ty, &mut lanes.into_iter()));
    }
    Input { arguments, memory, ..Input::default() }
}

/// Lanes as a value of a type.
fn datum(layout: &Layout<'_>, ty: &Type, lanes: &mut dyn Iterator<Item = Scalar>) -> Option<Datum> {
    let Some(parts) = layout.parts(ty).ok()? else { return lanes.next().map(Datum::Scalar) };
    let mut all = vec![];
    for part in &parts {
        all.push(datum(layout, part, lanes)?);
    }
    Some(Datum::Parts(all))
}

fn argument(
    s: &Script,
    given: &Inputs,
    leaf: &Leaf,
    value: &impl Fn(Expr) -> Option<u128>,
    memory: &mut Vec<Block>,
) -> Scalar {
    if value(leaf.value.poison) == Some(1) {
        return Scalar::Poison;
    }
    if leaf.mask.and_then(value).is_some_and(|mask| mask != 0) {
        return Scalar::Undef;
    }
    let bits = value(leaf.value.bits).unwrap_or(0);
    match leaf.value.origin {
        None => Scalar::Bits(bits),
        Some(_) if bits == 0 => Scalar::Null,
        Some(_) => {
            let start = bits as u64;
            let bytes = (0..BLOCK).map(|n| byte(s, given, start.wrapping_add(n), value)).collect();
            let align = 1 << start.trailing_zeros().min(12);
            memory.push(Block { align, bytes: Bytes(bytes) });
            Scalar::Pointer(InputAddress::Block(memory.len() as u32 - 1, 0))
        }
    }
}

/// What the answer says of a byte.
fn byte(s: &Script, given: &Inputs, address: u64, value: &impl Fn(Expr) -> Option<u128>) -> Cell {
    let of = |memory: Expr| {
        let here = |read: &&Read| read.memory == memory && value(read.at) == Some(address.into());
        s.reads().iter().find(here).and_then(|read| value(read.byte)).unwrap_or(0)
    };
    match () {
        () if of(given.poison_memory) != 0 => Cell::Poison,
        () if of(given.mask) != 0 => Cell::Undef,
        () => Cell::Byte(of(given.memory) as u8),
    }
}
