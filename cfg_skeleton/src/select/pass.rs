//! A pass over a selection, and what passes work on.
//!
//! Passes stand in one list (`super::line`) and run once each, in its order. They ask [`Choices`], change the
//! [`Placement`], and know nothing of each other.

use super::choices::Choices;
use super::error::SelectError;
use super::options::Options;
use super::original::Originals;
use super::placement::Placement;
use super::report::Effort;
use super::selection::Selection;
use rewright_extract::Status;

/// A pass.
pub(crate) trait Pass {
    /// What reports call it.
    fn name(&self) -> &'static str;

    /// Changes the program, and leaves it settled.
    fn run(&self, state: &mut PassState) -> Result<(), SelectError>;
}

/// The program on its way through the passes.
pub(crate) struct PassState<'c, 'a> {
    pub(crate) choices: &'c Choices<'a>,
    pub(crate) options: &'c Options,
    pub(crate) placement: Placement<'c, 'a>,
    pub(crate) status: Status,
    /// What the program spends on computing values again.
    pub(crate) rematerialised: u64,
    /// What it spends on leaving values where the original computes them.
    pub(crate) placement_cost: u64,
    pub(crate) extracted: Option<Extracted<'c, 'a>>,
    pub(crate) effort: Option<Effort>,
    /// What the original computes, where a pass asks that.
    pub(crate) originals: Option<Originals>,
}

/// What an integer program has made of another program.
pub(crate) struct Extracted<'c, 'a> {
    /// The other program.
    pub(crate) start: Placement<'c, 'a>,
    /// How much cheaper than the answer a program may be.
    pub(crate) slack: f64,
}

impl<'c, 'a> PassState<'c, 'a> {
    /// A program in which nothing is chosen yet.
    pub(crate) fn new(choices: &'c Choices<'a>, options: &'c Options) -> Self {
        PassState {
            choices,
            options,
            placement: Placement::empty(choices),
            status: Status::Greedy,
            rematerialised: 0,
            placement_cost: 0,
            extracted: None,
            effort: None,
            originals: (options.prefer_original || options.keep_placement).then(|| Originals::new(choices)),
        }
    }

    /// The program as it is now.
    pub(crate) fn selection(&self) -> Selection {
        let PassState { rematerialised, placement_cost, status, .. } = *self;
        let (defs, statements, cost) =
            (self.placement.defs(), self.placement.statements().to_vec(), self.placement.cost());
        Selection { defs, statements, cost, rematerialised, placement_cost, status }
    }
}
