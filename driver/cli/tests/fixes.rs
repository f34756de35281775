//! `check --fix`: each finding that has one repair, and the pack after it.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::process::Command;

/// A pack's rules before and after. Each is in a ruleset of its own, behind `import std.core` unless it stands alone.
const REPAIRED: [(&str, &str, &str); 13] = [
    ("RW0502", "rule a{T <: Int}(x: T, y: T, z: i32): iadd(x, 0) => x", "rule a{T <: Int}(x: T): iadd(x, 0) => x"),
    ("RW0502", "rule a{T <: Int}(y: T, x: T): iadd(x, 0) => x", "rule a{T <: Int}(x: T): iadd(x, 0) => x"),
    ("RW0502", "rule a(x: i32): iadd(1, 0) => iadd(0, 1)", "rule a(): iadd(1, 0) => iadd(0, 1)"),
    ("RW0502", "rule a{T <: Int, U <: Int}(x: T): iadd(x, 0) => x", "rule a{T <: Int}(x: T): iadd(x, 0) => x"),
    ("RW0502", "rule a{U}(x: i32): iadd(x, 0) => x", "rule a(x: i32): iadd(x, 0) => x"),
    ("RW0508", "dynamic rule a(x: i32): iadd(x, 0) => x", "rule a(x: i32): iadd(x, 0) => x"),
    (
        "RW0405",
        "rule a(const x: i32, const y: i32): iadd(x, y) => iadd(eval(x + 1), eval(y - 1))",
        "dynamic rule a(const x: i32, const y: i32): iadd(x, y) => iadd(eval(x + 1), eval(y - 1))",
    ),
    ("RW0402", "rule a(x: i32): iadd(x, 0) <=> x", "rule a(x: i32): iadd(x, 0) => x"),
    ("RW0107", "rule a(x: i32): iadd(x, 0) => x\n  /// Last.", "rule a(x: i32): iadd(x, 0) => x\n  // Last."),
    (
        "RW0506",
        "rule a(x: i32): iadd(x, 0) => x\n  example \"a\" (x: i32) fires a, a: x + 0 becomes x",
        "rule a(x: i32): iadd(x, 0) => x\n  example \"a\" (x: i32) fires a: x + 0 becomes x",
    ),
    (
        "RW0109",
        "rule a(x: i32): iadd(x, 0) => x\n}\nfn f(x: i32) -> i32  pure  pure  cost 1\nruleset s {",
        "rule a(x: i32): iadd(x, 0) => x\n}\nfn f(x: i32) -> i32  pure    cost 1\nruleset s {",
    ),
    ("RW0201", "rule a(x: i32): idad(x, 0) => x", "rule a(x: i32): iadd(x, 0) => x"),
    ("RW0307", "rule a{T}(x: T): x + 0 => x", "rule a{T <: Int}(x: T): x + 0 => x"),
];

/// The text after `check --fix`, with the codes of what is found before and after.
fn fixed(text: &str) -> (String, Vec<String>, Vec<String>) {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("p.rw"), text).unwrap();
    let found = |more: &str| -> Vec<String> {
        let mut command = Command::new(env!("CARGO_BIN_EXE_rewright"));
        let command = command.current_dir(dir.path()).args(["check", "./p.rw", "--format", "json"]);
        let output = command.args(more.split_whitespace()).output().unwrap();
        let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let found = report["diagnostics"].as_array().unwrap().iter();
        found.map(|found| found["code"].as_str().unwrap().to_string()).collect()
    };
    let before = found("");
    let after = found("--fix");
    (fs::read_to_string(dir.path().join("p.rw")).unwrap(), before, after)
}

#[test]
fn what_has_one_repair_is_repaired() {
    for (code, before, after) in REPAIRED {
        let pack = |rule: &str| format!("pack p\nimport std.core\n\nruleset r {{\n  {rule}\n}}\n");
        let (text, found, left) = fixed(&pack(before));
        assert!(found.iter().any(|found| found == code), "{before}: {found:?}");
        assert_eq!(text, pack(after));
        assert!(left.iter().all(|left| ["RW0501", "RW0502"].contains(&left.as_str())), "{after}: {left:?}");
        assert!(left.iter().filter(|left| *left == code).count() == 0, "{after}: {left:?}");
    }
}

#[test]
fn a_missing_import_is_the_pack_that_declares_the_name() {
    let rules = "ruleset r {\n  rule a{T <: Int}(x: T): x + 77 => x - (-77)\n  rule b(x: i32): bnot(bnot(x)) => x\n}\n";
    for (before, after) in [
        (format!("pack p\n\n{rules}"), format!("pack p\nimport std.core\n\n{rules}")),
        (rules.to_string(), format!("import std.core\n{rules}")),
        (
            format!("import std.arith as arith\n\n{rules}"),
            format!("import std.arith as arith\nimport std.core\n\n{rules}"),
        ),
    ] {
        let (text, found, left) = fixed(&before);
        assert!(found.iter().any(|code| code == "RW0202"), "{found:?}");
        assert_eq!(text, after);
        assert!(left.iter().all(|left| left == "RW0501"), "{left:?}");
    }
}

#[test]
fn what_may_be_meant_otherwise_is_left_to_its_author() {
    for text in [
        // A name that is near, and one that ships.
        "pack p\ntype T\nfn iaddd(x: T) -> T  pure  cost 1\nrule a(x: T): iadd(x) => x\n",
        // Only some of its names are wanted.
        "pack p\nimport std.core (Int)\nrule a{T <: Int}(x: T): bnot(bnot(x)) => x\n",
        // For the pack, or for what follows.
        "pack p\nimport std.core\n//! Adds nothing.\nrule a(x: i32): iadd(x, 0) => x\n",
        // No bound is below both.
        "pack p\nimport std.core\nrule a{T}(x: T): iadd(fadd(x, x), x) => x\n",
        // The pack that declares the name is known, but the function takes other types.
        "pack p\nimport std.core\nrule a(x: i32, k: i32): imul(x, k) => ishl{i32, i32}(x, log2(k))\n",
        // A computation on the left would have to be on the right, or not be there at all.
        "pack p\nimport std.core\nrule a(const x: i32): iadd(eval(x), 0) => x\n",
    ] {
        let (after, found, left) = fixed(text);
        assert_eq!(after, text);
        assert!(found.iter().any(|code| code != "RW0501") && found == left, "{text}: {found:?}");
    }
}
