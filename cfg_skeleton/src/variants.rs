//! Functions that do the same over other control flow: a loop whose first test is made ahead of it and whose others
//! stand at its end, iterations ahead of a loop, several iterations in one or behind one test, a loop for each way
//! that a condition comes out which it does not change, two loops as one; a merge of which each way into it has a
//! copy.
//!
//! A variant, except for one of two loops ([`fusion`], [`fused`]), consists of copies of blocks of the original
//! ([`copies`]); a [`Change`] says which, and where their edges lead ([`shapes`]). Nothing is computed otherwise:
//! what is known in a copy (that a first test holds, which way a branch goes) rules find out, and whether the
//! variant is better, costs say. A loop that is copied whole as often as it runs is gone because its last test is
//! known to fail, not because anything here says so.
//!
//! **Invariant**: what [`vary`] gives is verified, and [`check`] has found it to be made of copies, from nothing but the
//! two functions and what each block is a copy of; or [`fused`] has found that two loops may be one, from nothing
//! but the two functions.

mod affine;
mod check;
mod condition;
mod copies;
mod decided;
mod fused;
mod fusion;
mod merges;
mod rename;
mod shapes;
mod together;

pub use check::NoCopy;
pub use fused::NotFused;

use crate::ir::verify::{IrError, verify};
use crate::ir::{BlockId, Cfg, Function, InstKind, LoopId};
use condition::steady_branches;
use copies::Witness;
use fusion::Pair;
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
        let times = copyable.trips(universe).filter(is_small);
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
        if size <= MAX_UNROLLED && times.is_none() {
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

/// What a block executes, constants aside.
fn instructions(function: &Function, block: BlockId) -> usize {
    let insts = function.block(block).insts.iter();
    insts.filter(|id| !matches!(function.inst(**id).kind, InstKind::Const(_))).count()
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
    if let (Change::Fused(_), Some(of)) = (proposal.change, proposal.of) {
        let fused = Pair::new(function, cfg, of).and_then(|pair| pair.fused(pair.tested(universe)?));
        let Some(fused) = fused else { return Ok(None) };
        if let Some(error) = verify(&fused, universe).first() {
            return Err(Unfaithful::Invalid(error.clone()));
        }
        fused::check(function, &fused, universe)?;
        return Ok(Some(fused));
    }
    let Some((variant, witness)) = changed(function, cfg, universe, proposal) else { return Ok(None) };
    if let Some(error) = verify(&variant, universe).first() {
        return Err(Unfaithful::Invalid(error.clone()));
    }
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
