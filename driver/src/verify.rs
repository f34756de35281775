//! Is a rule right? For each rule and each type instance that its declaration admits:
//!
//! 1. both sides run on edge and random values ([`sample`], [`concrete`]);
//! 2. if they agree, an SMT solver is asked for values at which they do not ([`encode`], [`smt`]);
//! 3. where it cannot tell, it is asked about the same rule with all widths divided.
//!
//! What a verdict says is in [`Verdict`]. Values are total here, as in the e-graph: a quotient by zero has a value, and
//! a rule that is right only where a check passed needs a condition. Where a side would trap is compared all the same:
//! a right side that traps where the left does not is *one way only*. So is a side that is some NaN with open bits where
//! the other has definite ones.
//!
//! **Invariant**: a counterexample is never the solver's word alone: its values are run. The order of reports is that of
//! the rules, whatever the number of jobs. Only `smt::solver` starts processes.

mod cache;
mod concrete;
mod encode;
mod print;
mod prove;
mod report;
mod sample;
mod smt;

pub use cache::default_folder;
pub use report::{Counterexample, Instance, RuleReport, Verdict};

use cache::Key;
use prove::Case;
use rewright_dsl::instances::TypeInstances;
use rewright_dsl::program::{Program, Rule, RuleId};
use rewright_typeprop::{OpId, Term};
use smt::solver::{Config, Solver};
use std::collections::BTreeSet;
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
    /// Time per question. Verdicts should not depend on it: steps run out first.
    pub timeout: Duration,
    /// Solver processes.
    pub jobs: usize,
    /// Assignments to try per instance.
    pub samples: usize,
    /// Where random values begin.
    pub seed: u64,
    /// Where verdicts are kept; `None`: nowhere.
    pub cache: Option<PathBuf>,
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
        }
    }
}

/// Verifies rules. `done` is called after each, in no particular order.
///
/// # Errors
/// When the solver cannot be started, or the cache cannot be written.
pub fn verify(
    program: &Program,
    rules: &[RuleId],
    options: &Options,
    done: &(dyn Fn() + Sync),
) -> io::Result<Vec<RuleReport>> {
    let version = version(options)?;
    let instances = TypeInstances::new(program);
    let next = AtomicUsize::new(0);
    let reports: Mutex<Vec<Option<io::Result<RuleReport>>>> = Mutex::new((0..rules.len()).map(|_| None).collect());
    std::thread::scope(|scope| {
        for _ in 0..options.jobs.clamp(1, rules.len().max(1)) {
            scope.spawn(|| {
                let mut solver = None;
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(rule) = rules.get(index) else { break };
                    let report = one(program, &instances, *rule, options, &version, &mut solver);
                    reports.lock().unwrap_or_else(PoisonError::into_inner)[index] = Some(report);
                    done();
                }
            });
        }
    });
    let reports = reports.into_inner().unwrap_or_else(PoisonError::into_inner);
    reports.into_iter().flatten().collect()
}

/// One rule, by the cache or anew.
fn one(
    program: &Program,
    instances: &TypeInstances<'_>,
    id: RuleId,
    options: &Options,
    version: &str,
    solver: &mut Option<Solver>,
) -> io::Result<RuleReport> {
    let rule = program.rule(id);
    let scalars = |targs: &[rewright_typeprop::Ty]| -> Vec<_> {
        targs.iter().map(|ty| program.universe.types.scalar(*ty)).collect()
    };
    let cases: Vec<Case<'_>> = match prove::instances(instances, rule) {
        Some(all) => all.into_iter().map(|types| Case { program, rule, targs: scalars(&types), types }).collect(),
        None => vec![Case { program, rule, targs: vec![None; rule.tparams.len()], types: vec![] }],
    };
    let key = options.cache.as_ref().map(|folder| (folder, key(program, rule, &cases, options, version)));
    if let Some((folder, key)) = key
        && let Some(found) = cache::find(folder, key)
    {
        return Ok(RuleReport::new(id, found, true));
    }
    let solver = match solver {
        Some(solver) => solver,
        None => solver.insert(start(options)?),
    };
    let mut found = vec![];
    // What is too hard at one width is not asked at wider ones.
    let mut too_hard = u32::MAX;
    for case in &cases {
        let instance = case.verify(solver, options, too_hard)?;
        if instance.reason.as_deref() == Some(smt::solver::EXHAUSTED) {
            too_hard = too_hard.min(case.widest());
        }
        found.push(instance);
    }
    if let Some((folder, key)) = key {
        cache::keep(folder, key, &found)?;
    }
    Ok(RuleReport::new(id, found, false))
}

fn start(options: &Options) -> io::Result<Solver> {
    let config = Config { command: options.solver.clone(), steps: options.steps, timeout: options.timeout };
    Solver::start(config)
        .map_err(|e| io::Error::new(e.kind(), format!("cannot run the solver `{}`: {e}", options.solver.join(" "))))
}

/// What the solver calls itself.
fn version(options: &Options) -> io::Result<String> {
    start(options)?.version()
}

/// Everything that the verdict of a rule depends on.
fn key(program: &Program, rule: &Rule, cases: &[Case<'_>], options: &Options, version: &str) -> Key {
    let mut parts = vec![
        env!("CARGO_PKG_VERSION").to_string(),
        version.to_string(),
        format!("{:?} {} {} {}", options.solver, options.steps, options.samples, options.seed),
        format!("{} {:?} {:?} {:?} {:?}", rule.name, rule.vars, rule.left, rule.guards, rule.right),
    ];
    for op in mentioned(program, rule) {
        let op = program.universe.ops.get(op);
        parts.push(format!("{} {:?} {:?} {:?} {:?}", op.unique, op.params, op.model, op.spec, op.checks));
    }
    for case in cases {
        parts.extend(case.shown());
        if let Ok(mut question) = case.question() {
            parts.extend(question.script(encode::Ask::Wrong));
            parts.extend(question.script(encode::Ask::TrapsMore));
        }
    }
    cache::key(parts.iter().map(String::as_str))
}

/// The operations that a rule and its meanings mention.
fn mentioned(program: &Program, rule: &Rule) -> BTreeSet<OpId> {
    let mut found = BTreeSet::new();
    let mut todo: Vec<&Term> = vec![];
    rewright_dsl::program::for_each_term(rule, &mut |term| todo.push(term));
    todo.extend(program.facts.iter().filter_map(|f| f.spec.as_ref()));
    while let Some(term) = todo.pop() {
        match term {
            Term::Var(_) | Term::Lit(..) => {}
            Term::Eval(inner) => todo.push(inner),
            Term::Call { op, args, state, .. } => {
                todo.extend(args.iter().chain(state.as_deref()));
                if found.insert(*op) {
                    let op = program.universe.ops.get(*op);
                    todo.extend(op.spec.iter().chain(op.checks.iter().filter_map(|c| c.condition.as_ref())));
                }
            }
        }
    }
    found
}
