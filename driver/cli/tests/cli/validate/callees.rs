//! What verdicts on functions rest on that call others of their module.

use super::report;
use crate::ran::{Ran, rewright};
use std::fs;

/// `@f` adds a number, `@g` calls it and has the same text in both versions, `@h` calls `@g`.
fn module(linkage: &str, add: &str, more: &str) -> String {
    format!(
        "define {linkage} i32 @f(i32 noundef %x) {{\n  %r = {add}\n  ret i32 %r\n}}\n\
         define i32 @g(i32 noundef %x) {{\n  %r = call i32 @f(i32 noundef %x)\n  ret i32 %r\n}}\n\
         define i32 @h(i32 noundef %x) {{\n  %r = call i32 @g(i32 noundef %x)\n  ret i32 %r\n}}\n{more}"
    )
}

fn validate(texts: [&str; 2], more: &str) -> Ran {
    let dir = tempfile::tempdir().unwrap();
    for (name, text) in ["a.ll", "b.ll"].iter().zip(texts) {
        fs::write(dir.path().join(name), text).unwrap();
    }
    if let Some(input) = more.strip_prefix("input ") {
        let (function, input) = input.split_once(' ').unwrap();
        fs::write(dir.path().join("input.json"), input).unwrap();
        return rewright(dir.path(), &format!("validate a.ll b.ll --fn {function} --input input.json"));
    }
    rewright(dir.path(), &format!("validate a.ll b.ll --method replayed,refined {more}"))
}

/// The verdicts, in the order of the files.
fn words(ran: &Ran) -> Vec<(String, String, Vec<String>)> {
    let text = |value: &serde_json::Value| value.as_str().unwrap().to_string();
    let functions = report(ran)["functions"].as_array().unwrap().clone();
    let rests_on =
        |f: &serde_json::Value| f["rests_on"].as_array().map_or_else(Vec::new, |l| l.iter().map(text).collect());
    functions.iter().map(|f| (text(&f["function"]), text(&f["verdict"]), rests_on(f))).collect()
}

#[test]
fn a_caller_is_proved_if_what_it_calls_is_refined() {
    // The second one needs a law of its own that no solver is asked about within no steps.
    let texts = [module("", "add i32 %x, 7", ""), module("", "add i32 7, %x", "")];
    let [before, after] = [&*texts[0], &*texts[1]];
    let ran = validate([before, after], "--require proved");
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.stdout.contains("@g: proved (one text)\n@h: proved (one text)\n"), "{ran:?}");
    assert!(ran.stdout.contains("0 functions unchanged, 3 others: 3 proved"), "{ran:?}");
    // Nothing is known of the other function.
    let ran = validate([before, after], "--fn h --require proved");
    assert!(ran.code == Some(1) && ran.stdout.contains("@h: proved if @f is refined (one text)\n"), "{ran:?}");
    assert!(ran.stdout.contains("1 proof holds if @f is refined\n"), "{ran:?}");
    assert_eq!(validate([before, after], "--fn h").code, Some(0));
    let ran = validate([before, after], "--format json");
    let expected = [("@f", &[][..]), ("@g", &["@f"]), ("@h", &["@f"])];
    let expected =
        expected.map(|(name, on)| (name.into(), "proved".into(), on.iter().map(ToString::to_string).collect()));
    assert_eq!(words(&ran), expected);
    let ran = validate([before, after], "--solver-steps 0 --require proved");
    assert!(ran.code == Some(1) && ran.stdout.contains("2 proofs hold if @f is refined\n"), "{ran:?}");
    // A function that is the same text as before, with all that it calls, rests on nothing.
    let ran = validate([before, before], "--require proved");
    assert!(ran.code == Some(0) && ran.stdout.contains("3 functions unchanged, 0 others"), "{ran:?}");
}

#[test]
fn a_local_function_is_refuted_through_its_callers() {
    let two = "define i32 @other(i32 noundef %x) {\n  %y = call i32 @f(i32 noundef 4)\n  ret i32 %y\n}\n\
               define i32 @apart(i32 noundef %x) {\n  ret i32 %x\n}\n";
    let texts = [module("internal", "add i32 %x, 1", two), module("internal", "add i32 %x, 2", two)];
    let ran = validate([&texts[0], &texts[1]], "--format json");
    let on_f = || vec!["@f".to_string()];
    let expected = [
        ("@f", "unknown", vec![]),
        ("@g", "refuted", on_f()),
        ("@h", "refuted", on_f()),
        ("@other", "refuted", on_f()),
    ];
    assert_eq!(words(&ran), expected.map(|(name, verdict, on)| (name.to_string(), verdict.to_string(), on)));
    let found = report(&ran);
    assert_eq!((ran.code, found["unchanged"].as_u64()), (Some(1), Some(1)), "{found}");
    // The reported input shows the same again.
    let input = found["functions"][1]["input"].to_string();
    let again = validate([&texts[0], &texts[1]], &format!("input @g {input}"));
    assert!(again.code == Some(1) && again.stdout.contains("@g: refuted through @f: on"), "{again:?}");
    for function in ["g", "h", "other"] {
        assert_eq!(validate([&texts[0], &texts[1]], &format!("--fn {function}")).code, Some(1), "{function}");
    }
}

#[test]
fn what_no_caller_reaches_refutes_nothing() {
    let calls =
        "define i32 @g(i32 noundef %x) {\n  %y = and i32 %x, 7\n  %r = call i32 @f(i32 noundef %y)\n  ret i32 %r\n}\n";
    let f = |other: &str| {
        format!(
            "define internal i32 @f(i32 noundef %x) noinline {{\n  %c = icmp ugt i32 %x, 7\n  br i1 %c, label %a, label %b\na:\n  \
             ret i32 {other}\nb:\n  ret i32 %x\n}}\n{calls}"
        )
    };
    let texts = [f("1"), f("2")];
    let ran = validate([&texts[0], &texts[1]], "--require proved");
    assert!(ran.code == Some(1) && ran.stdout.contains("@g: proved if @f is refined (one text)"), "{ran:?}");
    assert!(ran.stdout.contains("1 proved, 0 refuted, 0 tested, 1 unknown"), "{ran:?}");
    assert_eq!(validate([&texts[0], &texts[1]], "").code, Some(0));
}

#[test]
fn functions_that_call_each_other_rest_on_each_other() {
    let pair = |n: u32| {
        format!(
            "define i32 @even(i32 noundef %x) {{\n  %c = icmp eq i32 %x, 0\n  br i1 %c, label %a, label %b\na:\n  ret i32 {n}\nb:\n  \
             %y = sub i32 %x, 1\n  %r = call i32 @odd(i32 noundef %y)\n  ret i32 %r\n}}\n\
             define internal i32 @odd(i32 noundef %x) {{\n  %c = icmp eq i32 %x, 0\n  br i1 %c, label %a, label %b\na:\n  ret i32 0\nb:\n  \
             %y = {}\n  %r = call i32 @even(i32 noundef %y)\n  ret i32 %r\n}}\n",
            if n == 1 { "sub i32 %x, 1" } else { "add i32 %x, -1" }
        )
    };
    let ran = validate([&pair(1), &pair(1).replace("sub i32 %x, 1", "add i32 %x, -1")], "--require proved");
    assert!(ran.code == Some(0) && ran.stdout.contains("2 proved, 0 refuted"), "{ran:?}");
    let ran = validate([&pair(1), &pair(2)], "");
    assert!(ran.code == Some(1) && ran.stdout.contains("@even: refuted: on"), "{ran:?}");
}

#[test]
fn a_function_that_the_linker_may_replace_is_not_entered() {
    let texts = [module("weak", "add i32 %x, 1", ""), module("weak", "add i32 %x, 2", "")];
    let ran = validate([&texts[0], &texts[1]], "--fn g");
    assert!(ran.code == Some(0) && ran.stdout.contains("@g: proved if @f is refined"), "{ran:?}");
}

#[test]
fn long_lists_of_calls_are_cut_short_for_people_only() {
    let calls: String = (0..60).map(|n| format!("  call void @note(i32 {n})\n")).collect();
    let text =
        |n: u32| format!("declare void @note(i32)\ndefine i32 @f(i32 noundef %x) {{\n{calls}  ret i32 {n}\n}}\n");
    let texts = [text(1), text(2)];
    let ran = validate([&texts[0], &texts[1]], "");
    let line = ran.stdout.lines().find(|line| line.starts_with("@f: refuted")).unwrap_or_else(|| panic!("{ran:?}"));
    assert!(line.contains("calls @note(i32 1), .. (55 more) .., calls @note(i32 57)"), "{line}");
    assert!(
        line.contains("returns i32 1; after") && line.ends_with("returns i32 2") && line.matches("@note").count() < 30,
        "{line}"
    );
    let found = report(&validate([&texts[0], &texts[1]], "--format json"));
    let one = &found["functions"][0];
    assert_eq!(
        ["before", "after"].map(|side| one[side].as_str().unwrap().matches("@note").count()),
        [60, 60],
        "{found}"
    );
    // The input to run again is whole.
    let again = ran.stdout.lines().find_map(|line| line.split_once("where FILE has ")).unwrap().1;
    assert_eq!(serde_json::from_str::<serde_json::Value>(again).unwrap(), one["input"]);
}
