//! Where the pipeline's time goes. Times are reported, never acted on.

use crate::sums::add_up;
use rewright_cfg_skeleton::select::{Effort, Ran, Status};
use rewright_extract::clock;
use std::collections::BTreeMap;
use std::time::Duration;

/// Time by phase, summed over functions and threads.
#[derive(Clone, Debug, Default)]
pub struct Phases {
    /// In pipeline order.
    pub times: BTreeMap<Phase, Duration>,
    /// Of selections, by pass, in the order in which passes ran first.
    pub passes: Vec<(&'static str, Duration)>,
    /// In no particular order.
    pub selections: Vec<Selected>,
}

/// What is known of one selection.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Selected {
    /// All of it, with its validation.
    pub time: Duration,
    /// How good it is.
    pub status: Status,
    /// The integer program, if there was one.
    pub effort: Option<Effort>,
}

/// A phase of the pipeline, in order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Phase {
    /// Normalisation of loops and edges.
    Normalise,
    /// Function to skeleton and e-graph input.
    Build,
    /// Preparing rules, and emptying the e-graph.
    Prepare,
    /// Insertion and rules.
    Saturate,
    /// The saturated e-graph, read back.
    ReadBack,
    /// Finding and applying skeleton changes.
    Changes,
    /// Selection, and the independent check of it.
    Select,
    /// Selection to function.
    Elaborate,
    /// Clean-up and verification.
    Cleanup,
}

impl Phase {
    /// All, in order.
    pub const ALL: [Phase; 9] = [
        Phase::Normalise,
        Phase::Build,
        Phase::Prepare,
        Phase::Saturate,
        Phase::ReadBack,
        Phase::Changes,
        Phase::Select,
        Phase::Elaborate,
        Phase::Cleanup,
    ];

    /// As reports name it.
    pub fn name(self) -> &'static str {
        match self {
            Phase::Normalise => "normalise",
            Phase::Build => "build",
            Phase::Prepare => "prepare",
            Phase::Saturate => "saturate",
            Phase::ReadBack => "read back",
            Phase::Changes => "changes",
            Phase::Select => "select",
            Phase::Elaborate => "elaborate",
            Phase::Cleanup => "cleanup",
        }
    }
}

impl Phases {
    /// Does some work and charges its time to a phase.
    pub fn time<T>(&mut self, phase: Phase, work: impl FnOnce() -> T) -> T {
        let start = clock::now();
        let result = work();
        *self.times.entry(phase).or_default() += clock::since(start);
        result
    }

    /// Charges a part of one phase to another.
    pub(super) fn move_time(&mut self, from: Phase, to: Phase, time: Duration) {
        let whole = self.times.entry(from).or_default();
        *whole = whole.saturating_sub(time);
        *self.times.entry(to).or_default() += time;
    }

    /// Adds the times of passes over a selection.
    pub(super) fn ran(&mut self, passes: &[Ran]) {
        passes.iter().for_each(|ran| self.add_pass(ran.pass, ran.time));
    }

    fn add_pass(&mut self, pass: &'static str, time: Duration) {
        match self.passes.iter_mut().find(|(name, _)| *name == pass) {
            Some((_, sum)) => *sum += time,
            None => self.passes.push((pass, time)),
        }
    }

    /// Adds the times and selections of another report.
    pub fn add(&mut self, other: &Phases) {
        add_up(&mut self.times, other.times.iter().map(|(phase, time)| (*phase, *time)));
        other.passes.iter().for_each(|(pass, time)| self.add_pass(pass, *time));
        self.selections.extend(&other.selections);
    }
}
