//! One function on its way through the pipeline, and what is noted of it there.
//!
//! **Invariant**: what [`Unit::finish`] gives out costs less than the original, or as much and is smaller, or is the original.
//! What interchanged loops save in cache lines counts.

use super::{
    Accept, Changed, Fate, LoopRemark, MovedStatement, OptimisedFunction, Options, Relaxed, Restructured, VariantRemark,
};
use rewright_cfg_skeleton::egraph::{EGraphView, Stop};
use rewright_cfg_skeleton::ir::layout::lay_out;
use rewright_cfg_skeleton::ir::{self, BlockId, Cfg, Function, Value};
use rewright_cfg_skeleton::select::cost::{CostAndSize, function_cost_and_size};
use rewright_cfg_skeleton::select::{Ended, Status};
use rewright_typeprop::{OpId, RuleId, Universe};
use std::collections::BTreeMap;

/// How far it is.
pub(super) enum Progress {
    /// A function that is to be taken apart: the original, or what changes of the skeleton have made of it.
    Build(Function),
    Chosen(Box<Chosen>),
    Done(Fate),
}

/// The cheapest program that was found.
pub(super) struct Chosen {
    pub(super) function: Function,
    pub(super) status: Status,
    pub(super) ended: Option<Ended>,
    /// The pass over the selection that is left out because its result was wrong.
    pub(super) refused: Option<&'static str>,
    /// What the selection spends on values that would else be kept in memory.
    pub(super) rematerialised: u64,
    /// What it spends on values that later passes move.
    pub(super) placement_cost: u64,
    pub(super) relaxed: Vec<Relaxed>,
    /// Statements that only allocate, and where they are executed.
    pub(super) moved: Vec<MovedStatement>,
    pub(super) changed: Vec<Changed>,
    /// New parameters of loops (where logging is on): the loop's header in the original, and the operation.
    pub(super) carried: Vec<(BlockId, OpId)>,
    pub(super) loops: Vec<LoopRemark>,
    pub(super) originals: BTreeMap<Value, Value>,
    /// What it was selected for, where variants of that are tried.
    pub(super) built: Option<Function>,
    /// The same, where more specific types are tried.
    pub(super) narrowable: Option<Function>,
}

impl Chosen {
    /// What it costs without what later passes move.
    pub(super) fn cost(&self, universe: &Universe, options: &Options) -> CostAndSize {
        function_cost_and_size(&options.select.cost, &self.function, universe).less(self.placement_cost)
    }
}

/// One function on its way.
pub(super) struct Unit {
    pub(super) state: Progress,
    /// Of the original; later ones are there for the normal form.
    pub(super) blocks: usize,
    /// The function in normal form, before anything else is made of it, where loops in it may be interchanged.
    pub(super) nested: Option<Function>,
    /// What its accesses cost less by being nearer to each other than those of the original.
    pub(super) nearer: u64,
    /// What it is to cost less than what it is a variant of, at least.
    pub(super) due: u64,
    nodes: usize,
    classes: usize,
    rounds: usize,
    stops: Vec<Stop>,
    rules: Vec<RuleId>,
    /// Variants that were tried.
    pub(super) variants: Vec<VariantRemark>,
    /// What it was built again for.
    pub(super) restructured: Restructured,
    /// More specific types that parameters of blocks have.
    pub(super) narrowed: Vec<String>,
}

impl Unit {
    pub(super) fn new(function: &Function, universe: &Universe) -> Self {
        let state = match ir::verify::verify(function, universe).first() {
            None => Progress::Build(function.clone()),
            Some(error) => Progress::Done(Fate::PassedThrough(format!("not a valid function: {error}"))),
        };
        let blocks = function.blocks.len();
        Unit {
            state,
            blocks,
            nested: None,
            nearer: 0,
            due: 0,
            nodes: 0,
            classes: 0,
            rounds: 0,
            stops: vec![],
            rules: vec![],
            variants: vec![],
            restructured: Restructured::default(),
            narrowed: vec![],
        }
    }

    /// One for which there is nothing to do.
    fn untouched(function: &Function, universe: &Universe) -> Self {
        let mut unit = Unit::new(function, universe);
        if let Progress::Build(_) = unit.state {
            unit.state = Progress::Done(Fate::Unchanged);
        }
        unit
    }

    /// What is chosen, if it has come so far.
    pub(super) fn chosen(&self) -> Option<&Chosen> {
        match &self.state {
            Progress::Chosen(chosen) => Some(chosen),
            Progress::Build(_) | Progress::Done(_) => None,
        }
    }

    /// The function that is to be taken apart, if one is.
    pub(super) fn current(&mut self) -> Option<&mut Function> {
        match &mut self.state {
            Progress::Build(function) => Some(function),
            Progress::Chosen(_) | Progress::Done(_) => None,
        }
    }

    /// Brings the function that is to be taken apart into normal form.
    pub(super) fn normalise(&mut self, options: &Options) {
        let Some(function) = self.current() else { return };
        ir::normalise::normalise(function);
        let is_nested = |function: &Function| Cfg::new(function).loops().any(|(_, l)| l.parent.is_some());
        if options.variants && is_nested(function) {
            self.nested = Some(function.clone());
        }
    }

    /// Goes on as a variant of what is chosen. Its blocks are laid out anew.
    pub(super) fn take(&mut self, variant: Unit) {
        let Unit { mut state, nested, nearer, nodes, classes, rounds, stops, rules, restructured, .. } = variant;
        self.nested = nested;
        self.nearer += nearer;
        self.restructured.add(restructured);
        if let Progress::Chosen(chosen) = &mut state {
            let cfg = Cfg::new(&chosen.function);
            lay_out(&mut chosen.function, &cfg);
        }
        (self.state, self.nodes, self.classes) = (state, nodes, classes);
        self.rounds += rounds;
        self.extend(stops, rules);
    }

    pub(super) fn note(&mut self, view: &EGraphView) {
        self.rounds += 1;
        self.nodes = view.nodes.len();
        self.classes = view.classes.len();
        self.extend(view.stops.clone(), view.applications.iter().map(|a| a.rule));
    }

    fn extend(&mut self, stops: Vec<Stop>, rules: impl IntoIterator<Item = RuleId>) {
        for stop in stops {
            if !self.stops.contains(&stop) {
                self.stops.push(stop);
            }
        }
        self.rules.extend(rules);
        self.rules.sort_unstable();
        self.rules.dedup();
    }

    pub(super) fn finish(self, original: &Function, universe: &Universe, options: &Options) -> OptimisedFunction {
        let cost = |f: &Function| function_cost_and_size(&options.select.cost, f, universe);
        let before = cost(original);
        let cost_before = before.cost;
        let mut outcome = OptimisedFunction {
            function: original.clone(),
            fate: Fate::Unchanged,
            cost_before,
            cost_after: cost_before,
            status: Status::Greedy,
            ended: None,
            refused: None,
            nodes: self.nodes,
            classes: self.classes,
            rounds: self.rounds,
            stops: self.stops,
            rules: self.rules,
            relaxed: vec![],
            changed: vec![],
            loops: vec![],
            variants: self.variants,
            restructured: Restructured::default(),
            moved_statements: vec![],
            narrowed: vec![],
            inlined: vec![],
            heads: vec![],
            tail_calls: 0,
            originals: BTreeMap::new(),
        };
        match self.state {
            Progress::Chosen(chosen) => {
                (outcome.status, outcome.ended, outcome.refused) = (chosen.status, chosen.ended, chosen.refused);
                let as_it_stands = cost(&chosen.function);
                // Its cost once later passes have moved the values that stay.
                let cost_after = as_it_stands.less(chosen.placement_cost).cost;
                // The table prices no memory that is saved by computing a value again, no path with a store less where
                // arms are worth as much as their branch, and no accesses that are nearer to each other.
                let comparable = as_it_stands.less(chosen.rematerialised).less(self.nearer);
                let gains_more = chosen.rematerialised > 0 || self.restructured.delayed > 0;
                if comparable < before || (gains_more && comparable.cost == cost_before) {
                    outcome.fate = Fate::Optimised;
                }
                outcome.loops = chosen.loops.clone();
                if outcome.fate == Fate::Optimised || options.accept == Accept::Any {
                    let Chosen { function, relaxed, moved, changed, originals, .. } = *chosen;
                    outcome = OptimisedFunction { function, cost_after, relaxed, changed, originals, ..outcome };
                    outcome.moved_statements = moved;
                    (outcome.restructured, outcome.narrowed) = (self.restructured, self.narrowed);
                } else {
                    outcome.loops.iter_mut().for_each(LoopRemark::take_back);
                    outcome.variants.iter_mut().for_each(VariantRemark::take_back);
                }
            }
            Progress::Done(fate) => outcome.fate = fate,
            Progress::Build(_) => unreachable!("the last round chooses or gives up"),
        }
        outcome
    }
}

/// What becomes of functions where there are no rules: nothing.
pub fn untouched(functions: &[Function], universe: &Universe, options: &Options) -> Vec<OptimisedFunction> {
    functions.iter().map(|f| Unit::untouched(f, universe).finish(f, universe, options)).collect()
}
