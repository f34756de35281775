//! An e-graph with all declarations and the rules that batches need, used for one batch after another.
//!
//! Preparing all rules of the standard packs takes 0.6 s, most of what a file of a few functions costs. So those that a
//! batch may match are prepared when it comes, beside those that earlier ones needed. Each group of rules
//! ([`Possible::groups`]) is a ruleset for egglog, and what a step runs is made of those that can match.
//!
//! **Invariant**: at rest, no table has a row. What a batch leaves behind is the union-find over its class numbers,
//! which nothing refers to; it is bounded by [`CLASSES`].

use super::EngineError;
use super::possible::Possible;
use super::primitives::{self, Shared};
use egglog::EGraph;
use rewright_dsl::egglog::print::{APPLIED, PrintOptions, print_declarations, print_rules};
use rewright_dsl::egglog::{EgglogProgram, GENERATION};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Class numbers, counted from above, after which an e-graph is prepared anew: at up to 24 bytes each in the
/// union-find, tens of MB.
const CLASSES: u64 = 2_000_000;

/// Combinations of groups after which an e-graph is prepared anew.
const COMBINATIONS: usize = 10_000;

/// The e-graph between batches.
pub(super) struct Base {
    log: bool,
    pub(super) combinations: Combinations,
    /// Nothing before the first batch, and after one that failed.
    egraph: Option<EGraph>,
    /// By rule: has it been declared?
    declared: Vec<bool>,
    /// Class numbers given out.
    classes: u64,
}

impl Base {
    pub(super) fn new(log: bool) -> Self {
        Base { log, combinations: Combinations::default(), egraph: None, declared: vec![], classes: 0 }
    }

    /// Declares what there is and rules, unless that is done.
    pub(super) fn prepare(
        &mut self,
        program: &EgglogProgram,
        shared: &Arc<Shared>,
        possible: &Possible,
        rules: &[bool],
    ) -> Result<(), EngineError> {
        let options = PrintOptions { budget: true, log: self.log, tabulate: false };
        let mut egraph = match self.egraph.take() {
            Some(egraph) => egraph,
            None => {
                *self = Base { declared: vec![false; program.rules.len()], ..Base::new(self.log) };
                let mut egraph = EGraph::new(1);
                primitives::register(&mut egraph, program, shared);
                run(&mut egraph, &print_declarations(program, options))?;
                egraph
            }
        };
        // The rules of a group read the same tables, so they come together.
        let missing = |rule: usize| rules[rule] && !self.declared[rule];
        let place = |rule: usize| missing(rule).then(|| group_name(possible.groups[rule]));
        run(&mut egraph, &print_rules(program, options, &place))?;
        for (declared, wanted) in self.declared.iter_mut().zip(rules) {
            *declared |= wanted;
        }
        self.egraph = Some(egraph);
        Ok(())
    }

    /// An e-graph without rows that knows these rules.
    pub(super) fn take(
        &mut self,
        program: &EgglogProgram,
        shared: &Arc<Shared>,
        possible: &Possible,
        rules: &[bool],
    ) -> Result<EGraph, EngineError> {
        self.prepare(program, shared, possible, rules)?;
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
        if self.classes > CLASSES || self.combinations.0.len() > COMBINATIONS {
            return Ok(());
        }
        let relations = program.relations().map(|relation| relation.name.as_str());
        let log = APPLIED.iter().copied().filter(|_| self.log);
        let marks = program.generations.map(|_| GENERATION);
        for name in program.tables.iter().map(|table| table.name.as_str()).chain(relations).chain(log).chain(marks) {
            egraph.clear_function(name).map_err(|error| EngineError::Run(error.to_string()))?;
        }
        self.egraph = Some(egraph);
        Ok(())
    }
}

/// Groups that run together in a step, with the name of the ruleset that is made of them.
#[derive(Default)]
pub(super) struct Combinations(FxHashMap<Vec<usize>, String>);

impl Combinations {
    /// The ruleset of these groups, which are in order.
    pub(super) fn ruleset(&mut self, groups: &[usize], egraph: &mut EGraph) -> Result<String, EngineError> {
        if let [one] = groups {
            return Ok(group_name(*one));
        }
        if let Some(known) = self.0.get(groups) {
            return Ok(known.clone());
        }
        let name = format!("step-{}", self.0.len());
        let names: Vec<String> = groups.iter().map(|group| group_name(*group)).collect();
        let text = format!("(unstable-combined-ruleset {name} {})", names.join(" "));
        run(egraph, &text)?;
        self.0.insert(groups.to_vec(), name.clone());
        Ok(name)
    }
}

fn run(egraph: &mut EGraph, text: &str) -> Result<(), EngineError> {
    egraph.parse_and_run_program(None, text).map_err(|error| EngineError::Program(error.to_string()))?;
    Ok(())
}

fn group_name(group: usize) -> String {
    format!("group-{group}")
}
