//! `@link("library", "symbol")`: a function of a shared library, and what its declaration must be for that. A third
//! argument, `"signed"` or `"unsigned"`, says what integers below 32 bits are in C.

use super::Checker;
use super::report::Diag;
use crate::syntax::ast::{Attribute, Expr, ExprKind, Span};
use rewright_typeprop::eval::scalar_of;
use rewright_typeprop::ops::{Extension, Link};
use rewright_typeprop::types::TypeDeclId;
use rewright_typeprop::{OpId, Repr, Scalar, TypeExpr};
use std::iter;

impl Checker<'_> {
    pub(super) fn link(&mut self, op: OpId, attribute: &Attribute) {
        let at = attribute.name.span;
        let mut given = attribute.args.iter().map(|arg| text(Some(arg)));
        let (Some(Some(library)), Some(Some(symbol)), narrow, None) =
            (given.next(), given.next(), given.next(), given.next())
        else {
            return self.report(takes(at));
        };
        let extension = narrow.flatten().and_then(Extension::named);
        if library.is_empty() || symbol.is_empty() || narrow.is_some() && extension.is_none() {
            return self.report(takes(at));
        }
        if let Some(why) = self.unfit(op, extension) {
            let declared = self.op_spans[op.0 as usize];
            let name = &self.program.universe.ops.get(op).name;
            let message = format!("`{name}` is no function of a library: {}", why.text());
            let found = Diag::error("RW0211", at, message, "cannot be called").also(declared, "declared here");
            return self.report(match why {
                Unfit::Narrow => found.help(format!(
                    "`@link(\"{library}\", \"{symbol}\", \"signed\")` where C has `char` or `short`, `\"unsigned\"` where \
                     it has `unsigned char`, `unsigned short` or `bool`"
                )),
                _ => found,
            });
        }
        let (library, symbol) = (library.to_string(), symbol.to_string());
        let link = Link { library, symbol, narrow: extension, allowed: false };
        self.program.universe.ops.get_mut(op).link = Some(link);
        self.program.links.insert(op, at);
    }

    /// Why the platform's C convention has no such function, or none that we know to call.
    fn unfit(&self, op: OpId, extension: Option<Extension>) -> Option<Unfit> {
        let decl = self.program.universe.ops.get(op);
        if decl.host || decl.model.is_some() {
            return Some(Unfit::Meaning);
        }
        if decl.results.len() > 1 {
            return Some(Unfit::Results);
        }
        let exprs = decl.params.iter().map(|p| &p.ty).chain(&decl.results);
        exprs.into_iter().find_map(|expr| match (expr, scalar_of(&self.program.universe.types, expr, &[])) {
            (TypeExpr::Param(n), _) => {
                let bound = decl.tparams[*n as usize].bound.as_ref();
                (!bound.is_some_and(|bound| self.are_words(bound))).then_some(Unfit::Parameter)
            }
            // Which side extends them, and how, depends on their sign in C, which types here do not have.
            (_, Some(Scalar::I8 | Scalar::I16)) if extension.is_none() => Some(Unfit::Narrow),
            _ => None,
        })
    }

    /// Are all values of a type, and of those below it, pointers or handles? They are passed alike.
    fn are_words(&self, bound: &TypeExpr) -> bool {
        let TypeExpr::App(bound, _) = bound else { return false };
        let types = &self.program.universe.types;
        let above = |id: TypeDeclId| match &types.decl(id).supertype {
            Some(TypeExpr::App(above, _)) => Some(*above),
            _ => None,
        };
        // A chain of supertypes that is longer than there are types is a mistake that is reported elsewhere.
        let is_below = |id: TypeDeclId| {
            iter::successors(Some(id), |id| above(*id)).take(types.decls().count()).any(|id| id == *bound)
        };
        types.decls().all(|(id, decl)| matches!(decl.model, None | Some(Repr::Pointer)) || !is_below(id))
    }
}

/// Why an operation is no function of a library.
#[derive(Clone, Copy)]
enum Unfit {
    Meaning,
    Results,
    Parameter,
    Narrow,
}

impl Unfit {
    fn text(self) -> &'static str {
        match self {
            Unfit::Meaning => "it has another meaning already",
            Unfit::Results => "a function of C gives one result",
            Unfit::Parameter => {
                "its machine type would depend on a type parameter; declare one function of this name for each type"
            }
            Unfit::Narrow => "how a small integer is passed depends on its sign in C",
        }
    }
}

fn takes(at: Span) -> Diag {
    Diag::error("RW0211", at, "`@link` takes a library and a symbol", "not so").help(
        "as in `@link(\"libm.so.6\", \"hypot\")`; a third argument, `\"signed\"` or `\"unsigned\"`, says what integers below \
         32 bits are in C",
    )
}

fn text(expr: Option<&Expr>) -> Option<&str> {
    match &expr?.kind {
        ExprKind::Str(text) => Some(text),
        _ => None,
    }
}
