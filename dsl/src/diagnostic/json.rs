//! Diagnostics as data for programs: one stable shape, with names of files, lines and columns resolved.

use super::{Applicability, Diagnostic, Label, Severity, Sources};
use crate::syntax::ast::Span;
use serde::Serialize;

/// A place, resolved.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct SourceLocation {
    /// Name of the file as the user knows it; empty if the span names none.
    pub file: String,
    /// Line of the first byte, from 1.
    pub line: usize,
    /// Column of the first byte in characters, from 1.
    pub column: usize,
    /// Line of the byte after the last.
    pub end_line: usize,
    /// Column of the byte after the last.
    pub end_column: usize,
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

/// A label, resolved.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct JsonLabel {
    /// Where.
    #[serde(flatten)]
    pub place: SourceLocation,
    /// What.
    pub text: String,
}

/// A diagnostic, resolved: what `--format json` prints.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct JsonDiagnostic {
    /// Stable code.
    pub code: &'static str,
    /// `error` or `warning`.
    pub severity: Severity,
    /// One line.
    pub message: String,
    /// The cause.
    pub primary: JsonLabel,
    /// Other places.
    pub secondary: Vec<JsonLabel>,
    /// A way on.
    pub help: Option<String>,
    /// A change of the text that takes the mistake away.
    pub fix: Option<JsonFix>,
}

/// A fix, resolved.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct JsonFix {
    /// What is replaced.
    #[serde(flatten)]
    pub place: SourceLocation,
    /// What takes its place.
    pub replacement: String,
    /// `safe` or `maybe`.
    pub applicability: Applicability,
}

impl Sources {
    /// A span's file, lines and columns. Spans outside of the text are moved into it.
    pub fn place(&self, span: Span) -> SourceLocation {
        let (name, text) = self.files.get(span.file as usize).map_or(("", ""), |(name, text)| (name, text));
        let position = |offset: u32| {
            let before = &text[..text.floor_char_boundary(offset as usize)];
            let begin = before.rfind('\n').map_or(0, |at| at + 1);
            (before.bytes().filter(|&byte| byte == b'\n').count() + 1, before[begin..].chars().count() + 1)
        };
        let ((line, column), (end_line, end_column)) = (position(span.start), position(span.end.max(span.start)));
        SourceLocation { file: name.to_owned(), line, column, end_line, end_column, start: span.start, end: span.end }
    }
}

/// Diagnostics in the shape that is serialized.
pub fn to_json(diagnostics: &[Diagnostic], sources: &Sources) -> Vec<JsonDiagnostic> {
    let label = |label: &Label| JsonLabel { place: sources.place(label.span), text: label.text.clone() };
    diagnostics
        .iter()
        .map(|diagnostic| JsonDiagnostic {
            code: diagnostic.code,
            severity: diagnostic.severity,
            message: diagnostic.message.clone(),
            primary: label(&diagnostic.primary),
            secondary: diagnostic.secondary.iter().map(label).collect(),
            help: diagnostic.help.clone(),
            fix: diagnostic.fix.as_ref().map(|fix| JsonFix {
                place: sources.place(fix.span),
                replacement: fix.replacement.clone(),
                applicability: fix.applicability,
            }),
        })
        .collect()
}
