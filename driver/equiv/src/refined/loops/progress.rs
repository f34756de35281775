//! What loops promise: that they end or do something that others see, and which accesses of their iterations are apart.
//! What breaks such a promise is undefined.
//!
//! Both versions run for ever together. In the end, a run that never ends stays within one loop, whose cut it passes again
//! and again, each time at a pair of cuts. So the second version keeps its promises if, for each pair of cuts of which the
//! second is in a loop that promises to progress, the first is in such a loop, too.

use super::super::super::metadata::MUST_PROGRESS;
use super::super::Pair;
use super::super::flow::{Flow, Loop};
use super::{CutVersion, NotModelled};
use crate::annotations::has;
use rustc_hash::FxHashMap;

/// Who keeps promises of the second version's loops to progress.
pub(super) enum Progress {
    /// There are none, or all loops of the first version make them.
    Kept,
    /// Pairs of cuts have to tell.
    ByPairs(ByPairs),
}

/// What the loops of both versions promise, by header.
pub(super) struct ByPairs {
    loops: [FxHashMap<usize, bool>; 2],
    /// A promise of the second version.
    pub(super) reason: String,
}

/// Compares what loops promise. The error says why nothing is proved: the second version's loops promise more.
pub(super) fn compare(pair: &Pair<'_>) -> Result<Progress, NotModelled> {
    let [old, new] = [0, 1].map(|n| promises(pair, n));
    let is_progress = |promise: &String| promise.contains(MUST_PROGRESS);
    let attributes = &pair.versions[0].definition.attributes;
    let has_progress = |latches: &Vec<Vec<String>>| latches.iter().all(|latch| latch.iter().any(is_progress));
    let all =
        has(attributes, "mustprogress") || has(attributes, "willreturn") || old.iter().all(|(_, of)| has_progress(of));
    let promised = |(_, of): &(usize, Vec<Vec<String>>)| of.iter().flatten().cloned().collect::<Vec<_>>();
    let reason = |promise: &String| format!("loops of the second version promise {promise}");
    let more: Vec<String> = new.iter().flat_map(promised).collect();
    if let Some(promise) = more.iter().find(|promise| !is_progress(promise)) {
        return Err(reason(promise).into());
    }
    let Some(promise) = more.first().filter(|_| !all) else { return Ok(Progress::Kept) };
    let first = old.iter().map(|(header, of)| (*header, has_progress(of))).collect();
    let second = new.iter().map(|(header, of)| (*header, of.iter().flatten().next().is_some())).collect();
    Ok(Progress::ByPairs(ByPairs { loops: [first, second], reason: reason(promise) }))
}

impl ByPairs {
    /// Whether promises are kept where versions meet at these pairs of cuts only.
    pub(super) fn keeps(&self, cut: &[CutVersion<'_>; 2], mut pairs: impl Iterator<Item = (usize, usize)>) -> bool {
        let loops = cut.each_ref().map(|version| version.flow.loops());
        let progresses = |side: usize, at: usize| {
            let around = |one: &&Loop| one.blocks.contains(&cut[side].cuts[at].header);
            loops[side].iter().filter(around).any(|one| self.loops[side].get(&one.header) == Some(&true))
        };
        pairs.all(|(old, new)| !progresses(1, new) || progresses(0, old))
    }
}

/// What the branches promise that lead back, by the header of a loop.
fn promises(pair: &Pair<'_>, n: usize) -> Vec<(usize, Vec<Vec<String>>)> {
    let flow = Flow::new(&pair.bodies[n]);
    let of = |at: usize| {
        let metadata = flow.body.blocks[at].instructions.last().map_or(&[][..], |i| &i.metadata);
        let loops = metadata.iter().filter(|(kind, _)| kind == "!llvm.loop");
        loops.flat_map(|(_, node)| pair.versions[n].module.nodes.loop_promises(node)).collect()
    };
    flow.latches().into_iter().map(|(header, latches)| (header, latches.into_iter().map(of).collect())).collect()
}
