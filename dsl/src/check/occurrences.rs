//! The last stage, if asked for: what names mean, by their places. Names of declarations are looked up in the
//! [`Scope`]s; what only types decide (which overload) and what is looked up among rules was noted when it was found
//! ([`Resolved`]).

mod items;

use super::resolved::{Named, Resolved};
use super::scope::Scope;
use super::{Checker, ParsedFile};
use crate::index::{Definition, Entity, Index, Occurrence, Visible};
use crate::program::RuleId;
use crate::syntax::ast::{Item, ItemKind, Name, Path, Span};
use indexmap::IndexMap;
use rewright_typeprop::OpId;
use rewright_typeprop::names::{plain, qualified};
use rustc_hash::FxHashMap;

/// The index of all files, as they were written.
pub(super) fn index(checker: &Checker<'_>, files: &[ParsedFile], resolved: &Resolved) -> Index {
    let mut indexer = Indexer::new(checker, resolved);
    for (file, parsed) in files.iter().enumerate() {
        indexer.declare(file, parsed);
    }
    for (file, parsed) in files.iter().enumerate() {
        indexer.file = file;
        indexer.pack_and_imports(parsed, files);
        parsed.file.items.iter().for_each(|item| indexer.item(item));
    }
    let visible = (0..files.len()).map(|file| indexer.visible(file)).collect();
    Index::new(indexer.definitions, indexer.occurrences, visible)
}

struct Indexer<'c> {
    checker: &'c Checker<'c>,
    resolved: &'c Resolved,
    file: usize,
    definitions: IndexMap<Span, Definition>,
    occurrences: Vec<Occurrence>,
    /// Functions and rules by the place of their names or items.
    ops: FxHashMap<Span, Vec<OpId>>,
    rules: FxHashMap<Span, Vec<RuleId>>,
    /// Names of items by the places of the items.
    names_of_items: FxHashMap<Span, Span>,
    /// Effects, families, rulesets and schedules by what they are and their qualified names.
    places: FxHashMap<(&'static str, String), Span>,
    packs: FxHashMap<String, Span>,
    /// Aliases of the file at hand.
    aliases: FxHashMap<String, Span>,
    /// Variables and type parameters that are in scope, innermost last.
    variables: Vec<(String, Span)>,
    tparams: Vec<(String, Span)>,
}

const EFFECT: &str = "effect";
const FAMILY: &str = "family";
const RULESET: &str = "ruleset";
const SCHEDULE: &str = "schedule";

/// The end of a path that names a two-way rule's way back.
const BACK: &str = "back";

impl<'c> Indexer<'c> {
    fn new(checker: &'c Checker<'c>, resolved: &'c Resolved) -> Self {
        let mut indexer = Indexer {
            checker,
            resolved,
            file: 0,
            definitions: IndexMap::new(),
            occurrences: Vec::new(),
            ops: FxHashMap::default(),
            rules: FxHashMap::default(),
            names_of_items: FxHashMap::default(),
            places: FxHashMap::default(),
            packs: FxHashMap::default(),
            aliases: FxHashMap::default(),
            variables: Vec::new(),
            tparams: Vec::new(),
        };
        for (op, span) in checker.op_spans.iter().enumerate() {
            indexer.ops.entry(*span).or_default().push(OpId(op as u32));
        }
        for (id, rule) in checker.program.rules.iter().enumerate().filter(|(_, rule)| !rule.law) {
            indexer.rules.entry(rule.span).or_default().push(RuleId(id as u32));
        }
        indexer
    }

    fn scope(&self) -> &'c Scope {
        &self.checker.scopes[self.file]
    }

    /// What a file may name without saying whose it is, and what it calls packs.
    fn visible(&mut self, file: usize) -> Visible {
        self.file = file;
        let (scope, checker) = (self.scope(), self.checker);
        let names = &scope.names;
        let mut found: Vec<Span> = Vec::new();
        found.extend(names.ops.values().flatten().map(|op| checker.op_spans[op.0 as usize]));
        found.extend(names.types.keys().chain(names.families.keys()).flat_map(|name| self.types(name)));
        found.extend(names.facts.keys().flat_map(|name| self.facts(name)));
        found.extend(names.effects.keys().flat_map(|name| self.effects(name)));
        found.sort_unstable();
        found.dedup();
        let packs = scope.packs.iter().map(|(name, packs)| (name.clone(), packs.iter().cloned().collect())).collect();
        Visible { pack: scope.pack.clone(), names: found, packs }
    }

    fn define(&mut self, name: &Name, entity: Entity, item: Span, doc: &[String]) {
        let pack = self.scope().pack.clone();
        let definition = Definition { name: name.node.clone(), entity, item, doc: doc.to_vec(), pack };
        self.definitions.entry(name.span).or_insert(definition);
        self.refer(name.span, vec![name.span]);
    }

    fn refer(&mut self, span: Span, targets: Vec<Span>) {
        if !targets.is_empty() && span.end > span.start {
            self.occurrences.push(Occurrence { span, targets });
        }
    }

    /// The items of a file, which other files may name.
    fn declare(&mut self, file: usize, parsed: &ParsedFile) {
        self.file = file;
        if let Some(name) = &parsed.file.pack {
            self.define(name, Entity::Pack, name.span, &parsed.file.doc);
            self.packs.entry(name.node.clone()).or_insert(name.span);
        }
        self.declare_items(&parsed.file.items, None);
    }

    fn declare_items(&mut self, items: &[Item], ruleset: Option<&Name>) {
        let pack = self.scope().pack.clone();
        for item in items {
            let (name, entity) = match &item.kind {
                ItemKind::Type { name, .. } => {
                    let id = self.checker.type_spans.iter().position(|span| *span == name.span);
                    (name, Entity::Type(id.map(|id| rewright_typeprop::types::TypeDeclId(id as u32))))
                }
                ItemKind::Family { name, .. } => {
                    self.places.insert((FAMILY, qualified(&pack, &name.node)), name.span);
                    (name, Entity::Family)
                }
                ItemKind::Effect { name } => {
                    self.places.insert((EFFECT, qualified(&pack, &name.node)), name.span);
                    (name, Entity::Effect)
                }
                ItemKind::Fact { name, .. } => {
                    let id = self.checker.fact_spans.iter().position(|span| *span == name.span);
                    (name, Entity::Fact(id.map(|id| crate::program::FactId(id as u32))))
                }
                ItemKind::Fn(f) => {
                    let ops = self.ops.get(&f.name.span).cloned().unwrap_or_default();
                    let function = ops.first().map(|op| self.checker.program.universe.ops.get(*op).name.clone());
                    (&f.name, Entity::Function { ops, function })
                }
                ItemKind::Rule(rule) => (&rule.name, self.rule(item)),
                ItemKind::Infer { name, .. } => (name, self.rule(item)),
                ItemKind::Ruleset { name, items } => {
                    let full = qualified(&pack, &name.node);
                    self.places.insert((RULESET, full.clone()), name.span);
                    if ruleset.is_none() {
                        self.declare_items(items, Some(name));
                    }
                    (name, Entity::Ruleset(full))
                }
                ItemKind::Schedule { name, .. } => {
                    let full = qualified(&pack, &name.node);
                    self.places.insert((SCHEDULE, full.clone()), name.span);
                    (name, Entity::Schedule(full))
                }
                ItemKind::Example(example) => {
                    let id = self.checker.program.examples.iter().position(|known| known.span == item.span);
                    (&example.title, Entity::Example(id))
                }
                ItemKind::Import { .. } | ItemKind::Override { .. } | ItemKind::Error => continue,
            };
            self.names_of_items.insert(item.span, name.span);
            self.define(name, entity, item.span, &item.doc);
        }
    }

    fn rule(&self, item: &Item) -> Entity {
        Entity::Rule(self.rules.get(&item.span).cloned().unwrap_or_default())
    }

    fn pack_and_imports(&mut self, parsed: &ParsedFile, files: &[ParsedFile]) {
        self.aliases.clear();
        for item in &parsed.file.items {
            let ItemKind::Import { path, alias, names } = &item.kind else { continue };
            let target = parsed.imports.get(&path.node).and_then(|file| files.get(*file));
            let pack = target.map_or(path.node.as_str(), |file| file.pack.as_str());
            if let Some(place) = target.and_then(|file| file.file.pack.as_ref()).map(|name| name.span) {
                self.refer(path.span, vec![place]);
            }
            if let Some(alias) = alias {
                self.define(alias, Entity::Alias { pack: pack.into() }, item.span, &[]);
                self.aliases.insert(alias.node.clone(), alias.span);
            }
            for name in names.iter().flatten() {
                let whole = Path { node: qualified(pack, &name.node), span: name.span };
                let targets = self.declarations(&whole);
                self.refer(name.span, targets);
            }
        }
    }

    /// Everything but rules that a path may mean.
    fn declarations(&self, path: &Path) -> Vec<Span> {
        let mut found = self.functions(&path.node);
        found.extend(self.types(&path.node));
        found.extend(self.facts(&path.node));
        found.extend(self.effects(&path.node));
        found
    }

    fn functions(&self, path: &str) -> Vec<Span> {
        let mut found: Vec<Span> =
            self.scope().find_ops(path).iter().map(|op| self.checker.op_spans[op.0 as usize]).collect();
        found.dedup();
        found
    }

    fn types(&self, path: &str) -> Vec<Span> {
        let spans = &self.checker.type_spans;
        let types = self.scope().find_types(path).into_iter().filter_map(|id| spans.get(id.0 as usize).copied());
        let families = self.scope().find_families(path).into_iter();
        let families =
            families.filter_map(|family| self.places.get(&(FAMILY, qualified(&family.pack, plain(path)))).copied());
        types.chain(families).collect()
    }

    fn facts(&self, path: &str) -> Vec<Span> {
        self.scope().find_facts(path).iter().map(|id| self.checker.fact_spans[id.0 as usize]).collect()
    }

    fn effects(&self, path: &str) -> Vec<Span> {
        let regions = self.scope().find_effects(path).into_iter();
        regions.filter_map(|region| self.places.get(&(EFFECT, region)).copied()).collect()
    }

    /// A path whose last part means something; what stands before it names a pack, or a ruleset.
    fn path(&mut self, path: &Path, targets: Vec<Span>) {
        let (qualifier, last) = path.node.rsplit_once('.').unwrap_or(("", &path.node));
        // The part before a two-way rule's `.back` is its name.
        let (before, qualifier) = match (last, qualifier.rsplit_once('.')) {
            (BACK, Some((before, name))) if self.is_way_back(path) => (name, before),
            _ => (last, qualifier),
        };
        let whole = (path.span.end - path.span.start) as usize == path.node.len();
        if before != last && whole {
            let end = path.span.end - (last.len() + 1) as u32;
            self.refer(Span { start: end - before.len() as u32, end, ..path.span }, targets);
        } else {
            let start = path.span.end.saturating_sub(last.len() as u32);
            self.refer(Span { start, ..path.span }, targets);
        }
        if !qualifier.is_empty() && whole {
            let span = Span { end: path.span.start + qualifier.len() as u32, ..path.span };
            self.qualifier(qualifier, span);
        }
    }

    fn is_way_back(&self, path: &Path) -> bool {
        let named = self.resolved.named(path);
        matches!(named, Some(Named::Rule(id)) if self.checker.program.rule(*id).name.contains(".back"))
    }

    /// `std.arith`, an alias, `ruleset`, `pack.ruleset`
    fn qualifier(&mut self, text: &str, span: Span) {
        if let Some(alias) = self.aliases.get(text) {
            return self.refer(span, vec![*alias]);
        }
        let (checker, scope) = (self.checker, self.scope());
        let packs = scope.packs.get(text).into_iter().flatten();
        let packs: Vec<Span> = packs.filter_map(|pack| self.packs.get(pack).copied()).collect();
        if !packs.is_empty() {
            return self.refer(span, packs);
        }
        let sets = scope.find_path(text, |name| checker.program.rulesets.contains_key(name));
        let sets: Vec<Span> = sets.into_iter().filter_map(|set| self.places.get(&(RULESET, set)).copied()).collect();
        if !sets.is_empty() {
            let (qualifier, last) = text.rsplit_once('.').unwrap_or(("", text));
            self.refer(Span { start: span.end - last.len() as u32, ..span }, sets);
            if !qualifier.is_empty() {
                self.qualifier(qualifier, Span { end: span.start + qualifier.len() as u32, ..span });
            }
        }
    }

    /// A path that was looked up among rules, rulesets and schedules.
    fn noted(&mut self, path: &Path) {
        let Some(named) = self.resolved.named(path) else { return };
        let target = match named {
            Named::Rule(id) => self.names_of_items.get(&self.checker.program.rule(*id).span),
            Named::Ruleset(name) => self.places.get(&(RULESET, name.clone())),
            Named::Schedule(name) => self.places.get(&(SCHEDULE, name.clone())),
        };
        self.path(path, target.into_iter().copied().collect());
    }
}
