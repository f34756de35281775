//! Classes are split exactly where something demands less than the whole, and nothing is lost by it.

use super::*;
use crate::egraph::LeafId;
use crate::testing::{domain, op_id, view};
use rewright_typeprop::types::TypeData;

struct Unit {
    universe: Universe,
    input: EGraphInput,
    matrix: Ty,
    symmetric: Ty,
    f64: Ty,
}

impl Unit {
    fn new() -> Unit {
        let mut universe = domain();
        let f64 = universe.types.find("f64").expect("declared");
        let mut of = |name: &str| {
            let decl = universe.types.lookup(name).expect("declared");
            universe.types.intern(TypeData::App(decl, smallvec![f64]))
        };
        let (matrix, symmetric) = (of("Matrix"), of("Symmetric"));
        Unit { universe, input: EGraphInput::default(), matrix, symmetric, f64 }
    }

    fn leaf(&mut self, n: u32, ty: Ty) -> InputId {
        self.input.add(Node { head: Head::Leaf(LeafId(n)), types: smallvec![ty], children: smallvec![] })
    }

    fn op(&mut self, name: &str, children: &[InputId]) -> InputId {
        let head = Head::Op(op_id(&self.universe, name));
        self.input.add(Node { head, types: smallvec![self.f64], children: children.into() })
    }

    fn split(&self, unions: &[(InputId, InputId)]) -> Option<EGraphView> {
        split(&view(&self.input, unions), &self.input, &self.universe)
    }

    /// Types of what can be computed for a class, by name.
    fn types(&self, view: &EGraphView, class: ClassId) -> Vec<String> {
        let ty = |id: &NodeId| view.node(*id).ty(&self.universe).expect("interned");
        let mut types: Vec<String> = view.members(class).iter().map(|id| self.universe.types.display(ty(id))).collect();
        types.sort();
        types
    }
}

#[test]
fn a_narrow_operand_gets_the_nodes_of_its_type_and_the_others_all() {
    let mut unit = Unit::new();
    let a = unit.leaf(0, unit.matrix);
    let (plain, special) = (unit.op("adj", &[a]), unit.op("gram", &[a]));
    let (general, narrow) = (unit.op("norm", &[plain]), unit.op("norm.1", &[special]));
    let view = unit.split(&[(plain, special), (general, narrow)]).expect("norm.1 demands a Symmetric");
    let child = |input: InputId| {
        let node = view.class(view.class_of(input)).nodes.iter().map(|n| view.node(*n));
        node.filter(|n| n.head == unit.input.nodes[input.index()].head).map(|n| n.children[0]).next().expect("kept")
    };
    assert_eq!(unit.types(&view, child(narrow)), ["Symmetric{f64}"]);
    assert_eq!(unit.types(&view, child(general)), ["Matrix{f64}", "Symmetric{f64}"]);
    assert_eq!(view.class_of(plain), child(general));
    assert_eq!(view.class_of(special), child(narrow));
}

#[test]
fn without_a_narrow_demand_the_view_stays() {
    let mut unit = Unit::new();
    let a = unit.leaf(0, unit.matrix);
    let plain = unit.op("adj", &[a]);
    let general = unit.op("norm", &[plain]);
    // A rule's node, of a more specific type, which is not demanded: the original's type is the larger one.
    let mut with_rule = unit.input.clone();
    let head = Head::Op(op_id(&unit.universe, "gram"));
    let special = with_rule.add(Node { head, types: smallvec![unit.f64], children: smallvec![a] });
    let mut saturated = view(&with_rule, &[(plain, special)]);
    saturated.input_class.truncate(unit.input.nodes.len());
    assert!(split(&saturated, &unit.input, &unit.universe).is_none());
    assert!(unit.split(&[(general, general)]).is_none());
}

#[test]
fn what_no_node_can_give_is_a_class_of_nothing() {
    let mut unit = Unit::new();
    let (a, s) = (unit.leaf(0, unit.matrix), unit.leaf(1, unit.symmetric));
    // Ill-typed on purpose, as after a union of values of unrelated types: a class without any matrix.
    let (number, other) = (unit.op("norm", &[a]), unit.op("norm.1", &[s]));
    let user = unit.op("adj", &[number]);
    let mixed = unit.leaf(2, unit.universe.types.find("i32").expect("declared"));
    let view = unit.split(&[(number, mixed), (number, other)]).expect("adj demands a matrix");
    let node = view.nodes.iter().position(|n| n.head == unit.input.nodes[user.index()].head).expect("kept");
    let demanded = view.nodes[node].children[0];
    assert!(view.members(demanded).is_empty());
    assert_eq!(unit.types(&view, view.class_of(number)), ["f64", "f64"]);
    assert_eq!(unit.types(&view, view.class_of(mixed)), ["i32"]);
}

#[test]
fn an_original_value_is_replaced_by_values_of_its_type() {
    let mut unit = Unit::new();
    let (a, s) = (unit.leaf(0, unit.matrix), unit.leaf(1, unit.symmetric));
    let view = unit.split(&[(a, s)]).expect("whoever uses the second one may rely on its type");
    assert_eq!(unit.types(&view, view.class_of(s)), ["Symmetric{f64}"]);
    assert_eq!(unit.types(&view, view.class_of(a)), ["Matrix{f64}", "Symmetric{f64}"]);
    // Closed, and every node in one class.
    for (id, node) in view.nodes.iter().enumerate() {
        assert!(node.children.iter().all(|c| c.index() < view.classes.len()));
        let holders = view.classes.iter().filter(|c| c.nodes.contains(&NodeId(id as u32))).count();
        assert_eq!(holders, 1);
    }
}
