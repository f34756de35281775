//! What a written type means where it stands.

use super::name_clashes::several;
use super::report::{Diag, count};
use super::scope::Scope;
use super::wording::of_another_language;
use crate::syntax::ast::{self, Span, TypeKind};
use rewright_typeprop::names::{self, qualified};
use rewright_typeprop::types::TypeDeclId;
use rewright_typeprop::{TypeExpr, TypeParam, TypeStore};

/// A written type, or why not (`None`: already reported elsewhere).
pub(super) fn resolve_type(
    ty: &ast::Type,
    params: &[TypeParam],
    scope: &Scope,
    types: &TypeStore,
    spans: &[Span],
) -> Result<TypeExpr, Option<Box<Diag>>> {
    let fail = |report: Diag| Err(Some(Box::new(report)));
    let (path, args) = match &ty.kind {
        TypeKind::Int(n) => return Ok(TypeExpr::Int(*n)),
        TypeKind::Named { path, args } => (path, args),
    };
    if let Some(index) = params.iter().rposition(|p| p.name == path.node) {
        if let Some(arg) = args.first() {
            return fail(Diag::error(
                "RW0308",
                arg.span,
                format!("`{}` is a type parameter and takes no arguments", path.node),
                "not allowed here",
            ));
        }
        return Ok(TypeExpr::Param(index as u32));
    }
    if path.node == "State" {
        return fail(Diag::error("RW0310", path.span, "`State` is not the type of a value", "not allowed here").help(
            "states are parameters of rules and examples only: `s: State`; a function that only writes gives `()`",
        ));
    }
    let (found, families) = (scope.find_types(&path.node), scope.find_families(&path.node));
    if found.len() + families.len() > 1 {
        let place = |id: &TypeDeclId| (types.decl(*id).name.clone(), spans.get(id.0 as usize).copied());
        let families = families.iter().map(|f| (qualified(&f.pack, names::plain(&path.node)), None));
        return fail(several("types", path, found.iter().map(place).chain(families)));
    }
    let Some(id) = found.first().copied() else {
        if scope.is_excused(&path.node) {
            return Err(None);
        }
        if !families.is_empty() {
            let message = format!("`{}` is a family: several types under one name", path.node);
            return fail(
                Diag::error("RW0321", path.span, message, "one type is wanted here")
                    .help(format!("only type parameters of rules range over a family: `{{T <: {}}}`", path.node)),
            );
        }
        let known = scope.names.types.keys().map(String::as_str).chain(params.iter().map(|p| p.name.as_str()));
        let elsewhere = types.alike(&path.node).first().copied();
        let unimported = || {
            Some(match elsewhere {
                Some(_) => format!("another pack declares `{}`: import it", path.node),
                None => format!("declare it, `type {}`, or import the pack that does", path.node),
            })
        };
        let report =
            Diag::error("RW0202", path.span, format!("unknown type `{}`", path.node), "not declared or imported");
        let report = match of_another_language(&path.node).filter(|_| elsewhere.is_none()) {
            Some(ours) => report.help(format!("numbers have a width and no sign here: `{ours}` of `std.core`")),
            None if path.node == "void" && elsewhere.is_none() => {
                report.help("a function without a result gives nothing: `-> ()`")
            }
            None => report.nearest(&path.node, known, unimported),
        };
        return fail(match elsewhere.and_then(|id| spans.get(id.0 as usize)) {
            Some(declared) => report.also(*declared, "declared here"),
            None => report,
        });
    };
    let decl = types.decl(id);
    if !args.is_empty() && args.len() != decl.params.len() {
        let want = count(decl.params.len(), "type argument");
        return fail(
            Diag::error(
                "RW0308",
                ty.span,
                format!("`{}` takes {want}, here are {}", path.node, args.len()),
                "wrong number of type arguments",
            )
            .also(spans.get(id.0 as usize).copied().unwrap_or_default(), "declared here"),
        );
    }
    let args = args.iter().map(|a| resolve_type(a, params, scope, types, spans)).collect::<Result<_, _>>()?;
    Ok(TypeExpr::App(id, args))
}
