//! The rules that a report speaks of: their texts, and what verification has found of them.

use crate::remarks::FileReport;
use rewright_dsl::program::Program;
use rewright_packs::{Evidence, evidence_of};
use std::collections::{BTreeMap, BTreeSet};

/// A rule as a report shows it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RuleNote {
    /// Its pack and line.
    pub place: String,
    /// Its text.
    pub text: String,
    /// What verification has found of it; nothing where that is not recorded.
    pub evidence: Vec<String>,
}

/// The rules behind the changes of files, by name.
pub fn notes(program: &Program, files: &[FileReport]) -> BTreeMap<String, RuleNote> {
    let functions = files.iter().flat_map(|file| &file.functions);
    let wanted: BTreeSet<&str> =
        functions.flat_map(|f| f.behind().chain(&f.matched)).map(|rule| rule.name.as_str()).collect();
    let mut kept: BTreeMap<String, Evidence> = BTreeMap::new();
    let mut notes = BTreeMap::new();
    for rule in program.rules.iter().filter(|rule| wanted.contains(rule.name.as_str())) {
        let place = program.sources.place(rule.span);
        let evidence = kept.entry(place.file.clone()).or_insert_with(|| evidence_of(&place.file));
        let note = RuleNote {
            place: format!("{}:{}", place.file, place.line),
            text: program.sources.item(rule.span),
            evidence: evidence.get(&rule.name).cloned().unwrap_or_default(),
        };
        notes.insert(rule.name.clone(), note);
    }
    notes
}
