//! `validate` of two files: a verdict for each function, exit codes, and inputs that can be replayed.

use crate::ran::{Ran, rewright};
use std::fs;
use std::path::Path;

const BEFORE: &str = "declare i32 @ext(i32)\n\
    define i32 @same(i32 %x) {\n  %y = add i32 %x, 1\n  ret i32 %y\n}\n\
    define i32 @renamed(i32 %x) {\n  %y = mul i32 %x, %x\n  ret i32 %y\n}\n\
    define i32 @better(i32 %x) {\n  %y = add nsw i32 %x, %x\n  ret i32 %y\n}\n\
    define i32 @worse(i32 %x) {\n  %y = add i32 %x, 7\n  ret i32 %y\n}\n\
    define i32 @thaws(i32 %x) {\n  %y = freeze i32 %x\n  ret i32 %y\n}\n\
    define internal i32 @local(i32 %x) {\n  ret i32 %x\n}\n\
    define i32 @signature(i32 %x) {\n  ret i32 %x\n}\n\
    define i32 @goes(i32 %x) {\n  ret i32 %x\n}\n\
    define i32 @loops(i32 %x) {\ne:\n  br label %l\nl:\n  %i = phi i32 [ 0, %e ], [ %j, %l ]\n  %j = add i32 %i, 1\n  \
    %c = icmp ult i32 %j, 4\n  br i1 %c, label %l, label %o\no:\n  %r = add i32 %x, %j\n  ret i32 %r\n}\n";

/// Each function of [`BEFORE`] in another form.
fn after() -> String {
    let changes = [
        ("  %y = mul i32 %x, %x\n  ret i32 %y", "  %z = mul i32 %x, %x\n  ret i32 %z"),
        ("add nsw i32 %x, %x", "shl i32 %x, 1"),
        ("add i32 %x, 7", "add i32 %x, 8"),
        ("  %y = freeze i32 %x\n  ret i32 %y", "  ret i32 %x"),
        ("@local(i32 %x) {\n  ret i32 %x", "@local(i32 %x) {\n  ret i32 5"),
        ("@signature(i32 %x)", "@signature(i32 %x, i32 %y)"),
        ("@goes(", "@comes("),
        ("%r = add i32 %x, %j", "%r = add i32 %x, 4"),
    ];
    changes.iter().fold(BEFORE.to_string(), |text, (from, to)| {
        assert!(text.contains(from), "{from}");
        text.replace(from, to)
    })
}

fn validate(dir: &Path, more: &str) -> Ran {
    rewright(dir, &format!("validate before.ll after.ll --method replayed,refined {more}"))
}

fn files() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("before.ll"), BEFORE).unwrap();
    fs::write(dir.path().join("after.ll"), after()).unwrap();
    dir
}

fn report(ran: &Ran) -> serde_json::Value {
    serde_json::from_str(&ran.stdout).unwrap_or_else(|e| panic!("{e}: {}{}", ran.stdout, ran.stderr))
}

#[test]
fn every_function_has_a_verdict() {
    let dir = files();
    let ran = validate(dir.path(), "--format json");
    let report = report(&ran);
    assert_eq!(ran.code, Some(1), "{report}");
    let verdicts: Vec<(&str, &str)> = report["functions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|f| (f["function"].as_str().unwrap(), f["verdict"].as_str().unwrap()))
        .collect();
    let expected = [
        ("@renamed", "proved"),
        ("@better", "proved"),
        ("@worse", "refuted"),
        ("@thaws", "refuted"),
        ("@local", "unknown"),
        ("@signature", "unknown"),
        ("@goes", "unknown"),
        ("@loops", "tested"),
        ("@comes", "unknown"),
    ];
    assert_eq!(verdicts, expected, "{report}");
    let counts = ["proved", "refuted", "tested", "unknown"].map(|kind| report["counts"][kind].as_u64().unwrap());
    assert_eq!((counts, counts.iter().sum::<u64>()), ([2, 2, 1, 4], report["counts"]["pairs"].as_u64().unwrap()));
    assert_eq!((report["unchanged"].as_u64(), report["schema"].as_u64()), (Some(1), Some(1)));
    let reasons = report["functions"].to_string();
    for said in [
        "its signature was",
        "only the first file defines it",
        "only the second file defines it",
        "local to its module",
    ] {
        assert!(reasons.contains(said), "{said}: {reasons}");
    }
}

#[test]
fn a_refutation_can_be_replayed() {
    let dir = files();
    let refuted = report(&validate(dir.path(), "--format json --fn worse"));
    let function = &refuted["functions"][0];
    assert_eq!(function["verdict"], "refuted", "{refuted}");
    fs::write(dir.path().join("g.json"), function["input"].to_string()).unwrap();
    let again = validate(dir.path(), "--format json --fn worse --input g.json");
    assert_eq!((again.code, &report(&again)["functions"][0]["after"]), (Some(1), &function["after"]));
    // On the same input the first version does what it does.
    let ran = rewright(dir.path(), "validate before.ll before.ll --fn worse --input g.json");
    assert_eq!(ran.code, Some(0), "{}{}", ran.stdout, ran.stderr);
    let text = validate(dir.path(), "");
    assert!(text.stdout.contains("@worse: refuted: on (") && text.stdout.contains("FILE has {"), "{}", text.stdout);
}

#[test]
fn what_is_asked_for_wrongly_is_said() {
    let dir = files();
    fs::write(dir.path().join("bad.json"), "{\"arguments\": 3}").unwrap();
    for (more, says) in [
        ("--fn nowhere", "neither file defines @nowhere"),
        ("--fn worse --input none.json", "cannot read none.json"),
        ("--fn worse --input bad.json", "bad.json is no input"),
        ("--input bad.json", "--fn"),
    ] {
        let ran = validate(dir.path(), more);
        assert!(ran.code == Some(2) && ran.stderr.contains(says), "{more}: {}{}", ran.stdout, ran.stderr);
    }
}
