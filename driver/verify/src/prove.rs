//! One rule: values first, then the solver, instance by instance.

use super::approximate::{self, Closeness};
use super::case::Case;
use super::concrete::{Comparison, Value};
use super::encode::{self, Ask, Assigned, Encoding, OutOfScope, Question};
use super::executed::{self, Agreement, Difference, Executed, How};
use super::memory::{Bytes, Memory};
use super::report::{Compiled, Counterexample, InstanceReport, Verdict};
use super::sample::{Effort, Tried};
use super::{Options, print, sampled};
use rewright_dsl::instances::{Obstacle, Sense, TypeInstances};
use rewright_dsl::program::{Program, Rule, Var, VarKind};
use rewright_native::jit::CANNOT_LINK;
use rewright_native::permission::needs;
use rewright_smt::Asserted;
use rewright_smt::solver::{Answer, Solver, Unanswered};
use rewright_typeprop::eval::repr_of;
use rewright_typeprop::{Scalar, Term, Ty};
use std::collections::BTreeMap;
use std::fmt::{self, Display, Write as _};
use std::io;
use std::time::Instant;

/// Widths at which to prove what is too hard at the machine's: those of the widest operand.
const SMALLER: [u32; 2] = [16, 8];

/// Products, quotients and floats: a solver that has not decided a question about these soon does not decide it later.
const HARD: [&str; 6] = ["(bvmul ", "(bvudiv ", "(bvurem ", "(bvsdiv ", "(bvsrem ", "(fp."];

/// How many times as many steps other questions get.
const PATIENCE: u64 = 10;

/// How many times as many values are tried where there is no proof.
const MORE: usize = 20;

/// A rule at every type instance; at one that stands for all types where its type parameters stand for no machine
/// types.
pub(super) fn cases<'p>(program: &'p Program, all: &TypeInstances<'_>, rule: &'p Rule) -> Vec<Case<'p>> {
    let types = &program.universe.types;
    let case = |own: Vec<Ty>| {
        let targs = own.iter().map(|ty| types.repr(*ty)).collect();
        Case { program, rule, targs, types: own }
    };
    let any = Case { program, rule, targs: vec![None; rule.tparams.len()], types: vec![] };
    let combinations = match any.needs_library() {
        true => sampled::combinations(program, all, rule),
        false => instances(all, rule),
    };
    match combinations {
        Some(combinations) => combinations.into_iter().map(case).collect(),
        None => vec![any],
    }
}

/// The type instances of a rule that are to be verified; `None`: its type parameters stand for no machine types.
fn instances(instances: &TypeInstances<'_>, rule: &Rule) -> Option<Vec<Vec<Ty>>> {
    let mut all = instances.combinations(rule)?;
    all.retain(|targs| obstacle(instances, rule, targs).is_none());
    Some(all)
}

/// Combinations of types at which a rule has no instance, by what is in its way.
pub(super) fn left_out(instances: &TypeInstances<'_>, rule: &Rule) -> BTreeMap<Obstacle, usize> {
    let all = instances.combinations(rule).unwrap_or_default();
    let mut counts = BTreeMap::new();
    for obstacle in all.iter().filter_map(|targs| obstacle(instances, rule, targs)) {
        *counts.entry(obstacle).or_default() += 1;
    }
    counts
}

/// What keeps a rule from having an instance at these types: a literal on the right counts, too.
fn obstacle(instances: &TypeInstances<'_>, rule: &Rule, targs: &[Ty]) -> Option<Obstacle> {
    let misfit = |term: &Term| instances.sense(term, targs) == Sense::LiteralTooLarge;
    let literal = || rule.right.terms().iter().any(misfit).then_some(Obstacle::Literal);
    instances.obstacle(rule, targs).or_else(literal)
}

/// What was found, without the time.
pub(super) struct Decision {
    pub(super) verdict: Verdict,
    pub(super) method: String,
    pub(super) reason: Option<Reason>,
    counterexample: Option<Counterexample>,
}

/// An instance that was verified.
pub(super) struct Verified {
    pub(super) report: InstanceReport,
    /// The solver had too few steps or too little time for it.
    pub(super) too_hard: bool,
}

/// What is behind a verdict.
pub(super) enum Reason {
    /// The solver's word against the evaluator's: a mistake of ours.
    Unconfirmed,
    /// The solver has no answer.
    Unanswered(Unanswered),
    /// Anything else, for people.
    Because(String),
}

impl Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::Unconfirmed => {
                f.write_str("the solver claims a counterexample that the evaluator does not confirm: report this")
            }
            Reason::Unanswered(reason) => reason.fmt(f),
            Reason::Because(reason) => f.write_str(reason),
        }
    }
}

impl From<Unanswered> for Reason {
    fn from(reason: Unanswered) -> Self {
        Reason::Unanswered(reason)
    }
}

impl From<String> for Reason {
    fn from(reason: String) -> Self {
        Reason::Because(reason)
    }
}

impl From<&str> for Reason {
    fn from(reason: &str) -> Self {
        Reason::Because(reason.into())
    }
}

impl Decision {
    fn new(verdict: Verdict, method: impl Into<String>) -> Self {
        Decision { verdict, method: method.into(), reason: None, counterexample: None }
    }

    /// Do solver and evaluator contradict each other?
    pub(super) fn unconfirmed(&self) -> bool {
        matches!(self.reason, Some(Reason::Unconfirmed))
    }

    /// Does the solver need more steps or time than it has?
    pub(super) fn too_hard(&self) -> bool {
        matches!(&self.reason, Some(Reason::Unanswered(reason)) if reason.is_too_hard())
    }

    fn because(mut self, reason: impl Into<Reason>) -> Self {
        self.reason = Some(reason.into());
        self
    }
}

impl Case<'_> {
    /// Tries values, then asks the solver, unless the operands are wider than what was too hard.
    pub(super) fn verify(&self, solver: &mut Solver, options: &Options, too_hard: u32) -> io::Result<Verified> {
        let begun = Instant::now();
        let mut found = self.decide(solver, options, too_hard)?;
        if let (Verdict::Unknown, false, Some(library)) = (found.verdict, found.unconfirmed(), self.refused()) {
            found = Decision::new(Verdict::NotRun, "none").because(needs(library));
        }
        let too_hard = found.too_hard();
        let report = InstanceReport {
            types: self.shown(),
            verdict: found.verdict,
            method: found.method,
            reason: found.reason.map(|reason| reason.to_string()),
            compiled: Compiled::NotRun("compiled code is not run here".into()),
            seconds: begun.elapsed().as_secs_f64(),
            counterexample: found.counterexample,
        };
        Ok(Verified { report, too_hard })
    }

    fn decide(&self, solver: &mut Solver, options: &Options, too_hard: u32) -> io::Result<Decision> {
        if self.rule.relaxation.is_some() || self.needs_library() {
            return self.executed(options);
        }
        if let Some(stated) = &self.rule.approximate {
            return Ok(match approximate::compare(self.concrete(), stated, options.effort()) {
                Closeness::Close(close, of) => {
                    let within = approximate::tolerance(stated);
                    let method = format!("{close} of {of} ordinary values agree within {within}");
                    Decision::new(Verdict::Tested, method).because(format!("gives up {}", stated.gives_up))
                }
                Closeness::Far(values, sides) => self.refuted(&values, sides, "ordinary values"),
                Closeness::Unknown => {
                    Decision::new(Verdict::Unknown, "none").because("no ordinary value could be tried")
                }
            });
        }
        let agreed = match self.tried(options.effort()) {
            Tried::Differ(values, sides) => return Ok(self.refuted(&values, sides, "values")),
            Tried::Agree(count) => count,
            Tried::CannotTry => 0,
        };
        if agreed > 0 && self.calls_outside() {
            let reason = "a library or the program computes a side";
            return Ok(Decision::new(Verdict::Tested, format!("{agreed} values")).because(reason));
        }
        let found = if self.widest() > too_hard {
            let reason = format!("out of steps or time at {too_hard} bits already");
            Decision::new(Verdict::Unknown, "none").because(reason)
        } else {
            self.prove(solver, agreed)?
        };
        match found {
            Decision { verdict: Verdict::Unknown, reason, .. } if !found.unconfirmed() => {
                self.prove_at_smaller_width(solver, options, reason)
            }
            found => Ok(found),
        }
    }

    /// Both sides compiled and run, on values that the pack says how to make. A statement that an `unsafe` rule lets go
    /// is not seen.
    fn executed(&self, options: &Options) -> io::Result<Decision> {
        let unsafe_rule = self.rule.relaxation.is_some();
        let licence = "an `unsafe` rule is a licence, not an equality: its author vouches for it";
        let unknown = |why: String| {
            let why = if unsafe_rule { format!("{licence}; its values: {why}") } else { why };
            Ok(Decision::new(Verdict::Unknown, "none").because(why))
        };
        let stated = self.rule.approximate.as_ref();
        let tolerance = stated.map(|stated| stated.tolerance.unwrap_or_else(|| approximate::usual(Scalar::F64)));
        let how = How { program: options.program.as_deref(), samples: options.samples, seed: options.seed, tolerance };
        match executed::run(self, how)? {
            Executed::Agree(Agreement { agreed, tried, not_compared, always, by, states_alike }) => {
                let within = stated.map_or("exactly".into(), |s| format!("within {}", approximate::tolerance(s)));
                let mut reasons: Vec<String> = stated.map(|s| format!("gives up {}", s.gives_up)).into_iter().collect();
                let what_goes = "its author vouches for what goes";
                reasons.push(if unsafe_rule { what_goes } else { "a library or the program computes a side" }.into());
                if !by.is_empty() {
                    reasons.push(format!("tried with {}", by.into_iter().collect::<Vec<_>>().join(", ")));
                }
                if states_alike {
                    let way_on = "further expressions of `@sample` are calls that change `it`";
                    reasons.push(format!("nothing happened between its states: {way_on}"));
                }
                if !always.is_empty() {
                    let shown = always.join(", ");
                    reasons.push(format!(
                        "`@observe` showed the same each time ({shown}): what it does not see is not compared"
                    ));
                }
                let mut method = format!("{agreed} of {tried} values of its pack agree {within}");
                if !not_compared.is_empty() {
                    let count: usize = not_compared.values().sum();
                    let _ = write!(method, ", {count} not compared: {}", executed::counted(&not_compared));
                }
                Ok(Decision::new(Verdict::Tested, method).because(reasons.join("; ")))
            }
            Executed::Differ(Difference { values, sides: [left, right], between_states }) => {
                let counterexample = Counterexample { values, left, right, example: None, between_states };
                let found = Decision::new(Verdict::Counterexample, "values of its pack");
                Ok(Decision { counterexample: Some(counterexample), ..found })
            }
            Executed::NotAllowed(library) => Ok(Decision::new(Verdict::NotRun, "none").because(needs(&library))),
            // It is allowed, and yet it cannot be run: a mistake in the pack or on this machine.
            Executed::CannotRun(why) if why.starts_with(CANNOT_LINK) => {
                Ok(Decision::new(Verdict::NotRun, "none").because(why))
            }
            Executed::CannotRun(why) => unknown(why),
        }
    }

    /// What the solver alone says; `agreed` assignments were found at which the rule matches.
    pub(super) fn prove(&self, solver: &mut Solver, agreed: usize) -> io::Result<Decision> {
        let unknown = |why: Reason| Ok(Decision::new(Verdict::Unknown, "solver").because(why));
        let mut question = match self.question() {
            Ok(question) => question,
            Err(OutOfScope(why)) => return unknown(why.into()),
        };
        let mut wrong = self.ask(solver, &mut question, Ask::Wrong)?;
        if matches!(wrong, Reply::Unknown(_)) && self.multiplies_and_shifts() {
            let encoding = Encoding { products: true, ..Encoding::PLAIN };
            if let Ok(mut products) = encode::question(self.program, self.rule, &self.targs, encoding)
                && self.ask(solver, &mut products, Ask::Wrong)?.is_no()
            {
                wrong = Reply::No;
            }
        }
        match wrong {
            Reply::No => self.conclude_unsat(solver, question, agreed),
            Reply::Yes(vars) => Ok(self.confirm_model(&question, &vars)),
            Reply::Unknown(why) => unknown(why.into()),
        }
    }

    /// No counterexample: can it fire, is it open, does it trap?
    fn conclude_unsat(&self, solver: &mut Solver, mut question: Question, agreed: usize) -> io::Result<Decision> {
        if agreed == 0 && self.ask(solver, &mut question, Ask::Fires)?.is_no() {
            return Ok(Decision::new(Verdict::CannotFire, "solver").because("its conditions contradict each other"));
        }
        let differs = if question.may_be_open() { self.ask(solver, &mut question, Ask::Differs)? } else { Reply::No };
        if let Reply::Unknown(why) = differs {
            return Ok(Decision::new(Verdict::Unknown, "solver").because(why));
        }
        if !differs.is_no() {
            // For some values one side is a NaN whose bits are unspecified, and the other is not, or is another one.
            for (side, other) in [(0, "right"), (1, "left")] {
                if self.ask(solver, &mut question, Ask::DiffersDespite(side))?.is_no()
                    && !self.ask(solver, &mut question, Ask::DiffersDespite(1 - side))?.is_no()
                {
                    let reason = format!("the {other} side is more defined: the other is a NaN with any bits");
                    return Ok(Decision::new(Verdict::OneWay, "solver").because(reason));
                }
            }
            let reason = "both sides depend on the bits of a NaN that arithmetic made, and on different ones";
            return Ok(Decision::new(Verdict::Unknown, "solver").because(reason));
        }
        match self.ask(solver, &mut question, Ask::TrapsMore)? {
            Reply::No => Ok(Decision::new(Verdict::Equal, "solver")),
            Reply::Yes(_) => {
                let reason = "the left side is more defined: the right one traps where it does not";
                Ok(Decision::new(Verdict::OneWay, "solver").because(reason))
            }
            Reply::Unknown(why) => Ok(Decision::new(Verdict::Unknown, "solver").because(why)),
        }
    }

    /// The solver has a counterexample: its values are run before it is believed.
    fn confirm_model(&self, question: &Question, assigned: &[(Assigned, Option<Assigned>)]) -> Decision {
        if let Some(why) = &question.uninterpreted {
            return Decision::new(Verdict::Unknown, "solver").because(why.clone());
        }
        let types = &self.program.universe.types;
        let bytes = |assigned: &Assigned| match assigned {
            Assigned::Bytes(bytes) => Bytes::holding(bytes),
            Assigned::Bits(_) => Bytes::default(),
        };
        let bits = |assigned: &Assigned| if let Assigned::Bits(bits) = assigned { *bits } else { 0 };
        let value = |(var, (assigned, provenance)): (&Var, &(Assigned, Option<Assigned>))| match &var.kind {
            VarKind::State => {
                let provenance = provenance.as_ref().map(bytes).unwrap_or_default();
                Value::State(Memory { bytes: bytes(assigned), provenance })
            }
            VarKind::Value { ty, .. } => {
                let raw = bits(assigned);
                let canonical = repr_of(types, ty, &self.targs).map_or(raw as i128, |repr| repr.canonical(raw));
                match provenance {
                    Some(provenance) => Value::Pointer { address: canonical, provenance: bits(provenance) as u64 },
                    None => Value::Bits(canonical),
                }
            }
        };
        let vars: Vec<Value> = self.rule.vars.iter().zip(assigned).map(value).collect();
        match self.concrete().compare(&vars) {
            Comparison::Different(left, right) => self.refuted(&vars, [left, right], "solver"),
            _ if question.tells_lanes => Decision::new(Verdict::Counterexample, "solver").because(
                "lanes differ; values that are run are the same in all lanes, so this is the solver's word alone",
            ),
            _ => Decision { reason: Some(Reason::Unconfirmed), ..Decision::new(Verdict::Unknown, "solver") },
        }
    }

    fn refuted(&self, values: &[Value], sides: [Value; 2], method: &str) -> Decision {
        let counterexample = print::counterexample(self, values, sides);
        Decision { counterexample: Some(counterexample), ..Decision::new(Verdict::Counterexample, method) }
    }

    /// The same rule with all widths divided: a proof of the idea, beside values at the real widths.
    pub(super) fn prove_at_smaller_width(
        &self,
        solver: &mut Solver,
        options: &Options,
        why: Option<Reason>,
    ) -> io::Result<Decision> {
        let widest = self.widest();
        // Without a proof at this width, more values are due.
        let effort = Effort { samples: MORE * options.samples, exhaustive: 1 << 16, ..options.effort() };
        let agreed = match self.tried(effort) {
            Tried::Differ(values, sides) => return Ok(self.refuted(&values, sides, "values")),
            Tried::Agree(count) => count,
            Tried::CannotTry => 0,
        };
        for width in SMALLER {
            if agreed == 0 || widest <= width || !widest.is_multiple_of(width) {
                continue;
            }
            let encoding = Encoding { shrink: widest / width, ..Encoding::PLAIN };
            let Ok(mut small) = encode::question(self.program, self.rule, &self.targs, encoding) else { continue };
            if self.ask(solver, &mut small, Ask::Wrong)?.is_no()
                && matches!(self.ask(solver, &mut small, Ask::Fires)?, Reply::Yes(_))
                && self.ask(solver, &mut small, Ask::Differs)?.is_no()
                && self.ask(solver, &mut small, Ask::TrapsMore)?.is_no()
            {
                let method = format!("solver at {width} bits, {agreed} values");
                return Ok(Decision { reason: why, ..Decision::new(Verdict::Narrower, method) });
            }
        }
        let method = if agreed > 0 { format!("{agreed} values") } else { "none".into() };
        Ok(Decision { reason: why, ..Decision::new(Verdict::Unknown, method) })
    }

    fn ask(&self, solver: &mut Solver, question: &mut Question, ask: Ask) -> io::Result<Reply> {
        let Some(script) = question.script(ask) else { return Ok(Reply::No) };
        let hard = HARD.iter().any(|symbol| script.text.contains(symbol));
        let mut reply = self.answer(solver, question, &script, 1)?;
        if matches!(reply, Reply::Unknown(_))
            && let Some(found) = self.case_split(solver, question, ask, &script)?
        {
            reply = found;
        }
        if matches!(reply, Reply::Unknown(_)) && !hard {
            reply = self.answer(solver, question, &script, PATIENCE)?;
        }
        Ok(reply)
    }

    /// The question once for each value of a few bits on which much depends, where it has such: with an amount that is
    /// known a rotation only renames bits, and with an exponent that is known a float is an integer. `None`: one of
    /// these is too hard as well.
    fn case_split(
        &self,
        solver: &mut Solver,
        question: &mut Question,
        ask: Ask,
        whole: &Asserted,
    ) -> io::Result<Option<Reply>> {
        let Some(part) = question.part(&whole.declared) else { return Ok(None) };
        for value in 0..1 << part.width() {
            let Some(script) = question.script_where(ask, part, value) else { continue };
            match self.answer(solver, question, &script, 1)? {
                Reply::No => {}
                Reply::Yes(vars) => return Ok(Some(Reply::Yes(vars))),
                Reply::Unknown(_) => return Ok(None),
            }
        }
        Ok(Some(Reply::No))
    }

    fn answer(&self, solver: &mut Solver, question: &Question, script: &Asserted, patience: u64) -> io::Result<Reply> {
        let names: Vec<&str> = script.declared.iter().map(String::as_str).collect();
        Ok(match solver.ask(&script.text, &names, patience)? {
            Answer::Sat(values) => Reply::Yes(question.assignment(&script.declared, &values)),
            Answer::Unsat => Reply::No,
            Answer::Unknown(why) => Reply::Unknown(why),
        })
    }
}

/// An answer to a question about a rule.
enum Reply {
    /// With the rule's variables.
    Yes(Vec<(Assigned, Option<Assigned>)>),
    No,
    Unknown(Unanswered),
}

impl Reply {
    fn is_no(&self) -> bool {
        matches!(self, Reply::No)
    }
}
