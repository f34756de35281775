//! Helpers of the checks of fused and interchanged loops.

use crate::ir::Function;

/// Whether a condition of a check holds, or what is wrong.
pub(super) type Checked = Result<(), &'static str>;

pub(super) fn require(holds: bool, why: &'static str) -> Checked {
    if holds { Ok(()) } else { Err(why) }
}

/// Checks that results, regions and promises are the original's, and that it has no facts about aliases.
pub(super) fn surroundings(original: &Function, variant: &Function) -> Checked {
    require(
        (&variant.results, &variant.regions, &variant.promises)
            == (&original.results, &original.regions, &original.promises),
        "results, regions and promises are the function's",
    )?;
    require(original.aliases.is_empty(), "something is known of what loads see")
}
