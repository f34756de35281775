//! What the outcome of a comparison says of what is compared.

use super::super::Model;
use super::Known;

impl Model {
    /// What is known of two integers of which a comparison holds, or does not; `None` where that cannot be. Both as
    /// they were where the model is no comparison of integers.
    pub fn refine(self, holds: bool, x: Known, y: Known) -> Option<(Known, Known)> {
        let model = match holds {
            true => self,
            false => match self.negation() {
                Some(model) => model,
                None => return Some((x, y)),
            },
        };
        if x.bits != y.bits {
            return Some((x, y));
        }
        let swapped = |found: Option<(Known, Known)>| found.map(|(y, x)| (x, y));
        match model {
            Model::Eq => x.meet(y).map(|both| (both, both)),
            Model::Ne => Some((without(x, y)?, without(y, x)?)),
            Model::Ult => ordered(x, y, true),
            Model::Ule => ordered(x, y, false),
            Model::Ugt => swapped(ordered(y, x, true)),
            Model::Uge => swapped(ordered(y, x, false)),
            Model::Slt => ordered_signed(x, y, true),
            Model::Sle => ordered_signed(x, y, false),
            Model::Sgt => swapped(ordered_signed(y, x, true)),
            Model::Sge => swapped(ordered_signed(y, x, false)),
            _ => Some((x, y)),
        }
    }

    /// The comparison of integers that holds where this one does not.
    pub fn negation(self) -> Option<Model> {
        Some(match self {
            Model::Eq => Model::Ne,
            Model::Ne => Model::Eq,
            Model::Ult => Model::Uge,
            Model::Uge => Model::Ult,
            Model::Ugt => Model::Ule,
            Model::Ule => Model::Ugt,
            Model::Slt => Model::Sge,
            Model::Sge => Model::Slt,
            Model::Sgt => Model::Sle,
            Model::Sle => Model::Sgt,
            _ => return None,
        })
    }
}

/// `x` is not the only number that `y` may be, where that is an end of what is known of `x`.
fn without(x: Known, y: Known) -> Option<Known> {
    let Some(number) = y.single() else { return Some(x) };
    let raw = y.unsigned.0;
    if x.single() == Some(number) {
        return None;
    }
    let mut left = x;
    left.unsigned.0 += u64::from(left.unsigned.0 == raw);
    left.unsigned.1 -= u64::from(left.unsigned.1 == raw);
    left.signed.0 += i64::from(left.signed.0 == number);
    left.signed.1 -= i64::from(left.signed.1 == number);
    left.reduced()
}

/// `x` is less than `y`, or not greater.
fn ordered(x: Known, y: Known, strict: bool) -> Option<(Known, Known)> {
    let step = u64::from(strict);
    let (mut less, mut more) = (x, y);
    less.unsigned.1 = less.unsigned.1.min(y.unsigned.1.checked_sub(step)?);
    more.unsigned.0 = more.unsigned.0.max(x.unsigned.0.checked_add(step)?);
    Some((less.reduced()?, more.reduced()?))
}

/// The same with signs.
fn ordered_signed(x: Known, y: Known, strict: bool) -> Option<(Known, Known)> {
    let step = i64::from(strict);
    let (mut less, mut more) = (x, y);
    less.signed.1 = less.signed.1.min(y.signed.1.checked_sub(step)?);
    more.signed.0 = more.signed.0.max(x.signed.0.checked_add(step)?);
    Some((less.reduced()?, more.reduced()?))
}
