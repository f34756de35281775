//! A rule that explodes ends alone.

use super::budgets::{associative, chain};
use super::fixture::*;
use crate::{SaturateOptions, SaturationReport};
use rewright_cfg_skeleton::egraph::{BudgetKind, EGraphInput, EGraphView, Extent, Head, LeafId, Node};
use rewright_dsl::program::Conclusion;
use smallvec::smallvec;

fn saturate_measured(f: &mut Fixture, unit: &EGraphInput) -> (EGraphView, SaturationReport) {
    let mut engine = f.engine();
    let options = SaturateOptions::default();
    let (mut views, report) = engine.saturate(&[unit], &f.program.universe.types, &options).expect("it runs");
    (views.pop().expect("a view"), report)
}

#[test]
fn rules_after_one_that_explodes_have_their_turn() {
    let mut f = associative();
    f.op("f", Some(f.named("Int")), vec![T], T);
    let text = f.int_text(1, &[], f.call("f", vec![x(0)]));
    f.rule("late", "gone", RuleText { right: Conclusion::Equal(x(0)), ..text });
    let i64 = f.type_of("i64");
    let mut unit = chain(&f, i64, 60);
    let leaf = unit.add(Node { head: Head::Leaf(LeafId(0)), types: smallvec![i64], children: smallvec![] });
    let op = f.op_id("f");
    let call = unit.add(Node { head: Head::Op(op), types: smallvec![i64], children: smallvec![leaf] });
    let (view, report) = saturate_measured(&mut f, &unit);
    assert_eq!((report.alone, report.exhausted), (1, 0));
    assert_eq!(view.class_of(leaf), view.class_of(call), "the second ruleset ran");
    let [stop] = &view.stops[..] else { panic!("{:?}", view.stops) };
    assert_eq!((stop.budget, stop.extent, &stop.ruleset), (BudgetKind::Matches, Extent::Rules, &None));
    let names: Vec<&str> = stop.grew.iter().map(|grew| f.program.rule(grew.rule).name.as_str()).collect();
    assert!(names.contains(&"test.arith.assoc") && !names.contains(&"test.late.gone"), "{names:?}");
    assert!(stop.to_string().contains("held back after"), "{stop}");
}

#[test]
fn what_stands_beside_a_constant_is_not_matched_in_pairs() {
    let mut f = Fixture::new();
    let and = |f: &Fixture, a, b| f.call("iand", vec![a, b]);
    let left = and(&f, x(0), int(0, T));
    f.int_rule("and_zero", 1, &[], left, int(0, T));
    let left = and(&f, and(&f, x(0), x(1)), and(&f, x(2), x(3)));
    let right = and(&f, and(&f, x(0), x(2)), and(&f, x(1), x(3)));
    f.int_rule("pairs", 4, &[], left, right);
    let i64 = f.type_of("i64");
    let mut unit = Unit::new(&f);
    let zero = unit.constant(0, i64);
    unit.op("iand", i64, &[zero, zero]);
    let products: Vec<_> = (0..300)
        .map(|n| {
            let leaf = unit.leaf(n, i64);
            unit.op("iand", i64, &[leaf, zero])
        })
        .collect();
    let unit = unit.input;
    let (view, report) = saturate_measured(&mut f, &unit);
    assert_eq!((report.alone, report.exhausted), (1, 0), "the first run met its budget");
    assert!(view.stops.is_empty() && view.nodes.len() < 1_000, "{} nodes, {:?}", view.nodes.len(), view.stops);
    assert!(products.iter().all(|product| view.class_of(*product) == view.class_of(zero)));
    // Nodes that are hidden from rules are in the view.
    assert!(view.classes[view.class_of(zero).index()].nodes.len() > 300);
}
