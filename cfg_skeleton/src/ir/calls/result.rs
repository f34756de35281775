//! Known bits and bounds of an integer that a function returns.
//!
//! Each value is a class of its own ([`crate::egraph::known`]): what operations, and calls of functions of which this is
//! known already, say of their results, and what arrives at parameters of blocks.

use crate::egraph::Head;
use crate::egraph::known::{Computes, IntTerm, solve};
use crate::ir::{Cfg, EdgeArg, Function, InstKind, Terminator, Value};
use rewright_typeprop::{Known, Universe};
use smallvec::SmallVec;
use std::collections::BTreeMap;

/// The join over all returns of a function with one integer result; `None` where nothing is known.
pub(super) fn known(f: &Function, universe: &Universe) -> Option<Known> {
    let [ty] = f.results[..] else { return None };
    universe.types.scalar(ty).filter(|scalar| scalar.is_int())?;
    let cfg = Cfg::new(f);
    let terms: Vec<IntTerm> = operations(f, &cfg, universe).chain(arriving(f, &cfg, universe)).collect();
    let known = solve(f.values.len(), &terms);
    let blocks = f.layout.iter().filter(|b| cfg.is_reachable(**b));
    let returned = blocks.filter_map(|b| match &f.block(*b).term {
        Terminator::Return(values) => values.first().copied(),
        _ => None,
    });
    let all: Option<Vec<Known>> = returned.map(|value: Value| known[value.index()]).collect();
    all?.into_iter().reduce(Known::join).filter(|known| !known.is_top())
}

fn operations<'a>(f: &'a Function, cfg: &'a Cfg, universe: &'a Universe) -> impl Iterator<Item = IntTerm> + 'a {
    let insts = f.layout.iter().filter(|b| cfg.is_reachable(**b)).flat_map(|b| &f.block(*b).insts);
    insts.filter_map(|id| {
        let inst = f.inst(*id);
        let [result] = inst.results[..] else { return None };
        let own = [f.ty(result)];
        let (head, targs) = match &inst.kind {
            InstKind::Op { op, targs, .. } => (Head::Op(*op), &targs[..]),
            InstKind::Const(number) => (Head::Const(*number), &own[..]),
            InstKind::Opaque { .. } | InstKind::Check { .. } => return None,
        };
        let tables = (&universe.ops, &universe.types);
        IntTerm::of_node(tables, (head, targs, &inst.args[..]), result.index(), |value| value.index())
    })
}

fn arriving<'a>(f: &'a Function, cfg: &'a Cfg, universe: &'a Universe) -> impl Iterator<Item = IntTerm> + 'a {
    let mut found: BTreeMap<Value, Option<SmallVec<[usize; 3]>>> = BTreeMap::new();
    for edge in f.layout.iter().filter(|b| cfg.is_reachable(**b)).flat_map(|b| f.block(*b).term.edges()) {
        for (param, arg) in f.block(edge.target).params.iter().zip(&edge.args) {
            let known = found.entry(*param).or_insert_with(|| Some(SmallVec::new()));
            match (arg, &mut *known) {
                (EdgeArg::Value(value), Some(values)) => values.push(value.index()),
                _ => *known = None,
            }
        }
    }
    found.into_iter().filter_map(|(param, values)| {
        let scalar = universe.types.scalar(f.ty(param)).filter(|scalar| scalar.is_int())?;
        Some(IntTerm { class: param.index(), bits: scalar.bits(), computes: Computes::OneOf, children: values? })
    })
}
