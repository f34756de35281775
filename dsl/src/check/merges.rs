//! `@model("phi")`: what a value is where the arms of a branch meet. As a function of its operands it is a `select`.

use super::Checker;
use crate::syntax::ast::Span;
use rewright_typeprop::{Model, Op, OpId, TypeExpr};

/// The model of what a value is where two arms meet.
pub(super) const PHI: &str = "phi";

impl Checker<'_> {
    /// `@model("phi")`
    pub(super) fn phi(&mut self, op: OpId, at: Span) {
        if !fits(self.program.universe.ops.get(op)) {
            let label = "takes a condition and two values of one type, any type";
            return self.misfit(op, at, PHI, label, "fn phi{C <: Int, T}(c: C, x: T, y: T) -> T  pure");
        }
        let op = self.program.universe.ops.get_mut(op);
        (op.model, op.at_merges) = (Some(Model::Select), true);
    }
}

fn fits(decl: &Op) -> bool {
    let types: Vec<&TypeExpr> = decl.params.iter().map(|p| &p.ty).chain(&decl.results).collect();
    let [c, x, y, result] = types[..] else { return false };
    let [condition, value] = &decl.tparams[..] else { return false };
    *c == TypeExpr::Param(0)
        && [x, y, result].iter().all(|ty| **ty == TypeExpr::Param(1))
        && condition.bound.is_some()
        && value.bound.is_none()
        && decl.effects.is_pure()
        && decl.params.iter().all(|p| !p.constant)
}
