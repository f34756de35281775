//! An induction over pairs of cuts: what is thought to hold at each, and how hard its steps may be.

use super::super::Pair;
use super::cut_version::CutVersion;
use super::invariants::Invariant;
use super::lockstep::Pairs;
use std::collections::{BTreeMap, BTreeSet};

/// Where a step begins.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Source {
    Entry,
    /// By version.
    Cuts((usize, usize)),
}

/// How hard questions may be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Effort {
    /// Operations that solvers find hard are exact; else nothing is known of them.
    pub(super) exact: bool,
    /// The first version is undefined, too, where it is so by choices that the second one makes elsewhere.
    pub(super) as_other: bool,
}

impl Effort {
    /// May this much effort change anything?
    pub(super) fn asks_for(self, effort: Effort) -> bool {
        match effort {
            Effort { exact: true, .. } => self.exact,
            Effort { as_other: true, .. } => self.as_other,
            _ => true,
        }
    }

    pub(super) fn add(&mut self, other: Effort) {
        self.exact |= other.exact;
        self.as_other |= other.as_other;
    }
}

/// The easiest first, which are mostly enough.
pub(super) const EFFORTS: [Effort; 3] = [
    Effort { exact: false, as_other: false },
    Effort { exact: false, as_other: true },
    Effort { exact: true, as_other: true },
];

/// Pairs of cuts with what is thought to hold there.
pub(super) struct Induction<'a> {
    pub(super) pair: &'a Pair<'a>,
    pub(super) versions: [CutVersion<'a>; 2],
    /// Iterations of the first version that are one of the second one, by pair of cuts, where that is not one.
    pub(super) iterations: BTreeMap<(usize, usize), usize>,
    pub(super) effort: Effort,
    /// That of steps which need more.
    pub(super) raised: BTreeMap<Source, Effort>,
    /// What more effort would change.
    pub(super) met: Effort,
    /// Is a value asked for to be one for all its uses, where a version may be undefined otherwise?
    pub(super) settles: bool,
    /// The pairs of a lockstep; without it, all blocks and values may be pairs.
    pub(super) pairs: Option<&'a Pairs>,
    /// Headers of the first version's loops of whose counters more may be said in a lockstep.
    pub(super) counted: BTreeSet<usize>,
    /// How many pairs of cuts are passed.
    pub(super) passed: usize,
    /// Pairs of cuts that steps lead to, as far as they have been looked at.
    pub(super) arrivals: BTreeMap<Source, BTreeSet<(usize, usize)>>,
    pub(super) invariants: BTreeMap<(usize, usize), Invariant>,
    pub(super) questions: u64,
}

impl<'a> Induction<'a> {
    pub(super) fn new(
        pair: &'a Pair<'a>,
        versions: [CutVersion<'a>; 2],
        iterations: BTreeMap<(usize, usize), usize>,
        effort: Effort,
    ) -> Induction<'a> {
        let met = Effort { exact: false, as_other: false };
        Induction {
            pair,
            versions,
            iterations,
            effort,
            raised: BTreeMap::new(),
            met,
            settles: false,
            pairs: None,
            counted: BTreeSet::new(),
            passed: 0,
            arrivals: BTreeMap::new(),
            invariants: BTreeMap::new(),
            questions: 0,
        }
    }

    /// With less than all effort, more is said of counters only where it is needed.
    pub(super) fn in_lockstep(
        pair: &'a Pair<'a>,
        versions: [CutVersion<'a>; 2],
        pairs: &'a Pairs,
        effort: Effort,
    ) -> Induction<'a> {
        let is_whole = effort == EFFORTS[EFFORTS.len() - 1];
        let headers = versions[0].loops.iter().map(|one| one.header).filter(|_| is_whole).collect();
        Induction { pairs: Some(pairs), counted: headers, ..Induction::new(pair, versions, BTreeMap::new(), effort) }
    }

    /// How hard a step may be.
    pub(super) fn effort(&self, source: Source) -> Effort {
        self.raised.get(&source).copied().unwrap_or(self.effort)
    }
}
