//! More specific types of what functions of a module return, for their callers.
//!
//! A function whose returned values all have a type below the declared one, at no cost, returns that type; its callers'
//! types are inferred again. Functions that call each other get theirs together. A function of which a pack says the types
//! keeps them.
//!
//! **Invariant**: either all callers are verified with the new type, or it is not taken. A caller that is not to be
//! optimised stays as it is written.

use super::points::{Work, note_counts};
use rewright_cfg_skeleton::ir::Function;
use rewright_cfg_skeleton::ir::calls::callers;
use rewright_cfg_skeleton::ir::infer::reinfer;
use rewright_cfg_skeleton::ir::verify::verify;
use rewright_cfg_skeleton::ir::versions::{below, expression, own_operation};
use rewright_packs::AFTER_INLINING;
use rewright_pipeline::optimiser::{Fate, OptimisedFunction};
use rewright_typeprop::{OpId, Ty, TypeExpr};
use std::collections::{BTreeMap, BTreeSet};

/// Types that are assumed of what one function returns.
const MAX_ASSUMED: usize = 8;

/// How often types are assumed of functions that call each other.
const MAX_TRIES: usize = 16;

/// A function whose callers may see a more specific result.
struct Candidate {
    index: usize,
    op: OpId,
    callers: Vec<usize>,
}

/// What is assumed of the result of a function that is called by itself, perhaps through others.
struct Assumed {
    candidate: Candidate,
    /// Types below the declared one, the one that is assumed last.
    types: Vec<Ty>,
}

impl Work<'_> {
    /// Gives results of functions more specific types.
    pub(super) fn results(&mut self, chosen: &[usize]) {
        for component in self.graph.components().to_vec() {
            let members = || component.iter().copied().filter(|index| chosen.contains(index));
            let calls_itself =
                |candidate: &Candidate| candidate.callers.iter().any(|caller| component.contains(caller));
            self.assume(members().filter_map(|index| self.candidate(index)).filter(calls_itself).collect());
            for index in members() {
                let Some(candidate) = self.candidate(index).filter(|candidate| !calls_itself(candidate)) else {
                    continue;
                };
                if let Some(typed) = self.with_result_types(&self.done.module.functions[index]) {
                    self.adopt(vec![(candidate, typed)]);
                }
            }
        }
    }

    fn candidate(&self, index: usize) -> Option<Candidate> {
        let op = own_operation(&self.done.module, index, &self.done.universe)?;
        let callers = callers(&self.done.module, index);
        let are_wanted = !callers.is_empty() && callers.iter().all(|caller| self.wanted[*caller]);
        are_wanted.then_some(Candidate { index, op, callers })
    }

    fn with_result_types(&self, f: &Function) -> Option<Function> {
        let options = self.options_at(AFTER_INLINING);
        self.optimiser.optimiser.with_result_types(f, &self.done.universe, &options)
    }

    /// The same for functions that call themselves or each other: all their calls have the types that are assumed, and these
    /// stand if all that they return has them. An execution that returns makes finitely many calls, so this is an induction.
    /// A type that does not stand makes way for the next one, and all are tried again with that.
    fn assume(&mut self, candidates: Vec<Candidate>) {
        let assumed = candidates.into_iter().filter_map(|candidate| {
            let [declared] = self.done.module.functions[candidate.index].results[..] else { return None };
            let mut types: Vec<Ty> = below(declared, &self.done.universe).into_iter().take(MAX_ASSUMED).collect();
            types.reverse();
            Some(Assumed { candidate, types })
        });
        let mut assumed: Vec<Assumed> = assumed.collect();
        for _ in 0..MAX_TRIES {
            assumed.retain(|assumed| !assumed.types.is_empty());
            if assumed.is_empty() {
                return;
            }
            let found = self.typed_as(&assumed);
            if found.iter().all(Option::is_some) {
                let candidates = assumed.into_iter().map(|assumed| assumed.candidate);
                self.adopt(candidates.zip(found.into_iter().flatten()).collect());
                return;
            }
            for (assumed, _) in assumed.iter_mut().zip(&found).filter(|(_, typed)| typed.is_none()) {
                assumed.types.pop();
            }
        }
    }

    /// Functions that return what is assumed, while that is assumed of all; `None` for those that do not.
    fn typed_as(&mut self, assumed: &[Assumed]) -> Vec<Option<Function>> {
        let declared =
            self.declare(assumed.iter().map(|a| (a.candidate.op, a.types.last().copied().into_iter().collect())));
        let typed = assumed.iter().map(|Assumed { candidate, types }| {
            let mut f = self.done.module.functions[candidate.index].clone();
            reinfer(&mut f, &mut self.done.universe);
            let typed = if verify(&f, &self.done.universe).is_empty() { self.with_result_types(&f) } else { None };
            typed.filter(|typed| typed.results.last() == types.last())
        });
        let typed = typed.collect();
        self.restore(declared);
        typed
    }

    /// Lets operations give results of other types; what they gave before.
    fn declare(&mut self, results: impl Iterator<Item = (OpId, Vec<Ty>)>) -> Vec<(OpId, Vec<TypeExpr>)> {
        let universe = &mut self.done.universe;
        let declared = results.map(|(op, types)| {
            let types = types.into_iter().map(|ty| expression(&universe.types, ty)).collect();
            (op, std::mem::replace(&mut universe.ops.get_mut(op).results, types))
        });
        declared.collect()
    }

    fn restore(&mut self, declared: Vec<(OpId, Vec<TypeExpr>)>) {
        for (op, results) in declared {
            self.done.universe.ops.get_mut(op).results = results;
        }
    }

    /// Takes functions with their results, if their callers are valid then.
    fn adopt(&mut self, found: Vec<(Candidate, Function)>) {
        let declared = self.declare(found.iter().map(|(candidate, typed)| (candidate.op, typed.results.clone())));
        let callers: BTreeSet<usize> =
            found.iter().flat_map(|(candidate, _)| candidate.callers.iter().copied()).collect();
        let mut changed: BTreeMap<usize, Function> =
            callers.iter().map(|caller| (*caller, self.done.module.functions[*caller].clone())).collect();
        let taken: Vec<usize> = found.iter().map(|(candidate, _)| candidate.index).collect();
        changed.extend(found.into_iter().map(|(candidate, typed)| (candidate.index, typed)));
        let universe = &mut self.done.universe;
        let mut are_valid = true;
        for (_, f) in changed.iter_mut().filter(|(index, _)| callers.contains(index)) {
            reinfer(f, universe);
            are_valid &= verify(f, universe).is_empty();
        }
        if !are_valid {
            self.restore(declared);
            return;
        }
        for (index, f) in changed {
            let outcome = self.done.statistics.functions[index].as_mut().and_then(|f| f.outcome.as_mut());
            if let Some(outcome) = outcome {
                let cost = self.optimiser.optimiser.cost_of(&f, universe, self.options);
                outcome.function = f.clone();
                outcome.cost_after = outcome.cost_after.min(cost);
                if taken.contains(&index) {
                    outcome.narrowed.extend(f.results.iter().map(|ty| universe.types.display(*ty)));
                }
            }
            self.done.module.functions[index] = f;
        }
    }

    /// What a function has gained since the results of its callees have more specific types.
    pub(super) fn count_types_of_callees(&self, index: usize, outcome: &mut OptimisedFunction) {
        let mut written = self.optimiser.module.functions[index].clone();
        note_counts(&mut written, self.options);
        let cost = self.optimiser.optimiser.cost_of(&written, self.optimiser.universe(), self.options);
        if outcome.cost_before < cost && outcome.fate == Fate::Unchanged {
            outcome.fate = Fate::Optimised;
        }
        outcome.cost_before = outcome.cost_before.max(cost);
    }
}
