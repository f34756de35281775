//! Allocations, and what is known of functions of the C library.

use super::super::super::own_changes;
use super::TARGET;
use rewright_llvm::module::read;
use std::collections::BTreeSet;

const DECLARATIONS: &str = "@g = global ptr null\n@n = global i32 0\ndeclare ptr @malloc(i64)\n\
    declare ptr @calloc(i64, i64)\ndeclare void @free(ptr)\ndeclare i64 @strlen(ptr)\ndeclare ptr @strcpy(ptr, ptr)\n\
    declare i32 @puts(ptr)\ndeclare void @h(ptr)\n";

/// What a function gives, two bodies, and whether the second one refines the first one.
const BODIES: &[(&str, &str, &str, bool)] = &[
    // Other size.
    ("ptr", "%q=call ptr @malloc(i64 16)\nret ptr %q", "%q=call ptr @malloc(i64 8)\nret ptr %q", false),
    // No check.
    (
        "ptr",
        "%q=call ptr @malloc(i64 16)\n%c=icmp eq ptr %q, null\nbr i1 %c, label %no, label %yes\nyes:\nstore i32 %x, ptr %q\nbr label %no\nno:\nret ptr %q",
        "%q=call ptr @malloc(i64 16)\nstore i32 %x, ptr %q\nret ptr %q",
        false,
    ),
    // Check dropped is fine the other way.
    (
        "ptr",
        "%q=call ptr @malloc(i64 16)\nstore i32 %x, ptr %q\nret ptr %q",
        "%q=call ptr @malloc(i64 16)\n%c=icmp eq ptr %q, null\nbr i1 %c, label %no, label %yes\nyes:\nstore i32 %x, ptr %q\nbr label %no\nno:\nret ptr %q",
        true,
    ),
    // Escaping dropped.
    ("ptr", "%q=call ptr @malloc(i64 16)\nstore ptr %q, ptr @g\nret ptr null", "ret ptr null", false),
    // Calloc zero read.
    (
        "ptr",
        "%q=call ptr @calloc(i64 1, i64 8)\n%v=load i64, ptr %q\n%r=inttoptr i64 %v to ptr\nret ptr %r",
        "ret ptr inttoptr (i64 7 to ptr)",
        false,
    ),
    // Free dropped.
    ("ptr", "call void @free(ptr %p)\nret ptr null", "ret ptr null", false),
    // Free added.
    ("ptr", "ret ptr null", "call void @free(ptr %p)\nret ptr null", false),
    // Use after free.
    (
        "i32",
        "%v=load i32, ptr %p\ncall void @free(ptr %p)\nret i32 %v",
        "call void @free(ptr %p)\n%v=load i32, ptr %p\nret i32 %v",
        false,
    ),
    // Swapped.
    (
        "ptr",
        "%q=call ptr @malloc(i64 4)\n%r=call ptr @malloc(i64 8)\nstore ptr %q, ptr @g\nret ptr %r",
        "%r=call ptr @malloc(i64 8)\n%q=call ptr @malloc(i64 4)\nstore ptr %q, ptr @g\nret ptr %r",
        false,
    ),
    // Merged.
    (
        "ptr",
        "%q=call ptr @malloc(i64 8)\n%r=call ptr @malloc(i64 8)\nstore ptr %q, ptr @g\nret ptr %r",
        "%r=call ptr @malloc(i64 8)\nstore ptr %r, ptr @g\nret ptr %r",
        false,
    ),
    // Two are one.
    (
        "i1",
        "%q=call ptr @malloc(i64 8)\n%r=call ptr @malloc(i64 8)\n%c=icmp eq ptr %q, %r\nret i1 %c",
        "ret i1 true",
        false,
    ),
    // One is given.
    ("i1", "%q=call ptr @malloc(i64 8)\n%c=icmp eq ptr %q, %p\nret i1 %c", "ret i1 true", false),
    // Local.
    (
        "i32",
        "%q=call ptr @malloc(i64 8)\nstore i32 %x, ptr %q\n%k=getelementptr i32, ptr %q, i64 1\nstore i32 7, ptr %k\n%v=load i32, ptr %q\ncall void @free(ptr %q)\nret i32 %v",
        "ret i32 %x",
        true,
    ),
    // Local wrong.
    (
        "i32",
        "%q=call ptr @malloc(i64 8)\nstore i32 %x, ptr %q\n%k=getelementptr i32, ptr %q, i64 1\nstore i32 7, ptr %k\n%v=load i32, ptr %q\ncall void @free(ptr %q)\nret i32 %v",
        "ret i32 7",
        false,
    ),
    // Local freed twice phi.
    (
        "i32",
        "%q=call ptr @malloc(i64 8)\n%c=icmp eq i32 %x, 0\n%s=select i1 %c, ptr %q, ptr %p\ncall void @free(ptr %s)\nret i32 %x",
        "ret i32 %x",
        false,
    ),
    // Interior free.
    (
        "i32",
        "%q=call ptr @malloc(i64 8)\n%k=getelementptr i8, ptr %q, i64 0\ncall void @free(ptr %k)\ncall void @free(ptr %p)\nret i32 %x",
        "ret i32 %x",
        false,
    ),
    // Keeps other event.
    ("i32", "%q=call ptr @malloc(i64 8)\n%u=call i32 @puts(ptr %p)\nret i32 %x", "ret i32 %x", false),
    // Passed to others.
    (
        "i32",
        "%q=call ptr @malloc(i64 8)\ncall void @h(ptr %q)\nret i32 %x",
        "call void @h(ptr null)\nret i32 %x",
        false,
    ),
    // In a loop.
    (
        "i32",
        "br label %l\nl:\n%k=phi i32 [0, %0], [%k1, %l]\n%q=call ptr @malloc(i64 8)\nstore i32 %k, ptr %q\n%v=load i32, ptr %q\n%k1=add i32 %k, 1\n%c=icmp slt i32 %k1, 3\nbr i1 %c, label %l, label %e\ne:\nret i32 %v",
        "ret i32 3",
        false,
    ),
    // Null is null.
    (
        "ptr",
        "%q=call ptr @malloc(i64 8)\n%c=icmp eq ptr %q, null\n%s=select i1 %c, ptr null, ptr %q\nret ptr %s",
        "%q=call ptr @malloc(i64 8)\nret ptr %q",
        true,
    ),
    // Any for null.
    ("ptr", "ret ptr null", "ret ptr %p", false),
    // Null or p.
    ("ptr", "%c=icmp eq ptr %p, null\n%s=select i1 %c, ptr null, ptr %p\nret ptr %s", "ret ptr %p", true),
];

/// The head of a second version with the same body, and whether the body keeps what that promises.
const HEADS: &[(&str, &str, bool)] = &[
    ("define noalias ptr @f(ptr %p, i32 %x) ", "%q=call ptr @malloc(i64 8)\nstore ptr %q, ptr @g\nret ptr %q", false),
    ("define noalias ptr @f(ptr %p, i32 %x) ", "ret ptr %p", false),
    ("define noalias ptr @f(ptr %p, i32 %x) ", "%q=load ptr, ptr @g\nret ptr %q", false),
    ("define noalias ptr @f(ptr %p, i32 %x) ", "%q=call ptr @malloc(i64 8)\ncall void @h(ptr %q)\nret ptr %q", false),
    ("define noalias ptr @f(ptr %p, i32 %x) ", "%q=call ptr @malloc(i64 8)\nret ptr %q", true),
    ("define nonnull ptr @f(ptr %p, i32 %x) ", "%q=call ptr @malloc(i64 8)\nret ptr %q", false),
    ("define ptr @f(ptr %p, i32 %x) memory(none)", "%q=call ptr @malloc(i64 8)\nret ptr %q", false),
    ("define ptr @f(ptr %p, i32 %x) memory(argmem: readwrite)", "%q=call ptr @malloc(i64 8)\nret ptr %q", false),
    (
        "define ptr @f(ptr %p, i32 %x) memory(inaccessiblemem: readwrite)",
        "%q=call ptr @malloc(i64 8)\nret ptr %q",
        true,
    ),
    (
        "define ptr @f(ptr %p, i32 %x) memory(inaccessiblemem: readwrite)",
        "%q=call ptr @malloc(i64 8)\nstore i32 %x, ptr %q\nret ptr %q",
        false,
    ),
    (
        "define ptr @f(ptr %p, i32 %x) memory(argmem: readwrite, inaccessiblemem: readwrite)",
        "%q=call ptr @malloc(i64 8)\nstore i32 %x, ptr %q\nret ptr %q",
        false,
    ),
    (
        "define ptr @f(ptr %p, i32 %x) memory(write, argmem: none, inaccessiblemem: readwrite)",
        "%q=call ptr @malloc(i64 8)\nstore i32 %x, ptr %q\nret ptr %q",
        true,
    ),
    (
        "define ptr @f(ptr %p, i32 %x) memory(read, inaccessiblemem: readwrite)",
        "%q=call ptr @malloc(i64 8)\nstore i32 %x, ptr %q\nret ptr %q",
        false,
    ),
    ("define ptr @f(ptr %p, i32 %x) memory(write, argmem: none)", "store i32 %x, ptr %p\nret ptr null", false),
    ("define ptr @f(ptr %p, i32 %x) memory(argmem: write)", "store i32 %x, ptr @n\nret ptr null", false),
    ("define ptr @f(ptr %p, i32 %x) memory(write, argmem: none)", "store i32 %x, ptr @n\nret ptr null", true),
    (
        "define ptr @f(ptr %p, i32 %x) memory(write, argmem: none)",
        "%s=select i1 true, ptr %p, ptr @n\nstore i32 %x, ptr %s\nret ptr null",
        false,
    ),
    ("define ptr @f(ptr %p, i32 %x) memory(argmem: read)", "%l=call i64 @strlen(ptr %p)\nret ptr null", true),
    ("define ptr @f(ptr %p, i32 %x) memory(none)", "%l=call i64 @strlen(ptr %p)\nret ptr null", false),
    ("define ptr @f(ptr nocapture %p, i32 %x) ", "%l=call i64 @strlen(ptr %p)\nret ptr null", true),
    ("define ptr @f(ptr nocapture readonly %p, i32 %x) ", "%l=call i64 @strlen(ptr %p)\nret ptr null", true),
    ("define ptr @f(ptr writeonly %p, i32 %x) ", "%l=call i64 @strlen(ptr %p)\nret ptr null", false),
    ("define ptr @f(ptr readonly %p, i32 %x) ", "%l=call ptr @strcpy(ptr %p, ptr @g)\nret ptr null", false),
    ("define ptr @f(ptr nocapture %p, i32 %x) ", "%l=call ptr @strcpy(ptr %p, ptr @g)\nret ptr null", false),
    ("define ptr @f(ptr nocapture %p, i32 %x) ", "call void @h(ptr %p)\nret ptr null", false),
    ("define ptr @f(ptr nocapture %p, i32 %x) ", "call void @free(ptr %p)\nret ptr null", true),
    ("define ptr @f(ptr %p, i32 %x) nofree", "call void @free(ptr %p)\nret ptr null", false),
    ("define ptr @f(ptr readonly %p, i32 %x) ", "call void @free(ptr %p)\nret ptr null", false),
    ("define ptr @f(ptr %p, i32 %x) willreturn", "call void @free(ptr %p)\nret ptr null", true),
];

fn is_proved(before: &str, after: &str) -> bool {
    let [before, after] = [before, after].map(|text| format!("{TARGET}{DECLARATIONS}{text}\n}}\n"));
    let report = own_changes(&read(before).unwrap(), &after, BTreeSet::new()).unwrap();
    let [verdict] = report.functions.as_slice() else { panic!("{:?}", report.functions) };
    verdict.is_proved()
}

#[test]
fn allocations_that_nobody_sees_go() {
    for (result, before, after, holds) in BODIES {
        let function = |body: &str| format!("define {result} @f(ptr %p, i32 %x) {{\n{body}");
        assert_eq!(is_proved(&function(before), &function(after)), *holds, "{before}\n{after}");
    }
}

#[test]
fn bodies_keep_what_heads_promise() {
    for (head, body, holds) in HEADS {
        let before = format!("define ptr @f(ptr %p, i32 %x) {{\n{body}");
        assert_eq!(is_proved(&before, &format!("{head} {{\n{body}")), *holds, "{head}\n{body}");
    }
}
