//! How far a unit may go, in counts, and what a schedule comes to.

use super::{EngineError, SaturateOptions};
use rewright_cfg_skeleton::egraph::BudgetKind;
use rewright_dsl::egglog::EgglogProgram;
use rewright_dsl::program::{ScheduleStep, StepLimits};

/// Matches per unit. A unit of 100 instructions takes a few hundred; 20,000 is what a saturated sum of about ten
/// terms takes under associativity, and tens of milliseconds.
const MATCHES: u64 = 20_000;

/// Further matches per input node, so that a long function has no less per instruction than a short one.
const MATCHES_PER_INPUT: u64 = 16;

/// Rounds of a ruleset that is to be saturated. Most finish in three or four; a rule that counts down needs as many as
/// there are numbers. A set that grows without end meets another limit first.
const ROUNDS: u64 = 1_000;

/// Nodes per unit, and further ones per input node. Most useful runs reach a tenth of it; a byte swap of 64 bits that is
/// found step by step spends it all.
const NODES: u64 = 4_000;
const NODES_PER_INPUT: u64 = 8;

/// No unit grows beyond this: at about 150 bytes a node (row, hash entry, index) it is 60 MB.
const NODE_CAP: u64 = 400_000;

/// Nodes that the matches of a batch may make, all counted as new. Beyond, the batch is cut in two: a single unit
/// has limits of its own, but a thousand that grow at once would fill the memory before each has met its own.
const BATCH_FRESH: u64 = 500_000;

/// Steps of a whole run, however a schedule repeats itself: the standard schedule has 55 rulesets, eight times.
const MAX_STEPS: usize = 2_000;

/// A unit that has spent its budget runs again with rules held back: beyond this many nodes, and further ones per input
/// node, each rule has this many matches, and one further for a number of input nodes. With 600 nodes, byte swaps that are
/// found step by step were no longer found; with 6 per input node, long blocks had nothing left for the rules that come
/// last.
const HELD_NODES: u64 = 3_000;
const HELD_NODES_PER_INPUT: u64 = 2;
const HELD_MATCHES: u64 = 100;
const INPUTS_PER_HELD_MATCH: u64 = 16;

/// Limits per unit. Counts, never clocks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Matches.
    pub matches: u64,
    /// Further matches per input node.
    pub matches_per_input: u64,
    /// Rounds of each step that goes on until nothing changes.
    pub rounds: u64,
    /// Nodes.
    pub nodes: u64,
    /// Further nodes per input node.
    pub nodes_per_input: u64,
    /// Nodes, whatever the input.
    pub node_cap: u64,
    /// Steps of a whole run.
    pub steps: usize,
    /// New nodes of a batch of several units; beyond, it is cut. Changes no result, only the memory taken.
    pub batch_fresh: u64,
    /// Where a unit runs again with rules held back: nodes from which their matches are counted.
    pub held_nodes: u64,
    /// Further ones per input node.
    pub held_nodes_per_input: u64,
    /// Matches of each rule from there on; one more for a number of input nodes.
    pub held_matches: u64,
}

impl Default for Budget {
    fn default() -> Self {
        Budget {
            matches: MATCHES,
            matches_per_input: MATCHES_PER_INPUT,
            rounds: ROUNDS,
            nodes: NODES,
            nodes_per_input: NODES_PER_INPUT,
            node_cap: NODE_CAP,
            steps: MAX_STEPS,
            batch_fresh: BATCH_FRESH,
            held_nodes: HELD_NODES,
            held_nodes_per_input: HELD_NODES_PER_INPUT,
            held_matches: HELD_MATCHES,
        }
    }
}

impl Budget {
    /// Matches that a unit of this many input nodes has.
    pub(super) fn max_matches(&self, inputs: u64) -> u64 {
        self.matches.saturating_add(self.matches_per_input.saturating_mul(inputs))
    }

    /// The most nodes that such a unit has.
    pub(super) fn max_nodes(&self, inputs: u64) -> u64 {
        self.nodes_per_input.saturating_mul(inputs).saturating_add(self.nodes).min(self.node_cap)
    }

    /// From how many nodes on rules are held back in such a unit, and how many matches each of them has then.
    pub(super) fn held(&self, inputs: u64) -> (u64, u64) {
        let from = self.held_nodes_per_input.saturating_mul(inputs).saturating_add(self.held_nodes);
        (from, self.held_matches.saturating_add(inputs / INPUTS_PER_HELD_MATCH))
    }

    /// The same with this many of what is counted, whatever the size of the unit.
    #[must_use]
    pub fn with(self, budget: BudgetKind, count: u64) -> Self {
        match budget {
            BudgetKind::Matches => Budget { matches: count, matches_per_input: 0, ..self },
            BudgetKind::Nodes => {
                let held = Budget { held_nodes: count / 4 * 3, held_nodes_per_input: 0, ..self };
                Budget { nodes: count, nodes_per_input: 0, node_cap: count, ..held }
            }
            BudgetKind::Rounds => Budget { rounds: count, ..self },
            BudgetKind::Steps => Budget { steps: usize::try_from(count).unwrap_or(usize::MAX), ..self },
        }
    }
}

/// A schedule over positions in `EgglogProgram::rulesets`: those of the parts of a ruleset.
#[derive(Clone, Debug)]
pub(super) enum Step {
    Run { ruleset: String, parts: Vec<usize>, limits: StepLimits },
    Saturate { ruleset: String, parts: Vec<usize>, limits: StepLimits },
    Repeat { count: Option<u64>, steps: Vec<Step> },
}

/// The schedule that the options ask for.
pub(super) fn plan(program: &EgglogProgram, options: &SaturateOptions) -> Result<Vec<Step>, EngineError> {
    if options.without_rules {
        return Ok(vec![]);
    }
    let Some(name) = &options.schedule else {
        let saturate = |(ruleset, parts): (&String, &Vec<usize>)| Step::Saturate {
            ruleset: ruleset.clone(),
            parts: parts.clone(),
            limits: StepLimits::default(),
        };
        return Ok(program.ruleset_index.iter().map(saturate).collect());
    };
    let schedule = program.schedules.get(name).ok_or_else(|| EngineError::Schedule(name.clone()))?;
    translate(program, schedule)
}

fn translate(program: &EgglogProgram, steps: &[ScheduleStep]) -> Result<Vec<Step>, EngineError> {
    let parts =
        |name: &String| program.ruleset_index.get(name).cloned().ok_or_else(|| EngineError::Schedule(name.clone()));
    steps
        .iter()
        .map(|step| {
            Ok(match step {
                ScheduleStep::Run { ruleset: name, limits } => {
                    Step::Run { ruleset: name.clone(), parts: parts(name)?, limits: *limits }
                }
                ScheduleStep::Saturate { ruleset: name, limits } => {
                    Step::Saturate { ruleset: name.clone(), parts: parts(name)?, limits: *limits }
                }
                ScheduleStep::Repeat { count, steps } => {
                    Step::Repeat { count: *count, steps: translate(program, steps)? }
                }
            })
        })
        .collect()
}
