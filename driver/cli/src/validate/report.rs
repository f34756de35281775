//! The report on all files together: one form for all languages, for people and for programs.

use crate::out;
use anyhow::{Result, bail};
use clap::ValueEnum;
use rewright_cfg_skeleton::verdict::{Kind, Side, Verdict, are_refined, assumptions};
use rewright_dsl::diagnostic::count;
use rewright_equiv::Method;
use rewright_equiv::verdict::{Tally, ValidationReport};
use serde::Serialize;
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// Two versions of one file that were compared.
#[derive(Debug)]
pub(super) struct Compared {
    /// The file.
    pub(super) file: String,
    /// The pass that made the second version of the first one, where there are several.
    pub(super) pass: Option<String>,
    /// Can the input of a refutation be given to `--input`?
    pub(super) replayable: bool,
    pub(super) report: ValidationReport,
}

impl Compared {
    /// The functions that are refuted.
    fn refuted(&self) -> impl Iterator<Item = &str> {
        self.report.functions.iter().filter(|f| f.verdict == Kind::Refuted).map(|f| f.function.as_str())
    }

    /// The verdicts by name.
    fn by_name(&self) -> BTreeMap<&str, &Verdict> {
        self.report.functions.iter().map(|verdict| (verdict.function.as_str(), verdict)).collect()
    }
}

/// Functions that a proof rests on, also through other proofs, and that are not proved themselves.
fn rests_on<'v>(verdict: &'v Verdict, by_name: &BTreeMap<&str, &'v Verdict>) -> BTreeSet<&'v str> {
    if verdict.verdict != Kind::Proved {
        return BTreeSet::new();
    }
    let mut todo: Vec<&str> = verdict.rests_on.iter().map(String::as_str).collect();
    let (mut seen, mut open) = (BTreeSet::from([verdict.function.as_str()]), BTreeSet::new());
    while let Some(name) = todo.pop() {
        if !seen.insert(name) {
            continue;
        }
        match by_name.get(name) {
            Some(proved) if proved.is_proved() => todo.extend(proved.rests_on.iter().map(String::as_str)),
            _ => {
                open.insert(name);
            }
        }
    }
    open
}

/// What was found.
#[derive(Debug, Default)]
pub(super) struct Report {
    pub(super) compared: Vec<Compared>,
    /// Files that only one folder has, and which one. Their functions are among those that were compared.
    pub(super) only: Vec<(Side, String)>,
    /// Files that were not compared, and why.
    pub(super) failed: Vec<(String, String)>,
    /// Was each file compared after several passes?
    pub(super) by_pass: bool,
    /// Does another report tell of the functions and files that this one does not?
    pub(super) is_part: bool,
}

/// A verdict, and what it is about.
#[derive(Serialize)]
struct Placed<'a, T> {
    file: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pass: Option<&'a str>,
    #[serde(flatten)]
    found: &'a T,
}

impl Report {
    /// Notes that a file was not compared, and says why.
    pub(super) fn failed(&mut self, file: &str, reason: &anyhow::Error) {
        out::error(&format!("{reason:#}"));
        self.failed.push((file.to_string(), format!("{reason:#}")));
    }

    /// Is there no function at all?
    pub(super) fn is_empty(&self) -> bool {
        self.compared.iter().all(|one| one.report.unchanged == 0 && one.report.functions.is_empty())
    }

    /// How many functions were looked at.
    pub(super) fn functions(&self) -> usize {
        self.compared.iter().map(|one| one.report.unchanged as usize + one.report.functions.len()).sum()
    }

    /// By verdict: the position of its function in its file.
    pub(super) fn positions(&self) -> impl Iterator<Item = usize> {
        self.compared.iter().flat_map(|one| one.report.positions.iter().copied())
    }

    /// The first verdict that rests on an assumption: its number, and the file.
    pub(super) fn first_with(&self, assumption: &str) -> Option<(usize, &str)> {
        let mut verdicts = self.verdicts().enumerate();
        let (at, (one, _)) = verdicts.find(|(_, (_, v))| v.assumptions.iter().any(|other| other == assumption))?;
        Some((at, &one.file))
    }

    fn verdicts(&self) -> impl Iterator<Item = (&Compared, &Verdict)> {
        self.compared.iter().flat_map(|one| one.report.functions.iter().map(move |verdict| (one, verdict)))
    }

    /// Is a function of this name refuted?
    pub(super) fn is_refuted_of(&self, function: &str) -> bool {
        self.verdicts().any(|(_, verdict)| verdict.function == function && verdict.verdict == Kind::Refuted)
    }

    /// Why nothing is known of any function, if that is so.
    pub(super) fn says_nothing(&self) -> Option<String> {
        let reasons = |(_, verdict): (_, &Verdict)| verdict.reasons.join("; ");
        let is_known = |(_, verdict): (_, &Verdict)| verdict.verdict != Kind::Unknown;
        (!self.verdicts().any(is_known)).then(|| self.verdicts().map(reasons).next()).flatten()
    }

    /// All of it in one.
    fn total(&self) -> ValidationReport {
        let mut total = ValidationReport::default();
        self.compared.iter().for_each(|one| total.add(one.report.clone()));
        total
    }

    /// Of each file the first comparison that refutes something.
    fn broken(&self) -> Vec<&Compared> {
        let mut broken: Vec<&Compared> = vec![];
        for one in self.compared.iter().filter(|one| one.refuted().next().is_some()) {
            if broken.iter().all(|other| other.file != one.file) {
                broken.push(one);
            }
        }
        broken
    }

    /// Is anything refuted?
    ///
    /// # Errors
    /// Where something is proved as well: a mistake of this program.
    pub(super) fn is_refuted(&self) -> Result<bool> {
        if let Some((one, verdict)) = self.verdicts().find(|(_, verdict)| verdict.is_contradiction()) {
            let (function, file) = (&verdict.function, &one.file);
            bail!("a proof and a run of {function} in {file} contradict each other: please report both versions");
        }
        Ok(!self.broken().is_empty())
    }

    /// Is everything proved, without a precondition and with all that it rests on, and does nothing else differ that other
    /// modules see?
    pub(super) fn is_proved(&self) -> bool {
        let is_open = |one: &Compared| {
            let known = one.by_name();
            let is_told = |name: &&str| known.contains_key(name) || !self.is_part;
            one.report.functions.iter().any(|verdict| rests_on(verdict, &known).iter().any(is_told))
        };
        let is_seen = |one: &Compared| one.report.modules.iter().any(|difference| !difference.local);
        self.failed.is_empty()
            && self.only.is_empty()
            && self.verdicts().all(|(_, verdict)| verdict.is_proved())
            && !self.compared.iter().any(|one| is_seen(one) || is_open(one))
    }

    /// For programs.
    pub(super) fn json(&self) -> serde_json::Value {
        let total = self.total();
        fn placed<'a, T>(one: &'a Compared, found: &'a T) -> Placed<'a, T> {
            Placed { file: &one.file, pass: one.pass.as_deref(), found }
        }
        let functions: Vec<_> = self.verdicts().map(|(one, verdict)| placed(one, verdict)).collect();
        let differences = self.compared.iter().flat_map(|one| one.report.modules.iter().map(move |found| (one, found)));
        let modules: Vec<_> = differences.map(|(one, found)| placed(one, found)).collect();
        let only = |side: Side| -> Vec<&str> {
            self.only.iter().filter(|(s, _)| *s == side).map(|(_, file)| file.as_str()).collect()
        };
        let failed: Vec<_> =
            self.failed.iter().map(|(file, reason)| json!({ "file": file, "reason": reason })).collect();
        let mut all: Vec<&String> = vec![];
        for assumption in total.functions.iter().flat_map(|verdict| &verdict.assumptions) {
            if !all.contains(&assumption) {
                all.push(assumption);
            }
        }
        let mut report = json!({
            "schema": total.schema,
            "counts": total.counts,
            "unchanged": total.unchanged,
            "methods": total.methods,
            "assumptions": all,
            "files": {
                "compared": self.compared.len(),
                "only_first": only(Side::First),
                "only_second": only(Side::Second),
                "failed": failed,
            },
            "functions": functions,
            "modules": modules,
        });
        if self.by_pass {
            let broken = |one: &Compared| {
                let functions: Vec<&str> = one.refuted().collect();
                json!({ "file": one.file, "pass": one.pass, "functions": functions })
            };
            report["broken_by"] = self.broken().into_iter().map(broken).collect();
        }
        report
    }

    /// For people.
    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        let several = self.by_pass || self.compared.len() > 1;
        for one in &self.compared {
            if several {
                heading(&mut text, one);
            }
            let known = one.by_name();
            for verdict in &one.report.functions {
                let open: Vec<&str> = rests_on(verdict, &known).into_iter().collect();
                let _ = writeln!(text, "{}", verdict.line(&open));
                if let Some(found) = verdict.counterexample.as_ref().filter(|_| one.replayable) {
                    let (name, input) = (&verdict.function, &found.input);
                    let name = shlex::try_quote(name).unwrap_or(name.into());
                    let _ = writeln!(text, "    again with `--fn {name} --input FILE`, where FILE has {input}");
                }
            }
            for difference in &one.report.modules {
                let _ = writeln!(text, "{difference}");
            }
        }
        for (side, file) in &self.only {
            let _ = writeln!(text, "{file}: only the {side} folder has it");
        }
        for (file, reason) in &self.failed {
            let _ = writeln!(text, "{file}: not compared: {reason}");
        }
        self.summary(&mut text);
        text
    }

    /// How many proofs rest on functions that are not proved, and on which ones.
    fn conditions(&self) -> Option<String> {
        let (mut proofs, mut all) = (0, BTreeSet::new());
        for one in &self.compared {
            let known = one.by_name();
            let open: Vec<_> = one.report.functions.iter().map(|verdict| rests_on(verdict, &known)).collect();
            proofs += open.iter().filter(|open| !open.is_empty()).count();
            all.extend(open.into_iter().flatten());
        }
        let all: Vec<&str> = all.into_iter().collect();
        let verb = if proofs == 1 { "holds" } else { "hold" };
        are_refined(&all).map(|refined| format!("{} {verb} if {refined}\n", count(proofs, "proof")))
    }

    fn summary(&self, text: &mut String) {
        let total = self.total();
        let ValidationReport { counts, unchanged, methods, functions, .. } = &total;
        let of = if self.by_pass { "comparison" } else { "file" };
        let unchanged = count(*unchanged as usize, "function");
        let left_out = match self.failed.len() {
            0 => String::new(),
            failed => format!(" ({} not compared)", count(failed, "more file")),
        };
        let others = if counts.pairs == 1 { "other" } else { "others" };
        let _ = writeln!(
            text,
            "{}{left_out}, {unchanged} unchanged, {} {others}: {counts}",
            count(self.compared.len(), of),
            counts.pairs
        );
        for (method, tally) in methods {
            seen(text, *method, tally);
        }
        text.extend(assumptions(functions).map(|assumptions| assumptions + "\n"));
        text.extend(self.conditions());
        for one in self.broken().into_iter().filter(|_| self.by_pass) {
            let names: Vec<&str> = one.refuted().collect();
            let pass = one.pass.as_deref().unwrap_or_default();
            let _ = writeln!(text, "{} is broken by `{pass}`: {}", one.file, names.join(", "));
        }
    }
}

fn heading(text: &mut String, one: &Compared) {
    let _ = match &one.pass {
        Some(pass) => writeln!(text, "{}, `{pass}`:", one.file),
        None => writeln!(text, "{}:", one.file),
    };
}

/// What one method has seen.
fn seen(text: &mut String, method: Method, Tally { compared, runs, runs_not_compared, .. }: &Tally) {
    let (each, done) = match method {
        Method::Replayed | Method::Interpreted | Method::Compiled => ("input", "compared"),
        Method::Refined => ("question", "decided"),
        Method::Nests => ("pair", "decided"),
    };
    let functions = count(*compared as usize, "function");
    let by = count(*runs as usize, each);
    let name = method.to_possible_value().map(|value| value.get_name().to_string()).unwrap_or_default();
    let _ = writeln!(text, "{name}: {functions} compared, by {by}");
    for (reason, n) in runs_not_compared {
        let each = count(*n as usize, each);
        let _ = writeln!(text, "{each:>12} not {done}: {reason}");
    }
}
