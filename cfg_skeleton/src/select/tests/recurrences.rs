//! Recurrences as definitions: chosen where they cost less, written as parameters, and refused where they are wrong.

use super::*;
use crate::ir::BlockId;
use rewright_typeprop::ops::{LoopRole, OpParam};
use rewright_typeprop::types::TypeDecl;
use rewright_typeprop::{Op, TypeExpr, TypeParam};

/// The test universe with `theta` and `sum`.
fn with_loops() -> Universe {
    let mut u = universe();
    let any = TypeExpr::App(u.types.lookup("Any").expect("every store has it"), vec![]);
    let decl = TypeDecl { name: "Loop".into(), params: vec![], supertype: Some(any), model: None, opaque: false };
    let of_loops = TypeExpr::App(u.types.declare(decl), vec![]);
    u.types.instantiate(&of_loops, &[]);
    let param = |name: &str, ty: &TypeExpr| OpParam { name: name.into(), ty: ty.clone(), constant: false };
    let t = TypeExpr::Param(0);
    for (name, role) in [("theta", LoopRole::Theta), ("sum", LoopRole::Recurrence(op_id(&u, "iadd")))] {
        let params = vec![param("l", &of_loops), param("first", &t), param("by", &t)];
        let tparams = vec![TypeParam { name: "T".into(), bound: None }];
        u.ops.declare(Op { tparams, in_loop: Some(role), ..Op::new(name, params, vec![t.clone()]) });
    }
    u
}

/// A loop that multiplies its counter by a parameter, whose product is a sum; block 1 is its header, block 2 its body.
struct Product<'u> {
    case: Case<'u>,
    product: InputId,
    sum: InputId,
}

impl<'u> Product<'u> {
    fn new(u: &'u Universe) -> Self {
        let mut b = Builder::new(u, &["i32", "i32"]);
        let (n, x) = (b.param(BlockId(0), 0), b.param(BlockId(0), 1));
        let (head, body, exit) = (b.block(&["i32", "i32"]), b.block(&[]), b.block(&[]));
        let (zero, one) = (b.constant("i32", 0), b.constant("i32", 1));
        b.jump(head, &[zero, zero]);
        b.switch_to(head);
        let (i, total) = (b.param(head, 0), b.param(head, 1));
        let goes_on = b.op("icmp_ult", "i32", &[i, n]);
        b.branch(goes_on, (body, &[]), (exit, &[]));
        b.switch_to(body);
        let product = b.op("imul", "i32", &[i, x]);
        let changed = b.op("bxor", "i32", &[total, product]);
        let next = b.op("iadd", "i32", &[i, one]);
        b.jump(head, &[next, changed]);
        b.switch_to(exit);
        b.ret(&[total]);
        let mut case = Case::new(&b, u);
        let (l, zero, x) = (case.skeleton.loops[0].constant, case.input(zero), case.input(x));
        let sum = case.op("sum", "i32", &[l, zero, x]);
        let product = case.input(product);
        case.unite(product, sum);
        Product { case, product, sum }
    }

    /// Where a selection defines the product as a sum.
    fn carried(&self, selection: &Selection) -> Option<((SegmentId, ClassId), NodeId)> {
        selection.defs.iter().find_map(|(key, def)| match def {
            Def::Recurrence(id) => Some((*key, *id)),
            _ => None,
        })
    }

    fn node(&self, input: InputId) -> NodeId {
        let view = &self.case.view;
        let head = self.case.skeleton.input.nodes[input.index()].head;
        let of = |id: &NodeId| view.node(*id).head == head;
        view.class(view.class_of(input)).nodes.iter().copied().find(of).expect("a node of the class")
    }
}

#[test]
fn loops_with_one_way_in_are_known_with_what_they_carry() {
    let u = with_loops();
    let product = Product::new(&u);
    let skeleton = &product.case.skeleton;
    let [of] = skeleton.loops[..] else { panic!("{:?}", skeleton.loops) };
    assert_eq!((of.header, of.before, of.latch), (BlockId(1), BlockId(0), BlockId(2)));
    let equations: Vec<InputId> = skeleton.input.equations.iter().map(|(input, _)| *input).collect();
    assert_eq!(equations, skeleton.blocks[1].params[..]);
    let enters = &skeleton.input.loops[0].enters;
    assert_eq!(enters[..], skeleton.blocks[0].params[..], "only the parameters of the function do");
}

#[test]
fn without_the_operation_nothing_is_known_of_loops() {
    let (plain, u) = (universe(), with_loops());
    let b = Product::new(&u).case.function;
    let skeleton = build(&b, &Cfg::new(&b), &plain, &trap_code);
    assert!(skeleton.loops.is_empty() && skeleton.input.equations.is_empty() && skeleton.input.loops.is_empty());
}

#[test]
fn a_sum_takes_the_place_of_a_product() {
    let u = with_loops();
    let product = Product::new(&u);
    for method in [Method::Greedy, Method::Ilp] {
        let selection = product.case.select(method);
        assert!(product.carried(&selection).is_some(), "{method:?}");
        let out = product.case.elaborate(&selection);
        let is = |name: &str| {
            let op = op_id(&u, name);
            out.insts.iter().filter(|inst| matches!(inst.kind, InstKind::Op { op: own, .. } if own == op)).count()
        };
        assert_eq!((is("imul"), is("iadd"), out.block(BlockId(1)).params.len()), (0, 2, 3), "{method:?}");
    }
}

type Corruption = (&'static str, fn(&mut Product, &mut Selection), fn(&Violation) -> bool);

/// What is done to a right selection, and what the validator says.
const CORRUPTIONS: [Corruption; 8] = [
    (
        "in the body",
        |p, s| {
            let (key, id) = p.carried(s).expect("a sum");
            s.defs.remove(&key);
            let body = SegmentId(p.case.skeleton.blocks[2].first_segment);
            s.defs.insert((body, key.1), Def::Recurrence(id));
        },
        |v| matches!(v, Violation::WrongSegment(..)),
    ),
    (
        "as an instruction",
        |p, s| {
            let (key, id) = p.carried(s).expect("a sum");
            s.defs.insert(key, Def::Node(id));
        },
        |v| matches!(v, Violation::NotAValue(..)),
    ),
    (
        "of what is no recurrence",
        |p, s| {
            let (key, _) = p.carried(s).expect("a sum");
            s.defs.insert(key, Def::Recurrence(p.node(p.product)));
        },
        |v| matches!(v, Violation::NotAValue(..)),
    ),
    (
        "of another class",
        |p, s| {
            let (key, id) = p.carried(s).expect("a sum");
            let other = p.case.view.class_of(p.case.skeleton.blocks[1].params[1]);
            s.defs.insert((key.0, other), Def::Recurrence(id));
        },
        |v| matches!(v, Violation::WrongClass(..)),
    ),
    (
        "without its first value",
        |p, s| {
            let zero = p.case.view.class_of(p.case.skeleton.input.nodes[p.sum.index()].children[1]);
            s.defs.retain(|(_, class), _| *class != zero);
        },
        |v| matches!(v, Violation::Unavailable(..)),
    ),
    (
        "without its step",
        |p, s| {
            let step = p.case.view.class_of(p.case.skeleton.input.nodes[p.sum.index()].children[2]);
            s.defs.retain(|(_, class), _| *class != step);
        },
        |v| matches!(v, Violation::Unavailable(..)),
    ),
    (
        "of a loop that two edges close",
        |p, _| {
            let head = p.case.skeleton.blocks[2].edges[0].clone();
            p.case.skeleton.blocks[2].edges.push(head);
        },
        |v| matches!(v, Violation::NoLoop(..)),
    ),
    ("that is not paid for", |_, s| s.cost -= 1, |v| matches!(v, Violation::Cost(..))),
];

#[test]
fn every_kind_of_wrong_recurrence_is_rejected() {
    let u = with_loops();
    for (name, corrupt, wanted) in CORRUPTIONS {
        let mut product = Product::new(&u);
        let mut selection = product.case.select(Method::Greedy);
        assert_eq!(product.case.validate(&selection), [], "{name}");
        corrupt(&mut product, &mut selection);
        let found = product.case.validate(&selection);
        assert!(found.iter().any(wanted), "{name}: {found:?}");
    }
}
