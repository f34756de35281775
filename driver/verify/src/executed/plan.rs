//! What varies from experiment to experiment, since a function of one block decides nothing when it runs: which values
//! are one, as what they are made, and what happened to them before.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Plans that are tried where there is something to choose.
pub(super) const PLANS: u64 = 8;

/// Changes of one value before a side runs, at most.
const CHANGES: usize = 3;

/// The choices of an experiment. The first one always takes what is simplest: no changes, values that are distinct.
pub(super) struct Plan {
    rng: Option<ChaCha8Rng>,
    /// Was there anything to choose?
    pub(super) had_choices: bool,
}

impl Plan {
    /// The n-th one.
    pub(super) fn new(seed: u64, index: u64) -> Self {
        let rng = (index > 0).then(|| ChaCha8Rng::seed_from_u64(seed.wrapping_mul(PLANS).wrapping_add(index)));
        Plan { rng, had_choices: false }
    }

    /// One of so many; of none: none.
    pub(super) fn one_of(&mut self, count: usize) -> Option<usize> {
        self.had_choices |= count > 1;
        let chosen = self.rng.as_mut().filter(|_| count > 1).map_or(0, |rng| rng.random_range(0..count));
        (count > 0).then_some(chosen)
    }

    /// Of so many things to choose from one, or none of them.
    pub(super) fn maybe(&mut self, count: usize) -> Option<usize> {
        self.one_of(count + 1)?.checked_sub(1)
    }

    /// What happens to a value to which so many things can happen, in order.
    pub(super) fn changes(&mut self, kinds: usize) -> Vec<usize> {
        if kinds == 0 {
            return vec![];
        }
        let count = self.one_of(CHANGES + 1).unwrap_or(0);
        (0..count).filter_map(|_| self.one_of(kinds)).collect()
    }

    /// What happens between two states: one of so many things, wherever something may.
    pub(super) fn between(&mut self, kinds: usize) -> Option<usize> {
        self.had_choices |= kinds > 0;
        self.rng.is_some().then(|| self.one_of(kinds)).flatten()
    }
}
