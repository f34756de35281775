//! Values to try: edges of each representation, and random ones; and both sides of a rule run on them.

use super::concrete::{Bytes, Comparison, Concrete, Value};
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rewright_dsl::program::VarKind;
use rewright_typeprop::Scalar;
use rewright_typeprop::eval::scalar_of;

/// What trying values gave.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Tried {
    /// So many assignments at which the rule matched, all of them equal.
    Agree(usize),
    /// An assignment at which the sides differ: the variables, and what left and right are.
    Differ(Vec<Value>, [Value; 2]),
    /// The values of some type cannot be listed, or something has no meaning.
    CannotTry,
}

/// Runs both sides of a rule on at most `count` assignments; all of them where there are no more than that.
pub(super) fn try_values(rule: Concrete<'_>, count: usize, seed: u64) -> Tried {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let types = &rule.program.universe.types;
    let mut kinds = vec![];
    for var in &rule.rule.vars {
        kinds.push(match &var.kind {
            VarKind::State => None,
            VarKind::Value { ty, .. } => match scalar_of(types, ty, rule.targs) {
                Some(scalar) => Some(scalar),
                None => return Tried::CannotTry,
            },
        });
    }
    let memory = kinds.contains(&None);
    let choices: Vec<Vec<Value>> = kinds
        .iter()
        .map(|kind| match kind {
            None => vec![Value::State(Bytes::default())],
            Some(Scalar::I64) if memory => {
                // Addresses and offsets, so that accesses meet, overlap and miss; around the end of memory, too.
                [0, 1, 2, 3, 4, 6, 7, 8, -1, -4, -8, 16, 1000, i64::MAX - 3].map(Value::Bits).to_vec()
            }
            Some(scalar) => edges(*scalar).into_iter().map(Value::Bits).collect(),
        })
        .collect();
    let exhaustive = !memory && kinds.iter().all(|k| *k == Some(Scalar::I8)) && count >= 1 << (8 * kinds.len());
    let mut agreed = 0;
    let mut worst: Option<(u128, Vec<Value>, [Value; 2])> = None;
    let all: usize = choices.iter().map(Vec::len).try_fold(1usize, usize::checked_mul).unwrap_or(usize::MAX);
    let total = if exhaustive { 1 << (8 * kinds.len()) } else { count };
    for n in 0..total {
        let vars: Vec<Value> = if exhaustive {
            (0..kinds.len()).map(|i| Value::Bits(i64::from((n >> (8 * i)) as u8 as i8))).collect()
        } else if all <= total / 2 && n < all {
            nth(&choices, n)
        } else {
            random(&choices, &kinds, memory, &mut rng)
        };
        match rule.compare(&vars) {
            Comparison::Silent | Comparison::Open => {}
            Comparison::Equal => agreed += 1,
            Comparison::Meaningless => return Tried::CannotTry,
            Comparison::Different(left, right) => {
                let size = vars.iter().map(size).sum();
                if worst.as_ref().is_none_or(|(least, ..)| size < *least) {
                    worst = Some((size, vars, [left, right]));
                }
            }
        }
    }
    match worst {
        Some((_, vars, sides)) => Tried::Differ(vars, sides),
        None => Tried::Agree(agreed),
    }
}

/// Small assignments make good examples.
fn size(value: &Value) -> u128 {
    match value {
        Value::Bits(bits) => u128::from(bits.unsigned_abs()),
        Value::Nan | Value::State(_) => 0,
    }
}

fn nth(choices: &[Vec<Value>], mut n: usize) -> Vec<Value> {
    let pick = |c: &Vec<Value>| {
        let value = c[n % c.len()].clone();
        n /= c.len();
        value
    };
    choices.iter().map(pick).collect()
}

/// Edges and random values; now and then the value of another variable of the type, or one beside it.
fn random(choices: &[Vec<Value>], kinds: &[Option<Scalar>], memory: bool, rng: &mut ChaCha8Rng) -> Vec<Value> {
    let mut vars: Vec<Value> = vec![];
    for (i, kind) in kinds.iter().enumerate() {
        let earlier: Vec<i64> = (0..i)
            .filter(|j| kinds[*j] == *kind)
            .filter_map(|j| if let Value::Bits(bits) = vars[j] { Some(bits) } else { None })
            .collect();
        let value = match (kind, earlier.choose(rng)) {
            (Some(scalar), Some(other)) if rng.random_ratio(1, 4) => {
                let near = other.wrapping_add(rng.random_range(-1..=1));
                Value::Bits(scalar.canonical(near as u64))
            }
            (Some(scalar), _) if !memory && rng.random_ratio(1, 4) => {
                Value::Bits(scalar.canonical(rng.random::<u64>() >> rng.random_range(0..64)))
            }
            _ => choices[i].choose(rng).cloned().unwrap_or(Value::Nan),
        };
        vars.push(value);
    }
    vars
}

/// Edges of a representation, small ones first.
pub(super) fn edges(scalar: Scalar) -> Vec<i64> {
    let mut raw: Vec<u64> = vec![];
    if scalar.is_int() {
        let bits = scalar.bits();
        let top = 1u64 << (bits - 1);
        raw.extend([
            0, 1, !0, 2, !1, 3, !2, 4, !3, 5, 7, 8, !7, 9, 10, 15, 16, !15, 17, 24, 31, 32, 48, 56, 63, 64, 127,
        ]);
        raw.extend([
            128,
            255,
            256,
            0xff00,
            0xffff,
            0x7fff_ffff,
            0xffff_ffff,
            top,
            top - 1,
            top + 1,
            top >> 1,
            !top >> 1,
        ]);
        raw.extend([0x5555_5555_5555_5555, 0xaaaa_aaaa_aaaa_aaaa, 0x0123_4567_89ab_cdef]);
        raw.extend((0..bits).step_by(5).map(|i| 1 << i));
    } else {
        for value in [0.0, 1.0, 0.5, 1.5, 2.5, 3.0, 127.0, 128.0, 255.5, 32768.0, 65535.0, 2_147_483_648.0, 1e9] {
            raw.extend([value, -value].map(|v| float(scalar, v)));
        }
        let powers = [2f64.powi(63), 2f64.powi(64), 1e300, f64::MAX, f64::INFINITY];
        for value in powers.into_iter().chain([f64::MIN_POSITIVE, f64::from(f32::MAX), f64::from(f32::MIN_POSITIVE)]) {
            raw.extend([value, -value].map(|v| float(scalar, v)));
        }
        // Subnormals; quiet and signalling NaNs of both signs.
        let sign = 1u64 << (scalar.bits() - 1);
        let infinity = float(scalar, f64::INFINITY);
        let quiet = if scalar == Scalar::F32 { 1 << 22 } else { 1 << 51 };
        for bits in [1, 2, 0xfffff, infinity | quiet, infinity | 1, infinity | quiet | 0x1234] {
            raw.extend([bits, bits | sign]);
        }
    }
    let mut seen = rustc_hash::FxHashSet::default();
    raw.into_iter().map(|r| scalar.canonical(r)).filter(|value| seen.insert(*value)).collect()
}

fn float(scalar: Scalar, value: f64) -> u64 {
    match scalar {
        Scalar::F32 => (value as f32).to_bits().into(),
        _ => value.to_bits(),
    }
}
