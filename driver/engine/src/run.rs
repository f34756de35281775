//! Runs a schedule on an e-graph, step by step, within budgets.
//!
//! A step runs those groups of rules that can find something: each of their tables has rows, these stand under each
//! other as the patterns say ([`super::pattern_pairs`]), and one of them holds something else than when the group ran
//! last. Most steps of a schedule come to nothing, and asking a rule costs as much as some matches.

use super::base::Prepared;
use super::batch::Batch;
use super::budget::{Budget, Step};
use super::known_facts::KnownFacts;
use super::loop_facts::LoopFacts;
use super::pattern_pairs::Present;
use super::rule_filter::{Asked, Contents, Matching, Possible};
use super::said::Said;
use super::{EngineError, SaturationReport};
use rewright_dsl::egglog::{Sort, TYPE_BITS, TableKind};
use rewright_dsl::program::StepLimits;
use rustc_hash::FxHashMap;

/// What stops name where laws run alone.
const LAWS: &str = "laws";

/// What a run may do.
pub(super) struct Rules<'r> {
    /// What can match.
    pub(super) matching: &'r Matching,
    /// The groups of rules.
    pub(super) possible: &'r Possible,
    /// By ruleset: what a step of it asks.
    pub(super) asked: &'r [Asked],
    /// What says the facts that only loops tell; `None` where no unit has loops.
    pub(super) loop_facts: Option<&'r LoopFacts>,
    /// The relations of those.
    pub(super) loop_symbols: &'r [usize],
    /// What says the facts that bits and bounds tell; `None` where nothing is to say them.
    pub(super) known_facts: Option<&'r KnownFacts>,
    /// The relations of those.
    pub(super) known_symbols: &'r [usize],
    /// What the e-graph knows of them.
    pub(super) prepared: &'r mut Prepared,
    /// Rules are held back ([`super::held`]).
    pub(super) held: bool,
}

/// Gives the names of the rulesets that ran, in order, and whether the run was
/// broken off for all units.
pub(super) fn run(
    batch: &mut Batch<'_>,
    plan: &[Step],
    rules: Rules<'_>,
    budget: &Budget,
    report: &mut SaturationReport,
) -> Result<(Vec<String>, bool), EngineError> {
    let mut runner = Runner {
        batch,
        changed_at: 0,
        nodes_changed_at: 0,
        filled_at: None,
        known_at: None,
        hidden_at: None,
        contents: vec![Contents::default(); rules.possible.symbols()],
        stale: vec![true; rules.possible.symbols()],
        open: vec![false; rules.possible.symbols()],
        table_changed_at: vec![0; rules.possible.symbols()],
        said: Said::default(),
        present: Present::new(&rules.possible.nested),
        ran_at: FxHashMap::default(),
        idle_at: vec![None; rules.asked.len()],
        rules,
        budget,
        report,
        steps: Vec::new(),
        stopped: false,
    };
    runner.reopen();
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

/// What there was: the last step that changed anything, and the last that had changed nodes when facts about loops, and those
/// that bits and bounds tell, were last found.
type Time = (usize, Option<usize>, Option<usize>);

struct Runner<'r, 'b> {
    batch: &'r mut Batch<'b>,
    rules: Rules<'r>,
    /// By symbol: what its table held when it was looked at last; nothing where it is not asked for.
    contents: Vec<Contents>,
    /// By symbol: may its table hold something else by now?
    stale: Vec<bool>,
    /// By symbol: may there be facts of it that were not found yet, since something has changed?
    open: Vec<bool>,
    /// By symbol: the last step that changed its table, or one after that, before which no group ran that reads it.
    table_changed_at: Vec<usize>,
    /// Pairs of the patterns' rows.
    present: Present<'r>,
    /// The last step that changed anything, counted from 1.
    changed_at: usize,
    /// The last step that may have changed nodes or classes, not only facts.
    nodes_changed_at: usize,
    /// That step when facts about loops were last found.
    filled_at: Option<usize>,
    /// That step when facts that bits and bounds tell were last found.
    known_at: Option<usize>,
    /// That step when rows beside constants were last hidden.
    hidden_at: Option<usize>,
    /// Facts that were found between steps.
    said: Said,
    /// By group: the last step that ran it.
    ran_at: FxHashMap<usize, usize>,
    /// By ruleset: when it last had nothing to find.
    idle_at: Vec<Option<Time>>,
    budget: &'r Budget,
    report: &'r mut SaturationReport,
    steps: Vec<String>,
    stopped: bool,
}

impl Runner<'_, '_> {
    /// Did anything change?
    fn sequence(&mut self, steps: &[Step]) -> Result<bool, EngineError> {
        let mut changed = false;
        for step in steps {
            match step {
                Step::Run { ruleset, parts, limits } => {
                    self.begin_limits(ruleset, *limits);
                    changed |= self.parts(parts)?;
                }
                Step::Saturate { ruleset, parts, limits } => {
                    self.begin_limits(ruleset, *limits);
                    let rounds = limits.rounds.unwrap_or(self.budget.rounds);
                    changed |= self.until_unchanged(rounds, Some(ruleset), |runner| runner.parts(parts))?;
                }
                Step::Repeat { count: None, steps } => {
                    changed |= self.until_unchanged(self.budget.rounds, None, |runner| runner.sequence(steps))?;
                }
                Step::Repeat { count: Some(count), steps } => {
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

    /// Rounds until one changes nothing, or there were enough. Did anything change?
    fn until_unchanged(
        &mut self,
        rounds: u64,
        ruleset: Option<&str>,
        mut round: impl FnMut(&mut Self) -> Result<bool, EngineError>,
    ) -> Result<bool, EngineError> {
        let mut since = self.batch.shared.meter(|meter| meter.steps());
        for n in 0..rounds {
            since = self.batch.shared.meter(|meter| meter.steps());
            if !round(self)? {
                return Ok(n > 0);
            }
        }
        self.batch.shared.meter(|meter| meter.rounds_ended(rounds, ruleset, since));
        Ok(rounds > 0)
    }

    fn begin_limits(&self, ruleset: &str, limits: StepLimits) {
        self.batch.shared.meter(|meter| meter.begin_limits(ruleset, limits));
    }

    fn parts(&mut self, parts: &[usize]) -> Result<bool, EngineError> {
        let mut changed = false;
        for ruleset in parts {
            changed |= self.step(*ruleset)?;
        }
        Ok(changed)
    }

    /// Laws run beside every ruleset; where no ruleset can do anything, they run alone.
    fn laws(&mut self) -> Result<(), EngineError> {
        self.begin_limits(LAWS, StepLimits::default());
        for ruleset in self.batch.program.laws() {
            self.until_unchanged(self.budget.rounds, Some(LAWS), |runner| runner.step(ruleset))?;
        }
        Ok(())
    }

    /// Looks at those tables that may hold something else than when they were looked at last.
    fn look_again(&mut self, symbols: &[usize]) -> Result<(), EngineError> {
        let mut is_stale = |symbol: &usize| std::mem::take(&mut self.stale[*symbol]);
        let stale: Vec<usize> = symbols.iter().copied().filter(|symbol| is_stale(symbol)).collect();
        self.look(&stale)
    }

    /// Looks at what tables hold now, and notes which ones have changed.
    fn look(&mut self, symbols: &[usize]) -> Result<(), EngineError> {
        for (symbol, now) in symbols.iter().zip(self.rules.possible.contents(self.batch, symbols)?) {
            if std::mem::replace(&mut self.contents[*symbol], now) != now {
                self.table_changed_at[*symbol] = self.steps.len();
            }
        }
        Ok(())
    }

    /// Those groups of a ruleset that can find something now, in order.
    fn due(&mut self, ruleset: usize) -> Result<Vec<usize>, EngineError> {
        let mut groups = self.may_be_due(ruleset)?;
        if self.ask(&groups, self.rules.loop_symbols) && self.fill_loop_facts()? {
            groups = self.may_be_due(ruleset)?;
        }
        if self.ask(&groups, self.rules.known_symbols) && self.fill_known_facts()? {
            groups = self.may_be_due(ruleset)?;
        }
        Ok(groups)
    }

    /// The same, where facts that are found between steps may hold of anything as long as nobody has looked.
    fn may_be_due(&mut self, ruleset: usize) -> Result<Vec<usize>, EngineError> {
        let Rules { matching, possible, .. } = self.rules;
        let steps = &matching.rulesets[ruleset];
        self.look_again(&steps.reads)?;
        // A fact about one rule of a group holds of all.
        let rule = |group: &usize| possible.groups[*group][0];
        let has_rows = |symbol: &usize| self.contents[*symbol].rows > 0 || self.open[*symbol];
        // A step does not see what it makes itself.
        let changed_since = |ran: usize, symbol: &usize| {
            let changed_at = if self.open[*symbol] { self.changed_at } else { self.table_changed_at[*symbol] };
            changed_at >= ran
        };
        let can_find = |group: &usize| {
            let reads = possible.reads(rule(group));
            reads.iter().all(has_rows)
                && self.ran_at.get(group).is_none_or(|ran| reads.iter().any(|symbol| changed_since(*ran, symbol)))
        };
        let mut groups: Vec<usize> = steps.groups.iter().copied().filter(can_find).collect();
        let pairs = |group: &usize| possible.nested.pairs(rule(group));
        let wanted = groups.iter().flat_map(|group| pairs(group).iter().copied());
        self.present.look(self.batch, wanted, self.nodes_changed_at)?;
        groups.retain(|group| pairs(group).iter().all(|pair| self.present.has(*pair)));
        Ok(groups)
    }

    /// Does a rule of these groups read one of these symbols?
    fn ask(&self, groups: &[usize], symbols: &[usize]) -> bool {
        let possible = self.rules.possible;
        let mut rules = groups.iter().flat_map(|group| &possible.groups[*group]);
        rules.any(|rule| possible.reads(*rule).iter().any(|symbol| symbols.contains(symbol)))
    }

    /// Finds anew which facts of loops hold, where something has changed. Was there something to find?
    fn fill_loop_facts(&mut self) -> Result<bool, EngineError> {
        let Some(facts) = self.rules.loop_facts.filter(|_| self.filled_at != Some(self.nodes_changed_at)) else {
            return Ok(false);
        };
        self.filled_at = Some(self.nodes_changed_at);
        self.rules.loop_symbols.iter().for_each(|symbol| self.open[*symbol] = false);
        if facts.fill(self.batch, &mut self.said)? {
            self.look(self.rules.loop_symbols)?;
        }
        Ok(true)
    }

    /// Finds anew which facts bits and bounds tell, where something has changed. Was there something to find?
    fn fill_known_facts(&mut self) -> Result<bool, EngineError> {
        let Some(facts) = self.rules.known_facts.filter(|_| self.known_at != Some(self.nodes_changed_at)) else {
            return Ok(false);
        };
        self.known_at = Some(self.nodes_changed_at);
        self.rules.known_symbols.iter().for_each(|symbol| self.open[*symbol] = false);
        if facts.fill(self.batch, &mut self.said)? {
            self.look(self.rules.known_symbols)?;
        }
        Ok(true)
    }

    /// Notes which tables the last step may have changed, in which these rules matched.
    fn note_changes(&mut self, matched: &[usize]) {
        let possible = self.rules.possible;
        let changes: Option<Vec<&[usize]>> = matched.iter().map(|rule| possible.changes(*rule)).collect();
        let is_table = |symbol: &usize| *symbol < self.batch.program.tables.len();
        let nodes = match changes.filter(|_| !matched.is_empty()).map(|changes| changes.concat()) {
            Some(changes) => {
                changes.iter().for_each(|symbol| self.stale[*symbol] = true);
                changes.iter().any(is_table)
            }
            None => {
                self.stale.fill(true);
                true
            }
        };
        if nodes {
            self.nodes_changed_at = self.changed_at;
            self.reopen();
        }
    }

    /// Nodes or classes have changed: facts may be found again.
    fn reopen(&mut self) {
        let Rules { loop_facts, loop_symbols, known_facts, known_symbols, .. } = self.rules;
        let loops = loop_symbols.iter().filter(|_| loop_facts.is_some());
        let known = known_symbols.iter().filter(|_| known_facts.is_some());
        loops.chain(known).for_each(|symbol| self.open[*symbol] = true);
    }

    /// Hides rows beside constants, where something has changed and rules are held back.
    fn hide_beside_constants(&mut self) -> Result<(), EngineError> {
        if !self.rules.held || self.hidden_at == Some(self.changed_at) {
            return Ok(());
        }
        self.look_again(&self.rules.matching.read)?;
        let Batch { egraph, program, .. } = self.batch;
        let is_op = |table: &usize| matches!(program.tables[*table].kind, TableKind::Op(_));
        let values = |table: &usize| program.tables[*table].output == Sort::Value;
        let tables =
            (0..program.tables.len()).filter(|table| self.contents[*table].rows > 0 && is_op(table) && values(table));
        let name = self.rules.prepared.hiding(tables, egraph, program)?;
        egraph.step_rules(name).map_err(|error| EngineError::Run(error.to_string()))?;
        self.hidden_at = Some(self.changed_at);
        Ok(())
    }

    fn time(&self) -> Time {
        (self.changed_at, self.filled_at, self.known_at)
    }

    fn step(&mut self, ruleset: usize) -> Result<bool, EngineError> {
        if let Some(first) = self.batch.program.generations
            && self.rules.asked[ruleset].generations
        {
            self.single_step(first)?;
        }
        self.single_step(ruleset)
    }

    fn single_step(&mut self, ruleset: usize) -> Result<bool, EngineError> {
        if self.stopped || !self.rules.matching.rulesets[ruleset].can_match {
            return Ok(false);
        }
        self.hide_beside_constants()?;
        if self.idle_at[ruleset] == Some(self.time()) {
            return Ok(false);
        }
        let groups = self.due(ruleset)?;
        if groups.is_empty() {
            self.idle_at[ruleset] = Some(self.time());
            return Ok(false);
        }
        if self.steps.len() >= self.budget.steps {
            self.batch.shared.meter(|meter| meter.steps_ended(self.budget.steps));
            self.stopped = true;
            return Ok(false);
        }
        let Rules { possible, prepared, .. } = &mut self.rules;
        let name = prepared.ruleset(&groups, self.batch.egraph, self.batch.program, possible)?;
        self.ran_at.extend(groups.iter().map(|group| (*group, self.steps.len() + 1)));
        let asked = groups.iter().flat_map(|group| &possible.groups[*group]);
        let ruleset = &self.batch.program.rulesets[ruleset];
        let ran = ruleset.combined.as_ref().unwrap_or(&ruleset.name).clone();
        let shared = self.batch.shared;
        shared.meter(|meter| meter.begin_step());
        let report = self.batch.egraph.step_rules(&name).map_err(|error| EngineError::Run(error.to_string()))?;
        let mut matched = vec![];
        for rule in asked {
            let name = self.batch.program.rules[*rule].name.as_str();
            let time = report.search_and_apply_time_per_rule.get(name).copied();
            self.report.rules[*rule].time += time.unwrap_or_default();
            if report.num_matches_per_rule.get(name).is_some_and(|matches| *matches > 0) {
                matched.push(*rule);
            }
        }
        let over = shared.meter(|meter| meter.to_count());
        if !over.is_empty() {
            let nodes = count_nodes(self.batch)?;
            shared.meter(|meter| over.iter().for_each(|unit| meter.counted(*unit, nodes[*unit])));
        }
        self.stopped = shared.meter(|meter| meter.stopped || meter.all_spent());
        if report.updated {
            self.changed_at = self.steps.len() + 1;
            self.note_changes(&matched);
        }
        self.steps.push(ran);
        Ok(report.updated)
    }
}

/// Nodes by unit.
fn count_nodes(batch: &Batch<'_>) -> Result<Vec<u64>, EngineError> {
    let mut nodes = vec![0u64; batch.units.len()];
    for table in batch.tables.iter().map(|table| &batch.program.tables[*table]) {
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
