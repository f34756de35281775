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
//! in the next one. The step is about iterations that another one follows: there what the loop goes on for holds (`stays`),
//! and a counter is not about to wrap (`counts`).
//!
//! The value that a loop is left with (`leave`) is its value in an iteration, so a rule about that holds if it does without
//! `leave`; outside of `leave` there may be only what enters. How often a loop goes on is another matter: see
//! [`mod@exit`].
//!
//! The step asks for more than is needed: it is about all values, also those that no run reaches. It refutes a rule only
//! where the base holds and every recurrence begins with a variable of its own, or counts the iterations: then some run
//! comes to these values, and if both sides were equal up to there, they differ in the next iteration. Elsewhere both sides are followed through the first iterations, from the first values on.

mod exit;
mod verdict;

pub(super) use verdict::exit_verdicts;

use rewright_dsl::program::{Conclusion, Guard, LoopFact, Program, Rule, Var, VarKind};
use rewright_typeprop::ops::LoopRole;
use rewright_typeprop::term::Literal;
use rewright_typeprop::{Model, OpId, Term, TypeExpr};
use std::collections::BTreeSet;

/// How a rule about loops is shown.
pub(super) enum Proof {
    /// In all iterations.
    Induction(Box<Induction>),
    /// Where the loop is left: then, and not before.
    Exit(Box<[Rule; 2]>),
}

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
    #[error("it says of what varies in a loop what holds when the loop is left")]
    Outside,
    #[error("it asks while what the loop goes on, and gives no number of iterations")]
    Exit,
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

/// What holds in an iteration that another one follows.
enum Follows {
    /// This is not zero.
    NotZero(Term),
    /// This is not the greatest unsigned number.
    NotGreatest(Term),
}

struct Rewriter<'p> {
    program: &'p Program,
    rule: &'p Rule,
    enters: BTreeSet<u32>,
    /// The variable that is what `theta` on the left carries.
    own: Option<u32>,
    /// What holds in iterations that another one follows.
    follows: Vec<Follows>,
    /// How often the loop goes on.
    trips: Option<u32>,
    /// Some term is what the loop is left with.
    is_left: bool,
    carried: Vec<Carried>,
}

/// What is to be shown of a rule; `None` where it is not about loops.
pub(super) fn induction(program: &Program, rule: &Rule) -> Option<Result<Proof, NoInduction>> {
    rule.is_about_loops(&program.universe).then(|| {
        let rewriter = Rewriter::new(program, rule)?;
        if rewriter.is_left && rewriter.asks_for_the_end() {
            return rewriter.exit().map(|parts| Proof::Exit(Box::new(parts)));
        }
        rewriter.induction().map(|induction| Proof::Induction(Box::new(induction)))
    })
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
        let (mut own, mut trips, mut follows) = (None, None, vec![]);
        for guard in &rule.guards {
            match guard {
                Guard::Fact(fact, terms) => match (program.facts[fact.0 as usize].filled, &terms[..]) {
                    (Some(LoopFact::Enters), [Term::Var(x), Term::Var(l)]) if *l == of => _ = enters.insert(*x),
                    (Some(LoopFact::Stays), [test, Term::Var(l)]) if *l == of => {
                        follows.push(Follows::NotZero(test.clone()));
                    }
                    (Some(LoopFact::Counts), [counter, Term::Var(l)]) if *l == of => {
                        follows.push(Follows::NotGreatest(counter.clone()));
                    }
                    (Some(LoopFact::Trips), [Term::Var(k), Term::Var(l)]) if *l == of => trips = Some(*k),
                    // To know less is no mistake.
                    (Some(_), _) => {}
                    (None, _) => return Err(NoInduction::Condition),
                },
                Guard::Class { same: true, left: Term::Var(x), right } if rule.left.first() == Some(right) => {
                    own = Some(*x);
                }
                _ => return Err(NoInduction::Condition),
            }
        }
        let is_leave = |term: &Term| match term {
            Term::Call { op, .. } => program.universe.ops.get(*op).in_loop == Some(LoopRole::Leave),
            _ => false,
        };
        let is_left = rule.terms().flat_map(Term::subterms).any(is_leave);
        Ok(Rewriter { program, rule, enters, own, follows, trips, is_left, carried: vec![] })
    }

    fn asks_for_the_end(&self) -> bool {
        self.trips.is_some() || self.follows.iter().any(|follows| matches!(follows, Follows::NotZero(_)))
    }

    /// A side without `leave`, which may be around all that varies.
    fn stripped(&self, term: &Term, is_inside: bool) -> Result<Term, NoInduction> {
        match (term, self.role(term)) {
            _ if !self.is_left => Ok(term.clone()),
            (Term::Call { args, .. }, Some(LoopRole::Leave)) if !is_inside => self.stripped(&args[1], true),
            (_, Some(LoopRole::Leave)) => Err(NoInduction::Form),
            (_, Some(_)) if !is_inside => Err(NoInduction::Outside),
            (Term::Var(x), _) if !is_inside && !self.enters.contains(x) => Err(NoInduction::Outside),
            (Term::Call { op, targs, args, state: None }, _) => {
                let args = args.iter().map(|arg| self.stripped(arg, is_inside)).collect::<Result<_, _>>()?;
                Ok(Term::Call { op: *op, targs: targs.clone(), args, state: None })
            }
            (Term::Call { .. } | Term::Eval(_), _) => Err(NoInduction::Form),
            (Term::Var(_) | Term::Lit(..), _) => Ok(term.clone()),
        }
    }

    /// Is it one thing before the loop and in all iterations?
    fn is_entering(&self, term: &Term) -> bool {
        let enters = |x: u32| self.enters.contains(&x) && Some(x) != self.own;
        term.variables().all(enters) && term.subterms().all(|part| self.role(part).is_none())
    }

    /// The operation on two values of one type with a meaning.
    fn operation(&self, model: Model) -> Result<OpId, NoInduction> {
        let own =
            |op: &rewright_typeprop::Op| op.tparams.len() == 1 && op.params.iter().all(|p| p.ty == TypeExpr::Param(0));
        let mut ops = self.program.universe.ops.iter();
        ops.find(|(_, op)| op.model == Some(model) && own(op)).map(|(id, _)| id).ok_or(NoInduction::Form)
    }

    /// `first + k * by`.
    fn linear(&self, targs: &[TypeExpr], first: &Term, by: &Term, k: Term) -> Result<Term, NoInduction> {
        let call = |op, x, y| Term::Call { op, targs: targs.to_vec(), args: vec![x, y], state: None };
        let product = call(self.operation(Model::Mul)?, k, by.clone());
        Ok(call(self.operation(Model::Add)?, first.clone(), product))
    }

    /// A sum whose first value and step enter, by the number of iterations that are over; `None` for other things, and for
    /// that number itself.
    fn by_count(&mut self, term: &Term, moment: Moment) -> Result<Option<Term>, NoInduction> {
        let Term::Call { op, targs, args, .. } = term else { return Ok(None) };
        let Some(LoopRole::Recurrence(function)) = self.role(term) else { return Ok(None) };
        let [l, first, by] = &args[..] else { return Ok(None) };
        let is_sum = self.program.universe.ops.get(function).model == Some(Model::Add);
        if !self.is_left || !is_sum || is_count(first, by) || !self.is_entering(first) || !self.is_entering(by) {
            return Ok(None);
        }
        let number = |n| Term::Lit(Literal::Int(n), targs[0].clone());
        let count =
            Term::Call { op: *op, targs: targs.clone(), args: vec![l.clone(), number(0), number(1)], state: None };
        let count = self.at(&count, moment)?;
        self.linear(targs, first, by, count).map(Some)
    }

    /// What holds of an iteration that another one follows, given what terms are in it.
    fn assumed(
        &mut self,
        mut now: impl FnMut(&mut Self, &Term) -> Result<Term, NoInduction>,
    ) -> Result<Vec<Guard>, NoInduction> {
        let follows = std::mem::take(&mut self.follows);
        let guards = follows.iter().map(|follows| {
            Ok(match follows {
                Follows::NotZero(test) => Guard::Holds(now(self, test)?),
                Follows::NotGreatest(counter) => {
                    let Term::Call { targs, .. } = counter else { return Err(NoInduction::Form) };
                    let greatest = Term::Lit(Literal::Int(-1), targs[0].clone());
                    Guard::Compare { equal: false, left: now(self, counter)?, right: greatest }
                }
            })
        });
        let guards = guards.collect();
        self.follows = follows;
        guards
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
        let (left, right) = (&self.stripped(left, false)?, &self.stripped(right, false)?);
        // The value that `theta` carries is not known to be a recurrence, unless a rule says so.
        let is_recurrence = |term: &Term| matches!(self.role(term), Some(LoopRole::Recurrence(_) | LoopRole::Theta));
        let (recurrence, expression) = match (is_recurrence(left), is_recurrence(right)) {
            (_, true) => (right, left),
            (true, false) => (left, right),
            (false, false) if self.is_left => return self.in_any_iteration(left, right),
            (false, false) => return Err(NoInduction::NoRecurrence),
        };
        let Term::Call { targs, args, .. } = recurrence else { return Err(NoInduction::NoRecurrence) };
        let [_, first, by] = &args[..] else { return Err(NoInduction::NoRecurrence) };
        let base = (self.after(expression, 0)?, self.before(first)?);
        let now = self.at(expression, Moment::Now)?;
        let by = self.at(by, Moment::Now)?;
        let next = match self.role(recurrence) {
            Some(LoopRole::Recurrence(function)) => {
                Term::Call { op: function, targs: targs.clone(), args: vec![now, by], state: None }
            }
            _ => by,
        };
        let step = (next, self.at(expression, Moment::Next)?);
        let goes_on = self.assumed(|rewriter, term| rewriter.at(term, Moment::Now))?;
        let went_on = [0, 1].map(|k| self.assumed(|rewriter, term| rewriter.after(term, k)));
        let later = [1, 2].map(|k| Ok((self.after(recurrence, k)?, self.after(expression, k)?)));
        let begins: Vec<&Term> = self.carried.iter().map(|carried| &carried.first).collect();
        // Some run comes to every number of iterations, and from a first value of its own to every value.
        let is_free = |n: usize| match begins[n] {
            first if is_count(first, &self.carried[n].by) => true,
            Term::Var(x) => !self.enters.contains(x) && !begins[..n].contains(&begins[n]),
            _ => false,
        };
        let reached = (0..begins.len()).all(is_free);
        let [second, third] = later;
        let [first, then] = went_on;
        let (first, mut both) = (first?, then?);
        both.extend(first.iter().cloned());
        Ok(Induction {
            base: self.rule_of("base", base, vec![]),
            step: self.rule_of("step", step, goes_on),
            later: [self.rule_of("second iteration", second?, first), self.rule_of("third iteration", third?, both)],
            reached: reached && !self.asks_for_the_end(),
        })
    }

    /// Sides that are equal whatever recurrences in them are.
    fn in_any_iteration(mut self, left: &Term, right: &Term) -> Result<Induction, NoInduction> {
        let sides = (self.at(left, Moment::Now)?, self.at(right, Moment::Now)?);
        let rule = self.rule_of("any iteration", sides, vec![]);
        let [second, third] = [rule.clone(), rule.clone()];
        Ok(Induction { base: rule.clone(), step: rule, later: [second, third], reached: self.carried.is_empty() })
    }

    /// What a term is after this many iterations, from the first values of its recurrences on.
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
                if let Some(term) = self.by_count(term, moment)? {
                    return Ok(term);
                }
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
                    (Moment::Next, LoopRole::Leave | LoopRole::Around | LoopRole::Left | LoopRole::LeftLast) => {
                        Err(NoInduction::Form)
                    }
                }
            }
            Term::Call { .. } | Term::Eval(_) => Err(NoInduction::Form),
        }
    }

    /// A rule about values, over those variables that its sides and conditions have.
    fn rule_of(&self, part: &str, (left, right): (Term, Term), guards: Vec<Guard>) -> Rule {
        let mut vars: Vec<Var> = vec![];
        for suffix in SUFFIXES {
            vars.extend(self.rule.vars.iter().map(|var| Var { name: format!("{}{suffix}", var.name), ..var.clone() }));
        }
        for (n, carried) in self.carried.iter().enumerate() {
            let op = self.program.universe.ops.get(carried.op);
            let ty = op.params[1].ty.substitute(&mut |i| carried.targs[i as usize].clone());
            vars.push(Var { name: format!("recurrence {}", n + 1), kind: VarKind::Value { ty, constant: false } });
        }
        let asked = guards.iter().flat_map(Guard::terms).flat_map(Term::variables);
        let used: BTreeSet<u32> = left.variables().chain(right.variables()).chain(asked).collect();
        let number = |x: u32| used.iter().position(|own| *own == x).unwrap_or_default() as u32;
        let mut renumber = |x: u32| Term::Var(number(x));
        let mut same = TypeExpr::Param;
        let left = left.substitute(&mut renumber, &mut same);
        let right = right.substitute(&mut renumber, &mut same);
        let mut renumbered = |term: &Term| term.substitute(&mut renumber, &mut same);
        let guards = guards.iter().map(|guard| match guard {
            Guard::Holds(term) => Guard::Holds(renumbered(term)),
            Guard::Compare { equal, left, right } => {
                Guard::Compare { equal: *equal, left: renumbered(left), right: renumbered(right) }
            }
            other => other.clone(),
        });
        let guards = guards.collect();
        let vars = used.iter().map(|x| vars[*x as usize].clone()).collect();
        Rule {
            family: self.rule.family,
            span: self.rule.span,
            tparams: self.rule.tparams.clone(),
            guards,
            ..Rule::new(format!("{} ({part})", self.rule.name), vars, vec![left], Conclusion::Equal(right))
        }
    }
}

/// Zero, and one more after each iteration?
fn is_count(first: &Term, by: &Term) -> bool {
    matches!((first, by), (Term::Lit(Literal::Int(0), _), Term::Lit(Literal::Int(1), _)))
}
