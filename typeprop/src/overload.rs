//! Which of several operations of one name a call means, where the types of its operands are known.
//!
//! Of the overloads that the operands fit, the most specific one: all operands that it takes, the others take, too.
//! Overloads of one name are one function to the caller: a more specific one is a better way to do what a general one
//! does. So a call may move to a more specific overload whenever more is known of its operands. One that
//! `requires` more than types is meant only where no other one fits: rules move calls to it where they know that it
//! holds.
//!
//! Not here: literals and calls whose types are still open, as rules have them (`dsl::check`).

use crate::ids::OpId;
use crate::ops::Op;
use crate::types::{Ty, TypeData, TypeDecl, TypeExpr, TypeStore};
use crate::universe::Universe;
use smallvec::SmallVec;

/// Type arguments, one per type parameter.
pub type TypeArgs = SmallVec<[Ty; 2]>;

/// Why a call means no operation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Unresolved {
    /// The operands fit none.
    NoneFits,
    /// They fit these, of which none is the most specific.
    Ambiguous(Vec<OpId>),
}

/// A call as far as it is known.
#[derive(Clone, Copy, Debug)]
pub struct CallTypes<'a> {
    /// Of the operands.
    pub args: &'a [Ty],
    /// Type arguments that the call states; none, or all.
    pub explicit: &'a [Ty],
    /// Result types that the call states; used for type parameters that no operand tells.
    pub results: &'a [Option<Ty>],
}

/// The overload that a call means, and its type arguments.
///
/// # Errors
/// When there is none.
pub fn resolve(
    universe: &mut Universe,
    candidates: &[OpId],
    call: CallTypes<'_>,
) -> Result<(OpId, TypeArgs), Unresolved> {
    let Universe { types, ops, .. } = universe;
    let mut fitting: Vec<(OpId, TypeArgs)> =
        candidates.iter().filter_map(|op| Some((*op, fit(types, ops.get(*op), call)?))).collect();
    // Functions of different packs have nothing to do with each other: neither is a better way to do the other.
    let function = |op: OpId| &ops.get(op).name;
    if fitting.iter().any(|(op, _)| function(*op) != function(fitting[0].0)) {
        return Err(Unresolved::Ambiguous(fitting.into_iter().map(|(op, _)| op).collect()));
    }
    let free = |op: OpId| !ops.get(op).conditional;
    if fitting.iter().any(|(op, _)| free(*op)) {
        fitting.retain(|(op, _)| free(*op));
    }
    if fitting.len() > 1 {
        let below = |a: &(OpId, TypeArgs), b: &(OpId, TypeArgs)| is_below(types, ops.get(a.0), ops.get(b.0));
        let best: Vec<usize> = (0..fitting.len())
            .filter(|i| (0..fitting.len()).all(|j| *i == j || below(&fitting[*i], &fitting[j])))
            .collect();
        match best[..] {
            [only] => return Ok(fitting.swap_remove(only)),
            _ => return Err(Unresolved::Ambiguous(fitting.into_iter().map(|(op, _)| op).collect())),
        }
    }
    fitting.pop().ok_or(Unresolved::NoneFits)
}

/// The type arguments at which an operation takes these operands; `None` if it does not.
pub fn fit(types: &mut TypeStore, op: &Op, call: CallTypes<'_>) -> Option<TypeArgs> {
    if call.args.len() != op.params.len() {
        return None;
    }
    let mut holes = Holes { types, known: SmallVec::from_elem(None, op.tparams.len()) };
    if !call.explicit.is_empty() {
        if call.explicit.len() != op.tparams.len() {
            return None;
        }
        holes.known = call.explicit.iter().map(|ty| Some(Known { ty: *ty, exact: true })).collect();
    }
    for (i, arg) in call.args.iter().enumerate() {
        let param = op.params.get(i)?;
        if !holes.takes(&param.ty, *arg) {
            return None;
        }
    }
    for (expr, stated) in op.results.iter().zip(call.results) {
        if let Some(ty) = stated {
            holes.learn(expr, *ty);
        }
    }
    let targs: TypeArgs = holes.known.iter().map(|k| k.map(|k| k.ty)).collect::<Option<_>>()?;
    for (param, ty) in op.tparams.iter().zip(&targs) {
        if let Some(bound) = &param.bound {
            let bound = types.instantiate(bound, &targs)?;
            if !types.is_subtype(*ty, bound) {
                return None;
            }
        }
    }
    // A parameter that a later operand made larger must still take the earlier ones.
    let all = call.args.iter().enumerate().all(|(i, arg)| {
        let param = op.params.get(i);
        param.and_then(|p| types.instantiate(&p.ty, &targs)).is_some_and(|want| types.is_subtype(*arg, want))
    });
    all.then_some(targs)
}

/// Is `a` at least as specific as `b`: does `b` take all operands that `a` takes?
pub fn is_below(types: &TypeStore, a: &Op, b: &Op) -> bool {
    if a.params.len() != b.params.len() {
        return false;
    }
    // A type parameter of `a` is a type that nothing is known of but its bound.
    let mut types = types.clone();
    let mut rigid: TypeArgs = SmallVec::new();
    for (i, param) in a.tparams.iter().enumerate() {
        let any = TypeExpr::App(crate::types::TypeDeclId(0), vec![]);
        let supertype = param.bound.as_ref().unwrap_or(&any);
        let supertype = closed(supertype, &rigid, &types);
        let decl = types.declare(TypeDecl {
            name: format!("?rigid{i}"),
            params: vec![],
            supertype: Some(supertype),
            model: None,
            opaque: true,
        });
        rigid.push(types.intern(TypeData::App(decl, SmallVec::new())));
    }
    let Some(args) = a.params.iter().map(|p| types.instantiate(&p.ty, &rigid)).collect::<Option<Vec<Ty>>>() else {
        return false;
    };
    fit_params(&mut types, b, &args)
}

/// Does an operation take operands of these types, whatever it gives?
fn fit_params(types: &mut TypeStore, op: &Op, args: &[Ty]) -> bool {
    let mut holes = Holes { types, known: SmallVec::from_elem(None, op.tparams.len()) };
    if !op.params.iter().zip(args).all(|(p, arg)| holes.takes(&p.ty, *arg)) {
        return false;
    }
    // A parameter that no operand tells takes any type.
    let targs: TypeArgs = holes.known.iter().map(|k| k.map_or(Ty::ANY, |k| k.ty)).collect();
    let told: Vec<bool> = holes.known.iter().map(Option::is_some).collect();
    let bounds = op.tparams.iter().zip(&targs).zip(told).all(|((param, ty), told)| {
        let bound = param.bound.as_ref().and_then(|b| types.instantiate(b, &targs));
        !told || bound.is_none_or(|bound| types.is_subtype(*ty, bound))
    });
    bounds
        && op
            .params
            .iter()
            .zip(args)
            .all(|(p, arg)| types.instantiate(&p.ty, &targs).is_some_and(|want| types.is_subtype(*arg, want)))
}

/// A bound with earlier parameters put in.
fn closed(expr: &TypeExpr, rigid: &[Ty], types: &TypeStore) -> TypeExpr {
    expr.substitute(&mut |i| match rigid.get(i as usize).map(|ty| types.data(*ty)) {
        Some(TypeData::App(decl, _)) => TypeExpr::App(*decl, vec![]),
        _ => TypeExpr::App(crate::types::TypeDeclId(0), vec![]),
    })
}

/// What is known of a type parameter.
#[derive(Clone, Copy)]
struct Known {
    ty: Ty,
    /// It is an argument of some type, which are invariant: nothing larger will do.
    exact: bool,
}

struct Holes<'a> {
    types: &'a mut TypeStore,
    known: SmallVec<[Option<Known>; 2]>,
}

impl Holes<'_> {
    /// Makes a parameter of type `expr` take an operand.
    fn takes(&mut self, expr: &TypeExpr, arg: Ty) -> bool {
        match expr {
            TypeExpr::Param(i) => {
                let Some(slot) = self.known.get_mut(*i as usize) else { return false };
                match slot {
                    None => *slot = Some(Known { ty: arg, exact: false }),
                    Some(known) if self.types.is_subtype(arg, known.ty) => {}
                    Some(known) if !known.exact && self.types.is_subtype(known.ty, arg) => known.ty = arg,
                    Some(_) => return false,
                }
                true
            }
            TypeExpr::Int(n) => *self.types.data(arg) == TypeData::Int(*n),
            TypeExpr::App(decl, exprs) => {
                let Some(args) = self.types.ancestor(arg, *decl) else { return false };
                exprs.iter().zip(args).all(|(expr, arg)| arg.is_some_and(|arg| self.equals(expr, arg)))
            }
        }
    }

    /// Makes an argument of a type be exactly this type.
    fn equals(&mut self, expr: &TypeExpr, ty: Ty) -> bool {
        // An ancestor's argument that no stage has interned.
        if !self.types.contains(ty) {
            return false;
        }
        match expr {
            TypeExpr::Param(i) => {
                let Some(slot) = self.known.get_mut(*i as usize) else { return false };
                match slot {
                    Some(known) if known.ty == ty => known.exact = true,
                    Some(known) if !known.exact && self.types.is_subtype(known.ty, ty) => {
                        *known = Known { ty, exact: true };
                    }
                    Some(_) => return false,
                    None => *slot = Some(Known { ty, exact: true }),
                }
                true
            }
            TypeExpr::Int(n) => *self.types.data(ty) == TypeData::Int(*n),
            TypeExpr::App(decl, exprs) => {
                let TypeData::App(own, args) = self.types.data(ty).clone() else { return false };
                own == *decl && exprs.len() == args.len() && exprs.iter().zip(args).all(|(e, a)| self.equals(e, a))
            }
        }
    }

    /// Takes what a stated type tells of parameters that are not known yet.
    fn learn(&mut self, expr: &TypeExpr, ty: Ty) {
        match (expr, self.types.data(ty).clone()) {
            (TypeExpr::Param(i), _) => {
                if let Some(slot @ None) = self.known.get_mut(*i as usize) {
                    *slot = Some(Known { ty, exact: true });
                }
            }
            (TypeExpr::App(decl, exprs), TypeData::App(own, args)) if *decl == own => {
                exprs.iter().zip(args).for_each(|(e, a)| self.learn(e, a));
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests;
