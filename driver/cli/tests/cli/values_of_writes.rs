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
