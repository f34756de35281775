//! The validator rejects what is wrong, and says what.

use super::*;
use crate::egraph::{ClassId, NodeId};
use crate::ir::{Access, BlockId, OpaqueEffects, RegionId, Value};

const HEAP: Access = Access { region: RegionId(0), trap: Some(3), movable: false, readonly: false, aligned: true };
const SAFE: Access = Access { trap: None, ..HEAP };

/// A loop with everything in it, and where its parts are.
struct Parts {
    head: BlockId,
    exit: BlockId,
    product: Value,
    loaded: Value,
    later: Value,
    quotient: Value,
    called: Value,
    next: Value,
}

fn sample(u: &Universe) -> (Builder<'_>, Parts) {
    let mut b = Builder::new(u, &["i64", "i32", "i32"]);
    let [p, x, y] = std::array::from_fn(|i| b.param(BlockId(0), i));
    let (head, exit) = (b.block(&["i32"]), b.block(&[]));
    let product = b.op("imul", "i32", &[x, y]);
    b.store("i32", p, product, SAFE);
    b.jump(head, &[x]);
    b.switch_to(head);
    let i = b.param(head, 0);
    let loaded = b.load("i32", p, HEAP);
    let quotient = b.op("udiv", "i32", &[loaded, i]);
    let called = b.opaque(1, OpaqueEffects::Writes, &[quotient], &["i32"])[0];
    let later = b.load("i32", p, HEAP);
    let next = b.op("isub", "i32", &[called, later]);
    b.branch(next, (head, &[next]), (exit, &[]));
    b.switch_to(exit);
    b.store("i32", p, next, HEAP);
    b.ret(&[loaded]);
    (b, Parts { head, exit, product, loaded, later, quotient, called, next })
}

fn check(wanted: fn(&Violation) -> bool, corrupt: impl FnOnce(&Case, &Parts, &mut Selection)) {
    let u = universe();
    let (b, parts) = sample(&u);
    let mut case = Case::new(&b, &u);
    // A class that can wait for itself.
    let product = case.input(parts.product);
    let one = case.add(Head::Const(1), "i32", &[]);
    let more = case.op("iadd", "i32", &[product, one]);
    let less = case.op("isub", "i32", &[more, one]);
    case.unite(product, less);
    let mut selection = case.select(Method::Greedy);
    assert_eq!(case.validate(&selection), []);
    corrupt(&case, &parts, &mut selection);
    let found = case.validate(&selection);
    assert!(found.iter().any(wanted), "{found:?}");
    assert!(found.iter().all(|v| !v.to_string().is_empty()));
}

impl Case<'_> {
    fn class(&self, value: Value) -> ClassId {
        self.view.class_of(self.input(value))
    }

    fn node_of(&self, value: Value) -> NodeId {
        let class = self.class(value);
        let original = &self.skeleton.input.nodes[self.input(value).index()];
        let nodes = &self.view.class(class).nodes;
        *nodes.iter().find(|n| self.view.node(**n).head == original.head).expect("its own node")
    }

    fn def_of(&self, selection: &Selection, class: ClassId) -> (SegmentId, ClassId) {
        *selection.defs.keys().find(|(_, c)| *c == class).expect("it is defined")
    }

    fn first(&self, block: BlockId) -> SegmentId {
        self.skeleton.segments(block).next().expect("every block has one")
    }

    fn site(&self, of: fn(&crate::skeleton::StatementKind) -> bool, nth: usize) -> SiteId {
        let sites = self.skeleton.statements.iter().enumerate().filter(|(_, s)| of(&s.kind));
        SiteId(sites.map(|(i, _)| i as u32).nth(nth).expect("there are that many"))
    }
}

fn is_write(kind: &crate::skeleton::StatementKind) -> bool {
    matches!(kind, crate::skeleton::StatementKind::Write { .. })
}

fn is_opaque(kind: &crate::skeleton::StatementKind) -> bool {
    matches!(kind, crate::skeleton::StatementKind::Opaque { .. })
}

fn is_check(kind: &crate::skeleton::StatementKind) -> bool {
    matches!(kind, crate::skeleton::StatementKind::Check { .. })
}

#[test]
fn a_missing_choice() {
    check(|v| *v == Violation::StatementCount, |_, _, s| _ = s.statements.pop());
}

#[test]
fn a_segment_or_class_that_does_not_exist() {
    check(
        |v| matches!(v, Violation::OutOfRange(..)),
        |_, _, s| _ = s.defs.insert((SegmentId(9999), ClassId(0)), Def::Node(NodeId(0))),
    );
    check(
        |v| matches!(v, Violation::OutOfRange(..)),
        |_, _, s| _ = s.defs.insert((SegmentId(0), ClassId(9999)), Def::Node(NodeId(0))),
    );
    check(
        |v| matches!(v, Violation::OutOfRange(..)),
        |_, _, s| _ = s.defs.insert((SegmentId(0), ClassId(0)), Def::Node(NodeId(9999))),
    );
    check(
        |v| matches!(v, Violation::OutOfRange(..)),
        |_, _, s| _ = s.defs.insert((SegmentId(0), ClassId(0)), Def::Param { block: BlockId(0), index: 77 }),
    );
    check(
        |v| matches!(v, Violation::OutOfRange(..)),
        |_, _, s| _ = s.defs.insert((SegmentId(0), ClassId(0)), Def::Result { site: SiteId(77), index: 0 }),
    );
}

#[test]
fn a_node_of_another_class() {
    check(
        |v| matches!(v, Violation::WrongClass(..)),
        |case, parts, s| {
            let key = case.def_of(s, case.class(parts.product));
            s.defs.insert(key, Def::Node(case.node_of(parts.next)));
        },
    );
}

#[test]
fn a_result_of_another_class() {
    check(
        |v| matches!(v, Violation::WrongClass(..)),
        |case, parts, s| {
            let def = s.defs[&case.def_of(s, case.class(parts.called))];
            s.defs.insert((case.first(parts.exit), case.class(parts.product)), def);
        },
    );
}

#[test]
fn a_result_or_parameter_that_does_not_begin_there() {
    check(
        |v| matches!(v, Violation::WrongSegment(..)),
        |case, parts, s| {
            let key = case.def_of(s, case.class(parts.called));
            let def = s.defs.remove(&key).unwrap();
            s.defs.insert((case.first(parts.head), key.1), def);
        },
    );
    check(
        |v| matches!(v, Violation::WrongSegment(..)),
        |case, parts, s| {
            let class = case.view.class_of(case.skeleton.blocks[parts.head.index()].params[0]);
            let def = s.defs.remove(&(case.first(parts.head), class)).unwrap();
            s.defs.insert((case.first(parts.exit), class), def);
        },
    );
}

#[test]
fn a_leaf_or_a_state_as_a_value() {
    check(
        |v| matches!(v, Violation::NotAValue(..)),
        |case, parts, s| {
            let key = case.def_of(s, case.class(parts.called));
            let leaf = case.view.class(key.1).nodes[0];
            s.defs.insert(key, Def::Node(leaf));
        },
    );
    check(
        |v| matches!(v, Violation::NotAValue(..)),
        |case, _, s| {
            let store = case.view.nodes.iter().position(|n| n.head == Head::Op(op_id(case.universe, "store"))).unwrap();
            s.defs.insert((SegmentId(1), case.view.node_class[store]), Def::Node(NodeId(store as u32)));
        },
    );
}

#[test]
fn a_pinned_statement_dropped() {
    check(
        |v| matches!(v, Violation::PinnedDropped(_)),
        |case, _, s| s.statements[case.site(is_opaque, 0).index()] = StatementChoice::Drop,
    );
}

#[test]
fn a_load_as_a_bare_check() {
    check(
        |v| matches!(v, Violation::Fusion(_)),
        |case, _, s| s.statements[case.site(is_check, 0).index()] = StatementChoice::Keep { fused: false },
    );
}

#[test]
fn a_result_of_a_check_without_its_operation() {
    check(
        |v| matches!(v, Violation::NoResult(..)),
        |case, parts, s| {
            let Def::Result { site, .. } = s.defs[&case.def_of(s, case.class(parts.quotient))] else { panic!() };
            s.statements[site.index()] = StatementChoice::Keep { fused: false };
        },
    );
}

#[test]
fn a_definition_that_is_gone_or_too_late_or_on_another_path() {
    let gone = |v: &Violation| matches!(v, Violation::Unavailable(..));
    check(gone, |case, parts, s| _ = s.defs.remove(&case.def_of(s, case.class(parts.product))));
    check(gone, |case, parts, s| {
        let key = case.def_of(s, case.class(parts.product));
        let def = s.defs.remove(&key).unwrap();
        s.defs.insert((SegmentId(1), key.1), def);
    });
    check(gone, |case, parts, s| {
        let key = case.def_of(s, case.class(parts.next));
        let def = s.defs.remove(&key).unwrap();
        s.defs.insert((case.first(parts.exit), key.1), def);
    });
}

#[test]
fn an_argument_of_a_parameter_that_is_gone() {
    check(
        |v| matches!(v, Violation::Unavailable(..)),
        |case, parts, s| {
            let x = case.view.class_of(case.skeleton.blocks[0].params[1]);
            let _ = parts;
            s.defs.remove(&(case.first(BlockId(0)), x));
        },
    );
}

#[test]
fn definitions_that_wait_for_each_other() {
    check(
        |v| matches!(v, Violation::Cyclic(..)),
        |case, parts, s| {
            let key = case.def_of(s, case.class(parts.product));
            let class = case.view.class(key.1);
            let less = class.nodes.iter().copied().find(|n| *n != case.node_of(parts.product)).unwrap();
            let [more, one] = case.view.node(less).children[..] else { panic!() };
            s.defs.insert(key, Def::Node(less));
            s.defs.insert((key.0, more), Def::Node(case.view.class(more).nodes[0]));
            s.defs.insert((key.0, one), Def::Node(case.view.class(one).nodes[0]));
        },
    );
}

#[test]
fn a_store_dropped_that_somebody_sees() {
    check(
        |v| matches!(v, Violation::Observed(..) | Violation::StatesMeet(..)),
        |case, _, s| s.statements[case.site(is_write, 0).index()] = StatementChoice::Drop,
    );
    check(
        |v| matches!(v, Violation::Observed(..)),
        |case, _, s| s.statements[case.site(is_write, 1).index()] = StatementChoice::Drop,
    );
}

#[test]
fn a_load_where_its_state_is_not_live() {
    check(
        |v| matches!(v, Violation::NotLive(..)),
        |case, parts, s| {
            s.defs.insert((case.first(parts.exit), case.class(parts.loaded)), Def::Node(case.node_of(parts.loaded)));
        },
    );
}

#[test]
fn a_check_dropped_that_nothing_covers() {
    // The loads are covered by the store before the loop.
    check(
        |v| matches!(v, Violation::Uncovered(_)),
        |case, _, s| s.statements[case.site(is_check, 1).index()] = StatementChoice::Drop,
    );
}

#[test]
fn a_value_that_may_trap_before_its_check() {
    check(
        |v| matches!(v, Violation::Unlicensed(..)),
        |case, parts, s| {
            let class = case.class(parts.quotient);
            s.defs.insert((case.first(parts.head), class), Def::Node(case.node_of(parts.quotient)));
        },
    );
}

#[test]
fn a_load_before_its_check() {
    let u = universe();
    let mut b = Builder::new(&u, &["i64", "i32"]);
    let [p, x] = std::array::from_fn(|i| b.param(BlockId(0), i));
    let (left, right) = (b.block(&[]), b.block(&[]));
    b.branch(x, (left, &[]), (right, &[]));
    b.switch_to(left);
    let v = b.load("i32", p, SAFE);
    b.ret(&[v]);
    b.switch_to(right);
    b.ret(&[x]);
    let case = Case::new(&b, &u);
    let mut s = case.select(Method::Greedy);
    s.defs.insert((case.first(BlockId(0)), case.class(v)), Def::Node(case.node_of(v)));
    assert!(case.validate(&s).iter().any(|v| matches!(v, Violation::Unlicensed(..))));
}

#[test]
fn a_write_in_a_state_that_gives_something_else() {
    let u = universe();
    let mut b = Builder::new(&u, &["i64", "i64", "i32"]);
    let [p, q, x] = std::array::from_fn(|i| b.param(BlockId(0), i));
    b.store("i32", p, x, SAFE);
    b.store("i32", q, x, SAFE);
    b.ret(&[]);
    let case = Case::new(&b, &u);
    let mut s = case.select(Method::Greedy);
    s.statements[0] = StatementChoice::Drop;
    assert!(case.validate(&s).iter().any(|v| matches!(v, Violation::WriteInOtherState(_))));
}

#[test]
fn paths_that_meet_in_different_states() {
    let u = universe();
    let mut b = Builder::new(&u, &["i64", "i32"]);
    let [p, x] = std::array::from_fn(|i| b.param(BlockId(0), i));
    let (left, right, join) = (b.block(&[]), b.block(&[]), b.block(&[]));
    b.branch(x, (left, &[]), (right, &[]));
    b.switch_to(left);
    b.store("i32", p, x, SAFE);
    b.jump(join, &[]);
    b.switch_to(right);
    b.jump(join, &[]);
    b.switch_to(join);
    b.ret(&[]);
    let case = Case::new(&b, &u);
    let mut s = case.select(Method::Greedy);
    s.statements[0] = StatementChoice::Drop;
    assert!(case.validate(&s).iter().any(|v| matches!(v, Violation::StatesMeet(..))));
}

#[test]
fn a_const_operand_that_is_none() {
    let u = universe();
    let mut b = Builder::new(&u, &["i64", "i32"]);
    let [p, _] = std::array::from_fn(|i| b.param(BlockId(0), i));
    let v = b.load("i32", p, SAFE);
    b.ret(&[v]);
    let case = Case::new(&b, &u);
    let s = case.select(Method::Greedy);
    let mut case = case;
    for class in &mut case.view.classes {
        class.constant = None;
    }
    let mut s = s;
    s.defs.insert((SegmentId(1), case.class(v)), Def::Node(case.node_of(v)));
    assert!(case.validate(&s).iter().any(|v| matches!(v, Violation::NotConstant(..))));
}

#[test]
fn a_cost_that_is_not_true() {
    check(|v| matches!(v, Violation::Cost(..)), |_, _, s| s.cost -= 1);
    check(
        |v| matches!(v, Violation::Cost(..)),
        |case, parts, s| {
            let class = case.class(parts.later);
            let _ = class;
            s.defs.insert((case.first(parts.exit), case.class(parts.product)), Def::Node(case.node_of(parts.product)));
        },
    );
}

#[test]
fn the_identity_is_right_but_for_its_price() {
    let u = universe();
    let (b, _) = sample(&u);
    let case = Case::new(&b, &u);
    let mut identity = crate::testing::identity_selection(&case.function, &case.skeleton, &case.view);
    let found = case.validate(&identity);
    let [Violation::Cost(0, cost)] = found[..] else { panic!("{found:?}") };
    identity.cost = cost;
    assert_eq!(case.validate(&identity), []);
    assert!(case.select(Method::Greedy).cost <= cost);
}
