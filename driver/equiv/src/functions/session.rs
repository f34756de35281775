//! What a solver may be asked about one function, and why nothing may come of it.

use crate::budget::{Budget, Exhausted};
use crate::not_modelled::NotModelled;
use rewright_smt::solver::{Answer, Limit, Solver, Unanswered};
use std::io;

/// Why nothing is decided.
#[derive(Debug, thiserror::Error)]
pub(super) enum Undecided {
    #[error("solver: {0}")]
    NotModelled(#[from] NotModelled),
    #[error(transparent)]
    Budget(#[from] Exhausted),
    #[error("cannot start the solver `{0}`: {1}")]
    Start(String, io::Error),
    #[error("solver: {0}")]
    Solver(#[from] io::Error),
    #[error("solver: {0}")]
    Unanswered(Unanswered),
}

/// What may be asked about one function.
pub(super) struct Session<'a> {
    solver: &'a mut Solver,
    budget: &'a mut Budget,
}

impl<'a> Session<'a> {
    /// Another function begins.
    pub(super) fn new(solver: &'a mut Solver, budget: &'a mut Budget) -> Session<'a> {
        budget.begin(1);
        Session { solver, budget }
    }

    /// The questions about this function are of no use for others.
    pub(super) fn end(self) {
        self.solver.forget();
    }

    /// Asks within what is left, and within this many steps.
    pub(super) fn ask(&mut self, text: &str, wanted: &[&str], most: u64) -> Result<Answer, Undecided> {
        let limit = self.budget.limit()?;
        let answer = self.solver.ask_within(text, wanted, Limit { steps: limit.steps.min(most), ..limit })?;
        self.budget.charge(self.solver.spent());
        Ok(answer)
    }

    /// Why there is no answer.
    pub(super) fn unanswered(&self, reason: Unanswered) -> Undecided {
        match self.budget.spent() {
            Some(spent) if reason.is_too_hard() => spent.into(),
            _ => Undecided::Unanswered(reason),
        }
    }
}
