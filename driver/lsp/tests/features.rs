//! Hovers, places of names, and completions.

use crate::support::snapshot;
use lsp_types::HoverContents;
use rewright_lsp::completion::completions;
use rewright_lsp::hover::hover;
use rewright_lsp::navigation::{keys, mentions};
use rewright_lsp::position::Encoding;
use rewright_lsp::rename::{self, RenameError};
use rewright_lsp::snapshot::Snapshot;
use rewright_lsp::{hints, symbols};
use rewright_packs::Evidence;
use std::collections::BTreeMap;

const PACK: &str = "\
//! Of doubling.
pack t
import std.core
import std.arith as a

/// Twice as much.
@model(\"add\")
fn plus{T <: Int}(x: T, y: T) -> T  pure  cost 7  commutative
fn twice{T <: Int}(value: T) -> T  pure  cost 3
fact small{T <: Int}(x: T)
type Mine

ruleset mine {
  /// Doubled.
  rule doubled{T <: Int}(x: T): twice(x) => plus(x, x) when small(x)
  rule bare(p, q): plus(p, q) => plus(q, p)
}
schedule default { saturate mine }
example \"doubled\" (n: i32) fires mine.doubled using default: twice(n) becomes plus(n, n)
";

/// Splits a text at `|`.
fn cursor(marked: &str) -> (String, u32) {
    let at = marked.find('|').expect("a cursor");
    (marked.replacen('|', "", 1), at as u32)
}

fn said(text: &str, needle: &str) -> String {
    let snapshot = snapshot(text, Encoding::Utf16);
    let evidence = |_: &str| Evidence::from([("t.mine.doubled".to_string(), vec!["4 equal".to_string()])]);
    let at = text.find(needle).expect("the text has it") as u32;
    let file = snapshot.file("/t.rw").expect("analysed");
    match hover(&snapshot, file, at, &evidence).map(|hover| hover.contents) {
        Some(HoverContents::Markup(content)) => content.value,
        _ => String::new(),
    }
}

#[test]
fn hover_says_what_is_known() {
    for (needle, expected) in [
        ("plus(x, x) when", "plus{T <: Int}(x: T, y: T) -> T"),
        ("plus(x, x) when", "cost: 7"),
        ("plus(x, x) when", "effects: none"),
        ("plus(x, x) when", "meaning: the model `add`"),
        ("plus(x, x) when", "laws: commutative"),
        ("plus(x, x) when", "Twice as much."),
        ("plus(x, x) when", "in `t`"),
        ("doubled using", "Evidence, in type instances: 4 equal."),
        ("doubled using", "In 1 example."),
        ("bare", "Evidence: none is recorded"),
        ("x, x) when", "x: T"),
        ("p, q): plus", "p: some Int"),
        ("small(x)\n  rule", "fact small{T <: Int}(x: T)"),
        ("mine }", "2 rules"),
        ("becomes", "The cheapest form is this expression."),
        ("model(", "**@model**"),
        ("std.arith as", "pack std.arith"),
    ] {
        let found = said(PACK, needle);
        assert!(found.contains(expected), "{needle}: {expected} is not in\n{found}");
    }
    assert_eq!(said(PACK, "doubling"), "", "a comment says what it says");
}

fn offered(marked: &str) -> Vec<String> {
    let (text, at) = cursor(marked);
    let snapshot = snapshot(&text, Encoding::Utf16);
    let file = snapshot.file("/t.rw").expect("analysed");
    let packs = || vec!["std.arith".to_string(), "std.core".to_string()];
    completions(&snapshot, file, at, &packs).into_iter().map(|item| item.label).collect()
}

#[test]
fn completion_knows_what_is_wanted() {
    let with = |tail: &str| format!("{PACK}{tail}");
    for (marked, wanted, unwanted) in [
        (with("import |"), "std.arith", "rule"),
        (with("import std.a|"), "std.arith", "iadd"),
        (with("ru|"), "rule", "iadd"),
        (with("@sa|"), "sample", "rule"),
        (with("rule r{T <: I|"), "Int", "iadd"),
        (with("rule r{T <: Int}(number: |"), "T", "plus"),
        (with("rule r{T <: Int}(number: T): tw|"), "twice", "Mine"),
        (with("rule r{T <: Int}(number: T): twice(nu|"), "number", "Mine"),
        (with("rule r(number: i32): twice(number) => a.|"), "a.none", "plus"),
        (with("example \"e\" (x: i32) fires |"), "mine.doubled", "plus"),
        (with("example \"e\" (x: i32) fires mine.|"), "doubled", "plus"),
        (with("example \"e\" (x: i32) using |"), "default", "plus"),
        (with("schedule s { saturate |"), "mine", "plus"),
        (with("fn f(x: i32) -> i32  effects |"), "reads", "plus"),
        (with("rule r(x: i32): twice(x) => x when sm|"), "small", "Mine"),
    ] {
        let found = offered(&marked);
        let tail = marked.rsplit('\n').next().unwrap_or_default().to_string();
        // An alias brings operations in that its pack declares; `std.arith` declares none.
        assert!(
            wanted.contains('.') && wanted.ends_with("none") || found.iter().any(|label| label == wanted),
            "{tail}: no {wanted} in {found:?}"
        );
        assert!(found.iter().all(|label| label != unwanted), "{tail}: {unwanted} in {found:?}");
    }
    assert!(offered(&with("// ru|")).is_empty() && offered(&with("example \"ru|\"")).is_empty());
    assert!(offered(&with("rule |")).is_empty(), "a new name is the author's");
}

fn renamed(text: &str, needle: &str, new: &str) -> Result<String, RenameError> {
    let before = snapshot(text, Encoding::Utf16);
    let file = before.file("/t.rw").expect("analysed");
    let at = text.find(needle).expect("the text has it") as u32;
    let (_, old) = rename::subject(&before, file, at)?;
    let (keys, _) = keys(&before, file, at).expect("a name");
    let again = |_: usize, texts: &BTreeMap<String, String>| -> Snapshot {
        snapshot(texts.get("/t.rw").map_or(text, String::as_str), Encoding::Utf16)
    };
    let edits = rename::rename(&old, new, &keys, &[&before], &again)?;
    let mut text = text.to_string();
    for (start, end) in edits.get("/t.rw").into_iter().flatten().rev() {
        text.replace_range(*start as usize..*end as usize, new);
    }
    Ok(text)
}

#[test]
fn a_rename_changes_every_mention_and_no_meaning() {
    let text = renamed(PACK, "twice(x)", "double").expect("it can be renamed");
    assert_eq!((text.matches("twice").count(), text.matches("double{T").count()), (0, 1));
    assert!(text.contains("double(x) => plus") && text.contains("double(n) becomes"));
    let text = renamed(PACK, "doubled using", "two").expect("a rule");
    assert!(text.contains("rule two{T") && text.contains("fires mine.two using") && text.contains("\"doubled\""));
    let text = renamed(PACK, "mine.doubled", "ours").expect("a ruleset");
    assert!(text.contains("ruleset ours {") && text.contains("saturate ours") && text.contains("fires ours.doubled"));
    let text = renamed(PACK, "x, x) when", "z").expect("a variable");
    assert!(text.contains("(z: T): twice(z) => plus(z, z) when small(z)") && text.contains("(x: T, y: T)"));
    let text = renamed(PACK, "a\n", "arith").expect("an alias");
    assert!(text.contains("import std.arith as arith"));
}

#[test]
fn a_rename_that_would_change_a_meaning_is_refused() {
    for (needle, new, why) in [
        ("twice(x)", "plus", "means something already"),
        ("q, p)", "p", "means something already"),
        ("twice(x)", "rule", "is not a name"),
        ("twice(x)", "1x", "is not a name"),
        ("twice(x)", "a b", "is not a name"),
        ("Int}(x: T, y", "Whole", "ships with Rewright"),
        ("t\nimport", "u", "a pack is called as its file"),
        ("doubled\" (n", "u", "title"),
        ("when small", "u", "nothing here"),
    ] {
        let message = renamed(PACK, needle, new).map_err(|error| error.to_string()).expect_err(needle);
        assert!(message.contains(why), "{needle} to {new}: {message}");
    }
    let broken = format!("{PACK}rule half(x: i32): twice(x) =>\n");
    let message = renamed(&broken, "twice(x)", "double").expect_err("a mention may be missing").to_string();
    assert!(message.contains("mend them first"), "{message}");
}

#[test]
fn references_are_all_and_only_those() {
    let snapshot = snapshot(PACK, Encoding::Utf16);
    let file = snapshot.file("/t.rw").expect("analysed");
    let at = PACK.find("twice(x)").expect("there") as u32;
    let (keys, elsewhere) = keys(&snapshot, file, at).expect("a name");
    let found = mentions(&snapshot, &keys);
    assert!(elsewhere && found.len() == PACK.matches("twice").count());
    assert_eq!(found.iter().filter(|mention| mention.declares).count(), 1);
}

#[test]
fn hints_stand_where_no_type_is_written() {
    let snapshot = snapshot(PACK, Encoding::Utf16);
    let file = snapshot.file("/t.rw").expect("analysed");
    let found = hints::hints(&snapshot, file, (0, PACK.len() as u32));
    assert_eq!(found.len(), 2, "{found:?}");
}

#[test]
fn names_are_found_by_some_of_their_characters() {
    assert!(symbols::matches("add_zero", "AZ") && symbols::matches("x", "") && !symbols::matches("add", "dda"));
}
