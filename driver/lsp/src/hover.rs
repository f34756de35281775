//! What there is to say of what the pointer rests on: a name's declaration, type, cost, effects and evidence, or the
//! meaning of a word of the language.

use crate::snapshot::Snapshot;
use lsp_types::{Hover, HoverContents, MarkupContent, MarkupKind};
use rewright_dsl::check::signature;
use rewright_dsl::index::{Definition, Entity};
use rewright_dsl::program::RuleId;
use rewright_dsl::syntax::ast::Span;
use rewright_dsl::syntax::{PieceKind, pieces};
use rewright_dsl::words;
use rewright_packs::Evidence;
use rewright_typeprop::Op;
use rewright_typeprop::ops::{Cost, Effects};

/// What to show at a byte of a file. `evidence` is what is known of the rules of a file's folder.
pub fn hover(snapshot: &Snapshot, file: u32, offset: u32, evidence: &dyn Fn(&str) -> Evidence) -> Option<Hover> {
    if let Some((occurrence, meanings)) = snapshot.named(file, offset) {
        let parts: Vec<String> =
            meanings.iter().map(|(name, definition)| describe(snapshot, *name, definition, evidence)).collect();
        return Some(shown(parts.join("\n\n---\n\n"), snapshot, occurrence.span));
    }
    let text = snapshot.text(file);
    let all = pieces(text);
    let at = all.iter().position(|piece| piece.start <= offset && offset <= piece.end && piece.is_word())?;
    let piece = all[at];
    let attribute = at > 0 && all[at - 1].is("@") && all[at - 1].end == piece.start;
    let start = if attribute { all[at - 1].start } else { piece.start };
    let word = text.get(start as usize..piece.end as usize)?;
    let meanings = words::find(word).into_iter().filter(|word| attribute == word.word.starts_with('@'));
    let meanings: Vec<String> = meanings.map(word_meaning).collect();
    let span = Span { file, start, end: piece.end };
    (!meanings.is_empty()).then(|| shown(meanings.join("\n\n---\n\n"), snapshot, span))
}

/// The meaning of a word, with an example.
pub fn word_meaning(word: &words::Word) -> String {
    let example = match word.example {
        "" => String::new(),
        example => format!("\n\n{}", code(example)),
    };
    format!("**{}** ({})\n\n{}{example}", word.word, word.kind, word.text)
}

fn shown(value: String, snapshot: &Snapshot, span: Span) -> Hover {
    let contents = HoverContents::Markup(MarkupContent { kind: MarkupKind::Markdown, value });
    Hover { contents, range: Some(snapshot.range(span)) }
}

fn code(text: &str) -> String {
    format!("```rewright\n{text}\n```")
}

/// A definition in Markdown.
pub fn describe(
    snapshot: &Snapshot,
    name: Span,
    definition: &Definition,
    evidence: &dyn Fn(&str) -> Evidence,
) -> String {
    let program = snapshot.program();
    let item = || program.sources.item(definition.item);
    let mut parts: Vec<String> = vec![];
    match &definition.entity {
        Entity::Variable { ty, .. } => {
            let ty = ty.as_deref().unwrap_or("?");
            parts.push(code(&format!("{}: {ty}", definition.name)));
        }
        Entity::TypeParameter => {
            let below = bound(snapshot, name);
            parts.push(code(&format!("{}{below}", definition.name)));
            parts.push("a type parameter".into());
        }
        Entity::Alias { pack } => parts.push(code(&format!("import {pack} as {}", definition.name))),
        Entity::Pack => parts.push(code(&format!("pack {}", definition.name))),
        Entity::Function { ops, .. } => {
            parts.push(match ops.first() {
                Some(op) => code(&signature(program.universe.ops.get(*op), &program.universe)),
                None => code(&item()),
            });
            parts.extend(ops.first().map(|op| operation(program.universe.ops.get(*op))));
        }
        Entity::Rule(rules) => {
            parts.push(code(&item()));
            parts.extend(rule(snapshot, rules, name, evidence));
        }
        Entity::Ruleset(full) => {
            let rules = program.rulesets.get(full).map_or(0, Vec::len);
            parts.push(code(&format!("ruleset {}", definition.name)));
            parts.push(rewright_dsl::diagnostic::count(rules, "rule"));
        }
        _ => parts.push(code(&item())),
    }
    if !definition.doc.is_empty() {
        parts.push(definition.doc.join("\n"));
    }
    if !matches!(definition.entity, Entity::Variable { .. } | Entity::TypeParameter | Entity::Pack) {
        parts.push(format!("in `{}`", definition.pack));
    }
    parts.join("\n\n")
}

/// ` <: Int`, as it is written behind a type parameter's name.
fn bound(snapshot: &Snapshot, name: Span) -> String {
    let behind = snapshot.text(name.file).get(name.end as usize..).unwrap_or_default();
    let behind = behind.split([',', '}', '\n']).next().unwrap_or_default();
    if behind.trim_start().starts_with("<:") { behind.trim_end().to_string() } else { String::new() }
}

/// Cost, effects, meaning and laws of an operation, a line each.
fn operation(op: &Op) -> String {
    let mut lines = vec![format!("effects: {}", effects(&op.effects))];
    lines.push(match (&op.cost, op.overridden) {
        (Cost::Fixed(cost), false) => format!("cost: {cost}"),
        (Cost::Fixed(cost), true) => format!("cost: {cost}, as another pack says"),
        (Cost::Expr(_), _) => "cost: computed from its operands".into(),
    });
    let meaning = match (&op.model, &op.spec, &op.link) {
        (Some(model), ..) => format!("meaning: the model `{}`", model.name()),
        (_, Some(_), _) => "meaning: what its `spec` says".into(),
        (.., Some(_)) => "meaning: what its library computes".into(),
        _ if op.host => "meaning: a function of the embedding program".into(),
        _ => "meaning: none is stated, so nothing about it can be proved".into(),
    };
    lines.push(meaning);
    let laws = [
        ("commutative", op.laws.commutative),
        ("associative", op.laws.associative),
        ("idempotent", op.laws.idempotent),
        ("identity", op.laws.identity.is_some()),
    ];
    let laws: Vec<&str> = laws.into_iter().filter(|(_, holds)| *holds).map(|(law, _)| law).collect();
    if !laws.is_empty() {
        lines.push(format!("laws: {}", laws.join(", ")));
    }
    if let Some(link) = &op.link {
        lines.push(format!("calls `{}` of `{}`", link.symbol, link.library));
    }
    for (language, spelling) in &op.names {
        lines.push(format!("{language}: `{spelling}`"));
    }
    lines.iter().map(|line| format!("- {line}\n")).collect::<String>().trim_end().to_string()
}

fn effects(effects: &Effects) -> String {
    let regions = |word: &str, regions: &[String]| -> Vec<String> {
        regions.iter().map(|region| format!("`{word}({region})`")).collect()
    };
    let mut all = regions("reads", &effects.reads);
    all.extend(regions("writes", &effects.writes));
    all.extend(regions("allocates", &effects.allocates));
    let flags = [("io", effects.io), ("traps", effects.traps), ("diverges", effects.diverges)];
    all.extend(flags.iter().filter(|(_, has)| *has).map(|(word, _)| format!("`{word}`")));
    if all.is_empty() { "none".into() } else { all.join(", ") }
}

/// What else there is to know of a rule.
fn rule(snapshot: &Snapshot, rules: &[RuleId], name: Span, evidence: &dyn Fn(&str) -> Evidence) -> Vec<String> {
    let program = snapshot.program();
    let Some(first) = rules.first().map(|id| program.rule(*id)) else {
        return vec!["It has mistakes, so nothing is known of it.".into()];
    };
    let mut parts = vec![];
    if let Some(approximate) = &first.approximate {
        parts.push(format!("Approximate: it gives up {}.", approximate.gives_up));
    }
    if let Some(relaxation) = &first.relaxation {
        parts.push(format!("Unsafe, because {}.", relaxation.because));
    }
    let known = evidence(snapshot.name(name.file));
    let found = rules.iter().filter_map(|id| {
        let rule = program.rule(*id);
        let verdicts = known.get(&rule.name)?.join("; ");
        let which = rule.name.rsplit_once('[').map_or(String::new(), |(_, which)| format!(" ([{which})"));
        Some(format!("{verdicts}{which}"))
    });
    let found: Vec<String> = found.collect();
    parts.push(match found.is_empty() {
        true => "Evidence: none is recorded; `rewright verify --update` records it.".into(),
        false => format!("Evidence, in type instances: {}.", found.join("; ")),
    });
    let family = program.rule(first.family).family;
    let examples = program.examples.iter().filter(|e| e.fires.iter().any(|id| program.rule(*id).family == family));
    parts.push(match examples.count() {
        0 => "No example says that it takes part.".into(),
        examples => format!("In {}.", rewright_dsl::diagnostic::count(examples, "example")),
    });
    parts
}

/// Is a byte inside of a comment or a string?
pub fn is_in_prose(text: &str, offset: u32) -> bool {
    pieces(text).iter().any(|piece| {
        let last = if piece.kind == PieceKind::Comment { piece.end } else { piece.end.saturating_sub(1) };
        matches!(piece.kind, PieceKind::Comment | PieceKind::Text) && piece.start < offset && offset <= last
    })
}
