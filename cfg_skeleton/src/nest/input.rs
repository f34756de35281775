//! What runs start from: sizes, and contents of arrays and scalars that a seed makes.

use super::affine::Var;
use super::eval::Scalar;
use super::value::{Pool, loads_of};
use super::{ArrayKind, Item, LoadId, Nest};
use rustc_hash::FxHashMap;

/// The subscripts of a cell.
pub(crate) type Cell = Box<[i64]>;

/// What a run starts from.
#[derive(Clone, Debug)]
pub(crate) struct Input {
    /// The sizes.
    pub(crate) sizes: FxHashMap<Var, i128>,
    /// Contents of arrays and scalars are made from this.
    pub(crate) seed: u64,
    /// Arguments whose arrays hold small numbers: they are subscripts and bounds.
    pub(crate) indices: Vec<u32>,
    /// Loads, stores and iterations until the run is given up.
    pub(crate) fuel: u64,
    /// Whether an access out of bounds is undefined behaviour; else there are cells for all numbers.
    pub(crate) in_bounds: bool,
    /// Whether iterations of parallel loops are executed last first.
    pub(crate) backwards: bool,
    /// Two arguments that are one array.
    pub(crate) one: Option<(u32, u32)>,
}

impl Input {
    /// What an argument, or a cell of it, holds before the call.
    pub(crate) fn contents(&self, position: u32, cell: &[i64], scalar: Scalar) -> u128 {
        let contents = initial(self.seed, position, cell, scalar);
        if !cell.is_empty() && self.indices.contains(&position) {
            u128::from(mix(contents as u64)) % 6
        } else {
            contents
        }
    }
}

/// The arguments whose cells are subscripts or bounds.
pub(crate) fn index_arguments(nest: &Nest, pool: &Pool) -> Vec<u32> {
    fn collect(pool: &Pool, items: &[Item], loads: &mut Vec<LoadId>) {
        for item in items {
            match item {
                Item::Bind(x) => loads.extend(loads_of(pool, x.value)),
                Item::For(x) => collect(pool, &x.body, loads),
                Item::If(x) => {
                    collect(pool, &x.then, loads);
                    collect(pool, &x.otherwise, loads);
                }
                _ => {}
            }
        }
    }
    let (mut loads, mut found) = (vec![], vec![]);
    collect(pool, &nest.items, &mut loads);
    for load in loads {
        if let Some(array) = super::value::element(&nest.items, load)
            && let ArrayKind::Argument(position) = nest.array(array).kind
        {
            found.push(position);
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// What an input holds before the call: small numbers, some of them with fractions that sums round.
pub(crate) fn initial(seed: u64, position: u32, cell: &[i64], scalar: Scalar) -> u128 {
    let mut hash = mix(seed ^ (u64::from(position) << 32));
    for index in cell {
        hash = mix(hash ^ (*index as u64));
    }
    match (scalar, seed % 4) {
        // Zeros and what has no zeros: some programs are only defined, or only undefined, for these.
        (Scalar::Int(_), 0) if cell.is_empty() => 0,
        // Few values: what is compared is equal at times.
        (Scalar::Int(width), 1) => u128::from((hash >> 32) % 3) & (u128::MAX >> (128 - width)),
        (Scalar::Int(width), 3) => u128::from(hash >> 32 | 1) & (u128::MAX >> (128 - width)),
        (Scalar::Int(width), _) => {
            let top = 1 << (width - 1);
            let choices = [u128::from(hash >> 32), u128::from((hash >> 32) % 8), u128::MAX, top, top - 1];
            let choice = choices[[0, 0, 4, 1, 1, 1, 2, 3][(hash % 8) as usize]];
            choice & (u128::MAX >> (128 - width))
        }
        // What arithmetic makes exceptions for.
        (_, 2) if (hash >> 40).is_multiple_of(4) => {
            let largest = if scalar == Scalar::F32 { f64::from(f32::MAX) } else { f64::MAX };
            let choices = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, largest, 1e-30, 1.0 / 3.0];
            let choice = (hash >> 44) % 6;
            // Half of the NaNs are others than the usual one.
            let payload = if scalar == Scalar::F32 { 0x8000_0005 } else { 1 << 63 | 5 };
            let other = if choice == 0 && hash >> 48 & 1 == 1 { payload } else { 0 };
            scalar.bits_of(choices[choice as usize]) | other
        }
        _ => {
            let fraction = [0.0, 0.5, 0.25, 0.1][(hash % 4) as usize];
            let whole = ((hash >> 8) % 17) as f64 - 8.0;
            scalar.bits_of(if (hash >> 32).is_multiple_of(16) { -0.0 } else { whole + fraction })
        }
    }
}

/// A step of the generator `splitmix64`.
pub(crate) fn mix(state: u64) -> u64 {
    let mut z = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
