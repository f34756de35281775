//! The two points of the pipeline at which rules run, and inlining between them, callees first.
//!
//! **Invariant**: what goes out for a function is its original or something verified that costs less; recursion is
//! never inlined but for heads ([`super::heads`]), so each function is done a bounded number of times.

use super::front::block_name;
use super::lines::Lines;
use super::{ModuleOptimiser, ModuleOutcome, unused};
use rewright_cfg_skeleton::ir::calls::CallGraph;
use rewright_cfg_skeleton::ir::cleanup::cleanup;
use rewright_cfg_skeleton::ir::infer::reinfer;
use rewright_cfg_skeleton::ir::inline::{InlineLimits, inline};
use rewright_cfg_skeleton::ir::shares::note_shares;
use rewright_cfg_skeleton::ir::tail_calls::jump_for_tail_calls;
use rewright_cfg_skeleton::ir::verify::verify;
use rewright_cfg_skeleton::ir::{Cfg, Function, Inst, InstKind, Module};
use rewright_packs::{AFTER_INLINING, BEFORE_INLINING};
use rewright_pipeline::front::Statistics;
use rewright_pipeline::optimiser::{Batch, Fate, FunctionOutcome, OptimisedFunction, Options, Phase, Rules};
use rewright_typeprop::OpId;
use std::collections::BTreeMap;

pub(super) fn optimise(
    optimiser: &ModuleOptimiser,
    options: &Options,
    wanted: impl Fn(usize) -> bool,
) -> ModuleOutcome {
    let mut module = optimiser.module.clone();
    let jumps = jump_for_own_calls(optimiser, &mut module, options);
    module.functions.iter_mut().for_each(|f| note_counts(f, options));
    let lines = Lines::number(&mut module);
    let done = ModuleOutcome {
        module,
        universe: optimiser.universe().clone(),
        statistics: Statistics { functions: vec![None; optimiser.module.functions.len()], ..Statistics::default() },
        inlined: 0,
        sides: vec![],
    };
    let graph = CallGraph::new(&done.module);
    // Versions are wanted where their functions are.
    let wanted = |index: &usize| wanted(*optimiser.module.versions.get(index).unwrap_or(index));
    let wanted: Vec<bool> = (0..optimiser.module.functions.len()).map(|index| wanted(&index)).collect();
    let mut work = Work { optimiser, options, graph, wanted, jumps, done };
    for level in work.graph.levels() {
        let chosen: Vec<usize> = level.into_iter().filter(|i| work.wanted[*i]).collect();
        if !chosen.is_empty() {
            work.level(&chosen);
            work.results(&chosen);
        }
    }
    lines.finish(&mut work.done, options.log);
    unused::drop_unused(&mut work.done);
    work.done
}

/// Has jumps take the place of tail calls of functions by themselves, where loops are made; gives how many in each.
fn jump_for_own_calls(optimiser: &ModuleOptimiser, module: &mut Module, options: &Options) -> Vec<usize> {
    let universe = optimiser.universe();
    if !optimiser.optimiser.makes_loops(universe, options) {
        return vec![0; module.functions.len()];
    }
    let own: BTreeMap<usize, OpId> = module.bodies.iter().map(|(op, body)| (*body, *op)).collect();
    let jump = |(index, function): (usize, &mut Function)| {
        let is_own = |inst: &Inst| matches!(inst.kind, InstKind::Op { op, .. } if own.get(&index) == Some(&op));
        jump_for_tail_calls(function, universe, is_own)
    };
    module.functions.iter_mut().enumerate().map(jump).collect()
}

/// Notes how often a profile says that blocks are executed.
pub(super) fn note_counts(f: &mut Function, options: &Options) {
    if let Some(counts) = &options.counts {
        counts.note(f, block_name);
    }
}

pub(super) struct Work<'a> {
    pub(super) optimiser: &'a ModuleOptimiser,
    pub(super) options: &'a Options,
    pub(super) graph: CallGraph,
    /// By function: is it to be optimised?
    pub(super) wanted: Vec<bool>,
    /// By function: tail calls of itself that are jumps now.
    jumps: Vec<usize>,
    pub(super) done: ModuleOutcome,
}

impl Work<'_> {
    /// Functions whose callees are done.
    fn level(&mut self, chosen: &[usize]) {
        let originals: Vec<Function> = chosen.iter().map(|i| self.done.module.functions[*i].clone()).collect();
        let mut first = self.run(&originals, BEFORE_INLINING);
        for ((outcome, original), index) in first.iter_mut().zip(&originals).zip(chosen) {
            outcome.note_tail_calls(self.jumps[*index], original);
        }
        let program = self.optimiser.optimiser.program();
        let points = program.schedules.values().any(|s| s.at.is_some());
        let mut inlined: Vec<Option<Inlined>> = vec![];
        for (index, outcome) in chosen.iter().zip(&first) {
            inlined.push(self.inlined(*index, outcome));
        }
        // Without rules of its own, the second point is for what inlining has brought together.
        let again: Vec<usize> = (0..chosen.len()).filter(|i| points || inlined[*i].is_some()).collect();
        let function = |i: &usize| inlined[*i].as_ref().map_or(&first[*i].function, |inlined| &inlined.function);
        let functions: Vec<Function> = again.iter().map(function).cloned().collect();
        let second = self.run(&functions, AFTER_INLINING);
        let mut outcomes = first;
        for (i, after) in again.into_iter().zip(second) {
            let before = &mut outcomes[i];
            if matches!(before.fate, Fate::Failed(_) | Fate::PassedThrough(_)) {
                continue;
            }
            let inlined = inlined[i].as_ref().and_then(|inlined| inlined.cost);
            let called = before.cost_after.max(inlined.unwrap_or(0));
            if matches!(after.fate, Fate::Failed(_)) || after.cost_after < called {
                // The first point's gain is also one with the calls as they are here.
                before.cost_before = before.cost_before.saturating_sub(before.cost_after).saturating_add(called);
                before.cost_after = called;
                *before = together(before, after);
            }
        }
        for (index, outcome) in chosen.iter().zip(outcomes) {
            let mut outcome = self.with_heads(outcome);
            self.count_types_of_callees(*index, &mut outcome);
            self.done.module.functions[*index] = outcome.function.clone();
            let name = &self.done.module.functions[*index].name;
            self.done.statistics.functions[*index] = Some(FunctionOutcome::of(name, outcome));
        }
    }

    pub(super) fn run(&mut self, functions: &[Function], schedule: &str) -> Vec<OptimisedFunction> {
        if functions.is_empty() {
            return vec![];
        }
        let optimiser = &self.optimiser.optimiser;
        let options = self.options_at(schedule);
        let Batch { outcomes, phases, rules } = optimiser.optimise(functions, &self.done.universe, &options);
        self.done.statistics.phases.add(&phases);
        for (rule, report) in rules {
            self.done.statistics.rules.entry(rule).or_default().add(report);
        }
        outcomes
    }

    /// Options at a point of the pipeline.
    pub(super) fn options_at(&self, schedule: &str) -> Options {
        let mut options = self.options.clone();
        if options.rules == Rules::Usual && self.optimiser.optimiser.program().schedules.contains_key(schedule) {
            options.rules = Rules::Schedule(schedule.into());
        }
        options
    }

    /// A function with its small callees in place, and with calls of versions; `None` where nothing is inlined, or not to any good.
    fn inlined(&mut self, index: usize, outcome: &OptimisedFunction) -> Option<Inlined> {
        let Module { functions, bodies, .. } = &self.done.module;
        let graph = &self.graph;
        let body = |op| {
            let body = *bodies.get(&op)?;
            (body != index && !graph.is_recursive(body)).then(|| &functions[body])
        };
        let mut f = outcome.function.clone();
        let count = inline(&mut f, body, InlineLimits::default());
        let retyped = !self.optimiser.module.versions.is_empty() && reinfer(&mut f, &mut self.done.universe);
        if count == 0 && !retyped {
            return None;
        }
        // Arguments decide branches of callees, which were not known where the cost of a call was.
        note_shares(&mut f, &self.done.universe);
        let options = self.optimiser.optimiser.with_variants(&self.done.universe, self.options);
        let cost = || self.optimiser.optimiser.cost_of(&f, &self.done.universe, &options);
        let cost = Cfg::new(&f).arms_share().then(cost);
        let universe = &mut self.done.universe;
        self.done.statistics.phases.time(Phase::Cleanup, || {
            cleanup(&mut f, universe);
            reinfer(&mut f, universe);
        });
        if !verify(&f, universe).is_empty() {
            return None;
        }
        self.done.inlined += count;
        Some(Inlined { function: f, cost })
    }
}

/// A function with its small callees in place.
struct Inlined {
    function: Function,
    /// Where arms of branches share executions: what it costs with calls that cost what bodies cost with these arguments.
    cost: Option<u64>,
}

/// What both points did to one function.
pub(super) fn together(before: &OptimisedFunction, after: OptimisedFunction) -> OptimisedFunction {
    let mut rules = before.rules.clone();
    rules.extend(&after.rules);
    rules.sort_unstable();
    rules.dedup();
    let relaxed = before.relaxed.iter().chain(&after.relaxed).cloned().collect();
    let cheaper = after.cost_after < before.cost_before;
    let fate = match after.fate {
        Fate::Failed(_) => after.fate.clone(),
        _ if cheaper || before.tail_calls > 0 => Fate::Optimised,
        _ => Fate::Unchanged,
    };
    let failed = matches!(fate, Fate::Failed(_));
    let mut stops = before.stops.clone();
    stops.extend(after.stops.into_iter().filter(|stop| !before.stops.contains(stop)));
    let moved_statements = before.moved_statements.iter().chain(&after.moved_statements).cloned().collect();
    let mut restructured = before.restructured.clone();
    restructured.add(after.restructured.clone());
    let narrowed = before.narrowed.iter().chain(&after.narrowed).cloned().collect();
    OptimisedFunction {
        function: if failed { before.function.clone() } else { after.function },
        fate,
        cost_before: before.cost_before,
        cost_after: if failed { before.cost_after } else { after.cost_after },
        rounds: before.rounds + after.rounds,
        stops,
        rules,
        relaxed,
        restructured,
        moved_statements,
        narrowed,
        tail_calls: before.tail_calls,
        // Inlining has come in between: these are of another function.
        originals: BTreeMap::new(),
        ..after
    }
}
