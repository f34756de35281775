//! Both versions on edges, numbers that they speak of, and random ones.
//!
//! Pointers point into one piece of memory, and may be equal. A difference counts only where nothing is made up and
//! nothing promised: with instructions that are not modelled, or accesses whose flags say what this memory may break
//! (regions that do not overlap, memory that no code writes to), it is a doubt. A run in which an access is not aligned
//! as it promises says nothing. Which NaN arithmetic gives is open, so a difference counts only if there is one
//! whichever it gives in either version.

use super::input::{FEW, MOST};
use super::{FunctionVersion, WordInput};
use crate::Config;
use crate::inputs::hash;
use crate::verdict::DOUBT;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rewright_cfg_skeleton::ir::interp::{Memory, Outcome, equal_up_to_nan, quiet_nan};
use rewright_cfg_skeleton::ir::{Function, InstKind, Terminator};
use rewright_cfg_skeleton::nest::arguments::Argument;
use rewright_cfg_skeleton::verdict::{Counterexample, Evidence};
use rewright_typeprop::Scalar;

/// Steps of a run of the first version; the second one may take four times as many.
const FUEL: u64 = 100_000;

/// Where memory is.
const BASE: u64 = 1 << 20;

/// Where arrays begin.
const ALIGNED: u64 = 16;

/// How many contents are tried.
const CONTENTS: u64 = 4;

/// Integers on both sides of which things differ.
const EDGES: [u64; 10] = [0, 1, 2, 7, 31, 127, 128, 0x7fff_ffff, 1 << 31, u64::MAX];
const FLOATS: [f64; 8] = [0.0, -0.0, 1.0, -1.5, 0.1, 1e300, f64::INFINITY, f64::NAN];

/// Why nothing is run.
const NO_INPUTS: &str = "it takes vectors, 128-bit integers or values of a domain, which runs cannot make up";

/// What is in memory: a number that it is made from, and how many bytes there are.
#[derive(Clone, Copy)]
struct Contents {
    seed: u64,
    bytes: u64,
}

/// What runs show.
pub(super) fn compare(before: FunctionVersion<'_>, after: FunctionVersion<'_>, config: &Config) -> Evidence {
    let Some(parameters) = scalars(before) else { return Evidence::nothing(NO_INPUTS) };
    let mut inputs = Inputs::new([before.function, after.function], config.seed);
    let mut evidence = Evidence::default();
    let mut open: Option<String> = None;
    // Without parameters all runs are the same, except for memory.
    for run in 0..config.runs {
        let arguments: Vec<i64> = parameters.iter().map(|scalar| inputs.argument(*scalar)).collect();
        let contents = Contents { seed: config.seed ^ u64::from(run), bytes: FEW };
        match both(before, after, &arguments, contents, [quiet_nan; 2]) {
            Compared::Same => evidence.runs += 1,
            Compared::Open(reason) => {
                open.get_or_insert(reason);
            }
            Compared::Differs(found) => {
                note(&mut evidence, [before, after], (&parameters, &arguments, contents), found);
                return evidence;
            }
        }
    }
    evidence.reasons.extend(open.filter(|_| evidence.runs == 0));
    evidence
}

/// What one run shows.
pub(super) fn on(before: FunctionVersion<'_>, after: FunctionVersion<'_>, input: &WordInput) -> Evidence {
    let Some(parameters) = scalars(before) else { return Evidence::nothing(NO_INPUTS) };
    let arguments = match input.words(&parameters) {
        Ok(arguments) => arguments,
        Err(reason) => return Evidence::nothing(reason),
    };
    let contents = Contents { seed: input.memory, bytes: input.bytes };
    match both(before, after, &arguments, contents, [quiet_nan; 2]) {
        Compared::Same => Evidence { runs: 1, ..Evidence::default() },
        Compared::Open(reason) => Evidence::nothing(reason),
        Compared::Differs(found) => {
            let mut evidence = Evidence::default();
            note(&mut evidence, [before, after], (&parameters, &arguments, contents), found);
            evidence
        }
    }
}

/// Notes a difference: a counterexample, or a doubt.
fn note(
    evidence: &mut Evidence,
    versions: [FunctionVersion<'_>; 2],
    (parameters, arguments, contents): (&[Scalar], &[i64], Contents),
    found: [String; 2],
) {
    match confirmed(versions, (parameters, arguments, contents), &found) {
        Ok(counterexample) => evidence.refuted = Some(counterexample),
        Err(why) => {
            let ([was, is], shown) = (found, show(parameters, arguments).join(", "));
            evidence.doubted = true;
            evidence.reasons =
                vec![format!("{DOUBT}: on ({shown}), before, {was}; after, {is}; this is no counterexample: {why}")];
        }
    }
}

/// A counterexample that the solver has, where running both shows it.
pub(super) fn shown_by(versions: [FunctionVersion<'_>; 2], arguments: &[u128], seed: u64) -> Option<Counterexample> {
    shown_with(versions, arguments, Contents { seed, bytes: FEW })
}

fn shown_with(versions: [FunctionVersion<'_>; 2], arguments: &[u128], contents: Contents) -> Option<Counterexample> {
    let [before, after] = versions;
    let parameters = scalars(before)?;
    let arguments: Vec<i64> = parameters.iter().zip(arguments).map(|(scalar, n)| scalar.canonical(*n as u64)).collect();
    match both(before, after, &arguments, contents, [quiet_nan; 2]) {
        Compared::Differs(found) => confirmed(versions, (&parameters, &arguments, contents), &found).ok(),
        Compared::Same | Compared::Open(_) => None,
    }
}

/// A counterexample that nests have, where running both shows it: arrays lie in memory one behind the other, and what
/// is in them is made from a few numbers.
pub(super) fn shown_by_arguments(versions: [FunctionVersion<'_>; 2], arguments: &[Argument]) -> Option<Counterexample> {
    let mut words = vec![];
    let mut end = BASE;
    for argument in arguments {
        words.push(match argument {
            Argument::Bits(bits) => *bits,
            Argument::Elements { first, bytes, elements } => {
                let start = end.next_multiple_of(ALIGNED);
                end = start + (elements.len() * bytes) as u64;
                u128::from(start.wrapping_add_signed(-first * *bytes as i64))
            }
        });
    }
    let bytes = (end - BASE).next_multiple_of(FEW).max(FEW);
    let mut contents = (0..CONTENTS).map(|seed| Contents { seed, bytes }).take_while(|_| bytes <= MOST);
    contents.find_map(|contents| shown_with(versions, &words, contents))
}

/// The types of the parameters, where each is a word.
fn scalars(version: FunctionVersion<'_>) -> Option<Vec<Scalar>> {
    let FunctionVersion { function, universe, .. } = version;
    function.block(function.entry()).params.iter().map(|value| universe.types.scalar(function.ty(*value))).collect()
}

/// A difference that counts; else why it does not.
fn confirmed(
    [before, after]: [FunctionVersion<'_>; 2],
    (parameters, arguments, contents): (&[Scalar], &[i64], Contents),
    [was, is]: &[String; 2],
) -> Result<Counterexample, &'static str> {
    if let Some(why) = promised(before.function).or_else(|| promised(after.function)) {
        return Err(why);
    }
    let [usual, other]: [Nan; 2] = [quiet_nan, other_nan];
    let differs = |nans| matches!(both(before, after, arguments, contents, nans), Compared::Differs(_));
    if ![[usual, other], [other, usual], [other; 2]].into_iter().all(differs) {
        return Err("it depends on which NaN arithmetic gives");
    }
    let shown = show(parameters, arguments);
    let input = WordInput { arguments: shown.clone(), memory: contents.seed, bytes: contents.bytes };
    let input = serde_json::to_value(input).unwrap_or_default();
    let shown = format!("({})", shown.join(", "));
    Ok(Counterexample { input, shown, before: was.clone(), after: is.clone(), statements: vec![], pattern: None })
}

/// What arithmetic gives as NaN.
type Nan = fn(Scalar) -> i64;

/// What makes a difference no counterexample.
fn promised(function: &Function) -> Option<&'static str> {
    let insts = function.layout.iter().flat_map(|block| &function.block(*block).insts).map(|id| function.inst(*id));
    let of_inst = |kind: &InstKind| match kind {
        InstKind::Opaque { .. } => Some("an instruction that is not modelled takes part"),
        InstKind::Op { access: Some(access), .. } if access.region.index() != 0 => Some("accesses name alias regions"),
        InstKind::Op { access: Some(access), .. } if access.readonly || access.movable => {
            Some("accesses promise what this memory may not keep")
        }
        _ => None,
    };
    let opaque = |block| matches!(&function.block(block).term, Terminator::Opaque { .. });
    let unmodelled = function.layout.iter().any(|block| opaque(*block));
    insts
        .map(|inst| of_inst(&inst.kind))
        .find(Option::is_some)
        .flatten()
        .or(unmodelled.then_some("a terminator that is not modelled takes part"))
}

enum Compared {
    Same,
    /// Nothing is known, for this reason.
    Open(String),
    /// What each did.
    Differs([String; 2]),
}

fn both(
    before: FunctionVersion<'_>,
    after: FunctionVersion<'_>,
    arguments: &[i64],
    contents: Contents,
    nans: [Nan; 2],
) -> Compared {
    let run = |version: FunctionVersion<'_>, nan, fuel| {
        let mut memory = Memory::default();
        memory.add(BASE, contents.make());
        let outcome = (version.run)(arguments, &mut memory, nan, fuel);
        (outcome, memory)
    };
    let (was, memory_before) = run(before, nans[0], FUEL);
    let open = |outcome: &Outcome| match outcome {
        Outcome::Unsupported(reason) => Some(reason.clone()),
        Outcome::OutOfFuel => Some("too many steps".to_string()),
        Outcome::Return(_) | Outcome::Trap(_) => None,
    };
    if let Some(reason) = open(&was) {
        return Compared::Open(reason);
    }
    let (is, memory_after) = run(after, nans[1], 4 * FUEL);
    if let Some(reason) = open(&is) {
        return Compared::Open(reason);
    }
    let differs = match (&was, &is) {
        (Outcome::Return(was), Outcome::Return(is)) => {
            let scalar = |at: usize| before.function.results.get(at).and_then(|ty| before.universe.types.scalar(*ty));
            let equal = |(at, (a, b)): (usize, (&i64, &i64))| equal_up_to_nan(scalar(at), *a, *b);
            was.len() != is.len() || !was.iter().zip(is).enumerate().all(equal)
        }
        (was, is) => was != is,
    };
    if differs {
        return Compared::Differs([shown(&was), shown(&is)]);
    }
    // Stack slots come behind.
    let first = |memory: &Memory| memory.areas().iter().find(|area| area.base == BASE).map(|area| area.bytes.clone());
    match (first(&memory_before), first(&memory_after)) {
        (Some(was), Some(is)) => match was.iter().zip(&is).position(|(a, b)| a != b) {
            Some(at) => Compared::Differs(
                [was[at], is[at]].map(|byte| format!("the byte at {:#x} is {byte:#04x}", BASE + at as u64)),
            ),
            None => Compared::Same,
        },
        _ => Compared::Open("its memory is gone".into()),
    }
}

fn shown(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Return(values) => {
            let values: Vec<String> = values.iter().map(i64::to_string).collect();
            format!("returns {}", if values.is_empty() { "nothing".into() } else { values.join(", ") })
        }
        Outcome::Trap(code) => format!("traps with code {code}"),
        Outcome::OutOfFuel | Outcome::Unsupported(_) => "does something that is not modelled".into(),
    }
}

/// A NaN that no arithmetic of ours gives.
fn other_nan(scalar: Scalar) -> i64 {
    match scalar {
        Scalar::F32 => scalar.canonical(u64::from(f32::NAN.to_bits() | 1 << 31 | 5)),
        _ => scalar.canonical(f64::NAN.to_bits() | 1 << 63 | 5),
    }
}

impl Contents {
    fn make(self) -> Vec<u8> {
        let mut rng = ChaCha8Rng::seed_from_u64(self.seed);
        let mut word = || match rng.random_range(0..3) {
            0 => pointer(rng.random()),
            1 => rng.random_range(0..8),
            _ => rng.random(),
        };
        (0..self.bytes / 8).flat_map(|_| word().to_le_bytes()).collect()
    }
}

/// An address of some word; there is as much memory on either side.
fn pointer(number: u64) -> u64 {
    BASE + FEW / 4 + number % (FEW / 2) / 8 * 8
}

/// The arguments as people write them; the bits of a NaN.
fn show(parameters: &[Scalar], arguments: &[i64]) -> Vec<String> {
    let one = |(scalar, n): (&Scalar, &i64)| match scalar {
        Scalar::F32 if f32::from_bits(*n as u32).is_nan() => format!("{:#x}", *n as u32),
        Scalar::F64 if f64::from_bits(*n as u64).is_nan() => format!("{n:#x}"),
        Scalar::F32 => format!("{:?}", f32::from_bits(*n as u32)),
        Scalar::F64 => format!("{:?}", f64::from_bits(*n as u64)),
        _ => n.to_string(),
    };
    parameters.iter().zip(arguments).map(one).collect()
}

struct Inputs {
    rng: ChaCha8Rng,
    edges: Vec<u64>,
}

impl Inputs {
    /// They depend on the function's name and the numbers that it speaks of.
    fn new(versions: [&Function; 2], seed: u64) -> Self {
        let mut edges = EDGES.to_vec();
        for inst in versions.iter().flat_map(|f| &f.insts) {
            if let InstKind::Const(n) = inst.kind {
                edges.extend([n.wrapping_sub(1), n, n.wrapping_add(1)].map(|n| n as u64));
            }
        }
        Inputs { rng: ChaCha8Rng::seed_from_u64(seed ^ hash(versions[0].name.as_str())), edges }
    }

    /// Edges, small numbers and others, as canonical constants.
    fn argument(&mut self, scalar: Scalar) -> i64 {
        let rng = &mut self.rng;
        let kind = rng.random_range(0..4);
        if !scalar.is_int() {
            let number =
                if kind == 0 { FLOATS[rng.random_range(0..FLOATS.len())] } else { rng.random_range(-9.0..9.0) };
            return match scalar {
                Scalar::F32 => scalar.canonical((number as f32).to_bits().into()),
                _ => scalar.canonical(number.to_bits()),
            };
        }
        scalar.canonical(match kind {
            0 => self.edges[rng.random_range(0..self.edges.len())],
            1 => rng.random_range(0..64),
            2 if scalar.bits() == 64 => pointer(rng.random()),
            _ => rng.random(),
        })
    }
}
