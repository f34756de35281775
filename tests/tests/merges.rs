//! Rules through merges: what the pack `std.merges` makes of functions, and that its equalities, and only right ones, hold.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use super::hard_cases::Case;
use super::loops::{checked, load, root};
use rewright_cfg_skeleton::ir::Function;
use rewright_cfg_skeleton::ir::normalise::normalise;
use rewright_cfg_skeleton::ir::text::print;
use rewright_clif::names::trap_code;
use rewright_lab::generate::{Generator, Shape};
use rewright_packs as packs;
use rewright_verify::denotation::{Laboratory, Limits};
use std::path::Path;

const WITH_MERGES: [&str; 2] = ["std", "std.merges"];

fn arms() -> Case {
    Case::with(&WITH_MERGES, "merges/arms.clif")
}

#[test]
fn what_both_arms_have_in_common_is_behind_them() {
    let case = arms();
    case.becomes("common", "select return");
    case.becomes("same", "iadd imul return");
}

#[test]
fn arms_become_extremes_and_absolute_values() {
    let case = arms();
    case.becomes("least", "smin return");
    case.becomes("absolute", "iabs return");
    case.becomes("clamped", "smax smin return");
    case.becomes("greatest", "jump | icmp brif | iadd bxor smax jump | return");
}

#[test]
fn arms_stay_that_are_cheaper_or_do_something() {
    let case = arms();
    case.stays("dear", "icmp brif | imul imul bxor jump | return");
    case.stays("elsewhere", "jump | isub brif | icmp brif | return");
    case.becomes("divides", "brif | trapz jump | return");
    case.becomes("stores", "brif | store jump | return");
}

/// Where rules know that a parameter is what arrives, the optimiser may not conclude from its arriving there.
#[test]
fn what_passes_arms_equals_nothing_else_for_that() {
    let case = arms();
    case.becomes("passes", "jump | icmp brif | icmp brif | ishl jump | rotl jump | iadd jump | bxor iadd imul return");
    case.becomes("unless_equal", "ineg return");
}

#[test]
fn classes_of_random_functions_agree() {
    let roots = ["std", "std.merges", "std.loops"].map(|name| packs::root(Path::new(name)).unwrap());
    let mut laboratory = Laboratory::new(load(roots.into()), trap_code).unwrap();
    let universe = laboratory.program().universe.clone();
    let generator = Generator::new(&universe, trap_code("user1"));
    let function = |seed| {
        let mut f = generator.function(seed, Shape { depth: 4, ..Shape::default() });
        // Values that leave loops by themselves are no reason to say less.
        if seed % 4 != 0 {
            normalise(&mut f);
        }
        f
    };
    let functions: Vec<Function> = (3_000..3_040).map(function).collect();
    let reports = laboratory.check(&functions, &universe, 1, 4, Limits { fuel: 5_000, visits: 4 }).unwrap();
    for (f, report) in functions.iter().zip(&reports) {
        let Some(d) = report.disagreements.first() else { continue };
        panic!("{d}\n{}", print(f, &universe));
    }
}

/// A diamond in a loop, one below another, and one whose arm has a loop.
const DIAMONDS: &str = "func f -> (i64) { b0(v0: i64, v1: i64): v2: i64 = const 0 v3: i64 = const 1 v4: i64 = const 5
    jump b1(v2, v0) b1(v5: i64, v6: i64): v7: i8 = icmp_slt{i64} v5, v4 br v7, b2, b9(v6)
    b2: v8: i64 = band{i64} v6, v3 br v8, b3, b4 b3: v9: i64 = iadd{i64} v6, v1 jump b6(v9, v5)
    b4: v10: i8 = icmp_slt{i64} v6, v1 br v10, b5, b6(v6, v2) b5: v11: i64 = isub{i64} v1, v6 jump b6(v11, v3)
    b6(v12: i64, v13: i64): v14: i64 = iadd{i64} v12, v13 br v13, b7(v2, v14), b8(v14)
    b7(v15: i64, v16: i64): v17: i64 = iadd{i64} v15, v3 v18: i64 = bxor{i64} v16, v17
        v19: i8 = icmp_slt{i64} v17, v4 br v19, b7(v17, v18), b10(v18) b10(v23: i64): jump b8(v23)
    b8(v20: i64): v21: i64 = iadd{i64} v5, v3 v22: i64 = iadd{i64} v20, v1 jump b1(v21, v22)
    b9(v24: i64): return v24 }";

#[test]
fn wrong_rules_about_merges_are_found() {
    let pack = |rule: &str| {
        format!(
            "pack wrong import std.core import std.merges import std.fold import std.select
             ruleset wrong {{ rule wrong{{C <: Int}}(c: C, x: i64, y: i64): {rule} }}
             schedule default {{ repeat 2 {{ run wrong  run std.select.extremes  run std.fold.arithmetic }} }}"
        )
    };
    for report in checked(load(vec![root(&pack("phi(c, x, y) => select(c, x, y)"))]), &[DIAMONDS]) {
        assert!(report.disagreements.is_empty(), "{}", report.disagreements[0]);
        assert!(report.comparisons > 300, "{}", report.comparisons);
    }
    for rule in ["phi(c, x, y) => select(c, y, x)", "phi(c, x, y) => x", "phi(c, x, y) => smax(x, y)"] {
        let reports = checked(load(vec![root(&pack(rule))]), &[DIAMONDS]);
        assert!(reports.iter().any(|report| !report.disagreements.is_empty()), "{rule}: nothing is found");
    }
}

/// The values that loops carry are taken to be as little as possible until something else arrives; the branch of a block
/// is decided by the edges into it. Neither wants a pack.
#[test]
fn what_arrives_decides() {
    let case = Case::with(&["std"], "merges/carried.clif");
    case.becomes("alike", "return");
    case.becomes("constant", "jump | iadd icmp brif | iadd return");
    case.becomes("unset", "jump | iadd icmp brif | return");
    case.becomes("set", "jump | brif | call jump | iadd icmp brif | return");
    case.becomes("counter", "jump | icmp brif | bxor iadd iadd jump | return");
    case.becomes("chosen", "brif | imul return | return");
    case.becomes("again", "icmp brif | iadd popcnt return | imul bnot return");
    case.becomes("some", "brif | brif | brif | imul return | return");
}

#[test]
fn loads_behind_stores_in_both_arms_are_what_was_stored() {
    let case = arms();
    // Each arm hands on what it has stored.
    case.becomes("stored_in_both", "brif | store jump | store jump | return");
    case.stays("stored_elsewhere", "brif | store jump | store jump | load return");
    case.stays("own_places", "brif | store jump | store jump | load return");
    // The loop stores in each iteration: what is stored last is stored behind it.
    case.becomes("stored_and_counted", "jump | band brif | iadd isub brif | store return");
}

/// A diamond in a loop with stores in both arms, to one place or to two.
const STORES: &str = "func f -> (i64) { b0(v0: i64, v1: i64): v2: i64 = const 1 v3: i64 = const 0 jump b1(v1, v3)
    b1(v4: i64, v5: i64): v6: i64 = band{i64} v4, v2 br v6, b2, b3
    b2: store{i64} v0, v4, v3 @region0 movable jump b4 b3: store{i64} v0, v5, v3 @region0 movable jump b4
    b4: v7: i64 = load{i64} v0, v3 @region0 movable v8: i64 = iadd{i64} v5, v7 v9: i64 = isub{i64} v4, v2 br v9, b1(v9, v8), b5(v8)
    b5(v10: i64): return v10 }";

#[test]
fn wrong_rules_about_loads_behind_merges_are_found() {
    let pack = |right: &str| {
        format!(
            "pack wrong import std.core import std.merges import std.memory
             ruleset wrong {{ rule wrong{{C <: Int}}(c: C, x: i64, y: i64): phi(c, x, y) => {right} }}
             schedule default {{ repeat 2 {{ run std.memory.forward  run wrong }} }}"
        )
    };
    for report in checked(load(vec![root(&pack("select(c, x, y)"))]), &[STORES]) {
        assert!(report.disagreements.is_empty(), "{}", report.disagreements[0]);
        assert!(report.comparisons > 100, "{}", report.comparisons);
    }
    for right in ["select(c, y, x)", "x"] {
        let reports = checked(load(vec![root(&pack(right))]), &[STORES]);
        assert!(reports.iter().any(|report| !report.disagreements.is_empty()), "{right}: nothing is found");
    }
}
