//! What packs declare of C's functions fires in C, or is told.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::ran::{Ran, rewright};
use std::fs;

/// A function of C that takes a pointer, and a rule on it; what the call becomes.
fn call_with(declarations: &str, rule: &str, argument: &str) -> Ran {
    let dir = tempfile::tempdir().unwrap();
    let pack = format!(
        "pack p\nimport std.core\n{declarations}\n@llvm(\"@old\")\nfn old(t: T, k: ptr) -> i32  effects reads(memory)  \
         cost 290\n@llvm(\"@new\")\nfn new(t: T, k: ptr) -> i32  effects reads(memory)  cost 29\nruleset all {{ {rule} }}\n"
    );
    let module = format!(
        "target datalayout = \"e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128\"\n\
         target triple = \"x86_64-pc-linux-gnu\"\ndeclare i32 @old(ptr, ptr)\ndefine i32 @f(ptr %t, ptr %k) {{\n  \
         %r = call i32 @old(ptr {argument}, ptr %k)\n  ret i32 %r\n}}\n"
    );
    fs::write(dir.path().join("p.rw"), pack).unwrap();
    fs::write(dir.path().join("f.ll"), module).unwrap();
    rewright(dir.path(), "opt f.ll --rules p.rw")
}

#[test]
fn functions_of_c_take_pointers_that_packs_name_without_an_import() {
    let rule = "rule c(t: T, k: ptr): old(t, k) => new(t, k)";
    for declarations in ["type T <: ptr", "import std.pointers\ntype T <: ptr"] {
        let ran = call_with(declarations, rule, "%t");
        assert!(ran.code == Some(0) && ran.stdout.contains("call i32 @new("), "{declarations}: {ran:?}");
    }
    // Null is no other value at a type that a pack names.
    let null = "rule c(k: ptr): old(0, k) => new(0, k)";
    let ran = call_with("type T <: ptr", null, "null");
    assert!(ran.stdout.contains("call i32 @new(ptr null"), "{ran:?}");
    assert!(call_with("type T <: ptr", null, "%t").stdout.contains("call i32 @old(ptr %t"));
}

#[test]
fn a_type_that_no_call_in_c_says_is_told() {
    let dir = tempfile::tempdir().unwrap();
    let pack =
        "pack p\nimport std.core\ntype Table{V} <: ptr\n@llvm(\"@size\")\nfn size{V}(t: Table{V}) -> i64  pure\n";
    fs::write(dir.path().join("p.rw"), pack).unwrap();
    let ran = rewright(dir.path(), "check p.rw");
    assert!(ran.stderr.contains("RW0512") && ran.stderr.contains("what `V` of `size` is"), "{ran:?}");
    // Where an operand has the type itself, a call says it.
    fs::write(dir.path().join("p.rw"), pack.replace("t: Table{V}", "t: Table{V}, x: V")).unwrap();
    assert!(!rewright(dir.path(), "check p.rw").stderr.contains("RW0512"));
}
