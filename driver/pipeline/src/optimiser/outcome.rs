//! What optimising gave: the function, what became of it and why, and the figures of its way.

use super::{Changed, Phases};
use rewright_cfg_skeleton::ir::Function;
use rewright_cfg_skeleton::select::{Ended, Status};
use rewright_engine::RuleReport;
use rewright_typeprop::RuleId;
use std::collections::BTreeMap;

/// What became of a function.
#[derive(Clone, PartialEq, Debug)]
pub enum Fate {
    /// A cheaper one goes out.
    Optimised,
    /// Nothing cheaper was found; the original goes out.
    Unchanged,
    /// Out of scope, with the reason; the original goes out.
    PassedThrough(String),
    /// A bug in Rewright or a wrong rule, with the reason; the original goes out.
    Failed(String),
}

/// What optimising one function gave.
#[derive(Clone, Debug)]
pub struct OptimisedFunction {
    /// What goes out.
    pub function: Function,
    /// What became of it.
    pub fate: Fate,
    /// Static cost of the original, as [`rewright_cfg_skeleton::select::cost`] counts.
    pub cost_before: u64,
    /// Static cost of what goes out.
    pub cost_after: u64,
    /// How good the selection is known to be.
    pub status: Status,
    /// What ended the search for a better one, or for the proof that there is none.
    pub ended: Option<Ended>,
    /// The pass over the selection that is left out because its result was wrong: a bug in Rewright.
    pub refused: Option<&'static str>,
    /// E-nodes after saturation, in the last round.
    pub nodes: usize,
    /// E-classes after saturation, in the last round.
    pub classes: usize,
    /// Times that the function was built.
    pub rounds: usize,
    /// The saturation budget ended before the rules did.
    pub exhausted: bool,
    /// Rules that took part (where logging is on), sorted.
    pub rules: Vec<RuleId>,
    /// Statements that are gone because `unsafe` rules license it.
    pub relaxed: Vec<Relaxed>,
    /// Changed values with the rules behind them (where logging is on).
    pub changed: Vec<Changed>,
}

impl OptimisedFunction {
    /// The original goes out after all; `function` is what would have.
    pub fn take_back(&mut self) {
        self.fate = Fate::Unchanged;
        self.cost_after = self.cost_before;
        self.relaxed.clear();
        self.changed.clear();
    }
}

/// A statement that is gone because a rule licenses it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Relaxed {
    /// The operation.
    pub operation: String,
    /// Which of the function's calls of it this was, from 1, ..
    pub nth: usize,
    /// .. and of how many.
    pub calls: usize,
    /// The front end's number of the instruction.
    pub origin: Option<u32>,
    /// The line of the input that it stands in, where our own text was read and it was not inlined.
    pub line: Option<u32>,
    /// The rule.
    pub rule: RuleId,
}

/// What became of a function of a file.
#[derive(Clone, Debug)]
pub struct FunctionOutcome {
    /// As its front end writes it.
    pub name: String,
    /// What became of it.
    pub fate: Fate,
    /// The pipeline's own figures, for functions that went into it.
    pub outcome: Option<OptimisedFunction>,
    /// What its front end calls the values that remarks speak of.
    pub names: ValueNames,
}

impl FunctionOutcome {
    /// Of a function that went through the pipeline and whose values have no names.
    pub fn of(name: &str, outcome: OptimisedFunction) -> Self {
        let fate = outcome.fate.clone();
        FunctionOutcome { name: name.to_string(), fate, outcome: Some(outcome), names: ValueNames::default() }
    }
}

/// What a front end calls values; made only where values are spoken of.
#[derive(Clone, Debug, Default)]
pub struct ValueNames {
    /// By value of what goes out.
    pub results: Vec<Option<String>>,
    /// By the number of its instruction in the original.
    pub originals: BTreeMap<u32, String>,
}

/// What optimising many functions gave.
#[derive(Clone, Debug, Default)]
pub struct Batch {
    /// One per function, in order.
    pub outcomes: Vec<OptimisedFunction>,
    /// Time by phase.
    pub phases: Phases,
    /// Matches and time per rule.
    pub rules: BTreeMap<RuleId, RuleReport>,
}

impl Batch {
    /// The functions of another batch behind these.
    pub fn add(&mut self, other: Batch) {
        self.outcomes.extend(other.outcomes);
        self.phases.add(&other.phases);
        for (rule, report) in other.rules {
            self.rules.entry(rule).or_default().add(report);
        }
    }
}
