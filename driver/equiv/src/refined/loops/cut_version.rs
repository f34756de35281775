//! One version, with the places at which it is cut.

use super::super::facts::Interval;
use super::super::flow::Flow;
use super::super::region::Region;
use super::ranges;
use super::regions::{Cut, CutAt, RegionStart, cuts, region};
use crate::not_modelled::NotModelled;
use rewright_llvm::body::{Body, Instruction, Shape};
use rustc_hash::FxHashMap;

/// One version, cut.
pub(super) struct CutVersion<'a> {
    pub(super) flow: Flow<'a>,
    pub(super) cuts: Vec<Cut>,
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
        let bounds = ranges::ranges(&flow);
        Ok(CutVersion { flow, cuts, slots, peeled, bounds })
    }

    pub(super) fn bounds(&self, name: &str) -> Option<Interval> {
        self.bounds.get(name).copied()
    }

    /// What is executed from the entry or from a cut.
    pub(super) fn region(&self, from: RegionStart) -> Result<Region, NotModelled> {
        region(&self.flow, &self.cuts, from, self.peeled)
    }
}
