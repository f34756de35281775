//! What is given once and stands there again: attributes, clauses of a function, imports, rules that an example names.

use super::Checker;
use super::report::Diag;
use super::samples::{OBSERVE, SAMPLE};
use crate::syntax::ast::{FnClause, FnItem, Item, ItemKind, Name, Path, Span};

impl Checker<'_> {
    /// Clauses that a function has once. Those that say nothing but their word can only be meant as they are.
    fn clauses_once(&mut self, f: &FnItem) {
        let mut seen: Vec<(&str, Span)> = vec![];
        for clause in &f.clauses {
            let (word, plain) = match &clause.node {
                FnClause::Pure => ("pure", true),
                FnClause::Lazy => ("lazy", true),
                FnClause::Law { name, arg } => (name.as_str(), arg.is_none()),
                FnClause::Cost(_) => ("cost", false),
                FnClause::Spec(_) => ("spec", false),
                FnClause::Recurrence(_) => ("recurrence", false),
                FnClause::As(_) | FnClause::Effects(_) | FnClause::Requires(_) => continue,
            };
            match seen.iter().find(|(known, _)| *known == word) {
                None => seen.push((word, clause.span)),
                Some((_, first)) => {
                    let message = format!("`{}` has `{word}` twice", f.name.node);
                    let report = Diag::error("RW0109", clause.span, message, "again here").also(*first, "first here");
                    let report = report.help("keep one of them");
                    self.report(if plain { report.repair(clause.span, "") } else { report });
                }
            }
        }
    }

    /// Attributes that an item has once: what a function means, what each front end calls it, how a type's values are
    /// made, what a rule gives up. Of checks that trap, of observations, and of a rule's samples there may be several.
    fn attributes_once(&mut self, item: &Item) {
        let mut seen: Vec<&Name> = vec![];
        for attribute in &item.attributes {
            let name = &attribute.name;
            match name.node.as_str() {
                "traps" | OBSERVE => continue,
                SAMPLE if matches!(item.kind, ItemKind::Rule(_)) => continue,
                _ => {}
            }
            match seen.iter().find(|known| known.node == name.node) {
                None => seen.push(name),
                Some(first) => {
                    let message = format!("`@{}` is given twice", name.node);
                    let report = Diag::error("RW0109", name.span, message, "again here");
                    self.report(report.also(first.span, "first here").help("keep one of them"));
                }
            }
        }
    }

    /// In packs that are asked for: clauses, imports, and rules that `fires` names, which say nothing new.
    pub(super) fn lint_repeated(&mut self) {
        for file in (0..self.files.len()).filter(|file| self.files[*file].root) {
            let mut imports: Vec<(&Path, Option<&Name>, Span)> = vec![];
            let mut last: Option<Span> = None;
            for (_, item) in self.items(file) {
                // One declaration over a list, or over a family, is written out as many.
                let is_new = last.replace(item.span) != Some(item.span);
                if is_new {
                    self.attributes_once(item);
                }
                match &item.kind {
                    ItemKind::Fn(f) if is_new => self.clauses_once(f),
                    // Of an import of some names, another may bring others.
                    ItemKind::Import { path, alias, names: None } => {
                        let alias = alias.as_ref();
                        let same = |(p, a, _): &&(&Path, Option<&Name>, Span)| {
                            p.node == path.node && a.map(|a| &a.node) == alias.map(|a| &a.node)
                        };
                        match imports.iter().find(same) {
                            None => imports.push((path, alias, item.span)),
                            Some((.., first)) => self.report(
                                Diag::lint(
                                    "RW0506",
                                    item.span,
                                    format!("`{}` is imported twice", path.node),
                                    "again here",
                                )
                                .also(*first, "first here")
                                .help("remove it")
                                .repair(item.span, ""),
                            ),
                        }
                    }
                    ItemKind::Example(example) => {
                        for pair in 1..example.fires.len() {
                            let (before, path) = (&example.fires[..pair], &example.fires[pair]);
                            let Some(first) = before.iter().find(|known| known.node == path.node) else { continue };
                            // With the comma before it.
                            let whole = Span { start: before[pair - 1].span.end, ..path.span };
                            self.report(
                                Diag::lint(
                                    "RW0506",
                                    path.span,
                                    format!("`{}` is named twice", path.node),
                                    "again here",
                                )
                                .also(first.span, "first here")
                                .help("remove it")
                                .repair(whole, ""),
                            );
                        }
                    }
                    _ => {}
                }
            }
        }
    }
}
