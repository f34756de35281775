//! Known numbers of executions of blocks decide between programs.

use super::*;
use crate::ir::cfg::FREQUENCY_ONE;
use crate::ir::frequencies::note_frequencies;
use crate::ir::parse::parse;
use crate::ir::trip_count::note_trips;
use crate::ir::{BlockId, Counts, Value};

/// The blocks in which a value's class is defined, by both methods; they agree on the cost.
fn places(case: &Case, value: Value) -> Vec<BlockId> {
    let class = case.view.class_of(case.input(value));
    let [greedy, ilp] = [Method::Greedy, Method::Ilp].map(|method| case.select(method));
    assert_eq!(greedy.cost, ilp.cost);
    let defs = ilp.defs.keys().filter(|(_, c)| *c == class);
    defs.map(|(s, _)| case.skeleton.segment_block[s.index()]).collect()
}

/// `x * x` in the entry, returned by two of three arms; blocks: entry, first arm, the others' branch, second arm,
/// third.
fn two_of_three_arms(u: &Universe) -> (Builder<'_>, Value) {
    let mut b = Builder::new(u, &["i32", "i32", "i32"]);
    let [x, p, q] = std::array::from_fn(|n| b.param(BlockId(0), n));
    let [first, rest, second, third] = std::array::from_fn(|_| b.block(&[]));
    let square = b.op("imul", "i32", &[x, x]);
    b.branch(p, (first, &[]), (rest, &[]));
    b.switch_to(first);
    b.ret(&[square]);
    b.switch_to(rest);
    b.branch(q, (second, &[]), (third, &[]));
    b.switch_to(second);
    b.ret(&[square]);
    b.switch_to(third);
    b.ret(&[x]);
    (b, square)
}

const ARMS: [BlockId; 2] = [BlockId(1), BlockId(3)];

#[test]
fn what_two_rare_arms_need_is_computed_in_both() {
    let u = universe();
    let (mut b, square) = two_of_three_arms(&u);
    assert_eq!(places(&Case::new(&b, &u), square), [BlockId(0)]);
    b.function.blocks[ARMS[0].index()].cold = true;
    assert_eq!(places(&Case::new(&b, &u), square), [BlockId(0)], "the other one needs it as often as before");
    b.function.blocks[ARMS[1].index()].cold = true;
    let case = Case::new(&b, &u);
    assert_eq!(places(&case, square), ARMS);
    assert_eq!(case.select(Method::Ilp).cost, 2 * 3 * COST_SCALE * FREQUENCY_ONE / 16);
}

#[test]
fn a_profile_decides_where_it_has_counts() {
    let u = universe();
    let (mut b, square) = two_of_three_arms(&u);
    let mut count = |executions: [u64; 2]| {
        for (arm, executions) in ARMS.iter().zip(executions) {
            b.function.blocks[arm.index()].counts = Counts { executions: Some(executions), ..Counts::default() };
        }
        places(&Case::new(&b, &u), square)
    };
    assert_eq!(count([FREQUENCY_ONE / 4, FREQUENCY_ONE / 4]), ARMS);
    assert_eq!(count([FREQUENCY_ONE / 2, FREQUENCY_ONE / 2 + 1]), [BlockId(0)]);
}

/// A loop of this many iterations that adds `x` to what it counts; the sum equals `x * x`, which it does not change.
fn product_or_sum(trips: i64) -> Vec<String> {
    let u = universe();
    let mut b = Builder::new(&u, &["i32"]);
    let x = b.param(BlockId(0), 0);
    let (head, latch, exit) = (b.block(&["i32"]), b.block(&[]), b.block(&["i32"]));
    let (zero, one, last) = (b.constant("i32", 0), b.constant("i32", 1), b.constant("i32", trips + 1));
    b.jump(head, &[zero]);
    b.switch_to(head);
    let i = b.param(head, 0);
    let next = b.op("iadd", "i32", &[i, one]);
    let sum = b.op("bxor", "i32", &[i, x]);
    let done = b.op("icmp_eq", "i32", &[next, last]);
    b.branch(done, (exit, &[sum]), (latch, &[]));
    b.switch_to(latch);
    b.jump(head, &[next]);
    b.switch_to(exit);
    let result = b.param(exit, 0);
    b.ret(&[result]);
    note_trips(&mut b.function, &u);
    assert_eq!(b.function.block(head).counts.trips, Some(trips as u64));
    let mut case = Case::new(&b, &u);
    let (sum, x) = (case.input(sum), case.input(x));
    let square = case.op("imul", "i32", &[x, x]);
    case.unite(sum, square);
    listing(&case.optimised(), &u)
}

#[test]
fn what_a_loop_need_not_repeat_may_cost_as_much_as_all_its_iterations() {
    assert!(product_or_sum(1).contains(&"bxor".to_string()), "3 once, or 1 once");
    assert!(product_or_sum(1000).contains(&"imul".to_string()), "3 once, or 1 a thousand times");
}

/// The inner loop hands the outer one's counter round, as front ends write it.
#[test]
fn a_counter_that_an_inner_loop_hands_round_is_counted() {
    let mut u = universe();
    let text = "func f -> (i32) { b0(v0: i64, v1: i32):
          v3: i32 = const 0 v6: i32 = const 1 v7: i32 = const 64 jump b1(v3)
        b1(v4: i32): jump b2(v4, v3)
        b2(v10: i32, v11: i32):
          v12: i32 = iadd{i32} v11, v6 v13: i8 = icmp_ult{i32} v12, v7 br v13, b2(v10, v12), b3
        b3: v5: i32 = iadd{i32} v10, v6 v8: i8 = icmp_ult{i32} v5, v7 br v8, b1(v5), b4
        b4: return v10 }";
    let mut f = parse(text, &mut u).unwrap().functions.remove(0);
    note_frequencies(&mut f, &u);
    let trips = [1, 2].map(|block| f.block(BlockId(block)).counts.trips);
    assert_eq!(trips, [Some(64), Some(64)]);
    assert_eq!(f.block(BlockId(2)).params.len(), 2, "the function itself stays as it is");
}
