//! The identity selection reproduces a function; other selections do what they say; wrong ones are errors.

use super::*;
use crate::ir::Cfg;
use crate::ir::normalise::normalise;
use crate::ir::text::Printer;
use crate::ir::verify::verify;
use crate::ir::{OpaqueEffects, PayloadId};
use crate::select::StatementChoice;
use crate::skeleton::{CheckKey, KnownAtEnds, StatementKind, apply, build, changes};
use crate::testing::{Builder, MOVABLE, PLAIN, identity_selection, random, trap_code, universe, view};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::fmt::Write;

/// A listing in which values are numbered by definition and constants stand in place.
fn listing(f: &Function) -> String {
    let mut names: BTreeMap<Value, String> = BTreeMap::new();
    let mut next = 0;
    let mut fresh = |names: &mut BTreeMap<Value, String>, values: &[Value]| {
        for v in values {
            names.insert(*v, format!("v{next}"));
            next += 1;
        }
    };
    let mut out = String::new();
    for block in &f.layout {
        fresh(&mut names, &f.block(*block).params);
        for inst in &f.block(*block).insts {
            let inst = f.inst(*inst);
            match inst.kind {
                InstKind::Const(n) => drop(names.insert(inst.results[0], n.to_string())),
                _ => fresh(&mut names, &inst.results),
            }
        }
    }
    let show = |v: &Value| names.get(v).cloned().unwrap_or_else(|| "?".into());
    for block in &f.layout {
        let data = f.block(*block);
        writeln!(out, "b{}{:?}:", block.0, data.params.iter().map(show).collect::<Vec<_>>()).unwrap();
        for inst in data.insts.iter().map(|i| f.inst(*i)) {
            if !matches!(inst.kind, InstKind::Const(_)) {
                let args: Vec<_> = inst.args.iter().map(show).collect();
                writeln!(out, "  {:?} {args:?} {:?}", inst.kind, inst.origin).unwrap();
            }
        }
        let operands: Vec<_> = data.term.operands().iter().map(show).collect();
        writeln!(out, "  {:?} {operands:?}", std::mem::discriminant(&data.term)).unwrap();
        for edge in data.term.edges() {
            let args = edge.args.iter().map(|a| match a {
                EdgeArg::Value(v) => show(v),
                EdgeArg::Terminator(n) => format!("result {n}"),
            });
            writeln!(out, "    -> b{} {:?}", edge.target.0, args.collect::<Vec<_>>()).unwrap();
        }
    }
    out
}

/// A loop over memory with checks, opaque parts, tuples, and a use of everything.
fn sample(u: &Universe) -> Builder<'_> {
    let mut b = Builder::new(u, &["i64", "i32", "i32"]);
    let entry = b.function.entry();
    let (p, x, y) = (b.param(entry, 0), b.param(entry, 1), b.param(entry, 2));
    let (head, body, exit) = (b.block(&["i32", "i32"]), b.block(&[]), b.block(&[]));
    b.check(x, 9, true);
    let zero = b.constant("i32", 0);
    let opaque = b.opaque(4, OpaqueEffects::Pure, &[x], &["i32", "i64"]);
    b.store("i32", p, opaque[0], PLAIN);
    b.jump(head, &[zero, x]);
    b.switch_to(head);
    let (i, acc) = (b.param(head, 0), b.param(head, 1));
    let more = b.op("icmp_ult", "i32", &[i, y]);
    b.branch(more, (body, &[]), (exit, &[]));
    b.switch_to(body);
    let loaded = b.load("i32", p, PLAIN);
    let free = b.load("i32", opaque[1], MOVABLE);
    let quotient = b.op("udiv", "i32", &[loaded, i]);
    let signed = b.op("sdiv", "i32", &[quotient, free]);
    let pair = b.inst("divmod", "i32", &[signed, acc], None);
    let pair = b.function.inst(pair).results.to_vec();
    b.opaque(5, OpaqueEffects::Writes, &[pair[0]], &["i32"]);
    let one = b.constant("i32", 1);
    let i2 = b.op("iadd", "i32", &[i, one]);
    let acc2 = b.op("iadd", "i32", &[acc, pair[1]]);
    b.jump(head, &[i2, acc2]);
    b.switch_to(exit);
    b.inst("tick", "i32", &[], None);
    b.ret(&[acc]);
    b
}

fn elaborated(b: &Builder<'_>, u: &Universe, change: impl FnOnce(&Skeleton, &EGraphView, &mut Selection)) -> Function {
    try_elaborate(b, u, change).expect("a program")
}

fn try_elaborate(
    b: &Builder<'_>,
    u: &Universe,
    change: impl FnOnce(&Skeleton, &EGraphView, &mut Selection),
) -> Result<Function, ElaborateError> {
    let cfg = Cfg::new(&b.function);
    let skeleton = build(&b.function, &cfg, u, &trap_code);
    let view = skeleton.input.unsaturated();
    let mut selection = identity_selection(&b.function, &skeleton, &view);
    change(&skeleton, &view, &mut selection);
    let out = elaborate(
        Saturated { function: &b.function, cfg: &cfg, universe: u, skeleton: &skeleton, view: &view },
        &selection,
    )?;
    let errors: Vec<_> = verify(&out, u).iter().map(ToString::to_string).collect();
    assert!(errors.is_empty(), "{errors:?}\n{}", Printer(&out, u));
    Ok(out)
}

#[test]
fn identity() {
    let u = universe();
    let b = sample(&u);
    let out = elaborated(&b, &u, |_, _, _| {});
    assert_eq!(listing(&out), listing(&b.function));
}

/// Of the segments of a block, a selection may name any in which the operands can be had.
#[test]
fn values_are_computed_near_where_the_original_computes_them() {
    let u = universe();
    let mut b = Builder::new(&u, &["i64", "i64", "i64"]);
    let entry = b.function.entry();
    let [p, q, r] = [0, 1, 2].map(|n| b.param(entry, n));
    let first = [p, q].map(|address| b.load("i32", address, PLAIN));
    let sum = b.op("iadd", "i32", &first);
    let third = b.load("i32", r, PLAIN);
    let all = b.op("iadd", "i32", &[sum, third]);
    b.store("i32", p, third, PLAIN);
    b.ret(&[all]);
    let mut moved = 0;
    let out = elaborated(&b, &u, |s, v, selection| {
        for class in [sum, all].map(|value| v.class_of(s.value_input[value.index()].expect("a node"))) {
            let at = *selection.defs.keys().find(|(_, other)| *other == class).expect("a definition");
            let def = selection.defs.remove(&at).expect("a definition");
            selection.defs.insert((s.last_segment(entry), class), def);
            moved += usize::from(at.0 != s.last_segment(entry));
        }
    });
    assert_eq!((moved, listing(&out)), (2, listing(&b.function)));
}

#[test]
fn identity_with_an_opaque_terminator_and_an_odd_layout() {
    let u = universe();
    let mut b = Builder::new(&u, &["i64"]);
    let entry = b.function.entry();
    let p = b.param(entry, 0);
    let (late, early) = (b.block(&["i32"]), b.block(&["i64"]));
    let mut edge = crate::testing::edge(early, &[]);
    edge.args.push(EdgeArg::Terminator(0));
    b.end(Terminator::Opaque { payload: PayloadId(3), args: smallvec![p], targets: vec![edge] });
    b.switch_to(early);
    let q = b.param(early, 0);
    let v = b.load("i32", q, PLAIN);
    b.jump(late, &[v]);
    b.switch_to(late);
    let w = b.param(late, 0);
    let sum = b.op("iadd", "i32", &[w, v]);
    b.ret(&[sum]);
    let out = elaborated(&b, &u, |_, _, _| {});
    assert_eq!(listing(&out), listing(&b.function));
}

#[test]
fn dead_values_and_parameters_vanish() {
    // `i` counts, and is used only by itself; `x + y` is dead.
    let u = universe();
    let mut b = Builder::new(&u, &["i32", "i32"]);
    let entry = b.function.entry();
    let (x, y) = (b.param(entry, 0), b.param(entry, 1));
    let (head, exit) = (b.block(&["i32"]), b.block(&["i32", "i32"]));
    b.op("iadd", "i32", &[x, y]);
    b.jump(head, &[x]);
    b.switch_to(head);
    let i = b.param(head, 0);
    let next = b.op("iadd", "i32", &[i, y]);
    b.branch(y, (head, &[next]), (exit, &[next, x]));
    b.switch_to(exit);
    let kept = b.param(exit, 1);
    b.ret(&[kept]);
    let out = elaborated(&b, &u, |_, _, _| {});
    assert_eq!(out.insts.len(), 0);
    assert_eq!(out.block(head).params.len(), 0);
    assert_eq!(out.block(exit).params.len(), 1);
    assert_eq!(out.block(entry).params.len(), 2, "those of the function stay");
}

#[test]
fn values_are_shared_where_they_dominate() {
    let u = universe();
    let mut b = Builder::new(&u, &["i32", "i32"]);
    let entry = b.function.entry();
    let (x, y) = (b.param(entry, 0), b.param(entry, 1));
    let next = b.block(&[]);
    let first = b.op("iadd", "i32", &[x, y]);
    b.branch(first, (next, &[]), (next, &[]));
    b.switch_to(next);
    let second = b.op("iadd", "i32", &[x, y]);
    b.ret(&[second]);
    let twice = elaborated(&b, &u, |_, _, _| {});
    assert_eq!(twice.insts.len(), 2);
    let once = elaborated(&b, &u, |s, v, selection| {
        let class = v.class_of(s.value_input[second.index()].expect("a node"));
        selection.defs.remove(&(s.last_segment(next), class));
    });
    assert_eq!(once.insts.len(), 1);
}

#[test]
fn a_bare_check_tests_for_zero_itself() {
    let u = universe();
    let mut b = Builder::new(&u, &["i32", "i32"]);
    let entry = b.function.entry();
    let (x, y) = (b.param(entry, 0), b.param(entry, 1));
    b.op("udiv", "i32", &[x, y]);
    b.ret(&[]);
    let bare = |with_condition: bool| {
        try_elaborate(&b, &u, |s, v, selection| {
            let StatementKind::Check { key: CheckKey::Condition { condition, .. }, .. } = &s.statements[0].kind else {
                panic!("a check")
            };
            let class = v.class_of(*condition);
            let zero = v.class_of(s.input.nodes[condition.index()].children[1]);
            selection.statements[0] = StatementChoice::Keep { fused: false };
            selection.defs.retain(|_, def| !matches!(def, Def::Result { .. }));
            if with_condition {
                let first = SegmentId(0);
                selection.defs.insert((first, class), Def::Node(v.class(class).nodes[0]));
                selection.defs.insert((first, zero), Def::Node(v.class(zero).nodes[0]));
            }
        })
    };
    let out = bare(true).expect("a program");
    let kinds: Vec<_> = out.insts.iter().map(|i| i.kind.clone()).collect();
    assert_eq!(kinds, [InstKind::Check { code: 1, when: false }]);
    assert!(matches!(bare(false), Err(ElaborateError::Unavailable { .. })));
}

#[test]
fn a_load_made_elsewhere_keeps_what_its_originals_share() {
    let u = universe();
    let mut b = Builder::new(&u, &["i64"]);
    let entry = b.function.entry();
    let p = b.param(entry, 0);
    let first = b.load("i32", p, MOVABLE);
    let second = b.load("i32", p, crate::ir::Access { aligned: false, ..MOVABLE });
    b.ret(&[first, second]);
    let out = elaborated(&b, &u, |_, _, _| {});
    let loads: Vec<_> = out
        .insts
        .iter()
        .filter_map(|i| match i.kind {
            InstKind::Op { access, .. } => access,
            _ => None,
        })
        .collect();
    assert_eq!(loads, [crate::ir::Access { aligned: false, ..MOVABLE }]);
}

#[test]
fn wrong_selections_are_errors() {
    let u = universe();
    let mut b = Builder::new(&u, &["i32", "i32"]);
    let entry = b.function.entry();
    let (x, y) = (b.param(entry, 0), b.param(entry, 1));
    let sum = b.op("iadd", "i32", &[x, y]);
    let difference = b.op("isub", "i32", &[sum, y]);
    b.opaque(1, OpaqueEffects::Pinned, &[difference], &[]);
    b.ret(&[difference]);
    let dropped = try_elaborate(&b, &u, |_, _, s| s.statements[0] = StatementChoice::Drop);
    assert_eq!(dropped.err(), Some(ElaborateError::Choice(SiteId(0))));
    let missing = try_elaborate(&b, &u, |_, _, s| s.defs.clear());
    assert!(matches!(missing.err(), Some(ElaborateError::Unavailable { .. })));
    // Unite `x + y - y` with `x`, and choose both nodes that need each other.
    let cfg = Cfg::new(&b.function);
    let skeleton = build(&b.function, &cfg, &u, &trap_code);
    let input = |v: Value| skeleton.value_input[v.index()].expect("a node");
    let united = view(&skeleton.input, &[(input(difference), input(x))]);
    let class = united.class_of(input(x));
    let node = |head: fn(Head) -> bool| {
        *united.class(class).nodes.iter().find(|n| head(united.node(**n).head)).expect("in the class")
    };
    let mut selection = identity_selection(&b.function, &skeleton, &united);
    let given = Saturated { function: &b.function, cfg: &cfg, universe: &u, skeleton: &skeleton, view: &united };
    selection.defs.insert((SegmentId(0), class), Def::Node(node(|h| matches!(h, Head::Op(_)))));
    let cyclic = elaborate(given, &selection);
    assert_eq!(cyclic.err(), Some(ElaborateError::Cycle(SegmentId(0))));
    selection.defs.insert((SegmentId(0), class), Def::Node(node(|h| matches!(h, Head::Leaf(_)))));
    let leaf = elaborate(given, &selection);
    assert!(matches!(leaf.err(), Some(ElaborateError::NotComputed(_))));
    selection.defs.insert((SegmentId(0), class), Def::Param { block: entry, index: 0 });
    let out = elaborate(given, &selection).expect("a program");
    assert_eq!(out.insts.len(), 1, "only the opaque one");
}

#[test]
fn deep_chains_do_not_recurse() {
    let u = universe();
    let mut b = Builder::new(&u, &["i32"]);
    let mut v = b.param(b.function.entry(), 0);
    for _ in 0..100_000 {
        v = b.op("iadd", "i32", &[v, v]);
    }
    b.ret(&[v]);
    let out = elaborated(&b, &u, |_, _, _| {});
    assert_eq!(out.insts.len(), 100_000);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn identity_and_changes_do_the_same_on_random_functions(seed in any::<u64>(), blocks in 1usize..16, normal: bool) {
        let u = universe();
        let mut original = random::function(seed, blocks, &u);
        if normal {
            normalise(&mut original);
        }
        let mut f = original.clone();
        for _ in 0..3 {
            let cfg = Cfg::new(&f);
            let skeleton = build(&f, &cfg, &u, &trap_code);
            let view = skeleton.input.unsaturated();
            let selection = identity_selection(&f, &skeleton, &view);
            let given = Saturated { function: &f, cfg: &cfg, universe: &u, skeleton: &skeleton, view: &view };
            let out = elaborate(given, &selection).expect("the program itself");
            prop_assert_eq!(verify(&out, &u), vec![], "{}", Printer(&out, &u));
            random::assert_same(&original, &out, &u, seed);
            let changed = apply(&f, &changes(given, &KnownAtEnds::new(given)));
            prop_assert_eq!(verify(&changed, &u), vec![], "{}", Printer(&changed, &u));
            random::assert_same(&original, &changed, &u, seed);
            f = changed;
        }
    }
}
