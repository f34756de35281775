//! `validate` of files of LLVM IR by runs: functions that do something else are found, others are not.

use super::{lowered, programs, run, verify};
use std::fs;
use std::path::Path;
use std::process::Command;

/// What `validate` says of a file and another one.
fn validated(before: &Path, after: &Path) -> (i32, serde_json::Value) {
    let output = Command::new(env!("CARGO_BIN_EXE_rewright"))
        .args(["validate", "--format", "json", "--method", "interpreted,compiled"])
        .args(["std", "std.libc", "std.libm"].map(|pack| format!("--rules={pack}")))
        .args([before, after])
        .output()
        .unwrap();
    let report = serde_json::from_slice(&output.stdout).unwrap();
    (output.status.code().unwrap(), report)
}

#[test]
fn functions_that_do_something_else_are_found() {
    let dir = tempfile::tempdir().unwrap();
    let before = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/llvm/validate/before.ll");
    let text = fs::read_to_string(&before).unwrap();
    let [interpreted, compiled] = ["interpreted", "compiled"];
    let (both, neither): (&[&str], &[&str]) = (&[interpreted, compiled], &[]);
    for (from, to, function, refuted) in [
        ("sub i32 %x, %y", "sub i32 %y, %x", "@difference", both),
        ("sub i32 %x, %y", "add i32 %x, 0", "@difference", both),
        ("store i32 7", "store i32 8", "@stores", both),
        ("store i32 7", "store i16 7", "@stores", both),
        ("%z = call i32 @outside(i32 %y)", "%z = add i32 %y, 0", "@tells", both),
        ("@outside(i32 %y)", "@outside(i32 %x)", "@tells", both),
        ("i32 -7, label %two", "i32 -6, label %two", "@chooses", both),
        ("%x = load i8, ptr %p\n", "%x = add i8 9, 0\n", "@reads_again", &[compiled]),
        ("zext i64 %y to i128", "sext i64 %y to i128", "@wide", both),
        ("lshr i128 %m, 64", "lshr i128 %m, 63", "@wide", both),
        // A trap, and no end.
        ("%r = trunc i128 %h to i64", "%t = trunc i128 %h to i64\n  %r = udiv i64 %t, 0", "@wide", both),
        ("add nuw nsw i32 %i, 1", "add nuw nsw i32 %i, 0", "@rounds", both),
        ("call i32 %f(i32 %i)", "call i32 %f(i32 %n)", "@rounds", both),
        ("i32 %got, ptr @times", "i32 %i, ptr @times", "@rounds", both),
        ("and i64 %n, 15", "and i64 %n, 7", "@measures", &[compiled]),
        ("fadd double %p, 1.0", "fadd double %p, 2.0", "@roots", &[compiled]),
        ("@outside(i32 %zero)", "@outside(i32 1)", "@says", both),
        // The same, written in another way.
        ("@outside(i32 %zero)", "@outside(i32 0)", "@says", neither),
        ("%carry = add i1 %odd, true", "%t = icmp eq i32 %x, %x\n  %carry = add i1 %odd, %t", "@says", neither),
        ("%z = sub i32 %x, %y", "%n = sub i32 0, %y\n  %z = add i32 %n, %x", "@difference", neither),
        ("store i32 7, ptr %p", "%q = getelementptr i8, ptr %p, i64 0\n  store i32 7, ptr %q", "@stores", neither),
        ("%x, label %other", "%f, label %other", "@chooses", neither),
        ("%n = call i64 @strlen(ptr %s)", "%k = call i64 @strlen(ptr %s)\n  %n = or i64 %k, 0", "@measures", neither),
    ] {
        let mut changed = text.replacen(from, to, 1);
        changed = changed.replacen("  switch i32 %f", "  %f = freeze i32 %x\n  switch i32 %f", 1);
        assert_ne!(changed, text, "{from}");
        let after = dir.path().join("after.ll");
        fs::write(&after, &changed).unwrap();
        verify(&after);
        let (code, report) = validated(&before, &after);
        // Runs alone refute nothing: they say which function differs, and on what.
        let pairs = report["functions"].as_array().unwrap();
        assert_eq!((code, pairs.len()), (0, 1), "{to}: {report}");
        assert_eq!(pairs[0]["function"], function, "{to}: {report}");
        let mut found = who_differs(&pairs[0]);
        found.sort_unstable_by(|x, y| y.cmp(x));
        assert_eq!(found, refuted, "{to}: {report}");
        assert_eq!(pairs[0]["verdict"], if found.is_empty() { "tested" } else { "unknown" }, "{to}: {report}");
        assert_eq!(report["methods"][compiled]["compared"], 1, "{to}: {report}");
        // Our interpreter does not know operations that only a pack declares.
        let known = u64::from(!["@measures", "@roots"].contains(&function));
        assert_eq!(report["methods"][interpreted]["compared"], known, "{to}: {report}");
    }
}

#[test]
fn what_validation_needs_is_named_where_it_is_missing() {
    let before = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/llvm/validate/before.ll");
    let dir = tempfile::tempdir().unwrap();
    let after = dir.path().join("after.ll");
    fs::write(&after, fs::read_to_string(&before).unwrap().replace("store i32 7", "store i32 8")).unwrap();
    for (method, option) in [("compiled", "--clang"), ("refined", "--solver")] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_rewright"));
        command.arg("validate").arg(&before).arg(&after).args(["--method", method, option, "no-such"]);
        let output = command.output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(2) && said.contains("cannot start no-such"), "{said}");
    }
}

/// The methods that say of a function that it may differ.
fn who_differs(verdict: &serde_json::Value) -> Vec<&str> {
    let reasons = verdict["reasons"].as_array().unwrap().iter().map(|reason| reason.as_str().unwrap());
    reasons.filter_map(|reason| reason.strip_prefix("it may differ: ")?.split(' ').next()).collect()
}

#[test]
fn what_rules_change_in_programs_does_the_same() {
    let kept = tempfile::tempdir().unwrap();
    for (n, program) in programs().iter().enumerate() {
        let dir = tempfile::tempdir().unwrap();
        fs::copy(lowered(&dir, program, false, false), kept.path().join(format!("{n}.ll"))).unwrap();
    }
    let output = run(Command::new(env!("CARGO_BIN_EXE_rewright"))
        .args(["validate", "--format", "json", "--runs", "16", "--profile", "latency"])
        .arg(kept.path()));
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let counts = |kind: &str| report["counts"][kind].as_u64().unwrap();
    assert!(report["functions"].as_array().unwrap().iter().all(|f| who_differs(f).is_empty()), "{report}");
    assert!(counts("refuted") == 0 && counts("proved") + counts("tested") >= 3, "{report}");
}

/// Functions of LLVM's own tests, and of others, of which something else came out once (`scripts/torture.sh`).
#[test]
fn what_was_wrong_once_is_not_refuted() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/llvm/issues");
    let packs = ["--rules", "std", "--rules", "std.libm", "--rules", "std.libc"];
    run(Command::new(env!("CARGO_BIN_EXE_rewright")).arg("validate").arg(folder).args(packs));
}
