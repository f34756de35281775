//! Rules about the value that a call gives which also writes; and rules that make what cannot be executed.

use crate::ran::{Ran, rewright};
use std::fs;

fn run(pack: &str, module: &str, command: &str) -> Ran {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("p.rw"), pack).unwrap();
    fs::write(dir.path().join("m.ir"), module).unwrap();
    rewright(dir.path(), command)
}

/// The instructions of each function that `opt` makes of a module, without numbers of values.
fn optimised(pack: &str, module: &str) -> Vec<Vec<String>> {
    let ran = run(pack, module, "opt m.ir --rules p.rw");
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(!ran.stderr.contains("warning"), "{}", ran.stderr);
    let instructions = |function: &str| {
        let lines = function.lines().filter(|line| line.starts_with("  "));
        lines.map(|line| line.trim().to_string()).collect()
    };
    ran.stdout.split("func ").skip(1).map(instructions).collect()
}

const STACK: &str = "pack p\nimport std.core\ntype B <: ptr\n\
                     @llvm(\"@push\")\nfn push(b: B, x: i64) -> i32  effects reads(memory), writes(memory)  cost 50\n\
                     @llvm(\"@pop\")\nfn pop(b: B) -> i64  effects reads(memory), writes(memory)  cost 50\n\
                     @llvm(\"@append\")\nfn append(b: B, x: i64) -> B  effects reads(memory), writes(memory)  cost 50\n\
                     @llvm(\"@one\")\nfn one(b: B, c: B) -> i64  pure  cost 20\n\
                     rule itself(b: B): one(b, b) => 1\nrule nothing(x: i64): x - x => 0\n";

const MODULE: &str = "func %popped(%b: B, %x: i64) -> i64 {\n  %e = push %b, %x\n  %p = pop %b\n  %d = isub %p, %x\n  return %d\n}\n\
                      func %between(%b: B, %c: B, %x: i64) -> i64 {\n  %e = push %b, %x\n  %f = push %c, %x\n  \
                      %p = pop %b\n  %d = isub %p, %x\n  return %d\n}\n\
                      func %coded(%b: B, %x: i64) -> i32 {\n  %e = push %b, %x\n  %p = pop %b\n  return %e\n}\n\
                      func %appended(%b: B, %x: i64) -> i64 {\n  %c = append %b, %x\n  %d = append %c, %x\n  \
                      %r = one %b, %d\n  return %r\n}\n";

#[test]
fn the_value_of_a_call_that_stays_is_known() {
    let value = "rule value(b: B, x: i64, s: State): pop(b) after (push(b, x) after s) => x\n\
                 rule same_object(b: B, x: i64, s: State): append(b, x) after s => b\n";
    let executed = |lines: &[String], calls: &[&str]| {
        let found: Vec<&String> = lines.iter().filter(|line| line.contains("@region")).collect();
        assert_eq!(found.len(), calls.len(), "{lines:?}");
        assert!(found.iter().zip(calls).all(|(line, call)| line.contains(call)), "{lines:?}");
    };
    let ends = |lines: &[String], constant: &str| lines.iter().any(|line| line.ends_with(constant));
    let [popped, between, coded, appended] = &optimised(&format!("{STACK}{value}"), MODULE)[..] else { panic!() };
    // Both calls are executed; what the second one gives is known.
    executed(popped, &["push v0", "pop v0"]);
    assert!(ends(popped, "const 0") && !ends(between, "const 0"), "{popped:?} {between:?}");
    executed(between, &["push v0", "push v1", "pop v0"]);
    executed(coded, &["push", "pop"]);
    executed(appended, &["append", "append"]);
    assert!(ends(appended, "const 1"), "{appended:?}");
    // With the state they go, if nothing else of them is used.
    let state = "rule state(b: B, x: i64, s: State): pop(b) after (push(b, x) after s) => s\n";
    let [popped, between, coded, _] = &optimised(&format!("{STACK}{value}{state}"), MODULE)[..] else { panic!() };
    executed(popped, &[]);
    executed(between, &["push v0", "push v1", "pop v0"]);
    executed(coded, &["push", "pop"]);
}

/// A write becomes a call that gives a value, which nothing uses; also one that takes the place of the write before it.
#[test]
fn a_call_with_a_value_takes_the_place_of_a_write() {
    let pack = "pack p\nimport std.core\ntype B <: ptr\n\
                @llvm(\"@put\")\nfn put(b: B, i: i64, x: i64) -> ()  effects writes(memory)  cost 40\n\
                @llvm(\"@put_two\")\nfn put_two(b: B, i: i64, x: i64, y: i64) -> i32  effects reads(memory), writes(memory)  cost 50\n\
                @llvm(\"@put_zero\")\nfn put_zero(b: B, i: i64) -> i32  effects reads(memory), writes(memory)  cost 20\n\
                rule zero(b: B, i: i64, s: State): put(b, i, 0) after s => put_zero(b, i) after s\n\
                rule anywhere(b: B, i: i64): put(b, i, 1) => put_zero(b, i)\n\
                rule two(b: B, const i: i64, const j: i64, x: i64, y: i64, s: State):\n\
                \x20 put(b, j, y) after (put(b, i, x) after s) => put_two(b, i, x, y) after s when icmp_eq(j, iadd(i, 1))\n";
    let module = "func %zero(%b: B, %i: i64) {\n  %z: i64 = const 0\n  put %b, %i, %z\n  return\n}\n\
                  func %one(%b: B, %i: i64) {\n  %z: i64 = const 1\n  put %b, %i, %z\n  return\n}\n\
                  func %two(%b: B, %x: i64, %y: i64) {\n  %i: i64 = const 6\n  %j: i64 = const 7\n  put %b, %i, %x\n  \
                  put %b, %j, %y\n  return\n}\n";
    let [zero, one, two] = &optimised(pack, module)[..] else { panic!() };
    for (lines, call) in [(zero, "put_zero v0, v1"), (one, "put_zero v0, v1"), (two, "put_two v0, v")] {
        let calls: Vec<&String> = lines.iter().filter(|line| line.contains("put")).collect();
        assert!(matches!(calls[..], [only] if only.contains(call)), "{lines:?}");
    }
    // So it is in C.
    let c = "target datalayout = \"e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128\"\n\
             target triple = \"x86_64-unknown-linux-gnu\"\n\
             declare void @put(ptr, i64, i64)\ndeclare i32 @put_zero(ptr, i64)\n\
             define void @f(ptr noundef %b, i64 noundef %i) {\n  call void @put(ptr %b, i64 %i, i64 0)\n  ret void\n}\n";
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("p.rw"), pack).unwrap();
    fs::write(dir.path().join("f.ll"), c).unwrap();
    let ran = rewright(dir.path(), "opt f.ll --rules p.rw");
    assert!(ran.stdout.contains("call i32 @put_zero(ptr %b, i64 %i)"), "{}{}", ran.stdout, ran.stderr);
}

/// A rule about the value alone takes no state with it, and makes no statement.
#[test]
fn rules_about_a_value_are_no_more_than_that() {
    for (rule, code) in [
        ("rule dropped(b: B, x: i64): append(b, x) => b", "RW0309"),
        ("rule made(b: B, x: i64, s: State): pop(b) after (push(b, x) after s) => pop(b)", "RW0310"),
        ("rule ways(b: B, x: i64, s: State): pop(b) after (push(b, x) after s) <=> x", "RW0402"),
    ] {
        let ran = run(&format!("{STACK}{rule}\n"), MODULE, "check p.rw");
        assert!(ran.code == Some(1) && ran.stderr.contains(code), "{rule}: {}", ran.stderr);
    }
}

/// A rule that says that its statement may read where another one stood does not keep the others from being applied.
#[test]
fn what_cannot_be_executed_is_left_out() {
    let pack = "pack p\nimport std.core\ntype V <: ptr\n\
                fn size(v: V) -> i64  pure  cost 20\n\
                fn log(x: i64) -> V  effects io, allocates(heap)  cost 500\n\
                fn log_size(v: V) -> V  effects reads(memory), io  cost 400\n\
                unsafe rule later(v: V): log(size(v)) => log_size(v)\n  removes allocates(heap)\n  because \"it is not seen\"\n\
                rule zero(x: i64): x + 0 => x\n";
    let module = "func %f(%v: V, %x: i64) -> i64 {\n  %z: i64 = const 0\n  %n = size %v\n  %l = log %n\n  \
                  %y = iadd %x, %z\n  return %y\n}\n";
    let [f] = &optimised(pack, module)[..] else { panic!() };
    assert!(f.iter().any(|line| line.contains("log")) && f.last().unwrap() == "return v1", "{f:?}");
}
