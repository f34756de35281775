//! What loops promise: that they end or do something that others see, and which accesses of their iterations are apart.
//! What breaks such a promise is undefined.
//!
//! Both versions run for ever together, so a promise of the second version's loops is kept where each loop of the first
//! one makes it.

use super::super::super::metadata::MUST_PROGRESS;
use super::super::super::modules::Version;
use super::super::Pair;
use super::super::flow::Flow;
use super::NotModelled;
use crate::annotations::has;

/// Why nothing is proved: the second version's loops promise more.
pub(super) fn compare(pair: &Pair<'_>) -> Result<(), NotModelled> {
    let [old, new] = [0, 1].map(|n| promises(&Flow::new(&pair.bodies[n]), pair.versions[n]));
    let is_progress = |promise: &&String| promise.contains(MUST_PROGRESS);
    let attributes = &pair.versions[0].definition.attributes;
    let progresses = has(attributes, "mustprogress")
        || has(attributes, "willreturn")
        || old.iter().all(|latch| latch.iter().any(|promise| is_progress(&promise)));
    match new.iter().flatten().find(|promise| !(progresses && is_progress(promise))) {
        Some(promise) => Err(format!("loops of the second version promise {promise}").into()),
        None => Ok(()),
    }
}

/// What the branches promise that lead back, by branch.
fn promises(flow: &Flow<'_>, version: Version<'_>) -> Vec<Vec<String>> {
    let of = |at: usize| {
        let metadata = flow.body.blocks[at].instructions.last().map_or(&[][..], |i| &i.metadata);
        let loops = metadata.iter().filter(|(kind, _)| kind == "!llvm.loop");
        loops.flat_map(|(_, node)| version.module.nodes.loop_promises(node)).collect()
    };
    flow.latches().into_iter().flat_map(|(_, latches)| latches).map(of).collect()
}
