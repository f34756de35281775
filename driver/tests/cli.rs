//! The command line on good and bad input: exit codes, messages, and never a panic.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

struct Ran {
    code: Option<i32>,
    stdout: String,
    stderr: String,
}

fn rewright(dir: &Path, args: &str) -> Ran {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rewright"));
    let output = command.current_dir(dir).args(args.split_whitespace()).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    let ran = Ran { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) };
    assert!(!ran.stderr.contains("panicked"), "{args}: {}", ran.stderr);
    ran
}

fn inputs() -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    let mut ten = String::from("pack ten\nimport std.core\n\nruleset r {\n");
    for i in 0..10 {
        ten.push_str(&format!("  rule r{i}(x: i32): nothing{i}(x, 0) => x\n"));
    }
    ten.push_str("}\n");
    let deep = "(".repeat(5_000_000);
    let head = "function %f(i32) -> i32 {\nblock0(v0: i32):\n";
    let good = format!("{head}    v1 = iconst.i32 0\n    v2 = iadd v0, v1\n    return v2\n}}\n");
    let unknown = format!("{head}    v1 = frobnicate v0\n    return v1\n}}\n");
    let truncated = format!("{head}    v1 = iadd v0,");
    let files: [(&str, &[u8]); 9] = [
        ("good.clif", good.as_bytes()),
        ("unknown.clif", unknown.as_bytes()),
        ("truncated.clif", truncated.as_bytes()),
        ("deep.clif", deep.as_bytes()),
        ("deep.rw", deep.as_bytes()),
        ("bytes.clif", b"\xff\xfe\0"),
        ("bytes.rw", b"\xff\xfe\0"),
        ("ten.rw", ten.as_bytes()),
        ("missing.rw", b"pack m\nimport no.such\n"),
    ];
    for (name, text) in files {
        fs::write(dir.path().join(name), text).unwrap();
    }
    dir
}

/// Command line, exit code, and what stderr must say.
const COMPLAINTS: [(&str, i32, &str); 22] = [
    ("nosuch", 2, "unrecognized subcommand"),
    ("opt", 2, "required arguments"),
    ("opt none.clif", 2, "cannot read none.clif"),
    ("opt good.clif --fn nope", 2, "has no function nope; it has %f"),
    ("opt good.clif --rules nope", 2, "cannot read nope"),
    ("opt good.clif -o nowhere/x", 2, "cannot write nowhere/x"),
    ("opt truncated.clif", 1, "truncated.clif: 3:"),
    ("opt unknown.clif", 1, "Unknown opcode: 'frobnicate'"),
    ("opt deep.clif", 1, "deep.clif: 1:1"),
    ("opt bytes.clif", 1, "not UTF-8"),
    ("opt good.clif --rules deep.rw", 1, "RW0104"),
    ("run good.clif --fn nope 1", 2, "has no function nope"),
    ("run good.clif --fn f", 2, "expected an i32"),
    ("run deep.clif --fn f", 1, "deep.clif: 1:1"),
    ("check none.rw", 2, "cannot read none.rw"),
    ("check deep.rw", 1, "RW0104"),
    ("check bytes.rw", 2, "not UTF-8"),
    ("check missing.rw", 1, "RW0207"),
    ("fmt deep.rw", 1, "RW0104"),
    ("fmt bytes.rw", 2, "not UTF-8"),
    ("explain RW9999", 2, "no diagnostic RW9999"),
    ("difftest none", 2, "no such file"),
];

#[test]
fn bad_input_is_named() {
    let dir = inputs();
    for (args, code, says) in COMPLAINTS {
        let ran = rewright(dir.path(), args);
        assert_eq!(ran.code, Some(code), "{args}: {}", ran.stderr);
        assert!(ran.stderr.contains(says), "{args}: {}", ran.stderr);
    }
}

#[test]
fn every_mistake_is_reported() {
    let dir = inputs();
    let ran = rewright(dir.path(), "check ten.rw");
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    for i in 0..10 {
        assert!(ran.stderr.contains(&format!("unknown function `nothing{i}`")), "{}", ran.stderr);
    }
    assert!(ran.stdout.contains("10 errors"), "{}", ran.stdout);
}

/// A wrong rule.
const WRONG: &str =
    "pack wrong\nimport std.core\n\nruleset wrong {\n  rule forgets{T <: Int}(x: T): popcnt(x) => x\n}\n";

#[test]
fn random_functions_find_a_wrong_rule_at_once() {
    let dir = inputs();
    fs::write(dir.path().join("wrong.rw"), WRONG).unwrap();
    let ran = rewright(dir.path(), "fuzz --rules wrong.rw --count 20 --size 6 --seed 20 --format json");
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    let report: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    let findings = report["findings"].as_array().unwrap();
    assert!(!findings.is_empty());
    // Each of them was told on the way, before the report.
    assert_eq!(ran.stderr.lines().filter(|l| l.starts_with("seed ")).count(), findings.len());
    for finding in findings {
        assert!((20..40).contains(&finding["seed"].as_u64().unwrap()), "{finding}");
        assert!(finding["rules"].to_string().contains("forgets"), "{finding}");
    }
}

#[test]
fn random_functions_are_reported() {
    let dir = inputs();
    let ran = rewright(dir.path(), "fuzz --count 40 --size 12 --seed 7 --format json");
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
    let report: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    let number = |key: &str| report[key].as_u64().unwrap();
    assert_eq!((number("seed"), number("functions"), number("interpreted")), (7, 40, 160));
    assert!(number("compiled") > 80 && number("trapped") > 0, "{report}");
    assert_eq!(report["findings"].as_array().unwrap().len(), 0);
    assert!(report["nan_dependent"].is_u64() && report["not_compiled"].is_object());
    let text = rewright(dir.path(), "fuzz --count 1 --size 12 --seed 7 --interpret").stdout;
    assert!(text.starts_with("1 functions from seed 7"), "{text}");
}

#[test]
fn good_input_is_clean() {
    let dir = inputs();
    assert!(rewright(dir.path(), "--help").stdout.contains("Usage:"));
    assert_eq!(rewright(dir.path(), "run good.clif --fn f 7").stdout, "7\n");
    let first = rewright(dir.path(), "opt good.clif");
    assert_eq!(first.code, Some(0), "{}", first.stderr);
    assert!(!first.stdout.contains("iadd"), "{}", first.stdout);
    for args in ["opt good.clif", "opt good.clif --threads 2"] {
        assert_eq!(rewright(dir.path(), args).stdout, first.stdout, "{args}");
    }
}
