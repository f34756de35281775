//! Functions that differ: is each thing that the second version may do one that the first one may, or better defined?
//!
//! An SMT solver is asked for parameters, memory, and choices of the second version, for which no choice of the first
//! one does the same. Both are terms by LLVM's semantics ([`meaning`], [`symexec`]), with poison, with what is
//! undefined, with `freeze` and `undef`. First parameters, memory and what calls give are values or poison, then their
//! bits may also be `undef`, where each use may see others; the solver decides the second question less often. A value
//! that leaves the second version is computed twice, and the first one must give both.
//!
//! In scope: functions on integers to 128 bits, halves, floats, doubles and pointers, and on what is made of these
//! ([`lanes`]); loops by induction ([`loops`]). Stack slots that are values are no memory ([`promoted`](mod@promoted)). A version may
//! access its own stack slots, read global variables, and access what the first one accesses by a pointer to the same
//! object, and only while that is sure not to be freed. Volatile and atomic accesses are those of the first version, in its
//! order. Pointers are addresses with objects: equal addresses are no equal pointers. A called function may do anything
//! that its attributes allow, and does the same for both versions where they tell it the same.
//!
//! **Invariant**: an answer against the second version is no refutation: it is an input to be replayed.

mod allocations;
mod dead_calls;
mod decided;
mod facts;
mod flow;
mod inlined;
mod inputs;
mod instructions;
mod lanes;
mod loops;
mod meaning;
mod model;
mod promoted;
mod refines;
mod region;
mod scopes;
mod strides;
mod symexec;
mod tail_calls;
#[cfg(test)]
mod tests;
mod type_tags;

use super::budget::{Budget, Exhausted};
use super::callees::{as_called, promises_its_result};
use super::headers::HeaderError;
use super::modules::{Module, Version};
use super::not_modelled::NotModelled;
use super::replay::Input;
use super::{Config, Files, Seen, headers};
use dead_calls::without_dead_calls;
use decided::decided;
use inlined::inlined;
use inputs::Inputs;
use promoted::{Side, promoted};
use refines::{placed, refines};
use rewright_llvm::body::{self, Body};
use rewright_llvm::lex::global_names;
use rewright_smt::solver::{self, Answer, Limit, Solver, Unanswered};
use rewright_smt::{Asserted, Expr, Script};
use scopes::without_idle_scopes;
use std::collections::BTreeSet;
use std::io;
use std::time::Duration;
use symexec::{Choosing, Keys, Likeness, Start, behaviour};
use tail_calls::without_idle_marks;

/// The default limit of the solver for a function, in its own steps.
pub(super) const STEPS: u64 = 20_000_000;

/// Parts of the steps that a function may take, one round after the other.
const SHARES: [u64; 2] = [10, 1];

/// Steps for a question in which nothing is known of what is hard.
const OPAQUE_STEPS: u64 = 5_000_000;

/// Terms of a question. Memory makes one for each pair of bytes that are accessed, so that what is larger takes longer to
/// write down than what a solver decides takes it.
const MOST_TERMS: usize = 200_000;

/// The solver's processor time for what is no question: values of terms, reasons.
const TIMEOUT: Duration = Duration::from_secs(30);

/// Why something is not decided.
#[derive(Debug, thiserror::Error)]
enum Undecided {
    #[error(transparent)]
    NotModelled(#[from] NotModelled),
    #[error(transparent)]
    Headers(#[from] HeaderError),
    #[error(transparent)]
    Budget(#[from] Exhausted),
    #[error("solver, {0} s for one question are over")]
    Time(u64),
    #[error("{0}")]
    Solver(Unanswered),
}

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

/// Asks about the pairs of two files; again about those that call a function of which more is known since.
///
/// # Errors
/// When the solver cannot be started.
pub(super) fn compare(files: &Files<'_>, config: &Config) -> io::Result<Vec<Decided>> {
    let settings = solver::Config { command: config.solver.clone(), steps: 0, timeout: TIMEOUT };
    let mut solver = Solver::start(settings)
        .map_err(|e| io::Error::new(e.kind(), format!("cannot start {}: {e}", config.solver.join(" "))))?;
    let mut budget = Budget::new(config.solver_steps);
    let mut all = decide(files, &mut solver, &mut budget)?;
    let mut known = BTreeSet::new();
    loop {
        let mut more = BTreeSet::new();
        for (pair, _) in all.iter().enumerate().filter(|(_, decided)| decided.proved) {
            let [was, is] = files.definitions(pair);
            if promises_its_result(was, is) && known.insert(is.name.as_str()) {
                more.insert(is.name.as_str());
            }
        }
        let calls = |pair: usize| !global_names(files.versions(pair)[1].text()).is_disjoint(&more);
        let again: Vec<usize> = (0..all.len()).filter(|pair| !all[*pair].proved && calls(*pair)).collect();
        if again.is_empty() {
            return Ok(all);
        }
        let own = files.modules.map(|module| module.own);
        let [before, after] = &as_called(own[0], own[1], &known);
        let modules = Module::pair([before, after], own);
        let pairs = again.iter().map(|pair| files.pairs[*pair]).collect();
        let files = Files { before, after, modules: [&modules[0], &modules[1]], pairs };
        for (pair, decided) in again.into_iter().zip(decide(&files, &mut solver, &mut budget)?) {
            if decided.proved {
                all[pair] = decided;
            }
        }
    }
}

/// Decides all pairs: first with a part of the steps for each, so that a few that are hard leave enough for all others.
fn decide(files: &Files<'_>, solver: &mut Solver, budget: &mut Budget) -> io::Result<Vec<Decided>> {
    let mut all: Vec<Decided> = files.pairs.iter().map(|_| Decided::default()).collect();
    let mut open: Vec<usize> = (0..files.pairs.len()).collect();
    for share in SHARES {
        for pair in std::mem::take(&mut open) {
            let versions = files.versions(pair);
            let mut decided = Decided::default();
            match prepared(versions) {
                Err(reason) => decided.seen.not_compared(reason),
                Ok(bodies) => {
                    let keys = Keys::new(versions, &bodies);
                    budget.begin(share);
                    Pair { versions, bodies, keys }.decide(solver, budget, &mut decided)?;
                    open.extend((!decided.proved && budget.spent().is_some()).then_some(pair));
                }
            }
            solver.forget();
            all[pair] = decided;
        }
    }
    Ok(all)
}

/// The bodies of versions whose surroundings allow a proof.
fn prepared(versions: [Version<'_>; 2]) -> Result<[Body; 2], Undecided> {
    versions[0].module.layout.clone().map_err(NotModelled::from)?;
    let read = |v: Version<'_>| {
        let body = body::read(v.file(), v.definition).map_err(NotModelled::from);
        body.map(|body| without_idle_marks(v.definition, body))
    };
    let [old, new] = versions.map(read);
    let mut bodies = [old?, without_idle_scopes(versions[1], new?)];
    headers::compare(versions[0], versions[1], Some(&bodies[1]))?;
    if let Some((old, texts)) = inlined(versions, &bodies)
        && headers::mentioned(versions[0], versions[1], &texts).is_ok()
    {
        bodies[0] = old;
    }
    let unseen = allocations::without_unseen(versions, &bodies);
    let [old, new] = bodies;
    let old = promoted(versions[0], Side::First, unseen.unwrap_or(old));
    let old = decided(&old).unwrap_or(old);
    let new = promoted(versions[1], Side::Second, new);
    let needed = without_dead_calls(versions, [&old, &new]);
    Ok([needed.unwrap_or(old), new])
}

/// Is a question not too large yet?
fn fits(s: &Script) -> Result<(), NotModelled> {
    if s.terms() > MOST_TERMS {
        return Err(format!("a question has more than {MOST_TERMS} terms").into());
    }
    Ok(())
}

/// Two versions with their bodies.
struct Pair<'a> {
    versions: [Version<'a>; 2],
    bodies: [Body; 2],
    keys: Keys,
}

impl Pair<'_> {
    /// Asks without and with what may be `undef`.
    fn decide(&self, solver: &mut Solver, budget: &mut Budget, decided: &mut Decided) -> io::Result<()> {
        if let Some(questions) = loops::in_lockstep(self, solver, budget)? {
            decided.seen.runs += questions;
            decided.proved = true;
            return Ok(());
        }
        if self.bodies.iter().any(loops::has_loops) {
            return loops::decide(self, solver, budget, decided);
        }
        self.without_loops(solver, budget, decided)
    }

    fn without_loops(&self, solver: &mut Solver, budget: &mut Budget, decided: &mut Decided) -> io::Result<()> {
        for undefined in [false, true] {
            let more = self.ask(undefined, solver, budget, decided)?;
            if !more {
                break;
            }
        }
        Ok(())
    }

    /// Asks one question; is another one to be asked?
    fn ask(
        &self,
        undefined: bool,
        solver: &mut Solver,
        budget: &mut Budget,
        decided: &mut Decided,
    ) -> io::Result<bool> {
        let suffix = if undefined { ", where something may be `undef`" } else { "" };
        // The first one is the easiest to answer, and mostly enough; only an answer to the last one speaks against the
        // second version.
        let [easy, last] = [vec![Choosing::Like(Likeness::ALL[0])], vec![Choosing::Freely]];
        for ways in [easy, Likeness::ALL.map(Choosing::Like).to_vec(), last] {
            let (question, answer) = match self.answered(undefined, &ways, solver, budget)? {
                Ok(found) => found,
                Err(reason) => {
                    decided.seen.not_compared(format!("{reason}{suffix}"));
                    return Ok(false);
                }
            };
            match answer {
                None => {
                    decided.seen.runs += 1;
                    let more = !undefined && question.undefined_matters;
                    decided.proved = !more;
                    return Ok(more);
                }
                // The first version may choose in another way.
                Some(_) if question.chooses && ways != [Choosing::Freely] => {}
                Some(values) => {
                    self.against(&question, &values, suffix, decided);
                    return Ok(false);
                }
            }
        }
        Ok(false)
    }

    /// A question in which the first version chooses in some ways, and the values that answer it, if any do; the reason
    /// where there is none, or the solver does not know.
    fn answered(
        &self,
        undefined: bool,
        ways: &[Choosing],
        solver: &mut Solver,
        budget: &mut Budget,
    ) -> io::Result<Result<Answered, Undecided>> {
        let question = match Question::new(self, undefined, ways, false) {
            Ok(question) => question,
            Err(reason) => return Ok(Err(reason.into())),
        };
        budget.charge_terms(question.script.terms());
        let limit = match budget.limit() {
            Ok(limit) => limit,
            Err(reason) => return Ok(Err(reason.into())),
        };
        // Mostly nothing needs to be known of what is hard.
        if let (false, Ok(easy)) = (ways == [Choosing::Freely], Question::new(self, undefined, ways, true))
            && easy.script.hides()
        {
            budget.charge_terms(easy.script.terms());
            let limit = Limit { steps: limit.steps.min(OPAQUE_STEPS), ..limit };
            let answer = solver.ask_within(&easy.asserted.text, &[], limit)?;
            budget.charge(solver.spent());
            if answer == Answer::Unsat {
                return Ok(Ok((question, None)));
            }
        }
        let limit = match budget.limit() {
            Ok(limit) => limit,
            Err(reason) => return Ok(Err(reason.into())),
        };
        let answer = solver.ask_within(&question.asserted.text, &question.wanted(), limit)?;
        budget.charge(solver.spent());
        Ok(match answer {
            Answer::Unsat => Ok((question, None)),
            Answer::Sat(values) => Ok((question, Some(values))),
            Answer::Unknown(reason) if reason.is_too_hard() => {
                Err(budget.spent().map_or(Undecided::Time(limit.time.as_secs()), Undecided::Budget))
            }
            Answer::Unknown(reason) => Err(Undecided::Solver(reason)),
        })
    }

    /// An answer against the second version: a candidate, and the reason why it is no more.
    fn against(&self, question: &Question, values: &[Option<u128>], suffix: &str, decided: &mut Decided) {
        let wanted = question.wanted();
        let value = |name: Expr| {
            let at = wanted.iter().position(|w| *w == question.script.name(name))?;
            values.get(at).copied().flatten()
        };
        let first = self.versions[0];
        let types = first.definition.parameters.iter().map(|parameter| &parameter.ty);
        if let Ok(layout) = &first.module.sizes {
            decided.model = Some(model::input(&question.script, &question.given, layout, types, value));
        }
        let reason = match question.assumed.as_slice() {
            [] => "the solver has an input on which it differs".to_string(),
            assumed => format!("it depends on {}", assumed.join(" and ")),
        };
        decided.seen.not_compared(format!("{reason}{suffix}"));
    }
}

/// A question, and the values of its variables that answer it, if any do.
type Answered = (Question, Option<Vec<Option<u128>>>);

/// Two versions as one question.
struct Question {
    script: Script,
    given: Inputs,
    asserted: Asserted,
    /// What an answer may rest on that is not modelled.
    assumed: Vec<&'static str>,
    /// Something may be `undef`.
    undefined_matters: bool,
    /// The first version chooses.
    chooses: bool,
}

impl Question {
    /// Does the second version do what the first one does in none of some ways to choose? Where it is `opaque`, nothing
    /// is known of what is hard.
    fn new(pair: &Pair<'_>, undefined: bool, ways: &[Choosing], opaque: bool) -> Result<Question, NotModelled> {
        let Pair { versions, bodies, keys } = pair;
        let mut script = Script::new();
        (script.opaque, script.says_logic) = (opaque, true);
        let s = &mut script;
        let given = Inputs::new(s, *versions, bodies, undefined)?;
        let new = behaviour(s, versions[1], &Start::all(&bodies[1]), &given, keys, Choosing::Anything)?;
        let (mut assumed, mut undefined_matters) = (new.assumed.clone(), new.undefined_matters);
        let (mut chooses, mut choices, mut claims) = (false, vec![], vec![given.promised]);
        for way in ways {
            // Values that are equal where they are used may be chosen as the second version chooses them.
            let like = if *way == Choosing::Freely { &[][..] } else { &new.chosen };
            let start = Start { like, ..Start::all(&bodies[0]) };
            let old = behaviour(s, versions[0], &start, &given, keys, *way)?;
            let (refines, uncovered) = refines(s, &old, &new)?;
            claims.extend([s.not(refines), placed(s, &old, &new)]);
            assumed.extend(&old.assumed);
            if uncovered {
                assumed.insert("what memory is there");
            }
            undefined_matters |= old.undefined_matters;
            chooses |= old.chooses;
            choices.extend(old.choices);
        }
        claims.push(given.facts(s));
        let claim = s.and(&claims);
        let asserted = s.asserting_for_all(&choices, claim).ok_or("what it chooses decides what is read")?;
        let assumed = assumed.into_iter().collect();
        Ok(Question { script, given, asserted, assumed, undefined_matters, chooses })
    }

    /// The variables whose values an answer gives.
    fn wanted(&self) -> Vec<&str> {
        self.asserted.declared.iter().map(String::as_str).collect()
    }
}
