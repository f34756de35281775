//! Syntax trees of one or more packs -> [`Program`] and diagnostics.
//!
//! Files come with their imports before them (see [`crate::load`]). The stages, each over all files:
//!
//! 0. [`lists`]: what takes a list is written out per length.
//! 1. [`decls`]: names. Types, effects, facts and the signatures of functions, file by file; a [`scope::Scope`]
//!    says what each name means there, [`name_clashes`] what it is called. [`ambiguous`] compares the overloads of each
//!    name.
//! 2. [`ops`]: what clauses and attributes of functions say: cost, laws, meaning, checks; [`overrides`]: what other
//!    packs say of their cost.
//! 3. [`rules`], [`rewritings`], [`match_blocks`], [`inferences`], [`guards`]: rules and inferences, elaborated by
//!    [`elab`] with the types of [`solve`] and the overloads of [`overload`]; [`effects`] says what a plain rule may
//!    not do, [`unsafe_rules`] what an `unsafe` one may. [`laws`] adds the rules that declarations imply.
//!    [`approximate`] reads what a rule that is no equality gives up.
//! 4. [`schedules`], [`examples`], [`blocks`]: they name rules, so they come last.
//! 5. [`lints`], [`unused`], [`unused_items`]: what is allowed but probably not meant, in root files only.
//! 6. [`occurrences`]: if asked for, what each name means, by its place.
//!
//! **Invariants**: every mistake is reported, once, at its cause; a declaration that was rejected is *excused*:
//! its uses stay silent. Everything that enters the program is well-typed and complete, whatever else is wrong in the
//! file.

mod ambiguous;
mod approximate;
mod attributes;
mod blocks;
#[cfg(test)]
mod broken;
mod dearer;
mod decls;
mod divided;
mod effects;
mod elab;
mod examples;
mod exclusive;
mod families;
mod finish;
mod grouped;
mod guards;
mod inferences;
mod instances;
mod laws;
mod link;
mod lints;
mod lists;
mod match_blocks;
mod merges;
mod messages;
mod name_clashes;
mod nodes;
mod occurrences;
mod ops;
mod overload;
mod overrides;
mod recurrences;
mod regions;
mod repeated;
mod report;
mod resolved;
mod rewritings;
mod rules;
mod samples;
mod schedules;
mod scope;
mod solve;
mod specs;
#[cfg(test)]
mod tests;
mod unsafe_rules;
mod unused;
mod unused_items;
mod variables;
mod wording;
mod written_types;

pub use lists::{CUT_SHORT, Calls};
pub use wording::signature;

use crate::diagnostic::{Diagnostic, Severity};
use crate::index::Index;
use crate::program::{FactId, Program, RuleId};
use crate::syntax::ast::{File, Item, ItemKind, Name, Path, Span};
use indexmap::IndexMap;
use report::Diag;
use resolved::{Named, Resolved};
use rewright_typeprop::names::Owners;
use rustc_hash::FxHashMap;
use scope::Scope;
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

/// A file with what the loader knows of it.
#[derive(Clone, Debug, Default)]
pub struct ParsedFile {
    /// As shown to the user.
    pub path: String,
    /// Name of the pack: as stated, or the file's stem.
    pub pack: String,
    /// The tree.
    pub file: Arc<File>,
    /// Imports by path as written -> index of the file. An absent one could not be loaded and is reported.
    pub imports: IndexMap<String, usize>,
    /// Asked for by the user, not only imported: lints speak of it.
    pub root: bool,
    /// Meant to be imported: unused declarations are its purpose.
    pub library: bool,
    /// It has mistakes of syntax, which have been reported: parts of it may be missing.
    pub broken: bool,
}

/// Checks packs. `files` holds imported files before those that import them.
pub fn check(files: &[ParsedFile]) -> (Program, Vec<Diagnostic>) {
    let (program, diagnostics, _) = checked(files, Calls::default(), None, everything);
    (program, diagnostics)
}

/// As [`check`], and says what all names mean, by their places.
pub fn check_indexed(files: &[ParsedFile]) -> (Program, Vec<Diagnostic>, Index) {
    checked(files, Calls::default(), Some(RefCell::default()), everything)
}

fn everything(checker: &mut Checker<'_>) {
    checker.check_examples(|_| true);
    checker.lint();
}

/// Checks packs for commands that only apply their rules, and still report every mistake in files that are not
/// libraries: examples of libraries do not enter the program and are not checked, and there are no lints. All else is
/// as [`check`] says. Lists have the lengths that `calls` need, too.
pub fn check_applied(files: &[ParsedFile], calls: Calls<'_>) -> (Program, Vec<Diagnostic>) {
    let evidence = |checker: &mut Checker<'_>| checker.check_examples(|file| !file.library);
    let (program, diagnostics, _) = checked(files, calls, None, evidence);
    (program, diagnostics)
}

/// Checks what rules and costs are made of, for commands that only apply them: examples and tests do not enter the
/// program, mistakes in them are not found, and there are no lints. All else is as [`check`] says.
pub fn check_rules(files: &[ParsedFile]) -> (Program, Vec<Diagnostic>) {
    let (program, diagnostics, _) = checked(files, Calls::default(), None, |_| {});
    (program, diagnostics)
}

/// Runs all stages over what programs are made of, and then what else is asked for.
/// The index is empty where nothing is to be noted.
fn checked(
    files: &[ParsedFile],
    calls: Calls<'_>,
    resolved: Option<RefCell<Resolved>>,
    evidence: impl FnOnce(&mut Checker<'_>),
) -> (Program, Vec<Diagnostic>, Index) {
    let (written_out, diagnostics) = lists::expand(files, calls);
    let mut checker = Checker {
        files: &written_out,
        program: Program::default(),
        diagnostics,
        scopes: Vec::new(),
        rule_names: FxHashMap::default(),
        type_spans: vec![Span::default()],
        op_spans: Vec::new(),
        fact_spans: Vec::new(),
        has_subtypes: Vec::new(),
        computable: Vec::new(),
        ambiguous: Vec::new(),
        fns: Vec::new(),
        regions: Owners::default(),
        rejected_rules: Vec::new(),
        rejected_sets: Vec::new(),
        written: Vec::new(),
        resolved,
    };
    checker.declare_all();
    checker.ambiguous_overloads();
    checker.check_ops();
    crate::instances::TypeInstances::intern(&mut checker.program.universe.types);
    checker.check_rules();
    checker.note_cut_short();
    checker.check_laws();
    checker.check_schedules();
    evidence(&mut checker);
    let resolved = checker.resolved.take().map(RefCell::into_inner);
    let index = resolved.map(|resolved| occurrences::index(&checker, files, &resolved)).unwrap_or_default();
    let Checker { mut program, mut diagnostics, op_spans, type_spans, .. } = checker;
    (program.declared, program.declared_types) = (op_spans, type_spans);
    diagnostics.sort_by_key(|d| (d.primary.span.file, d.primary.span.start));
    (program, grouped::merge(files, diagnostics), index)
}

/// A function whose signature was accepted: where its item is.
struct FnPlace<'a> {
    op: rewright_typeprop::OpId,
    file: usize,
    item: &'a Item,
}

/// A rule as written, for lints: its file, its directions and instances, of which there is at least one.
struct WrittenRule {
    file: usize,
    name: Span,
    rules: Vec<RuleId>,
}

struct Checker<'a> {
    files: &'a [ParsedFile],
    program: Program,
    diagnostics: Vec<Diagnostic>,
    /// Per file.
    scopes: Vec<Rc<Scope>>,
    /// Families of rules by qualified name: the first rule of each.
    rule_names: FxHashMap<String, RuleId>,
    /// Places of names, by id.
    type_spans: Vec<Span>,
    op_spans: Vec<Span>,
    fact_spans: Vec<Span>,
    has_subtypes: Vec<bool>,
    /// By operation: which arguments must be known to compute it; `None` if it cannot be computed.
    computable: Vec<Option<Vec<bool>>>,
    /// Overloads of which none is more specific, reported.
    ambiguous: Vec<(rewright_typeprop::OpId, rewright_typeprop::OpId)>,
    fns: Vec<FnPlace<'a>>,
    /// Declared effects.
    regions: Owners,
    /// Qualified names of rules and rulesets that were rejected.
    rejected_rules: Vec<String>,
    rejected_sets: Vec<String>,
    written: Vec<WrittenRule>,
    /// What names mean, where that is asked for. Elaborations share the checker and add to it.
    resolved: Option<RefCell<Resolved>>,
}

impl<'a> Checker<'a> {
    fn report(&mut self, report: Diag) {
        self.diagnostics.push(report.done());
    }

    /// Notes what a path means that was looked up among rules.
    fn note_path(&self, path: &Path, named: Named) {
        if let Some(resolved) = &self.resolved {
            resolved.borrow_mut().note_path(path, named);
        }
    }

    /// Notes a rule for lints. One that stands for no rule, as over a family without members, can never fire.
    fn note_written(&mut self, file: usize, name: Span, rules: Vec<RuleId>) {
        if !rules.is_empty() {
            self.written.push(WrittenRule { file, name, rules });
        } else if self.files[file].root && self.errors() == 0 {
            self.report(
                Diag::lint("RW0505", name, "this rule can never fire", "at no member of its families")
                    .help("its sides have no meaning at any of them, or they have no members"),
            );
        }
    }

    fn errors(&self) -> usize {
        self.diagnostics.iter().filter(|d| d.severity == Severity::Error).count()
    }

    /// Is it another file of a pack that has been read? That is the mistake, and not what its items are.
    fn is_second(&self, file: usize) -> bool {
        self.files[..file].iter().any(|earlier| earlier.pack == self.files[file].pack)
    }

    /// Items of a file with the ruleset around them.
    fn items(&self, file: usize) -> Vec<(Option<&'a Name>, &'a Item)> {
        let mut out = Vec::new();
        if self.is_second(file) {
            return out;
        }
        for item in &self.files[file].file.items {
            match &item.kind {
                ItemKind::Ruleset { name, items } => {
                    out.push((None, item));
                    out.extend(items.iter().map(|inner| (Some(name), inner)));
                }
                _ => out.push((None, item)),
            }
        }
        out
    }

    /// Facts with their qualified names, to look rules up by.
    fn fact_name(&self, id: FactId) -> &str {
        &self.program.facts[id.0 as usize].name
    }
}
