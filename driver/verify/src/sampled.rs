//! At which types a rule over a library's values is tried: those that samples are of.
//!
//! A type parameter that is a variable's own type stands for each type below its bound that has a sample, and one below a
//! type that has machine types for those; a parameter of a variable's type for what the samples of that type say. One of
//! which no variable speaks is its bound.

use rewright_dsl::instances::TypeInstances;
use rewright_dsl::program::{Program, Rule, VarKind};
use rewright_typeprop::types::TypeDeclId;
use rewright_typeprop::{Term, Ty, TypeExpr, TypeStore};
use std::collections::BTreeSet;

/// More combinations than this are not tried.
const LIMIT: usize = 200;

/// All combinations of types for a rule's type parameters; `None` where no sample says what one of them is.
pub(super) fn combinations(program: &Program, machine: &TypeInstances<'_>, rule: &Rule) -> Option<Vec<Vec<Ty>>> {
    let made: Vec<Ty> = program.samples.values().filter_map(|s| made(program, s.make.as_ref()?)).collect();
    let mut all = vec![vec![]];
    for param in 0..rule.tparams.len() {
        let choices = choices(program, machine, rule, param, &made);
        if choices.is_empty() || all.len() * choices.len() > LIMIT {
            return None;
        }
        all = all.iter().flat_map(|types: &Vec<Ty>| choices.iter().map(|ty| [&types[..], &[*ty]].concat())).collect();
    }
    Some(all)
}

/// The type of what a sample makes.
fn made(program: &Program, make: &Term) -> Option<Ty> {
    let Term::Call { op, targs, .. } = make else { return None };
    let types = &program.universe.types;
    let targs: Option<Vec<Ty>> = targs.iter().map(|ty| types.find_instance(ty, &[])).collect();
    types.find_instance(program.universe.ops.get(*op).results.first()?, &targs?)
}

fn choices(program: &Program, machine: &TypeInstances<'_>, rule: &Rule, param: usize, made: &[Ty]) -> Vec<Ty> {
    let types = &program.universe.types;
    let mut within: Vec<Ty> = vec![];
    let mut is_own = false;
    for var in &rule.vars {
        match &var.kind {
            VarKind::Value { ty: TypeExpr::Param(n), .. } => is_own |= *n as usize == param,
            VarKind::Value { ty: TypeExpr::App(decl, args), .. } => {
                let places = args.iter().enumerate().filter(|(_, arg)| **arg == TypeExpr::Param(param as u32));
                within
                    .extend(places.flat_map(|(n, _)| made.iter().filter_map(move |ty| argument(types, *ty, *decl, n))));
            }
            VarKind::Value { ty: TypeExpr::Int(_), .. } | VarKind::State => {}
        }
    }
    let bound = rule.tparams[param].bound.as_ref();
    let limit = bound.map_or(Some(Ty::ANY), |bound| types.find_instance(bound, &[]));
    if within.is_empty() && is_own {
        within.extend(made.iter().filter(|ty| limit.is_some_and(|limit| types.is_subtype(**ty, limit))));
        if within.is_empty() || bound.is_some() {
            within.extend(machine.machine_types(rule, param));
        }
    }
    if within.is_empty() && !is_own {
        // One that ranges over the types below another one may be that one itself.
        within.extend(limit.filter(|_| bound.is_some()));
    }
    let mut seen = BTreeSet::new();
    within.retain(|ty| seen.insert(*ty));
    within
}

/// The n-th argument of the type's ancestor of a declaration.
fn argument(types: &TypeStore, ty: Ty, decl: TypeDeclId, n: usize) -> Option<Ty> {
    types.ancestor(ty, decl)?.get(n).copied().flatten()
}
