//! A user's mistake as an owned value, which the terminal, JSON and an editor share.

mod fix;
mod json;
mod render;
#[cfg(test)]
mod tests;

pub use fix::{fixed, safe};
pub use json::{JsonDiagnostic, JsonFix, JsonLabel, SourceLocation, to_json};
pub use render::render;

use crate::syntax::ast::Span;
use serde::{Deserialize, Serialize};

/// How bad it is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// The pack is rejected.
    Error,
    /// A lint.
    Warning,
}

/// A place and what is to be said about it.
#[derive(Clone, PartialEq, Debug)]
pub struct Label {
    /// Where.
    pub span: Span,
    /// What.
    pub text: String,
}

/// One mistake: what, where, why, and what to do.
#[derive(Clone, PartialEq, Debug)]
pub struct Diagnostic {
    /// Stable code, `RW0102`: the first two digits name the stage.
    pub code: &'static str,
    /// How bad.
    pub severity: Severity,
    /// What is wrong, in one line.
    pub message: String,
    /// The cause.
    pub primary: Label,
    /// Declarations and other places that take part.
    pub secondary: Vec<Label>,
    /// A way on.
    pub help: Option<String>,
    /// A change of the text that takes the mistake away.
    pub fix: Option<Fix>,
}

/// A change of the text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fix {
    /// What is replaced.
    pub span: Span,
    /// What takes its place.
    pub replacement: String,
    /// How sure it is.
    pub applicability: Applicability,
}

/// How sure a fix is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Applicability {
    /// There is no other; it may be made unseen.
    Safe,
    /// One of several; the author of the text must choose.
    Maybe,
}

/// The files of one run. A span names one by its index.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Sources {
    /// Name as shown to the user, and text.
    pub files: Vec<(String, String)>,
}

impl Sources {
    /// An item as [`Self::item`] gives it, behind the doc comments and attributes above it.
    pub fn documented_item(&self, span: Span) -> String {
        let Some((_, text)) = self.files.get(span.file as usize) else { return String::new() };
        let start = text.floor_char_boundary(span.start as usize);
        let begin = text[..start].rfind('\n').map_or(0, |at| at + 1);
        let above = text[..begin].lines().rev().map(str::trim);
        let above: Vec<&str> = above.take_while(|line| line.starts_with("///") || line.starts_with('@')).collect();
        above.into_iter().rev().map(|line| format!("{line}\n")).collect::<String>() + &self.item(span)
    }

    /// The item that begins on the line of a span, as it is written: that line and the ones below it that are
    /// indented deeper, and a brace that closes them, without their common indentation.
    pub fn item(&self, span: Span) -> String {
        let Some((_, text)) = self.files.get(span.file as usize) else { return String::new() };
        let start = text.floor_char_boundary(span.start as usize);
        let begin = text[..start].rfind('\n').map_or(0, |at| at + 1);
        let depth = |line: &str| line.len() - line.trim_start().len();
        let mut lines = text[begin..].lines();
        let Some(first) = lines.next() else { return String::new() };
        let own = depth(first);
        let rest: Vec<&str> = lines.collect();
        let deeper = rest.iter().take_while(|line| !line.trim().is_empty() && depth(line) > own).count();
        let closed = rest.get(deeper).is_some_and(|line| depth(line) == own && line.trim() == "}");
        let rest = &rest[..deeper + usize::from(closed && deeper > 0)];
        let item: Vec<&str> = std::iter::once(&first).chain(rest).map(|line| &line[own..]).collect();
        item.join("\n")
    }
}

/// `1 argument`, `2 arguments`.
pub fn count(n: usize, noun: &str) -> String {
    if n == 1 { format!("1 {noun}") } else { format!("{n} {noun}s") }
}
