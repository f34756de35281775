//! One mistake that shows at several places is said once, with all of its places: a name that a file does not know, and
//! what does not fit in one item for the same reason.

use super::ParsedFile;
use crate::diagnostic::{Diagnostic, Label, Severity};
use crate::syntax::ast::{Item, ItemKind};
use std::collections::BTreeMap;

/// Names that are not declared. The whole file lacks them.
const UNKNOWN: [&str; 3] = ["RW0201", "RW0202", "RW0213"];

/// What two reports of one mistake have in common.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Mistake<'d> {
    file: u32,
    /// Where the item begins; 0 for what the whole file lacks.
    item: u32,
    code: &'static str,
    /// What the message names, in whatever order: `i32` for `i64` here is `i64` for `i32` there.
    named: Vec<&'d str>,
    help: Option<&'d str>,
}

impl<'d> Mistake<'d> {
    fn of(found: &'d Diagnostic, files: &[ParsedFile]) -> Self {
        let at = found.primary.span;
        let item = match UNKNOWN.contains(&found.code) {
            true => 0,
            false => item(files, at.file, at.start).unwrap_or(at.start),
        };
        let mut named: Vec<&str> = found.message.split('`').skip(1).step_by(2).collect();
        if named.is_empty() {
            named.push(&found.message);
        }
        named.sort_unstable();
        Mistake { file: at.file, item, code: found.code, named, help: found.help.as_deref() }
    }
}

/// Where the item begins that a place is in; of a ruleset, the item inside of it.
fn item(files: &[ParsedFile], file: u32, place: u32) -> Option<u32> {
    let has = |item: &&Item| item.span.file == file && (item.span.start..item.span.end).contains(&place);
    let outer = files.iter().flat_map(|file| &file.file.items).find(has)?;
    let inner = match &outer.kind {
        ItemKind::Ruleset { items, .. } => items.iter().find(has),
        _ => None,
    };
    Some(inner.unwrap_or(outer).span.start)
}

/// Joins the reports of one mistake. A report with a change of its own stays by itself, so that the change is made.
pub(super) fn merge(files: &[ParsedFile], found: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let mut first: BTreeMap<Mistake<'_>, usize> = BTreeMap::new();
    let mut again: Vec<Option<usize>> = vec![];
    for (index, one) in found.iter().enumerate() {
        let is_error = one.severity == Severity::Error;
        let first = is_error.then(|| *first.entry(Mistake::of(one, files)).or_insert(index));
        again.push(first.filter(|first| *first != index && found[*first].fix == one.fix));
    }
    let mut merged: Vec<Diagnostic> = found.clone();
    for (one, earlier) in found.iter().zip(&again) {
        if let Some(earlier) = earlier
            && merged[*earlier].primary.span != one.primary.span
        {
            merged[*earlier].secondary.push(Label { span: one.primary.span, text: "and here".into() });
        }
    }
    merged.into_iter().zip(again).filter(|(_, again)| again.is_none()).map(|(one, _)| one).collect()
}
