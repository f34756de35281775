//! What varies from experiment to experiment, since a function of one block decides nothing when it runs: which values
//! are one, as what they are made, and what happened to them before.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Plans that are tried where there is something to choose.
pub(super) const PLANS: u64 = 14;

/// Changes of one value before a side runs, at most.
const CHANGES: usize = 3;

/// How an experiment chooses.
enum Choices {
    /// What is simplest: no changes, values that are distinct.
    Simplest,
    /// One combination after the other, by its number: the first choice is its lowest digit. Nothing changes values
    /// before, so that a change that makes all of them alike hides nothing.
    Next(usize),
    /// At random.
    Random(Box<ChaCha8Rng>),
}

/// The choices of an experiment: the first one takes what is simplest, then combinations take turns with what is drawn.
pub(super) struct Plan {
    choices: Choices,
    /// Was there anything to choose?
    pub(super) had_choices: bool,
}

impl Plan {
    /// The n-th one.
    pub(super) fn new(seed: u64, index: u64) -> Self {
        let choices = match index {
            0 => Choices::Simplest,
            // The first combination is the simplest.
            odd if odd % 2 == 1 => Choices::Next(odd.div_ceil(2) as usize),
            even => Choices::Random(Box::new(ChaCha8Rng::seed_from_u64(seed.wrapping_mul(PLANS).wrapping_add(even)))),
        };
        Plan { choices, had_choices: false }
    }

    /// One of this many; `None` where there are none.
    pub(super) fn one_of(&mut self, count: usize) -> Option<usize> {
        self.had_choices |= count > 1;
        let chosen = match &mut self.choices {
            Choices::Simplest => 0,
            _ if count < 2 => 0,
            Choices::Next(number) => {
                let digit = *number % count;
                *number /= count;
                digit
            }
            Choices::Random(rng) => rng.random_range(0..count),
        };
        (count > 0).then_some(chosen)
    }

    /// One of this many things to choose from, or none of them.
    pub(super) fn maybe(&mut self, count: usize) -> Option<usize> {
        self.one_of(count + 1)?.checked_sub(1)
    }

    /// What happens to a value to which this many things can happen, in order.
    pub(super) fn changes(&mut self, kinds: usize) -> Vec<usize> {
        self.had_choices |= kinds > 0;
        if kinds == 0 || !matches!(self.choices, Choices::Random(_)) {
            return vec![];
        }
        let count = self.one_of(CHANGES + 1).unwrap_or(0);
        (0..count).filter_map(|_| self.one_of(kinds)).collect()
    }

    /// What happens between two states: one of this many things, wherever something may.
    pub(super) fn between(&mut self, kinds: usize) -> Option<usize> {
        self.had_choices |= kinds > 0;
        match self.choices {
            Choices::Simplest => None,
            Choices::Next(_) => self.maybe(kinds),
            Choices::Random(_) => self.one_of(kinds),
        }
    }
}
