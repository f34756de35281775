//! Between which numbers a value may be, by what computes it: a guess that the induction proves, so that what is known of a
//! value is known behind a cut, too.

use super::super::facts::Interval;
use super::super::flow::Flow;
use rewright_llvm::body::{Instruction, Operand, Shape};
use rewright_llvm::types::Type;
use rustc_hash::FxHashMap;

/// Rounds in which the values that a loop carries may be more; then they may be anything.
const ROUNDS: usize = 4;

/// The widest numbers.
const WIDEST: u32 = 64;

/// Between which numbers, without a sign, values may be, where their types have others.
pub(super) fn ranges(flow: &Flow<'_>) -> FxHashMap<String, Interval> {
    let mut found: FxHashMap<&str, Interval> = FxHashMap::default();
    let mut all: FxHashMap<&str, Interval> = FxHashMap::default();
    let (mut changed, mut round) = (true, 0);
    while std::mem::take(&mut changed) {
        for i in flow.order().iter().flat_map(|at| &flow.body.blocks[*at].instructions) {
            let (Some(name), Some(any)) = (i.result.as_deref(), any(&i.ty)) else { continue };
            all.insert(name, any);
            let Some(range) = range(i, any, &found, flow) else { continue };
            let range = if range.most > any.most { any } else { range };
            let before = found.get(name).copied();
            let both = before.map_or(range, |before| joined(before, range));
            if before != Some(both) {
                found.insert(name, if round < ROUNDS { both } else { any });
                changed = true;
            }
        }
        round += 1;
    }
    found.into_iter().filter(|(name, range)| all[name] != *range).map(|(name, range)| (name.into(), range)).collect()
}

/// All numbers of a type.
fn any(ty: &Type) -> Option<Interval> {
    match ty {
        Type::Int(width @ 1..=WIDEST) => Some(Interval { least: 0, most: (1 << width) - 1 }),
        _ => None,
    }
}

fn joined(one: Interval, other: Interval) -> Interval {
    Interval { least: one.least.min(other.least), most: one.most.max(other.most) }
}

/// Between which numbers the result of an instruction is, by what is known of its operands; `None` where nothing is yet. With
/// more than `any` has, it is anything.
fn range(i: &Instruction, any: Interval, found: &FxHashMap<&str, Interval>, flow: &Flow<'_>) -> Option<Interval> {
    let of = |operand: &Operand| known(operand, found, flow);
    let operands = match &i.shape {
        Shape::Phi(values) => return values.iter().filter_map(|(operand, _)| of(operand)).reduce(joined),
        Shape::Plain(operands) => operands.as_slice(),
        _ => return Some(any),
    };
    let below = |most: u128| Interval { least: 0, most };
    Some(match (i.opcode.as_str(), operands) {
        ("zext" | "trunc", [value]) => of(value)?,
        ("select", [_, one, other]) => joined(of(one)?, of(other)?),
        (opcode, [one, other]) => {
            let (one, other) = (of(one)?, of(other)?);
            let is_number = other.least == other.most;
            match opcode {
                "and" => below(one.most.min(other.most)),
                "or" | "xor" => below(ones(one.most | other.most)),
                "add" => Interval { least: one.least + other.least, most: one.most + other.most },
                "sub" if one.least >= other.most => {
                    Interval { least: one.least - other.most, most: one.most - other.least }
                }
                "mul" => Interval { least: one.least * other.least, most: one.most * other.most },
                // By more than its width it is poison.
                "shl" if other.most < u128::from(WIDEST) => {
                    Interval { least: one.least << other.least, most: one.most << other.most }
                }
                "lshr" if is_number && other.most < u128::from(WIDEST) => {
                    Interval { least: one.least >> other.least, most: one.most >> other.least }
                }
                "udiv" if is_number && other.most > 0 => {
                    Interval { least: one.least / other.most, most: one.most / other.most }
                }
                "lshr" | "udiv" => below(one.most),
                "urem" if other.most > 0 => below(one.most.min(other.most - 1)),
                _ => any,
            }
        }
        _ => any,
    })
}

/// All bits to the highest one of a number.
fn ones(n: u128) -> u128 {
    u128::MAX.checked_shr(n.leading_zeros()).unwrap_or(0)
}

/// Between which numbers an operand is; `None` where what computes it has not been looked at.
fn known(operand: &Operand, found: &FxHashMap<&str, Interval>, flow: &Flow<'_>) -> Option<Interval> {
    let any = any(&operand.ty)?;
    match flow.definition(&operand.text) {
        Some(_) => found.get(operand.text.as_str()).copied(),
        None => Some(operand.text.parse::<i128>().map_or(any, |n| {
            let n = n as u128 & any.most;
            Interval { least: n, most: n }
        })),
    }
}
