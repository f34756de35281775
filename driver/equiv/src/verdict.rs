//! Reports on the functions of two modules: verdicts, and what each method has seen.

use super::Method;
pub use super::surroundings::ModuleDifference;
use rewright_cfg_skeleton::verdict::{Counts, Verdict};
use serde::Serialize;
use std::collections::BTreeMap;

/// What begins a reason that says that something differed in a run, and that it is open whether that counts.
pub(super) const DOUBT: &str = "it may differ";

/// What begins a reason that says that runs and a solver cannot judge a change.
pub const VOUCHED: &str = "not validated: rules of packs say what";

/// What one method has seen.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct Tally {
    /// Functions of which at least one run was compared, or question decided.
    pub compared: u64,
    /// Runs that were compared; questions that were decided.
    pub runs: u64,
    /// Runs and questions of which nothing came, by reason.
    pub runs_not_compared: BTreeMap<String, u64>,
    /// Functions of which no run was compared, by the reason that most of their runs had.
    pub not_compared: BTreeMap<String, u64>,
}

/// What was found in one or more pairs of modules.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct ValidationReport {
    /// Of this form.
    pub schema: u32,
    /// How many pairs have which verdict.
    pub counts: Counts,
    /// Functions that are byte for byte the same in both modules, with all that they mention and lead to: not among the
    /// pairs.
    pub unchanged: u64,
    /// By method.
    pub methods: BTreeMap<Method, Tally>,
    /// A verdict for each pair, in the order of the files.
    pub functions: Vec<Verdict>,
    /// Of each of them: its position among the functions of its files.
    #[serde(skip)]
    pub positions: Vec<usize>,
    /// Where modules differ beside their functions.
    pub modules: Vec<ModuleDifference>,
}

impl Default for ValidationReport {
    fn default() -> Self {
        ValidationReport {
            schema: 1,
            counts: Counts::default(),
            unchanged: 0,
            methods: BTreeMap::new(),
            functions: vec![],
            positions: vec![],
            modules: vec![],
        }
    }
}

impl ValidationReport {
    /// Adds a verdict; [`Self::counts`] are made when all are there.
    pub(super) fn note(&mut self, position: usize, verdict: Verdict) {
        self.positions.push(position);
        self.functions.push(verdict);
    }

    /// The verdicts on a pair of files, by the positions of the functions.
    pub fn of(verdicts: impl IntoIterator<Item = (usize, Verdict)>) -> Self {
        let mut report = ValidationReport::default();
        verdicts.into_iter().for_each(|(position, verdict)| report.note(position, verdict));
        report.counts = Counts::of(&report.functions);
        report
    }

    /// Adds that of another pair of modules.
    pub fn add(&mut self, other: ValidationReport) {
        self.unchanged += other.unchanged;
        for (method, tally) in other.methods {
            let own = self.methods.entry(method).or_default();
            own.compared += tally.compared;
            own.runs += tally.runs;
            rewright_pipeline::sums::add_up(&mut own.runs_not_compared, tally.runs_not_compared);
            rewright_pipeline::sums::add_up(&mut own.not_compared, tally.not_compared);
        }
        self.modules.extend(other.modules);
        self.functions.extend(other.functions);
        self.positions.extend(other.positions);
        self.counts = Counts::of(&self.functions);
    }
}
