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

const HEAD: &str = "target datalayout = \"e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128\"\n\
                    target triple = \"x86_64-pc-linux-gnu\"\n";

/// An example that holds among operations and not for calls in C is reported; one that holds there is not.
#[test]
fn examples_are_tried_as_calls_in_c() {
    let dir = tempfile::tempdir().unwrap();
    let pack = |ty: &str, arg: &str| {
        format!(
            "pack p\nimport std.core\n{ty}\n@llvm(\"@old\")\nfn old(t: {arg}, n: i64) -> f64  effects reads(memory)  cost \
             290\n@llvm(\"@new\")\nfn new(t: {arg}, n: i64) -> f64  effects reads(memory)  cost 29\nruleset all {{\n  rule \
             c(t: {arg}, n: i64): old(t, n) => new(t, n)\n  example \"a call\" (t: {arg}) fires all.c: old(t, -3) becomes \
             new(t, -3)\n  example \"other calls\" (t: {arg}, x: i64): new(t, x) stays\n}}\n"
        )
    };
    for (ty, arg) in [("type T <: ptr", "T"), ("", "ptr"), ("", "f32"), ("", "i16")] {
        fs::write(dir.path().join("p.rw"), pack(ty, arg)).unwrap();
        let ran = rewright(dir.path(), "check p.rw --strict -v");
        assert!(ran.code == Some(0) && !ran.stderr.contains("not tried"), "{arg}: {ran:?}");
    }
    // Null at a type of pointers, which only what is known of pointers tells.
    let null = "pack p\nimport std.core\ntype T <: ptr\n@llvm(\"@old\")\nfn old(t: T, k: ptr) -> T  effects allocates(heap)  cost \
                290\n@llvm(\"@new\")\nfn new(t: T, k: ptr) -> T  effects allocates(heap)  cost 29\nrule c(k: ptr): old(0, k) => \
                new(0, k)\nexample \"null\" (k: ptr) fires c: old(0, k) becomes new(0, k)\n";
    fs::write(dir.path().join("p.rw"), null).unwrap();
    let ran = rewright(dir.path(), "check p.rw --strict");
    assert!(ran.code == Some(0) && !ran.stderr.contains("RW0603"), "{ran:?}");
    // Two declarations of one function: a plain pointer is the first one's.
    let two = pack("type T <: ptr\ntype U <: ptr\n@llvm(\"@old\")\nfn old(u: U, n: i64) -> f64  cost 290", "T");
    fs::write(dir.path().join("p.rw"), two).unwrap();
    let ran = rewright(dir.path(), "check p.rw");
    assert!(ran.code == Some(0) && ran.stderr.contains("RW0603"), "{ran:?}");
    assert!(ran.stderr.contains("\"a call\" of p does not hold for calls in C"), "{ran:?}");
    assert!(ran.stderr.contains("in C, p.all.c took no part"), "{ran:?}");
    // A type of no value in C: the command does not claim that it was tried.
    fs::write(dir.path().join("p.rw"), pack("type T", "T")).unwrap();
    let ran = rewright(dir.path(), "check p.rw");
    assert!(ran.stderr.contains("no value in C has the type `T`"), "{ran:?}");
}

/// Examples that mix C functions with operations, and those about equality, are tried as calls, too.
#[test]
fn examples_with_operations_are_tried_as_calls_in_c() {
    let dir = tempfile::tempdir().unwrap();
    let pack = |result: &str| {
        format!(
            "pack p\nimport std.core\n@llvm(\"@size\")\nfn size(t: ptr) -> {result}  pure  cost 90\n\
             @llvm(\"@length\")\nfn length(t: ptr) -> i64  pure  cost 30\nruleset all {{\n  \
             rule a(t: ptr): iadd(size(t), 1) => bxor(length(t), 7)\n  rule b(t: ptr, x: i64): select(icmp_eq(x, 5), \
             size(t), 3) => select(icmp_eq(x, 5), length(t), 3)\n}}\nschedule default {{ saturate all }}\n\
             example \"sum\" (t: ptr) fires all.a: iadd(size(t), 1) becomes bxor(length(t), 7)\n\
             example \"chosen\" (t: ptr, x: i64) fires all.b: select(icmp_eq(x, 5), size(t), 3) becomes \
             select(icmp_eq(x, 5), length(t), 3)\n\
             example \"equal\" (t: ptr) fires all.a: iadd(size(t), 1) equals bxor(length(t), 7)\n\
             example \"not equal\" (t: ptr): size(t) differs length(t)\n"
        )
    };
    fs::write(dir.path().join("p.rw"), pack("i64")).unwrap();
    let ran = rewright(dir.path(), "check p.rw --strict -v");
    assert!(ran.code == Some(0) && !ran.stderr.contains("not tried"), "{ran:?}");
    // A choice in C asks whether something is not 0: a rule about others never meets one.
    fs::write(dir.path().join("p.rw"), pack("i64").replace("select(icmp_eq(x, 5), ", "select(x, ")).unwrap();
    let ran = rewright(dir.path(), "check p.rw");
    assert!(
        ran.stderr.contains("\"chosen\" of p does not hold") && ran.stderr.contains("p.all.b took no part"),
        "{ran:?}"
    );
    // Two declarations of one function: a plain pointer is the first one's, on both sides.
    let two = pack("i64").replace(
        "import std.core\n",
        "import std.core\ntype T <: ptr\ntype U <: ptr\n@llvm(\"@size\")\nfn size(u: U) -> i64  pure  cost 290\n",
    );
    fs::write(dir.path().join("p.rw"), two.replace("(t: ptr", "(t: T")).unwrap();
    let ran = rewright(dir.path(), "check p.rw -v");
    for title in ["sum", "chosen", "equal"] {
        assert!(ran.stderr.contains(&format!("{title:?} of p does not hold for calls in C")), "{title}: {ran:?}");
    }
    assert!(!ran.stderr.contains("\"not equal\" of p") && !ran.stderr.contains("not tried"), "{ran:?}");
}

/// An operation that a rule makes and that cannot be called in a file is not chosen there; the rest of the function is.
#[test]
fn what_cannot_be_called_is_not_chosen() {
    let dir = tempfile::tempdir().unwrap();
    let pack = "pack p\nimport std.core\n@llvm(\"@old\")\nfn old(x: i64) -> i64  pure  cost 290\n@llvm(\"@new\")\n\
                fn new(x: i64, how: i8) -> i64  pure  cost 9\nruleset all {\n  rule a(x: i64): old(x) => new(x, 1)\n  \
                rule b(x: i64): old(old(x)) => old(x)\n}\nschedule default { saturate all }\n";
    fs::write(dir.path().join("p.rw"), pack).unwrap();
    let file = |declared: &str| {
        format!(
            "{HEAD}declare i64 @old(i64)\n{declared}\ndefine i64 @f(i64 noundef %x) {{\n  %a = call i64 @old(i64 %x)\n  \
             %b = call i64 @old(i64 %a)\n  ret i64 %b\n}}\n"
        )
    };
    for (declared, called) in [
        ("declare i64 @new(i64, i8 signext)", "call i64 @new(i64 %x, i8 signext 1)"),
        // How an `i8` is passed, nothing says.
        ("", "call i64 @old(i64 %x)"),
        // C's `bool` is an 8-bit integer in packs.
        ("declare i64 @new(i64, i1 zeroext)", "call i64 @new(i64 %x, i1 zeroext true)"),
        ("declare i64 @new(i1 zeroext, i8 signext)", "call i64 @old(i64 %x)"),
        ("declare i64 @new(i64, ...)", "call i64 @old(i64 %x)"),
    ] {
        fs::write(dir.path().join("f.ll"), file(declared)).unwrap();
        let ran = rewright(dir.path(), "opt f.ll --rules p.rw --stats");
        assert!(ran.code == Some(0) && ran.stdout.contains(called), "{declared}: {ran:?}");
        assert_eq!(ran.stdout.matches("= call").count() + ran.stdout.matches("tail call").count(), 1, "{ran:?}");
        assert!(ran.stderr.contains("optimised") && !ran.stderr.contains("failed"), "{ran:?}");
    }
}

/// A call that allocates stands at a place of its own: the state around it is another call's.
#[test]
fn what_allocates_is_in_no_other_calls_state() {
    let dir = tempfile::tempdir().unwrap();
    let pack = |left: &str| {
        format!(
            "pack p\nimport std.core\ntype V <: ptr\n@llvm(\"@copy\")\nfn copy(v: V) -> V  effects allocates(heap)  cost 400\n\
             @llvm(\"@max\")\nfn max(v: V) -> i64  effects reads(memory)  cost 300\nruleset all {{\n  \
             unsafe rule a(v: V, s: State, t: State): {left} => max(v) after s\n    removes allocates(heap) because \"it is so\"\n\
             }}\nschedule default {{ saturate all }}\nexample \"a\" (v: V) fires all.a: max(copy(v)) becomes max(v)\n"
        )
    };
    for (left, code) in
        [("max(copy(v)) after s", 0), ("max(copy(v) after t) after s", 0), ("max(copy(v) after s) after s", 1)]
    {
        fs::write(dir.path().join("p.rw"), pack(left)).unwrap();
        let ran = rewright(dir.path(), "check p.rw");
        assert_eq!(ran.code, Some(code), "{left}: {ran:?}");
        let said = "`copy` stands at a place of its own, and in the state of no other call";
        assert_eq!(ran.stderr.contains(said), code == 1, "{left}: {ran:?}");
    }
}

/// An error code: the state after the call has a name, unless it does something else, too; then what to write instead is said.
#[test]
fn a_writer_with_a_further_effect_gives_no_state() {
    let dir = tempfile::tempdir().unwrap();
    for (more, why) in [
        ("", None),
        (", allocates(heap)", Some("`set` allocates, and what it makes is another one each time")),
        (", io", Some("`set` does io")),
        (", diverges", Some("`set` may not return")),
        (", reads(other)", Some("`set` accesses several regions")),
    ] {
        let pack = format!(
            "pack p\nimport std.core\ntype V <: ptr\n@llvm(\"@set\")\nfn set(v: V, x: i64) -> i32  effects writes(memory){more}\n\
             @llvm(\"@get\")\nfn get(v: V) -> i64  effects reads(memory)\n\
             rule r(v: V, x: i64, s: State): get(v) after (set(v, x) after s) => x\n"
        );
        fs::write(dir.path().join("p.rw"), pack).unwrap();
        let ran = rewright(dir.path(), "check p.rw");
        assert_eq!(ran.code == Some(0), why.is_none(), "{more}: {ran:?}");
        assert!(ran.stderr.contains(why.unwrap_or("RW0501")), "{more}: {ran:?}");
    }
}

/// A value that a statement has made is released where it is made after all, also by a function that gives a code.
#[test]
fn what_is_made_is_freed() {
    for (given, result) in [("()", "void"), ("i32", "i32")] {
        frees_what_is_made(given, result);
    }
}

fn frees_what_is_made(given: &str, result: &str) {
    let dir = tempfile::tempdir().unwrap();
    let pack = "pack p\nimport std.core\ntype V <: ptr\n@llvm(\"@copy\")\nfn copy(v: V) -> V  effects allocates(heap)  cost 400\n\
                @llvm(\"@release\")\nfn release(v: V) -> GIVEN  effects writes(memory)  cost 50\n@llvm(\"@max\")\n\
                fn max(v: V) -> i64  effects reads(memory)  cost 300\n@llvm(\"@get\")\n\
                fn get(v: V, i: i64) -> i64  effects reads(memory)  cost 20\nruleset all {\n  \
                unsafe rule a(v: V): max(copy(v)) => max(v)\n    removes allocates(heap) because \"no other code sees it\"\n  \
                unsafe rule b(v: V, s: State, t: State): release(copy(v) after t) after s => s\n    \
                removes allocates(heap) because \"no other code sees it\"\n}\nschedule default { saturate all }\n";
    fs::write(dir.path().join("p.rw"), pack.replace("GIVEN", given)).unwrap();
    for (used, copies) in [("@max(ptr %c)", 0), ("@get(ptr %c, i64 3)", 1)] {
        let text = format!(
            "{HEAD}declare ptr @copy(ptr)\ndeclare {result} @release(ptr)\ndeclare i64 @max(ptr)\ndeclare i64 @get(ptr, i64)\n\
             define i64 @f(ptr noundef %v) {{\n  %d = call ptr @copy(ptr %v)\n  %m = call i64 @max(ptr %d)\n  \
             call {result} @release(ptr %d)\n  %c = call ptr @copy(ptr %v)\n  %r = call i64 {used}\n  \
             call {result} @release(ptr %c)\n  %s = add i64 %r, %m\n  ret i64 %s\n}}\n"
        );
        fs::write(dir.path().join("f.ll"), text).unwrap();
        for extract in ["greedy", "auto"] {
            let ran = rewright(dir.path(), &format!("opt f.ll --rules p.rw --extract {extract}"));
            let calls = |name: &str| ran.stdout.lines().filter(|l| l.contains("call ") && l.contains(name)).count();
            assert_eq!((ran.code, calls("@copy("), calls("@release(")), (Some(0), copies, copies), "{ran:?}");
        }
    }
}

/// C's `bool` is an 8-bit integer in packs, which is 0 or 1; in LLVM it has a type of its own.
#[test]
fn functions_that_give_or_take_truth_values_are_understood() {
    let dir = tempfile::tempdir().unwrap();
    let pack = "pack p\nimport std.core\n@llvm(\"@old\")\nfn old(x: i64, how: i8) -> i8  pure  cost 290\n@llvm(\"@new\")\n\
                fn new(x: i64, how: i8) -> i8  pure  cost 9\n@llvm(\"@count\")\nfn count(x: i64) -> i8  pure  cost 3\n\
                ruleset all {\n  rule a(x: i64, how: i8): old(x, how) => new(x, how)\n  \
                rule b(x: i64): old(x, 0) => 1\n  rule c(x: i64): old(x, count(x)) => old(x, 1)\n}\n\
                schedule default { saturate all }\n";
    fs::write(dir.path().join("p.rw"), pack).unwrap();
    let declared = "declare zeroext i1 @old(i64, i1 zeroext)\ndeclare zeroext i1 @new(i64, i1 zeroext)\n\
                    declare signext i8 @count(i64)\n";
    for (body, expected) in [
        (
            "%r = call zeroext i1 @old(i64 %x, i1 zeroext %c)\n  ret i1 %r",
            "call zeroext i1 @new(i64 %x, i1 zeroext %c)",
        ),
        ("%r = call zeroext i1 @old(i64 %x, i1 zeroext false)\n  ret i1 %r", "ret i1 true"),
        (
            "%d = icmp slt i64 %x, 7\n  %s = call zeroext i1 @old(i64 %x, i1 zeroext %d)\n  br i1 %s, label %a, label %b\n\
             a:\n  ret i1 %c\nb:\n  ret i1 %s",
            "= call zeroext i1 @new(i64 %x, i1 zeroext %",
        ),
    ] {
        let text = format!("{HEAD}{declared}define i1 @f(i64 noundef %x, i1 noundef %c) {{\n  {body}\n}}\n");
        fs::write(dir.path().join("f.ll"), text).unwrap();
        let ran = rewright(dir.path(), "opt f.ll --rules p.rw");
        assert!(ran.code == Some(0) && ran.stdout.contains(expected), "{body}: {ran:?}");
        assert!(!ran.stdout.contains("@old(i64 %"), "{body}: {ran:?}");
    }
    // An integer that may be neither 0 nor 1 is no truth value.
    let text = format!(
        "{HEAD}{declared}declare i64 @wide(i64)\ndefine i64 @f(i64 noundef %x) {{\n  %k = call signext i8 @count(i64 %x)\n  \
         %n = call i64 @wide(i64 %x)\n  %w = zext i8 %k to i64\n  %s = add i64 %w, %n\n  ret i64 %s\n}}\n"
    );
    fs::write(dir.path().join("f.ll"), text).unwrap();
    let more = "@llvm(\"@wide\")\nfn wide(x: i64) -> i64  pure  cost 900\nrule d(x: i64): wide(x) => \
                uextend{i8, i64}(new(x, count(x)))\n";
    fs::write(dir.path().join("p.rw"), format!("{}{more}", pack.replace("schedule default { saturate all }\n", "")))
        .unwrap();
    let ran = rewright(dir.path(), "opt f.ll --rules p.rw --remarks");
    assert!(ran.code == Some(0) && ran.stdout.contains("call i64 @wide(i64 %x)"), "{ran:?}");
    assert!(ran.stderr.contains("the file declares @new with other types than the pack"), "{ran:?}");
}

/// The call that is there, and what about it the declaration does not take.
#[test]
fn why_not_names_calls_that_are_not_taken() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(
        dir.path().join("p.rw"),
        "pack p\nimport std.core\n@llvm(\"@old\")\nfn old(t: ptr, n: i32) -> i32  cost 290\nrule c(t: ptr): old(t, 1) => 7\n",
    )
    .unwrap();
    for (declaration, call, because) in [
        ("i32 @old(ptr, i64)", "i32 @old(ptr %t, i64 1)", "argument 2 (`n`) is `i64` here, and `i32` in the pack"),
        ("i32 @old(ptr)", "i32 @old(ptr %t)", "it has 1 argument here, and 2 in the pack"),
        ("i32 @old(ptr, ...)", "i32 (ptr, ...) @old(ptr %t, i32 1)", "it takes any number of arguments here"),
        ("i64 @old(ptr, i32)", "i64 @old(ptr %t, i32 1)", "it gives `i64` here, and `i32` in the pack"),
        ("i32 @old(ptr, i1)", "i32 @old(ptr %t, i1 true)", "argument 2 (`n`) is `i1` here, and `i32` in the pack"),
        ("fastcc i32 @old(ptr, i32)", "fastcc i32 @old(ptr %t, i32 1)", "its calling convention or attributes"),
    ] {
        let ret = if call.starts_with("i64") { "i64" } else { "i32" };
        let text = format!(
            "{HEAD}declare {declaration}\ndefine {ret} @f(ptr %t) {{\n  %r = call {call}\n  ret {ret} %r\n}}\n"
        );
        fs::write(dir.path().join("f.ll"), text).unwrap();
        let ran = rewright(dir.path(), "why-not c f.ll --rules p.rw");
        assert!(ran.stdout.contains(because) && ran.stdout.contains("a call of @old is there"), "{call}: {ran:?}");
        let listed = rewright(dir.path(), "why-not c f.ll --rules p.rw --format json").stdout;
        let listed: serde_json::Value = serde_json::from_str(&listed).unwrap();
        let said = listed[0]["calls_not_taken"][0]["because"].as_str().unwrap();
        assert!(said.contains(because), "{listed:#}");
    }
    let fits = format!(
        "{HEAD}declare i32 @old(ptr, i32)\ndefine i32 @f(ptr %t) {{\n  %r = call i32 @old(ptr %t, i32 1)\n  ret i32 %r\n}}\n"
    );
    fs::write(dir.path().join("f.ll"), fits).unwrap();
    let ran = rewright(dir.path(), "why-not c f.ll --rules p.rw");
    assert!(
        ran.stdout.contains("took part and was chosen: it is behind 1 change") && !ran.stdout.contains("is there"),
        "{ran:?}"
    );
}

/// An undecided rule comes with the attributes with which it would be tested.
#[test]
fn verify_prints_what_to_say_of_types_and_functions() {
    let dir = tempfile::tempdir().unwrap();
    let pack = "pack p\nimport std.core\ntype Matrix\n@llvm(\"@mat_transpose\")\nfn transpose(a: Matrix) -> Matrix\n\
                rule f(a: Matrix): transpose(transpose(a)) => a\n";
    fs::write(dir.path().join("p.rw"), pack).unwrap();
    let ran = rewright(dir.path(), "verify p.rw --no-cache --threads 1");
    for part in [
        "@sample(make_matrix(size, seed))",
        "@observe(see_matrix(it))",
        "type Matrix ..",
        "@link(\"./libp.so\", \"mat_transpose\")",
        "fn transpose(a: Matrix) -> Matrix ..",
    ] {
        assert!(ran.stderr.contains(part), "{part}: {ran:?}");
    }
}
