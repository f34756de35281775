//! Variants of loops, and bodies in the place of calls: what is executed, what is said, and what stays as it is.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use rewright_clif::optimise::ClifOptimiser;
use rewright_clif::read::read;
use rewright_extract::clock;
use rewright_lab::loops::{Row, measure};
use rewright_packs as packs;
use rewright_pipeline::optimiser::{Options, VariantFate};
use std::path::Path;

pub(super) const HEAD: &str =
    "test interpret\ntarget x86_64\n\nfunction %print(i64) {\nblock0(v0: i64):\n    return\n}\n\n";

/// Prints a counter as long as it is below the parameter: a test, a call, the callee's return, a sum and a jump.
const TEST_FIRST: &str = "function %f(i64) {
    fn0 = %print(i64)
block0(v0: i64):
    v1 = iconst.i64 0
    v2 = iconst.i64 1
    jump block1(v1)
block1(v3: i64):
    v4 = icmp slt v3, v0
    brif v4, block2, block3
block2:
    call fn0(v3)
    v5 = iadd v3, v2
    jump block1(v5)
block3:
    return
}
; print: %f(50)
; print: %f(1)
; print: %f(0)
";

/// Which way the branch goes depends on the parameter alone.
const STEADY: &str = "function %f(i64, i64) {
    fn0 = %print(i64)
block0(v0: i64, v1: i64):
    v2 = iconst.i64 0
    v3 = iconst.i64 1
    v10 = iconst.i64 3
    jump block1(v2)
block1(v4: i64):
    v5 = icmp eq v1, v10
    brif v5, block2, block3
block2:
    call fn0(v4)
    jump block4
block3:
    v6 = imul v4, v4
    call fn0(v6)
    jump block4
block4:
    v7 = iadd v4, v3
    v8 = icmp ult v7, v0
    brif v8, block1(v7), block5
block5:
    return
}
; print: %f(30, 3)
; print: %f(30, 4)
; print: %f(0, 3)
";

/// The branch goes the other way after five iterations, of seven.
const COUNTED: &str = "function %f() {
    fn0 = %print(i64)
block0:
    v0 = iconst.i64 0
    v1 = iconst.i64 1
    v2 = iconst.i64 5
    v3 = iconst.i64 7
    jump block1(v0)
block1(v4: i64):
    v5 = icmp slt v4, v2
    brif v5, block2, block3
block2:
    call fn0(v1)
    jump block4
block3:
    call fn0(v4)
    jump block4
block4:
    v6 = iadd v4, v1
    v7 = icmp slt v6, v3
    brif v7, block1(v6), block5
block5:
    return
}
; print: %f()
";

/// Each iteration reads what the one before has written.
const STORED: &str = "function %f(i64) -> i64 {
    ss0 = explicit_slot 1024, align = 8
block0(v0: i64):
    v1 = stack_addr.i64 ss0
    v2 = iconst.i64 1
    v3 = iconst.i64 8
    store notrap aligned v2, v1
    jump block1(v2, v1)
block1(v4: i64, v5: i64):
    v6 = icmp ult v4, v0
    brif v6, block2, block3
block2:
    v7 = load.i64 notrap aligned v5
    v8 = iadd v7, v4
    v9 = iadd v5, v3
    store notrap aligned v8, v9
    v10 = iadd v4, v2
    jump block1(v10, v9)
block3:
    v11 = load.i64 notrap aligned v5
    return v11
}
; run: %f(100) == 4951
; run: %f(3) == 4
; run: %f(2) == 2
; run: %f(0) == 1
";

/// Calls of functions that are linked with it, of one that calls itself, and of one that is not linked.
const CALLS: &str = "function %twice(i64) -> i64 {
block0(v0: i64):
    v1 = iadd v0, v0
    return v1
}

function %again(i64) -> i64 {
    fn0 = colocated %twice(i64) -> i64
block0(v0: i64):
    v1 = call fn0(v0)
    v2 = call fn0(v1)
    return v2
}

function %down(i64) -> i64 {
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

function %f(i64) -> i64 {
    fn0 = colocated %again(i64) -> i64
    fn1 = colocated %down(i64) -> i64
    fn2 = %print(i64)
block0(v0: i64):
    v1 = call fn0(v0)
    call fn2(v1)
    v2 = call fn1(v0)
    v3 = iadd v1, v2
    return v3
}
; run: %f(3) == 13
; run: %f(0) == 1
";

pub(super) fn optimiser(names: &[&str]) -> ClifOptimiser {
    let roots = names.iter().map(|name| packs::root(Path::new(name)).unwrap()).collect();
    ClifOptimiser::new(packs::load(roots).program).unwrap()
}

pub(super) fn options(variants: bool) -> Options {
    Options { variants, log: true, ..Options::default() }
}

/// The last function of a file, without packs about loops, with them, and with variants besides.
pub(super) fn executed(function: &str) -> [u64; 3] {
    let file = read(&format!("{HEAD}{function}")).unwrap();
    let (without, with) = (optimiser(&["std"]), optimiser(&["std", "std.loops"]));
    let row = |variants| -> Row {
        let measured = measure(&file, [&without, &with], &options(variants), clock::now).unwrap();
        measured.rows.into_iter().next_back().unwrap()
    };
    let (plain, varied) = (row(false), row(true));
    assert!(plain.same() && varied.same(), "{plain:?} {varied:?}");
    let of = |row: &Row, version: usize| row.made[version].executed.as_ref().unwrap().instructions;
    // Packs that do not speak of loops have no variants.
    assert_eq!(of(&plain, 1), of(&varied, 1));
    [of(&plain, 1), of(&plain, 2), of(&varied, 2)]
}

#[test]
fn a_test_stands_at_the_end() {
    let [_, before, after] = executed(TEST_FIRST);
    // A jump for each iteration, but not the last one of two in one.
    assert!(after + 20 <= before, "{before} {after}");
}

#[test]
fn a_branch_goes_one_way_for_all_iterations() {
    let [_, before, after] = executed(STEADY);
    // Its condition was computed once before. The branch, and a jump behind it, are gone from 61 iterations.
    assert!(after + 60 <= before, "{before} {after}");
}

#[test]
fn iterations_stand_where_a_loop_stood() {
    let [_, before, after] = executed(COUNTED);
    assert!(before > 30);
    // Seven calls with the callee's returns, and a return.
    assert_eq!(after, 7 * 2 + 1);
}

#[test]
fn what_the_iteration_before_has_written() {
    let [_, before, after] = executed(STORED);
    assert!(after < before, "{before} {after}");
}

#[test]
fn bodies_take_the_place_of_calls() {
    let file = read(&format!("{HEAD}{CALLS}")).unwrap();
    let clif = optimiser(&["std", "std.loops"]);
    let outcome = clif.optimise(&file, &options(true), |_| true);
    let inlined = |n: usize| outcome.statistics.outcome(n).unwrap().inlined.clone();
    assert_eq!((inlined(1), inlined(2)), (vec![], vec!["%twice".to_string(), "%twice".to_string()]));
    // Not the one that leads back to itself, and not the one that may be another function of that name.
    assert_eq!((inlined(3), inlined(4)), (vec![], vec!["%again".to_string()]));
    let text = outcome.replaced[4].as_ref().unwrap().to_string();
    assert_eq!(text.matches("call fn").count(), 2, "{text}");
    let [_, before, after] = executed(CALLS);
    assert!(after < before, "{before} {after}");
    // Without a pack that speaks of loops, nothing is inlined.
    let outcome = optimiser(&["std"]).optimise(&file, &options(true), |_| true);
    assert!(outcome.statistics.outcomes().all(|o| o.inlined.is_empty() && o.variants.is_empty()));
}

#[test]
fn each_variant_that_was_tried_is_told() {
    let file = read(&format!("{HEAD}{COUNTED}")).unwrap();
    let outcome = optimiser(&["std", "std.loops"]).optimise(&file, &options(true), |_| true);
    let function = outcome.statistics.outcome(1).unwrap();
    let taken = function.variants.iter().filter(|v| matches!(v.fate, VariantFate::Taken { .. })).collect::<Vec<_>>();
    let [taken] = taken[..] else { panic!("{:?}", function.variants) };
    assert_eq!(taken.number, Some(1));
    let VariantFate::Taken { before, after } = taken.fate else { unreachable!() };
    assert!(after < before);
    // The output has no loop.
    assert!(function.loops.is_empty(), "{:?}", function.loops);
}

/// Returns what the last iteration begins with: the second parameter if there is one iteration, else the first.
const ASSIGNED: &str = "function %f(i32, i32, i32) -> i32 {
block0(v0: i32, v1: i32, v2: i32):
    v3 = iconst.i32 -1
    jump block1(v2, v1)
block1(v4: i32, v5: i32):
    v6 = iadd v4, v3
    brif v6, block1(v6, v0), block2
block2:
    return v5
}
; run: %f(7, 9, 3) == 7
; run: %f(7, 9, 2) == 7
; run: %f(7, 9, 1) == 9

function %g(i32, i32) -> i32 {
block0(v0: i32, v1: i32):
    v2 = iconst.i32 3
    v3 = iconst.i32 -1
    jump block1(v2, v1)
block1(v4: i32, v5: i32):
    v6 = iadd v4, v3
    brif v6, block1(v6, v0), block2
block2:
    return v5
}
; run: %g(7, 9) == 7
";

#[test]
fn a_value_that_all_iterations_but_the_first_begin_with() {
    let file = read(&format!("{HEAD}{ASSIGNED}")).unwrap();
    let (without, with) = (optimiser(&["std"]), optimiser(&["std", "std.loops"]));
    for variants in [false, true] {
        let measured = measure(&file, [&without, &with], &options(variants), clock::now).unwrap();
        for row in &measured.rows {
            assert!(row.same(), "{row:?}");
            assert_eq!(row.made[2].loops, 0, "{row:?}");
        }
    }
}
