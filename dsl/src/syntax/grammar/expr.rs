//! Expressions, types, parameters: what stands inside items.

use super::super::ast::{Arg, Effect, Expr, ExprKind, Param, Side, Span, Spanned, TParam, Type, TypeKind};
use super::super::failure::{Expected, Failure, Mistake, Tokens};
use super::super::lexer;
use super::super::token::{Kind, Token, is_keyword};
use super::{Extra, P, comma, here, name, path, symbol, token, word};
use chumsky::input::MapExtra;
use chumsky::pratt::{infix, left, postfix, prefix, right};
use chumsky::prelude::*;

/// Infix symbols, loosest first, with their precedence. `not` stands at 3, prefix `-` at 10, `'` at 12.
/// All are left-associative but `^`; comparisons parse so, and are then reported when they chain.
const OR: u16 = 1;
const AND: u16 = 2;
const NOT: u16 = 3;
const COMPARISON: u16 = 4;
const BIT_OR: u16 = 5;
const BIT_AND: u16 = 6;
const SHIFT: u16 = 7;
const SUM: u16 = 8;
const PRODUCT: u16 = 9;
const NEGATION: u16 = 10;
const POWER: u16 = 11;
const TRANSPOSE: u16 = 12;

const COMPARISONS: &[&str] = &["==", "!=", "<=", ">=", "<", ">"];
const SUMS: &[&str] = &["+", "-", ".+", ".-"];
const PRODUCTS: &[&str] = &["*", "/", ".*", "./"];
/// Symbols that may stand alone in brackets: `(+)`.
const SECTIONS: &[&str] =
    &["+", "-", "*", "/", ".+", ".-", ".*", "./", "^", "&", "|", "<<", ">>", "==", "!=", "<=", ">=", "<", ">", "'"];

/// How tightly an infix operator binds; the larger, the tighter. `^` binds to the right.
pub(in super::super) fn precedence(symbol: &str) -> Option<u16> {
    Some(match symbol {
        "or" => OR,
        "and" => AND,
        "^" => POWER,
        "&" => BIT_AND,
        "|" => BIT_OR,
        "<<" | ">>" => SHIFT,
        _ if COMPARISONS.contains(&symbol) => COMPARISON,
        _ if SUMS.contains(&symbol) => SUM,
        _ if PRODUCTS.contains(&symbol) => PRODUCT,
        _ => return None,
    })
}

/// `path{args}`
pub(super) fn ty<'t>(file: u32) -> P<'t, Type> {
    recursive(move |ty| {
        let int =
            token(Some(Expected::Integer), |token| token.kind == Kind::Int).map_with(move |token: &Token<'_>, e| {
                let value = lexer::int(token.text).and_then(|value| i64::try_from(value).ok());
                Type { kind: TypeKind::Int(fitting(value, e)), span: here(file, e) }
            });
        let args = ty
            .or(int)
            .separated_by(comma())
            .at_least(1)
            .collect::<Vec<_>>()
            .delimited_by(symbol("{", Expected::OpenBrace), symbol("}", Expected::CloseBrace));
        path(file, Expected::Type).then(args.or_not()).map_with(move |(path, args), e| Type {
            kind: TypeKind::Named { path, args: args.unwrap_or_default() },
            span: here(file, e),
        })
    })
    .boxed()
}

/// A number, or zero and a report.
pub(super) fn fitting<'t, T: Default>(value: Option<T>, e: &mut MapExtra<'t, '_, Tokens<'t>, Extra>) -> T {
    value.unwrap_or_else(|| {
        let at = e.span().start;
        e.emit(Failure { at, expected: 0, mistake: Some(Mistake::TooLarge) });
        T::default()
    })
}

/// An unsigned integer.
pub(super) fn count<'t>() -> impl Parser<'t, Tokens<'t>, u64, Extra> + Clone {
    token(Some(Expected::Integer), |token| matches!(token.kind, Kind::Int | Kind::Bad)).map_with(|token, e| {
        if token.kind == Kind::Bad {
            return 0;
        }
        fitting(lexer::int(token.text).and_then(|value| u64::try_from(value).ok()), e)
    })
}

/// A string's value.
pub(super) fn string<'t>(file: u32) -> impl Parser<'t, Tokens<'t>, Spanned<String>, Extra> + Clone {
    token(Some(Expected::String), |token| matches!(token.kind, Kind::Str | Kind::Bad))
        .map_with(move |token, e| Spanned { node: string_value(token), span: here(file, e) })
}

fn string_value(token: &Token<'_>) -> String {
    let inside = token.text.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or_default();
    lexer::unescape(inside).unwrap_or_default()
}

/// `{T <: Bound, U}`
pub(super) fn tparams<'t>(file: u32) -> P<'t, Vec<TParam>> {
    name(file, Expected::Name)
        .then(symbol("<:", Expected::Subtype).ignore_then(ty(file)).or_not())
        .map(|(name, bound)| TParam { name, bound })
        .separated_by(comma())
        .at_least(1)
        .collect()
        .delimited_by(symbol("{", Expected::OpenBrace), symbol("}", Expected::CloseBrace))
        .or_not()
        .map(Option::unwrap_or_default)
        .boxed()
}

/// `(const n: Int, xs...: Any)`
pub(super) fn params<'t>(file: u32) -> P<'t, Vec<Param>> {
    let constant = word("const", Expected::Parameter).then_ignore(name(file, Expected::Name).rewind());
    constant
        .or_not()
        .then(name(file, Expected::Parameter))
        .then(symbol("...", Expected::Dots).or_not())
        .then(symbol(":", Expected::Colon).ignore_then(ty(file)).or_not())
        .map(|(((constant, name), dots), ty)| Param {
            constant: constant.is_some(),
            name,
            variadic: dots.is_some(),
            ty,
        })
        .separated_by(comma())
        .allow_trailing()
        .collect()
        .delimited_by(symbol("(", Expected::OpenParen), symbol(")", Expected::CloseParen))
        .boxed()
}

/// `io, reads(heap)`
pub(super) fn effects<'t>(file: u32) -> P<'t, Vec<Effect>> {
    let region =
        path(file, Expected::Name).delimited_by(symbol("(", Expected::OpenParen), symbol(")", Expected::CloseParen));
    path(file, Expected::Effect)
        .then(region.or_not())
        .map(|(name, region)| Effect { name, region })
        .separated_by(comma())
        .at_least(1)
        .collect()
        .boxed()
}

/// One or more expressions with commas between.
pub(super) fn exprs<'t>(expr: P<'t, Expr>) -> P<'t, Vec<Expr>> {
    expr.separated_by(comma()).at_least(1).collect().boxed()
}

/// `expr after state`
pub(super) fn side<'t>(expr: P<'t, Expr>) -> P<'t, Side> {
    expr.clone()
        .then(word("after", Expected::After).ignore_then(expr).repeated().collect())
        .map(|(expr, after)| Side { expr, after })
        .boxed()
}

/// An expression that may name the state it stands in.
fn stated<'t>(expr: P<'t, Expr>) -> P<'t, Expr> {
    side(expr)
        .map(|side| match side.after.last() {
            None => side.expr,
            Some(last) => {
                let span = cover(side.expr.span, last.span);
                Expr { kind: ExprKind::After(Box::new(side)), span }
            }
        })
        .boxed()
}

/// An expression.
pub(super) fn expr<'t>(file: u32) -> P<'t, Expr> {
    let ty = ty(file);
    recursive(move |expr| {
        let op = |symbols: &'static [&'static str]| operator(file, Kind::Symbol, symbols);
        let keyword = |words: &'static [&'static str]| operator(file, Kind::Word, words);
        let is = word("is", Expected::Operator).ignore_then(ty.clone());
        atom(file, expr.boxed(), ty.clone())
            .pratt((
                postfix(TRANSPOSE, op(&["'"]), |expr: Expr, op: Spanned<String>, _: &mut _| {
                    let span = cover(expr.span, op.span);
                    Expr { kind: ExprKind::Postfix { op, expr: Box::new(expr) }, span }
                }),
                infix(right(POWER), op(&["^"]), binary),
                prefix(NEGATION, sign(file, &["-"]), |op, expr, _: &mut _| negate(op, expr)),
                infix(left(PRODUCT), op(PRODUCTS), binary),
                infix(left(SUM), op(SUMS), binary),
                infix(left(SHIFT), op(&["<<", ">>"]), binary),
                infix(left(BIT_AND), op(&["&"]), binary),
                infix(left(BIT_OR), op(&["|"]), binary),
                infix(
                    left(COMPARISON),
                    op(COMPARISONS),
                    |left: Expr, op, right: Expr, e: &mut MapExtra<'t, '_, _, _>| {
                        if compares(&left) || compares(&right) {
                            chained(e);
                        }
                        binary(left, op, right, e)
                    },
                ),
                postfix(COMPARISON, is, |expr: Expr, ty: Type, e: &mut MapExtra<'t, '_, _, _>| {
                    if compares(&expr) {
                        chained(e);
                    }
                    let span = cover(expr.span, ty.span);
                    Expr { kind: ExprKind::Is { expr: Box::new(expr), ty }, span }
                }),
                prefix(NOT, sign(file, &["not"]), |op, expr, _: &mut _| unary(op, expr)),
                infix(left(AND), keyword(&["and"]), binary),
                infix(left(OR), keyword(&["or"]), binary),
            ))
            .labelled(Expected::Expression)
    })
    .boxed()
}

fn operator<'t>(
    file: u32,
    kind: Kind,
    texts: &'static [&'static str],
) -> impl Parser<'t, Tokens<'t>, Spanned<String>, Extra> + Clone {
    token(Some(Expected::Operator), move |token| token.kind == kind && texts.contains(&token.text))
        .map(move |token| super::spanned(file, token))
}

/// A prefix operator; where it is missing, an expression is, so it is not listed as expected.
fn sign<'t>(file: u32, texts: &'static [&'static str]) -> impl Parser<'t, Tokens<'t>, Spanned<String>, Extra> + Clone {
    token(None, move |token| matches!(token.kind, Kind::Symbol | Kind::Word) && texts.contains(&token.text))
        .map(move |token| super::spanned(file, token))
}

fn cover(first: Span, last: Span) -> Span {
    Span { file: first.file, start: first.start, end: last.end }
}

fn binary<'t>(left: Expr, op: Spanned<String>, right: Expr, _: &mut MapExtra<'t, '_, Tokens<'t>, Extra>) -> Expr {
    let span = cover(left.span, right.span);
    Expr { kind: ExprKind::Binary { op, left: Box::new(left), right: Box::new(right) }, span }
}

fn unary(op: Spanned<String>, expr: Expr) -> Expr {
    let span = cover(op.span, expr.span);
    Expr { kind: ExprKind::Unary { op, expr: Box::new(expr) }, span }
}

/// `-5` is a literal; `-5 ^ 2` and `-(5)` are not.
fn negate(op: Spanned<String>, expr: Expr) -> Expr {
    let span = cover(op.span, expr.span);
    match expr.kind {
        ExprKind::Int { value, text } if !text.starts_with('-') => {
            Expr { kind: ExprKind::Int { value: -value, text: format!("-{text}") }, span }
        }
        ExprKind::Float { value, text } if !text.starts_with('-') => {
            Expr { kind: ExprKind::Float { value: -value, text: format!("-{text}") }, span }
        }
        kind => unary(op, Expr { kind, span: expr.span }),
    }
}

fn chained<'t>(e: &mut MapExtra<'t, '_, Tokens<'t>, Extra>) {
    let span = e.span();
    e.emit(Failure { at: span.start, expected: 0, mistake: Some(Mistake::Chained { end: span.end }) });
}

fn compares(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Binary { op, .. } => COMPARISONS.contains(&op.node.as_str()),
        ExprKind::Is { .. } => true,
        _ => false,
    }
}

fn atom<'t>(file: u32, expr: P<'t, Expr>, ty: P<'t, Type>) -> P<'t, Expr> {
    let literal = custom(|input: &mut chumsky::input::InputRef<'t, '_, Tokens<'t>, Extra>| {
        let kind = input.peek_ref().and_then(|token| match (token.kind, token.text) {
            (Kind::Int, text) => lexer::int(text).map(|value| ExprKind::Int { value, text: text.to_owned() }),
            (Kind::Float, text) => lexer::float(text).map(|value| ExprKind::Float { value, text: text.to_owned() }),
            (Kind::Str, _) => Some(ExprKind::Str(string_value(token))),
            (Kind::Word, "_") => Some(ExprKind::Wildcard),
            (Kind::Word, "true") => Some(ExprKind::Bool(true)),
            (Kind::Word, "false") => Some(ExprKind::Bool(false)),
            (Kind::Bad, _) => Some(ExprKind::Error),
            _ => None,
        });
        match kind {
            Some(kind) => {
                input.skip();
                Ok(kind)
            }
            None => Err(Failure::expected(super::place(input), Expected::Expression.bit())),
        }
    });
    let close = || symbol(")", Expected::CloseParen);
    let section = token(None, |token| token.kind == Kind::Symbol && SECTIONS.contains(&token.text))
        .then_ignore(close())
        .map(|token| ExprKind::Operator(token.text.to_owned()));
    let bracketed = symbol("(", Expected::Expression).ignore_then(choice((
        section,
        stated(expr.clone()).then_ignore(close()).map(|inner| ExprKind::Paren(Box::new(inner))),
    )));
    let eval = word("eval", Expected::Expression)
        .ignore_then(symbol("(", Expected::OpenParen))
        .ignore_then(stated(expr.clone()))
        // As after the last argument of a call, or it would be one of a function `eval`.
        .then_ignore(comma().or_not())
        .then_ignore(close())
        .map(|inner| ExprKind::Eval(Box::new(inner)));
    let targs = ty
        .or(token(Some(Expected::Integer), |token| token.kind == Kind::Int).map_with(move |token: &Token<'_>, e| {
            let value = lexer::int(token.text).and_then(|value| i64::try_from(value).ok());
            Type { kind: TypeKind::Int(fitting(value, e)), span: here(file, e) }
        }))
        .separated_by(comma())
        .at_least(1)
        .collect::<Vec<_>>()
        .delimited_by(symbol("{", Expected::OpenBrace), symbol("}", Expected::CloseBrace));
    let args = arg(file, expr)
        .separated_by(comma())
        .allow_trailing()
        .collect::<Vec<_>>()
        .delimited_by(symbol("(", Expected::OpenParen), close());
    // An assignment on the next line is not the operand that is missing on this one.
    let operand = token(Some(Expected::Expression), |token| {
        !(token.first_on_line && token.starts_statement && !is_keyword(token.text))
    });
    let call =
        operand.rewind().ignore_then(path(file, Expected::Expression)).then(targs.or_not().then(args).or_not()).map(
            |(callee, call)| match call {
                Some((targs, args)) => ExprKind::Call { callee, targs: targs.unwrap_or_default(), args },
                None => ExprKind::Path(callee.node),
            },
        );
    choice((literal, bracketed, eval, call)).map_with(move |kind, e| Expr { kind, span: here(file, e) }).boxed()
}

/// `xs...`, `e for x in xs`, `e`
pub(super) fn arg<'t>(file: u32, expr: P<'t, Expr>) -> P<'t, Arg> {
    let splat = name(file, Expected::Expression).then_ignore(symbol("...", Expected::Dots)).map(Arg::Splat);
    let each = word("for", Expected::For)
        .ignore_then(name(file, Expected::Name))
        .then_ignore(word("in", Expected::In))
        .then(name(file, Expected::Name));
    let plain = stated(expr).then(each.or_not()).map(|(expr, each)| match each {
        Some((var, list)) => Arg::For { expr, var, list },
        None => Arg::Expr(expr),
    });
    splat.or(plain).boxed()
}
