//! Prices that depend on constants and shapes, prices of others than packs, and weights of blocks.

use super::*;
use crate::ir::BlockId;
use crate::ir::cfg::{FREQUENCY_ONE, OCCURRENCE, Weighing};
use crate::select::cost::function_cost;
use rewright_typeprop::ops::Cost;
use rewright_typeprop::term::Literal;
use rewright_typeprop::{Term, TypeExpr};
use std::sync::Arc;

/// `cost 2 * x * y` for `imul`, over its own operands.
fn priced_by_operands() -> Universe {
    let mut u = universe();
    let mul = op_id(&u, "imul");
    let i64 = TypeExpr::App(u.types.lookup("i64").expect("a type of the test universe"), vec![]);
    let times = |a, b| Term::Call { op: mul, targs: vec![i64.clone()], args: vec![a, b], state: None };
    let two = Term::Lit(Literal::Int(2), i64.clone());
    u.ops.get_mut(mul).cost = Cost::Expr(times(two, times(Term::Var(0), Term::Var(1))));
    u
}

/// The price of one `imul` of two values in a function of its own.
fn price(model: &CostModel, u: &Universe, operands: [Option<i64>; 2]) -> u64 {
    let mut b = Builder::new(u, &["i64", "i64"]);
    let values: [_; 2] = std::array::from_fn(|n| match operands[n] {
        Some(value) => b.constant("i64", value),
        None => b.param(BlockId(0), n),
    });
    let product = b.op("imul", "i64", &values);
    b.ret(&[product]);
    let case = Case::new(&b, u);
    let classes = terms::Classes::new(&case.view);
    let node = case.view.nodes.iter().find(|n| n.head == Head::Op(op_id(u, "imul"))).expect("it is there");
    let in_view = model.node(u, &classes, node);
    // The function's own price is the same, beside its constants.
    let constants = operands.iter().flatten().count() as u64 * model.constant;
    assert_eq!(function_cost(model, &case.function, u), (in_view + constants) * FREQUENCY_ONE);
    in_view
}

#[test]
fn a_declared_cost_may_depend_on_constants() {
    let u = priced_by_operands();
    let model = CostModel::default();
    assert_eq!(price(&model, &u, [Some(3), Some(5)]), 30 * COST_SCALE);
    // An unknown size is assumed.
    assert_eq!(price(&model, &u, [Some(3), None]), 6 * 16 * COST_SCALE);
    let model = CostModel { assumed: 100, ..model };
    assert_eq!(price(&model, &u, [None, None]), 20_000 * COST_SCALE);
    // Less than nothing is nothing.
    assert_eq!(price(&model, &u, [Some(-1), Some(5)]), 0);
}

#[test]
fn a_declared_cost_may_depend_on_what_a_node_states() {
    let mut u = universe();
    let (mul, sum) = (op_id(&u, "imul"), op_id(&u, "iadd"));
    let of =
        Term::Call { op: sum, targs: vec![TypeExpr::Param(0)], args: vec![Term::Var(0), Term::Var(1)], state: None };
    u.ops.get_mut(mul).cost = Cost::Expr(of);
    let mut b = Builder::new(&u, &["i64", "i64"]);
    let [x, y] = std::array::from_fn(|n| b.param(BlockId(0), n));
    let product = b.op("imul", "i64", &[x, y]);
    b.ret(&[product]);
    let mut case = Case::new(&b, &u);
    let model = CostModel::default();
    let price = |case: &Case| {
        let node = case.view.nodes.iter().find(|n| n.head == Head::Op(mul)).expect("it is there");
        model.node(&u, &terms::Classes::new(&case.view), node)
    };
    // No node says what the sum of the operands is: each counts as 16.
    assert_eq!(price(&case), 32 * COST_SCALE);
    let (x, y) = (case.input(x), case.input(y));
    let sum = case.op("iadd", "i64", &[x, y]);
    let seven = case.add(Head::Const(7), "i64", &[]);
    case.unite(sum, seven);
    assert_eq!(price(&case), 7 * COST_SCALE);
}

/// Multiplying by a known constant is nearly free.
#[derive(Debug)]
struct Cheap;

impl Prices for Cheap {
    fn price(&self, execution: &Execution) -> Option<u64> {
        let mul = execution.universe.ops.get(execution.op).name == "imul";
        (mul && execution.operands.iter().any(Option::is_some)).then_some(1)
    }
}

#[test]
fn other_prices_come_before_those_of_packs() {
    let u = universe();
    let model = CostModel { prices: vec![Arc::new(Cheap)], ..CostModel::default() };
    assert_eq!(price(&model, &u, [Some(8), None]), 1);
    assert_eq!(price(&model, &u, [None, None]), 3 * COST_SCALE);
}

/// `x * 2` equals `x + x`; which of them is selected is a matter of prices, and the validator knows them.
#[test]
fn a_selection_follows_the_prices() {
    let u = universe();
    let mut b = Builder::new(&u, &["i64"]);
    let x = b.param(BlockId(0), 0);
    let two = b.constant("i64", 2);
    let product = b.op("imul", "i64", &[x, two]);
    b.ret(&[product]);
    let mut case = Case::new(&b, &u);
    let (x, product) = (case.input(x), case.input(product));
    let sum = case.op("iadd", "i64", &[x, x]);
    case.unite(product, sum);
    let chosen = |options: &Options| listing(&case.elaborate(&case.select_with(options)), &u);
    for method in [Method::Greedy, Method::Ilp] {
        assert_eq!(chosen(&case.options(method)), ["iadd"]);
        let cost = CostModel { prices: vec![Arc::new(Cheap)], constant: 1, ..CostModel::default() };
        assert_eq!(chosen(&Options { cost, ..case.options(method) }), ["imul"]);
    }
}

#[test]
fn blocks_weigh_as_the_model_says() {
    let u = universe();
    let mut b = Builder::new(&u, &["i32"]);
    let (head, exit) = (b.block(&[]), b.block(&[]));
    let x = b.param(BlockId(0), 0);
    b.jump(head, &[]);
    b.switch_to(head);
    let y = b.op("iadd", "i32", &[x, x]);
    b.branch(y, (head, &[]), (exit, &[]));
    b.switch_to(exit);
    b.ret(&[y]);
    let cost = |weighing| {
        let model = CostModel { weighing, ..CostModel::default() };
        function_cost(&model, &b.function, &u)
    };
    assert_eq!(cost(Weighing::default()), 10 * COST_SCALE * FREQUENCY_ONE);
    assert_eq!(cost(Weighing::Executions { per_loop: 3 }), 3 * COST_SCALE * FREQUENCY_ONE);
    assert_eq!(cost(Weighing::Occurrences), (OCCURRENCE + 1) * COST_SCALE * FREQUENCY_ONE);
    // A value that the loop does not change leaves it even where a block counts once.
    let case = Case::new(&b, &u);
    for weighing in [Weighing::default(), Weighing::Occurrences] {
        let cfg = case.cfg.clone().weighed(weighing);
        let options = Options { cost: CostModel { weighing, ..CostModel::default() }, ..case.options(Method::Ilp) };
        let selection = select(Saturated { cfg: &cfg, ..case.saturated() }, &options).expect("a selection").selection;
        let class = case.view.class_of(case.input(y));
        let at: Vec<BlockId> = selection
            .defs
            .keys()
            .filter(|(_, c)| *c == class)
            .map(|(s, _)| case.skeleton.segment_block[s.index()])
            .collect();
        assert_eq!(at, [BlockId(0)], "{weighing:?}");
    }
}

/// Loads from `p + (i << by)`, and from eight bytes behind that. The sums are part of the addresses, and so is a shift by up
/// to three.
#[test]
fn parts_of_addresses_have_a_price_of_their_own() {
    let u = universe();
    let model = CostModel::default();
    let least = model.address.expect("x86-64 adds on the way to memory");
    let cost = |model: &CostModel, by: i64| {
        let mut b = Builder::new(&u, &["i64", "i64"]);
        let [p, i] = [0, 1].map(|n| b.param(BlockId(0), n));
        let [by, eight] = [by, 8].map(|n| b.constant("i64", n));
        let index = b.op("ishl", "i64", &[i, by]);
        let address = b.op("iadd", "i64", &[p, index]);
        let behind = b.op("iadd", "i64", &[address, eight]);
        let loaded = [address, behind].map(|address| b.load("i64", address, crate::testing::MOVABLE));
        b.ret(&loaded);
        let case = Case::new(&b, &u);
        let costs = cost::node_costs(model, &u, &case.view);
        let of = |value| costs[case.view.class(case.view.class_of(case.input(value))).nodes[0].index()];
        let parts = [index, address, behind].map(of);
        let whole = parts.iter().sum::<u64>() + 2 * of(loaded[0]) + 2 * model.constant;
        assert_eq!(function_cost(model, &case.function, &u), whole * FREQUENCY_ONE);
        parts
    };
    let sum = COST_SCALE;
    assert_eq!(cost(&model, 3), [least; 3]);
    assert_eq!(cost(&model, 4)[1..], [least; 2]);
    assert!(cost(&model, 4)[0] > least);
    let elsewhere = CostModel { address: None, ..model.clone() };
    assert_eq!(cost(&elsewhere, 3)[1..], [sum; 2]);
    // Dearer than a sum is not what a sum costs.
    assert_eq!(cost(&CostModel { address: Some(10 * sum), ..model }, 3)[1..], [sum; 2]);
}
