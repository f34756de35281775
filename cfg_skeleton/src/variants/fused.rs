//! Does a function in which two loops are one do what it did? Asked of the two functions, without knowing how the
//! second one was made.
//!
//! The function is the original, but the header of the first loop has the parameters of both, an iteration of the
//! first loop is followed by one of the second, and the first one's test decides for both. That does the same if
//!
//! 1. both loops test the same in each iteration: counters that begin alike and step alike, compared alike with the
//!    same. Then they have equally many iterations. They end, whatever the function is given.
//! 2. Nothing in the second loop, and nothing that is computed earlier than it was, uses what the first one defines, or
//!    what is computed from that. So each iteration computes what it did, if its loads read what they did.
//! 3. Neither loop traps or does anything but compute and access memory. Of two accesses, one of each loop, of which
//!    one writes, the bytes are in different regions or objects, or they are the same in equal iterations, and apart in
//!    others. So the order of accesses to one byte is what it was: in equal iterations, the first loop's come first, as
//!    before, and others do not meet.
//!
//! That bytes are apart in different iterations needs an address that moves on by at least as many bytes as are
//! accessed, and does not come round. The counter that is tested has another value in each iteration, or the loop
//! would not end. So there are at most `2^(N - t)` iterations, for a counter of N bits whose step is an odd
//! multiple of `2^t`. Where these may still come round, each step is at most a megabyte, and each iteration makes
//! the access: then there are accesses in each megabyte of all addresses. Not all of them are memory, but none of
//! the accesses may trap.

use super::accesses::{Access, MAX_STEP, accesses, stays_below};
use super::checked::{Checked, require, surroundings};
use super::fusion::{Pair, Single, Tested, defined};
use super::polynomial::{Factor, Iterations};
use crate::ir::objects::PrivateObjects;
use crate::ir::operations::Operations;
use crate::ir::trip_count::{CountedBranch, CountedLoops};
use crate::ir::uses::uses;
use crate::ir::{Block, BlockId, Cfg, Edge, EdgeArg, Function, InstId, Terminator, Value};
use rewright_typeprop::Universe;
use smallvec::SmallVec;
use std::collections::BTreeSet;

/// Why two loops are not one: a bug in how that was made.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("two loops are not one: {0}")]
pub struct NotFused(pub(super) &'static str);

/// Checks that the variant does what the original does; both are verified.
pub(super) fn check(original: &Function, variant: &Function, universe: &Universe) -> Result<(), NotFused> {
    let cfg = Cfg::new(original);
    let mut why = NotFused("no loop follows another one");
    for pair in cfg.loops().filter_map(|(id, _)| Pair::new(original, &cfg, id)) {
        // One header is gone if both loops test first.
        let tested = match variant.layout.contains(&pair.second.of.header) {
            true => Tested::Last,
            false => Tested::First,
        };
        match (Check { original, variant, universe, cfg: &cfg, pair: &pair, tested }).all() {
            Ok(()) => return Ok(()),
            Err(other) => why = NotFused(other),
        }
    }
    Err(why)
}

struct Check<'a> {
    original: &'a Function,
    variant: &'a Function,
    universe: &'a Universe,
    cfg: &'a Cfg,
    pair: &'a Pair<'a>,
    tested: Tested,
}

impl Check<'_> {
    fn all(&self) -> Checked {
        self.whole()?;
        for block in &self.variant.layout {
            self.block(*block)?;
        }
        self.tests()?;
        self.values()?;
        self.memory()
    }

    /// Which blocks and values there are.
    fn whole(&self) -> Checked {
        let (o, v) = (self.original, self.variant);
        surroundings(o, v)?;
        let gone = |block: &BlockId| self.tested == Tested::First && *block == self.second().of.header;
        let stay: BTreeSet<BlockId> = o.layout.iter().copied().filter(|block| !gone(block)).collect();
        require(v.layout.iter().copied().collect::<BTreeSet<_>>() == stay, "there are other blocks")?;
        require(v.layout.len() == stay.len() && v.entry() == o.entry(), "it begins elsewhere")?;
        require(v.values.get(..o.values.len()) == Some(&o.values[..]), "a value has another type")
    }

    fn first(&self) -> &Single<'_> {
        &self.pair.first
    }

    fn second(&self) -> &Single<'_> {
        &self.pair.second
    }

    fn block(&self, id: BlockId) -> Checked {
        let (theirs, ours) = (self.original.block(id), self.variant.block(id));
        let (first, second) = (self.first().of, self.second().of);
        let mut params = theirs.params.clone();
        if id == first.header {
            params.extend(&self.original.block(second.header).params);
        } else if id == second.header {
            params.clear();
        }
        require(ours.params == params, "a block has other parameters")?;
        require(self.executes(id, ours), "a block executes something else")?;
        require(
            ours.insts.iter().all(|inst| self.is_as_it_was(*inst)),
            "an instruction is another, or has other operands",
        )?;
        require(ours.term == self.ends(id).ok_or("a block ends otherwise")?, "a block ends otherwise")?;
        let both = |block: BlockId| self.original.block(block).must_progress;
        let may_say_so = both(id) && (id != first.header || both(second.header));
        require(may_say_so || !ours.must_progress, "the original does not say that a loop must make progress")
    }

    /// Does a block have its instructions, in their order?
    fn executes(&self, id: BlockId, ours: &Block) -> bool {
        let theirs = &self.original.block(id).insts;
        if id == self.first().of.before {
            return ours.insts.starts_with(theirs);
        }
        let joins = self.tested == Tested::First && id == self.first().of.header;
        let others: &[InstId] = if joins { &self.original.block(self.second().of.header).insts } else { &[] };
        let early = if self.pair.between.contains(&id) { self.early() } else { &[] };
        let stay = theirs.iter().filter(|inst| !early.contains(inst));
        stay.chain(others).eq(&ours.insts)
    }

    /// What is computed before both loops and was computed between them, if anything is.
    fn early(&self) -> &[InstId] {
        let before = self.first().of.before;
        let theirs = self.original.block(before).insts.len();
        self.variant.block(before).insts.get(theirs..).unwrap_or_default()
    }

    fn is_as_it_was(&self, id: InstId) -> bool {
        let Some(theirs) = self.original.insts.get(id.index()) else { return false };
        let ours = self.variant.inst(id);
        (&ours.kind, &ours.args, &ours.results) == (&theirs.kind, &theirs.args, &theirs.results)
    }

    /// How a block ends.
    fn ends(&self, id: BlockId) -> Option<Terminator> {
        let (first, second) = (self.first(), self.second());
        let jump = |block: BlockId| match &self.original.block(block).term {
            Terminator::Jump(edge) => Some(edge),
            _ => None,
        };
        // Both loops go on with what each would have gone on with.
        let both = |one: BlockId, two: BlockId| {
            let args: SmallVec<[EdgeArg; 2]> = jump(one)?.args.iter().chain(&jump(two)?.args).copied().collect();
            Some(Terminator::Jump(Edge { target: first.of.header, args }))
        };
        let is_last = self.tested == Tested::Last;
        if id == first.of.before {
            both(first.of.before, second.of.before)
        } else if id == second.of.latch {
            both(first.of.latch, second.of.latch)
        } else if id == second.of.before {
            Some(Terminator::Jump(second.leaves.clone()))
        } else if id == first.of.latch {
            Some(Terminator::Jump(second.stays.clone()))
        } else if is_last && id == first.test {
            Some(Terminator::Jump(Edge { target: second.of.header, args: SmallVec::new() }))
        } else if is_last && id == second.test {
            let mut term = self.original.block(id).term.clone();
            for edge in term.edges_mut() {
                *edge = if edge == second.leaves { first.leaves.clone() } else { first.stays.clone() };
            }
            Some(term)
        } else {
            Some(self.original.block(id).term.clone())
        }
    }

    /// Condition 1, and that both test at the same place.
    fn tests(&self) -> Checked {
        let (first, second) = (self.first(), self.second());
        let tests_there = |l: &Single<'_>| match self.tested {
            Tested::First => l.test == l.of.header && self.is_silent(l.of.header),
            Tested::Last => l.stays.target == l.of.latch && l.test != l.of.latch && self.is_silent(l.of.latch),
        };
        require(
            tests_there(first) && tests_there(second),
            "the loops test at other places, or do more than that there",
        )?;
        let counted = CountedLoops::new(self.original, self.cfg, self.universe);
        let ends = |l: &Single<'_>| {
            let inside = |header| self.cfg.loop_contains(l.of.id, header);
            self.cfg.loops().filter(|(_, l)| inside(l.header)).all(|(id, l)| counted.ends(id, l))
        };
        require(ends(first) && ends(second), "a loop is not known to end")?;
        require(self.counted_alike(&counted).is_some(), "the loops do not count alike")
    }

    /// The test of the first loop, if the second one has the same.
    fn counted_alike(&self, counted: &CountedLoops<'_>) -> Option<CountedBranch> {
        let operations = Operations::new(self.original, self.universe);
        let tests = |l: &Single<'_>| {
            let found = counted.counted_branches(l.of.id, self.cfg.natural_loop(l.of.id));
            found.into_iter().filter(|test| test.block == l.test).collect::<Vec<_>>()
        };
        let of = |l: &Single<'_>, value| self.iterations(l, &operations).polynomial(value);
        let bound = |test: &CountedBranch| test.limit.ok_or(test.bound);
        let others = tests(self.second());
        tests(self.first()).into_iter().find(|one| {
            let counter = of(self.first(), one.counter);
            let is_same = |other: &&CountedBranch| {
                (one.relation, one.signed, one.step, bound(one))
                    == (other.relation, other.signed, other.step, bound(other))
                    && self.original.ty(one.counter) == self.original.ty(other.counter)
                    && counter.is_some()
                    && counter == of(self.second(), other.counter)
            };
            others.iter().any(|other| is_same(&other))
        })
    }

    fn iterations<'i>(&'i self, l: &Single<'i>, operations: &'i Operations<'i>) -> Iterations<'i> {
        Iterations { of: vec![l.of], universe: self.universe, operations, monotone: vec![] }
    }

    /// Condition 2.
    fn values(&self) -> Checked {
        let o = self.original;
        let early: BTreeSet<InstId> = self.early().iter().copied().collect();
        let mut between = self.pair.between.iter().flat_map(|block| &o.block(*block).insts);
        require(
            early.len() == self.early().len() && early.iter().all(|id| self.is_between(*id)),
            "something is computed ahead of the loops that was not between them",
        )?;
        require(between.all(|id| o.inst(*id).is_silent(self.universe)), "something has an effect between the loops")?;
        let is_constant = |value: &Value| {
            let mut insts = o.layout.iter().flat_map(|block| &o.block(*block).insts).map(|id| o.inst(*id));
            insts.any(|inst| inst.kind.constant().is_some() && inst.results.contains(value))
        };
        let mut left: BTreeSet<Value> = self.first().of.blocks().iter().flat_map(|b| defined(o, *b)).collect();
        left.extend(self.pair.between.iter().flat_map(|block| defined(o, *block)));
        early.iter().for_each(|id| o.inst(*id).results.iter().for_each(|value| _ = left.remove(value)));
        let mut used: BTreeSet<Value> = early.iter().flat_map(|id| o.inst(*id).args.iter().copied()).collect();
        for block in self.second().of.blocks() {
            uses(o, *block, |value, _| _ = used.insert(value));
        }
        if let Terminator::Jump(edge) = &o.block(self.second().of.before).term {
            used.extend(edge.args.iter().filter_map(|arg| match arg {
                EdgeArg::Value(value) => Some(*value),
                EdgeArg::Terminator(_) => None,
            }));
        }
        require(used.intersection(&left).all(is_constant), "the second loop uses what the first one leaves behind")
    }

    fn is_between(&self, id: InstId) -> bool {
        self.pair.between.iter().any(|block| self.original.block(*block).insts.contains(&id))
    }

    fn is_silent(&self, block: BlockId) -> bool {
        self.original.block(block).insts.iter().all(|id| self.original.inst(*id).is_silent(self.universe))
    }

    /// Condition 3.
    fn memory(&self) -> Checked {
        let operations = Operations::new(self.original, self.universe);
        let objects = PrivateObjects::new(self.original, self.cfg, self.universe);
        let of = |l: &Single<'_>| accesses(&self.iterations(l, &operations), &objects);
        let (first, second) = (of(self.first())?, of(self.second())?);
        let counted = CountedLoops::new(self.original, self.cfg, self.universe);
        let test = self.counted_alike(&counted).ok_or("the loops do not count alike")?;
        let keep_order =
            |one: &Access, other: &Access| one.is_apart_from(other) || meet_once(one, other, self.bits(&test));
        let pairs = first.iter().flat_map(|one| second.iter().map(move |other| (one, other)));
        require(
            pairs.into_iter().all(|(one, other)| keep_order(one, other)),
            "an access of the second loop may meet one of a later iteration of the first",
        )
    }

    /// There are at most 2 to the power of this many iterations.
    fn bits(&self, test: &CountedBranch) -> u32 {
        let bits = self.universe.types.scalar(self.original.ty(test.counter)).map_or(64, |scalar| scalar.bits());
        bits - test.step.trailing_zeros().min(bits)
    }
}

/// Do both access the same bytes in equal iterations, and none of the same in others, of which there are 2 to the power
/// of `bits`?
fn meet_once(one: &Access, other: &Access, bits: u32) -> bool {
    let (Some(address), Some(same)) = (&one.address, &other.address) else { return false };
    if address != same || one.size != other.size {
        return false;
    }
    let parts = address.by_varying();
    let varying: Vec<_> = parts.iter().filter(|(factors, _)| !factors.is_empty()).collect();
    let [(factors, by)] = &varying[..] else { return false };
    let (&[factor], Some(by)) = (&factors[..], by.as_constant()) else { return false };
    let by = i128::from(by).abs();
    match factor {
        Factor::Iterations(_) => {
            let is_everywhere = (one.each_time || other.each_time) && by <= MAX_STEP;
            by >= i128::from(one.size) && (stays_below(by, bits) || is_everywhere)
        }
        // The extended integer is another one in each iteration, all multiples of its step apart.
        Factor::Extended { bits: narrow, of, .. } => {
            let steps = of.by_iterations().map(|(_, steps)| steps);
            let Some(step) = steps.and_then(|steps| steps.get(&0)?.as_constant()) else { return false };
            let zeros = step.trailing_zeros();
            let is_once = narrow.checked_sub(zeros).is_some_and(|values| values >= bits);
            is_once && by << zeros.min(62) >= i128::from(one.size) && stays_below(by, *narrow)
        }
        Factor::Value(_) => false,
    }
}

#[cfg(test)]
mod tests;
