//! Rules held back: a unit that has spent its budget once runs again, and as soon as it is large, each rule has a number
//! of matches of its own. So a rule that explodes ends alone, and those that the schedule runs after it have their turn.
//!
//! A rule that makes no nodes, which only finds that two are equal, is never held back.

use rewright_dsl::program::RuleId;

/// What the rules of one unit have used.
#[derive(Debug)]
pub(super) struct Held {
    /// Matches count while the unit has more nodes.
    from: u64,
    /// The unit had more when its nodes were counted.
    large: bool,
    /// Matches of each rule.
    pub(super) allowed: u64,
    /// By rule of the program: matches that counted, those that were refused among them.
    matches: Vec<u64>,
    /// Matches that were refused.
    pub(super) refused: u64,
}

impl Held {
    /// `rules`: at most this many are met.
    pub(super) fn new(from: u64, allowed: u64, rules: usize) -> Self {
        Held { from, large: false, allowed, matches: vec![0; rules], refused: 0 }
    }

    /// May a rule no longer match in a unit of this many nodes? This match counts.
    pub(super) fn refuses(&mut self, rule: RuleId, nodes: u64) -> bool {
        if !self.large && nodes <= self.from {
            return false;
        }
        let at = rule.0 as usize;
        if at >= self.matches.len() {
            self.matches.resize(at + 1, 0);
        }
        self.matches[at] += 1;
        let refuses = self.matches[at] > self.allowed;
        self.refused += u64::from(refuses);
        refuses
    }

    /// This many nodes were counted.
    pub(super) fn counted(&mut self, nodes: u64) {
        self.large |= nodes > self.from;
    }

    /// The number of nodes beyond which they must be counted.
    pub(super) fn grows_at(&self) -> u64 {
        if self.large { u64::MAX } else { self.from }
    }

    /// Was a match of this rule refused?
    pub(super) fn is_back(&self, rule: RuleId) -> bool {
        self.matches.get(rule.0 as usize).is_some_and(|matches| *matches > self.allowed)
    }
}
