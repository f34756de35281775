//! Loads that do not see all stores: they are executed at their sites, and nowhere else in a state of their own.

use super::*;
use crate::egraph::{ClassId, NodeId};
use crate::ir::alias::{AliasClass, Unseen};
use crate::ir::{Access, BlockId, InstId, RegionId, Value};
use crate::skeleton::{OwnState, StatementKind};

const SAFE: Access = Access { region: RegionId(0), trap: None, movable: false, readonly: false, aligned: true };
const LOADS: AliasClass = AliasClass(1);
const STORES: AliasClass = AliasClass(2);

fn last(b: &Builder<'_>) -> InstId {
    InstId(b.function.insts.len() as u32 - 1)
}

fn load(b: &mut Builder<'_>, p: Value) -> Value {
    let loaded = b.load("i32", p, SAFE);
    let inst = last(b);
    b.function.aliases.set_class(inst, LOADS);
    b.function.aliases.set_unseen(LOADS, STORES, Unseen::All);
    loaded
}

fn unseen(b: &mut Builder<'_>, p: Value, v: Value) {
    b.store("i32", p, v, SAFE);
    let inst = last(b);
    b.function.aliases.set_class(inst, STORES);
}

/// What a function over two addresses and two values becomes, by rules over memory.
fn case(u: &Universe, body: impl FnOnce(&mut Builder<'_>, [Value; 4])) -> Case<'_> {
    let mut b = Builder::new(u, &["i64", "i64", "i32", "i32"]);
    let params = std::array::from_fn(|i| b.param(BlockId(0), i));
    body(&mut b, params);
    let mut case = Case::new(&b, u);
    for (input, node) in case.skeleton.input.equations.clone() {
        let other = case.skeleton.input.add(node);
        case.unite(input, other);
    }
    memory::memory_rules(&mut case);
    case
}

#[test]
fn what_is_stored_is_forwarded_and_the_store_stays() {
    let u = universe();
    let case = case(&u, |b, [p, q, v, w]| {
        b.store("i32", p, v, SAFE);
        unseen(b, q, w);
        let loaded = load(b, p);
        b.ret(&[loaded]);
    });
    assert_eq!(listing(&case.optimised(), &u), ["store", "store"]);
}

#[test]
fn a_load_stays_between_stores_that_it_does_not_see() {
    let u = universe();
    let between = |of_same: bool| {
        case(&u, |b, [p, q, v, w]| {
            unseen(b, q, v);
            let loaded = load(b, p);
            unseen(b, if of_same { q } else { p }, w);
            b.ret(&[loaded]);
        })
    };
    assert_eq!(listing(&between(false).optimised(), &u), ["store", "load", "store"]);
    // The load sees the contents from before the first store.
    assert_eq!(listing(&between(true).optimised(), &u), ["load", "store"]);
}

#[test]
fn stores_that_a_load_does_not_see_go_in_front_of_it() {
    let u = universe();
    let case = case(&u, |b, [p, q, v, w]| {
        b.store("i32", q, v, SAFE);
        unseen(b, p, w);
        let loaded = load(b, p);
        unseen(b, p, v);
        b.store("i32", q, w, SAFE);
        b.ret(&[loaded]);
    });
    assert_eq!(listing(&case.optimised(), &u), ["store", "load", "store", "store"]);
}

/// A load in front of a store that it does not see, and behind one.
fn in_front<'u>(u: &'u Universe) -> (Case<'u>, ClassId, NodeId, OwnState) {
    let case = case(u, |b, [p, q, v, w]| {
        unseen(b, q, v);
        let loaded = load(b, p);
        unseen(b, p, w);
        b.ret(&[loaded]);
    });
    let (value, own) = case
        .skeleton
        .statements
        .iter()
        .find_map(|statement| match statement.kind {
            StatementKind::Check { value: Some(value), own: Some(own), .. } => Some((value, own)),
            _ => None,
        })
        .expect("the load");
    let (class, state) = (case.view.class_of(value), case.view.class_of(own.state));
    let mut nodes = case.view.class(class).nodes.iter().copied();
    let node = nodes.find(|node| case.view.node(*node).children.last() == Some(&state)).expect("its own node");
    (case, class, node, own)
}

#[test]
fn a_state_of_a_load_is_live_at_its_site_only() {
    let u = universe();
    let (case, class, node, own) = in_front(&u);
    for method in [Method::Greedy, Method::Ilp] {
        let right = case.select(method);
        assert_eq!(case.validate(&right), []);
        for at in (0..case.skeleton.segment_block.len() as u32).map(SegmentId) {
            let mut wrong = right.clone();
            wrong.defs.insert((at, class), Def::Node(node));
            let found = case.validate(&wrong);
            let is_site = at == SegmentId(1);
            assert_eq!(found.contains(&Violation::NotLive(at, class)), !is_site, "{at:?}: {found:?}");
        }
        // In the state that it sees it may stand where that is live.
        let seen = case.view.class_of(own.seen);
        let nodes = &case.view.class(class).nodes;
        let other = nodes.iter().find(|node| case.view.node(**node).children.last() == Some(&seen));
        let mut earlier = right.clone();
        earlier.defs.insert((SegmentId(0), class), Def::Node(*other.expect("a node over that state")));
        assert!(!case.validate(&earlier).contains(&Violation::NotLive(SegmentId(0), class)));
    }
}

/// A store that the load sees goes, and the load stays: another value.
#[test]
fn a_load_does_not_stay_where_memory_has_changed() {
    let u = universe();
    let case = case(&u, |b, [p, q, v, w]| {
        unseen(b, p, w);
        b.store("i32", q, v, SAFE);
        let loaded = load(b, p);
        b.ret(&[loaded]);
    });
    let mut selection = case.select(Method::Greedy);
    assert_eq!(case.validate(&selection), []);
    selection.statements[1] = StatementChoice::Drop;
    let found = case.validate(&selection);
    assert!(found.iter().any(|v| matches!(v, Violation::NotLive(..))), "{found:?}");
}
