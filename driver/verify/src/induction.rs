//! Rules about what loops carry, by induction over iterations: each becomes two rules about plain values.
//!
//! One side of such a rule is a recurrence `rec(l, first, step)`, or `theta`; the other one, the *expression*, may hold
//! recurrences of the same loop. In the first iteration the recurrence is `first`, and in the one after an iteration in
//! which both sides are equal it is its function of the expression and `step`. So the sides are equal in all iterations if
//!
//! * **base**: the expression over the first values of its recurrences is `first`;
//! * **step**: the recurrence's function of the expression and `step` is the expression over the next values of its
//!   recurrences, whatever they are now.
//!
//! What is not known to enter the loop (`enters`) may be one thing before the loop, another in an iteration, and another
//! in the next one.
//!
//! The step asks for more than is needed: it is about all values, also those that no run reaches. It refutes a rule only
//! where the base holds and every recurrence begins with a variable of its own: then the values are those of a first
//! iteration. Elsewhere both sides are followed through the first iterations, from the first values on.

use super::report::{Counterexample, InstanceReport, Verdict};
use rewright_dsl::program::{Conclusion, Guard, LoopFact, Program, Rule, Var, VarKind};
use rewright_typeprop::ops::LoopRole;
use rewright_typeprop::{OpId, Term, TypeExpr};
use std::collections::BTreeSet;

/// What is to be shown of a rule about loops.
pub(super) struct Induction {
    pub(super) base: Rule,
    pub(super) step: Rule,
    /// Both sides in the second iteration and in the third.
    pub(super) later: [Rule; 2],
    /// Every value of the step's recurrences is that of some first iteration.
    reached: bool,
}

/// Why a rule about loops is not shown by induction.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub(super) enum NoInduction {
    #[error("no side is a recurrence")]
    NoRecurrence,
    #[error("it speaks of several loops")]
    SeveralLoops,
    #[error("the first value of a recurrence is a recurrence of the same loop")]
    First,
    #[error("it has a condition that is no fact about loops")]
    Condition,
    #[error("it concludes a fact, computes while matching, or speaks of states")]
    Form,
}

/// What variables are called that are not one thing at all times: in an iteration, before the loop, in the next iteration
/// and in the one after that.
const SUFFIXES: [&str; 4] = ["", " before the loop", " one iteration later", " two iterations later"];

/// How many of these there are.
const COPIES: u32 = SUFFIXES.len() as u32;

/// Which of two iterations that follow each other a term speaks of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Moment {
    /// An iteration.
    Now,
    /// The one after it.
    Next,
}

/// A recurrence of an expression, or what a loop carries in another way.
#[derive(Clone, PartialEq)]
struct Carried {
    op: OpId,
    targs: Vec<TypeExpr>,
    first: Term,
    /// What the next value takes: a step, or all of it.
    by: Term,
}

struct Rewriter<'p> {
    program: &'p Program,
    rule: &'p Rule,
    enters: BTreeSet<u32>,
    /// The variable that is what `theta` on the left carries.
    own: Option<u32>,
    carried: Vec<Carried>,
}

/// What is to be shown of a rule; `None` where it is not about loops.
pub(super) fn induction(program: &Program, rule: &Rule) -> Option<Result<Induction, NoInduction>> {
    rule.is_about_loops(&program.universe).then(|| Rewriter::new(program, rule)?.induction())
}

impl<'p> Rewriter<'p> {
    fn new(program: &'p Program, rule: &'p Rule) -> Result<Self, NoInduction> {
        let mut loops = BTreeSet::new();
        for term in rule.terms().flat_map(Term::subterms) {
            if let Term::Call { op, args, .. } = term
                && program.universe.ops.get(*op).in_loop.is_some()
            {
                match args.first() {
                    Some(Term::Var(l)) => _ = loops.insert(*l),
                    _ => return Err(NoInduction::SeveralLoops),
                }
            }
        }
        let &[of] = loops.into_iter().collect::<Vec<_>>().as_slice() else { return Err(NoInduction::SeveralLoops) };
        let constant = |var: &Var| matches!(var.kind, VarKind::Value { constant: true, .. });
        let constants = (0u32..).zip(&rule.vars).filter(|(_, var)| constant(var)).map(|(n, _)| n);
        let mut enters: BTreeSet<u32> = constants.collect();
        let mut own = None;
        for guard in &rule.guards {
            match guard {
                Guard::Fact(fact, terms) => match (program.facts[fact.0 as usize].filled, &terms[..]) {
                    (Some(LoopFact::Enters), [Term::Var(x), Term::Var(l)]) if *l == of => _ = enters.insert(*x),
                    (Some(LoopFact::Enters | LoopFact::Plain), _) => {}
                    (None, _) => return Err(NoInduction::Condition),
                },
                Guard::Class { same: true, left: Term::Var(x), right } if rule.left.first() == Some(right) => {
                    own = Some(*x);
                }
                _ => return Err(NoInduction::Condition),
            }
        }
        Ok(Rewriter { program, rule, enters, own, carried: vec![] })
    }

    fn role(&self, term: &Term) -> Option<LoopRole> {
        match term {
            Term::Call { op, .. } => self.program.universe.ops.get(*op).in_loop,
            _ => None,
        }
    }

    fn induction(mut self) -> Result<Induction, NoInduction> {
        let ([left], Conclusion::Equal(right)) = (&self.rule.left[..], &self.rule.right) else {
            return Err(NoInduction::Form);
        };
        let is_recurrence = |term: &Term| matches!(self.role(term), Some(LoopRole::Recurrence(_)));
        let (recurrence, expression) = match (is_recurrence(left), is_recurrence(right)) {
            (_, true) => (right, left),
            (true, false) => (left, right),
            (false, false) => return Err(NoInduction::NoRecurrence),
        };
        let Some(LoopRole::Recurrence(function)) = self.role(recurrence) else { return Err(NoInduction::NoRecurrence) };
        let Term::Call { targs, args, .. } = recurrence else { return Err(NoInduction::NoRecurrence) };
        let [_, first, by] = &args[..] else { return Err(NoInduction::NoRecurrence) };
        let apply =
            |x: Term, by: Term| Term::Call { op: function, targs: targs.clone(), args: vec![x, by], state: None };
        let base = (self.after(expression, 0)?, self.before(first)?);
        let now = self.at(expression, Moment::Now)?;
        let step = (apply(now, self.at(by, Moment::Now)?), self.at(expression, Moment::Next)?);
        let later = [1, 2].map(|k| Ok((self.after(recurrence, k)?, self.after(expression, k)?)));
        let begins: Vec<&Term> = self.carried.iter().map(|carried| &carried.first).collect();
        let is_free = |n: usize| match begins[n] {
            Term::Var(x) => !self.enters.contains(x) && !begins[..n].contains(&begins[n]),
            _ => false,
        };
        let reached = (0..begins.len()).all(is_free);
        let [second, third] = later;
        Ok(Induction {
            base: self.rule_of("base", base),
            step: self.rule_of("step", step),
            later: [self.rule_of("second iteration", second?), self.rule_of("third iteration", third?)],
            reached,
        })
    }

    /// What a term is after so many iterations, from the first values of its recurrences on.
    fn after(&self, term: &Term, iterations: u32) -> Result<Term, NoInduction> {
        let count = self.rule.vars.len() as u32;
        match term {
            Term::Var(x) if Some(*x) == self.own => self.after(&self.rule.left[0], iterations),
            Term::Var(x) if self.enters.contains(x) => Ok(Term::Var(*x)),
            Term::Var(x) => Ok(Term::Var(match iterations {
                0 => *x,
                n => x + (n + 1) * count,
            })),
            Term::Lit(..) => Ok(term.clone()),
            Term::Call { op, targs, args, state: None } => match (self.role(term), &args[..]) {
                (None, _) => {
                    let args = args.iter().map(|arg| self.after(arg, iterations)).collect::<Result<_, _>>()?;
                    Ok(Term::Call { op: *op, targs: targs.clone(), args, state: None })
                }
                (Some(_), [_, first, _]) if iterations == 0 => self.before(first),
                (Some(LoopRole::Theta), [_, _, next]) => self.after(next, iterations - 1),
                (Some(LoopRole::Recurrence(function)), [_, _, by]) => {
                    let args = vec![self.after(term, iterations - 1)?, self.after(by, iterations - 1)?];
                    Ok(Term::Call { op: function, targs: targs.clone(), args, state: None })
                }
                (Some(_), _) => Err(NoInduction::Form),
            },
            Term::Call { .. } | Term::Eval(_) => Err(NoInduction::Form),
        }
    }

    /// What a term is before the loop, where no recurrence of it has a value.
    fn before(&self, term: &Term) -> Result<Term, NoInduction> {
        let count = self.rule.vars.len() as u32;
        match term {
            Term::Var(x) if Some(*x) == self.own => Err(NoInduction::First),
            Term::Var(x) if self.enters.contains(x) => Ok(Term::Var(*x)),
            Term::Var(x) => Ok(Term::Var(x + count)),
            Term::Lit(..) => Ok(term.clone()),
            Term::Call { .. } if self.role(term).is_some() => Err(NoInduction::First),
            Term::Call { op, targs, args, state: None } => {
                let args = args.iter().map(|arg| self.before(arg)).collect::<Result<_, _>>()?;
                Ok(Term::Call { op: *op, targs: targs.clone(), args, state: None })
            }
            Term::Call { .. } | Term::Eval(_) => Err(NoInduction::Form),
        }
    }

    /// What a term is in an iteration or the next one, whatever the recurrences are now: each has a variable of its own.
    fn at(&mut self, term: &Term, moment: Moment) -> Result<Term, NoInduction> {
        let count = self.rule.vars.len() as u32;
        match term {
            Term::Var(x) if Some(*x) == self.own => Ok(Term::Var(COPIES * count)),
            Term::Var(x) if self.enters.contains(x) => Ok(Term::Var(*x)),
            Term::Var(x) => Ok(Term::Var(match moment {
                Moment::Now => *x,
                Moment::Next => x + 2 * count,
            })),
            Term::Lit(..) => Ok(term.clone()),
            Term::Call { op, targs, args, state: None } => {
                let Some(role) = self.role(term) else {
                    let args = args.iter().map(|arg| self.at(arg, moment)).collect::<Result<_, _>>()?;
                    return Ok(Term::Call { op: *op, targs: targs.clone(), args, state: None });
                };
                let [_, first, by] = &args[..] else { return Err(NoInduction::Form) };
                let carried = Carried { op: *op, targs: targs.clone(), first: first.clone(), by: by.clone() };
                let number = self.carried.iter().position(|known| *known == carried).unwrap_or_else(|| {
                    self.carried.push(carried);
                    self.carried.len() - 1
                });
                let now = Term::Var(COPIES * count + number as u32);
                match (moment, role) {
                    (Moment::Next, LoopRole::Theta) => self.at(by, Moment::Now),
                    (Moment::Next, LoopRole::Recurrence(function)) => {
                        let args = vec![now, self.at(by, Moment::Now)?];
                        Ok(Term::Call { op: function, targs: targs.clone(), args, state: None })
                    }
                    (Moment::Now, _) => Ok(now),
                }
            }
            Term::Call { .. } | Term::Eval(_) => Err(NoInduction::Form),
        }
    }

    /// A rule about values, over those variables that its sides have.
    fn rule_of(&self, part: &str, (left, right): (Term, Term)) -> Rule {
        let mut vars: Vec<Var> = vec![];
        for suffix in SUFFIXES {
            vars.extend(self.rule.vars.iter().map(|var| Var { name: format!("{}{suffix}", var.name), ..var.clone() }));
        }
        for (n, carried) in self.carried.iter().enumerate() {
            let op = self.program.universe.ops.get(carried.op);
            let ty = op.params[1].ty.substitute(&mut |i| carried.targs[i as usize].clone());
            vars.push(Var { name: format!("recurrence {}", n + 1), kind: VarKind::Value { ty, constant: false } });
        }
        let used: BTreeSet<u32> = left.variables().chain(right.variables()).collect();
        let number = |x: u32| used.iter().position(|own| *own == x).unwrap_or_default() as u32;
        let mut renumber = |x: u32| Term::Var(number(x));
        let mut same = TypeExpr::Param;
        let left = left.substitute(&mut renumber, &mut same);
        let right = right.substitute(&mut renumber, &mut same);
        let vars = used.iter().map(|x| vars[*x as usize].clone()).collect();
        Rule {
            family: self.rule.family,
            span: self.rule.span,
            tparams: self.rule.tparams.clone(),
            ..Rule::new(format!("{} ({part})", self.rule.name), vars, vec![left], Conclusion::Equal(right))
        }
    }
}

impl Induction {
    /// What follows at each instance from what was found of base and step.
    pub(super) fn verdicts(&self, base: Vec<InstanceReport>, step: Vec<InstanceReport>) -> Vec<InstanceReport> {
        base.into_iter().zip(step).map(|(base, step)| self.verdict(base, step)).collect()
    }

    /// Are the first iterations to be looked at? Not where base and step decide.
    pub(super) fn is_open(&self, base: &[InstanceReport], step: &[InstanceReport]) -> bool {
        let fails = |(base, step): (&InstanceReport, &InstanceReport)| {
            base.verdict != Verdict::Counterexample && step.verdict == Verdict::Counterexample
        };
        !self.reached && base.iter().zip(step).any(fails)
    }

    /// The verdicts, but for instances at which the sides differ in a later iteration.
    pub(super) fn refuted(verdicts: Vec<InstanceReport>, later: Vec<InstanceReport>) -> Vec<InstanceReport> {
        let verdicts = verdicts.into_iter().zip(later);
        let verdict = |(known, later): (InstanceReport, InstanceReport)| match later.verdict {
            Verdict::Counterexample if known.verdict < Verdict::Counterexample => {
                let seconds = known.seconds + later.seconds;
                InstanceReport { seconds, ..inductive(later, "a later iteration") }
            }
            _ => known,
        };
        verdicts.map(verdict).collect()
    }

    fn verdict(&self, base: InstanceReport, step: InstanceReport) -> InstanceReport {
        let seconds = base.seconds + step.seconds;
        let refutes = self.reached && base.verdict == Verdict::Equal;
        let (part, worse) = match (base.verdict, step.verdict) {
            (_, Verdict::Counterexample) if !refutes && base.verdict != Verdict::Counterexample => {
                let reason = "the step of the induction fails at values that no run may reach".to_string();
                let verdict = base.verdict.max(Verdict::Unknown);
                let reason = Some(reason);
                return InstanceReport { verdict, reason, seconds, counterexample: None, ..step };
            }
            (first, second) if first >= second => ("base", base),
            _ => ("step", step),
        };
        InstanceReport { seconds, ..inductive(worse, part) }
    }
}

/// What was found of a part of an induction, said of the rule.
fn inductive(found: InstanceReport, part: &str) -> InstanceReport {
    let reason = match found.verdict {
        Verdict::Equal => found.reason,
        _ => Some(found.reason.map_or_else(|| part.to_string(), |reason| format!("{part}: {reason}"))),
    };
    // An example for a pack would have to be a loop.
    let counterexample = found.counterexample.map(|found| Counterexample { example: None, ..found });
    InstanceReport { method: format!("induction, {}", found.method), reason, counterexample, ..found }
}
