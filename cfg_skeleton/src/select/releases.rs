//! Writes that release what a statement has made go only with that statement.
//!
//! A rule lets such a write go, `free(copy(v) after t) after s => s`, because what it releases is not made. Where that
//! is made after all, since something else uses it, nothing else would release it.

use super::selection::{Selection, StatementChoice};
use crate::Saturated;
use crate::egraph::ClassId;
use crate::skeleton::{SiteId, StatementKind};
use rustc_hash::FxHashSet;

/// Writes that a selection leaves out because they change nothing, as rules say, though a statement that rules let go is
/// executed, and they take its result.
pub(super) fn unreleased(given: Saturated, selection: &Selection) -> Vec<SiteId> {
    let Saturated { skeleton, view, .. } = given;
    let statements = || skeleton.statements.iter().zip(&selection.statements);
    let made: FxHashSet<ClassId> = statements()
        .filter_map(|(statement, choice)| match (&statement.kind, choice) {
            (StatementKind::Call { node, site, .. }, StatementChoice::Keep { .. }) => {
                let site = view.class_of(*site);
                view.removable.iter().any(|row| row.site == site).then(|| view.class_of(*node))
            }
            _ => None,
        })
        .collect();
    if made.is_empty() {
        return vec![];
    }
    let releases = |(site, (statement, choice)): (usize, (&crate::skeleton::Statement, &StatementChoice))| {
        let StatementKind::Write { out, region, .. } = &statement.kind else { return None };
        let site = SiteId(site as u32);
        let before = skeleton.live.get(region.index())?[skeleton.segment_before(site).index()];
        let changes_nothing = view.class_of(*out) == view.class_of(before);
        let takes = || skeleton.input.nodes[out.index()].children.iter().any(|c| made.contains(&view.class_of(*c)));
        (*choice == StatementChoice::Drop && changes_nothing && takes()).then_some(site)
    };
    statements().enumerate().filter_map(releases).collect()
}
