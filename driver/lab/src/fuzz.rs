//! Differential testing on made-up functions: the original against the optimised one, on our interpreter and as
//! compiled code.
//!
//! Function number `i` of a run is made from `seed + i` and nothing else; so are its arguments and memories. Which
//! NaN arithmetic gives is not defined: every original is interpreted with several NaNs, and where more than a result
//! that is a NaN differs, the call is counted and not compared.
//!
//! **Invariant**: the report depends on the configuration and the rules, not on the number of threads.

mod compiled;
mod disagreement;
mod outside;
mod reduce;

use crate::generate::{Generator, MEMORY_BYTES, Shape};
use disagreement::Disagreement;
use outside::Outside;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;
use rewright_cfg_skeleton::ir::interp::{self, Memory, Outcome, equal_up_to_nan};
use rewright_cfg_skeleton::ir::{Function, text, verify};
use rewright_clif::names::trap_code;
use rewright_clif::optimise::ClifOptimiser;
use rewright_native::isolate::Worker;
use rewright_pipeline::optimiser::{Accept, Fate, Options};
use rewright_pipeline::sums::add_up;
use rewright_typeprop::{Scalar, Universe};
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Mutex;

/// Functions that are optimised together: each batch costs the engine some milliseconds.
const CHUNK: u64 = 64;
/// Findings per batch that are made smaller; a wrong rule shows in many functions, and some of them are enough.
const REDUCED: usize = 2;
/// Calls per function.
const CALLS: usize = 4;
/// Steps that one call may take.
const FUEL: u64 = 400_000;
/// Where the memory lies for the interpreter.
const ADDRESS: i64 = 0x1_0000;

/// What to test.
pub struct Config<'a> {
    /// The program under test.
    pub clif: &'a ClifOptimiser,
    /// Our own binary, for compiled code; `None` to interpret only.
    pub program: Option<PathBuf>,
    /// How many functions.
    pub count: u64,
    /// The first one.
    pub seed: u64,
    /// Which chunks of functions are tested, by their number: for runs that are divided.
    pub part: &'a (dyn Fn(usize) -> bool + Sync),
    /// How large.
    pub shape: Shape,
    /// How to optimise.
    pub options: Options,
    /// Told how many functions are done.
    pub progress: &'a (dyn Fn(u64) + Sync),
    /// Told of every finding in a line, before it is reduced, in no particular order.
    pub found: &'a (dyn Fn(&str) + Sync),
}

/// What was found.
#[derive(Clone, Debug, Default, Serialize)]
pub struct FuzzReport {
    /// The first function's seed.
    pub seed: u64,
    /// Functions that were made.
    pub functions: u64,
    /// Of these: a different one came out.
    pub changed: u64,
    /// Calls on the interpreter, before and after.
    pub interpreted: u64,
    /// Of these: they trap.
    pub trapped: u64,
    /// Of these: they depend on which NaN arithmetic gives, and are not compared.
    pub nan_dependent: u64,
    /// Calls of compiled code, before and after.
    pub compiled: u64,
    /// Why functions were not compiled: reason -> how many.
    pub not_compiled: BTreeMap<String, u64>,
    /// Differences and failures.
    pub findings: Vec<Finding>,
}

/// A function that does something else after optimisation, or could not be optimised.
#[derive(Clone, Debug, Serialize)]
pub struct Finding {
    /// It is made from this.
    pub seed: u64,
    /// Where it is seen: `interpreter`, `compiled`, `pipeline`, `generator`.
    pub engine: &'static str,
    /// What is wrong.
    pub difference: String,
    /// Arguments after the pointer.
    pub arguments: Vec<i64>,
    /// The memory, in hexadecimal.
    pub memory: String,
    /// The function; reduced, if it is among the first of its batch.
    pub original: String,
    /// What becomes of it.
    pub optimised: String,
    /// Rules that took part.
    pub rules: Vec<String>,
}

/// One call.
#[derive(Clone, Debug)]
struct Call {
    args: Vec<i64>,
    memory: Vec<u8>,
}

/// How a call ended.
#[derive(Clone, Debug, PartialEq, Eq)]
struct End {
    outcome: Outcome,
    memory: Vec<u8>,
}

/// What one call of the original gives.
struct Expected {
    end: End,
    /// It depends on the bits of some NaN that arithmetic makes, so nothing of it is compared: with a third NaN
    /// anything else may come out, such as a store at a third address.
    unknown: bool,
}

/// A difference in one call.
struct Difference {
    engine: &'static str,
    call: Call,
    text: String,
}

/// The first functions of the chunks that are tested.
fn chunks(count: u64, part: &dyn Fn(usize) -> bool) -> impl Iterator<Item = u64> {
    (0..count).step_by(CHUNK as usize).enumerate().filter(|(chunk, _)| part(*chunk)).map(|(_, first)| first)
}

/// How many of `count` functions are tested in a run that is divided.
pub fn functions_of(count: u64, part: &dyn Fn(usize) -> bool) -> u64 {
    chunks(count, part).map(|first| CHUNK.min(count - first)).sum()
}

/// Tests random functions.
pub fn fuzz(config: &Config<'_>) -> FuzzReport {
    let universe = &config.clif.optimiser.program().universe;
    let file = outside::file();
    let outside = Outside::new(config.clif, &file);
    let mut generator = Generator::new(universe, trap_code("heap_oob"));
    generator.add_opaque(&outside.prototypes);
    if let Some(program) = &config.program {
        let mut worker = Worker::new(program.clone());
        generator.retain(|function| compiled::compiles(config.clif, &outside, function, &mut worker));
    }
    let workers: Mutex<Vec<Worker>> = Mutex::new(vec![]);
    let chunks: Vec<u64> = chunks(config.count, config.part).collect();
    let reports: Vec<FuzzReport> = chunks
        .par_iter()
        .map(|first| {
            let worker = config.program.as_ref().map(|program| {
                let idle = workers.lock().ok().and_then(|mut idle| idle.pop());
                idle.unwrap_or_else(|| Worker::new(program.clone()))
            });
            let count = CHUNK.min(config.count - first);
            let mut tester = Tester { config, universe, outside: &outside, worker, report: FuzzReport::default() };
            let seeds: Vec<u64> = (0..count).map(|i| config.seed.wrapping_add(first + i)).collect();
            tester.chunk(&generator, &seeds);
            if let (Some(worker), Ok(mut idle)) = (tester.worker, workers.lock()) {
                idle.push(worker);
            }
            (config.progress)(count);
            tester.report
        })
        .collect();
    let mut whole = FuzzReport { seed: config.seed, ..FuzzReport::default() };
    for report in reports {
        whole.functions += report.functions;
        whole.changed += report.changed;
        whole.interpreted += report.interpreted;
        whole.trapped += report.trapped;
        whole.nan_dependent += report.nan_dependent;
        whole.compiled += report.compiled;
        add_up(&mut whole.not_compiled, report.not_compiled);
        whole.findings.extend(report.findings);
    }
    whole
}

struct Tester<'a> {
    config: &'a Config<'a>,
    universe: &'a Universe,
    outside: &'a Outside<'a>,
    worker: Option<Worker>,
    report: FuzzReport,
}

impl Tester<'_> {
    fn chunk(&mut self, generator: &Generator<'_>, seeds: &[u64]) {
        let functions: Vec<Function> = seeds.iter().map(|s| generator.function(*s, self.config.shape)).collect();
        let optimiser = &self.config.clif.optimiser;
        let options = Options { accept: Accept::Any, log: false, threads: 1, ..self.config.options.clone() };
        let batch = optimiser.optimise(&functions, self.universe, &options);
        for ((seed, original), outcome) in seeds.iter().zip(&functions).zip(&batch.outcomes) {
            self.report.functions += 1;
            let calls = self.calls(original, *seed);
            if let Some(error) = verify::verify(original, self.universe).first() {
                let text = format!("the verifier rejects it: {error}");
                self.find(*seed, Difference { engine: "generator", call: calls[0].clone(), text }, original, original);
                continue;
            }
            if let Fate::Failed(reason) | Fate::PassedThrough(reason) = &outcome.fate {
                let difference = Difference { engine: "pipeline", call: calls[0].clone(), text: reason.clone() };
                self.find(*seed, difference, original, &outcome.function);
                continue;
            }
            self.report.changed += u64::from(self.print(original) != self.print(&outcome.function));
            if let Some(difference) = self.compare(original, &outcome.function, &calls, seed % 8 == 0, true) {
                self.find(*seed, difference, original, &outcome.function);
            }
        }
    }

    fn print(&self, function: &Function) -> String {
        text::print(function, self.universe)
    }

    /// Arguments and memories for a function.
    fn calls(&self, function: &Function, seed: u64) -> Vec<Call> {
        let mut rng = ChaCha8Rng::seed_from_u64(seed ^ 0x5eed_ca11);
        let types =
            function.block(function.entry()).params.iter().skip(1).map(|p| self.universe.types.scalar(function.ty(*p)));
        let scalars: Vec<Scalar> = types.map(|s| s.unwrap_or(Scalar::I64)).collect();
        let call = |_| Call {
            args: scalars.iter().map(|s| argument(*s, &mut rng)).collect(),
            memory: (0..MEMORY_BYTES).map(|_| if rng.random_bool(0.3) { 0 } else { rng.random() }).collect(),
        };
        (0..CALLS).map(call).collect()
    }

    fn interpret(&self, function: &Function, call: &Call, nan: fn(Scalar) -> i64) -> End {
        let mut memory = Memory::default();
        memory.add(ADDRESS as u64, call.memory.clone());
        let args: Vec<i64> = std::iter::once(ADDRESS).chain(call.args.iter().copied()).collect();
        let outcome = self.outside.run(function, &args, &mut memory, nan, FUEL);
        let memory = memory.areas().first().map(|a| a.bytes.clone()).unwrap_or_default();
        End { outcome, memory }
    }

    fn expected(&self, function: &Function, call: &Call) -> Expected {
        let end = self.interpret(function, call, interp::quiet_nan);
        let same = |nan| {
            let other = self.interpret(function, call, nan);
            self.agrees(function, &Expected { end: end.clone(), unknown: false }, &other).is_ok()
        };
        let unknown = !OTHER_NANS.iter().all(|nan| same(*nan));
        Expected { end, unknown }
    }

    fn equal(&self, function: &Function, result: usize, a: i64, b: i64) -> bool {
        let scalar = function.results.get(result).and_then(|ty| self.universe.types.scalar(*ty));
        equal_up_to_nan(scalar, a, b)
    }

    /// Does `end` agree with what is expected?
    fn agrees(&self, function: &Function, expected: &Expected, end: &End) -> Result<(), Disagreement> {
        if expected.unknown {
            return Ok(());
        }
        match (&expected.end.outcome, &end.outcome) {
            (Outcome::Return(a), Outcome::Return(b)) if a.len() == b.len() => {
                for (index, (before, after)) in a.iter().copied().zip(b.iter().copied()).enumerate() {
                    if !self.equal(function, index, before, after) {
                        return Err(Disagreement::Result { index, before, after });
                    }
                }
            }
            (before, after) if before != after => {
                return Err(Disagreement::Outcome { before: before.clone(), after: after.clone() });
            }
            _ => {}
        }
        for (index, (&before, &after)) in expected.end.memory.iter().zip(&end.memory).enumerate() {
            if before != after {
                return Err(Disagreement::Byte { index, before, after });
            }
        }
        Ok(())
    }

    /// The first difference between two functions, if there is one.
    fn compare(
        &mut self,
        original: &Function,
        optimised: &Function,
        calls: &[Call],
        run_traps: bool,
        count: bool,
    ) -> Option<Difference> {
        let mut compiled = vec![];
        for call in calls {
            let expected = self.expected(original, call);
            let stuck = |outcome: &Outcome| matches!(outcome, Outcome::OutOfFuel | Outcome::Unsupported(_));
            if stuck(&expected.end.outcome) {
                let text = format!("{:?}", expected.end.outcome);
                return Some(Difference { engine: "generator", call: call.clone(), text });
            }
            let traps = matches!(expected.end.outcome, Outcome::Trap(_));
            if count {
                self.report.interpreted += 1;
                self.report.trapped += u64::from(traps);
                self.report.nan_dependent += u64::from(expected.unknown);
            }
            let end = self.interpret(optimised, call, interp::quiet_nan);
            if let Err(why) = self.agrees(original, &expected, &end) {
                return Some(Difference { engine: "interpreter", call: call.clone(), text: why.to_string() });
            }
            if !expected.unknown && (run_traps || !traps) {
                compiled.push((call, expected));
            }
        }
        self.compare_compiled(original, optimised, &compiled, count)
    }

    /// Reduces a difference and puts it on the list.
    fn find(&mut self, seed: u64, difference: Difference, original: &Function, optimised: &Function) {
        (self.config.found)(&format!("seed {seed}, {}: {}", difference.engine, difference.text));
        let mut found = (original.clone(), optimised.clone(), difference);
        if found.2.engine != "generator" && self.report.findings.len() < REDUCED {
            found = self.reduce(found);
        }
        let (original, optimised, difference) = found;
        let options = Options { accept: Accept::Any, log: true, threads: 1, ..self.config.options.clone() };
        let program = self.config.clif.optimiser.program();
        let again = self.config.clif.optimiser.optimise(std::slice::from_ref(&original), self.universe, &options);
        let rules = again.outcomes.iter().flat_map(|o| &o.rules).map(|r| program.rule(*r).name.clone());
        let finding = Finding {
            seed,
            engine: difference.engine,
            difference: difference.text,
            arguments: difference.call.args,
            memory: difference.call.memory.iter().map(|b| format!("{b:02x}")).collect(),
            original: self.print(&original),
            optimised: self.print(&optimised),
            rules: rules.collect(),
        };
        self.report.findings.push(finding);
    }
}

fn argument(scalar: Scalar, rng: &mut ChaCha8Rng) -> i64 {
    let bits = scalar.bits();
    let raw: u64 = match rng.random_range(0..7) {
        0 => rng.random_range(0..3),
        1 => u64::MAX - rng.random_range(0..3),
        2 => (1 << (bits - 1)) - rng.random_range(0..2),
        3 => 1 << rng.random_range(0..bits),
        4 => rng.random_range(0..256),
        _ => rng.random(),
    };
    let raw = match scalar {
        Scalar::F32 if rng.random_bool(0.6) => (rng.random_range(-20i32..20) as f32 / 4.0).to_bits().into(),
        Scalar::F64 if rng.random_bool(0.6) => (rng.random_range(-20i32..20) as f64 / 4.0).to_bits(),
        _ => raw,
    };
    scalar.canonical(raw)
}

/// NaNs that arithmetic may make as well as [`interp::quiet_nan`]. Each bit of the sign and of the payload differs
/// between that one and the first of these.
const OTHER_NANS: [fn(Scalar) -> i64; 2] = [
    |scalar| scalar.canonical(u64::MAX),
    |scalar| {
        let payload = match scalar {
            Scalar::F32 => 0x5555,
            _ => 0x5_5555_5555_5555,
        };
        scalar.canonical(interp::quiet_nan(scalar) as u64 | payload)
    },
];

#[cfg(test)]
mod tests;
