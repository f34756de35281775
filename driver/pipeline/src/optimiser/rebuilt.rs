//! What a saturated e-graph makes of the skeleton, so that the function is built again: what is decided, edges past blocks
//! that they decide, memory that becomes values, stores that not all paths need, and checks that are executed earlier.

use super::Options;
use rewright_cfg_skeleton::Saturated;
use rewright_cfg_skeleton::ir::{Function, InstKind};
use rewright_cfg_skeleton::skeleton::narrow::is_narrowable;
use rewright_cfg_skeleton::skeleton::{
    Change, Delay, Hoist, KnownAtEnds, apply, apply_delays, apply_hoists, apply_promotion, apply_threads, changes,
    delays, hoists, promotion, threads,
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

/// What a function was built again for, summed over its rounds.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Restructured {
    /// Branches that always go one way.
    pub decided: usize,
    /// Checks that never trap.
    pub passed: usize,
    /// Edges that go straight past a block that only decides where to go on.
    pub threaded: usize,
    /// Loads whose values parameters of blocks carry instead.
    pub loads: usize,
    /// Stores that are executed once, behind the loop that they were in.
    pub stores: usize,
    /// Stores that are overwritten on all paths, past merges, or that nobody can read.
    pub overwritten: usize,
    /// Stores that are executed later, on those paths only that need them.
    pub delayed: usize,
    /// Checks that are executed earlier than they were, and less often.
    pub moved: Vec<MovedCheck>,
}

impl Restructured {
    /// Was nothing restructured?
    pub fn is_empty(&self) -> bool {
        *self == Restructured::default()
    }

    /// Adds what another part of the function, or another round, was restructured for.
    pub fn add(&mut self, other: Restructured) {
        let Restructured { decided, passed, threaded, loads, stores, overwritten, delayed, moved } = other;
        self.decided += decided;
        self.passed += passed;
        self.threaded += threaded;
        self.loads += loads;
        self.stores += stores;
        self.overwritten += overwritten;
        self.delayed += delayed;
        self.moved.extend(moved);
    }

    fn of_changes(changes: &[Change]) -> Self {
        let count = |is: fn(&Change) -> bool| changes.iter().filter(|change| is(change)).count();
        Restructured {
            decided: count(|change| matches!(change, Change::Jump { .. })),
            passed: count(|change| matches!(change, Change::Pass { .. })),
            ..Restructured::default()
        }
    }
}

/// The function with what changes, and what that is; `None` where nothing does. Memory becomes values when
/// nothing is left to decide, nor by edges of blocks that only decide, then stores go where they are needed, and checks
/// move at last. For a back end whose own passes do all this, they stay.
pub(super) fn rebuilt(given: Saturated, options: &Options) -> Option<(Function, Restructured)> {
    let Saturated { function, universe, .. } = given;
    let at_ends = KnownAtEnds::new(given);
    let decided = decided(given, &at_ends);
    if decided.is_some() {
        return decided;
    }
    if options.select.prefer_original {
        return None;
    }
    let threads = threads(given, &at_ends);
    if !threads.is_empty() {
        let threaded = threads.iter().map(|threads| threads.edges.len()).sum();
        return Some((apply_threads(function, &threads), Restructured { threaded, ..Restructured::default() }));
    }
    if let Some(promotion) = promotion(given) {
        let (loads, stores) = (promotion.loads(), promotion.stores());
        let made = Restructured { loads, stores, ..Restructured::default() };
        return Some((apply_promotion(function, &promotion), made));
    }
    let delays = delays(given);
    if !delays.is_empty() {
        let overwritten = delays.iter().filter(|delay| Delay::is_gone(delay)).count();
        let made = Restructured { overwritten, delayed: delays.len() - overwritten, ..Restructured::default() };
        return Some((apply_delays(function, &delays), made));
    }
    let hoists = hoists(given);
    let moved = hoists.iter().map(|hoist| MovedCheck::of(hoist, function, universe)).collect();
    let made = Restructured { moved, ..Restructured::default() };
    (!hoists.is_empty()).then(|| (apply_hoists(function, &hoists), made))
}

/// The function with what is decided; `None` where nothing is.
fn decided(given: Saturated, at_ends: &KnownAtEnds) -> Option<(Function, Restructured)> {
    let changes = changes(given, at_ends);
    (!changes.is_empty()).then(|| (apply(given.function, &changes), Restructured::of_changes(&changes)))
}

/// The function, if its parameters may have more specific types.
pub(super) fn narrowable(given: Saturated, options: &Options) -> Option<Function> {
    let Saturated { function, universe, .. } = given;
    (!options.select.prefer_original && is_narrowable(function, universe)).then(|| function.clone())
}
