//! What units have used of their budgets, match by match.

use super::budget::Budget;
use super::held::Held;
use rewright_cfg_skeleton::egraph::{BudgetKind, Extent, Growth, Stop};
use rewright_dsl::egglog::{Action, EgglogProgram, Expr};
use rewright_dsl::program::{RuleId, StepLimits};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Rules that are named where a budget ends.
const MOST_GROWN: usize = 3;

/// How many nodes a match of each rule can make.
fn growth(program: &EgglogProgram) -> Vec<u64> {
    let calls = |action: &Action| match action {
        Action::Union(_, made) | Action::Insert(made) => count_calls(made),
        Action::Set(..) | Action::Subsume(_) => 0,
    };
    program.rules.iter().map(|rule| rule.actions.iter().map(calls).sum()).collect()
}

fn count_calls(expr: &Expr) -> u64 {
    match expr {
        Expr::Call(_, args) => 1 + args.iter().map(count_calls).sum::<u64>(),
        Expr::Var(_) | Expr::Int(_) | Expr::True => 0,
    }
}

/// What a match is told.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Charge {
    /// Go on.
    Granted,
    /// The unit has spent its budget.
    Refused,
    /// Nothing more can come of this step.
    Stop,
}

/// Counts matches and nodes by unit.
#[derive(Debug, Default)]
pub(super) struct Meter {
    pub(super) units: Vec<UnitMeter>,
    /// By rule: matches granted.
    pub(super) matches: Vec<u64>,
    /// By rule: nodes per match.
    pub(super) growth: Vec<u64>,
    /// Matches of units that had nothing left. They cost time, so a step with too many ends for all.
    refused: u64,
    max_refused: u64,
    /// At most this many new nodes, limited in a batch of several units.
    fresh: u64,
    max_fresh: u64,
    /// A step was broken off.
    pub(super) stopped: bool,
    /// Steps so far; the current one is the last.
    step: usize,
    /// The ruleset that the schedule is at.
    ruleset: String,
    /// By rule: the rule of the program.
    sources: Vec<Option<RuleId>>,
    /// In a run of one unit that has spent its budget before.
    held: Option<Held>,
}

/// One unit's counts.
#[derive(Clone, Debug)]
pub(super) struct UnitMeter {
    matches: u64,
    max_matches: u64,
    /// As last counted.
    nodes: u64,
    /// At most this many more since then.
    fresh: u64,
    max_nodes: u64,
    /// The current step's own limits.
    step_nodes: u64,
    step_matches: u64,
    /// Matches before the step.
    matches_before: u64,
    /// Over a limit of the step's own, until the step ends.
    paused: Option<(BudgetKind, u64)>,
    /// That is among the stops.
    noted: bool,
    spent: bool,
    /// The last step that granted a match.
    matched_at: usize,
    stops: Vec<Stop>,
}

impl UnitMeter {
    /// `fresh` counts each match as if all its nodes were new. Most are not, so it may go beyond the limit
    /// within a step, by a factor and a constant; between steps the nodes are counted.
    fn overdrawn(&self, limit: u64) -> bool {
        self.fresh > limit.saturating_sub(self.nodes).saturating_mul(3).saturating_add(1_000)
    }

    /// The limit of the step's own that has been reached before a round.
    fn step_limit(&self) -> Option<(BudgetKind, u64)> {
        if self.nodes > self.step_nodes {
            Some((BudgetKind::Nodes, self.step_nodes))
        } else if self.matches - self.matches_before >= self.step_matches {
            // Not asked within a round: which matches come first depends on the batch.
            Some((BudgetKind::Matches, self.step_matches))
        } else {
            None
        }
    }

    fn spend(&mut self, budget: BudgetKind, limit: u64, ruleset: &str) {
        self.spent = true;
        self.stop(budget, limit, Some(ruleset), Extent::Run);
    }

    fn stop(&mut self, budget: BudgetKind, limit: u64, ruleset: Option<&str>, extent: Extent) {
        let stop = Stop { budget, limit, ruleset: ruleset.map(str::to_owned), extent, grew: vec![] };
        if !self.stops.contains(&stop) {
            self.stops.push(stop);
        }
    }
}

impl Meter {
    pub(super) fn new(program: &EgglogProgram) -> Self {
        let sources = program.rules.iter().map(|rule| rule.source).collect();
        Meter { growth: growth(program), matches: vec![0; program.rules.len()], sources, ..Meter::default() }
    }

    /// At most this many nodes were made.
    pub(super) fn made(&self) -> u64 {
        self.matches.iter().zip(&self.growth).map(|(matches, growth)| matches * growth).sum()
    }

    /// A run of units with this many input nodes; one that is `held` has rules held back.
    pub(super) fn begin(&mut self, budget: &Budget, inputs: &[usize], held: bool) {
        self.held = match inputs {
            [input] if held => {
                let (from, allowed) = budget.held(*input as u64);
                Some(Held::new(from, allowed, self.sources.len()))
            }
            _ => None,
        };
        self.units = inputs
            .iter()
            .map(|input| {
                let input = *input as u64;
                UnitMeter {
                    matches: 0,
                    max_matches: budget.max_matches(input),
                    nodes: input,
                    fresh: 0,
                    max_nodes: budget.max_nodes(input),
                    step_nodes: u64::MAX,
                    step_matches: u64::MAX,
                    matches_before: 0,
                    paused: None,
                    noted: false,
                    spent: false,
                    matched_at: 0,
                    stops: Vec::new(),
                }
            })
            .collect();
        self.matches.iter_mut().for_each(|count| *count = 0);
        self.refused = 0;
        self.max_refused = if inputs.len() == 1 { 0 } else { budget.matches.saturating_mul(10) };
        self.fresh = 0;
        self.max_fresh = if inputs.len() == 1 { u64::MAX } else { budget.batch_fresh };
        self.stopped = false;
        self.step = 0;
    }

    pub(super) fn charge(&mut self, unit: usize, rule: usize) -> Charge {
        let growth = self.growth.get(rule).copied().unwrap_or(1);
        let Some(meter) = self.units.get_mut(unit) else { return Charge::Refused };
        if let (Some(held), Some(Some(source))) = (&mut self.held, self.sources.get(rule))
            && growth > 0
            && !meter.spent
            && meter.paused.is_none()
            && held.refuses(*source, meter.nodes.saturating_add(meter.fresh))
        {
            if held.refused > meter.max_matches.saturating_mul(10) {
                meter.spend(BudgetKind::Matches, meter.max_matches, &self.ruleset);
            }
            return Charge::Refused;
        }
        if !meter.spent && meter.paused.is_none() {
            meter.matches += 1;
            meter.fresh += growth;
            if meter.matches > meter.max_matches {
                meter.spend(BudgetKind::Matches, meter.max_matches, &self.ruleset);
            } else if meter.overdrawn(meter.max_nodes) {
                meter.spend(BudgetKind::Nodes, meter.max_nodes, &self.ruleset);
            } else if meter.overdrawn(meter.step_nodes) {
                meter.paused = Some((BudgetKind::Nodes, meter.step_nodes));
            } else {
                meter.matched_at = self.step;
                if let Some(count) = self.matches.get_mut(rule) {
                    *count += 1;
                }
                self.fresh += growth;
                if self.fresh > self.max_fresh {
                    self.stopped = true;
                    return Charge::Stop;
                }
                return Charge::Granted;
            }
        }
        let spent = meter.spent;
        if let Some((budget, limit)) = meter.paused.filter(|_| !spent && !meter.noted) {
            meter.noted = true;
            meter.stop(budget, limit, Some(&self.ruleset), Extent::Step);
        }
        self.refused += u64::from(spent);
        if spent && self.refused > self.max_refused {
            self.stopped = true;
            return Charge::Stop;
        }
        Charge::Refused
    }

    /// A step of the schedule: its own limits count from here.
    pub(super) fn begin_limits(&mut self, ruleset: &str, limits: StepLimits) {
        ruleset.clone_into(&mut self.ruleset);
        for unit in &mut self.units {
            unit.step_nodes = limits.nodes.unwrap_or(u64::MAX);
            unit.step_matches = limits.matches.unwrap_or(u64::MAX);
            unit.matches_before = unit.matches;
        }
    }

    /// A ruleset runs once.
    pub(super) fn begin_step(&mut self) {
        self.step += 1;
        for unit in &mut self.units {
            (unit.paused, unit.noted) = (unit.step_limit(), false);
        }
    }

    /// Steps so far.
    pub(super) fn steps(&self) -> usize {
        self.step
    }

    /// A step has had its rounds: it is cut short in units in which rules matched after the step `since`.
    pub(super) fn rounds_ended(&mut self, limit: u64, ruleset: Option<&str>, since: usize) {
        for unit in self.units.iter_mut().filter(|unit| !unit.spent && unit.matched_at > since) {
            unit.stop(BudgetKind::Rounds, limit, ruleset, Extent::Step);
        }
    }

    /// The run has had its steps.
    pub(super) fn steps_ended(&mut self, limit: usize) {
        self.stopped = true;
        // Steps of several units are not those of one.
        if let [unit] = &mut self.units[..] {
            unit.spend(BudgetKind::Steps, limit as u64, &self.ruleset);
        }
    }

    /// Units whose nodes must be counted before the next step.
    pub(super) fn to_count(&self) -> Vec<usize> {
        let large = self.held.as_ref().map_or(u64::MAX, Held::grows_at);
        let limit = |unit: &UnitMeter| unit.max_nodes.min(unit.step_nodes).min(large);
        let over = |unit: &UnitMeter| unit.nodes.saturating_add(unit.fresh) > limit(unit);
        (0..self.units.len()).filter(|i| !self.units[*i].spent && over(&self.units[*i])).collect()
    }

    pub(super) fn counted(&mut self, unit: usize, nodes: u64) {
        let unit = &mut self.units[unit];
        unit.nodes = nodes;
        unit.fresh = 0;
        if let Some(held) = &mut self.held {
            held.counted(nodes);
        }
        if nodes > unit.max_nodes {
            unit.spend(BudgetKind::Nodes, unit.max_nodes, &self.ruleset);
        }
    }

    /// Nothing more can come of a run.
    pub(super) fn all_spent(&self) -> bool {
        self.units.iter().all(|unit| unit.spent)
    }

    /// By unit: which budgets ended.
    pub(super) fn stops(&self, program: &EgglogProgram) -> Vec<Vec<Stop>> {
        let mut stops: Vec<Vec<Stop>> = self.units.iter().map(|unit| unit.stops.clone()).collect();
        if let [stops] = &mut stops[..] {
            for stop in stops.iter_mut().filter(|stop| stop.extent == Extent::Run) {
                stop.grew = self.grew(program);
            }
            stops.extend(self.held.as_ref().and_then(|held| self.held_back(program, held)));
        }
        stops
    }

    /// The rules that were held back.
    fn held_back(&self, program: &EgglogProgram, held: &Held) -> Option<Stop> {
        let mut grew = self.growths(program);
        grew.retain(|growth| held.is_back(growth.rule));
        let stop =
            Stop { budget: BudgetKind::Matches, limit: held.allowed, ruleset: None, extent: Extent::Rules, grew };
        (!stop.grew.is_empty()).then_some(stop)
    }

    /// The rules that made most nodes.
    fn grew(&self, program: &EgglogProgram) -> Vec<Growth> {
        let mut grew = self.growths(program);
        grew.truncate(MOST_GROWN);
        grew
    }

    /// All rules, those that made most nodes first.
    fn growths(&self, program: &EgglogProgram) -> Vec<Growth> {
        let mut by_rule: BTreeMap<RuleId, (u64, u64)> = BTreeMap::new();
        for ((rule, matches), growth) in program.rules.iter().zip(&self.matches).zip(&self.growth) {
            if let Some(source) = rule.source.filter(|_| *matches > 0) {
                let sum = by_rule.entry(source).or_default();
                *sum = (sum.0 + matches, sum.1 + matches * growth);
            }
        }
        let mut grew: Vec<Growth> =
            by_rule.into_iter().map(|(rule, (matches, nodes))| Growth { rule, matches, nodes }).collect();
        grew.sort_by_key(|growth| (Reverse(growth.nodes), Reverse(growth.matches), growth.rule));
        grew
    }
}
