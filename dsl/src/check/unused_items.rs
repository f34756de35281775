//! Functions, facts and types that nothing mentions, in files that are not meant to be imported.
//!
//! The checked program says what is mentioned, whichever pack does so. The laws of a function do not mention it.

use super::Checker;
use super::report::Diag;
use crate::program::{Conclusion, FactId, Guard, Program, Rule, Sample, VarKind};
use crate::syntax::ast::{Item, ItemKind, Name};
use rewright_typeprop::ops::Cost;
use rewright_typeprop::term::Literal;
use rewright_typeprop::types::{TypeData, TypeDeclId};
use rewright_typeprop::{Op, OpId, Term, TypeExpr, TypeParam};
use rustc_hash::FxHashSet;

impl Checker<'_> {
    pub(super) fn lint_declarations(&mut self) {
        let mentioned = Mentioned::by(&self.program);
        for file in 0..self.files.len() {
            if !self.files[file].root || self.files[file].library {
                continue;
            }
            let items = self.items(file).into_iter();
            let mut unused: Vec<_> = items.filter_map(|(_, item)| self.unused(item, &mentioned)).collect();
            unused.dedup_by_key(|(_, name)| name.span);
            for (kind, name) in unused {
                let message = format!("{kind} `{}` is never used", name.node);
                self.report(
                    Diag::lint("RW0502", name.span, message, "nothing mentions it")
                        .help("remove it, or state a rule or an example about it"),
                );
            }
        }
    }

    /// What an item declares, if nothing mentions that.
    fn unused<'i>(&self, item: &'i Item, mentioned: &Mentioned) -> Option<(&'static str, &'i Name)> {
        let (kind, name, used) = match &item.kind {
            ItemKind::Fn(f) => {
                // One declaration over a list is many operations. A front end may make what it has a name for.
                let mut declared = self.fns.iter().filter(|p| p.item.span == item.span).map(|p| p.op).peekable();
                let named = |id: OpId| !self.program.universe.ops.get(id).names.is_empty();
                // Rules over what writes and gives a value may mention only its parts.
                let parts = |id: OpId| self.program.universe.ops.get(id).parts.map(|parts| [parts.state, parts.value]);
                let mentions = |id: OpId| {
                    mentioned.ops.contains(&id)
                        || parts(id).is_some_and(|ids| ids.iter().any(|id| mentioned.ops.contains(id)))
                };
                let used = declared.peek().is_none()
                    || mentioned.values.contains(&f.name.node)
                    || declared.any(|id| mentions(id) || named(id));
                ("function", &f.name, used)
            }
            ItemKind::Fact { name, .. } => {
                let id = self.fact_spans.iter().position(|s| *s == name.span);
                ("fact", name, id.is_none_or(|id| mentioned.facts.contains(&FactId(id as u32))))
            }
            ItemKind::Type { name, .. } => {
                let id = self.type_spans.iter().position(|s| *s == name.span);
                ("type", name, id.is_none_or(|id| mentioned.types.contains(&TypeDeclId(id as u32))))
            }
            _ => return None,
        };
        (!used).then_some((kind, name))
    }
}

/// What a program mentions.
#[derive(Default)]
struct Mentioned {
    ops: FxHashSet<OpId>,
    facts: FxHashSet<FactId>,
    types: FxHashSet<TypeDeclId>,
    /// Names of functions as values.
    values: FxHashSet<String>,
}

impl Mentioned {
    fn by(program: &Program) -> Self {
        let mut all = Mentioned::default();
        program.rules.iter().filter(|rule| !rule.law).for_each(|rule| all.rule(rule));
        program.requires.values().flatten().for_each(|guard| all.guard(guard));
        program.samples.values().flat_map(Sample::terms).for_each(|term| all.term(term));
        for example in &program.examples {
            example.claim.terms().into_iter().for_each(|term| all.term(term));
            for ty in example.params.iter().flatten() {
                if let TypeData::App(decl, _) = program.universe.types.data(*ty) {
                    all.types.insert(*decl);
                }
            }
        }
        for fact in &program.facts {
            fact.spec.iter().for_each(|spec| all.term(spec));
            fact.params.iter().for_each(|ty| all.ty(ty));
            all.bounds(&fact.tparams);
        }
        program.universe.ops.iter().for_each(|(_, op)| all.op(op));
        for (_, decl) in program.universe.types.decls() {
            decl.supertype.iter().for_each(|ty| all.ty(ty));
            all.bounds(&decl.params);
        }
        all
    }

    fn rule(&mut self, rule: &Rule) {
        rule.left.iter().chain(rule.right.terms()).for_each(|term| self.term(term));
        rule.guards.iter().for_each(|guard| self.guard(guard));
        rule.approximate.iter().flat_map(|a| &a.samples).for_each(|(_, sample)| self.term(sample));
        self.bounds(&rule.tparams);
        for var in &rule.vars {
            if let VarKind::Value { ty, .. } = &var.kind {
                self.ty(ty);
            }
        }
        if let Conclusion::Fact(id, _) = &rule.right {
            self.facts.insert(*id);
        }
    }

    fn op(&mut self, op: &Op) {
        op.spec.iter().chain(&op.laws.identity).for_each(|term| self.term(term));
        self.ops.extend(op.recurrence());
        op.checks.iter().filter_map(|c| c.condition.as_ref()).for_each(|term| self.term(term));
        if let Cost::Expr(term) = &op.cost {
            self.term(term);
        }
        op.params.iter().map(|p| &p.ty).chain(&op.results).for_each(|ty| self.ty(ty));
        self.bounds(&op.tparams);
    }

    fn guard(&mut self, guard: &Guard) {
        match guard {
            Guard::Not(inner) => self.guard(inner),
            Guard::Or(first, second) => {
                self.guard(first);
                self.guard(second);
            }
            guard => guard.terms().into_iter().for_each(|term| self.term(term)),
        }
        match guard {
            Guard::Fact(id, _) => {
                self.facts.insert(*id);
            }
            Guard::Is(_, ty) => self.ty(ty),
            _ => {}
        }
    }

    fn term(&mut self, term: &Term) {
        for part in term.subterms() {
            match part {
                Term::Call { op, targs, .. } => {
                    self.ops.insert(*op);
                    targs.iter().for_each(|ty| self.ty(ty));
                }
                Term::Lit(literal, ty) => {
                    self.ty(ty);
                    if let Literal::Str(name) = literal {
                        self.values.insert(name.clone());
                    }
                }
                Term::Var(_) | Term::Eval(_) => {}
            }
        }
    }

    fn bounds(&mut self, params: &[TypeParam]) {
        params.iter().filter_map(|param| param.bound.as_ref()).for_each(|bound| self.ty(bound));
    }

    fn ty(&mut self, ty: &TypeExpr) {
        if let TypeExpr::App(decl, args) = ty {
            self.types.insert(*decl);
            args.iter().for_each(|arg| self.ty(arg));
        }
    }
}
