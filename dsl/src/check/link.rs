//! `@link("library", "symbol")`: a function of a shared library, and what its declaration must be for that.

use super::Checker;
use super::report::Diag;
use crate::syntax::ast::{Attribute, Expr, ExprKind};
use rewright_typeprop::eval::scalar_of;
use rewright_typeprop::ops::Link;
use rewright_typeprop::{OpId, Scalar, TypeExpr};

impl Checker<'_> {
    pub(super) fn link(&mut self, op: OpId, attribute: &Attribute) {
        let at = attribute.name.span;
        let (Some(library), Some(symbol)) = (text(attribute.args.first()), text(attribute.args.get(1))) else {
            return self.report(
                Diag::error("RW0211", at, "`@link` takes a library and a symbol", "not so")
                    .help("as in `@link(\"libm.so.6\", \"hypot\")`"),
            );
        };
        if attribute.args.len() > 2 || library.is_empty() || symbol.is_empty() {
            return self.report(Diag::error("RW0211", at, "`@link` takes a library and a symbol", "not so"));
        }
        if let Some(why) = self.unfit(op) {
            let declared = self.op_spans[op.0 as usize];
            let name = &self.program.universe.ops.get(op).name;
            let message = format!("`{name}` is no function of a library: {why}");
            return self.report(Diag::error("RW0211", at, message, "cannot be called").also(declared, "declared here"));
        }
        let (library, symbol) = (library.to_string(), symbol.to_string());
        self.program.universe.ops.get_mut(op).link = Some(Link { library, symbol, allowed: false });
    }

    /// Why the platform's C convention has no such function, or none that we know to call.
    fn unfit(&self, op: OpId) -> Option<String> {
        let decl = self.program.universe.ops.get(op);
        if decl.host || decl.model.is_some() {
            return Some("it has another meaning already".into());
        }
        if decl.results.len() > 1 {
            return Some("a function of C gives one result".into());
        }
        let exprs = decl.params.iter().map(|p| &p.ty).chain(&decl.results);
        exprs.into_iter().find_map(|expr| match (expr, scalar_of(&self.program.universe.types, expr, &[])) {
            (TypeExpr::Param(_), _) => {
                let why = "its machine type would depend on a type parameter; declare one function of this name for each type";
                Some(why.into())
            }
            // Who extends them, and how, depends on their sign in C, which types here do not have.
            (_, Some(Scalar::I8 | Scalar::I16)) => Some("small integers are passed as `i32`".into()),
            _ => None,
        })
    }
}

fn text(expr: Option<&Expr>) -> Option<&str> {
    match &expr?.kind {
        ExprKind::Str(text) => Some(text),
        _ => None,
    }
}
