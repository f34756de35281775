//! The output of commands on a file does not depend on the language that it is in: one function in three.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::ran::{Ran, rewright};
use std::fs;
use tempfile::TempDir;

const CLIF: &str =
    "function %f(i32) -> i32 {\nblock0(v0: i32):\n    v1 = iconst.i32 0\n    v2 = iadd v0, v1\n    return v2\n}\n";
const OWN: &str = "func %f(%x: i32) -> i32 {\n  %z: i32 = const 0\n  %y = iadd %x, %z\n  return %y\n}\n";
const LLVM: &str = "target datalayout = \"e-m:e-i64:64-n8:16:32:64-S128\"\ntarget triple = \"x86_64-pc-linux-gnu\"\n\
    define i32 @f(i32 %x) {\n  %y = add i32 %x, 0\n  ret i32 %y\n}\n";

/// The function in each language, and a file of LLVM IR without a layout.
fn inputs() -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    let bare = LLVM.split_inclusive('\n').skip(2).collect::<String>();
    let mlir = "func.func @f(%x: i32) -> i32 {\n  return %x : i32\n}\n";
    let files = [("f.clif", CLIF), ("f", CLIF), ("f.ir", OWN), ("f.ll", LLVM), ("bare.ll", &bare), ("f.mlir", mlir)];
    for (name, text) in files {
        fs::write(dir.path().join(name), text).unwrap();
    }
    dir
}

/// The same command on each of them.
fn each(dir: &TempDir, command: &str) -> Vec<(&'static str, Ran)> {
    let run = |file| (file, rewright(dir.path(), &command.replace("FILE", file)));
    ["f.clif", "f", "f.ir", "f.ll"].map(run).into()
}

#[test]
fn a_function_is_optimised_in_each_language() {
    let dir = inputs();
    for (file, ran) in each(&dir, "opt FILE --stats --remarks --fn f") {
        let (name, sum) = match file {
            "f.ll" => ("@f", " = add "),
            _ => ("%f", "iadd"),
        };
        assert_eq!(ran.code, Some(0), "{file}: {}", ran.stderr);
        assert!(!ran.stdout.contains(sum) && ran.stdout.contains(name), "{file}: {}", ran.stdout);
        assert!(ran.stderr.starts_with(&format!("{name}: optimised, cost ")), "{file}: {}", ran.stderr);
        assert!(ran.stderr.contains("std.arith.identities.add_zero"), "{file}: {}", ran.stderr);
    }
}

#[test]
fn our_text_of_what_goes_out_is_one_in_all_languages() {
    let dir = inputs();
    for (file, ran) in each(&dir, "opt FILE --emit ir") {
        assert_eq!(ran.code, Some(0), "{file}: {}", ran.stderr);
        let name = if file == "f.ll" { "\"@f\"" } else { "%f" };
        let expected = format!("func {name} -> (i32) {{\nb0(v0: i32):\n  return v0\n}}\n");
        assert_eq!(ran.stdout.trim_end(), expected.trim_end(), "{file}");
    }
}

#[test]
fn a_rule_that_does_not_match_is_explained_in_each_language() {
    let dir = inputs();
    for (file, ran) in each(&dir, "why-not identities.mul_one FILE") {
        assert_eq!(ran.code, Some(0), "{file}: {}", ran.stderr);
        assert!(ran.stdout.starts_with("std.arith.identities.mul_one ("), "{file}: {}", ran.stdout);
    }
}

#[test]
fn a_function_that_is_not_there_is_named_with_those_that_are() {
    let dir = inputs();
    for command in ["opt FILE --fn g", "opt FILE --emit dot --fn g", "why-not add_zero FILE --fn g"] {
        for (file, ran) in each(&dir, command) {
            assert_eq!(ran.code, Some(2), "{command} {file}: {}", ran.stderr);
            assert!(ran.stderr.contains(&format!("{file} has no function g; it has ")), "{file}: {}", ran.stderr);
        }
    }
}

#[test]
fn profiles_of_blocks_are_checked_in_the_words_of_the_language() {
    let dir = inputs();
    fs::write(dir.path().join("counts.json"), r#"{"f": {"b7": 3}}"#).unwrap();
    for (file, says) in [
        ("f.clif", "the profile counts `b7` of `f`, which has no such block; it has block0"),
        ("f.ir", "the profile counts `b7` of `f`, which has no such block; it has b0"),
        ("f.ll", "--block-counts is for CLIF and for Rewright's own text; f.ll is LLVM IR"),
    ] {
        let ran = rewright(dir.path(), &format!("opt {file} --block-counts counts.json"));
        assert!(ran.code == Some(2) && ran.stderr.contains(says), "{file}: {}", ran.stderr);
    }
}

#[test]
fn what_no_rule_reaches_is_said() {
    let dir = inputs();
    let ran = rewright(dir.path(), "opt bare.ll");
    let says = "warning: bare.ll: no function is optimised: the target's layout is not known";
    assert!(ran.code == Some(0) && ran.stderr.contains(says), "{}", ran.stderr);
    assert_eq!(ran.stdout, fs::read_to_string(dir.path().join("bare.ll")).unwrap());
    // Where that is all that would be shown, it is an error.
    for emit in ["dot", "json", "egglog"] {
        let ran = rewright(dir.path(), &format!("opt bare.ll --emit {emit}"));
        let says = "bare.ll: no function is optimised, so there is nothing to show: the target's layout is not known";
        assert!(ran.code == Some(2) && ran.stderr.contains(says) && ran.stdout.is_empty(), "{emit}: {}", ran.stderr);
    }
    let ran = rewright(dir.path(), "opt f.mlir");
    let says = "functions of MLIR are written in Rewright's own text";
    assert!(ran.code == Some(0) && ran.stderr.contains(says), "{}", ran.stderr);
    assert!(ran.stdout.starts_with("func %f -> (i32)"), "{}", ran.stdout);
}
