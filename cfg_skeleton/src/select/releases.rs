//! Writes that free what a statement has made are left out only with that statement.
//!
//! A rule leaves out such a write, `free(copy(v) after t) after s => s`, because what it frees is not made. Where it is
//! made after all, since something else uses it, nothing else would free it.

use super::moves;
use super::selection::{Selection, StatementChoice};
use crate::Saturated;
use crate::egraph::{ClassId, InputId};
use crate::skeleton::{SiteId, StateAfter, Statement, StatementKind};
use rustc_hash::FxHashSet;

/// Writes that are left out, because rules say that they change nothing, although the statement that made what they free
/// is executed.
pub(super) fn unreleased(given: Saturated, selection: &Selection) -> Vec<SiteId> {
    let Saturated { skeleton, view, .. } = given;
    let statements = || skeleton.statements.iter().zip(&selection.statements);
    let is_licensed = |site: &InputId| view.removable.iter().any(|row| row.site == view.class_of(*site));
    let places = moves::places(given, selection);
    let made: FxHashSet<ClassId> = statements()
        .enumerate()
        .filter_map(|(n, (statement, choice))| match &statement.kind {
            StatementKind::Call { node, site, .. } => {
                let executed = *choice != StatementChoice::Drop || places.contains_key(&SiteId(n as u32));
                (executed && is_licensed(site)).then(|| view.class_of(*node))
            }
            _ => None,
        })
        .collect();
    if made.is_empty() {
        return vec![];
    }
    let releases = |(site, (statement, choice)): (usize, (&Statement, &StatementChoice))| {
        let (out, region) = match &statement.kind {
            StatementKind::Write { out, region, .. } => (out, region),
            // A statement that a rule lets go by its effects goes with the others of its match.
            StatementKind::Call { after: Some(StateAfter { out, region }), site, .. } if !is_licensed(site) => {
                (out, region)
            }
            _ => return None,
        };
        let site = SiteId(site as u32);
        let before = skeleton.live.get(region.index())?[skeleton.segment_before(site).index()];
        let changes_nothing = view.class_of(*out) == view.class_of(before);
        let takes = || skeleton.input.nodes[out.index()].children.iter().any(|c| made.contains(&view.class_of(*c)));
        (*choice == StatementChoice::Drop && changes_nothing && takes()).then_some(site)
    };
    statements().enumerate().filter_map(releases).collect()
}
