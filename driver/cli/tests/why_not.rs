//! `why-not` says what is so: of conditions, of rules that others build on, of writes, and of rules over lists.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::ran::rewright;
use std::fs;

/// What `why-not` says of a rule in each function of a module, in order, behind `in %f: `.
fn why(pack: &str, module: &str, rule: &str) -> Vec<String> {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("p.rw"), pack).unwrap();
    fs::write(dir.path().join("m.ir"), module).unwrap();
    let ran = rewright(dir.path(), &format!("why-not {rule} m.ir --rules p.rw"));
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    ran.stdout.lines().filter_map(|line| Some(line.split_once(": ")?.1.to_string())).collect()
}

const PURE: &str = "pack p\nimport std.core\n\
                    fn f(x: i64) -> i64  pure  cost 30\nfn g(x: i64) -> i64  pure  cost 50\n\
                    fn h(x: i64) -> i64  pure  cost 5\nfn k(x: i64) -> i64  pure  cost 2\n";

#[test]
fn conditions_over_expressions_are_asked() {
    let rules = "rule r(x: i64): f(x) => k(x) when same(h(x), 0)\nrule zero(x: i64): h(h(x)) => 0\n\
                 rule d(x: i64, y: i64): g(iadd(x, y)) => k(x) when distinct(h(x), h(y))\n";
    let module = "func %none(%x: i64) -> i64 {\n  %r = f %x\n  return %r\n}\n\
                  func %other(%x: i64) -> i64 {\n  %h = h %x\n  %f = f %x\n  %r = isub %f, %h\n  return %r\n}\n\
                  func %holds(%x: i64) -> i64 {\n  %y = h %x\n  %h = h %y\n  %f = f %y\n  %r = isub %f, %h\n  return %r\n}\n\
                  func %one(%x: i64) -> i64 {\n  %y = h %x\n  %z = iadd %x, %x\n  %r = g %z\n  %s = isub %r, %y\n  return %s\n}\n";
    let pack = format!("{PURE}{rules}");
    let said = why(&pack, module, "r");
    assert_eq!(said[0], "at f(v0): its condition is about h(v0), which nothing computes here");
    assert_eq!(said[1], "at f(v0): its condition does not hold: h(v0) is not known to equal 0, with x = v0");
    assert!(said[2].starts_with("took part and was chosen"), "{}", said[2]);
    let said = why(&pack, module, "d");
    assert_eq!(said[3], "at g(iadd(v0, v0)): its condition does not hold: h(v0) equals h(v0), with x = v0, y = v0");
}

/// A rule whose result another one takes is behind what goes out, though nothing computes its result.
#[test]
fn rules_that_others_build_on_are_chosen() {
    let rules =
        "rule first(x: i64): f(x) => g(x)\nrule then(x: i64): h(g(x)) => k(x)\nrule lost(x: i64): f(x) => g(h(x))\n";
    let module = "func %f(%x: i64) -> i64 {\n  %y = f %x\n  %r = h %y\n  return %r\n}\n";
    let pack = format!("{PURE}{rules}");
    assert_eq!(
        why(&pack, module, "first"),
        ["took part, and what was chosen is built upon it: the program found costs 2, and 7 without it"]
    );
    let lost = why(&pack, module, "lost");
    assert!(lost[0].starts_with("matched, and no program with what it makes was found: nothing needs it"), "{lost:?}");
}

const CELLS: &str = "pack p\nimport std.core\ntype B <: ptr\n\
                     fn clear(b: B) -> ()  effects writes(memory)  cost 40\n\
                     fn fill(b: B, x: i64) -> ()  effects writes(memory)  cost 60\n\
                     fn size(b: B) -> i64  effects reads(memory)  cost 20\n\
                     fn push(b: B, x: i64) -> i32  effects reads(memory), writes(memory)  cost 50\n\
                     fn pop(b: B) -> i64  effects reads(memory), writes(memory)  cost 50\n";

#[test]
fn writes_are_told_from_what_could_have_been() {
    let rules = "rule twice(b: B, s: State): clear(b) after (clear(b) after s) => clear(b) after s\n\
                 rule dear(b: B, s: State): clear(b) after s => fill(b, 0) after s\n\
                 rule empty(b: B, s: State): clear(b) after s => s when same(size(b), 0)\n\
                 rule back(b: B, x: i64, s: State): pop(b) after (push(b, x) after s) => s\n";
    let module = "func %twice(%b: B) {\n  clear %b\n  clear %b\n  return\n}\n\
                  func %once(%b: B) {\n  clear %b\n  return\n}\n\
                  func %read(%b: B) -> i64 {\n  %n = size %b\n  clear %b\n  return %n\n}\n\
                  func %popped(%b: B) -> i64 {\n  %e = push %b, 1\n  %p = pop %b\n  return %p\n}\n";
    let module = module.replace("%e = push %b, 1", "%o: i64 = const 1\n  %e = push %b, %o");
    let pack = format!("{CELLS}{rules}");
    assert!(why(&pack, &module, "twice")[0].starts_with("took part and was chosen"));
    // It matched the write that is gone, and is not why.
    for said in &why(&pack, &module, "dear")[..2] {
        assert!(said.starts_with("took part, and what it makes is dearer by "), "{said}");
    }
    let empty = why(&pack, &module, "empty");
    assert!(
        empty[1].contains("its condition is about size(v0)") && empty[1].ends_with("nothing computes here"),
        "{empty:?}"
    );
    assert!(empty[2].contains("its condition does not hold: size(v0)"), "{empty:?}");
    assert_eq!(
        why(&pack, &module, "p.rules.back")[3],
        "matched, and the call that it is about stays: its value is used"
    );
}

/// What one rule makes is priced, and not what another one makes of the same value.
#[test]
fn each_rule_has_its_own_price() {
    let rules = "fn cap(b: B) -> i64  effects reads(memory)  cost 25\n\
                 rule empty(b: B, s: State): size(b) after (clear(b) after s) => 0\n\
                 rule capacity(b: B): size(b) => cap(b)\n";
    let module = "func %f(%b: B) -> i64 {\n  clear %b\n  %n = size %b\n  return %n\n}\n";
    let pack = format!("{CELLS}{rules}");
    assert!(why(&pack, module, "empty")[0].starts_with("took part and was chosen"));
    assert_eq!(
        why(&pack, module, "capacity"),
        ["took part, and what it makes is dearer by 24: the cheapest program found costs 41, and 65 with it"]
    );
}

/// The instances of a rule over lists are one rule, of which the one that comes nearest is told.
#[test]
fn rules_over_lists_have_one_answer() {
    let pack = "pack p\nimport std.core\nfn sum(xs...: i64) -> i64  pure  cost 20\n\
                rule flat(xs...: i64, ys...: i64, zs...: i64): sum(xs..., sum(ys...), zs...) => sum(xs..., ys..., zs...)\n";
    let module = "func %flat(%x: i64, %y: i64) -> i64 {\n  %s = sum %x, %y\n  %t = sum %s, %y\n  return %t\n}\n\
                  func %no(%x: i64, %y: i64) -> i64 {\n  %s = sum %x, %y\n  return %s\n}\n";
    let said = why(pack, module, "flat");
    assert_eq!(said.len(), 2, "{said:?}");
    assert!(said[0].starts_with("took part and was chosen"), "{said:?}");
    assert!(said[1].starts_with("at sum(v0, v1): operand ") && said[1].contains(" is no `sum`"), "{said:?}");
}
