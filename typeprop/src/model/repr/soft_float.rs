//! Meanings of operations on binary16 and binary128, which no machine that we run on computes with: by LLVM's
//! software floats.
//!
//! **Invariant**: a result is the correctly rounded one. There is no square root: that library has none.

use crate::model::{Evaluation, Model, Repr, Scalar, float};
use rustc_apfloat::ieee::{Double, Half, Quad, Single};
use rustc_apfloat::{Float, FloatConvert, Round, Status};
use std::cmp::Ordering;

/// Do these bits make a NaN of this representation?
pub(super) fn is_nan(repr: Repr, bits: u128) -> bool {
    match repr {
        Repr::F16 => Half::from_bits(bits).is_nan(),
        Repr::F128 => Quad::from_bits(bits).is_nan(),
        Repr::Scalar(_) | Repr::Pointer | Repr::Int128 | Repr::Lanes(..) => false,
    }
}

/// Edge values of either format, as bits.
pub(in crate::model) fn edges(repr: Repr) -> Vec<u128> {
    fn of<F: Float>() -> Vec<u128>
    where
        Double: FloatConvert<F>,
    {
        let whole = [0.0, 1.0, 0.5, 1.5, 2.5, 3.0, 127.0, 128.0, 255.5, 2048.0, 65504.0, 1e9, f64::MAX];
        let mut floats: Vec<F> =
            whole.iter().map(|x| Double::from_bits(x.to_bits().into()).convert(&mut false).value).collect();
        floats.extend([
            F::INFINITY,
            F::largest(),
            F::SMALLEST,
            F::smallest_normalized(),
            F::qnan(None),
            F::qnan(Some(5)),
        ]);
        floats.push(F::snan(None));
        floats.into_iter().flat_map(|x| [x, -x]).map(F::to_bits).collect()
    }
    if repr == Repr::F16 { of::<Half>() } else { of::<Quad>() }
}

/// Where an operand or the result is of one of the two formats.
pub(super) fn eval(model: Model, types: &[Repr], result: Repr, args: &[i128]) -> Evaluation<i128> {
    if types.iter().chain([&result]).any(|t| t.lanes().is_some() || *t == Repr::Pointer) {
        return Evaluation::Undefined;
    }
    let raw = |n: usize| types[n].zero_extended(args[n]);
    let all = types.iter().all(|t| *t == result);
    let bits = |raw: u128| Evaluation::Value(result.canonical(raw));
    let fits = |fits: bool, raw: u128| if fits { bits(raw) } else { Evaluation::Undefined };
    let sign = 1u128 << (types[0].bits() - 1);
    match model {
        Model::And => fits(all, raw(0) & raw(1)),
        Model::Or => fits(all, raw(0) | raw(1)),
        Model::Xor => fits(all, raw(0) ^ raw(1)),
        Model::Not => fits(all, !raw(0)),
        Model::Bitselect => fits(all, (raw(0) & raw(1)) | (!raw(0) & raw(2))),
        Model::Fneg => fits(all, raw(0) ^ sign),
        Model::Fabs => fits(all, raw(0) & !sign),
        Model::Fcopysign => fits(all, (raw(0) & !sign) | (raw(1) & sign)),
        Model::Bitcast => fits(types[0].bits() == result.bits(), raw(0)),
        Model::Width => fits(result.scalar().is_some_and(Scalar::is_int), types[0].bits().into()),
        Model::Select => fits(
            types[0].is_int() && types[1] == result && types[2] == result,
            if args[0] != 0 { raw(1) } else { raw(2) },
        ),
        Model::FromWords => fits(types.iter().all(|t| *t == Repr::Scalar(Scalar::I64)), raw(0) | raw(1) << 64),
        Model::FcvtFromUint | Model::FcvtFromSint if types[0].is_int() => {
            let signed = model == Model::FcvtFromSint;
            match result {
                Repr::F16 => bits(from_integer::<Half>(args[0], raw(0), signed)),
                Repr::F128 => bits(from_integer::<Quad>(args[0], raw(0), signed)),
                _ => Evaluation::Undefined,
            }
        }
        Model::Fpromote | Model::Fdemote => {
            let wider = result.bits() > types[0].bits();
            if result.is_int() || types[0].is_int() || wider != (model == Model::Fpromote) || result == types[0] {
                return Evaluation::Undefined;
            }
            convert(types[0], raw(0), result)
        }
        _ => match types[0] {
            Repr::F16 => at::<Half>(model, types, result, args),
            Repr::F128 => at::<Quad>(model, types, result, args),
            _ => Evaluation::Undefined,
        },
    }
}

fn from_integer<F: Float>(signed: i128, unsigned: u128, by_sign: bool) -> u128 {
    let rounded = if by_sign { F::from_i128(signed) } else { F::from_u128(unsigned) };
    rounded.value.to_bits()
}

/// A float in another format, rounded to nearest.
fn convert(from: Repr, bits: u128, to: Repr) -> Evaluation<i128> {
    fn through<A: Float + FloatConvert<Half> + FloatConvert<Single> + FloatConvert<Double> + FloatConvert<Quad>>(
        bits: u128,
        to: Repr,
    ) -> Option<(u128, bool)> {
        fn into<A: FloatConvert<B>, B: Float>(x: A) -> (u128, bool) {
            let y = x.convert(&mut false).value;
            (y.to_bits(), y.is_nan())
        }
        let x = A::from_bits(bits);
        Some(match to {
            Repr::F16 => into::<A, Half>(x),
            Repr::Scalar(Scalar::F32) => into::<A, Single>(x),
            Repr::Scalar(Scalar::F64) => into::<A, Double>(x),
            Repr::F128 => into::<A, Quad>(x),
            _ => return None,
        })
    }
    let converted = match from {
        Repr::F16 => through::<Half>(bits, to),
        Repr::Scalar(Scalar::F32) => through::<Single>(bits, to),
        Repr::Scalar(Scalar::F64) => through::<Double>(bits, to),
        Repr::F128 => through::<Quad>(bits, to),
        _ => None,
    };
    match converted {
        None => Evaluation::Undefined,
        Some((_, true)) => Evaluation::Nan,
        Some((bits, false)) => Evaluation::Value(to.canonical(bits)),
    }
}

/// Arithmetic and comparisons of one format, and its conversions to integers.
fn at<F: Float>(model: Model, types: &[Repr], result: Repr, args: &[i128]) -> Evaluation<i128> {
    use Model::*;
    if types.iter().any(|t| *t != types[0]) {
        return Evaluation::Undefined;
    }
    let arg = |n: usize| F::from_bits(args.get(n).copied().unwrap_or_default() as u128);
    let (x, y) = (arg(0), arg(1));
    if let Some(holds) = float::compare(model, || x.partial_cmp(&y)) {
        let fits = result == Repr::Scalar(Scalar::I8);
        return if fits { Evaluation::Value(holds.into()) } else { Evaluation::Undefined };
    }
    if let (FcvtToUint | FcvtToUintSat | FcvtToSint | FcvtToSintSat, Some(ty)) = (model, result.scalar()) {
        return if ty.is_int() { Evaluation::Value(to_integer(model, x, ty).into()) } else { Evaluation::Undefined };
    }
    if result != types[0] {
        return Evaluation::Undefined;
    }
    let smaller = |x: F, y: F| match x.partial_cmp(&y) {
        Some(Ordering::Less) => x,
        Some(Ordering::Equal) if x.is_negative() => x,
        _ => y,
    };
    let value = match model {
        Fadd => (x + y).value,
        Fsub => (x - y).value,
        Fmul => (x * y).value,
        Fdiv => (x / y).value,
        Fma => x.mul_add(y, arg(2)).value,
        Fmin | Fmax if x.is_nan() || y.is_nan() => F::NAN,
        Fmin => smaller(x, y),
        Fmax => -smaller(-x, -y),
        Fceil => x.round_to_integral(Round::TowardPositive).value,
        Ffloor => x.round_to_integral(Round::TowardNegative).value,
        Ftrunc => x.round_to_integral(Round::TowardZero).value,
        Fnearest => x.round_to_integral(Round::NearestTiesToEven).value,
        _ => return Evaluation::Undefined,
    };
    if value.is_nan() { Evaluation::Nan } else { Evaluation::Value(result.canonical(value.to_bits())) }
}

/// Towards zero; beyond the range the nearest integer, and 0 for a NaN.
fn to_integer<F: Float>(model: Model, x: F, ty: Scalar) -> i64 {
    let unsigned = matches!(model, Model::FcvtToUint | Model::FcvtToUintSat);
    let (width, mut exact) = (ty.bits() as usize, false);
    let (status, raw) = if unsigned {
        let outcome = x.to_u128_r(width, Round::TowardZero, &mut exact);
        (outcome.status, outcome.value)
    } else {
        let outcome = x.to_i128_r(width, Round::TowardZero, &mut exact);
        (outcome.status, outcome.value as u128)
    };
    if !status.contains(Status::INVALID_OP) {
        return ty.canonical(raw as u64);
    }
    let ones = u64::MAX >> (64 - ty.bits());
    ty.canonical(match (x.is_nan(), x.is_negative(), unsigned) {
        (true, ..) | (_, true, true) => 0,
        (_, false, true) => ones,
        (_, true, false) => ones ^ (ones >> 1),
        (_, false, false) => ones >> 1,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const I64: Repr = Repr::Scalar(Scalar::I64);
    const F64: Repr = Repr::Scalar(Scalar::F64);

    fn half(x: f64) -> i128 {
        let Evaluation::Value(bits) = Model::Fdemote.eval_at(&[F64], Repr::F16, &[i128::from(x.to_bits() as i64)])
        else {
            panic!("{x} is a number")
        };
        bits
    }

    #[test]
    fn binary16() {
        assert_eq!(half(1.0), 0x3c00);
        assert_eq!(half(-2.0), 0xc000);
        assert_eq!(half(65520.0), 0x7c00, "rounds to infinity");
        let eval = |model: Model, args: &[f64]| {
            let args: Vec<i128> = args.iter().map(|x| half(*x)).collect();
            model.eval_at(&vec![Repr::F16; args.len()], Repr::F16, &args)
        };
        // 2049 lies between two of them, and rounds to even.
        assert_eq!(eval(Model::Fadd, &[2048.0, 1.0]), Evaluation::Value(half(2048.0)));
        assert_eq!(eval(Model::Fadd, &[2048.0, 3.0]), Evaluation::Value(half(2052.0)));
        assert_eq!(eval(Model::Fmin, &[0.0, -0.0]), Evaluation::Value(half(-0.0)));
        assert_eq!(eval(Model::Fmax, &[-0.0, 0.0]), Evaluation::Value(half(0.0)));
        assert_eq!(eval(Model::Fsub, &[f64::INFINITY, f64::INFINITY]), Evaluation::Nan);
        assert_eq!(eval(Model::Fneg, &[1.5]), Evaluation::Value(half(-1.5)));
        assert_eq!(eval(Model::Fnearest, &[2.5]), Evaluation::Value(half(2.0)));
        assert_eq!(eval(Model::Sqrt, &[4.0]), Evaluation::Undefined);
    }

    /// All binary16 numbers, by way of binary64, whose arithmetic is the machine's: rounding twice changes nothing,
    /// since 53 bits are more than twice 11 and two.
    #[test]
    fn binary16_is_binary64_rounded() {
        let wide = |bits: i128| match Model::Fpromote.eval_at(&[Repr::F16], F64, &[bits]) {
            Evaluation::Value(bits) => f64::from_bits(bits as u64),
            other => panic!("{other:?}"),
        };
        for x in (0..0x7c00i128).step_by(7).chain((0x8000..0xfc00).step_by(11)) {
            assert_eq!(half(wide(x)), x, "{x:#x}");
            for y in [0x0001, 0x3c00, 0x3555, 0xb9ab, 0x7bff, 0x03ff, 0x0400] {
                let machine = [
                    (Model::Fadd, wide(x) + wide(y)),
                    (Model::Fsub, wide(x) - wide(y)),
                    (Model::Fmul, wide(x) * wide(y)),
                    (Model::Fdiv, wide(x) / wide(y)),
                ];
                for (model, value) in machine {
                    let soft = model.eval_at(&[Repr::F16; 2], Repr::F16, &[x, y]);
                    assert_eq!(soft, Evaluation::Value(half(value)), "{model:?} {x:#x} {y:#x}");
                }
                let less = Model::FcmpLt.eval_at(&[Repr::F16; 2], Repr::Scalar(Scalar::I8), &[x, y]);
                assert_eq!(less, Evaluation::Value((wide(x) < wide(y)).into()), "{x:#x} {y:#x}");
            }
        }
    }

    #[test]
    fn binary128() {
        let one = 0x3fffi128 << 112;
        let convert = |model: Model, from: Repr, to: Repr, x: i128| model.eval_at(&[from], to, &[x]);
        assert_eq!(
            convert(Model::Fpromote, F64, Repr::F128, i128::from(1f64.to_bits() as i64)),
            Evaluation::Value(one)
        );
        assert_eq!(convert(Model::FcvtFromSint, I64, Repr::F128, 1), Evaluation::Value(one));
        assert_eq!(convert(Model::FcvtFromUint, I64, Repr::F128, -1).map_value(|x| x >> 112), Some(0x3fff + 63));
        let minus = Model::Fneg.eval_at(&[Repr::F128], Repr::F128, &[one]);
        assert_eq!(minus, Evaluation::Value(one | i128::MIN));
        for (x, expected) in [(one | i128::MIN, 0), (one, 1), (0x7fff << 112, 255), (0x7fff << 112 | 1, 0)] {
            let to = Model::FcvtToUintSat.eval_at(&[Repr::F128], Repr::Scalar(Scalar::I8), &[x]);
            assert_eq!(to, Evaluation::Value(Scalar::I8.canonical(expected).into()), "{x:#x}");
        }
        let words = Model::FromWords.eval_at(&[I64; 2], Repr::F128, &[0, 0x3fff << 48]);
        assert_eq!(words, Evaluation::Value(one));
        assert_eq!(Model::FromWords.eval_at(&[I64; 2], Repr::F16, &[0x1_3c00, 7]), Evaluation::Value(0x3c00));
    }

    impl Evaluation<i128> {
        fn map_value(self, f: impl Fn(i128) -> i128) -> Option<i128> {
            if let Evaluation::Value(value) = self { Some(f(value)) } else { None }
        }
    }
}
