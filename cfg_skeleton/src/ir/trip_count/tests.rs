//! The table against its meaning, and trip counts.

use super::Relation::{Eq, Ge, Gt, Le, Lt, Ne};
use super::{CountedLoops, note_trips};
use crate::ir::BlockId;
use crate::ir::cfg::{Cfg, FREQUENCY_ONE, MAX_EXECUTIONS};
use crate::ir::parse::parse;
use crate::testing::universe;

/// The table against its meaning, at 4 bits.
#[test]
fn exits_are_reached_from_everywhere() {
    const N: u64 = 16;
    for relation in [Eq, Ne, Lt, Le, Gt, Ge] {
        for step in 1..N {
            let ends = |n| (0..N).all(|x0| (0..N).any(|i| relation.holds((x0 + i * step) % N, n)));
            let t = step.trailing_zeros();
            for n in 0..N {
                assert_eq!(relation.has_exit(t, 4, Some(n)), ends(n), "{relation:?} {step} {n}");
            }
            assert_eq!(relation.has_exit(t, 4, None), (0..N).all(ends), "{relation:?} {step}");
        }
    }
}

/// The trip count of the loop of `b1`, in a function `(v0: i64, v1: i32, v2: i32)`.
fn trips(body: &str) -> Option<u64> {
    let mut u = universe();
    let text = format!("func f -> (i32) {{ b0(v0: i64, v1: i32, v2: i32): {body} }}");
    let mut f = parse(&text, &mut u).unwrap().functions.remove(0);
    note_trips(&mut f, &u);
    let trips = f.block(BlockId(1)).counts.trips;
    let weight = Cfg::new(&f).frequency(BlockId(1));
    assert_eq!(weight, trips.unwrap_or(10) * FREQUENCY_ONE);
    trips
}

/// Counts v4 from `first` by `step`; its latch goes on while `cond`, which may take v5, the next count, and v7, the
/// bound.
fn tested_below(first: &str, step: i64, bound: i64, cond: &str) -> Option<u64> {
    trips(&format!(
        "v3: i32 = const {first} v6: i32 = const {step} v7: i32 = const {bound} jump b1(v3)
         b1(v4: i32): v5: i32 = iadd{{i32}} v4, v6 v8: i8 = {cond} br v8, b1(v5), b2 b2: return v4"
    ))
}

#[test]
fn constant_counters_are_counted() {
    assert_eq!(tested_below("0", 1, 1000, "icmp_ult{i32} v5, v7"), Some(1000));
    assert_eq!(tested_below("0", 3, 1000, "icmp_ult{i32} v5, v7"), Some(334));
    assert_eq!(tested_below("0", 3, 1000, "icmp_ult{i32} v4, v7"), Some(335));
    assert_eq!(tested_below("1000", -1, 0, "icmp_ult{i32} v7, v5"), Some(1000));
    // The body of a loop with its test below runs once at least.
    assert_eq!(tested_below("5", 1, 5, "icmp_ult{i32} v5, v7"), Some(1));
    // Past the greatest number.
    assert_eq!(tested_below("-3", 1, 1, "icmp_ult{i32} v7, v5"), Some(3));
    assert_eq!(tested_below("0", 1, -1, "icmp_ult{i32} v5, v7"), Some(MAX_EXECUTIONS));
}

#[test]
fn other_loops_are_not() {
    assert_eq!(tested_below("0", 1, 9, "icmp_ult{i32} v5, v2"), None, "an unknown bound");
    assert_eq!(tested_below("0", 1, 9, "icmp_ult{i32} v0, v0"), None, "no counter");
    let unknown_start = "v6: i32 = const 1 v7: i32 = const 9 jump b1(v1)
         b1(v4: i32): v5: i32 = iadd{i32} v4, v6 v8: i8 = icmp_ult{i32} v5, v7 br v8, b1(v5), b2 b2: return v4";
    assert_eq!(trips(unknown_start), None);
    let second_exit = "v3: i32 = const 0 v6: i32 = const 1 v7: i32 = const 9 jump b1(v3)
         b1(v4: i32): v5: i32 = iadd{i32} v4, v6 v8: i8 = icmp_ult{i32} v5, v7 br v8, b3, b2
         b3: br v2, b1(v5), b2 b2: return v1";
    assert_eq!(trips(second_exit), None, "nobody knows when it leaves by the other way");
}

#[test]
fn a_header_that_tests_first_runs_once_more_than_the_body() {
    let above = |bound| {
        trips(&format!(
            "v3: i32 = const 0 v6: i32 = const 1 v7: i32 = const {bound} jump b1(v3)
             b1(v4: i32): v8: i8 = icmp_ult{{i32}} v4, v7 br v8, b2, b3
             b2: v5: i32 = iadd{{i32}} v4, v6 jump b1(v5) b3: return v4"
        ))
    };
    assert_eq!([above(1000), above(1), above(0)], [Some(1000), Some(1), Some(1)]);
}

/// Bounds may be computed in the loop, from what it does not change.
#[test]
fn bounds_that_do_not_vary() {
    let known = |bound: &str| {
        let mut u = universe();
        let body = format!("b1(v4: i32): {bound} v8: i8 = icmp_ult{{i32}} v4, v9 br v8, b2, b3");
        let text = format!(
            "func f -> (i32) {{ b0(v0: i64, v1: i32, v2: i32): v3: i32 = const 0 v6: i32 = const 1 jump b1(v3) {body}
             b2: v5: i32 = iadd{{i32}} v4, v6 jump b1(v5) b3: return v4 }}"
        );
        let f = parse(&text, &mut u).unwrap().functions.remove(0);
        let cfg = Cfg::new(&f);
        let (id, l) = cfg.loops().next().unwrap();
        let counted = CountedLoops::new(&f, &cfg, &u);
        (counted.ends(id, l), counted.counted_branches(id, l).len())
    };
    assert_eq!(known("v7: i32 = isub{i32} v1, v6 v9: i32 = imul{i32} v7, v2"), (true, 0), "it is not there before");
    assert_eq!(known("v7: i32 = isub{i32} v4, v6 v9: i32 = imul{i32} v7, v2"), (false, 0), "it varies");
    assert_eq!(known("v7: i64 = const 0 v9: i32 = load{i32} v0, v7 @region0"), (false, 0), "it may vary");
}
