//! What a page says of one declaration.

use super::known::Known;
use super::prose::prose;
use super::texts::{Declaration, Kind, Section, Texts};
use maud::{Markup, html};
use rewright_dsl::diagnostic::count;
use rewright_dsl::index::{Entity, Index};
use rewright_dsl::program::{Program, Rule, RuleId};
use std::collections::{BTreeMap, BTreeSet};

/// Lists of names that are longer are folded.
const SHORT: usize = 8;

/// What entries are made from.
pub(super) struct Entries<'p> {
    pub(super) known: Known<'p>,
    pub(super) texts: Texts<'p>,
    pub(super) index: &'p Index,
}

impl<'p> Entries<'p> {
    /// What packs declare, and what is known of it.
    pub(super) fn new(program: &'p Program, index: &'p Index) -> Self {
        Entries { known: Known::new(program), texts: Texts::new(program, index), index }
    }

    /// The declarations of a pack by kind, rules by their rulesets in the order of the text. Examples of rules stand with
    /// those.
    pub(super) fn sections<'t>(&'t self, pack: &'t str) -> Vec<(Section<'t>, Vec<&'t Declaration>)> {
        let mut sections: Vec<(Section<'t>, Vec<&'t Declaration>)> = vec![];
        for declaration in self.texts.of_pack(pack) {
            if declaration.kind == Kind::Example && !self.is_alone(declaration) {
                continue;
            }
            let section = (declaration.kind, declaration.ruleset.as_deref());
            match sections.iter_mut().find(|(known, _)| *known == section) {
                Some((_, all)) => all.push(declaration),
                None => sections.push((section, vec![declaration])),
            }
        }
        sections.sort_by_key(|((kind, _), _)| *kind);
        sections
    }

    /// The entry of a declaration.
    pub(super) fn entry(&self, declaration: &Declaration) -> Markup {
        let text = declaration.doc.join("\n");
        html! {
            article.entry id=(declaration.anchor) {
                header {
                    h3 { a href=(format!("#{}", declaration.anchor)) { (declaration.title()) } }
                    span.soft { (declaration.kind.word()) ", " (self.texts.place(declaration)) }
                }
                @if !text.trim().is_empty() { div.doc { (prose(&text)) } }
                (self.texts.linked(declaration))
                @match declaration.kind {
                    Kind::Rule => (self.rule(declaration)),
                    Kind::Function => (self.laws(declaration)),
                    _ => {},
                }
                (self.users(declaration))
            }
        }
    }

    /// The rules that a name stands for.
    pub(super) fn rules(&self, declaration: &Declaration) -> Vec<(RuleId, &'p Rule)> {
        let ids: &[RuleId] = match self.index.definition(declaration.at).map(|definition| &definition.entity) {
            Some(Entity::Rule(ids)) => ids,
            _ => &[],
        };
        ids.iter().map(|id| (*id, self.known.program.rule(*id))).collect()
    }

    fn rule(&self, declaration: &Declaration) -> Markup {
        let found = self.rules(declaration);
        let rules: Vec<&Rule> = found.iter().map(|(_, rule)| *rule).collect();
        let types = self.known.types(&rules);
        let examples: Vec<&Declaration> = self.examples_of(&rules);
        html! {
            @for caution in self.known.cautions(&rules) { p { (caution) } }
            @if !types.is_empty() { div.facts { (prose(&format!("Types: {}.", types.join("; ")))) } }
            @if let Some(first) = rules.first() { p.facts { (self.known.evidence(first.family, &rules)) } }
            @match examples.len() {
                0 => p.soft { "No example names it in " code { "fires" } "." },
                n => p.facts { (if n == 1 { "Example" } else { "Examples" }) ", run by " code { "rewright check" } ":" },
            }
            @for example in examples { (self.texts.linked(example)) }
        }
    }

    fn examples_of(&self, rules: &[&Rule]) -> Vec<&Declaration> {
        let wanted: BTreeSet<_> = self.known.examples(rules).map(|example| example.span).collect();
        let examples = self.texts.declarations.values().filter(|declaration| declaration.kind == Kind::Example);
        examples
            .filter(|example| wanted.iter().any(|span| span.file == example.at.file && span.end == example.text.end))
            .collect()
    }

    /// Verdicts on the rules that the laws of a function are.
    fn laws(&self, declaration: &Declaration) -> Markup {
        let within = declaration.text;
        let stands = |rule: &&Rule| {
            let span = rule.span;
            rule.law && span.file == within.file && within.start <= span.start && span.end <= within.end
        };
        let laws = self.known.program.rules.iter().filter(stands);
        let verdicts: Vec<(&str, String)> =
            laws.filter_map(|rule| Some((rule.name.as_str(), self.known.verdicts(rule)?))).collect();
        html! {
            @for (law, verdicts) in verdicts { p.facts { "Evidence for " code { (law) } ": " (verdicts) "." } }
        }
    }

    /// The declarations that refer to it.
    fn users(&self, declaration: &Declaration) -> Markup {
        let mut users: BTreeMap<Kind, Vec<&Declaration>> = BTreeMap::new();
        for user in self.texts.users(declaration).filter(|user| user.kind != Kind::Example) {
            users.entry(user.kind).or_default().push(user);
        }
        let counts: Vec<String> = users.iter().map(|(kind, all)| count(all.len(), kind.noun())).collect();
        let links = html! {
            @for user in users.values().flatten() {
                a href=(user.href()) title=(format!("{} of {}", user.kind.word(), user.pack)) { (user.title()) } " "
            }
        };
        html! {
            @match users.values().flatten().count() {
                0 => {},
                n if n <= SHORT => p.uses { span.soft { "Used by " (counts.join(", ")) ": " } (links) },
                _ => details.uses { summary { "Used by " (counts.join(", ")) } p { (links) } },
            }
        }
    }

    /// Examples that name no rule; those that do stand with their rules.
    fn is_alone(&self, example: &Declaration) -> bool {
        match self.index.definition(example.at).map(|definition| &definition.entity) {
            Some(Entity::Example(Some(at))) => self.known.program.examples.get(*at).is_none_or(|e| e.fires.is_empty()),
            _ => true,
        }
    }
}
