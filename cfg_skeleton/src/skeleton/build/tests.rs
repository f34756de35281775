//! Shapes of skeletons: sites, states, checks; and that building is linear.

use super::*;
use crate::ir::{Access, OpaqueEffects};
use crate::skeleton::SiteId;
use crate::testing::{Builder, MOVABLE, PLAIN, trap_code, universe};
use rewright_extract::clock::now;
use std::time::Duration;

fn skeleton(b: &Builder<'_>, u: &Universe) -> Skeleton {
    let s = build(&b.function, &Cfg::new(&b.function), u, &trap_code);
    for (i, node) in s.input.nodes.iter().enumerate() {
        assert!(node.children.iter().all(|c| c.index() < i), "children come first");
    }
    s
}

fn live_at_end(s: &Skeleton, row: usize, block: BlockId) -> InputId {
    s.live[row][s.last_segment(block).index()]
}

#[test]
fn loads_of_one_state_are_one_node_and_a_store_parts_them() {
    let u = universe();
    let mut b = Builder::new(&u, &["i64", "i32"]);
    let entry = b.function.entry();
    let (p, v) = (b.param(entry, 0), b.param(entry, 1));
    let first = b.load("i32", p, PLAIN);
    let second = b.load("i32", p, MOVABLE);
    b.store("i32", p, v, PLAIN);
    let third = b.load("i32", p, PLAIN);
    b.ret(&[first, second, third]);
    let s = skeleton(&b, &u);
    assert_eq!(s.value_input[first.index()], s.value_input[second.index()]);
    assert_ne!(s.value_input[first.index()], s.value_input[third.index()]);
    // A check for the first and the third load, a write between them; the movable load has no site.
    assert_eq!(s.statements.len(), 3);
    assert_eq!(s.movable, [s.value_input[first.index()].unwrap()]);
    let StatementKind::Write { out, key, trap, .. } = &s.statements[1].kind else { panic!("a write") };
    assert_eq!((key.len(), *trap), (2, PLAIN.trap), "address and offset, not the value");
    assert_eq!(s.live[0][1..], [s.live[0][0], *out, *out]);
    assert_eq!(s.blocks[0].end[..], [*out]);
    assert_eq!(s.segment_before(SiteId(1)).0, 1);
    assert!(s.blocks[0].observes);
}

#[test]
fn a_load_that_cannot_trap_but_not_move_keeps_a_licence() {
    let u = universe();
    let mut b = Builder::new(&u, &["i64"]);
    let p = b.param(b.function.entry(), 0);
    let v = b.load("i32", p, Access { trap: None, ..PLAIN });
    b.ret(&[v]);
    let s = skeleton(&b, &u);
    assert!(matches!(
        s.statements[0].kind,
        StatementKind::Check { key: CheckKey::Operation { code: None }, value: Some(_), observes: false, own: None }
    ));
}

#[test]
fn a_diamond_needs_a_token_only_where_one_arm_writes() {
    let u = universe();
    for writes in [false, true] {
        let mut b = Builder::new(&u, &["i64", "i32"]);
        let entry = b.function.entry();
        let (p, v) = (b.param(entry, 0), b.param(entry, 1));
        let (left, right, join) = (b.block(&[]), b.block(&[]), b.block(&[]));
        b.branch(v, (left, &[]), (right, &[]));
        b.switch_to(left);
        if writes {
            b.store("i32", p, v, PLAIN);
        }
        b.jump(join, &[]);
        b.switch_to(right);
        b.jump(join, &[]);
        b.switch_to(join);
        let x = b.load("i32", p, PLAIN);
        b.ret(&[x]);
        let s = skeleton(&b, &u);
        let tokens: Vec<usize> = s.blocks.iter().map(|b| b.tokens.len()).collect();
        assert_eq!(tokens, [0, 0, 0, usize::from(writes)]);
        assert_eq!(live_at_end(&s, 0, right), live_at_end(&s, 0, entry));
        assert_eq!(live_at_end(&s, 0, join) == live_at_end(&s, 0, entry), !writes);
    }
}

#[test]
fn only_loops_that_write_have_tokens() {
    // An outer loop that writes around an inner one that only reads.
    let u = universe();
    let mut b = Builder::new(&u, &["i64", "i32"]);
    let entry = b.function.entry();
    let (p, v) = (b.param(entry, 0), b.param(entry, 1));
    let (outer, inner, latch, exit) = (b.block(&[]), b.block(&[]), b.block(&[]), b.block(&[]));
    b.jump(outer, &[]);
    b.switch_to(outer);
    b.jump(inner, &[]);
    b.switch_to(inner);
    let x = b.load("i32", p, PLAIN);
    b.branch(x, (inner, &[]), (latch, &[]));
    b.switch_to(latch);
    b.store("i32", p, v, PLAIN);
    b.branch(x, (outer, &[]), (exit, &[]));
    b.switch_to(exit);
    b.ret(&[]);
    let s = skeleton(&b, &u);
    let tokens: Vec<usize> = s.blocks.iter().map(|b| b.tokens.len()).collect();
    assert_eq!(tokens, [0, 1, 0, 0, 0]);
    assert_eq!(live_at_end(&s, 0, inner), s.blocks[outer.index()].tokens[0].1);
    assert_eq!(live_at_end(&s, 0, exit), s.blocks[latch.index()].end[0]);
}

#[test]
fn region_zero_beside_named_regions_is_opaque() {
    let u = universe();
    let mut b = Builder::new(&u, &["i64", "i32"]);
    b.function.regions.push("heap".into());
    let entry = b.function.entry();
    let (p, v) = (b.param(entry, 0), b.param(entry, 1));
    let heap = Access { region: RegionId(1), ..PLAIN };
    b.store("i32", p, v, heap);
    let anywhere = b.load("i32", p, PLAIN);
    let before = b.load("i32", p, heap);
    b.store("i32", p, v, PLAIN);
    let after = b.load("i32", p, heap);
    let constant = b.load("i32", p, Access { readonly: true, ..heap });
    b.opaque(7, OpaqueEffects::Writes, &[], &[]);
    let again = b.load("i32", p, Access { readonly: true, ..heap });
    b.ret(&[anywhere, before, after, constant, again]);
    let s = skeleton(&b, &u);
    let head = |v: Value| s.input.nodes[s.value_input[v.index()].unwrap().index()].head;
    assert!(matches!(head(anywhere), Head::Leaf(_)));
    let kinds: Vec<_> = s.statements.iter().map(|s| &s.kind).collect();
    assert!(matches!(kinds[1], StatementKind::Opaque { observes: true, writes: false, .. }));
    assert!(matches!(kinds[3], StatementKind::Opaque { observes: true, writes: true, .. }));
    assert_ne!(s.value_input[before.index()], s.value_input[after.index()]);
    assert_eq!(s.value_input[constant.index()], s.value_input[again.index()]);
    // Rows: the unused region 0, heap, (readonly region 0), readonly heap.
    assert_eq!(s.live.len(), 4);
    assert!([0, 2, 3].iter().all(|r: &usize| s.live[*r].iter().all(|state| *state == s.live[*r][0])));
    let heap: std::collections::BTreeSet<_> = s.live[1].iter().collect();
    assert_eq!(heap.len(), 4, "entry, store, two opaque writers");
}

#[test]
fn traps_become_checks() {
    let u = universe();
    let mut b = Builder::new(&u, &["i32", "i32"]);
    let entry = b.function.entry();
    let (x, y) = (b.param(entry, 0), b.param(entry, 1));
    b.check(y, 9, true);
    b.check(y, 1, false);
    let q = b.op("udiv", "i32", &[x, y]);
    let r = b.op("sdiv", "i32", &[x, y]);
    let pair = b.inst("divmod", "i32", &[x, y], None);
    let pair = b.function.inst(pair).results.to_vec();
    b.ret(&[q, r, pair[0], pair[1]]);
    let s = skeleton(&b, &u);
    let keys: Vec<_> = s
        .statements
        .iter()
        .map(|s| match &s.kind {
            StatementKind::Check {
                key: CheckKey::Condition { condition, code, .. },
                value,
                observes: true,
                own: None,
            } => (*condition, *code, value.is_some(), s.results.len()),
            other => panic!("{other:?}"),
        })
        .collect();
    let divz = keys[1].0;
    assert_eq!(s.value_input[y.index()], Some(keys[0].0));
    let codes: Vec<_> = keys.iter().map(|k| (k.0 == divz, k.1, k.2, k.3)).collect();
    assert_eq!(codes[1..], [(true, 1, false, 0), (true, 1, true, 1), (true, 1, true, 1), (false, 2, true, 1)]);
    assert!(matches!(s.input.nodes[s.value_input[pair[1].index()].unwrap().index()].head, Head::Proj(1)));
    assert!(s.live.is_empty());
}

#[test]
fn unreachable_blocks_and_opaque_terminators() {
    let u = universe();
    let mut b = Builder::new(&u, &["i64"]);
    let entry = b.function.entry();
    let p = b.param(entry, 0);
    let (dead, after) = (b.block(&[]), b.block(&["i32"]));
    b.load("i32", p, MOVABLE);
    let mut edge = crate::testing::edge(after, &[]);
    edge.args.push(EdgeArg::Terminator(0));
    b.end(Terminator::Opaque { payload: crate::ir::PayloadId(0), args: smallvec![p], targets: vec![edge] });
    b.switch_to(dead);
    b.load("i32", p, PLAIN);
    b.jump(after, &[p]);
    b.switch_to(after);
    b.ret(&[]);
    let s = skeleton(&b, &u);
    assert_eq!(s.layout, [entry, after]);
    assert_eq!(s.segment_block, [entry, after]);
    assert_eq!(s.blocks[0].edges[0].args[..], [SkeletonArg::Terminator(0)]);
    assert_ne!(s.blocks[0].end[0], s.live[0][0]);
    assert_eq!(s.blocks[0].end[0], s.live[0][1]);
}

#[test]
fn building_is_linear() {
    let u = universe();
    let time = |n: usize| {
        let mut b = Builder::new(&u, &["i64", "i32"]);
        let entry = b.function.entry();
        let (p, mut v) = (b.param(entry, 0), b.param(entry, 1));
        for i in 0..n / 4 {
            v = b.op("iadd", "i32", &[v, v]);
            b.store("i32", p, v, PLAIN);
            v = b.load("i32", p, PLAIN);
            let next = b.block(&[]);
            match i % 3 {
                0 => b.branch(v, (next, &[]), (entry, &[])),
                _ => b.branch(v, (next, &[]), (next, &[])),
            }
            b.switch_to(next);
        }
        b.ret(&[v]);
        let cfg = Cfg::new(&b.function);
        let start = now();
        let s = build(&b.function, &cfg, &u, &trap_code);
        assert!(s.input.nodes.len() <= 2 * n + 10);
        now() - start
    };
    // Processor time: what else runs makes it longer still, and never shorter.
    let least = |n: usize| (0..5).map(|_| time(n)).min().unwrap_or_default();
    let (small, large) = (least(1000) * 10, least(10_000));
    // Ten times the size; quadratic would be ten times as long again.
    assert!(large < small * 4 + Duration::from_millis(20), "{small:?} for ten of 1,000, {large:?} for one of 10,000");
}
