//! Diagnostics as text for people, through ariadne.
//!
//! Ariadne prints whole lines; where a line is too long for that (generated text), a short form without the source is
//! printed instead.

use super::{Applicability, Diagnostic, Label, Severity, Sources};
use ariadne::{Color, Config, IndexType, Report, ReportKind, Source};
use std::ops::Range;

/// Longest line, in bytes, that is printed around a label.
const MAX_LINE: usize = 400;

/// The files, as ariadne wants them, each read when it is needed. Files are told apart by index, not by name.
struct Files<'s> {
    sources: &'s Sources,
    read: Vec<Option<Source<&'s str>>>,
}

impl<'s> ariadne::Cache<u32> for Files<'s> {
    type Storage = &'s str;

    fn fetch(&mut self, id: &u32) -> Result<&Source<&'s str>, impl std::fmt::Debug> {
        let at = *id as usize;
        match (self.read.get_mut(at), self.sources.files.get(at)) {
            (Some(read), Some((_, text))) => Ok(&*read.get_or_insert_with(|| Source::from(text.as_str()))),
            _ => Err("unknown file"),
        }
    }

    fn display<'a>(&self, id: &'a u32) -> Option<impl std::fmt::Display + 'a> {
        self.sources.files.get(*id as usize).map(|(name, _)| name.clone())
    }
}

/// All diagnostics in order, each followed by an empty line. Ends of lines carry no white space.
pub fn render(diagnostics: &[Diagnostic], sources: &Sources, color: bool) -> String {
    let mut cache = Files { sources, read: sources.files.iter().map(|_| None).collect() };
    let mut out = String::new();
    for diagnostic in diagnostics {
        let text = if shows_well(diagnostic, sources) {
            with_source(diagnostic, sources, color, &mut cache)
        } else {
            without_source(diagnostic, sources)
        };
        for line in text.lines() {
            out.push_str(line.trim_end());
            out.push('\n');
        }
        out.push('\n');
    }
    out
}

fn labels(diagnostic: &Diagnostic) -> impl Iterator<Item = &Label> {
    std::iter::once(&diagnostic.primary).chain(&diagnostic.secondary)
}

/// Are all labels in known files, on lines short enough to print?
fn shows_well(diagnostic: &Diagnostic, sources: &Sources) -> bool {
    labels(diagnostic).all(|label| {
        let Some((_, text)) = sources.files.get(label.span.file as usize) else { return false };
        let range = range(label, text);
        let begin = text[..range.start].rfind('\n').map_or(0, |at| at + 1);
        let end = text[range.end..].find('\n').map_or(text.len(), |at| range.end + at);
        text[begin..end].split('\n').all(|line| line.len() <= MAX_LINE)
    })
}

/// A label's bytes, moved into the text and to character boundaries whatever the span says.
fn range(label: &Label, text: &str) -> Range<usize> {
    let at = |offset: u32| text.floor_char_boundary(offset as usize);
    let start = at(label.span.start);
    // Ariadne cannot draw labels that end in white space at the end of a line.
    start..start + text[start..at(label.span.end).max(start)].trim_end().len()
}

fn with_source(diagnostic: &Diagnostic, sources: &Sources, color: bool, cache: &mut Files<'_>) -> String {
    let place = |label: &Label| {
        let text = &sources.files[label.span.file as usize].1;
        (label.span.file, range(label, text))
    };
    let (kind, paint) = match diagnostic.severity {
        Severity::Error => (ReportKind::Error, Color::Red),
        Severity::Warning => (ReportKind::Warning, Color::Yellow),
    };
    let mut report = Report::build(kind, place(&diagnostic.primary))
        .with_config(Config::default().with_index_type(IndexType::Byte).with_color(color))
        .with_code(diagnostic.code)
        .with_message(&diagnostic.message);
    // Ariadne begins a new excerpt at each label that stands before the last one; the primary's file comes first.
    let mut labels: Vec<_> = labels(diagnostic).collect();
    labels.sort_by_key(|label| (label.span.file != diagnostic.primary.span.file, label.span));
    for label in labels {
        let color = if std::ptr::eq(label, &diagnostic.primary) { paint } else { Color::Blue };
        report = report.with_label(ariadne::Label::new(place(label)).with_message(&label.text).with_color(color));
    }
    if let Some(help) = &diagnostic.help {
        report = report.with_help(help);
    }
    if diagnostic.fix.as_ref().is_some_and(|fix| fix.applicability == Applicability::Safe) {
        report = report.with_note("`rewright check --fix` does that");
    }
    let mut bytes = Vec::new();
    match report.finish().write(cache, &mut bytes) {
        Ok(()) => String::from_utf8_lossy(&bytes).into_owned(),
        Err(_) => without_source(diagnostic, sources),
    }
}

fn without_source(diagnostic: &Diagnostic, sources: &Sources) -> String {
    let severity = match diagnostic.severity {
        Severity::Error => "Error",
        Severity::Warning => "Warning",
    };
    let mut text = format!("[{}] {severity}: {}\n", diagnostic.code, diagnostic.message);
    for label in labels(diagnostic) {
        let place = sources.place(label.span);
        text.push_str(&format!("  at {}:{}:{}: {}\n", place.file, place.line, place.column, label.text));
    }
    if let Some(help) = &diagnostic.help {
        text.push_str(&format!("  help: {help}\n"));
    }
    text
}
