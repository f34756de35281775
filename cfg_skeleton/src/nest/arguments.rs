//! Arguments for a function that reproduce a run of its nest.

use super::affine::Var;
use super::eval::Scalar;
use super::input::{Input, index_arguments};
use super::run::{End, run};
use super::{ArrayKind, Nest, Origin, Pool};
use crate::verdict::Counterexample;
use rustc_hash::FxHashMap;

/// An argument of a call.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Argument {
    /// A number, or the bits of a float.
    Bits(u128),
    /// A pointer to the element 0 of an array of one dimension.
    Elements {
        /// The first element that there is, at most 0.
        first: i64,
        /// The size of an element, in bytes.
        bytes: usize,
        /// The bits of the elements from that one on.
        elements: Vec<u128>,
    },
}

/// Sizes are tried up to these, so that an input is a small one where that is enough.
const MOST: [i128; 7] = [1, 2, 3, 4, 6, 9, i128::MAX];

/// Numbers that contents are made from: in different kinds.
const SEEDS: [u64; 3] = [3, 5, 4];

/// Loads, stores and iterations of a run.
const FUEL: u64 = 20_000;

/// Elements of an array.
const ELEMENTS: i64 = 4096;

/// What the first version's function is called with, so that it may differ from the second one as their nests do in a
/// counterexample: with sizes up to its own, smaller ones first. Arrays have the elements that the first version
/// accesses, and no others; their nests have one dimension.
pub fn calls(pool: &Pool, nests: [&Nest; 2], found: &Counterexample) -> Vec<Vec<Argument>> {
    let Some((own, seed)) = start(nests[0], found) else { return vec![] };
    let mut sizes: Vec<FxHashMap<Var, i128>> = vec![];
    for most in MOST {
        let smaller = own.iter().map(|(var, size)| (*var, (*size).min(most))).collect();
        if !sizes.contains(&smaller) {
            sizes.push(smaller);
        }
    }
    let mut indices = index_arguments(nests[0], pool);
    indices.extend(index_arguments(nests[1], pool));
    let inputs = sizes.into_iter().flat_map(|sizes| {
        SEEDS.into_iter().chain([seed]).map({
            let indices = indices.clone();
            move |seed| {
                let (sizes, indices) = (sizes.clone(), indices.clone());
                Input { sizes, seed, indices, fuel: FUEL, in_bounds: false, backwards: false, one: None }
            }
        })
    });
    inputs.filter_map(|input| call(pool, nests[0], &input)).collect()
}

/// The sizes of a counterexample, and what contents were made from.
fn start(nest: &Nest, found: &Counterexample) -> Option<(FxHashMap<Var, i128>, u64)> {
    let size = |name: &str| found.input["sizes"][name].as_str()?.parse().ok();
    let sizes = nest.sizes.iter().map(|known| Some((known.var, size(&known.name)?)));
    Some((sizes.collect::<Option<_>>()?, found.input["seed"].as_u64()?))
}

/// The arguments of a run; `None` if the run does not return.
fn call(pool: &Pool, nest: &Nest, input: &Input) -> Option<Vec<Argument>> {
    let state = run(nest, pool, input, None, false);
    let End::Returned(_) = state.end else { return None };
    let argument = |(position, ty): (u32, &String)| {
        let kind = ArrayKind::Argument(position);
        let Some(n) = nest.arrays.iter().position(|array| array.kind == kind) else {
            let scalar = Scalar::named(ty)?;
            let size = nest.sizes.iter().find(|size| matches!(size.origin, Origin::Argument(n, _) if n == position));
            let bits = match (size.and_then(|size| input.sizes.get(&size.var)), scalar) {
                (Some(size), Scalar::Int(width)) => (*size as u128) & (u128::MAX >> (128 - width)),
                _ => input.contents(position, &[], scalar),
            };
            return Some(Argument::Bits(bits));
        };
        let ([first], [end]) = (&state.least[n][..], &state.extents[n][..]) else { return None };
        // Nothing is accessed of an array whose elements are of no type.
        let scalar = Scalar::named(&nest.arrays[n].element).unwrap_or(Scalar::Int(8));
        let elements =
            (end - first <= ELEMENTS).then(|| (*first..*end).map(|i| input.contents(position, &[i], scalar)));
        Some(Argument::Elements { first: *first, bytes: scalar.bytes(), elements: elements?.collect() })
    };
    (0..).zip(&nest.arguments).map(argument).collect()
}
