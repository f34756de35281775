//! Versions of a module's functions for arguments of more specific types.
//!
//! A function that is called is an operation, and a version of it is one more overload of that operation: its body is the
//! function's, with types inferred from more specific parameters. Overloads of one name are one function, so a call whose
//! operands turn out to have these types becomes a call of the version, at the price of the version's body. A version
//! is made only where its body means other operations, or its results have other types.
//!
//! The type of a result may follow from itself, where a function calls itself. It is assumed of all calls, and stands if
//! all that is returned has it: an execution that returns makes finitely many calls, so this is an induction.
//!
//! Not here: functions whose bodies are inlined ([`super::inline`]), which have the types of their operands there; those of which a pack
//! says the types; a version that gains only because a function that calls itself calls that version.
//!
//! **Invariant**: a version does what its function does, given operands of its types.

use super::calls::{CallGraph, summarise};
use super::infer::reinfer;
use super::inline::{InlineLimits, instructions};
use super::specialise::name_for;
use super::verify::verify;
use super::{Function, InstKind, Module, Terminator};
use crate::skeleton::narrow;
use rewright_typeprop::types::{TypeData, TypeDeclId};
use rewright_typeprop::{Op, OpId, Ty, TypeExpr, TypeStore, Universe};

/// Versions of one function.
const MAX_VERSIONS: usize = 8;
/// Combinations of types that are tried for one function.
const MAX_COMBINATIONS: usize = 64;

/// Adds versions behind the functions of a module, callees first.
pub fn add_versions(module: &mut Module, universe: &mut Universe) {
    let graph = CallGraph::new(module);
    for component in graph.components() {
        let mut made = vec![];
        for index in component {
            let inlined =
                !graph.is_recursive(*index) && instructions(&module.functions[*index]) <= InlineLimits::default().body;
            if let Some(op) = own_operation(module, *index, universe).filter(|_| !inlined) {
                made.extend(declare(module, *index, op, universe));
            }
        }
        if !made.is_empty() {
            infer_together(module, &made, universe);
        }
    }
}

/// The operation that a function is to its callers, where no pack declares it.
pub fn own_operation(module: &Module, function: usize, universe: &Universe) -> Option<OpId> {
    let mut ops = module.bodies.iter().filter(|(_, body)| **body == function).map(|(op, _)| *op);
    let op = ops.next().filter(|op| universe.ops.get(*op).pack.is_empty())?;
    ops.next().is_none().then_some(op)
}

/// A closed type as an expression.
pub fn expression(types: &TypeStore, ty: Ty) -> TypeExpr {
    match types.data(ty) {
        TypeData::Int(n) => TypeExpr::Int(*n),
        TypeData::Open => TypeExpr::App(TypeDeclId(0), vec![]),
        TypeData::App(decl, args) => TypeExpr::App(*decl, args.iter().map(|a| expression(types, *a)).collect()),
    }
}

/// The types below a type, the most specific ones first.
pub fn below(ty: Ty, universe: &Universe) -> Vec<Ty> {
    let mut found: Vec<Ty> = narrow::below(ty, universe).collect();
    found.sort_by_cached_key(|ty| std::cmp::Reverse(depth(*ty, &universe.types)));
    found
}

/// How many types are above a type.
fn depth(ty: Ty, types: &TypeStore) -> usize {
    types.all().filter(|above| types.is_subtype(ty, *above)).count()
}

/// The types of what a function returns, by return.
fn returned(f: &Function) -> impl Iterator<Item = Vec<Ty>> {
    f.layout.iter().filter_map(|block| match &f.block(*block).term {
        Terminator::Return(values) => Some(values.iter().map(|value| f.ty(*value)).collect()),
        _ => None,
    })
}

/// A version that has been declared.
#[derive(Clone, Copy)]
struct Version {
    function: usize,
    op: OpId,
    general: OpId,
}

/// Declares the versions of a function, each with the general one's body, from general to specific.
fn declare(module: &mut Module, index: usize, general: OpId, universe: &mut Universe) -> Vec<Version> {
    let f = module.functions[index].clone();
    let params = f.block(f.entry()).params.clone();
    let own: Vec<Ty> = params.iter().map(|param| f.ty(*param)).collect();
    let mut accepted: Vec<(Vec<Ty>, Function)> = vec![(own.clone(), f.clone())];
    for types in combinations(&own, universe) {
        let mut typed = f.clone();
        params.iter().zip(&types).for_each(|(param, ty)| typed.values[param.index()] = *ty);
        reinfer(&mut typed, universe);
        let above: Vec<usize> =
            (0..accepted.len()).filter(|at| are_below(&types, &accepted[*at].0, universe)).collect();
        let gains = !above.iter().any(|at| means_the_same(&typed, &accepted[*at].1));
        // Of two versions that both take these types, a call must be told which.
        let is_nearest = |at: &&usize| {
            above.iter().all(|other| other == *at || !are_below(&accepted[*other].0, &accepted[**at].0, universe))
        };
        let is_open = above.iter().filter(is_nearest).count() > 1;
        if (gains || is_open) && verify(&typed, universe).is_empty() {
            accepted.push((types, typed));
        }
    }
    if accepted.len() > MAX_VERSIONS {
        accepted = chain(accepted, universe);
    }
    let decl = universe.ops.get(general);
    let first = universe.ops.overloads(&decl.name).len();
    let unique = |at: usize| format!("{}.{}", decl.name, first + at);
    if (0..accepted.len()).any(|at| universe.ops.by_unique(&unique(at)).is_some()) {
        return vec![];
    }
    let mut made = vec![];
    for (types, typed) in accepted.into_iter().skip(1) {
        let decl = universe.ops.get(general);
        let names: Vec<String> = module.functions.iter().map(|f| f.name.clone()).chain(all_names(universe)).collect();
        let Ok(name) = name_for(&f.name, None, &names) else { break };
        let op = typed_operation(decl, &types, &universe.types);
        let op = universe.ops.declare(op);
        let function = module.functions.len();
        module.functions.push(Function { name, ..typed });
        module.lines.push(module.lines.get(index).cloned().unwrap_or_default());
        module.bodies.insert(op, function);
        module.versions.insert(function, index);
        made.push(Version { function, op, general });
    }
    made
}

/// Is each of some types below the one of others in its place?
fn are_below(types: &[Ty], others: &[Ty], universe: &Universe) -> bool {
    types.iter().zip(others).all(|(ty, other)| universe.types.is_subtype(*ty, *other))
}

/// Of versions, each that is below all before it: too many are made one line, of which one is always the most specific.
fn chain(versions: Vec<(Vec<Ty>, Function)>, universe: &Universe) -> Vec<(Vec<Ty>, Function)> {
    let mut chained: Vec<(Vec<Ty>, Function)> = vec![];
    for version in versions {
        let is_below = chained.last().is_none_or(|last| are_below(&version.0, &last.0, universe));
        if is_below && chained.len() <= MAX_VERSIONS {
            chained.push(version);
        }
    }
    chained
}

fn all_names(universe: &Universe) -> impl Iterator<Item = String> {
    universe.ops.iter().map(|(_, op)| op.unique.clone())
}

fn typed_operation(general: &Op, types: &[Ty], store: &TypeStore) -> Op {
    let mut params = general.params.clone();
    params.iter_mut().zip(types).for_each(|(param, ty)| param.ty = expression(store, *ty));
    let effects = general.effects.clone();
    Op { effects, checks: general.checks.clone(), ..Op::new(general.name.clone(), params, general.results.clone()) }
}

/// Types for parameters, those with fewer more specific ones first; without those that the function has.
fn combinations(own: &[Ty], universe: &Universe) -> Vec<Vec<Ty>> {
    let types = &universe.types;
    let mut found: Vec<Vec<Ty>> = vec![vec![]];
    for ty in own {
        let mut choices = vec![*ty];
        choices.extend(below(*ty, universe).into_iter().rev());
        let extended = found.iter().flat_map(|start| {
            choices.iter().map(move |choice| start.iter().copied().chain([*choice]).collect::<Vec<Ty>>())
        });
        let extended: Vec<Vec<Ty>> = extended.collect();
        // Where there are too many, later parameters keep their types.
        found = if extended.len() <= MAX_COMBINATIONS {
            extended
        } else {
            found.into_iter().map(|start| [&start[..], &[*ty]].concat()).collect()
        };
    }
    found.retain(|types| types != own);
    found.sort_by_cached_key(|combination| combination.iter().map(|ty| depth(*ty, types)).sum::<usize>());
    found
}

/// Do two functions of one text mean the same operations, and have returned values the same types?
fn means_the_same(a: &Function, b: &Function) -> bool {
    let kinds = |f: &Function| -> Vec<InstKind> {
        f.layout.iter().flat_map(|b| &f.block(*b).insts).map(|id| f.inst(*id).kind.clone()).collect()
    };
    kinds(a) == kinds(b) && returned(a).eq(returned(b))
}

/// Infers types of versions that may call each other, and their results, effects and costs.
fn infer_together(module: &mut Module, made: &[Version], universe: &mut Universe) {
    for version in made {
        infer_results(&mut module.functions[version.function], version.op, universe);
    }
    for version in made {
        reinfer(&mut module.functions[version.function], universe);
    }
    let ops: Vec<OpId> = made.iter().map(|version| version.op).collect();
    summarise(module, &CallGraph::new(module), &ops, universe);
    for Version { op, general, .. } in made {
        // A rule relates overloads with the same effects: those of the general one hold of all its versions.
        let general = universe.ops.get(*general);
        let (effects, checks) = (general.effects.clone(), general.checks.clone());
        let decl = universe.ops.get_mut(*op);
        (decl.effects, decl.checks) = (effects, checks);
    }
}

/// The most specific types of results that stand where they are assumed of all calls.
fn infer_results(f: &mut Function, op: OpId, universe: &mut Universe) {
    let declared = f.results.clone();
    for (result, declared) in declared.iter().enumerate() {
        for ty in below(*declared, universe) {
            let (general, assumed) = (universe.ops.get(op).results[result].clone(), expression(&universe.types, ty));
            universe.ops.get_mut(op).results[result] = assumed;
            let mut typed = f.clone();
            typed.results[result] = ty;
            reinfer(&mut typed, universe);
            if verify(&typed, universe).is_empty() {
                *f = typed;
                break;
            }
            universe.ops.get_mut(op).results[result] = general;
        }
    }
}
