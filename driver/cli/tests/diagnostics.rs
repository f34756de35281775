//! The index of diagnostics is true: each code's example gives it, each code that the sources name is in the table, and
//! the page in `docs/` is the one that the table makes. `BLESS=1` writes that page.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::ran::rewright;
use rewright_dsl::codes::{self, Code};
use rewright_report::reference::diagnostics;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use tempfile::TempDir;

/// What a code's example gives, as codes and messages.
fn found(code: &Code) -> Vec<(String, String)> {
    let dir: TempDir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("example.rw"), code.example).unwrap();
    let command = if code.is_verdict() { "verify example.rw --no-cache --threads 1" } else { "check example.rw" };
    let ran = rewright(dir.path(), &format!("{command} --format sarif"));
    let report: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|e| panic!("{e}: {ran:?}"));
    let results = report["runs"][0]["results"].as_array().unwrap_or_else(|| panic!("{report:#}")).iter();
    let text = |value: &serde_json::Value| value.as_str().unwrap().to_string();
    // The text that follows the message stands in lines of its own.
    let message = |result: &serde_json::Value| text(&result["message"]["text"]).lines().next().unwrap().to_string();
    results.map(|result| (text(&result["ruleId"]), message(result))).collect()
}

/// An example gives its code and nothing else: what is wrong in it is what the page is about.
#[test]
fn every_example_gives_its_code() {
    let codes: Vec<&Code> = codes::all().collect();
    let next = AtomicUsize::new(0);
    let wrong = || {
        let mut wrong = vec![];
        while let Some(code) = codes.get(next.fetch_add(1, Ordering::Relaxed)) {
            let found = found(code);
            let is_said = found.iter().any(|(name, message)| name == code.code && code.reads(message));
            // Of too many mistakes some are shown.
            let others = found.iter().filter(|(name, _)| name != code.code && code.code != "RW0100").count();
            if !is_said || others > 0 {
                wrong.push(format!("{} ({}): {found:?}", code.code, code.message));
            }
        }
        wrong
    };
    let wrong: Vec<String> = std::thread::scope(|scope| {
        let workers = [scope.spawn(wrong), scope.spawn(wrong)];
        workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect()
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Codes in quotes, in the sources below a folder.
fn named(folder: &Path, codes: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        let name = entry.file_name().unwrap().to_str().unwrap();
        let is_source = name.ends_with(".rs") && name != "codes.rs";
        if entry.is_dir() && !["codes", "tests", "target", "testdata"].contains(&name) {
            named(&entry, codes);
        } else if entry.is_file() && is_source {
            let text = fs::read_to_string(&entry).unwrap();
            let literals = text.split("\"RW").skip(1).filter_map(|rest| rest.split('"').next());
            codes.extend(
                literals.filter(|rest| rest.len() == 4 && rest.parse::<u32>().is_ok()).map(|rest| format!("RW{rest}")),
            );
        }
    }
}

#[test]
fn the_table_has_every_code_of_the_sources() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut used = BTreeSet::new();
    for folder in ["dsl/src", "driver"] {
        named(&root.join(folder), &mut used);
    }
    used.remove("RW9999");
    let known: BTreeSet<String> = codes::all().map(|code| code.code.to_string()).collect();
    assert_eq!(known, used);
}

#[test]
fn the_page_is_what_the_table_makes() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/diagnostics.md");
    let made = diagnostics::markdown();
    if std::env::var_os("BLESS").is_some() {
        fs::write(&page, &made).unwrap();
    }
    let there = fs::read_to_string(&page).unwrap_or_default();
    assert!(there == made, "docs/diagnostics.md is not what dsl/src/codes says; BLESS=1 writes it");
}

#[test]
fn a_code_is_explained_with_its_message_and_example() {
    let dir = tempfile::tempdir().unwrap();
    let said = rewright(dir.path(), "explain rw0401").stdout;
    let code = codes::find("RW0401").unwrap();
    for part in [code.title, code.text, code.message, "    rule f(x: i32): x => iadd(x, 0)"] {
        assert!(said.contains(part), "{part}: {said}");
    }
}
