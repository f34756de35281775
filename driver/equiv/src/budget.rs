//! How much the solver may do: for one function, and for all functions of a file.
//!
//! The work of a solver is counted in its own steps. Of a solver that does not count them the processor time is
//! measured, and [`PER_SECOND`] steps are charged for each second. Terms of questions are charged too
//! ([`STEPS_PER_TERM`]).
//!
//! **Invariant**: a caller that is refused is told which budget is spent, and how large it was.

use rewright_smt::solver::{Limit, Spent};
use std::time::Duration;

/// As many functions of a file may use up what there is for one.
const FUNCTIONS: u64 = 20;

/// Steps for a second of a solver that does not count them. z3 takes at least a third of these in a second of the
/// hardest questions.
const PER_SECOND: u64 = 300_000;

/// z3 takes about as many steps while a term is built, printed and read.
const STEPS_PER_TERM: u64 = 4;

/// A solver that counts its steps has this many times the time that they should take.
const SLACK: u64 = 3;

/// A budget that is spent, with the steps that it had.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub(super) enum Exhausted {
    #[error("solver, {0} steps for this file are spent")]
    File(u64),
    #[error("solver, {0} steps for this function are spent")]
    Function(u64),
}

/// Steps that are left.
#[derive(Clone)]
pub(super) struct Budget {
    /// For one function.
    each: u64,
    function: u64,
    file: u64,
}

impl Budget {
    /// This many steps for a function.
    pub(super) fn new(each: u64) -> Budget {
        Budget { each, function: 0, file: each.saturating_mul(FUNCTIONS) }
    }

    /// Another function begins, which may take one of this many shares.
    pub(super) fn begin(&mut self, shares: u64) {
        self.function = self.each.div_ceil(shares);
    }

    /// Keeps half of what is left for this function for later; how much that is.
    pub(super) fn keep_half(&mut self) -> u64 {
        let kept = self.function / 2;
        self.function -= kept;
        kept
    }

    /// Adds the steps that were kept.
    pub(super) fn release(&mut self, kept: u64) {
        self.function = self.function.saturating_add(kept);
    }

    /// This many steps more, for this function and the file.
    pub(super) fn extend(&mut self, steps: u64) {
        self.function = self.function.saturating_add(steps);
        self.file = self.file.saturating_add(steps);
    }

    /// What the next question may take; the reason where that is nothing.
    pub(super) fn limit(&self) -> Result<Limit, Exhausted> {
        match self.spent() {
            Some(reason) => Err(reason),
            None => {
                // More is no number that z3 takes.
                let steps = self.function.min(self.file).min(u32::MAX.into());
                Ok(Limit { steps, time: Duration::from_secs(1 + SLACK * steps / PER_SECOND) })
            }
        }
    }

    /// Takes off what a question has taken.
    pub(super) fn charge(&mut self, Spent { steps, time }: Spent) {
        let by_time = u64::try_from(time.as_millis()).unwrap_or(u64::MAX).saturating_mul(PER_SECOND / 1000);
        self.take(steps.unwrap_or(by_time));
    }

    /// Takes off what it has taken to build a question of this many terms, print it and read it.
    pub(super) fn charge_terms(&mut self, terms: usize) {
        self.take(STEPS_PER_TERM.saturating_mul(terms as u64));
    }

    fn take(&mut self, steps: u64) {
        self.function = self.function.saturating_sub(steps);
        self.file = self.file.saturating_sub(steps);
    }

    /// What is spent, if anything is.
    pub(super) fn spent(&self) -> Option<Exhausted> {
        match (self.file, self.function) {
            (0, _) => Some(Exhausted::File(self.each.saturating_mul(FUNCTIONS))),
            (_, 0) => Some(Exhausted::Function(self.each)),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(budget: &Budget) -> String {
        budget.limit().unwrap_err().to_string()
    }

    #[test]
    fn who_is_refused_is_told_what_is_spent() {
        let mut budget = Budget::new(1000);
        let counted = |steps| Spent { steps: Some(steps), time: Duration::ZERO };
        for _ in 0..19 {
            budget.begin(1);
            assert_eq!(budget.limit().map(|limit| limit.steps), Ok(1000));
            budget.charge(counted(400));
            assert_eq!(budget.limit().map(|limit| limit.steps), Ok(600));
            // The last step may be a large one.
            budget.charge(counted(620));
            assert_eq!(refusal(&budget), "solver, 1000 steps for this function are spent");
        }
        budget.begin(1);
        assert_eq!(budget.limit().map(|limit| limit.steps), Ok(620));
        budget.charge(counted(620));
        assert_eq!(refusal(&budget), "solver, 20000 steps for this file are spent");
        budget.begin(1);
        assert_eq!(refusal(&budget), "solver, 20000 steps for this file are spent");
    }

    #[test]
    fn what_is_kept_is_there_later() {
        let mut budget = Budget::new(1000);
        budget.begin(1);
        let kept = budget.keep_half();
        budget.charge(Spent { steps: Some(600), time: Duration::ZERO });
        assert!(budget.limit().is_err());
        budget.release(kept);
        assert_eq!(budget.limit().map(|limit| limit.steps), Ok(500));
    }

    #[test]
    fn any_number_is_a_budget() {
        let mut budget = Budget::new(u64::MAX);
        budget.begin(1);
        assert_eq!(budget.limit().map(|limit| limit.steps), Ok(u32::MAX.into()));
        assert_eq!(refusal(&Budget::new(0)), "solver, 0 steps for this file are spent");
    }

    #[test]
    fn terms_are_charged() {
        let mut budget = Budget::new(1000);
        budget.begin(1);
        budget.charge_terms(100);
        assert_eq!(budget.limit().map(|limit| limit.steps), Ok(600));
        budget.charge_terms(usize::MAX);
        assert_eq!(refusal(&budget), "solver, 20000 steps for this file are spent");
    }

    #[test]
    fn time_is_charged_where_steps_are_not_counted() {
        let mut budget = Budget::new(2 * PER_SECOND);
        budget.begin(1);
        budget.charge(Spent { steps: None, time: Duration::from_millis(500) });
        assert_eq!(budget.limit().map(|limit| limit.steps), Ok(3 * PER_SECOND / 2));
        budget.charge(Spent { steps: None, time: Duration::from_millis(1500) });
        assert!(budget.limit().is_err());
    }
}
