//! More specific types of what functions of a module return, for their callers.
//!
//! A function whose returned values all have a type below the declared one, at no cost, returns that type; its callers'
//! types are inferred again. A function of which a pack says the types keeps them.
//!
//! **Invariant**: either all callers are verified with the new type, or it is not taken. A caller that is not to be
//! optimised stays as it is written.

use super::points::Work;
use rewright_cfg_skeleton::ir::Function;
use rewright_cfg_skeleton::ir::calls::callers;
use rewright_cfg_skeleton::ir::infer::reinfer;
use rewright_cfg_skeleton::ir::verify::verify;
use rewright_cfg_skeleton::ir::versions::{below, expression, own_operation};
use rewright_packs::AFTER_INLINING;
use rewright_pipeline::optimiser::{Fate, OptimisedFunction};
use rewright_typeprop::{OpId, TypeExpr};

/// Types that are assumed of what one function returns.
const MAX_ASSUMED: usize = 8;

impl Work<'_> {
    /// Gives results of functions more specific types.
    pub(super) fn results(&mut self, chosen: &[usize]) {
        for index in chosen {
            let Some(op) = own_operation(&self.done.module, *index, &self.done.universe) else { continue };
            let callers = callers(&self.done.module, *index);
            if callers.is_empty() || !callers.iter().all(|caller| self.wanted[*caller]) {
                continue;
            }
            if callers.contains(index) {
                self.assume(*index, op, &callers);
            } else if let Some(typed) = self.with_result_types(&self.done.module.functions[*index]) {
                self.adopt(*index, op, &callers, typed);
            }
        }
    }

    fn with_result_types(&self, f: &Function) -> Option<Function> {
        let options = self.options_at(AFTER_INLINING);
        self.optimiser.optimiser.with_result_types(f, &self.done.universe, &options)
    }

    /// The same for a function that calls itself: its calls have the type that it returns if they have it. An execution that
    /// returns makes finitely many calls.
    fn assume(&mut self, index: usize, op: OpId, callers: &[usize]) {
        let [declared] = self.done.module.functions[index].results[..] else { return };
        for ty in below(declared, &self.done.universe).into_iter().take(MAX_ASSUMED) {
            let universe = &mut self.done.universe;
            let assumed = vec![expression(&universe.types, ty)];
            let general = std::mem::replace(&mut universe.ops.get_mut(op).results, assumed);
            let mut f = self.done.module.functions[index].clone();
            reinfer(&mut f, universe);
            let typed = if verify(&f, universe).is_empty() { self.with_result_types(&f) } else { None };
            self.done.universe.ops.get_mut(op).results = general;
            if let Some(typed) = typed.filter(|typed| typed.results[..] == [ty]) {
                self.adopt(index, op, callers, typed);
                return;
            }
        }
    }

    /// Takes a function with its results, if its callers are valid then.
    fn adopt(&mut self, index: usize, op: OpId, callers: &[usize], typed: Function) {
        let universe = &mut self.done.universe;
        let types: Vec<TypeExpr> = typed.results.iter().map(|ty| expression(&universe.types, *ty)).collect();
        let declared = std::mem::replace(&mut universe.ops.get_mut(op).results, types);
        let mut functions = self.done.module.functions.clone();
        functions[index] = typed;
        for caller in callers {
            reinfer(&mut functions[*caller], universe);
            if !verify(&functions[*caller], universe).is_empty() {
                universe.ops.get_mut(op).results = declared;
                return;
            }
        }
        for changed in callers.iter().chain([&index]) {
            let outcome = self.done.statistics.functions[*changed].as_mut().and_then(|f| f.outcome.as_mut());
            if let Some(outcome) = outcome {
                let cost = self.optimiser.optimiser.cost_of(&functions[*changed], universe, self.options);
                outcome.function = functions[*changed].clone();
                outcome.cost_after = outcome.cost_after.min(cost);
            }
        }
        let outcome = self.done.statistics.functions[index].as_mut().and_then(|f| f.outcome.as_mut());
        if let Some(outcome) = outcome {
            outcome.narrowed.extend(functions[index].results.iter().map(|ty| universe.types.display(*ty)));
        }
        self.done.module.functions = functions;
    }

    /// What a function has gained since the results of its callees have more specific types.
    pub(super) fn count_types_of_callees(&self, index: usize, outcome: &mut OptimisedFunction) {
        let written = &self.optimiser.module.functions[index];
        let cost = self.optimiser.optimiser.cost_of(written, self.optimiser.universe(), self.options);
        if outcome.cost_before < cost && outcome.fate == Fate::Unchanged {
            outcome.fate = Fate::Optimised;
        }
        outcome.cost_before = outcome.cost_before.max(cost);
    }
}
