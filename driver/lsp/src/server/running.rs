//! Commands that run beside the server.

use super::{Refusal, Server, publish};
use crate::commands::{self, CommandError, Finding, Outcome, RUN_EXAMPLE, Task, VERIFY};
use crate::symbols::{declared, flat};
use lsp_server::{ErrorCode, RequestId};
use lsp_types::{ExecuteCommandParams, MessageType, Range, Url};
use rewright_dsl::syntax::parse;
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// A command that runs.
pub(super) struct Running {
    /// The request that started it.
    pub(super) id: RequestId,
    stop: Arc<AtomicBool>,
}

impl Running {
    /// Asks it to stop.
    pub(super) fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

/// A command that has ended.
pub(super) struct Finished {
    id: RequestId,
    /// The document's name, and its version when the command was started.
    name: String,
    version: i32,
    task: Task,
    outcome: Result<Outcome, CommandError>,
}

impl Server<'_> {
    /// Starts a command; its answer comes when it has ended.
    pub(super) fn execute(&mut self, id: &RequestId, params: ExecuteCommandParams) -> Result<(), Refusal> {
        let arguments: (Url, String) = serde_json::from_value(Value::Array(params.arguments)).map_err(|error| {
            let message = format!("`{}` takes a document and a name: {error}", params.command);
            Refusal::new(ErrorCode::InvalidParams, message)
        })?;
        let (url, what) = arguments;
        let task = match params.command.as_str() {
            RUN_EXAMPLE => Task::Example(what),
            VERIFY => Task::Rule(what),
            other => return Err(Refusal::new(ErrorCode::InvalidParams, format!("there is no command `{other}`"))),
        };
        let name = self.opened(&url)?;
        // A permission is for what is on disk, and so is what runs.
        if let Some(snapshot) = self.workspace.snapshot(&name)
            && let Some(unsaved) = snapshot.names().find(|name| !self.workspace.is_saved(name))
        {
            return Err(Refusal::failed(format!("save {unsaved} first: what is on disk is what runs")));
        }
        let version = self.workspace.document(&name).map_or(0, |document| document.version);
        let stop = Arc::new(AtomicBool::new(false));
        self.running.push(Running { id: id.clone(), stop: stop.clone() });
        let (program, finished, id) = (self.program.clone(), self.finished.0.clone(), id.clone());
        std::thread::spawn(move || {
            let outcome = commands::run(&program, &commands::argument(&name), &task, &stop);
            // If the session has ended, the outcome is unused.
            let _ = finished.send(Finished { id, name, version, task, outcome });
        });
        Ok(())
    }

    /// Tells what a command found.
    pub(super) fn finish(&mut self, finished: Finished) {
        let Finished { id, name, version, task, outcome } = finished;
        self.running.retain(|running| running.id != id);
        let outcome = match outcome {
            Ok(outcome) => outcome,
            Err(CommandError::Stopped) => {
                return self.respond(id, Err(Refusal::new(ErrorCode::RequestCanceled, "stopped")));
            }
            Err(error) => return self.respond(id, Err(Refusal::failed(error.to_string()))),
        };
        let kind = if outcome.good { MessageType::INFO } else { MessageType::WARNING };
        self.say(kind, outcome.summary.clone());
        // A text that has changed since has other places.
        if self.workspace.document(&name).is_some_and(|document| document.version == version) {
            let found = outcome.findings.iter();
            let found = found.map(|found| publish::of_command(found, self.range_of(&name, &task, found))).collect();
            self.published.keep_run(&name, format!("{task:?}"), found);
            self.due = Some(Instant::now());
        }
        self.respond(id, Ok(json!({ "good": outcome.good, "summary": outcome.summary })));
    }

    /// Where in a document a finding is: where it says, or at the name of what was run.
    fn range_of(&self, name: &str, task: &Task, found: &Finding) -> Range {
        let Some(document) = self.workspace.document(name) else { return Range::default() };
        let (start, end) = found.place.unwrap_or_else(|| {
            let declared = declared(&parse(0, &document.text).0);
            let wanted = match task {
                Task::Example(title) => title.as_str(),
                Task::Rule(rule) => rule.rsplit('.').next().unwrap_or(rule),
            };
            let all = flat(&declared, None);
            let own = all.iter().find(|(set, one)| {
                one.name == wanted
                    && one.action.is_some()
                    && match task {
                        Task::Example(_) => true,
                        Task::Rule(rule) => set.is_none_or(|set| rule.ends_with(&format!("{set}.{wanted}"))),
                    }
            });
            own.map_or((0, 0), |(_, one)| (one.at.start, one.at.end))
        });
        document.lines.range(&document.text, start, end)
    }
}
