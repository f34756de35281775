//! An access says that an equal one does not trap, but not behind a statement that may free the memory.

use super::memory::{args, traps};
use super::*;
use crate::ir::{BlockId, OpaqueEffects, Value};
use crate::skeleton::StatementKind;

/// Where the statement stands: between the first load and a branch; in one of two arms that meet before the branch; in a
/// loop before the branch; before the first load.
#[derive(Clone, Copy, Debug)]
enum Between {
    Straight,
    Arm,
    Loop,
    Before,
}

/// `first = load p; ..; if x { return load p } else if y { return load p } else { return first }`, with the statement
/// somewhere. The second loads are of another state than the first one because of a store to `r`, which nothing tells
/// apart from `p`.
fn guarded<'u>(u: &'u Universe, between: Between, effects: OpaqueEffects) -> (Builder<'u>, Value) {
    let mut b = Builder::new(u, &["i64", "i64", "i32", "i32"]);
    let [p, r, x, y] = args(&b);
    if let Between::Before = between {
        b.opaque(1, effects, &[p], &[]);
    }
    let first = b.load("i32", p, traps(1, 3));
    b.store("i32", r, x, traps(1, 3));
    match between {
        Between::Before => {}
        Between::Straight => _ = b.opaque(1, effects, &[p], &[]),
        Between::Arm => {
            let (arm, join) = (b.block(&[]), b.block(&[]));
            b.branch(y, (arm, &[]), (join, &[]));
            b.switch_to(arm);
            b.opaque(1, effects, &[p], &[]);
            b.jump(join, &[]);
            b.switch_to(join);
        }
        Between::Loop => {
            let (head, exit) = (b.block(&["i32"]), b.block(&[]));
            b.jump(head, &[x]);
            b.switch_to(head);
            b.opaque(1, effects, &[p], &[]);
            let next = b.op("isub", "i32", &[b.param(head, 0), y]);
            b.branch(next, (head, &[next]), (exit, &[]));
            b.switch_to(exit);
        }
    }
    let (left, right) = (b.block(&[]), b.block(&[]));
    let (inner, last) = (b.block(&[]), b.block(&[]));
    b.branch(x, (left, &[]), (right, &[]));
    b.switch_to(right);
    b.branch(y, (inner, &[]), (last, &[]));
    let mut loads = vec![];
    for block in [left, inner] {
        b.switch_to(block);
        let loaded = b.load("i32", p, traps(1, 3));
        loads.push(loaded);
        b.ret(&[loaded]);
    }
    b.switch_to(last);
    b.ret(&[first]);
    (b, loads[0])
}

/// Is a selection valid that loads before the branch instead of in its arms?
fn may_load_before_the_branch(u: &Universe, between: Between, effects: OpaqueEffects) -> bool {
    let (b, loaded) = guarded(u, between, effects);
    let case = Case::new(&b, u);
    let class = case.view.class_of(case.input(loaded));
    let node = case.view.node_class.iter().position(|c| *c == class).expect("a node of the load");
    let branch = case.skeleton.layout[case.skeleton.layout.len() - 5];
    let mut selection = case.select(Method::Ilp);
    selection.defs.retain(|(_, of), _| *of != class);
    selection.defs.insert((case.skeleton.last_segment(branch), class), Def::Node(NodeId(node as u32)));
    for (statement, choice) in case.skeleton.statements.iter().zip(&mut selection.statements) {
        if let StatementKind::Check { value: Some(value), .. } = statement.kind
            && case.view.class_of(value) == class
        {
            *choice = StatementChoice::Drop;
        }
    }
    let wrong = case.validate(&selection);
    !wrong.iter().any(|v| matches!(v, Violation::Unlicensed(..) | Violation::Uncovered(_)))
}

#[test]
fn a_statement_that_may_free_memory_ends_what_an_access_licenses() {
    let u = universe();
    for between in [Between::Straight, Between::Arm, Between::Loop, Between::Before] {
        let possible = |effects| may_load_before_the_branch(&u, between, effects);
        assert!(possible(OpaqueEffects::Pinned), "{between:?}: nothing can be freed");
        assert!(possible(OpaqueEffects::Observes), "{between:?}: nothing can be freed");
        assert_eq!(possible(OpaqueEffects::Writes), matches!(between, Between::Before), "{between:?}");
    }
}

#[test]
fn selection_keeps_to_it() {
    let u = universe();
    for between in [Between::Straight, Between::Arm, Between::Loop] {
        let (b, _) = guarded(&u, between, OpaqueEffects::Writes);
        let out = Case::new(&b, &u).optimised();
        let loads = |block: &BlockId| {
            let block = Function { layout: vec![*block], ..out.clone() };
            listing(&block, &u).iter().filter(|name| *name == "load").count()
        };
        let by_block: Vec<usize> = out.layout.iter().map(loads).filter(|n| *n > 0).collect();
        assert_eq!(by_block, [1, 1, 1], "{between:?}: one at the entry, and one in each arm");
    }
}
