//! All that packs declare.

use crate::data::DataPool;
use crate::host::HostFns;
use crate::ids::OpId;
use crate::model::Model;
use crate::ops::OpTable;
use crate::types::{Ty, TypeData, TypeExpr, TypeStore};
use serde::{Deserialize, Serialize};

/// Types and operations: what all packs of one run declare.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Universe {
    /// Types.
    pub types: TypeStore,
    /// Operations.
    pub ops: OpTable,
    /// Array constants: what keys stand for. Packs name none.
    #[serde(skip)]
    pub data: DataPool,
    /// What embedding programs register.
    #[serde(skip)]
    pub hosts: HostFns,
}

/// Operations with more combinations of type arguments than this are left to what names their types.
const MAX_COMBINATIONS: usize = 4096;

impl Universe {
    /// The operation of two values of a type that a model describes: the first one with no parameter but that type, which
    /// gives a value of it, or a truth value if it compares.
    pub fn binary(&self, model: Model, ty: Ty) -> Option<OpId> {
        let is_param = |ty: &TypeExpr| *ty == TypeExpr::Param(0);
        let mut ops = self.ops.iter();
        let found = ops.find(|(_, op)| {
            let [param] = &op.tparams[..] else { return false };
            let bound = param.bound.as_ref();
            op.model == Some(model)
                && op.params.iter().all(|param| is_param(&param.ty))
                && op.results.iter().all(|result| is_param(result) != model.is_comparison())
                && bound.is_none_or(|b| {
                    self.types.find_instance(b, &[ty]).is_some_and(|bound| self.types.is_subtype(ty, bound))
                })
        });
        found.map(|(id, _)| id)
    }

    /// Interns what operations take and give at the type arguments that occur: where `Matrix{f64}` does,
    /// `gram{T}(a: Matrix{T}) -> Symmetric{T}` gives a `Symmetric{f64}` that nothing may have named yet.
    pub fn intern_signatures(&mut self) {
        let Universe { types, ops, .. } = self;
        let mut arguments: Vec<Ty> = vec![];
        for ty in types.all() {
            if let TypeData::App(_, args) = types.data(ty) {
                let own = args.iter().filter(|arg| **arg != ty && !matches!(types.data(**arg), TypeData::Open));
                arguments.extend(own.copied());
            }
        }
        arguments.sort_unstable();
        arguments.dedup();
        for (_, op) in ops.iter().filter(|(_, op)| !op.tparams.is_empty()) {
            let exprs: Vec<&TypeExpr> = op.params.iter().map(|p| &p.ty).chain(&op.results).collect();
            let applied = exprs.iter().any(|e| matches!(e, TypeExpr::App(_, args) if !args.is_empty()));
            let count = u32::try_from(op.tparams.len()).ok().and_then(|n| arguments.len().checked_pow(n));
            if !applied || count.is_none_or(|n| n > MAX_COMBINATIONS) {
                continue;
            }
            for mut at in 0..count.unwrap_or(0) {
                let mut targs: Vec<Ty> = vec![];
                for _ in &op.tparams {
                    targs.push(arguments[at % arguments.len()]);
                    at /= arguments.len();
                }
                let fits = op.tparams.iter().zip(&targs).all(|(param, ty)| {
                    let bound = param.bound.as_ref().map(|bound| types.instantiate(bound, &targs));
                    bound.is_none_or(|bound| bound.is_some_and(|bound| types.is_subtype(*ty, bound)))
                });
                for expr in exprs.iter().filter(|_| fits) {
                    let mut above = types.instantiate(expr, &targs);
                    while let Some(ty) = above {
                        above = types.supertype(ty);
                    }
                }
            }
        }
    }
}
