//! Rules, inferences and their clauses.

use super::super::ast::{Clause, ClauseKind, Expr, ItemKind, Rewrite, RuleBody, RuleItem, RuleStatement, Span};
use super::super::failure::{Expected, Tokens};
use super::super::token::Token;
use super::expr::{effects, exprs, params, side, string, tparams};
use super::{Extra, P, close_brace, here, name, skip_broken, symbol, word};
use chumsky::prelude::*;

/// `when ..`, `removes ..`, `because ".."`
fn clause<'t>(file: u32, expr: P<'t, Expr>) -> P<'t, Clause> {
    let when = word("when", Expected::Clause).ignore_then(exprs(expr)).map(ClauseKind::When);
    let removes = word("removes", Expected::Clause).ignore_then(effects(file)).map(ClauseKind::Removes);
    let because =
        word("because", Expected::Clause).ignore_then(string(file)).map(|text| ClauseKind::Because(text.node));
    choice((when, removes, because)).map_with(move |kind, e| Clause { kind, span: here(file, e) }).boxed()
}

fn clauses<'t>(file: u32, expr: P<'t, Expr>) -> impl Parser<'t, Tokens<'t>, Vec<Clause>, Extra> + Clone {
    clause(file, expr).repeated().collect()
}

/// `lhs => rhs`
fn rewrite<'t>(expr: P<'t, Expr>) -> P<'t, Rewrite> {
    let arrow = symbol("=>", Expected::Arrow).to(false).or(symbol("<=>", Expected::Arrow).to(true));
    side(expr.clone())
        .then(arrow)
        .then(side(expr))
        .map(|((left, both_ways), right)| Rewrite { left, both_ways, right })
        .boxed()
}

fn statement<'t>(file: u32, expr: P<'t, Expr>) -> P<'t, RuleStatement> {
    let binding = |keyword| {
        word(keyword, Expected::Statement)
            .ignore_then(name(file, Expected::Name))
            .then_ignore(symbol("=", Expected::Equals))
            .then(expr.clone())
    };
    choice((
        binding("match").map(|(name, expr)| RuleStatement::Match(name, expr)),
        binding("let").map(|(name, expr)| RuleStatement::Let(name, expr)),
        word("rewrite", Expected::Statement).ignore_then(rewrite(expr.clone())).map(RuleStatement::Rewrite),
        clause(file, expr).map(RuleStatement::Clause).labelled(Expected::Statement),
    ))
    .boxed()
}

/// `{ match .. rewrite .. }`; `None` if a statement is broken.
fn block<'t>(file: u32, expr: P<'t, Expr>) -> P<'t, Option<RuleBody>> {
    let broken = skip_broken(true, |token| token.starts_statement || token.starts_item).to(None);
    symbol("{", Expected::OpenBrace)
        .ignore_then(
            statement(file, expr).map(Some).recover_with(via_parser(broken)).repeated().at_least(1).collect::<Vec<_>>(),
        )
        .then_ignore(close_brace())
        .map_with(move |statements, e| {
            let statements = statements.into_iter().collect::<Option<Vec<_>>>()?;
            Some(RuleBody::Block { statements, span: here(file, e) })
        })
        .boxed()
}

/// `unsafe dynamic rule name{T}(params): lhs => rhs clauses`
pub(super) fn rule<'t>(file: u32, expr: P<'t, Expr>) -> P<'t, ItemKind> {
    let modifier =
        |text| word(text, Expected::Item).map(move |token| Span { file, start: token.start, end: token.end }).or_not();
    let one_line = symbol(":", Expected::Colon)
        .ignore_then(rewrite(expr.clone()))
        .then(clauses(file, expr.clone()))
        .map(|(rewrite, clauses)| Some(RuleBody::Rewrite { rewrite, clauses }));
    // `unsafe` comes first, as `fmt` writes it; the other order says the same.
    let in_order = modifier("unsafe").then(modifier("dynamic"));
    let in_other_order =
        word("dynamic", Expected::Item).then(word("unsafe", Expected::Item)).map(move |(dynamic, is_unsafe)| {
            let place = |token: &Token<'_>| Some(Span { file, start: token.start, end: token.end });
            (place(is_unsafe), place(dynamic))
        });
    in_other_order
        .or(in_order)
        .then_ignore(word("rule", Expected::Item))
        .then(name(file, Expected::Name))
        .then(tparams(file))
        .then(params(file))
        .then(one_line.or(block(file, expr)))
        .map(|(((((is_unsafe, dynamic), name), tparams), params), body)| match body {
            Some(body) => {
                ItemKind::Rule(RuleItem { is_unsafe, dynamic, name, tparams, params, body, lengths: Vec::new() })
            }
            None => ItemKind::Error,
        })
        .boxed()
}

/// `infer name(params): fact clauses`
pub(super) fn infer<'t>(file: u32, expr: P<'t, Expr>) -> P<'t, ItemKind> {
    word("infer", Expected::Item)
        .ignore_then(name(file, Expected::Name))
        .then(tparams(file))
        .then(params(file))
        .then_ignore(symbol(":", Expected::Colon))
        .then(expr.clone())
        .then(clauses(file, expr))
        .map(|((((name, tparams), params), fact), clauses)| ItemKind::Infer { name, tparams, params, fact, clauses })
        .boxed()
}
