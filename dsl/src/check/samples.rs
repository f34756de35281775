//! `@sample(numbers(size, size, seed))` and `@observe(trace(it))` on a type without machine representation: how
//! verification makes values of it, and what it looks at to tell two of them apart.
//!
//! A sample is an expression over two numbers: `size` is the same for all values that meet in one trial, so that shapes
//! fit, and `seed` is another one for each. Further expressions change a value that was made: they are over `it` as well,
//! and one that gives a value of the type gives what `it` is from then on. An observation is an expression over `it`;
//! types below that say nothing are looked at in the same way.
//!
//! A rule that gives something up (`@approximate`) says with `@sample(fabs(x), ..)` at which values it is tried: each
//! expression is over one variable, and stands for it. An equality has no such attribute: it is claimed at all values.
//!
//! Nothing here says that samples cover a type: they are evidence, as good as the pack's author makes them.

use super::Checker;
use super::nodes::{Around, VariableKind};
use super::report::Diag;
use super::solve::rigid;
use crate::program::{Rule, VarKind};
use crate::syntax::ast::{Attribute, Expr, Item, ItemKind, Name, Span, Type, TypeKind};
use rewright_typeprop::types::TypeDeclId;
use rewright_typeprop::{Term, TypeExpr};

/// What the attributes are called.
pub(super) const SAMPLE: &str = "sample";
pub(super) const OBSERVE: &str = "observe";

/// Does an attribute of a type say how rules over it are tested?
pub(super) fn is_about_testing(attribute: &Attribute) -> bool {
    is_sample(attribute) || attribute.name.node == OBSERVE
}

/// Is it `@sample`?
pub(super) fn is_sample(attribute: &Attribute) -> bool {
    attribute.name.node == SAMPLE
}

impl Checker<'_> {
    /// Reads the attributes of all types.
    pub(super) fn samples(&mut self) {
        for file in 0..self.files.len() {
            for (_, item) in self.items(file) {
                let ItemKind::Type { name, .. } = &item.kind else { continue };
                let Some(id) = self.type_spans.iter().position(|span| *span == name.span) else { continue };
                // How it is made says what is looked at.
                let (made, seen): (Vec<_>, Vec<_>) =
                    item.attributes.iter().filter(|a| is_about_testing(a)).partition(|a| is_sample(a));
                for attribute in made.into_iter().chain(seen) {
                    self.sample(file, TypeDeclId(id as u32), attribute);
                }
            }
        }
    }

    fn sample(&mut self, file: usize, ty: TypeDeclId, attribute: &Attribute) {
        let at = attribute.name.span;
        let decl = self.program.universe.types.decl(ty);
        if decl.model.is_some() {
            let message = format!("values of `{}` are known: it has a machine representation", decl.name);
            return self.report(Diag::error("RW0211", at, message, "says nothing new"));
        }
        let own = TypeExpr::App(ty, (0..decl.params.len() as u32).map(TypeExpr::Param).collect());
        match (attribute.name.node.as_str(), &attribute.args[..]) {
            (SAMPLE, [make, changes @ ..]) => {
                let Some(number) = self.number(file, at) else { return };
                let term = self.tested(file, ty, make, &[("size", &number), ("seed", &number)], Some(&own));
                self.program.samples.entry(ty).or_default().make = term;
                let it = self.made(ty).unwrap_or(own);
                for change in changes {
                    let vars = [("size", &number), ("seed", &number), ("it", &it)];
                    let term = self.tested(file, ty, change, &vars, None);
                    self.changes_it(change, term.as_ref());
                    self.program.samples.entry(ty).or_default().changes.extend(term);
                }
            }
            (OBSERVE, exprs) if !exprs.is_empty() => {
                let it = self.made(ty).unwrap_or(own);
                for expr in exprs {
                    let term = self.tested(file, ty, expr, &[("it", &it)], None);
                    self.program.samples.entry(ty).or_default().observe.extend(term);
                }
            }
            (SAMPLE, _) => self.report(
                Diag::error(
                    "RW0211",
                    at,
                    "`@sample` takes an expression that makes a value, and calls that change it",
                    "not so",
                )
                .help("as in `@sample(numbers(size, size, seed))`, `@sample(bag(size), add(it, seed))`"),
            ),
            _ => self.report(
                Diag::error("RW0211", at, "`@observe` takes expressions over `it`", "of what?")
                    .help("as in `@observe(trace(it), determinant(it))`"),
            ),
        }
    }

    /// A further expression of a sample that changes nothing, or not the value, is a mistake.
    fn changes_it(&mut self, expr: &Expr, term: Option<&Term>) {
        const IT: u32 = 2;
        let Some(term) = term else { return };
        let ops = &self.program.universe.ops;
        let writes = |part: &Term| matches!(part, Term::Call { op, .. } if !ops.get(*op).effects.writes.is_empty());
        if term.variables().any(|n| n == IT) && term.subterms().any(writes) {
            return;
        }
        self.report(
            Diag::error("RW0211", expr.span, "this does not change `it`", "no function in it `writes(..)`").help(
                "a sample is made by its first expression; further ones are calls that change it, as in \
                 `@sample(bag(size), add(it, seed))`",
            ),
        );
    }

    /// At which values a rule is tried that says what it gives up.
    pub(super) fn samples_of_rule(&mut self, file: usize, item: &Item, rule: &mut Rule) {
        let Some(approximate) = &mut rule.approximate else { return };
        for expr in item.attributes.iter().filter(|a| is_sample(a)).flat_map(|a| &a.args) {
            let mut elab = self.elab(file, rule.tparams.clone());
            for var in &rule.vars {
                let kind = match &var.kind {
                    VarKind::State => VariableKind::State,
                    VarKind::Value { ty, constant } => VariableKind::Value { ty: rigid(ty), constant: *constant },
                };
                elab.declare(&var.name, expr.span, kind);
            }
            let node = elab.expr(expr, Around::DECLARATION);
            elab.finish(None, false);
            let term = elab.term(node);
            let diagnostics = elab.diagnostics;
            self.diagnostics.extend(diagnostics);
            let Some(term) = term else { continue };
            let mut variables: Vec<u32> = term.variables().collect();
            variables.sort_unstable();
            variables.dedup();
            match variables[..] {
                [one] => approximate.samples.push((one, term)),
                _ => self.report(
                    Diag::error(
                        "RW0211",
                        expr.span,
                        "a sample is made of one variable, which it stands for",
                        "of which?",
                    )
                    .help("as in `@sample(fabs(x), fabs(y))`"),
                ),
            }
        }
    }

    /// The type of `size` and `seed`.
    fn number(&mut self, file: usize, at: Span) -> Option<TypeExpr> {
        let path = Name { node: "i64".into(), span: at };
        let scope = self.scopes[file].clone();
        self.type_expr(&Type { kind: TypeKind::Named { path, args: vec![] }, span: at }, &[], &scope)
    }

    /// An expression over these variables and the type's own parameters; `want`: it makes such a value.
    fn tested(
        &mut self,
        file: usize,
        ty: TypeDeclId,
        expr: &Expr,
        vars: &[(&str, &TypeExpr)],
        want: Option<&TypeExpr>,
    ) -> Option<Term> {
        let tparams = self.program.universe.types.decl(ty).params.clone();
        // A parametric type is made at some of its instances.
        let plain = tparams.is_empty();
        let mut elab = self.elab(file, tparams);
        for (name, ty) in vars {
            elab.declare(name, expr.span, VariableKind::Value { ty: rigid(ty), constant: false });
        }
        let node = elab.expr(expr, Around::DECLARATION);
        if let Some(want) = want.filter(|_| plain) {
            elab.wants(node, &rigid(want));
        }
        elab.finish(None, false);
        let term = elab.term(node);
        let diagnostics = elab.diagnostics;
        self.diagnostics.extend(diagnostics);
        let made = want.is_none_or(|_| plain || self.makes(term.as_ref(), ty));
        if !made {
            let name = &self.program.universe.types.decl(ty).name;
            let message = format!("this makes no `{name}`");
            self.report(Diag::error("RW0211", expr.span, message, "of another type"));
        }
        term.filter(|_| made)
    }

    /// The instance of a type that its sample is, where its parameters are known.
    fn made(&self, ty: TypeDeclId) -> Option<TypeExpr> {
        let Some(Term::Call { op, .. }) = &self.program.samples.get(&ty)?.make else { return None };
        match self.program.universe.ops.get(*op).results.first()? {
            known @ TypeExpr::App(decl, args) if *decl == ty => {
                args.iter().all(|arg| !matches!(arg, TypeExpr::Param(_))).then(|| known.clone())
            }
            _ => None,
        }
    }

    /// Does a call give a value of a type, whatever its arguments? Anything that is no term has been reported.
    fn makes(&self, term: Option<&Term>, ty: TypeDeclId) -> bool {
        let types = &self.program.universe.types;
        let Some(Term::Call { op, .. }) = term else { return term.is_none() };
        let mut at = self.program.universe.ops.get(*op).results.first();
        while let Some(TypeExpr::App(decl, _)) = at {
            if *decl == ty {
                return true;
            }
            at = types.decl(*decl).supertype.as_ref();
        }
        false
    }
}
