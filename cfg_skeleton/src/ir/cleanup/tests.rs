//! What each step does, in the text form, and that running shows no difference.

use super::*;
use crate::ir::normalise::normalise;
use crate::ir::parse::parse;
use crate::ir::text::print;
use crate::ir::verify::verify;
use crate::testing::{random, universe};
use proptest::prelude::*;

/// A function `(i64, i32, i32) -> i32` with this body, cleaned up; the body of the result.
fn clean(body: &str) -> String {
    clean_keeping(body, &|_| false)
}

fn clean_keeping(body: &str, keep: &dyn Fn(BlockId) -> bool) -> String {
    let mut u = universe();
    let f = parse(&format!("func f -> (i32) {{\n{body}\n}}"), &mut u).unwrap().functions.remove(0);
    let mut g = f.clone();
    cleanup_keeping(&mut g, &u, keep);
    assert_eq!(verify(&f, &u), []);
    random::assert_same(&f, &g, &u, 1);
    let text = print(&g, &u);
    text.lines().filter(|l| !l.starts_with(['f', '}'])).map(str::trim).collect::<Vec<_>>().join(" ")
}

const HEAD: &str = "b0(v0: i64, v1: i32, v2: i32):";

#[track_caller]
fn becomes(body: &str, expected: &str) {
    assert_eq!(clean(&format!("{HEAD} {body}")), format!("{HEAD} {expected}"));
}

#[track_caller]
fn stays(body: &str) {
    becomes(body, body);
}

#[test]
fn blocks() {
    becomes("br v1, b1, b1 b1: return v1", "return v1");
    becomes(
        "v3: i32 = const 2 switch v3, [b1, b2], b3 b1: return v1 b2: return v2 b3: return v3",
        "v3: i32 = const 2 return v3",
    );
    // An empty diamond, of which only the joined value matters.
    becomes(
        "br v1, b1, b2 b1: jump b3(v1) b2: jump b3(v2) b3(v3: i32): return v3",
        "br v1, b3(v1), b3(v2) b3(v3: i32): return v3",
    );
    becomes("br v1, b1, b2 b1: jump b3(v1) b2: jump b3(v1) b3(v3: i32): return v3", "return v1");
    becomes(
        "jump b1(v1) b1(v3: i32): v4: i32 = iadd{i32} v3, v2 jump b2(v4) b2(v5: i32): return v5",
        "v4: i32 = iadd{i32} v1, v2 return v4",
    );
    // The forwarding block's parameter is used below.
    stays("br v1, b1(v1), b1(v2) b1(v3: i32): jump b2 b2: br v3, b3, b2 b3: return v3");
    stays("opaque.end 4 (v1), [b1(#0), b2] b1(v3: i32): jump b3 b2: jump b3 b3: return v1");
}

#[test]
fn blocks_in_which_edges_into_a_header_meet_stay_for_who_wants_them() {
    let body = |latch: &str, other: &str| {
        format!(
            "{HEAD} jump b1(v1) b1(v3: i32): br v3, b2, b3 b2: v4: i32 = iadd{{i32}} v3, v1 br v4, {latch}(v4), b4 \
             b3: return v2 b4: v5: i32 = iadd{{i32}} v4, v2 jump {latch}(v5){other}"
        )
    };
    let original = body("b5", " b5(v6: i32): jump b1(v6)");
    let several = body("b1", "");
    assert_eq!(clean(&original), several);
    assert_eq!(clean_keeping(&original, &|_| true), original);
    // What came later leads away from what was there, whichever comes first.
    assert_eq!(clean_keeping(&original, &|b| b.index() < 5), several);
    let twice = |end: &str, gathered: &str, other: &str| {
        format!(
            "{HEAD} jump b1(v1) b1(v3: i32): br v3, b2, b3 b2: v4: i32 = iadd{{i32}} v3, v1 br v4, b5(v4), b4 \
             b3: return v2 b4: v5: i32 = iadd{{i32}} v4, v2 br v5, b5(v5), {end} b5(v6: i32): jump \
             {gathered}(v6){other}"
        )
    };
    let normal = twice("b7", "b6", " b6(v7: i32): jump b1(v7) b7: jump b6(v2)");
    assert_eq!(clean_keeping(&normal, &|b| b.index() < 6), twice("b1(v2)", "b1", ""));
}

#[test]
fn params_and_instructions() {
    // v4 changes, but nothing needs it; v3 is always v1.
    becomes(
        "jump b1(v1, v2) b1(v3: i32, v4: i32): v5: i32 = iadd{i32} v4, v3 opaque 1 writes () br v3, b1(v3, v5), b2 \
         b2: return v3",
        "jump b1 b1: opaque 1 writes () br v1, b1, b2 b2: return v1",
    );
    // Instructions that may trap stay, others go.
    becomes(
        "v3: i64 = const 0 v4: i32 = load{i32} v0, v3 @region0 trap=3 v5: i32 = load{i32} v0, v3 @region0 v6: i32 = \
         udiv{i32} v1, v2
         v7: i32 = opaque 1 pure (v1) v8: i32 = opaque 2 pinned (v1) return v1",
        "v3: i64 = const 0 v4: i32 = load{i32} v0, v3 @region0 trap=3 v6: i32 = udiv{i32} v1, v2 v8: i32 = opaque 2 \
         pinned (v1) return v1",
    );
}

/// A loop that counts v4 from v1 by `step` while `cond` (v6), with v4 + step in v5.
fn counting(step: i32, cond: &str) -> String {
    format!(
        "v3: i32 = const {step} v9: i32 = const 5 jump b1(v1) b1(v4: i32): v5: i32 = iadd{{i32}} v4, v3 v6: i8 = {cond}
         br v6, b1(v5), b2 b2: return v2"
    )
}

#[test]
fn idle_loops_that_end_go() {
    for (step, cond) in [
        (1, "icmp_ult{i32} v5, v2"),
        (-1, "icmp_ult{i32} v4, v2"),
        (4, "icmp_ult{i32} v4, v9"),
        (1, "icmp_ult{i32} v9, v4"),
        (3, "icmp_ult{i32} v2, v5"),
    ] {
        becomes(&counting(step, cond), "return v2");
    }
    // Down to zero, in a loop that goes, too.
    becomes(
        "v3: i32 = const 1 jump b1(v1) b1(v4: i32): jump b2(v1) b2(v5: i32): v6: i32 = isub{i32} v5, v3 br v6, \
         b2(v6), b3
         b3: v7: i32 = isub{i32} v4, v3 br v7, b1(v7), b4 b4: return v2",
        "return v2",
    );
}

#[test]
fn idle_loops_that_may_not_end_stay() {
    for (step, cond) in [(4, "icmp_ult{i32} v5, v2"), (0, "icmp_ult{i32} v5, v2"), (1, "icmp_ult{i32} v5, v4")] {
        let after = clean(&format!("{HEAD} {}", counting(step, cond)));
        assert!(after.contains("br v6"), "{step} {cond}: {after}");
    }
    stays("jump b1 b1: jump b1");
    // Even steps miss odd numbers.
    let body = "v3: i32 = const 2 jump b1(v1) b1(v4: i32): v5: i32 = isub{i32} v4, v3 br v5, b1(v5), b2 b2: return v2";
    assert!(clean(&format!("{HEAD} {body}")).contains("isub"));
    // The exit test is not made in every iteration.
    let body = "v3: i32 = const 1 jump b1(v1) b1(v4: i32): v5: i32 = isub{i32} v4, v3 br v2, b1(v5), b2
                b2: br v5, b1(v5), b3 b3: return v2";
    assert!(clean(&format!("{HEAD} {body}")).contains("isub"));
    // It has an effect.
    let body =
        "v3: i32 = const 1 jump b1(v1) b1(v4: i32): v5: i32 = isub{i32} v4, v3 opaque 1 pinned () br v5, b1(v5), b3
                b3: return v2";
    assert!(clean(&format!("{HEAD} {body}")).contains("isub"));
}

#[test]
fn long_chains_take_one_round() {
    let mut body = format!("{HEAD} jump b1(v1)\n");
    for i in 1..20_000 {
        body += &format!("b{i}(v{}: i32): jump b{}(v{})\n", i + 2, i + 1, i + 2);
    }
    body += "b20000(v20002: i32): return v20002";
    assert_eq!(clean(&body), format!("{HEAD} return v1"));
}

#[test]
fn latches_are_lifted() {
    let lifted = |body: &str| {
        let mut u = universe();
        let f = parse(&format!("func f -> (i32) {{\n{HEAD} {body}\n}}"), &mut u).unwrap().functions.remove(0);
        let mut g = f.clone();
        let any = lift_latches(&mut g, &u);
        assert_eq!(verify(&g, &u), []);
        random::assert_same(&f, &g, &u, 1);
        (any, g.layout.len())
    };
    let counts = |latch: &str, other: &str| {
        lifted(&format!(
            "v3: i32 = const 1 jump b1(v2) b1(v4: i32): v5: i32 = isub{{i32}} v4, v3 br v5, b2, b3 \
             b2: v6: i32 = {latch} v5, v3 jump b1(v6) b3: {other}"
        ))
    };
    assert_eq!(counts("isub{i32}", "return v4"), (true, 3));
    assert_eq!(counts("udiv{i32}", "return v4"), (false, 4), "it may trap");
    assert_eq!(counts("imul{i32}", "return v4"), (false, 4), "more than a step");
    assert_eq!(counts("isub{i32}", "jump b1(v3)"), (false, 4), "the loop goes on on both ways");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn same_behaviour(seed in any::<u64>(), blocks in 1usize..16, normal in any::<bool>()) {
        let u = universe();
        let original = random::function(seed, blocks, &u);
        let mut clean = original.clone();
        if normal {
            normalise(&mut clean);
        }
        cleanup(&mut clean, &u);
        random::assert_same(&original, &clean, &u, seed);
        // Loops that end are gone, loops that may not end are not: an endless run stays one.
        let before = random::run(&original, &u, [3, 1], 2000);
        let after = random::run(&clean, &u, [3, 1], 2000);
        prop_assert!(after.events.starts_with(&before.events));
        // The blocks that normalisation added are removed again, except for preheaders that join what their loop does
        // not change.
        let joins = |b: &&BlockId| b.index() >= original.blocks.len() && !clean.block(**b).params.is_empty();
        let kept = clean.layout.len() - clean.layout.iter().filter(joins).count();
        prop_assert!(kept <= original.layout.len(), "{}{}", print(&original, &u), print(&clean, &u));
        let mut again = clean.clone();
        cleanup(&mut again, &u);
        prop_assert_eq!(print(&again, &u), print(&clean, &u));
        lift_latches(&mut again, &u);
        prop_assert_eq!(verify(&again, &u), []);
        random::assert_same(&original, &again, &u, seed);
    }
}
