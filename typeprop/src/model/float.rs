//! Meanings of floating-point operations. An operation that produces a NaN by arithmetic gives [`Evaluation::Nan`]; one
//! that only moves bits (`fneg`, `fabs`, `fcopysign`) is exact on NaNs, too.

use super::{Evaluation, Model, Scalar};
use std::cmp::Ordering;

/// The two formats, as far as the models need them.
trait Float: Copy + PartialOrd {
    fn from_constant(canonical: i64) -> Self;
    fn constant(self) -> i64;
    fn is_nan(self) -> bool;
    fn arithmetic(model: Model, x: Self, y: Self, z: Self) -> Option<Self>;
}

macro_rules! float {
    ($ty:ty, $bits:ty) => {
        impl Float for $ty {
            fn from_constant(canonical: i64) -> Self {
                <$ty>::from_bits(canonical as $bits)
            }
            fn constant(self) -> i64 {
                self.to_bits() as i64
            }
            fn is_nan(self) -> bool {
                self.is_nan()
            }
            fn arithmetic(model: Model, x: Self, y: Self, z: Self) -> Option<Self> {
                // -0 below +0, which Rust's own `min` and `max` leave open.
                let smaller = |x: Self, y: Self| if x < y || (x == y && x.is_sign_negative()) { x } else { y };
                Some(match model {
                    Model::Fadd => x + y,
                    Model::Fsub => x - y,
                    Model::Fmul => x * y,
                    Model::Fdiv => x / y,
                    Model::Sqrt => x.sqrt(),
                    Model::Fma => x.mul_add(y, z),
                    Model::Fmin | Model::Fmax if x.is_nan() || y.is_nan() => <$ty>::NAN,
                    Model::Fmin => smaller(x, y),
                    Model::Fmax => -smaller(-x, -y),
                    Model::Fceil => x.ceil(),
                    Model::Ffloor => x.floor(),
                    Model::Ftrunc => x.trunc(),
                    Model::Fnearest => x.round_ties_even(),
                    _ => return None,
                })
            }
        }
    };
}
float!(f32, u32);
float!(f64, u64);

/// Dispatches on the representation of the first operand.
pub(super) fn eval(model: Model, types: &[Scalar], result: Scalar, args: &[i64]) -> Evaluation {
    match (model, types[0]) {
        (Model::FcvtFromUint, ty) if ty.is_int() => {
            let x = ty.zero_extended(args[0]);
            from_integer(result, x as f32, x as f64)
        }
        (Model::FcvtFromSint, ty) if ty.is_int() => from_integer(result, args[0] as f32, args[0] as f64),
        (_, Scalar::F32) => at::<f32>(model, types, result, args),
        (_, Scalar::F64) => at::<f64>(model, types, result, args),
        _ => Evaluation::Undefined,
    }
}

fn from_integer(result: Scalar, single: f32, double: f64) -> Evaluation {
    match result {
        Scalar::F32 => Evaluation::Value(single.constant()),
        Scalar::F64 => Evaluation::Value(double.constant()),
        _ => Evaluation::Undefined,
    }
}

fn at<F: Float>(model: Model, types: &[Scalar], result: Scalar, args: &[i64]) -> Evaluation {
    use Model::*;
    let ty = types[0];
    if types.iter().any(|t| *t != ty) {
        return Evaluation::Undefined;
    }
    let bits = |n: usize| args.get(n).copied().unwrap_or_default();
    let sign = 1u64 << (ty.bits() - 1);
    let sign_moved = match model {
        Fneg => Some(bits(0) as u64 ^ sign),
        Fabs => Some(bits(0) as u64 & !sign),
        Fcopysign => Some((bits(0) as u64 & !sign) | (bits(1) as u64 & sign)),
        _ => None,
    };
    if let Some(value) = sign_moved {
        return if result == ty { Evaluation::Value(result.canonical(value)) } else { Evaluation::Undefined };
    }
    let arg = |n: usize| F::from_constant(bits(n));
    if let Some(holds) = compare(model, || arg(0).partial_cmp(&arg(1))) {
        return if result.is_int() { Evaluation::Value(i64::from(holds)) } else { Evaluation::Undefined };
    }
    match model {
        Fpromote | Fdemote | FcvtToUint | FcvtToSint | FcvtToUintSat | FcvtToSintSat => {
            convert(model, ty, result, bits(0))
        }
        _ if result != ty => Evaluation::Undefined,
        _ => match F::arithmetic(model, arg(0), arg(1), arg(2)) {
            Some(value) if value.is_nan() => Evaluation::Nan,
            Some(value) => Evaluation::Value(value.constant()),
            None => Evaluation::Undefined,
        },
    }
}

/// `None` where the model is no comparison.
pub(super) fn compare(model: Model, order: impl Fn() -> Option<Ordering>) -> Option<bool> {
    use Model::*;
    use Ordering::{Equal, Greater, Less};
    // (unordered, less, equal, greater)
    let (uno, lt, eq, gt) = match model {
        FcmpEq => (false, false, true, false),
        FcmpNe => (true, true, false, true),
        FcmpLt => (false, true, false, false),
        FcmpLe => (false, true, true, false),
        FcmpGt => (false, false, false, true),
        FcmpGe => (false, false, true, true),
        FcmpOrd => (false, true, true, true),
        FcmpUno => (true, false, false, false),
        FcmpUeq => (true, false, true, false),
        FcmpOne => (false, true, false, true),
        FcmpUlt => (true, true, false, false),
        FcmpUle => (true, true, true, false),
        FcmpUgt => (true, false, false, true),
        FcmpUge => (true, false, true, true),
        _ => return None,
    };
    Some(match order() {
        None => uno,
        Some(Less) => lt,
        Some(Equal) => eq,
        Some(Greater) => gt,
    })
}

/// Rust's `as` rounds to nearest between formats, and towards zero, saturating, with 0 for NaN, to integers. A
/// binary32 goes through binary64, which holds it exactly.
fn convert(model: Model, ty: Scalar, result: Scalar, bits: i64) -> Evaluation {
    use Model::*;
    let x = if ty == Scalar::F32 { f64::from(f32::from_constant(bits)) } else { f64::from_constant(bits) };
    let value = match (model, ty, result) {
        (Fpromote, Scalar::F32, Scalar::F64) | (Fdemote, Scalar::F64, Scalar::F32) if x.is_nan() => {
            return Evaluation::Nan;
        }
        (Fpromote, Scalar::F32, Scalar::F64) => x.constant(),
        (Fdemote, Scalar::F64, Scalar::F32) => (x as f32).constant(),
        (Fpromote | Fdemote, ..) => return Evaluation::Undefined,
        (FcvtToUint | FcvtToUintSat, _, Scalar::I8) => i64::from(x as u8 as i8),
        (FcvtToUint | FcvtToUintSat, _, Scalar::I16) => i64::from(x as u16 as i16),
        (FcvtToUint | FcvtToUintSat, _, Scalar::I32) => i64::from(x as u32 as i32),
        (FcvtToUint | FcvtToUintSat, _, Scalar::I64) => x as u64 as i64,
        (_, _, Scalar::I8) => i64::from(x as i8),
        (_, _, Scalar::I16) => i64::from(x as i16),
        (_, _, Scalar::I32) => i64::from(x as i32),
        (_, _, Scalar::I64) => x as i64,
        _ => return Evaluation::Undefined,
    };
    Evaluation::Value(value)
}
