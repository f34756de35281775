//! One rule: values first, then the solver, instance by instance.

use super::concrete::{Bytes, Comparison, Concrete, Value};
use super::encode::{Ask, OutOfScope, Question, question};
use super::report::{Counterexample, Instance, Verdict};
use super::sample::{Tried, try_values};
use super::smt::solver::{Answer, Solver};
use super::{Options, print};
use rewright_dsl::instances::{Sense, TypeInstances};
use rewright_dsl::program::{Conclusion, Program, Rule, VarKind};
use rewright_typeprop::{Scalar, Ty};
use std::io;
use std::time::Instant;

/// Widths at which to prove what is too hard at the machine's: those of the widest operand.
const SMALLER: [u32; 2] = [16, 8];

/// The type instances of a rule that are to be verified; `None`: its type parameters stand for no machine types.
pub(super) fn instances(instances: &TypeInstances<'_>, rule: &Rule) -> Option<Vec<Vec<Ty>>> {
    let mut all = instances.combinations(rule)?;
    let right_fits = |targs: &[Ty]| match &rule.right {
        Conclusion::Equal(right) => instances.sense(right, targs) != Sense::LiteralTooLarge,
        Conclusion::Fact(_, args) => args.iter().all(|a| instances.sense(a, targs) != Sense::LiteralTooLarge),
    };
    all.retain(|targs| instances.admits(rule, targs) && right_fits(targs));
    Some(all)
}

/// A rule at one instance.
pub(super) struct Case<'p> {
    pub(super) program: &'p Program,
    pub(super) rule: &'p Rule,
    /// `None` for a type without representation.
    pub(super) targs: Vec<Option<Scalar>>,
    /// The types for people and examples; empty where the instance stands for all types.
    pub(super) types: Vec<Ty>,
}

/// What was found, without the time.
struct Found {
    verdict: Verdict,
    method: String,
    reason: Option<String>,
    counterexample: Option<Counterexample>,
}

impl Found {
    fn new(verdict: Verdict, method: impl Into<String>) -> Self {
        Found { verdict, method: method.into(), reason: None, counterexample: None }
    }

    fn because(mut self, reason: impl Into<String>) -> Self {
        self.reason = Some(reason.into());
        self
    }
}

impl Case<'_> {
    /// The question that settles it, if it can be asked.
    pub(super) fn question(&self) -> Result<Question, OutOfScope> {
        question(self.program, self.rule, &self.targs, 1)
    }

    fn concrete(&self) -> Concrete<'_> {
        Concrete { program: self.program, rule: self.rule, targs: &self.targs }
    }

    pub(super) fn shown(&self) -> Vec<String> {
        let types = &self.program.universe.types;
        let named = self.rule.tparams.iter().zip(&self.types);
        named.map(|(p, ty)| format!("{} = {}", p.name, types.display(*ty))).collect()
    }

    /// Tries values, then asks the solver, unless the operands are wider than what was too hard.
    pub(super) fn verify(&self, solver: &mut Solver, options: &Options, too_hard: u32) -> io::Result<Instance> {
        let begun = Instant::now();
        let found = self.found(solver, options, too_hard)?;
        Ok(Instance {
            types: self.shown(),
            verdict: found.verdict,
            method: found.method,
            reason: found.reason,
            seconds: begun.elapsed().as_secs_f64(),
            counterexample: found.counterexample,
        })
    }

    fn found(&self, solver: &mut Solver, options: &Options, too_hard: u32) -> io::Result<Found> {
        if self.rule.relaxation.is_some() {
            let reason = "an `unsafe` rule is a licence, not an equality: its author vouches for it";
            return Ok(Found::new(Verdict::Unknown, "none").because(reason));
        }
        let tried = if options.samples == 0 {
            Tried::Agree(0)
        } else {
            try_values(self.concrete(), options.samples, options.seed)
        };
        let agreed = match tried {
            Tried::Differ(values, sides) => return Ok(self.refuted(&values, Some(sides), "values")),
            Tried::Agree(count) => count,
            Tried::CannotTry => 0,
        };
        if self.widest() > too_hard {
            return self.narrower(solver, agreed, format!("out of steps or time at {too_hard} bits already"));
        }
        let mut question = match self.question() {
            Ok(question) => question,
            Err(OutOfScope(why)) => return self.narrower(solver, agreed, why),
        };
        match self.ask(solver, &mut question, Ask::Wrong)? {
            Reply::No => self.settled(solver, question, agreed),
            Reply::Yes(values) => Ok(self.claimed(&question, &values)),
            Reply::Unknown(why) => self.narrower(solver, agreed, why),
        }
    }

    /// No counterexample: can it fire, is it open, does it trap?
    fn settled(&self, solver: &mut Solver, mut question: Question, agreed: usize) -> io::Result<Found> {
        if agreed == 0 && self.ask(solver, &mut question, Ask::Fires)? == Reply::No {
            return Ok(Found::new(Verdict::CannotFire, "solver").because("its conditions contradict each other"));
        }
        let differs = if question.may_be_open() { self.ask(solver, &mut question, Ask::Differs)? } else { Reply::No };
        if let Reply::Unknown(why) = differs {
            return self.narrower(solver, agreed, why);
        }
        if differs != Reply::No {
            // Somewhere one side is a NaN whose bits nobody may rely on, and the other is not, or another.
            for (side, other) in [(0, "right"), (1, "left")] {
                if self.ask(solver, &mut question, Ask::DiffersDespite(side))? == Reply::No
                    && self.ask(solver, &mut question, Ask::DiffersDespite(1 - side))? != Reply::No
                {
                    let reason = format!("the {other} side is more defined: the other is a NaN with any bits");
                    return Ok(Found::new(Verdict::OneWay, "solver").because(reason));
                }
            }
            let reason = "both sides depend on the bits of a NaN that arithmetic made, and on different ones";
            return Ok(Found::new(Verdict::Unknown, "solver").because(reason));
        }
        match self.ask(solver, &mut question, Ask::TrapsMore)? {
            Reply::No => Ok(Found::new(Verdict::Equal, "solver")),
            Reply::Yes(_) => {
                let reason = "the left side is more defined: the right one traps where it does not";
                Ok(Found::new(Verdict::OneWay, "solver").because(reason))
            }
            Reply::Unknown(why) => Ok(Found::new(Verdict::Unknown, "solver").because(why)),
        }
    }

    /// The solver has a counterexample: values are run before anybody believes it.
    fn claimed(&self, question: &Question, values: &[Option<u64>]) -> Found {
        if let Some(why) = &question.uninterpreted {
            return Found::new(Verdict::Unknown, "solver").because(why.clone());
        }
        let mut vars: Vec<Value> = vec![Value::State(Bytes::default()); self.rule.vars.len()];
        for ((position, _), value) in question.names().into_iter().zip(values) {
            let VarKind::Value { ty, .. } = &self.rule.vars[position].kind else { continue };
            let scalar = rewright_typeprop::eval::scalar_of(&self.program.universe.types, ty, &self.targs);
            let (Some(scalar), Some(value)) = (scalar, value) else { continue };
            vars[position] = Value::Bits(scalar.canonical(*value));
        }
        match self.concrete().compare(&vars) {
            Comparison::Different(left, right) => self.refuted(&vars, Some([left, right]), "solver"),
            // What memory holds is the solver's choice, and it has not been asked for all of it.
            _ if vars.iter().any(|v| matches!(v, Value::State(_))) => self.refuted(&vars, None, "solver"),
            other => Found::new(Verdict::Unknown, "solver").because(format!(
                "the solver claims a counterexample that the evaluator does not confirm ({other:?}): report this"
            )),
        }
    }

    fn refuted(&self, values: &[Value], sides: Option<[Value; 2]>, method: &str) -> Found {
        let counterexample = print::counterexample(self, values, sides);
        Found { counterexample: Some(counterexample), ..Found::new(Verdict::Counterexample, method) }
    }

    /// The same rule with all widths divided: a proof of the idea, beside values at the real widths.
    fn narrower(&self, solver: &mut Solver, agreed: usize, why: String) -> io::Result<Found> {
        let widest = self.widest();
        for width in SMALLER {
            if agreed == 0 || widest <= width || !widest.is_multiple_of(width) {
                continue;
            }
            let Ok(mut small) = question(self.program, self.rule, &self.targs, widest / width) else { continue };
            if self.ask(solver, &mut small, Ask::Wrong)? == Reply::No
                && matches!(self.ask(solver, &mut small, Ask::Fires)?, Reply::Yes(_))
                && self.ask(solver, &mut small, Ask::Differs)? == Reply::No
                && self.ask(solver, &mut small, Ask::TrapsMore)? == Reply::No
            {
                let method = format!("solver at {width} bits, {agreed} values");
                return Ok(Found::new(Verdict::Narrower, method).because(why));
            }
        }
        let method = if agreed > 0 { format!("{agreed} values") } else { "none".into() };
        Ok(Found::new(Verdict::Unknown, method).because(why))
    }

    /// The width of the widest operand.
    pub(super) fn widest(&self) -> u32 {
        let types = &self.program.universe.types;
        let own = self.rule.vars.iter().filter_map(|v| match &v.kind {
            VarKind::Value { ty, .. } => rewright_typeprop::eval::scalar_of(types, ty, &self.targs),
            VarKind::State => None,
        });
        own.chain(self.targs.iter().copied().flatten()).map(Scalar::bits).max().unwrap_or(0)
    }

    fn ask(&self, solver: &mut Solver, question: &mut Question, ask: Ask) -> io::Result<Reply> {
        let Some(script) = question.script(ask) else { return Ok(Reply::No) };
        let names: Vec<&str> = question.names().into_iter().map(|(_, name)| name).collect();
        Ok(match solver.ask(&script, &names)? {
            Answer::Sat(values) => Reply::Yes(values),
            Answer::Unsat => Reply::No,
            Answer::Unknown(why) => Reply::Unknown(why),
        })
    }
}

/// An answer to a question about a rule.
#[derive(PartialEq, Eq, Debug)]
enum Reply {
    /// With the values of the rule's variables that are bit vectors.
    Yes(Vec<Option<u64>>),
    No,
    Unknown(String),
}
