//! Functions that differ: is each thing that the second version may do one that the first one may, or better defined?
//!
//! An SMT solver is asked for parameters, memory, and choices of the second version, for which no choice of the first one
//! does the same. Both are terms by LLVM's semantics ([`meaning`], [`side`]), with poison, with what is undefined, with
//! `freeze` and `undef`. First parameters, memory and what calls give are values or poison, then their bits may also be
//! `undef`, where each use may see others; the solver decides the second question less often. What leaves the second
//! version is computed twice, and the first one must give both.
//!
//! In scope: functions without loops on integers to 128 bits, floats and pointers, with plain loads and stores. A version
//! may access what the first one accesses by a pointer to the same object, and only while that is sure not to be freed.
//! Pointers are addresses with objects: equal addresses are no equal pointers. What is called may do anything that its
//! attributes allow, and does the same for both versions where they tell it the same.
//!
//! **Invariant**: an answer against the second version is no refutation: it is an input to be replayed.

mod facts;
mod given;
mod meaning;
mod model;
mod refines;
mod side;
#[cfg(test)]
mod tests;

use super::modules::Version;
use super::replay::Input;
use super::{Config, Files, Seen, headers};
use given::Given;
use refines::refines;
use rewright_llvm::body::{self, Body};
use rewright_smt::solver::{self, Answer, Solver};
use rewright_smt::{Asserted, Expr, Script};
use side::{Choosing, Keys, behaviour};
use std::io;
use std::time::Duration;

/// Solver steps per question, and time for a solver that does not count them.
const STEPS: u64 = 20_000_000;
const TIMEOUT: Duration = Duration::from_secs(30);

/// What the solver's side says of a pair.
#[derive(Default, Debug)]
pub(super) struct Decided {
    /// Questions that were decided, and why others were not.
    pub(super) seen: Seen,
    /// All questions were decided for the second version.
    pub(super) proved: bool,
    /// An answer against it, as an input to be replayed.
    pub(super) model: Option<Input>,
}

/// Asks about the pairs of two files.
///
/// # Errors
/// When the solver cannot be started.
pub(super) fn compare(files: &Files<'_>, config: &Config) -> io::Result<Vec<Decided>> {
    let settings = solver::Config { command: config.solver.clone(), steps: STEPS, timeout: TIMEOUT };
    let mut solver = Solver::start(settings)
        .map_err(|e| io::Error::new(e.kind(), format!("cannot start {}: {e}", config.solver.join(" "))))?;
    let mut all = vec![];
    for pair in 0..files.pairs.len() {
        let versions = files.versions(pair);
        let mut decided = Decided::default();
        match prepared(versions) {
            Err(reason) => decided.seen.not_compared(reason),
            Ok(bodies) => {
                let keys = Keys::new(versions, &bodies);
                Pair { versions, bodies, keys }.decide(&mut solver, &mut decided)?;
            }
        }
        solver.forget();
        all.push(decided);
    }
    Ok(all)
}

/// The bodies of versions whose surroundings allow a proof.
fn prepared(versions: [Version<'_>; 2]) -> Result<[Body; 2], String> {
    versions[0].module.layout.clone()?;
    let [old, new] = versions.map(|v| body::read(v.file(), v.definition));
    let bodies = [old?, new?];
    headers::compare(versions[0], versions[1], Some(&bodies[1]))?;
    Ok(bodies)
}

/// Two versions with their bodies.
struct Pair<'a> {
    versions: [Version<'a>; 2],
    bodies: [Body; 2],
    keys: Keys,
}

impl Pair<'_> {
    /// Asks without and with what may be `undef`.
    fn decide(&self, solver: &mut Solver, decided: &mut Decided) -> io::Result<()> {
        for undefined in [false, true] {
            let more = self.ask(undefined, solver, decided)?;
            if !more {
                break;
            }
        }
        Ok(())
    }

    /// Asks one question; is another one to be asked?
    fn ask(&self, undefined: bool, solver: &mut Solver, decided: &mut Decided) -> io::Result<bool> {
        let suffix = if undefined { ", where something may be `undef`" } else { "" };
        let mut answer = Answer::Unknown(String::new());
        for choosing in [Choosing::Alike, Choosing::Together, Choosing::Freely] {
            let question = match Question::new(self, undefined, choosing) {
                Ok(question) => question,
                Err(reason) => {
                    decided.seen.not_compared(format!("{reason}{suffix}"));
                    return Ok(false);
                }
            };
            let wanted: Vec<&str> = question.asserted.declared.iter().map(String::as_str).collect();
            answer = solver.ask(&question.asserted.text, &wanted, 1)?;
            match &answer {
                Answer::Unsat => {
                    decided.seen.runs += 1;
                    let more = !undefined && question.undefined_matters;
                    decided.proved = !more;
                    return Ok(more);
                }
                // The first version may choose in another way.
                Answer::Sat(_) if choosing != Choosing::Freely && question.chooses => {}
                Answer::Sat(values) => {
                    self.against(&question, &wanted, values, suffix, decided);
                    return Ok(false);
                }
                Answer::Unknown(_) => {}
            }
        }
        if let Answer::Unknown(reason) = answer {
            decided.seen.not_compared(format!("{reason}{suffix}"));
        }
        Ok(false)
    }

    /// An answer against the second version: a candidate, and the reason why it is no more.
    fn against(
        &self,
        question: &Question,
        wanted: &[&str],
        values: &[Option<u128>],
        suffix: &str,
        decided: &mut Decided,
    ) {
        let value = |name: Expr| {
            let at = wanted.iter().position(|w| *w == question.script.name(name))?;
            values.get(at).copied().flatten()
        };
        decided.model = Some(model::input(&question.script, &question.given, value));
        let reason = match question.assumed.as_slice() {
            [] => "the solver has an input on which it differs".to_string(),
            assumed => format!("it depends on {}", assumed.join(" and ")),
        };
        decided.seen.not_compared(format!("{reason}{suffix}"));
    }
}

/// Two versions as one question.
struct Question {
    script: Script,
    given: Given,
    asserted: Asserted,
    /// What an answer may rest on that is not modelled.
    assumed: Vec<&'static str>,
    /// Something may be `undef`.
    undefined_matters: bool,
    /// The first version chooses.
    chooses: bool,
}

impl Question {
    fn new(pair: &Pair<'_>, undefined: bool, choosing: Choosing) -> Result<Question, String> {
        let Pair { versions, bodies, keys } = pair;
        let mut script = Script::new();
        let s = &mut script;
        let given = Given::new(s, *versions, bodies, undefined)?;
        let old = behaviour(s, versions[0], &bodies[0], &given, keys, choosing)?;
        let new = behaviour(s, versions[1], &bodies[1], &given, keys, Choosing::Anything)?;
        let (refines, uncovered) = refines(s, &old, &new, versions[0].definition);
        let mut assumed: Vec<&str> = old.assumed.union(&new.assumed).copied().collect();
        if uncovered {
            assumed.push("what memory is there");
        }
        let broken = s.not(given.promised);
        let refines = s.or(&[broken, refines]);
        let claim = s.not(refines);
        let asserted = s.asserting_for_all(&old.choices, claim).ok_or("what it chooses decides what is read")?;
        let undefined_matters = old.undefined_matters || new.undefined_matters;
        Ok(Question { script, given, asserted, assumed, undefined_matters, chooses: old.chooses })
    }
}
