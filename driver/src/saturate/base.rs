//! An e-graph with all declarations and the rules that batches need, used for one batch after another.
//!
//! Preparing all rules of the standard packs takes 0.3 s, most of what a file of a few functions costs. So those that a
//! batch may match are prepared when it comes; a second batch that needs others gets all.
//!
//! **Invariant**: at rest, no table has a row. What a batch leaves behind is the union-find over its class numbers,
//! which nothing refers to; it is bounded by [`CLASSES`].

use super::EngineError;
use super::primitives::{self, Shared};
use egglog::EGraph;
use rewright_dsl::egglog::EgglogProgram;
use rewright_dsl::egglog::print::{APPLIED, PrintOptions, print_rules};
use std::sync::Arc;

/// Class numbers, counted from above, after which an e-graph is prepared anew: at up to 24 bytes each in the
/// union-find, tens of MB.
const CLASSES: u64 = 2_000_000;

/// The e-graph between batches.
pub(super) struct Base {
    log: bool,
    /// Nothing before the first batch, and after one that failed.
    egraph: Option<EGraph>,
    /// By rule: has it been declared?
    declared: Vec<bool>,
    /// Class numbers given out.
    classes: u64,
}

impl Base {
    pub(super) fn new(log: bool) -> Self {
        Base { log, egraph: None, declared: vec![], classes: 0 }
    }

    /// Declares what there is and rules, unless that is done.
    pub(super) fn prepare(
        &mut self,
        program: &EgglogProgram,
        shared: &Arc<Shared>,
        rules: &[bool],
    ) -> Result<(), EngineError> {
        let missing = self.declared.is_empty() || rules.iter().zip(&self.declared).any(|(wanted, is)| *wanted && !is);
        if self.egraph.is_none() || missing {
            let declared = match (self.declared.is_empty(), missing) {
                (true, _) => rules.to_vec(),
                (false, true) => vec![true; rules.len()],
                (false, false) => std::mem::take(&mut self.declared),
            };
            let mut egraph = EGraph::new(1);
            primitives::register(&mut egraph, program, shared);
            let options = PrintOptions { budget: true, log: self.log, tabulate: false };
            let text = print_rules(program, options, &|rule| declared[rule]);
            egraph.parse_and_run_program(None, &text).map_err(|error| EngineError::Program(error.to_string()))?;
            *self = Base { log: self.log, egraph: Some(egraph), declared, classes: 0 };
        }
        Ok(())
    }

    /// An e-graph without rows that knows these rules.
    pub(super) fn take(
        &mut self,
        program: &EgglogProgram,
        shared: &Arc<Shared>,
        rules: &[bool],
    ) -> Result<EGraph, EngineError> {
        self.prepare(program, shared, rules)?;
        Ok(self.egraph.take().expect("it is prepared"))
    }

    /// Takes an e-graph back after a batch that gave out at most so many class numbers.
    pub(super) fn give_back(
        &mut self,
        mut egraph: EGraph,
        classes: u64,
        program: &EgglogProgram,
    ) -> Result<(), EngineError> {
        self.classes += classes;
        if self.classes > CLASSES {
            return Ok(());
        }
        let relations = program.relations().map(|relation| relation.name.as_str());
        let log = APPLIED.iter().copied().filter(|_| self.log);
        for name in program.tables.iter().map(|table| table.name.as_str()).chain(relations).chain(log) {
            egraph.clear_function(name).map_err(|error| EngineError::Run(error.to_string()))?;
        }
        self.egraph = Some(egraph);
        Ok(())
    }
}
