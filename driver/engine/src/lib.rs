//! Saturation: units in, [`EGraphView`]s out. The only crate that names egglog.
//!
//! An [`Engine`] runs on one thread at a time and shares nothing with others: clones of an egglog e-graph that run on
//! different threads disturb each other, so each engine prepares its own ([`base`]). Its tables are emptied after each
//! batch, and rules and their plans stay: a clone per batch would copy every rule's syntax tree, which took nine tenths
//! of all time over files of a few functions. Units are numbered within their batch; the number rides in every type
//! column, so units never meet.
//!
//! **Budgets are counts.** A match is charged to its unit inside the step, by a primitive at the end of each
//! rule's body that fails once the unit's budget is spent: one step can explode (2,600 to 66,000 nodes was
//! seen), so limits between steps are not enough. A unit that ends its budget is run again alone,
//! with the same budget, in an e-graph that was used for nothing else: what it is then depends on nothing but itself.
//! There rules that explode are held back one by one ([`held`]), so that the others have their turn.
//!
//! **Determinism.** One thread per e-graph, batches cut by the input alone, and views in an order that does not
//! depend on e-class numbers ([`order`]).
//!
//! Not here: what the rules are (`dsl::egglog`), what a function is (`cfg_skeleton`).

mod base;
mod batch;
mod budget;
mod emit;
mod held;
mod known_facts;
mod loop_facts;
mod meter;
mod order;
mod pattern_pairs;
mod primitives;
mod read_back;
mod rule_filter;
mod run;
mod said;
#[cfg(test)]
mod tests;

pub use budget::Budget;
pub use emit::{NODE, STATE, Trace, print_runnable};

use base::Base;
use batch::{Batch, Rows};
use budget::Step;
use known_facts::KnownFacts;
use loop_facts::LoopFacts;
use primitives::Shared;
use read_back::ReadBack;
use rewright_cfg_skeleton::egraph::{EGraphInput, EGraphView};
use rewright_dsl::egglog::EgglogProgram;
use rewright_dsl::program::{Program, RuleId};
use rewright_extract::clock;
use rewright_typeprop::TypeStore;
use rule_filter::{Matching, Possible};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

/// Input nodes of one e-graph: a schedule's steps cost as much as some thousand nodes, so larger batches gain
/// nothing.
const BATCH_NODES: usize = 20_000;

/// Units of one e-graph: type columns stay below 2^31, where egglog holds numbers without a table.
const BATCH_UNITS: usize = 1_000;

/// Answers to which rules can match that an engine keeps: some ten kB each, and functions of a file are alike.
const KEPT_MATCHINGS: usize = 250;

/// egglog failed: a rule program that it does not accept, or a bug here. No input of a user's function gives it.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum EngineError {
    /// The rule program.
    #[error("the engine does not accept the rule program: {0}")]
    Program(String),
    /// A run.
    #[error("the engine failed: {0}")]
    Run(String),
    /// There is no such schedule.
    #[error("there is no schedule `{0}`")]
    Schedule(String),
}

impl From<std::fmt::Error> for EngineError {
    fn from(_: std::fmt::Error) -> Self {
        EngineError::Run("a run does not print".into())
    }
}

/// What to run, and how far.
#[derive(Clone, Debug, Default)]
pub struct SaturateOptions {
    /// Limits per unit.
    pub budget: Budget,
    /// Fill [`EGraphView::applications`].
    pub log: bool,
    /// A schedule by qualified name; otherwise all rulesets in order, each until nothing changes.
    pub schedule: Option<String>,
    /// No ruleset runs, only laws.
    pub without_rules: bool,
}

/// What a run did.
#[derive(Clone, Debug, Default)]
pub struct SaturationReport {
    /// By position in [`EgglogProgram::rules`].
    pub rules: Vec<RuleReport>,
    /// Steps of all e-graphs.
    pub steps: usize,
    /// E-graphs.
    pub batches: usize,
    /// Units that were run again alone.
    pub alone: usize,
    /// Units whose budget ended.
    pub exhausted: usize,
    /// Time.
    pub times: Times,
}

/// What one rule did.
#[derive(Clone, Copy, Debug, Default)]
pub struct RuleReport {
    /// Matches that passed all conditions and were charged to a unit.
    pub matches: u64,
    /// Search and application.
    pub time: Duration,
}

/// Where the time went.
#[derive(Clone, Copy, Debug, Default)]
pub struct Times {
    /// Preparing the rules, and emptying the e-graph after each batch.
    pub base: Duration,
    /// Nodes going in.
    pub insert: Duration,
    /// Steps.
    pub run: Duration,
    /// Views coming back.
    pub read_back: Duration,
}

impl RuleReport {
    /// Adds another run's numbers.
    pub fn add(&mut self, other: RuleReport) {
        self.matches += other.matches;
        self.time += other.time;
    }
}

impl SaturationReport {
    /// Matches and time by rule of the program: variants and instances together, laws and what was not asked left out.
    pub fn by_rule(&self, program: &EgglogProgram) -> BTreeMap<RuleId, RuleReport> {
        let mut result = BTreeMap::<RuleId, RuleReport>::new();
        let asked = |report: &RuleReport| report.matches > 0 || !report.time.is_zero();
        for (rule, report) in program.rules.iter().zip(&self.rules).filter(|(_, report)| asked(report)) {
            if let Some(source) = rule.source {
                let entry = result.entry(source).or_default();
                entry.add(*report);
            }
        }
        result
    }

    /// Adds another run's numbers.
    pub fn add(&mut self, other: &SaturationReport) {
        self.rules.resize(self.rules.len().max(other.rules.len()), RuleReport::default());
        for (mine, theirs) in self.rules.iter_mut().zip(&other.rules) {
            mine.add(*theirs);
        }
        self.steps += other.steps;
        self.batches += other.batches;
        self.alone += other.alone;
        self.exhausted += other.exhausted;
        self.times.base += other.times.base;
        self.times.insert += other.times.insert;
        self.times.run += other.times.run;
        self.times.read_back += other.times.read_back;
    }
}

/// A prepared rule program.
pub struct Engine {
    program: Arc<EgglogProgram>,
    plain: Base,
    /// The same with logging rules, prepared when first asked for.
    logging: Base,
    shared: Arc<Shared>,
    possible: Possible,
    /// By the symbols that have rows at first.
    matching: FxHashMap<Vec<usize>, Matching>,
    loop_facts: LoopFacts,
    /// The relations of those, as symbols.
    loop_symbols: Vec<usize>,
    known_facts: KnownFacts,
    /// The relations of those, as symbols.
    known_symbols: Vec<usize>,
    /// By ruleset.
    asked: Vec<rule_filter::Asked>,
}

impl Engine {
    /// An engine that prepares rules when a step first runs them.
    pub fn new(program: &Arc<EgglogProgram>, source: &Arc<Program>) -> Engine {
        let possible = Possible::new(program);
        let loop_facts = LoopFacts::new(source);
        let loop_symbols: Vec<usize> = loop_facts.relations(program).filter_map(|name| possible.symbol(name)).collect();
        let known_facts = KnownFacts::new(source);
        let known_symbols: Vec<usize> =
            known_facts.relations(program).into_iter().filter_map(|name| possible.symbol(name)).collect();
        Engine {
            program: program.clone(),
            plain: Base::new(false),
            logging: Base::new(true),
            shared: Arc::new(Shared::new(program, source)),
            asked: rule_filter::asked(program, &possible),
            possible,
            matching: FxHashMap::default(),
            loop_facts,
            loop_symbols,
            known_facts,
            known_symbols,
        }
    }

    /// An engine with all rules prepared.
    ///
    /// # Errors
    /// When egglog rejects the program, which is a bug in `dsl::egglog`.
    pub fn prepare(program: &Arc<EgglogProgram>, source: &Arc<Program>) -> Result<Engine, EngineError> {
        let mut engine = Engine::new(program, source);
        engine.prepare_all()?;
        Ok(engine)
    }

    /// Makes the base e-graph with all declarations.
    ///
    /// # Errors
    /// When egglog rejects them, which is a bug in `dsl::egglog`.
    pub fn declare(&mut self) -> Result<(), EngineError> {
        self.plain.declare(&self.program, &self.shared)
    }

    /// Prepares all rules and their plans, also those that no step needs.
    ///
    /// # Errors
    /// When egglog rejects one, which is a bug in `dsl::egglog`.
    pub fn prepare_all(&mut self) -> Result<(), EngineError> {
        self.plain.prepare_all(&self.program, &self.shared, &self.possible)
    }

    /// The program that this engine runs.
    pub fn program(&self) -> &Arc<EgglogProgram> {
        &self.program
    }

    /// Like [`Engine::saturate`], in one e-graph and without running anything again alone, and gives what
    /// [`print_runnable`] needs to print the same run.
    ///
    /// # Errors
    /// See [`EngineError`].
    pub fn trace(
        &mut self,
        units: &[&EGraphInput],
        types: &TypeStore,
        options: &SaturateOptions,
    ) -> Result<(Vec<EGraphView>, Trace), EngineError> {
        let plan = budget::plan(&self.program, options)?;
        self.shared.begin(types, true);
        let mut report = self.report();
        let run = self.batch(units, &plan, options, false, &mut report);
        let calls = self.shared.end();
        let run = run?;
        let exhausted = run.stopped || run.views.iter().any(|view| view.exhausted());
        Ok((run.views, Trace { steps: run.steps, calls, exhausted }))
    }

    /// Saturates units and gives one view for each, in order. `types` is the program's store or one extended
    /// from it.
    ///
    /// # Errors
    /// See [`EngineError`].
    pub fn saturate(
        &mut self,
        units: &[&EGraphInput],
        types: &TypeStore,
        options: &SaturateOptions,
    ) -> Result<(Vec<EGraphView>, SaturationReport), EngineError> {
        let plan = budget::plan(&self.program, options)?;
        self.shared.begin(types, false);
        let mut report = self.report();
        let mut views: Vec<Option<EGraphView>> = vec![None; units.len()];
        let batches = batches(units.iter().map(|unit| unit.nodes.len()));
        // The first one is last.
        let mut work: Vec<Job> = batches.into_iter().rev().map(|batch| Job::new(batch.collect())).collect();
        while let Some(Job { members, apart }) = work.pop() {
            let own: Vec<&EGraphInput> = members.iter().map(|i| units[*i]).collect();
            let kept = apart.then(|| std::mem::replace(self.base(options), Base::new(options.log)));
            let kept = kept.filter(|base| !base.is_bulky());
            let run = self.batch(&own, &plan, options, apart, &mut report);
            if let Some(kept) = kept {
                *self.base(options) = kept;
            }
            let run = run?;
            let exhausted = run.views.iter().any(|view| view.exhausted());
            if let [unit] = members[..]
                && (apart || !exhausted)
            {
                report.exhausted += usize::from(exhausted);
                views[unit] = run.views.into_iter().next();
                continue;
            }
            let (spent, rest): (Vec<_>, Vec<_>) =
                members.iter().copied().zip(run.views).partition(|(_, view)| view.exhausted());
            report.alone += spent.len();
            if !run.stopped {
                rest.into_iter().for_each(|(unit, view)| views[unit] = Some(view));
            } else if spent.is_empty() {
                let (front, back) = members.split_at(members.len() / 2);
                work.extend([front.to_vec(), back.to_vec()].map(Job::new));
            } else if !rest.is_empty() {
                work.push(Job::new(rest.into_iter().map(|(unit, _)| unit).collect()));
            }
            work.extend(spent.into_iter().map(|(unit, _)| Job { members: vec![unit], apart: true }));
        }
        let views = views.into_iter().map(|view| view.expect("every unit is in a batch until it has a view")).collect();
        Ok((views, report))
    }

    /// The e-graph that batches with these options use.
    fn base(&mut self, options: &SaturateOptions) -> &mut Base {
        if options.log { &mut self.logging } else { &mut self.plain }
    }

    fn report(&self) -> SaturationReport {
        SaturationReport { rules: vec![RuleReport::default(); self.program.rules.len()], ..SaturationReport::default() }
    }

    /// One e-graph. `held`: rules are held back ([`held`]).
    fn batch(
        &mut self,
        units: &[&EGraphInput],
        plan: &[Step],
        options: &SaturateOptions,
        held: bool,
        report: &mut SaturationReport,
    ) -> Result<Run, EngineError> {
        report.batches += 1;
        let start = clock::now();
        let base = if options.log { &mut self.logging } else { &mut self.plain };
        let rows = Rows::new(&self.program, self.shared.source(), units)?;
        let has_loops = units.iter().any(|unit| !unit.loops.is_empty());
        // What a trace prints has no engine that finds facts between steps.
        let finds_known = !self.shared.records();
        let filled = self.loop_symbols.iter().filter(|_| has_loops);
        let filled = filled.chain(self.known_symbols.iter().filter(|_| finds_known));
        let symbols: Vec<usize> = rows.tables.iter().chain(filled).copied().collect();
        if self.matching.len() >= KEPT_MATCHINGS {
            self.matching.clear();
        }
        let (possible, asked) = (&self.possible, &self.asked);
        let matching = self
            .matching
            .entry(symbols)
            .or_insert_with_key(|symbols| possible.matching(symbols.iter().copied(), asked));
        let mut egraph = base.take(&self.program, &self.shared)?;
        let taken = clock::now();
        let mut batch = Batch::insert(
            &mut egraph,
            &self.program,
            &self.shared,
            units,
            rows,
            matching.asks_types,
            &matching.filled,
        )?;
        let inserted = clock::now();
        let inputs: Vec<usize> = units.iter().map(|unit| unit.nodes.len()).collect();
        self.shared.meter(|meter| meter.begin(&options.budget, &inputs, held));
        let rules = run::Rules {
            matching,
            possible: &self.possible,
            asked: &self.asked,
            loop_facts: Some(&self.loop_facts).filter(|_| has_loops),
            loop_symbols: &self.loop_symbols,
            known_facts: Some(&self.known_facts).filter(|_| finds_known),
            known_symbols: &self.known_symbols,
            prepared: &mut base.prepared,
            held,
        };
        let (steps, stopped) = run::run(&mut batch, plan, rules, &options.budget, report)?;
        let ran = clock::now();
        let rows = ReadBack::new(&batch, options.log)?;
        let emptied = clock::now();
        let made = inputs.iter().sum::<usize>() as u64 + self.shared.meter(|meter| meter.made());
        // A unit runs alone where it is large: its e-graph's memory is worth more than its rules.
        if !held {
            base.give_back(egraph, made, &self.possible, &matching.filled)?;
        } else {
            drop(egraph);
        }
        let emptying = clock::since(emptied);
        let mut views = rows.views(units)?;
        for (view, stops) in views.iter_mut().zip(self.shared.meter(|meter| meter.stops(&self.program))) {
            view.stops = stops;
        }
        let prepared = std::mem::take(&mut base.prepared.time);
        report.times.base += taken - start + prepared + emptying;
        report.times.insert += inserted - taken;
        report.times.run += (ran - inserted).saturating_sub(prepared);
        report.times.read_back += clock::since(ran).saturating_sub(emptying);
        report.steps += steps.len();
        Ok(Run { views, steps, stopped })
    }
}

/// Units that go into one e-graph together.
struct Job {
    members: Vec<usize>,
    /// One that has spent its budget, with rules held back, in an e-graph that was used for nothing else: where matches
    /// are refused, which ones are depends on the numbers that classes and rules have, and so on what an e-graph was
    /// used for before.
    apart: bool,
}

impl Job {
    fn new(members: Vec<usize>) -> Self {
        Job { members, apart: false }
    }
}

/// What one e-graph gave.
struct Run {
    views: Vec<EGraphView>,
    /// Names of the rulesets that ran, in order.
    steps: Vec<String>,
    /// The run was broken off for all units.
    stopped: bool,
}

/// Cuts units of these sizes into batches for one e-graph each, by the sizes alone. A unit that is larger than a batch
/// has one of its own.
pub fn batches(sizes: impl IntoIterator<Item = usize>) -> Vec<Range<usize>> {
    let mut batches: Vec<Range<usize>> = Vec::new();
    let mut nodes = 0;
    for (i, size) in sizes.into_iter().enumerate() {
        nodes += size;
        match batches.last_mut() {
            Some(batch) if nodes <= BATCH_NODES && batch.len() < BATCH_UNITS => batch.end = i + 1,
            _ => {
                nodes = size;
                batches.push(i..i + 1);
            }
        }
    }
    batches
}
