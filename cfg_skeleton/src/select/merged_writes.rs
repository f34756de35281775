//! Writes that take the place of those before them: one of two words for two of one.
//!
//! A plan says at which writes another operation could be executed from an earlier state
//! ([`super::memory_plan::Plan::mergeable`]). Whether the program is cheaper for it only a selection tells, since operands
//! and everything that reads the states in between change, too. So programs with and without are selected, and the
//! cheapest is taken.

use super::memory_plan::Mergeable;
use super::{SelectError, SelectionReport, Status};
use crate::skeleton::SiteId;
use std::collections::BTreeSet;

/// Selections beside the first one that are made at most for a function.
const ATTEMPTS: usize = 16;

/// A selection, and the writes at which another operation could be executed in place of those before it.
pub(super) type Planned = (SelectionReport, Mergeable);

/// The cheapest of the selections that `select` makes with writes that take the place of those before them: with none, with
/// those that take the place of most, with all of `sites`, and with what comes of toggling one write after the other. Later
/// ones come first: they take the place of more.
pub(super) fn cheapest(
    sites: impl Iterator<Item = SiteId>,
    mut select: impl FnMut(&BTreeSet<SiteId>) -> Result<Planned, SelectError>,
) -> Result<SelectionReport, SelectError> {
    let (best, found) = select(&BTreeSet::new())?;
    if found.is_empty() {
        return Ok(best);
    }
    let optimal = best.selection.status == Status::Optimal;
    let mut search = Search { best, merged: BTreeSet::new(), mergeable: targets(&found), optimal, attempts: 0 };
    let mut pending: Vec<SiteId> = vec![];
    for other in [farthest(&found), sites.collect()] {
        // Before one has gone, what lies behind it may not have been looked at.
        if search.attempts == 0 || search.mergeable.len() > 1 {
            search.attempt(other, &mut select)?;
            pending = search.mergeable.iter().copied().collect();
        }
    }
    while search.attempts < ATTEMPTS && search.mergeable.len() > 1 {
        let Some(site) = pending.pop() else { break };
        let mut other = search.merged.clone();
        if !other.remove(&site) {
            other.insert(site);
        }
        if search.attempt(other, &mut select)? {
            pending = search.mergeable.iter().copied().collect();
        }
    }
    let Search { mut best, mergeable, optimal, .. } = search;
    // Only with one such write have all that there are been tried.
    if best.selection.status == Status::Optimal && (!optimal || mergeable.len() > 1) {
        best.selection.status = Status::Greedy;
    }
    Ok(best)
}

/// The alternatives tried so far.
struct Search {
    /// The cheapest selection.
    best: SelectionReport,
    /// The writes that take the place of others in it.
    merged: BTreeSet<SiteId>,
    /// All that could.
    mergeable: BTreeSet<SiteId>,
    /// Were all selections optimal?
    optimal: bool,
    attempts: usize,
}

impl Search {
    /// Tries another set of writes. Is there something new to try after that?
    fn attempt(
        &mut self,
        mut other: BTreeSet<SiteId>,
        select: &mut impl FnMut(&BTreeSet<SiteId>) -> Result<Planned, SelectError>,
    ) -> Result<bool, SelectError> {
        let (found, more) = select(&other)?;
        self.attempts += 1;
        self.optimal &= found.selection.status == Status::Optimal;
        let known = self.mergeable.len();
        self.mergeable.extend(targets(&more));
        let cheaper = found.selection.cost < self.best.selection.cost;
        if cheaper {
            other.retain(|site| self.mergeable.contains(site));
            (self.best, self.merged) = (found, other);
        }
        Ok(cheaper || self.mergeable.len() > known)
    }
}

fn targets(mergeable: &Mergeable) -> BTreeSet<SiteId> {
    mergeable.values().flatten().copied().collect()
}

/// From the first write on, the last one that could take its place; from what comes after that on again.
fn farthest(mergeable: &Mergeable) -> BTreeSet<SiteId> {
    let mut chosen = BTreeSet::new();
    for (site, later) in mergeable {
        if chosen.last().is_none_or(|last| last < site) {
            chosen.extend(later.last());
        }
    }
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_farthest_take_the_place_of_most() {
        let pairs = [(1, 2), (1, 4), (2, 3), (3, 4), (5, 6), (6, 7), (7, 8)];
        let mut mergeable = Mergeable::new();
        for (site, later) in pairs {
            mergeable.entry(SiteId(site)).or_default().insert(SiteId(later));
        }
        assert_eq!(farthest(&mergeable), [4, 6, 8].map(SiteId).into());
        assert_eq!(farthest(&Mergeable::new()), BTreeSet::new());
    }
}
