//! Values that are computed again where registers are few, and values that are not.

use super::*;
use crate::ir::{InstKind, Value};

const FEW: Registers = Registers { integers: 3, ..Registers::X86_64 };

/// How often a block executes an operation.
fn count(f: &Function, u: &Universe, block: usize, name: &str) -> usize {
    let insts = &f.block(f.layout[block]).insts;
    insts.iter().filter(|i| matches!(f.inst(**i).kind, InstKind::Op { op, .. } if op == op_id(u, name))).count()
}

/// Sums of `x` and constants, made in the first block, used there and, if `x` is used there as well, in the third.
fn sums<'u>(u: &'u Universe, keep: bool, n: i64, shifted: bool) -> Builder<'u> {
    let mut b = Builder::new(u, &["i32", "i32"]);
    let entry = b.function.entry();
    let (x, y) = (b.param(entry, 0), b.param(entry, 1));
    let (left, right) = (b.block(&[]), b.block(&[]));
    let sum = |b: &mut Builder<'u>, i: i64| {
        let c = b.constant("i32", 1000 + i);
        let sum = b.op("iadd", "i32", &[x, c]);
        if shifted { b.op("bxor", "i32", &[sum, c]) } else { sum }
    };
    let values: Vec<Value> = (0..n).map(|i| sum(&mut b, i)).collect();
    let all =
        |b: &mut Builder<'u>, seed: Value| values.iter().fold(seed, |sum, value| b.op("imul", "i32", &[sum, *value]));
    let first = all(&mut b, y);
    b.branch(first, (left, &[]), (right, &[]));
    b.switch_to(left);
    b.ret(&[y]);
    b.switch_to(right);
    let second = all(&mut b, if keep { x } else { y });
    let second = b.op("bor", "i32", &[second, y]);
    b.ret(&[second]);
    b
}

fn optimised(b: &Builder, u: &Universe, registers: Option<Registers>) -> (Selection, Function) {
    let case = Case::new(b, u);
    let options = Options { registers, ..case.options(Method::Greedy) };
    let selection = case.select_with(&options);
    let out = case.elaborate(&selection);
    (selection, out)
}

#[test]
fn nothing_is_computed_again_where_registers_are_enough() {
    let u = universe();
    let b = sums(&u, true, 6, false);
    for registers in [None, Some(Registers::X86_64)] {
        let (selection, out) = optimised(&b, &u, registers);
        assert_eq!(selection.rematerialised, 0);
        assert_eq!([0, 1, 2].map(|i| count(&out, &u, i, "iadd")), [6, 0, 0]);
    }
}

#[test]
fn what_has_no_register_is_computed_again() {
    let u = universe();
    let (kept, _) = optimised(&sums(&u, true, 6, false), &u, None);
    let (selection, out) = optimised(&sums(&u, true, 6, false), &u, Some(FEW));
    // x, y and one of the sums have the three registers.
    assert_eq!([0, 1, 2].map(|i| count(&out, &u, i, "iadd")), [6, 0, 5]);
    assert_eq!(selection.cost, kept.cost + selection.rematerialised);
    assert_ne!(selection.rematerialised, 0);
}

#[test]
fn operands_of_what_is_computed_again_are_there_anyway() {
    let u = universe();
    // Where `x` is not used it would have to be kept in the place of one sum.
    let (selection, out) = optimised(&sums(&u, false, 6, false), &u, Some(FEW));
    assert_eq!(selection.rematerialised, 0);
    assert_eq!(count(&out, &u, 2, "iadd"), 0);
}

#[test]
fn operands_are_computed_again_in_turn() {
    let u = universe();
    let (_, out) = optimised(&sums(&u, true, 6, true), &u, Some(FEW));
    assert_eq!([0, 1, 2].map(|i| count(&out, &u, i, "iadd")), [6, 0, 5]);
    assert_eq!([0, 1, 2].map(|i| count(&out, &u, i, "bxor")), [6, 0, 5]);
}

#[test]
fn what_costs_more_than_memory_is_kept() {
    let u = universe();
    let dear = Registers { reload: COST_SCALE, ..FEW };
    let (selection, _) = optimised(&sums(&u, true, 6, true), &u, Some(dear));
    assert_eq!(selection.rematerialised, 0);
}
