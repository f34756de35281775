//! Which diagnostics the client has, and which it should have.

use crate::commands::Finding;
use crate::findings::{self, SOURCE};
use crate::workspace::Workspace;
use lsp_types::{Diagnostic, DiagnosticSeverity, NumberOrString, PublishDiagnosticsParams, Range, Url};
use std::collections::{BTreeMap, BTreeSet};

/// What has been said.
#[derive(Default)]
pub(super) struct Published {
    /// By document; of those that are not open, only where there is something.
    said: BTreeMap<Url, Vec<Diagnostic>>,
    /// What commands found in a document that has not changed since: by its name, then by command.
    run: BTreeMap<String, BTreeMap<String, Vec<Diagnostic>>>,
}

impl Published {
    /// Keeps what a command found, in place of what it had found before.
    pub(super) fn keep_run(&mut self, name: &str, command: String, found: Vec<Diagnostic>) {
        self.run.entry(name.to_string()).or_default().insert(command, found);
    }

    /// Forgets what commands found in a document.
    pub(super) fn forget_run(&mut self, name: &str) {
        self.run.remove(name);
    }

    /// What is to be sent so that the client has what is known now. Of a document that was changed and not yet
    /// analysed, it keeps what it has.
    pub(super) fn update(&mut self, workspace: &Workspace) -> Vec<PublishDiagnosticsParams> {
        let mut wanted: BTreeMap<Url, Vec<Diagnostic>> = BTreeMap::new();
        let outdated: BTreeSet<Url> = workspace.outdated().iter().filter_map(|name| workspace.url(name)).collect();
        for (name, snapshot) in workspace.current() {
            for found in &snapshot.packs().diagnostics {
                let file = snapshot.name(found.primary.span.file);
                // Mistakes in another open document are reported for that document.
                if file != name && workspace.document(file).is_some() {
                    continue;
                }
                let Some(url) = workspace.url(file) else { continue };
                let diagnostic = findings::diagnostic(&snapshot, found, &|name| workspace.url(name));
                let all = wanted.entry(url).or_default();
                if !all.contains(&diagnostic) {
                    all.push(diagnostic);
                }
            }
            if let (Some(url), Some(run)) = (workspace.url(&name), self.run.get(&name)) {
                wanted.entry(url).or_default().extend(run.values().flatten().cloned());
            }
        }
        let open: BTreeSet<Url> = workspace.current().iter().filter_map(|(name, _)| workspace.url(name)).collect();
        let known: BTreeSet<Url> = self.said.keys().chain(wanted.keys()).chain(&open).cloned().collect();
        let mut changes = vec![];
        for url in known.into_iter().filter(|url| !outdated.contains(url)) {
            let now = wanted.remove(&url).unwrap_or_default();
            if self.said.get(&url) == Some(&now) {
                continue;
            }
            let document = workspace.document(&workspace.name(&url));
            changes.push(PublishDiagnosticsParams {
                uri: url.clone(),
                diagnostics: now.clone(),
                version: document.map(|document| document.version),
            });
            // That an open document has no mistakes is said once, too.
            match now.is_empty() && !open.contains(&url) {
                true => drop(self.said.remove(&url)),
                false => drop(self.said.insert(url, now)),
            }
        }
        changes
    }
}

/// What a command found, as a diagnostic.
pub(super) fn of_command(found: &Finding, range: Range) -> Diagnostic {
    let severity = if found.warning { DiagnosticSeverity::WARNING } else { DiagnosticSeverity::ERROR };
    Diagnostic {
        range,
        severity: Some(severity),
        code: Some(NumberOrString::String(found.code.clone())),
        source: Some(SOURCE.into()),
        message: found.message.clone(),
        ..Diagnostic::default()
    }
}
