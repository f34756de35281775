//! Rounded arithmetic on floats without what it computes: functions of which only laws are known that hold in IEEE 754,
//! rounded to nearest, with one NaN.
//!
//! A solver takes minutes for one product of numbers, and the questions are mostly whether two programs compute the same
//! ones. What is shown with these functions holds, as they may be any that keep the laws:
//!
//! * sums and products commute; `x - y` is `x + -y`; the sign of a product or quotient is that of its operands;
//! * `x * 1` and `x + -0` are `x`, `x * 2` is `x + x`, `x / c` is `x * (1 / c)` where `c` is a power of two.

use rewright_smt::{Expr, Format, Script, Sort};
use rewright_typeprop::Model;

/// The bits of a result, of operands some of which are constants; `None` of other operations.
pub(super) fn meaning(
    script: &mut Script,
    model: Model,
    operands: &[Expr],
    constants: &[Option<u128>],
    format: Format,
) -> Option<Expr> {
    let width = format.exponent + format.significand;
    if operands.iter().any(|operand| operand.width() != width) {
        return None;
    }
    let mut rounded = Rounded { s: script, format, width };
    let constant = |n: usize| constants.get(n).copied().flatten().map(|bits| Constant { bits, width });
    Some(match (model, operands) {
        (Model::Fadd, [x, y]) => match (constant(0), constant(1)) {
            (_, Some(c)) if c.is(-0.0) => rounded.settled(*x),
            (Some(c), _) if c.is(-0.0) => rounded.settled(*y),
            _ => rounded.sum(*x, *y),
        },
        (Model::Fsub, [x, _]) if constant(1).is_some_and(|c| c.is(0.0)) => rounded.settled(*x),
        (Model::Fsub, [x, y]) => {
            let sign = rounded.sign_bit();
            let negated = rounded.flipped(*y, sign);
            rounded.sum(*x, negated)
        }
        (Model::Fmul, [x, y]) => match (constant(0), constant(1)) {
            (_, Some(c)) => rounded.multiple(*x, *y, c),
            (Some(c), _) => rounded.multiple(*y, *x, c),
            _ => rounded.product(*x, *y),
        },
        (Model::Fdiv, [x, y]) => match constant(1).and_then(Constant::inverse) {
            Some(inverse) => {
                let bits = rounded.s.bits(width, inverse.bits);
                rounded.multiple(*x, bits, inverse)
            }
            None => rounded.of_magnitudes("quotient", *x, *y, false),
        },
        (Model::Sqrt | Model::Fma, operands) => {
            let operands: Vec<Expr> = operands.iter().map(|x| rounded.canonical(*x)).collect();
            rounded.s.unknown(&format!("rounded {model:?} {width}"), &operands, Sort::Bits(width))
        }
        _ => return None,
    })
}

/// The bits of a constant.
#[derive(Clone, Copy)]
struct Constant {
    bits: u128,
    width: u32,
}

impl Constant {
    fn number(self) -> f64 {
        if self.width == 32 { f32::from_bits(self.bits as u32).into() } else { f64::from_bits(self.bits as u64) }
    }

    fn of(number: f64, width: u32) -> Constant {
        let bits = if width == 32 { (number as f32).to_bits().into() } else { number.to_bits().into() };
        Constant { bits, width }
    }

    /// Whether it is this number, with its sign.
    fn is(self, number: f64) -> bool {
        self.number().to_bits() == number.to_bits()
    }

    /// What to multiply by for a division by this, where both give the same: both are powers of two and not too small.
    fn inverse(self) -> Option<Constant> {
        let inverse = Constant::of(1.0 / self.number(), self.width);
        let is_power = |c: Constant| match c.width {
            32 => c.bits as u32 & 0x007f_ffff == 0 && f32::from_bits(c.bits as u32).is_normal(),
            _ => c.bits as u64 & 0x000f_ffff_ffff_ffff == 0 && f64::from_bits(c.bits as u64).is_normal(),
        };
        (is_power(self) && is_power(inverse)).then_some(inverse)
    }
}

struct Rounded<'s> {
    s: &'s mut Script,
    format: Format,
    width: u32,
}

impl Rounded<'_> {
    fn sign_bit(&mut self) -> Expr {
        self.s.bits(self.width, 1 << (self.width - 1))
    }

    fn flipped(&mut self, x: Expr, by: Expr) -> Expr {
        self.s.apply("bvxor", &[x, by], Sort::Bits(self.width))
    }

    /// The sign bit of a value, the others 0.
    fn sign(&mut self, x: Expr) -> Expr {
        let sign = self.sign_bit();
        self.s.apply("bvand", &[x, sign], Sort::Bits(self.width))
    }

    fn magnitude(&mut self, x: Expr) -> Expr {
        let rest = self.s.bits(self.width, (1 << (self.width - 1)) - 1);
        self.s.apply("bvand", &[x, rest], Sort::Bits(self.width))
    }

    fn is_nan(&mut self, x: Expr) -> Expr {
        let magnitude = self.magnitude(x);
        let infinity = self.infinity();
        self.s.apply("bvugt", &[magnitude, infinity], Sort::Bool)
    }

    fn infinity(&mut self) -> Expr {
        let fraction = self.format.significand - 1;
        self.s.bits(self.width, ((1 << self.format.exponent) - 1) << fraction)
    }

    /// The value, with one NaN for all.
    fn canonical(&mut self, x: Expr) -> Expr {
        let (is_nan, infinity) = (self.is_nan(x), self.infinity());
        let one = self.s.bits(self.width, 1);
        let nan = self.s.apply("bvor", &[infinity, one], Sort::Bits(self.width));
        self.s.choose(is_nan, nan, x)
    }

    /// The value; a NaN becomes some NaN.
    fn settled(&mut self, x: Expr) -> Expr {
        let (is_nan, infinity) = (self.is_nan(x), self.infinity());
        let some = self.s.unknown(&format!("NaN {}", self.width), &[x], Sort::Bits(self.width));
        let one = self.s.bits(self.width, 1);
        let some = self.s.apply("bvor", &[some, infinity], Sort::Bits(self.width));
        let some = self.s.apply("bvor", &[some, one], Sort::Bits(self.width));
        self.s.choose(is_nan, some, x)
    }

    /// A function of two values that may change places.
    fn symmetric(&mut self, name: &str, x: Expr, y: Expr) -> Expr {
        let ordered = self.s.apply("bvule", &[x, y], Sort::Bool);
        let (low, high) = (self.s.choose(ordered, x, y), self.s.choose(ordered, y, x));
        self.s.unknown(&format!("rounded {name} {}", self.width), &[low, high], Sort::Bits(self.width))
    }

    fn sum(&mut self, x: Expr, y: Expr) -> Expr {
        let (x, y) = (self.canonical(x), self.canonical(y));
        self.symmetric("sum", x, y)
    }

    /// A function of magnitudes, with the sign that both signs give.
    fn of_magnitudes(&mut self, name: &str, x: Expr, y: Expr, commutes: bool) -> Expr {
        let (first, second) = (self.sign(x), self.sign(y));
        let sign = self.flipped(first, second);
        let (x, y) = (self.canonical(x), self.canonical(y));
        let (x, y) = (self.magnitude(x), self.magnitude(y));
        let found = match commutes {
            true => self.symmetric(name, x, y),
            false => self.s.unknown(&format!("rounded {name} {}", self.width), &[x, y], Sort::Bits(self.width)),
        };
        let found = self.magnitude(found);
        self.flipped(found, sign)
    }

    fn product(&mut self, x: Expr, y: Expr) -> Expr {
        self.of_magnitudes("product", x, y, true)
    }

    /// A product with a constant.
    fn multiple(&mut self, x: Expr, y: Expr, constant: Constant) -> Expr {
        let found = match constant.number().abs() {
            1.0 => self.settled(x),
            2.0 => self.sum(x, x),
            _ => return self.product(x, y),
        };
        let sign = self.sign(y);
        self.flipped(found, sign)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn same(a: f64, b: f64) -> bool {
        a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan())
    }

    /// Numbers at which rounding, overflow and signs of zeros show.
    fn numbers() -> Vec<f64> {
        let positive = [
            0.0,
            f64::from_bits(1),
            f64::MIN_POSITIVE,
            f64::MIN_POSITIVE * 1.5,
            1e-300,
            0.1,
            0.5,
            1.0,
            1.0 + f64::EPSILON,
            3.0,
            1e300,
            f64::MAX / 2.0,
            f64::MAX,
            f64::INFINITY,
        ];
        positive.into_iter().flat_map(|x| [x, -x]).chain([f64::NAN]).collect()
    }

    #[test]
    fn laws_hold_on_numbers() {
        for x in numbers() {
            assert!(same(x * 1.0, x) && same(x + -0.0, x) && same(x - 0.0, x) && same(x * 2.0, x + x), "{x}");
            for y in numbers() {
                assert!(same(x + y, y + x) && same(x * y, y * x) && same(x - y, x + -y), "{x} {y}");
                let sign = if x.is_sign_negative() == y.is_sign_negative() { 1.0f64 } else { -1.0 };
                assert!(same(x * y, (x.abs() * y.abs()).copysign(sign)), "{x} {y}");
                assert!(same(x / y, (x.abs() / y.abs()).copysign(sign)), "{x} {y}");
                if let Some(inverse) = Constant::of(y, 64).inverse() {
                    assert!(same(x / y, x * inverse.number()), "{x} {y}");
                }
            }
        }
    }

    #[test]
    fn only_powers_of_two_have_an_inverse() {
        let inverse = |x, width| Constant::of(x, width).inverse().map(Constant::number);
        assert_eq!(inverse(-4.0, 32), Some(-0.25));
        assert_eq!(inverse(2f64.powi(100), 64), Some(2f64.powi(-100)));
        for (x, width) in [(3.0, 64), (0.0, 64), (f64::INFINITY, 64), (f64::NAN, 32), (f64::from_bits(1), 64)] {
            assert_eq!(inverse(x, width), None, "{x}");
        }
        // Its inverse is too small for the type.
        assert_eq!(inverse(2f64.powi(127), 32), None);
        assert_eq!(inverse(2f64.powi(1023), 64), None);
    }
}
