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
    decide(Saturated { function: f, cfg: &cfg, universe: u, skeleton: &skeleton, view: &view })
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

/// A loop counts `i` up from 0 and tests `i < 5` before and in it; what is tested of one iteration says nothing of the
/// next one.
#[test]
fn what_a_test_says_of_one_iteration_it_does_not_say_of_the_next() {
    let u = universe();
    let mut b = Builder::new(&u, &["i32"]);
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
    b.branch(again, (header, &[next]), (end, &[]));
    b.switch_to(end);
    b.ret(&[i]);
    let decided = decided(&b.function, &u);
    assert!(decided.branches.is_empty() && decided.values.is_empty(), "{decided:?}");
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
