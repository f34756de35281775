//! Each kind of change, and that functions stay well formed.

use super::*;
use crate::ir::text::Printer;
use crate::ir::verify::verify;
use crate::skeleton::build;
use crate::testing::{Builder, PLAIN, trap_code, universe, view};

/// The changes that are found in a function.
fn found_in(given: Saturated) -> Vec<Change> {
    changes(given, &KnownAtEnds::new(given))
}

/// Changes after uniting these values, and the function with them made.
fn changed(b: &Builder<'_>, u: &Universe, equal: &[(Value, Value)]) -> (Vec<Change>, Function) {
    let f = &b.function;
    assert!(verify(f, u).is_empty(), "{:?}\n{}", verify(f, u), Printer(f, u));
    let cfg = Cfg::new(f);
    let s = build(f, &cfg, u, &trap_code);
    let input = |v: &Value| s.value_input[v.index()].expect("a node");
    let unions: Vec<_> = equal.iter().map(|(a, b)| (input(a), input(b))).collect();
    let view = view(&s.input, &unions);
    let found = found_in(Saturated { function: f, cfg: &cfg, universe: u, skeleton: &s, view: &view });
    let out = apply(f, &found);
    assert!(verify(&out, u).is_empty(), "{:?}\n{}", verify(&out, u), Printer(&out, u));
    (found, out)
}

#[test]
fn a_branch_on_a_constant_jumps_and_the_other_side_goes() {
    let u = universe();
    let mut b = Builder::new(&u, &["i32"]);
    let entry = b.function.entry();
    let x = b.param(entry, 0);
    let (then, els, join) = (b.block(&[]), b.block(&[]), b.block(&["i32"]));
    let one = b.constant("i32", 1);
    let same = b.op("icmp_eq", "i32", &[x, x]);
    let one_byte = b.constant("i8", 1);
    b.branch(same, (then, &[]), (els, &[]));
    b.switch_to(then);
    b.jump(join, &[x]);
    b.switch_to(els);
    b.jump(join, &[one]);
    b.switch_to(join);
    let joined = b.param(join, 0);
    b.ret(&[joined]);
    assert!(changed(&b, &u, &[]).0.is_empty());
    let (found, out) = changed(&b, &u, &[(same, one_byte)]);
    assert_eq!(
        found,
        [Change::Jump { block: entry, slot: 0 }, Change::Replace { block: join, index: 0, by: x }],
        "the parameter is equal to what arrives on the one edge that is left"
    );
    assert_eq!(out.layout, [entry, then, join]);
    assert_eq!(out.block(join).term, Terminator::Return(smallvec![x]));
}

#[test]
fn a_switch_reads_its_index_unsigned() {
    let u = universe();
    for (index, slot) in [(0, 0), (1, 1), (2, 2), (-1, 2)] {
        let mut b = Builder::new(&u, &["i32"]);
        let entry = b.function.entry();
        let x = b.param(entry, 0);
        let blocks = [b.block(&[]), b.block(&[]), b.block(&[])];
        let n = b.constant("i8", index);
        let edge = |i: usize| crate::testing::edge(blocks[i], &[]);
        b.end(Terminator::Switch { index: n, targets: vec![edge(0), edge(1)], default: edge(2) });
        for block in blocks {
            b.switch_to(block);
            b.ret(&[x]);
        }
        let (found, out) = changed(&b, &u, &[]);
        assert_eq!(found, [Change::Jump { block: entry, slot }]);
        assert_eq!(out.layout, [entry, blocks[slot as usize]]);
    }
}

#[test]
fn a_branch_with_equal_edges_jumps() {
    let u = universe();
    let mut b = Builder::new(&u, &["i32", "i32"]);
    let entry = b.function.entry();
    let (x, y) = (b.param(entry, 0), b.param(entry, 1));
    let next = b.block(&["i32"]);
    b.branch(x, (next, &[y]), (next, &[x]));
    b.switch_to(next);
    let p = b.param(next, 0);
    b.ret(&[p]);
    assert!(changed(&b, &u, &[]).0.is_empty());
    let (found, _) = changed(&b, &u, &[(x, y)]);
    assert_eq!(found[0], Change::Jump { block: entry, slot: 0 });
    assert_eq!(found.len(), 2);
}

#[test]
fn a_check_that_always_traps_ends_its_block() {
    let u = universe();
    let mut b = Builder::new(&u, &["i32", "i64"]);
    let entry = b.function.entry();
    let (x, p) = (b.param(entry, 0), b.param(entry, 1));
    let next = b.block(&[]);
    let zero = b.constant("i32", 0);
    b.store("i32", p, x, PLAIN);
    let quotient = b.op("udiv", "i32", &[x, zero]);
    b.jump(next, &[]);
    b.switch_to(next);
    b.ret(&[quotient]);
    let f = &b.function;
    let cfg = Cfg::new(f);
    let s = build(f, &cfg, &u, &trap_code);
    // What constant folding finds: `0 == 0` is 1. No input node says 1, so make the view say so.
    let mut view = view(&s.input, &[]);
    let StatementKind::Check { key: CheckKey::Condition { condition, .. }, .. } = s.statements[1].kind else {
        panic!("a check")
    };
    let class = view.class_of(condition);
    view.classes[class.index()].constant = Some(1);
    let found = found_in(Saturated { function: f, cfg: &cfg, universe: &u, skeleton: &s, view: &view });
    let inst = s.statements[1].inst;
    assert_eq!(found, [Change::Trap { block: entry, inst, code: 1, keep: false }]);
    let out = apply(f, &found);
    assert!(verify(&out, &u).is_empty());
    assert_eq!(out.layout, [entry]);
    assert_eq!(out.block(entry).term, Terminator::Trap { code: 1 });
    assert!(!out.block(entry).insts.contains(&inst));
}

#[test]
fn a_later_condition_leaves_the_instruction_and_is_reported_once() {
    let u = universe();
    let mut b = Builder::new(&u, &["i32", "i32"]);
    let entry = b.function.entry();
    let (x, y) = (b.param(entry, 0), b.param(entry, 1));
    b.op("sdiv", "i32", &[x, y]);
    b.ret(&[]);
    let mut f = b.function.clone();
    for round in 0..2 {
        let cfg = Cfg::new(&f);
        let s = build(&f, &cfg, &u, &trap_code);
        let mut view = view(&s.input, &[]);
        let StatementKind::Check { key: CheckKey::Condition { condition, .. }, .. } = s.statements[1].kind else {
            panic!("a check")
        };
        let class = view.class_of(condition);
        view.classes[class.index()].constant = Some(1);
        let found = found_in(Saturated { function: &f, cfg: &cfg, universe: &u, skeleton: &s, view: &view });
        assert_eq!(found.len(), 1 - round);
        f = apply(&f, &found);
    }
    assert_eq!(f.block(entry).term, Terminator::Trap { code: 2 });
    assert!(f.block(entry).insts.contains(&InstId(0)));
}

/// A loop with parameters `init`, whose back edge carries what `next` makes of the parameters and of `x`; returns
/// all parameters.
fn looping(
    u: &Universe,
    init: &[usize],
    next: impl FnOnce(&mut Builder<'_>, &[Value], Value) -> Vec<Value>,
) -> Changed {
    let mut b = Builder::new(u, &["i32", "i32"]);
    let entry = b.function.entry();
    let outside = [b.param(entry, 0), b.param(entry, 1)];
    let (head, exit) = (b.block(&vec!["i32"; init.len()]), b.block(&[]));
    let init: Vec<Value> = init.iter().map(|i| outside[*i]).collect();
    b.jump(head, &init);
    b.switch_to(head);
    let params = b.function.block(head).params.clone();
    let args = next(&mut b, &params, outside[0]);
    b.branch(outside[1], (head, &args), (exit, &[]));
    b.switch_to(exit);
    b.ret(&params);
    let (found, out) = changed(&b, u, &[]);
    Changed { found, out, outside, params, head, exit }
}

struct Changed {
    found: Vec<Change>,
    out: Function,
    outside: [Value; 2],
    params: Vec<Value>,
    head: BlockId,
    exit: BlockId,
}

#[test]
fn a_parameter_that_only_feeds_itself_is_what_came_in() {
    let u = universe();
    let c = looping(&u, &[0], |_, p, _| vec![p[0]]);
    assert_eq!(c.found, [Change::Replace { block: c.head, index: 0, by: c.outside[0] }]);
    assert_eq!(c.out.block(c.exit).term.operands(), [c.outside[0]]);
}

#[test]
fn parameters_that_swap_equal_values_are_equal() {
    let u = universe();
    let c = looping(&u, &[0, 0], |_, p, _| vec![p[1], p[0]]);
    assert_eq!(c.out.block(c.exit).term.operands(), [c.outside[0]; 2]);
    assert!(looping(&u, &[0, 1], |_, p, _| vec![p[1], p[0]]).found.is_empty());
}

#[test]
fn two_counters_in_step_are_one() {
    let u = universe();
    let step = |b: &mut Builder<'_>, p: &[Value], x: Value| {
        let first = b.op("iadd", "i32", &[p[0], x]);
        let second = b.op("iadd", "i32", &[p[1], x]);
        vec![first, second]
    };
    let c = looping(&u, &[0, 0], step);
    assert_eq!(c.found, [Change::Replace { block: c.head, index: 1, by: c.params[0] }]);
    assert!(looping(&u, &[0, 1], step).found.is_empty(), "they begin apart");
    let apart = |b: &mut Builder<'_>, p: &[Value], x: Value| {
        let first = b.op("iadd", "i32", &[p[0], x]);
        let second = b.op("iadd", "i32", &[p[1], p[1]]);
        vec![first, second]
    };
    assert!(looping(&u, &[0, 0], apart).found.is_empty(), "and step apart");
}

#[test]
fn one_wrong_assumption_does_not_hide_a_right_one() {
    // a, b, c begin alike; a and c step alike, b does not.
    let u = universe();
    let c = looping(&u, &[0, 0, 0], |b, p, x| {
        let first = b.op("iadd", "i32", &[p[0], x]);
        let second = b.op("iadd", "i32", &[p[0], p[1]]);
        let second = b.op("isub", "i32", &[second, x]);
        let second = b.op("iadd", "i32", &[second, second]);
        let third = b.op("iadd", "i32", &[p[2], x]);
        vec![first, second, third]
    });
    assert_eq!(c.found, [Change::Replace { block: c.head, index: 2, by: c.params[0] }]);
}

#[test]
fn nested_cycles_collapse() {
    let u = universe();
    let mut b = Builder::new(&u, &["i32", "i32"]);
    let entry = b.function.entry();
    let (x, y) = (b.param(entry, 0), b.param(entry, 1));
    let (outer, inner, exit) = (b.block(&["i32"]), b.block(&["i32"]), b.block(&["i32"]));
    b.jump(outer, &[x]);
    b.switch_to(outer);
    let p = b.param(outer, 0);
    b.jump(inner, &[p]);
    b.switch_to(inner);
    let q = b.param(inner, 0);
    let latch = b.block(&[]);
    b.branch(x, (inner, &[q]), (latch, &[]));
    b.switch_to(latch);
    b.branch(y, (outer, &[q]), (exit, &[q]));
    b.switch_to(exit);
    let r = b.param(exit, 0);
    b.ret(&[r]);
    let (found, out) = changed(&b, &u, &[]);
    assert_eq!(found.len(), 3);
    assert_eq!(out.block(exit).term.operands(), [x]);
}

#[test]
fn a_parameter_that_rules_know_goes_as_well() {
    let u = universe();
    let mut b = Builder::new(&u, &["i32"]);
    let entry = b.function.entry();
    let x = b.param(entry, 0);
    let y = b.op("iadd", "i32", &[x, x]);
    let (then, els, join) = (b.block(&[]), b.block(&[]), b.block(&["i32", "i32"]));
    b.branch(x, (then, &[]), (els, &[]));
    b.switch_to(then);
    b.jump(join, &[y, x]);
    b.switch_to(els);
    let one = b.constant("i32", 1);
    b.jump(join, &[y, one]);
    b.switch_to(join);
    let [joined, other] = [0, 1].map(|n| b.param(join, n));
    let sum = b.op("iadd", "i32", &[joined, other]);
    b.ret(&[sum]);
    let replaced = [Change::Replace { block: join, index: 0, by: y }];
    assert_eq!(changed(&b, &u, &[]).0, replaced, "one value arrives");
    assert_eq!(changed(&b, &u, &[(joined, y)]).0, replaced, "a rule has said so before");
    assert_eq!(
        changed(&b, &u, &[(joined, y), (other, x)]).0,
        replaced,
        "to the second one, another value arrives, too"
    );
}

#[test]
fn values_do_not_leave_loops_without_a_parameter() {
    let u = universe();
    let mut b = Builder::new(&u, &["i32"]);
    let entry = b.function.entry();
    let x = b.param(entry, 0);
    let (head, exit) = (b.block(&["i32"]), b.block(&["i32"]));
    b.jump(head, &[x]);
    b.switch_to(head);
    let i = b.param(head, 0);
    let next = b.op("iadd", "i32", &[i, x]);
    b.branch(next, (head, &[next]), (exit, &[next]));
    b.switch_to(exit);
    let last = b.param(exit, 0);
    b.ret(&[last]);
    assert!(changed(&b, &u, &[]).0.is_empty());
    assert!(changed(&b, &u, &[(last, next)]).0.is_empty(), "a rule knows it, but of the last iteration alone");
}

#[test]
fn a_value_that_does_not_vary_leaves_its_loop() {
    let u = universe();
    let mut b = Builder::new(&u, &["i32"]);
    let entry = b.function.entry();
    let x = b.param(entry, 0);
    let (head, exit) = (b.block(&["i32"]), b.block(&["i32"]));
    b.jump(head, &[x]);
    b.switch_to(head);
    let i = b.param(head, 0);
    let square = b.op("imul", "i32", &[x, x]);
    let next = b.op("iadd", "i32", &[i, square]);
    b.branch(next, (head, &[next]), (exit, &[square]));
    b.switch_to(exit);
    let last = b.param(exit, 0);
    b.ret(&[last]);
    let (found, out) = changed(&b, &u, &[]);
    assert_eq!(found, [Change::Replace { block: exit, index: 0, by: square }]);
    assert_eq!(out.block(exit).term.operands(), [square]);
}

#[test]
fn a_parameter_to_which_one_constant_arrives_is_that_constant() {
    let u = universe();
    let mut b = Builder::new(&u, &["i32"]);
    let entry = b.function.entry();
    let x = b.param(entry, 0);
    let (left, right, join) = (b.block(&[]), b.block(&[]), b.block(&["i32"]));
    b.branch(x, (left, &[]), (right, &[]));
    for arm in [left, right] {
        b.switch_to(arm);
        let seven = b.constant("i32", 7);
        b.jump(join, &[seven]);
    }
    b.switch_to(join);
    let p = b.param(join, 0);
    b.ret(&[p]);
    let (found, out) = changed(&b, &u, &[]);
    assert_eq!(found, [Change::Constant { block: join, index: 0, constant: 7 }]);
    assert!(out.block(join).params.is_empty());
    let constant = out.inst(out.block(join).insts[0]);
    assert_eq!((&constant.kind, constant.results[0]), (&InstKind::Const(7), p));
}

#[test]
fn what_a_terminator_makes_is_nothing_else() {
    let u = universe();
    let mut b = Builder::new(&u, &["i32"]);
    let entry = b.function.entry();
    let x = b.param(entry, 0);
    let next = b.block(&["i32", "i32"]);
    let mut edge = crate::testing::edge(next, &[]);
    edge.args.extend([EdgeArg::Terminator(0), EdgeArg::Value(x)]);
    b.end(Terminator::Opaque { payload: crate::ir::PayloadId(0), args: smallvec![], targets: vec![edge] });
    b.switch_to(next);
    let params = b.function.block(next).params.clone();
    b.ret(&params);
    let (found, out) = changed(&b, &u, &[]);
    assert_eq!(found, [Change::Replace { block: next, index: 1, by: x }]);
    assert_eq!(out.block(entry).term.edges()[0].args[..], [EdgeArg::Terminator(0)]);
}

/// `if x == 5 { if x == 5 {x + x} else {1} } else { x == 5 }`
fn twice(u: &Universe) -> (Builder<'_>, [BlockId; 5], [Value; 4]) {
    let mut b = Builder::new(u, &["i32", "i32"]);
    let entry = b.function.entry();
    let x = b.param(entry, 0);
    let blocks = [b.block(&[]), b.block(&[]), b.block(&[]), b.block(&[])];
    let [inner, no, yes, never] = blocks;
    let five = b.constant("i32", 5);
    let first = b.op("icmp_eq", "i32", &[x, five]);
    b.branch(first, (inner, &[]), (no, &[]));
    b.switch_to(inner);
    let second = b.op("icmp_eq", "i32", &[five, x]);
    b.branch(second, (yes, &[]), (never, &[]));
    b.switch_to(yes);
    let double = b.op("iadd", "i32", &[x, x]);
    b.ret(&[double]);
    b.switch_to(never);
    b.ret(&[five]);
    b.switch_to(no);
    let third = b.op("icmp_eq", "i32", &[x, five]);
    let three = b.op("select", "i32", &[third, x, five]);
    b.ret(&[three]);
    (b, [entry, inner, no, yes, never], [first, second, third, double])
}

#[test]
fn a_branch_decides_what_is_tested_behind_it() {
    let u = universe();
    let (b, [entry, inner, no, yes, never], [first, second, third, double]) = twice(&u);
    let of = |v: Value| InstId(b.function.insts.iter().position(|i| i.results.contains(&v)).expect("defined") as u32);
    let (found, out) = changed(&b, &u, &[(first, second)]);
    let operand = |index| Change::Operand { block: inner, inst: of(double), index, constant: 5 };
    assert!(found.contains(&Change::Jump { block: inner, slot: 0 }), "{found:?}");
    assert!(found.contains(&operand(0)) && found.contains(&operand(1)), "{found:?}");
    assert!(found.contains(&Change::Settle { block: no, inst: of(third), constant: 0 }), "{found:?}");
    assert_eq!(out.layout, [entry, inner, no, yes]);
    assert!(!out.layout.contains(&never));
    // A value that is computed in front of the branch is not known there.
    assert!(!found.iter().any(|c| matches!(c, Change::Settle { inst, .. } if *inst == of(first))), "{found:?}");
}

#[test]
fn what_a_branch_implies_is_read_off_conjunctions() {
    let u = universe();
    let mut b = Builder::new(&u, &["i32", "i32", "i32"]);
    let entry = b.function.entry();
    let [x, y, z] = [0, 1, 2].map(|n| b.param(entry, n));
    let (less, more) = (b.block(&[]), b.block(&[]));
    let below = b.op("icmp_ult", "i32", &[x, y]);
    let above = b.op("icmp_ult", "i32", &[y, z]);
    b.branch(below, (less, &[]), (more, &[]));
    b.switch_to(less);
    b.check(above, 3, true);
    b.ret(&[x]);
    b.switch_to(more);
    b.ret(&[y]);
    let (found, _) = changed(&b, &u, &[]);
    assert!(found.is_empty(), "no rule says that both cannot be: {found:?}");
    let cfg = Cfg::new(&b.function);
    let s = build(&b.function, &cfg, &u, &trap_code);
    let [conjunction] = s.conjunctions[..] else { panic!("{:?}", s.conjunctions) };
    let mut view = view(&s.input, &[]);
    let class = view.class_of(conjunction.both);
    view.classes[class.index()].constant = Some(0);
    let inst = s.statements[0].inst;
    let changes = |view| found_in(Saturated { function: &b.function, cfg: &cfg, universe: &u, skeleton: &s, view });
    assert_eq!(changes(&view), [Change::Pass { block: less, inst }]);
    let view = crate::testing::view(&s.input, &[(conjunction.both, conjunction.fact)]);
    assert_eq!(changes(&view), [Change::Trap { block: less, inst, code: 3, keep: false }]);
}

#[test]
fn what_both_arms_compute_is_computed_where_they_meet() {
    let u = universe();
    let mut b = Builder::new(&u, &["i32", "i32"]);
    let entry = b.function.entry();
    let (x, y) = (b.param(entry, 0), b.param(entry, 1));
    let (one, other, join) = (b.block(&[]), b.block(&[]), b.block(&["i32"]));
    b.branch(x, (one, &[]), (other, &[]));
    b.switch_to(one);
    let sum = b.op("iadd", "i32", &[x, y]);
    b.jump(join, &[sum]);
    b.switch_to(other);
    let product = b.op("imul", "i32", &[x, y]);
    b.jump(join, &[product]);
    b.switch_to(join);
    let p = b.param(join, 0);
    b.ret(&[p]);
    assert!(changed(&b, &u, &[]).0.is_empty());
    let (found, out) = changed(&b, &u, &[(sum, product)]);
    assert!(matches!(found[..], [Change::Recompute { block, index: 0, .. }] if block == join), "{found:?}");
    assert_eq!(out.inst(out.block(join).insts[0]).results[..], [p]);
    assert!(out.block(join).params.is_empty());
}
