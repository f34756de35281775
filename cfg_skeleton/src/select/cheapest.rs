//! Takes the cheaper one of what the integer program gave and what it started from, and says how good that is.

use super::error::SelectError;
use super::pass::{Extracted, Pass, PassState};
use super::placement::Placement;
use rewright_extract::Status;

/// The pass.
pub(crate) struct Cheapest;

impl Pass for Cheapest {
    fn name(&self) -> &'static str {
        "cheapest"
    }

    fn run(&self, state: &mut PassState) -> Result<(), SelectError> {
        let Some(Extracted { start, slack }) = state.extracted.take() else { return Ok(()) };
        let size = |placement: &Placement| (placement.cost(), placement.moved());
        if size(&state.placement) > size(&start) {
            // It costs more only where a part was left at its start's choices and presolve had better ones.
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
