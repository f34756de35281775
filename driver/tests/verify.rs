//! `rewright verify` on rules that are known to be wrong, and on packs of all verdicts. Needs z3, which
//! `scripts/setup.sh` installs.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Standard output, standard error and exit code.
fn rewright(args: &[&str]) -> (String, String, Option<i32>) {
    let output = Command::new(env!("CARGO_BIN_EXE_rewright")).args(args).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (text(output.stdout), text(output.stderr), output.status.code())
}

/// The reports of one pack.
fn verify(path: &Path, more: &[&str]) -> (Vec<Value>, Option<i32>) {
    let mut args = vec!["verify", path.to_str().unwrap(), "--no-cache", "--jobs", "2", "--format", "json"];
    args.extend(more);
    let (stdout, stderr, code) = rewright(&args);
    let document: Value = serde_json::from_str(&stdout).unwrap_or_else(|e| panic!("{}: {e}: {stderr}", path.display()));
    (document["rules"].as_array().unwrap().clone(), code)
}

fn wrong(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/verify/wrong").join(name)
}

const REFUTED: [&str; 5] = ["division.rw", "integers.rw", "floats.rw", "memory.rw", "facts.rw"];

#[test]
fn the_solver_is_there() {
    let version = Command::new("z3").arg("--version").output().expect("z3 is installed: run scripts/setup.sh");
    assert!(version.status.success());
}

#[test]
fn known_wrong_rules_have_counterexamples() {
    let mut count = 0;
    for name in REFUTED {
        let (rules, code) = verify(&wrong(name), &[]);
        assert_eq!(code, Some(1), "{name}");
        for rule in &rules {
            assert_eq!(rule["verdict"], "counterexample", "{}", rule["name"]);
            assert!(!rule["counterexample"]["values"].as_array().unwrap().is_empty(), "{}", rule["name"]);
        }
        count += rules.len();
    }
    assert!(count >= 50, "{count}");
}

/// The solver alone finds them, too: no value is tried first.
#[test]
fn the_solver_alone_refutes_wrong_rules() {
    for name in ["integers.rw", "memory.rw", "facts.rw"] {
        let (rules, _) = verify(&wrong(name), &["--samples", "0"]);
        for rule in &rules {
            assert_eq!(rule["verdict"], "counterexample", "{}", rule["name"]);
        }
    }
}

#[test]
fn one_way_rules_say_which_side_is_defined() {
    let (rules, code) = verify(&wrong("one_way.rw"), &[]);
    assert_eq!(code, Some(1));
    let says = |name: &str, what: &str| {
        let rule = rules.iter().find(|r| r["name"].as_str().unwrap().ends_with(name)).unwrap();
        assert_eq!(rule["verdict"], "one_way");
        let reason = rule["instances"][0]["reason"].as_str().unwrap();
        assert!(reason.contains(what), "{reason}");
    };
    says("mul_one", "the right side is more defined");
    says("adds_a_trap", "the left side is more defined");
}

/// A counterexample is an example: pasted into the pack it fails.
#[test]
fn counterexamples_can_be_pasted_and_fail() {
    let folder = tempfile::tempdir().unwrap();
    for name in REFUTED.into_iter().filter(|name| *name != "facts.rw") {
        let (rules, _) = verify(&wrong(name), &[]);
        let examples: Vec<&str> = rules.iter().filter_map(|r| r["counterexample"]["example"].as_str()).collect();
        let mut text = fs::read_to_string(wrong(name)).unwrap();
        for example in &examples {
            text += &format!("{example}\n");
        }
        let path = folder.path().join(name);
        fs::write(&path, &text).unwrap();
        let (stdout, stderr, code) = rewright(&["check", path.to_str().unwrap(), "--format", "json"]);
        assert_eq!(code, Some(1), "{name}: {stderr}");
        let report: Value = serde_json::from_str(&stdout).unwrap();
        assert_eq!(report["examples"]["run"], examples.len(), "{name}: {stdout}");
        assert_eq!(report["examples"]["failed"], examples.len(), "{name}: {stdout}");
    }
}

/// The same, with nothing but the wrong rule in the pack.
#[test]
fn a_counterexample_fails_because_of_its_rule() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("lone.rw");
    let pack =
        "pack lone\nimport std.core\n\nruleset r {\n  rule half{T <: Int}(x: T): sdiv(x, 2) => sshr{T, T}(x, 1)\n}\n";
    fs::write(&path, pack).unwrap();
    let (rules, _) = verify(&path, &[]);
    let example = rules[0]["counterexample"]["example"].as_str().unwrap();
    fs::write(&path, format!("{pack}{example}\n")).unwrap();
    let (stdout, _, code) = rewright(&["check", path.to_str().unwrap()]);
    assert_eq!(code, Some(1), "{stdout}");
    // Without the rule it holds.
    let right = pack.replace("sshr{T, T}(x, 1)", "sdiv(x, 2)").replace("rule half", "rule whole");
    let right = right.replace("=> sdiv(x, 2)", "=> sdiv(iadd(x, 0), 2)");
    fs::write(&path, format!("{right}{example}\n")).unwrap();
    let (stdout, stderr, code) = rewright(&["check", path.to_str().unwrap()]);
    assert_eq!(code, Some(0), "{stdout}{stderr}");
}

#[test]
fn verdicts_are_kept_and_found_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("kept.rw");
    let pack =
        "pack kept\nimport std.core\n\nruleset r {\n  rule twice{T <: Int}(x: T): iadd(x, x) => ishl{T, T}(x, 1)\n}\n";
    fs::write(&path, pack).unwrap();
    let cache = folder.path().join("cache");
    let run = || {
        let (stdout, stderr, code) =
            rewright(&["verify", path.to_str().unwrap(), "--cache", cache.to_str().unwrap(), "--jobs", "1"]);
        assert_eq!(code, Some(0), "{stderr}");
        stdout
    };
    assert!(run().contains("1 equal"));
    assert!(run().contains("1 by the cache"));
    // A changed rule is asked about anew.
    fs::write(&path, pack.replace("(x, 1)", "(iadd(x, 0), 1)")).unwrap();
    assert!(run().contains("0 by the cache"));
}

#[test]
fn formats_for_programs() {
    let path = wrong("facts.rw");
    let run = |format: &str| {
        let args = ["verify", path.to_str().unwrap(), "--no-cache", "--jobs", "1", "--format", format];
        let (stdout, stderr, code) = rewright(&args);
        assert_eq!(code, Some(1), "{stderr}");
        (stdout, stderr)
    };
    let sarif: Value = serde_json::from_str(&run("sarif").0).unwrap();
    assert_eq!(sarif["version"], "2.1.0");
    assert_eq!(sarif["runs"][0]["results"][0]["ruleId"], "RW0701");
    assert!(run("github").0.starts_with("::error file="));
    let junit = run("junit").0;
    assert_eq!(junit.matches("<testcase").count(), junit.matches("</testcase>").count());
    assert!(junit.contains("<failure"));
    let (summary, lines) = run("concise");
    assert!(summary.contains("3 counterexample"), "{summary}");
    assert_eq!(lines.lines().filter(|l| l.contains("error[RW0701]")).count(), 3, "{lines}");
}

#[test]
fn a_missing_solver_is_said() {
    let path = wrong("facts.rw");
    let args = ["verify", path.to_str().unwrap(), "--no-cache", "--solver", "no-such-solver -in"];
    let (_, stderr, code) = rewright(&args);
    assert_eq!(code, Some(2));
    assert!(stderr.contains("cannot run the solver `no-such-solver -in`"), "{stderr}");
}
