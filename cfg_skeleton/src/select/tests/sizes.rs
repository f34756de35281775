//! Of programs that cost the same the smaller one is chosen.

use super::*;
use crate::ir::{BlockId, OpaqueEffects, Value};
use crate::select::cost::{CostAndSize, function_cost, function_cost_and_size};

/// A chain of branches, in each arm of which `x + x` is observed; the arms are executed as often as the entry together.
fn chain(u: &Universe, arms: usize, counted: bool) -> (Builder<'_>, Vec<Value>) {
    let mut b = Builder::new(u, &["i64", "i64"]);
    let [x, c] = std::array::from_fn(|n| b.param(BlockId(0), n));
    let mut sums = vec![];
    let mut left = 16 * arms as u64;
    for n in 0..arms {
        let at = if n + 1 == arms { None } else { Some((b.block(&[]), b.block(&[]))) };
        if let Some((arm, rest)) = at {
            b.branch(c, (arm, &[]), (rest, &[]));
            b.switch_to(arm);
        }
        let sum = b.op("iadd", "i64", &[x, x]);
        b.opaque(n as u32, OpaqueEffects::Observes, &[sum], &[]);
        sums.push(sum);
        b.ret(&[x]);
        left -= 16;
        if let Some((arm, rest)) = at {
            if counted {
                b.function.blocks[arm.index()].counts.executions = Some(16);
                b.function.blocks[rest.index()].counts.executions = Some(left);
            }
            b.switch_to(rest);
        }
    }
    if counted {
        b.function.blocks[0].counts.executions = Some(16 * arms as u64);
    }
    (b, sums)
}

#[test]
fn what_all_arms_compute_is_computed_once() {
    let u = universe();
    for arms in 2..6 {
        let (b, sums) = chain(&u, arms, true);
        let mut case = Case::new(&b, &u);
        let first = case.input(sums[0]);
        for sum in &sums[1..] {
            let sum = case.input(*sum);
            case.unite(first, sum);
        }
        let class = case.view.class_of(first);
        for method in [Method::Greedy, Method::Ilp] {
            let selection = case.select(method);
            let places = selection.defs.keys().filter(|(_, c)| *c == class);
            let places: Vec<BlockId> = places.map(|(s, _)| case.skeleton.segment_block[s.index()]).collect();
            assert_eq!(places, [BlockId(0)], "{arms} arms, {method:?}");
            assert_eq!(selection.status, if method == Method::Ilp { Status::Optimal } else { Status::Greedy });
        }
        let (model, out) = (CostModel::default(), case.optimised());
        let [before, after] = [&case.function, &out].map(|f| function_cost_and_size(&model, f, &u));
        assert_eq!(before.cost, after.cost);
        assert_eq!(before.size, arms as u64 * after.size);
        assert!(after < before);
    }
}

#[test]
fn sizes_say_nothing_where_arms_do_not_share() {
    let u = universe();
    let (b, _) = chain(&u, 3, false);
    let model = CostModel::default();
    let cost = function_cost(&model, &b.function, &u);
    assert_eq!(function_cost_and_size(&model, &b.function, &u), CostAndSize { cost, size: 0 });
}

#[test]
fn a_small_gain_is_worth_little_size() {
    let [small, large] = [CostAndSize { cost: 1000, size: 10 }, CostAndSize { cost: 999, size: 27 }];
    assert!(large < small, "it costs less");
    assert!(small.weighed() < large.weighed(), "by next to nothing");
    assert_eq!(CostAndSize::of(u64::MAX, 2).plus(small).cost, u64::MAX);
}
