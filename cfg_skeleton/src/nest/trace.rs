//! Calls of functions that are not seen, as runs record them: what each is given, and what it may look at.

use super::eval::{ANY_PAYLOAD, Scalar};
use super::input::Cell;
use super::{ArrayId, ArrayKind, Line, Nest};
use std::collections::BTreeMap;

/// A call that was made.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    /// The function with its types.
    pub(crate) name: String,
    /// Where the call is.
    pub(crate) line: Line,
    /// What it is given.
    pub(crate) operands: Vec<Operand>,
    /// Cells of arrays that it may look at, where they do not hold what they held at first.
    pub(crate) memory: BTreeMap<(Seen, Cell), Option<u128>>,
}

/// What a call is given.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Operand {
    Value(Scalar, Option<u128>),
    Array(Seen),
}

/// An array that a call may look at: an argument of the function, or one that is passed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Seen {
    Argument(u32),
    Passed(u32),
}

impl Seen {
    /// How the call names an array that is its operand with this number.
    pub(crate) fn operand(nest: &Nest, array: ArrayId, number: u32) -> Seen {
        match nest.array(array).kind {
            ArrayKind::Argument(position) => Seen::Argument(position),
            ArrayKind::Local | ArrayKind::Cell => Seen::Passed(number),
        }
    }
}

/// The first call that differs: its number from 0, and what is said of each side.
pub(crate) fn first_difference(left: &[Call], right: &[Call]) -> Option<(usize, [String; 2], [Line; 2])> {
    for number in 0..left.len().max(right.len()) {
        let (a, b) = (left.get(number), right.get(number));
        let lines = [a, b].map(|call| call.map_or(0, |call| call.line));
        let (Some(a), Some(b)) = (a, b) else {
            let said = |call: Option<&Call>| call.map_or("is not made".to_string(), Call::shown);
            return Some((number, [said(a), said(b)], lines));
        };
        if a.name != b.name {
            return Some((number, [a.shown(), b.shown()], lines));
        }
        for (n, (x, y)) in a.operands.iter().zip(&b.operands).enumerate() {
            match (x, y) {
                // Whatever comes after a call that is given anything may be anything.
                (Operand::Value(_, None), _) => return None,
                (Operand::Value(scalar, Some(x)), Operand::Value(_, y)) => {
                    if y.is_none_or(|y| !scalar.allows(*x, y)) {
                        let shown = [Some(*x), *y].map(|v| v.map_or("what is undefined".into(), |v| scalar.show(v)));
                        return Some((number, shown.map(|v| format!("is given {v} as operand {n}")), lines));
                    }
                }
                (Operand::Array(Seen::Argument(x)), Operand::Array(Seen::Argument(y))) if x == y => {}
                (Operand::Array(Seen::Passed(_)), Operand::Array(Seen::Passed(_))) => {}
                _ => return Some((number, [a.shown(), b.shown()], lines)),
            }
        }
        let cells = a.memory.keys().chain(b.memory.keys());
        let differing = cells.filter(|key| match (a.memory.get(*key), b.memory.get(*key)) {
            (Some(None), _) => false,
            // A NaN that may be any.
            (Some(Some(x)), _) if x & ANY_PAYLOAD != 0 => false,
            (x, y) => x != y,
        });
        if let Some((seen, cell)) = differing.min() {
            let at: Vec<String> = cell.iter().map(ToString::to_string).collect();
            let name = match seen {
                Seen::Argument(position) => format!("argument {position}"),
                Seen::Passed(number) => format!("its operand {number}"),
            };
            let at = at.join(", ");
            let said = |call: &Call| {
                let has = call.memory.contains_key(&(*seen, cell.clone()));
                let what = if has { "has another value than at first" } else { "is as it was at first" };
                format!("may see that cell [{at}] of {name} {what}")
            };
            let both = a.memory.contains_key(&(*seen, cell.clone())) && b.memory.contains_key(&(*seen, cell.clone()));
            let other = if both { format!("may see another value in cell [{at}] of {name}") } else { said(b) };
            return Some((number, [said(a), other], lines));
        }
    }
    None
}

impl Call {
    fn shown(&self) -> String {
        let operand = |operand: &Operand| match operand {
            Operand::Value(scalar, Some(value)) => scalar.show(*value),
            Operand::Value(_, None) => "?".to_string(),
            Operand::Array(_) => "an array".to_string(),
        };
        let operands: Vec<String> = self.operands.iter().map(operand).collect();
        format!("is `{}` of ({})", self.name.split(" {").next().unwrap_or_default(), operands.join(", "))
    }
}
