//! Rules over scalars: commutativity, constants, literals per type, guards, logs, batches.

use super::fixture::*;
use crate::SaturateOptions;
use rewright_cfg_skeleton::egraph::{EGraphInput, Head};
use rewright_cfg_skeleton::ir::PayloadId;
use rewright_dsl::egglog::compile;
use rewright_dsl::program::{Conclusion, Guard, RuleId, VarKind};
use rewright_typeprop::Term;
use rewright_typeprop::types::TypeParam;

#[test]
fn identities_fold_and_commute() {
    let mut f = Fixture::with_arithmetic();
    let mut engine = f.engine();
    let (i8, i32) = (f.type_of("i8"), f.type_of("i32"));
    let mut unit = Unit::new(&f);
    let a = unit.leaf(0, i32);
    let zero = unit.constant(0, i32);
    let left = unit.op("iadd", i32, &[a, zero]);
    let right = unit.op("iadd", i32, &[zero, a]);
    let nothing = unit.op("isub", i32, &[left, right]);
    let big = unit.constant(100, i8);
    let wrapped = unit.op("iadd", i8, &[big, big]);
    let narrow = unit.constant(-56, i8);
    let view = saturate(&mut engine, &f, &unit.input);
    for same in [left, right] {
        assert_eq!(view.class_of(same), view.class_of(a), "{}", show(&view));
    }
    assert_eq!(view.class_of(nothing), view.class_of(zero));
    assert_eq!(view.class(view.class_of(wrapped)).constant, Some(-56));
    assert_eq!(view.class_of(wrapped), view.class_of(narrow));
    assert!(view.contradictions.is_empty() && !view.exhausted());
    // The folded node is still there.
    let folded = view.class(view.class_of(wrapped)).nodes.iter().any(|n| matches!(view.node(*n).head, Head::Op(_)));
    assert!(folded, "{}", show(&view));
}

#[test]
fn literals_are_those_of_the_type() {
    let mut f = Fixture::with_arithmetic();
    let mut engine = f.engine();
    for (name, mask, fires) in [("i8", -1, false), ("i16", -1, true), ("i32", 65_535, true), ("i32", -1, false)] {
        let ty = f.type_of(name);
        let mut unit = Unit::new(&f);
        let a = unit.leaf(0, ty);
        let mask = unit.constant(mask, ty);
        let and = unit.op("iand", ty, &[mask, a]);
        let min = unit.op("umin", ty, &[a, mask]);
        let view = saturate(&mut engine, &f, &unit.input);
        assert_eq!(view.class_of(and) == view.class_of(min), fires, "{name} {mask:?}");
    }
    let skipped = compile(&f.program).skipped;
    assert!(skipped.iter().any(|s| s.reason == "65535 does not fit i8"), "{skipped:?}");
}

#[test]
fn applications_name_rule_and_class() {
    let mut f = Fixture::with_arithmetic();
    let mut engine = f.engine();
    let i64 = f.type_of("i64");
    let mut unit = Unit::new(&f);
    let a = unit.leaf(0, i64);
    let zero = unit.constant(0, i64);
    let sum = unit.op("iadd", i64, &[a, zero]);
    let view = saturate(&mut engine, &f, &unit.input);
    let rules: Vec<_> = view.applications.iter().map(|a| (a.rule, a.class)).collect();
    assert_eq!(rules, [(RuleId(0), view.class_of(sum))]);
    assert_eq!(f.program.rules[0].name, "test.arith.add_zero");
}

#[test]
fn guards_compute() {
    let mut f = Fixture::new();
    // x << c => x + x when c == 1
    let left = f.call("ishl", vec![x(0), x(1)]);
    let mut text = f.int_text(2, &[1], left.clone());
    text.right = Conclusion::Equal(f.call("iadd", vec![x(0), x(0)]));
    text.guards = vec![Guard::Compare { equal: true, left: x(1), right: int(1, T) }];
    f.rule("arith", "shl_one", text);
    // x << c => 0 - x when (c & 3) holds and not (c == 1)
    let mut text = f.int_text(2, &[1], left);
    text.right = Conclusion::Equal(f.call("ineg", vec![x(0)]));
    let one = Guard::Compare { equal: true, left: x(1), right: int(1, T) };
    text.guards = vec![Guard::Holds(f.call("iand", vec![x(1), int(3, T)])), Guard::Not(Box::new(one.clone())), one];
    text.guards[2] = Guard::Or(
        Box::new(Guard::Compare { equal: true, left: x(1), right: int(2, T) }),
        Box::new(Guard::Compare { equal: true, left: x(1), right: int(4, T) }),
    );
    f.rule("arith", "odd", text);
    let mut engine = f.engine();
    let i32 = f.type_of("i32");
    for (shift, add, neg) in [(1, true, false), (2, false, true), (4, false, false), (3, false, false)] {
        let mut unit = Unit::new(&f);
        let a = unit.leaf(0, i32);
        let by = unit.constant(shift, i32);
        let shl = unit.op("ishl", i32, &[a, by]);
        let sum = unit.op("iadd", i32, &[a, a]);
        let minus = unit.op("ineg", i32, &[a]);
        let view = saturate(&mut engine, &f, &unit.input);
        assert_eq!(view.class_of(shl) == view.class_of(sum), add, "{shift}");
        assert_eq!(view.class_of(shl) == view.class_of(minus), neg, "{shift}");
    }
}

#[test]
fn bounds_and_closed_types_restrict() {
    let mut f = Fixture::new();
    // Only at i64: -x => 0 - x. Bound narrower than the operation's: {T <: i32} x - x => 0.
    let i64 = f.named("i64");
    let left = f.call_at("ineg", vec![i64.clone()], vec![x(0)], None);
    let right = f.call_at("isub", vec![i64.clone()], vec![int(0, i64.clone()), x(0)], None);
    let vars = vec![VarKind::Value { ty: i64, constant: false }];
    let text = RuleText { tparams: vec![], vars, left: vec![left], guards: vec![], right: Conclusion::Equal(right) };
    f.rule("arith", "neg", text);
    let narrow = TypeParam { name: "T".into(), bound: Some(f.named("i32")) };
    let left = f.call("isub", vec![x(0), x(0)]);
    let text = RuleText { tparams: vec![narrow], right: Conclusion::Equal(int(0, T)), ..f.int_text(1, &[], left) };
    f.rule("arith", "sub", text);
    // A result of another type: (x == x) => 1 at i8.
    let left = f.call("icmp_eq", vec![x(0), x(0)]);
    let one = Term::Lit(rewright_typeprop::term::Literal::Int(1), f.named("i8"));
    f.int_rule("eq_self", 1, &[], left, one);
    let mut engine = f.engine();
    for name in ["i32", "i64"] {
        let (ty, i8) = (f.type_of(name), f.type_of("i8"));
        let mut unit = Unit::new(&f);
        let a = unit.leaf(0, ty);
        let zero = unit.constant(0, ty);
        let neg = unit.op("ineg", ty, &[a]);
        let sub = unit.op("isub", ty, &[zero, a]);
        let none = unit.op("isub", ty, &[a, a]);
        let eq = unit.op("icmp_eq", ty, &[a, a]);
        let one = unit.constant(1, i8);
        let view = saturate(&mut engine, &f, &unit.input);
        assert_eq!(view.class_of(neg) == view.class_of(sub), name == "i64", "{name} {}", show(&view));
        assert_eq!(view.class_of(none) == view.class_of(zero), name == "i32", "{name}");
        assert_eq!(view.class_of(eq), view.class_of(one));
    }
}

#[test]
fn facts_are_inferred_and_read() {
    let mut f = Fixture::new();
    // infer even(x + x); infer even(x * y) when even(x); x & 1 => 0 when even(x)
    let int_ty = f.named("Int");
    let even = f.fact("even", vec![int_ty]);
    let sum = f.call("iadd", vec![x(0), x(0)]);
    let text = RuleText { right: Conclusion::Fact(even, vec![sum.clone()]), ..f.int_text(1, &[], sum) };
    f.rule("facts", "double", text);
    let product = f.call("imul", vec![x(0), x(1)]);
    let text = RuleText {
        guards: vec![Guard::Fact(even, vec![x(0)])],
        right: Conclusion::Fact(even, vec![product.clone()]),
        ..f.int_text(2, &[], product)
    };
    f.rule("facts", "product", text);
    let low = f.call("iand", vec![x(0), int(1, T)]);
    let text = RuleText {
        guards: vec![Guard::Fact(even, vec![x(0)])],
        right: Conclusion::Equal(int(0, T)),
        ..f.int_text(1, &[], low)
    };
    f.rule("arith", "low_bit", text);
    let mut engine = f.engine();
    let i32 = f.type_of("i32");
    let mut unit = Unit::new(&f);
    let (a, b) = (unit.leaf(0, i32), unit.leaf(1, i32));
    let one = unit.constant(1, i32);
    let twice = unit.op("iadd", i32, &[a, a]);
    let product = unit.op("imul", i32, &[b, twice]);
    let other = unit.op("imul", i32, &[a, b]);
    let low = unit.op("iand", i32, &[one, product]);
    let unknown = unit.op("iand", i32, &[one, other]);
    let view = saturate(&mut engine, &f, &unit.input);
    assert_eq!(view.class(view.class_of(low)).constant, Some(0), "{}", show(&view));
    assert_eq!(view.class(view.class_of(unknown)).constant, None);
}

#[test]
fn a_wrong_rule_is_a_contradiction() {
    let mut f = Fixture::with_arithmetic();
    let left = f.call("isub", vec![x(0), x(0)]);
    f.int_rule("wrong", 1, &[], left, int(1, T));
    let mut engine = f.engine();
    let i32 = f.type_of("i32");
    let mut unit = Unit::new(&f);
    let a = unit.leaf(0, i32);
    let none = unit.op("isub", i32, &[a, a]);
    let view = saturate(&mut engine, &f, &unit.input);
    assert_eq!(view.contradictions, [view.class_of(none)]);
}

#[test]
fn other_nodes_pass_through() {
    let mut f = Fixture::with_arithmetic();
    let i128 = f.program.universe.types.named_or_opaque("i128x7");
    let mut engine = f.engine();
    // A type that only this input names.
    let mut types = f.program.universe.types.clone();
    let vector = types.named_or_opaque("i8x16");
    let i32 = f.type_of("i32");
    let mut unit = Unit::new(&f);
    let mut leaves: Vec<_> = (0..40).map(|i| unit.leaf(i, vector)).collect();
    let wide = unit.add(Head::Opaque(PayloadId(7)), &[vector, i32], &leaves);
    leaves.swap(0, 1);
    let other = unit.add(Head::Opaque(PayloadId(7)), &[vector, i32], &leaves);
    leaves.swap(0, 1);
    let again = unit.add(Head::Opaque(PayloadId(7)), &[vector, i32], &leaves);
    let second = unit.add(Head::Proj(1), &[i32], &[wide]);
    let (p, q) = (unit.leaf(90, i32), unit.leaf(91, i128));
    let quotient = unit.op("udiv", i32, &[p, second]);
    let short = unit.add(Head::Opaque(PayloadId(8)), &[i128], &[q, quotient]);
    let none = unit.add(Head::Opaque(PayloadId(9)), &[i128], &[]);
    let options = SaturateOptions::default();
    let (views, _) = engine.saturate(&[&unit.input], &types, &options).unwrap();
    let view = &views[0];
    assert_eq!(view.class_of(wide), view.class_of(again));
    assert_ne!(view.class_of(wide), view.class_of(other));
    for (id, node) in [(wide, 40), (short, 2), (quotient, 2), (none, 0), (second, 1)] {
        let class = view.class(view.class_of(id));
        assert_eq!(class.nodes.len(), 1);
        let back = view.node(class.nodes[0]);
        let sent = &unit.input.nodes[id.index()];
        assert_eq!((back.head, &back.types, back.children.len()), (sent.head, &sent.types, node));
        let children: Vec<_> = sent.children.iter().map(|c| view.class_of(*c)).collect();
        assert_eq!(back.children.to_vec(), children);
    }
}

#[test]
fn a_view_does_not_depend_on_its_batch() {
    let mut f = Fixture::with_arithmetic();
    let mut engine = f.engine();
    let units = super::measure::random_units(&mut f, 40, 45);
    let all: Vec<&EGraphInput> = units.iter().collect();
    let store = &f.program.universe.types;
    let options = SaturateOptions { log: true, ..SaturateOptions::default() };
    let (together, report) = engine.saturate(&all, store, &options).unwrap();
    assert_eq!((report.batches, report.alone), (1, 0));
    let reversed: Vec<&EGraphInput> = all.iter().rev().copied().collect();
    let (reversed, _) = engine.saturate(&reversed, store, &options).unwrap();
    for (i, unit) in units.iter().enumerate() {
        let (alone, _) = engine.saturate(&[unit], store, &options).unwrap();
        assert_eq!(show(&together[i]), show(&alone[0]));
        assert_eq!(show(&together[i]), show(&reversed[units.len() - 1 - i]));
        assert_eq!(together[i].applications, alone[0].applications);
    }
}
