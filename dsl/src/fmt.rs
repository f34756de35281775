//! The formatter: one way to write a pack. Two columns per level, lines of at most 120 columns, comments where they
//! were, at most one empty line in a row.
//!
//! **Invariants**: formatting keeps the tree (spans aside) and every comment; formatting twice is formatting once.

mod expr;
mod item;
mod layout;
mod source;

use crate::diagnostic::{Diagnostic, Severity};
use crate::syntax;
use crate::syntax::ast::{File, Name, Span, Spanned};
use crate::syntax::token::Kind;
use layout::Op;
use source::Source;

/// A pack's text in the one way to write it, or its syntax errors. Warnings do not keep it from being formatted.
pub fn format(text: &str) -> Result<String, Vec<Diagnostic>> {
    let parsed = syntax::parse_lossless(0, text);
    if parsed.diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error) {
        return Err(parsed.diagnostics);
    }
    let source = Source::new(text, &parsed.lexed.tokens, &parsed.lexed.comments);
    let mut printer = Printer { ops: Vec::new(), source: Some(source) };
    printer.file(&parsed.file);
    Ok(layout::render(&printer.ops))
}

/// A tree as text, formatted. The tree is printed as it is: it has its own brackets where precedence needs them.
pub fn print(file: &File) -> String {
    let mut printer = Printer { ops: Vec::new(), source: None };
    printer.file(file);
    layout::render(&printer.ops)
}

/// Makes a layout of a tree.
struct Printer<'s> {
    ops: Vec<Op>,
    source: Option<Source<'s>>,
}

impl Printer<'_> {
    /// One token of the source.
    fn token(&mut self, text: &str) {
        if let Some(source) = &mut self.source {
            source.before(text, &mut self.ops);
        }
        self.ops.push(Op::Text(text.to_owned()));
        if let Some(source) = &mut self.source {
            source.after(text, &mut self.ops);
        }
    }

    /// A token that is a word, and a space.
    fn word(&mut self, text: &str) {
        self.token(text);
        self.space();
    }

    /// A literal, as it is written in the source if there is one.
    fn literal(&mut self, kind: Kind, text: String) {
        let written = self.source.as_ref().and_then(|source| source.literal(kind)).map(str::to_owned);
        self.token(&written.unwrap_or(text));
    }

    /// The source's token for what is printed next.
    fn seek(&mut self, span: Span) {
        if let Some(source) = &mut self.source {
            source.seek(span.start);
        }
    }

    fn name(&mut self, name: &Name) {
        self.seek(name.span);
        self.token(&name.node);
    }

    /// `a.b.c`
    fn path(&mut self, path: &Spanned<String>) {
        self.seek(path.span);
        self.segments(&path.node);
    }

    fn segments(&mut self, path: &str) {
        for (i, segment) in path.split('.').enumerate() {
            if i > 0 {
                self.token(".");
            }
            self.token(segment);
        }
    }

    fn space(&mut self) {
        self.ops.push(Op::Space(1));
    }

    fn group(&mut self, inside: impl FnOnce(&mut Self)) {
        self.ops.push(Op::Open);
        inside(self);
        self.ops.push(Op::Close);
    }

    fn indented(&mut self, inside: impl FnOnce(&mut Self)) {
        self.ops.push(Op::Indent);
        inside(self);
        self.ops.push(Op::Dedent);
    }

    /// A new line; an empty one before it if the source has one. Comments that stand before what follows are printed
    /// here, outside of the groups that it may begin with.
    fn new_line(&mut self) {
        let Some(source) = &mut self.source else { return self.ops.push(Op::HardLine) };
        source.keep_blank(&mut self.ops);
        self.ops.push(Op::HardLine);
        source.before("", &mut self.ops);
    }

    /// Brackets around a list; broken, each entry has its own line.
    fn list<T>(
        &mut self,
        brackets: (&str, &str),
        trailing_comma: bool,
        entries: &[T],
        mut each: impl FnMut(&mut Self, &T),
    ) {
        self.group(|p| {
            p.token(brackets.0);
            p.indented(|p| {
                p.ops.push(Op::Line(0));
                for (i, entry) in entries.iter().enumerate() {
                    if i > 0 {
                        p.token(",");
                        p.ops.push(Op::Line(1));
                    }
                    each(p, entry);
                }
                p.before_close();
                if trailing_comma && !entries.is_empty() {
                    p.ops.push(Op::IfBroken(","));
                }
            });
            p.ops.push(Op::Line(0));
            p.token(brackets.1);
        });
    }

    /// A list without brackets; broken, its further entries are indented.
    fn commas<T>(&mut self, entries: &[T], mut each: impl FnMut(&mut Self, &T)) {
        let [first, rest @ ..] = entries else { return };
        self.group(|p| {
            each(p, first);
            p.indented(|p| {
                for entry in rest {
                    p.token(",");
                    p.ops.push(Op::Line(1));
                    each(p, entry);
                }
            });
        });
    }

    /// The comments before a closing bracket belong to the inside.
    fn before_close(&mut self) {
        if let Some(source) = &mut self.source {
            source.before_close(&mut self.ops);
        }
    }
}

#[cfg(test)]
mod generate;
#[cfg(test)]
mod tests;
