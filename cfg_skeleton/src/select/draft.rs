//! A program as it is chosen: which alternative defines a class where, and what becomes of statements.

use super::calls::executed;
use super::choices::{AltId, Choices};
use super::cost::CostAndSize;
use super::memory_plan::StatementPlan;
use super::selection::StatementChoice;
use crate::egraph::ClassId;
use crate::skeleton::SegmentId;
use std::collections::BTreeMap;

/// Which alternative defines a class in a segment.
pub(crate) type Chosen = BTreeMap<(SegmentId, ClassId), AltId>;

/// A program, before uses are looked at: it may hold what is unused.
#[derive(Clone, Debug)]
pub(crate) struct Draft {
    pub(crate) chosen: Chosen,
    /// By site.
    pub(crate) statements: Vec<StatementChoice>,
}

impl Draft {
    /// The program in which these groups of checks are executed as their operation.
    pub(crate) fn new(choices: &Choices, fused: &[bool], chosen: Chosen) -> Self {
        let choice = |fate: &StatementPlan| match fate {
            StatementPlan::Keep => StatementChoice::Keep { fused: false },
            StatementPlan::Optional | StatementPlan::Drop => StatementChoice::Drop,
        };
        let mut statements: Vec<StatementChoice> = choices.plan.fates.iter().map(choice).collect();
        for (group, _) in choices.groups.iter().zip(fused).filter(|(_, fused)| **fused) {
            for (n, site) in group.sites.iter().enumerate() {
                // The first one performs them all.
                statements[site.index()] =
                    if n == 0 { StatementChoice::Keep { fused: true } } else { StatementChoice::Drop };
            }
        }
        for site in choices.optional_calls() {
            let at = choices.given.skeleton.segment_before(site);
            if chosen.contains_key(&(at, executed(choices.given.view, site))) {
                statements[site.index()] = StatementChoice::Keep { fused: false };
            }
        }
        Draft { chosen, statements }
    }

    /// What all of it costs.
    pub(crate) fn cost(&self, choices: &Choices) -> CostAndSize {
        let definitions: CostAndSize = self.chosen.iter().map(|((at, _), alt)| choices.cost(*alt, *at)).sum();
        definitions.plus(choices.cost_of_statements(&self.statements)).in_function(choices.given.cfg)
    }
}
