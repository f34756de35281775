//! What the checks of variants of two loops have in common.

use crate::ir::Function;

/// Whether a condition of a check holds, or what is wrong.
pub(super) type Checked = Result<(), &'static str>;

pub(super) fn require(holds: bool, why: &'static str) -> Checked {
    if holds { Ok(()) } else { Err(why) }
}

/// What belongs to no block is the original's, and nothing is known of what loads see.
pub(super) fn surroundings(original: &Function, variant: &Function) -> Checked {
    require(
        (&variant.results, &variant.regions, &variant.promises)
            == (&original.results, &original.regions, &original.promises),
        "results, regions and promises are the function's",
    )?;
    require(original.aliases.is_empty(), "something is known of what loads see")
}
