//! The examples of packs, run for `check` and `test`.

use super::{out, packs};
use anyhow::{Context, Result};
use rewright_clif::optimise::ClifOptimiser;
use rewright_dsl::diagnostic::{Diagnostic, Label, Severity, count};
use rewright_dsl::expectation;
use rewright_dsl::program::{Example, Program, Rule, RuleId, own_name};
use rewright_engine::Budget;
use rewright_native::foreign::{Listener, Unanswered};
use rewright_pipeline::examples::{self, ExampleOutcome, Failure};
use rewright_pipeline::optimiser::Optimiser;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What running examples gave.
pub(super) struct Ran {
    /// Examples that hold.
    pub(super) held: Vec<usize>,
    /// What optimises them.
    pub(super) clif: ClifOptimiser,
    /// How many were run.
    pub(super) total: usize,
    /// A finding for each that failed.
    pub(super) failed: Vec<Diagnostic>,
    /// A finding for each that would have called what is not allowed, or what cannot be called.
    pub(super) not_run: Vec<Diagnostic>,
    /// A warning for each that holds only as far as rules have run.
    pub(super) cut_short: Vec<Diagnostic>,
    /// By family of rules: the examples in which it took part.
    took_part: BTreeMap<RuleId, usize>,
}

/// The examples of packs whose title, pack or rules contain a text.
pub(super) fn wanted(program: &Program, roots: &[String], filter: Option<&str>) -> Vec<usize> {
    let asked = |example: &Example| {
        let Some(text) = filter else { return true };
        let rules = example.fires.iter().map(|rule| program.rule(*rule).name.as_str());
        [example.title.as_str(), example.pack.as_str()].into_iter().chain(rules).any(|name| name.contains(text))
    };
    let examples = program.examples.iter().enumerate();
    let wanted: Vec<_> =
        examples.filter(|(_, example)| roots.contains(&example.pack) && asked(example)).map(|(i, _)| i).collect();
    if let Some(text) = filter.filter(|_| wanted.is_empty()) {
        out::note(&format!("warning: of no example do title, pack or rules contain {text:?}"));
    }
    wanted
}

/// Runs examples of a program without mistakes, which these packs make, each within a budget.
pub(super) fn run(
    program: Program,
    wanted: &[usize],
    roots: &[PathBuf],
    calls: &packs::Calls,
    budget: &Budget,
) -> Result<Ran> {
    let unanswered = Arc::new(Mutex::new(BTreeSet::new()));
    let listener: Listener = {
        let unanswered = unanswered.clone();
        Arc::new(move |call| {
            lock(&unanswered).insert(call);
        })
    };
    let program = calls.linked(program, roots, &listener)?;
    let clif = ClifOptimiser::new(program)
        .and_then(|clif| clif.optimiser.accept_all().map(|()| clif))
        .context("the rules do not form a program")?;
    let program = clif.optimiser.program();
    let (mut held, mut failed, mut not_run, mut cut_short) = (vec![], vec![], vec![], vec![]);
    let mut took_part = BTreeMap::new();
    for (outcome, unanswered) in apart(&clif.optimiser, wanted, budget, &unanswered) {
        if !unanswered.is_empty() {
            not_run.push(unanswered_finding(&program.examples[outcome.example], &unanswered));
            continue;
        }
        let mut families: Vec<RuleId> = outcome.fired.iter().map(|rule| program.rule(*rule).family).collect();
        families.sort_unstable();
        families.dedup();
        families.into_iter().for_each(|family| *took_part.entry(family).or_default() += 1);
        if !outcome.cut_short.is_empty() {
            cut_short.push(cut_short_finding(&program.examples[outcome.example], &outcome.cut_short));
        }
        match outcome.failure {
            Some(failure) => failed.push(finding(program, &program.examples[outcome.example], failure)),
            None => held.push(outcome.example),
        }
    }
    Ok(Ran { held, clif, total: wanted.len(), failed, not_run, cut_short, took_part })
}

fn lock(unanswered: &Mutex<BTreeSet<Unanswered>>) -> MutexGuard<'_, BTreeSet<Unanswered>> {
    unanswered.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs examples together, and by halves where calls were not answered: which of them wanted these is known of one.
fn apart(
    optimiser: &Optimiser,
    wanted: &[usize],
    budget: &Budget,
    unanswered: &Mutex<BTreeSet<Unanswered>>,
) -> Vec<(ExampleOutcome, BTreeSet<Unanswered>)> {
    lock(unanswered).clear();
    let outcomes = examples::run(optimiser, wanted, budget);
    let calls = std::mem::take(&mut *lock(unanswered));
    if calls.is_empty() || wanted.len() < 2 {
        return outcomes.into_iter().map(|outcome| (outcome, calls.clone())).collect();
    }
    let (first, second) = wanted.split_at(wanted.len() / 2);
    let mut all = apart(optimiser, first, budget, unanswered);
    all.extend(apart(optimiser, second, budget, unanswered));
    all
}

/// Of an example nothing is known where calls that it wants were not answered.
fn unanswered_finding(example: &Example, calls: &BTreeSet<Unanswered>) -> Diagnostic {
    let why: Vec<String> = calls.iter().map(ToString::to_string).collect();
    Diagnostic {
        code: "RW0602",
        severity: Severity::Error,
        message: format!("example {:?} of {} was not run", example.title, example.pack),
        primary: Label { span: example.expected, text: "nothing is known of it".into() },
        secondary: vec![],
        help: Some(why.join("\n")),
        fix: None,
    }
}

/// That rules have not come to terms that an example says to be different does not mean that they never do.
fn cut_short_finding(example: &Example, stops: &[String]) -> Diagnostic {
    Diagnostic {
        code: "RW0604",
        severity: Severity::Warning,
        message: format!("example {:?} of {} was cut short", example.title, example.pack),
        primary: Label { span: example.expected, text: "holds as far as the rules have run".into() },
        secondary: vec![],
        help: Some(stops.join("\n")),
        fix: None,
    }
}

/// A failure with its place, and the change that makes it none.
fn finding(program: &Program, example: &Example, failure: Failure) -> Diagnostic {
    let text = program.sources.files.get(example.span.file as usize).map_or("", |(_, text)| text);
    let fix = failure.instead.and_then(|instead| expectation::update(text, example.span, &instead));
    let mut why = failure.why;
    if fix.is_some() {
        why.push("`rewright test --update` writes what holds instead".into());
    }
    Diagnostic {
        code: "RW0601",
        severity: Severity::Error,
        message: format!("example {:?} of {} fails", example.title, example.pack),
        primary: Label { span: example.expected, text: failure.found },
        secondary: vec![],
        help: (!why.is_empty()).then(|| why.join("\n")),
        fix,
    }
}

/// How a summary ends that counts examples which were not run.
pub(super) fn not_run(count: usize) -> String {
    if count == 0 { String::new() } else { format!(", {count} not run") }
}

/// How many rules there are.
pub(super) struct Counted {
    /// As they are written, families as one.
    pub(super) written: usize,
    /// With one for each member of a family, length of a list and direction.
    all: usize,
}

/// Counts rules.
pub(super) fn counted<'p>(rules: impl Iterator<Item = &'p Rule>) -> Counted {
    let families: Vec<RuleId> = rules.map(|rule| rule.family).collect();
    Counted { written: families.iter().collect::<BTreeSet<_>>().len(), all: families.len() }
}

impl fmt::Display for Counted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&count(self.written, "rule"))?;
        if self.all > self.written { write!(f, " ({} when written out)", self.all) } else { Ok(()) }
    }
}

impl Ran {
    /// Rules of packs, families as one, with the number of examples in which each took part. Those about loops and
    /// merges are left out: no example has one.
    pub(super) fn coverage(&self, roots: &[String]) -> Vec<(&str, usize)> {
        let program = self.clif.optimiser.program();
        let rules = program.rules.iter().enumerate();
        let own = rules.filter(|(i, rule)| {
            let is_family = rule.family.0 as usize == *i && !rule.law && is_of(roots, &rule.name);
            is_family && !rule.is_about_control(&program.universe)
        });
        own.map(|(_, rule)| (rule.name.as_str(), self.took_part.get(&rule.family).copied().unwrap_or(0))).collect()
    }

    /// Rules that took part in no example.
    pub(super) fn silent(&self, roots: &[String]) -> Vec<String> {
        let covered = self.coverage(roots).into_iter();
        covered.filter(|(_, examples)| *examples == 0).map(|(rule, _)| rule.to_string()).collect()
    }
}

/// Is a rule one of these packs' own? Rules that are only imported are left to their own authors.
pub(super) fn is_of(roots: &[String], rule: &str) -> bool {
    roots.iter().any(|root| own_name(root, rule).is_some())
}
