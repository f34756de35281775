//! Overloads over a small lattice: the most specific one, ambiguity, and what type arguments come out.

use super::*;
use crate::ops::OpParam;
use crate::types::{TypeDeclId, TypeParam};
use smallvec::smallvec;

struct Fixture {
    u: Universe,
}

impl Fixture {
    /// `Num`, `Real <: Num`, `f64 <: Real`, `Matrix{T <: Num}`, `Symmetric{T <: Num} <: Matrix{T}`.
    fn new() -> Self {
        let mut f = Fixture { u: Universe::default() };
        f.ty("Num", 0, None);
        f.ty("Real", 0, Some(f.app("Num", vec![])));
        f.ty("f64", 0, Some(f.app("Real", vec![])));
        f.ty("Matrix", 1, None);
        f.ty("Symmetric", 1, Some(f.app("Matrix", vec![TypeExpr::Param(0)])));
        f
    }

    fn ty(&mut self, name: &str, arity: usize, supertype: Option<TypeExpr>) {
        let bound = self.u.types.lookup("Num").map(|num| TypeExpr::App(num, vec![]));
        let params = (0..arity).map(|_| TypeParam { name: "T".into(), bound: bound.clone() }).collect();
        let supertype = Some(supertype.unwrap_or(TypeExpr::App(TypeDeclId(0), vec![])));
        self.u.types.declare(TypeDecl { name: name.into(), params, supertype, model: None, opaque: false });
    }

    fn app(&self, name: &str, args: Vec<TypeExpr>) -> TypeExpr {
        TypeExpr::App(self.u.types.lookup(name).unwrap(), args)
    }

    fn op(&mut self, name: &str, bounds: &[&str], params: Vec<TypeExpr>, result: TypeExpr) -> OpId {
        let tparams = bounds.iter().map(|b| TypeParam { name: "T".into(), bound: Some(self.app(b, vec![])) }).collect();
        let params = params.into_iter().map(|ty| OpParam { name: "x".into(), ty, constant: false }).collect();
        self.u.ops.declare(Op { pack: "test".into(), tparams, ..Op::new(name, params, vec![result]) })
    }

    fn named(&mut self, text: &str) -> Ty {
        let mut words = text.split(' ');
        let decl = self.u.types.lookup(words.next().unwrap()).unwrap();
        let args = words.map(|w| self.u.types.named(w).unwrap()).collect();
        self.u.types.intern(TypeData::App(decl, args))
    }

    fn call(&mut self, name: &str, args: &[&str]) -> Result<(OpId, TypeArgs), Unresolved> {
        let args: Vec<Ty> = args.iter().map(|a| self.named(a)).collect();
        let candidates = self.u.ops.overloads(name).to_vec();
        resolve(&mut self.u, &candidates, CallTypes { args: &args, explicit: &[], results: &[] })
    }
}

#[test]
fn the_most_specific_overload_wins_whatever_the_order() {
    let mut f = Fixture::new();
    let t = TypeExpr::Param(0);
    let (matrix, symmetric) = (f.app("Matrix", vec![t.clone()]), f.app("Symmetric", vec![t.clone()]));
    let general = f.op("eig", &["Num"], vec![matrix.clone()], matrix.clone());
    let special = f.op("eig", &["Real"], vec![symmetric], matrix.clone());
    let real = f.named("Real");
    let num = f.named("Num");
    assert_eq!(f.call("eig", &["Symmetric Real"]), Ok((special, smallvec![real])));
    assert_eq!(f.call("eig", &["Matrix Real"]), Ok((general, smallvec![real])));
    // The special one wants a real symmetric matrix.
    assert_eq!(f.call("eig", &["Symmetric Num"]), Ok((general, smallvec![num])));
    assert_eq!(f.call("eig", &["Real"]), Err(Unresolved::NoneFits));
    // Nothing is known of the argument of a bare name.
    assert_eq!(f.call("eig", &["Matrix"]), Err(Unresolved::NoneFits));
}

#[test]
fn crossed_overloads_are_ambiguous_where_both_fit() {
    let mut f = Fixture::new();
    let (real, num) = (f.app("Real", vec![]), f.app("Num", vec![]));
    let a = f.op("f", &[], vec![real.clone(), num.clone()], num.clone());
    let b = f.op("f", &[], vec![num.clone(), real.clone()], num.clone());
    assert_eq!(f.call("f", &["Real", "Num"]), Ok((a, smallvec![])));
    assert_eq!(f.call("f", &["f64", "Real"]), Err(Unresolved::Ambiguous(vec![a, b])));
    let both = f.op("f", &[], vec![real.clone(), real], num);
    assert_eq!(f.call("f", &["f64", "Real"]), Ok((both, smallvec![])));
}

#[test]
fn a_parameter_takes_the_larger_of_comparable_operands() {
    let mut f = Fixture::new();
    let t = TypeExpr::Param(0);
    let join = f.op("pick", &["Num"], vec![t.clone(), t.clone()], t.clone());
    let real = f.named("Real");
    assert_eq!(f.call("pick", &["f64", "Real"]), Ok((join, smallvec![real])));
    assert_eq!(f.call("pick", &["Real", "f64"]), Ok((join, smallvec![real])));
    // Arguments of types are invariant.
    let matrix = f.app("Matrix", vec![t.clone()]);
    let scale = f.op("scale", &["Num"], vec![t.clone(), matrix.clone()], matrix);
    assert_eq!(f.call("scale", &["f64", "Matrix Real"]), Ok((scale, smallvec![real])));
    assert_eq!(f.call("scale", &["Real", "Matrix f64"]), Err(Unresolved::NoneFits));
    assert_eq!(f.call("pick", &["f64", "Matrix f64"]), Err(Unresolved::NoneFits));
}

#[test]
fn a_stated_result_tells_what_operands_do_not() {
    let mut f = Fixture::new();
    let (num, t) = (f.app("Num", vec![]), TypeExpr::Param(0));
    let matrix = f.app("Matrix", vec![t]);
    let zeros = f.op("zeros", &["Num"], vec![num], matrix);
    let (arg, wanted, real) = (f.named("Num"), f.named("Matrix Real"), f.named("Real"));
    let call = CallTypes { args: &[arg], explicit: &[], results: &[Some(wanted)] };
    assert_eq!(resolve(&mut f.u, &[zeros], call), Ok((zeros, smallvec![real])));
    let call = CallTypes { args: &[arg], explicit: &[], results: &[None] };
    assert_eq!(resolve(&mut f.u, &[zeros], call), Err(Unresolved::NoneFits));
}
