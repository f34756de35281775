//! The grammar: tokens to tree, with chumsky. Each piece is a function that returns a boxed parser, which keeps both
//! the compiler's types and the error messages small.
//!
//! ```text
//! file      = { PACK_DOC } [ "pack" path ] { item }
//! item      = { DOC } { "@" ID [ "(" [ expr { "," expr } ] ")" ] } kind
//! kind      = import | type | effect | fact | fn | override | rule | infer | ruleset | schedule | example
//! type      = "type" ID ( "=" ty { "|" ty } | [ tparams ] [ "<:" ty ] [ "model" ID ] )
//! fn        = [ "host" ] "fn" ID [ tparams ] params "->" ( ty | "(" [ ty { "," ty } ] ")" ) { clause }
//! override  = "override" path "cost" expr
//! rule      = [ "unsafe" ] [ "dynamic" ] "rule" ID [ tparams ] params ( ":" rw { when | removes | because } | block )
//! rw        = side ( "=>" | "<=>" ) side        side = expr { "after" expr }
//! example   = [ "todo" ] "example" STR [ params ] { "fires" path { "," path } | "using" path }
//!             ( ":" side ( ( "becomes" | "equals" | "differs" ) side | "stays" ) | "{" "before" stmts "after" stmts "}" )
//! expr      = loosest first: or; and; not; == != <= >= < > is; |; &; << >>; + - .+ .-; * / .* ./; prefix -;
//!             ^ (right); postfix '
//! atom      = path [ [ "{" ty { "," ty } "}" ] "(" args ")" ] | NUMBER | STR | "_" | "true" | "false"
//!           | "(" OPERATOR ")" | "(" side ")" | "eval" "(" expr ")"
//! arg       = side [ "for" ID "in" ID ] | ID "..."
//! ```
//! A minus sign before a bare number is part of the literal. Lists in round brackets may end in a comma. Words are
//! keywords by their place, see `structure`; only `or and not is for in after` are never names.
//!
//! Recovery: a broken item becomes [`ItemKind::Error`] and costs itself only; a broken statement of a block costs its
//! item, but the statements after it are still read, so that their mistakes are reported, too.
//!
//! [`ItemKind::Error`]: super::ast::ItemKind::Error

mod example;
mod expr;
mod item;
mod rule;

pub(super) use expr::precedence;

use super::ast::{File, Name, Path, Span, Spanned};
use super::failure::{Expected, Failure, Tokens};
use super::token::{Kind, Token};
use chumsky::input::{InputRef, MapExtra};
use chumsky::prelude::*;

type Extra = extra::Err<Failure>;
type P<'t, O> = Boxed<'t, 't, Tokens<'t>, O, Extra>;

/// The tree of a file's tokens, and where the grammar did not fit.
pub(crate) fn parse(file: u32, tokens: &[Token<'_>]) -> (File, Vec<Failure>) {
    let (tree, failures) = item::file(file).parse(tokens).into_output_errors();
    (tree.unwrap_or_default(), failures)
}

/// Place of some neighbouring tokens.
fn span_of(file: u32, tokens: &[Token<'_>]) -> Span {
    match tokens {
        [first, .., last] => Span { file, start: first.start, end: last.end },
        [only] => Span { file, start: only.start, end: only.end },
        [] => Span { file, start: 0, end: 0 },
    }
}

fn here<'t>(file: u32, extra: &mut MapExtra<'t, '_, Tokens<'t>, Extra>) -> Span {
    span_of(file, extra.slice())
}

/// One token for which `test` holds.
fn token<'t>(
    expected: Option<Expected>,
    test: impl Fn(&Token<'t>) -> bool + Clone + 't,
) -> impl Parser<'t, Tokens<'t>, &'t Token<'t>, Extra> + Clone {
    let bits = expected.map_or(0, Expected::bit);
    custom(move |input: &mut InputRef<'t, '_, Tokens<'t>, Extra>| match input.peek_ref() {
        Some(token) if test(token) => {
            input.skip();
            Ok(token)
        }
        _ => Err(Failure::expected(place(input), bits)),
    })
}

/// Index of the next token.
fn place<'t>(input: &mut InputRef<'t, '_, Tokens<'t>, Extra>) -> usize {
    let cursor = input.cursor();
    input.span_since(&cursor).start
}

fn symbol<'t>(text: &'static str, expected: Expected) -> impl Parser<'t, Tokens<'t>, &'t Token<'t>, Extra> + Clone {
    token(Some(expected), move |token| token.is_symbol(text))
}

fn word<'t>(text: &'static str, expected: Expected) -> impl Parser<'t, Tokens<'t>, &'t Token<'t>, Extra> + Clone {
    token(Some(expected), move |token| token.is_word(text))
}

fn comma<'t>() -> impl Parser<'t, Tokens<'t>, &'t Token<'t>, Extra> + Clone {
    symbol(",", Expected::Comma)
}

/// A name, or bad text in its place.
fn name<'t>(file: u32, expected: Expected) -> impl Parser<'t, Tokens<'t>, Name, Extra> + Clone {
    token(Some(expected), |token| token.kind == Kind::Word && !token.reserved || token.kind == Kind::Bad)
        .map(move |token| spanned(file, token))
}

fn spanned(file: u32, token: &Token<'_>) -> Name {
    Spanned { node: token.text.to_owned(), span: Span { file, start: token.start, end: token.end } }
}

/// `a.b.c`
fn path<'t>(file: u32, expected: Expected) -> impl Parser<'t, Tokens<'t>, Path, Extra> + Clone {
    let segment =
        token(Some(Expected::Name), |token| token.kind == Kind::Word && !(token.reserved && token.first_on_line));
    name(file, expected).then(symbol(".", Expected::Dot).ignore_then(segment).repeated().collect::<Vec<_>>()).map_with(
        move |(first, rest), e| {
            let mut node = first.node;
            for segment in rest {
                node.push('.');
                node.push_str(segment.text);
            }
            Spanned { node, span: here(file, e) }
        },
    )
}

/// Reports that a closing bracket is missing at the end of the file, instead of failing there.
fn close_brace<'t>() -> impl Parser<'t, Tokens<'t>, (), Extra> + Clone {
    symbol("}", Expected::CloseBrace).ignored().recover_with(via_parser(end()))
}

/// Skips a broken piece: at least one token, then up to a place where the next piece may begin, or to the end of the
/// block that it stands in. Does not skip anything at the end of that block, so that repetition ends there.
fn skip_broken<'t>(
    in_block: bool,
    stop: impl Fn(&Token<'t>) -> bool + Clone + 't,
) -> impl Parser<'t, Tokens<'t>, Span, Extra> + Clone {
    custom(move |input: &mut InputRef<'t, '_, Tokens<'t>, Extra>| {
        let start = input.cursor();
        let mut open = 0usize;
        let mut first = true;
        while let Some(token) = input.peek_ref() {
            if in_block && open == 0 && token.is_symbol("}")
                || !first && stop(token) && (open == 0 || token.starts_item)
            {
                break;
            }
            if token.is_symbol("{") {
                open += 1;
            } else if token.is_symbol("}") {
                open = open.saturating_sub(1);
            }
            first = false;
            input.skip();
        }
        if first { Err(Failure::expected(place(input), 0)) } else { Ok(span_of(0, input.slice_since(&start..))) }
    })
}
