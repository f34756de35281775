//! A universe with a lattice of its own: matrices, symmetric ones among them.

use super::universe;
use rewright_typeprop::ops::{Cost, OpParam};
use rewright_typeprop::types::TypeDecl;
use rewright_typeprop::{Effects, Op, TypeExpr, TypeParam, Universe};

/// [`universe`], and `Num` above `f64`; `Matrix{T <: Num}`, `Symmetric{T <: Num} <: Matrix{T}`; over them
/// `adj : Matrix{T} -> Matrix{T}`, `mul`, `gram : Matrix{T} -> Symmetric{T}`, `norm` of matrices and (an overload)
/// of symmetric ones, `larger : (T, T) -> T`, `crossed` with two overloads that are ambiguous, and `show` with `io`.
pub fn domain() -> Universe {
    let mut u = universe();
    let any = TypeExpr::App(u.types.lookup("Any").expect("every store has it"), vec![]);
    let decl = |name: &str, params: Vec<TypeParam>, supertype: TypeExpr| TypeDecl {
        name: name.into(),
        params,
        supertype: Some(supertype),
        model: None,
        opaque: false,
    };
    let num = TypeExpr::App(u.types.declare(decl("Num", vec![], any.clone())), vec![]);
    let mut float = u.types.decl(u.types.lookup("Float").expect("a type of the test universe")).clone();
    float.supertype = Some(num.clone());
    u.types.declare(float);
    let f64 = TypeExpr::App(u.types.lookup("f64").expect("a type of the test universe"), vec![]);
    let tparam = TypeParam { name: "T".into(), bound: Some(num) };
    let t = TypeExpr::Param(0);
    let matrix = u.types.declare(decl("Matrix", vec![tparam.clone()], any));
    let of = |d, arg: &TypeExpr| TypeExpr::App(d, vec![arg.clone()]);
    let symmetric = u.types.declare(decl("Symmetric", vec![tparam.clone()], of(matrix, &t)));
    let mut declare = |name: &str, generic: bool, params: Vec<TypeExpr>, results: Vec<TypeExpr>| {
        let params = params.into_iter().enumerate();
        let op = Op {
            pack: "test".into(),
            tparams: if generic { vec![tparam.clone()] } else { vec![] },
            effects: Effects { io: name == "show", ..Effects::default() },
            cost: Cost::Fixed(10),
            ..Op::new(
                name,
                params.map(|(i, ty)| OpParam { name: format!("x{i}"), ty, constant: false }).collect(),
                results,
            )
        };
        u.ops.declare(op);
    };
    let (m, s) = (of(matrix, &t), of(symmetric, &t));
    declare("adj", true, vec![m.clone()], vec![m.clone()]);
    declare("mul", true, vec![m.clone(), m.clone()], vec![m.clone()]);
    declare("gram", true, vec![m.clone()], vec![s.clone()]);
    declare("norm", true, vec![m.clone()], vec![t.clone()]);
    declare("norm", true, vec![s], vec![t.clone()]);
    declare("larger", true, vec![t.clone(), t.clone()], vec![t]);
    let (mf, sf) = (of(matrix, &f64), of(symmetric, &f64));
    declare("crossed", false, vec![sf.clone(), mf.clone()], vec![f64.clone()]);
    declare("crossed", false, vec![mf.clone(), sf], vec![f64]);
    declare("show", false, vec![mf], vec![]);
    u
}
