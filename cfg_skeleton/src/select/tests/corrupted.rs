//! The validator rejects every kind of corrupted selection that is known here, and says what is wrong.
//!
//! [`KINDS`] is the list: a program, what is done to a right selection for it, and the violation that must be among
//! those found. A new kind is a new line.

use super::*;
use crate::egraph::{ClassId, NodeId};
use crate::ir::{Access, BlockId, OpaqueEffects, RegionId, Value};
use crate::skeleton::StatementKind;
use std::collections::BTreeSet;
use std::mem::discriminant;

const HEAP: Access = Access { region: RegionId(0), trap: Some(3), movable: false, readonly: false, aligned: true };
const SAFE: Access = Access { trap: None, ..HEAP };

/// A program, and where its parts are, by name.
struct Program<'u> {
    builder: Builder<'u>,
    blocks: Vec<BlockId>,
    values: BTreeMap<&'static str, Value>,
}

/// A way to be wrong.
struct Kind {
    name: &'static str,
    program: for<'u> fn(&'u Universe) -> Program<'u>,
    corrupt: fn(&mut Sample, &mut Selection),
    wanted: fn(&Violation) -> bool,
}

/// A program taken apart.
struct Sample<'u> {
    case: Case<'u>,
    blocks: Vec<BlockId>,
    values: BTreeMap<&'static str, Value>,
}

/// A loop with everything in it: block 1 is its body, block 2 its exit.
fn everything(u: &Universe) -> Program<'_> {
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
    let values = [
        ("x", x),
        ("i", i),
        ("product", product),
        ("loaded", loaded),
        ("quotient", quotient),
        ("called", called),
        ("next", next),
    ];
    Program { builder: b, blocks: vec![BlockId(0), head, exit], values: values.into() }
}

/// A load in one of two arms: block 1.
fn load_in_an_arm(u: &Universe) -> Program<'_> {
    let mut b = Builder::new(u, &["i64", "i32"]);
    let [p, x] = std::array::from_fn(|i| b.param(BlockId(0), i));
    let (left, right) = (b.block(&[]), b.block(&[]));
    b.branch(x, (left, &[]), (right, &[]));
    b.switch_to(left);
    let loaded = b.load("i32", p, SAFE);
    b.ret(&[loaded]);
    b.switch_to(right);
    b.ret(&[x]);
    Program { builder: b, blocks: vec![BlockId(0), left, right], values: [("loaded", loaded)].into() }
}

/// A store in one of two arms that meet.
fn store_in_an_arm(u: &Universe) -> Program<'_> {
    let mut b = Builder::new(u, &["i64", "i32"]);
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
    Program { builder: b, blocks: vec![BlockId(0), left, right, join], values: BTreeMap::new() }
}

/// Two stores, to different places.
fn two_stores(u: &Universe) -> Program<'_> {
    let mut b = Builder::new(u, &["i64", "i64", "i32"]);
    let [p, q, x] = std::array::from_fn(|i| b.param(BlockId(0), i));
    b.store("i32", p, x, SAFE);
    b.store("i32", q, x, SAFE);
    b.ret(&[]);
    Program { builder: b, blocks: vec![BlockId(0)], values: BTreeMap::new() }
}

/// A load and nothing else.
fn load(u: &Universe) -> Program<'_> {
    let mut b = Builder::new(u, &["i64"]);
    let p = b.param(BlockId(0), 0);
    let loaded = b.load("i32", p, SAFE);
    b.ret(&[loaded]);
    Program { builder: b, blocks: vec![BlockId(0)], values: [("loaded", loaded)].into() }
}

/// Two calls that talk to the outside, then another block.
fn ticks(u: &Universe) -> Program<'_> {
    let mut b = Builder::new(u, &["i32"]);
    let exit = b.block(&[]);
    b.inst("tick", "i32", &[], None);
    b.inst("tick", "i32", &[], None);
    b.jump(exit, &[]);
    b.switch_to(exit);
    b.ret(&[]);
    Program { builder: b, blocks: vec![BlockId(0), exit], values: BTreeMap::new() }
}

impl<'u> Sample<'u> {
    fn new(kind: &Kind, u: &'u Universe) -> Self {
        let Program { builder, blocks, values } = (kind.program)(u);
        let mut case = Case::new(&builder, u);
        if let Some(product) = values.get("product") {
            // A class that can wait for itself.
            let product = case.input(*product);
            let one = case.add(Head::Const(1), "i32", &[]);
            let more = case.op("iadd", "i32", &[product, one]);
            let less = case.op("isub", "i32", &[more, one]);
            case.unite(product, less);
        }
        Sample { case, blocks, values }
    }

    fn class(&self, value: &str) -> ClassId {
        self.case.view.class_of(self.case.input(self.values[value]))
    }

    fn node(&self, value: &str) -> NodeId {
        let class = self.class(value);
        let original = &self.case.skeleton.input.nodes[self.case.input(self.values[value]).index()];
        let nodes = &self.case.view.class(class).nodes;
        *nodes.iter().find(|n| self.case.view.node(**n).head == original.head).expect("its own node")
    }

    fn def(&self, selection: &Selection, value: &str) -> (SegmentId, ClassId) {
        let class = self.class(value);
        *selection.defs.keys().find(|(_, c)| *c == class).expect("it is defined")
    }

    fn first(&self, block: usize) -> SegmentId {
        self.case.skeleton.segments(self.blocks[block]).next().expect("every block has one")
    }

    /// The nth statement of a kind.
    fn site(&self, of: fn(&StatementKind) -> bool, nth: usize) -> usize {
        let sites = self.case.skeleton.statements.iter().enumerate().filter(|(_, s)| of(&s.kind));
        sites.map(|(i, _)| i).nth(nth).expect("there are that many")
    }

    /// Moves the definition of a value.
    fn move_to(&self, selection: &mut Selection, value: &str, to: SegmentId) {
        let key = self.def(selection, value);
        let def = selection.defs.remove(&key).expect("it is defined");
        selection.defs.insert((to, key.1), def);
    }

    /// What is executed at the first of two calls.
    fn tick(&self) -> (SegmentId, ClassId) {
        let site = SiteId(self.site(is_call, 0) as u32);
        (self.case.skeleton.segment_before(site), executed(&self.case.view, site))
    }
}

fn is_write(kind: &StatementKind) -> bool {
    matches!(kind, StatementKind::Write { .. })
}

fn is_opaque(kind: &StatementKind) -> bool {
    matches!(kind, StatementKind::Opaque { .. })
}

fn is_check(kind: &StatementKind) -> bool {
    matches!(kind, StatementKind::Check { .. })
}

fn is_call(kind: &StatementKind) -> bool {
    matches!(kind, StatementKind::Call { .. })
}

const NOWHERE: SegmentId = SegmentId(9999);

/// Every kind.
const KINDS: [Kind; 35] = [
    Kind {
        name: "a missing choice",
        program: everything,
        corrupt: |_, s| _ = s.statements.pop(),
        wanted: |v| matches!(v, Violation::StatementCount),
    },
    Kind {
        name: "a choice too many",
        program: everything,
        corrupt: |_, s| s.statements.push(StatementChoice::Drop),
        wanted: |v| matches!(v, Violation::StatementCount),
    },
    Kind {
        name: "a segment that does not exist",
        program: everything,
        corrupt: |_, s| _ = s.defs.insert((NOWHERE, ClassId(0)), Def::Node(NodeId(0))),
        wanted: |v| matches!(v, Violation::OutOfRange(..)),
    },
    Kind {
        name: "a class that does not exist",
        program: everything,
        corrupt: |_, s| _ = s.defs.insert((SegmentId(0), ClassId(9999)), Def::Node(NodeId(0))),
        wanted: |v| matches!(v, Violation::OutOfRange(..)),
    },
    Kind {
        name: "a node that does not exist",
        program: everything,
        corrupt: |_, s| _ = s.defs.insert((SegmentId(0), ClassId(0)), Def::Node(NodeId(9999))),
        wanted: |v| matches!(v, Violation::OutOfRange(..)),
    },
    Kind {
        name: "a parameter that does not exist",
        program: everything,
        corrupt: |_, s| {
            s.defs.insert((SegmentId(0), ClassId(0)), Def::Param { block: BlockId(0), index: 77 });
        },
        wanted: |v| matches!(v, Violation::OutOfRange(..)),
    },
    Kind {
        name: "a statement that does not exist",
        program: everything,
        corrupt: |_, s| {
            s.defs.insert((SegmentId(0), ClassId(0)), Def::Result { site: SiteId(77), index: 0 });
        },
        wanted: |v| matches!(v, Violation::OutOfRange(..)),
    },
    Kind {
        name: "a node of another class",
        program: everything,
        corrupt: |p, s| _ = s.defs.insert(p.def(s, "product"), Def::Node(p.node("next"))),
        wanted: |v| matches!(v, Violation::WrongClass(..)),
    },
    Kind {
        name: "a result of another class",
        program: everything,
        corrupt: |p, s| {
            let def = s.defs[&p.def(s, "called")];
            s.defs.insert((p.first(2), p.class("product")), def);
        },
        wanted: |v| matches!(v, Violation::WrongClass(..)),
    },
    Kind {
        name: "a result before its statement",
        program: everything,
        corrupt: |p, s| p.move_to(s, "called", p.first(1)),
        wanted: |v| matches!(v, Violation::WrongSegment(..)),
    },
    Kind {
        name: "a parameter in another block",
        program: everything,
        corrupt: |p, s| p.move_to(s, "i", p.first(2)),
        wanted: |v| matches!(v, Violation::WrongSegment(..)),
    },
    Kind {
        name: "a leaf as a value",
        program: everything,
        corrupt: |p, s| {
            let key = p.def(s, "called");
            let leaf = p.case.view.class(key.1).nodes[0];
            s.defs.insert(key, Def::Node(leaf));
        },
        wanted: |v| matches!(v, Violation::NotAValue(..)),
    },
    Kind {
        name: "a state as a value",
        program: everything,
        corrupt: |p, s| {
            let store = Head::Op(op_id(p.case.universe, "store"));
            let store = p.case.view.nodes.iter().position(|n| n.head == store).expect("a store");
            s.defs.insert((SegmentId(1), p.case.view.node_class[store]), Def::Node(NodeId(store as u32)));
        },
        wanted: |v| matches!(v, Violation::NotAValue(..)),
    },
    Kind {
        name: "a const operand that is none",
        program: load,
        corrupt: |p, s| {
            p.case.view.classes.iter_mut().for_each(|class| class.constant = None);
            s.defs.insert((SegmentId(1), p.class("loaded")), Def::Node(p.node("loaded")));
        },
        wanted: |v| matches!(v, Violation::NotConstant(..)),
    },
    Kind {
        name: "a pinned statement dropped",
        program: everything,
        corrupt: |p, s| s.statements[p.site(is_opaque, 0)] = StatementChoice::Drop,
        wanted: |v| matches!(v, Violation::PinnedDropped(_)),
    },
    Kind {
        name: "a load as a bare check",
        program: everything,
        corrupt: |p, s| s.statements[p.site(is_check, 0)] = StatementChoice::Keep { fused: false },
        wanted: |v| matches!(v, Violation::Fusion(_)),
    },
    Kind {
        name: "a result of a check without its operation",
        program: everything,
        corrupt: |p, s| {
            let Def::Result { site, .. } = s.defs[&p.def(s, "quotient")] else { panic!("it is a result") };
            s.statements[site.index()] = StatementChoice::Keep { fused: false };
        },
        wanted: |v| matches!(v, Violation::NoResult(..)),
    },
    Kind {
        name: "a definition that is gone",
        program: everything,
        corrupt: |p, s| _ = s.defs.remove(&p.def(s, "product")),
        wanted: |v| matches!(v, Violation::Unavailable(..)),
    },
    Kind {
        name: "a definition after its use",
        program: everything,
        corrupt: |p, s| p.move_to(s, "product", SegmentId(1)),
        wanted: |v| matches!(v, Violation::Unavailable(..)),
    },
    Kind {
        name: "a definition on another path",
        program: everything,
        corrupt: |p, s| p.move_to(s, "next", p.first(2)),
        wanted: |v| matches!(v, Violation::Unavailable(..)),
    },
    Kind {
        name: "an argument of a parameter that is gone",
        program: everything,
        corrupt: |p, s| _ = s.defs.remove(&(p.first(0), p.class("x"))),
        wanted: |v| matches!(v, Violation::Unavailable(..)),
    },
    Kind {
        name: "definitions that wait for each other",
        program: everything,
        corrupt: |p, s| {
            let key = p.def(s, "product");
            let view = &p.case.view;
            let mut nodes = view.class(key.1).nodes.iter().copied();
            let less = nodes.find(|n| *n != p.node("product")).expect("another form");
            let [more, one] = view.node(less).children[..] else { panic!("two operands") };
            s.defs.insert(key, Def::Node(less));
            s.defs.insert((key.0, more), Def::Node(view.class(more).nodes[0]));
            s.defs.insert((key.0, one), Def::Node(view.class(one).nodes[0]));
        },
        wanted: |v| matches!(v, Violation::Cyclic(..)),
    },
    Kind {
        name: "a store dropped that a load sees",
        program: everything,
        corrupt: |p, s| s.statements[p.site(is_write, 0)] = StatementChoice::Drop,
        wanted: |v| matches!(v, Violation::Observed(..) | Violation::StatesMeet(..)),
    },
    Kind {
        name: "a store dropped that the caller sees",
        program: everything,
        corrupt: |p, s| s.statements[p.site(is_write, 1)] = StatementChoice::Drop,
        wanted: |v| matches!(v, Violation::Observed(..)),
    },
    Kind {
        name: "a write in a state in which it gives something else",
        program: two_stores,
        corrupt: |_, s| s.statements[0] = StatementChoice::Drop,
        wanted: |v| matches!(v, Violation::WriteInOtherState(_)),
    },
    Kind {
        name: "paths that meet in different states",
        program: store_in_an_arm,
        corrupt: |_, s| s.statements[0] = StatementChoice::Drop,
        wanted: |v| matches!(v, Violation::StatesMeet(..)),
    },
    Kind {
        name: "a load where its state is not live",
        program: everything,
        corrupt: |p, s| _ = s.defs.insert((p.first(2), p.class("loaded")), Def::Node(p.node("loaded"))),
        wanted: |v| matches!(v, Violation::NotLive(..)),
    },
    Kind {
        name: "a check dropped that nothing covers",
        program: everything,
        // The loads are covered by the store before the loop.
        corrupt: |p, s| s.statements[p.site(is_check, 1)] = StatementChoice::Drop,
        wanted: |v| matches!(v, Violation::Uncovered(_)),
    },
    Kind {
        name: "a value that may trap before its check",
        program: everything,
        corrupt: |p, s| _ = s.defs.insert((p.first(1), p.class("quotient")), Def::Node(p.node("quotient"))),
        wanted: |v| matches!(v, Violation::Unlicensed(..)),
    },
    Kind {
        name: "a load before its check",
        program: load_in_an_arm,
        corrupt: |p, s| _ = s.defs.insert((p.first(0), p.class("loaded")), Def::Node(p.node("loaded"))),
        wanted: |v| matches!(v, Violation::Unlicensed(..)),
    },
    Kind {
        name: "a call that is gone that no rule lets go",
        program: ticks,
        corrupt: |p, s| s.statements[p.site(is_call, 0)] = StatementChoice::Drop,
        wanted: |v| matches!(v, Violation::NotRemovable(_)),
    },
    Kind {
        name: "a call of one site at another",
        program: ticks,
        corrupt: |p, s| {
            let other = s.defs.iter().find(|(key, _)| **key != p.tick()).map(|(_, def)| *def);
            s.defs.insert(p.tick(), other.expect("the other call"));
        },
        wanted: |v| matches!(v, Violation::NotAtSite(..)),
    },
    Kind {
        name: "a call after its site",
        program: ticks,
        corrupt: |p, s| {
            let def = s.defs.remove(&p.tick()).expect("it is executed");
            s.defs.insert((p.first(1), p.tick().1), def);
        },
        wanted: |v| matches!(v, Violation::NotAtSite(..)),
    },
    Kind {
        name: "a cost that is too low",
        program: everything,
        corrupt: |_, s| s.cost -= 1,
        wanted: |v| matches!(v, Violation::Cost(..)),
    },
    Kind {
        name: "a definition that is not paid for",
        program: everything,
        corrupt: |p, s| _ = s.defs.insert((p.first(2), p.class("product")), Def::Node(p.node("product"))),
        wanted: |v| matches!(v, Violation::Cost(..)),
    },
];

#[test]
fn every_kind_of_corruption_is_rejected() {
    let u = universe();
    let mut seen = BTreeMap::new();
    for kind in &KINDS {
        for method in [Method::Greedy, Method::Ilp] {
            let mut sample = Sample::new(kind, &u);
            let mut selection = sample.case.select(method);
            assert_eq!(sample.case.validate(&selection), [], "{}", kind.name);
            (kind.corrupt)(&mut sample, &mut selection);
            let found = sample.case.validate(&selection);
            let wanted = found.iter().find(|v| (kind.wanted)(v));
            let wanted = wanted.unwrap_or_else(|| panic!("{}: {found:?}", kind.name));
            assert!(found.iter().all(|v| !v.to_string().is_empty()), "{}", kind.name);
            let said = format!("{:?}", discriminant(wanted));
            seen.insert(said, kind.name);
        }
    }
    let names: BTreeSet<&str> = KINDS.iter().map(|kind| kind.name).collect();
    assert_eq!(names.len(), KINDS.len(), "a kind is listed twice");
    // Each of the validator's complaints is provoked by some kind.
    assert_eq!(seen.len(), 20, "{seen:?}");
}

#[test]
fn the_identity_is_right_but_for_its_price() {
    let u = universe();
    let case = Case::new(&everything(&u).builder, &u);
    let mut identity = crate::testing::identity_selection(&case.function, &case.skeleton, &case.view);
    let found = case.validate(&identity);
    let [Violation::Cost(0, cost)] = found[..] else { panic!("{found:?}") };
    identity.cost = cost;
    assert_eq!(case.validate(&identity), []);
    assert!(case.select(Method::Greedy).cost <= cost);
}
