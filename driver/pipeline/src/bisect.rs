//! Which match of a rule decides something: runs with at most N matches, and N halved until one match makes the
//! difference.
//!
//! The property that is asked for need not be monotone in N: then one of several such matches is found, and still one
//! that makes the difference.

use rewright_dsl::program::RuleId;
use rewright_engine::RuleReport;
use std::collections::BTreeMap;

/// What a run with a limited number of matches gave.
pub(crate) struct Limited {
    /// Is it as it is without a limit?
    pub(crate) decided: bool,
    /// Matches by rule.
    pub(crate) matches: BTreeMap<RuleId, RuleReport>,
}

/// The match that makes the difference.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Decisive {
    /// Its number, from 1.
    pub(crate) number: u64,
    /// Its rule. Several where a function is built more than once: each time, matches are counted anew.
    pub(crate) rules: Vec<RuleId>,
}

/// Rules that have more matches in one run than in another.
pub fn more(before: &BTreeMap<RuleId, RuleReport>, after: &BTreeMap<RuleId, RuleReport>) -> Vec<RuleId> {
    let known = |rule: &RuleId| before.get(rule).map_or(0, |report| report.matches);
    after.iter().filter(|(rule, report)| report.matches > known(rule)).map(|(rule, _)| *rule).collect()
}

/// The match with which it is decided, and without which it is not. `None` where no match of at most `limit` decides:
/// it is so from the start, or never, or a run failed.
pub(crate) fn decisive(limit: u64, mut run: impl FnMut(u64) -> Option<Limited>) -> Option<Decisive> {
    let mut without = run(0)?;
    let mut low = 0;
    let mut high = 1;
    let mut with = loop {
        let found = run(high)?;
        if found.decided {
            break found;
        }
        (low, without) = (high, found);
        if high >= limit {
            return None;
        }
        high = (high * 2).min(limit);
    };
    if low == 0 && without.decided {
        return None;
    }
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        let found = run(middle)?;
        if found.decided {
            (high, with) = (middle, found);
        } else {
            (low, without) = (middle, found);
        }
    }
    Some(Decisive { number: high, rules: more(&without.matches, &with.matches) })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Match N is of rule N.
    fn run(decided: bool, limit: u64, matches: u64) -> Limited {
        let made = (1..=limit.min(matches) as u32)
            .map(|rule| (RuleId(rule), RuleReport { matches: 1, ..RuleReport::default() }));
        Limited { decided, matches: made.collect() }
    }

    #[test]
    fn the_one_match_is_found() {
        for wanted in 1..40 {
            let found = decisive(1_000, |limit| Some(run(limit >= wanted, limit, 50)));
            assert_eq!(found, Some(Decisive { number: wanted, rules: vec![RuleId(wanted as u32)] }));
        }
    }

    #[test]
    fn what_no_match_decides_has_none() {
        assert_eq!(decisive(100, |limit| Some(run(true, limit, 50))), None);
        assert_eq!(decisive(100, |limit| Some(run(false, limit, 50))), None);
        assert_eq!(decisive(100, |_| None), None);
    }
}
