//! Diagnostics as the protocol has them, and the changes that they offer.

use crate::snapshot::Snapshot;
use lsp_types::{
    CodeAction, CodeActionKind, Diagnostic, DiagnosticRelatedInformation, DiagnosticSeverity, Location, NumberOrString,
    TextEdit, Url, WorkspaceEdit,
};
use rewright_dsl::diagnostic::{self, Applicability, Severity};
use std::collections::HashMap;

/// The source that diagnostics name.
pub const SOURCE: &str = "rewright";

/// A diagnostic with its places as the protocol has them. `url` gives the documents of files by their names.
pub fn diagnostic(
    snapshot: &Snapshot,
    found: &diagnostic::Diagnostic,
    url: &dyn Fn(&str) -> Option<Url>,
) -> Diagnostic {
    let related = found.secondary.iter().filter_map(|label| {
        let uri = url(snapshot.name(label.span.file))?;
        let location = Location { uri, range: snapshot.range(label.span) };
        Some(DiagnosticRelatedInformation { location, message: label.text.clone() })
    });
    let related: Vec<_> = related.collect();
    Diagnostic {
        range: snapshot.range(found.primary.span),
        severity: Some(severity(found.severity)),
        code: Some(NumberOrString::String(found.code.into())),
        source: Some(SOURCE.into()),
        message: message(&found.message, &found.primary.text, found.help.as_deref()),
        related_information: (!related.is_empty()).then_some(related),
        ..Diagnostic::default()
    }
}

/// How bad it is.
pub fn severity(severity: Severity) -> DiagnosticSeverity {
    match severity {
        Severity::Error => DiagnosticSeverity::ERROR,
        Severity::Warning => DiagnosticSeverity::WARNING,
    }
}

/// What is wrong, why, and what to do: a line each.
pub fn message(message: &str, cause: &str, help: Option<&str>) -> String {
    let cause = (!cause.is_empty()).then_some(cause);
    let help = help.map(|help| format!("help: {help}"));
    [Some(message), cause, help.as_deref()].into_iter().flatten().collect::<Vec<_>>().join("\n")
}

/// The changes that diagnostics in a part of a file offer.
pub fn actions(snapshot: &Snapshot, file: u32, part: (u32, u32), url: &dyn Fn(&str) -> Option<Url>) -> Vec<CodeAction> {
    let here = snapshot.packs().diagnostics.iter().filter(|found| {
        let span = found.primary.span;
        span.file == file && span.start <= part.1 && part.0 <= span.end
    });
    here.filter_map(|found| {
        let fix = found.fix.as_ref()?;
        let uri = url(snapshot.name(fix.span.file))?;
        let edit = TextEdit { range: snapshot.range(fix.span), new_text: fix.replacement.clone() };
        let title = match (snapshot.written(fix.span).trim(), fix.replacement.trim()) {
            ("", added) => format!("Add `{added}`"),
            (gone, "") => format!("Remove `{}`", shortened(gone)),
            (old, new) => format!("Replace `{}` with `{}`", shortened(old), shortened(new)),
        };
        Some(CodeAction {
            title,
            kind: Some(CodeActionKind::QUICKFIX),
            diagnostics: Some(vec![diagnostic(snapshot, found, url)]),
            edit: Some(WorkspaceEdit { changes: Some(HashMap::from([(uri, vec![edit])])), ..Default::default() }),
            is_preferred: Some(fix.applicability == Applicability::Safe),
            ..CodeAction::default()
        })
    })
    .collect()
}

/// All changes of one file that may be made unseen, as one.
pub fn fix_all(snapshot: &Snapshot, file: u32, uri: Url) -> Option<CodeAction> {
    let own = diagnostic::safe(&snapshot.packs().diagnostics).filter(|fix| fix.span.file == file);
    let (_, fixed, count) = diagnostic::fixed(own, &snapshot.packs().sources)
        .into_iter()
        .find(|(changed, ..)| *changed == file as usize)?;
    let edits = crate::format::edits(snapshot.text(file), &fixed, &snapshot.lines(file));
    Some(CodeAction {
        title: format!("Make all fixes that are safe ({count})"),
        kind: Some(CodeActionKind::SOURCE_FIX_ALL),
        edit: Some(WorkspaceEdit { changes: Some(HashMap::from([(uri, edits)])), ..Default::default() }),
        ..CodeAction::default()
    })
}

fn shortened(text: &str) -> String {
    const LONGEST: usize = 40;
    let line = text.lines().next().unwrap_or_default();
    if line.chars().count() <= LONGEST && line.len() == text.len() {
        return text.to_string();
    }
    format!("{}…", line.chars().take(LONGEST).collect::<String>())
}
