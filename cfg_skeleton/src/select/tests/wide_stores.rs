//! One wider store in place of two beside each other: only where neither may trap, and where nothing reads memory in between.

use super::*;
use crate::ir::{Access, BlockId, OpaqueEffects, RegionId, Value};

const SAFE: Access = Access { region: RegionId(0), trap: None, movable: false, readonly: false, aligned: true };
const HEAP: Access = Access { trap: Some(3), ..SAFE };

/// A pointer, two halves, and both of them in a word.
fn parameters(u: &Universe) -> (Builder<'_>, [Value; 4]) {
    let b = Builder::new(u, &["i64", "i32", "i32", "i64"]);
    let values = std::array::from_fn(|i| b.param(BlockId(0), i));
    (b, values)
}

fn store(b: &mut Builder<'_>, ty: &str, p: Value, v: Value, offset: i64, access: Access) {
    let offset = b.constant("i64", offset);
    b.inst("store", ty, &[p, v, offset], Some(access));
}

/// The function, where a store of the word at an offset leaves the same state behind as the last two stores.
fn with_word<'u>(mut b: Builder<'u>, u: &'u Universe, [p, _, _, word]: [Value; 4], offset: i64) -> Case<'u> {
    let offset = b.constant("i64", offset);
    b.ret(&[]);
    let mut case = Case::new(&b, u);
    let writes: Vec<InputId> = case.skeleton.statements.iter().filter_map(out).collect();
    let [.., first, last] = writes[..] else { panic!("two stores") };
    let before = case.skeleton.input.nodes[first.index()].children[3];
    let children = [p, word, offset].map(|value| case.input(value));
    let wide = case.op("store", "i64", &[children[0], children[1], children[2], before]);
    case.unite(wide, last);
    case
}

fn out(statement: &crate::skeleton::Statement) -> Option<InputId> {
    match statement.kind {
        crate::skeleton::StatementKind::Write { out, .. } => Some(out),
        _ => None,
    }
}

/// The widths in bits of the stores that are left.
fn stored(case: &Case<'_>) -> Vec<u32> {
    let f = case.optimised();
    let insts = f.layout.iter().flat_map(|b| &f.block(*b).insts).map(|id| f.inst(*id));
    let stores = insts.filter(|inst| inst.args.len() == 3);
    stores
        .map(|inst| if f.ty(inst.args[1]) == case.universe.types.find("i64").expect("i64") { 64 } else { 32 })
        .collect()
}

/// Two stores of halves beside each other, with something before and between them.
fn halves(u: &Universe, accesses: [Access; 2], around: [fn(&mut Builder<'_>, [Value; 4]); 2], at: i64) -> Case<'_> {
    let (mut b, values) = parameters(u);
    let [p, low, high, _] = values;
    around[0](&mut b, values);
    store(&mut b, "i32", p, low, 0, accesses[0]);
    around[1](&mut b, values);
    store(&mut b, "i32", p, high, 4, accesses[1]);
    with_word(b, u, values, at)
}

const NOTHING: fn(&mut Builder<'_>, [Value; 4]) = |_, _| {};

#[test]
fn two_stores_that_cannot_trap_are_one() {
    let u = universe();
    let case = halves(&u, [SAFE, SAFE], [NOTHING, NOTHING], 0);
    assert_eq!(stored(&case), [64]);
    let f = case.optimised();
    let store = f.insts.iter().find(|inst| inst.args.len() == 3).expect("a store");
    // Promises about the halves are not promises about the word.
    let InstKind::Op { access: Some(access), .. } = store.kind else { panic!("an access") };
    assert_eq!(access, Access { aligned: false, ..SAFE });
}

#[test]
fn a_store_that_may_trap_stays() {
    let u = universe();
    for accesses in [[SAFE, HEAP], [HEAP, SAFE], [HEAP, HEAP]] {
        assert_eq!(stored(&halves(&u, accesses, [NOTHING, NOTHING], 0)), [32, 32], "{accesses:?}");
    }
}

#[test]
fn what_was_written_before_cannot_trap() {
    fn both(b: &mut Builder<'_>, [p, low, high, _]: [Value; 4]) {
        store(b, "i32", p, high, 0, HEAP);
        store(b, "i32", p, low, 4, HEAP);
    }
    let u = universe();
    // Nothing here says that the first ones are overwritten.
    assert_eq!(stored(&halves(&u, [HEAP, HEAP], [both, NOTHING], 0)), [32, 32, 64]);
    let one = |b: &mut Builder<'_>, [p, low, ..]: [Value; 4]| store(b, "i32", p, low, 4, HEAP);
    assert_eq!(stored(&halves(&u, [HEAP, HEAP], [one, NOTHING], 0)), [32, 32, 32]);
    // A call may have freed it.
    let freed = |b: &mut Builder<'_>, values: [Value; 4]| {
        both(b, values);
        b.opaque(1, OpaqueEffects::Writes, &[], &[]);
    };
    assert_eq!(stored(&halves(&u, [HEAP, HEAP], [freed, NOTHING], 0)), [32, 32, 32, 32]);
}

#[test]
fn other_bytes_are_not_written() {
    let u = universe();
    for offset in [-4, 4, 1, 8] {
        assert_eq!(stored(&halves(&u, [SAFE, SAFE], [NOTHING, NOTHING], offset)), [32, 32], "{offset}");
    }
}

#[test]
fn nobody_looks_in_between() {
    let u = universe();
    let looks = |b: &mut Builder<'_>, _: [Value; 4]| _ = b.opaque(1, OpaqueEffects::Observes, &[], &[]);
    assert_eq!(stored(&halves(&u, [SAFE, SAFE], [NOTHING, looks], 0)), [32, 32]);
    let traps = |b: &mut Builder<'_>, [_, low, ..]: [Value; 4]| b.check(low, 42, true);
    assert_eq!(stored(&halves(&u, [SAFE, SAFE], [NOTHING, traps], 0)), [32, 32]);
}

/// Executes the word at the site of the last store, where it is not chosen, and drops the one before.
fn forced(case: &Case<'_>, drops: bool) -> Vec<Violation> {
    let mut selection = case.select(Method::Greedy);
    let writes = case.skeleton.statements.iter().enumerate().filter(|(_, s)| out(s).is_some());
    let sites: Vec<SiteId> = writes.map(|(site, _)| SiteId(site as u32)).collect();
    let [.., first, last] = sites[..] else { panic!("two stores") };
    let i64 = case.universe.types.find("i64").expect("i64");
    let store = Head::Op(op_id(case.universe, "store"));
    let wide = case.view.nodes.iter().rposition(|node| node.head == store && node.types[..] == [i64]);
    let wide = NodeId(wide.expect("the word") as u32);
    if drops {
        selection.statements[first.index()] = StatementChoice::Drop;
        selection.defs.remove(&(case.skeleton.segment_before(first), executed(&case.view, first)));
    }
    let at = (case.skeleton.segment_before(last), executed(&case.view, last));
    selection.defs.insert(at, Def::Node(wide));
    case.validate(&selection)
}

#[test]
fn the_validator_refuses_what_is_not_chosen() {
    let u = universe();
    let all_good = halves(&u, [SAFE, SAFE], [NOTHING, NOTHING], 0);
    assert_eq!(forced(&all_good, false), [], "it is chosen");
    let is_at_site = |found: &[Violation]| found.iter().any(|v| matches!(v, Violation::NotAtSite(..)));
    for accesses in [[SAFE, HEAP], [HEAP, SAFE], [HEAP, HEAP]] {
        for drops in [false, true] {
            let found = forced(&halves(&u, accesses, [NOTHING, NOTHING], 0), drops);
            assert!(is_at_site(&found) || accesses[1] == SAFE, "{accesses:?}: {found:?}");
            assert!(!found.is_empty(), "{accesses:?}");
        }
    }
    for offset in [-4, 4, 1, 8] {
        assert!(is_at_site(&forced(&halves(&u, [SAFE, SAFE], [NOTHING, NOTHING], offset), true)), "{offset}");
    }
    let looks = |b: &mut Builder<'_>, _: [Value; 4]| _ = b.opaque(1, OpaqueEffects::Observes, &[], &[]);
    let seen = halves(&u, [SAFE, SAFE], [NOTHING, looks], 0);
    assert!(forced(&seen, true).iter().any(|v| matches!(v, Violation::Observed(..))));
    assert!(forced(&seen, false).iter().any(|v| matches!(v, Violation::WriteInOtherState(_))));
}
