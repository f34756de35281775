//! What loops promise: that they end or do something that others see, and which accesses of their iterations are apart.
//! A run that breaks such a promise is undefined.
//!
//! Both versions run for ever together. In the end, a run that never ends stays within one loop, whose cut it passes again
//! and again, each time at a pair of cuts. So the second version keeps its promises if, for each pair of cuts of which the
//! second is in a loop that promises to progress, the first is in such a loop, too. A cycle that can be entered at several
//! places is no loop, and what its branches say promises nothing.

use super::super::super::metadata::MUST_PROGRESS;
use super::super::Pair;
use super::super::flow::{Flow, Loop};
use super::{CutVersion, NotModelled};
use crate::annotations::has;
use rustc_hash::FxHashMap;

/// How promises of the second version's loops to progress are kept.
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
    let has_progress =
        |cycle: &Cycle| cycle.is_loop && cycle.latches.iter().all(|promises| promises.iter().any(is_progress));
    let all = has(attributes, "mustprogress") || has(attributes, "willreturn") || old.iter().all(has_progress);
    let promised = |cycle: &Cycle| match cycle.is_loop {
        true => cycle.latches.iter().flatten().cloned().collect::<Vec<_>>(),
        false => vec![],
    };
    let reason = |promise: &String| format!("loops of the second version promise {promise}");
    let more: Vec<String> = new.iter().flat_map(promised).collect();
    if let Some(promise) = more.iter().find(|promise| !is_progress(promise)) {
        return Err(reason(promise).into());
    }
    let Some(promise) = more.first().filter(|_| !all) else { return Ok(Progress::Kept) };
    let first = old.iter().map(|cycle| (cycle.header, has_progress(cycle))).collect();
    let second = new.iter().map(|cycle| (cycle.header, !promised(cycle).is_empty())).collect();
    Ok(Progress::ByPairs(ByPairs { loops: [first, second], reason: reason(promise) }))
}

impl ByPairs {
    /// Whether promises are kept where versions meet at these pairs of cuts only.
    pub(super) fn keeps(&self, cut: &[CutVersion<'_>; 2], mut pairs: impl Iterator<Item = (usize, usize)>) -> bool {
        let progresses = |side: usize, at: usize| {
            let around = |one: &&Loop| one.blocks.contains(&cut[side].cuts[at].header);
            cut[side].loops.iter().filter(around).any(|one| self.loops[side].get(&one.header) == Some(&true))
        };
        pairs.all(|(old, new)| !progresses(1, new) || progresses(0, old))
    }
}

/// Where control goes back to a block.
struct Cycle {
    /// The block.
    header: usize,
    /// What each branch promises that leads back to it.
    latches: Vec<Vec<String>>,
    /// It can be entered there only.
    is_loop: bool,
}

/// What the branches of one version promise that lead back.
fn promises(pair: &Pair<'_>, n: usize) -> Vec<Cycle> {
    let flow = Flow::new(&pair.bodies[n]);
    let of = |at: usize| {
        let metadata = flow.body.blocks[at].instructions.last().map_or(&[][..], |i| &i.metadata);
        let loops = metadata.iter().filter(|(kind, _)| kind == "!llvm.loop");
        loops.flat_map(|(_, node)| pair.versions[n].module.nodes.loop_promises(node)).collect()
    };
    let cycle = |(header, latches): (usize, Vec<usize>)| {
        let is_loop = latches.iter().all(|latch| flow.dominates(header, *latch));
        Cycle { header, latches: latches.into_iter().map(of).collect(), is_loop }
    };
    flow.latches().into_iter().map(cycle).collect()
}
