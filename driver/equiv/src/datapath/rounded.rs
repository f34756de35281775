//! Operations on floats without what rounding computes: functions of which only laws are known that hold in IEEE 754,
//! rounded to nearest, with one NaN.
//!
//! A solver takes minutes for one product of numbers, and the questions are mostly whether two programs compute the same
//! ones. A claim that is shown with these functions holds, as they may be any that keep the laws:
//!
//! * sums and products commute; `x - y` is `x + -y`; the sign of a product or quotient is that of its operands;
//! * `x * 1` and `x + -0` are `x`, `x * 2` is `x + x` and has the sign of `x`, `x / c` is `x * (1 / c)` where `c` is a
//!   power of two.
//!
//! Signs, comparisons, the smaller and the larger one are what they are, on bits. A float is known by its sign, which is
//! that of others, and its magnitude: thus many values are one term, and no solver is needed.

use rewright_smt::{Expr, Format, Script, Sort, accepts};
use rewright_typeprop::Model;
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

/// An operation on floats, or on integers that gives one.
#[derive(Clone, Copy)]
pub(super) struct Rounding<'a> {
    pub(super) model: Model,
    pub(super) operands: &'a [Expr],
    /// Those of the operands that are constants.
    pub(super) constants: &'a [Option<u128>],
    /// The format of the operands; of the result, where they are integers.
    pub(super) format: Format,
    /// How many bits the result has.
    pub(super) width: u32,
}

/// A float.
#[derive(Clone)]
struct Parts {
    /// Bits of which an odd number is set where the sign is.
    signs: BTreeSet<Expr>,
    /// The sign is the other one.
    negated: bool,
    /// The other bits.
    magnitude: Expr,
}

/// Floats of which it is known how they come about.
#[derive(Default)]
pub(super) struct Laws {
    parts: FxHashMap<Expr, Parts>,
}

impl Laws {
    /// The bits of a result; `None` of other operations.
    pub(super) fn meaning(&mut self, script: &mut Script, of: Rounding<'_>) -> Option<Expr> {
        let Rounding { model, operands, constants, format, width } = of;
        let mut rounded = Rounded { s: script, laws: self, format, width: format.exponent + format.significand };
        let own = rounded.width;
        let constant = |n: usize| constants.get(n).copied().flatten().map(|bits| Constant { bits, width: own });
        let of_width = |operand: &Expr| operand.width() == own;
        if matches!(model, Model::FcvtFromUint | Model::FcvtFromSint) {
            return Some(rounded.unknown(model, operands, width));
        }
        if !operands.iter().all(of_width) {
            return None;
        }
        Some(match (model, operands) {
            (Model::Fadd, [x, y]) => match (constant(0), constant(1)) {
                (_, Some(c)) if c.is(-0.0) => *x,
                (Some(c), _) if c.is(-0.0) => *y,
                _ => rounded.sum(*x, *y),
            },
            (Model::Fsub, [x, _]) if constant(1).is_some_and(|c| c.is(0.0)) => *x,
            (Model::Fsub, [x, y]) => {
                let negated = rounded.negated(*y);
                rounded.sum(*x, negated)
            }
            (Model::Fmul, [x, y]) => match (constant(0), constant(1)) {
                (_, Some(c)) => rounded.multiple(*x, *y, c),
                (Some(c), _) => rounded.multiple(*y, *x, c),
                _ => rounded.of_magnitudes("product", *x, *y, true),
            },
            (Model::Fdiv, [x, y]) => match constant(1).and_then(Constant::inverse) {
                Some(inverse) => {
                    let bits = rounded.s.bits(own, inverse.bits);
                    rounded.multiple(*x, bits, inverse)
                }
                None => rounded.of_magnitudes("quotient", *x, *y, false),
            },
            (Model::Fneg, [x]) => rounded.negated(*x),
            (Model::Fabs, [x]) => {
                let magnitude = rounded.parts(*x).magnitude;
                rounded.float(Parts { signs: BTreeSet::new(), negated: false, magnitude })
            }
            (Model::Fmin, [x, y]) => rounded.extreme(*x, *y, false),
            (Model::Fmax, [x, y]) => rounded.extreme(*x, *y, true),
            (Model::Sqrt | Model::Fma | Model::Fceil | Model::Ffloor | Model::Ftrunc | Model::Fnearest, operands)
            | (Model::Fpromote | Model::Fdemote, operands)
            | (Model::FcvtToUint | Model::FcvtToSint | Model::FcvtToUintSat | Model::FcvtToSintSat, operands) => {
                let operands: Vec<Expr> = operands.iter().map(|x| rounded.canonical(*x)).collect();
                rounded.unknown(model, &operands, width)
            }
            (model, [x, y]) => rounded.comparison(model, *x, *y, width)?,
            _ => return None,
        })
    }

    /// Whether a float is a NaN.
    pub(super) fn is_nan(&mut self, script: &mut Script, x: Expr, format: Format) -> Expr {
        let width = format.exponent + format.significand;
        Rounded { s: script, laws: self, format, width }.is_nan(x)
    }
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
    laws: &'s mut Laws,
    format: Format,
    /// Of the format.
    width: u32,
}

impl Rounded<'_> {
    fn parts(&mut self, x: Expr) -> Parts {
        if let Some(known) = self.laws.parts.get(&x) {
            return known.clone();
        }
        let top = self.width - 1;
        let (sign, magnitude) = (self.s.extract(x, top, top), self.s.extract(x, top - 1, 0));
        let (clear, set) = (self.s.bits(1, 0), self.s.bits(1, 1));
        let signs = if sign == clear || sign == set { BTreeSet::new() } else { BTreeSet::from([sign]) };
        Parts { signs, negated: sign == set, magnitude }
    }

    /// The bits of a float.
    fn float(&mut self, parts: Parts) -> Expr {
        let one = Sort::Bits(1);
        let all = parts.signs.iter().copied().reduce(|x, y| self.s.apply("bvxor", &[x, y], one));
        let sign = match (all, parts.negated) {
            (None, negated) => self.s.bits(1, negated.into()),
            (Some(sign), false) => sign,
            (Some(sign), true) => self.s.apply("bvnot", &[sign], one),
        };
        let bits = self.s.concat(&[sign, parts.magnitude]);
        self.laws.parts.insert(bits, parts);
        bits
    }

    fn negated(&mut self, x: Expr) -> Expr {
        let parts = self.parts(x);
        self.float(Parts { negated: !parts.negated, ..parts })
    }

    fn infinity(&mut self) -> Expr {
        let fraction = self.format.significand - 1;
        self.s.bits(self.width - 1, ((1 << self.format.exponent) - 1) << fraction)
    }

    fn is_nan(&mut self, x: Expr) -> Expr {
        let (magnitude, infinity) = (self.parts(x).magnitude, self.infinity());
        self.s.apply("bvugt", &[magnitude, infinity], Sort::Bool)
    }

    /// The magnitude, with one NaN for all.
    fn magnitude(&mut self, x: Expr) -> Expr {
        let (is_nan, magnitude) = (self.is_nan(x), self.parts(x).magnitude);
        let nan = self.s.bits(self.width - 1, u128::MAX);
        self.s.choose(is_nan, nan, magnitude)
    }

    /// The value, with one NaN for all.
    fn canonical(&mut self, x: Expr) -> Expr {
        let is_nan = self.is_nan(x);
        let nan = self.s.bits(self.width, u128::MAX >> 1 >> (128 - self.width));
        self.s.choose(is_nan, nan, x)
    }

    /// A function of operands of which nothing else is known.
    fn unknown(&mut self, model: Model, operands: &[Expr], width: u32) -> Expr {
        let from = operands.first().map_or(0, |operand| operand.width());
        self.s.unknown(&format!("rounded {model:?} {from} {width}"), operands, Sort::Bits(width))
    }

    /// A function of two values that may change places.
    fn symmetric(&mut self, name: &str, x: Expr, y: Expr) -> Expr {
        let (x, y) = (x.min(y), x.max(y));
        let ordered = self.s.apply("bvule", &[x, y], Sort::Bool);
        let (low, high) = (self.s.choose(ordered, x, y), self.s.choose(ordered, y, x));
        self.s.unknown(&format!("rounded {name} {}", self.width), &[low, high], x.sort())
    }

    fn sum(&mut self, x: Expr, y: Expr) -> Expr {
        if x == y {
            return self.twice(x);
        }
        let (x, y) = (self.canonical(x), self.canonical(y));
        self.symmetric("sum", x, y)
    }

    fn twice(&mut self, x: Expr) -> Expr {
        let magnitude = self.magnitude(x);
        let magnitude = self.s.unknown(&format!("rounded double {}", self.width), &[magnitude], magnitude.sort());
        let parts = self.parts(x);
        self.float(Parts { magnitude, ..parts })
    }

    /// A function of magnitudes, with the sign that both signs give.
    fn of_magnitudes(&mut self, name: &str, x: Expr, y: Expr, commutes: bool) -> Expr {
        let (first, second) = (self.parts(x), self.parts(y));
        let (x, y) = (self.magnitude(x), self.magnitude(y));
        let magnitude = match commutes {
            true => self.symmetric(name, x, y),
            false => self.s.unknown(&format!("rounded {name} {}", self.width), &[x, y], x.sort()),
        };
        let signs = first.signs.symmetric_difference(&second.signs).copied().collect();
        self.float(Parts { signs, negated: first.negated != second.negated, magnitude })
    }

    /// A product with a constant.
    fn multiple(&mut self, x: Expr, y: Expr, constant: Constant) -> Expr {
        let found = match constant.number().abs() {
            1.0 => x,
            2.0 => self.twice(x),
            _ => return self.of_magnitudes("product", x, y, true),
        };
        if constant.number() < 0.0 { self.negated(found) } else { found }
    }

    /// A bit vector whose order without signs is that of numbers; -0 is below 0.
    fn order(&mut self, x: Expr) -> Expr {
        let top = self.width - 1;
        let (sign, set) = (self.s.extract(x, top, top), self.s.bits(1, 1));
        let is_negative = self.s.equal(sign, set);
        let sort = Sort::Bits(self.width);
        let (below, lowest) = (self.s.apply("bvnot", &[x], sort), self.s.bits(self.width, 1 << top));
        let above = self.s.apply("bvor", &[x, lowest], sort);
        self.s.choose(is_negative, below, above)
    }

    /// The larger or the smaller one; a NaN where either is one.
    fn extreme(&mut self, x: Expr, y: Expr, larger: bool) -> Expr {
        let (x, y) = (x.min(y), x.max(y));
        let (first, second) = (self.order(x), self.order(y));
        let above = self.s.apply("bvuge", &[first, second], Sort::Bool);
        let chosen = if larger { self.s.choose(above, x, y) } else { self.s.choose(above, y, x) };
        let of_nans = [self.is_nan(x), self.is_nan(y)];
        let either = self.s.or(&of_nans);
        let nan = self.s.bits(self.width, u128::MAX >> 1 >> (128 - self.width));
        if x == y { x } else { self.s.choose(either, nan, chosen) }
    }

    /// 1 where a comparison holds.
    fn comparison(&mut self, model: Model, x: Expr, y: Expr, width: u32) -> Option<Expr> {
        let accepted = accepts(model)?;
        let of_nans = [self.is_nan(x), self.is_nan(y)];
        let unordered = self.s.or(&of_nans);
        let ordered = self.s.not(unordered);
        let (one, other) = (self.parts(x).magnitude, self.parts(y).magnitude);
        let none = self.s.bits(self.width - 1, 0);
        let zeros = [self.s.equal(one, none), self.s.equal(other, none)];
        let zeros = self.s.and(&zeros);
        let same = self.s.equal(x, y);
        let equal = self.s.or(&[same, zeros]);
        let differ = self.s.not(equal);
        let (first, second) = (self.order(x), self.order(y));
        let mut holds = vec![];
        if accepted.unordered {
            holds.push(unordered);
        }
        if accepted.equal {
            holds.push(self.s.and(&[ordered, equal]));
        }
        for (is_accepted, low, high) in [(accepted.less, first, second), (accepted.greater, second, first)] {
            if is_accepted {
                let below = self.s.apply("bvult", &[low, high], Sort::Bool);
                holds.push(self.s.and(&[ordered, differ, below]));
            }
        }
        let holds = self.s.or(&holds);
        let (yes, no) = (self.s.bits(width, 1), self.s.bits(width, 0));
        Some(self.s.choose(holds, yes, no))
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
            assert!(same(x + x, (x.abs() + x.abs()).copysign(x)), "{x}");
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

    fn float(script: &mut Script, name: &str) -> Expr {
        script.variable(name, Sort::Bits(64))
    }

    #[test]
    fn what_follows_from_laws_is_one_term() {
        let (mut script, mut laws) = (Script::new(), Laws::default());
        let format = Format::of_width(64).expect("a format");
        let [x, y, z] = ["x", "y", "z"].map(|name| float(&mut script, name));
        let mut of = |model, operands: &[Expr], constant: Option<f64>| {
            let constants = [None, constant.map(|number| number.to_bits().into())];
            let mut operands = operands.to_vec();
            operands.extend(constant.map(|number| script.bits(64, number.to_bits().into())));
            let of = Rounding { model, operands: &operands, constants: &constants, format, width: 64 };
            laws.meaning(&mut script, of).expect("an operation on floats")
        };
        use Model::{Fabs, Fadd, Fdiv, Fmax, Fmin, Fmul, Fneg, Fsub};
        let (minus_x, minus_y) = (of(Fneg, &[x], None), of(Fneg, &[y], None));
        let (xy, quotient) = (of(Fmul, &[x, y], None), of(Fdiv, &[x, y], None));
        let minus_xy = of(Fneg, &[xy], None);
        assert_eq!(of(Fneg, &[minus_x], None), x);
        assert_eq!(of(Fmul, &[minus_y, minus_x], None), xy);
        assert_eq!(of(Fmul, &[minus_x, y], None), minus_xy);
        assert_eq!(of(Fdiv, &[minus_x, minus_y], None), quotient);
        let (first, last) = (of(Fdiv, &[minus_xy, z], None), of(Fdiv, &[xy, z], None));
        assert_eq!(first, of(Fneg, &[last], None));
        assert_eq!(of(Fadd, &[y, minus_x], None), of(Fsub, &[y, x], None));
        assert_eq!(of(Fmul, &[x], Some(-2.0)), of(Fadd, &[minus_x, minus_x], None));
        assert_eq!(of(Fdiv, &[x], Some(4.0)), of(Fmul, &[x], Some(0.25)));
        assert_eq!(of(Fmul, &[x], Some(-1.0)), minus_x);
        assert_eq!((of(Fadd, &[x], Some(-0.0)), of(Fsub, &[x], Some(0.0))), (x, x));
        assert_eq!(of(Fabs, &[minus_xy], None), of(Fabs, &[xy], None));
        assert_eq!(of(Fmax, &[x, y], None), of(Fmax, &[y, x], None));
        // These are not equal.
        assert_ne!(of(Fadd, &[x], Some(0.0)), x);
        assert_ne!(of(Fsub, &[x], Some(-0.0)), x);
        assert_ne!(of(Fsub, &[x, y], None), of(Fsub, &[y, x], None));
        assert_ne!(of(Fdiv, &[x, y], None), of(Fdiv, &[y, x], None));
        assert_ne!(of(Fmax, &[x, y], None), of(Fmin, &[x, y], None));
        assert_ne!(of(Fmul, &[x], Some(0.0)), of(Fmul, &[x], Some(-0.0)));
    }
}
