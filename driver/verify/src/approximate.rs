//! Rules that give something up and say so (`@approximate("what")`): are their sides close, at least?
//!
//! Both sides run on ordinary values: floats between a quarter and four of either sign, small integers. There nothing
//! overflows, and no rounding is far from the value, unless a difference of near values makes it so. So of ten values
//! nine have to agree within the tolerance, the rule's own or the usual one: a rule whose algebra is wrong fails at
//! nearly all.
//!
//! Where a rule says at which values it is to be tried (`@sample`), these are computed from ordinary ones.
//!
//! This is evidence, no proof: what a rule gives up is the word of its author.

use super::concrete::{Comparison, Concrete, Value};
use super::sample::Effort;
use super::typing::type_of;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rewright_dsl::program::{Approximation, VarKind};
use rewright_typeprop::eval::repr_of;
use rewright_typeprop::{Repr, Scalar};

/// A relative difference below 2 to the minus half of a significand's bits, where the rule states none.
pub(super) fn usual(lane: Scalar) -> f64 {
    if lane == Scalar::F32 { 2f64.powi(-12) } else { 2f64.powi(-26) }
}

/// For people.
pub(super) fn tolerance(stated: &Approximation) -> String {
    stated.tolerance.map_or("half of their bits".into(), |tolerance| format!("{tolerance:e}"))
}

/// What ordinary values say.
pub(super) enum Closeness {
    /// How many, of how many at which the rule matches and has a value.
    Close(usize, usize),
    /// An assignment at which the sides are far from each other, and what they are.
    Far(Vec<Value>, [Value; 2]),
    /// None could be tried.
    Unknown,
}

/// Runs both sides on ordinary values.
pub(super) fn compare(rule: Concrete<'_>, stated: &Approximation, effort: Effort) -> Closeness {
    let mut rng = ChaCha8Rng::seed_from_u64(effort.seed);
    let types = &rule.program.universe.types;
    let repr = |kind: &VarKind| match kind {
        VarKind::Value { ty, .. } => repr_of(types, ty, rule.targs),
        VarKind::State => None,
    };
    let Some(reprs) = rule.rule.vars.iter().map(|var| repr(&var.kind)).collect::<Option<Vec<Repr>>>() else {
        return Closeness::Unknown;
    };
    // No pointer is ordinary.
    if reprs.contains(&Repr::Pointer) {
        return Closeness::Unknown;
    }
    let result = type_of(rule.program, &rule.rule.left[0], rule.rule, rule.targs).and_then(Repr::lane);
    let (mut close, mut tried, mut far) = (0, 0, None);
    for _ in 0..effort.samples {
        let any: Vec<Value> = reprs.iter().map(|repr| Value::Bits(ordinary(*repr, &mut rng))).collect();
        let mut vars = any.clone();
        for (var, sample) in &stated.samples {
            let Some(value) = rule.computed(sample, &any) else { return Closeness::Unknown };
            vars[*var as usize] = value;
        }
        match rule.compare(&vars) {
            Comparison::Silent | Comparison::Open => continue,
            Comparison::Meaningless => return Closeness::Unknown,
            Comparison::Equal => close += 1,
            Comparison::Different(Value::Bits(left), Value::Bits(right))
                if result.is_some_and(|lane| {
                    are_close(lane, left as i64, right as i64, stated.tolerance.unwrap_or_else(|| usual(lane)))
                }) =>
            {
                close += 1;
            }
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

/// A value of the kind that rules are about.
pub(super) fn ordinary(repr: Repr, rng: &mut ChaCha8Rng) -> i128 {
    let float = 2f64.powf(rng.random_range(-2.0..2.0)) * if rng.random() { 1.0 } else { -1.0 };
    match repr.lane() {
        Some(Scalar::F32) => repr.canonical((float as f32).to_bits().into()),
        Some(Scalar::F64) => repr.canonical(float.to_bits().into()),
        _ => repr.canonical(rng.random_range(-100i128..=100) as u128),
    }
}

/// Floats that differ by no more than this part of the greater one.
pub(super) fn are_close(lane: Scalar, left: i64, right: i64, tolerance: f64) -> bool {
    let read = |bits: i64| match lane {
        Scalar::F32 => Some(f64::from(f32::from_bits(bits as u32))),
        Scalar::F64 => Some(f64::from_bits(bits as u64)),
        _ => None,
    };
    let (Some(left), Some(right)) = (read(left), read(right)) else { return false };
    (left - right).abs() <= tolerance * left.abs().max(right.abs())
}
