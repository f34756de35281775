use super::*;
use crate::egraph::Node;
use crate::ir::alias::AliasClass;
use crate::ir::{Access, OpaqueEffects, RegionId, Value};
use crate::skeleton::{Skeleton, StatementKind, build};
use crate::testing::{Builder, trap_code, universe};
use rewright_typeprop::Universe;

const SAFE: Access = Access { region: RegionId(0), trap: None, movable: false, readonly: false, aligned: true };
const LOADS: AliasClass = AliasClass(1);
const STORES: AliasClass = AliasClass(2);

/// A function over an address, a second one, and a value.
fn function(universe: &Universe) -> (Builder<'_>, [Value; 3]) {
    let b = Builder::new(universe, &["i64", "i64", "i32"]);
    let params = [0, 1, 2].map(|n| b.param(b.function.entry(), n));
    (b, params)
}

/// A load that does not see stores of [`unseen`].
fn load(b: &mut Builder<'_>, p: Value, of: Unseen) -> Value {
    let value = b.load("i32", p, SAFE);
    let inst = InstId(b.function.insts.len() as u32 - 1);
    b.function.aliases.set_class(inst, LOADS);
    b.function.aliases.set_unseen(LOADS, STORES, of);
    value
}

fn unseen(b: &mut Builder<'_>, p: Value, v: Value) {
    b.store("i32", p, v, SAFE);
    let inst = InstId(b.function.insts.len() as u32 - 1);
    b.function.aliases.set_class(inst, STORES);
}

fn skeleton(b: &Builder<'_>, universe: &Universe) -> Skeleton {
    build(&b.function, &Cfg::new(&b.function), universe, &trap_code)
}

/// The state that a load sees, where it has one of its own.
fn seen(s: &Skeleton, load: Value) -> Option<InputId> {
    let node = s.value_input[load.index()]?;
    let own = s.statements.iter().find_map(|statement| match statement.kind {
        StatementKind::Check { value: Some(value), own, .. } if value == node => own,
        _ => None,
    })?;
    assert_eq!(s.input.nodes[node.index()].children.last(), Some(&own.state));
    let (_, Node { children, .. }) = s.input.equations.iter().find(|(of, _)| *of == node)?;
    children.last().copied()
}

#[test]
fn stores_that_are_not_seen_are_left_out() {
    let u = universe();
    let (mut b, [p, q, v]) = function(&u);
    b.store("i32", p, v, SAFE);
    unseen(&mut b, q, v);
    let first = load(&mut b, p, Unseen::Last);
    let nine = b.constant("i32", 9);
    b.store("i32", q, nine, SAFE);
    unseen(&mut b, q, v);
    let second = load(&mut b, p, Unseen::Last);
    let other = b.load("i32", p, SAFE);
    b.ret(&[first, second, other]);
    let s = skeleton(&b, &u);
    assert_eq!(seen(&s, first), Some(s.live[0][1]), "the state after the first store");
    let state = seen(&s, second).expect("a state of its own");
    // The third store, over what the first load sees: nowhere is memory like that.
    assert_eq!(s.input.nodes[state.index()].children.last(), Some(&s.live[0][1]));
    assert!(!s.live[0].contains(&state));
    assert_eq!(seen(&s, other), None, "of which nothing is said");
}

#[test]
fn what_is_not_a_store_is_seen() {
    let u = universe();
    let (mut b, [p, q, v]) = function(&u);
    unseen(&mut b, q, v);
    b.opaque(0, OpaqueEffects::Writes, &[], &[]);
    let before = load(&mut b, p, Unseen::All);
    unseen(&mut b, q, v);
    let after = load(&mut b, p, Unseen::All);
    b.ret(&[before, after]);
    let s = skeleton(&b, &u);
    assert_eq!(seen(&s, before), None);
    assert_eq!(seen(&s, after), Some(s.live[0][2]), "the state after the call");
}

/// A load behind a branch with a store in one arm, and one in the other if `both`.
fn behind_arms(u: &Universe, of: Unseen, both: bool) -> bool {
    let (mut b, [p, q, v]) = function(u);
    let (left, right, join) = (b.block(&[]), b.block(&[]), b.block(&[]));
    b.branch(v, (left, &[]), (right, &[]));
    b.switch_to(left);
    unseen(&mut b, q, v);
    b.jump(join, &[]);
    b.switch_to(right);
    if both {
        b.store("i32", q, v, SAFE);
    }
    b.jump(join, &[]);
    b.switch_to(join);
    let found = load(&mut b, p, of);
    b.ret(&[found]);
    let s = skeleton(&b, u);
    seen(&s, found).is_some_and(|state| state == s.live[0][0])
}

#[test]
fn arms_that_store_nothing_that_is_seen_are_left_out() {
    let u = universe();
    for of in [Unseen::All, Unseen::Last] {
        assert!(behind_arms(&u, of, false), "{of:?}");
        assert!(!behind_arms(&u, of, true), "{of:?}");
    }
}

/// A load in a loop, or behind it, with a store in it: does it see the state before the loop?
fn around_a_loop(u: &Universe, of: Unseen, behind: bool, opaque: bool) -> Option<bool> {
    let (mut b, [p, q, v]) = function(u);
    let (body, exit) = (b.block(&[]), b.block(&[]));
    b.jump(body, &[]);
    b.switch_to(body);
    let mut found = if behind { None } else { Some(load(&mut b, p, of)) };
    unseen(&mut b, q, v);
    if opaque {
        b.opaque(0, OpaqueEffects::Writes, &[], &[]);
    }
    b.branch(v, (body, &[]), (exit, &[]));
    b.switch_to(exit);
    if behind {
        found = Some(load(&mut b, p, of));
    }
    b.ret(&[]);
    let s = skeleton(&b, u);
    Some(seen(&s, found?)? == s.live[0][0])
}

#[test]
fn earlier_iterations_are_left_out_only_by_types() {
    let u = universe();
    assert_eq!(around_a_loop(&u, Unseen::All, false, false), Some(true));
    assert_eq!(around_a_loop(&u, Unseen::All, true, false), Some(true));
    assert_eq!(around_a_loop(&u, Unseen::Last, false, false), None);
    // The last iteration's store is left out, those before it are not.
    assert_eq!(around_a_loop(&u, Unseen::Last, true, false), Some(false));
    for of in [Unseen::All, Unseen::Last] {
        assert_eq!(around_a_loop(&u, of, false, true), None, "{of:?}");
        assert_eq!(around_a_loop(&u, of, true, true), None, "{of:?}");
    }
}
