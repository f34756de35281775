//! `validate` with rules of a pack: what they say is equal, and nothing else shows.

use super::report;
use crate::ran::rewright;
use std::fs;
use std::path::Path;

const PACK: &str = "\
//! Areas.
pack own
import std.core

@llvm(\"@area\")
fn area(w: i64, h: i64) -> i64  pure  cost 400

ruleset areas {
  rule added(w: i64, h: i64, k: i64): iadd(area(w, h), area(w, k)) <=> area(w, iadd(h, k))
  @approximate(\"a square is near\", 0.1)
  rule near(w: i64): area(w, w) => iadd(w, w)
}
schedule default { saturate areas }
";

const HEAD: &str = "target datalayout = \"e-m:e-i64:64-n8:16:32:64-S128\"\ntarget triple = \"x86_64-pc-linux-gnu\"\n\
                    declare i64 @area(i64, i64) nounwind willreturn memory(none)\n";

/// A loop with a call of a function that only the pack knows.
fn llvm(body: &str) -> String {
    format!(
        "{HEAD}define i64 @f(i64 noundef %a, i64 noundef %n) {{\ne:\n  br label %l\nl:\n\
         %i = phi i64 [ 0, %e ], [ %j, %l ]\n%s = phi i64 [ 0, %e ], [ %t, %l ]\n{body}\n\
         %t = add i64 %s, %z\n%j = add i64 %i, 1\n%c = icmp eq i64 %j, %n\nbr i1 %c, label %o, label %l\no:\nret i64 %t\n}}\n"
    )
}

/// The verdict on `@f`, with its assumptions and reasons.
fn verdict(name: &str, [before, after]: [&str; 2], options: &str) -> (String, String) {
    let dir = tempfile::tempdir().unwrap();
    let dir: &Path = dir.path();
    for (file, text) in [("own.rw", PACK), (&format!("a.{name}"), before), (&format!("b.{name}"), after)] {
        fs::write(dir.join(file), text).unwrap();
    }
    let ran = rewright(dir, &format!("validate a.{name} b.{name} --format json {options}"));
    let found = &report(&ran)["functions"][0];
    (format!("{}", found["verdict"]), format!("{} {}", found["assumptions"], found["reasons"]))
}

const SUM: &str = "%x = call i64 @area(i64 %a, i64 %i)\n%y = call i64 @area(i64 %a, i64 %n)\n%z = add i64 %x, %y";

#[test]
fn what_rules_say_is_equal_is_proved() {
    let once = |with: &str| format!("%w = {with} i64 %n, %i\n%z = call i64 @area(i64 %a, i64 %w)");
    let before = llvm(SUM);
    let [right, wrong] = ["add", "sub"].map(|with| llvm(&once(with)));
    let (found, said) = verdict("ll", [&before, &right], "--rules own.rw --method refined");
    assert_eq!(found, "\"proved\"", "{said}");
    assert!(said.contains("own.areas.added"), "{said}");
    let (found, said) = verdict("ll", [&before, &wrong], "--rules own.rw --method refined");
    assert_eq!(found, "\"unknown\"", "{said}");
    assert!(said.contains("rules: "), "{said}");
    // Without the pack nothing is known of the function.
    let (found, said) = verdict("ll", [&before, &right], "--method refined");
    assert_eq!(found, "\"unknown\"", "{said}");
}

/// Sides that are only close are not equal.
#[test]
fn approximate_rules_prove_nothing() {
    let before = llvm("%z = call i64 @area(i64 %i, i64 %i)");
    let after = llvm("%z = add i64 %i, %i");
    let (found, said) = verdict("ll", [&before, &after], "--rules own.rw --method refined");
    assert_eq!(found, "\"unknown\"", "{said}");
}

/// In CLIF a store traps where nothing may be written, and goes with no proof that nothing traps.
#[test]
fn rules_about_memory_prove_nothing_of_clif() {
    let function =
        |stores: &str| format!("function %f(i64) {{\nblock0(v0: i64):\n    v1 = load.i32 v0\n{stores}    return\n}}\n");
    let versions = [function("    store v1, v0\n"), function("")];
    let (found, said) = verdict("clif", versions.each_ref().map(String::as_str), "--rules std");
    assert_eq!(found, "\"unknown\"", "{said}");
    assert!(said.contains("it accesses memory"), "{said}");
}

#[test]
fn rules_prove_what_own_text_calls() {
    let function = |body: &str| format!("func %f(%a: i64, %n: i64, %k: i64) -> i64 {{\n{body}  return %z\n}}\n");
    let before = function("  %x = area %a, %n\n  %y = area %a, %k\n  %z = iadd %x, %y\n");
    for (with, holds) in [("iadd", true), ("isub", false)] {
        let after = function(&format!("  %w = {with} %n, %k\n  %z = area %a, %w\n"));
        let (found, said) = verdict("ir", [&before, &after], "--rules own.rw");
        assert_eq!(found == "\"proved\"", holds, "{found}: {said}");
    }
}
