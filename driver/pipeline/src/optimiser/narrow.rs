//! The search for a program in which parameters of blocks have more specific types, so that calls of their values mean
//! more specific overloads.
//!
//! It is selected from an e-graph of its own, and taken if it is cheaper: what arguments of these types cost is in its
//! price.

use super::unit::{Progress, Unit};
use super::{Batch, Optimiser, Options, Phases};
use rewright_cfg_skeleton::Saturated;
use rewright_cfg_skeleton::egraph::{EGraphInput, EGraphView, Head, InputId};
use rewright_cfg_skeleton::ir::{Cfg, Function};
use rewright_cfg_skeleton::select::cost::function_cost;
use rewright_cfg_skeleton::skeleton::Skeleton;
use rewright_cfg_skeleton::skeleton::narrow::{Narrowing, candidates, carried, demand, narrowed, result_types};
use rewright_typeprop::{Ty, Universe};
use std::collections::BTreeMap;

/// How often types that do not stand are given up.
const MAX_TRIES: usize = 4;

/// A function with its e-graph.
struct Built {
    function: Function,
    cfg: Cfg,
    skeleton: Skeleton,
    view: EGraphView,
}

impl Built {
    fn given<'a>(&'a self, universe: &'a Universe) -> Saturated<'a> {
        let Built { function, cfg, skeleton, view } = self;
        Saturated { function, cfg, universe, skeleton, view }
    }
}

impl Optimiser {
    /// Takes the program with more specific types for a unit's function, if it is cheaper.
    pub(super) fn narrow(&self, unit: &mut Unit, universe: &Universe, options: &Options, batch: &mut Batch) {
        let Some((chosen, function)) = unit.chosen().and_then(|chosen| Some((chosen, chosen.narrowable.clone()?)))
        else {
            return;
        };
        let before = chosen.cost(universe, options);
        let Some((narrowings, built)) = self.with_types(function, universe, options) else { return };
        let given = built.given(universe);
        // Where an argument cannot be computed at the end of its edge, the types are right but nothing has them.
        let Ok(chosen) = self.choose(given, unit.blocks, options, &mut batch.phases) else { return };
        if chosen.cost(universe, options) < before {
            unit.note(given.view);
            unit.narrowed = narrowings.iter().map(|narrowing| universe.types.display(narrowing.ty)).collect();
            unit.state = Progress::Chosen(Box::new(chosen));
        }
    }

    /// The function with more specific types of results, and with those of parameters of blocks that they need, where that
    /// costs no more.
    pub fn with_result_types(&self, f: &Function, universe: &Universe, options: &Options) -> Option<Function> {
        if options.select.prefer_original {
            return None;
        }
        let cost = |f: &Function| function_cost(&options.select.cost, f, universe);
        let inner = self.with_types(f.clone(), universe, options).map(|(_, built)| built.function);
        inner.into_iter().chain([f.clone()]).find_map(|typed| {
            let built = self.built(typed, universe, options, true)?;
            let results = result_types(built.given(universe))?;
            let built = self.built(Function { results, ..built.function }, universe, options, true)?;
            // Where what is returned cannot be computed there, the types are right but nothing has them.
            let given = built.given(universe);
            let chosen = self.choose(given, f.blocks.len(), options, &mut Phases::default()).ok()?;
            (chosen.relaxed.is_empty() && cost(&chosen.function) <= cost(f)).then_some(chosen.function)
        })
    }

    /// The function with the most specific types that stand; `None` where none does.
    fn with_types(&self, f: Function, universe: &Universe, options: &Options) -> Option<(Vec<Narrowing>, Built)> {
        let general = self.built(f, universe, options, false)?;
        let mut wanted = candidates(general.given(universe));
        for _ in 0..MAX_TRIES {
            if wanted.is_empty() {
                return None;
            }
            let built = self.built(narrowed(&general.function, &wanted), universe, options, true)?;
            let stands = carried(built.given(universe), &wanted);
            if stands.len() == wanted.len() {
                return Some((stands, built));
            }
            wanted = stands;
        }
        None
    }

    /// Calls of functions that have been found to return something more specific than the program says.
    pub(super) fn typed(&self, input: &EGraphInput, universe: &Universe) -> BTreeMap<InputId, Ty> {
        let declared = &self.program.universe.ops;
        let found = |head: &Head| match head {
            Head::Op(op) => universe.ops.get(*op).results != declared.get(*op).results,
            _ => false,
        };
        let nodes = input.nodes.iter().enumerate().filter(|(_, node)| found(&node.head));
        nodes.filter_map(|(index, node)| Some((InputId(index as u32), node.ty(universe)?))).collect()
    }

    fn built(&self, function: Function, universe: &Universe, options: &Options, demands: bool) -> Option<Built> {
        let (cfg, mut skeleton) = self.build(&function, universe);
        if demands {
            demand(&mut skeleton, &function, universe);
        }
        let cfg = cfg.weighed(options.select.cost.weighing);
        let view = self.saturate_one(&skeleton.input, &universe.types, options).ok()?;
        view.contradictions.is_empty().then_some(Built { function, cfg, skeleton, view })
    }
}
