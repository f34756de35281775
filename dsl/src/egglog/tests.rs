//! Compiled rules as text.

use super::print::{PrintOptions, print};
use super::{compile, intern_types};
use crate::program::{Conclusion, Guard, Program, Rule, RuleId, Var, VarKind};
use rewright_typeprop::ops::{Laws, Op, OpParam};
use rewright_typeprop::term::Literal;
use rewright_typeprop::types::{TypeDecl, TypeParam};
use rewright_typeprop::{Model, OpId, Repr, Scalar, Term, TypeExpr};

const T: TypeExpr = TypeExpr::Param(0);

fn program() -> Program {
    let mut program = Program::default();
    for (name, sup, model) in [
        ("Int", "Any", None),
        ("i8", "Int", Some(Scalar::I8)),
        ("i16", "Int", Some(Scalar::I16)),
        ("Float", "Any", None),
        ("f32", "Float", Some(Scalar::F32)),
        ("f64", "Float", Some(Scalar::F64)),
    ] {
        let types = &mut program.universe.types;
        let supertype = types.lookup(sup).map(|sup| TypeExpr::App(sup, vec![]));
        let model = model.map(Repr::Scalar);
        types.declare(TypeDecl { name: name.into(), params: vec![], supertype, model, opaque: false });
    }
    for (name, commutative, model) in
        [("add", true, Model::Add), ("sub", false, Model::Sub), ("neg", false, Model::Neg), ("mul", true, Model::Mul)]
    {
        let param = |i| OpParam { name: format!("x{i}"), ty: T, constant: false };
        program.universe.ops.declare(Op {
            pack: "test".into(),
            tparams: vec![TypeParam { name: "T".into(), bound: None }],
            laws: Laws { commutative, ..Laws::default() },
            model: Some(model),
            ..Op::new(name, (0..model.arity()).map(param).collect(), vec![T])
        });
    }
    program
}

fn call(op: u32, args: Vec<Term>) -> Term {
    Term::Call { op: OpId(op), targs: vec![T], args, state: None }
}

fn add(a: Term, b: Term) -> Term {
    call(0, vec![a, b])
}

fn sub(a: Term, b: Term) -> Term {
    call(1, vec![a, b])
}

fn v(n: u32) -> Term {
    Term::Var(n)
}

fn rule(program: &mut Program, bound: &str, vars: &[(&str, bool)], left: Term, guards: Vec<Guard>, right: Term) {
    let bound = program.universe.types.lookup(bound).map(|decl| TypeExpr::App(decl, vec![]));
    let var = |(name, constant): &(&str, bool)| Var {
        name: (*name).into(),
        kind: VarKind::Value { ty: T, constant: *constant },
    };
    let id = RuleId(program.rules.len() as u32);
    program.rules.push(Rule {
        family: id,
        tparams: vec![TypeParam { name: "T".into(), bound }],
        guards,
        ..Rule::new(
            format!("test.rules.r{}", id.0),
            vars.iter().map(var).collect(),
            vec![left],
            Conclusion::Equal(right),
        )
    });
    program.rulesets.entry("test.rules".into()).or_default().push(id);
}

/// The rules of a program as text, without declarations.
fn text(program: &mut Program) -> String {
    intern_types(program);
    let text = print(&compile(program), PrintOptions::default());
    text[text.find("(rule ").unwrap_or(text.len())..].to_owned()
}

fn count(program: &mut Program) -> usize {
    intern_types(program);
    compile(program).rules.iter().filter(|rule| rule.source == Some(RuleId(0))).count()
}

#[test]
fn a_rule_reads_like_itself() {
    let mut p = program();
    rule(&mut p, "Any", &[("x", false)], sub(v(0), Term::Lit(Literal::Int(0), T)), vec![], v(0));
    assert_eq!(
        text(&mut p),
        "(rule ((= ?root (Sub ?:T ?x (Const ?:T 0))))\n      ((union ?root ?x))\n      :ruleset test.rules :name \
         \"test.rules.r0\")\n"
    );
}

#[test]
fn a_fold_subsumes_its_node() {
    let mut p = program();
    let left = sub(v(0), v(1));
    rule(&mut p, "Int", &[("a", true), ("b", true)], left.clone(), vec![], Term::Eval(Box::new(left)));
    let expected = "\
(rule ((= ?root (Sub ?:T ?a ?b))
       (= ?a (Const ?:T ?a.n))
       (= ?b (Const ?:T ?b.n))
       (= 1 (subtype-Int-1 ?:T))
       (= ?r.1 (eval-sub ?:T ?a.n ?b.n)))
      ((union ?root (Const ?:T ?r.1))
       (subsume (Sub ?:T ?a ?b)))
      :ruleset test.rules :name \"test.rules.r0\")
";
    assert_eq!(text(&mut p), expected);
}

#[test]
fn a_node_that_is_its_operand_beside_a_constant_is_subsumed() {
    let vars = [(true, "(subsume (Sub ?:T ?x ?y))"), (false, "")];
    for (constant, subsumed) in vars {
        let mut p = program();
        rule(&mut p, "Int", &[("x", false), ("y", constant)], sub(v(0), v(1)), vec![], v(0));
        let text = text(&mut p);
        assert!(text.contains(subsumed) && text.contains("subsume") == constant, "{text}");
    }
}

#[test]
fn what_is_only_computed_has_no_table() {
    let mut p = program();
    let product = Term::Eval(Box::new(call(3, vec![v(0), v(1)])));
    rule(&mut p, "Int", &[("a", true), ("b", true)], sub(v(0), v(1)), vec![], product);
    intern_types(&mut p);
    let tables = compile(&p).op_tables;
    assert_eq!((tables[1].is_some(), tables[3].is_some()), (true, false));
}

#[test]
fn commuted_patterns_are_distinct() {
    // (x + y) - y: both orders. neg(x + y) => neg(x) + neg(y): one. (x + 1) * 2: four.
    let mut p = program();
    rule(&mut p, "Any", &[("x", false), ("y", false)], sub(add(v(0), v(1)), v(1)), vec![], v(0));
    assert_eq!(count(&mut p), 2);
    let mut p = program();
    let neg = |t| call(2, vec![t]);
    let right = add(neg(v(0)), neg(v(1)));
    rule(&mut p, "Any", &[("x", false), ("y", false)], neg(add(v(0), v(1))), vec![], right);
    assert_eq!(count(&mut p), 1);
    let mut p = program();
    let lit = |n| Term::Lit(Literal::Int(n), T);
    let left = call(3, vec![add(v(0), lit(1)), lit(2)]);
    rule(&mut p, "Int", &[("x", false)], left, vec![], v(0));
    assert_eq!(count(&mut p), 4);
    let mut p = program();
    let left = (1..9).fold(v(0), |sum, i| add(sum, v(i)));
    let vars = ["a", "b", "c", "d", "e", "f", "g", "h", "i"].map(|name| (name, false));
    rule(&mut p, "Any", &vars, left, vec![], sub(v(0), v(8)));
    assert_eq!(count(&mut p), 16);
}

#[test]
fn literals_expand_where_types_differ() {
    let lit = |n| Term::Lit(Literal::Int(n), T);
    // 255 is -1 at i8.
    let mut p = program();
    rule(&mut p, "Int", &[("x", false)], sub(v(0), lit(255)), vec![], v(0));
    let printed = text(&mut p);
    let expected = [
        "(= (& ?:T 1048575) 2)\n       (= ?root (Sub ?:T ?x (Const ?:T -1))))",
        "(= (& ?:T 1048575) 3)\n       (= ?root (Sub ?:T ?x (Const ?:T 255))))",
        ":name \"test.rules.r0#2\")",
    ];
    expected.iter().for_each(|line| assert!(printed.contains(line), "{line}\n{printed}"));
    // 1.0 has other bits at f32 and f64; 0.0 has not.
    for (value, rules) in [(1.0, 2), (0.0, 1)] {
        let mut p = program();
        let lit = Term::Lit(Literal::Float(value), T);
        rule(&mut p, "Float", &[("x", false)], sub(v(0), lit), vec![], v(0));
        assert_eq!(count(&mut p), rules);
    }
    // 300 does not fit i8, and 1 << 70 fits nothing.
    for (value, rules, missing) in [(300, 1, 1), (1 << 70, 0, 2)] {
        let mut p = program();
        rule(&mut p, "Int", &[("x", false)], sub(v(0), lit(value)), vec![], v(0));
        assert_eq!(count(&mut p), rules);
        assert_eq!(compile(&p).skipped.len(), missing);
    }
}

#[test]
fn what_cannot_be_expressed_is_listed() {
    // A condition over a value that is no constant; a term nested beyond reason.
    let mut p = program();
    rule(&mut p, "Any", &[("x", false)], sub(v(0), v(0)), vec![Guard::Holds(v(0))], v(0));
    let deep = (0..100_000).fold(v(0), |t, _| call(2, vec![t]));
    rule(&mut p, "Any", &[("x", false)], deep, vec![], v(0));
    intern_types(&mut p);
    let compiled = compile(&p);
    let reasons: Vec<&str> = compiled.skipped.iter().map(|s| s.reason.as_str()).collect();
    assert_eq!(reasons, ["`x` is no constant", "its terms nest deeper than 100"]);
    assert!(compiled.rules.iter().all(|rule| rule.source.is_none()));
    // Dropping a term recurses, too.
    std::mem::forget(p);
}

#[test]
fn names_do_not_clash() {
    let mut p = program();
    for name in ["const", "leaf.x", "leaf_x", "2fast", "über"] {
        let mut op = p.universe.ops.get(OpId(2)).clone();
        op.name = name.into();
        let id = p.universe.ops.declare(op);
        let left = Term::Call { op: id, targs: vec![T], args: vec![v(0)], state: None };
        rule(&mut p, "Any", &[("x", false)], left, vec![], v(0));
    }
    let compiled = compile(&p);
    let names: Vec<&str> = compiled.tables.iter().map(|t| t.name.as_str()).collect();
    for name in ["Const_2", "Leaf_x", "Leaf_x_2", "Op2fast", "Op_ber"] {
        assert!(names.contains(&name), "{name} in {names:?}");
    }
}
