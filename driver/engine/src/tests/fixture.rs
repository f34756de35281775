//! A small universe and a way to write rules and units over it.

use crate::{Engine, SaturateOptions};
use rewright_cfg_skeleton::egraph::{EGraphInput, EGraphView, Head, InputId, LeafId, Node, TokenId};
use rewright_dsl::egglog::{compile, intern_types};
use rewright_dsl::program::{Conclusion, Fact, FactId, Guard, Program, Rule, RuleId, Var, VarKind};
use rewright_dsl::syntax::ast::Span;
use rewright_typeprop::ops::{Effects, Op, OpParam};
use rewright_typeprop::term::Literal;
use rewright_typeprop::types::{TypeDecl, TypeDeclId, TypeParam};
use rewright_typeprop::{Model, OpId, Repr, Scalar, Term, Ty, TypeExpr};
use smallvec::SmallVec;
use std::sync::Arc;

pub(super) struct Fixture {
    pub(super) program: Program,
}

pub(super) fn int(n: i128, ty: TypeExpr) -> Term {
    Term::Lit(Literal::Int(n), ty)
}

/// The rule's first type parameter.
pub(super) const T: TypeExpr = TypeExpr::Param(0);

pub(super) fn x(n: u32) -> Term {
    Term::Var(n)
}

/// A rule without name, in the making.
pub(super) struct RuleText {
    pub(super) tparams: Vec<TypeParam>,
    pub(super) vars: Vec<VarKind>,
    pub(super) left: Vec<Term>,
    pub(super) guards: Vec<Guard>,
    pub(super) right: Conclusion,
}

impl Fixture {
    pub(super) fn new() -> Self {
        let mut fixture = Fixture { program: Program::default() };
        let int = fixture.ty("Int", "Any", None, 0);
        for (name, scalar) in [("i8", Scalar::I8), ("i16", Scalar::I16), ("i32", Scalar::I32), ("i64", Scalar::I64)] {
            fixture.ty(name, "Int", Some(scalar), 0);
        }
        fixture.ty("Float", "Any", None, 0);
        fixture.ty("f32", "Float", Some(Scalar::F32), 0);
        fixture.ty("f64", "Float", Some(Scalar::F64), 0);
        let int = || Some(TypeExpr::App(int, vec![]));
        let i8 = fixture.named("i8");
        let i64 = fixture.named("i64");
        for (name, model, arity) in [
            ("iadd", Model::Add, 2),
            ("isub", Model::Sub, 2),
            ("imul", Model::Mul, 2),
            ("iand", Model::And, 2),
            ("ineg", Model::Neg, 1),
            ("ishl", Model::Shl, 2),
            ("udiv", Model::Udiv, 2),
            ("umin", Model::Umin, 2),
        ] {
            let id = fixture.op(name, int(), vec![T; arity], T);
            let op = fixture.program.universe.ops.get_mut(id);
            op.model = Some(model);
            op.laws.commutative = ["iadd", "imul", "iand"].contains(&name);
        }
        let eq = fixture.op("icmp_eq", int(), vec![T, T], i8.clone());
        fixture.program.universe.ops.get_mut(eq).model = Some(Model::from_name("eq").expect("a model"));
        let float = Some(fixture.named("Float"));
        let fadd = fixture.op("fadd", float, vec![T, T], T);
        fixture.program.universe.ops.get_mut(fadd).model = Some(Model::Fadd);

        let load = fixture.op("load", None, vec![i64.clone(), i64.clone()], T);
        let effects = Effects { reads: vec!["memory".into()], traps: true, ..Effects::default() };
        fixture.program.universe.ops.get_mut(load).effects = effects;
        let store = fixture.op("store", None, vec![i64.clone(), T, i64], T);
        let effects = Effects { writes: vec!["memory".into()], traps: true, ..Effects::default() };
        fixture.program.universe.ops.get_mut(store).effects = effects;
        fixture.program.universe.ops.get_mut(store).results.clear();
        fixture
    }

    pub(super) fn ty(&mut self, name: &str, sup: &str, model: Option<Scalar>, params: usize) -> TypeDeclId {
        let params: Vec<TypeParam> = (0..params).map(|i| TypeParam { name: format!("P{i}"), bound: None }).collect();
        let parent = self.program.universe.types.lookup(sup).expect("a parent");
        let own: Vec<TypeExpr> =
            (0..self.program.universe.types.decl(parent).params.len() as u32).map(TypeExpr::Param).collect();
        let supertype = Some(TypeExpr::App(parent, own));
        let model = model.map(Repr::Scalar);
        self.program.universe.types.declare(TypeDecl { name: name.into(), params, supertype, model, opaque: false })
    }

    pub(super) fn named(&self, name: &str) -> TypeExpr {
        TypeExpr::App(self.program.universe.types.lookup(name).expect("a type"), vec![])
    }

    /// One type parameter, if `bound` or a parameter mentions it.
    pub(super) fn op(&mut self, name: &str, bound: Option<TypeExpr>, params: Vec<TypeExpr>, result: TypeExpr) -> OpId {
        fn mentions(ty: &TypeExpr) -> bool {
            match ty {
                TypeExpr::Param(_) => true,
                TypeExpr::App(_, args) => args.iter().any(mentions),
                TypeExpr::Int(_) => false,
            }
        }
        let generic = bound.is_some() || params.iter().chain([&result]).any(mentions);
        let param = |(i, ty)| OpParam { name: format!("x{i}"), ty, constant: false };
        self.program.universe.ops.declare(Op {
            pack: "test".into(),
            tparams: if generic { vec![TypeParam { name: "T".into(), bound }] } else { vec![] },
            ..Op::new(name, params.into_iter().enumerate().map(param).collect(), vec![result])
        })
    }

    pub(super) fn op_id(&self, name: &str) -> OpId {
        self.program.universe.ops.by_unique(name).unwrap_or_else(|| panic!("no operation {name}"))
    }

    /// A call at the rule's first type parameter.
    pub(super) fn call(&self, name: &str, args: Vec<Term>) -> Term {
        self.call_at(name, vec![T], args, None)
    }

    pub(super) fn call_at(&self, name: &str, targs: Vec<TypeExpr>, args: Vec<Term>, state: Option<Term>) -> Term {
        Term::Call { op: self.op_id(name), targs, args, state: state.map(Box::new) }
    }

    pub(super) fn fact(&mut self, name: &str, params: Vec<TypeExpr>) -> FactId {
        self.program.facts.push(Fact {
            filled: None,
            name: format!("test.{name}"),
            tparams: vec![],
            params,
            spec: None,
            span: Span::default(),
        });
        FactId(self.program.facts.len() as u32 - 1)
    }

    pub(super) fn rule(&mut self, ruleset: &str, name: &str, text: RuleText) -> RuleId {
        let id = RuleId(self.program.rules.len() as u32);
        let vars = text.vars.into_iter().enumerate().map(|(i, kind)| Var { name: format!("v{i}"), kind }).collect();
        self.program.rules.push(Rule {
            family: id,
            tparams: text.tparams,
            guards: text.guards,
            ..Rule::new(format!("test.{ruleset}.{name}"), vars, text.left, text.right)
        });
        self.program.rulesets.entry(format!("test.{ruleset}")).or_default().push(id);
        id
    }

    /// `T <: Int`, variables of type `T`; those in `constants` are compile-time.
    pub(super) fn int_rule(&mut self, name: &str, vars: usize, constants: &[usize], left: Term, right: Term) -> RuleId {
        let text = RuleText { right: Conclusion::Equal(right), ..self.int_text(vars, constants, left) };
        self.rule("arith", name, text)
    }

    pub(super) fn int_text(&self, vars: usize, constants: &[usize], left: Term) -> RuleText {
        RuleText {
            tparams: vec![TypeParam { name: "T".into(), bound: Some(self.named("Int")) }],
            vars: (0..vars).map(|i| VarKind::Value { ty: T, constant: constants.contains(&i) }).collect(),
            left: vec![left],
            guards: vec![],
            right: Conclusion::Equal(x(0)),
        }
    }

    /// `x + 0 => x`, `x - x => 0`, `x + y` and `x * y` folded, `x * 2 => x << 1`, `x & 255 => x` at i8 alone.
    pub(super) fn with_arithmetic() -> Self {
        let mut f = Fixture::new();
        let zero = int(0, T);
        f.int_rule("add_zero", 1, &[], f.call("iadd", vec![x(0), zero.clone()]), x(0));
        f.int_rule("sub_self", 1, &[], f.call("isub", vec![x(0), x(0)]), zero);
        for name in ["iadd", "imul", "isub"] {
            let both = f.call(name, vec![x(0), x(1)]);
            f.int_rule(&format!("fold_{name}"), 2, &[0, 1], both.clone(), Term::Eval(Box::new(both)));
        }
        let left = f.call("imul", vec![x(0), int(2, T)]);
        let right = f.call("ishl", vec![x(0), int(1, T)]);
        f.int_rule("mul_two", 1, &[], left, right);
        // 65535 is -1 at i16, itself above, and does not fit i8.
        let left = f.call("iand", vec![x(0), int(65_535, T)]);
        f.int_rule("mask", 1, &[], left, f.call("umin", vec![x(0), int(65_535, T)]));
        f
    }

    pub(super) fn engine(&mut self) -> Engine {
        intern_types(&mut self.program);
        let compiled = compile(&self.program);
        Engine::prepare(&Arc::new(compiled), &Arc::new(self.program.clone())).expect("egglog accepts the program")
    }

    pub(super) fn type_of(&mut self, name: &str) -> Ty {
        self.program.universe.types.named(name).expect("a type")
    }
}

/// A unit over a fixture's operations.
pub(super) struct Unit<'f> {
    pub(super) fixture: &'f Fixture,
    pub(super) input: EGraphInput,
}

impl<'f> Unit<'f> {
    pub(super) fn new(fixture: &'f Fixture) -> Self {
        Unit { fixture, input: EGraphInput::default() }
    }

    pub(super) fn add(&mut self, head: Head, types: &[Ty], children: &[InputId]) -> InputId {
        self.input.add(Node { head, types: SmallVec::from_slice(types), children: SmallVec::from_slice(children) })
    }

    pub(super) fn leaf(&mut self, n: u32, ty: Ty) -> InputId {
        self.add(Head::Leaf(LeafId(n)), &[ty], &[])
    }

    pub(super) fn token(&mut self, n: u32) -> InputId {
        self.add(Head::Token(TokenId(n)), &[], &[])
    }

    pub(super) fn constant(&mut self, value: i64, ty: Ty) -> InputId {
        self.add(Head::Const(value), &[ty], &[])
    }

    pub(super) fn op(&mut self, name: &str, ty: Ty, children: &[InputId]) -> InputId {
        let id = self.fixture.op_id(name);
        let types = vec![ty; self.fixture.program.universe.ops.get(id).tparams.len()];
        self.add(Head::Op(id), &types, children)
    }
}

/// One unit with the default options.
pub(super) fn saturate(engine: &mut Engine, fixture: &Fixture, unit: &EGraphInput) -> EGraphView {
    let options = SaturateOptions { log: true, ..SaturateOptions::default() };
    let (mut views, _) = engine.saturate(&[unit], &fixture.program.universe.types, &options).expect("it runs");
    views.pop().expect("a view")
}

/// A view as text, for comparison.
pub(super) fn show(view: &EGraphView) -> String {
    let mut text = format!("{:?}\n", view.input_class.iter().map(|c| c.0).collect::<Vec<_>>());
    for (i, class) in view.classes.iter().enumerate() {
        text += &format!("c{i} {:?}:", class.constant);
        for node in &class.nodes {
            let node = view.node(*node);
            let children: Vec<u32> = node.children.iter().map(|c| c.0).collect();
            text += &format!(" {:?}{:?}{children:?}", node.head, node.types.iter().map(|t| t.0).collect::<Vec<_>>());
        }
        text.push('\n');
    }
    text
}
