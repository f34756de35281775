//! What an experiment takes, what a call of it is given, and how that is written for people.

use super::shown;
use crate::approximate::ordinary;
use rand::Rng;
use rand_chacha::ChaCha8Rng;
use rewright_dsl::program::Guard;
use rewright_typeprop::term::Literal;
use rewright_typeprop::{Repr, Scalar, Term, Universe};

/// Sizes of most of what is made.
const SIZES: std::ops::RangeInclusive<i64> = 1..=5;

/// Sizes, where any will do, for this many percent of the calls in which whole numbers matter.
const LARGER: [(u32, std::ops::RangeInclusive<i64>); 2] = [(6, 6..=40), (2, 41..=LARGEST)];

/// The largest size.
const LARGEST: i64 = 300;

/// Bytes of a call's memory. Zeros follow.
pub(super) const MEMORY: usize = 16;

/// What a parameter of an experiment is, behind the memory's address.
pub(super) enum Input {
    /// The size of what is made; `any`: the pack says how it changes, so that neither an empty nor a large one is special.
    Size { any: bool },
    /// A number of the rule, and the numbers that conditions compare it with.
    Number(Scalar, Vec<i64>),
    /// Where random numbers begin.
    Seed,
    /// This many bytes into the call's memory.
    Offset,
}

/// How a variable of the rule is given to the function.
pub(super) enum Given {
    /// As this input, or as what the rule's own sample makes of it.
    Scalar(usize, Scalar, Option<Term>),
    /// Made there, of the call's size and this input, and changed so, each time with another seed.
    Made(Term, usize, Vec<(Term, usize)>),
    /// As another variable.
    Same(usize),
    /// This input into the call's memory.
    Place(usize),
    /// Not at all: a state.
    Nothing,
}

/// A change of a variable between two states, with the input that is its seed.
pub(super) struct Happening {
    pub(super) variable: usize,
    pub(super) change: Term,
    pub(super) seed: usize,
}

/// What a call is made of.
pub(super) struct Values {
    /// One per input.
    pub(super) args: Vec<i64>,
    /// What pointers lead into.
    pub(super) memory: Vec<u8>,
}

impl Values {
    /// At random. Shapes fit, since there is one size, and whole numbers are below it, so that they may be indices. Where
    /// any size will do, so will the numbers that a condition compares with: it says itself what the rule is about.
    pub(super) fn random(inputs: &[Input], rng: &mut ChaCha8Rng) -> Values {
        let is_whole = |input: &Input| matches!(input, Input::Number(scalar, _) if scalar.is_int());
        let is_place = |input: &Input| matches!(input, Input::Offset);
        let is_any = matches!(inputs.first(), Some(Input::Size { any: true })) && !inputs.iter().any(is_place);
        let varies = is_any && inputs.iter().any(is_whole);
        let mut size = match is_any && !varies && rng.random_ratio(1, 8) {
            true => 0,
            false => rng.random_range(SIZES),
        };
        for (percent, sizes) in LARGER {
            if varies && rng.random_ratio(percent, 100) {
                size = rng.random_range(sizes);
            }
        }
        let compared: Vec<Option<i64>> =
            inputs.iter().map(|input| if varies { compared(input, rng) } else { None }).collect();
        let largest = compared.iter().flatten().copied().filter(|n| *n < LARGEST).max();
        size = size.max(largest.map_or(0, |n| n + 1));
        let mut args: Vec<i64> = vec![];
        for (input, compared) in inputs.iter().zip(compared) {
            args.push(match input {
                Input::Size { .. } => size,
                Input::Number(..) if let Some(number) = compared => number,
                Input::Number(scalar, _) if scalar.is_int() => rng.random_range(0..size),
                Input::Number(scalar, _) => ordinary(Repr::Scalar(*scalar), rng) as i64,
                // Sometimes what was made before is made once more.
                Input::Seed => match inputs.iter().zip(&args).rfind(|(input, _)| matches!(input, Input::Seed)) {
                    Some((_, earlier)) if rng.random_ratio(1, 8) => *earlier,
                    _ => rng.random_range(0..1000),
                },
                Input::Offset => rng.random_range(0..MEMORY as i64),
            });
        }
        // Few values, so that parts of it are alike.
        let memory = (0..MEMORY).map(|_| rng.random_range(0..3)).collect();
        Values { args, memory }
    }

    /// The values of a call, as the pack would write them, and what happened between states.
    pub(super) fn named(
        &self,
        universe: &Universe,
        given: &[(String, Given)],
        between: &[Happening],
    ) -> Vec<(String, String)> {
        let made = |term: &Term, seed: usize| {
            let word = |n| match n {
                0 => self.args[0].to_string(),
                1 => self.args[seed].to_string(),
                _ => "it".into(),
            };
            spelled(universe, term, &word)
        };
        let mut named = vec![];
        for (name, how) in given {
            let value = match how {
                Given::Nothing => continue,
                Given::Same(other) => given[*other].0.clone(),
                Given::Scalar(input, scalar, None) => shown(*scalar, self.args[*input]),
                Given::Scalar(input, scalar, Some(sample)) => {
                    spelled(universe, sample, &|_| shown(*scalar, self.args[*input]))
                }
                Given::Place(input) => format!("{:?}, 0, ..", &self.memory[self.args[*input] as usize..]),
                Given::Made(make, seed, changes) => {
                    let changed = changes.iter().map(|(change, seed)| format!(", then {}", made(change, *seed)));
                    changed.fold(made(make, *seed), |all, change| all + &change)
                }
            };
            named.push((name.clone(), value));
        }
        named.extend(between.iter().map(|Happening { variable, change, seed }| {
            let name = &given[*variable].0;
            (format!("what happens to {name} between the states"), made(change, *seed))
        }));
        named
    }
}

/// A number that a condition speaks of, or one near it, where there are such; not always.
fn compared(input: &Input, rng: &mut ChaCha8Rng) -> Option<i64> {
    let Input::Number(scalar, literals) = input else { return None };
    if literals.is_empty() || rng.random_bool(0.5) {
        return None;
    }
    let literal = literals[rng.random_range(0..literals.len())];
    let number = match rng.random_range(0..8) {
        0 => -1,
        1..=3 => rng.random_range(0..=literal.unsigned_abs().min(1 << 40)) as i64,
        _ => literal.saturating_add(rng.random_range(-1..=1)),
    };
    Some(scalar.canonical(number as u64))
}

/// The whole numbers that conditions compare a variable with.
pub(super) fn literals_beside(guards: &[Guard], variable: u32) -> Vec<i64> {
    guards.iter().flat_map(|guard| literals_in(guard, variable)).collect()
}

fn literals_in(guard: &Guard, variable: u32) -> Vec<i64> {
    match guard {
        Guard::Not(inner) => literals_in(inner, variable),
        Guard::Or(first, second) => [literals_in(first, variable), literals_in(second, variable)].concat(),
        comparison => {
            let parts: Vec<&Term> = comparison.terms().into_iter().flat_map(Term::subterms).collect();
            let literal = |part: &&Term| match part {
                Term::Lit(Literal::Int(n), _) => i64::try_from(*n).ok(),
                _ => None,
            };
            let is_about = parts.iter().any(|part| matches!(part, Term::Var(n) if *n == variable));
            parts.iter().filter_map(literal).filter(|_| is_about).collect()
        }
    }
}

/// An expression with names or numbers for its variables.
pub(super) fn spelled(universe: &Universe, term: &Term, variable: &dyn Fn(u32) -> String) -> String {
    match term {
        Term::Var(n) => variable(*n),
        Term::Lit(Literal::Int(n), _) => n.to_string(),
        Term::Lit(Literal::Float(x), _) => format!("{x:?}"),
        Term::Lit(Literal::Str(text), _) => format!("{text:?}"),
        Term::Eval(inner) => spelled(universe, inner, variable),
        Term::Call { op, args, .. } => {
            let args: Vec<String> = args.iter().map(|arg| spelled(universe, arg, variable)).collect();
            format!("{}({})", universe.ops.get(*op).name, args.join(", "))
        }
    }
}
