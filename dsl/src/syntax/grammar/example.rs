//! Examples.

use super::super::ast::{BlockStatement, ExampleBody, ExampleItem, Expr, ItemKind, Path, Verdict};
use super::super::failure::{Expected, Failure, Mistake};
use super::expr::{params, side, string};
use super::{P, close_brace, comma, name, path, skip_broken, symbol, word};
use chumsky::prelude::*;

/// `{ x = e  return e }`; `None` if a statement is broken.
fn block<'t>(file: u32, expr: P<'t, Expr>) -> P<'t, Option<Vec<BlockStatement>>> {
    recursive(move |block| {
        let assign = name(file, Expected::Statement)
            .then_ignore(symbol("=", Expected::Equals))
            .then(expr.clone())
            .map(|(name, expr)| Some(BlockStatement::Let(name, expr)));
        let run = word("do", Expected::Statement).ignore_then(expr.clone()).map(|expr| Some(BlockStatement::Do(expr)));
        let give = word("return", Expected::Statement)
            .ignore_then(expr.clone())
            .map(|expr| Some(BlockStatement::Return(expr)));
        let cond = expr.clone().delimited_by(symbol("(", Expected::OpenParen), symbol(")", Expected::CloseParen));
        let branch = word("if", Expected::Statement)
            .ignore_then(cond)
            .then(block.clone())
            .then(word("else", Expected::Else).ignore_then(block).or_not())
            .map(|((cond, then), els)| {
                let els = els.unwrap_or_else(|| Some(Vec::new()))?;
                Some(BlockStatement::If { cond, then: then?, els })
            });
        let broken = skip_broken(true, |token| token.starts_statement || token.starts_item).to(None);
        symbol("{", Expected::OpenBrace)
            .ignore_then(
                choice((assign, run, give, branch))
                    .labelled(Expected::Statement)
                    .recover_with(via_parser(broken))
                    .repeated()
                    .collect::<Vec<_>>(),
            )
            .then_ignore(symbol("}", Expected::CloseBrace))
            .map(|statements: Vec<Option<_>>| statements.into_iter().collect::<Option<Vec<_>>>())
            .boxed()
    })
    .boxed()
}

enum Header {
    Fires(Vec<Path>),
    /// With the index of its first token.
    Using(Path, usize),
}

/// `todo example "title" (params) fires a, b: subject becomes result`
pub(super) fn example<'t>(file: u32, expr: P<'t, Expr>) -> P<'t, ItemKind> {
    let fires = word("fires", Expected::Fires)
        .ignore_then(path(file, Expected::Name).separated_by(comma()).at_least(1).collect())
        .map(Header::Fires);
    let using = word("using", Expected::Using)
        .ignore_then(path(file, Expected::Name))
        .map_with(|path, e| Header::Using(path, e.span().start));
    let side = side(expr.clone());
    let verdict = choice((
        word("becomes", Expected::Verdict).ignore_then(side.clone()).map(Verdict::Becomes),
        word("equals", Expected::Verdict).ignore_then(side.clone()).map(Verdict::Equals),
        word("differs", Expected::Verdict).ignore_then(side.clone()).map(Verdict::Differs),
        word("stays", Expected::Verdict).to(Verdict::Stays),
    ));
    let claim = symbol(":", Expected::Colon)
        .ignore_then(side)
        .then(verdict)
        .map(|(subject, verdict)| Some(ExampleBody::Verdict { subject, verdict }));
    let block = block(file, expr);
    let blocks = symbol("{", Expected::OpenBrace)
        .ignore_then(word("before", Expected::Before).ignore_then(block.clone()))
        .then(word("after", Expected::After).ignore_then(block))
        .then_ignore(close_brace())
        .map(|(before, after)| Some(ExampleBody::Blocks { before: before?, after: after? }));
    word("todo", Expected::Item)
        .or_not()
        .then_ignore(word("example", Expected::Item))
        .then(string(file))
        .then(params(file).or_not())
        .then(fires.or(using).repeated().collect::<Vec<_>>())
        .then(claim.or(blocks))
        .map_with(|((((todo, title), params), headers), body), e| {
            let Some(body) = body else { return ItemKind::Error };
            let (mut fires, mut using) = (Vec::new(), None);
            for header in headers {
                match header {
                    Header::Fires(paths) => fires.extend(paths),
                    Header::Using(path, _) if using.is_none() => using = Some(path),
                    Header::Using(_, at) => {
                        e.emit(Failure { at, expected: 0, mistake: Some(Mistake::SecondUsing) });
                    }
                }
            }
            let params = params.unwrap_or_default();
            ItemKind::Example(ExampleItem { todo: todo.is_some(), title, params, fires, using, body })
        })
        .boxed()
}
