//! Values of statements that correspond one to one: equal, if some questions have the answer yes.

use super::super::value::{Pool, Value, ValueId};
use super::super::{Line, Nest};
use super::Asked;
use super::graph::Renaming;
pub(crate) use super::sweep::Difference;
use super::sweep::{Root, Sweep};

/// What is to be equal.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Pair {
    pub(crate) left: ValueId,
    pub(crate) right: ValueId,
    /// The operations are to be the same, and only their operands are values.
    pub(crate) by_operands: bool,
    /// The statements' lines.
    pub(crate) lines: (Line, Line),
}

/// Whether all pairs are equal.
pub(crate) fn equal(
    pool: &Pool,
    left: &Nest,
    pairs: &[Pair],
    renaming: &Renaming,
    asked: &mut Asked<'_>,
) -> Result<(), Difference> {
    let mut roots: Vec<Root> = vec![];
    for pair in pairs {
        match by_operands(pool, pair) {
            Some(operands) => roots.extend(operands),
            None => return Err(Difference::of(pair.lines, "two operations that may be undefined are not the same")),
        }
    }
    let mut sweep = Sweep::new(pool, left, renaming, roots);
    if sweep.is_same() {
        return Ok(());
    }
    if asked.is_none() {
        return Err(Difference::of((0, 0), String::new()));
    }
    sweep.run(asked)?;
    // An operand that is poison on the left may be any number on the right, and some are undefined to divide.
    for pair in pairs.iter().filter(|pair| pair.by_operands) {
        let operands = by_operands(pool, pair).unwrap_or_default();
        if !operands.iter().all(|(l, ..)| sweep.is_defined(*l)) {
            return Err(Difference::of(pair.lines, "an operand of what may be undefined may be poison"));
        }
    }
    Ok(())
}

/// The pairs of values that a pair stands for; `None` where it cannot hold.
fn by_operands(pool: &Pool, pair: &Pair) -> Option<Vec<Root>> {
    if !pair.by_operands {
        return Some(vec![(pair.left, pair.right, pair.lines)]);
    }
    let (Value::Op(a), Value::Op(b)) = (pool.get(pair.left), pool.get(pair.right)) else { return None };
    let same = a.name == b.name && a.from == b.from && a.ty == b.ty && a.operands.len() == b.operands.len();
    same.then(|| a.operands.iter().zip(&b.operands).map(|(l, r)| (*l, *r, pair.lines)).collect())
}
