//! States: loads and stores.

use super::fixture::*;
use rewright_dsl::program::{Conclusion, VarKind};
use rewright_typeprop::types::TypeParam;

/// `load(p, o) after store(p, v, o) after s => v`.
fn forwarding() -> Fixture {
    let mut f = Fixture::new();
    let i64 = f.named("i64");
    let store = f.call_at("store", vec![T], vec![x(0), x(1), x(2)], Some(x(3)));
    let load = f.call_at("load", vec![T], vec![x(0), x(2)], Some(store));
    let value = |ty, constant| VarKind::Value { ty, constant };
    f.rule(
        "memory",
        "forward",
        RuleText {
            tparams: vec![TypeParam { name: "T".into(), bound: None }],
            vars: vec![value(i64.clone(), false), value(T, false), value(i64, true), VarKind::State],
            left: vec![load],
            guards: vec![],
            right: Conclusion::Equal(x(1)),
        },
    );
    // store(p, v, o) after (store(p, w, o) after s) => store(p, v, o) after s
    let i64 = f.named("i64");
    let inner = f.call_at("store", vec![T], vec![x(0), x(4), x(2)], Some(x(3)));
    let outer = f.call_at("store", vec![T], vec![x(0), x(1), x(2)], Some(inner));
    let only = f.call_at("store", vec![T], vec![x(0), x(1), x(2)], Some(x(3)));
    f.rule(
        "memory",
        "dead",
        RuleText {
            tparams: vec![TypeParam { name: "T".into(), bound: None }],
            vars: vec![value(i64.clone(), false), value(T, false), value(i64, true), VarKind::State, value(T, false)],
            left: vec![outer],
            guards: vec![],
            right: Conclusion::Equal(only),
        },
    );
    f
}

#[test]
fn loads_forward_and_stores_die() {
    let mut f = forwarding();
    let mut engine = f.engine();
    let (i64, i32, i8) = (f.type_of("i64"), f.type_of("i32"), f.type_of("i8"));
    let mut unit = Unit::new(&f);
    let (p, v, w) = (unit.leaf(0, i64), unit.leaf(1, i32), unit.leaf(2, i32));
    let offset = unit.constant(8, i64);
    let start = unit.token(0);
    let first = unit.op("store", i32, &[p, w, offset, start]);
    let second = unit.op("store", i32, &[p, v, offset, first]);
    let only = unit.op("store", i32, &[p, v, offset, start]);
    let load = unit.op("load", i32, &[p, offset, second]);
    let other_type = unit.op("load", i8, &[p, offset, second]);
    let before = unit.op("load", i32, &[p, offset, start]);
    let view = saturate(&mut engine, &f, &unit.input);
    assert_eq!(view.class_of(load), view.class_of(v), "{}", show(&view));
    assert_eq!(view.class_of(second), view.class_of(only));
    assert_ne!(view.class_of(first), view.class_of(second));
    assert_ne!(view.class_of(other_type), view.class_of(v));
    assert_ne!(view.class_of(before), view.class_of(w));
    assert_eq!(view.applications.len(), 2);
}

#[test]
fn stateful_operations_that_no_rule_mentions_come_back() {
    let mut f = Fixture::with_arithmetic();
    let mut engine = f.engine();
    let (i64, i32) = (f.type_of("i64"), f.type_of("i32"));
    let mut unit = Unit::new(&f);
    let (p, v) = (unit.leaf(0, i64), unit.leaf(1, i32));
    let zero = unit.constant(0, i64);
    let start = unit.token(0);
    let sum = unit.op("iadd", i64, &[p, zero]);
    let store = unit.op("store", i32, &[sum, v, zero, start]);
    let same = unit.op("store", i32, &[p, v, zero, start]);
    let load = unit.op("load", i32, &[p, zero, store]);
    let view = saturate(&mut engine, &f, &unit.input);
    assert_eq!(view.class_of(store), view.class_of(same), "congruence over states");
    let node = view.node(view.class(view.class_of(load)).nodes[0]);
    assert_eq!(node.children.to_vec(), [p, zero, store].map(|id| view.class_of(id)));
}
