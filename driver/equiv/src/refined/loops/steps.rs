//! How loops count: where one version counts in steps that are a multiple of the other's, one of its iterations may be
//! several of the other's.

use super::super::flow::Flow;
use super::CutVersion;
use rewright_llvm::body::{Body, Shape};
use std::collections::BTreeMap;

/// Iterations that are one, at most.
const MOST: u128 = 32;

/// The largest step of a counter of a loop; `None` where nothing counts.
fn step(flow: &Flow<'_>, header: usize) -> Option<u128> {
    let phis = flow.body.blocks[header].instructions.iter().filter_map(|i| match (&i.shape, &i.result) {
        (Shape::Phi(values), Some(result)) => Some((values, result)),
        _ => None,
    });
    let steps =
        phis.flat_map(|(values, result)| values.iter().filter_map(move |(value, _)| flow.sum(&value.text, result)));
    steps.map(i128::unsigned_abs).filter(|step| *step > 0).max()
}

/// Iterations of a loop of the first version that are one of a loop of the second one, where that is not one.
fn ratio(old: Option<u128>, new: Option<u128>) -> Option<usize> {
    let (old, new) = (old?, new?);
    let ratio = new / old;
    (new % old == 0 && (2..=MOST).contains(&ratio)).then_some(ratio as usize)
}

/// The same, for each pair of cuts.
pub(super) fn iterations(versions: &[CutVersion<'_>; 2]) -> BTreeMap<(usize, usize), usize> {
    let [old, new] =
        versions.each_ref().map(|one| one.cuts.iter().map(|cut| step(&one.flow, cut.header)).collect::<Vec<_>>());
    let mut found = BTreeMap::new();
    for (was, old) in old.into_iter().enumerate() {
        for (is, new) in new.iter().enumerate() {
            found.extend(ratio(old, *new).map(|ratio| ((was, is), ratio)));
        }
    }
    found
}

/// Is there a loop of the second version that counts in larger steps than one of the first one?
pub(super) fn differ(bodies: &[Body; 2]) -> bool {
    let [old, new] = bodies.each_ref().map(|body| {
        let flow = Flow::new(body);
        flow.loops().into_iter().map(|one| step(&flow, one.header)).collect::<Vec<_>>()
    });
    old.iter().any(|old| new.iter().any(|new| ratio(*old, *new).is_some()))
}
