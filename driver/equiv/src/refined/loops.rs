//! Loops, by induction over cuts.
//!
//! Both versions are cut where loops begin again ([`regions`]). The code between cuts has no loops: from a pair of
//! cuts, at which an *invariant* holds of the values of both, both come to a pair of cuts at which its invariant holds,
//! or both leave, or the first one is undefined. Then the second one does in any number of iterations what the first
//! one may do, and runs for ever only where that does.
//!
//! Invariants are found by leaving out of many candidates ([`invariants`]) all that do not hold when a pair is reached,
//! until all that are left do. Memory at a cut, and what calls know, must be the same.
//!
//! A value that may be `undef` goes through a cut as a set of values, of which each use sees one. The second version's
//! set is within the first one's, and the first version, which may do anything that it may do with less, is given the
//! second one's, where each use sees the same. Of a set nothing is known but whether it is one value: it may have
//! poison beside values, since that may depend on what a use of something else has seen.
//!
//! Loops are met in the same order by both: each iteration of one is an iteration of the other, where headers are cut
//! before or behind the condition of another iteration, and the first iteration stands alone or not. Where the second
//! version counts in steps that are a multiple of the first one's, one iteration may also be that many ([`steps`]): a loop
//! that was unrolled in part, or vectorised, whose vectors are taken lane by lane ([`scalarised`]).
//!
//! Before all that, versions are cut at many places, where both do the same one after the other ([`lockstep`]): with or
//! without loops.
//!
//! Loops that end after a few iterations whatever they are given are written out before ([`unrolled`]).

mod beginning;
mod bounds;
mod candidate;
mod claims;
mod cut_version;
mod induction;
mod invariants;
mod lockstep;
mod progress;
mod proof;
mod question;
mod ranges;
mod readings;
mod recomputed;
mod regions;
mod scalarised;
mod steps;
#[cfg(test)]
mod tests;
mod unrolled;

use super::super::budget::Budget;
use super::super::modules::Version;
use super::super::not_modelled::NotModelled;
use super::flow::Flow;
use super::symexec::Keys;
use super::{Decided, Pair, Undecided};
use cut_version::CutVersion;
use induction::{EFFORTS, Effort, Induction};
use invariants::look;
use lockstep::Lockstep;
use progress::Progress;
use proof::Failure;
use readings::Wanted;
use regions::{CutAt, cuts_at};
use rewright_cfg_skeleton::ir::OpaqueEffects;
use rewright_llvm::body::{Block, Body, Instruction, Shape};
use rewright_llvm::effects;
use rewright_smt::solver::Solver;
use std::collections::{BTreeMap, BTreeSet};
use std::io;

/// A way to cut both versions.
#[derive(Clone, Copy)]
struct Way {
    old: CutAt,
    new: CutAt,
    /// Do first iterations stand alone?
    peeled: bool,
    /// Are iterations of the second version several of the first one, where it counts in larger steps?
    unrolled: bool,
}

impl Way {
    const fn new(old: CutAt, new: CutAt) -> Way {
        Way { old, new, peeled: false, unrolled: false }
    }

    const fn peeled(self) -> Way {
        Way { peeled: true, ..self }
    }

    const fn unrolled(self) -> Way {
        Way { unrolled: true, ..self }
    }
}

/// The likeliest first.
const UNROLLED: [Way; 2] =
    [Way::new(CutAt::Header, CutAt::Header).unrolled(), Way::new(CutAt::Inside, CutAt::Header).unrolled()];

/// The likeliest first.
const WAYS: [Way; 6] = [
    Way::new(CutAt::Header, CutAt::Header),
    Way::new(CutAt::Inside, CutAt::Header),
    Way::new(CutAt::Header, CutAt::Header).peeled(),
    Way::new(CutAt::Inside, CutAt::Header).peeled(),
    Way::new(CutAt::Inside, CutAt::Inside),
    Way::new(CutAt::Inside, CutAt::Inside).peeled(),
];

/// Does a body have a loop?
pub(super) fn has_loops(body: &Body) -> bool {
    !Flow::new(body).loops().is_empty()
}

/// The ways that are tried for two bodies, in order: where steps differ, first those in which iterations are several. Where
/// only the first version decides in headers whether there is another iteration, that is behind those of the second one.
fn ways(bodies: &[Body; 2]) -> Vec<Way> {
    let unrolled = UNROLLED.into_iter().filter(|_| steps::differ(bodies));
    let decides = bodies.each_ref().map(|body| regions::decides_at_headers(&Flow::new(body)));
    let is_other = |at: CutAt, n: usize| at == CutAt::Header || decides[n];
    let mut ways: Vec<Way> = unrolled.chain(WAYS).filter(|way| is_other(way.old, 0) && is_other(way.new, 1)).collect();
    if decides == [true, false] {
        ways.sort_by_key(|way| (!way.unrolled, way.old == CutAt::Header));
    }
    ways
}

/// Asks whether the second version refines the first one, where either has loops.
pub(super) fn decide(
    pair: &Pair<'_>,
    solver: &mut Solver,
    budget: &mut Budget,
    decided: &mut Decided,
) -> io::Result<()> {
    let progress = match progress::compare(pair) {
        Ok(progress) => progress,
        Err(reason) => {
            decided.seen.not_compared(reason);
            return Ok(());
        }
    };
    let written_out = match progress {
        Progress::Kept => unrolled::decide(pair, solver, budget)?,
        Progress::ByPairs(_) => None,
    };
    if let Some(found) = written_out.as_ref().filter(|found| found.proved) {
        decided.seen.runs += found.seen.runs;
        decided.proved = true;
        return Ok(());
    }
    let bodies = [0, 1].map(|n| scalarised::scalarised(&pair.bodies[n]));
    let pair = &Pair { versions: pair.versions, keys: Keys::new(pair.versions, &bodies), bodies };
    let mut ways = ways(&pair.bodies);
    // Where iterations are several, pairs are not all that the first version passes.
    ways.retain(|way| matches!(progress, Progress::Kept) || !way.unrolled);
    let mut furthest: Option<Failure> = None;
    let mut met = Effort { exact: false, as_other: false };
    for effort in EFFORTS {
        if effort != EFFORTS[0] && (!met.asks_for(effort) || budget.spent().is_some()) {
            continue;
        }
        for way in ways.iter().copied() {
            let failure = match proved(pair, way, effort, &progress, solver, budget)? {
                Ok(questions) => {
                    decided.seen.runs += questions;
                    decided.proved = true;
                    return Ok(());
                }
                Err(failure) => failure,
            };
            met.add(failure.met);
            let spent = matches!(failure.reason, Undecided::Budget(_));
            if spent || furthest.as_ref().is_none_or(|most| failure.questions > most.questions) {
                furthest = Some(failure);
            }
            if spent {
                break;
            }
        }
    }
    match (written_out, furthest) {
        (Some(found), _) => *decided = found,
        (None, Some(failure)) => decided.seen.not_compared(failure.reason),
        (None, None) => {}
    }
    Ok(())
}

/// Asks where both versions go in lockstep; how many questions were decided if all were.
pub(super) fn in_lockstep(pair: &Pair<'_>, solver: &mut Solver, budget: &mut Budget) -> io::Result<Option<u64>> {
    let Some(lockstep) = Lockstep::new(&pair.bodies) else { return Ok(None) };
    let bodies = &lockstep.bodies;
    let pair = &Pair { versions: pair.versions, keys: Keys::new(pair.versions, bodies), bodies: bodies.clone() };
    let Ok(progress) = progress::compare(pair) else { return Ok(None) };
    let writers = [0, 1].map(|n| writers(pair.versions[n], &pair.bodies[n]));
    let version = |n: usize| {
        let flow = Flow::new(&pair.bodies[n]);
        let wanted = Wanted {
            is_alone: &|block, name| lockstep.is_alone(n, block, name),
            may_be_read: &|ty| lockstep.may_be_read(ty),
            writers: &writers[n],
        };
        let cuts = cuts_at(&flow, lockstep.cuts(n), &wanted);
        CutVersion::of(flow, cuts, 0)
    };
    let kept = budget.keep_half();
    let mut met = Effort { exact: false, as_other: false };
    let mut found = None;
    let has_loops = pair.bodies.iter().any(has_loops);
    // Each step takes the effort that it needs. More may hold where each is looked at with all of it.
    for effort in [EFFORTS[0], EFFORTS[2]] {
        let is_more = effort == EFFORTS[0] || has_loops || met.exact || met.as_other;
        if !is_more || budget.spent().is_some() {
            continue;
        }
        let (Ok(old), Ok(new)) = (version(0), version(1)) else { break };
        let induction = Induction::in_lockstep(pair, [old, new], &lockstep.pairs, effort);
        match induction.proved(&progress, solver, budget)? {
            Ok(questions) => {
                found = Some(questions);
                break;
            }
            Err(failure) => met.add(failure.met),
        }
    }
    budget.release(kept);
    Ok(found)
}

/// Positions of calls that may write to memory, by block.
fn writers(version: Version<'_>, body: &Body) -> BTreeMap<usize, Vec<usize>> {
    let writes = |i: &Instruction| {
        matches!(i.shape, Shape::Call { .. }) && effects::of(version.file(), i) == OpaqueEffects::Writes
    };
    let of =
        |block: &Block| (0..block.instructions.len()).filter(|n| writes(&block.instructions[*n])).collect::<Vec<_>>();
    body.blocks.iter().map(of).enumerate().filter(|(_, positions)| !positions.is_empty()).collect()
}

/// Both versions cut in one way: how many questions were decided, or why not all.
fn proved(
    pair: &Pair<'_>,
    way: Way,
    effort: Effort,
    progress: &Progress,
    solver: &mut Solver,
    budget: &mut Budget,
) -> io::Result<Result<u64, Failure>> {
    let versions = match cut_versions(&pair.bodies, way) {
        Ok(versions) => versions,
        Err(reason) => {
            let met = Effort { exact: false, as_other: false };
            return Ok(Err(Failure { questions: 0, reason: reason.into(), met }));
        }
    };
    let iterations = if way.unrolled { steps::iterations(&versions) } else { BTreeMap::new() };
    Induction::new(pair, versions, iterations, effort).proved(progress, solver, budget)
}

/// Both versions, cut in one way. A value that may be a NaN is one value to the first version, and to the second one
/// where the first one has it, too.
fn cut_versions(bodies: &[Body; 2], way: Way) -> Result<[CutVersion<'_>; 2], NotModelled> {
    let peeled = usize::from(way.peeled);
    let old = CutVersion::new(&bodies[0], way.old, peeled, |_, _| true)?;
    let bases = old.cuts.iter().flat_map(|cut| &cut.state.bases);
    let looks: BTreeSet<String> = bases.map(|base| look(&old.flow, &base.text)).collect();
    let new = CutVersion::new(&bodies[1], way.new, peeled, |flow, name| looks.contains(&look(flow, name)))?;
    Ok([old, new])
}
