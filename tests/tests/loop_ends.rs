//! The values that loops are left with: closed forms, and loops that go because nothing needs them any more. No
//! equality removes a loop: those that may not end, that may trap or that have several exits stay.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use super::hard_cases::Case;
use super::loops::{WITH_LOOPS, checked, load, root};
use rewright_cfg_skeleton::ir::parse::parse;
use rewright_cfg_skeleton::ir::text::print;
use rewright_clif::names::trap_code;
use rewright_packs as packs;
use rewright_pipeline::optimiser::{LoopTest, Optimiser, Options};
use std::path::Path;

fn endings() -> Case {
    Case::with(&WITH_LOOPS, "loops/endings.clif")
}

#[test]
fn loops_go_whose_values_have_closed_forms() {
    let case = endings();
    case.becomes("entire", "smax iadd return");
    case.becomes("triangle", "smax isub bor ushr imul return");
    case.becomes("nest", "smax smax imul return");
    case.becomes("constant", "iadd return");
}

#[test]
fn do_loops_and_counters_down_to_zero() {
    let case = endings();
    case.becomes("dowhile", "umax isub uextend imul iadd return");
    case.becomes("down", "isub isub bor ushr imul imul iadd isub return");
}

#[test]
fn unsigned_counters_downwards() {
    endings().becomes("unsigned_down", "umin isub imul bxor return");
}

#[test]
fn several_exits_stay() {
    endings().stays("two_exits", "jump | icmp brif | icmp iadd brif | return");
}

#[test]
fn counters_of_32_bits_with_addresses_of_64() {
    endings().becomes("wide_address", "jump | icmp brif | bxor iadd iadd jump | return");
}

#[test]
fn an_inner_loop_goes_and_the_outer_one_stays() {
    endings().becomes("inner_goes", "smax jump | icmp brif | iadd rotl iadd iadd jump | return");
}

#[test]
fn loops_that_may_not_end_or_may_trap_stay() {
    let case = endings();
    case.stays("even", "jump | icmp brif | iadd iadd jump | return");
    case.stays("may_not_end", "jump | icmp iadd brif | return");
    case.becomes("may_trap", "jump | icmp brif | trapz iadd jump | return");
}

/// A loop that ends, one whose counter may pass its bound, and a test before it that only a wrong equality decides.
const ENDS: &str = "func e -> (i64, i64) { b0(v0: i64, v1: i64): v2: i64 = const 0 v3: i64 = const 1 v4: i64 = const 3
    v5: i64 = const 7 v20: i64 = band{i64} v0, v5 jump b1(v2, v1, v2, v1)
    b1(v6: i64, v7: i64, v8: i64, v9: i64): v10: i8 = icmp_slt{i64} v6, v20 br v10, b2, b3(v6, v7, v8, v9)
    b2: v11: i64 = iadd{i64} v6, v3 v12: i64 = iadd{i64} v7, v4 v13: i64 = iadd{i64} v8, v6
        jump b1(v11, v12, v13, v0)
    b3(v15: i64, v16: i64, v17: i64, v18: i64): v14: i64 = bxor{i64} v16, v17 v19: i64 = bxor{i64} v14, v15
    return v19, v18 }";

const EVEN: &str =
    "func f -> (i64) { b0(v0: i64): v1: i64 = const 0 v2: i64 = const 2 v3: i64 = const 1 v4: i64 = const 4
    v9: i64 = band{i64} v0, v4 v8: i64 = ushr{i64,i64} v9, v3 v10: i64 = iadd{i64} v8, v8 jump b1(v1, v1)
    b1(v5: i64, v6: i64): v7: i8 = icmp_ne{i64} v5, v9 br v7, b2, b3(v6)
    b2: v11: i64 = iadd{i64} v5, v2 v12: i64 = iadd{i64} v6, v3 jump b1(v11, v12) b3(v13: i64): return v13 }";

#[test]
fn classes_of_what_loops_leave_agree() {
    let roots = WITH_LOOPS.map(|name| packs::root(Path::new(name)).unwrap());
    for report in checked(load(roots.into()), &[ENDS, EVEN]) {
        assert!(report.disagreements.is_empty(), "{}", report.disagreements[0]);
        assert!(report.comparisons > 300, "{}", report.comparisons);
    }
}

/// Wrong rules about what loops are left with: a run refutes each.
#[test]
fn wrong_rules_about_ends_are_found() {
    let wrong = [
        ("as if left after one step", "leave(l, sum(l, a, s)) => iadd(a, s) when enters(a, l), enters(s, l)"),
        ("once more", "leave(l, sum(l, 0, 1)) => iadd(n, 1) when stays(icmp_slt(sum(l, 0, 1), n), l), enters(n, l)"),
        (
            "what is before the loop is behind it",
            "leave(l, sum(l, a, s)) => a when enters(a, l), enters(s, l), counts(sum(l, 0, 1), l)",
        ),
        ("always assigned", "leave(l, theta(l, a, c)) => c when enters(a, l), enters(c, l)"),
    ];
    for (name, rule) in wrong {
        let vars: String = ["a", "s", "c", "n"]
            .into_iter()
            .filter(|var| rule.contains(&format!("{var},")) || rule.contains(&format!("{var})")))
            .map(|var| format!(", {var}: i64"))
            .collect();
        let pack = format!(
            "pack wrong import std.core import std.loops import std.fold
             ruleset wrong {{ rule wrong(l: Loop{vars}): {rule} }}
             schedule default {{ repeat 2 {{ run std.loops.laws  run wrong  run std.fold.arithmetic }} }}"
        );
        let reports = checked(load(vec![root(&pack)]), &[ENDS]);
        assert!(reports.iter().any(|report| !report.disagreements.is_empty()), "{name}: nothing is found");
    }
}

/// If a loop with two steps at a time to an exact bound were said to end, a half would be equal to what it is half of.
#[test]
fn a_loop_that_may_pass_its_bound_says_nothing() {
    let pack = "pack wrong import std.core import std.loops import std.fold
        ruleset wrong {
          rule exact(l: Loop, a: i64, n: i64): leave(l, sum(l, a, 2)) => n
            when stays(icmp_ne(sum(l, a, 2), n), l), enters(n, l)
        }
        schedule default { repeat 2 { run std.loops.laws  run wrong  run std.loops.leaving } }";
    for report in checked(load(vec![root(pack)]), &[EVEN]) {
        assert!(report.disagreements.is_empty(), "{}", report.disagreements[0]);
    }
}

#[test]
fn remarks_say_what_became_of_loops() {
    let roots = WITH_LOOPS.map(|name| packs::root(Path::new(name)).unwrap());
    let program = load(roots.into());
    let mut universe = program.universe.clone();
    let texts = [
        // One that may not end; its neighbour does, and is not needed.
        "func f -> (i64) { b0(v0: i64): v1: i64 = const 0 v2: i64 = const 2 v3: i64 = const 1 jump b1(v1)
         b1(v5: i64): v7: i8 = icmp_ne{i64} v5, v0 br v7, b2, b3 b2: v11: i64 = iadd{i64} v5, v2 jump b1(v11)
         b3: jump b4(v5) b4(v6: i64): v8: i8 = icmp_slt{i64} v6, v0 br v8, b5, b6
         b5: v9: i64 = iadd{i64} v6, v3 jump b4(v9) b6: return v6 }",
        // Its result is no polynomial; the product is a new sum.
        "func g -> (i64) { b0(v0: i64, v1: i64): v2: i64 = const 0 v3: i64 = const 3 v4: i64 = const 24 jump b1(v2, v2)
         b1(v5: i64, v6: i64): v7: i8 = icmp_slt{i64} v5, v4 br v7, b2, b3
         b2: v8: i64 = imul{i64} v5, v1 v9: i64 = bxor{i64} v6, v8 v10: i64 = iadd{i64} v5, v3 jump b1(v10, v9)
         b3: return v6 }",
    ];
    let functions = texts.map(|text| parse(text, &mut universe).unwrap().functions.remove(0));
    let optimiser = Optimiser::new(program, trap_code).unwrap();
    let batch = optimiser.optimise(&functions, &universe, &Options { log: true, ..Options::default() });
    let [first, second] = &batch.outcomes[..] else { panic!("two functions") };
    let [endless, unused] = &first.loops[..] else { panic!("{:?}", first.loops) };
    assert_eq!(endless.because, Some("it, or a loop in it, is not known to end"));
    assert_eq!((endless.gone, &endless.test), (false, &None));
    assert_eq!((unused.gone, unused.because), (true, None), "{unused:?}");
    assert_eq!(unused.test, Some(LoopTest::While("icmp_slt".into())));
    let [sums] = &second.loops[..] else { panic!("{:?}", second.loops) };
    assert_eq!(sums.carries, [("other".to_string(), 1), ("sum".to_string(), 1)]);
    assert_eq!((sums.gone, &sums.test), (false, &Some(LoopTest::Times(8))));
    assert_eq!(sums.new, [("sum".to_string(), 1)]);
    assert_eq!(sums.because, Some("what it leaves behind has no other form"));
}

/// Two loops of three iterations: the first stores `x` in consecutive words, the second `x + 1` in the first word.
const STORES: &str = "func f -> (i64) { b0(v0: i64, v1: i64): v2: i64 = const 0 v3: i64 = const 1 v4: i64 = const 3
    v20: i64 = const 8 jump b1(v2)
    b1(v5: i64): v6: i8 = icmp_slt{i64} v5, v4 br v6, b2, b3
    b2: v7: i64 = ishl{i64, i64} v5, v4 v8: i64 = iadd{i64} v0, v7 store{i64} v8, v1, v2 @region0
        v9: i64 = iadd{i64} v5, v3 jump b1(v9)
    b3: v11: i64 = load{i64} v0, v20 @region0 v21: i64 = iadd{i64} v11, v3 jump b4(v2)
    b4(v12: i64): store{i64} v0, v21, v2 @region0 v13: i64 = iadd{i64} v12, v3 v14: i8 = icmp_slt{i64} v13, v4
        br v14, b4(v13), b5
    b5: v15: i64 = load{i64} v0, v2 @region0 return v15 }";

#[test]
fn wrong_rules_about_what_loops_leave_in_memory_are_found() {
    let pack = |rules: &str| {
        format!(
            "pack states import std.core import std.fold import std.arith import std.loops import std.loop_states
             ruleset states {{ {rules} }}
             schedule default {{ repeat 3 {{ run std.loops.laws  run std.loops.entering  run std.loops.based
                                             run std.fold.arithmetic  run std.fold.bits
                                             run std.arith.identities  run states }} }}"
        )
    };
    let rule = |left: &str, at: &str, right: &str| {
        format!(
            "rule wrong(l: Loop, p: i64, x: i64, s: State):
               {left}(l) after (store({at}, x, 0) after (around(l) after s)) => {right} when enters(p, l), enters(x, l)"
        )
    };
    // It is executed, so once is as good as three times.
    let right = rule("left_last", "p", "store(p, x, 0) after s");
    for report in checked(load(vec![root(&pack(&right))]), &[STORES]) {
        assert!(report.disagreements.is_empty(), "{}", report.disagreements[0]);
        assert!(report.comparisons > 100, "{}", report.comparisons);
    }
    let sum = "sum(l, p, 8)";
    for (left, at, right) in [
        ("left", sum, "store(p, x, 0) after s"),
        ("left", sum, "s"),
        ("left", sum, "store(sum(l, p, 8), x, 0) after s"),
        ("left_last", "p", "s"),
        ("left_last", "p", "store(p, ineg(x), 0) after s"),
    ] {
        let reports = checked(load(vec![root(&pack(&rule(left, at, right)))]), &[STORES]);
        assert!(
            reports.iter().any(|report| !report.disagreements.is_empty()),
            "{left}, {at}, {right}: nothing is found"
        );
    }
}

/// Each iteration stores what is there; what the loop leaves is read.
const IDLE: &str = "func f -> (i64) { b0(v0: i64): v2: i64 = const 0 v3: i64 = const 1 v4: i64 = const 3 jump b1(v2)
    b1(v5: i64): v6: i8 = icmp_slt{i64} v5, v4 br v6, b2, b3
    b2: v7: i64 = ishl{i64, i64} v5, v4 v8: i64 = iadd{i64} v0, v7 v10: i64 = load{i64} v8, v2 @region0
        store{i64} v8, v10, v2 @region0 v9: i64 = iadd{i64} v5, v3 jump b1(v9)
    b3: v11: i64 = load{i64} v0, v2 @region0 return v11 }";

#[test]
fn loops_that_leave_memory_as_it_is_go() {
    let roots = || ["std", "std.loops", "std.loop_states"].map(|name| packs::root(Path::new(name)).unwrap());
    for report in checked(load(roots().into()), &[IDLE]) {
        assert!(report.disagreements.is_empty(), "{}", report.disagreements[0]);
        assert!(report.comparisons > 100, "{}", report.comparisons);
    }
    let program = load(roots().into());
    let mut universe = program.universe.clone();
    let functions = parse(IDLE, &mut universe).unwrap().functions;
    let optimiser = Optimiser::new(program, trap_code).unwrap();
    let batch = optimiser.optimise(&functions, &universe, &Options::default());
    let text = print(&batch.outcomes[0].function, &universe);
    assert!(!text.contains("store") && !text.contains("br "), "{text}");
}
