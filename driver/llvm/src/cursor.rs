//! A place among tokens.

use super::error::NotUnderstood;
use super::lex::{Kind, Token};

/// Reads tokens in order. At the end, the current token is empty and has no kind.
#[derive(Clone)]
pub struct Cursor<'a> {
    text: &'a str,
    tokens: &'a [Token],
    at: usize,
}

impl<'a> Cursor<'a> {
    /// At the first of `tokens`, whose places are in `text`.
    pub fn new(text: &'a str, tokens: &'a [Token]) -> Self {
        Cursor { text, tokens, at: 0 }
    }

    /// The index of the current token.
    pub fn at(&self) -> usize {
        self.at
    }

    /// No token is left.
    pub fn is_done(&self) -> bool {
        self.at >= self.tokens.len()
    }

    /// What the current token is.
    pub fn kind(&self) -> Option<Kind> {
        self.tokens.get(self.at).map(|t| t.kind)
    }

    /// The current token.
    pub fn text(&self) -> &'a str {
        self.tokens.get(self.at).map_or("", |t| &self.text[t.start..t.end])
    }

    /// The token after the current one.
    pub fn next_text(&self) -> &'a str {
        self.tokens.get(self.at + 1).map_or("", |t| &self.text[t.start..t.end])
    }

    /// The text from token `from` up to the current one, without it.
    pub fn since(&self, from: usize) -> &'a str {
        match (self.tokens.get(from), self.at.checked_sub(1).and_then(|last| self.tokens.get(last))) {
            (Some(first), Some(last)) if first.start <= last.end => &self.text[first.start..last.end],
            _ => "",
        }
    }

    /// Goes on by one token.
    pub fn skip(&mut self) {
        self.at += 1;
    }

    /// Goes on by one token if it is `text`.
    pub fn eat(&mut self, text: &str) -> bool {
        let found = self.text() == text;
        if found {
            self.skip();
        }
        found
    }

    /// Goes on by one token, which must be `text`.
    pub fn expect(&mut self, text: &str) -> Result<(), NotUnderstood> {
        if self.eat(text) { Ok(()) } else { Err(format!("expected `{text}`, found `{}`", self.text()).into()) }
    }

    /// At an opening bracket: goes on beyond the one that closes it.
    pub fn skip_group(&mut self) {
        let mut depth = 0;
        while !self.is_done() {
            match self.text() {
                "(" | "[" | "{" | "<" => depth += 1,
                ")" | "]" | "}" | ">" => depth -= 1,
                _ => {}
            }
            self.skip();
            if depth <= 0 {
                return;
            }
        }
    }
}
