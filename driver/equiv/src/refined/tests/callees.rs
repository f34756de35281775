//! Promises of functions with bodies that only the second version makes.

use super::super::super::own_changes;
use super::TARGET;
use rewright_llvm::module::read;
use std::collections::BTreeSet;

/// Names of functions that are proved.
fn proved(before: &str, after: &str) -> Vec<String> {
    let [before, after] = [before, after].map(|text| format!("{TARGET}@global = global ptr null\n{text}"));
    let report = own_changes(&read(before).unwrap(), &after, BTreeSet::new()).unwrap();
    report.functions.into_iter().filter(|verdict| verdict.is_proved()).map(|verdict| verdict.function).collect()
}

/// A function that stores, calls `@g`, and gives what it reads then, or what it has stored.
fn caller(forwards: bool) -> String {
    let (read, value) = if forwards { ("", "7") } else { ("%v = load i32, ptr %p\n", "%v") };
    format!("define i32 @f(ptr %p) {{\nstore i32 7, ptr %p\n%q = call ptr @g(ptr %p)\n{read}ret i32 {value}\n}}\n")
}

fn function(before: &str, name: &str, promises: &str, body: &str) -> String {
    format!("define {before} ptr @{name}(ptr %p) {promises} {{\n{body}\n}}\n")
}

#[test]
fn a_call_counts_on_what_a_body_is_seen_to_keep() {
    let reads = "%v = load i32, ptr %p\n%r = getelementptr i8, ptr %p, i32 %v\nret ptr %r";
    let passes = "%r = call ptr @h(ptr %p)\nret ptr %r";
    let only_reads = "memory(argmem: read) nounwind nosync nofree";
    for (linkage, promises, body, body_of_h, expected) in [
        ("", only_reads, reads, reads, ["@g", "@h", "@f"].as_slice()),
        ("internal", only_reads, passes, reads, &["@g", "@h", "@f"]),
        ("", "memory(none)", "ret ptr %p", reads, &["@g", "@f"]),
        // The linker may take another one.
        ("weak", only_reads, reads, reads, &["@g", "@h"]),
        ("linkonce_odr", only_reads, reads, reads, &["@g", "@h"]),
        // It writes, or what it calls does.
        ("", only_reads, "store i32 1, ptr %p\nret ptr null", reads, &["@h"]),
        ("", only_reads, passes, "store i32 1, ptr %p\nret ptr null", &[]),
        // Each reads only if the other one does, and one writes.
        ("", only_reads, passes, "store i32 1, ptr %p\n%r = call ptr @g(ptr %p)\nret ptr %r", &[]),
        // The callee is unknown.
        ("", only_reads, "%r = call ptr %p(ptr %p)\nret ptr %r", reads, &["@h"]),
    ] {
        let module = |promises: &str, forwards: bool| {
            [function(linkage, "g", promises, body), function("", "h", promises, body_of_h), caller(forwards)].concat()
        };
        let found = proved(&module("", false), &module(promises, true));
        assert_eq!(found, expected, "{linkage} {promises}: {body}; {body_of_h}");
    }
}

#[test]
fn functions_that_call_each_other_do_not_end_by_that() {
    let calls = |name: &str| format!("%r = call ptr @{name}(ptr %p)\nret ptr %r");
    let ends = "willreturn mustprogress";
    for (of_g, of_h, expected) in [
        (calls("h"), "ret ptr null".to_string(), ["@g", "@h"].as_slice()),
        (calls("h"), calls("g"), &[]),
        (calls("g"), "ret ptr null".to_string(), &["@h"]),
        ("br label %l\nl:\nbr label %l".to_string(), calls("g"), &[]),
    ] {
        let module = |promises: &str| function("", "g", promises, &of_g) + &function("", "h", promises, &of_h);
        assert_eq!(proved(&module(""), &module(ends)), expected, "{of_g}; {of_h}");
    }
}

#[test]
fn what_is_promised_of_a_pointer_is_seen_in_each_body() {
    let with = |attribute: &str, body: &str, passed: &str| {
        let caller =
            format!("define ptr @g(ptr {attribute} %p) {{\n%r = call ptr @h(ptr {passed})\nret ptr null\n}}\n");
        caller + &format!("define ptr @h(ptr {attribute} %p) {{\n{body}\nret ptr null\n}}\n")
    };
    for (attribute, body, passed, expected) in [
        ("nocapture", "%v = load i32, ptr %p", "%p", ["@g", "@h"].as_slice()),
        ("nocapture readonly", "%v = load i32, ptr %p", "%p", &["@g", "@h"]),
        ("nocapture readonly", "store i32 1, ptr %p", "%p", &[]),
        // It gets out one call further.
        ("nocapture", "store ptr %p, ptr @global", "%p", &[]),
        ("nocapture", "%n = ptrtoint ptr %p to i64\n%c = inttoptr i64 %n to ptr", "%p", &[]),
        ("nocapture", "%v = load i32, ptr %p", "@global", &["@g", "@h"]),
        // `@h` gives null.
        ("returned", "store i32 1, ptr %p", "%p", &[]),
    ] {
        let found = proved(&with("", body, passed), &with(attribute, body, passed));
        assert_eq!(found, expected, "{attribute}: {body}; {passed}");
    }
}

#[test]
fn what_calls_give_may_be_chosen_alike_where_they_are_equal() {
    let module = |body: &str| {
        let declarations = "declare ptr @new(i64)\ndeclare void @begin(ptr noundef)\n";
        format!("{declarations}define ptr @f(ptr %p) {{\n{body}\n}}\n")
    };
    let made = "%c = icmp ne ptr %p, null\nbr i1 %c, label %a, label %b\na:\n%q = call ptr @new(i64 8)\n";
    let before = format!("{made}br label %b\nb:\n%r = phi ptr [ %q, %a ], [ null, %0 ]\nret ptr %r");
    let other = made.replace("icmp ne ptr", "icmp eq ptr").replace("label %a, label %b", "label %b, label %a");
    let end = |value: &str| format!("br label %b\nb:\n%r = phi ptr [ %q, %a ], [ null, %0 ]\n{value}");
    for (before, after, expected) in [
        (before.clone(), format!("{other}{}", end("ret ptr %r")), true),
        (before.clone(), format!("{other}{}", end("%z = freeze ptr %r\nret ptr %z")), true),
        // One value for all uses is less than what each use may see.
        (format!("{made}{}", end("%z = freeze ptr %r\nret ptr %z")), format!("{other}{}", end("ret ptr %r")), false),
        // Another call gives another value.
        (before.clone(), format!("{}{}", other.replace("i64 8", "i64 9"), end("ret ptr %r")), false),
        (before, format!("{other}store i32 1, ptr @global\n{}", end("ret ptr %r")), false),
    ] {
        assert_eq!(!proved(&module(&before), &module(&after)).is_empty(), expected, "{after}");
    }
}

#[test]
fn a_call_gives_the_argument_that_it_returns() {
    let module = |attribute: &str, given: &str, value: &str| {
        let own = format!("define ptr @g(ptr {attribute} %p) {{\nstore i32 1, ptr %p\nret ptr {given}\n}}\n");
        own + &format!(
            "define ptr @f(ptr %p) {{\n%q = call ptr @g(ptr %p)\nstore i32 2, ptr {value}\nret ptr {value}\n}}\n"
        )
    };
    for (given, expected) in [("%p", ["@g", "@f"].as_slice()), ("@global", &[])] {
        assert_eq!(proved(&module("", given, "%q"), &module("returned", given, "%p")), expected, "{given}");
    }
}

/// Functions that call each other in a row, the last one at the end of the file, and one that calls the first.
fn in_a_row(promises: &str, last: &str, caller: &str) -> String {
    const MANY: usize = 20;
    let link = |n: usize| {
        let next = n + 1;
        format!("define void @g{n}(ptr %p) {promises} {{\ncall void @g{next}(ptr %p)\nret void\n}}\n")
    };
    let links: String = (0..MANY).map(link).collect();
    let end = format!("define void @g{MANY}(ptr %p) {promises} {{\n{last}\nret void\n}}\n");
    format!("define i32 @f(ptr %p, i32 %y) {{\n{caller}\n}}\n{links}{end}")
}

#[test]
fn promises_go_along_many_calls() {
    let proves = |promises: &str, last: &str, [before, after]: [&str; 2]| {
        let found = proved(&in_a_row("", last, before), &in_a_row(promises, last, after));
        found.iter().any(|name| name == "@f")
    };
    let forwards = [
        "store i32 7, ptr %p\ncall void @g0(ptr %p)\n%v = load i32, ptr %p\nret i32 %v",
        "store i32 7, ptr %p\ncall void @g0(ptr %p)\nret i32 7",
    ];
    let hoists = [
        "call void @g0(ptr %p)\n%d = udiv i32 7, %y\nret i32 %d",
        "%d = udiv i32 7, %y\ncall void @g0(ptr %p)\nret i32 %d",
    ];
    let silent = "memory(none) nounwind nosync nofree";
    let ends = format!("{silent} willreturn");
    for (promises, last, caller, expected) in [
        (silent, "", forwards, true),
        (silent, "store i32 1, ptr %p", forwards, false),
        (&ends, "", hoists, true),
        (silent, "", hoists, false),
        (&ends, "call void @g0(ptr %p)", hoists, false),
    ] {
        assert_eq!(proves(promises, last, caller), expected, "{promises}: {last}\n{}", caller[1]);
    }
}
