//! Evaluation of operations on constants: a primitive meaning through its [`Model`], a derived one through its
//! `spec`, recursively, and a pure one that an embedding program implements through its Rust function. The one
//! evaluator for constant folding, guards and the interpreter.
//!
//! **Invariant**: apart from registered functions, which answer for themselves, it never panics and always ends,
//! whatever a pack declares: a spec that mentions itself, or that grows exponentially, is [`Evaluation::Undefined`].
//!
//! [`Model`]: crate::model::Model

use crate::host::Constant;
use crate::ids::OpId;
use crate::model::{Evaluation, Repr, Scalar, widen};
use crate::ops::Op;
use crate::term::{Literal, Term};
use crate::types::{Ty, TypeExpr, TypeStore};
use crate::universe::Universe;
use smallvec::SmallVec;

/// How deep specs and their terms may nest. Specs of specs are a few levels deep; more means a recursive one,
/// and this many frames fit into any stack.
const MAX_DEPTH: u32 = 128;

/// How many specs are looked at to find out whether an operation has a meaning; what is not looked at may have one.
const MAX_SPECS: usize = 1_000;

/// How many operations one evaluation may take. Real specs take tens; a chain in which each spec uses the one
/// before it twice would take 2^n.
const MAX_STEPS: u32 = 10_000;

/// Applies `op` at the type arguments `targs` to constants in canonical form, one per parameter.
pub fn evaluate(universe: &Universe, op: OpId, targs: &[Ty], args: &[i64]) -> Evaluation {
    let reprs: Types = targs.iter().map(|ty| universe.types.repr(*ty)).collect();
    evaluate_words(universe, op, &reprs, args)
}

/// Like [`evaluate`], with the representation of each type argument instead of the type: no type that a front end
/// added to a store of its own needs to be known.
pub fn evaluate_words(universe: &Universe, op: OpId, targs: &[Option<Repr>], args: &[i64]) -> Evaluation {
    let args: SmallVec<[i128; 4]> = args.iter().copied().map(i128::from).collect();
    // A 128-bit integer is no word, even where its value would fit.
    match universe.ops.get(op).results.first().and_then(|ty| repr_of(&universe.types, ty, targs)) {
        Some(repr) if repr.lane().is_none() => Evaluation::Undefined,
        _ => word(evaluate_at(universe, op, targs, &args)),
    }
}

/// Like [`evaluate_words`] at representations of any size; see [`Repr`] for what the values are.
///
/// [`Repr`]: crate::model::Repr
pub fn evaluate_at(universe: &Universe, op: OpId, targs: &[Option<Repr>], args: &[i128]) -> Evaluation<i128> {
    Evaluator { universe, steps: 0 }.op(op, targs, args, 0).unwrap_or_else(|stop| stop)
}

/// Has an operation a meaning at these representations of its type arguments? One without has no value, whatever its
/// operands: a model does not know the representations, or a spec uses such an operation, has a literal that does not
/// fit, or needs itself. The meaning that neither model nor spec gives is unknown here; there may be one.
pub fn has_meaning(universe: &Universe, op: OpId, targs: &[Option<Repr>]) -> bool {
    Meaning { universe, seen: vec![] }.op(op, targs)
}

struct Meaning<'a> {
    universe: &'a Universe,
    /// Operations that are looked at, and what was found of those that have been: a spec may use one often.
    seen: Vec<(OpId, Types, Option<bool>)>,
}

impl Meaning<'_> {
    fn op(&mut self, id: OpId, targs: &[Option<Repr>]) -> bool {
        if let Some((.., known)) = self.seen.iter().find(|(op, types, _)| *op == id && types[..] == *targs) {
            return known.unwrap_or(false);
        }
        let at = self.seen.len();
        self.seen.push((id, targs.into(), None));
        let op = self.universe.ops.get(id);
        let meaning = match (op.model, &op.spec) {
            (Some(model), _) if model.memory().is_some() => true,
            (Some(model), _) => signature(&self.universe.types, op, targs)
                .is_some_and(|(types, result)| model.has_meaning_at(&types, result)),
            (None, Some(spec)) => at >= MAX_SPECS || self.term(spec, targs),
            (None, None) => true,
        };
        self.seen[at].2 = Some(meaning);
        meaning
    }

    fn term(&mut self, term: &Term, targs: &[Option<Repr>]) -> bool {
        match term {
            Term::Var(_) => true,
            Term::Lit(lit, ty) => {
                let scalar = repr_of(&self.universe.types, ty, targs).and_then(Repr::lane);
                scalar.is_some_and(|scalar| literal(lit, scalar).is_some())
            }
            Term::Call { op, targs: inner, args, state: _ } => {
                let inner: Types = inner.iter().map(|ty| repr_of(&self.universe.types, ty, targs)).collect();
                args.iter().all(|arg| self.term(arg, targs)) && self.op(*op, &inner)
            }
            Term::Eval(inner) => self.term(inner, targs),
        }
    }
}

/// The representations of an operation's parameters and result.
fn signature(types: &TypeStore, op: &Op, targs: &[Option<Repr>]) -> Option<(SmallVec<[Repr; 4]>, Repr)> {
    let params = op.params.iter().map(|p| repr_of(types, &p.ty, targs)).collect::<Option<_>>()?;
    Some((params, repr_of(types, op.results.first()?, targs)?))
}

/// What has no word's form has no value for a caller that wants words.
fn word(outcome: Evaluation<i128>) -> Evaluation {
    match outcome {
        Evaluation::Value(value) => i64::try_from(value).map_or(Evaluation::Undefined, Evaluation::Value),
        Evaluation::Nan => Evaluation::Nan,
        Evaluation::Undefined => Evaluation::Undefined,
    }
}

/// Evaluates a term whose variables are constants; `targs` stands for the type parameters that it mentions.
pub fn evaluate_term(universe: &Universe, term: &Term, targs: &[Ty], vars: &[i64]) -> Evaluation {
    let targs: Types = targs.iter().map(|ty| universe.types.repr(*ty)).collect();
    let vars: SmallVec<[i128; 4]> = vars.iter().copied().map(i128::from).collect();
    word(Evaluator { universe, steps: 0 }.term(term, &targs, &vars, 0).map_or_else(|stop| stop, Evaluation::Value))
}

/// A literal as a constant of a type: in the form of the type's representation, and where it has none, a number as
/// it is, a float's bits, a string's FNV-1a hash.
pub fn constant(lit: &Literal, scalar: Option<Scalar>) -> Option<i64> {
    match (scalar, lit) {
        (Some(scalar), _) => literal(lit, scalar),
        (None, Literal::Int(n)) => i64::try_from(*n).ok(),
        (None, Literal::Float(value)) => Some(value.to_bits() as i64),
        (None, Literal::Str(text)) => {
            let hash =
                text.bytes().fold(0xcbf2_9ce4_8422_2325u64, |h, b| (h ^ u64::from(b)).wrapping_mul(0x100_0000_01b3));
            Some(hash as i64)
        }
    }
}

/// The canonical form of a literal at a representation; `None` where it does not fit: `n` fits `iN` iff
/// `-2^(N-1) <= n < 2^N`, and a whole number is also a float literal if it is exact.
pub fn literal(literal: &Literal, scalar: Scalar) -> Option<i64> {
    match (literal, scalar) {
        (Literal::Int(n), Scalar::F32) => {
            let value = *n as f32;
            (value as i128 == *n).then(|| scalar.canonical(value.to_bits().into()))
        }
        (Literal::Int(n), Scalar::F64) => {
            let value = *n as f64;
            (value as i128 == *n).then(|| scalar.canonical(value.to_bits()))
        }
        (Literal::Int(n), _) => {
            let bits = scalar.bits();
            let fits = -(1i128 << (bits - 1)) <= *n && *n < 1i128 << bits;
            fits.then(|| scalar.canonical(*n as u64))
        }
        (Literal::Float(value), Scalar::F32) => Some(scalar.canonical((*value as f32).to_bits().into())),
        (Literal::Float(value), Scalar::F64) => Some(scalar.canonical(value.to_bits())),
        (Literal::Float(_) | Literal::Str(_), _) => None,
    }
}

/// The machine representation of a type expression, given those of the enclosing type parameters.
pub fn scalar_of(types: &TypeStore, expr: &TypeExpr, targs: &[Option<Scalar>]) -> Option<Scalar> {
    match expr {
        TypeExpr::Param(i) => targs.get(*i as usize).copied().flatten(),
        TypeExpr::App(decl, _) => types.decl(*decl).scalar(),
        TypeExpr::Int(_) => None,
    }
}

/// The representation of a type expression, given those of the enclosing type parameters.
pub fn repr_of(types: &TypeStore, expr: &TypeExpr, targs: &[Option<Repr>]) -> Option<Repr> {
    match expr {
        TypeExpr::Param(i) => targs.get(*i as usize).copied().flatten(),
        TypeExpr::App(decl, _) => types.decl(*decl).model,
        TypeExpr::Int(_) => None,
    }
}

/// Calls the Rust function registered under a name with canonical constants: of these representations, keys of
/// arrays, or handles. The result is canonical, or a key; `None` where there is no such function or it has no
/// value here.
pub fn call_host(
    universe: &Universe,
    name: &str,
    params: &[Option<Scalar>],
    result: Option<Scalar>,
    args: &[i64],
) -> Option<Evaluation> {
    let function = universe.hosts.get(name)?;
    let constant = |(scalar, n): (&Option<Scalar>, &i64)| match scalar {
        Some(scalar) => Constant::Scalar(*scalar, *n),
        None => universe.data.get(*n).map_or(Constant::Handle(*n), Constant::Data),
    };
    let args: SmallVec<[Constant; 4]> = params.iter().zip(args).map(constant).collect();
    match (function(&args)?, result) {
        (Constant::Scalar(found, n), Some(wanted)) if found == wanted => Some(match found.canonical(n as u64) {
            n if found.is_nan(n) => Evaluation::Nan,
            n => Evaluation::Value(n),
        }),
        (Constant::Data(data), None) => Some(Evaluation::Value(universe.data.intern_shared(data))),
        (Constant::Handle(n), None) => Some(Evaluation::Value(n)),
        _ => None,
    }
}

type Types = SmallVec<[Option<Repr>; 4]>;

struct Evaluator<'a> {
    universe: &'a Universe,
    steps: u32,
}

impl Evaluator<'_> {
    /// `Err` is an outcome that ends the whole evaluation: every operation is strict.
    fn op(
        &mut self,
        id: OpId,
        targs: &[Option<Repr>],
        args: &[i128],
        depth: u32,
    ) -> Result<Evaluation<i128>, Evaluation<i128>> {
        self.steps += 1;
        if depth > MAX_DEPTH || self.steps > MAX_STEPS {
            return Err(Evaluation::Undefined);
        }
        let op = self.universe.ops.get(id);
        if args.len() != op.params.len() {
            return Err(Evaluation::Undefined);
        }
        if let Some(model) = op.model {
            let Some((types, result)) = signature(&self.universe.types, op, targs) else {
                return Err(Evaluation::Undefined);
            };
            return Ok(model.eval_at(&types, result, args));
        }
        if let Some(spec) = &op.spec {
            return self.term(spec, targs, args, depth + 1).map(Evaluation::Value);
        }
        let [result] = op.results.as_slice() else { return Err(Evaluation::Undefined) };
        // Host functions know words, and constants of types without representation.
        let known = |expr: &TypeExpr| match repr_of(&self.universe.types, expr, targs) {
            Some(repr) => repr.scalar().map(Some),
            None => Some(None),
        };
        let params: Option<SmallVec<[Option<Scalar>; 4]>> = op.params.iter().map(|p| known(&p.ty)).collect();
        let args: SmallVec<[i64; 4]> = args.iter().map(|n| *n as i64).collect();
        match (params, known(result)) {
            (Some(params), Some(result)) if op.effects.is_pure() => {
                // A body of the input is registered under the name of the one overload that it implements.
                let name = if self.universe.hosts.get(&op.unique).is_some() { &op.unique } else { &op.name };
                match call_host(self.universe, name, &params, result, &args) {
                    // A handle means something in one process and one run only.
                    Some(Evaluation::Value(n)) if result.is_none() && self.universe.data.get(n).is_none() => {
                        Err(Evaluation::Undefined)
                    }
                    value => value.map(widen).ok_or(Evaluation::Undefined),
                }
            }
            _ => Err(Evaluation::Undefined),
        }
    }

    fn term(
        &mut self,
        term: &Term,
        targs: &[Option<Repr>],
        vars: &[i128],
        depth: u32,
    ) -> Result<i128, Evaluation<i128>> {
        if depth > MAX_DEPTH {
            return Err(Evaluation::Undefined);
        }
        match term {
            Term::Var(n) => vars.get(*n as usize).copied().ok_or(Evaluation::Undefined),
            Term::Lit(lit, ty) => {
                let scalar = repr_of(&self.universe.types, ty, targs).and_then(Repr::lane);
                literal(lit, scalar.ok_or(Evaluation::Undefined)?).map(i128::from).ok_or(Evaluation::Undefined)
            }
            Term::Call { op, targs: inner, args, state: _ } => {
                let mut values: SmallVec<[i128; 4]> = SmallVec::new();
                for arg in args {
                    values.push(self.term(arg, targs, vars, depth + 1)?);
                }
                let inner: Types = inner.iter().map(|ty| repr_of(&self.universe.types, ty, targs)).collect();
                match self.op(*op, &inner, &values, depth + 1)? {
                    Evaluation::Value(value) => Ok(value),
                    stop => Err(stop),
                }
            }
            Term::Eval(inner) => self.term(inner, targs, vars, depth + 1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Model;
    use crate::ops::OpParam;
    use crate::types::{TypeDecl, TypeDeclId, TypeParam};

    fn op(name: &str, arity: usize, model: Option<Model>, spec: Option<Term>) -> Op {
        let param = |i| OpParam { name: format!("x{i}"), ty: TypeExpr::Param(0), constant: false };
        Op {
            pack: "test".into(),
            tparams: vec![TypeParam { name: "T".into(), bound: None }],
            model,
            spec,
            ..Op::new(name, (0..arity).map(param).collect(), vec![TypeExpr::Param(0)])
        }
    }

    fn call(op: OpId, args: Vec<Term>) -> Term {
        Term::Call { op, targs: vec![TypeExpr::Param(0)], args, state: None }
    }

    fn universe() -> (Universe, Ty, OpId) {
        let mut universe = Universe::default();
        universe.types.declare(TypeDecl {
            name: "i8".into(),
            params: vec![],
            supertype: Some(TypeExpr::App(TypeDeclId(0), vec![])),
            model: Some(Repr::Scalar(Scalar::I8)),
            opaque: false,
        });
        let i8 = universe.types.named("i8").unwrap();
        let add = universe.ops.declare(op("iadd", 2, Some(Model::Add), None));
        (universe, i8, add)
    }

    #[test]
    fn models_and_specs_agree_with_wrapping_arithmetic() {
        let (mut universe, i8, add) = universe();
        let lit = Term::Lit(Literal::Int(255), TypeExpr::Param(0));
        let spec = call(add, vec![call(add, vec![Term::Var(0), Term::Var(0)]), lit]);
        let twice_less_one = universe.ops.declare(op("f", 1, None, Some(spec)));
        assert_eq!(evaluate(&universe, add, &[i8], &[100, 100]), Evaluation::Value(-56));
        assert_eq!(evaluate(&universe, twice_less_one, &[i8], &[3]), Evaluation::Value(5));
        assert_eq!(evaluate(&universe, add, &[i8], &[1]), Evaluation::Undefined);
        assert_eq!(evaluate(&universe, add, &[Ty::ANY], &[1, 1]), Evaluation::Undefined);
    }

    #[test]
    fn recursive_and_exponential_specs_end() {
        let (mut universe, i8, add) = universe();
        let this = OpId(universe.ops.len() as u32);
        let spec = call(add, vec![call(this, vec![Term::Var(0)]), Term::Var(0)]);
        assert_eq!(universe.ops.declare(op("loop", 1, None, Some(spec))), this);
        assert_eq!(evaluate(&universe, this, &[i8], &[1]), Evaluation::Undefined);

        let mut last = add;
        for i in 0..60 {
            let half = |last| call(last, vec![Term::Var(0), Term::Var(1)]);
            let spec = call(add, vec![half(last), half(last)]);
            last = universe.ops.declare(op(&format!("twice{i}"), 2, None, Some(spec)));
        }
        assert_eq!(evaluate(&universe, last, &[i8], &[1, 1]), Evaluation::Undefined);
    }

    #[test]
    fn a_meaning_does_not_depend_on_values() {
        let (mut universe, i8, add) = universe();
        let repr = [universe.types.repr(i8)];
        let only = |text: i128| Term::Lit(Literal::Int(text), TypeExpr::Param(0));
        let fits = universe.ops.declare(op("fits", 1, None, Some(call(add, vec![Term::Var(0), only(200)]))));
        let misfit = universe.ops.declare(op("misfit", 1, None, Some(call(add, vec![Term::Var(0), only(300)]))));
        let uses = universe.ops.declare(op("uses", 1, None, Some(call(misfit, vec![Term::Var(0)]))));
        let widens = universe.ops.declare(op("widens", 1, Some(Model::Zext), None));
        // Its result is known where it runs only.
        let host = universe.ops.declare(op("host", 1, None, None));
        let calls_host = universe.ops.declare(op("calls_host", 1, None, Some(call(host, vec![Term::Var(0)]))));
        let this = OpId(universe.ops.len() as u32);
        universe.ops.declare(op("itself", 1, None, Some(call(this, vec![Term::Var(0)]))));
        let meaning =
            [add, fits, host, calls_host, misfit, uses, widens, this].map(|op| has_meaning(&universe, op, &repr));
        assert_eq!(meaning, [true, true, true, true, false, false, false, false]);
        assert!(!has_meaning(&universe, add, &[None]));
        // Each spec uses the one before it twice.
        let mut last = add;
        for i in 0..60 {
            let half = |last| call(last, vec![Term::Var(0), Term::Var(1)]);
            let spec = call(add, vec![half(last), half(last)]);
            last = universe.ops.declare(op(&format!("twice{i}"), 2, None, Some(spec)));
        }
        assert!(has_meaning(&universe, last, &repr));
    }

    #[test]
    fn literals_fit_or_do_not() {
        assert_eq!(literal(&Literal::Int(255), Scalar::I8), Some(-1));
        assert_eq!(literal(&Literal::Int(256), Scalar::I8), None);
        assert_eq!(literal(&Literal::Int(-128), Scalar::I8), Some(-128));
        assert_eq!(literal(&Literal::Int(-129), Scalar::I8), None);
        assert_eq!(literal(&Literal::Int(u64::MAX.into()), Scalar::I64), Some(-1));
        assert_eq!(literal(&Literal::Int(1), Scalar::F32), Some(0x3f80_0000));
        assert_eq!(literal(&Literal::Int(16_777_217), Scalar::F32), None);
        assert_eq!(literal(&Literal::Float(-0.0), Scalar::F64), Some(i64::MIN));
        assert_eq!(literal(&Literal::Float(1.5), Scalar::I32), None);
    }
}
