//! Which budget ended saturation before its rules were done.

use rewright_typeprop::RuleId;
use std::fmt;

/// A budget of a unit that ended while rules still matched. The nodes that they would have added are not in the view.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Stop {
    /// The quantity that was counted.
    pub budget: BudgetKind,
    /// How many there may be.
    pub limit: u64,
    /// The ruleset that was running; `None` for steps that are repeated together.
    pub ruleset: Option<String>,
    /// The step or function that ended.
    pub extent: Extent,
    /// The rules behind most of the e-graph, largest first, where the whole run came to an end; those that were held
    /// back.
    pub grew: Vec<Growth>,
}

/// A quantity that a budget limits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum BudgetKind {
    /// Matches of rules.
    Matches,
    /// E-nodes.
    Nodes,
    /// Rounds of one `saturate`, or of one `repeat` without a number.
    Rounds,
    /// Rounds of all rulesets of a schedule.
    Steps,
}

/// How much a budget ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Extent {
    /// Some rules, each of which had that many matches; the others went on.
    Rules,
    /// One step of the schedule; those after it ran.
    Step,
    /// The run.
    Run,
}

/// Effect of a rule on an e-graph: matches and changes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Growth {
    /// The rule.
    pub rule: RuleId,
    /// Its matches.
    pub matches: u64,
    /// Nodes that these made at most.
    pub nodes: u64,
}

impl BudgetKind {
    /// All of them.
    pub const ALL: [BudgetKind; 4] = [BudgetKind::Matches, BudgetKind::Nodes, BudgetKind::Rounds, BudgetKind::Steps];

    /// As commands and schedules name it.
    pub fn name(self) -> &'static str {
        match self {
            BudgetKind::Matches => "matches",
            BudgetKind::Nodes => "nodes",
            BudgetKind::Rounds => "rounds",
            BudgetKind::Steps => "steps",
        }
    }

    /// This many of them: `1 node`, `2 nodes`.
    fn counted(self, n: u64) -> String {
        let one = match self {
            BudgetKind::Matches => "match",
            BudgetKind::Nodes => "node",
            BudgetKind::Rounds => "round",
            BudgetKind::Steps => "step",
        };
        format!("{n} {}", if n == 1 { one } else { self.name() })
    }
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match (&self.ruleset, self.extent) {
            (_, Extent::Rules) => {
                let count = self.grew.len();
                let rules = if count == 1 { "rule was" } else { "rules were" };
                return write!(f, "{count} {rules} held back after {} matches in a large e-graph", self.limit);
            }
            (Some(_), Extent::Run) => "saturation",
            (Some(_), Extent::Step) => "a step",
            (None, _) => "a `repeat`",
        };
        write!(f, "{what} ended at {}", self.budget.counted(self.limit))?;
        match &self.ruleset {
            Some(ruleset) => write!(f, " in `{ruleset}`"),
            None => Ok(()),
        }
    }
}
