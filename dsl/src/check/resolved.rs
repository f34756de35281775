//! What was found out about names while their surroundings were checked, by their places: which overloads calls mean,
//! which types variables have, which rules paths name. [`super::occurrences`] reads it.

use crate::program::RuleId;
use crate::syntax::ast::{Name, Path, Span};
use rewright_typeprop::OpId;
use rustc_hash::FxHashMap;

/// Names with their meanings.
#[derive(Default)]
pub(super) struct Resolved {
    /// By the place of a call's name or operator. An item has several where it stands for several rules.
    calls: FxHashMap<Span, Vec<OpId>>,
    /// By the place where a variable is declared: its type, as a pack would write it.
    types: FxHashMap<Span, String>,
    /// By the place of a path.
    paths: FxHashMap<Span, Named>,
}

/// What is looked up among rules.
pub(super) enum Named {
    Rule(RuleId),
    /// By its qualified name.
    Ruleset(String),
    /// By its qualified name.
    Schedule(String),
}

impl Resolved {
    pub(super) fn note_path(&mut self, path: &Path, named: Named) {
        self.paths.insert(path.span, named);
    }

    pub(super) fn note_call(&mut self, at: Span, op: OpId) {
        let ops = self.calls.entry(at).or_default();
        if !ops.contains(&op) {
            ops.push(op);
        }
    }

    /// Of several rules that an item stands for, the first one counts.
    pub(super) fn note_type(&mut self, declared: Span, shown: impl FnOnce() -> String) {
        self.types.entry(declared).or_insert_with(shown);
    }

    pub(super) fn named(&self, path: &Path) -> Option<&Named> {
        self.paths.get(&path.span)
    }

    pub(super) fn type_of(&self, declared: &Name) -> Option<String> {
        self.types.get(&declared.span).cloned()
    }

    pub(super) fn overloads(&self, at: Span) -> Option<&[OpId]> {
        self.calls.get(&at).map(Vec::as_slice)
    }
}
