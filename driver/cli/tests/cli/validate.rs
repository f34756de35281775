//! `validate` of two files: a verdict for each function, exit codes, and inputs that can be replayed.

use crate::ran::{Ran, rewright};
use std::fs;
use std::path::Path;

mod blocks;
mod by_rules;
mod callees;
mod commands;
mod differing;
mod divisions;
mod folders;
mod languages;
mod loops;
mod nests;
mod partial;

const BEFORE: &str = "declare i32 @ext(i32)\n\
    define i32 @same(i32 %x) {\n  %y = add i32 %x, 1\n  ret i32 %y\n}\n\
    define i32 @renamed(i32 %x) {\n  %y = mul i32 %x, %x\n  ret i32 %y\n}\n\
    define i32 @better(i32 %x) {\n  %y = add nsw i32 %x, %x\n  ret i32 %y\n}\n\
    define i32 @worse(i32 %x) {\n  %y = add i32 %x, 7\n  ret i32 %y\n}\n\
    define i32 @thaws(i32 %x) {\n  %y = freeze i32 %x\n  ret i32 %y\n}\n\
    define internal i32 @local(i32 %x) {\n  ret i32 %x\n}\n\
    define i32 @signature(i32 %x) {\n  ret i32 %x\n}\n\
    define i32 @goes(i32 %x) {\n  ret i32 %x\n}\n\
    define i32 @loops(i32 %x) {\ne:\n  br label %l\nl:\n  %i = phi i32 [ 0, %e ], [ %j, %l ]\n  %j = add i32 %i, 3\n  \
    %c = icmp ult i32 %j, 900\n  br i1 %c, label %l, label %o\no:\n  %r = add i32 %x, %j\n  ret i32 %r\n}\n";

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
        ("%r = add i32 %x, %j", "%r = add i32 %x, 900"),
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

/// Every function of both texts is counted, once.
fn assert_adds_up(report: &serde_json::Value, before: &str, after: &str) {
    let [pairs, first, second] = ["pairs", "only_first", "only_second"].map(|n| report["counts"][n].as_u64().unwrap());
    let unchanged = report["unchanged"].as_u64().unwrap();
    let defined = |text: &str| text.lines().filter(|line| line.starts_with("define ")).count() as u64;
    assert_eq!((unchanged + pairs - second, unchanged + pairs - first), (defined(before), defined(after)), "{report}");
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
    assert_adds_up(&report, BEFORE, &after());
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
    fs::write(dir.path().join("two.json"), r#"{"arguments": ["1", "2"]}"#).unwrap();
    fs::write(dir.path().join("wide.json"), r#"{"arguments": ["0x100000000"]}"#).unwrap();
    for (more, says) in [
        ("--fn nowhere", "neither file defines @nowhere"),
        ("--fn worse --input none.json", "cannot read none.json"),
        ("--fn worse --input bad.json", "bad.json is no input"),
        ("--fn worse --input two.json", "could not be compared on this input: replayed: the input has 2 arguments"),
        ("--fn worse --input wide.json", "could not be compared on this input: replayed: the input gives 0x100000000"),
        ("--input bad.json", "--fn"),
    ] {
        let ran = validate(dir.path(), more);
        assert!(ran.code == Some(2) && ran.stderr.contains(says), "{more}: {}{}", ran.stdout, ran.stderr);
    }
}

/// Functions and globals that only one version has, and changed signatures.
#[test]
fn nothing_of_either_version_is_left_out() {
    let dir = tempfile::tempdir().unwrap();
    let before = "@kept = global i32 1\n@gone = global i32 2\n@inner = internal global i32 3\n\
        define i32 @f(i32 %x) {\n  ret i32 %x\n}\n\
        define internal i32 @static(i32 %x, i32 %unused) {\n  ret i32 %x\n}\n\
        define i32 @declared(i32 %x) {\n  ret i32 %x\n}\n";
    let after = "@kept = global i32 7\n@new = global i32 2\ndeclare i32 @declared(i32)\n\
        define i32 @f(i32 %x) {\n  %y = add i32 %x, 0\n  ret i32 %y\n}\n\
        define internal i32 @static(i32 %x) {\n  ret i32 %x\n}\n\
        define i32 @new.function() {\n  ret i32 1\n}\n";
    fs::write(dir.path().join("a.ll"), before).unwrap();
    fs::write(dir.path().join("b.ll"), after).unwrap();
    let ran = rewright(dir.path(), "validate a.ll b.ll --method refined --format json");
    let found = report(&ran);
    let only = |function: &str| {
        let all = found["functions"].as_array().unwrap();
        let found = all.iter().find(|f| f["function"] == function).unwrap_or_else(|| panic!("{function}"));
        (found["verdict"].as_str().unwrap().to_string(), found["only"].as_str().map(str::to_string))
    };
    let unknown = |side: Option<&str>| ("unknown".to_string(), side.map(str::to_string));
    assert_eq!(only("@f"), ("proved".into(), None), "{found}");
    assert_eq!(only("@declared"), unknown(Some("first")));
    assert_eq!(only("@new.function"), unknown(Some("second")));
    assert_eq!(only("@static"), unknown(None));
    assert!(ran.stdout.contains("its signature was i32 (i32, i32), and is i32 (i32)"), "{found}");
    let modules: Vec<_> = found["modules"].as_array().unwrap().iter().map(|m| m["name"].as_str().unwrap()).collect();
    assert_eq!(modules, ["@kept", "@gone", "@inner", "@new"], "{found}");
    assert_eq!(ran.code, Some(0), "nothing is refuted");
}

#[test]
fn what_is_required_decides_the_exit_code() {
    let dir = tempfile::tempdir().unwrap();
    let f = "define i32 @f(i32 %x) {\n  %y = mul i32 %x, 2\n  ret i32 %y\n}\n";
    let files = [
        ("a.ll", f.to_string()),
        ("proved.ll", f.replace("mul i32 %x, 2", "shl i32 %x, 1")),
        ("refuted.ll", f.replace("mul i32 %x, 2", "shl i32 %x, 3")),
        ("more.ll", format!("{f}define void @g() {{\n  ret void\n}}\n")),
        ("global.ll", format!("@g = global i32 0\n{f}")),
        ("private.ll", format!("@g = private global i32 0\n{f}")),
        ("triple.ll", format!("target triple = \"aarch64-linux-gnu\"\n{f}")),
    ];
    for (name, text) in &files {
        fs::write(dir.path().join(name), text).unwrap();
    }
    for (after, plain, required) in [
        ("a.ll", 0, 0),
        ("proved.ll", 0, 0),
        ("refuted.ll", 1, 1),
        ("more.ll", 0, 1),
        ("global.ll", 0, 1),
        ("private.ll", 0, 0),
        ("triple.ll", 0, 1),
    ] {
        let line = format!("validate a.ll {after} --method replayed,refined");
        let codes = [rewright(dir.path(), &line), rewright(dir.path(), &format!("{line} --require proved"))];
        assert_eq!([codes[0].code, codes[1].code], [Some(plain), Some(required)], "{after}: {codes:?}");
    }
}

#[test]
fn the_former_option_still_works_and_says_so() {
    let dir = files();
    let ran = rewright(dir.path(), "validate before.ll --with before.ll --method replayed");
    let says = "warning: `--with` of `rewright validate` is the second argument now";
    assert!(ran.code == Some(0) && ran.stderr.contains(says), "{ran:?}");
    assert!(rewright(dir.path(), "validate before.ll --with before.ll -q --method replayed").stderr.is_empty());
    assert_eq!(rewright(dir.path(), "validate before.ll after.ll --with after.ll").code, Some(2));
}
