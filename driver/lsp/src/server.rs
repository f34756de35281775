//! The server's life: what it says it can do, messages in, answers out, diagnostics when no request is waiting.
//!
//! One thread reads, analyses and answers, so that everything it says is about one state of the texts. Long operations
//! (examples, verification) run beside it and may be stopped.

mod answers;
mod capabilities;
mod publish;
mod running;

use crate::position::Encoding;
use crate::workspace::Workspace;
use crossbeam_channel::{Receiver, Sender, after, never, select, unbounded};
use lsp_server::{Connection, ErrorCode, Message, Notification, Request, RequestId, Response};
use lsp_types::notification::{self, Notification as _};
use lsp_types::{
    ClientCapabilities, DidChangeTextDocumentParams, DidChangeWorkspaceFoldersParams, DidCloseTextDocumentParams,
    DidOpenTextDocumentParams, InitializeParams, MessageType, ShowMessageParams, Url,
};
use publish::Published;
use running::{Finished, Running};
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::any::Any;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// How long a text must rest before it is diagnosed.
const REST: Duration = Duration::from_millis(40);

/// How a session ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ended {
    /// As the protocol wants it: `shutdown`, then `exit`.
    Orderly,
    /// The client went away.
    Abrupt,
}

/// Why there is no session.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The client's first message is not what the protocol requires.
    #[error("the client does not speak the Language Server Protocol: {0}; an editor starts this command")]
    Protocol(#[from] lsp_server::ProtocolError),
    /// The first message has other content than it should.
    #[error("the client's `initialize` cannot be understood: {0}")]
    Initialize(#[from] serde_json::Error),
}

/// Why a request has no answer.
#[derive(Debug)]
struct Refusal {
    code: ErrorCode,
    message: String,
}

impl Refusal {
    fn new(code: ErrorCode, message: impl Into<String>) -> Refusal {
        Refusal { code, message: message.into() }
    }

    fn failed(message: impl Into<String>) -> Refusal {
        Refusal::new(ErrorCode::RequestFailed, message)
    }
}

/// Serves one client until it goes. `program` is run for commands. Copies of packs that ship go below `copies`.
///
/// # Errors
/// When the client says nothing that begins a session.
pub fn serve(connection: &Connection, program: PathBuf, copies: Option<PathBuf>) -> Result<Ended, ServeError> {
    let (id, params) = connection.initialize_start()?;
    let params: InitializeParams = serde_json::from_value(params)?;
    let offered = params.capabilities.general.as_ref().and_then(|general| general.position_encodings.as_deref());
    let encoding = Encoding::agreed(offered);
    connection.initialize_finish(id, capabilities::of_server(encoding))?;
    let workspace = Workspace::new(folders(&params), copies, encoding);
    Ok(Server::new(connection, workspace, program, params.capabilities).run())
}

/// The folders that a client says it has open.
#[allow(deprecated, reason = "older clients name one folder only")]
fn folders(params: &InitializeParams) -> Vec<PathBuf> {
    match &params.workspace_folders {
        Some(folders) => folders.iter().filter_map(|folder| folder.uri.to_file_path().ok()).collect(),
        None => params.root_uri.iter().filter_map(|root| root.to_file_path().ok()).collect(),
    }
}

struct Server<'c> {
    connection: &'c Connection,
    client: ClientCapabilities,
    workspace: Workspace,
    program: PathBuf,
    /// Messages that have come and are not yet handled.
    queue: VecDeque<Message>,
    /// When texts are diagnosed, if some have changed.
    due: Option<Instant>,
    /// The document that was changed last.
    edited: Option<String>,
    published: Published,
    running: Vec<Running>,
    finished: (Sender<Finished>, Receiver<Finished>),
    shut_down: bool,
}

/// What comes next.
enum Event {
    Message(Box<Message>),
    Finished(Box<Finished>),
    Rested,
    Gone,
}

impl<'c> Server<'c> {
    fn new(connection: &'c Connection, workspace: Workspace, program: PathBuf, client: ClientCapabilities) -> Self {
        Server {
            connection,
            client,
            workspace,
            program,
            queue: VecDeque::new(),
            due: None,
            edited: None,
            published: Published::default(),
            running: vec![],
            finished: unbounded(),
            shut_down: false,
        }
    }

    fn run(mut self) -> Ended {
        self.watch_files();
        let ended = loop {
            match self.next() {
                Event::Gone => break Ended::Abrupt,
                Event::Rested => self.diagnose(),
                Event::Finished(finished) => self.finish(*finished),
                Event::Message(message) => match *message {
                    Message::Notification(exit) if exit.method == notification::Exit::METHOD => {
                        break if self.shut_down { Ended::Orderly } else { Ended::Abrupt };
                    }
                    Message::Notification(notification) => self.notice(notification),
                    Message::Request(request) => self.request(request),
                    // Clients have nothing to say to what is asked of them.
                    Message::Response(_) => {}
                },
            }
        };
        self.stop_all();
        ended
    }

    /// Stops what runs, and waits a moment for its end.
    fn stop_all(&self) {
        self.running.iter().for_each(Running::stop);
        for _ in &self.running {
            // One that does not stop is abandoned: its output is not read.
            let _ = self.finished.1.recv_timeout(Duration::from_secs(1)).map_err(drop);
        }
    }

    /// Everything that has come, in order; then what has run; then, when there is nothing else to do, diagnostics.
    fn next(&mut self) -> Event {
        self.queue.extend(self.connection.receiver.try_iter());
        if let Some(message) = self.queue.pop_front() {
            return Event::Message(Box::new(message));
        }
        let rested = self.due.map_or_else(never, |due| after(due.saturating_duration_since(Instant::now())));
        select! {
            recv(self.connection.receiver) -> message => match message {
                Ok(message) => Event::Message(Box::new(message)),
                Err(_) => Event::Gone,
            },
            recv(self.finished.1) -> finished => match finished {
                Ok(finished) => Event::Finished(Box::new(finished)),
                Err(_) => Event::Gone,
            },
            recv(rested) -> _ => Event::Rested,
        }
    }

    fn send(&self, message: impl Into<Message>) {
        // A client that is gone is noticed where messages come from.
        let _ = self.connection.sender.send_timeout(message.into(), Duration::from_secs(60)).map_err(drop);
    }

    fn notify<N: notification::Notification>(&self, params: N::Params) {
        self.send(Notification::new(N::METHOD.into(), params));
    }

    /// Says something to the user.
    fn say(&self, typ: MessageType, message: String) {
        self.notify::<notification::ShowMessage>(ShowMessageParams { typ, message });
    }

    fn respond(&self, id: RequestId, answer: Result<Value, Refusal>) {
        self.send(match answer {
            Ok(answer) => Response::new_ok(id, answer),
            Err(refusal) => Response::new_err(id, refusal.code as i32, refusal.message),
        });
    }

    fn request(&mut self, request: Request) {
        let id = request.id.clone();
        if self.shut_down {
            let message = "the server was asked to shut down";
            return self.respond(id, Err(Refusal::new(ErrorCode::InvalidRequest, message)));
        }
        if let Some(refusal) = self.is_stale(&request) {
            return self.respond(id, Err(refusal));
        }
        let answer = catch_unwind(AssertUnwindSafe(|| self.answer(request)));
        match answer {
            Ok(Some(answer)) => self.respond(id, answer),
            // It comes when what was started has ended.
            Ok(None) => {}
            Err(panic) => self.respond(id, Err(Refusal::new(ErrorCode::InternalError, ours(&*panic)))),
        }
    }

    /// Has the client lost interest in a request, or changed the document that it is about, while it was waiting?
    fn is_stale(&self, request: &Request) -> Option<Refusal> {
        let document = request.params.pointer("/textDocument/uri");
        self.queue.iter().find_map(|later| {
            let Message::Notification(later) = later else { return None };
            match later.method.as_str() {
                notification::Cancel::METHOD if cancelled(later).as_ref() == Some(&request.id) => {
                    Some(Refusal::new(ErrorCode::RequestCanceled, "cancelled"))
                }
                notification::DidChangeTextDocument::METHOD
                    if document.is_some() && later.params.pointer("/textDocument/uri") == document =>
                {
                    Some(Refusal::new(ErrorCode::ContentModified, "the document has changed"))
                }
                _ => None,
            }
        })
    }

    fn notice(&mut self, notification: Notification) {
        let method = notification.method.clone();
        if catch_unwind(AssertUnwindSafe(|| self.take(notification))).is_err() {
            self.say(MessageType::ERROR, format!("{method}: a mistake of Rewright's, please report it"));
        }
    }

    fn take(&mut self, notification: Notification) {
        match notification.method.as_str() {
            notification::DidOpenTextDocument::METHOD => {
                if let Some(DidOpenTextDocumentParams { text_document: opened }) = self.read(notification) {
                    let name = self.workspace.open(opened.uri, opened.text, opened.version);
                    self.published.forget_run(&name);
                    self.due = Some(Instant::now());
                }
            }
            notification::DidChangeTextDocument::METHOD => {
                if let Some(DidChangeTextDocumentParams { text_document, content_changes }) = self.read(notification) {
                    let name = self.workspace.name(&text_document.uri);
                    self.workspace.edit(&name, |document| document.change(content_changes, text_document.version));
                    self.published.forget_run(&name);
                    self.edited = Some(name);
                    self.due = Some(Instant::now() + REST);
                }
            }
            notification::DidCloseTextDocument::METHOD => {
                if let Some(DidCloseTextDocumentParams { text_document }) = self.read(notification) {
                    let name = self.workspace.name(&text_document.uri);
                    self.workspace.close(&name);
                    self.published.forget_run(&name);
                    self.due = Some(Instant::now());
                }
            }
            // Whichever files these are: what was read from the disk may be old.
            notification::DidSaveTextDocument::METHOD | notification::DidChangeWatchedFiles::METHOD => {
                self.workspace.files_changed();
                self.due = Some(Instant::now() + REST);
            }
            notification::DidChangeWorkspaceFolders::METHOD => {
                if let Some(DidChangeWorkspaceFoldersParams { event }) = self.read(notification) {
                    let paths = |folders: Vec<lsp_types::WorkspaceFolder>| -> Vec<PathBuf> {
                        folders.into_iter().filter_map(|folder| folder.uri.to_file_path().ok()).collect()
                    };
                    self.workspace.change_folders(paths(event.added), &paths(event.removed));
                }
            }
            notification::Cancel::METHOD => {
                let id = cancelled(&notification);
                self.running.iter().filter(|running| Some(&running.id) == id.as_ref()).for_each(Running::stop);
            }
            // A server may ignore what it does not know.
            _ => {}
        }
    }

    /// The content of a notification; where it has another one, the user is told.
    fn read<T: DeserializeOwned>(&self, notification: Notification) -> Option<T> {
        match serde_json::from_value(notification.params) {
            Ok(params) => Some(params),
            Err(error) => {
                let method = notification.method;
                self.say(MessageType::ERROR, format!("the editor's `{method}` cannot be understood: {error}"));
                None
            }
        }
    }

    /// Asks the client to tell when files change.
    fn watch_files(&self) {
        let watches = self.client.workspace.as_ref().and_then(|it| it.did_change_watched_files.as_ref());
        if watches.and_then(|it| it.dynamic_registration) == Some(true) {
            let id = RequestId::from("rewright/watch".to_string());
            self.send(Request::new(id, "client/registerCapability".into(), capabilities::watched_files()));
        }
    }

    /// Analyses open documents that have changed, one at a time, and says what is wrong with them.
    fn diagnose(&mut self) {
        self.due = None;
        let outdated = self.workspace.outdated();
        let first = outdated.iter().find(|name| self.edited.as_ref() == Some(*name)).or(outdated.first());
        if let Some(name) = first {
            let made = catch_unwind(AssertUnwindSafe(|| self.workspace.snapshot(name).is_some()));
            if let Err(panic) = made {
                self.say(MessageType::ERROR, format!("{name}: {}", ours(&*panic)));
                return;
            }
            if outdated.len() > 1 {
                self.due = Some(Instant::now());
            }
        }
        for published in self.published.update(&self.workspace) {
            self.notify::<notification::PublishDiagnostics>(published);
        }
    }

    /// The name of a document that is open.
    fn opened(&self, url: &Url) -> Result<String, Refusal> {
        let name = self.workspace.name(url);
        match self.workspace.document(&name) {
            Some(_) => Ok(name),
            None => Err(Refusal::new(ErrorCode::InvalidParams, format!("{url} is not open"))),
        }
    }
}

/// What a client no longer wants.
fn cancelled(notification: &Notification) -> Option<RequestId> {
    match notification.params.get("id")? {
        Value::Number(id) => Some(RequestId::from(i32::try_from(id.as_i64()?).ok()?)),
        Value::String(id) => Some(RequestId::from(id.clone())),
        _ => None,
    }
}

/// The message of a panic.
fn ours(panic: &(dyn Any + Send)) -> String {
    let what = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref::<&str>().copied());
    format!("a mistake of Rewright's, please report it: {}", what.unwrap_or("unknown"))
}
