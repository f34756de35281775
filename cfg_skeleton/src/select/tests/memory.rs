//! What Cranelift's own tests of alias analysis say (`filetests/alias`), by what they mean: which accesses stay.

use super::*;
use crate::egraph::ClassId;
use crate::ir::{Access, BlockId, OpaqueEffects, RegionId, Value};

/// Never traps, not movable.
fn safe(region: u32) -> Access {
    Access { region: RegionId(region), trap: None, movable: false, readonly: false, aligned: true }
}

pub(super) fn traps(region: u32, code: u32) -> Access {
    Access { trap: Some(code), ..safe(region) }
}

/// The rules over states that packs state: forwarding, overwriting, writing back what is there.
pub(super) fn memory_rules(case: &mut Case) {
    let (load, store) = (Head::Op(op_id(case.universe, "load")), Head::Op(op_id(case.universe, "store")));
    loop {
        let input_of = |case: &Case, class: ClassId| {
            let found = case.view.input_class.iter().position(|c| *c == class);
            InputId(found.expect("every class has an input node") as u32)
        };
        let mut equal: Vec<(ClassId, Node<ClassId>, Option<ClassId>)> = vec![];
        for (n, node) in case.view.nodes.iter().enumerate() {
            let class = case.view.node_class[n];
            let of = |class: ClassId| case.view.class(class).nodes.iter().map(|n| case.view.node(*n));
            if node.head == load {
                for inner in of(node.children[2]).filter(|i| i.head == store && i.types == node.types) {
                    if inner.children[0] == node.children[0] && inner.children[2] == node.children[1] {
                        equal.push((class, node.clone(), Some(inner.children[1])));
                    }
                }
            }
            if node.head == store {
                for inner in of(node.children[3]).filter(|i| i.head == store && i.types == node.types) {
                    if inner.children[0] == node.children[0] && inner.children[2] == node.children[2] {
                        let mut over = node.clone();
                        over.children[3] = inner.children[3];
                        equal.push((class, over, None));
                    }
                }
                let there = |v: &Node<ClassId>| {
                    v.head == load
                        && v.types == node.types
                        && v.children[..] == [node.children[0], node.children[2], node.children[3]]
                };
                if of(node.children[1]).any(there) {
                    equal.push((class, node.clone(), Some(node.children[3])));
                }
            }
        }
        let mut changed = false;
        for (class, node, other) in equal {
            if other.is_some_and(|o| o == class) {
                continue;
            }
            let right = match other {
                Some(other) => input_of(case, other),
                None => {
                    let known = case.view.nodes.iter().zip(&case.view.node_class);
                    if known.clone().any(|(n, c)| *n == node && *c == class) {
                        continue;
                    }
                    let children = node.children.iter().map(|c| input_of(case, *c)).collect();
                    case.skeleton.input.add(Node { head: node.head, types: node.types, children })
                }
            };
            let left = input_of(case, class);
            case.unite(left, right);
            changed = true;
            break;
        }
        if !changed {
            return;
        }
    }
}

/// The listing after memory rules and selection; blocks are `;`-separated in `memory` only by their order.
pub(super) fn memory(u: &Universe, params: &[&str], body: impl FnOnce(&mut Builder)) -> Vec<String> {
    let mut b = Builder::new(u, params);
    body(&mut b);
    let mut case = Case::new(&b, u);
    memory_rules(&mut case);
    listing(&case.optimised(), u)
}

fn store_at(b: &mut Builder, p: Value, v: Value, offset: i64, access: Access) {
    let offset = b.constant("i64", offset);
    b.inst("store", "i32", &[p, v, offset], Some(access));
}

fn load_at(b: &mut Builder, p: Value, offset: i64, access: Access) -> Value {
    let offset = b.constant("i64", offset);
    let inst = b.inst("load", "i32", &[p, offset], Some(access));
    b.function.inst(inst).results[0]
}

pub(super) fn args<const N: usize>(b: &Builder) -> [Value; N] {
    std::array::from_fn(|i| b.param(BlockId(0), i))
}

#[test]
fn save_clear_restore() {
    let u = universe();
    let out = memory(&u, &["i64"], |b| {
        let [p] = args(b);
        let v = b.load("i32", p, safe(1));
        let zero = b.constant("i32", 0);
        b.store("i32", p, zero, safe(1));
        b.store("i32", p, v, safe(1));
        b.ret(&[]);
    });
    assert_eq!(out, [""; 0], "the load is dead, too");
    let out = memory(&u, &["i64", "i32", "i32"], |b| {
        let [p, x, y] = args(b);
        let v = b.load("i32", p, safe(1));
        for w in [x, y, x, v] {
            b.store("i32", p, w, safe(1));
        }
        b.ret(&[v]);
    });
    assert_eq!(out, ["load"]);
}

#[test]
fn save_clear_restore_over_a_check_of_the_saved_value() {
    let u = universe();
    let body = |between: bool| {
        move |b: &mut Builder| {
            let [p] = args(b);
            let v = b.load("i32", p, safe(1));
            let zero = b.constant("i32", 0);
            if !between {
                b.check(v, 42, false);
            }
            b.store("i32", p, zero, safe(1));
            if between {
                b.check(v, 42, false);
            }
            b.store("i32", p, v, safe(1));
            b.ret(&[]);
        }
    };
    assert_eq!(memory(&u, &["i64"], body(false)), ["load", "trap"]);
    let between = memory(&u, &["i64"], body(true));
    assert_eq!(between.iter().filter(|n| *n == "store").count(), 2, "the check observes the cleared flag");
}

#[test]
fn two_regions_interleaved() {
    let u = universe();
    let out = memory(&u, &["i64", "i64"], |b| {
        let [p, q] = args(b);
        let (v, w) = (b.load("i32", p, safe(1)), b.load("i32", q, safe(2)));
        let zero = b.constant("i32", 0);
        b.store("i32", p, zero, safe(1));
        b.store("i32", q, zero, safe(2));
        b.store("i32", p, v, safe(1));
        b.store("i32", q, w, safe(2));
        b.ret(&[v, w]);
    });
    assert_eq!(out, ["load", "load"]);
}

#[test]
fn save_clear_restore_over_blocks() {
    let u = universe();
    let out = memory(&u, &["i64"], |b| {
        let [p] = args(b);
        let (b1, b2) = (b.block(&[]), b.block(&[]));
        let v = b.load("i32", p, safe(1));
        let zero = b.constant("i32", 0);
        b.store("i32", p, zero, safe(1));
        b.jump(b1, &[]);
        b.switch_to(b1);
        b.jump(b2, &[]);
        b.switch_to(b2);
        b.store("i32", p, v, safe(1));
        b.ret(&[v]);
    });
    assert_eq!(out, ["load"]);
}

#[test]
fn a_store_dies_over_a_diamond_that_does_not_look() {
    let u = universe();
    for looks in [false, true] {
        let out = memory(&u, &["i64", "i32", "i32"], |b| {
            let [p, x, y] = args(b);
            let (left, right, join) = (b.block(&[]), b.block(&[]), b.block(&["i32"]));
            b.store("i32", p, x, safe(1));
            b.branch(x, (left, &[]), (right, &[]));
            b.switch_to(left);
            let v = if looks { load_at(b, p, 8, safe(1)) } else { x };
            b.jump(join, &[v]);
            b.switch_to(right);
            b.jump(join, &[y]);
            b.switch_to(join);
            b.store("i32", p, y, safe(1));
            let r = b.param(join, 0);
            b.ret(&[r]);
        });
        assert_eq!(out.iter().filter(|n| *n == "store").count(), if looks { 2 } else { 1 });
    }
}

#[test]
fn calls_and_other_addresses_between() {
    let u = universe();
    let out = memory(&u, &["i64"], |b| {
        let [p] = args(b);
        let v = b.load("i32", p, safe(1));
        let zero = b.constant("i32", 0);
        b.store("i32", p, zero, safe(1));
        b.opaque(7, OpaqueEffects::Writes, &[p], &[]);
        b.store("i32", p, v, safe(1));
        b.ret(&[]);
    });
    assert_eq!(out, ["load", "store", "opaque", "store"]);
    let out = memory(&u, &["i64", "i32"], |b| {
        let [p, w] = args(b);
        let v = b.load("i32", p, safe(1));
        let zero = b.constant("i32", 0);
        store_at(b, p, zero, 0, safe(1));
        store_at(b, p, w, 8, safe(1));
        store_at(b, p, v, 0, safe(1));
        b.ret(&[]);
    });
    assert_eq!(out, ["load", "store", "store", "store"]);
    let out = memory(&u, &["i64", "i32"], |b| {
        let [p, w] = args(b);
        let zero = b.constant("i32", 0);
        b.store("i32", p, zero, safe(1));
        b.store("i32", p, w, safe(1));
        b.ret(&[]);
    });
    assert_eq!(out, ["store"]);
}

#[test]
fn trap_codes_decide_whether_a_store_is_dead() {
    let u = universe();
    let stores = |first: Access, second: Access, blocks: bool| {
        let out = memory(&u, &["i64", "i32", "i32"], |b| {
            let [p, x, y] = args(b);
            b.store("i32", p, x, first);
            if blocks {
                let next = b.block(&[]);
                b.jump(next, &[]);
                b.switch_to(next);
            }
            b.store("i32", p, y, second);
            b.ret(&[]);
        });
        out.len()
    };
    for blocks in [false, true] {
        assert_eq!(stores(traps(1, 10), traps(1, 20), blocks), 2);
        assert_eq!(stores(traps(1, 10), safe(1), blocks), 2);
        assert_eq!(stores(safe(1), traps(1, 20), blocks), 2);
        assert_eq!(stores(traps(1, 10), traps(1, 10), blocks), 1);
        assert_eq!(stores(safe(1), safe(1), blocks), 1);
    }
}

#[test]
fn a_store_to_another_region_between() {
    let u = universe();
    let stores = |accesses: [Access; 3]| {
        let out = memory(&u, &["i64", "i64"], |b| {
            let [p, q] = args(b);
            for (i, access) in accesses.into_iter().enumerate() {
                let v = b.constant("i32", 11 * (i as i64 + 1));
                b.store("i32", if i == 1 { q } else { p }, v, access);
            }
            b.ret(&[]);
        });
        out.len()
    };
    assert_eq!(stores([traps(1, 1), traps(2, 2), traps(1, 1)]), 3, "would change the trap");
    assert_eq!(stores([traps(1, 1), traps(2, 1), traps(1, 1)]), 3, "would store before the trap");
    assert_eq!(stores([safe(1), traps(2, 1), safe(1)]), 3, "would drop a store before the trap");
    assert_eq!(stores([traps(1, 1), safe(2), traps(1, 1)]), 3, "would store before the trap");
    assert_eq!(stores([safe(1), safe(2), safe(1)]), 2);
}

#[test]
fn a_store_that_is_overwritten_on_one_path_only_or_read() {
    let u = universe();
    let out = memory(&u, &["i64", "i32", "i32"], |b| {
        let [p, x, y] = args(b);
        let (left, right, join) = (b.block(&[]), b.block(&[]), b.block(&[]));
        b.store("i32", p, x, safe(1));
        b.branch(x, (left, &[]), (right, &[]));
        b.switch_to(left);
        b.store("i32", p, y, safe(1));
        b.jump(join, &[]);
        b.switch_to(right);
        b.jump(join, &[]);
        b.switch_to(join);
        b.ret(&[]);
    });
    assert_eq!(out, ["store", "store"]);
    let out = memory(&u, &["i64", "i32", "i32"], |b| {
        let [p, x, y] = args(b);
        store_at(b, p, x, 0, safe(1));
        let v = load_at(b, p, 8, safe(1));
        store_at(b, p, y, 0, safe(1));
        b.ret(&[v]);
    });
    assert_eq!(out, ["store", "load", "store"], "another address is read in between");
    let out = memory(&u, &["i64", "i32", "i32"], |b| {
        let [p, x, y] = args(b);
        store_at(b, p, x, 0, safe(1));
        let v = load_at(b, p, 0, safe(1));
        store_at(b, p, y, 0, safe(1));
        b.ret(&[v]);
    });
    assert_eq!(out, ["store"], "the read is forwarded");
}

#[test]
fn idempotent_stores() {
    let u = universe();
    let heap = traps(1, 3);
    let after_load = memory(&u, &["i64"], |b| {
        let [p] = args(b);
        let v = load_at(b, p, 8, heap);
        store_at(b, p, v, 8, heap);
        let w = load_at(b, p, 8, heap);
        b.ret(&[w]);
    });
    assert_eq!(after_load, ["load"]);
    let after_store = memory(&u, &["i64", "i32"], |b| {
        let [p, v] = args(b);
        store_at(b, p, v, 8, heap);
        store_at(b, p, v, 8, heap);
        b.ret(&[]);
    });
    assert_eq!(after_store, ["store"]);
    let dominated = memory(&u, &["i64"], |b| {
        let [p] = args(b);
        let v = load_at(b, p, 8, heap);
        let next = b.block(&[]);
        b.jump(next, &[]);
        b.switch_to(next);
        store_at(b, p, v, 8, heap);
        b.ret(&[]);
    });
    assert_eq!(dominated, ["load"]);
    let joined = memory(&u, &["i64", "i32"], |b| {
        let [p, v] = args(b);
        let (left, right, join) = (b.block(&[]), b.block(&[]), b.block(&[]));
        b.branch(v, (left, &[]), (right, &[]));
        b.switch_to(left);
        store_at(b, p, v, 8, heap);
        b.jump(join, &[]);
        b.switch_to(right);
        b.jump(join, &[]);
        b.switch_to(join);
        store_at(b, p, v, 8, heap);
        b.ret(&[]);
    });
    assert_eq!(joined, ["store", "store"]);
    let call = memory(&u, &["i64"], |b| {
        let [p] = args(b);
        let v = load_at(b, p, 8, heap);
        b.opaque(7, OpaqueEffects::Writes, &[p], &[]);
        store_at(b, p, v, 8, heap);
        b.ret(&[]);
    });
    assert_eq!(call, ["load", "opaque", "store"]);
}

#[test]
fn eight_regions() {
    let u = universe();
    let out = memory(&u, &["i64"; 8], |b| {
        let ps: [Value; 8] = args(b);
        for (i, p) in ps.iter().enumerate() {
            let v = b.constant("i32", 10 + i as i64);
            b.store("i32", *p, v, traps(i as u32 + 1, 3));
        }
        let loads: Vec<Value> = ps.iter().enumerate().map(|(i, p)| b.load("i32", *p, traps(i as u32 + 1, 3))).collect();
        b.ret(&loads);
    });
    assert_eq!(out, ["store"; 8]);
}

#[test]
fn a_join_forgets_what_only_one_path_keeps() {
    let u = universe();
    let out = memory(&u, &["i64"], |b| {
        let [p] = args(b);
        let (left, right, join) = (b.block(&[]), b.block(&[]), b.block(&[]));
        let v = b.constant("i32", 42);
        b.store("i32", p, v, traps(1, 3));
        b.branch(p, (left, &[]), (right, &[]));
        b.switch_to(left);
        b.opaque(7, OpaqueEffects::Writes, &[], &[]);
        b.jump(join, &[]);
        b.switch_to(right);
        b.jump(join, &[]);
        b.switch_to(join);
        let w = b.load("i32", p, traps(1, 3));
        b.ret(&[w]);
    });
    assert_eq!(out, ["store", "opaque", "load"]);
}

#[test]
fn a_store_in_a_loop_stays_and_one_around_it_goes() {
    let u = universe();
    let out = memory(&u, &["i64", "i32"], |b| {
        let [p, x] = args(b);
        let (head, exit) = (b.block(&["i32"]), b.block(&[]));
        b.store("i32", p, x, safe(1));
        b.jump(head, &[x]);
        b.switch_to(head);
        let i = b.param(head, 0);
        let one = b.constant("i32", 1);
        let next = b.op("isub", "i32", &[i, one]);
        b.branch(next, (head, &[next]), (exit, &[]));
        b.switch_to(exit);
        b.store("i32", p, next, safe(1));
        b.ret(&[]);
    });
    assert_eq!(out, ["isub", "store"]);
    let out = memory(&u, &["i64", "i32"], |b| {
        let [p, x] = args(b);
        let (head, exit) = (b.block(&["i32"]), b.block(&[]));
        b.jump(head, &[x]);
        b.switch_to(head);
        let i = b.param(head, 0);
        b.store("i32", p, i, safe(1));
        let one = b.constant("i32", 1);
        let next = b.op("isub", "i32", &[i, one]);
        b.branch(next, (head, &[next]), (exit, &[]));
        b.switch_to(exit);
        b.store("i32", p, next, safe(1));
        b.ret(&[]);
    });
    assert_eq!(out.iter().filter(|n| *n == "store").count(), 2);
}

#[test]
fn a_movable_load_leaves_the_loop_and_a_plain_one_does_not() {
    let u = universe();
    let looped = |access: Access| {
        let mut b = Builder::new(&u, &["i64", "i32"]);
        let [p, x] = args(&b);
        let (head, exit) = (b.block(&["i32"]), b.block(&[]));
        b.jump(head, &[x]);
        b.switch_to(head);
        let i = b.param(head, 0);
        let v = b.load("i32", p, access);
        let next = b.op("isub", "i32", &[i, v]);
        b.branch(next, (head, &[next]), (exit, &[]));
        b.switch_to(exit);
        b.ret(&[next]);
        let case = Case::new(&b, &u);
        let out = case.optimised();
        listing(&Function { layout: vec![out.layout[0]], ..out }, &u).len()
    };
    assert_eq!(looped(Access { movable: true, ..safe(1) }), 1);
    assert_eq!(looped(safe(1)), 0);
    assert_eq!(looped(traps(1, 3)), 0);
}
