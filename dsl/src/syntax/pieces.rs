//! A text as a row of words, symbols and comments, for code that colours or completes it.

use super::lexer;
use super::token::{ITEM_WORDS, Kind, MODIFIERS, is_keyword};

/// What a piece of a text is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PieceKind {
    /// A word that may be a name only.
    Name,
    /// A word that is a keyword in some places, and may be a name elsewhere.
    Keyword,
    /// A number.
    Number,
    /// A string, with its quotes.
    Text,
    /// Punctuation or an operator.
    Symbol,
    /// A comment, documentation among them.
    Comment,
    /// What belongs to no pack.
    Bad,
}

/// A piece of a text, which covers bytes `start..end`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Piece<'s> {
    /// What it is.
    pub kind: PieceKind,
    /// As written.
    pub text: &'s str,
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
    /// Nothing but white space stands before it on its line.
    pub first_on_line: bool,
}

impl Piece<'_> {
    /// Is it this symbol or word?
    pub fn is(&self, text: &str) -> bool {
        self.text == text && matches!(self.kind, PieceKind::Name | PieceKind::Keyword | PieceKind::Symbol)
    }

    /// Is it a word?
    pub fn is_word(&self) -> bool {
        matches!(self.kind, PieceKind::Name | PieceKind::Keyword)
    }

    /// May an item begin with it?
    pub fn begins_item(&self) -> bool {
        self.first_on_line && (ITEM_WORDS.contains(&self.text) || MODIFIERS.contains(&self.text) || self.text == "@")
    }
}

/// The pieces of a text in order; between them is white space only.
pub fn pieces(text: &str) -> Vec<Piece<'_>> {
    if text.len() > i32::MAX as usize {
        return Vec::new();
    }
    let lexed = lexer::lex(0, text, &mut Vec::new());
    let kind = |kind: Kind, word: &str| match kind {
        Kind::Word if is_keyword(word) => PieceKind::Keyword,
        Kind::Word => PieceKind::Name,
        Kind::Int | Kind::Float => PieceKind::Number,
        Kind::Str => PieceKind::Text,
        Kind::Symbol => PieceKind::Symbol,
        Kind::Doc | Kind::PackDoc => PieceKind::Comment,
        Kind::Bad => PieceKind::Bad,
    };
    let tokens = lexed.tokens.iter().map(|token| Piece {
        kind: kind(token.kind, token.text),
        text: token.text,
        start: token.start,
        end: token.end,
        first_on_line: token.first_on_line,
    });
    let comments = lexed.comments.iter().map(|comment| Piece {
        kind: PieceKind::Comment,
        text: comment.text,
        start: comment.start,
        end: comment.end,
        first_on_line: comment.first_on_line,
    });
    let mut pieces: Vec<Piece<'_>> = tokens.chain(comments).collect();
    pieces.sort_by_key(|piece| piece.start);
    pieces
}
