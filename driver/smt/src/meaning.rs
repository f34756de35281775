//! The table: what each model means, as a term over the bits of its operands.
//!
//! Every model has its line, so that a new one does not compile without a meaning here. Widths come from the operands:
//! the same table serves proofs at widths that no machine has.

use super::float::{self, Accepts};
use super::{Expr, Format, Script, Sort, integer};
use rewright_typeprop::{Evaluation, Model, Scalar};

/// What an operation gives.
#[derive(Clone, Copy, Debug)]
pub struct Meaning {
    /// The bits of the result.
    pub bits: Expr,
    /// True where arithmetic gave a NaN, whose bits are open.
    pub nan: Expr,
}

/// The meaning of a model on operands, of one that mixes lanes on those lanes that the result is made of; `width` is the result's, and `lanes` says that it is a lane of a vector, whose
/// comparisons give all ones. `None` where it has none at these widths, or none that
/// is written in SMT-LIB (multipliers for division are computed by a loop, and tabled at 8 bits only).
pub fn meaning(s: &mut Script, model: Model, args: &[Expr], width: u32, lanes: bool) -> Option<Meaning> {
    use Model::*;
    if args.len() != model.arity() {
        return None;
    }
    let x = args[0];
    let y = args.get(1).copied().unwrap_or(x);
    let same = args.iter().all(|a| a.width() == x.width());
    let whole = same && x.width() == width;
    let sort = x.sort();
    let n = x.width();
    let exact = |bits: Expr| Some(Meaning { bits, nan: Expr::FALSE });
    let rounded = |result: Option<(Expr, Expr)>| result.map(|(bits, nan)| Meaning { bits, nan });
    let symbol = |s: &mut Script, name: &str| whole.then(|| s.apply(name, args, sort)).and_then(exact);
    let answer = |s: &mut Script, holds| {
        let yes = s.bits(width, if lanes { u128::MAX } else { 1 });
        let no = s.bits(width, 0);
        exact(s.choose(holds, yes, no))
    };
    let relation = |s: &mut Script, name: &str| {
        let holds = same.then(|| s.apply(name, args, Sort::Bool))?;
        answer(s, holds)
    };
    let by_order = |s: &mut Script, name: &str| {
        let first = whole.then(|| s.apply(name, args, Sort::Bool))?;
        exact(s.choose(first, x, y))
    };
    let shift = |s: &mut Script, name: &str| {
        let by = (n == width).then(|| integer::amount(s, y, n))??;
        exact(s.apply(name, &[x, by], sort))
    };
    let rounding = |s: &mut Script, name: &str| whole.then(|| rounded(float::arithmetic(s, name, args)))?;
    match model {
        Add => symbol(s, "bvadd"),
        Sub => symbol(s, "bvsub"),
        Mul if whole && let Some(sum) = integer::multiple(s, x, y).or_else(|| integer::multiple(s, y, x)) => exact(sum),
        Mul => symbol(s, "bvmul"),
        Neg => symbol(s, "bvneg"),
        // Total, with SMT-LIB's values at 0.
        Udiv => symbol(s, "bvudiv"),
        Sdiv => symbol(s, "bvsdiv"),
        Urem => symbol(s, "bvurem"),
        Srem => symbol(s, "bvsrem"),
        And if whole && let Some(low) = s.masked(x, y).or_else(|| s.masked(y, x)) => exact(low),
        And => symbol(s, "bvand"),
        Or => symbol(s, "bvor"),
        Xor => symbol(s, "bvxor"),
        Not => symbol(s, "bvnot"),
        Shl if s.products => {
            let by = (n == width).then(|| integer::amount(s, y, n))??;
            let one = s.bits(n, 1);
            let power = s.apply("bvshl", &[one, by], sort);
            exact(s.apply("bvmul", &[x, power], sort))
        }
        Shl => shift(s, "bvshl"),
        Lshr => shift(s, "bvlshr"),
        Ashr => shift(s, "bvashr"),
        Rotl | Rotr => {
            let by = (n == width).then(|| integer::amount(s, y, n))??;
            exact(integer::rotate(s, x, by, model == Rotl))
        }
        Umin => by_order(s, "bvult"),
        Umax => by_order(s, "bvugt"),
        Smin => by_order(s, "bvslt"),
        Smax => by_order(s, "bvsgt"),
        Iabs => {
            let zero = s.bits(n, 0);
            let negative = s.apply("bvslt", &[x, zero], Sort::Bool);
            let minus = s.apply("bvneg", &[x], sort);
            whole.then(|| s.choose(negative, minus, x)).and_then(exact)
        }
        Umulhi => whole.then(|| integer::high_product(s, x, y, false)).and_then(exact),
        Smulhi => whole.then(|| integer::high_product(s, x, y, true)).and_then(exact),
        UaddSat => whole.then(|| integer::saturating(s, "bvadd", x, y, false)).and_then(exact),
        UsubSat => whole.then(|| integer::saturating(s, "bvsub", x, y, false)).and_then(exact),
        SaddSat => whole.then(|| integer::saturating(s, "bvadd", x, y, true)).and_then(exact),
        SsubSat => whole.then(|| integer::saturating(s, "bvsub", x, y, true)).and_then(exact),
        Clz => whole.then(|| integer::leading_zeros(s, x)).and_then(exact),
        Ctz => whole.then(|| integer::trailing_zeros(s, x)).and_then(exact),
        Cls => {
            let zero = s.bits(n, 0);
            let negative = s.apply("bvslt", &[x, zero], Sort::Bool);
            let flipped = s.apply("bvnot", &[x], sort);
            let magnitude = s.choose(negative, flipped, x);
            let zeros = integer::leading_zeros(s, magnitude);
            let one = s.bits(n, 1);
            whole.then(|| s.apply("bvsub", &[zeros, one], sort)).and_then(exact)
        }
        Popcnt => whole.then(|| integer::ones(s, x)).and_then(exact),
        Bswap => (whole && n.is_multiple_of(8)).then(|| integer::reverse(s, x, 8)).and_then(exact),
        Bitrev => whole.then(|| integer::reverse(s, x, 1)).and_then(exact),
        Zext => (width > n).then(|| s.resize(x, width)).and_then(exact),
        Sext => (width > n).then(|| s.sign_extend(x, width)).and_then(exact),
        Concat => (same && width == 2 * n).then(|| s.concat(&[y, x])).and_then(exact),
        Splat => (width == n).then_some(x).and_then(exact),
        // Of the lane that it extends.
        SwidenLow | SwidenHigh => (width == 2 * n).then(|| s.sign_extend(x, width)).and_then(exact),
        UwidenLow | UwidenHigh => (width == 2 * n).then(|| s.resize(x, width)).and_then(exact),
        // Whether a lane is the first one is not known here.
        ScalarToVector => None,
        FromWords => {
            let both = same.then(|| s.concat(&[y, x]))?;
            (width <= both.width()).then(|| s.resize(both, width)).and_then(exact)
        }
        Trunc => (width < n).then(|| s.resize(x, width)).and_then(exact),
        Bmask => {
            let set = s.nonzero(x);
            let (ones, zero) = (s.bits(width, u128::MAX), s.bits(width, 0));
            exact(s.choose(set, ones, zero))
        }
        Truth => {
            let set = s.nonzero(x);
            let (one, zero) = (s.bits(8, 1), s.bits(8, 0));
            (width == 8).then(|| s.choose(set, one, zero)).and_then(exact)
        }
        Select => {
            let set = s.nonzero(x);
            (y.width() == width && args[2].width() == width).then(|| s.choose(set, y, args[2])).and_then(exact)
        }
        Bitselect => {
            let not = s.apply("bvnot", &[x], sort);
            let chosen = whole.then(|| s.apply("bvand", &[x, y], sort))?;
            let other = s.apply("bvand", &[not, args[2]], sort);
            exact(s.apply("bvor", &[chosen, other], sort))
        }
        Eq => relation(s, "="),
        Ne => relation(s, "distinct"),
        Slt => relation(s, "bvslt"),
        Sle => relation(s, "bvsle"),
        Sgt => relation(s, "bvsgt"),
        Sge => relation(s, "bvsge"),
        Ult => relation(s, "bvult"),
        Ule => relation(s, "bvule"),
        Ugt => relation(s, "bvugt"),
        Uge => relation(s, "bvuge"),
        Width => exact(s.bits(width, u128::from(n))),
        ShiftAmount => {
            let by = integer::amount(s, y, n)?;
            exact(s.resize(by, width))
        }
        UdivMagic | UdivMagicWide | UdivShift | SdivMagic | SdivShift => {
            (n == 8 && whole).then(|| tabled(s, model, x)).and_then(exact)
        }
        Fadd => rounding(s, "fp.add RNE"),
        Fsub => rounding(s, "fp.sub RNE"),
        Fmul => rounding(s, "fp.mul RNE"),
        Fdiv => rounding(s, "fp.div RNE"),
        Sqrt => rounding(s, "fp.sqrt RNE"),
        Fma => rounding(s, "fp.fma RNE"),
        Fceil => rounding(s, "fp.roundToIntegral RTP"),
        Ffloor => rounding(s, "fp.roundToIntegral RTN"),
        Ftrunc => rounding(s, "fp.roundToIntegral RTZ"),
        Fnearest => rounding(s, "fp.roundToIntegral RNE"),
        Fmin => whole.then(|| rounded(float::extreme(s, x, y, false)))?,
        Fmax => whole.then(|| rounded(float::extreme(s, x, y, true)))?,
        // Signs are bits: exact on NaNs, too.
        Fneg | Fabs | Fcopysign => {
            let sign = s.bits(n, 1 << (n - 1));
            let rest = s.bits(n, (1 << (n - 1)) - 1);
            let bits = match model {
                Fneg => s.apply("bvxor", &[x, sign], sort),
                Fabs => s.apply("bvand", &[x, rest], sort),
                _ => {
                    let magnitude = s.apply("bvand", &[x, rest], sort);
                    let sign = s.apply("bvand", &[y, sign], y.sort());
                    whole.then(|| s.apply("bvor", &[magnitude, sign], sort))?
                }
            };
            whole.then(|| exact(bits))?
        }
        FcmpEq | FcmpNe | FcmpLt | FcmpLe | FcmpGt | FcmpGe | FcmpOrd | FcmpUno | FcmpUeq | FcmpOne | FcmpUlt
        | FcmpUle | FcmpUgt | FcmpUge => {
            let holds = float::compare(s, x, y, &accepts(model)?)?;
            answer(s, holds)
        }
        Fpromote => {
            (width > n).then(|| Format::of_width(width)).flatten().and_then(|f| rounded(float::convert(s, x, f)))
        }
        Fdemote => {
            (width < n).then(|| Format::of_width(width)).flatten().and_then(|f| rounded(float::convert(s, x, f)))
        }
        FcvtFromUint => exact(float::from_integer(s, x, Format::of_width(width)?, false)),
        FcvtFromSint => exact(float::from_integer(s, x, Format::of_width(width)?, true)),
        FcvtToUint | FcvtToUintSat => float::to_integer(s, x, width, false).and_then(exact),
        FcvtToSint | FcvtToSintSat => float::to_integer(s, x, width, true).and_then(exact),
        Bitcast => whole.then_some(x).and_then(exact),
        Load | LoadZext8 | LoadZext16 | LoadZext32 | LoadSext8 | LoadSext16 | LoadSext32 | Store | StoreTrunc8
        | StoreTrunc16 | StoreTrunc32 => None,
    }
}

/// Which relations between floats a comparison accepts; `None` of what compares no floats.
pub fn accepts(model: Model) -> Option<Accepts> {
    use Model::*;
    let [unordered, less, equal, greater] = match model {
        FcmpEq => [false, false, true, false],
        FcmpNe => [true, true, false, true],
        FcmpLt => [false, true, false, false],
        FcmpLe => [false, true, true, false],
        FcmpGt => [false, false, false, true],
        FcmpGe => [false, false, true, true],
        FcmpOrd => [false, true, true, true],
        FcmpUno => [true, false, false, false],
        FcmpUeq => [true, false, true, false],
        FcmpOne => [false, true, false, true],
        FcmpUlt => [true, true, false, false],
        FcmpUle => [true, true, true, false],
        FcmpUgt => [true, false, false, true],
        FcmpUge => [true, false, true, true],
        _ => return None,
    };
    Some(Accepts { unordered, less, equal, greater })
}

/// A function of one 8-bit operand, by the evaluator.
fn tabled(s: &mut Script, model: Model, x: Expr) -> Expr {
    let mut value = s.bits(8, 0);
    for n in i8::MIN..=i8::MAX {
        let Evaluation::Value(result) = model.eval(&[Scalar::I8], Scalar::I8, &[n.into()]) else { continue };
        if result != 0 {
            let (at, result) = (s.bits(8, n as u8 as u128), s.bits(8, result as u8 as u128));
            let here = s.equal(x, at);
            value = s.choose(here, result, value);
        }
    }
    value
}
