//! Rules that are asked only where their patterns' rows stand under each other.

use super::fixture::*;
use crate::{Engine, SaturateOptions};
use rewright_cfg_skeleton::egraph::EGraphInput;
use rewright_typeprop::Term;

/// `-(-x) => x`, `x * -1 => -x`, and arithmetic.
fn fixture() -> Fixture {
    let mut f = Fixture::with_arithmetic();
    let negated = f.call("ineg", vec![x(0)]);
    f.int_rule("neg_neg", 1, &[], f.call("ineg", vec![negated.clone()]), x(0));
    f.int_rule("times_minus_one", 1, &[], f.call("imul", vec![x(0), int(-1, T)]), negated);
    f
}

#[test]
fn what_unions_bring_under_a_node_is_seen() {
    let mut f = fixture();
    let mut engine = f.engine();
    let i32 = f.type_of("i32");
    let mut unit = Unit::new(&f);
    let a = unit.leaf(0, i32);
    let (one, minus_one) = (unit.constant(1, i32), unit.constant(-1, i32));
    // A negation comes to stand under another one, and a constant under a product.
    let product = unit.op("imul", i32, &[a, minus_one]);
    let negated = unit.op("ineg", i32, &[product]);
    let two = unit.op("iadd", i32, &[one, one]);
    let twice = unit.op("imul", i32, &[two, a]);
    let shifted = unit.op("ishl", i32, &[a, one]);
    let view = saturate(&mut engine, &f, &unit.input);
    assert_eq!(view.class_of(negated), view.class_of(a), "{}", show(&view));
    assert_eq!(view.class_of(twice), view.class_of(shifted), "{}", show(&view));
}

#[test]
fn what_a_variable_joins_is_one_class() {
    // x & y where x is also known as a product.
    let mut f = Fixture::new();
    let mut text = f.int_text(3, &[], f.call("iand", vec![x(0), x(1)]));
    text.left.push(Term::Call {
        op: f.op_id("icmp_eq"),
        targs: vec![T],
        args: vec![x(0), f.call("imul", vec![x(1), x(2)])],
        state: None,
    });
    f.rule("arith", "joined", text);
    let mut engine = f.engine();
    let i32 = f.type_of("i32");
    for compared in [false, true] {
        let mut unit = Unit::new(&f);
        let (a, b, c) = (unit.leaf(0, i32), unit.leaf(1, i32), unit.leaf(2, i32));
        let both = unit.op("iand", i32, &[a, b]);
        let product = unit.op("imul", i32, &[b, c]);
        unit.op("icmp_eq", i32, &[if compared { a } else { c }, product]);
        let view = saturate(&mut engine, &f, &unit.input);
        assert_eq!(view.class_of(both) == view.class_of(a), compared, "{}", show(&view));
    }
}

fn steps(engine: &mut Engine, f: &Fixture, unit: &EGraphInput) -> usize {
    let types = &f.program.universe.types;
    engine.saturate(&[unit], types, &SaturateOptions::default()).expect("it runs").1.steps
}

#[test]
fn what_cannot_match_is_not_asked() {
    let mut f = fixture();
    let mut engine = f.engine();
    let i32 = f.type_of("i32");
    let mut unit = Unit::new(&f);
    let a = unit.leaf(0, i32);
    let negated = unit.op("ineg", i32, &[a]);
    let seven = unit.constant(7, i32);
    unit.op("iand", i32, &[a, seven]);
    let without = steps(&mut engine, &f, &unit.input);
    unit.op("ineg", i32, &[negated]);
    assert!(steps(&mut engine, &f, &unit.input) > without);
}
