//! A change that gains nothing is undone, and one that gains something is not.

use super::*;
use crate::ir::Value;
use std::sync::Arc;

/// By name; everything else costs one unit.
#[derive(Debug)]
struct Table(Vec<(&'static str, u64)>);

impl Prices for Table {
    fn price(&self, execution: &Execution) -> Option<u64> {
        let name = &execution.universe.ops.get(execution.op).name;
        Some(self.0.iter().find(|(wanted, _)| wanted == name).map_or(1, |(_, price)| *price) * COST_SCALE)
    }
}

/// `(x * y) * ((x * y) ^ x)`, where rules say that the second factor is also `(x * y) + y`. `exclusive`, `sum`: what
/// the two cost.
fn chosen(restore: bool, exclusive: u64, sum: u64) -> Vec<String> {
    let u = universe();
    let mut b = Builder::new(&u, &["i32", "i32"]);
    let entry = b.function.entry();
    let (x, y) = (b.param(entry, 0), b.param(entry, 1));
    let product = b.op("imul", "i32", &[x, y]);
    let factor = b.op("bxor", "i32", &[product, x]);
    let all = b.op("imul", "i32", &[product, factor]);
    b.ret(&[all]);
    let mut case = Case::new(&b, &u);
    let [product, factor, y]: [InputId; 3] = [product, factor, y].map(|v: Value| case.input(v));
    let other = case.op("iadd", "i32", &[product, y]);
    case.unite(factor, other);
    let cost =
        CostModel { prices: vec![Arc::new(Table(vec![("bxor", exclusive), ("iadd", sum)]))], ..Default::default() };
    let selection = case.select_with(&Options { cost, prefer_original: restore, ..case.options(Method::Greedy) });
    let out = case.elaborate(&selection);
    let name = |id: &crate::ir::InstId| match out.inst(*id).kind {
        InstKind::Op { op, .. } => u.ops.get(op).name.clone(),
        _ => String::new(),
    };
    out.block(out.entry()).insts.iter().map(name).collect()
}

#[test]
fn a_change_has_to_gain_something() {
    assert_eq!(chosen(true, 3, 3), ["imul", "bxor", "imul"]);
    assert_eq!(chosen(true, 3, 2), ["imul", "iadd", "imul"]);
    assert_eq!(chosen(false, 3, 2), ["imul", "iadd", "imul"]);
}

#[test]
fn what_comes_back_brings_what_it_needs() {
    let u = universe();
    let mut b = Builder::new(&u, &["i32", "i32"]);
    let entry = b.function.entry();
    let (x, y) = (b.param(entry, 0), b.param(entry, 1));
    let product = b.op("imul", "i32", &[x, y]);
    let inner = b.op("bxor", "i32", &[product, x]);
    let outer = b.op("isub", "i32", &[inner, product]);
    b.ret(&[outer]);
    let mut case = Case::new(&b, &u);
    let [product, outer, y]: [InputId; 3] = [product, outer, y].map(|v: Value| case.input(v));
    // The product counts twice in the tree of the original, and once here.
    let other = case.op("iadd", "i32", &[product, y]);
    case.unite(outer, other);
    let cost = |sum| CostModel {
        prices: vec![Arc::new(Table(vec![("imul", 9), ("bxor", 2), ("isub", 2), ("iadd", sum)]))],
        ..Default::default()
    };
    let select = |sum, restore| {
        let selection =
            case.select_with(&Options { cost: cost(sum), prefer_original: restore, ..case.options(Method::Greedy) });
        (selection.cost, case.elaborate(&selection).block(entry).insts.len())
    };
    let (kept, restored) = (select(4, false), select(4, true));
    assert_eq!(restored.1, 3, "one that costs as much does not stay");
    assert!(restored.0 <= kept.0);
    assert_eq!(select(3, true).1, 2);
}
