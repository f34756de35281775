//! Flags of LLVM's instructions as premises of rules, and alignments that a text leaves out.

use crate::ran::rewright;
use std::fs;

const HEAD: &str = "target datalayout = \"e-m:e-i64:64-f80:128-n8:16:32:64-S128\"\n\
                    target triple = \"x86_64-pc-linux-gnu\"\n\n";

/// What `opt` makes of a module.
fn optimised(rules: &str, functions: &str) -> String {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("m.ll"), format!("{HEAD}{functions}")).unwrap();
    let ran = rewright(dir.path(), &format!("opt m.ll --rules std {rules}"));
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    ran.stdout
}

/// The functions of a text.
fn bodies(text: &str) -> Vec<String> {
    text.split("define ").skip(1).map(|function| function.to_string()).collect()
}

const ACCESS: &str = "  %w = sext i32 %j to i64\n  %q = getelementptr i32, ptr %p, i64 %w\n  store i32 %i, ptr %q\n";

#[test]
fn a_flag_is_a_premise_where_poison_has_no_meaning() {
    let sometimes = format!("  br i1 %b, label %x, label %y\nx:\n{ACCESS}  br label %y\ny:\n");
    // Where it is one; another flag, no flag, and uses in which poison has a meaning.
    let cases = [("nsw", ACCESS), ("nuw", ACCESS), ("", ACCESS), ("nsw", ""), ("nsw", "  store i32 %j, ptr %p\n")];
    let module: String = (0..)
        .zip(cases.into_iter().chain([("nsw", sometimes.as_str())]))
        .map(|(n, (flag, behind))| {
            format!(
                "define i32 @f{n}(i32 %i, ptr %p, i1 %b) {{\n  %j = add {flag} i32 %i, 7\n{behind}  \
                 %c = icmp slt i32 %i, %j\n  %r = select i1 %c, i32 11, i32 22\n  ret i32 %r\n}}\n"
            )
        })
        .collect();
    let decided = |rules: &str| -> Vec<bool> {
        let out = optimised(rules, &module);
        bodies(&out).iter().map(|body| body.contains("ret i32 11") && !body.contains("icmp")).collect()
    };
    assert_eq!(decided("--rules std.flags"), [true, false, false, false, false, false]);
    assert_eq!(decided(""), [false; 6]);
}

#[test]
fn promises_of_other_flags_are_premises_too() {
    let cases = [
        ("mul nsw i32 %x, 24", "sdiv i32 %a, 24"),
        ("mul nuw i32 %x, 24", "udiv i32 %a, 24"),
        ("shl nsw i32 %x, 3", "ashr i32 %a, 3"),
        ("shl nuw i32 %x, 3", "lshr i32 %a, 3"),
        ("lshr exact i32 %x, 3", "shl i32 %a, 3"),
        ("ashr exact i32 %x, 3", "shl i32 %a, 3"),
    ];
    let module: String = (0..)
        .zip(cases)
        .map(|(n, (first, second))| {
            format!(
                "define i32 @f{n}(i32 %x) {{\n  %a = {first}\n  %b = {second}\n  %d = udiv i32 1000, %a\n  \
                 %r = sub i32 %d, %b\n  ret i32 %r\n}}\n"
            )
        })
        .collect();
    let bare = ["nsw ", "nuw ", "exact "].iter().fold(module.clone(), |text, flag| text.replace(flag, ""));
    for (module, back) in [(module, true), (bare, false)] {
        let out = optimised("--rules std.flags", &module);
        for body in bodies(&out) {
            let subtracts_x = body.lines().any(|line| line.contains(" = sub i32 ") && line.ends_with(", %x"));
            assert_eq!(subtracts_x, back, "{body}");
        }
    }
}

#[test]
fn an_alignment_that_is_left_out_is_that_of_the_type() {
    let out = optimised(
        "",
        "define i64 @f(ptr %p, ptr %q, i16 %x, i64 %y) {\n  %a = load i32, ptr %p\n  %b = load double, ptr %q, align 2\n  \
         store i16 %x, ptr %p\n  store double %b, ptr %q\n  store i32 %a, ptr %q, align 1\n  %z = add i64 %y, 0\n  \
         %r = mul i64 %z, 1\n  ret i64 %r\n}\n",
    );
    for line in [
        "load i32, ptr %p, align 4",
        "load double, ptr %q, align 2",
        "store i16 %x, ptr %p, align 2",
        "ptr %q, align 8",
        "ptr %q, align 1",
    ] {
        assert!(out.contains(line), "{line}: {out}");
    }
}
