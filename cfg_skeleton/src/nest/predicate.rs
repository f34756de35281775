//! Conjunctions of constraints: what is impossible, what follows, and what is left when one does not hold.

use super::affine::Affine;
use super::constraint::Constraint;
use super::omega;
use std::cell::RefCell;
use std::rc::Rc;

/// All constraints hold.
pub type Conjunction = Vec<Constraint>;

/// Shows again, in another way, that conjunctions have no solution.
pub trait Confirm {
    /// Whether the conjunction certainly has no solution.
    fn impossible(&mut self, constraints: &[Constraint]) -> bool;
}

/// What confirms a decision, if anything does.
pub type Confirmation = Option<Rc<RefCell<dyn Confirm>>>;

/// Decides conjunctions and counts the work.
pub struct Decider {
    /// Steps that are left.
    pub(crate) budget: u64,
    /// Questions so far.
    pub(crate) questions: u64,
    confirmation: Confirmation,
}

impl std::fmt::Debug for Decider {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Decider after {} questions", self.questions)
    }
}

impl Decider {
    /// One that may do this many steps.
    #[must_use]
    pub fn new(budget: u64) -> Self {
        Decider::confirmed(budget, None)
    }

    /// One whose every answer that something is impossible is confirmed, or not given.
    #[must_use]
    pub fn confirmed(budget: u64, confirmation: Confirmation) -> Self {
        Decider { budget, questions: 0, confirmation }
    }

    /// Whether the conjunction certainly has no solution.
    pub fn impossible(&mut self, constraints: &[Constraint]) -> bool {
        self.questions += 1;
        let none = omega::solve(constraints, &mut self.budget) == omega::Solutions::None;
        none && self.confirmation.as_ref().is_none_or(|other| other.borrow_mut().impossible(constraints))
    }

    /// Whether `fact` certainly follows from `given`.
    pub fn implies(&mut self, given: &[Constraint], fact: &Constraint) -> bool {
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

    /// Takes steps off the budget that were needed for something else.
    pub(crate) fn charge(&mut self, steps: u64) {
        self.budget = self.budget.saturating_sub(steps);
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
