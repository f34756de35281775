//! The largest number that a value may be, by what computes it: a guess that the induction proves, so that what is known
//! of a value is known behind a cut, too.

use super::super::flow::Flow;
use rewright_llvm::body::{Instruction, Operand, Shape};
use rewright_llvm::types::Type;
use rustc_hash::FxHashMap;

/// Rounds in which what goes round in a loop may become larger; then it may be anything.
const ROUNDS: usize = 4;

/// The widest numbers.
const WIDEST: u32 = 64;

/// The largest number, without a sign, that each value may be, where its type has larger ones.
pub(super) fn largest(flow: &Flow<'_>) -> FxHashMap<String, u128> {
    let mut found: FxHashMap<&str, u128> = FxHashMap::default();
    let mut changed = true;
    let mut round = 0;
    while std::mem::take(&mut changed) {
        for i in flow.order().iter().flat_map(|at| &flow.body.blocks[*at].instructions) {
            let (Some(name), Some(top)) = (i.result.as_deref(), top(&i.ty)) else { continue };
            let Some(most) = most(i, top, &found, flow) else { continue };
            let most = most.min(top);
            let before = found.get(name).copied();
            if before.is_none_or(|before| before < most) {
                found.insert(name, if round < ROUNDS { most } else { top });
                changed = true;
            }
        }
        round += 1;
    }
    let tops: FxHashMap<&str, u128> = flow
        .body
        .blocks
        .iter()
        .flat_map(|block| &block.instructions)
        .filter_map(|i| Some((i.result.as_deref()?, top(&i.ty)?)))
        .collect();
    found.into_iter().filter(|(name, most)| *most < tops[name]).map(|(name, most)| (name.into(), most)).collect()
}

/// The largest number of a type.
fn top(ty: &Type) -> Option<u128> {
    match ty {
        Type::Int(width @ 1..=WIDEST) => Some((1 << width) - 1),
        _ => None,
    }
}

/// The largest number that an instruction gives by what is known of its operands; `None` where nothing is yet. More than
/// `top` is anything.
fn most(i: &Instruction, top: u128, found: &FxHashMap<&str, u128>, flow: &Flow<'_>) -> Option<u128> {
    let of = |operand: &Operand| known(operand, found, flow);
    match &i.shape {
        Shape::Phi(values) => values.iter().filter_map(|(operand, _)| of(operand)).max(),
        Shape::Plain(operands) => match (i.opcode.as_str(), operands.as_slice()) {
            ("zext" | "trunc", [value]) => of(value),
            ("select", [_, one, other]) => Some(of(one)?.max(of(other)?)),
            ("and", [one, other]) => Some(of(one)?.min(of(other)?)),
            ("or" | "xor", [one, other]) => Some(ones(of(one)? | of(other)?)),
            ("add", [one, other]) => of(one)?.checked_add(of(other)?),
            ("mul", [one, other]) => Some(of(one)?.saturating_mul(of(other)?)),
            ("shl", [value, by]) => {
                let (value, by) = (of(value)?, u32::try_from(of(by)?).unwrap_or(u32::MAX));
                Some(if by < WIDEST { value << by } else { top })
            }
            ("lshr", [value, by]) => {
                let value = of(value)?;
                Some(
                    number(by)
                        .and_then(|by| u32::try_from(by).ok())
                        .map_or(value, |by| value.checked_shr(by).unwrap_or(0)),
                )
            }
            ("udiv", [value, by]) => {
                let value = of(value)?;
                Some(number(by).filter(|by| *by != 0).map_or(value, |by| value / by))
            }
            ("urem", [value, by]) => Some(of(value)?.min(of(by)?.saturating_sub(1))),
            _ => Some(top),
        },
        _ => Some(top),
    }
}

/// All bits to the highest one of a number.
fn ones(n: u128) -> u128 {
    u128::MAX.checked_shr(n.leading_zeros()).unwrap_or(0)
}

/// A number that is written, as its type has it.
fn number(operand: &Operand) -> Option<u128> {
    let top = top(&operand.ty)?;
    operand.text.parse::<i128>().ok().map(|n| n as u128 & top)
}

/// The largest number that an operand may be; `None` where what computes it has not been looked at.
fn known(operand: &Operand, found: &FxHashMap<&str, u128>, flow: &Flow<'_>) -> Option<u128> {
    match flow.definition(&operand.text) {
        Some(_) => found.get(operand.text.as_str()).copied(),
        None => number(operand).or_else(|| top(&operand.ty)),
    }
}
