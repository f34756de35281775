//! What a directory of packs says that verification finds: `verify.expected`, a line per rule with how many of its type
//! instances have which verdict.
//!
//! A difference is a finding, in both directions: a rule that is no longer proved, one that is proved now, a rule or a
//! type instance that has come or gone. `--update` writes the file; read the difference before it is kept.

use crate::verify::{RuleReport, Verdict};
use anyhow::{Context, Result};
use rewright_dsl::program::Program;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// The file in a directory of packs.
const NAME: &str = "verify.expected";

const HEADER: &str = "\
# What `rewright verify` finds of each rule here: type instances by verdict. `rewright verify --update` writes this.
";

/// The file that speaks of these paths, if they are one directory.
pub(in crate::commands) fn file(paths: &[PathBuf]) -> Option<PathBuf> {
    match paths {
        [folder] if folder.is_dir() => Some(folder.join(NAME)),
        _ => None,
    }
}

/// By rule.
pub(in crate::commands) type Lines = BTreeMap<String, String>;

fn found(program: &Program, reports: &[RuleReport]) -> Lines {
    reports.iter().map(|r| (program.rule(r.rule).name.clone(), line(r))).collect()
}

/// `12 equal, 4 equal at smaller widths`.
fn line(report: &RuleReport) -> String {
    let count = |verdict: Verdict| report.instances.iter().filter(|i| i.verdict == verdict).count();
    let counts = Verdict::ALL.iter().map(|v| (count(*v), v.words())).filter(|(n, _)| *n > 0);
    let counts: Vec<String> = counts.map(|(n, words)| format!("{n} {words}")).collect();
    if counts.is_empty() { "no instance".into() } else { counts.join(", ") }
}

/// What a file says.
pub(in crate::commands) fn read(text: &str) -> Lines {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines.filter_map(|line| line.split_once(": ")).map(|(rule, what)| (rule.into(), what.into())).collect()
}

/// Differences between the file and what was found, a line each. With `all`, rules that were not looked at are
/// differences, too.
///
/// # Errors
/// When the file is there and cannot be read.
pub(super) fn differences(path: &Path, program: &Program, reports: &[RuleReport], all: bool) -> Result<Vec<String>> {
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    let (expected, found) = (read(&text), found(program, reports));
    let mut differences = vec![];
    for (rule, what) in &found {
        match expected.get(rule) {
            Some(expected) if expected == what => {}
            Some(expected) => differences.push(format!("{rule}: expected {expected}; found {what}")),
            None => differences.push(format!("{rule}: not expected; found {what}")),
        }
    }
    let gone = expected.iter().filter(|(rule, _)| all && !found.contains_key(*rule));
    differences.extend(gone.map(|(rule, what)| format!("{rule}: expected {what}; there is no such rule")));
    Ok(differences)
}

/// Writes the file; what it says of rules that were not looked at stays, unless all were.
///
/// # Errors
/// When it cannot be written.
pub(super) fn update(path: &Path, program: &Program, reports: &[RuleReport], all: bool) -> Result<()> {
    let mut lines = if all { Lines::new() } else { read(&std::fs::read_to_string(path).unwrap_or_default()) };
    lines.extend(found(program, reports));
    let mut text = HEADER.to_string();
    for (rule, what) in &lines {
        let _ = writeln!(text, "{rule}: {what}");
    }
    std::fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}
