//! Floating-point operations over the bits of their operands.

use super::{Expr, Format, Script, Sort};

/// Reads bits as a float.
pub(super) fn read(s: &mut Script, bits: Expr) -> Option<(Expr, Format)> {
    let format = Format::of_width(bits.width())?;
    Some((s.float(bits, format), format))
}

fn reads(s: &mut Script, bits: &[Expr]) -> Option<(Vec<Expr>, Format)> {
    let mut format = None;
    let mut floats = vec![];
    for b in bits {
        let (float, own) = read(s, *b)?;
        floats.push(float);
        format = Some(own);
    }
    Some((floats, format?))
}

pub(super) fn is_nan(s: &mut Script, float: Expr) -> Expr {
    s.apply("fp.isNaN", &[float], Sort::Bool)
}

/// Rounded arithmetic: `symbol` stands before the operands, with its rounding mode.
pub(super) fn arithmetic(s: &mut Script, symbol: &str, args: &[Expr]) -> Option<(Expr, Expr)> {
    let (floats, format) = reads(s, args)?;
    let value = s.apply(symbol, &floats, Sort::Float(format));
    Some(result(s, value, format))
}

/// The bits of a float that an operation gives, and whether it is a NaN.
fn result(s: &mut Script, value: Expr, format: Format) -> (Expr, Expr) {
    (s.bits_of_result(value, format), is_nan(s, value))
}

/// The smaller or greater one; -0 is below +0, and a NaN on either side gives a NaN.
pub(super) fn extreme(s: &mut Script, x: Expr, y: Expr, greatest: bool) -> Option<(Expr, Expr)> {
    let (floats, format) = reads(s, &[x, y])?;
    let (a, b) = (floats[0], floats[1]);
    let beyond = s.apply(if greatest { "fp.gt" } else { "fp.lt" }, &[a, b], Sort::Bool);
    let same = s.apply("fp.eq", &[a, b], Sort::Bool);
    let signed = s.apply(if greatest { "fp.isPositive" } else { "fp.isNegative" }, &[a], Sort::Bool);
    let tie = s.and(&[same, signed]);
    let first = s.or(&[beyond, tie]);
    let chosen = s.choose(first, a, b);
    let (nan_a, nan_b) = (is_nan(s, a), is_nan(s, b));
    let either = s.or(&[nan_a, nan_b]);
    let nan = s.literal(format!("(_ NaN {} {})", format.exponent, format.significand), Sort::Float(format));
    let value = s.choose(either, nan, chosen);
    Some(result(s, value, format))
}

/// Which of the four relations a comparison accepts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Accepts {
    /// One of them is a NaN.
    pub unordered: bool,
    /// The first one is less.
    pub less: bool,
    /// They are equal; so are 0 and -0.
    pub equal: bool,
    /// The first one is greater.
    pub greater: bool,
}

/// A comparison.
pub(super) fn compare(s: &mut Script, x: Expr, y: Expr, accepts: &Accepts) -> Option<Expr> {
    let (floats, _) = reads(s, &[x, y])?;
    let (a, b) = (floats[0], floats[1]);
    let mut holds = vec![];
    if accepts.unordered {
        holds.push(is_nan(s, a));
        holds.push(is_nan(s, b));
    }
    for (wanted, symbol) in [(accepts.less, "fp.lt"), (accepts.equal, "fp.eq"), (accepts.greater, "fp.gt")] {
        if wanted {
            holds.push(s.apply(symbol, &[a, b], Sort::Bool));
        }
    }
    Some(s.or(&holds))
}

/// To another format, rounded to nearest.
pub(super) fn convert(s: &mut Script, x: Expr, to: Format) -> Option<(Expr, Expr)> {
    let (float, _) = read(s, x)?;
    let symbol = format!("(_ to_fp {} {}) RNE", to.exponent, to.significand);
    let value = s.apply(&symbol, &[float], Sort::Float(to));
    Some(result(s, value, to))
}

/// From an integer, rounded to nearest.
pub(super) fn from_integer(s: &mut Script, x: Expr, to: Format, signed: bool) -> Expr {
    let symbol = if signed { "to_fp" } else { "to_fp_unsigned" };
    let symbol = format!("(_ {symbol} {} {}) RNE", to.exponent, to.significand);
    let value = s.apply(&symbol, &[x], Sort::Float(to));
    s.bits_of(value, to)
}

/// To an integer, towards zero; out of range the nearest one, and 0 for a NaN.
pub(super) fn to_integer(s: &mut Script, x: Expr, width: u32, signed: bool) -> Option<Expr> {
    let (float, format) = read(s, x)?;
    let sort = Sort::Float(format);
    let whole = s.apply("fp.roundToIntegral RTZ", &[float], sort);
    let mut power = |bits: u32, sign: &str| {
        let number = 1u128 << bits;
        let number = if sign.is_empty() { format!("{number}.0") } else { format!("({sign} {number}.0)") };
        s.literal(format!("((_ to_fp {} {}) RNE {number})", format.exponent, format.significand), sort)
    };
    // Powers of two are exact in every format, or beyond its greatest number, and then infinite.
    let bound = power(if signed { width - 1 } else { width }, "");
    let lowest = if signed {
        power(width - 1, "-")
    } else {
        s.literal(format!("(_ +zero {} {})", format.exponent, format.significand), sort)
    };
    let above = s.apply("fp.geq", &[whole, bound], Sort::Bool);
    let (least, greatest) = if signed { (1 << (width - 1), (1 << (width - 1)) - 1) } else { (0, u128::MAX) };
    let (least, greatest) = (s.bits(width, least), s.bits(width, greatest));
    let below = s.apply("fp.leq", &[whole, lowest], Sort::Bool);
    let symbol = format!("(_ fp.to_{} {width}) RTZ", if signed { "sbv" } else { "ubv" });
    let exact = s.apply(&symbol, &[float], Sort::Bits(width));
    let not_below = s.choose(below, least, exact);
    let in_range = s.choose(above, greatest, not_below);
    let nan = is_nan(s, float);
    let zero = s.bits(width, 0);
    Some(s.choose(nan, zero, in_range))
}
