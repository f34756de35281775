//! Functions that do the same over other control flow: a loop whose first test is made ahead of it and whose others
//! stand at its end, iterations ahead of a loop, several iterations in one or behind one test, a loop for each way
//! that a condition comes out which it does not change, two loops as one; a merge of which each way into it has a
//! copy; two loops, one in the other, the other way round.
//!
//! A variant, except for those of two loops ([`fusion`], [`interchange`]), consists of copies of blocks of the original
//! ([`copies`]); a [`Change`] says which, and where their edges lead ([`shapes`]). Nothing is computed otherwise:
//! what is known in a copy (that a first test holds, which way a branch goes) rules find out, and whether the
//! variant is better, costs say. A loop that is copied whole as often as it runs is gone because its last test is
//! known to fail, not because anything here says so.
//!
//! **Invariant**: what [`vary`] gives is verified, and [`check`] has found it to be made of copies, from nothing but the
//! two functions and what each block is a copy of; or [`fused`] or [`interchanged`] has found, from nothing but the two functions, that
//! two loops may be one, or the other way round.

mod accesses;
mod check;
mod checked;
mod condition;
mod copies;
mod decided;
mod fused;
mod fusion;
mod interchange;
mod interchanged;
mod merges;
mod places;
mod polynomial;
mod rename;
mod shapes;
mod together;

pub use check::NoCopy;
pub use fused::NotFused;
pub use interchanged::NotInterchanged;

use crate::ir::verify::{IrError, verify};
use crate::ir::{BlockId, Cfg, Function, InstKind, Loop, LoopId, OpaqueEffects};
use condition::steady_branches;
use copies::Witness;
use fusion::Pair;
use interchange::Nest;
use rewright_typeprop::Universe;
use rewright_typeprop::ops::LoopRole;
use shapes::Copyable;

/// Instructions of a loop that is copied as a whole, at most.
const MAX_LOOP: usize = 120;

/// Instructions of a test that is copied, at most.
const MAX_TEST: usize = 20;

/// Iterations of a loop that is copied as often as it runs, at most, ..
const MAX_ITERATIONS: u64 = 16;

/// .. and instructions of all of them together.
const MAX_COPIES: u64 = 300;

/// Instructions of a loop of which two iterations become one, at most ..
const MAX_UNROLLED: usize = 40;

/// .. and of one of which four do.
const MAX_UNROLLED_TWICE: usize = 20;

/// A change of a loop, or of a merge.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Change {
    /// The first test is made ahead of it; further ones stand at its end.
    TestLast,
    /// This many iterations come ahead of it.
    Ahead(u64),
    /// This many iterations come ahead of it, after which it is known to end.
    Instead(u64),
    /// This many iterations become one.
    Unrolled(u64),
    /// This many iterations follow one test as long as that many are left; the loop itself executes the rest.
    Together(u64),
    /// One loop for each way that this block's branch goes, which always goes the same way.
    Divided(BlockId),
    /// Each of its iterations is followed by one of the loop with this header, which followed it.
    Fused(BlockId),
    /// It changes places with the loop with this header, the only one in it.
    Interchanged(BlockId),
    /// Each way into this merge has a copy of it.
    Copied(BlockId),
}

impl Change {
    /// Does it put iterations behind one another that repeat?
    pub fn unrolls(self) -> bool {
        matches!(self, Change::Unrolled(_) | Change::Together(_))
    }
}

/// A change of one loop or merge of a function.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Proposal {
    /// The loop, by number: outer before inner ones. None for a merge.
    pub of: Option<LoopId>,
    /// The loop's header, or the merge.
    pub header: BlockId,
    /// What is done to it.
    pub change: Change,
}

/// Why a proposed variant is not a variant: a bug.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Unfaithful {
    /// It is no function.
    #[error("the verifier rejects it: {0}")]
    Invalid(IrError),
    /// It is not made of copies.
    #[error(transparent)]
    NoCopy(#[from] NoCopy),
    /// Two loops are one that may not be.
    #[error(transparent)]
    NotFused(#[from] NotFused),
    /// Two loops are the other way round that may not be.
    #[error(transparent)]
    NotInterchanged(#[from] NotInterchanged),
}

/// Does a pack speak of loops?
pub fn speaks_of_loops(universe: &Universe) -> bool {
    universe.ops.iter().any(|(_, op)| op.in_loop == Some(LoopRole::Theta))
}

/// Changes of merges that may be worth it. The function is in normal form
/// ([`normalise`](crate::ir::normalise::normalise)).
pub fn merge_proposals(function: &Function, cfg: &Cfg, universe: &Universe) -> Vec<Proposal> {
    let merges = merges::worth_copies(function, cfg, universe).into_iter();
    merges.map(|merge| Proposal { of: None, header: merge, change: Change::Copied(merge) }).collect()
}

/// Changes of loops that may be worth it, inner loops first. The function is in normal form.
pub fn proposals(function: &Function, cfg: &Cfg, universe: &Universe) -> Vec<Proposal> {
    let mut found = vec![];
    for (of, l) in cfg.loops().rev() {
        let Some(copyable) = Copyable::new(function, cfg, of) else { continue };
        let mut propose = |change| found.push(Proposal { of: Some(of), header: l.header, change });
        if let Some(second) = follower(function, cfg, universe, of) {
            propose(Change::Fused(second));
        }
        let size = copyable.blocks().iter().map(|block| instructions(function, *block)).sum::<usize>();
        let is_small = |times: &u64| *times <= MAX_ITERATIONS && times * size as u64 <= MAX_COPIES;
        let trips = copyable.trips(universe);
        let times = trips.filter(is_small);
        times.into_iter().for_each(|times| propose(Change::Instead(times)));
        if copyable.tested_first().is_some() && instructions(function, l.header) <= MAX_TEST {
            propose(Change::TestLast);
        }
        if size <= MAX_LOOP {
            for (branch, _) in steady_branches(function, cfg, universe, of) {
                propose(Change::Divided(branch));
            }
            if times != Some(1) && copyable.first_differs(universe) {
                propose(Change::Ahead(1));
            }
        }
        // Next to a call a test weighs little, and the first one for several iterations is in vain where there are few.
        let calls = || copyable.blocks().iter().any(|block| calls(function, universe, *block));
        if size <= MAX_UNROLLED && times.is_none() && (trips.is_some() || !calls()) {
            let often = if size <= MAX_UNROLLED_TWICE { 4 } else { 2 };
            let ahead = [often, 2].into_iter().find(|times| copyable.goes_on(*times, universe));
            propose(ahead.map_or(Change::Unrolled(2), Change::Together));
        }
    }
    found
}

/// The header of the loop that follows another one, if the two may be one.
fn follower(function: &Function, cfg: &Cfg, universe: &Universe, of: LoopId) -> Option<BlockId> {
    let pair = Pair::new(function, cfg, of)?;
    let fused = pair.fused(pair.tested(universe)?)?;
    let is_right = verify(&fused, universe).is_empty() && fused::check(function, &fused, universe).is_ok();
    is_right.then_some(pair.second.of.header)
}

/// Loops that may change places with the only one in them so that accesses come nearer to each other, and how many cache
/// lines fewer are moved per call, times the weight of an execution ([`Cfg::frequency`]). The function is in normal form.
pub fn interchanges(function: &Function, cfg: &Cfg, universe: &Universe) -> Vec<(Proposal, u64)> {
    let proposal = |(id, l): (LoopId, &Loop)| {
        let nest = Nest::new(function, cfg, universe, id)?;
        let moved = u64::try_from(places::nearer(&nest, universe, cfg)?).ok().filter(|moved| *moved > 0)?;
        let made = nest.interchanged();
        let is_right = verify(&made, universe).is_empty() && interchanged::check(function, &made, universe).is_ok();
        let lines = moved.saturating_mul(cfg.frequency(nest.inner.of.latch)) / places::LINE.unsigned_abs();
        let change = Change::Interchanged(nest.inner.of.header);
        is_right.then_some((Proposal { of: Some(id), header: l.header, change }, lines))
    };
    cfg.loops().filter_map(proposal).collect()
}

/// What a block executes, constants aside.
fn instructions(function: &Function, block: BlockId) -> usize {
    let insts = function.block(block).insts.iter();
    insts.filter(|id| !matches!(function.inst(**id).kind, InstKind::Const(_))).count()
}

/// Does a block call something?
fn calls(function: &Function, universe: &Universe, block: BlockId) -> bool {
    function.block(block).insts.iter().any(|id| match &function.inst(*id).kind {
        InstKind::Opaque { effects, .. } => *effects != OpaqueEffects::Pure,
        InstKind::Op { op, .. } => universe.ops.get(*op).is_sited(),
        InstKind::Const(_) | InstKind::Check { .. } => false,
    })
}

/// The function with a change made that [`proposals`] or [`merge_proposals`] has given for it; none where it cannot
/// be made: an edge that must stay would have to carry more.
///
/// # Errors
/// What is made is not verified or not made of copies: a bug.
pub fn vary(
    function: &Function,
    cfg: &Cfg,
    universe: &Universe,
    proposal: Proposal,
) -> Result<Option<Function>, Unfaithful> {
    type Check = fn(&Function, &Function, &Universe) -> Result<(), Unfaithful>;
    let (moved, check): (Option<Function>, Check) = match (proposal.change, proposal.of) {
        (Change::Fused(_), Some(of)) => {
            let fused = Pair::new(function, cfg, of).and_then(|pair| pair.fused(pair.tested(universe)?));
            (fused, |original, variant, universe| Ok(fused::check(original, variant, universe)?))
        }
        (Change::Interchanged(_), Some(of)) => {
            let interchanged = Nest::new(function, cfg, universe, of).map(|nest| nest.interchanged());
            (interchanged, |original, variant, universe| Ok(interchanged::check(original, variant, universe)?))
        }
        _ => return copied(function, cfg, universe, proposal),
    };
    let Some(moved) = moved else { return Ok(None) };
    verified(&moved, universe)?;
    check(function, &moved, universe)?;
    Ok(Some(moved))
}

fn verified(variant: &Function, universe: &Universe) -> Result<(), Unfaithful> {
    verify(variant, universe).first().map_or(Ok(()), |error| Err(Unfaithful::Invalid(error.clone())))
}

/// A variant that is made of copies.
fn copied(
    function: &Function,
    cfg: &Cfg,
    universe: &Universe,
    proposal: Proposal,
) -> Result<Option<Function>, Unfaithful> {
    let Some((variant, witness)) = changed(function, cfg, universe, proposal) else { return Ok(None) };
    verified(&variant, universe)?;
    check::check(function, &variant, universe, &witness)?;
    Ok(Some(variant))
}

fn changed(
    function: &Function,
    cfg: &Cfg,
    universe: &Universe,
    Proposal { of, change, .. }: Proposal,
) -> Option<(Function, Witness)> {
    match change {
        Change::Copied(merge) => merges::copied(function, cfg, merge),
        _ => Copyable::new(function, cfg, of?)?.changed(change, universe),
    }
}

#[cfg(test)]
mod tests;
