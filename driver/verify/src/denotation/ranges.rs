//! Is the value of a class, whenever a block is left, one of those that it may be there ([`KnownAtEnds`])?

use super::evaluate::{Denotation, Found};
use super::{DenotationReport, Disagreement, Witness};
use rewright_cfg_skeleton::Saturated;
use rewright_cfg_skeleton::egraph::ClassId;
use rewright_cfg_skeleton::ir::BlockId;
use rewright_cfg_skeleton::skeleton::KnownAtEnds;
use rewright_typeprop::Known;
use rustc_hash::FxHashMap;
use std::cell::RefCell;

/// What is known of a function's integers.
pub(super) struct Ranges {
    at_ends: KnownAtEnds,
    /// What was asked.
    asked: RefCell<FxHashMap<(BlockId, ClassId), Option<Known>>>,
}

impl Ranges {
    pub(super) fn new(given: Saturated<'_>) -> Self {
        Ranges { at_ends: KnownAtEnds::new(given), asked: RefCell::default() }
    }

    /// Compares what classes are at the end of a block with what they may be.
    pub(super) fn compare(&self, block: BlockId, found: &Found, report: &mut DenotationReport) {
        let mut asked = self.asked.borrow_mut();
        for (class, found) in (0u32..).map(ClassId).zip(found) {
            let Some((witness, Denotation::Word(value))) = found else { continue };
            let known = *asked.entry((block, class)).or_insert_with(|| self.at_ends.known(block, class));
            let Some(known) = known else { continue };
            report.comparisons += 1;
            let said = report.disagreements.iter().any(|d| d.class == class);
            if !said && !known.allows(*value) {
                let (first, second) = (*witness, Witness::Known);
                let values = [value.to_string(), format!("{known:?}")];
                report.disagreements.push(Disagreement { class, first, second, values, block, rules: vec![] });
            }
        }
    }
}
