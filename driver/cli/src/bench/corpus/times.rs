//! Processor time of the pipeline by phase: files as a whole, and each function alone.

use rewright_cfg_skeleton::select;
use rewright_clif::optimise::{ClifOptimiser, FileOutcome};
use rewright_clif::read::File;
use rewright_extract::Method;
use rewright_pipeline::optimiser::{Options, Phase};
use std::collections::BTreeMap;
use std::time::Duration;

/// Time by phase.
pub(super) type ByPhase = BTreeMap<&'static str, Duration>;

/// Phases that our time is made of when it is compared with Cranelift's pass: from import to clean-up.
pub(super) fn compared() -> impl Iterator<Item = &'static str> {
    [IMPORT].into_iter().chain(Phase::ALL.iter().map(|phase| phase.name()))
}

/// Functions of Cranelift to ours.
const IMPORT: &str = "import";

/// Ours to functions of Cranelift.
pub(super) const EXPORT: &str = "export";

/// Of a way to select: the fastest of all runs.
pub(super) struct Times {
    pub(super) method: Method,
    /// Summed over files.
    pub(super) in_files: ByPhase,
    /// Of each function alone.
    pub(super) alone: Vec<ByPhase>,
}

impl Times {
    /// Of files as a whole.
    pub(super) fn in_files(&self) -> Duration {
        sum(&self.in_files)
    }

    /// Of functions alone, sorted.
    pub(super) fn alone(&self) -> Vec<Duration> {
        let mut times: Vec<Duration> = self.alone.iter().map(sum).collect();
        times.sort();
        times
    }

    /// The median of a phase over functions alone.
    pub(super) fn median(&self, phase: &str) -> Duration {
        median(self.alone.iter().filter_map(|times| times.get(phase).copied()).collect())
    }
}

pub(super) fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

/// From import to clean-up.
pub(super) fn sum(times: &ByPhase) -> Duration {
    compared().filter_map(|phase| times.get(phase)).sum()
}

/// Keeps the shorter time of each phase.
pub(super) fn keep_fastest(fastest: &mut ByPhase, outcome: &FileOutcome) {
    let own = |phase: Phase| (phase.name(), outcome.statistics.phases.times.get(&phase).copied().unwrap_or_default());
    let around = [(IMPORT, outcome.import), (EXPORT, outcome.export)];
    for (phase, time) in Phase::ALL.into_iter().map(own).chain(around) {
        let slot = fastest.entry(phase).or_insert(time);
        *slot = (*slot).min(time);
    }
}

/// One file, as one way to select takes it.
pub(super) struct FileRuns<'r> {
    clif: &'r ClifOptimiser,
    options: Options,
    whole: ByPhase,
    /// By function.
    alone: Vec<ByPhase>,
    /// The last outcome of the whole file.
    pub(super) last: Option<FileOutcome>,
}

impl<'r> FileRuns<'r> {
    pub(super) fn new(clif: &'r ClifOptimiser, options: &Options, method: Method, functions: usize) -> Self {
        let select = select::Options { method, ..options.select.clone() };
        let options = Options { select, ..options.clone() };
        FileRuns { clif, options, whole: ByPhase::new(), alone: vec![ByPhase::new(); functions], last: None }
    }

    /// One run of the whole file, and of each function.
    pub(super) fn run(&mut self, file: &File) {
        let outcome = self.clif.optimise(file, &self.options, |_| true);
        keep_fastest(&mut self.whole, &outcome);
        self.last = Some(outcome);
        for (index, fastest) in self.alone.iter_mut().enumerate() {
            keep_fastest(fastest, &self.clif.optimise(file, &self.options, |i| i == index));
        }
    }

    /// Adds what was measured of the functions that go through the pipeline, and in Cranelift's.
    pub(super) fn add_to(&mut self, times: &mut Times, taken: &[bool]) {
        for (phase, time) in &self.whole {
            *times.in_files.entry(phase).or_default() += *time;
        }
        let alone = std::mem::take(&mut self.alone).into_iter().zip(taken);
        times.alone.extend(alone.filter(|(_, taken)| **taken).map(|(time, _)| time));
    }

    /// From import to clean-up of the whole file.
    pub(super) fn whole(&self) -> Duration {
        sum(&self.whole)
    }
}
