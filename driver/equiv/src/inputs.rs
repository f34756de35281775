//! What functions are run on: edges, numbers that they speak of, and random ones.

use super::Files;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rewright_llvm::lex::{Kind, tokens};
use rewright_llvm::types::Type;
use rewright_typeprop::Scalar;
use std::hash::{Hash, Hasher};

/// Pages that parameters, globals and results of calls point into: how many there are, and how many bytes each has.
pub(super) const PAGES: u64 = 8;
pub(super) const PAGE: u64 = 1024;
/// Where the first one is: no process has anything near.
pub(super) const BASE: u64 = 1 << 36;

/// Integers on both sides of which things differ.
const EDGES: [u64; 10] = [0, 1, 2, 7, 31, 127, 128, 0x7fff_ffff, 1 << 31, u64::MAX];
const FLOATS: [f64; 8] = [0.0, -0.0, 1.0, -1.5, 0.1, 1e300, f64::INFINITY, f64::NAN];

/// The inputs of one function.
pub(super) struct Inputs {
    /// They depend on the function's name.
    pub(super) rng: ChaCha8Rng,
    edges: Vec<u64>,
}

impl Inputs {
    pub(super) fn new(files: &Files<'_>, pair: usize, seed: u64) -> Self {
        let [old, new] = files.definitions(pair);
        let mut edges = EDGES.to_vec();
        edges.extend(numbers(&files.before.text[old.body.clone()]));
        edges.extend(numbers(&files.after.text[new.body.clone()]));
        Inputs { rng: ChaCha8Rng::seed_from_u64(seed ^ hash(&old.name)), edges }
    }

    /// Edges, small numbers and others, as canonical constants.
    pub(super) fn argument(&mut self, ty: &Type) -> i64 {
        let rng = &mut self.rng;
        let edge = rng.random_range(0..3);
        match ty {
            Type::Int(1) => rng.random_range(0..2),
            Type::Int(_) => canonical(
                ty,
                match edge {
                    0 => self.edges[rng.random_range(0..self.edges.len())],
                    1 => rng.random_range(0..64),
                    _ => rng.random(),
                },
            ),
            Type::Ptr => pointer(rng.random()),
            Type::Word(word) => {
                let number = match edge {
                    0 => FLOATS[rng.random_range(0..FLOATS.len())],
                    _ => rng.random_range(-100.0..100.0),
                };
                if word == "float" { i64::from((number as f32).to_bits()) } else { number.to_bits() as i64 }
            }
            _ => rng.random(),
        }
    }
}

/// Numbers that a text speaks of, and their neighbours.
pub(super) fn numbers(text: &str) -> impl Iterator<Item = u64> {
    let found: Vec<u64> = tokens(text)
        .iter()
        .filter(|token| token.kind == Kind::Number)
        .map(|token| &text[token.start..token.end])
        .filter_map(|number| number.parse::<i64>().map(|n| n as u64).or_else(|_| number.parse()).ok())
        .collect();
    found.into_iter().flat_map(|n| [n.wrapping_sub(1), n, n.wrapping_add(1)])
}

/// A pointer into one of the pages, where bytes are left before and behind.
pub(super) fn pointer(number: u64) -> i64 {
    (BASE + number % PAGES * PAGE + PAGE / 4) as i64
}

/// An integer in the form of our constants.
pub(super) fn canonical(ty: &Type, bits: u64) -> i64 {
    match ty {
        Type::Int(8) => Scalar::I8.canonical(bits),
        Type::Int(16) => Scalar::I16.canonical(bits),
        Type::Int(32) => Scalar::I32.canonical(bits),
        _ => bits as i64,
    }
}

/// The same in every process.
pub(super) fn hash(value: &(impl Hash + ?Sized)) -> u64 {
    let mut hasher = std::hash::DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}
