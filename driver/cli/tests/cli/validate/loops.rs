//! `validate` of loops of CLIF and our own text: what compilers make of them is proved, and what they must not make of
//! them never is.

use super::report;
use crate::ran::rewright;
use std::fs;
use std::path::Path;

/// `function: verdict` for each function of two files in a folder.
fn verdicts(dir: &Path, before: &str, after: &str) -> Vec<(String, String)> {
    let found = report(&rewright(dir, &format!("validate {before} {after} --format json")));
    let text = |value: &serde_json::Value| value.as_str().unwrap().to_string();
    let word =
        |f: &serde_json::Value| if f["precondition"].is_null() { text(&f["verdict"]) } else { "proved if".into() };
    found["functions"].as_array().unwrap().iter().map(|f| (text(&f["function"]), word(f))).collect()
}

/// Pairs of one kind.
fn pairs(name: &str) -> Vec<(String, String)> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cli/validate/loops");
    verdicts(&dir, &format!("{name}.before.clif"), &format!("{name}.after.clif"))
}

/// Moved out of loops, rotated, peeled, unrolled, widened, strength-reduced; with loads, calls, and without an end.
#[test]
fn changed_loops_are_proved() {
    let open: Vec<(String, String)> = pairs("same").into_iter().filter(|(_, verdict)| verdict != "proved").collect();
    assert!(open.is_empty(), "{open:?}");
}

/// Other bounds, starts and steps; stores that are swapped, dropped and sunk; loops that no longer end, and endless ones
/// that are gone; traps, calls and loads that are moved too far; promises that are new.
#[test]
fn other_loops_are_never_proved() {
    let all = pairs("other");
    let count = |verdict: &str| all.iter().filter(|(_, said)| said == verdict).count();
    assert_eq!(count("proved"), 0, "{all:?}");
    // A load of what no store in the loop reaches, if arguments do not overlap.
    assert_eq!(count("proved if"), 1, "{all:?}");
    assert!(count("refuted") >= 42, "{all:?}");
}

#[test]
fn loops_of_our_own_text_are_proved() {
    let dir = tempfile::tempdir().unwrap();
    let before = "func %f(%n: i64, %k: i64) -> i64 {\n  %zero: i64 = const 0\n  jump head(%zero, %zero)\n\
        head(%i: i64, %sum: i64):\n  %more = icmp_slt %i, %n\n  br %more, body, done\n\
        body:\n  %p = imul %i, %k\n  %s = iadd %sum, %p\n  %one: i64 = const 1\n  %j = iadd %i, %one\n  \
        jump head(%j, %s)\ndone:\n  return %sum\n}\n";
    fs::write(dir.path().join("a.ir"), before).unwrap();
    fs::write(dir.path().join("b.ir"), before.replace("imul %i, %k", "imul %k, %i")).unwrap();
    fs::write(dir.path().join("c.ir"), before.replace("icmp_slt", "icmp_sle")).unwrap();
    let proved = |verdict: &str| vec![("%f".to_string(), verdict.to_string())];
    assert_eq!(verdicts(dir.path(), "a.ir", "b.ir"), proved("proved"));
    assert_eq!(verdicts(dir.path(), "a.ir", "c.ir"), proved("refuted"));
}
