//! `rewright lsp`, as an editor uses it.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod client;
mod session;

use client::{Client, edited};
use serde_json::{Value, json};
use std::fs;

const UTF16: &[&str] = &["utf-16"];

const LIB: &str = "\
pack lib
import std.core

/// Größe ∀ 𝄞: twice as much.
fn twice(x: i32) -> i32  pure  cost 9
";

const MAIN: &str = "\
pack main
import std.core
import lib

ruleset r {
  /* 𝄞 */
  rule double(x: i32): twice(x) => iadd(x, x)
  rule bare(p): twice(p) => imul(p, 2)
}
example \"é𝄞\" (x: i32) fires r.double: twice(x) becomes iadd(x, x)
";

/// A workspace of two packs, without the comment that no pack has.
fn workspace() -> Client {
    let main = MAIN.replace("  /* 𝄞 */\n", "  // 𝄞\n");
    let mut client = Client::start(&[("lib.rw", LIB), ("main.rw", &main), ("sub/other.rw", "pack other\n")], UTF16);
    client.open("main.rw");
    client
}

fn code(found: &Value) -> &str {
    found["code"].as_str().unwrap()
}

#[test]
fn mistakes_are_said_while_typing_and_gone_when_mended() {
    let mut client = workspace();
    client.wait_for("main.rw", |found| found.iter().all(|d| d["severity"] != 1));
    // `twice(p)` becomes `twise(p)`.
    let at = client.at("main.rw", "twice(p)", 0)["position"].clone();
    let (line, column) = (at["line"].as_u64().unwrap(), at["character"].as_u64().unwrap() + 3);
    let range = json!({
        "start": { "line": line, "character": column }, "end": { "line": line, "character": column + 1 },
    });
    client.change("main.rw", 2, range.clone(), "s");
    let found = client.wait_for("main.rw", |found| found.iter().any(|d| code(d) == "RW0201"));
    let wrong = found.iter().find(|d| code(d) == "RW0201").unwrap();
    assert_eq!((&wrong["range"]["start"]["line"], &wrong["source"]), (&json!(line), &json!("rewright")));
    assert!(wrong["message"].as_str().unwrap().contains("help: did you mean `twice`?"), "{wrong}");
    // Its fix.
    let context = json!({ "range": wrong["range"], "context": { "diagnostics": [wrong] } });
    let actions = client.ask_of("textDocument/codeAction", "main.rw", context).unwrap();
    let fix = &actions.as_array().unwrap()[0];
    assert_eq!((&fix["title"], &fix["isPreferred"]), (&json!("Replace `twise` with `twice`"), &json!(true)));
    let edit = &fix["edit"]["changes"][client.url("main.rw")][0];
    assert_eq!(edit["newText"], "twice");
    let all = json!({ "range": wrong["range"], "context": { "diagnostics": [], "only": ["source.fixAll"] } });
    let all = client.ask_of("textDocument/codeAction", "main.rw", all).unwrap();
    assert_eq!(all.as_array().unwrap().len(), 1, "{all}");
    client.change("main.rw", 3, edit["range"].clone(), "twice");
    client.wait_for("main.rw", |found| found.iter().all(|d| d["severity"] != 1));
    // A mistake with a second place, in another file.
    client.change(
        "main.rw",
        4,
        json!({ "start": { "line": 9, "character": 0 }, "end": { "line": 9, "character": 0 } }),
        "rule wrong(x: i64): twice(x) => x\n",
    );
    let found = client.wait_for("main.rw", |found| found.iter().any(|d| d.get("relatedInformation").is_some()));
    let related = found.iter().find_map(|d| d.get("relatedInformation")).unwrap();
    assert!(related[0]["location"]["uri"].as_str().unwrap().ends_with("/lib.rw"), "{related}");
    assert_eq!(client.end(), Some(0));
}

#[test]
fn names_are_explained_found_and_followed() {
    let mut client = workspace();
    let hover = client.ask_at("textDocument/hover", "main.rw", "twice(x) =>", json!({})).unwrap();
    let said = hover["contents"]["value"].as_str().unwrap();
    assert!(said.contains("twice(x: i32) -> i32") && said.contains("cost: 9") && said.contains("Größe ∀ 𝄞"), "{said}");
    let word = client.ask_at("textDocument/hover", "main.rw", "becomes", json!({})).unwrap();
    assert!(word["contents"]["value"].as_str().unwrap().contains("cheapest"), "{word}");
    let place = client.ask_at("textDocument/definition", "main.rw", "twice(x) =>", json!({})).unwrap();
    assert_eq!(place[0]["uri"], client.url("lib.rw"));
    assert_eq!(place[0]["range"]["start"], json!({ "line": 4, "character": 3 }));
    // A pack that ships is a file that can be read and not be written.
    let place = client.ask_at("textDocument/definition", "main.rw", "iadd(x, x)\n  rule", json!({})).unwrap();
    let url = place[0]["uri"].as_str().unwrap().to_string();
    let path = url.strip_prefix("file://").unwrap();
    let text = fs::read_to_string(path).unwrap();
    let line = place[0]["range"]["start"]["line"].as_u64().unwrap() as usize;
    assert!(text.lines().nth(line).unwrap().starts_with("fn iadd"), "{url}:{line}");
    assert!(fs::metadata(path).unwrap().permissions().readonly());
    // The copy itself can be opened and asked about.
    let document = json!({ "uri": url, "languageId": "rewright", "version": 1, "text": text });
    client.tell("textDocument/didOpen", json!({ "textDocument": document }));
    let position = place[0]["range"]["start"].clone();
    let hover =
        client.ask("textDocument/hover", json!({ "textDocument": { "uri": url }, "position": position })).unwrap();
    assert!(hover["contents"]["value"].as_str().unwrap().contains("iadd"), "{hover}");
    let context = json!({ "context": { "includeDeclaration": true } });
    let places = client.ask_at("textDocument/references", "main.rw", "twice(x) =>", context).unwrap();
    let files: Vec<&str> = places
        .as_array()
        .unwrap()
        .iter()
        .map(|place| place["uri"].as_str().unwrap().rsplit('/').next().unwrap())
        .collect();
    assert_eq!(files, ["lib.rw", "main.rw", "main.rw", "main.rw"]);
    let here = client.ask_at("textDocument/documentHighlight", "main.rw", "twice(x) =>", json!({})).unwrap();
    assert_eq!(here.as_array().unwrap().len(), 3);
    assert_eq!(client.end(), Some(0));
}

#[test]
fn renaming_reaches_importers_and_refuses_what_ships() {
    let mut client = workspace();
    let subject = client.ask_at("textDocument/prepareRename", "main.rw", "twice(x) =>", json!({})).unwrap();
    assert_eq!(subject["placeholder"], "twice");
    let new = json!({ "newName": "double_of" });
    let edit = client.ask_at("textDocument/rename", "main.rw", "twice(x) =>", new).unwrap();
    for (name, count) in [("lib.rw", 1), ("main.rw", 3)] {
        let text = edited(&client.path(name), &edit["changes"][client.url(name)]);
        assert_eq!((text.matches("twice(").count(), text.matches("double_of(").count()), (0, count), "{text}");
    }
    for (needle, new, why) in [("iadd(x, x)\n", "add", "ships with Rewright"), ("bare", "double", "already")] {
        let new = json!({ "newName": new });
        let (_, message) = client.ask_at("textDocument/rename", "main.rw", needle, new).unwrap_err();
        assert!(message.contains(why), "{message}");
    }
    assert_eq!(client.end(), Some(0));
}

#[test]
fn an_editor_gets_all_that_it_asks_for() {
    let mut client = workspace();
    for (key, wanted) in [("hoverProvider", json!(true)), ("positionEncoding", json!("utf-16"))] {
        assert_eq!(client.capabilities["capabilities"][key], wanted);
    }
    let offered = client.ask_at("textDocument/completion", "main.rw", "wice(x) =>", json!({})).unwrap();
    let item = offered.as_array().unwrap().iter().find(|item| item["label"] == "twice").unwrap().clone();
    assert_eq!(item["textEdit"]["range"]["end"]["character"], json!("  rule double(x: i32): t".len()));
    let resolved = client.ask("completionItem/resolve", item).unwrap();
    assert!(resolved["documentation"]["value"].as_str().unwrap().contains("twice as much"), "{resolved}");
    let outline = client.ask_of("textDocument/documentSymbol", "main.rw", json!({})).unwrap();
    let names: Vec<&Value> = outline.as_array().unwrap().iter().map(|symbol| &symbol["name"]).collect();
    assert_eq!(names, ["r", "é𝄞"]);
    assert_eq!(outline[0]["children"][1]["name"], "bare");
    let found = client.ask("workspace/symbol", json!({ "query": "twi" })).unwrap();
    assert!(found[0]["location"]["uri"].as_str().unwrap().ends_with("lib.rw"), "{found}");
    let whole = json!({ "range": { "start": { "line": 0, "character": 0 }, "end": { "line": 99, "character": 0 } } });
    let hints = client.ask_of("textDocument/inlayHint", "main.rw", whole).unwrap();
    assert_eq!((hints.as_array().unwrap().len(), &hints[0]["label"]), (1, &json!(": i32")));
    let tokens = client.ask_of("textDocument/semanticTokens/full", "main.rw", json!({})).unwrap();
    assert!(tokens["data"].as_array().unwrap().len() > 5 * 20);
    let lenses = client.ask_of("textDocument/codeLens", "main.rw", json!({})).unwrap();
    let titles: Vec<&Value> = lenses.as_array().unwrap().iter().map(|lens| &lens["command"]["title"]).collect();
    assert_eq!(titles, ["Verify", "Verify", "Run example"]);
    // Formatting changes what it must, and makes what `rewright fmt` makes.
    let untidy = "pack u\nimport   std.core\nrule r(x:i32): iadd(x,0)=>x\n";
    fs::write(client.path("u.rw"), untidy).unwrap();
    client.open("u.rw");
    let options = json!({ "options": { "tabSize": 2, "insertSpaces": true } });
    let edits = client.ask_of("textDocument/formatting", "u.rw", options.clone()).unwrap();
    assert_eq!(edited(&client.path("u.rw"), &edits), "pack u\nimport std.core\nrule r(x: i32): iadd(x, 0) => x\n");
    client.open_as("v.rw", "pack v\nrule r(\n");
    let (_, message) = client.ask_of("textDocument/formatting", "v.rw", options).unwrap_err();
    assert!(message.contains("without mistakes of syntax"), "{message}");
    assert_eq!(client.end(), Some(0));
}

#[test]
fn columns_are_bytes_where_the_editor_wants_that() {
    let text = "pack c\nimport std.core\nexample \"é𝄞\" (x: i32): nowhere(x) stays\n";
    for (encodings, column) in [(&["utf-16"][..], 24), (&["utf-8", "utf-16"], 27), (&[], 24)] {
        let mut client = Client::start(&[("c.rw", text)], encodings);
        client.open("c.rw");
        let found = client.wait_for("c.rw", |found| found.iter().any(|d| code(d) == "RW0201"));
        assert_eq!(found[0]["range"]["start"]["character"], json!(column), "{encodings:?}");
        assert_eq!(client.end(), Some(0));
    }
}
