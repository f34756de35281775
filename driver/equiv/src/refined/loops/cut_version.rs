//! One version, with the places at which it is cut.

use super::super::facts::Interval;
use super::super::flow::{Flow, Loop};
use super::super::region::Region;
use super::ranges;
use super::regions::{Cut, CutAt, RegionStart, cuts, region};
use crate::not_modelled::NotModelled;
use rewright_llvm::body::{Body, Instruction, Shape};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

/// One version, cut.
pub(super) struct CutVersion<'a> {
    pub(super) flow: Flow<'a>,
    pub(super) cuts: Vec<Cut>,
    pub(super) loops: Vec<Loop>,
    pub(super) slots: Vec<Instruction>,
    /// First iterations that stand alone.
    pub(super) peeled: usize,
    /// Between which numbers a value is likely to be, where that is not any.
    pub(super) bounds: FxHashMap<String, Interval>,
}

impl<'a> CutVersion<'a> {
    pub(super) fn new(
        body: &'a Body,
        at: CutAt,
        peeled: usize,
        is_kept: impl Fn(&Flow<'_>, &str) -> bool,
    ) -> Result<CutVersion<'a>, NotModelled> {
        let flow = Flow::new(body);
        let cuts = cuts(&flow, at, |i| i.result.as_ref().is_some_and(|name| is_kept(&flow, name)));
        CutVersion::of(flow, cuts, peeled)
    }

    pub(super) fn of(flow: Flow<'a>, cuts: Vec<Cut>, peeled: usize) -> Result<CutVersion<'a>, NotModelled> {
        let body = flow.body;
        let is_slot = |i: &&Instruction| matches!(i.shape, Shape::Alloca(_));
        if body.blocks[1..].iter().any(|block| block.instructions.iter().any(|i| is_slot(&i))) {
            return Err("a stack slot that is not made at the entry".into());
        }
        let slots = body.blocks[0].instructions.iter().filter(is_slot).cloned().collect();
        let (bounds, loops) = (ranges::ranges(&flow), flow.loops());
        Ok(CutVersion { flow, cuts, loops, slots, peeled, bounds })
    }

    pub(super) fn bounds(&self, name: &str) -> Option<Interval> {
        self.bounds.get(name).copied()
    }

    /// Makes regions go on behind a cut, if every cycle has another one.
    pub(super) fn pass(&mut self, cut: usize) -> bool {
        let was_passed = std::mem::replace(&mut self.cuts[cut].is_passed, true);
        let cuts: BTreeSet<usize> = self.cuts.iter().filter(|cut| !cut.is_passed).map(|cut| cut.block).collect();
        // Blocks from which nothing goes on but by cuts, and to such blocks, are in no cycle without a cut.
        let (mut left, mut more) = (self.flow.order().iter().copied().collect::<BTreeSet<_>>(), true);
        left.retain(|at| !cuts.contains(at));
        while std::mem::take(&mut more) {
            let before = left.len();
            let ends: Vec<usize> =
                left.iter().copied().filter(|at| self.flow.successors(*at).all(|to| !left.contains(&to))).collect();
            left.retain(|at| !ends.contains(at));
            more = left.len() < before;
        }
        self.cuts[cut].is_passed = left.is_empty() || was_passed;
        left.is_empty()
    }

    /// What is executed from the entry or from a cut.
    pub(super) fn region(&self, from: RegionStart) -> Result<Region, NotModelled> {
        region(&self.flow, &self.cuts, from, self.peeled)
    }
}
