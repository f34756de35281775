//! What became of a command, as a line of JSON, and of many, summed up.

use rewright_cfg_skeleton::egraph::{Extent, Stop};
use rewright_cfg_skeleton::select::Status;
use rewright_dsl::program::Program;
use rewright_llvm::declared_calls::DeclaredCalls;
use rewright_llvm::optimise::FileOutcome;
use rewright_pipeline::optimiser::{Fate, OptimisedFunction};
use rewright_pipeline::sums::add_up;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;
use std::time::Instant;

/// Counts and reasons.
#[derive(Clone, PartialEq, Default, Debug, Serialize, Deserialize)]
#[serde(default)]
pub struct Facts {
    /// Files compiled with rules.
    pub files: u64,
    /// Of these, objects that were found in the cache.
    pub cached: u64,
    /// Of these, those that another machine or folder has kept in the store behind the cache.
    pub shared: u64,
    /// Commands that were left to the compiler.
    pub handed_over: u64,
    /// Files that were compiled without rules because something of ours failed.
    pub fell_back: u64,
    /// Files that the compiler does not accept.
    pub rejected: u64,
    /// Functions seen.
    pub functions: u64,
    /// Of these, functions that were met before in this build.
    pub known: u64,
    /// Functions that became cheaper.
    pub optimised: u64,
    /// Functions that stayed as they were.
    pub unchanged: u64,
    /// Functions that are not understood.
    pub passed_through: u64,
    /// Functions on which something of ours failed.
    pub failed: u64,
    /// Functions whose selection ended at its limits, of those that were not met before.
    pub cut_short: u64,
    /// By how much one of them might be cheaper at most, relative to what it costs, of those with a known bound.
    pub largest_gap: f64,
    /// Those of which no bound is known.
    pub without_bound: u64,
    /// Budgets that ended saturation, of functions that were not met before: how many functions.
    pub stopped: BTreeMap<String, u64>,
    /// Why commands, files and functions went as they came, and how often.
    pub reasons: BTreeMap<String, u64>,
    /// C functions of which packs say that they do less than LLVM knows, with what that is: the number of such calls.
    pub narrowed: BTreeMap<String, u64>,
    /// What became of calls of C functions that packs of the user declare.
    pub calls: BTreeMap<String, DeclaredCalls>,
    /// Functions that packs declare and that a file does not name, with one that it does, by which they were perhaps meant.
    pub near: BTreeMap<String, String>,
    /// Matches by rule, in functions that were not met before.
    pub rules: BTreeMap<String, u64>,
    /// Changes by the rules behind them, in those functions, where rules are logged.
    pub changes: BTreeMap<String, u64>,
    /// Files with changes of which no rules were logged: in the cache, they may be of a build that did not ask.
    pub unlogged: u64,
    /// Wall time by phase.
    pub seconds: BTreeMap<String, f64>,
}

/// A budget as summaries name it.
fn budget(stop: &Stop) -> String {
    match (stop.extent, &stop.ruleset) {
        (Extent::Step, Some(ruleset)) => format!("{} {} of `{ruleset}`", stop.limit, stop.budget.name()),
        (Extent::Rules, _) => format!("{} of single rules", stop.budget.name()),
        (Extent::Step, None) | (Extent::Run, _) => stop.budget.name().to_string(),
    }
}

impl Facts {
    /// The facts of a file that went through the pipeline.
    pub fn of(outcome: &FileOutcome, program: &Program) -> Self {
        let mut facts = Facts { files: 1, functions: outcome.statistics.functions.len() as u64, ..Facts::default() };
        facts.known = outcome.known as u64;
        facts.narrowed.clone_from(&outcome.narrowed);
        facts.calls.clone_from(&outcome.calls);
        for function in outcome.statistics.wanted() {
            match &function.fate {
                Fate::Optimised => facts.optimised += 1,
                Fate::Unchanged => facts.unchanged += 1,
                Fate::PassedThrough(reason) => {
                    facts.passed_through += 1;
                    facts.reason(reason);
                }
                Fate::Failed(reason) => {
                    facts.failed += 1;
                    facts.reason(reason);
                }
            }
        }
        for outcome in outcome.statistics.outcomes().filter(|outcome| outcome.ended.is_some()) {
            facts.cut_short += 1;
            match outcome.status {
                Status::Gap(gap) => facts.largest_gap = facts.largest_gap.max(gap),
                Status::Greedy | Status::Optimal => facts.without_bound += 1,
            }
        }
        for outcome in outcome.statistics.outcomes() {
            let budgets: BTreeSet<String> = outcome.stops.iter().map(budget).collect();
            for budget in budgets {
                *facts.stopped.entry(budget).or_default() += 1;
            }
        }
        for (rule, report) in outcome.statistics.rules.iter().filter(|(_, report)| report.matches > 0) {
            if let Some(rule) = program.rules.get(rule.0 as usize) {
                *facts.rules.entry(rule.name.clone()).or_default() += report.matches;
            }
        }
        let functions = outcome.statistics.outcomes();
        for rule in functions.flat_map(OptimisedFunction::behind) {
            *facts.changes.entry(program.rule(rule).name.clone()).or_default() += 1;
        }
        facts
    }

    /// Commands that came.
    pub fn commands(&self) -> u64 {
        self.handed_over + self.compiled()
    }

    /// Files that were compiled, or were to be.
    pub fn compiled(&self) -> u64 {
        self.files + self.fell_back + self.rejected
    }

    /// Notes why something went as it came.
    pub fn reason(&mut self, reason: &str) {
        *self.reasons.entry(reason.to_string()).or_default() += 1;
    }

    /// Runs a phase and charges its time.
    pub(super) fn time<T>(&mut self, phase: &str, work: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let result = work();
        *self.seconds.entry(phase.to_string()).or_default() += start.elapsed().as_secs_f64();
        result
    }

    /// Adds those of another command.
    pub fn add(&mut self, other: Facts) {
        self.files += other.files;
        self.cached += other.cached;
        self.shared += other.shared;
        self.handed_over += other.handed_over;
        self.fell_back += other.fell_back;
        self.rejected += other.rejected;
        self.functions += other.functions;
        self.known += other.known;
        self.optimised += other.optimised;
        self.unchanged += other.unchanged;
        self.passed_through += other.passed_through;
        self.failed += other.failed;
        self.cut_short += other.cut_short;
        self.largest_gap = self.largest_gap.max(other.largest_gap);
        self.without_bound += other.without_bound;
        self.unlogged += other.unlogged;
        add_up(&mut self.stopped, other.stopped);
        add_up(&mut self.reasons, other.reasons);
        add_up(&mut self.narrowed, other.narrowed);
        add_up(&mut self.calls, other.calls);
        self.near.extend(other.near);
        add_up(&mut self.rules, other.rules);
        add_up(&mut self.changes, other.changes);
        add_up(&mut self.seconds, other.seconds);
    }

    /// Appends a line to a log: one write, so that lines of parallel commands do not mix. That it cannot be written is
    /// no reason to fail.
    pub(super) fn log(&self, log: Option<&Path>) {
        if let Some(path) = log
            && let Ok(mut file) = OpenOptions::new().create(true).append(true).open(path)
            && let Ok(text) = serde_json::to_string(self)
        {
            let _ = file.write_all(format!("{text}\n").as_bytes());
        }
    }

    /// The sum of a log's lines. A line that cannot be read counts for nothing.
    pub fn sum(log: &str) -> Self {
        let mut sum = Facts::default();
        for facts in log.lines().filter_map(|line| serde_json::from_str(line).ok()) {
            sum.add(facts);
        }
        sum
    }
}
