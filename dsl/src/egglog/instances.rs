//! Literals per type instance. `x + 0` holds at every width with the same canonical constant, so one polymorphic
//! rule serves all; `x & 255` is `-1` at `i8` and `255` above, and `1.0` has other bits in each float format, so
//! such rules are expanded into one per largest type on which the literals agree. Where a literal does not fit a
//! type, that instance does not exist.

use crate::program::{Guard, Rule};
use rewright_typeprop::eval::{constant, literal};
use rewright_typeprop::term::Literal;
use rewright_typeprop::types::TypeData;
use rewright_typeprop::{Scalar, Term, Ty, TypeExpr, TypeStore};

/// Rules with several such type parameters are expanded into at most this many instances.
const MAX_INSTANCES: usize = 256;

/// One instance: the types that its type parameters are fixed to; `None` stays polymorphic.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct RuleInstance {
    pub(super) fixed: Vec<Option<Ty>>,
    /// The type that its type parameters stay below, where that is narrower than the rule's bound.
    pub(super) within: Vec<Option<TypeExpr>>,
    /// By type parameter: a representation at which to take its literals. All possible ones agree.
    scalars: Vec<Option<Scalar>>,
}

impl RuleInstance {
    /// The canonical value of a literal of the rule.
    pub(super) fn literal(&self, types: &TypeStore, lit: &Literal, ty: &TypeExpr) -> Option<i64> {
        let scalar = match ty {
            TypeExpr::Param(i) => self.scalars.get(*i as usize).copied().flatten(),
            TypeExpr::App(decl, _) => types.decl(*decl).lane(),
            TypeExpr::Int(_) => None,
        };
        constant(lit, scalar)
    }
}

/// All instances of a rule, and the reasons for those that do not exist.
pub(super) fn instances(types: &mut TypeStore, rule: &Rule) -> (Vec<RuleInstance>, Vec<String>) {
    let literals: Vec<(&Literal, &TypeExpr)> = literals(rule).collect();
    let mut missing = Vec::new();
    let count = rule.tparams.len();
    let mut all =
        vec![RuleInstance { fixed: vec![None; count], within: vec![None; count], scalars: vec![None; count] }];
    for (lit, ty) in &literals {
        if let TypeExpr::App(decl, _) = ty
            && let Some(scalar) = types.decl(*decl).lane()
            && literal(lit, scalar).is_none()
        {
            missing.push(format!("{lit} does not fit {}", types.decl(*decl).name));
            return (Vec::new(), missing);
        }
    }
    for param in 0..count {
        let own: Vec<&Literal> =
            literals.iter().filter(|(_, ty)| **ty == TypeExpr::Param(param as u32)).map(|(lit, _)| *lit).collect();
        if own.is_empty() {
            continue;
        }
        let candidates = represented(types, rule, param);
        let values: Vec<Vec<Option<i64>>> =
            candidates.iter().map(|(_, scalar)| own.iter().map(|lit| literal(lit, (*scalar)?)).collect()).collect();
        let agree = values.windows(2).all(|pair| pair[0] == pair[1]) && values.iter().flatten().all(Option::is_some);
        if agree {
            let scalar = candidates.first().and_then(|(_, scalar)| *scalar);
            all.iter_mut().for_each(|instance| instance.scalars[param] = scalar);
            continue;
        }
        for ((ty, _), values) in candidates.iter().zip(&values) {
            if let Some(at) = values.iter().position(Option::is_none) {
                missing.push(format!("{} does not fit {}", own[at], types.display(*ty)));
            }
        }
        let groups = groups(types, &candidates, &values);
        let mut expanded = Vec::new();
        for instance in &all {
            for (within, member) in &groups {
                let (ty, scalar) = candidates[*member];
                let mut next = instance.clone();
                next.fixed[param] = within.is_none().then_some(ty);
                next.within[param].clone_from(within);
                next.scalars[param] = scalar;
                expanded.push(next);
            }
        }
        expanded.truncate(MAX_INSTANCES);
        all = expanded;
    }
    missing.dedup();
    (all, missing)
}

/// The largest types on which literals agree, each with one of its candidates: a declared type above several of them,
/// or nothing, for the candidate alone.
fn groups(
    types: &mut TypeStore,
    candidates: &[(Ty, Option<Scalar>)],
    values: &[Vec<Option<i64>>],
) -> Vec<(Option<TypeExpr>, usize)> {
    let mut groups: Vec<(Ty, Option<TypeExpr>, usize)> = Vec::new();
    for (member, (ty, _)) in candidates.iter().enumerate() {
        if values[member].contains(&None) || groups.iter().any(|(top, ..)| types.is_subtype(*ty, *top)) {
            continue;
        }
        let (mut top, mut within) = (*ty, None);
        while let Some(above) = types.supertype(top)
            && let TypeData::App(decl, args) = types.data(above).clone()
            && args.is_empty()
            && candidates.iter().zip(values).all(|((ty, _), v)| !types.is_subtype(*ty, above) || *v == values[member])
        {
            (top, within) = (above, Some(TypeExpr::App(decl, vec![])));
        }
        groups.push((top, within, member));
    }
    groups.into_iter().map(|(_, within, member)| (within, member)).collect()
}

/// Types with a representation that a type parameter may stand for, and what a constant of each is.
fn represented(types: &mut TypeStore, rule: &Rule, param: usize) -> Vec<(Ty, Option<Scalar>)> {
    let bound = rule.tparams[param].bound.as_ref().and_then(|bound| types.instantiate(bound, &[]));
    let all: Vec<Ty> = types.all().collect();
    let mut result = Vec::new();
    for ty in all {
        if let Some(repr) = types.repr(ty)
            && bound.is_none_or(|bound| types.is_subtype(ty, bound))
        {
            result.push((ty, repr.lane()));
        }
    }
    result
}

/// Literals of a rule, as they stand in its left side, its conditions, its right side.
fn literals(rule: &Rule) -> impl Iterator<Item = (&Literal, &TypeExpr)> {
    let terms = rule.left.iter().chain(rule.guards.iter().flat_map(Guard::terms)).chain(rule.right.terms());
    terms.flat_map(Term::subterms).filter_map(|part| if let Term::Lit(lit, ty) = part { Some((lit, ty)) } else { None })
}
