//! What a text declares, from its syntax alone: the outline of a document, the symbols of a workspace, and the places
//! where examples can be run and rules verified.

use crate::position::Lines;
use lsp_types::{DocumentSymbol, SymbolKind};
use rewright_dsl::syntax::ast::{File, Item, ItemKind, Name, Span};

/// A declaration.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Declared {
    /// As written.
    pub name: String,
    /// For an icon.
    pub kind: SymbolKind,
    /// Its name.
    pub at: Span,
    /// All of it.
    pub item: Span,
    /// A short text beside the name.
    pub detail: &'static str,
    /// What can be done with it.
    pub action: Option<Action>,
    /// What it contains.
    pub inside: Vec<Declared>,
}

/// What can be done with a declaration.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Action {
    /// Run an example.
    Run,
    /// Verify a rule.
    Verify,
}

/// What a file declares, in order.
pub fn declared(file: &File) -> Vec<Declared> {
    items(&file.items)
}

fn items(items: &[Item]) -> Vec<Declared> {
    items.iter().filter_map(item).collect()
}

fn item(item: &Item) -> Option<Declared> {
    let (name, kind, detail): (&Name, SymbolKind, &'static str) = match &item.kind {
        ItemKind::Type { name, .. } => (name, SymbolKind::STRUCT, "type"),
        ItemKind::Family { name, .. } => (name, SymbolKind::INTERFACE, "family"),
        ItemKind::Effect { name } => (name, SymbolKind::EVENT, "effect"),
        ItemKind::Fact { name, .. } => (name, SymbolKind::PROPERTY, "fact"),
        ItemKind::Fn(f) => (&f.name, SymbolKind::FUNCTION, "fn"),
        ItemKind::Rule(rule) => (&rule.name, SymbolKind::METHOD, "rule"),
        ItemKind::Infer { name, .. } => (name, SymbolKind::METHOD, "infer"),
        ItemKind::Ruleset { name, .. } => (name, SymbolKind::NAMESPACE, "ruleset"),
        ItemKind::Schedule { name, .. } => (name, SymbolKind::CLASS, "schedule"),
        ItemKind::Example(example) => (&example.title, SymbolKind::STRING, "example"),
        ItemKind::Import { .. } | ItemKind::Override { .. } | ItemKind::Error => return None,
    };
    let action = match &item.kind {
        ItemKind::Example(_) => Some(Action::Run),
        ItemKind::Rule(_) => Some(Action::Verify),
        _ => None,
    };
    let inside = match &item.kind {
        ItemKind::Ruleset { items: inner, .. } => items(inner),
        _ => vec![],
    };
    Some(Declared { name: name.node.clone(), kind, at: name.span, item: item.span, detail, action, inside })
}

/// All declarations with the rulesets that they stand in, outermost first.
pub fn flat<'d>(declared: &'d [Declared], within: Option<&'d str>) -> Vec<(Option<&'d str>, &'d Declared)> {
    declared.iter().flat_map(|one| std::iter::once((within, one)).chain(flat(&one.inside, Some(&one.name)))).collect()
}

/// The outline of a document.
pub fn outline(declared: &[Declared], text: &str, lines: &Lines) -> Vec<DocumentSymbol> {
    declared.iter().map(|one| symbol(one, text, lines)).collect()
}

#[allow(deprecated, reason = "a field of the protocol that nothing else sets")]
fn symbol(one: &Declared, text: &str, lines: &Lines) -> DocumentSymbol {
    let children = outline(&one.inside, text, lines);
    DocumentSymbol {
        // The protocol wants a name.
        name: if one.name.trim().is_empty() { one.detail.to_string() } else { one.name.clone() },
        detail: Some(one.detail.to_string()),
        kind: one.kind,
        tags: None,
        deprecated: None,
        range: lines.range(text, one.item.start, one.item.end.max(one.at.end)),
        selection_range: lines.range(text, one.at.start, one.at.end),
        children: (!children.is_empty()).then_some(children),
    }
}

/// Do the characters of a query stand in a name, in this order?
pub fn matches(name: &str, query: &str) -> bool {
    let mut rest = name.chars().flat_map(char::to_lowercase);
    query.chars().flat_map(char::to_lowercase).all(|wanted| rest.any(|c| c == wanted))
}
