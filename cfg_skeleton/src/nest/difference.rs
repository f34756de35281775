//! Runs of two nests on one input that differ.

use super::eval::Scalar;
use super::input::{Input, index_arguments};
use super::run::{End, FinalState, Origins, run};
use super::trace::first_difference;
use super::value::Value;
use super::{Array, ArrayId, ArrayKind, Line, Nest, Pool, Var};
use crate::verdict::{Counterexample, Side, Statement};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

/// A difference that was seen in two runs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Difference {
    /// Sizes by name.
    pub sizes: Vec<(String, i128)>,
    /// Scalar arguments by position, as text.
    pub scalars: Vec<(u32, String)>,
    /// What the inputs were made from.
    pub seed: u64,
    /// Two arguments that are one array.
    pub one: Option<(String, String)>,
    /// The statements of both nests that say different things.
    pub statements: Vec<Statement>,
    /// What differs.
    pub what: What,
}

/// What differs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum What {
    /// The contents of a cell at the end.
    Cell {
        /// The array's name.
        array: String,
        /// Its numbers in both nests.
        arrays: [ArrayId; 2],
        /// Its subscripts.
        cell: Vec<i64>,
        /// Contents after the first nest, and the line that has written them (0: nothing has).
        before: (String, Line),
        /// Contents after the second one.
        after: (String, Line),
    },
    /// A returned value.
    Result {
        /// Which, from 0.
        number: usize,
        /// What the first nest returns.
        before: String,
        /// What the second one returns.
        after: String,
    },
    /// A call of a function that is not seen.
    Call {
        /// Which, from 0.
        number: usize,
        /// What is said of it in the first nest.
        before: String,
        /// What is said of it in the second one.
        after: String,
        /// Where the calls are; 0 where there is none.
        lines: [Line; 2],
    },
    /// The behaviour of the second nest is undefined, that of the first one is not.
    Undefined {
        /// Where.
        line: Line,
        /// Why.
        why: String,
    },
}

impl From<&Difference> for Counterexample {
    fn from(difference: &Difference) -> Counterexample {
        let Difference { sizes, scalars, seed, one, statements, what } = difference;
        let by = |line: Line| if line == 0 { "as it was".to_string() } else { format!("from line {line}") };
        let (before, after) = match what {
            What::Cell { array, cell, before, after, .. } => {
                let cell: Vec<String> = cell.iter().map(ToString::to_string).collect();
                let is =
                    |(value, line): &(String, Line)| format!("{array}[{}] is {value} ({})", cell.join(", "), by(*line));
                (is(before), is(after))
            }
            What::Result { number, before, after } => {
                (format!("result {number} is {before}"), format!("result {number} is {after}"))
            }
            What::Call { number, before, after, lines } => {
                let at = |line: &Line| if *line == 0 { String::new() } else { format!(" (line {line})") };
                let said = |what: &String, line| format!("call {} {what}{}", number + 1, at(line));
                (said(before, &lines[0]), said(after, &lines[1]))
            }
            What::Undefined { line, why } => {
                ("its behaviour is defined".into(), format!("line {line} is undefined behaviour: {why}"))
            }
        };
        let scalars: Vec<(String, &String)> =
            scalars.iter().map(|(n, value)| (format!("argument {n}"), value)).collect();
        let sizes: Vec<(&String, String)> = sizes.iter().map(|(name, value)| (name, value.to_string())).collect();
        let named = sizes.iter().map(|(name, value)| format!("{name} = {value}"));
        let shown = named.chain(scalars.iter().map(|(name, value)| format!("{name} = {value}")));
        let one = one.iter().map(|(a, b)| format!("{a} and {b} are one array"));
        let shown: Vec<String> = shown.chain(one).chain([format!("contents of arrays from seed {seed}")]).collect();
        let [sizes, scalars]: [serde_json::Map<String, serde_json::Value>; 2] = [
            sizes.into_iter().map(|(name, value)| (name.clone(), value.into())).collect(),
            scalars.into_iter().map(|(name, value)| (name, value.clone().into())).collect(),
        ];
        let input = serde_json::json!({ "sizes": sizes, "scalars": scalars, "seed": seed });
        let statements = statements.clone();
        Counterexample { input, shown: shown.join(", "), before, after, statements, pattern: None }
    }
}

/// What runs are made with.
#[derive(Clone, Debug)]
pub(crate) struct Runs {
    /// Loads, stores and iterations per run.
    pub(crate) fuel: u64,
    /// Contents of arrays to try.
    pub(crate) seeds: u64,
    /// Whether an access out of bounds is undefined behaviour.
    pub(crate) in_bounds: bool,
    /// Whether the second nest executes iterations of parallel loops last first.
    pub(crate) backwards: bool,
    /// Arguments that may be one array; they are tried as one, too.
    pub(crate) aliases: Vec<(u32, u32)>,
}

/// Whether a run touches an array of the caller or makes a call.
pub(crate) fn executes(pool: &Pool, nest: &Nest, sizes: &FxHashMap<Var, i128>, fuel: u64) -> bool {
    let indices = index_arguments(nest, pool);
    let sizes = sizes.clone();
    let input = Input { sizes, seed: 1, indices, fuel, in_bounds: true, backwards: false, one: None };
    let state = run(nest, pool, &input, None, false);
    let touched = nest.arrays.iter().zip(state.memory.iter().zip(&state.extents));
    let mut touched = touched.filter(|(array, _)| matches!(array.kind, ArrayKind::Argument(_)));
    // An array that is only read has extents.
    !state.calls.is_empty() || touched.any(|(_, (cells, extents))| !cells.is_empty() || extents.iter().any(|e| *e > 0))
}

/// Whether a run comes to its end.
pub(crate) fn returns(pool: &Pool, nest: &Nest, sizes: &FxHashMap<Var, i128>, runs: &Runs) -> bool {
    let Runs { fuel, in_bounds, .. } = *runs;
    let (indices, sizes) = (index_arguments(nest, pool), sizes.clone());
    let input = Input { sizes, seed: 1, indices, fuel, in_bounds, backwards: false, one: None };
    matches!(run(nest, pool, &input, None, false).end, End::Returned(_))
}

/// Runs both nests on samples and gives the first difference.
pub(crate) fn find(
    pool: &Pool,
    [before, after]: [&Nest; 2],
    samples: &[FxHashMap<Var, i128>],
    wanted: &dyn Fn(&FxHashMap<Var, i128>) -> bool,
    runs: &Runs,
) -> Option<Difference> {
    let mut indices = index_arguments(before, pool);
    indices.extend(index_arguments(after, pool));
    // The contents that are made from a seed differ in kind, too; a run that needs no sizes is cheap to repeat.
    samples.iter().enumerate().filter(|(_, sizes)| wanted(sizes)).find_map(|(number, sizes)| {
        let seeds = if before.sizes.is_empty() { 1..=runs.seeds } else { 1..=1 };
        let ones = std::iter::once(None).chain(runs.aliases.iter().copied().map(Some));
        let mut inputs = seeds.flat_map(|seed| ones.clone().map(move |one| (seed, one)));
        inputs.find_map(|(seed, one)| {
            let Runs { fuel, in_bounds, .. } = *runs;
            let seed = seed + number as u64 * 31;
            let (sizes, indices) = (sizes.clone(), indices.clone());
            let input = Input { sizes, seed, indices, fuel, in_bounds, backwards: false, one };
            difference(pool, before, after, &input, runs.backwards)
        })
    })
}

fn difference(pool: &Pool, before: &Nest, after: &Nest, input: &Input, backwards: bool) -> Option<Difference> {
    let left = run(before, pool, input, None, false);
    let End::Returned(expected) = &left.end else { return None };
    let extents = given_extents(before, after, &left);
    let second = Input { backwards, ..input.clone() };
    let right = run(after, pool, &second, Some(&extents), false);
    let what = match &right.end {
        End::Unknown(_) => return None,
        End::Undefined(line, why) => What::Undefined { line: *line, why: why.clone() },
        End::Returned(found) => calls(&left, &right)
            .or_else(|| results(before, pool, expected, found))
            .or_else(|| memory(pool, [before, after], [&left, &right], input))?,
    };
    let sizes = before.sizes.iter().map(|s| (s.name.clone(), input.sizes.get(&s.var).copied().unwrap_or(0))).collect();
    let scalar = |(n, ty): (usize, &String)| {
        let scalar = Scalar::named(ty).filter(|_| ty != "index")?;
        let sized = before.sizes.iter().any(|s| matches!(s.origin, super::Origin::Argument(m, _) if m as usize == n));
        (!sized).then(|| (n as u32, scalar.show(input.contents(n as u32, &[], scalar))))
    };
    let scalars = before.arguments.iter().enumerate().filter_map(scalar).collect();
    let array = |position: u32| before.arrays.iter().find(|a| a.kind == ArrayKind::Argument(position));
    let one = input.one.and_then(|(a, b)| Some((array(a)?.name.clone(), array(b)?.name.clone())));
    let statements = statements(pool, [(before, input), (after, &second)], &extents, &what);
    Some(Difference { sizes, scalars, seed: input.seed, one, statements, what })
}

/// Which statements show the difference, and in which iterations of their loops.
fn statements(
    pool: &Pool,
    [(before, input), (after, second)]: [(&Nest, &Input); 2],
    extents: &[Vec<i64>],
    what: &What,
) -> Vec<Statement> {
    let at = |side, line: Line, iteration| (line > 0).then_some(Statement { side, line, iteration, text: None });
    let (first, second) = match what {
        What::Result { .. } => (None, None),
        What::Undefined { line, .. } => (None, at(Side::Second, *line, vec![])),
        What::Call { lines, .. } => (at(Side::First, lines[0], vec![]), at(Side::Second, lines[1], vec![])),
        What::Cell { arrays: [a, b], cell, before: (_, m), after: (_, n), .. } => {
            let writer = |nest: &Nest, array: ArrayId, input: &Input, extents: Option<&[Vec<i64>]>| {
                let state = run(nest, pool, input, extents, true);
                match state.memory[array.0 as usize].get(cell.as_slice())?.writer {
                    Origins::Store(instance) => Some(state.record[instance as usize].at.clone()),
                    Origins::Initial | Origins::Undefined => None,
                }
            };
            let first = at(Side::First, *m, writer(before, *a, input, None).unwrap_or_default());
            (first, at(Side::Second, *n, writer(after, *b, second, Some(extents)).unwrap_or_default()))
        }
    };
    first.into_iter().chain(second).collect()
}

/// The extents that the first run needs, by the arrays of the second nest.
fn given_extents(before: &Nest, after: &Nest, left: &FinalState) -> Vec<Vec<i64>> {
    let of = |array: &Array| {
        let position = before.arrays.iter().position(|a| a.kind == array.kind);
        position.map_or_else(|| vec![0; array.shape.len()], |n| left.extents[n].clone())
    };
    after.arrays.iter().map(of).collect()
}

fn calls(left: &FinalState, right: &FinalState) -> Option<What> {
    let (number, [before, after], lines) = first_difference(&left.calls, &right.calls)?;
    Some(What::Call { number, before, after, lines })
}

fn results(before: &Nest, pool: &Pool, expected: &[Option<u128>], found: &[Option<u128>]) -> Option<What> {
    expected.iter().zip(found).enumerate().find_map(|(number, (a, b))| {
        let scalar = pool.type_of(before, before.results[number]).as_deref().and_then(Scalar::named)?;
        differs(scalar, *a, *b).then(|| What::Result { number, before: show(scalar, *a), after: show(scalar, *b) })
    })
}

/// An undefined value may become any other.
fn differs(scalar: Scalar, a: Option<u128>, b: Option<u128>) -> bool {
    a.is_some_and(|a| b.is_none_or(|b| !scalar.allows(a, b)))
}

fn show(scalar: Scalar, value: Option<u128>) -> String {
    value.map_or_else(|| "undefined".to_string(), |bits| scalar.show(bits))
}

/// Arrays of both nests that the caller has, or is given.
fn seen(pool: &Pool, before: &Nest, after: &Nest) -> Vec<[ArrayId; 2]> {
    let mut seen = vec![];
    for (n, array) in (0..).map(ArrayId).zip(&before.arrays) {
        let other = after.arrays.iter().position(|a| a.kind == array.kind);
        if let (ArrayKind::Argument(_), Some(m)) = (array.kind, other) {
            seen.push([n, ArrayId(m as u32)]);
        }
    }
    for (l, r) in before.results.iter().zip(&after.results) {
        let (Value::Array(a), Value::Array(b)) = (pool.get(*l), pool.get(*r)) else { continue };
        let (x, y) = (before.array(*a), after.array(*b));
        // An array that ends with the function has no cells to look at.
        if [x, y].iter().all(|array| array.kind == ArrayKind::Local && !array.automatic) {
            seen.push([*a, *b]);
        }
    }
    seen
}

fn memory(pool: &Pool, [before, after]: [&Nest; 2], [left, right]: [&FinalState; 2], input: &Input) -> Option<What> {
    seen(pool, before, after).into_iter().find_map(|arrays| {
        let array = before.array(arrays[0]);
        let scalar = Scalar::named(&array.element)?;
        let first = |cell: &[i64]| match array.kind {
            ArrayKind::Argument(position) => Some(input.contents(position, cell, scalar)),
            ArrayKind::Local | ArrayKind::Cell => None,
        };
        let (a, b) = (&left.memory[arrays[0].0 as usize], &right.memory[arrays[1].0 as usize]);
        let cells: BTreeSet<_> = a.keys().chain(b.keys()).collect();
        cells.into_iter().find_map(|cell| {
            let untouched = || (first(cell), 0);
            let x = a.get(cell).map_or_else(untouched, |c| (c.value, c.line));
            let y = b.get(cell).map_or_else(untouched, |c| (c.value, c.line));
            differs(scalar, x.0, y.0).then(|| What::Cell {
                array: array.name.clone(),
                arrays,
                cell: cell.to_vec(),
                before: (show(scalar, x.0), x.1),
                after: (show(scalar, y.0), y.1),
            })
        })
    })
}
