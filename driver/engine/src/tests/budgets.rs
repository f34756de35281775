//! What grows must end.

use super::fixture::*;
use crate::{Budget, SaturateOptions};
use rewright_cfg_skeleton::egraph::EGraphInput;
use rewright_typeprop::Ty;

/// Associativity in both directions, and subtraction's forms of it.
pub(super) fn associative() -> Fixture {
    let mut f = Fixture::new();
    let add = |f: &Fixture, a, b| f.call("iadd", vec![a, b]);
    let sub = |f: &Fixture, a, b| f.call("isub", vec![a, b]);
    let left = add(&f, add(&f, x(0), x(1)), x(2));
    let right = add(&f, x(0), add(&f, x(1), x(2)));
    f.int_rule("assoc", 3, &[], left, right);
    // x - (y - z) => (x + z) - y, (x - y) - z => x - (y + z), x - (y + z) => (x - y) - z
    let left = sub(&f, x(0), sub(&f, x(1), x(2)));
    let right = sub(&f, add(&f, x(0), x(2)), x(1));
    f.int_rule("sub_sub", 3, &[], left, right);
    let left = sub(&f, sub(&f, x(0), x(1)), x(2));
    let right = sub(&f, x(0), add(&f, x(1), x(2)));
    f.int_rule("sub_add", 3, &[], left.clone(), right.clone());
    f.int_rule("sub_add_back", 3, &[], right, left);
    // x + y => y + x, so that commuted nodes exist, too
    let left = add(&f, x(0), x(1));
    let right = add(&f, x(1), x(0));
    f.int_rule("commute", 2, &[], left, right);
    f
}

/// `x0 - (x1 - (x2 - ...))`
pub(super) fn chain(f: &Fixture, ty: Ty, depth: u32) -> EGraphInput {
    let mut unit = Unit::new(f);
    let mut last = unit.leaf(depth, ty);
    for i in (0..depth).rev() {
        let leaf = unit.leaf(i, ty);
        last = unit.op("isub", ty, &[leaf, last]);
    }
    unit.input
}

fn memory_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM")).unwrap_or("VmHWM: 0 kB");
    line.split_whitespace().nth(1).and_then(|n| n.parse().ok()).unwrap_or(0)
}

#[test]
fn a_subtraction_chain_ends_in_its_budget() {
    let mut f = associative();
    let mut engine = f.engine();
    let i64 = f.type_of("i64");
    let unit = chain(&f, i64, 60);
    let view = saturate(&mut engine, &f, &unit);
    assert!(!view.stops.is_empty());
    let budget = Budget::default();
    let limit = budget.nodes + budget.nodes_per_input * unit.nodes.len() as u64;
    assert!(view.nodes.len() as u64 <= 4 * limit, "{} nodes of {limit}", view.nodes.len());
    assert!(memory_kib() < 1 << 20, "{} KiB", memory_kib());
}

#[test]
fn a_unit_that_explodes_does_not_change_its_neighbours() {
    let mut f = associative();
    let mut engine = f.engine();
    let i64 = f.type_of("i64");
    let units: Vec<EGraphInput> = [4, 60, 3, 40, 5].map(|depth| chain(&f, i64, depth)).into();
    let all: Vec<&EGraphInput> = units.iter().collect();
    let types = &f.program.universe.types;
    let (together, report) = engine.saturate(&all, types, &SaturateOptions::default()).unwrap();
    assert_eq!((report.alone, report.exhausted), (2, 0), "{report:?}");
    for (unit, view) in units.iter().zip(&together) {
        let (alone, _) = engine.saturate(&[unit], types, &SaturateOptions::default()).unwrap();
        assert_eq!(show(view), show(&alone[0]));
        assert_eq!(view.stops, alone[0].stops);
    }
}

#[test]
fn a_unit_that_explodes_does_not_depend_on_what_the_engine_did_before() {
    let mut f = associative();
    let i64 = f.type_of("i64");
    let types = f.program.universe.types.clone();
    let units: Vec<EGraphInput> = [5, 33, 60, 41, 60].map(|depth| chain(&f, i64, depth)).into();
    let mut used = f.engine();
    for unit in &units {
        let (before, _) = used.saturate(&[unit], &types, &SaturateOptions::default()).unwrap();
        let (fresh, _) = f.engine().saturate(&[unit], &types, &SaturateOptions::default()).unwrap();
        assert_eq!(show(&before[0]), show(&fresh[0]));
    }
    let all: Vec<&EGraphInput> = units.iter().rev().collect();
    let (together, _) = used.saturate(&all, &types, &SaturateOptions::default()).unwrap();
    for (unit, view) in all.iter().zip(&together) {
        let (fresh, _) = f.engine().saturate(&[unit], &types, &SaturateOptions::default()).unwrap();
        assert_eq!(show(view), show(&fresh[0]));
    }
}

#[test]
fn the_same_input_gives_the_same_view() {
    let mut f = associative();
    let i64 = f.type_of("i64");
    let unit = chain(&f, i64, 12);
    let mut engine = f.engine();
    let first = saturate(&mut engine, &f, &unit);
    let again = saturate(&mut engine, &f, &unit);
    let elsewhere = saturate(&mut f.engine(), &f, &unit);
    assert_eq!(show(&first), show(&again));
    assert_eq!(show(&first), show(&elsewhere));
    assert_eq!(first.applications, elsewhere.applications);
}

#[test]
fn long_and_many_inputs_stay_in_memory() {
    let mut f = associative();
    let mut engine = f.engine();
    let i64 = f.type_of("i64");
    let types = f.program.universe.types.clone();
    let long = chain(&f, i64, 30_000);
    let view = saturate(&mut engine, &f, &long);
    assert!(!view.stops.is_empty());
    assert_eq!(view.input_class.len(), long.nodes.len());
    assert!(memory_kib() < 1 << 20, "{} KiB", memory_kib());

    // Each grows to its limit; together they would hold a million nodes.
    let units: Vec<EGraphInput> = (0..12).map(|i| chain(&f, i64, 9 + i % 3)).collect();
    let all: Vec<&EGraphInput> = units.iter().collect();
    let budget = Budget { batch_fresh: 50_000, ..Budget::default() };
    let options = SaturateOptions { budget, ..SaturateOptions::default() };
    let (together, report) = engine.saturate(&all, &types, &options).unwrap();
    // One for all, at least one more for a part, and one for each that is exhausted.
    assert!(report.batches > 1 + report.alone, "{report:?}");
    for i in [0, 5, 11] {
        let (alone, _) = engine.saturate(&all[i..=i], &types, &options).unwrap();
        assert_eq!(show(&together[i]), show(&alone[0]));
    }
    assert!(memory_kib() < 1 << 20, "{} KiB", memory_kib());
    eprintln!("{} KiB, {} batches, {} exhausted", memory_kib(), report.batches, report.exhausted);
}

#[test]
fn batches_are_cut_by_sizes_alone() {
    assert!(crate::batches([]).is_empty());
    assert_eq!(crate::batches([5, 7, 20_000]), [0..2, 2..3]);
    // A unit that is larger than a batch is alone; one that fits beside the one before is with it.
    assert_eq!(crate::batches([1, 30_000, 10_000, 10_000, 1]), [0..1, 1..2, 2..4, 4..5]);
    let many = crate::batches(vec![0; 2_500]);
    assert_eq!(many, [0..1_000, 1_000..2_000, 2_000..2_500]);
}
