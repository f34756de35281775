//! Takes the cheaper one of what the integer program gave and what it started from, and says how good that is.

use super::error::SelectError;
use super::pass::{Extracted, Pass, PassState};
use rewright_extract::Status;
use std::cmp::Ordering;

/// The pass.
pub(crate) struct Cheapest;

impl Pass for Cheapest {
    fn name(&self) -> &'static str {
        "cheapest"
    }

    fn run(&self, state: &mut PassState) -> Result<(), SelectError> {
        let Some(Extracted { start, slack }) = state.extracted.take() else { return Ok(()) };
        // It costs more only where a part was left at its start's choices and presolve had better ones. Of what costs the
        // same the start executes the first, which is a statement's own node.
        let keeps = match state.placement.cost_and_size().cmp(&start.cost_and_size()) {
            Ordering::Greater => true,
            Ordering::Equal => state.choices.moves.any(),
            Ordering::Less => false,
        };
        if keeps {
            state.placement = start;
        }
        // The product leaves out what every selection executes, such as stores. Costs are whole numbers.
        state.status = match slack {
            slack if slack < 0.5 => Status::Optimal,
            slack => Status::Gap(slack / (state.placement.cost().max(1) as f64)),
        };
        Ok(())
    }
}
