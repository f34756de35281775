//! Is a rule right? For each rule and each type instance that its declaration admits:
//!
//! 1. both sides run on edge and random values ([`sample`], [`concrete`]);
//! 2. if they agree, an SMT solver is asked for values at which they do not ([`encode`], [`rewright_smt`]);
//! 3. where it cannot tell, it is asked about the same rule with all widths divided.
//!
//! Beside that, both sides are compiled and run on such values ([`native`]): a verdict is about what operations mean,
//! and code must be what they mean.
//!
//! A rule about what loops carry is shown by induction over iterations: two rules about plain values ([`induction`]).
//!
//! Functions of a library or an embedding program are tried on values only, those that only its code can make as the
//! pack says ([`executed`]); and of a rule that says that it gives something up, both sides are compared on ordinary
//! values ([`approximate`]).
//!
//! [`Verdict`] says what a verdict means. Values are total here, as in the e-graph: a quotient by zero has a value, and
//! a rule that is right only where a check passed needs a condition. Where a side would trap is compared nevertheless:
//! a right side that traps where the left does not is *one way only*. So is a side that is some NaN with open bits
//! where the other has definite ones.
//!
//! Larger values ([`Repr`]): a 128-bit integer is a bit vector of 128 bits, a vector is one lane of it. That is sound
//! where every operation on vectors works on each lane by itself, with scalar operands (an amount,
//! a condition, what is splatted) the same for all lanes. So are terms of such operations: lane i of a side is a
//! function f of lane i of each vector variable and of the scalar variables, the same f for every i. If f agrees for
//! both sides at all operands, the vectors agree lane by lane, however many there are. If f differs somewhere, so do
//! the vectors that hold these operands in all lanes. Where a rule mixes lanes, or accesses
//! vectors in memory, the solver is asked about every lane ([`encode`]); values are tried that all lanes have, so what the
//! solver says to differ there is no counterexample.
//!
//! [`Repr`]: rewright_typeprop::Repr
//!
//! **Invariant**: a counterexample is never the solver's word alone: its values are run. The order of reports is that
//! of the rules, whatever the number of jobs. Solvers are started by [`rewright_smt::solver`] only.

mod approximate;
mod cache;
mod campaign;
mod case;
mod code;
mod concrete;
pub mod denotation;
mod encode;
mod executed;
mod induction;
mod libraries;
mod memory;
mod mutants;
mod mutation;
mod native;
mod print;
mod prove;
mod report;
mod sample;
mod sampled;
mod trial;
mod typing;

pub use cache::verdicts;
pub use campaign::{Fate, Judged, mutate};
pub use mutants::Kind;
pub use report::{Compiled, Counterexample, InstanceReport, RuleReport, Verdict};
pub use trial::{Trial, try_rule};

use cache::Key;
use case::{Case, mentioned};
use induction::{Induction, Proof};
use libraries::Libraries;
use native::Machine;
use rewright_dsl::instances::TypeInstances;
use rewright_dsl::program::{Program, Rule, RuleId};
use rewright_files::cache::Cache;
use rewright_smt::solver::{Config, Solver};
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// How to verify.
#[derive(Clone, Debug)]
pub struct Options {
    /// The solver: program and arguments; it reads SMT-LIB from its standard input.
    pub solver: Vec<String>,
    /// Solver steps per question; 0: no limit.
    pub steps: u64,
    /// Processor time of the solver per question. Verdicts should not depend on it: steps run out first.
    pub timeout: Duration,
    /// Solver processes.
    pub jobs: usize,
    /// Assignments to try per instance.
    pub samples: usize,
    /// Where random values begin.
    pub seed: u64,
    /// Where verdicts are kept; `None`: nowhere.
    pub cache: Option<Cache>,
    /// Our own binary, in a process of which compiled rules and libraries' code run; `None`: they do not run.
    pub program: Option<PathBuf>,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            solver: vec!["z3".into(), "-in".into()],
            steps: 5_000_000,
            timeout: Duration::from_secs(60),
            jobs: 1,
            samples: 500,
            seed: 1,
            cache: None,
            program: None,
        }
    }
}

impl Options {
    fn effort(&self) -> sample::Effort {
        sample::Effort { samples: self.samples, exhaustive: self.samples, seed: self.seed }
    }
}

/// Verifies rules. `done` is called after each, in no particular order.
///
/// # Errors
/// When the solver cannot be started.
pub fn verify(
    program: &Program,
    rules: &[RuleId],
    options: &Options,
    done: &(dyn Fn() + Sync),
) -> io::Result<Vec<RuleReport>> {
    let version = version(options)?;
    let instances = TypeInstances::new(program);
    let libraries = Libraries::of(program);
    let begin = || {
        let machine = options.program.as_deref().map(|own| Machine::new(program, own));
        Ok((start(options)?, machine))
    };
    in_parallel(options, rules.len(), &begin, &|index, (solver, machine)| {
        let report = one(program, &instances, &libraries, rules[index], options, &version, solver, machine.as_mut());
        done();
        report
    })
}

/// Does `work` on the numbers below `count`, on as many threads as there are jobs, each with what it begins with.
/// Results are in order.
fn in_parallel<T: Send, W>(
    options: &Options,
    count: usize,
    begin: &(dyn Fn() -> io::Result<W> + Sync),
    work: &(dyn Fn(usize, &mut W) -> io::Result<T> + Sync),
) -> io::Result<Vec<T>> {
    let next = AtomicUsize::new(0);
    let results: Mutex<Vec<Option<io::Result<T>>>> = Mutex::new((0..count).map(|_| None).collect());
    let run = || {
        let mut worker = None;
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            if index >= count {
                break;
            }
            let ready = match &mut worker {
                Some(worker) => Ok(worker),
                none => begin().map(|w| none.insert(w)),
            };
            let result = ready.and_then(|worker| work(index, worker));
            results.lock().unwrap_or_else(PoisonError::into_inner)[index] = Some(result);
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..options.jobs.clamp(1, count.max(1)) {
            scope.spawn(run);
        }
    });
    results.into_inner().unwrap_or_else(PoisonError::into_inner).into_iter().flatten().collect()
}

/// One rule, by the cache or anew.
#[allow(clippy::too_many_arguments, reason = "what a run has, and one rule")]
fn one(
    program: &Program,
    instances: &TypeInstances<'_>,
    libraries: &Libraries,
    id: RuleId,
    options: &Options,
    version: &str,
    solver: &mut Solver,
    machine: Option<&mut Machine>,
) -> io::Result<RuleReport> {
    let rule = program.rule(id);
    let left_out = prove::left_out(instances, rule);
    let proof = induction::induction(program, rule).and_then(Result::ok);
    if let Some(Proof::Exit(parts)) = proof {
        let mut machine = machine;
        solver.forget();
        let [then, before] = (*parts)
            .map(|part| judge(&prove::cases(program, instances, &part), options, solver, machine.as_deref_mut()));
        return Ok(RuleReport::new(id, induction::exit_verdicts(then?, before?), left_out, false));
    }
    if let Some(Proof::Induction(induction)) = proof {
        let mut machine = machine;
        solver.forget();
        let base = prove::cases(program, instances, &induction.base);
        let base = judge(&base, options, solver, machine.as_deref_mut())?;
        let step = prove::cases(program, instances, &induction.step);
        let step = judge(&step, options, solver, machine.as_deref_mut())?;
        let is_open = induction.is_open(&base, &step);
        let mut verdicts = induction.verdicts(base, step);
        for later in induction.later.iter().filter(|_| is_open) {
            let later = prove::cases(program, instances, later);
            verdicts = Induction::refuted(verdicts, judge(&later, options, solver, machine.as_deref_mut())?);
        }
        return Ok(RuleReport::new(id, verdicts, left_out, false));
    }
    let cases = prove::cases(program, instances, rule);
    let linked = libraries.decide(program, rule, &cases);
    let more = if linked { libraries.known.as_deref() } else { Some(&[][..]) };
    let key = (options.cache.as_ref().zip(more))
        .map(|(kept, more)| (kept, key(program, rule, &cases, options, version, more)));
    let kept = key.and_then(|(kept, key)| if linked { cache::find_here(kept, key) } else { cache::find(kept, key) });
    if let Some(found) = kept {
        return Ok(RuleReport::new(id, found, left_out, true));
    }
    solver.forget();
    let found = judge(&cases, options, solver, machine)?;
    // Of a library that fails once it is not known that it always does.
    let is_open = |report: &InstanceReport| matches!(report.verdict, Verdict::Unknown | Verdict::NotRun);
    match key.filter(|_| !solver.timed()) {
        Some((kept, key)) if !linked => cache::keep(kept, key, found.as_slice()),
        Some((kept, key)) if !found.iter().any(is_open) => cache::keep_here(kept, key, found.as_slice()),
        _ => {}
    }
    Ok(RuleReport::new(id, found, left_out, false))
}

/// All instances of a rule.
fn judge(
    cases: &[Case<'_>],
    options: &Options,
    solver: &mut Solver,
    machine: Option<&mut Machine>,
) -> io::Result<Vec<InstanceReport>> {
    let mut found: Vec<InstanceReport> = vec![];
    // A question that is too hard at one width is not asked at wider ones.
    let mut too_hard = u32::MAX;
    for (n, case) in cases.iter().enumerate() {
        // One lane is the same question however many there are.
        if let Some(same) =
            cases[..n].iter().position(|c| c.lanes_as_in(case) && c.question().is_ok() == case.question().is_ok())
        {
            found.push(InstanceReport { types: case.shown(), seconds: 0.0, ..InstanceReport::clone(&found[same]) });
            continue;
        }
        let verified = case.verify(solver, options, too_hard)?;
        if verified.too_hard {
            too_hard = too_hard.min(case.widest());
        }
        found.push(verified.report);
    }
    if let Some(machine) = machine {
        for (instance, compiled) in found.iter_mut().zip(machine.run(cases, options.effort().halved())?) {
            instance.compiled = compiled;
        }
    }
    Ok(found)
}

fn start(options: &Options) -> io::Result<Solver> {
    let config = Config { command: options.solver.clone(), steps: options.steps, timeout: options.timeout };
    Solver::start(config).map_err(|e| {
        let solver = options.solver.join(" ");
        let way_on = "install z3 (`scripts/setup.sh` does), or name another solver with `--solver`";
        io::Error::new(e.kind(), format!("cannot run the solver `{solver}`: {e}; {way_on}"))
    })
}

/// What the solver calls itself.
fn version(options: &Options) -> io::Result<String> {
    start(options)?.version()
}

/// Everything that the verdict of a rule depends on.
fn key(
    program: &Program,
    rule: &Rule,
    cases: &[Case<'_>],
    options: &Options,
    version: &str,
    libraries: &[String],
) -> Key {
    let mut parts = method(options, version);
    parts.extend(libraries.iter().cloned());
    parts.extend(content(program, rule));
    for case in cases {
        parts.extend(case.shown());
        if let Ok(mut question) = case.question() {
            for ask in [encode::Ask::Wrong, encode::Ask::TrapsMore] {
                parts.extend(question.script(ask).map(|script| script.text));
            }
        }
    }
    cache::key(parts.iter().map(String::as_str))
}

/// How it is found out.
fn method(options: &Options, version: &str) -> Vec<String> {
    vec![
        env!("CARGO_PKG_VERSION").to_string(),
        version.to_string(),
        format!("{:?} {} {} {}", options.solver, options.steps, options.samples, options.seed),
        format!("compiled: {}", options.program.is_some()),
    ]
}

/// What a rule says, and what the operations mean that it mentions.
fn content(program: &Program, rule: &Rule) -> Vec<String> {
    let mut parts = vec![format!("{} {:?} {:?} {:?} {:?}", rule.name, rule.vars, rule.left, rule.guards, rule.right)];
    parts.extend(rule.approximate.as_ref().map(|approximation| format!("{approximation:?}")));
    for op in mentioned(program, rule) {
        let op = program.universe.ops.get(op);
        parts.push(format!("{} {:?} {:?} {:?} {:?}", op.unique, op.params, op.model, op.spec, op.checks));
        parts.extend(op.link.as_ref().map(|link| format!("{link:?}")));
    }
    parts
}
