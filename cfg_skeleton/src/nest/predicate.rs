//! Constraints on integers, conjunctions of them, and what follows when one is negated.

use super::affine::{Affine, Var};
use super::omega;

/// `expr = 0` or `expr >= 0`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct Constraint {
    pub(crate) expr: Affine,
    pub(crate) equality: bool,
}

impl Constraint {
    /// `a >= b`.
    pub(crate) fn at_least(a: &Affine, b: &Affine) -> Self {
        Constraint { expr: a.plus(-1, b), equality: false }
    }

    /// `a < b`.
    pub(crate) fn less(a: &Affine, b: &Affine) -> Self {
        Constraint::at_least(b, &a.offset(1))
    }

    /// `a = b`.
    pub(crate) fn equal(a: &Affine, b: &Affine) -> Self {
        Constraint { expr: a.plus(-1, b), equality: true }
    }

    /// The cases in which the constraint does not hold; they exclude each other.
    pub(crate) fn negated(&self) -> Vec<Constraint> {
        let below = Constraint { expr: self.expr.times(-1).offset(-1), equality: false };
        if !self.equality {
            return vec![below];
        }
        vec![below, Constraint { expr: self.expr.offset(-1), equality: false }]
    }

    /// With variables replaced.
    pub(crate) fn replace(&self, of: &dyn Fn(Var) -> Option<Affine>) -> Self {
        Constraint { expr: self.expr.replace(of), equality: self.equality }
    }

    /// Whether the constraint holds for all values, as its text says.
    pub(crate) fn is_trivial(&self) -> bool {
        self.expr.as_constant().is_some_and(|c| if self.equality { c == 0 } else { c >= 0 })
    }
}

/// All constraints hold.
pub(crate) type Conjunction = Vec<Constraint>;

/// Decides conjunctions and counts the work.
#[derive(Debug)]
pub(crate) struct Decider {
    /// Steps that are left.
    pub(crate) budget: u64,
    /// Questions so far.
    pub(crate) questions: u64,
}

impl Decider {
    pub(crate) fn new(budget: u64) -> Self {
        Decider { budget, questions: 0 }
    }

    /// Whether the conjunction certainly has no solution.
    pub(crate) fn impossible(&mut self, constraints: &[Constraint]) -> bool {
        self.questions += 1;
        omega::solve(constraints, &mut self.budget) == omega::Solutions::None
    }

    /// Whether `fact` certainly follows from `given`.
    pub(crate) fn implies(&mut self, given: &[Constraint], fact: &Constraint) -> bool {
        if fact.is_trivial() || given.contains(fact) {
            return true;
        }
        let mut all = given.to_vec();
        fact.negated().into_iter().all(|case| {
            all.push(case);
            let none = self.impossible(&all);
            all.pop();
            none
        })
    }

    /// Whether two polynomials certainly have one value.
    pub(crate) fn equal(&mut self, given: &[Constraint], a: &Affine, b: &Affine) -> bool {
        a.same(b) || self.implies(given, &Constraint::equal(a, b))
    }

    /// Whether the budget is spent; answers are no longer tried for then.
    pub(crate) fn exhausted(&self) -> bool {
        self.budget == 0
    }
}

/// The parts of `given` in which not all of `guard` holds; they exclude each other, and impossible ones are left out.
pub(crate) fn without(decider: &mut Decider, given: &Conjunction, guard: &[Constraint]) -> Vec<Conjunction> {
    let (mut parts, mut here) = (vec![], given.clone());
    for constraint in guard {
        if constraint.is_trivial() || here.contains(constraint) {
            continue;
        }
        for case in constraint.negated() {
            let mut part = here.clone();
            part.push(case);
            if !decider.impossible(&part) {
                parts.push(part);
            }
        }
        here.push(constraint.clone());
    }
    parts
}
