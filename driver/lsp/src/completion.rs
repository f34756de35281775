//! What may be written next. The words before the place say what kind of name is wanted; the index says which names of
//! that kind there are; parameters come from the item at hand, which need not be complete.

use crate::hover::{describe, is_in_prose, word_meaning};
use crate::snapshot::Snapshot;
use lsp_types::{
    CompletionItem, CompletionItemKind, CompletionTextEdit, Documentation, MarkupContent, MarkupKind, TextEdit,
};
use rewright_dsl::index::{Definition, Entity};
use rewright_dsl::syntax::ast::Span;
use rewright_dsl::syntax::{Piece, PieceKind, pieces};
use rewright_dsl::words;
use rewright_packs::Evidence;
use std::collections::{BTreeMap, BTreeSet};

/// Words that open a parenthesis or a line of an item, where a name of a type follows.
const BEFORE_TYPES: [&str; 6] = [":", "<:", "->", "is", "|", "{"];

/// Effects that every pack knows.
const EFFECTS: [&str; 6] = ["reads", "writes", "allocates", "io", "traps", "diverges"];

/// What kind of name is wanted.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Wanted {
    Pack,
    Attribute,
    Type,
    Rule,
    Schedule,
    Step,
    Effect,
    Item,
    Expression,
    /// What a pack or a ruleset has.
    Member(String),
    Nothing,
}

/// Completions at a byte of a file. `packs` are the names of packs that may be imported there.
pub fn completions(
    snapshot: &Snapshot,
    file: u32,
    offset: u32,
    packs: &dyn Fn() -> Vec<String>,
) -> Vec<CompletionItem> {
    let text = snapshot.text(file);
    if is_in_prose(text, offset) {
        return vec![];
    }
    let all: Vec<Piece<'_>> = pieces(text).into_iter().filter(|piece| piece.kind != PieceKind::Comment).collect();
    let before = all.partition_point(|piece| piece.end < offset || piece.end == offset && !piece.is_word());
    let under = all.get(before).filter(|piece| piece.start < offset && piece.is_word());
    let start = under.map_or(offset, |piece| piece.start);
    let list = List { snapshot, file, start, end: offset };
    let first = under.map_or_else(|| is_first(text, offset), |piece| piece.first_on_line);
    let mut found = match wanted(&all[..before], first) {
        Wanted::Nothing => vec![],
        Wanted::Pack => {
            let start = dotted_start(&all[..before]).filter(|_| follows_dot(&all[..before])).unwrap_or(start);
            let list = List { start, ..list };
            packs().into_iter().map(|pack| list.plain(&pack, CompletionItemKind::MODULE, None)).collect()
        }
        Wanted::Attribute => list.words(|word| word.word.starts_with('@')),
        Wanted::Type => {
            let mut types = list.names(|entity| matches!(entity, Entity::Type(_) | Entity::Family));
            types.extend(list.own(&all, before, true));
            types.push(list.plain("State", CompletionItemKind::STRUCT, None));
            types
        }
        Wanted::Rule => list.rules(|entity| matches!(entity, Entity::Rule(_)), true),
        Wanted::Schedule => list.rules(|entity| matches!(entity, Entity::Schedule(_)), false),
        Wanted::Step => list.rules(|entity| matches!(entity, Entity::Ruleset(_) | Entity::Schedule(_)), false),
        Wanted::Effect => {
            let mut effects = list.names(|entity| matches!(entity, Entity::Effect));
            effects.extend(EFFECTS.iter().map(|effect| list.plain(effect, CompletionItemKind::EVENT, None)));
            effects
        }
        Wanted::Item => list.words(|word| matches!(word.kind, "item" | "before an item")),
        Wanted::Expression => {
            let mut names = list.own(&all, before, false);
            names.extend(list.names(|entity| matches!(entity, Entity::Function { .. } | Entity::Fact(_))));
            names.extend(list.aliases());
            names.extend(
                list.words(|word| !word.word.starts_with('@') && word.kind != "concept" && word.kind != "item"),
            );
            names
        }
        Wanted::Member(qualifier) => list.members(&qualifier),
    };
    let mut seen = BTreeSet::new();
    found.retain(|item| seen.insert(item.label.clone()));
    found
}

/// Adds to an item what is shown beside it.
pub fn resolve(snapshot: &Snapshot, name: Span, item: &mut CompletionItem) {
    if let Some(definition) = snapshot.index().definition(name) {
        let value = describe(snapshot, name, definition, &|_| Evidence::new());
        item.documentation = Some(Documentation::MarkupContent(MarkupContent { kind: MarkupKind::Markdown, value }));
    }
}

/// Is there nothing but white space before it on its line?
fn is_first(text: &str, offset: u32) -> bool {
    let before = &text[..text.floor_char_boundary(offset as usize)];
    before.rsplit('\n').next().unwrap_or_default().trim().is_empty()
}

fn follows_dot(before: &[Piece<'_>]) -> bool {
    before.last().is_some_and(|piece| piece.is("."))
}

/// Where the path `a.b.` at the end begins.
fn dotted_start(before: &[Piece<'_>]) -> Option<u32> {
    let mut at = before.len();
    while at >= 2 && before[at - 1].is(".") && before[at - 2].is_word() {
        at -= 2;
    }
    before.get(at).map(|piece| piece.start)
}

/// What kind of name is wanted behind these words.
fn wanted(before: &[Piece<'_>], first_on_line: bool) -> Wanted {
    let Some(last) = before.last() else { return Wanted::Item };
    if last.is("@") {
        return Wanted::Attribute;
    }
    // The line's first words decide where a list of paths is written.
    let item = before.iter().rposition(|piece| piece.first_on_line).unwrap_or(0);
    let line = &before[item..];
    if last.is(".") {
        if line.first().is_some_and(|word| word.is("import")) {
            return Wanted::Pack;
        }
        let start = dotted_start(before).unwrap_or(last.start);
        let path: String = before.iter().filter(|piece| piece.start >= start).map(|piece| piece.text).collect();
        return Wanted::Member(path.trim_end_matches('.').to_string());
    }
    if last.is("import") {
        return Wanted::Pack;
    }
    if last.is("using") {
        return Wanted::Schedule;
    }
    if last.is("run") || last.is("saturate") {
        return Wanted::Step;
    }
    if last.is("effects") || last.is("removes") {
        return Wanted::Effect;
    }
    let header = line.iter().rposition(|piece| {
        ["fires", "effects", "removes", "when", "import", "=>", "<=>"].iter().any(|word| piece.is(word))
            || piece.is(":") && line.first().is_some_and(|word| word.is("example"))
    });
    if let Some(header) = header.map(|at| line[at])
        && (last.is(",") || last.is(header.text))
    {
        match header.text {
            "fires" => return Wanted::Rule,
            "effects" | "removes" => return Wanted::Effect,
            _ => {}
        }
    }
    if matches!(last.text, "rule" | "ruleset" | "schedule" | "infer" | "fact" | "effect" | "type" | "fn" | "pack")
        && !last.first_on_line | line.first().is_some_and(|word| word.start == last.start)
    {
        return Wanted::Nothing;
    }
    if BEFORE_TYPES.iter().any(|symbol| last.is(symbol)) && !opens_body(before) {
        return Wanted::Type;
    }
    let closed = depth(before) <= 0 || inside_ruleset(before);
    if first_on_line && closed { Wanted::Item } else { Wanted::Expression }
}

/// Does the symbol at the end begin a rule's sides, an example's claim or a block?
fn opens_body(before: &[Piece<'_>]) -> bool {
    let Some((last, rest)) = before.split_last() else { return false };
    let item = rest.iter().rposition(Piece::begins_item).unwrap_or(0);
    let inside = rest[item..].iter().fold(0i32, |open, piece| match piece.text {
        "(" if piece.is("(") => open + 1,
        ")" if piece.is(")") => open - 1,
        _ => open,
    });
    match last.text {
        ":" => inside == 0,
        "{" => !rest.last().is_some_and(|piece| piece.is_word() && piece.end == last.start),
        "|" => !rest.get(item).is_some_and(|piece| piece.is("type")),
        _ => false,
    }
}

/// Open parentheses since the last item began.
fn depth(before: &[Piece<'_>]) -> i32 {
    let item = before.iter().rposition(Piece::begins_item).unwrap_or(0);
    before[item..].iter().fold(0, |open, piece| match piece.text {
        "(" | "{" if piece.kind == PieceKind::Symbol => open + 1,
        ")" | "}" if piece.kind == PieceKind::Symbol => open - 1,
        _ => open,
    })
}

/// Is the last thing that opened a ruleset?
fn inside_ruleset(before: &[Piece<'_>]) -> bool {
    let item = before.iter().rposition(Piece::begins_item).unwrap_or(0);
    before.get(item).is_some_and(|piece| piece.is("ruleset")) && depth(before) == 1
}

/// Where completions are written, and what they are made from.
#[derive(Clone, Copy)]
struct List<'s> {
    snapshot: &'s Snapshot,
    file: u32,
    start: u32,
    end: u32,
}

impl List<'_> {
    fn plain(&self, label: &str, kind: CompletionItemKind, detail: Option<String>) -> CompletionItem {
        let range = self.snapshot.range(Span { file: self.file, start: self.start, end: self.end });
        CompletionItem {
            label: label.to_string(),
            kind: Some(kind),
            detail,
            text_edit: Some(CompletionTextEdit::Edit(TextEdit { range, new_text: label.to_string() })),
            ..CompletionItem::default()
        }
    }

    fn definition(&self, label: &str, name: Span, definition: &Definition) -> CompletionItem {
        let program = self.snapshot.program();
        let detail = match &definition.entity {
            Entity::Function { ops, .. } => {
                ops.first().map(|op| rewright_dsl::check::signature(program.universe.ops.get(*op), &program.universe))
            }
            Entity::Variable { ty, .. } => ty.clone(),
            _ => Some(definition.pack.clone()),
        };
        let mut item = self.plain(label, kind(&definition.entity), detail);
        item.data = serde_json::to_value([self.file, name.file, name.start, name.end]).ok();
        item
    }

    /// The file's pack; a file without a `pack` clause is called as its stem.
    fn pack(&self) -> String {
        let stem = self.snapshot.name(self.file).rsplit('/').next().unwrap_or_default();
        let stated = self.snapshot.index().definitions();
        let stated = stated.filter(|(name, definition)| name.file == self.file && definition.entity == Entity::Pack);
        stated.map(|(_, pack)| pack.name.clone()).next().unwrap_or_else(|| stem.trim_end_matches(".rw").to_string())
    }

    /// Names that need no qualifier.
    fn names(&self, wanted: impl Fn(&Entity) -> bool) -> Vec<CompletionItem> {
        let index = self.snapshot.index();
        let visible = index.visible(&self.pack()).map_or(&[][..], |visible| &visible.names);
        let found = visible.iter().filter_map(|name| Some((*name, index.definition(*name)?)));
        let found = found.filter(|(_, definition)| wanted(&definition.entity));
        found.map(|(name, definition)| self.definition(&definition.name, name, definition)).collect()
    }

    fn aliases(&self) -> Vec<CompletionItem> {
        let own = self.snapshot.index().definitions().filter(|(name, _)| name.file == self.file);
        let own = own.filter(|(_, definition)| matches!(definition.entity, Entity::Alias { .. }));
        own.map(|(name, definition)| self.definition(&definition.name, name, definition)).collect()
    }

    /// Rules, rulesets and schedules of this pack and of those that it sees.
    fn rules(&self, wanted: impl Fn(&Entity) -> bool, with_ruleset: bool) -> Vec<CompletionItem> {
        let own = self.pack();
        let index = self.snapshot.index();
        let sets: BTreeMap<Span, &str> = index
            .definitions()
            .filter(|(_, definition)| matches!(definition.entity, Entity::Ruleset(_)))
            .map(|(_, definition)| (definition.item, definition.name.as_str()))
            .collect();
        let found = index.definitions().filter(|(_, definition)| wanted(&definition.entity));
        found
            .map(|(name, definition)| {
                let inside = |item: &&Span| item.start <= name.start && name.end <= item.end && item.file == name.file;
                let set = sets.keys().find(inside).and_then(|item| sets.get(item)).filter(|_| with_ruleset);
                let local = set.map_or(definition.name.clone(), |set| format!("{set}.{}", definition.name));
                let label = if definition.pack == own { local } else { format!("{}.{local}", definition.pack) };
                self.definition(&label, name, definition)
            })
            .collect()
    }

    /// What a pack declares, or which rules a ruleset has.
    fn members(&self, qualifier: &str) -> Vec<CompletionItem> {
        let index = self.snapshot.index();
        let visible = index.visible(&self.pack());
        let packs = visible.and_then(|visible| visible.packs.get(qualifier)).cloned().unwrap_or_default();
        let own = self.pack();
        let sets: Vec<Span> = index
            .definitions()
            .filter(|(_, definition)| match &definition.entity {
                Entity::Ruleset(full) => *full == format!("{own}.{qualifier}") || full == qualifier,
                _ => false,
            })
            .map(|(_, definition)| definition.item)
            .collect();
        let inside =
            |name: Span| sets.iter().any(|set| set.file == name.file && set.start <= name.start && name.end <= set.end);
        let local = |entity: &Entity| {
            matches!(entity, Entity::Variable { .. } | Entity::TypeParameter | Entity::Alias { .. } | Entity::Pack)
        };
        let found = index.definitions().filter(|(name, definition)| match &definition.entity {
            Entity::Rule(_) => inside(*name),
            Entity::Example(_) => false,
            entity => packs.contains(&definition.pack) && !local(entity),
        });
        found.map(|(name, definition)| self.definition(&definition.name, name, definition)).collect()
    }

    fn words(&self, wanted: impl Fn(&words::Word) -> bool) -> Vec<CompletionItem> {
        words::all()
            .filter(|word| wanted(word))
            .map(|word| {
                let label = word.word.trim_start_matches('@');
                let mut item = self.plain(label, CompletionItemKind::KEYWORD, Some(word.kind.to_string()));
                let value = word_meaning(word);
                let content = MarkupContent { kind: MarkupKind::Markdown, value };
                item.documentation = Some(Documentation::MarkupContent(content));
                item
            })
            .collect()
    }

    /// What the item at hand declares before the place: its type parameters, or its variables.
    fn own(&self, all: &[Piece<'_>], before: usize, types: bool) -> Vec<CompletionItem> {
        let item = all[..before].iter().rposition(Piece::begins_item).unwrap_or(0);
        let head = &all[item..before];
        let opens = head.iter().position(|piece| piece.is("(")).unwrap_or(head.len());
        let tparams = head.iter().position(|piece| piece.is("{")).filter(|at| *at < opens);
        let mut names: Vec<&str> = vec![];
        for (at, piece) in head.iter().enumerate().filter(|(_, piece)| piece.is_word()) {
            let previous = at.checked_sub(1).map_or("", |at| head[at].text);
            let next = head.get(at + 1).map_or("", |piece| piece.text);
            let declares = match tparams {
                Some(open) if at > open && at < opens => types && matches!(previous, "{" | ","),
                _ => {
                    !types
                        && at > opens
                        && (matches!(next, ":" | "...") && matches!(previous, "(" | "," | "const")
                            || matches!(previous, "match" | "let")
                            || next == "=" && piece.first_on_line
                            || matches!(previous, "(" | ",") && matches!(next, "," | ")") && in_first(head, opens, at))
                }
            };
            if declares && !names.contains(&piece.text) {
                names.push(piece.text);
            }
        }
        let kind = if types { CompletionItemKind::TYPE_PARAMETER } else { CompletionItemKind::VARIABLE };
        let named = names
            .into_iter()
            .map(|name| CompletionItem { sort_text: Some(format!("0{name}")), ..self.plain(name, kind, None) });
        named.collect()
    }
}

/// Does a word stand in the first pair of parentheses, which lists parameters?
fn in_first(head: &[Piece<'_>], opens: usize, at: usize) -> bool {
    !head[opens..at].iter().any(|piece| piece.is(")"))
}

fn kind(entity: &Entity) -> CompletionItemKind {
    match entity {
        Entity::Pack | Entity::Alias { .. } => CompletionItemKind::MODULE,
        Entity::Type(_) => CompletionItemKind::STRUCT,
        Entity::Family => CompletionItemKind::INTERFACE,
        Entity::Effect => CompletionItemKind::EVENT,
        Entity::Fact(_) => CompletionItemKind::PROPERTY,
        Entity::Function { .. } => CompletionItemKind::FUNCTION,
        Entity::Rule(_) => CompletionItemKind::METHOD,
        Entity::Ruleset(_) | Entity::Schedule(_) => CompletionItemKind::CLASS,
        Entity::Example(_) => CompletionItemKind::VALUE,
        Entity::Variable { .. } => CompletionItemKind::VARIABLE,
        Entity::TypeParameter => CompletionItemKind::TYPE_PARAMETER,
    }
}
