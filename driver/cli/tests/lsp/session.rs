//! Sessions: how they begin and end, what is stopped, what is run, and what is never called.

use super::client::Client;
use super::{UTF16, code, workspace};
use serde_json::{Value, json};
use std::fs;
use std::process::Command;
use std::time::Duration;

#[test]
fn examples_and_rules_run_from_their_lenses() {
    let pack = "pack p\nimport std.core\nrule add_zero(x: i32): iadd(x, 0) => x\nrule wrong(x: i32): isub(x, 1) => x\n\
                example \"good\" (x: i32) fires add_zero: iadd(x, 0) becomes x\n\
                example \"bad\" (x: i32): iadd(x, 2) becomes x\n";
    let mut client = Client::start(&[("p.rw", pack)], UTF16);
    client.open("p.rw");
    let lenses = client.ask_of("textDocument/codeLens", "p.rw", json!({})).unwrap();
    let commands: Vec<Value> = lenses.as_array().unwrap().iter().map(|lens| lens["command"].clone()).collect();
    let [right, wrong, good, bad] = &commands[..] else { panic!("{commands:?}") };
    let answer = client.ask("workspace/executeCommand", good.clone()).unwrap();
    assert_eq!(answer, json!({ "good": true, "summary": "Example \"good\" holds." }));
    assert_eq!(client.shown, ["Example \"good\" holds."]);
    let answer = client.ask("workspace/executeCommand", bad.clone()).unwrap();
    assert_eq!(answer["good"], false);
    let found = client.wait_for("p.rw", |found| found.iter().any(|d| code(d) == "RW0601"));
    let failed = found.iter().find(|d| code(d) == "RW0601").unwrap();
    assert_eq!(failed["range"]["start"]["line"], 5);
    let answer = client.ask("workspace/executeCommand", right.clone()).unwrap();
    assert_eq!(answer["good"], true, "{answer}");
    assert!(answer["summary"].as_str().unwrap().starts_with("Rule add_zero: equal at 1 type instance"), "{answer}");
    let answer = client.ask("workspace/executeCommand", wrong.clone()).unwrap();
    assert_eq!(answer["good"], false, "{answer}");
    let found = client.wait_for("p.rw", |found| found.iter().any(|d| code(d) == "RW0701"));
    let refuted = found.iter().find(|d| code(d) == "RW0701").unwrap();
    assert_eq!(refuted["range"]["start"], json!({ "line": 3, "character": 5 }));
    // The result of a command is about a text that has changed now.
    client.change(
        "p.rw",
        2,
        json!({ "start": { "line": 5, "character": 0 }, "end": { "line": 5, "character": 0 } }),
        "\n",
    );
    client.wait_for("p.rw", |found| found.iter().all(|d| !code(d).starts_with("RW06") && !code(d).starts_with("RW07")));
    // The text on disk is the one that runs.
    let (_, message) = client.ask("workspace/executeCommand", good.clone()).unwrap_err();
    assert!(message.contains("save") && message.contains("p.rw first"), "{message}");
    for arguments in [json!([]), json!([1, 2]), json!(["no url", "x"])] {
        let params = json!({ "command": "rewright.verify", "arguments": arguments });
        assert!(client.ask("workspace/executeCommand", params).is_err());
    }
    assert_eq!(client.end(), Some(0));
}

/// A library that says when it is opened.
#[test]
fn opening_a_file_opens_no_library() {
    let mut client = Client::start(&[("x.rw", "pack x\n")], UTF16);
    let opened = client.path("opened");
    let source = format!(
        "#include <stdio.h>\n__attribute__((constructor)) static void f(void) {{ fclose(fopen(\"{}\", \"w\")); }}\n\
         long answer(long x) {{ return x + 1; }}\n",
        opened.display()
    );
    fs::write(client.path("lib.c"), source).unwrap();
    let built = Command::new("cc")
        .args(["-shared", "-fPIC", "-o"])
        .args([client.path("lib.so"), client.path("lib.c")])
        .status()
        .unwrap();
    assert!(built.success());
    let pack = "pack linked\nimport std.core\n@link(\"./lib.so\", \"answer\")\nfn answer(x: i64) -> i64  pure  cost 90\n\
                dynamic rule folded(const c: i64): answer(c) => eval(answer(c))\n\
                example \"folded\" fires folded: answer(1) becomes 2\n";
    fs::write(client.path("linked.rw"), pack).unwrap();
    client.open("linked.rw");
    client.wait_for("linked.rw", |_| true);
    client.ask_at("textDocument/hover", "linked.rw", "answer(c) =>", json!({})).unwrap();
    client.ask_at("textDocument/completion", "linked.rw", "answer(c) =>", json!({})).unwrap();
    let lenses = client.ask_of("textDocument/codeLens", "linked.rw", json!({})).unwrap();
    let [rule, example] = &lenses.as_array().unwrap()[..] else { panic!("{lenses}") };
    // The library computes the same on both sides, whatever that is.
    assert_eq!(client.ask("workspace/executeCommand", rule["command"].clone()).unwrap()["good"], true);
    assert_eq!(client.ask("workspace/executeCommand", example["command"].clone()).unwrap()["good"], false);
    assert!(client.shown.iter().any(|said| said.contains("--allow-link")), "{:?}", client.shown);
    assert!(!opened.exists(), "a library was opened that nobody has allowed");
    assert_eq!(client.end(), Some(0));
}

#[test]
fn a_session_has_a_beginning_and_an_end() {
    let spawned = || Client::spawn(tempfile::tempdir().unwrap());
    // The client goes away without a word, in the middle of one, and after an `exit` that nothing announced.
    assert_eq!(workspace().code(), Some(1));
    let mut client = workspace();
    client.raw(b"Content-Length: 999\r\n\r\n{\"jsonrpc\"");
    assert_ne!(client.code(), Some(0));
    let mut client = workspace();
    client.tell("exit", Value::Null);
    assert_eq!(client.code(), Some(1));
    // A user at a terminal.
    let client = spawned();
    assert_eq!(client.code(), Some(2));
    let mut client = spawned();
    client.raw(b"hello\r\n\r\n");
    assert_eq!(client.code(), Some(2));
    // Before it has begun nothing is answered.
    let mut client = spawned();
    let (early, _) = client.ask("textDocument/hover", json!({})).unwrap_err();
    assert_eq!(early, lsp_server::ErrorCode::ServerNotInitialized as i32);
}

/// How long a text must rest before it is diagnosed.
const REST: Duration = Duration::from_millis(40);

/// From a key in `std.arith` to what is wrong with it: the rest that a text must have, the analysis and the way there
/// and back.
#[test]
fn a_key_in_std_arith_is_answered_at_once() {
    let text = rewright_packs::embedded("std/arith.rw").unwrap();
    let mut client = Client::start(&[("arith.rw", text)], UTF16);
    client.open("arith.rw");
    client.wait_for("arith.rw", |found| found.is_empty());
    let start = client.at("arith.rw", "iadd(x, 0) => x", 0)["position"].clone();
    let after = json!({ "line": start["line"], "character": start["character"].as_u64().unwrap() + 1 });
    let mut times: Vec<Duration> = vec![];
    for version in 0..5 {
        let begun = client.processor_time();
        client.change("arith.rw", 2 * version + 2, json!({ "start": start, "end": start }), "x");
        client.wait_for("arith.rw", |found| !found.is_empty());
        times.push(client.processor_time() - begun + REST);
        client.change("arith.rw", 2 * version + 3, json!({ "start": start, "end": after }), "");
        client.wait_for("arith.rw", |found| found.is_empty());
    }
    let best = times.iter().min().unwrap();
    println!("{} ms", best.as_millis());
    assert!(*best < Duration::from_millis(200), "{times:?}");
    assert_eq!(client.end(), Some(0));
}

#[test]
fn no_message_ends_a_session() {
    let mut client = workspace();
    assert_eq!(client.asked.len(), 0);
    for method in ["textDocument/hover", "textDocument/rename", "textDocument/codeLens", "completionItem/resolve"] {
        for params in [Value::Null, json!([]), json!({ "textDocument": 1 }), json!({ "textDocument": { "uri": "x" } })]
        {
            assert!(client.ask(method, params).is_err(), "{method}");
        }
    }
    assert_eq!(client.ask("no/such", json!({})).unwrap_err().0, lsp_server::ErrorCode::MethodNotFound as i32);
    client.tell("no/such", json!({}));
    client.tell("textDocument/didChange", json!({ "textDocument": "?" }));
    client.tell("$/cancelRequest", json!({ "id": 999_999 }));
    client.tell("workspace/didChangeWatchedFiles", json!({ "changes": [] }));
    client.tell("workspace/didChangeWorkspaceFolders", json!({ "event": { "added": [], "removed": [] } }));
    let closed = client.ask_of("textDocument/hover", "lib.rw", json!({ "position": { "line": 0, "character": 0 } }));
    assert!(closed.unwrap_err().1.contains("is not open"));
    // Positions outside of everything.
    for (line, character) in [(0, u32::MAX), (u32::MAX, 0), (u32::MAX, u32::MAX)] {
        let position = json!({ "position": { "line": line, "character": character } });
        client.ask_of("textDocument/completion", "main.rw", position).unwrap();
    }
    assert!(client.shown.iter().any(|said| said.contains("didChange")), "{:?}", client.shown);
    assert_eq!(client.asked, ["client/registerCapability"]);
    assert_eq!(client.end(), Some(0));
}

#[test]
fn what_is_stale_is_not_answered() {
    let mut client = workspace();
    client.wait_for("main.rw", |_| true);
    let place = client.at("main.rw", "twice(x) =>", 0);
    // In one piece, so that the server sees all of it at once.
    let mut bytes = vec![];
    let mut write = |message: lsp_server::Message| message.write(&mut bytes).unwrap();
    let change = |version: i32| {
        let params = json!({
            "textDocument": { "uri": place["textDocument"]["uri"], "version": version },
            "contentChanges": [{
                "range": { "start": { "line": 0, "character": 0 }, "end": { "line": 0, "character": 0 } }, "text": "//\n",
            }],
        });
        lsp_server::Notification { method: "textDocument/didChange".into(), params }
    };
    let hover =
        |id: i32| lsp_server::Request { id: id.into(), method: "textDocument/hover".into(), params: place.clone() };
    write(change(2).into());
    write(hover(1001).into());
    write(hover(1002).into());
    write(lsp_server::Notification { method: "$/cancelRequest".into(), params: json!({ "id": 1002 }) }.into());
    write(change(3).into());
    write(hover(1003).into());
    client.raw(&bytes);
    let codes: Vec<Option<i32>> = [1001, 1002].map(|id| client.answer(id).err().map(|error| error.0)).into();
    // Whether the later messages had come when these were looked at is the system's affair.
    assert!(codes.iter().flatten().all(|code| [-32801, -32800].contains(code)), "{codes:?}");
    assert!(client.answer(1003).is_ok());
    assert_eq!(client.end(), Some(0));
}

#[test]
fn a_running_command_can_be_stopped() {
    let mut client =
        Client::start(&[("p.rw", "pack p\nimport std\nexample \"e\" (x: i32): iadd(x, 0) becomes x\n")], UTF16);
    client.open("p.rw");
    let arguments = json!([client.url("p.rw"), "e"]);
    let params = json!({ "command": "rewright.runExample", "arguments": arguments });
    let id = client.request("workspace/executeCommand", params);
    client.tell("$/cancelRequest", json!({ "id": id }));
    // Other questions are answered while it runs.
    client.ask_of("textDocument/documentSymbol", "p.rw", json!({})).unwrap();
    match client.answer(id) {
        Err((code, _)) => assert_eq!(code, lsp_server::ErrorCode::RequestCanceled as i32),
        Ok(answer) => assert_eq!(answer["good"], true, "it was faster"),
    }
    assert_eq!(client.end(), Some(0));
}
