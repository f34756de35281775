//! Stage 1: names. Imports, types, effects, facts and signatures.

use super::report::Diag;
use super::scope::{Scope, extend};
use super::written_types::resolve_type;
use super::{Checker, FnPlace};
use crate::program::{Fact, FactId};
use crate::syntax::ast::{self, Item, ItemKind, Name, Param, Span, TParam};
use indexmap::IndexSet;
use rewright_typeprop::names::qualified;
use rewright_typeprop::ops::OpParam;
use rewright_typeprop::types::{TypeDecl, TypeDeclId};
use rewright_typeprop::{Op, OpId, Repr, TypeExpr, TypeParam};
use std::rc::Rc;

/// Effects that the language knows.
pub(super) const BUILTIN_EFFECTS: [&str; 6] = ["reads", "writes", "allocates", "io", "traps", "diverges"];

/// Names that only the language itself gives a meaning.
const RESERVED_TYPES: [&str; 2] = ["Any", "State"];

impl<'a> Checker<'a> {
    pub(super) fn declare_all(&mut self) {
        for file in 0..self.files.len() {
            let mut scope = Scope::new(&self.files[file].pack);
            if let Some(earlier) = self.files[..file].iter().position(|f| f.pack == scope.pack) {
                let place = |f: &ast::File| f.pack.as_ref().map_or(Span::default(), |p| p.span);
                let (pack, at) = (scope.pack.clone(), place(&self.files[file].file));
                self.report(
                    Diag::error("RW0210", at, format!("two files are pack `{pack}`"), "stated here again")
                        .also(place(&self.files[earlier].file), "first stated here")
                        .help(
                            "one file is one pack: give each a name of its own, or check packs that have nothing to do with \
                             each other one at a time",
                        ),
                );
            }
            self.import_all(file, &mut scope);
            let items = self.items(file);
            self.declare_types(&items, &mut scope);
            self.declare_families(&items, &mut scope);
            for (ruleset, item) in &items {
                match &item.kind {
                    ItemKind::Effect { name } => {
                        if BUILTIN_EFFECTS.contains(&name.node.as_str()) {
                            self.report(Diag::error(
                                "RW0210",
                                name.span,
                                format!("effect `{}` is built in", name.node),
                                "cannot be declared again",
                            ));
                        }
                        let region = qualified(&scope.pack, &name.node);
                        scope.declare(|n| {
                            n.effects.insert(name.node.clone(), vec![region.clone()]);
                        });
                    }
                    ItemKind::Error => scope.incomplete = true,
                    ItemKind::Fact { name, tparams, params, .. } => {
                        self.declare_fact(name, tparams, params, &mut scope);
                    }
                    ItemKind::Ruleset { name, .. } if ruleset.is_some() => {
                        self.report(
                            Diag::error(
                                "RW0455",
                                item.span,
                                "a ruleset inside a ruleset is not yet supported",
                                format!("`{}` stands in another ruleset", name.node),
                            )
                            .help("move it to the top level of the pack"),
                        );
                    }
                    _ => {}
                }
            }
            for (_, item) in &items {
                if let ItemKind::Fn(f) = &item.kind {
                    self.declare_fn(file, item, f, &mut scope);
                }
            }
            self.scopes.push(Rc::new(scope));
        }
        self.settle_names();
        self.has_subtypes = vec![false; self.program.universe.types.decls().count()];
        for (_, decl) in self.program.universe.types.decls() {
            if let Some(TypeExpr::App(parent, _)) = &decl.supertype {
                self.has_subtypes[parent.0 as usize] = true;
            }
        }
    }

    fn import_all(&mut self, file: usize, scope: &mut Scope) {
        let parsed = &self.files[file];
        for item in &parsed.file.items {
            let ItemKind::Import { path, alias, names } = &item.kind else { continue };
            let by_pack = || self.files[..file].iter().position(|f| f.pack == path.node);
            let target = parsed.imports.get(&path.node).copied().or_else(by_pack);
            let Some(other) = target.and_then(|t| self.scopes.get(t)).cloned() else {
                match names {
                    Some(names) => scope.names.rejected.extend(names.iter().map(|n| n.node.clone())),
                    None => scope.incomplete = true,
                }
                continue;
            };
            let only: Option<Vec<&str>> = names.as_ref().map(|n| n.iter().map(|n| n.node.as_str()).collect());
            for name in names.iter().flatten() {
                scope.listed.insert(name.node.clone(), name.span);
                if !other.exports.has(&name.node) && !other.incomplete {
                    let e = &other.exports;
                    let all = e.types.keys().chain(e.ops.keys()).chain(e.facts.keys()).chain(e.effects.keys());
                    let report = Diag::error(
                        "RW0209",
                        name.span,
                        format!("pack `{}` has no `{}`", path.node, name.node),
                        "not declared there",
                    )
                    .nearest(&name.node, all.map(String::as_str), || None);
                    self.report(report);
                    scope.names.rejected.insert(name.node.clone());
                }
            }
            scope.import(&other, alias.as_ref().map(|a| a.node.as_str()), only.as_deref());
        }
    }

    fn declare_types(&mut self, items: &[(Option<&'a Name>, &'a Item)], scope: &mut Scope) {
        let mut own = Vec::new();
        for (_, item) in items {
            let ItemKind::Type { name, .. } = &item.kind else { continue };
            if RESERVED_TYPES.contains(&name.node.as_str()) {
                self.report(Diag::error(
                    "RW0210",
                    name.span,
                    format!("type `{}` is built in", name.node),
                    "cannot be declared again",
                ));
                continue;
            }
            let full = qualified(&scope.pack, &name.node);
            if let Some(earlier) = self.program.universe.types.lookup(&full) {
                let place = self.type_spans[earlier.0 as usize];
                self.report(Diag::twice("type", name, place));
                continue;
            }
            if let Some(listed) = scope.listed.get(&name.node) {
                let message = format!("type `{}` is imported by its name and declared", name.node);
                self.report(
                    Diag::error("RW0210", name.span, message, "declared here")
                        .also(*listed, "imported here")
                        .help("leave it out of the list, or import the pack `as` another name"),
                );
                continue;
            }
            let id = self.program.universe.types.declare(TypeDecl {
                name: full,
                params: Vec::new(),
                supertype: Some(TypeExpr::App(TypeDeclId(0), Vec::new())),
                model: None,
                opaque: false,
            });
            self.type_spans.push(name.span);
            scope.declare(|n| {
                n.types.insert(name.node.clone(), vec![id]);
                n.families.shift_remove(&name.node);
            });
            own.push((id, *item));
        }
        // Parameters first: a supertype may apply a type that is declared below.
        for (id, item) in &own {
            let ItemKind::Type { tparams, .. } = &item.kind else { continue };
            let params = tparams.iter().map(|p| TypeParam { name: p.name.node.clone(), bound: None }).collect();
            self.redeclare(*id, |d| d.params = params);
        }
        for (id, item) in &own {
            let ItemKind::Type { name, tparams, supertype, model } = &item.kind else { continue };
            let params = self.tparams(tparams, scope);
            let parent = supertype.as_ref().and_then(|ty| {
                let parent = self.type_expr(ty, &params, scope)?;
                match parent {
                    TypeExpr::App(..) => Some(parent),
                    _ => {
                        self.report(Diag::error(
                            "RW0308",
                            ty.span,
                            "a supertype must be a declared type",
                            "not a type's name",
                        ));
                        None
                    }
                }
            });
            let repr = model.as_ref().and_then(|m| {
                let repr = Repr::from_name(&m.node);
                if repr.is_none() {
                    let known = ["bv8", "bv16", "bv32", "bv64", "bv128", "fp32", "fp64", "ptr64", "bv32x4"];
                    let unknown = format!("unknown model `{}`", m.node);
                    let report = Diag::error("RW0313", m.span, unknown, "no such representation");
                    self.report(match super::wording::model_of(&m.node) {
                        Some(model) => report.help(format!("the representation of `{}` is `{model}`", m.node)),
                        None => {
                            report.nearest(&m.node, known, || Some(format!("representations are {}", known.join(", "))))
                        }
                    });
                }
                repr
            });
            self.redeclare(*id, |d| {
                d.params = params;
                d.model = repr;
                if let Some(parent) = parent {
                    d.supertype = Some(parent);
                }
            });
            self.reject_cycle(*id, name, supertype.as_ref());
            for attribute in item.attributes.iter().filter(|a| !super::samples::is_about_testing(a)) {
                self.unknown_attribute(attribute, "a type");
            }
        }
    }

    /// A type must not be its own supertype, at any distance.
    fn reject_cycle(&mut self, id: TypeDeclId, name: &Name, written: Option<&ast::Type>) {
        let types = &self.program.universe.types;
        let mut at = id;
        for _ in 0..=types.decls().count() {
            let Some(TypeExpr::App(parent, _)) = &types.decl(at).supertype else { return };
            at = *parent;
            if at == id {
                let span = written.map_or(name.span, |ty| ty.span);
                self.report(
                    Diag::error(
                        "RW0312",
                        span,
                        format!("type `{}` is its own supertype", name.node),
                        "leads back to where it started",
                    )
                    .also(name.span, "declared here"),
                );
                self.redeclare(id, |d| {
                    d.supertype = Some(TypeExpr::App(TypeDeclId(0), Vec::new()));
                });
                return;
            }
        }
    }

    fn redeclare(&mut self, id: TypeDeclId, change: impl FnOnce(&mut TypeDecl)) {
        let types = &mut self.program.universe.types;
        let mut decl = types.decl(id).clone();
        change(&mut decl);
        let same = types.declare(decl);
        debug_assert_eq!(same, id, "a declaration keeps its id");
    }

    /// Type parameters with their bounds; a bound may mention earlier parameters.
    pub(super) fn tparams(&mut self, tparams: &[TParam], scope: &Scope) -> Vec<TypeParam> {
        let mut out: Vec<TypeParam> = Vec::new();
        for (index, tparam) in tparams.iter().enumerate() {
            if let Some(first) = tparams[..index].iter().find(|p| p.name.node == tparam.name.node) {
                let (at, first) = (tparam.name.span, first.name.span);
                self.report(
                    Diag::error("RW0210", at, format!("type parameter `{}` twice", tparam.name.node), "again here")
                        .also(first, "first here"),
                );
            }
            let bound = tparam.bound.as_ref().and_then(|ty| self.type_expr(ty, &out, scope));
            out.push(TypeParam { name: tparam.name.node.clone(), bound });
        }
        out
    }

    /// A written type, over the given parameters.
    pub(super) fn type_expr(&mut self, ty: &ast::Type, params: &[TypeParam], scope: &Scope) -> Option<TypeExpr> {
        match resolve_type(ty, params, scope, &self.program.universe.types, &self.type_spans) {
            Ok(ty) => Some(ty),
            Err(report) => {
                if let Some(report) = report {
                    self.report(*report);
                }
                None
            }
        }
    }

    fn declare_fact(&mut self, name: &Name, tparams: &[TParam], params: &[Param], scope: &mut Scope) {
        if let Some(earlier) = scope.own.facts.get(&name.node).and_then(|f| f.first()).copied() {
            let place = self.fact_spans[earlier.0 as usize];
            self.report(Diag::twice("fact", name, place));
            return;
        }
        let tparams = self.tparams(tparams, scope);
        let tys = self.params(params, &tparams, scope);
        let Some(tys) = tys else {
            scope.declare(|n| {
                n.rejected.insert(name.node.clone());
            });
            return;
        };
        let id = FactId(self.program.facts.len() as u32);
        self.program.facts.push(Fact {
            name: format!("{}.{}", scope.pack, name.node),
            spec: None,
            tparams,
            params: tys.into_iter().map(|p| p.ty).collect(),
            filled: None,
            span: name.span,
        });
        self.fact_spans.push(name.span);
        scope.declare(|n| {
            n.facts.insert(name.node.clone(), vec![id]);
        });
    }

    /// Parameters of a declaration; without a type: `Any`. None if one of them was rejected.
    fn params(&mut self, params: &[Param], tparams: &[TypeParam], scope: &Scope) -> Option<Vec<OpParam>> {
        let mut out = Vec::new();
        let mut good = true;
        for (index, param) in params.iter().enumerate() {
            if let Some(first) = params[..index].iter().find(|p| p.name.node == param.name.node) {
                let (at, first) = (param.name.span, first.name.span);
                self.report(
                    Diag::error("RW0210", at, format!("parameter `{}` twice", param.name.node), "again here")
                        .also(first, "first here"),
                );
                good = false;
            }
            if param.variadic {
                self.report(variadic(param.name.span));
                good = false;
            }
            let ty = match &param.ty {
                None => Some(TypeExpr::App(TypeDeclId(0), Vec::new())),
                Some(ty) => self.type_expr(ty, tparams, scope),
            };
            match ty {
                Some(ty) => out.push(OpParam { name: param.name.node.clone(), ty, constant: param.constant }),
                None => good = false,
            }
        }
        good.then_some(out)
    }

    fn declare_fn(&mut self, file: usize, item: &'a Item, f: &'a ast::FnItem, scope: &mut Scope) {
        let before = self.errors();
        let tparams = self.tparams(&f.tparams, scope);
        let params = self.params(&f.params, &tparams, scope);
        let results: Option<Vec<_>> = f.results.iter().map(|ty| self.type_expr(ty, &tparams, scope)).collect();
        let (Some(params), Some(results)) = (params, results) else {
            return self.reject_name(&f.name, scope);
        };
        if self.errors() > before {
            return self.reject_name(&f.name, scope);
        }
        let ops = &self.program.universe.ops;
        let same = |id: &OpId| {
            let op = ops.get(*id);
            op.params.iter().map(|p| &p.ty).eq(params.iter().map(|p| &p.ty))
                && op.tparams.iter().map(|p| &p.bound).eq(tparams.iter().map(|p| &p.bound))
        };
        // An overload of what the file has begun, else of what it imports.
        let begun = scope.own.ops.get(&f.name.node).cloned();
        let visible = begun.clone().or_else(|| scope.names.ops.get(&f.name.node).cloned()).unwrap_or_default();
        let functions: IndexSet<&str> = visible.iter().map(|id| ops.get(*id).name.as_str()).collect();
        let of =
            |function: &str| visible.iter().copied().filter(|id| ops.get(*id).name == function).collect::<Vec<_>>();
        // An imported function that takes the same types is another function, and hidden from here on.
        let hidden = |function: &str| begun.is_none() && of(function).iter().any(same);
        let (hidden, extended): (Vec<&str>, Vec<&str>) = functions.into_iter().partition(|function| hidden(function));
        let hidden: Vec<OpId> = hidden.into_iter().flat_map(of).collect();
        if let [first, second, ..] = extended[..] {
            let places: Vec<Span> = [first, second].map(|f| self.op_spans[of(f)[0].0 as usize]).into();
            let message = format!("this may be an overload of `{first}` and of `{second}`");
            self.report(
                Diag::error("RW0215", f.name.span, message, "which one?")
                    .also(places[0], format!("`{first}`"))
                    .also(places[1], format!("`{second}`"))
                    .help("import one of them `as` another name: that one is not meant"),
            );
            return self.reject_name(&f.name, scope);
        }
        let name = extended.first().map_or_else(|| qualified(&scope.pack, &f.name.node), |f| (*f).to_string());
        let overloads = of(&name);
        if let Some(earlier) = overloads.iter().copied().find(same) {
            let place = self.op_spans[earlier.0 as usize];
            let message = format!("`{}` is declared twice for the same parameter types", f.name.node);
            self.report(
                Diag::error("RW0210", f.name.span, message, "again here")
                    .also(place, "first declared here")
                    .help("overloads must differ in the types of their parameters"),
            );
            return;
        }
        let op = self.program.universe.ops.declare(Op {
            pack: scope.pack.clone(),
            tparams,
            host: f.host,
            ..Op::new(name, params, results)
        });
        self.op_spans.push(f.name.span);
        self.fns.push(FnPlace { op, file, item });
        extend(scope.own.ops.entry(f.name.node.clone()).or_default(), &overloads);
        scope.declare(|n| {
            let overloads = n.ops.entry(f.name.node.clone()).or_default();
            overloads.retain(|op| !hidden.contains(op));
            overloads.push(op);
        });
        self.declare_effects(op, f, scope);
        self.declare_symbol(op, f, scope);
    }

    fn reject_name(&mut self, name: &Name, scope: &mut Scope) {
        scope.declare(|n| {
            n.rejected.insert(name.node.clone());
        });
    }
}

/// A list where nothing takes one.
pub(super) fn variadic(at: Span) -> Diag {
    Diag::error("RW0452", at, "a list cannot stand here", "not allowed here")
        .help("lists are parameters of functions and rules, and arguments of functions that take a list")
}
