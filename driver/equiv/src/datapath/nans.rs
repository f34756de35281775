//! Where a NaN of the first value of a question may be another one in the second value.

use rewright_cfg_skeleton::nest::datapath::{Question, Term, TermKind};
use rewright_cfg_skeleton::nest::nan::{Bits, bits_of, is_float};
use rewright_cfg_skeleton::nest::value::Number;
use rewright_smt::{Expr, Format, Script, Sort};

/// Which bits of a value are free, if it is a NaN.
#[derive(Clone, Copy)]
pub(super) struct Freedom {
    payload: Expr,
    sign: Expr,
}

impl Freedom {
    /// Nothing.
    pub(super) const NONE: Freedom = Freedom { payload: Expr::FALSE, sign: Expr::FALSE };

    /// Of what an operation gives; `chosen` says whether a choice gives the first one of two values.
    pub(super) fn of(s: &mut Script, name: &str, operands: &[Freedom], chosen: Option<Expr>) -> Freedom {
        match (bits_of(name), operands, chosen) {
            (Bits::Any, ..) => Freedom { payload: Expr::TRUE, sign: Expr::TRUE },
            (Bits::Negated, [x], _) => *x,
            (Bits::Magnitude, [x, ..], _) => Freedom { sign: Expr::FALSE, ..*x },
            (Bits::Chosen, [_, x, y], Some(first)) => {
                Freedom { payload: s.choose(first, x.payload, y.payload), sign: s.choose(first, x.sign, y.sign) }
            }
            _ => Freedom::NONE,
        }
    }
}

/// Whether the second float may stand for the first one. The bits of a NaN that may be any mean nothing.
pub(super) fn stands_for(
    s: &mut Script,
    (left, of_left): (Expr, Freedom),
    (right, of_right): (Expr, Freedom),
    (is_nan, format): (impl FnMut(&mut Script, Expr) -> Expr, Format),
) -> Expr {
    let mut is_nan = is_nan;
    let (equal, first, second) = (s.equal(left, right), is_nan(s, left), is_nan(s, right));
    let top = format.exponent + format.significand - 1;
    let [l, r] = [left, right].map(|bits| s.extract(bits, top, top));
    let same_sign = s.equal(l, r);
    let exact_sign = s.not(of_right.sign);
    let same_sign = s.and(&[exact_sign, same_sign]);
    let sign = s.or(&[of_left.sign, same_sign]);
    let free = s.and(&[first, second, of_left.payload, sign]);
    let [number, exact, other] = [first, of_left.payload, of_right.payload].map(|holds| s.not(holds));
    let exact = s.and(&[exact, other]);
    let meant = s.or(&[number, exact]);
    let equal = s.and(&[equal, meant]);
    s.or(&[equal, free])
}

/// Whether values that are equal except for the bits of NaNs are as they are to be: the first one is no float, or a NaN that
/// it is may be any.
pub(super) fn do_not_matter(question: &Question) -> bool {
    !question.nans && (!is_float(&question.terms[question.left as usize].ty) || is_any(question, question.left))
}

/// Whether a NaN that the term is may be any.
fn is_any(question: &Question, term: u32) -> bool {
    let mut any: Vec<bool> = vec![];
    for Term { ty, kind } in &question.terms[..=term as usize] {
        let of = |operand: &u32| any[*operand as usize];
        any.push(match kind {
            TermKind::Op { name, operands, .. } => match (bits_of(name), operands.as_slice()) {
                (Bits::Any, _) => true,
                (Bits::Negated, [x]) => of(x),
                (Bits::Chosen, [_, x, y]) => of(x) && of(y),
                _ => false,
            },
            TermKind::Constant(Number::Bits(bits)) => match ty.as_str() {
                "f32" => !f32::from_bits(*bits as u32).is_nan(),
                "f64" => !f64::from_bits(*bits as u64).is_nan(),
                _ => false,
            },
            _ => false,
        });
    }
    any[term as usize]
}

/// Whether the operation rounds, or may: what it gives is known except for the bits of a NaN.
pub(super) fn is_rounded(name: &str, from: &str, ty: &str) -> bool {
    (is_float(from) || is_float(ty)) && bits_of(name) == Bits::Any
}

/// Whether a float is a NaN.
pub(super) fn is_nan(s: &mut Script, bits: Expr, format: Format) -> Expr {
    let float = s.float(bits, format);
    s.apply("fp.isNaN", &[float], Sort::Bool)
}
