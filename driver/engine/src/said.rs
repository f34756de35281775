//! Facts that are found between steps ([`super::loop_facts`], [`super::known_facts`]) and go into the e-graph.

use super::EngineError;
use super::batch::Batch;
use egglog::api::RawValues;
use egglog::{Value, Write};
use rewright_dsl::program::{FactId, LoopFact};
use rustc_hash::{FxHashMap, FxHashSet};

/// A fact, the class of which it holds, and the one of a loop in which it does.
pub(super) type Found = (FactId, Value, Option<Value>);

/// Some loops of a unit, as bits.
pub(super) type Loops = u64;

/// What was said in a run, of classes as they were numbered then. Rows stay, and follow their classes.
#[derive(Default)]
pub(super) struct Said {
    found: FxHashSet<Found>,
    /// Of facts about loops, by class and by the first of some loops: of which of those it was said.
    of_loops: FxHashMap<(LoopFact, Value, usize), Loops>,
}

impl Said {
    /// Of which loops a fact about a class was not said before, which is going to be said now.
    pub(super) fn newly(&mut self, fact: LoopFact, class: Value, first: usize, loops: Loops) -> Loops {
        if loops == 0 {
            return 0;
        }
        let said = self.of_loops.entry((fact, class, first)).or_default();
        let new = loops & !*said;
        *said |= loops;
        new
    }

    /// Says what was not said before; was there something?
    pub(super) fn say(&mut self, batch: &mut Batch<'_>, found: Vec<Found>) -> Result<bool, EngineError> {
        let new: Vec<Found> = found.into_iter().filter(|found| self.found.insert(*found)).collect();
        if new.is_empty() {
            return Ok(false);
        }
        let program = batch.program;
        let inserted = batch.egraph.update(|mut state| {
            for (fact, class, l) in &new {
                state.add(&program.fact(*fact).name, RawValues([*class].into_iter().chain(*l).collect()))?;
            }
            Ok(())
        });
        inserted.map_err(|error| EngineError::Run(error.to_string()))?;
        Ok(true)
    }
}
