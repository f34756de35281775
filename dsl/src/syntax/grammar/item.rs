//! A file and its items.

use super::super::ast::{Attribute, Expr, File, FnClause, FnItem, Item, ItemKind, Limit, Spanned, Step};
use super::super::failure::{Expected, Tokens};
use super::super::token::{Kind, Token};
use super::example::example;
use super::expr::{count, effects, expr, exprs, params, string, tparams, ty};
use super::rule::{infer, rule};
use super::{Extra, P, close_brace, comma, here, name, path, skip_broken, symbol, token, word};
use chumsky::prelude::*;

/// A whole file. Succeeds on every input.
pub(super) fn file<'t>(file: u32) -> P<'t, File> {
    let doc = token(None, |token| token.kind == Kind::PackDoc).map(doc_text).repeated().collect();
    let pack = word("pack", Expected::Pack)
        .ignore_then(path(file, Expected::Name))
        .map(Some)
        .recover_with(via_parser(skip_pack().to(None)))
        .or_not();
    doc.then(pack)
        .then(items(file, item(file), false))
        .then_ignore(end())
        .map(|((doc, pack), items)| File { doc, pack: pack.flatten(), items })
        .boxed()
}

/// A broken `pack` clause.
fn skip_pack<'t>() -> impl Parser<'t, Tokens<'t>, (), Extra> + Clone {
    word("pack", Expected::Pack).rewind().ignore_then(skip_broken(false, |token| token.starts_item)).ignored()
}

/// A doc comment without its marker.
fn doc_text(token: &Token<'_>) -> String {
    let text = &token.text[3..];
    text.strip_prefix(' ').unwrap_or(text).to_owned()
}

/// Items, broken ones included.
fn items<'t>(
    file: u32,
    item: impl Parser<'t, Tokens<'t>, Item, Extra> + Clone + 't,
    in_block: bool,
) -> impl Parser<'t, Tokens<'t>, Vec<Item>, Extra> + Clone {
    let broken = skip_broken(in_block, |token| token.starts_item).map_with(move |_, e| Item {
        doc: Vec::new(),
        attributes: Vec::new(),
        kind: ItemKind::Error,
        span: here(file, e),
    });
    item.recover_with(via_parser(broken)).repeated().collect()
}

fn item<'t>(file: u32) -> P<'t, Item> {
    let expr = expr(file);
    let attribute = symbol("@", Expected::Item)
        .ignore_then(name(file, Expected::Name))
        .then(
            expr.clone()
                .separated_by(comma())
                .allow_trailing()
                .collect()
                .delimited_by(symbol("(", Expected::OpenParen), symbol(")", Expected::CloseParen))
                .or_not(),
        )
        .map(|(name, args)| Attribute { name, args: args.unwrap_or_default() });
    let doc = token(None, |token| token.kind == Kind::Doc).map(doc_text);
    recursive(move |item| {
        let kind = choice((
            rule(file, expr.clone()),
            example(file, expr.clone()),
            function(file, expr.clone()),
            infer(file, expr.clone()),
            import(file),
            type_item(file),
            word("effect", Expected::Item)
                .ignore_then(name(file, Expected::Name))
                .map(|name| ItemKind::Effect { name })
                .boxed(),
            word("fact", Expected::Item)
                .ignore_then(name(file, Expected::Name))
                .then(tparams(file))
                .then(params(file))
                .then(word("spec", Expected::Clause).ignore_then(expr.clone()).or_not())
                .map(|(((name, tparams), params), spec)| ItemKind::Fact { name, tparams, params, spec })
                .boxed(),
            word("override", Expected::Item)
                .ignore_then(path(file, Expected::Name))
                .then_ignore(word("cost", Expected::Clause))
                .then(expr.clone())
                .map(|(name, cost)| ItemKind::Override { name, cost })
                .boxed(),
            ruleset(file, item.boxed()),
            schedule(file),
            token(None, |token| token.kind == Kind::Bad && token.starts_item).to(ItemKind::Error).boxed(),
        ));
        doc.repeated()
            .collect()
            .then(attribute.repeated().collect())
            .then(kind.map_with(move |kind, e| (kind, here(file, e))))
            .map(|((doc, attributes), (kind, span))| Item { doc, attributes, kind, span })
            .labelled(Expected::Item)
    })
    .boxed()
}

/// `import path as id (a, b)`
fn import<'t>(file: u32) -> P<'t, ItemKind> {
    let names = name(file, Expected::Name)
        .separated_by(comma())
        .at_least(1)
        .allow_trailing()
        .collect()
        .delimited_by(symbol("(", Expected::OpenParen), symbol(")", Expected::CloseParen));
    word("import", Expected::Item)
        .ignore_then(path(file, Expected::Name))
        .then(word("as", Expected::As).ignore_then(name(file, Expected::Name)).or_not())
        .then(names.or_not())
        .map(|((path, alias), names)| ItemKind::Import { path, alias, names })
        .boxed()
}

/// `type Name{T} <: Super model id`, or `type Name = A | B`
fn type_item<'t>(file: u32) -> P<'t, ItemKind> {
    let members = symbol("=", Expected::Equals)
        .ignore_then(ty(file).separated_by(symbol("|", Expected::Bar)).at_least(1).collect());
    let family = word("type", Expected::Item)
        .ignore_then(name(file, Expected::Name))
        .then(members)
        .map(|(name, members)| ItemKind::Family { name, members });
    let single = word("type", Expected::Item)
        .ignore_then(name(file, Expected::Name))
        .then(tparams(file))
        .then(symbol("<:", Expected::Subtype).ignore_then(ty(file)).or_not())
        .then(word("model", Expected::Model).ignore_then(name(file, Expected::Name)).or_not())
        .map(|(((name, tparams), supertype), model)| ItemKind::Type { name, tparams, supertype, model });
    family.or(single).boxed()
}

/// `host fn name{T}(params) -> (A, B) clauses`
fn function<'t>(file: u32, expr: P<'t, Expr>) -> P<'t, ItemKind> {
    let ty = ty(file);
    let several = ty
        .clone()
        .separated_by(comma())
        .allow_trailing()
        .collect()
        .delimited_by(symbol("(", Expected::OpenParen), symbol(")", Expected::CloseParen));
    let results = several.or(ty.map(|ty| vec![ty])).labelled(Expected::Type);
    word("host", Expected::Item)
        .or_not()
        .then_ignore(word("fn", Expected::Item))
        .then(name(file, Expected::Name))
        .then(tparams(file))
        .then(params(file))
        .then_ignore(symbol("->", Expected::ThinArrow))
        .then(results)
        .then(fn_clause(file, expr).repeated().collect())
        .map(|(((((host, name), tparams), params), results), clauses)| {
            ItemKind::Fn(FnItem { host: host.is_some(), name, tparams, params, results, clauses })
        })
        .boxed()
}

fn fn_clause<'t>(file: u32, expr: P<'t, Expr>) -> P<'t, Spanned<FnClause>> {
    let keyword = |text| word(text, Expected::Clause);
    let law = token(Some(Expected::Clause), |token| {
        token.is_word_of(&["commutative", "associative", "idempotent", "identity"])
    })
    .then(expr.clone().delimited_by(symbol("(", Expected::OpenParen), symbol(")", Expected::CloseParen)).or_not())
    .map(|(law, arg)| FnClause::Law { name: law.text.to_owned(), arg });
    choice((
        keyword("as").ignore_then(string(file)).map(|text| FnClause::As(text.node)),
        keyword("pure").to(FnClause::Pure),
        keyword("effects").ignore_then(effects(file)).map(FnClause::Effects),
        keyword("cost").ignore_then(expr.clone()).map(FnClause::Cost),
        keyword("requires").ignore_then(exprs(expr.clone())).map(FnClause::Requires),
        keyword("spec").ignore_then(expr).map(FnClause::Spec),
        law,
        keyword("recurrence").ignore_then(path(file, Expected::Name)).map(FnClause::Recurrence),
        keyword("lazy").to(FnClause::Lazy),
    ))
    .map_with(move |node, e| Spanned { node, span: here(file, e) })
    .boxed()
}

/// `ruleset name { items }`. Without a name its items are still read, for their mistakes.
fn ruleset<'t>(file: u32, item: P<'t, Item>) -> P<'t, ItemKind> {
    let missing = symbol("{", Expected::OpenBrace).rewind().to(None);
    word("ruleset", Expected::Item)
        .ignore_then(name(file, Expected::Name).map(Some).recover_with(via_parser(missing)))
        .then_ignore(symbol("{", Expected::OpenBrace))
        .then(items(file, item, true))
        .then_ignore(close_brace())
        .map(|(name, items)| name.map_or(ItemKind::Error, |name| ItemKind::Ruleset { name, items }))
        .boxed()
}

/// `schedule name at point { steps }`
fn schedule<'t>(file: u32) -> P<'t, ItemKind> {
    word("schedule", Expected::Item)
        .ignore_then(name(file, Expected::Name))
        .then(word("at", Expected::At).ignore_then(name(file, Expected::Name)).or_not())
        .then(steps(file))
        .map(|((name, at), steps)| match steps {
            Some(steps) => ItemKind::Schedule { name, at, steps },
            None => ItemKind::Error,
        })
        .boxed()
}

/// `{ run a  repeat 3 { .. } }`; `None` if a step is broken.
fn steps<'t>(file: u32) -> P<'t, Option<Vec<Step>>> {
    recursive(move |steps| {
        let limit = count().then(name(file, Expected::Name)).map(|(count, unit)| Limit { count, unit });
        let limits =
            word("limit", Expected::Limit).ignore_then(limit.separated_by(comma()).at_least(1).collect::<Vec<_>>());
        let target = || path(file, Expected::Name).then(limits.clone().or_not().map(Option::unwrap_or_default));
        let run = word("run", Expected::Step)
            .ignore_then(target())
            .map(|(ruleset, limits)| Some(Step::Run { ruleset, limits }));
        let saturate = word("saturate", Expected::Step)
            .ignore_then(target())
            .map(|(ruleset, limits)| Some(Step::Saturate { ruleset, limits }));
        let repeat = word("repeat", Expected::Step)
            .ignore_then(count().or_not())
            .then(steps)
            .map(|(count, steps): (Option<u64>, Option<Vec<Step>>)| Some(Step::Repeat { count, steps: steps? }));
        let broken = skip_broken(true, |token| token.starts_statement || token.starts_item).to(None);
        symbol("{", Expected::OpenBrace)
            .ignore_then(
                choice((run, saturate, repeat))
                    .recover_with(via_parser(broken))
                    .repeated()
                    .at_least(1)
                    .collect::<Vec<_>>(),
            )
            .then_ignore(symbol("}", Expected::CloseBrace))
            .map(|steps| steps.into_iter().collect::<Option<Vec<_>>>())
            .boxed()
    })
    .boxed()
}
