//! Heads of functions ([`rewright_cfg_skeleton::ir::heads`]) in the place of calls that are left behind inlining.

use super::points::{Work, together};
use rewright_cfg_skeleton::ir::cfg::FREQUENCY_ONE;
use rewright_cfg_skeleton::ir::cleanup::cleanup;
use rewright_cfg_skeleton::ir::heads::Head;
use rewright_cfg_skeleton::ir::inline::{InlineLimits, inline};
use rewright_cfg_skeleton::ir::verify::verify;
use rewright_cfg_skeleton::ir::{Cfg, Function, InstKind, Module};
use rewright_packs::AFTER_INLINING;
use rewright_pipeline::optimiser::{Fate, OptimisedFunction, Options, Phase};
use rewright_typeprop::OpId;
use rewright_typeprop::ops::Cost;
use std::collections::BTreeMap;

/// A head that may take the place of calls of an operation.
struct Beginning {
    /// Of the function.
    name: String,
    function: Function,
    /// What a call costs less, in the unit of sums of costs.
    saved: u64,
}

impl Work<'_> {
    /// What became of a function, with heads in the place of its calls if that is cheaper. What calls themselves
    /// cost is left out: a head calls the function only where that has more to do than the head.
    pub(super) fn with_heads(&mut self, outcome: OptimisedFunction) -> OptimisedFunction {
        let optimiser = &self.optimiser.optimiser;
        let options = optimiser.with_variants(&self.done.universe, self.options);
        let is_done = matches!(outcome.fate, Fate::Optimised | Fate::Unchanged);
        if !options.variants || options.counts.is_some() || !is_done {
            return outcome;
        }
        let heads = self.heads(&outcome.function, &options);
        if heads.is_empty() {
            return outcome;
        }
        let mut made = outcome.function.clone();
        inline(&mut made, |op| heads.get(&op).map(|head| &head.function), InlineLimits::default());
        let universe = &self.done.universe;
        self.done.statistics.phases.time(Phase::Cleanup, || cleanup(&mut made, universe));
        if !verify(&made, universe).is_empty() {
            return outcome;
        }
        let Some(mut after) = self.run(&[made], AFTER_INLINING).pop() else { return outcome };
        let mut free = self.done.universe.clone();
        heads.keys().for_each(|op| free.ops.get_mut(*op).cost = Cost::Fixed(0));
        let optimiser = &self.optimiser.optimiser;
        let [with, without] = [&after, &outcome].map(|made| optimiser.cost_of(&made.function, &free, &options));
        let cfg = Cfg::new(&outcome.function).weighed(options.select.cost.weighing);
        let calls =
            calls(&outcome.function, &cfg).filter_map(|(kind, frequency)| Some((heads.get(&op(kind)?)?, frequency)));
        let calls: Vec<(&Beginning, u64)> = calls.collect();
        let saved: u64 = calls.iter().map(|(head, frequency)| head.saved * frequency / FREQUENCY_ONE).sum();
        if matches!(after.fate, Fate::Failed(_)) || with >= without + saved {
            return outcome;
        }
        // Each call and its return, which the pipeline does not count.
        let transfers: u64 = calls.iter().map(|(_, frequency)| 2 * transfer(&options) * frequency).sum();
        let before = OptimisedFunction {
            cost_before: outcome.cost_before + transfers,
            cost_after: outcome.cost_after + transfers,
            ..outcome.clone()
        };
        after.cost_after = before.cost_after.saturating_sub(without + saved - with);
        after.heads = calls.iter().map(|(head, _)| head.name.clone()).collect();
        OptimisedFunction { fate: Fate::Optimised, ..together(&before, after) }
    }

    /// By operation: the head of the function that a call of it executes.
    fn heads(&self, caller: &Function, options: &Options) -> BTreeMap<OpId, Beginning> {
        let Module { functions, bodies, .. } = &self.done.module;
        let universe = &self.done.universe;
        let optimiser = &self.optimiser.optimiser;
        let mut found = BTreeMap::new();
        for (kind, _) in calls(caller, &Cfg::new(caller)) {
            let Some((op, body)) = op(kind).and_then(|op| Some((op, *bodies.get(&op)?))) else { continue };
            // Regions have other numbers in the callee, except for the one of accesses that name none.
            let names_none = matches!(kind, InstKind::Op { access, .. } if access.is_none_or(|a| a.region.0 == 0));
            if found.contains_key(&op) || !names_none {
                continue;
            }
            let callee = &functions[body];
            let Some(head) = Head::new(callee, universe) else { continue };
            let alone = optimiser.cost_of(&head.alone(callee), universe, options);
            let saved = head.saved(alone, transfer(options));
            let function = head.calling(callee, kind.clone());
            found.insert(op, Beginning { name: callee.name.clone(), function, saved });
        }
        found
    }
}

/// What a call or a return costs: itself, and an instruction about the callee's frame.
fn transfer(options: &Options) -> u64 {
    2 * options.select.cost.branch
}

/// Operations that a function executes, with the frequencies of their blocks.
fn calls<'f>(function: &'f Function, cfg: &'f Cfg) -> impl Iterator<Item = (&'f InstKind, u64)> {
    let blocks = cfg.reverse_post_order().iter();
    blocks.flat_map(|block| {
        function.block(*block).insts.iter().map(|id| (&function.inst(*id).kind, cfg.frequency(*block)))
    })
}

fn op(kind: &InstKind) -> Option<OpId> {
    if let InstKind::Op { op, .. } = kind { Some(*op) } else { None }
}
