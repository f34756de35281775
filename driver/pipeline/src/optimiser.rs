//! One function, or many, through the whole house.
//!
//! ```text
//! normalise -> [ build -> saturate -> skeleton changes ]* -> select and validate -> elaborate -> clean up -> verify
//! ```
//!
//! Functions are saturated in batches whose make-up depends on the input only. Whatever goes wrong with one
//! function, the original goes out and the [`Fate`] says why; no other function notices.
//!
//! **Invariant**: a function that goes out is the original, or is verified, comes from a validated selection, and
//! costs less under the cost model that `rewright bench` states.

mod causes;
mod changed;
mod engines;
mod graph;
mod loops;
mod lowered;
mod narrow;
mod options;
mod outcome;
mod phases;
mod rebuilt;
mod statements;
mod unit;
mod variant_remark;
mod variants;

pub use changed::{Changed, Now};
pub use graph::{Graph, Needed, Price};
pub use loops::{LoopRemark, LoopTest};
pub use lowered::Lowered;
pub use options::{Accept, Options, Rules};
pub use outcome::{Batch, Fate, FunctionOutcome, MovedStatement, OptimisedFunction, Relaxed, Unwritten, ValueNames};
pub use phases::{Phase, Phases, Selected};
pub use rebuilt::{MovedCheck, Restructured};
pub use variant_remark::{VariantFate, VariantRemark};

use changed::Change;
use engines::Engines;
use loops::{LoopFate, LoopFates};
use rewright_cfg_skeleton::egraph::{EGraphInput, EGraphView, Head};
use rewright_cfg_skeleton::elaborate::ElaborateError;
use rewright_cfg_skeleton::ir::verify::IrError;
use rewright_cfg_skeleton::ir::{Cfg, Function};
use rewright_cfg_skeleton::select::{Ended, Method, SelectError, Selection, Status};
use rewright_cfg_skeleton::skeleton::{Shortcut, Skeleton};
use rewright_cfg_skeleton::{Saturated, egraph, elaborate, ir, select, skeleton};
use rewright_dsl::egglog::EgglogProgram;
use rewright_dsl::program::Program;
use rewright_engine::{Engine, EngineError, RuleReport, SaturateOptions, SaturationReport, print_runnable};
use rewright_extract::clock;
use rewright_typeprop::{OpId, RuleId, TypeStore, Universe};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
pub use unit::untouched;
use unit::{Chosen, Progress, Unit};

/// How often a function may be built again after skeleton changes. Most need none; a chain of constant branches
/// needs one round for each that decides the next, and memory that nested loops keep one for each loop.
const MAX_ROUNDS: usize = 6;

/// Blocks where arms meet for which a program without the arms is looked for: each is a selection of its own.
const MAX_MERGES: usize = 16;

/// Why nothing that was found takes a function's place: a bug, or a rule that is wrong.
#[derive(Debug, thiserror::Error)]
enum Unusable {
    #[error("selection failed: {0}")]
    Selection(SelectError),
    #[error("elaboration failed: {0}")]
    Elaboration(ElaborateError),
    #[error("the verifier rejects the result: {0}")]
    Invalid(IrError),
}

/// A program of rules, ready to be applied.
#[derive(Clone)]
pub struct Optimiser {
    program: Arc<Program>,
    rules: Arc<EgglogProgram>,
    /// The front end's number of a trap code that a pack names.
    trap_code: fn(&str) -> u32,
    /// Operations that the back end cannot write: never selected.
    unwritable: BTreeSet<OpId>,
    /// Shared with its clones.
    engines: Arc<Engines>,
}

impl Optimiser {
    /// Lowers the program's rules, and has the engine accept what they declare.
    ///
    /// # Errors
    /// When it does not, which is a bug in `dsl::egglog`.
    pub fn new(program: Program, trap_code: fn(&str) -> u32) -> Result<Self, EngineError> {
        let optimiser = Optimiser::on_demand(program, trap_code);
        optimiser.with_engine(Engine::declare)?;
        Ok(optimiser)
    }

    /// Has the engine accept every rule, also those that no function needs: for commands that check a pack.
    ///
    /// # Errors
    /// When it does not accept one, which is a bug in `dsl::egglog`.
    pub fn accept_all(&self) -> Result<(), EngineError> {
        self.with_engine(Engine::prepare_all)
    }

    /// Lowers the program's rules. An engine sees declarations with the first function, and rules when a function needs
    /// them.
    pub fn on_demand(program: Program, trap_code: fn(&str) -> u32) -> Self {
        Optimiser::of(Lowered::new(program), trap_code)
    }

    /// The same of rules that are lowered already.
    pub fn of(Lowered { program, rules }: Lowered, trap_code: fn(&str) -> u32) -> Self {
        Optimiser {
            program: Arc::new(program),
            rules: Arc::new(rules),
            trap_code,
            unwritable: BTreeSet::new(),
            engines: Arc::default(),
        }
    }

    /// The same for a back end that cannot write some operations.
    #[must_use]
    pub fn without(mut self, unwritable: BTreeSet<OpId>) -> Self {
        self.unwritable = unwritable;
        self
    }

    /// The program.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// The lowered rules.
    pub fn rules(&self) -> &EgglogProgram {
        &self.rules
    }

    fn with_engine<T>(&self, work: impl FnOnce(&mut Engine) -> Result<T, EngineError>) -> Result<T, EngineError> {
        self.engines.with(|| Engine::new(&self.rules, &self.program), work)
    }

    /// The static cost of a function: weight of the block times price, summed over what is executed.
    pub fn cost_of(&self, function: &Function, universe: &Universe, options: &Options) -> u64 {
        select::cost::function_cost(&options.select.cost, function, universe)
    }

    /// Saturates one unit.
    pub fn saturate_one(
        &self,
        input: &EGraphInput,
        types: &TypeStore,
        options: &Options,
    ) -> Result<EGraphView, EngineError> {
        Ok(self.saturate(&[input], types, options)?.pop().expect("one unit in, one view out"))
    }

    /// Saturates units; one view for each, in order.
    pub fn saturate(
        &self,
        inputs: &[&EGraphInput],
        types: &TypeStore,
        options: &Options,
    ) -> Result<Vec<EGraphView>, EngineError> {
        Ok(self.saturate_measured(inputs, types, options)?.0)
    }

    /// The same, with matches and time by rule.
    pub fn saturate_measured(
        &self,
        inputs: &[&EGraphInput],
        types: &TypeStore,
        options: &Options,
    ) -> Result<(Vec<EGraphView>, BTreeMap<RuleId, RuleReport>), EngineError> {
        if inputs.is_empty() {
            return Ok((vec![], BTreeMap::new()));
        }
        let options = self.saturate_options(options);
        let (views, report) = self.with_engine(|engine| engine.saturate(inputs, types, &options))?;
        Ok((views, report.by_rule(&self.rules)))
    }

    /// Saturates units and prints the run as a program for egglog's own binary; and did a budget end, so that the
    /// program may go further than the run?
    pub fn print_runnable(
        &self,
        inputs: &[&EGraphInput],
        types: &TypeStore,
        options: &Options,
    ) -> Result<(String, bool), EngineError> {
        let (_, trace) = self.with_engine(|engine| engine.trace(inputs, types, &self.saturate_options(options)))?;
        let printed = print_runnable(&self.rules, &self.program, types, inputs, &trace)?;
        Ok((printed, trace.exhausted))
    }

    /// The schedule that these options run; without one, no rule fires.
    pub fn schedule(&self, options: &Options) -> Option<String> {
        let named = match &options.rules {
            Rules::Usual => rewright_packs::SCHEDULE,
            Rules::Schedule(name) => name,
            Rules::Nothing => return None,
        };
        self.program.schedules.get(named).is_some_and(|s| !s.steps.is_empty()).then(|| named.to_string())
    }

    fn saturate_options(&self, options: &Options) -> SaturateOptions {
        let schedule = self.schedule(options);
        let without_rules = schedule.is_none();
        SaturateOptions { budget: options.budget.clone(), log: options.log, schedule, without_rules }
    }

    /// Takes a function apart.
    pub fn build(&self, function: &Function, universe: &Universe) -> (Cfg, Skeleton) {
        let cfg = Cfg::new(function);
        let truth = universe.ops.iter().find(|(id, op)| op.is_copy() && !self.unwritable.contains(id));
        let truth = truth.map(|(id, _)| id);
        let mut skeleton = skeleton::build_with_truth(function, &cfg, universe, &self.trap_code, truth);
        skeleton.input.typed = self.typed(&skeleton.input, universe);
        (cfg, skeleton)
    }

    /// Optimises functions over a universe that is the program's, or extends it by types.
    pub fn optimise(&self, functions: &[Function], universe: &Universe, options: &Options) -> Batch {
        let options = &self.with_variants(universe, options);
        // Their e-graphs have about as many nodes.
        let batches = rewright_engine::batches(functions.iter().map(|f| f.insts.len() + f.values.len()));
        let next = AtomicUsize::new(0);
        let work = || {
            let mut done = vec![];
            loop {
                let index = next.fetch_add(1, Ordering::Relaxed);
                let Some(range) = batches.get(index) else { return done };
                done.push((index, self.optimise_batch(&functions[range.clone()], universe, options)));
            }
        };
        let mut results = if options.threads <= 1 || batches.len() <= 1 {
            work()
        } else {
            std::thread::scope(|scope| {
                let threads: Vec<_> = (0..options.threads.min(batches.len())).map(|_| scope.spawn(work)).collect();
                threads.into_iter().flat_map(|t| t.join().expect("the pipeline catches its own failures")).collect()
            })
        };
        results.sort_by_key(|(index, _)| *index);
        let mut whole = Batch::default();
        for (_, batch) in results {
            whole.add(batch);
        }
        whole
    }

    fn optimise_batch(&self, functions: &[Function], universe: &Universe, options: &Options) -> Batch {
        let mut batch = Batch::default();
        let mut units: Vec<Unit> = functions.iter().map(|f| Unit::new(f, universe)).collect();
        self.choose_all(&mut units, universe, options, &mut batch);
        units.iter_mut().for_each(|unit| self.narrow(unit, universe, options, &mut batch));
        if options.variants {
            units.iter_mut().for_each(|unit| self.vary(unit, universe, options, &mut batch));
        }
        batch.outcomes =
            units.into_iter().zip(functions).map(|(unit, original)| unit.finish(original, universe, options)).collect();
        batch
    }

    /// Takes units from their functions to what is chosen for them; notes what it takes in the batch.
    fn choose_all(&self, units: &mut [Unit], universe: &Universe, options: &Options, batch: &mut Batch) {
        batch.phases.time(Phase::Normalise, || {
            units.iter_mut().for_each(|unit| unit.normalise(options));
        });
        for round in 0..=MAX_ROUNDS {
            let mut active: Vec<&mut Unit> =
                units.iter_mut().filter(|u| matches!(u.state, Progress::Build(_))).collect();
            if active.is_empty() {
                break;
            }
            let built: Vec<(Cfg, Skeleton)> = batch.phases.time(Phase::Build, || {
                let current = active.iter_mut().filter_map(|unit| unit.current());
                let built = current.map(|function| self.build(function, universe));
                built.map(|(cfg, skeleton)| (cfg.weighed(options.select.cost.weighing), skeleton)).collect()
            });
            let inputs: Vec<&EGraphInput> = built.iter().map(|(_, s)| &s.input).collect();
            let saturated = batch.phases.time(Phase::Saturate, || match options.rules {
                Rules::Nothing => {
                    Ok((inputs.iter().map(|input| input.unsaturated()).collect(), SaturationReport::default()))
                }
                Rules::Usual | Rules::Schedule(_) => {
                    self.with_engine(|e| e.saturate(&inputs, &universe.types, &self.saturate_options(options)))
                }
            });
            let views = match saturated {
                Ok((views, report)) => {
                    batch.phases.move_time(Phase::Saturate, Phase::Prepare, report.times.base);
                    batch.phases.move_time(Phase::Saturate, Phase::ReadBack, report.times.read_back);
                    for (rule, report) in report.by_rule(&self.rules) {
                        batch.rules.entry(rule).or_default().add(report);
                    }
                    views
                }
                Err(error) => {
                    for unit in active {
                        unit.state = Progress::Done(Fate::Failed(format!("saturation failed: {error}")));
                    }
                    break;
                }
            };
            for ((unit, (cfg, skeleton)), view) in active.into_iter().zip(&built).zip(&views) {
                unit.note(view);
                let Progress::Build(function) = &unit.state else { continue };
                let given = Saturated { function, cfg, universe, skeleton, view };
                let last = round == MAX_ROUNDS;
                let rebuilt = match last || !view.contradictions.is_empty() {
                    true => None,
                    false => batch.phases.time(Phase::Changes, || rebuilt::rebuilt(given, options)),
                };
                unit.state = match rebuilt {
                    Some((mut function, restructured)) => {
                        ir::cleanup::merge_blocks(&mut function);
                        unit.restructured.add(restructured);
                        Progress::Build(function)
                    }
                    None => self.end(given, unit.blocks, options, &mut batch.phases),
                };
            }
        }
    }

    /// From a saturated e-graph to the end. `blocks`: how many the original has.
    fn end(&self, given: Saturated, blocks: usize, options: &Options, phases: &mut Phases) -> Progress {
        if !given.view.contradictions.is_empty() {
            let rules = self.rules_at(given.view);
            return Progress::Done(Fate::Failed(format!(
                "a class holds two different constants, so a rule is wrong{rules}"
            )));
        }
        match self.choose(given, blocks, options, phases) {
            Ok(chosen) => {
                let built = options.variants.then(|| given.function.clone());
                let narrowable = rebuilt::narrowable(given, options);
                Progress::Chosen(Box::new(Chosen { built, narrowable, ..chosen }))
            }
            Err(error) => Progress::Done(Fate::Failed(error.to_string())),
        }
    }

    /// The cheapest program, with all loops or without some.
    fn choose(
        &self,
        given: Saturated,
        blocks: usize,
        options: &Options,
        phases: &mut Phases,
    ) -> Result<Chosen, Unusable> {
        let Saturated { universe, skeleton, .. } = given;
        let typed = phases.time(Phase::Select, || egraph::demand::split(given.view, &skeleton.input, universe));
        let given = Saturated { view: typed.as_ref().unwrap_or(given.view), ..given };
        let cost = |chosen: &Chosen| chosen.cost(universe, options);
        let mut best = self.choose_with(given, blocks, options, phases)?;
        let mut without: Option<Shortcut> = None;
        let mut fates = LoopFates::default();
        for header in skeleton::simple_loops(given) {
            let current = without.as_ref().map_or(given, |shortcut| shortcut.saturated(given));
            if !current.cfg.is_reachable(header) {
                fates.insert(header, LoopFate::Gone);
                continue;
            }
            let shortcut = match skeleton::shortcut(current, header) {
                Ok(shortcut) => shortcut,
                Err(obstacle) => {
                    fates.insert(header, LoopFate::Kept(obstacle));
                    continue;
                }
            };
            let fate = match self.choose_with(shortcut.saturated(given), blocks, options, phases) {
                Ok(chosen) if cost(&chosen) < cost(&best) => {
                    (best, without) = (chosen, Some(shortcut));
                    LoopFate::Gone
                }
                // It is not needed in either, so the clean-up has deleted it.
                Ok(chosen) if loops::count(&best.function) <= loops::count(&chosen.function) => LoopFate::Gone,
                Ok(_) => LoopFate::Cheaper,
                // Only the loop computes what it leaves behind.
                Err(Unusable::Selection(SelectError::Unavailable { .. })) => LoopFate::Needed,
                Err(error) => return Err(error),
            };
            fates.insert(header, fate);
        }
        for merge in skeleton::merges(given).into_iter().take(MAX_MERGES) {
            let current = without.as_ref().map_or(given, |shortcut| shortcut.saturated(given));
            if !current.cfg.is_reachable(merge) {
                continue;
            }
            let Some(shortcut) = skeleton::past_arms(current, merge) else { continue };
            match self.choose_with(shortcut.saturated(given), blocks, options, phases) {
                Ok(chosen) if cost(&chosen) < cost(&best) => (best, without) = (chosen, Some(shortcut)),
                // Dearer, or only the arms compute what they carry.
                Ok(_) | Err(Unusable::Selection(SelectError::Unavailable { .. })) => {}
                Err(error) => return Err(error),
            }
        }
        if options.log {
            best.loops = loops::remarks(given, &fates, &best.carried);
        }
        Ok(best)
    }

    /// Selects, and writes the chosen program down: without operations that access memory as nothing in the function
    /// does, which only a rule could make.
    fn choose_with(
        &self,
        given: Saturated,
        blocks: usize,
        options: &Options,
        phases: &mut Phases,
    ) -> Result<Chosen, Unusable> {
        let mut unavailable = self.unwritable.union(&options.select.unavailable).copied().collect::<BTreeSet<OpId>>();
        loop {
            let how = select::Options { unavailable: unavailable.clone(), ..options.select.clone() };
            let unlicensed = match self.choose_from(given, blocks, (options, &how), phases) {
                Err(Unusable::Elaboration(ElaborateError::Unlicensed(node))) => node,
                chosen => return chosen,
            };
            match given.view.node(unlicensed).head {
                Head::Op(op) if unavailable.insert(op) => {}
                _ => return Err(Unusable::Elaboration(ElaborateError::Unlicensed(unlicensed))),
            }
        }
    }

    fn choose_from(
        &self,
        given: Saturated,
        blocks: usize,
        (options, how): (&Options, &select::Options),
        phases: &mut Phases,
    ) -> Result<Chosen, Unusable> {
        let universe = given.universe;
        let start = clock::now();
        let select::SelectionReport { selection, effort, passes, refused } =
            phases.time(Phase::Select, || select::select(given, how)).map_err(Unusable::Selection)?;
        let ended = match (how.method, selection.status, effort) {
            (Method::Greedy | Method::Tree, ..) | (_, Status::Optimal, _) => None,
            (_, _, Some(effort)) => effort.ended,
            (_, _, None) => Some(Ended::Size),
        };
        phases.ran(&passes);
        phases.selections.push(Selected { time: clock::since(start), status: selection.status, effort });
        let relaxed = statements::relaxed(given, &selection);
        let moved = statements::moved(given, &selection);
        let elaborate::Traced { mut function, made } = phases
            .time(Phase::Elaborate, || elaborate::elaborate_traced(given, &selection))
            .map_err(Unusable::Elaboration)?;
        phases.time(Phase::Cleanup, || {
            let keep = |block: ir::BlockId| how.prefer_original && block.index() < blocks;
            ir::cleanup::cleanup_keeping(&mut function, universe, &keep);
            // Where jumps have a price, and no later passes give loops their form.
            if how.cost.jump > 0 && !how.prefer_original {
                ir::cleanup::lift_latches(&mut function, universe);
            }
            ir::verify::verify(&function, universe)
                .first()
                .map_or(Ok(()), |error| Err(Unusable::Invalid(error.clone())))
        })?;
        let log = options.log;
        let change = Change { program: self.program(), given, made: &made, function: &function };
        let (changed, originals) = if log { (change.all(), change.originals()) } else { (vec![], BTreeMap::new()) };
        let carried = if log { loops::carried(given, &made, &function) } else { vec![] };
        let Selection { status, rematerialised, placement_cost, .. } = selection;
        let refused = refused.map(|refused| refused.pass);
        let loops = vec![];
        Ok(Chosen {
            function,
            status,
            ended,
            refused,
            rematerialised,
            placement_cost,
            relaxed,
            moved,
            changed,
            originals,
            carried,
            loops,
            built: None,
            narrowable: None,
        })
    }

    fn rules_at(&self, view: &EGraphView) -> String {
        let mut names: Vec<_> = view
            .applications
            .iter()
            .filter(|a| view.contradictions.contains(&a.class))
            .map(|a| self.program.rule(a.rule).name.as_str())
            .collect();
        names.sort_unstable();
        names.dedup();
        if names.is_empty() { String::new() } else { format!(" (one of {})", names.join(", ")) }
    }
}
