//! Values: what is chosen, and where it stands.

use super::*;
use crate::ir::cfg::FREQUENCY_ONE;
use crate::ir::{BlockId, OpaqueEffects, Value};

fn args<const N: usize>(b: &Builder) -> [Value; N] {
    std::array::from_fn(|i| b.param(BlockId(0), i))
}

/// The operations of each block.
fn by_block(f: &Function, u: &Universe) -> Vec<String> {
    let of = |b: &BlockId| listing(&Function { layout: vec![*b], ..f.clone() }, u).join(" ");
    f.layout.iter().map(of).collect()
}

#[test]
fn the_cheaper_node_wins() {
    let u = universe();
    let mut b = Builder::new(&u, &["i32"]);
    let [x] = args(&b);
    let two = b.constant("i32", 2);
    let y = b.op("imul", "i32", &[x, two]);
    b.ret(&[y]);
    let mut case = Case::new(&b, &u);
    let (x, y) = (case.input(x), case.input(y));
    let sum = case.op("iadd", "i32", &[x, x]);
    case.unite(y, sum);
    assert_eq!(listing(&case.optimised(), &u), ["iadd"]);
    assert_eq!(case.select(Method::Greedy).cost, COST_SCALE * FREQUENCY_ONE, "the constant is not needed any more");
}

#[test]
fn sharing_decides_where_trees_do_not() {
    // Two products of a common sum, or two chains of their own that look cheaper each.
    let u = universe();
    let mut b = Builder::new(&u, &["i32", "i32"]);
    let [x, y] = args(&b);
    let shared = b.op("imul", "i32", &[x, y]);
    let uses: Vec<Value> = ["iadd", "isub", "band", "bor"].map(|op| b.op(op, "i32", &[shared, x])).to_vec();
    b.ret(&uses);
    let mut case = Case::new(&b, &u);
    let (x, y) = (case.input(x), case.input(y));
    for (i, v) in uses.iter().enumerate() {
        // Each alone costs 3, the sum and its product 4; together 12 and 7.
        let own = ["bxor", "iadd", "isub", "band"][i];
        let one = case.op(own, "i32", &[y, y]);
        let two = case.op(own, "i32", &[one, y]);
        let three = case.op(own, "i32", &[two, x]);
        let v = case.input(*v);
        case.unite(v, three);
    }
    assert_eq!(case.select(Method::Greedy).cost, 7 * COST_SCALE * FREQUENCY_ONE);
}

#[test]
fn common_values_of_two_arms_stand_above_them_and_single_ones_below() {
    let u = universe();
    let mut b = Builder::new(&u, &["i32", "i32"]);
    let [x, y] = args(&b);
    let (left, right) = (b.block(&[]), b.block(&[]));
    b.op("bxor", "i32", &[x, y]);
    let early = b.op("imul", "i32", &[x, y]);
    b.branch(x, (left, &[]), (right, &[]));
    b.switch_to(left);
    let l = b.op("iadd", "i32", &[x, y]);
    let l = b.op("isub", "i32", &[l, early]);
    b.ret(&[l]);
    b.switch_to(right);
    let r = b.op("iadd", "i32", &[x, y]);
    b.ret(&[r]);
    let case = Case::new(&b, &u);
    assert_eq!(by_block(&case.optimised(), &u), ["iadd", "imul isub", ""]);
}

#[test]
fn invariants_leave_loops_and_what_only_an_exit_needs_too() {
    let u = universe();
    let mut b = Builder::new(&u, &["i32", "i32"]);
    let [x, y] = args(&b);
    let (head, exit) = (b.block(&["i32"]), b.block(&[]));
    b.jump(head, &[x]);
    b.switch_to(head);
    let i = b.param(head, 0);
    let invariant = b.op("imul", "i32", &[x, y]);
    let next = b.op("isub", "i32", &[i, invariant]);
    let late = b.op("bxor", "i32", &[next, y]);
    b.branch(next, (head, &[next]), (exit, &[]));
    b.switch_to(exit);
    b.ret(&[late]);
    let case = Case::new(&b, &u);
    assert_eq!(by_block(&case.optimised(), &u), ["imul", "isub", "bxor"]);
}

#[test]
fn a_parameter_that_nothing_needs_needs_no_arguments() {
    let u = universe();
    let mut b = Builder::new(&u, &["i32", "i32"]);
    let [x, y] = args(&b);
    let (head, exit) = (b.block(&["i32", "i32"]), b.block(&["i32"]));
    b.jump(head, &[x, y]);
    b.switch_to(head);
    let (i, dead) = (b.param(head, 0), b.param(head, 1));
    let next = b.op("isub", "i32", &[i, y]);
    let more = b.op("imul", "i32", &[dead, i]);
    b.branch(next, (head, &[next, more]), (exit, &[more]));
    b.switch_to(exit);
    b.ret(&[next]);
    let case = Case::new(&b, &u);
    let out = case.optimised();
    assert_eq!(by_block(&out, &u), ["", "isub", ""]);
    assert_eq!(out.block(head).params.len(), 1);
}

#[test]
fn a_parameter_that_equals_an_available_value_goes() {
    let u = universe();
    let mut b = Builder::new(&u, &["i32", "i32"]);
    let [x, y] = args(&b);
    let (head, exit) = (b.block(&["i32", "i32"]), b.block(&[]));
    b.jump(head, &[x, y]);
    b.switch_to(head);
    let (i, same) = (b.param(head, 0), b.param(head, 1));
    let next = b.op("isub", "i32", &[i, same]);
    b.branch(next, (head, &[next, same]), (exit, &[]));
    b.switch_to(exit);
    b.ret(&[same]);
    let mut case = Case::new(&b, &u);
    let (same, y) = (case.input(same), case.input(y));
    case.unite(same, y);
    assert_eq!(case.optimised().block(head).params.len(), 1);
}

#[test]
fn a_division_is_one_instruction_with_its_check() {
    let u = universe();
    let mut b = Builder::new(&u, &["i32", "i32"]);
    let [x, y] = args(&b);
    let q = b.op("udiv", "i32", &[x, y]);
    let r = b.op("sdiv", "i32", &[q, y]);
    b.ret(&[r]);
    let case = Case::new(&b, &u);
    // The second one's division by zero is covered by the first; its overflow is checked by itself.
    assert_eq!(listing(&case.optimised(), &u), ["udiv", "sdiv"]);
}

#[test]
fn an_instruction_performs_all_of_its_checks_for_those_below() {
    let u = universe();
    let mut b = Builder::new(&u, &["i32", "i32"]);
    let [x, y] = args(&b);
    let q = b.op("sdiv", "i32", &[x, y]);
    let r = b.op("sdiv", "i32", &[q, y]);
    b.ret(&[r]);
    let case = Case::new(&b, &u);
    assert_eq!(listing(&case.optimised(), &u), ["sdiv", "sdiv"]);
}

#[test]
fn a_dead_division_leaves_its_check() {
    let u = universe();
    let mut b = Builder::new(&u, &["i32", "i32"]);
    let [x, y] = args(&b);
    b.op("udiv", "i32", &[x, y]);
    b.op("udiv", "i32", &[y, y]);
    b.ret(&[x]);
    let case = Case::new(&b, &u);
    assert_eq!(listing(&case.optimised(), &u), ["trap"], "`trapz y`");
}

#[test]
fn a_division_by_a_constant_is_a_pure_value() {
    let u = universe();
    let mut b = Builder::new(&u, &["i32"]);
    let [x] = args(&b);
    let (head, exit) = (b.block(&["i32"]), b.block(&[]));
    b.jump(head, &[x]);
    b.switch_to(head);
    let i = b.param(head, 0);
    let seven = b.constant("i32", 7);
    let q = b.op("udiv", "i32", &[x, seven]);
    b.op("udiv", "i32", &[i, seven]);
    let next = b.op("isub", "i32", &[i, q]);
    b.branch(next, (head, &[next]), (exit, &[]));
    b.switch_to(exit);
    b.ret(&[q]);
    let mut case = Case::new(&b, &u);
    // The condition `7 == 0` evaluates to a constant.
    let zero = case.add(Head::Const(0), "i8", &[]);
    let seven = case.input(seven);
    let nought = case.add(Head::Const(0), "i32", &[]);
    let condition = case.op("icmp_eq", "i32", &[seven, nought]);
    case.unite(condition, zero);
    assert_eq!(by_block(&case.optimised(), &u), ["udiv", "isub", ""]);
}

#[test]
fn a_value_that_may_trap_stays_below_its_check() {
    let u = universe();
    let mut b = Builder::new(&u, &["i32", "i32"]);
    let [x, y] = args(&b);
    let (left, right) = (b.block(&[]), b.block(&[]));
    b.branch(x, (left, &[]), (right, &[]));
    let mut results = vec![];
    for block in [left, right] {
        b.switch_to(block);
        let q = b.op("udiv", "i32", &[x, y]);
        results.push(q);
        b.ret(&[q]);
    }
    let case = Case::new(&b, &u);
    assert_eq!(by_block(&case.optimised(), &u), ["", "udiv", "udiv"]);
}

#[test]
fn an_earlier_check_of_ones_own_licenses_a_division() {
    let u = universe();
    let mut b = Builder::new(&u, &["i32", "i32"]);
    let [x, y] = args(&b);
    b.check(y, 9, false);
    let (head, exit) = (b.block(&["i32"]), b.block(&[]));
    b.jump(head, &[x]);
    b.switch_to(head);
    let i = b.param(head, 0);
    let q = b.op("udiv", "i32", &[x, y]);
    let next = b.op("isub", "i32", &[i, q]);
    b.branch(next, (head, &[next]), (exit, &[]));
    b.switch_to(exit);
    b.ret(&[next]);
    let case = Case::new(&b, &u);
    assert_eq!(by_block(&case.optimised(), &u), ["trap udiv", "isub", ""]);
}

#[test]
fn results_of_opaque_statements_begin_after_them() {
    let u = universe();
    let mut b = Builder::new(&u, &["i32"]);
    let [x] = args(&b);
    let early = b.op("imul", "i32", &[x, x]);
    let called = b.opaque(1, OpaqueEffects::Writes, &[early], &["i32"])[0];
    let sum = b.op("iadd", "i32", &[called, x]);
    b.ret(&[sum]);
    let mut case = Case::new(&b, &u);
    // It is known that the call gives `x * x`; before the call, that has to be computed nevertheless.
    let (early, called) = (case.input(early), case.input(called));
    case.unite(early, called);
    assert_eq!(listing(&case.optimised(), &u), ["imul", "opaque", "iadd"]);
}

#[test]
fn cyclic_classes_are_grounded() {
    let u = universe();
    let mut b = Builder::new(&u, &["i32"]);
    let [x] = args(&b);
    let y = b.op("imul", "i32", &[x, x]);
    b.ret(&[y]);
    let mut case = Case::new(&b, &u);
    // y = y + 0 and y = z - x, z = y + x: cheaper nodes, but they need y.
    let (x, y) = (case.input(x), case.input(y));
    let zero = case.add(Head::Const(0), "i32", &[]);
    let same = case.op("iadd", "i32", &[y, zero]);
    case.unite(y, same);
    let z = case.op("iadd", "i32", &[y, x]);
    let back = case.op("isub", "i32", &[z, x]);
    case.unite(y, back);
    assert_eq!(listing(&case.optimised(), &u), ["imul"]);
}

#[test]
fn operations_that_the_back_end_lacks_are_never_selected() {
    let u = universe();
    let mut b = Builder::new(&u, &["i32"]);
    let [x] = args(&b);
    let y = b.op("imul", "i32", &[x, x]);
    b.ret(&[y]);
    let mut case = Case::new(&b, &u);
    let (x, y) = (case.input(x), case.input(y));
    let cheap = case.op("bxor", "i32", &[x, x]);
    case.unite(y, cheap);
    assert_eq!(listing(&case.optimised(), &u), ["bxor"]);
    let unavailable = [op_id(&u, "bxor")].into();
    let selection = case.select_with(&Options { unavailable, ..case.options(Method::Greedy) });
    assert_eq!(listing(&case.elaborate(&selection), &u), ["imul"]);
}

#[test]
fn bad_input_is_an_error() {
    let u = universe();
    let mut b = Builder::new(&u, &["i32"]);
    let [x] = args(&b);
    let y = b.op("imul", "i32", &[x, x]);
    b.ret(&[y]);
    let case = Case::new(&b, &u);
    let mut view = case.view.clone();
    view.contradictions.push(crate::egraph::ClassId(0));
    let options = Options::default();
    let select = |skeleton, view: &EGraphView| select(Saturated { skeleton, view, ..case.saturated() }, &options);
    assert!(matches!(select(&case.skeleton, &view), Err(SelectError::Contradiction(_))));
    let mut short = case.view.clone();
    short.input_class.pop();
    assert_eq!(select(&case.skeleton, &short).unwrap_err(), SelectError::Mismatch);
    let mut empty = case.view.clone();
    for class in &mut empty.classes {
        class.nodes.clear();
    }
    empty.nodes.clear();
    empty.node_class.clear();
    assert!(matches!(select(&case.skeleton, &empty), Err(SelectError::Unavailable { .. })));
    let nothing = Skeleton { layout: vec![], ..case.skeleton.clone() };
    assert_eq!(select(&nothing, &case.view).unwrap_err(), SelectError::Mismatch);
}

#[test]
fn a_large_choice_goes_to_the_solver() {
    // Sixteen values, each either a product of its own or a sum over one of four shared products.
    let u = universe();
    let mut b = Builder::new(&u, &["i32", "i32"]);
    let [x, y] = args(&b);
    let mut values = vec![x, y];
    for n in 0..16 {
        let (a, c) = (values[n % values.len()], values[n * 5 % values.len()]);
        values.push(b.op("imul", "i32", &[a, c]));
    }
    b.ret(&values[10..]);
    let mut case = Case::new(&b, &u);
    let inputs: Vec<_> = values.iter().map(|v| case.input(*v)).collect();
    let shared: Vec<_> = (0..4).map(|n| case.op("band", "i32", &[inputs[n], inputs[n + 1]])).collect();
    for n in 6..18 {
        for k in 0..2 {
            let sum = case.op(["iadd", "isub"][k], "i32", &[shared[(n + k) % 4], inputs[(n * 3 + k) % 5]]);
            case.unions.push((inputs[n], sum));
        }
    }
    case.view = crate::testing::view(&case.skeleton.input, &case.unions);
    let budget = Budget { search: 0, ..Budget::default() };
    let solved = case.select_with(&Options { budget, ..case.options(Method::Ilp) });
    let searched =
        case.select_with(&Options { budget: Budget { search: u64::MAX, ..budget }, ..case.options(Method::Ilp) });
    assert_eq!((solved.cost, solved.status), (searched.cost, Status::Optimal));
    assert!(solved.cost <= case.select(Method::Greedy).cost);
    let starved =
        case.select_with(&Options { budget: Budget { nodes: 0, runs: 1, ..budget }, ..case.options(Method::Ilp) });
    assert!(starved.cost >= solved.cost);
}
