//! Loops that nothing but nests see: right pairs are proved, and wrong ones, or those that rest on what no text says,
//! never are without a word.

use crate::ran::rewright;
use serde_json::Value;
use std::fs;

const LAYOUT: &str = "target datalayout = \"e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128\"\n\
    target triple = \"x86_64-pc-linux-gnu\"\n";

/// Two loops, one in the other, around a body over `%i` and `%j`: from 0 to the bounds.
pub(super) fn nest([outer, inner]: [&str; 2], [high_outer, high_inner]: [&str; 2], header: &str, body: &str) -> String {
    format!(
        "define void @f({header}) {{\nentry:\n  br label %x\n\
         x:\n  %{outer} = phi i32 [ 0, %entry ], [ %{outer}.n, %xl ]\n  %c = icmp slt i32 %{outer}, {high_outer}\n  \
         br i1 %c, label %y, label %done\n\
         y:\n  %{inner} = phi i32 [ 0, %x ], [ %{inner}.n, %b ]\n  %d = icmp slt i32 %{inner}, {high_inner}\n  \
         br i1 %d, label %b, label %xl\n\
         b:\n  %r = sext i32 %i to i64\n  %s = sext i32 %j to i64\n{body}  %{inner}.n = add nsw i32 %{inner}, 1\n  \
         br label %y\n\
         xl:\n  %{outer}.n = add nsw i32 %{outer}, 1\n  br label %x\ndone:\n  ret void\n}}\n"
    )
}

/// The same with the loops in the other order.
pub(super) fn interchanged(bounds: [&str; 2], header: &str, body: &str) -> [String; 2] {
    let [m, n] = bounds;
    [nest(["i", "j"], [m, n], header, body), nest(["j", "i"], [n, m], header, body)]
}

/// One loop with a counter of this many bits; `test` compares `%i`.
pub(super) fn single(header: &str, ty: &str, test: &str, body: &str, next: &str) -> String {
    format!(
        "define void @f({header}) {{\nentry:\n  br label %x\n\
         x:\n  %i = phi {ty} [ 0, %entry ], [ %i.n, %b ]\n  %c = icmp {test}\n  br i1 %c, label %b, label %done\n\
         b:\n{body}  %i.n = {next}\n  br label %x\ndone:\n  ret void\n}}\n"
    )
}

/// The verdict on two texts, with its precondition.
pub(super) fn verdict([before, after]: &[String; 2], kind: &str) -> (String, Option<String>, Value) {
    let dir = tempfile::tempdir().unwrap();
    let names = ["before", "after"].map(|name| format!("{name}.{kind}"));
    let layout = if kind == "ll" { LAYOUT } else { "" };
    fs::write(dir.path().join(&names[0]), format!("{layout}{before}")).unwrap();
    fs::write(dir.path().join(&names[1]), format!("{layout}{after}")).unwrap();
    let method = if kind == "ll" { "--method replayed,nests --runs 16" } else { "" };
    let ran = rewright(dir.path(), &format!("validate {} {} {method} --format json", names[0], names[1]));
    let report: Value =
        serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {}{}", ran.stdout, ran.stderr));
    let found = &report["functions"][0];
    let text = |key: &str| found[key].as_str().map(String::from);
    (text("verdict").unwrap(), text("precondition"), found.clone())
}

pub(super) const APART: &str = "ptr noalias %a, ptr noalias %b, i32 noundef %n";

/// `a[i][j] = b[i + ROW][j + COLUMN] + a[i][j]`.
pub(super) fn stencil(from: &str, row: i64, column: i64) -> String {
    format!(
        "  %p = getelementptr inbounds [64 x double], ptr %a, i64 %r, i64 %s\n  \
         %rr = add nsw i64 %r, {row}\n  %ss = add nsw i64 %s, {column}\n  \
         %q = getelementptr inbounds [64 x double], ptr %{from}, i64 %rr, i64 %ss\n  \
         %v = load double, ptr %p\n  %w = load double, ptr %q\n  %u = fadd double %v, %w\n  \
         store double %u, ptr %p\n"
    )
}

#[test]
fn loops_in_another_order_are_proved() {
    let (found, precondition, shown) = verdict(&interchanged(["64", "64"], APART, &stencil("b", 1, 1)), "ll");
    assert_eq!((found.as_str(), precondition), ("proved", None), "{shown}");
    // Rows may be longer than they are: then cells of one are those of the next.
    let (found, precondition, shown) = verdict(&interchanged(["%n", "%n"], APART, &stencil("b", 0, 0)), "ll");
    assert_eq!((found.as_str(), precondition.as_deref()), ("proved", Some("%n <= 64")), "{shown}");
    // Nothing that an iteration of one loop reads is written by another one of the other loop.
    let (found, precondition, shown) = verdict(&interchanged(["32", "32"], APART, &stencil("a", 1, 0)), "ll");
    assert_eq!((found.as_str(), precondition), ("proved", None), "{shown}");
}

#[test]
fn what_no_text_says_is_a_precondition() {
    let may_overlap = "ptr %a, ptr %b, i32 noundef %n";
    let (found, precondition, shown) = verdict(&interchanged(["64", "64"], may_overlap, &stencil("b", 0, 0)), "ll");
    assert_eq!((found.as_str(), precondition.as_deref()), ("proved", Some("%a and %b do not overlap")), "{shown}");
    let may_be_poison = "ptr noalias %a, ptr noalias %b, i32 %n";
    let (found, precondition, shown) = verdict(&interchanged(["%n", "16"], may_be_poison, &stencil("b", 0, 0)), "ll");
    assert_eq!(
        (found.as_str(), precondition.as_deref()),
        ("proved", Some("%n is neither poison nor undef")),
        "{shown}"
    );
}

#[test]
fn wrong_orders_are_not_proved() {
    // Dependences with the distance (1, -1), in either direction.
    for (row, column) in [(1, -1), (-1, 1)] {
        let pair = interchanged(["32", "32"], APART, &stencil("a", row, column));
        let (found, _, shown) = verdict(&pair, "ll");
        assert_ne!(found, "proved", "{shown}");
    }
    // Several iterations write one cell, and the last one is another one.
    let last = "  %t = add nsw i64 %r, %s\n  %p = getelementptr inbounds double, ptr %a, i64 %t\n  %x = sitofp i32 %i to double\n  \
                %y = sitofp i32 %j to double\n  %z = fsub double %x, %y\n  store double %z, ptr %p\n";
    let (found, _, shown) = verdict(&interchanged(["8", "9"], APART, last), "ll");
    assert_ne!(found, "proved", "{shown}");
    // Another sum of the same floats.
    let sum = "  %p = getelementptr inbounds [16 x double], ptr %b, i64 %r, i64 %s\n  %v = load double, ptr %p\n  \
               %w = load double, ptr %a\n  %u = fadd double %v, %w\n  store double %u, ptr %a\n";
    let (found, _, shown) = verdict(&interchanged(["16", "16"], APART, sum), "ll");
    assert_ne!(found, "proved", "{shown}");
}

/// `a[i] = 7`, with the address and the store as given.
fn filled(address: &str, store: &str) -> String {
    format!("  %p = {address} ptr %a, i64 %r\n  {store}\n")
}

#[test]
fn second_versions_that_do_or_promise_more_are_not_proved() {
    let header = "ptr noalias %a, i32 noundef %n";
    let int = |body: &str| format!("  %r = sext i32 %i to i64\n{body}");
    let loop_of = |test: &str, body: &str, next: &str| single(header, "i32", test, &int(body), next);
    let plain = filled("getelementptr inbounds i32,", "store i32 7, ptr %p, align 4");
    let next = "add nsw i32 %i, 1";
    let before = loop_of("slt i32 %i, %n", &plain, next);
    let load = |more: &str| {
        format!(
            "  %p = getelementptr inbounds i32, ptr %a, i64 %r\n  %v = load i32, ptr %p, align 4\n  \
                 %w = add i32 %v, 3\n{more}  store i32 %w, ptr %p, align 4\n"
        )
    };
    let loaded = loop_of("slt i32 %i, %n", &load(""), next);
    let wrong = [
        // Bounds.
        (&before, loop_of("sle i32 %i, %n", &plain, next)),
        (&before, loop_of("ne i32 %i, %n", &plain, next)),
        (&before, loop_of("ult i32 %i, %n", &plain, next)),
        (&before, loop_of("slt i32 %i, %n", &plain, "add nsw i32 %i, 2")),
        // Promises.
        (&before, loop_of("slt i32 %i, %n", &plain.replace("align 4", "align 8"), next)),
        (&loaded, loop_of("slt i32 %i, %n", &load("").replace("add i32 %v", "add nsw i32 %v"), next)),
        (
            &loaded,
            loop_of(
                "slt i32 %i, %n",
                &load("").replace("load i32, ptr %p, align 4", "load i32, ptr %p, align 4, !range !0"),
                next,
            ) + "!0 = !{i32 0, i32 5}\n",
        ),
        // Reads what the first one does not read, which may not be there.
        (
            &loaded,
            loop_of(
                "slt i32 %i, %n",
                &load("  %q = getelementptr i32, ptr %p, i64 1\n  %x = load i32, ptr %q, align 4\n"),
                next,
            ),
        ),
        // Other values, in part of the range.
        (&loaded, loop_of("slt i32 %i, %n", &load("").replace("%v, 3", "%v, 4"), next)),
        // Parts of what the first one writes.
        (&before, loop_of("slt i32 %i, %n", &plain.replace("store i32 7", "store i16 7"), next)),
        // Twice the distance.
        (&before, loop_of("slt i32 %i, %n", &plain.replace("i32, ptr", "i64, ptr"), next)),
    ];
    for (before, after) in wrong {
        let (found, _, shown) = verdict(&[before.clone(), after.clone()], "ll");
        assert_ne!(found, "proved", "{after}\n{shown}");
    }
    // `inbounds` where the first version has none: the parameter may point elsewhere.
    let outside = loop_of("slt i32 %i, %n", &plain.replace(" inbounds", ""), next);
    let (found, _, shown) = verdict(&[outside.clone(), before.clone()], "ll");
    assert_ne!(found, "proved", "{shown}");
    let (found, precondition, shown) = verdict(&[before, outside], "ll");
    assert_eq!((found.as_str(), precondition), ("proved", None), "{shown}");
}

#[test]
fn counters_that_wrap_are_not_taken_for_those_that_do_not() {
    let header = "ptr noalias %a, i8 noundef %m, i32 noundef %n";
    let body = |width: &str| {
        format!("  %r = {width} to i64\n  %p = getelementptr i8, ptr %a, i64 %r\n  store i8 7, ptr %p, align 1\n")
    };
    let byte = |test: &str, next: &str| single(header, "i8", test, &body("sext i8 %i"), next);
    let word = |test: &str| single(header, "i32", test, &body("sext i32 %i"), "add i32 %i, 1");
    let widened = "slt i32 %i, 200";
    let pairs = [
        // 8 bits never reach 200: the loop goes on for ever.
        [byte("ne i8 %i, -56", "add i8 %i, 1"), word(widened)],
        // By 3 it misses the end and wraps around.
        [byte("ne i8 %i, 100", "add i8 %i, 3"), word("slt i32 %i, 34")],
        [byte("slt i8 %i, 127", "add i8 %i, 3"), word("slt i32 %i, 43")],
        [byte("sle i8 %i, 127", "add i8 %i, 1"), word("slt i32 %i, 128")],
        // A promise of the second version about its counter does not hold.
        [byte("slt i8 %i, 127", "add i8 %i, 3"), byte("slt i8 %i, 127", "add nsw i8 %i, 3")],
    ];
    for pair in pairs {
        let (found, _, shown) = verdict(&pair, "ll");
        assert_ne!(found, "proved", "{}\n{}\n{shown}", pair[0], pair[1]);
    }
}

/// `a[i][j] = a[i][j] + b[i][j]` in CLIF; `ROW` and `COLUMN` are the counters that count rows and columns.
const CLIF: &str = "function %f(i64, i64) {\n\
    block0(v0: i64, v1: i64):\n  v3 = iconst.i64 0\n  v20 = iconst.i64 9\n  v21 = iconst.i64 3\n  v22 = iconst.i64 1\n  \
    v23 = iconst.i64 32\n  jump block1(v3)\n\
    block1(v4: i64):\n  v5 = icmp slt v4, v23\n  brif v5, block2(v3), block5\n\
    block2(v6: i64):\n  v7 = icmp slt v6, v23\n  brif v7, block3, block4\n\
    block3:\n  v10 = ishl ROW, v20\n  v11 = ishl COLUMN, v21\n  v12 = iadd v10, v11\n  v13 = iadd v0, v12\n  \
    v14 = iadd v1, v12\n  v15 = load.f64 FLAGS v14\n  v16 = load.f64 FLAGS v13\n  v17 = fadd v15, v16\n  \
    store FLAGS v17, v13\n  v18 = iadd v6, v22\n  jump block2(v18)\n\
    block4:\n  v19 = iadd v4, v22\n  jump block1(v19)\nblock5:\n  return\n}\n";

pub(super) fn clif(row: &str, column: &str, flags: &str) -> String {
    CLIF.replace("ROW", row).replace("COLUMN", column).replace("FLAGS", flags)
}

#[test]
fn loops_of_clif_in_another_order() {
    let quiet = |row, column| clif(row, column, "notrap");
    let (found, precondition, shown) = verdict(&[quiet("v4", "v6"), quiet("v6", "v4")], "clif");
    assert_eq!((found.as_str(), precondition.as_deref()), ("proved", Some("v0 and v1 do not overlap")), "{shown}");
    // A write before an access that traps is observable.
    let loud = |row, column| clif(row, column, "");
    let (found, _, shown) = verdict(&[loud("v4", "v6"), loud("v6", "v4")], "clif");
    assert_eq!(found, "refuted", "{shown}");
    for wrong in [
        quiet("v6", "v4").replace("fadd v15, v16", "fsub v15, v16"),
        quiet("v6", "v4").replace("iconst.i64 32", "iconst.i64 33"),
        quiet("v6", "v4").replace("iconst.i64 9\n", "iconst.i64 8\n"),
        quiet("v6", "v4").replace("store notrap v17, v13", "store notrap v17, v13+8"),
    ] {
        let (found, _, shown) = verdict(&[quiet("v4", "v6"), wrong], "clif");
        assert_ne!(found, "proved", "{shown}");
    }
}

/// `a[i][j] = a[i][j] + 1` in our own text.
pub(super) fn own(row: &str, column: &str, high: i32) -> String {
    format!(
        "func %f {{\nb0(%p: i64):\n  %zero: i64 = const 0\n  %one: i64 = const 1\n  %row: i64 = const 5\n  \
         %three: i64 = const 3\n  %high: i64 = const {high}\n  %unit: f64 = const 0x3ff0000000000000\n  jump b1(%zero)\n\
         b1(%x: i64):\n  %c: i8 = icmp_slt{{i64}} %x, %high\n  br %c, b2(%zero), b5\n\
         b2(%y: i64):\n  %d: i8 = icmp_slt{{i64}} %y, %high\n  br %d, b3, b4\n\
         b3:\n  %r: i64 = ishl{{i64, i64}} {row}, %row\n  %s: i64 = ishl{{i64, i64}} {column}, %three\n  %o: i64 = iadd{{i64}} %r, %s\n  \
         %q: i64 = iadd{{i64}} %p, %o\n  %v: f64 = load{{f64}} %q, %zero\n  %w: f64 = fadd{{f64}} %v, %unit\n  \
         store{{f64}} %q, %w, %zero\n  %y2: i64 = iadd{{i64}} %y, %one\n  jump b2(%y2)\n\
         b4:\n  %x2: i64 = iadd{{i64}} %x, %one\n  jump b1(%x2)\nb5:\n  return\n}}\n"
    )
}

#[test]
fn loops_of_our_own_text_in_another_order() {
    let (found, precondition, shown) = verdict(&[own("%x", "%y", 4), own("%y", "%x", 4)], "ir");
    assert_eq!((found.as_str(), precondition.as_deref()), ("proved", Some("no access traps")), "{shown}");
    // Fewer rows, and one for all.
    for wrong in [own("%y", "%x", 3), own("%y", "%y", 4)] {
        let (found, _, shown) = verdict(&[own("%x", "%y", 4), wrong], "ir");
        assert_ne!(found, "proved", "{shown}");
    }
}

/// An alias lies where its target does: that the two do not overlap is a condition that never holds.
#[test]
fn an_alias_is_no_array_of_its_own() {
    for (second, expected) in [("global i32 7", Some("@w and @a do not overlap")), ("alias i32, ptr @w", None)] {
        let function = |last: &str| {
            format!(
                "@w = global i32 5\n@a = {second}\n\
                 define i32 @f() {{\nstore i32 1, ptr @w\nstore i32 2, ptr @a\n{last}\n}}\n"
            )
        };
        let pair = [function("%x = load i32, ptr @w\nret i32 %x"), function("ret i32 1")];
        let (verdict, precondition, found) = verdict(&pair, "ll");
        assert_eq!((verdict == "proved", precondition.as_deref()), (expected.is_some(), expected), "{found}");
    }
}
