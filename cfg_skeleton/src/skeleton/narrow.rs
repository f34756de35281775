//! More specific types for parameters of blocks.
//!
//! A parameter may have a type below its own if every edge carries a value of that type. Whether an edge does may follow
//! from the parameter itself: `x` in `x' = f(x)`, with `f` of a symmetric matrix symmetric, is symmetric if it was at
//! first. So a type is assumed where the edges that enter carry it ([`candidates`]), rules see the function with it
//! ([`narrowed`]), and it stands if all edges carry it then ([`carried`]): what is derived of one visit of a block from
//! types of parameters at that visit is true if these are, and those of the first visit are. Where one does not stand,
//! nothing that was derived from it is used.
//!
//! Selection must have arguments of the type: [`demand`] gives edges nodes of their own, which
//! [`crate::egraph::demand`] splits from others by type. The cost of such an argument, and whether it can be computed
//! at the end of its edge, are left to selection.
//!
//! What a function returns may have a type below the declared one in the same way ([`result_types`]).
//!
//! Not here: parameters of functions, whose types callers rely on ([`crate::ir::versions`]); results of opaque terminators.

use super::{Skeleton, SkeletonArg};
use crate::Saturated;
use crate::egraph::{ClassId, InputId};
use crate::ir::{BlockId, EdgeArg, Function, Terminator};
use rewright_typeprop::{Ty, Universe};
use rustc_hash::FxHashMap;

/// A parameter with a type below its own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Narrowing {
    /// Its block.
    pub block: BlockId,
    /// Which parameter.
    pub index: usize,
    /// The type.
    pub ty: Ty,
}

/// Does a parameter of a block have a type with others below it?
pub fn is_narrowable(f: &Function, universe: &Universe) -> bool {
    let params = f.layout.iter().skip(1).flat_map(|block| &f.block(*block).params);
    let mut types: Vec<Ty> = params.map(|param| f.ty(*param)).collect();
    types.sort_unstable();
    types.dedup();
    types.into_iter().any(|ty| below(ty, universe).next().is_some())
}

/// The types below a type, without a machine representation, in order.
pub(crate) fn below(ty: Ty, universe: &Universe) -> impl Iterator<Item = Ty> + '_ {
    let types = &universe.types;
    let is_open = types.scalar(ty).is_none() && ty != Ty::ANY;
    types.all().filter(move |other| is_open && *other != ty && types.is_subtype(*other, ty))
}

/// The most specific types that the edges which enter from before carry; of several that are not below each other, the
/// first.
pub fn candidates(given: Saturated) -> Vec<Narrowing> {
    let Saturated { function: f, cfg, universe, skeleton: s, view } = given;
    let types = &universe.types;
    let of_class = types_of_classes(given);
    let mut found: Vec<Narrowing> = vec![];
    // By class of a parameter: the type that is assumed of it.
    let mut assumed: FxHashMap<ClassId, Ty> = FxHashMap::default();
    for block in cfg.reverse_post_order().iter().copied().filter(|block| *block != f.entry()) {
        for (index, param) in f.block(block).params.iter().enumerate() {
            let mut entering = vec![];
            for edge in cfg.predecessors(block).iter().filter(|edge| !cfg.is_back_edge(edge.from, block)) {
                let arg = s.blocks[edge.from.index()].edges[edge.slot as usize].args.get(index);
                entering.push(match arg {
                    Some(SkeletonArg::Node(input)) => Some(view.class_of(*input)),
                    _ => None,
                });
            }
            let entering: Option<Vec<ClassId>> = entering.into_iter().collect();
            let Some(entering) = entering.filter(|all| !all.is_empty() && !cfg.is_irreducible(block)) else { continue };
            let carries = |class: &ClassId, ty: Ty| {
                let known = of_class[class.index()].iter().chain(assumed.get(class));
                known.into_iter().any(|known| types.is_subtype(*known, ty))
            };
            let fits: Vec<Ty> =
                below(f.ty(*param), universe).filter(|ty| entering.iter().all(|class| carries(class, *ty))).collect();
            if let Some(ty) = least(&fits, universe) {
                assumed.insert(view.class_of(s.blocks[block.index()].params[index]), ty);
                found.push(Narrowing { block, index, ty });
            }
        }
    }
    found
}

/// The function with these types. Its edges may carry values of other types: [`demand`] sees to it that what is selected
/// does not.
pub fn narrowed(f: &Function, narrowings: &[Narrowing]) -> Function {
    let mut out = f.clone();
    for Narrowing { block, index, ty } in narrowings {
        out.values[f.block(*block).params[*index].index()] = *ty;
    }
    out
}

/// The most specific types that all that is returned has, by result, where one is below the declared type.
pub fn result_types(given: Saturated) -> Option<Vec<Ty>> {
    let Saturated { function: f, cfg, universe, skeleton: s, view } = given;
    let of_class = types_of_classes(given);
    let returns = |block: &BlockId| matches!(f.block(*block).term, Terminator::Return(_)) && cfg.is_reachable(*block);
    let returned: Vec<&[InputId]> =
        f.layout.iter().copied().filter(returns).map(|block| &s.blocks[block.index()].operands[..]).collect();
    if returned.is_empty() {
        return None;
    }
    let has = |input: &InputId, ty: Ty| {
        let mut known = of_class[view.class_of(*input).index()].iter();
        known.any(|known| universe.types.is_subtype(*known, ty))
    };
    let all = f.results.iter().enumerate().map(|(index, declared)| {
        let everywhere = |ty: &Ty| returned.iter().all(|values| has(&values[index], *ty));
        let fits: Vec<Ty> = below(*declared, universe).filter(everywhere).collect();
        least(&fits, universe).unwrap_or(*declared)
    });
    let all: Vec<Ty> = all.collect();
    (all != f.results).then_some(all)
}

/// The first of some types that has none of them below it.
fn least(fits: &[Ty], universe: &Universe) -> Option<Ty> {
    let is_least = |ty: &&Ty| !fits.iter().any(|other| other != *ty && universe.types.is_subtype(*other, **ty));
    fits.iter().find(is_least).copied()
}

/// Has edges that carry values of types above those of parameters carry what is of the parameters' types, and the same of
/// what is returned.
pub fn demand(skeleton: &mut Skeleton, f: &Function, universe: &Universe) {
    for block in skeleton.layout.clone() {
        if let Terminator::Return(values) = &f.block(block).term {
            for (index, (value, wanted)) in values.iter().zip(&f.results).enumerate() {
                if !universe.types.is_subtype(f.ty(*value), *wanted) {
                    let input = skeleton.blocks[block.index()].operands[index];
                    skeleton.blocks[block.index()].operands[index] = skeleton.input.add_at(input, *wanted);
                }
            }
        }
        for (slot, edge) in f.block(block).term.edges().into_iter().enumerate() {
            for (index, (arg, param)) in edge.args.iter().zip(&f.block(edge.target).params).enumerate() {
                let EdgeArg::Value(value) = arg else { continue };
                let wanted = f.ty(*param);
                let arg = &mut skeleton.blocks[block.index()].edges[slot].args[index];
                let SkeletonArg::Node(input) = *arg else { continue };
                if !universe.types.is_subtype(f.ty(*value), wanted) {
                    *arg = SkeletonArg::Node(skeleton.input.add_at(input, wanted));
                }
            }
        }
    }
}

/// Those of the types that all edges carry, in the e-graph of the function with them.
pub fn carried(given: Saturated, narrowings: &[Narrowing]) -> Vec<Narrowing> {
    let Saturated { cfg, universe, skeleton: s, view, .. } = given;
    let of_class = types_of_classes(given);
    let is_carried = |narrowing: &&Narrowing| {
        cfg.predecessors(narrowing.block).iter().all(|edge| {
            let arg = s.blocks[edge.from.index()].edges[edge.slot as usize].args.get(narrowing.index);
            let Some(SkeletonArg::Node(input)) = arg else { return false };
            let types = &of_class[view.class_of(*input).index()];
            types.iter().any(|ty| universe.types.is_subtype(*ty, narrowing.ty))
        })
    };
    narrowings.iter().filter(is_carried).copied().collect()
}

/// By class: the types of its nodes.
fn types_of_classes(given: Saturated) -> Vec<Vec<Ty>> {
    let Saturated { universe, view, .. } = given;
    let mut found: Vec<Vec<Ty>> = vec![vec![]; view.classes.len()];
    for (node, class) in view.nodes.iter().zip(&view.node_class) {
        if let Some(ty) = node.ty(universe)
            && !found[class.index()].contains(&ty)
        {
            found[class.index()].push(ty);
        }
    }
    found
}
