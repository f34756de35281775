//! What is decided where, and what is not.

use super::*;
use crate::ir::text::Printer;
use crate::ir::verify::verify;
use crate::ir::{Cfg, Function};
use crate::skeleton::build;
use crate::testing::{Builder, trap_code, universe, view};
use rewright_typeprop::Universe;

/// What is decided in a function whose e-graph no rule has seen.
fn decided(f: &Function, u: &Universe) -> Decisions {
    assert!(verify(f, u).is_empty(), "{:?}\n{}", verify(f, u), Printer(f, u));
    let cfg = Cfg::new(f);
    let skeleton = build(f, &cfg, u, &trap_code);
    let view = view(&skeleton.input, &[]);
    let given = Saturated { function: f, cfg: &cfg, universe: u, skeleton: &skeleton, view: &view };
    KnownAtEnds::new(given).decisions
}

/// In both arms of `x < 10`: whether `x + by < than` is decided where the arm ends.
fn behind_a_branch(u: &Universe, by: i64, than: i64) -> [Option<bool>; 2] {
    let mut b = Builder::new(u, &["i32"]);
    let entry = b.function.entry();
    let x = b.param(entry, 0);
    let arms = [b.block(&[]), b.block(&[])];
    let ends = [b.block(&[]), b.block(&[])];
    let ten = b.constant("i32", 10);
    let (by, than) = (b.constant("i32", by), b.constant("i32", than));
    let less = b.op("icmp_ult", "i32", &[x, ten]);
    let sum = b.op("iadd", "i32", &[x, by]);
    let test = b.op("icmp_ult", "i32", &[sum, than]);
    b.branch(less, (arms[0], &[]), (arms[1], &[]));
    for arm in arms {
        b.switch_to(arm);
        b.branch(test, (ends[0], &[]), (ends[1], &[]));
    }
    for end in ends {
        b.switch_to(end);
        b.ret(&[x]);
    }
    let decided = decided(&b.function, u);
    arms.map(|arm| decided.branches.get(&arm).copied())
}

#[test]
fn a_branch_tells_both_arms() {
    let u = universe();
    assert_eq!(behind_a_branch(&u, 0, 20), [Some(true), None]);
    assert_eq!(behind_a_branch(&u, 0, 10), [Some(true), Some(false)]);
    assert_eq!(behind_a_branch(&u, 0, 9), [None, Some(false)]);
    assert_eq!(behind_a_branch(&u, 11, 20), [None, None], "x is at most 9, so the sum is at most 20");
    assert_eq!(behind_a_branch(&u, 11, 21), [Some(true), None]);
    // Less than 10 minus 10 is no small number.
    assert_eq!(behind_a_branch(&u, -10, 20), [Some(false), None]);
}

/// A loop counts `i` up from 0 while `i < 5`, and its latch goes on where `i + 1 < 5`, or on an unknown condition.
fn counted_to_five(u: &Universe, is_tested: bool) -> (Option<bool>, Option<bool>) {
    let mut b = Builder::new(u, &["i32"]);
    let entry = b.function.entry();
    let x = b.param(entry, 0);
    let (header, body, end) = (b.block(&["i32"]), b.block(&[]), b.block(&[]));
    let zero = b.constant("i32", 0);
    b.jump(header, &[zero]);
    b.switch_to(header);
    let i = b.param(header, 0);
    let (one, five) = (b.constant("i32", 1), b.constant("i32", 5));
    let test = b.op("icmp_ult", "i32", &[i, five]);
    b.branch(test, (body, &[]), (end, &[]));
    b.switch_to(body);
    let next = b.op("iadd", "i32", &[i, one]);
    let again = b.op("icmp_ult", "i32", &[next, five]);
    b.branch(if is_tested { again } else { x }, (header, &[next]), (end, &[]));
    b.switch_to(end);
    b.ret(&[i]);
    let decided = decided(&b.function, u);
    let branch = |block| decided.branches.get(&block).copied();
    (branch(header), branch(body))
}

/// A test in one iteration says nothing of the next one. That the latch tests what it hands on is not used: a bound
/// that moves is given up.
#[test]
fn what_a_test_says_of_one_iteration_it_does_not_say_of_the_next() {
    let u = universe();
    assert_eq!(counted_to_five(&u, false), (None, None));
    assert_eq!(counted_to_five(&u, true), (None, None));
}

/// A loop that carries `i` from `first` to `i + by` while `i < 100`, with signs: what `i >= least` is in it.
fn in_a_signed_loop(u: &Universe, first: i64, by: i64, least: i64) -> Option<bool> {
    let mut b = Builder::new(u, &[]);
    let (header, body, end) = (b.block(&["i32"]), b.block(&[]), b.block(&[]));
    let latch = b.block(&[]);
    let [first, by, least, most] = [first, by, least, 100].map(|n| b.constant("i32", n));
    b.jump(header, &[first]);
    b.switch_to(header);
    let i = b.param(header, 0);
    let test = b.op("icmp_slt", "i32", &[i, most]);
    b.branch(test, (body, &[]), (end, &[]));
    b.switch_to(body);
    let tested = b.op("icmp_sle", "i32", &[least, i]);
    b.branch(tested, (latch, &[]), (end, &[]));
    b.switch_to(latch);
    let next = b.op("iadd", "i32", &[i, by]);
    b.jump(header, &[next]);
    b.switch_to(end);
    b.ret(&[]);
    decided(&b.function, u).branches.get(&body).copied()
}

#[test]
fn what_a_loop_carries_is_bounded_by_its_tests() {
    let u = universe();
    assert_eq!(in_a_signed_loop(&u, 0, 1, 0), Some(true));
    assert_eq!(in_a_signed_loop(&u, 7, 3, 7), Some(true));
    assert_eq!(in_a_signed_loop(&u, 0, 1, 1), Some(false), "the first iteration is the only one");
    assert_eq!(in_a_signed_loop(&u, 0, -1, 0), None, "it goes below");
    // 99 and this leave the integers of 32 bits.
    assert_eq!(in_a_signed_loop(&u, 0, 0x7fff_ffff, 0), None, "it goes round");
    assert_eq!(in_a_signed_loop(&u, 0, 0x7fff_ff00, 0), Some(true), "the greatest is not reached");
}

/// A parameter stays 0 unless a branch on it is taken, as in `gvn.clif` of the paper's authors' next step.
#[test]
fn what_a_loop_carries_is_taken_to_be_as_little_as_possible() {
    let u = universe();
    for first in [0, 1] {
        let mut b = Builder::new(&u, &["i8"]);
        let entry = b.function.entry();
        let x = b.param(entry, 0);
        let (header, then, latch) = (b.block(&["i8"]), b.block(&[]), b.block(&["i8"]));
        let end = b.block(&[]);
        let (start, five) = (b.constant("i8", first), b.constant("i8", 5));
        b.jump(header, &[start]);
        b.switch_to(header);
        let p = b.param(header, 0);
        b.branch(p, (then, &[]), (latch, &[p]));
        b.switch_to(then);
        b.jump(latch, &[five]);
        b.switch_to(latch);
        let q = b.param(latch, 0);
        b.branch(x, (header, &[q]), (end, &[]));
        b.switch_to(end);
        b.ret(&[q]);
        let found = decided(&b.function, &u);
        let expected = (first == 0).then_some(0);
        assert_eq!(found.params.get(&(header, 0)).copied(), expected);
        assert_eq!(found.params.get(&(latch, 0)).copied(), expected.or(Some(5)));
        assert_eq!(found.branches.get(&header), Some(&(first != 0)));
    }
}

/// Nothing may be concluded of `select(c, 1, 2)` from a parameter that equals it where its block is executed: here that is
/// only where `c` holds.
#[test]
fn edges_that_are_not_taken_say_nothing_of_what_a_parameter_equals() {
    let u = universe();
    let mut b = Builder::new(&u, &["i8"]);
    let entry = b.function.entry();
    let c = b.param(entry, 0);
    let (header, one_arm, other_arm) = (b.block(&["i8"]), b.block(&[]), b.block(&[]));
    let (merge, end) = (b.block(&["i8"]), b.block(&["i8"]));
    let [zero, one, two] = [0, 1, 2].map(|n| b.constant("i8", n));
    let chosen = b.op("select", "i8", &[c, one, two]);
    b.jump(header, &[zero]);
    b.switch_to(header);
    let p = b.param(header, 0);
    b.branch(c, (one_arm, &[]), (other_arm, &[]));
    b.switch_to(one_arm);
    b.jump(merge, &[one]);
    b.switch_to(other_arm);
    // Never taken, since `p` is 0.
    b.branch(p, (merge, &[two]), (end, &[chosen]));
    b.switch_to(merge);
    let q = b.param(merge, 0);
    b.branch(c, (header, &[p]), (end, &[q]));
    b.switch_to(end);
    let r = b.param(end, 0);
    b.ret(&[r]);
    let f = &b.function;
    let cfg = Cfg::new(f);
    let skeleton = build(f, &cfg, &u, &trap_code);
    let input = |v: Value| skeleton.value_input[v.index()].expect("a node");
    for equal in [vec![], vec![(input(q), input(chosen))]] {
        let view = view(&skeleton.input, &equal);
        let given = Saturated { function: f, cfg: &cfg, universe: &u, skeleton: &skeleton, view: &view };
        let constant = KnownAtEnds::new(given).decisions.params.get(&(merge, 0)).copied();
        assert_eq!(constant, equal.is_empty().then_some(1));
        let known = KnownAtEnds::new(given).known(entry, view.class_of(input(chosen)));
        assert!(known.expect("an integer").allows(2));
    }
}

/// A divisor is not 0 behind its division, and may be before.
#[test]
fn checks_tell_what_follows_them() {
    let u = universe();
    let mut b = Builder::new(&u, &["i32", "i32"]);
    let entry = b.function.entry();
    let (x, y) = (b.param(entry, 0), b.param(entry, 1));
    let zero = b.constant("i32", 0);
    let before = b.op("icmp_eq", "i32", &[y, zero]);
    let quotient = b.op("udiv", "i32", &[x, y]);
    let one = b.constant("i32", 1);
    let behind = b.op("icmp_ult", "i32", &[y, one]);
    let next = b.block(&[]);
    b.branch(behind, (next, &[]), (next, &[]));
    b.switch_to(next);
    b.ret(&[quotient]);
    let f = &b.function;
    let found = decided(f, &u);
    let of = |value: Value| f.insts.iter().position(|inst| inst.results.contains(&value)).map(|n| InstId(n as u32));
    let value = |value| of(value).and_then(|inst| found.values.get(&inst).copied());
    assert_eq!((value(before), value(behind)), (None, Some(0)));
    assert_eq!(found.branches.get(&entry), Some(&false));
}

#[test]
fn a_parameter_is_one_of_what_arrives() {
    let u = universe();
    let mut b = Builder::new(&u, &["i8"]);
    let entry = b.function.entry();
    let c = b.param(entry, 0);
    let merge = b.block(&["i32"]);
    let (three, five) = (b.constant("i32", 3), b.constant("i32", 5));
    b.branch(c, (merge, &[three]), (merge, &[five]));
    b.switch_to(merge);
    let p = b.param(merge, 0);
    let tests = [4, 6, 3].map(|n| {
        let n = b.constant("i32", n);
        b.op("icmp_ult", "i32", &[p, n])
    });
    b.ret(&tests);
    let found = decided(&b.function, &u);
    let constants: Vec<i64> = found.values.values().copied().collect();
    assert_eq!(found.values.len(), 2, "less than 6, and not less than 3: {found:?}");
    assert!(constants.contains(&1) && constants.contains(&0));
}

/// Where x < y, a check traps on `y < x`, or on another comparison with x.
#[test]
fn what_is_less_is_not_more() {
    let u = universe();
    for (swapped, expected) in [(true, Some(&false)), (false, None)] {
        let mut b = Builder::new(&u, &["i32", "i32", "i32"]);
        let entry = b.function.entry();
        let [x, y, z] = [0, 1, 2].map(|index| b.param(entry, index));
        let (less, more) = (b.block(&[]), b.block(&[]));
        let below = b.op("icmp_ult", "i32", &[x, y]);
        let test = b.op("icmp_ult", "i32", &if swapped { [y, x] } else { [z, x] });
        b.branch(below, (less, &[]), (more, &[]));
        b.switch_to(less);
        b.check(test, 3, true);
        b.ret(&[x]);
        b.switch_to(more);
        b.ret(&[y]);
        assert_eq!(decided(&b.function, &u).checks.get(&SiteId(0)), expected);
    }
}

/// A loop that is executed a known number of times sets to `x` what is 20 at first, and its exit has a parameter for that. A rule
/// may say that this parameter is `x`.
#[test]
fn what_a_loop_leaves_tells_nothing_of_what_is_equal_to_it() {
    let u = universe();
    let mut b = Builder::new(&u, &["i32"]);
    let x = b.param(b.function.entry(), 0);
    let (header, body, end) = (b.block(&["i32", "i32"]), b.block(&[]), b.block(&["i32"]));
    let (zero, twenty) = (b.constant("i32", 0), b.constant("i32", 20));
    b.jump(header, &[zero, twenty]);
    b.switch_to(header);
    let (i, set) = (b.param(header, 0), b.param(header, 1));
    let two = b.constant("i32", 2);
    let test = b.op("icmp_ult", "i32", &[i, two]);
    b.branch(test, (body, &[]), (end, &[set]));
    b.switch_to(body);
    let one = b.constant("i32", 1);
    let next = b.op("iadd", "i32", &[i, one]);
    b.jump(header, &[next, x]);
    b.switch_to(end);
    let left = b.param(end, 0);
    b.ret(&[left]);
    let f = &b.function;
    let cfg = Cfg::new(f);
    let skeleton = build(f, &cfg, &u, &trap_code);
    let input = |value: Value| skeleton.value_input[value.index()].expect("a node");
    let view = view(&skeleton.input, &[(input(x), input(left))]);
    let given = Saturated { function: f, cfg: &cfg, universe: &u, skeleton: &skeleton, view: &view };
    let decided = KnownAtEnds::new(given).decisions;
    assert!(decided.params.is_empty(), "{:?}", decided.params);
}

/// `x < 10` is tested; many blocks further on, it is tested again in a loop that goes on as long as `y` says, and behind it.
#[test]
fn what_holds_where_a_loop_begins_holds_in_it_and_behind_it() {
    let u = universe();
    let mut b = Builder::new(&u, &["i32", "i32"]);
    let entry = b.function.entry();
    let (x, y) = (b.param(entry, 0), b.param(entry, 1));
    let (header, body, behind) = (b.block(&[]), b.block(&[]), b.block(&[]));
    let (first, end, other) = (b.block(&[]), b.block(&[]), b.block(&[]));
    let ten = b.constant("i32", 10);
    let test = b.op("icmp_ult", "i32", &[x, ten]);
    b.branch(test, (first, &[]), (end, &[]));
    b.switch_to(first);
    for _ in 0..2 * MAX_DEPTH {
        let next = b.block(&[]);
        b.jump(next, &[]);
        b.switch_to(next);
    }
    b.jump(header, &[]);
    b.switch_to(header);
    b.branch(test, (body, &[]), (behind, &[]));
    b.switch_to(body);
    b.branch(y, (header, &[]), (behind, &[]));
    b.switch_to(behind);
    b.branch(test, (end, &[]), (other, &[]));
    for end in [end, other] {
        b.switch_to(end);
        b.ret(&[x]);
    }
    let decided = decided(&b.function, &u);
    let branch = |block| decided.branches.get(&block).copied();
    assert_eq!([branch(header), branch(behind)], [Some(true); 2]);
    assert_eq!(branch(body), None);
}
