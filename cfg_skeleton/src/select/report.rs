//! What a selection comes with: which passes made it, and how much work that was.

use super::selection::Selection;
use super::validate::Violation;
use rewright_extract::Ended;
use std::time::Duration;

/// A selection, and how it came about.
#[derive(Clone, Debug)]
pub struct SelectionReport {
    /// The program that was chosen.
    pub selection: Selection,
    /// What the integer program was, if there was one.
    pub effort: Option<Effort>,
    /// The passes that made the selection, in their order.
    pub passes: Vec<Ran>,
    /// The pass whose result was wrong: neither it nor what follows it is in the selection. A bug.
    pub refused: Option<Refused>,
}

/// A pass over a selection that has run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ran {
    /// Its name.
    pub pass: &'static str,
    /// What the selection costs after it.
    pub cost: u64,
    /// How long it took.
    pub time: Duration,
}

/// A pass whose result the validator does not accept.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Refused {
    /// Its name.
    pub pass: &'static str,
    /// What is wrong with its result.
    pub violations: Vec<Violation>,
}

/// What the integer program of a selection was: how large, and how much work.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Effort {
    /// Classes of the product, before presolve.
    pub classes: usize,
    /// Their nodes.
    pub nodes: usize,
    /// Nodes that presolve left for a solver or a search to decide between.
    pub left: usize,
    /// Parts that do not meet.
    pub parts: usize,
    /// Solver runs.
    pub runs: u32,
    /// Units of counted work of the extraction ([`rewright_extract::meter`]).
    pub work: u64,
    /// Why it is not known to be better; `None` where it is optimal.
    pub ended: Option<Ended>,
    /// Making the product.
    pub build: Duration,
    /// Presolve, and all that finds the choice and its bound.
    pub solve: Duration,
}
