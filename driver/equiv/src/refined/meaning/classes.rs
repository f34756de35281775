//! `llvm.is.fpclass`: is a float in one of the classes whose bits a mask has?

use super::{Meaning, NotModelled, Operation, exact, format};
use rewright_llvm::types::Type;
use rewright_smt::Expr;

/// Classes, in the order of their bits in a mask. All but NaN have a sign.
#[derive(Clone, Copy)]
enum Class {
    SignallingNan,
    QuietNan,
    Infinite { negative: bool },
    Normal { negative: bool },
    Subnormal { negative: bool },
    Zero { negative: bool },
}

const CLASSES: [Class; 10] = [
    Class::SignallingNan,
    Class::QuietNan,
    Class::Infinite { negative: true },
    Class::Normal { negative: true },
    Class::Subnormal { negative: true },
    Class::Zero { negative: true },
    Class::Zero { negative: false },
    Class::Subnormal { negative: false },
    Class::Normal { negative: false },
    Class::Infinite { negative: false },
];

impl Operation<'_> {
    /// Of a value of a type.
    pub(in super::super) fn of_class(self, from: &Type) -> Result<Meaning, NotModelled> {
        let (Some(format), [x, mask]) = (format(from), self.args) else {
            return Err(format!("a class of {from}").into());
        };
        let fraction = format.significand - 1;
        let top = x.bits.width() - 1;
        let s = &mut *self.s;
        let sign = s.extract(x.bits, top, top);
        let negative = s.nonzero(sign);
        let exponent = s.extract(x.bits, top - 1, fraction);
        let low = s.extract(x.bits, fraction - 1, 0);
        let quiet = s.extract(x.bits, fraction - 1, fraction - 1);
        let [some, quiet, exponent_some] = [low, quiet, exponent].map(|bits| s.nonzero(bits));
        let all = s.bits(format.exponent, u128::MAX);
        let full = s.equal(exponent, all);
        let (none, empty, partial, loud, positive) =
            (s.not(some), s.not(exponent_some), s.not(full), s.not(quiet), s.not(negative));
        let mut found: Vec<Expr> = vec![];
        for (n, class) in (0..).zip(CLASSES) {
            let signed = |is_negative: bool| if is_negative { negative } else { positive };
            let holds = match class {
                Class::SignallingNan => vec![full, some, loud],
                Class::QuietNan => vec![full, quiet],
                Class::Infinite { negative } => vec![full, none, signed(negative)],
                Class::Normal { negative } => vec![partial, exponent_some, signed(negative)],
                Class::Subnormal { negative } => vec![empty, some, signed(negative)],
                Class::Zero { negative } => vec![empty, none, signed(negative)],
            };
            let asked = s.extract(mask.bits, n, n);
            let asked = s.nonzero(asked);
            found.push(s.and(&[&holds[..], &[asked]].concat()));
        }
        let (poison, found) = (s.or(&[x.poison, mask.poison]), s.or(&found));
        let [yes, no] = [1, 0].map(|n| s.bits(1, n));
        let bits = s.choose(found, yes, no);
        Ok(exact(bits, poison))
    }
}
