//! Parts of a function without loops: what is known where one begins, what is executed, and where it ends.

use rewright_llvm::body::{Body, Instruction, Operand};
use rustc_hash::FxHashMap;

/// Values at a cut.
#[derive(Default)]
pub(super) struct State {
    /// Values that are not computed anew.
    pub(super) bases: Vec<Operand>,
    /// What computes others, in order.
    pub(super) computed: Vec<Instruction>,
    /// Conditions that are decided.
    pub(super) decided: Vec<(Operand, bool)>,
    /// Where values may be in memory.
    pub(super) readings: Vec<Reading>,
}

/// Memory may hold a value.
#[derive(Clone)]
pub(super) struct Reading {
    /// The value, and its place among the bases, if it is no constant or parameter.
    pub(super) value: Operand,
    pub(super) base: Option<usize>,
    /// What computes an address from bases, and reads it last of all, under names of their own.
    pub(super) instructions: Vec<Instruction>,
}

/// Control comes to a cut.
pub(super) struct Arrival {
    pub(super) cut: usize,
    /// The block of the region in which it does.
    pub(super) block: usize,
    /// What the bases of the cut are called there.
    pub(super) names: FxHashMap<String, String>,
    /// The readings of the cut, with the names that bases have there.
    pub(super) readings: Vec<Reading>,
}

/// What is executed between cuts.
pub(super) struct Region {
    pub(super) body: Body,
    pub(super) arrivals: Vec<Arrival>,
}
