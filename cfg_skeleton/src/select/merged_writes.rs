//! Writes that take the place of those before them: one of two words for two of one.
//!
//! A plan says at which writes another operation could be executed from an earlier state
//! ([`super::memory_plan::Plan::mergeable`]). Whether the program is cheaper for it only a selection tells, since operands
//! and everything that reads the states in between change, too. So programs with and without are selected, and the
//! cheapest is taken.

use super::{SelectError, SelectionReport, Status};
use crate::skeleton::SiteId;
use std::collections::BTreeSet;

/// Selections beside the first one that are made at most for a function.
const ATTEMPTS: usize = 16;

/// A selection, and the writes at which another operation could be executed in place of those before it.
pub(super) type Planned = (SelectionReport, BTreeSet<SiteId>);

/// The cheapest of the selections that `select` makes with writes that take the place of those before them: with none, with
/// all of `sites`, and with what comes of toggling one write after the other. Later ones come first: they take the place of
/// more.
pub(super) fn cheapest(
    sites: impl Iterator<Item = SiteId>,
    mut select: impl FnMut(&BTreeSet<SiteId>) -> Result<Planned, SelectError>,
) -> Result<SelectionReport, SelectError> {
    let (mut best, mut mergeable) = select(&BTreeSet::new())?;
    if mergeable.is_empty() {
        return Ok(best);
    }
    let mut optimal = best.selection.status == Status::Optimal;
    let (mut merged, mut attempts) = (BTreeSet::new(), 0);
    let mut other: BTreeSet<SiteId> = sites.collect();
    let mut pending: Vec<SiteId> = vec![];
    loop {
        let (found, more) = select(&other)?;
        attempts += 1;
        optimal &= found.selection.status == Status::Optimal;
        // Before one has gone, what lies behind it may not have been looked at.
        let known = mergeable.len();
        mergeable.extend(more);
        let cheaper = found.selection.cost < best.selection.cost;
        if cheaper {
            other.retain(|site| mergeable.contains(site));
            (best, merged) = (found, other);
        }
        if attempts == 1 || cheaper || mergeable.len() > known {
            pending = mergeable.iter().copied().collect();
        }
        let Some(site) = pending.pop().filter(|_| attempts < ATTEMPTS && mergeable.len() > 1) else { break };
        other = merged.clone();
        if !other.remove(&site) {
            other.insert(site);
        }
    }
    // Only with one such write have all that there are been tried.
    if best.selection.status == Status::Optimal && (!optimal || mergeable.len() > 1) {
        best.selection.status = Status::Greedy;
    }
    Ok(best)
}
