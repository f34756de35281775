//! Random inputs of a function: edge values, and memory where it uses parameters as addresses.

use super::Input;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rewright_cfg_skeleton::ir::interp::Memory;
use rewright_cfg_skeleton::ir::{EdgeArg, Function, InstKind, Value};
use rewright_typeprop::{Model, Scalar, Universe};

/// Bytes on each side of an address that a function gets.
const ROOM: u64 = 256;

/// Inputs that depend on the seed only. Where no access names a region, two addresses are often near each other.
pub fn random_inputs(function: &Function, universe: &Universe, seed: u64, count: usize) -> Vec<Input> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let addresses = addresses(function, universe);
    let may_alias = !function.insts.iter().any(|i| match i.kind {
        InstKind::Op { access: Some(access), .. } => access.region.0 != 0,
        _ => false,
    });
    (0..count).map(|_| input(function, universe, &addresses, may_alias, &mut rng)).collect()
}

fn input(function: &Function, universe: &Universe, addresses: &[bool], may_alias: bool, rng: &mut ChaCha8Rng) -> Input {
    let mut memory = Memory::default();
    let mut bases: Vec<u64> = vec![];
    let mut args: Vec<i64> = vec![];
    let params = function.layout.first().map_or(&[][..], |b| &function.block(*b).params);
    for param in params {
        let scalar = universe.types.lane(function.ty(*param));
        if addresses[param.index()] {
            let near = bases.choose(rng).copied().filter(|_| may_alias && rng.random_bool(0.5));
            args.push(match near {
                Some(base) => (base + ROOM) as i64 + *[0, 0, 4, 8, -4, 1].choose(rng).expect("not empty"),
                None => {
                    let base = 0x1_0000 * (bases.len() as u64 + 1);
                    memory.add(base, (0..2 * ROOM).map(|_| rng.random()).collect());
                    bases.push(base);
                    (base + ROOM) as i64
                }
            });
        } else {
            // Equal arguments make comparisons interesting.
            let same = args.choose(rng).copied().filter(|_| rng.random_bool(0.2));
            args.push(
                same.map_or_else(|| random_constant(scalar, rng), |n| scalar.map_or(n, |s| s.canonical(n as u64))),
            );
        }
    }
    Input { args, memory, seed: rng.random() }
}

/// A constant with a liking for the edges of its type.
pub(super) fn random_constant(scalar: Option<Scalar>, rng: &mut ChaCha8Rng) -> i64 {
    let Some(scalar) = scalar else { return rng.random() };
    let bits = scalar.bits();
    let raw: u64 = match (scalar, rng.random_range(0..9)) {
        (Scalar::F32, 0..5) => (*FLOATS.choose(rng).expect("not empty") as f32).to_bits().into(),
        (Scalar::F64, 0..5) => FLOATS.choose(rng).expect("not empty").to_bits(),
        (_, 0) => rng.random_range(0..4),
        (_, 1) => u64::MAX - rng.random_range(0..4),
        (_, 2) => 1 << (bits - 1),
        (_, 3) => (1 << (bits - 1)) - 1,
        (_, 4) => 1 << rng.random_range(0..bits),
        (_, 5) => rng.random_range(0..256),
        (_, 6) => 0,
        _ => rng.random(),
    };
    scalar.canonical(raw)
}

const FLOATS: [f64; 14] = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    2.5,
    -3.5,
    1e10,
    -1e300,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::NAN,
    5e-324,
    2147483648.0,
];

/// By value: does it reach the address of an access, directly or through sums and block parameters?
fn addresses(function: &Function, universe: &Universe) -> Vec<bool> {
    let mut marked = vec![false; function.values.len()];
    let mut sources: Vec<Vec<Value>> = vec![vec![]; function.values.len()];
    let mut work: Vec<Value> = vec![];
    for b in &function.layout {
        let block = function.block(*b);
        for inst in block.insts.iter().map(|i| function.inst(*i)) {
            let InstKind::Op { op, .. } = &inst.kind else { continue };
            match universe.ops.get(*op).model {
                Some(model) if model.memory().is_some() => work.extend(inst.args.first()),
                Some(Model::Add | Model::Sub) => {
                    if let [result] = inst.results.as_slice() {
                        sources[result.index()].extend(inst.args.first());
                    }
                }
                _ => {}
            }
        }
        for edge in block.term.edges() {
            for (param, arg) in function.block(edge.target).params.iter().zip(&edge.args) {
                if let EdgeArg::Value(v) = arg {
                    sources[param.index()].push(*v);
                }
            }
        }
    }
    while let Some(v) = work.pop() {
        if !std::mem::replace(&mut marked[v.index()], true) {
            work.extend_from_slice(&sources[v.index()]);
        }
    }
    marked
}
