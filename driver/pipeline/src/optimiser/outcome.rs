//! What optimising gave: the function, what became of it and why, and the figures of its way.

use super::{Changed, LoopRemark, Phases, Restructured, VariantRemark};
use crate::source::SourcePlace;
use rewright_cfg_skeleton::egraph::{Extent, Stop};
use rewright_cfg_skeleton::ir::{Function, Value};
use rewright_cfg_skeleton::select::{Ended, Status};
use rewright_engine::RuleReport;
use rewright_typeprop::RuleId;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What became of a function.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
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
    /// Budgets of saturation that ended before the rules did, in order.
    pub stops: Vec<Stop>,
    /// Rules that took part (where logging is on), sorted.
    pub rules: Vec<RuleId>,
    /// Statements that are gone because `unsafe` rules license it.
    pub relaxed: Vec<Relaxed>,
    /// Changed values with the rules behind them (where logging is on).
    pub changed: Vec<Changed>,
    /// What was recognised of its loops, and what was made of them (where logging is on).
    pub loops: Vec<LoopRemark>,
    /// Variants of it that were tried, in order; `loops` are those of the last one that was taken.
    pub variants: Vec<VariantRemark>,
    /// What became of its branches, checks and memory before values were chosen.
    pub restructured: Restructured,
    /// Statements that only allocate and are executed elsewhere, or not at all because their results are unused.
    pub moved_statements: Vec<MovedStatement>,
    /// Types of parameters of blocks that are more specific than they were.
    pub narrowed: Vec<String>,
    /// Functions whose bodies have taken the place of calls before anything else was done, once for each call.
    pub inlined: Vec<String>,
    /// Functions whose heads ([`rewright_cfg_skeleton::ir::heads`]) have, once for each call.
    pub heads: Vec<String>,
    /// Tail calls of itself that became jumps before anything else was done.
    pub tail_calls: usize,
    /// The values of what goes out that the original has, too, with those (where logging is on).
    pub originals: BTreeMap<Value, Value>,
}

impl OptimisedFunction {
    /// Did a budget end saturation before its schedule, in some round?
    pub fn exhausted(&self) -> bool {
        self.stops.iter().any(|stop| stop.extent == Extent::Run)
    }

    /// The rules that changed it, one for each value or statement that they changed (where logging is on).
    pub fn behind(&self) -> impl Iterator<Item = RuleId> {
        let changed = self.changed.iter().flat_map(|changed| &changed.rules).copied();
        changed.chain(self.relaxed.iter().map(|relaxed| relaxed.rule))
    }

    /// Notes that jumps took the place of tail calls, in what went into the pipeline: that goes out if nothing came of it there.
    pub fn note_tail_calls(&mut self, jumps: usize, function: &Function) {
        self.tail_calls = jumps;
        if jumps > 0 && self.fate == Fate::Unchanged {
            self.fate = Fate::Optimised;
            self.function = function.clone();
        }
    }

    /// The original goes out after all; `function` is what would have.
    pub fn take_back(&mut self) {
        self.fate = Fate::Unchanged;
        self.cost_after = self.cost_before;
        self.relaxed.clear();
        self.changed.clear();
        self.restructured = Restructured::default();
        self.moved_statements.clear();
        self.narrowed.clear();
        self.tail_calls = 0;
        self.loops.iter_mut().for_each(LoopRemark::take_back);
        self.variants.iter_mut().for_each(VariantRemark::take_back);
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

/// A statement that only allocates and is not executed where it was, though no rule lets it go.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MovedStatement {
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
    /// In how many places it is executed, at most once in a run for each time that it was; none where its result is
    /// unused.
    pub places: usize,
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
    /// What its front end calls the values that remarks speak of, and where they are in the source.
    pub names: ValueNames,
    /// Operations that were chosen, and that its front end could not write.
    pub unwritten: Vec<Unwritten>,
}

/// An operation that was chosen for a function and cannot be written there: it was chosen anew without.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unwritten {
    /// The operation's name in packs.
    pub operation: String,
    /// Why.
    pub why: String,
}

impl FunctionOutcome {
    /// Of a function that went through the pipeline and whose values have no names.
    pub fn of(name: &str, outcome: OptimisedFunction) -> Self {
        let fate = outcome.fate.clone();
        FunctionOutcome {
            name: name.to_string(),
            fate,
            outcome: Some(outcome),
            names: ValueNames::default(),
            unwritten: vec![],
        }
    }
}

/// What a front end calls values, and where they are in the source; made only where values are spoken of.
#[derive(Clone, Debug, Default)]
pub struct ValueNames {
    /// By value of what goes out.
    pub results: Vec<Option<String>>,
    /// By the number of its instruction in the original.
    pub originals: BTreeMap<u32, String>,
    /// By name, of both: the variable of the source that has this value, or the call that gives it, as far as debug
    /// information says.
    pub in_source: BTreeMap<String, String>,
    /// The same: where the instruction is in the source, as far as debug information says.
    pub places: BTreeMap<u32, SourcePlace>,
    /// Where the function is in the source.
    pub place: Option<SourcePlace>,
    /// What the source calls the function, where its front end writes another name: `list::push`.
    pub function: Option<String>,
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
