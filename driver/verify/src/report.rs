//! What verification says, of a rule and of each of its type instances.

use rewright_dsl::instances::Obstacle;
use rewright_dsl::program::RuleId;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A verdict, from the best to the worst: a rule has the worst of its instances.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Both sides are equal wherever the rule matches.
    Equal,
    /// Proved at smaller widths, and values tried at this one: the solver could not decide it here.
    Narrower,
    /// Values were tried, and nothing more can be known: a side calls a library or a program's own function, or the
    /// rule gives something up and says so.
    Tested,
    /// Nothing is known: out of scope, or out of steps.
    Unknown,
    /// Its values are computed by a library that the user has not allowed to be called.
    NotRun,
    /// Equal where both sides are defined, but one is defined where the other is not.
    OneWay,
    /// The rule never matches.
    CannotFire,
    /// The sides differ.
    Counterexample,
}

impl Verdict {
    /// All, best first.
    pub const ALL: [Verdict; 8] = [
        Verdict::Equal,
        Verdict::Narrower,
        Verdict::Tested,
        Verdict::Unknown,
        Verdict::NotRun,
        Verdict::OneWay,
        Verdict::CannotFire,
        Verdict::Counterexample,
    ];

    /// For people.
    pub fn words(self) -> &'static str {
        match self {
            Verdict::Equal => "equal",
            Verdict::Narrower => "equal at smaller widths",
            Verdict::Tested => "tested",
            Verdict::Unknown => "unknown",
            Verdict::NotRun => "not run",
            Verdict::OneWay => "one way only",
            Verdict::CannotFire => "cannot fire",
            Verdict::Counterexample => "counterexample",
        }
    }
}

/// Values at which the sides differ.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Counterexample {
    /// By variable: its name and its value.
    pub values: Vec<(String, String)>,
    /// The left side's value.
    pub left: String,
    /// The right side's value.
    pub right: String,
    /// An example for the pack, which fails as long as the rule is there; a rule about facts has none.
    pub example: Option<String>,
    /// Something happened between the states that the rule speaks of.
    #[serde(default)]
    pub between_states: bool,
}

/// What compiled code gives at the values at which the evaluator was asked.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Compiled {
    /// What the evaluator gives.
    Same {
        /// At this many assignments.
        values: usize,
        /// At this many of these the sides differ: the rule is wrong for compiled code, too.
        differing: usize,
    },
    /// Something else: a mistake of ours or of the compiler, whatever the verdict.
    Other(String),
    /// It was not run, and why.
    NotRun(String),
}

/// One type instance.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct InstanceReport {
    /// What stands for the type parameters: `T = i32`.
    pub types: Vec<String>,
    /// The verdict.
    pub verdict: Verdict,
    /// How it was found: `values`, `solver`, `solver at 8 bits, values`.
    pub method: String,
    /// Why, where there is more to say.
    pub reason: Option<String>,
    /// What both sides give where they are compiled and run.
    pub compiled: Compiled,
    /// Time that it took.
    pub seconds: f64,
    /// Where the sides differ.
    pub counterexample: Option<Counterexample>,
}

/// A rule.
#[derive(Clone, PartialEq, Debug)]
pub struct RuleReport {
    /// The rule.
    pub rule: RuleId,
    /// The worst verdict of its instances.
    pub verdict: Verdict,
    /// In order of the types' declaration.
    pub instances: Vec<InstanceReport>,
    /// Combinations of types at which it has no instance, by what is in its way.
    pub left_out: BTreeMap<Obstacle, usize>,
    /// Nothing was asked: an earlier run had.
    pub cached: bool,
}

impl RuleReport {
    pub(super) fn new(
        rule: RuleId,
        instances: Vec<InstanceReport>,
        left_out: BTreeMap<Obstacle, usize>,
        cached: bool,
    ) -> Self {
        // A type at which a condition never holds is no fault, as long as there are others.
        let fires = |i: &&InstanceReport| i.verdict != Verdict::CannotFire;
        let verdict = instances.iter().filter(fires).map(|i| i.verdict).max().unwrap_or(Verdict::CannotFire);
        RuleReport { rule, verdict, instances, left_out, cached }
    }

    /// The instance that the verdict is about.
    pub fn worst(&self) -> Option<&InstanceReport> {
        self.instances.iter().find(|i| i.verdict == self.verdict)
    }
}
