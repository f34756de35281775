//! What a saturated e-graph makes of the skeleton, so that the function is built again: what is decided, edges past blocks that
//! they decide, memory that becomes values, and checks that are executed earlier.

use super::Options;
use rewright_cfg_skeleton::Saturated;
use rewright_cfg_skeleton::ir::{Function, InstKind};
use rewright_cfg_skeleton::skeleton::narrow::is_narrowable;
use rewright_cfg_skeleton::skeleton::{
    Hoist, apply, apply_hoists, apply_promotion, apply_threads, changes, hoists, promotion, threads,
};
use rewright_typeprop::Universe;

/// A check that is executed once, ahead of the places where it was.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MovedCheck {
    /// The operation that may trap; `None` where it is a check alone.
    pub operation: Option<String>,
    /// At how many places it was.
    pub places: usize,
    /// Was one of them in a loop that it is ahead of?
    pub out_of_loop: bool,
}

impl MovedCheck {
    fn of(hoist: &Hoist, function: &Function, universe: &Universe) -> MovedCheck {
        let operation = match &function.inst(hoist.inst).kind {
            InstKind::Op { op, .. } => Some(universe.ops.get(*op).name.clone()),
            _ => None,
        };
        MovedCheck { operation, places: hoist.replaced.len(), out_of_loop: hoist.out_of_loop }
    }
}

/// The function with what changes, and the checks that are moved; `None` where nothing does. Memory becomes values when
/// nothing is left to decide, nor by edges of blocks that only decide, and checks move at last. For a back end whose own passes do
/// all this, they stay.
pub(super) fn rebuilt(given: Saturated, options: &Options) -> Option<(Function, Vec<MovedCheck>)> {
    let Saturated { function, universe, .. } = given;
    let changes = changes(given);
    if !changes.is_empty() {
        return Some((apply(function, &changes), vec![]));
    }
    if options.select.prefer_original {
        return None;
    }
    let threads = threads(given);
    if !threads.is_empty() {
        return Some((apply_threads(function, &threads), vec![]));
    }
    if let Some(promotion) = promotion(given) {
        return Some((apply_promotion(function, &promotion), vec![]));
    }
    let hoists = hoists(given);
    let moved = hoists.iter().map(|hoist| MovedCheck::of(hoist, function, universe)).collect();
    (!hoists.is_empty()).then(|| (apply_hoists(function, &hoists), moved))
}

/// The function, if its parameters may have more specific types.
pub(super) fn narrowable(given: Saturated, options: &Options) -> Option<Function> {
    let Saturated { function, universe, .. } = given;
    (!options.select.prefer_original && is_narrowable(function, universe)).then(|| function.clone())
}
