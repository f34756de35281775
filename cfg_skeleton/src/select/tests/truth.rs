//! Conditions of branches and traps as truths: whatever is merely as true may be tested, at no cost of its own, and
//! checks of what is as true are one check.

use super::oracle::{Random, cheaper, program};
use super::*;
use crate::ir::{BlockId, Value};
use crate::skeleton::build_with_truth;
use rewright_typeprop::ops::{Cost, OpParam};
use rewright_typeprop::types::TypeDecl;
use rewright_typeprop::{Repr, Scalar, TypeExpr};

/// The test universe, and `truth : (T) -> Truth`.
fn truths() -> Universe {
    let mut u = universe();
    let any = TypeExpr::App(u.types.lookup("Any").expect("every store has it"), vec![]);
    let model = Some(Repr::Scalar(Scalar::I8));
    let name = "Truth".into();
    let decl = u.types.declare(TypeDecl { name, params: vec![], supertype: Some(any), model, opaque: false });
    let result = TypeExpr::App(decl, vec![]);
    u.types.instantiate(&result, &[]);
    let mut op = u.ops.get(op_id(&u, "icmp_eq")).clone();
    let params = vec![OpParam { name: "x".into(), ty: TypeExpr::Param(0), constant: false }];
    (op.name, op.params, op.results, op.model) = ("truth".into(), params, vec![result], Some(Model::Truth));
    op.cost = Cost::Fixed(0);
    u.ops.declare(op);
    u
}

impl<'u> Case<'u> {
    fn with_truths(b: &Builder<'u>, universe: &'u Universe) -> Self {
        let mut case = Case::new(b, universe);
        let truth = Some(op_id(universe, "truth"));
        case.skeleton = build_with_truth(&case.function, &case.cfg, universe, &trap_code, truth);
        case.view = view(&case.skeleton.input, &[]);
        case
    }

    /// Says that two values are zero together.
    fn as_true(&mut self, a: InputId, b: InputId) {
        let ty = |case: &Self, x: InputId| {
            let ty = case.skeleton.input.nodes[x.index()].ty(case.universe).expect("a value");
            case.universe.types.display(ty)
        };
        let [a, b] = [a, b].map(|x| self.op("truth", &ty(self, x), &[x]));
        self.unite(a, b);
    }
}

/// A branch on `y - x`, where that is not zero returning it or `x`; with `x` and the difference.
fn branch_on_difference(u: &Universe, returned: bool) -> (Builder<'_>, Value, Value) {
    let mut b = Builder::new(u, &["i32", "i32"]);
    let [x, y] = [0, 1].map(|n| b.param(BlockId(0), n));
    let negated = b.op("isub", "i32", &[y, x]);
    let (left, right) = (b.block(&[]), b.block(&[]));
    b.branch(negated, (left, &[]), (right, &[]));
    b.switch_to(left);
    b.ret(&[if returned { negated } else { x }]);
    b.switch_to(right);
    b.ret(&[y]);
    (b, x, negated)
}

#[test]
fn a_branch_tests_what_is_as_true_and_is_there() {
    let u = truths();
    let (b, x, negated) = branch_on_difference(&u, false);
    let mut case = Case::with_truths(&b, &u);
    assert_eq!(listing(&case.optimised(), &u), ["isub"]);
    let (negated, x) = (case.input(negated), case.input(x));
    case.as_true(negated, x);
    let out = case.optimised();
    assert!(listing(&out, &u).is_empty());
    let entry = out.block(out.entry());
    assert_eq!(entry.term.operands(), [entry.params[0]]);
}

#[test]
fn what_is_as_true_is_no_equal_value() {
    let u = truths();
    let (b, x, negated) = branch_on_difference(&u, true);
    let mut case = Case::with_truths(&b, &u);
    let (value, plain) = (case.input(negated), case.input(x));
    case.as_true(value, plain);
    // It is returned, so it is computed.
    assert_eq!(listing(&case.optimised(), &u), ["isub"]);
}

#[test]
fn checks_of_what_is_as_true_are_one() {
    let u = truths();
    let mut b = Builder::new(&u, &["i32", "i32"]);
    let [x, y] = [0, 1].map(|n| b.param(BlockId(0), n));
    let negated = b.op("isub", "i32", &[y, x]);
    b.check(negated, 7, true);
    b.check(x, 7, true);
    b.ret(&[y]);
    let mut case = Case::with_truths(&b, &u);
    assert_eq!(listing(&case.optimised(), &u), ["isub", "trap", "trap"]);
    let (value, plain) = (case.input(negated), case.input(x));
    case.as_true(value, plain);
    let selection = case.select(Method::Ilp);
    assert_eq!(listing(&case.elaborate(&selection), &u), ["trap"]);
    // The validator knows it by itself: without the equality, the second check is missed.
    let apart = Case::with_truths(&b, &u);
    let mut dropped = apart.select(Method::Ilp);
    dropped.statements[1] = StatementChoice::Drop;
    dropped.cost = cost::total(&CostModel::default(), apart.saturated(), &dropped);
    assert!(apart.validate(&dropped).contains(&Violation::Uncovered(SiteId(1))));
}

#[test]
fn a_divisor_that_was_tested_needs_no_second_test() {
    let u = truths();
    let mut b = Builder::new(&u, &["i32", "i32"]);
    let [x, y] = [0, 1].map(|n| b.param(BlockId(0), n));
    b.check(y, 1, false);
    let quotient = b.op("udiv", "i32", &[x, y]);
    b.ret(&[quotient]);
    let case = Case::with_truths(&b, &u);
    let selection = case.select(Method::Ilp);
    assert_eq!(selection.statements, Case::new(&b, &u).select(Method::Ilp).statements);
    assert_eq!(selection.statements[1], StatementChoice::Drop);
    assert_eq!(listing(&case.elaborate(&selection), &u), ["trap", "udiv"]);
}

#[test]
fn nothing_that_is_as_true_is_cheaper() {
    let u = truths();
    let truth = Head::Op(op_id(&u, "truth"));
    let i32 = u.types.find("i32").expect("a type of the test universe");
    let mut random = Random(0x7277_7468);
    let (mut finished, mut replaced) = (0, 0);
    for n in 0..200 {
        let (b, _) = program(&u, &mut random);
        let mut case = Case::with_truths(&b, &u);
        let nodes = case.skeleton.input.nodes.clone();
        let numbered = || nodes.iter().enumerate().map(|(i, node)| (InputId(i as u32), node));
        let tested: Vec<InputId> = numbered().filter(|(_, n)| n.head == truth).map(|(_, n)| n.children[0]).collect();
        let words: Vec<InputId> = numbered().filter(|(_, n)| n.ty(&u) == Some(i32)).map(|(i, _)| i).collect();
        if tested.is_empty() {
            continue;
        }
        for _ in 0..1 + random.below(3) {
            let (a, x, y) = (
                tested[random.below(tested.len())],
                words[random.below(words.len())],
                words[random.below(words.len())],
            );
            let other = if random.below(2) == 0 { x } else { case.op("bor", "i32", &[x, y]) };
            case.as_true(a, other);
        }
        if !case.view.contradictions.is_empty() {
            continue;
        }
        let greedy = case.select(Method::Greedy);
        let ilp = case.select(Method::Ilp);
        assert_eq!(ilp.status, Status::Optimal, "instance {n}");
        assert!(ilp.cost <= greedy.cost, "instance {n}");
        let plain = Case::new(&b, &u).select(Method::Ilp);
        assert!(ilp.cost <= plain.cost, "instance {n}");
        replaced += usize::from(ilp.cost < plain.cost);
        match cheaper(&case, &greedy, ilp.cost) {
            None => {}
            Some(None) => finished += 1,
            Some(Some(found)) => panic!("instance {n}: {} instead of {}: {found:?}", found.cost, ilp.cost),
        }
    }
    assert!(finished > 40 && replaced > 5, "{finished} finished, {replaced} replaced");
}
