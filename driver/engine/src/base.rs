//! An e-graph with all declarations and the rules that batches need, used for one batch after another.
//!
//! Preparing all rules of the standard packs takes 0.6 s, most of what a file of a few functions costs. So each group
//! of rules ([`Possible::groups`]) is a ruleset for egglog that is prepared when a step first runs it, and what a step
//! runs is made of those that can match then.
//!
//! **Invariant**: at rest, no table has a row. A batch leaves behind only the union-find over its class numbers,
//! which nothing refers to; it is bounded by [`CLASSES`].

use super::EngineError;
use super::primitives::{self, Shared};
use super::rule_filter::Possible;
use egglog::EGraph;
use rewright_dsl::egglog::print::{APPLIED, PrintOptions, print_declarations, print_rules};
use rewright_dsl::egglog::{EgglogProgram, Table};
use rewright_extract::clock;
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;
use std::time::Duration;

/// Class numbers, counted from above, after which an e-graph is prepared anew: at up to 24 bytes each in the
/// union-find, tens of MB.
const CLASSES: u64 = 2_000_000;

/// Class numbers, counted from above, after which an e-graph has so much memory that it is given up before a unit runs
/// alone in another.
const BULKY: u64 = 50_000;

/// Combinations of groups after which an e-graph is prepared anew.
const COMBINATIONS: usize = 10_000;

/// The ruleset of [`Prepared::hiding`].
const CONSTANTS: &str = "constants";

/// The e-graph between batches.
pub(super) struct Base {
    pub(super) prepared: Prepared,
    /// Nothing before the first batch, and after one that failed.
    egraph: Option<EGraph>,
    /// Class numbers given out.
    classes: u64,
}

impl Base {
    pub(super) fn new(log: bool) -> Self {
        Base { prepared: Prepared::new(log), egraph: None, classes: 0 }
    }

    /// Has it grown so large that it is better prepared anew than kept beside another?
    pub(super) fn is_bulky(&self) -> bool {
        self.classes > BULKY
    }

    /// Declares what there is.
    pub(super) fn declare(&mut self, program: &EgglogProgram, shared: &Arc<Shared>) -> Result<(), EngineError> {
        let egraph = self.take(program, shared)?;
        self.egraph = Some(egraph);
        Ok(())
    }

    /// Prepares all rules.
    pub(super) fn prepare_all(
        &mut self,
        program: &EgglogProgram,
        shared: &Arc<Shared>,
        possible: &Possible,
    ) -> Result<(), EngineError> {
        let mut egraph = self.take(program, shared)?;
        let all: Vec<usize> = (0..possible.groups.len()).collect();
        self.prepared.prepare(&all, &mut egraph, program, possible)?;
        // What no batch has asked for is charged to none.
        self.prepared.time = Duration::ZERO;
        self.egraph = Some(egraph);
        Ok(())
    }

    /// An e-graph without rows, in which what there is is declared.
    pub(super) fn take(&mut self, program: &EgglogProgram, shared: &Arc<Shared>) -> Result<EGraph, EngineError> {
        if let Some(egraph) = self.egraph.take() {
            return Ok(egraph);
        }
        *self = Base::new(self.prepared.log);
        let mut egraph = EGraph::new(1);
        primitives::register(&mut egraph, program, shared);
        run(&mut egraph, &print_declarations(program, self.prepared.options()))?;
        Ok(egraph)
    }

    /// Takes an e-graph back after a batch that gave out at most this many class numbers, and filled these symbols at
    /// most: emptying every table took a third of the time of a small function.
    pub(super) fn give_back(
        &mut self,
        mut egraph: EGraph,
        classes: u64,
        possible: &Possible,
        filled: &[usize],
    ) -> Result<(), EngineError> {
        self.classes += classes;
        if self.classes > CLASSES || self.prepared.combinations.len() > COMBINATIONS {
            return Ok(());
        }
        let log = APPLIED.iter().copied().filter(|_| self.prepared.log);
        for name in filled.iter().map(|symbol| possible.name(*symbol)).chain(log) {
            egraph.clear_function(name).map_err(|error| EngineError::Run(error.to_string()))?;
        }
        debug_assert!(possible.is_empty(&egraph), "a table that nothing fills has rows");
        self.egraph = Some(egraph);
        Ok(())
    }
}

/// What the rules of an e-graph are that it knows.
pub(super) struct Prepared {
    log: bool,
    /// Groups whose rules it knows.
    groups: FxHashSet<usize>,
    /// Groups that run together in a step, with the name of the ruleset that is made of them.
    combinations: FxHashMap<Vec<usize>, String>,
    /// Tables whose rows [`CONSTANTS`] hides, once that is there.
    hiding: Option<FxHashSet<usize>>,
    /// For preparing.
    pub(super) time: Duration,
}

impl Prepared {
    fn new(log: bool) -> Self {
        let (groups, combinations) = (FxHashSet::default(), FxHashMap::default());
        Prepared { log, groups, combinations, hiding: None, time: Duration::ZERO }
    }

    fn options(&self) -> PrintOptions {
        PrintOptions { budget: true, log: self.log, tabulate: false }
    }

    /// Makes the rules of these groups known, which are in order.
    fn prepare(
        &mut self,
        groups: &[usize],
        egraph: &mut EGraph,
        program: &EgglogProgram,
        possible: &Possible,
    ) -> Result<(), EngineError> {
        let missing: Vec<usize> = groups.iter().copied().filter(|group| !self.groups.contains(group)).collect();
        if !missing.is_empty() {
            let start = clock::now();
            let of = |group: &usize| {
                let name = group_name(*group);
                possible.groups[*group].iter().map(move |rule| (*rule, name.clone()))
            };
            let mut placed: Vec<(usize, String)> = missing.iter().flat_map(of).collect();
            placed.sort_unstable();
            run(egraph, &print_rules(program, self.options(), &placed))?;
            self.groups.extend(missing);
            self.time += clock::since(start);
        }
        Ok(())
    }

    /// The ruleset of these groups, which are in order.
    pub(super) fn ruleset(
        &mut self,
        groups: &[usize],
        egraph: &mut EGraph,
        program: &EgglogProgram,
        possible: &Possible,
    ) -> Result<String, EngineError> {
        if let Some(known) = self.combinations.get(groups) {
            return Ok(known.clone());
        }
        self.prepare(groups, egraph, program, possible)?;
        if let [one] = groups {
            return Ok(group_name(*one));
        }
        let name = format!("step-{}", self.combinations.len());
        let names: Vec<String> = groups.iter().map(|group| group_name(*group)).collect();
        let text = format!("(unstable-combined-ruleset {name} {})", names.join(" "));
        run(egraph, &text)?;
        self.combinations.insert(groups.to_vec(), name.clone());
        Ok(name)
    }
}

impl Prepared {
    /// The ruleset that hides rows of these tables from rules where their class holds a constant: there is nothing
    /// cheaper, and what rules make of them is as good as made of the constant. A class of zeros has a row for each
    /// product with zero, and rules that match two of them have a match for each pair.
    pub(super) fn hiding(
        &mut self,
        tables: impl Iterator<Item = usize>,
        egraph: &mut EGraph,
        program: &EgglogProgram,
    ) -> Result<&'static str, EngineError> {
        let start = clock::now();
        let mut text = String::new();
        let hiding = self.hiding.get_or_insert_with(|| {
            text += &format!("(ruleset {CONSTANTS})");
            FxHashSet::default()
        });
        for table in tables.filter(|table| hiding.insert(*table)) {
            let Table { name, columns, .. } = &program.tables[table];
            let columns: String = (0..columns.len()).map(|column| format!(" ?x{column}")).collect();
            text += &format!(
                "(rule ((= ?e ({name}{columns})) (= ?e (Const ?t ?n))) ((subsume ({name}{columns}))) \
                 :ruleset {CONSTANTS} :name \"{CONSTANTS}.{name}\")"
            );
        }
        run(egraph, &text)?;
        self.time += clock::since(start);
        Ok(CONSTANTS)
    }
}

fn run(egraph: &mut EGraph, text: &str) -> Result<(), EngineError> {
    egraph.parse_and_run_program(None, text).map_err(|error| EngineError::Program(error.to_string()))?;
    Ok(())
}

fn group_name(group: usize) -> String {
    format!("group-{group}")
}
