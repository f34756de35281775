//! Which edges go past a block that they decide, and that functions stay well formed and do the same.

use super::*;
use crate::ir::text::Printer;
use crate::ir::verify::verify;
use crate::ir::{Cfg, interp};
use crate::skeleton::build;
use crate::testing::{Builder, trap_code, universe, view};
use rewright_typeprop::Universe;

/// The function without what edges decide, and how many edges that are.
fn threaded(b: &Builder<'_>, u: &Universe) -> (Function, usize) {
    let f = &b.function;
    assert!(verify(f, u).is_empty(), "{:?}\n{}", verify(f, u), Printer(f, u));
    let cfg = Cfg::new(f);
    let skeleton = build(f, &cfg, u, &trap_code);
    let view = view(&skeleton.input, &[]);
    let given = Saturated { function: f, cfg: &cfg, universe: u, skeleton: &skeleton, view: &view };
    let found = threads(given, &KnownAtEnds::new(given));
    let out = apply_threads(f, &found);
    assert!(verify(&out, u).is_empty(), "{:?}\n{}", verify(&out, u), Printer(&out, u));
    (out, found.iter().map(|threads| threads.edges.len()).sum())
}

/// `p = phi(3, 5, x)`, then a branch on `p == 3`; `p` is used behind it if `is_used`, and by both arms.
fn three_ways(u: &Universe, is_used: bool) -> Builder<'_> {
    let mut b = Builder::new(u, &["i8", "i8", "i32"]);
    let entry = b.function.entry();
    let [c, d, x] = [0, 1, 2].map(|i| b.param(entry, i));
    let (other, merge) = (b.block(&[]), b.block(&["i32"]));
    let (then, els, end) = (b.block(&[]), b.block(&[]), b.block(&["i32"]));
    let (three, five) = (b.constant("i32", 3), b.constant("i32", 5));
    b.branch(c, (other, &[]), (merge, &[x]));
    b.switch_to(other);
    b.branch(d, (merge, &[three]), (merge, &[five]));
    b.switch_to(merge);
    let p = b.param(merge, 0);
    let again = b.constant("i32", 3);
    let test = b.op("icmp_eq", "i32", &[p, again]);
    b.branch(test, (then, &[]), (els, &[]));
    for (arm, operand) in [(then, again), (els, five)] {
        b.switch_to(arm);
        let result = b.op("iadd", "i32", &[if is_used { p } else { x }, operand]);
        b.jump(end, &[result]);
    }
    b.switch_to(end);
    let result = b.param(end, 0);
    b.ret(&[result]);
    b
}

#[test]
fn edges_with_constants_go_where_these_lead() {
    let u = universe();
    for is_used in [false, true] {
        let b = three_ways(&u, is_used);
        let (out, count) = threaded(&b, &u);
        assert_eq!(count, 2, "{}", Printer(&out, &u));
        for args in [[0, 0, 3], [0, 1, 4], [1, 0, 9], [1, 1, 9], [0, 0, 5]] {
            let run = |f: &Function| {
                interp::run(f, &u, &args, &mut interp::Memory::default(), &mut interp::NoHost(trap_code), 100)
            };
            assert_eq!(run(&b.function), run(&out), "{args:?}\n{}", Printer(&out, &u));
        }
    }
}

/// Two branches on one condition with something between them, and on an order that follows.
#[test]
fn a_condition_is_not_tested_twice() {
    let u = universe();
    let mut b = Builder::new(&u, &["i32", "i32"]);
    let entry = b.function.entry();
    let (x, y) = (b.param(entry, 0), b.param(entry, 1));
    let (one, merge) = (b.block(&[]), b.block(&["i32"]));
    let (then, els) = (b.block(&[]), b.block(&[]));
    let test = b.op("icmp_slt", "i32", &[x, y]);
    b.branch(test, (one, &[]), (merge, &[x]));
    b.switch_to(one);
    let sum = b.op("iadd", "i32", &[x, y]);
    b.jump(merge, &[sum]);
    b.switch_to(merge);
    let p = b.param(merge, 0);
    let again = b.op("icmp_sle", "i32", &[x, y]);
    b.branch(again, (then, &[]), (els, &[]));
    b.switch_to(then);
    b.ret(&[p]);
    b.switch_to(els);
    b.ret(&[y]);
    let (out, count) = threaded(&b, &u);
    // `x < y` implies the second one, its negation does not.
    assert_eq!(count, 1, "{}", Printer(&out, &u));
}

/// A header of a loop, a block that does something else, and one whose values are used where several ways lead stay.
#[test]
fn blocks_that_do_more_stay() {
    let u = universe();
    let mut b = Builder::new(&u, &["i8", "i32"]);
    let entry = b.function.entry();
    let (c, x) = (b.param(entry, 0), b.param(entry, 1));
    let (header, body, merge, end) = (b.block(&["i8"]), b.block(&[]), b.block(&["i8"]), b.block(&[]));
    let (zero, one) = (b.constant("i8", 0), b.constant("i8", 1));
    b.jump(header, &[one]);
    b.switch_to(header);
    let p = b.param(header, 0);
    b.branch(p, (body, &[]), (end, &[]));
    b.switch_to(body);
    b.branch(c, (merge, &[zero]), (merge, &[one]));
    b.switch_to(merge);
    let q = b.param(merge, 0);
    let quotient = b.op("udiv", "i32", &[x, x]);
    b.branch(q, (header, &[q]), (end, &[]));
    b.switch_to(end);
    b.ret(&[x]);
    let _ = quotient;
    let (out, count) = threaded(&b, &u);
    assert_eq!(count, 0, "{}", Printer(&out, &u));
}
