//! `rewright test`: what an author is told of examples that fail, and what `--update` makes of them.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::ran::rewright;
use std::fs;

/// Rules that add too little to what is expected below.
const RULES: &str = "\
pack told
import std.core

ruleset r {
  rule add_zero{T <: Int}(x: T): x + 0 => x
  rule distribute{T <: Int}(x: T, y: T, const c: T): x * (y + c) => x * y + x when c == 2
  rule twice{T <: Int}(x: T): ineg(x) => bnot(x - 1)
}
ruleset idle {
  rule inverted{T <: Int}(x: T): bnot(x) => bxor(x, -1)
}
schedule default {
  run r
}
";

/// The findings of `test` on the rules above with more examples: label, help, and whether there is a fix.
fn told(examples: &str) -> Vec<(String, String, bool)> {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("told.rw"), format!("{RULES}{examples}")).unwrap();
    let ran = rewright(dir.path(), "test told.rw --format json");
    let report: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    let found = report["diagnostics"].as_array().unwrap().iter();
    let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_string();
    found.map(|d| (text(&d["primary"]["text"]), text(&d["help"]), !d["fix"].is_null())).collect()
}

fn one(example: &str) -> (String, String) {
    let found = told(example);
    assert!(found.len() == 1 && found[0].2, "{found:?}");
    (found[0].0.clone(), found[0].1.clone())
}

#[test]
fn the_rule_that_parts_them_is_named() {
    let (label, help) = one("example \"e\" (x: i32): x + 0 becomes x + 0\n");
    assert_eq!(label, "becomes `x`, at cost 0; what is expected costs 4");
    assert!(
        help.contains("told.r.add_zero (told.rw:5) makes it so; without its match it is what is expected"),
        "{help}"
    );
    assert!(help.contains("what is expected is in the e-graph, and costs more"), "{help}");
    let (label, help) = one("example \"e\" (x: i32): x + 0 differs x\n");
    assert_eq!(label, "the two sides are in one class");
    assert!(help.contains("told.r.add_zero (told.rw:5) unites them; without its match they are apart"), "{help}");
    // The second of two rules that change it.
    let (_, help) = one("example \"e\" (x: i32, y: i32): (x + 0) * (y + 2) becomes x * (y + 2)\n");
    assert!(help.contains("told.r.distribute (told.rw:6) makes it so; without its match it is what is"), "{help}");
}

#[test]
fn the_step_that_no_rule_makes_is_named() {
    let (label, help) = one("example \"e\" (x: i32, y: i32): x * (y + 1) becomes x * y + x\n");
    assert_eq!(label, "stays `x * (y + 1)`, at cost 14; what is expected costs 13");
    assert!(help.contains("no rule makes `x * y`, which what is expected needs"), "{help}");
    assert!(help.contains("told.r.distribute (told.rw:6) would: at imul(x, iadd(y, 1)): its condition"), "{help}");
    let (_, help) = one("example \"e\" (x: i32): bnot(x) becomes bxor(x, -1)\n");
    assert!(help.contains("matches bnot(x), but the schedule `told.default` does not run `told.idle`"), "{help}");
    // A part that is there, and one that is there and is something else.
    let (_, help) = one("example \"e\" (x: i32): ineg(x) becomes bnot(x - 1) + 5\n");
    assert!(
        help.contains("no rule makes `5`") && help.contains("the largest part that is there is `bnot(x - 1)`"),
        "{help}"
    );
    let (_, help) = one("example \"e\" (x: i32): ineg(x) becomes x\n");
    assert!(help.contains("in the e-graph, and is not known to be equal"), "{help}");
}

#[test]
fn rules_that_took_no_part_are_told_with_their_nearest_match() {
    let (label, help) = one("example \"e\" (x: i32) fires r.add_zero: x + 1 stays\n");
    assert!(label.contains("the verdict holds, but told.r.add_zero took no part"), "{label}");
    assert!(
        help.contains("told.r.add_zero: at iadd(x, 1): operand 2 of `iadd` is not the literal 0, it is 1"),
        "{help}"
    );
    let (_, help) = one("example \"e\" (x: i32, y: i32) fires r.add_zero: x + y equals x\n");
    assert!(help.contains("operand 2 of `iadd` is not the literal 0, it is y"), "{help}");
}

/// Examples, and what `--update` makes of them; those without a second form stay.
const UPDATED: [(&str, Option<&str>); 8] = [
    ("example \"a\" (x: i32): x + 0 becomes x + 0", Some("example \"a\" (x: i32): x + 0 becomes x")),
    ("example \"b\"  (x : i32): x + 0 becomes x", None),
    (
        "example \"c\" (x: i32, y: i64)\n  fires r.add_zero, r.distribute, r.twice: ineg(y + 0) becomes y // last",
        Some("example \"c\" (x: i32, y: i64) fires r.add_zero, r.twice: ineg(y + 0) becomes ineg(y) // last"),
    ),
    ("todo example \"d\" (x: i32): x + 0 becomes x", Some("example \"d\" (x: i32): x + 0 becomes x")),
    ("todo example \"e\" (x: i32): x + 1 becomes x", None),
    ("example \"f\" (x: i32): x + 0 differs x", Some("example \"f\" (x: i32): x + 0 equals x")),
    (
        "example \"g\" (x: i64) {\n  before { a = load{i32}(x + 0, 8)\n           do store(x, a, 0)\n           return a + 1 }\n  \
         after { return 1 }\n}",
        Some(
            "example \"g\" (x: i64) {\n  before {\n    a = load{i32}(x + 0, 8)\n    do store(x, a, 0)\n    return a + 1\n  }\n  \
             after {\n    r1 = load{i32}(x, 8)\n    do store(x, r1, 0)\n    return r1 + 1\n  }\n}",
        ),
    ),
    // No block of an example says what two branches that join do.
    (
        "example \"h\" (x: i64) {\n  before { if (x) { do store(x, x, 0) } else { do store(x, x, 8) } return x }\n  after { return x }\n}",
        None,
    ),
];

#[test]
fn an_update_makes_examples_pass_and_leaves_the_others_alone() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("told.rw");
    let pack =
        |forms: &mut dyn Iterator<Item = &str>| format!("{RULES}{}\n// end\n", forms.collect::<Vec<_>>().join("\n"));
    fs::write(&path, pack(&mut UPDATED.iter().map(|(before, _)| *before))).unwrap();
    let ran = rewright(dir.path(), "test told.rw");
    assert_eq!(ran.code, Some(1));
    assert!(ran.stdout.contains("8 examples: 2 passed, 6 failed"), "{}{}", ran.stdout, ran.stderr);
    let ran = rewright(dir.path(), "test told.rw -U");
    assert_eq!(ran.code, Some(1));
    assert!(ran.stderr.contains("told.rw: 5 updated"), "{}", ran.stderr);
    assert!(ran.stdout.contains("8 examples: 7 passed, 1 failed"), "{}{}", ran.stdout, ran.stderr);
    let after = fs::read_to_string(&path).unwrap();
    assert_eq!(after, pack(&mut UPDATED.iter().map(|(before, after)| after.unwrap_or(before))));
    rewright(dir.path(), "test told.rw -U");
    assert_eq!(fs::read_to_string(&path).unwrap(), after, "a second update has nothing to do");
}

#[test]
fn coverage_counts_examples_by_rule() {
    let dir = tempfile::tempdir().unwrap();
    let example = "example \"e\" (x: i32) fires r.add_zero: x + 0 becomes x\nexample \"f\" (x: i64): x + 0 equals x\n";
    fs::write(dir.path().join("told.rw"), format!("{RULES}{example}")).unwrap();
    let ran = rewright(dir.path(), "test told.rw --format json");
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let report: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(report["rules"]["told.r.add_zero"], 2);
    let silent = serde_json::json!(["told.r.distribute", "told.r.twice", "told.idle.inverted"]);
    assert_eq!(report["rules_in_no_example"], silent);
    let ran = rewright(dir.path(), "test told.rw --filter add_zero");
    assert_eq!(ran.stdout, "1 example: 1 passed, 0 failed\n");
    fs::write(dir.path().join("told.rw"), "pack told\nrule").unwrap();
    assert_eq!(rewright(dir.path(), "test told.rw").code, Some(1));
    assert_eq!(rewright(dir.path(), "test none.rw").code, Some(2));
}

#[test]
fn a_rule_that_would_give_what_is_expected_is_named_at_the_root() {
    let pack =
        "pack both\nimport std.core\n\nruleset r {\n  rule both{T <: Int}(x: T, y: T): bor(x, band(x, y)) => x\n}\n";
    for claim in ["becomes x", "equals x"] {
        let dir = tempfile::tempdir().unwrap();
        let example = format!("example \"e\" (x: i32, y: i32, z: i32): bor(x, band(z, y)) {claim}\n");
        fs::write(dir.path().join("both.rw"), format!("{pack}{example}")).unwrap();
        let ran = rewright(dir.path(), "test both.rw");
        let would =
            "both.r.both (both.rw:5) would: at bor(x, band(z, y)): operand 1 of `band` would have to be `x` again";
        assert!(ran.stderr.contains(would), "{}", ran.stderr);
    }
}

#[test]
fn a_folder_is_updated_and_what_it_only_imports_is_not() {
    let dir = tempfile::tempdir().unwrap();
    let example = |sum: &str| format!("example \"e\" (x: i32): x + {sum} becomes x + 1\n");
    let (used, user) = (format!("{RULES}{}", example("0")), format!("pack user\nimport told\n{}", example("2")));
    fs::create_dir(dir.path().join("std")).unwrap();
    for (name, text) in [("told.rw", &used), ("user.rw", &user), ("std/core.rw", &"not the one that ships".to_string())]
    {
        fs::write(dir.path().join(name), text).unwrap();
    }
    let read = |name: &str| fs::read_to_string(dir.path().join(name)).unwrap();
    assert_eq!(rewright(dir.path(), "test ./user.rw -U").code, Some(0));
    assert_eq!((read("told.rw"), read("user.rw")), (used.clone(), user.replace("becomes x + 1", "stays")));
    assert_eq!(read("std/core.rw"), "not the one that ships");
    fs::remove_dir_all(dir.path().join("std")).unwrap();
    let ran = rewright(dir.path(), "test . -U");
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert_eq!(read("told.rw"), used.replace("becomes x + 1", "becomes x"));
}
