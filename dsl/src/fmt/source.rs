//! What the formatter keeps of the text besides its tree: comments, empty lines, how literals are written.
//!
//! The printer tells every token it prints. The cursor here follows in the source's tokens, and gives the comments
//! that stand before and after each. Comments are handed out in order, each exactly once, even if the cursor is lost.

use super::layout::Op;
use crate::syntax::token::{Comment, Kind, Token};

/// A cursor into the source.
pub(super) struct Source<'s> {
    text: &'s str,
    tokens: &'s [Token<'s>],
    comments: &'s [Comment<'s>],
    /// The token to be printed next.
    token: usize,
    /// The comment to be printed next.
    comment: usize,
    /// End of what was printed last.
    end: u32,
    /// A bracket was printed last: nothing is kept apart from it.
    after_open: bool,
    /// A comment ends the line of the token printed last; commas move before it.
    trailing: bool,
}

impl<'s> Source<'s> {
    pub(super) fn new(text: &'s str, tokens: &'s [Token<'s>], comments: &'s [Comment<'s>]) -> Self {
        Self { text, tokens, comments, token: 0, comment: 0, end: 0, after_open: true, trailing: false }
    }

    /// The next token printed is the one that begins at a byte.
    pub(super) fn seek(&mut self, start: u32) {
        let at = self.tokens.partition_point(|token| token.start < start);
        if self.tokens.get(at).is_some_and(|token| token.start == start) {
            self.token = at;
        }
    }

    /// The token at the cursor as written, if it is of a kind.
    pub(super) fn literal(&self, kind: Kind) -> Option<&'s str> {
        self.tokens.get(self.token).filter(|token| token.kind == kind).map(|token| token.text)
    }

    /// What stands before a token that is to be printed.
    pub(super) fn before(&mut self, text: &str, ops: &mut Vec<Op>) {
        if text != "," {
            self.skip_comma();
        }
        // Brackets around nothing are not always printed.
        if let Some(skipped) =
            self.tokens[self.token.min(self.tokens.len())..].iter().take(4).position(|t| t.text == text)
        {
            self.token += skipped;
        }
        let Some(start) = self.tokens.get(self.token).map(|token| token.start) else { return };
        let printed = self.comment;
        self.comments_before(start, ops);
        if self.comment > printed && !matches!(text, ")" | "}" | ",") {
            self.gap(start, ops);
        }
    }

    /// What stands after a token that was printed, on its line.
    pub(super) fn after(&mut self, text: &str, ops: &mut Vec<Op>) {
        let Some(token) = self.tokens.get(self.token) else { return };
        self.after_open = matches!(text, "(" | "{");
        self.trailing &= text == ",";
        self.end = self.end.max(token.end);
        self.token += 1;
        let next = self.tokens.get(self.token).map_or(u32::MAX, |token| token.start);
        while let Some(comment) = self.comments.get(self.comment) {
            if comment.start >= next || comment.first_on_line || self.trailing {
                break;
            }
            self.give(ops);
        }
    }

    /// The comments before the closing bracket that is to be printed next.
    pub(super) fn before_close(&mut self, ops: &mut Vec<Op>) {
        self.skip_comma();
        if let Some(start) = self.tokens.get(self.token).map(|token| token.start) {
            self.comments_before(start, ops);
        }
    }

    /// Passes over tokens that are not printed, if they come next. Comments among them are printed here.
    pub(super) fn skip(&mut self, texts: &[&str], ops: &mut Vec<Op>) {
        let next = &self.tokens[self.token.min(self.tokens.len())..];
        let Some(skipped) = next.get(..texts.len()) else { return };
        if let Some(last) =
            skipped.last().filter(|_| skipped.iter().zip(texts).all(|(token, text)| token.text == *text))
        {
            self.token += texts.len();
            self.comments_before(last.start, ops);
            self.end = self.end.max(last.end);
        }
    }

    /// All comments that are left.
    pub(super) fn rest(&mut self, ops: &mut Vec<Op>) {
        self.comments_before(u32::MAX, ops);
    }

    /// Keeps an empty line before what is printed next on a new line.
    pub(super) fn keep_blank(&mut self, ops: &mut Vec<Op>) {
        let token = self.tokens.get(self.token).map_or(u32::MAX, |token| token.start);
        let comment = self.comments.get(self.comment).map_or(u32::MAX, |comment| comment.start);
        self.gap(token.min(comment), ops);
    }

    /// A trailing comma is the printer's business.
    fn skip_comma(&mut self) {
        if self.tokens.get(self.token).is_some_and(|token| token.is_symbol(",")) {
            self.token += 1;
        }
    }

    fn comments_before(&mut self, start: u32, ops: &mut Vec<Op>) {
        while self.comments.get(self.comment).is_some_and(|comment| comment.start < start) {
            self.give(ops);
        }
    }

    fn give(&mut self, ops: &mut Vec<Op>) {
        let comment = &self.comments[self.comment];
        self.comment += 1;
        if comment.first_on_line || self.trailing {
            self.gap(comment.start, ops);
            ops.push(Op::OwnLine(comment.text.to_owned()));
        } else {
            ops.push(Op::Trailing(comment.text.to_owned()));
            self.trailing = true;
        }
        self.end = self.end.max(comment.end);
        self.after_open = false;
    }

    fn gap(&mut self, start: u32, ops: &mut Vec<Op>) {
        let between = self.text.get(self.end as usize..start as usize).unwrap_or_default();
        if !self.after_open && between.bytes().filter(|&byte| byte == b'\n').count() > 1 {
            ops.push(Op::Blank);
        }
    }
}
