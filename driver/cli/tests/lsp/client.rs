//! An editor: it starts the server, speaks to it on its standard input and output, and keeps what it says.

use lsp_server::{Message, Notification, Request, RequestId, Response};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// How long an answer may take on a machine that has other things to do.
const PATIENCE: Duration = Duration::from_secs(120);

pub(crate) struct Client {
    child: Child,
    stdin: Option<ChildStdin>,
    messages: Receiver<Message>,
    /// Answers that came while others were waited for.
    answers: Vec<Response>,
    next: i32,
    /// What was said of documents, the latest.
    pub(crate) diagnostics: BTreeMap<String, Vec<Value>>,
    /// What the user was told.
    pub(crate) shown: Vec<String>,
    /// What the server wants of the editor.
    pub(crate) asked: Vec<String>,
    /// The folder of the workspace; the user's own folders are inside, too.
    pub(crate) folder: TempDir,
    pub(crate) capabilities: Value,
}

impl Client {
    /// Starts a server in a folder with these files.
    pub(crate) fn start(files: &[(&str, &str)], encodings: &[&str]) -> Client {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let mut client = Client::spawn(folder);
        let root = client.url("");
        let answer = client.ask(
            "initialize",
            json!({
                "processId": null,
                "rootUri": root,
                "workspaceFolders": [{ "uri": root, "name": "w" }],
                "capabilities": {
                    "general": { "positionEncodings": encodings },
                    "workspace": { "didChangeWatchedFiles": { "dynamicRegistration": true } },
                },
            }),
        );
        client.capabilities = answer.unwrap();
        client.tell("initialized", json!({}));
        client
    }

    /// Starts a server and says nothing.
    pub(crate) fn spawn(folder: TempDir) -> Client {
        let mut child = Command::new(env!("CARGO_BIN_EXE_rewright"))
            .arg("lsp")
            .current_dir(folder.path())
            .env("XDG_CACHE_HOME", folder.path().join(".cache"))
            .env("XDG_CONFIG_HOME", folder.path().join(".config"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let (sender, messages) = channel();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        thread::spawn(move || {
            while let Ok(Some(message)) = Message::read(&mut stdout) {
                if sender.send(message).is_err() {
                    break;
                }
            }
        });
        Client {
            stdin: child.stdin.take(),
            child,
            messages,
            answers: vec![],
            next: 0,
            diagnostics: BTreeMap::new(),
            shown: vec![],
            asked: vec![],
            folder,
            capabilities: Value::Null,
        }
    }

    /// The processor time that the server has taken so far: other work on the machine does not add to it.
    pub(crate) fn processor_time(&self) -> Duration {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id())).unwrap();
        let fields: Vec<&str> = stat.rsplit_once(')').unwrap().1.split_whitespace().collect();
        // In hundredths of a second: of its own, and of the system for it.
        let ticks = fields[11..13].iter().map(|field| field.parse::<u64>().unwrap()).sum::<u64>();
        Duration::from_millis(ticks * 10)
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn url(&self, name: &str) -> String {
        format!("file://{}", self.path(name).display())
    }

    /// Sends bytes as they are.
    pub(crate) fn raw(&mut self, bytes: &[u8]) {
        let stdin = self.stdin.as_mut().unwrap();
        stdin.write_all(bytes).unwrap();
        stdin.flush().unwrap();
    }

    pub(crate) fn send(&mut self, message: Message) {
        let mut bytes = vec![];
        message.write(&mut bytes).unwrap();
        self.raw(&bytes);
    }

    pub(crate) fn tell(&mut self, method: &str, params: Value) {
        self.send(Notification { method: method.into(), params }.into());
    }

    /// Sends a request and gives its number.
    pub(crate) fn request(&mut self, method: &str, params: Value) -> i32 {
        self.next += 1;
        self.send(Request { id: self.next.into(), method: method.into(), params }.into());
        self.next
    }

    /// Waits for the answer of a request: its result, or its error's code and message.
    pub(crate) fn answer(&mut self, id: i32) -> Result<Value, (i32, String)> {
        let begun = Instant::now();
        loop {
            let left = PATIENCE.saturating_sub(begun.elapsed());
            if let Some(n) = self.answers.iter().position(|answer| answer.id == RequestId::from(id)) {
                let Response { result, error, .. } = self.answers.remove(n);
                return match error {
                    Some(error) => Err((error.code, error.message)),
                    None => Ok(result.unwrap_or(Value::Null)),
                };
            }
            let message = self.messages.recv_timeout(left).expect("an answer");
            self.keep(message);
        }
    }

    pub(crate) fn ask(&mut self, method: &str, params: Value) -> Result<Value, (i32, String)> {
        let id = self.request(method, params);
        self.answer(id)
    }

    fn keep(&mut self, message: Message) {
        match message {
            Message::Notification(told) if told.method == "textDocument/publishDiagnostics" => {
                let url = told.params["uri"].as_str().unwrap().to_string();
                self.diagnostics.insert(url, told.params["diagnostics"].as_array().unwrap().clone());
            }
            Message::Notification(told) if told.method == "window/showMessage" => {
                self.shown.push(told.params["message"].as_str().unwrap().to_string());
            }
            Message::Request(asked) => {
                self.asked.push(asked.method);
                self.send(Response::new_ok(asked.id, Value::Null).into());
            }
            Message::Response(answer) => self.answers.push(answer),
            Message::Notification(_) => {}
        }
    }

    /// Waits until what was said of a document is as wanted.
    pub(crate) fn wait_for(&mut self, name: &str, wanted: impl Fn(&[Value]) -> bool) -> Vec<Value> {
        let (url, begun) = (self.url(name), Instant::now());
        loop {
            if let Some(found) = self.diagnostics.get(&url).filter(|found| wanted(found)) {
                return found.clone();
            }
            let left = PATIENCE.saturating_sub(begun.elapsed());
            match self.messages.recv_timeout(left) {
                Ok(message) => self.keep(message),
                Err(_) => panic!("of {name}: {:#?}", self.diagnostics.get(&url)),
            }
        }
    }

    /// Opens a file as it is on disk.
    pub(crate) fn open(&mut self, name: &str) {
        let text = std::fs::read_to_string(self.path(name)).unwrap();
        self.open_as(name, &text);
    }

    pub(crate) fn open_as(&mut self, name: &str, text: &str) {
        let document = json!({ "uri": self.url(name), "languageId": "rewright", "version": 1, "text": text });
        self.tell("textDocument/didOpen", json!({ "textDocument": document }));
    }

    /// Replaces a part of a document.
    pub(crate) fn change(&mut self, name: &str, version: i32, range: Value, text: &str) {
        let document = json!({ "uri": self.url(name), "version": version });
        let changes = json!([{ "range": range, "text": text }]);
        self.tell("textDocument/didChange", json!({ "textDocument": document, "contentChanges": changes }));
    }

    /// The parameters of a request about a place: the `nth` time that a text stands in a file.
    pub(crate) fn at(&self, name: &str, needle: &str, nth: usize) -> Value {
        let text = std::fs::read_to_string(self.path(name)).unwrap();
        let offset = text.match_indices(needle).nth(nth).expect("the file has it").0;
        let line = text[..offset].matches('\n').count();
        let begin = text[..offset].rfind('\n').map_or(0, |at| at + 1);
        let character = text[begin..offset].encode_utf16().count();
        let position = json!({ "line": line, "character": character });
        json!({ "textDocument": { "uri": self.url(name) }, "position": position })
    }

    /// Asks about a place.
    pub(crate) fn ask_at(
        &mut self,
        method: &str,
        name: &str,
        needle: &str,
        more: Value,
    ) -> Result<Value, (i32, String)> {
        let mut params = self.at(name, needle, 0);
        for (key, value) in more.as_object().unwrap() {
            params[key] = value.clone();
        }
        self.ask(method, params)
    }

    /// Asks about a document.
    pub(crate) fn ask_of(&mut self, method: &str, name: &str, more: Value) -> Result<Value, (i32, String)> {
        let mut params = json!({ "textDocument": { "uri": self.url(name) } });
        for (key, value) in more.as_object().unwrap() {
            params[key] = value.clone();
        }
        self.ask(method, params)
    }

    /// Ends the session as the protocol wants it; gives the exit code.
    pub(crate) fn end(mut self) -> Option<i32> {
        self.ask("shutdown", Value::Null).unwrap();
        let refused = self.ask("textDocument/hover", json!({})).unwrap_err();
        assert_eq!(refused.0, lsp_server::ErrorCode::InvalidRequest as i32);
        self.tell("exit", Value::Null);
        self.code()
    }

    /// Waits for the end.
    pub(crate) fn code(mut self) -> Option<i32> {
        drop(self.stdin.take());
        let output = self.child.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!said.contains("panicked"), "{said}");
        output.status.code()
    }
}

/// What a changed text is, after edits of the protocol in one document.
pub(crate) fn edited(path: &Path, edits: &Value) -> String {
    let mut text = std::fs::read_to_string(path).unwrap();
    let offset = |text: &str, position: &Value| {
        let line = position["line"].as_u64().unwrap() as usize;
        let start: usize = text.split_inclusive('\n').take(line).map(str::len).sum();
        let mut units = position["character"].as_u64().unwrap() as usize;
        let mut at = start;
        for c in text[start..].chars() {
            if units == 0 {
                break;
            }
            units -= c.len_utf16().min(units);
            at += c.len_utf8();
        }
        at
    };
    let mut places: Vec<(usize, usize, &str)> = edits
        .as_array()
        .unwrap()
        .iter()
        .map(|edit| {
            let range = &edit["range"];
            (offset(&text, &range["start"]), offset(&text, &range["end"]), edit["newText"].as_str().unwrap())
        })
        .collect();
    places.sort_unstable();
    for (start, end, new) in places.into_iter().rev() {
        text.replace_range(start..end, new);
    }
    text
}
