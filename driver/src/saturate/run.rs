//! Runs a schedule on an e-graph, step by step, within budgets.
//!
//! A step runs those groups of rules that can find something: each of their tables has rows, these stand under each other
//! as the patterns say ([`super::nested`]), and something has changed since the group ran last. Most steps of a schedule
//! come to nothing, and asking a rule costs as much as some matches.

use super::base::Prepared;
use super::batch::Batch;
use super::budget::{Budget, Step};
use super::possible::{Possible, rulesets};
use super::{EngineError, Report};
use rewright_dsl::egglog::{EgglogProgram, TYPE_BITS, TableKind};
use rustc_hash::FxHashMap;

/// By ruleset: the rules that a step of it runs, laws among them.
pub(super) fn members(program: &EgglogProgram) -> Vec<Vec<usize>> {
    let mut own: Vec<Vec<usize>> = vec![Vec::new(); program.rulesets.len()];
    for (index, rule) in program.rules.iter().enumerate() {
        own[rule.ruleset].push(index);
    }
    let laws: Vec<usize> = program.laws().into_iter().flat_map(|ruleset| own[ruleset].clone()).collect();
    for (ruleset, rules) in program.rulesets.iter().zip(&mut own) {
        if ruleset.combined.is_some() {
            rules.extend(&laws);
        }
    }
    own
}

/// What a run may do.
pub(super) struct Rules<'r> {
    /// By rule: can it match?
    pub(super) can_match: &'r [bool],
    /// The groups of rules.
    pub(super) possible: &'r Possible,
    /// By ruleset: the rules that a step of it runs.
    pub(super) members: &'r [Vec<usize>],
    /// What the e-graph knows of them.
    pub(super) prepared: &'r mut Prepared,
}

/// Gives the names of the rulesets that ran, in order, and whether the run was
/// broken off for all units.
pub(super) fn run(
    batch: &mut Batch<'_>,
    plan: &[Step],
    rules: Rules<'_>,
    budget: &Budget,
    report: &mut Report,
) -> Result<(Vec<String>, bool), EngineError> {
    let possible = rulesets(batch.program, rules.can_match);
    let sizes = rules.possible.sizes(batch);
    let present = rules.possible.nested.present(batch, &sizes)?;
    let mut runner = Runner {
        batch,
        possible,
        changed_at: 0,
        sizes,
        present,
        ran_at: FxHashMap::default(),
        rules,
        budget,
        report,
        steps: Vec::new(),
        stopped: false,
    };
    runner.sequence(plan)?;
    if runner.steps.is_empty() {
        runner.laws()?;
    }
    let (steps, stopped) = (runner.steps, runner.stopped);
    batch.shared.meter(|meter| {
        for (rule, matches) in report.rules.iter_mut().zip(&meter.matches) {
            rule.matches += matches;
        }
    });
    Ok((steps, stopped))
}

struct Runner<'r, 'b> {
    batch: &'r mut Batch<'b>,
    /// By ruleset: can it do anything here?
    possible: Vec<bool>,
    rules: Rules<'r>,
    /// By symbol: its rows.
    sizes: Vec<usize>,
    /// By pair of the patterns' rows: is it there?
    present: Vec<bool>,
    /// The last step that changed anything, counted from 1.
    changed_at: usize,
    /// By group: the last step that ran it.
    ran_at: FxHashMap<usize, usize>,
    budget: &'r Budget,
    report: &'r mut Report,
    steps: Vec<String>,
    stopped: bool,
}

impl Runner<'_, '_> {
    /// Did anything change?
    fn sequence(&mut self, steps: &[Step]) -> Result<bool, EngineError> {
        let mut changed = false;
        for step in steps {
            match step {
                Step::Run { parts, node_limit } => changed |= self.parts(parts, *node_limit)?,
                Step::Saturate { parts, node_limit } => {
                    for _ in 0..self.budget.rounds {
                        if !self.parts(parts, *node_limit)? {
                            break;
                        }
                        changed = true;
                    }
                }
                Step::Repeat { count, steps } => {
                    for _ in 0..*count {
                        if !self.sequence(steps)? {
                            break;
                        }
                        changed = true;
                    }
                }
            }
        }
        Ok(changed)
    }

    fn parts(&mut self, parts: &[usize], node_limit: Option<u64>) -> Result<bool, EngineError> {
        let mut changed = false;
        for ruleset in parts {
            changed |= self.step(*ruleset, node_limit)?;
        }
        Ok(changed)
    }

    /// Laws run beside every ruleset; where no ruleset can do anything, they run alone.
    fn laws(&mut self) -> Result<(), EngineError> {
        for ruleset in self.batch.program.laws() {
            for _ in 0..self.budget.rounds {
                if !self.step(ruleset, None)? {
                    break;
                }
            }
        }
        Ok(())
    }

    /// Those groups of a ruleset that can find something now, in order.
    fn due(&self, ruleset: usize) -> Vec<usize> {
        let Rules { can_match, possible, members, .. } = &self.rules;
        let due = |rule: &usize| {
            // A step does not see what it makes itself.
            let ran_since = |ran: &usize| *ran > self.changed_at;
            can_match[*rule]
                && possible.reads(*rule).iter().all(|symbol| self.sizes[*symbol] > 0)
                && possible.nested.pairs(*rule).iter().all(|pair| self.present[*pair])
                && !self.ran_at.get(&possible.groups[*rule]).is_some_and(ran_since)
        };
        let mut groups: Vec<usize> =
            members[ruleset].iter().copied().filter(due).map(|rule| possible.groups[rule]).collect();
        groups.sort_unstable();
        groups.dedup();
        groups
    }

    fn step(&mut self, ruleset: usize, node_limit: Option<u64>) -> Result<bool, EngineError> {
        let rules = &self.batch.program.rules;
        if let Some(first) = self.batch.program.generations
            && self.rules.members[ruleset].iter().any(|rule| rules[*rule].asks_generation())
        {
            self.single_step(first, None)?;
        }
        self.single_step(ruleset, node_limit)
    }

    fn single_step(&mut self, ruleset: usize, node_limit: Option<u64>) -> Result<bool, EngineError> {
        if self.stopped || !self.possible[ruleset] || self.steps.len() >= self.budget.steps {
            return Ok(false);
        }
        let groups = self.due(ruleset);
        if groups.is_empty() {
            return Ok(false);
        }
        let Rules { possible, prepared, .. } = &mut self.rules;
        let name = prepared.ruleset(&groups, self.batch.egraph, self.batch.program, possible)?;
        self.ran_at.extend(groups.iter().map(|group| (*group, self.steps.len() + 1)));
        let Rules { possible, members, .. } = &self.rules;
        let asked = members[ruleset].iter().filter(|rule| groups.binary_search(&possible.groups[**rule]).is_ok());
        let ruleset = &self.batch.program.rulesets[ruleset];
        let ran = ruleset.combined.as_ref().unwrap_or(&ruleset.name).clone();
        let shared = self.batch.shared;
        shared.meter(|meter| meter.begin_step(node_limit));
        let report = self.batch.egraph.step_rules(&name).map_err(|error| EngineError::Run(error.to_string()))?;
        for rule in asked {
            let name = self.batch.program.rules[*rule].name.as_str();
            let time = report.search_and_apply_time_per_rule.get(name).copied();
            self.report.rules[*rule].time += time.unwrap_or_default();
        }
        let over = shared.meter(|meter| meter.to_count());
        if !over.is_empty() {
            let nodes = count_nodes(self.batch)?;
            shared.meter(|meter| over.iter().for_each(|unit| meter.counted(*unit, nodes[*unit])));
        }
        self.stopped = shared.meter(|meter| meter.stopped || meter.all_spent());
        if report.updated {
            self.changed_at = self.steps.len() + 1;
            self.sizes = self.rules.possible.sizes(self.batch);
            self.present = self.rules.possible.nested.present(self.batch, &self.sizes)?;
        }
        self.steps.push(ran);
        Ok(report.updated)
    }
}

/// Nodes by unit.
fn count_nodes(batch: &Batch<'_>) -> Result<Vec<u64>, EngineError> {
    let mut nodes = vec![0u64; batch.units.len()];
    for table in &batch.program.tables {
        if matches!(table.kind, TableKind::Cons | TableKind::Nil) {
            continue;
        }
        let counted = batch.egraph.constructor_enodes(&table.name, |enode| {
            let column = batch.egraph.value_to_base::<i64>(enode.children[0]);
            if let Some(count) = nodes.get_mut((column >> TYPE_BITS) as usize) {
                *count += 1;
            }
        });
        counted.map_err(|error| EngineError::Run(error.to_string()))?;
    }
    Ok(nodes)
}
