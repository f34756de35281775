//! Rules that give something up and say so (`@approximate("what")`): are their sides close, at least?
//!
//! Both sides run on ordinary values: floats between a quarter and four of either sign, small integers. There nothing
//! overflows, and no rounding is far from the value, unless a difference of near values makes it so. So of ten values
//! nine have to agree within the tolerance: a rule whose algebra is wrong fails at nearly all.
//!
//! This is evidence, no proof: what a rule gives up is the word of its author.

use super::concrete::{Comparison, Concrete, Value};
use super::sample::Effort;
use super::typing::type_of;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rewright_dsl::program::VarKind;
use rewright_typeprop::eval::repr_of;
use rewright_typeprop::{Repr, Scalar};

/// For people: a relative difference below 2 to the minus half of a significand's bits.
pub(super) const TOLERANCE: &str = "half of their bits";

/// What ordinary values say.
pub(super) enum Closeness {
    /// So many, of how many at which the rule matches and has a value.
    Close(usize, usize),
    /// An assignment at which the sides are far from each other, and what they are.
    Far(Vec<Value>, [Value; 2]),
    /// None could be tried.
    Unknown,
}

/// Runs both sides on ordinary values.
pub(super) fn compare(rule: Concrete<'_>, effort: Effort) -> Closeness {
    let mut rng = ChaCha8Rng::seed_from_u64(effort.seed);
    let types = &rule.program.universe.types;
    let repr = |kind: &VarKind| match kind {
        VarKind::Value { ty, .. } => repr_of(types, ty, rule.targs),
        VarKind::State => None,
    };
    let Some(reprs) = rule.rule.vars.iter().map(|var| repr(&var.kind)).collect::<Option<Vec<Repr>>>() else {
        return Closeness::Unknown;
    };
    let result = type_of(rule.program, &rule.rule.left[0], rule.rule, rule.targs).and_then(Repr::lane);
    let (mut close, mut tried, mut far) = (0, 0, None);
    for _ in 0..effort.samples {
        let vars: Vec<Value> = reprs.iter().map(|repr| Value::Bits(ordinary(*repr, &mut rng))).collect();
        match rule.compare(&vars) {
            Comparison::Silent | Comparison::Open => continue,
            Comparison::Meaningless => return Closeness::Unknown,
            Comparison::Equal => close += 1,
            Comparison::Different(left, right) if are_close(result, &left, &right) => close += 1,
            Comparison::Different(left, right) => far = Some((vars, [left, right])),
        }
        tried += 1;
    }
    match far {
        Some((vars, sides)) if 10 * close < 9 * tried => Closeness::Far(vars, sides),
        _ if tried > 0 => Closeness::Close(close, tried),
        _ => Closeness::Unknown,
    }
}

fn ordinary(repr: Repr, rng: &mut ChaCha8Rng) -> i128 {
    let float = 2f64.powf(rng.random_range(-2.0..2.0)) * if rng.random() { 1.0 } else { -1.0 };
    match repr.lane() {
        Some(Scalar::F32) => repr.canonical((float as f32).to_bits().into()),
        Some(Scalar::F64) => repr.canonical(float.to_bits().into()),
        _ => repr.canonical(rng.random_range(-100i128..=100) as u128),
    }
}

/// Floats whose first half of bits agrees.
fn are_close(lane: Option<Scalar>, left: &Value, right: &Value) -> bool {
    let (Some(lane), Value::Bits(left), Value::Bits(right)) = (lane, left, right) else { return false };
    let (read, tolerance): (fn(i128) -> f64, f64) = match lane {
        Scalar::F32 => (|bits| f32::from_bits(bits as u32).into(), 2f64.powi(-12)),
        Scalar::F64 => (|bits| f64::from_bits(bits as u64), 2f64.powi(-26)),
        _ => return false,
    };
    let (left, right) = (read(*left), read(*right));
    (left - right).abs() <= tolerance * left.abs().max(right.abs())
}
