//! What bodies mention: values without a number, globals that others lead to, types by their names.

use super::super::super::own_changes;
use super::TARGET;
use rewright_llvm::module::read;
use std::collections::BTreeSet;

/// Is all of the second module proved, or the same?
pub(super) fn holds(before: &str, after: &str) -> bool {
    let [before, after] = [before, after].map(|text| format!("{TARGET}{text}"));
    let report = own_changes(&read(before).unwrap(), &after, BTreeSet::new()).unwrap();
    report.functions.iter().all(|verdict| verdict.is_proved())
}

#[test]
fn a_value_may_have_a_number_that_the_text_leaves_out() {
    let f = |body: &str| format!("define i32 @f(i32, i32) {{\n{body}\n}}\n");
    let sums = "add i32 %0, 1\nadd i32 %1, 1\n";
    let [third, fourth] = ["%3", "%4"].map(|value| f(&format!("{sums}ret i32 {value}")));
    assert!(holds(&third, &third));
    assert!(!holds(&third, &fourth));
    // The same number is another value in another order.
    let turned = f("add i32 %1, 1\nadd i32 %0, 1\nret i32 %3");
    assert!(!holds(&third, &turned));
    // The parameters count, too.
    let named = "define i32 @f(i32 %a, i32) {\nadd i32 %a, 1\nadd i32 %0, 1\nret i32 %2\n}\n";
    let other = named.replace("i32 %a, i32)", "i32, i32 %a)");
    assert!(holds(named, named) && !holds(named, &other));
}

#[test]
fn globals_lead_to_others() {
    let reads = "define i32 @f() {\n%q = load ptr, ptr @p\n%x = load i32, ptr %q\nret i32 %x\n}\n";
    let five = "@k = private constant i32 5\n";
    for (before, after, expected) in [
        ("@p = private constant ptr @k\n", "", true),
        ("@p = private constant ptr @k\n", "@k = private constant i32 6\n", false),
        ("@p = internal global ptr @k\n", "@k = private constant i32 6\n", false),
        ("@p = alias ptr, ptr @t\n@t = private constant ptr @k\n", "@k = private constant i32 6\n", false),
        ("@p = private constant { i32, ptr } { i32 1, ptr @k }\n", "@k = private constant i32 6\n", false),
    ] {
        let [was, is] = [five, if after.is_empty() { five } else { after }].map(|k| format!("{before}{k}{reads}"));
        assert_eq!(holds(&was, &is), expected, "{was}\n{is}");
    }
}

#[test]
fn a_global_is_all_of_its_definition() {
    let module = |more: &str| {
        format!("{more}define i32 @f(ptr %p) {{\n%x = load i32, ptr @g\n%y = add i32 %x, 0\nret i32 %y\n}}\n")
    };
    for (was, is, expected) in [
        (
            "@g = private constant i32 5, align 4 ; five\n",
            "@g = private unnamed_addr constant  i32 5, align 4, !dbg !0\n",
            true,
        ),
        ("@g = private constant [8 x i8] c\"1, !2  3\"\n", "@g = private constant [8 x i8] c\"1, !2 3 \"\n", false),
        ("@g = private constant [8 x i8] c\"1, !2  3\"\n", "@g = private constant [8 x i8] c\"1, !3  3\"\n", false),
        (
            "%T = type { i32 }\n@g = private constant %T { i32 5 }\n",
            "%U = type { i32 }\n@g = private constant %U { i32 5 }\n",
            true,
        ),
        (
            "%T = type { i8, i32 }\n@g = private constant %T { i8 1, i32 5 }\n",
            "%T = type <{ i8, i32 }>\n@g = private constant %T { i8 1, i32 5 }\n",
            false,
        ),
    ] {
        assert_eq!(holds(&module(was), &module(is)), expected, "{was}{is}");
    }
}

#[test]
fn types_are_compared_to_the_innermost() {
    let module = |innermost: &str| {
        let types: String = (0..30).map(|n| format!("%T{n} = type {{ %T{} }}\n", n + 1)).collect();
        format!(
            "{types}%T30 = type {{ {innermost} }}\ndefine i64 @f() {{\n%q = getelementptr %T0, ptr null, i64 1\n\
             %x = ptrtoint ptr %q to i64\nret i64 %x\n}}\n"
        )
    };
    assert!(holds(&module("i32, i32"), &module("i32, i32")));
    assert!(!holds(&module("i32, i32"), &module("i32, i64")));
}

#[test]
fn an_absolute_symbol_may_be_null() {
    let module = |attached: &str, body: &str| {
        format!("@w = external hidden global i8{attached}\n!0 = !{{i64 0, i64 256}}\ndefine i1 @f() {{\n{body}\n}}\n")
    };
    for (attached, expected) in [("", true), (", !absolute_symbol !0", false)] {
        let before = module(attached, "%c = icmp eq ptr @w, null\nret i1 %c");
        assert_eq!(holds(&before, &module(attached, "ret i1 false")), expected, "{attached}");
    }
}
