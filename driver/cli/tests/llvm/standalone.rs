//! `opt --standalone`: what is left to LLVM's passes otherwise.

use super::{rewright, run, verify};
use std::fs;
use std::process::Command;

const HEAD: &str =
    "target datalayout = \"e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128\"
target triple = \"x86_64-pc-linux-gnu\"
declare void @outside()
";

/// A function, a word, and how often it is executed in its loop, or in all without a loop, at first and then.
const FUNCTIONS: [(&str, &str, usize, usize); 7] = [
    (
        // An invariant load beside a store to something else.
        "define i64 @f(ptr noalias %a, ptr noalias %b, i64 %n) {
e:
  %c = icmp sgt i64 %n, 0
  br i1 %c, label %l, label %o
l:
  %i = phi i64 [ 0, %e ], [ %i1, %l ]
  %s = phi i64 [ 0, %e ], [ %s1, %l ]
  %v = load i64, ptr %a, align 8
  %p = getelementptr inbounds i64, ptr %b, i64 %i
  store i64 %v, ptr %p, align 8
  %s1 = add i64 %s, %v
  %i1 = add nsw i64 %i, 1
  %d = icmp slt i64 %i1, %n
  br i1 %d, label %l, label %o
o:
  %r = phi i64 [ 0, %e ], [ %s1, %l ]
  ret i64 %r
}",
        "load",
        1,
        0,
    ),
    (
        // A loop that keeps its sum in memory.
        "define void @f(ptr noalias %a, ptr noalias %b, i64 %n) {
e:
  br label %l
l:
  %i = phi i64 [ 0, %e ], [ %i1, %l ]
  %p = getelementptr inbounds i64, ptr %b, i64 %i
  %v = load i64, ptr %p, align 8
  %t = load i64, ptr %a, align 8
  %s = add i64 %t, %v
  store i64 %s, ptr %a, align 8
  %i1 = add nsw i64 %i, 1
  %d = icmp slt i64 %i1, %n
  br i1 %d, label %l, label %o
o:
  ret void
}",
        "store",
        1,
        0,
    ),
    (
        // Both arms divide.
        "define i64 @f(i64 %x, i64 %y, i1 %c) {
e:
  br i1 %c, label %l, label %r
l:
  %a = sdiv i64 %x, %y
  %a1 = add i64 %a, 1
  br label %j
r:
  %b = sdiv i64 %x, %y
  %b1 = mul i64 %b, 3
  br label %j
j:
  %p = phi i64 [ %a1, %l ], [ %b1, %r ]
  ret i64 %p
}",
        "sdiv",
        2,
        1,
    ),
    (
        // The branch always goes one way.
        "define i64 @f(i64 %x, ptr %p) {
e:
  %a = and i64 %x, 7
  %c = icmp ult i64 %a, 8
  br i1 %c, label %l, label %r
l:
  ret i64 %a
r:
  store i64 %x, ptr %p, align 8
  ret i64 5
}",
        "store",
        1,
        0,
    ),
    (
        // The slot is not read again behind the load.
        "define i64 @f(i64 %x, i64 %y, i64 %i) {
  %m = alloca [4 x i64], align 8
  %q = getelementptr inbounds i64, ptr %m, i64 1
  store i64 %x, ptr %m, align 8
  store i64 %y, ptr %q, align 8
  call void @outside()
  %l = load i64, ptr %m, align 8
  %q2 = getelementptr inbounds i64, ptr %m, i64 %i
  store i64 %y, ptr %q2, align 8
  ret i64 %l
}",
        "store",
        3,
        1,
    ),
    (
        // A store that is overwritten on all paths, behind a merge of two states.
        "define void @f(ptr %a, ptr %b, i64 %x, i1 %c) {
  store i64 %x, ptr %a, align 8
  br i1 %c, label %l, label %r
l:
  store i64 1, ptr %b, align 8
  br label %j
r:
  store i64 2, ptr %b, align 8
  br label %j
j:
  store i64 3, ptr %a, align 8
  ret void
}",
        "store i64 %x",
        1,
        0,
    ),
    (
        // What is loaded in one arm is not loaded again.
        "define i64 @f(ptr noalias %a, ptr noalias %b, i64 %x, i1 %c) {
  br i1 %c, label %l, label %r
l:
  %v = load i64, ptr %a, align 8
  store i64 %v, ptr %b, align 8
  br label %j
r:
  store i64 %x, ptr %b, align 8
  br label %j
j:
  %w = load i64, ptr %a, align 8
  ret i64 %w
}",
        "load",
        2,
        1,
    ),
];

/// How often a word is in the body of a function's loop, or of the whole function where it has none.
fn executed(text: &str, word: &str) -> usize {
    let body = text.split_once('{').unwrap().1;
    let blocks: Vec<&str> = body.split("\n\n").collect();
    let is_loop = |block: &&&str| {
        let label = block.trim_start().split(':').next().unwrap();
        block.lines().any(|line| line.contains("br ") && line.contains(&format!("%{label}")))
    };
    let inner = blocks.iter().find(is_loop).copied().unwrap_or(body);
    inner.lines().filter(|line| !line.starts_with("define") && line.contains(word)).count()
}

#[test]
fn nothing_is_left_to_llvm() {
    let dir = tempfile::tempdir().unwrap();
    let [before, after, left] = ["in.ll", "out.ll", "left.ll"].map(|name| dir.path().join(name));
    for (function, word, first, then) in FUNCTIONS {
        let text = format!("{HEAD}{function}\n");
        fs::write(&before, &text).unwrap();
        assert!(function.lines().skip(1).filter(|line| line.contains(word)).count() >= first, "{function}");
        rewright(&["opt", "--standalone", "-o"], &before, &after);
        verify(&after);
        let made = fs::read_to_string(&after).unwrap();
        assert_eq!(executed(&made, word), then, "{word}: {made}");
        let validate = run(Command::new(env!("CARGO_BIN_EXE_rewright"))
            .args(["validate", "--method", "interpreted"])
            .args([&before, &after]));
        let said = String::from_utf8(validate.stdout).unwrap();
        assert!(said.contains(" 0 refuted"), "{said}\n{made}");
        rewright(&["opt", "-o"], &before, &left);
        assert_ne!(fs::read_to_string(&left).unwrap(), made);
    }
}

#[test]
fn what_may_be_in_another_object_is_stored() {
    let dir = tempfile::tempdir().unwrap();
    let [before, after] = ["in.ll", "out.ll"].map(|name| dir.path().join(name));
    for body in [
        "  %p = select i1 %c, ptr %m, ptr %q\n  store i64 %x, ptr %p, align 8\n",
        "  br i1 %c, label %a, label %b\na:\n  br label %b\nb:\n  %p = phi ptr [ %m, %0 ], [ %q, %a ]\n  store i64 %x, ptr %p, align 8\n",
        "  %n = ptrtoint ptr %m to i64\n  %i = and i64 %n, 15\n  %p = getelementptr i8, ptr %q, i64 %i\n  store i64 %x, ptr %p, align 8\n",
        // The last argument is no memory that is freed.
        "  store i64 %x, ptr %m, align 8\n  call void @dealloc(ptr %q, ptr %m)\n",
    ] {
        let declared = "declare void @dealloc(ptr allocptr, ptr) allockind(\"free\")";
        let function =
            format!("define void @f(ptr %q, i1 %c, i64 %x) {{\n  %m = alloca i64, align 8\n{body}  ret void\n}}");
        fs::write(&before, format!("{HEAD}{declared}\n{function}\n")).unwrap();
        rewright(&["opt", "--standalone", "-o"], &before, &after);
        verify(&after);
        let made = fs::read_to_string(&after).unwrap();
        assert!(made.contains("  store i64 %x"), "{made}");
    }
}

#[test]
fn what_is_accessed_may_be_null() {
    let dir = tempfile::tempdir().unwrap();
    let [before, after] = ["in.ll", "out.ll"].map(|name| dir.path().join(name));
    let function = "define i64 @f(ptr %m, i1 %d) {
  br i1 %d, label %a, label %b
a:
  br label %b
b:
  %p = phi ptr [ null, %0 ], [ %m, %a ]
  br i1 %d, label %c, label %e
c:
  %y = load i64, ptr %p
  ret i64 %y
e:
  %z = load i64, ptr %p
  ret i64 %z
}";
    fs::write(&before, format!("{HEAD}{function}\n")).unwrap();
    let said = rewright(&["opt", "--standalone", "--stats", "-o"], &before, &after);
    verify(&after);
    assert!(said.contains("@f: optimised"), "{said}");
}
