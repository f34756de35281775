//! Partial inlining in CLIF: what is executed, and what stays a call.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use super::variants::{HEAD, executed, optimiser, options};
use rewright_clif::read::read;

/// A function that computes more than is inlined, unless its parameter is zero; `first` comes before it looks.
fn guarded(first: &str) -> String {
    let step = |n| format!("    v{} = imul v{}, v0\n    v{} = bxor v{0}, v{1}\n", 11 + 2 * n, 10 + 2 * n, 12 + 2 * n);
    let long: String = (0..70).map(step).collect();
    format!(
        "function %guarded(i64) -> i64 {{
    fn0 = %print(i64)
block0(v0: i64):
    {first}
    brif v0, block1, block2
block1:
    v10 = imul v0, v0
    call fn0(v0)
{long}    return v150
block2:
    return v0
}}

function %f(i64) -> i64 {{
    fn0 = colocated %guarded(i64) -> i64
block0(v0: i64):
    v1 = iconst.i64 7
    v2 = band v0, v1
    v3 = call fn0(v2)
    v4 = bxor v3, v0
    v5 = call fn0(v4)
    v6 = iadd v3, v5
    return v6
}}
; print: %f(80)
; print: %f(16)
; print: %f(8)
; print: %f(0)
"
    )
}

#[test]
fn a_call_that_would_return_at_once_is_not_made() {
    let file = read(&format!("{HEAD}{}", guarded(""))).unwrap();
    let outcome = optimiser(&["std", "std.loops"]).optimise(&file, &options(true), |_| true);
    assert_eq!(outcome.statistics.outcome(2).unwrap().heads, ["%guarded", "%guarded"]);
    // Of eight calls, five would return at once: without the call and the return, but with a jump behind the other way. The
    // others make their test twice.
    let [_, before, after] = executed(&guarded(""));
    assert_eq!(after, before - 5 + 3, "{before} {after}");
}

#[test]
fn what_comes_before_the_test_is_noticed() {
    let firsts = [
        "call fn0(v0)",
        "v1 = udiv v0, v0",
        "trapz v0, user1",
        "v1 = load.i64 v0",
        "v2 = iconst.i64 4096\n    store notrap aligned v0, v2",
    ];
    for first in firsts {
        let file = read(&format!("{HEAD}{}", guarded(first))).unwrap();
        let outcome = optimiser(&["std", "std.loops"]).optimise(&file, &options(true), |_| true);
        assert!(outcome.statistics.outcome(2).unwrap().heads.is_empty(), "{first}");
    }
}

const FIB: &str = "function %f(i64) -> i64 {
    fn0 = colocated %f(i64) -> i64
block0(v0: i64):
    v1 = iconst.i64 1
    v2 = iconst.i64 2
    v3 = icmp slt v0, v2
    brif v3, block1, block2
block1:
    return v0
block2:
    v4 = isub v0, v1
    v5 = isub v0, v2
    v6 = call fn0(v4)
    v7 = call fn0(v5)
    v8 = iadd v6, v7
    return v8
}
; run: %f(15) == 610
; run: %f(0) == 0
";

#[test]
fn a_function_that_calls_itself_has_its_head_in_it_once() {
    let file = read(&format!("{HEAD}{FIB}")).unwrap();
    let outcome = optimiser(&["std", "std.loops"]).optimise(&file, &options(true), |_| true);
    let text = outcome.replaced[1].as_ref().unwrap().to_string();
    assert_eq!(outcome.statistics.outcome(1).unwrap().heads, ["%f", "%f"], "{text}");
    assert_eq!(text.matches("= call fn").count(), 2, "{text}");
    // Half of the calls would return at once: what they cost less, the others cost more, but for frames.
    let [_, before, after] = executed(FIB);
    assert!(after <= before + before / 10, "{before} {after}");
}

/// Several tests in a row, and results in another order behind each.
const TESTS: &str = "function %both(i64, i64) -> i64, i64 {
    fn0 = %print(i64)
    ss0 = explicit_slot 64
block0(v0: i64, v1: i64):
    brif v0, block1, block2
block2:
    return v1, v0
block1:
    v2 = iconst.i64 1
    v3 = icmp eq v0, v2
    brif v3, block3, block4
block3:
    v4 = iadd v1, v2
    return v4, v1
block4:
    v5 = stack_addr.i64 ss0
    store notrap aligned v1, v5
    call fn0(v0)
    v6 = load.i64 notrap aligned v5
    return v0, v6
}

function %f(i64) -> i64 {
    fn0 = colocated %both(i64, i64) -> i64, i64
block0(v0: i64):
    v1 = iconst.i64 3
    v2, v3 = call fn0(v0, v1)
    v4, v5 = call fn0(v3, v0)
    v6 = isub v2, v3
    v7 = imul v4, v5
    v8 = iadd v6, v7
    return v8
}
; run: %f(0) == 3
; run: %f(1) == 4
; run: %f(5) == 17
; print: %f(2)
";

#[test]
fn several_results_in_any_order() {
    // A body that fits is inlined as a whole, if that is cheaper; what it does then is the same.
    let [_, before, after] = executed(TESTS);
    assert!(after < before, "{before} {after}");
    let recursive = TESTS.replace("call fn0(v0)\n    v6 =", "call fn0(v0)\n    v10, v11 = call fn1(v2, v1)\n    v6 =");
    let recursive = recursive.replace("    ss0 =", "    fn1 = colocated %both(i64, i64) -> i64, i64\n    ss0 =");
    let file = read(&format!("{HEAD}{recursive}")).unwrap();
    let outcome = optimiser(&["std", "std.loops"]).optimise(&file, &options(true), |_| true);
    let text = outcome.replaced[2].as_ref().unwrap().to_string();
    assert_eq!(outcome.statistics.outcome(2).unwrap().heads, ["%both", "%both"], "{text}");
    // Nothing of the callee's frame comes along.
    assert!(!text.contains("explicit_slot"), "{text}");
    let [_, before, after] = executed(&recursive);
    assert!(after < before, "{before} {after}");
}

/// A tail call by a name that two functions have may be one of the other.
#[test]
fn a_call_by_a_name_that_two_functions_have() {
    let one = "function %down(i64) -> i64 {
    fn0 = colocated %down(i64) -> i64
block0(v0: i64):
    v1 = iconst.i64 1
    brif v0, block1, block2
block1:
    v2 = isub v0, v1
    v3 = call fn0(v2)
    return v3
block2:
    return v1
}
";
    let clif = optimiser(&["std", "std.loops"]);
    let tail_calls = |text: &str| -> Vec<usize> {
        let file = read(&format!("{HEAD}{text}")).unwrap();
        let outcome = clif.optimise(&file, &options(true), |_| true);
        outcome.statistics.outcomes().map(|outcome| outcome.tail_calls).collect()
    };
    assert_eq!(tail_calls(one), [0, 1]);
    let other = "function %down(i64) -> i64 {\nblock0(v0: i64):\n    return v0\n}\n";
    assert_eq!(tail_calls(&format!("{one}\n{other}")), [0, 0, 0]);
}
