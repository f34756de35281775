//! Values to try: edges of each representation, and random ones; and both sides of a rule run on them.

use super::concrete::{Comparison, Concrete, Value};
use super::memory::Memory;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rewright_dsl::program::VarKind;
use rewright_typeprop::eval::repr_of;
use rewright_typeprop::{Repr, Scalar};

/// What trying values gave.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Tried {
    /// This many assignments at which the rule matched, all of them equal.
    Agree(usize),
    /// An assignment at which the sides differ: the variables, and what left and right are.
    Differ(Vec<Value>, [Value; 2]),
    /// The values of some type cannot be listed, or something has no meaning.
    CannotTry,
}

impl Tried {
    /// For people.
    pub(super) fn words(&self) -> &'static str {
        match self {
            Tried::Agree(0) | Tried::CannotTry => "nothing",
            Tried::Agree(_) => "equal",
            Tried::Differ(..) => "different",
        }
    }
}

/// How many values to try.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Effort {
    /// Assignments of edges and random values.
    pub(super) samples: usize,
    /// All assignments are tried where there are no more than this: of one or two bytes.
    pub(super) exhaustive: usize,
    /// Where random values begin.
    pub(super) seed: u64,
}

impl Effort {
    /// Half of the work: still all edges of one variable.
    pub(super) fn halved(self) -> Self {
        Effort { samples: self.samples / 2, exhaustive: self.exhaustive / 2, ..self }
    }
}

/// Runs both sides of a rule on values.
pub(super) fn try_values(rule: Concrete<'_>, effort: Effort) -> Tried {
    let Some(assignments) = assignments(rule, effort) else { return Tried::CannotTry };
    let mut agreed = 0;
    let mut worst: Option<(u128, Vec<Value>, [Value; 2])> = None;
    for vars in assignments {
        match rule.compare(&vars) {
            Comparison::Silent | Comparison::Open => {}
            Comparison::Equal => agreed += 1,
            Comparison::Meaningless => return Tried::CannotTry,
            Comparison::Different(left, right) => {
                let size = vars.iter().map(size).fold(0, u128::saturating_add);
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

/// Values for a rule's variables: all of them where they are few, else edges and random ones. `None`: the values of
/// some type cannot be listed. The same seed gives the same values.
pub(super) fn assignments(rule: Concrete<'_>, effort: Effort) -> Option<impl Iterator<Item = Vec<Value>>> {
    let mut rng = ChaCha8Rng::seed_from_u64(effort.seed);
    let types = &rule.program.universe.types;
    let mut kinds = vec![];
    for var in &rule.rule.vars {
        kinds.push(match &var.kind {
            VarKind::State => None,
            VarKind::Value { ty, .. } => Some(repr_of(types, ty, rule.targs)?),
        });
    }
    let memory = kinds.contains(&None);
    let vectors = rule.targs.iter().flatten().any(|repr| repr.lanes().is_some());
    let choices: Vec<Vec<Value>> = kinds
        .iter()
        .map(|kind| match kind {
            None if vectors => vec![Value::State(Memory::of_stretches())],
            None => vec![Value::State(Memory::default())],
            Some(Repr::Pointer) => pointers(),
            Some(Repr::Scalar(Scalar::I64)) if memory => {
                // Addresses and offsets, so that accesses meet, overlap and miss; around the end of memory, too.
                let near = [0, 1, 2, 3, 4, 6, 7, 8, -1, -4, -8, 16, 1000, i64::MAX - 3];
                near.map(|n| Value::Bits(n.into())).to_vec()
            }
            Some(repr) => repr.edges().into_iter().map(Value::Bits).collect(),
        })
        .collect();
    let bytes = kinds.iter().all(|k| k.is_some_and(|repr| repr.bits() == 8));
    let exhaustive = bytes && kinds.len() <= 2 && effort.exhaustive >= 1 << (8 * kinds.len());
    let all: usize = choices.iter().map(Vec::len).try_fold(1usize, usize::checked_mul).unwrap_or(usize::MAX);
    let total = if exhaustive { 1 << (8 * kinds.len()) } else { effort.samples };
    Some((0..total).map(move |n| {
        if exhaustive {
            (0..kinds.len()).map(|i| Value::Bits(i128::from((n >> (8 * i)) as u8 as i8))).collect()
        } else if all <= total / 2 && n < all {
            nth(&choices, n)
        } else {
            random(&choices, &kinds, memory, &mut rng)
        }
    }))
}

/// Small assignments make good examples.
fn size(value: &Value) -> u128 {
    match value {
        Value::Bits(bits) => bits.unsigned_abs(),
        Value::Pointer { address, provenance } => address.unsigned_abs() + u128::from(*provenance),
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
fn random(choices: &[Vec<Value>], kinds: &[Option<Repr>], memory: bool, rng: &mut ChaCha8Rng) -> Vec<Value> {
    let mut vars: Vec<Value> = vec![];
    for (i, kind) in kinds.iter().enumerate() {
        let earlier: Vec<i128> = (0..i)
            .filter(|j| kinds[*j] == *kind)
            .filter_map(|j| if let Value::Bits(bits) = vars[j] { Some(bits) } else { None })
            .collect();
        let value = match (kind, earlier.choose(rng)) {
            (Some(Repr::Pointer), _) => choices[i].choose(rng).cloned().unwrap_or(Value::Nan),
            (Some(repr), Some(other)) if rng.random_ratio(1, 4) => {
                let near = other.wrapping_add(rng.random_range(-1..=1));
                Value::Bits(repr.canonical(near as u128))
            }
            (Some(repr), _) if !memory && rng.random_ratio(1, 4) => {
                let raw = rng.random::<u128>() >> (128 - repr.bits());
                Value::Bits(repr.canonical(raw >> rng.random_range(0..repr.bits())))
            }
            _ => choices[i].choose(rng).cloned().unwrap_or(Value::Nan),
        };
        vars.push(value);
    }
    vars
}

/// Pointers into two objects, or into none: some have one address, some overlap.
fn pointers() -> Vec<Value> {
    let of = |provenance| [0, 8, 9, 16, 1000].map(|address| Value::Pointer { address, provenance });
    [0, 1, 2].into_iter().flat_map(of).collect()
}
