//! The denotational harness: do the members of each e-class agree, on real executions?
//!
//! A function is run by the interpreter on given inputs. At the end of each visit of a block (all iterations, up to a
//! limit per block) every e-node of the saturated view whose leaves are defined there is evaluated:
//!
//! * a leaf (parameter, result of an opaque statement) has the value that the run gave it;
//! * a token (the state at the entry, at a join, after an opaque statement) is the memory where it was last live;
//! * operations have the meaning that the table declares, *total*: a division by zero has SMT-LIB's value;
//!   a load outside memory has none and is left out;
//! * what a loop carries (`theta`, recurrences) is a register: over the edge that enters the loop it takes the value that
//!   its first operand has there, over the edge that closes it the next one; what it is left with (`leave`) is one that
//!   takes its value over edges out of the loop;
//! * pure operations without a meaning are uninterpreted functions: hashes of their operands.
//!
//! A value whose class varies in no iteration of a loop must stay the same while the loop runs ([`invariance`]), and one
//! of which something is known where a block ends must be as it is known to be ([`ranges`]).
//!
//! All members of one class must agree, with each other and with what the run computed. NaNs are equal to each other.
//! Where a function names several regions, a state is compared on the bytes that no other region touched.
//!
//! The classes are looked at from the leaves up, so the first disagreement is the deepest one: its rules, if the view
//! has them, are the suspects.
//!
//! **Invariant**: wrong graphs give disagreements, never panics.

mod evaluate;
mod inputs;
mod invariance;
mod laboratory;
mod mutate;
mod observe;
mod ranges;
mod separate;

pub use inputs::random_inputs;
pub use laboratory::{Laboratory, Saturated};
pub use mutate::{Mutant, mutants};
pub use separate::{Separation, separations};

use evaluate::Graph;
use invariance::Claims;
use observe::Recorder;
use ranges::Ranges;
use rewright_cfg_skeleton::egraph::{ClassId, EGraphView, NodeId};
use rewright_cfg_skeleton::ir::interp::{self, Memory, Outcome};
use rewright_cfg_skeleton::ir::{BlockId, Cfg, Function, Value};
use rewright_cfg_skeleton::skeleton::Skeleton;
use rewright_typeprop::{RuleId, Universe};
use std::fmt;

/// One call.
#[derive(Clone, Debug)]
pub struct Input {
    /// Canonical constants, one per parameter.
    pub args: Vec<i64>,
    /// What addresses may point to.
    pub memory: Memory,
    /// What opaque statements do is drawn from this.
    pub seed: u64,
}

/// How much to run.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Instructions per call.
    pub fuel: u64,
    /// Visits per block and call at which the graph is evaluated.
    pub visits: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { fuel: 20_000, visits: 8 }
    }
}

/// The evidence of what a class is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Witness {
    /// The run: it computed this IR value, or was in this state.
    Value(Value),
    /// The run, in an earlier iteration of a loop in which the value must not vary.
    Earlier(Value),
    /// The memory of the run, where the class is the live state.
    Memory,
    /// A node.
    Node(NodeId),
    /// What is known of integers there.
    Known,
}

/// Two members of a class that differ.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Disagreement {
    /// The class.
    pub class: ClassId,
    /// The member that came first.
    pub first: Witness,
    /// The member that differs.
    pub second: Witness,
    /// What they say.
    pub values: [String; 2],
    /// The block at whose end this was seen.
    pub block: BlockId,
    /// Rules that are logged for the class: positions in the rule program.
    pub rules: Vec<RuleId>,
}

impl fmt::Display for Disagreement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [first, second] = &self.values;
        write!(f, "class {} in b{}: ", self.class.0, self.block.0)?;
        write!(f, "{} is {first}, {} is {second}", self.first, self.second)?;
        if !self.rules.is_empty() {
            let numbers: Vec<u32> = self.rules.iter().map(|rule| rule.0).collect();
            write!(f, " (rules {numbers:?})")?;
        }
        Ok(())
    }
}

impl fmt::Display for Witness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Witness::Value(v) => write!(f, "v{}", v.0),
            Witness::Earlier(v) => write!(f, "v{} in an earlier iteration", v.0),
            Witness::Memory => write!(f, "memory"),
            Witness::Node(n) => write!(f, "node {}", n.0),
            Witness::Known => write!(f, "what is known of it"),
        }
    }
}

/// What a harness saw.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct DenotationReport {
    /// At most one per class, from the leaves up.
    pub disagreements: Vec<Disagreement>,
    /// Visits at which the graph was evaluated.
    pub visits: u64,
    /// Nodes that were evaluated and compared, over all visits.
    pub comparisons: u64,
    /// Calls that could not be run to the end: something has no meaning.
    pub unsupported: u64,
}

/// A function with its saturated graph.
pub struct Harness<'a> {
    function: &'a Function,
    universe: &'a Universe,
    cfg: Cfg,
    graph: Graph<'a>,
    claims: Claims,
    ranges: Ranges,
}

impl<'a> Harness<'a> {
    /// `skeleton` was built from `function`, `view` is its saturated graph.
    pub fn new(function: &'a Function, universe: &'a Universe, skeleton: &'a Skeleton, view: &'a EGraphView) -> Self {
        let cfg = Cfg::new(function);
        let graph = Graph::new(function, &cfg, universe, skeleton, view);
        let claims = Claims::new(&cfg, skeleton, view, &graph);
        let given = rewright_cfg_skeleton::Saturated { function, cfg: &cfg, universe, skeleton, view };
        let ranges = Ranges::new(given);
        Harness { function, universe, cfg, graph, claims, ranges }
    }

    /// Runs one input and adds to a report.
    pub fn run(&self, input: &Input, limits: Limits, report: &mut DenotationReport) -> Outcome {
        let mut memory = input.memory.clone();
        let mut recorder = Recorder::new(self, input.seed, limits.visits, report);
        let outcome = interp::run(self.function, self.universe, &input.args, &mut memory, &mut recorder, limits.fuel);
        report.unsupported += u64::from(matches!(outcome, Outcome::Unsupported(_)));
        outcome
    }
}

/// Runs a function on inputs and compares the members of all classes.
pub fn check(
    function: &Function,
    universe: &Universe,
    skeleton: &Skeleton,
    view: &EGraphView,
    inputs: &[Input],
    limits: Limits,
) -> DenotationReport {
    let harness = Harness::new(function, universe, skeleton, view);
    let mut report = DenotationReport::default();
    for input in inputs {
        harness.run(input, limits, &mut report);
    }
    report
}

#[cfg(test)]
mod tests;
