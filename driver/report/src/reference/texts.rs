//! The texts of packs as HTML: what they declare, where on the pages that is, and each name as a link to it.

use super::page_of;
use maud::{Markup, html};
use rewright_dsl::index::Index;
use rewright_dsl::load::pack_name;
use rewright_dsl::program::Program;
use rewright_dsl::syntax::ast::{File, Item, ItemKind, Span};
use rewright_dsl::syntax::parse;
use std::collections::{BTreeMap, BTreeSet};

/// What is declared, in the order of a page.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Kind {
    Type,
    Effect,
    Fact,
    Function,
    Override,
    Rule,
    Schedule,
    Example,
}

impl Kind {
    /// As a search says it and as anchors begin.
    pub(super) fn word(self) -> &'static str {
        match self {
            Kind::Type => "type",
            Kind::Effect => "effect",
            Kind::Fact => "fact",
            Kind::Function => "fn",
            Kind::Override => "override",
            Kind::Rule => "rule",
            Kind::Schedule => "schedule",
            Kind::Example => "example",
        }
    }

    /// One, as sentences count it.
    pub(super) fn noun(self) -> &'static str {
        if self == Kind::Function { "function" } else { self.word() }
    }

    fn of(kind: &ItemKind) -> Option<(Kind, &str, Span)> {
        let (kind, name) = match kind {
            ItemKind::Type { name, .. } | ItemKind::Family { name, .. } => (Kind::Type, name),
            ItemKind::Effect { name } => (Kind::Effect, name),
            ItemKind::Fact { name, .. } => (Kind::Fact, name),
            ItemKind::Fn(function) => (Kind::Function, &function.name),
            ItemKind::Override { name, .. } => (Kind::Override, name),
            ItemKind::Rule(rule) => (Kind::Rule, &rule.name),
            ItemKind::Infer { name, .. } => (Kind::Rule, name),
            ItemKind::Schedule { name, .. } => (Kind::Schedule, name),
            ItemKind::Example(example) => (Kind::Example, &example.title),
            ItemKind::Import { .. } | ItemKind::Ruleset { .. } | ItemKind::Error => return None,
        };
        Some((kind, &name.node, name.span))
    }
}

/// A section of a pack's page: declarations of a kind, rules by their ruleset.
pub(super) type Section<'p> = (Kind, Option<&'p str>);

/// The heading of a section.
pub(super) fn heading((kind, ruleset): Section<'_>) -> String {
    let word = match kind {
        Kind::Type => "Types",
        Kind::Effect => "Effects",
        Kind::Fact => "Facts",
        Kind::Function => "Functions",
        Kind::Override => "Costs of other packs' functions",
        Kind::Rule => "Rules",
        Kind::Schedule => "Schedules",
        Kind::Example => "Examples",
    };
    ruleset.map_or(word.to_string(), |set| format!("Ruleset {set}"))
}

/// Something that a pack declares.
pub(super) struct Declaration {
    pub(super) kind: Kind,
    /// As written.
    pub(super) name: String,
    /// The ruleset around a rule.
    pub(super) ruleset: Option<String>,
    pub(super) pack: String,
    pub(super) doc: Vec<String>,
    /// The place of its name, by which it is known.
    pub(super) at: Span,
    /// All of it with its attributes, from the beginning of a line.
    pub(super) text: Span,
    /// The file of its page, and where in it.
    pub(super) page: String,
    pub(super) anchor: String,
}

impl Declaration {
    /// `identities.add_zero`, `iadd`
    pub(super) fn title(&self) -> String {
        self.ruleset.as_ref().map_or(self.name.clone(), |set| format!("{set}.{}", self.name))
    }

    pub(super) fn href(&self) -> String {
        format!("{}#{}", self.page, self.anchor)
    }
}

/// A pack as it is written.
pub(super) struct PackText {
    pub(super) name: String,
    /// What it says of itself.
    pub(super) about: Vec<String>,
    /// The packs that it imports.
    pub(super) imports: Vec<String>,
}

/// All packs, what they declare, and which declaration names which.
pub(super) struct Texts<'p> {
    program: &'p Program,
    index: &'p Index,
    pub(super) packs: Vec<PackText>,
    /// By the places of names, which is the order of the texts.
    pub(super) declarations: BTreeMap<Span, Declaration>,
    /// By the place of a name: the declarations that speak of it.
    uses: BTreeMap<Span, BTreeSet<Span>>,
}

impl<'p> Texts<'p> {
    pub(super) fn new(program: &'p Program, index: &'p Index) -> Self {
        let mut texts = Texts { program, index, packs: vec![], declarations: BTreeMap::new(), uses: BTreeMap::new() };
        for (file, (path, text)) in program.sources.files.iter().enumerate() {
            texts.read(&parse(file as u32, text).0, path);
        }
        texts.link();
        texts
    }

    fn read(&mut self, file: &File, path: &str) {
        let name = pack_name(file, path);
        let imports = file.items.iter().filter_map(|item| match &item.kind {
            ItemKind::Import { path, .. } => Some(path.node.clone()),
            _ => None,
        });
        let imports = imports.collect();
        let mut anchors = BTreeMap::new();
        for item in &file.items {
            match &item.kind {
                ItemKind::Ruleset { name: set, items } => {
                    items.iter().for_each(|inner| self.declare(&name, Some(&set.node), inner, &mut anchors));
                }
                _ => self.declare(&name, None, item, &mut anchors),
            }
        }
        self.packs.push(PackText { name, about: file.doc.clone(), imports });
    }

    fn declare(&mut self, pack: &str, ruleset: Option<&str>, item: &Item, anchors: &mut BTreeMap<String, usize>) {
        let Some((kind, name, at)) = Kind::of(&item.kind) else { return };
        let ruleset = match kind {
            // Rules that stand in no ruleset are in `rules`.
            Kind::Rule => Some(ruleset.unwrap_or("rules").to_string()),
            _ => None,
        };
        let first = item.attributes.iter().map(|attribute| attribute.name.span.start).chain([item.span.start]).min();
        let text = self.program.sources.files.get(at.file as usize).map_or("", |(_, text)| text);
        let before = text.get(..first.unwrap_or_default() as usize).unwrap_or_default();
        let start = before.rfind('\n').map_or(0, |at| at + 1) as u32;
        let word = kind.word();
        let mut anchor = match (&ruleset, kind) {
            (Some(set), _) => format!("{word}.{set}.{name}"),
            (None, Kind::Example) => word.to_string(),
            (None, _) => format!("{word}.{name}"),
        };
        let seen = anchors.entry(anchor.clone()).or_default();
        *seen += 1;
        if *seen > 1 || kind == Kind::Example {
            anchor += &format!("-{seen}");
        }
        let declaration = Declaration {
            kind,
            name: name.to_string(),
            ruleset,
            pack: pack.to_string(),
            doc: item.doc.clone(),
            at,
            text: Span { start, ..item.span },
            page: page_of(pack, "html"),
            anchor,
        };
        self.declarations.insert(at, declaration);
    }

    fn link(&mut self) {
        for user in self.declarations.values() {
            for occurrence in self.occurrences(user.text) {
                for target in occurrence.targets.iter().filter(|target| **target != user.at) {
                    if self.declarations.contains_key(target) {
                        self.uses.entry(*target).or_default().insert(user.at);
                    }
                }
            }
        }
    }

    fn occurrences(&self, within: Span) -> impl Iterator<Item = &'p rewright_dsl::index::Occurrence> + use<'p> {
        let all = self.index.in_file(within.file);
        let first = all.partition_point(|occurrence| occurrence.span.start < within.start);
        all[first..].iter().take_while(move |occurrence| occurrence.span.end <= within.end)
    }

    /// What stands in a pack, in its order.
    pub(super) fn of_pack<'t>(&'t self, pack: &'t str) -> impl Iterator<Item = &'t Declaration> {
        self.declarations.values().filter(move |declaration| declaration.pack == pack)
    }

    /// The declarations that speak of one, in order.
    pub(super) fn users(&self, of: &Declaration) -> impl Iterator<Item = &Declaration> {
        self.uses.get(&of.at).into_iter().flatten().filter_map(|at| self.declarations.get(at))
    }

    /// Where a declaration stands: `std/core.rw:44`.
    pub(super) fn place(&self, declaration: &Declaration) -> String {
        let place = self.program.sources.place(declaration.at);
        format!("{}:{}", place.file, place.line)
    }

    /// A text without the indentation of its first line.
    pub(super) fn plain(&self, declaration: &Declaration) -> String {
        let Span { file, start, end } = declaration.text;
        let file = self.program.sources.files.get(file as usize).map_or("", |(_, text)| text);
        let whole = file.get(start as usize..end as usize).unwrap_or_default();
        let indentation = &whole[..whole.len() - whole.trim_start().len()];
        whole.trim_start().replace(&format!("\n{indentation}"), "\n")
    }

    /// The same, with names that lead to what they mean.
    pub(super) fn linked(&self, declaration: &Declaration) -> Markup {
        let within = declaration.text;
        let file = self.program.sources.files.get(within.file as usize).map_or("", |(_, text)| text);
        let text = |start: u32, end: u32| file.get(start as usize..end as usize).unwrap_or_default();
        let whole = text(within.start, within.end);
        let indentation = &whole[..whole.len() - whole.trim_start().len()];
        let plain = |start: u32, end: u32| text(start, end).replace(&format!("\n{indentation}"), "\n");
        let mut at = within.start + indentation.len() as u32;
        let mut parts: Vec<(String, Option<&Declaration>)> = vec![];
        for occurrence in self.occurrences(within) {
            let meant = occurrence.targets.iter().filter(|target| **target != declaration.at);
            let Some(target) = meant.filter_map(|target| self.declarations.get(target)).next() else { continue };
            parts.push((plain(at, occurrence.span.start), None));
            parts.push((text(occurrence.span.start, occurrence.span.end).into(), Some(target)));
            at = occurrence.span.end;
        }
        parts.push((plain(at, within.end), None));
        html! {
            pre { code {
                @for (text, target) in &parts {
                    @match target {
                        Some(target) => a href=(target.href()) title=(format!("{} {} of {}", target.kind.word(), target.title(), target.pack)) { (text) },
                        None => (text),
                    }
                }
            } }
        }
    }
}
