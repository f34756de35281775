//! A name that is not declared, and the one pack that ships which declares it: the import that is missing.
//!
//! Not here: packs of users, which cannot be listed; what `dsl::check` already has advice for.

use super::{embedded, shipped_names};
use rewright_dsl::diagnostic::{Applicability, Diagnostic, Fix, Sources, count};
use rewright_dsl::syntax::ast::{File, FnClause, Item, ItemKind, Span};
use rewright_dsl::syntax::parse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

/// Unknown functions, types and operators.
const UNKNOWN: [&str; 3] = ["RW0201", "RW0202", "RW0213"];

/// Adds imports to findings that want them; as a fix where it `repairs`, which means that fewer mistakes are left, as far as that can be tried. All
/// names that one import declares are one mistake.
pub(super) fn suggest(diagnostics: &mut Vec<Diagnostic>, sources: &Sources, repairs: impl Fn(&Fix) -> Option<bool>) {
    advise(diagnostics, sources, repairs);
    let imports = diagnostics.iter().filter(|found| UNKNOWN.contains(&found.code) && is_import(found));
    let mut wanted: Vec<(Fix, usize)> = imports.filter_map(|found| Some((found.fix.clone()?, 0))).collect();
    wanted.dedup_by(|one, other| one.0 == other.0);
    let mut seen = BTreeSet::new();
    diagnostics.retain(|found| {
        let is_one = |(import, _): &&mut (Fix, usize)| {
            found.fix.as_ref() == Some(import) || found.fix.is_none() && would_do(import, found)
        };
        let Some((import, names)) = wanted.iter_mut().filter(|_| UNKNOWN.contains(&found.code)).find(is_one) else {
            return true;
        };
        // The first one that wants it says so for all.
        if found.fix.is_some() && seen.insert((import.span.file, import.replacement.clone())) {
            return true;
        }
        *names += 1;
        false
    });
    for (import, names) in wanted.into_iter().filter(|(_, names)| *names > 0) {
        if let Some(first) = diagnostics.iter_mut().find(|found| found.fix.as_ref() == Some(&import)) {
            let help = first.help.take().unwrap_or_default();
            first.help =
                Some(format!("{help}; so it does {} that this file does not know", count(names, "other name")));
        }
    }
}

/// Is an import one of several that would declare what a finding is about?
fn would_do(import: &Fix, found: &Diagnostic) -> bool {
    let written = format!("`{}`", import.replacement.trim());
    import.span.file == found.primary.span.file && found.help.as_ref().is_some_and(|help| help.contains(&written))
}

/// Is the fix of a finding an import?
fn is_import(found: &Diagnostic) -> bool {
    found.fix.as_ref().is_some_and(|fix| fix.replacement.trim_start().starts_with("import "))
}

fn advise(diagnostics: &mut [Diagnostic], sources: &Sources, repairs: impl Fn(&Fix) -> Option<bool>) {
    let mut unknown = diagnostics.iter_mut().filter(|found| UNKNOWN.contains(&found.code)).peekable();
    if unknown.peek().is_none() {
        return;
    }
    let mut tried: BTreeMap<String, Option<bool>> = BTreeMap::new();
    for found in unknown {
        let at = found.primary.span;
        let Some((_, text)) = sources.files.get(at.file as usize) else { continue };
        let name = text.get(at.start as usize..at.end as usize).unwrap_or_default();
        let Some(packs) = DECLARED.get(name) else { continue };
        let file = parse(at.file, text).0;
        if imports(&file, packs) {
            // It is there, but not for that many operands, or not from here.
            continue;
        }
        let listed: Vec<String> = packs.iter().map(|pack| format!("`import {pack}`")).collect();
        let ships = format!("a pack that ships declares it: {}", listed.join(" or "));
        if let Some(misspelt) = &mut found.fix {
            // Another name is near, but this one is somewhere, too.
            misspelt.applicability = Applicability::Maybe;
            found.help = Some(found.help.take().map_or(ships.clone(), |help| format!("{help} Or {ships}")));
            continue;
        }
        found.help = Some(ships);
        if let [pack] = &Vec::from_iter(packs)[..] {
            let import = place(&file).map(|(start, before, after)| Fix {
                span: Span { start, end: start, ..at },
                replacement: format!("{before}import {pack}{after}"),
                applicability: Applicability::Safe,
            });
            let Some(fix) = import else { continue };
            let key = format!("{}:{}", at.file, fix.replacement);
            match *tried.entry(key).or_insert_with(|| repairs(&fix)) {
                Some(true) => found.fix = Some(fix),
                Some(false) => {
                    let help = format!("`{pack}` declares a `{name}`, but its import leaves as many mistakes here");
                    found.help = Some(help);
                }
                None => {}
            }
        }
    }
}

/// By name or operator symbol: the packs that ship and declare it.
static DECLARED: LazyLock<BTreeMap<String, BTreeSet<String>>> = LazyLock::new(declared);

fn declared() -> BTreeMap<String, BTreeSet<String>> {
    let mut found: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for pack in shipped_names() {
        let path = format!("{}.rw", pack.replace('.', "/"));
        let Some(text) = embedded(&path) else { continue };
        for Item { kind, .. } in parse(0, text).0.items {
            let symbol = |clause: &FnClause| match clause {
                FnClause::As(symbol) => Some(symbol.clone()),
                _ => None,
            };
            let names = match kind {
                ItemKind::Fn(declared) => {
                    let symbols = declared.clauses.iter().filter_map(|clause| symbol(&clause.node));
                    symbols.chain([declared.name.node.clone()]).collect()
                }
                ItemKind::Type { name, .. } | ItemKind::Family { name, .. } => vec![name.node],
                _ => vec![],
            };
            for name in names {
                found.entry(name).or_default().insert(pack.clone());
            }
        }
    }
    found
}

/// Does a file import one of these packs already, some of its names or under another name?
fn imports(file: &File, packs: &BTreeSet<String>) -> bool {
    file.items.iter().any(|item| matches!(&item.kind, ItemKind::Import { path, .. } if packs.contains(&path.node)))
}

/// Where an import may be written, and what stands around it: behind the last one, or behind the pack's name.
fn place(file: &File) -> Option<(u32, &'static str, &'static str)> {
    let mut imports = file.items.iter().filter(|item| matches!(item.kind, ItemKind::Import { .. }));
    match (imports.next_back(), &file.pack) {
        (Some(last), _) => Some((last.span.end, "\n", "")),
        (None, Some(pack)) => Some((pack.span.end, "\n", "")),
        (None, None) => {
            let first = file.items.first()?;
            // Its documentation and attributes stand before an item.
            (first.doc.is_empty() && first.attributes.is_empty()).then_some((first.span.start, "", "\n"))
        }
    }
}
