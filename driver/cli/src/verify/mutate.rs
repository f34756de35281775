//! `rewright verify --mutate`: rules made wrong on purpose, and what verification says of them.

use super::super::shard::{Run, Sharding};
use super::super::{Finding, findings::Format, out};
use super::expected::Lines;
use anyhow::{Context, Result, bail};
use rewright_dsl::diagnostic;
use rewright_dsl::program::{Program, RuleId};
use rewright_verify::{self as verify, Fate, Judged, Kind, Options};
use serde_json::json;
use std::time::Instant;

/// What is expected of mutants in a directory of packs: the file's name and its first line.
pub(super) const EXPECTED: (&str, &str) = (
    "mutants.expected",
    "Mutants of each rule here that `rewright verify --mutate` refutes, and each that it does not. `--update` writes \
     this.",
);

/// Mutants to make.
#[derive(clap::Args)]
pub(super) struct Mutation {
    /// Test verification itself: make rules wrong in one place, and see that this is found
    #[arg(long)]
    pub(super) mutate: bool,
    /// Mutants per rule, from all kinds of changes
    #[arg(long, value_name = "N", default_value_t = MUTANTS, requires = "mutate")]
    pub(super) mutants: usize,
}

/// Mutants per rule, unless other numbers are asked for.
const MUTANTS: usize = 10;

impl Mutation {
    /// Is it the default number?
    pub(super) fn is_usual(&self) -> bool {
        self.mutants == MUTANTS
    }
}

pub(super) fn run(
    args: &Mutation,
    sharding: Sharding,
    format: Format,
    run: &Run<'_>,
    rules: &[RuleId],
    options: &Options,
    settle: &dyn Fn(&Lines) -> Result<bool>,
) -> Result<Finding> {
    if !format.is_for_people() && format != Format::Json {
        bail!("mutants are reported as text or as JSON: leave out `--format`, or say `--format json`");
    }
    let program = run.program;
    let progress = out::progress("rules", rules.len() as u64);
    let begun = Instant::now();
    let judged =
        verify::mutate(program, rules, args.mutants, options, &|| progress.inc(1)).context("verification stopped")?;
    progress.finish_and_clear();
    super::say_troubles(options);
    let escaped = judged.iter().any(|j| j.fate == Fate::Escaped);
    let is_bad = escaped | !settle(&lines(program, rules, &judged))?;
    if format == Format::Json {
        let listed: Vec<_> = judged.iter().map(|j| document(program, j)).collect();
        let report = json!({ "seed": options.seed, "mutants": listed });
        out::result(&format!("{:#}\n", sharding.document(report, run, is_bad)));
    } else {
        let survivors = |j: &&Judged| !matches!(j.fate, Fate::Malformed | Fate::Refuted);
        for j in judged.iter().filter(survivors) {
            let name = &program.rule(j.rule).name;
            out::report(&format!("{}: {name}: {} ({})", j.fate.words(), j.change, j.evidence));
        }
        out::result(&summary(&judged, rules.len(), begun.elapsed().as_secs_f64()));
    }
    Ok(if is_bad { Finding::Found } else { Finding::Clean })
}

/// By rule: how many of its mutants are refuted, and what became of each other one.
fn lines(program: &Program, rules: &[RuleId], judged: &[Judged]) -> Lines {
    let of = |rule: &RuleId| {
        let own = || judged.iter().filter(|j| j.rule == *rule);
        let refuted = own().filter(|j| j.fate == Fate::Refuted).count();
        let survivors = own().filter(|j| !matches!(j.fate, Fate::Malformed | Fate::Refuted));
        let mut survivors: Vec<String> = survivors.map(|j| format!("{}: {}", j.fate.words(), j.change)).collect();
        survivors.sort();
        survivors.insert(0, format!("{refuted} refuted"));
        (program.rule(*rule).name.clone(), survivors)
    };
    rules.iter().map(of).collect()
}

fn document(program: &Program, j: &Judged) -> serde_json::Value {
    json!({
        "rule": program.rule(j.rule).name, "kind": j.kind.words(), "change": j.change, "fate": j.fate.words(),
        "evidence": j.evidence,
    })
}

fn summary(judged: &[Judged], rules: usize, seconds: f64) -> String {
    let count = |wanted: &dyn Fn(&Judged) -> bool| judged.iter().filter(|j| wanted(j)).count();
    let malformed = count(&|j| j.fate == Fate::Malformed);
    let fates = Fate::ALL.iter().filter(|fate| **fate != Fate::Malformed);
    let fates: Vec<String> = fates.map(|fate| format!("{} {}", count(&|j| j.fate == *fate), fate.words())).collect();
    let kinds: Vec<String> = Kind::ALL
        .iter()
        .map(|kind| {
            let of_kind = count(&|j| j.kind == *kind && j.fate != Fate::Malformed);
            let refuted = count(&|j| j.kind == *kind && j.fate == Fate::Refuted);
            format!("{} {refuted} of {of_kind}", kind.words())
        })
        .collect();
    format!(
        "{} of {}: {}; refuted by kind: {}; {malformed} others change nothing or make no \
         sense, {seconds:.1} s\n",
        diagnostic::count(judged.len() - malformed, "mutant"),
        diagnostic::count(rules, "rule"),
        fates.join(", "),
        kinds.join(", ")
    )
}
