//! Text to syntax tree. Never fails: what cannot be parsed becomes an `Error` item and a diagnostic.
//!
//! Three steps: the lexer makes tokens and comments; `structure` marks where items begin, decides which words are
//! keywords, and bounds the depth; the grammar (chumsky) makes the tree. Mistakes of all three become diagnostics with
//! codes `RW01xx`, in the order of the text.
//!
//! **Invariants**: [`parse`] returns on every input, in time linear in its length, without deep recursion; the depth
//! of the tree is bounded, so later stages may recurse over it; diagnostics are at most [`MAX_DIAGNOSTICS`].

#[allow(missing_docs, reason = "the line over a variant shows its fields as they are written")]
#[allow(clippy::large_enum_variant, reason = "a pack has hundreds of items, not millions")]
pub mod ast;
mod failure;
mod grammar;
pub(crate) mod lexer;
mod message;
mod pieces;
mod renamed;
mod structure;
pub(crate) mod token;

pub use pieces::{Piece, PieceKind, pieces};

use crate::diagnostic::{Diagnostic, Label, Severity};
use ast::{File, Span};

/// Diagnostics per file, at most. A text with more of them is not a pack.
pub const MAX_DIAGNOSTICS: usize = 200;

/// The tree of a pack and everything that is wrong with its syntax. `file` is the file's index in
/// [`crate::diagnostic::Sources`] and goes into every span.
pub fn parse(file: u32, text: &str) -> (File, Vec<Diagnostic>) {
    let parsed = parse_lossless(file, text);
    (parsed.file, parsed.diagnostics)
}

/// How tightly an infix operator binds (`and`, or what functions are declared as); the larger, the tighter.
pub fn precedence(symbol: &str) -> Option<u16> {
    grammar::precedence(symbol)
}

/// A tree with what it was made of, for the formatter.
pub(crate) struct Parsed<'s> {
    /// The tree.
    pub(crate) file: File,
    /// In the order of the text.
    pub(crate) diagnostics: Vec<Diagnostic>,
    /// Tokens and comments.
    pub(crate) lexed: lexer::Lexed<'s>,
}

/// As [`parse`], and nothing of the text is lost.
pub(crate) fn parse_lossless(file: u32, text: &str) -> Parsed<'_> {
    let mut diagnostics = Vec::new();
    if text.len() > i32::MAX as usize {
        let message = "the file is too large: offsets are 32-bit integers".to_owned();
        let span = Span { file, start: 0, end: 0 };
        diagnostics.push(too_much(message, span, "begins here", "split the pack"));
        return Parsed { file: File::default(), diagnostics, lexed: lexer::Lexed::default() };
    }
    let mut lexed = lexer::lex(file, text, &mut diagnostics);
    structure::prepare(file, &mut lexed, &mut diagnostics);
    let (tree, failures) = grammar::parse(file, &lexed.tokens);
    let mut last = None;
    for failure in &failures {
        if diagnostics.len() > MAX_DIAGNOSTICS {
            break;
        }
        if last != Some((failure.at, failure.mistake)) {
            diagnostics.extend(message::diagnose(file, &lexed.tokens, failure));
        }
        last = Some((failure.at, failure.mistake));
    }
    diagnostics.sort_by_key(|diagnostic| diagnostic.primary.span.start);
    if diagnostics.len() > MAX_DIAGNOSTICS {
        diagnostics.truncate(MAX_DIAGNOSTICS);
        let message = format!("more than {MAX_DIAGNOSTICS} mistakes; the rest is not shown");
        let span = diagnostics[MAX_DIAGNOSTICS - 1].primary.span;
        diagnostics.push(too_much(message, span, "the last one shown", "is this a rule pack?"));
    }
    Parsed { file: tree, diagnostics, lexed }
}

fn too_much(message: String, span: Span, label: &str, help: &str) -> Diagnostic {
    Diagnostic {
        code: "RW0100",
        severity: Severity::Error,
        message,
        primary: Label { span, text: label.to_owned() },
        secondary: Vec::new(),
        help: Some(help.to_owned()),
        fix: None,
    }
}

#[cfg(test)]
mod tests;
