//! Facts that are found between steps ([`super::loop_facts`], [`super::known_facts`]) and go into the e-graph.

use super::EngineError;
use super::batch::Batch;
use egglog::api::RawValues;
use egglog::{Value, Write};
use rewright_dsl::program::FactId;
use rustc_hash::FxHashSet;

/// A fact, the class of which it holds, and the one of a loop in which it does.
pub(super) type Found = (FactId, Value, Option<Value>);

/// What was said in a run, of classes as they were numbered then. Rows stay, and follow their classes.
#[derive(Default)]
pub(super) struct Said(FxHashSet<Found>);

impl Said {
    /// Says what was not said before; was there something?
    pub(super) fn say(&mut self, batch: &mut Batch<'_>, found: Vec<Found>) -> Result<bool, EngineError> {
        let new: Vec<Found> = found.into_iter().filter(|found| self.0.insert(*found)).collect();
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
