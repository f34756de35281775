//! Values that the original computes stay where it does so, and other values stay where they were placed.

use super::*;
use crate::ir::{BlockId, Value};

/// By block of what comes out: its operations. With and without staying, and what staying costs.
fn places(case: &Case, stay: bool) -> (Vec<Vec<String>>, u64) {
    let selection = case.select_with(&Options { keep_placement: stay, ..case.options(Method::Greedy) });
    let out = case.elaborate(&selection);
    let name = |id: &crate::ir::InstId| match out.inst(*id).kind {
        InstKind::Op { op, .. } => Some(case.universe.ops.get(op).name.clone()),
        _ => None,
    };
    let blocks = out.layout.iter().map(|b| out.block(*b).insts.iter().filter_map(name).collect());
    (blocks.collect(), selection.placement_cost)
}

fn named(names: &[&[&str]]) -> Vec<Vec<String>> {
    names.iter().map(|names| names.iter().map(|name| (*name).to_string()).collect()).collect()
}

/// A loop that computes `x * x` again and again and adds it to what it counts down; blocks: entry, head, exit.
fn square_in_a_loop(u: &Universe) -> (Builder<'_>, Value, Value) {
    let mut b = Builder::new(u, &["i32", "i32"]);
    let (x, n) = (b.param(BlockId(0), 0), b.param(BlockId(0), 1));
    let (head, exit) = (b.block(&["i32"]), b.block(&[]));
    b.jump(head, &[n]);
    b.switch_to(head);
    let i = b.param(head, 0);
    let square = b.op("imul", "i32", &[x, x]);
    let next = b.op("isub", "i32", &[i, square]);
    b.branch(next, (head, &[next]), (exit, &[]));
    b.switch_to(exit);
    b.ret(&[next]);
    (b, x, square)
}

/// The same, where the square equals something of `x`.
fn square_is(u: &Universe, other: impl FnOnce(&mut Case, InputId) -> InputId) -> Case<'_> {
    let (b, x, square) = square_in_a_loop(u);
    let mut case = Case::new(&b, u);
    let (x, square) = (case.input(x), case.input(square));
    let other = other(&mut case, x);
    case.unite(square, other);
    case
}

#[test]
fn what_was_hoisted_goes_back_into_its_loop() {
    let u = universe();
    let (b, ..) = square_in_a_loop(&u);
    let case = Case::new(&b, &u);
    assert_eq!(places(&case, false), (named(&[&["imul"], &["isub"], &[]]), 0));
    let (blocks, stays) = places(&case, true);
    assert_eq!(blocks, named(&[&[], &["imul", "isub"], &[]]));
    let [moved, stayed] =
        [false, true].map(|stay| case.select_with(&Options { keep_placement: stay, ..case.options(Method::Greedy) }));
    assert_eq!(stays, stayed.cost - moved.cost);
    assert_ne!(stays, 0);
}

#[test]
fn what_has_another_form_has_the_same_place() {
    let u = universe();
    let case = square_is(&u, |case, x| case.op("bxor", "i32", &[x, x]));
    assert_eq!(places(&case, false).0, named(&[&["bxor"], &["isub"], &[]]));
    assert_eq!(places(&case, true).0, named(&[&[], &["bxor", "isub"], &[]]));
}

#[test]
fn what_the_original_does_not_compute_stays_where_it_was_placed() {
    let u = universe();
    let case = square_is(&u, |case, x| {
        let part = case.op("iadd", "i32", &[x, x]);
        case.op("bxor", "i32", &[part, x])
    });
    assert_eq!(places(&case, true).0, named(&[&["iadd"], &["bxor", "isub"], &[]]));
}

#[test]
fn what_only_a_pack_knows_to_be_movable_is_moved() {
    // No meaning of its own: what follows sees a call.
    let mut u = universe();
    let call = op_id(&u, "bxor");
    u.ops.get_mut(call).model = None;
    let case = square_is(&u, |case, x| case.op("bxor", "i32", &[x, x]));
    assert_eq!(places(&case, true).0, named(&[&["bxor"], &["isub"], &[]]));
}

#[test]
fn what_arms_share_is_computed_in_each_of_them() {
    let u = universe();
    let mut b = Builder::new(&u, &["i32", "i32"]);
    let (x, c) = (b.param(BlockId(0), 0), b.param(BlockId(0), 1));
    let (one, other) = (b.block(&[]), b.block(&[]));
    b.branch(c, (one, &[]), (other, &[]));
    for (block, operation) in [(one, "iadd"), (other, "isub")] {
        b.switch_to(block);
        let square = b.op("imul", "i32", &[x, x]);
        let result = b.op(operation, "i32", &[square, c]);
        b.ret(&[result]);
    }
    let case = Case::new(&b, &u);
    assert_eq!(places(&case, false).0, named(&[&["imul"], &["iadd"], &["isub"]]));
    assert_eq!(places(&case, true).0, named(&[&[], &["imul", "iadd"], &["imul", "isub"]]));
}

#[test]
fn what_is_there_already_is_not_computed_again() {
    let u = universe();
    let mut b = Builder::new(&u, &["i32", "i32"]);
    let (x, c) = (b.param(BlockId(0), 0), b.param(BlockId(0), 1));
    let (one, other) = (b.block(&[]), b.block(&[]));
    let square = b.op("imul", "i32", &[x, x]);
    let condition = b.op("isub", "i32", &[square, c]);
    b.branch(condition, (one, &[]), (other, &[]));
    for block in [one, other] {
        b.switch_to(block);
        let square = b.op("imul", "i32", &[x, x]);
        b.ret(&[square]);
    }
    let case = Case::new(&b, &u);
    assert_eq!(places(&case, true), (named(&[&["imul", "isub"], &[], &[]]), 0));
}

#[test]
fn a_segment_is_in_the_order_of_the_original() {
    // The product has been met before the difference, in another block.
    let u = universe();
    let mut b = Builder::new(&u, &["i32", "i32"]);
    let (x, c) = (b.param(BlockId(0), 0), b.param(BlockId(0), 1));
    let (one, other) = (b.block(&[]), b.block(&[]));
    b.branch(c, (one, &[]), (other, &[]));
    b.switch_to(one);
    let product = b.op("imul", "i32", &[x, x]);
    b.ret(&[product, x]);
    b.switch_to(other);
    let difference = b.op("isub", "i32", &[x, c]);
    let product = b.op("imul", "i32", &[x, x]);
    b.ret(&[product, difference]);
    let case = Case::new(&b, &u);
    assert_eq!(places(&case, true).0, named(&[&[], &["imul"], &["isub", "imul"]]));
}
