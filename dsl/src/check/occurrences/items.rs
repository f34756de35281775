//! What an item is made of: its names, where they are used. Variables and type parameters are in scope from where they
//! are written to the end of what they are written in.

use super::Indexer;
use crate::index::Entity;
use crate::syntax::ast::{
    Arg, BlockStatement, Clause, ClauseKind, Effect, ExampleBody, Expr, ExprKind, FnClause, Item, ItemKind, Name,
    Param, Path, Rewrite, RuleBody, RuleStatement, Side, Span, Step, TParam, Type, TypeKind, Verdict,
};

impl Indexer<'_> {
    pub(super) fn item(&mut self, item: &Item) {
        let (variables, tparams) = (self.variables.len(), self.tparams.len());
        self.parts(item);
        self.variables.truncate(variables);
        self.tparams.truncate(tparams);
    }

    fn parts(&mut self, item: &Item) {
        match &item.kind {
            ItemKind::Type { tparams, supertype, .. } => {
                self.type_parameters(tparams);
                supertype.iter().for_each(|ty| self.ty(ty));
            }
            ItemKind::Family { members, .. } => members.iter().for_each(|ty| self.ty(ty)),
            ItemKind::Fact { tparams, params, spec, .. } => {
                self.type_parameters(tparams);
                self.parameters(params);
                spec.iter().for_each(|expr| self.expr(expr));
            }
            ItemKind::Fn(f) => {
                self.type_parameters(&f.tparams);
                self.parameters(&f.params);
                f.results.iter().for_each(|ty| self.ty(ty));
                for clause in &f.clauses {
                    match &clause.node {
                        FnClause::Effects(effects) => effects.iter().for_each(|effect| self.effect(effect)),
                        FnClause::Cost(expr) | FnClause::Spec(expr) => self.expr(expr),
                        FnClause::Requires(exprs) => exprs.iter().for_each(|expr| self.expr(expr)),
                        FnClause::Law { arg, .. } => arg.iter().for_each(|expr| self.expr(expr)),
                        FnClause::Recurrence(step) => {
                            let targets = self.functions(&step.node);
                            self.path(step, targets);
                        }
                        FnClause::As(_) | FnClause::Pure | FnClause::Lazy => {}
                    }
                }
            }
            ItemKind::Override { name, cost } => {
                let targets = self.functions(&name.node);
                self.path(name, targets);
                self.expr(cost);
            }
            ItemKind::Rule(rule) => {
                self.type_parameters(&rule.tparams);
                self.parameters(&rule.params);
                match &rule.body {
                    RuleBody::Rewrite { rewrite, clauses } => {
                        self.rewrite(rewrite);
                        self.clauses(clauses);
                    }
                    RuleBody::Block { statements, .. } => {
                        for statement in statements {
                            match statement {
                                RuleStatement::Match(name, expr) | RuleStatement::Let(name, expr) => {
                                    self.expr(expr);
                                    self.variable(name, None);
                                }
                                RuleStatement::Rewrite(rewrite) => self.rewrite(rewrite),
                                RuleStatement::Clause(clause) => self.clauses(std::slice::from_ref(clause)),
                            }
                        }
                    }
                }
            }
            ItemKind::Infer { tparams, params, fact, clauses, .. } => {
                self.type_parameters(tparams);
                self.parameters(params);
                self.expr(fact);
                self.clauses(clauses);
            }
            ItemKind::Ruleset { items, .. } => items.iter().for_each(|item| self.item(item)),
            ItemKind::Schedule { steps, .. } => self.steps(steps),
            ItemKind::Example(example) => {
                self.parameters(&example.params);
                example.fires.iter().chain(&example.using).for_each(|path| self.noted(path));
                match &example.body {
                    ExampleBody::Verdict { subject, verdict } => {
                        self.side(subject);
                        match verdict {
                            Verdict::Becomes(side) | Verdict::Equals(side) | Verdict::Differs(side) => self.side(side),
                            Verdict::Stays => {}
                        }
                    }
                    ExampleBody::Blocks { before, after } => {
                        self.block(before);
                        self.block(after);
                    }
                }
            }
            ItemKind::Import { .. } | ItemKind::Effect { .. } | ItemKind::Error => {}
        }
        // Over the parameters, or over names that the language gives.
        for attribute in &item.attributes {
            attribute.args.iter().for_each(|arg| self.expr(arg));
        }
    }

    fn type_parameters(&mut self, tparams: &[TParam]) {
        for tparam in tparams {
            tparam.bound.iter().for_each(|ty| self.ty(ty));
            self.define(&tparam.name, Entity::TypeParameter, tparam.name.span, &[]);
            self.tparams.push((tparam.name.node.clone(), tparam.name.span));
        }
    }

    fn parameters(&mut self, params: &[Param]) {
        for param in params {
            self.variable(&param.name, param.ty.as_ref());
            param.ty.iter().for_each(|ty| self.ty(ty));
        }
    }

    fn variable(&mut self, name: &Name, written: Option<&Type>) {
        let ty = written.map(crate::check::families::shown).or_else(|| self.resolved.type_of(name));
        self.define(name, Entity::Variable { ty, annotated: written.is_some() }, name.span, &[]);
        self.variables.push((name.node.clone(), name.span));
    }

    fn find_variable(&self, name: &str) -> Option<Span> {
        self.variables.iter().rev().find(|(known, _)| known == name).map(|(_, span)| *span)
    }

    fn ty(&mut self, ty: &Type) {
        let TypeKind::Named { path, args } = &ty.kind else { return };
        match self.tparams.iter().rev().find(|(name, _)| *name == path.node).map(|(_, span)| *span) {
            Some(tparam) => self.refer(path.span, vec![tparam]),
            None => {
                let targets = self.types(&path.node);
                self.path(path, targets);
            }
        }
        args.iter().for_each(|arg| self.ty(arg));
    }

    fn effect(&mut self, effect: &Effect) {
        for path in std::iter::once(&effect.name).chain(&effect.region) {
            let targets = self.effects(&path.node);
            self.path(path, targets);
        }
    }

    fn clauses(&mut self, clauses: &[Clause]) {
        for clause in clauses {
            match &clause.kind {
                ClauseKind::When(exprs) => exprs.iter().for_each(|expr| self.expr(expr)),
                ClauseKind::Removes(effects) => effects.iter().for_each(|effect| self.effect(effect)),
                ClauseKind::Because(_) => {}
            }
        }
    }

    fn rewrite(&mut self, rewrite: &Rewrite) {
        self.side(&rewrite.left);
        self.side(&rewrite.right);
    }

    fn side(&mut self, side: &Side) {
        self.expr(&side.expr);
        side.after.iter().for_each(|state| self.state(state));
    }

    /// What stands after `after`: a state that is named for the first time is declared by that.
    fn state(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Paren(inner) => self.state(inner),
            ExprKind::After(side) => {
                self.state(&side.expr);
                side.after.iter().for_each(|state| self.state(state));
            }
            ExprKind::Path(name) if !name.contains('.') && self.find_variable(name).is_none() => {
                let name = Name { node: name.clone(), span: expr.span };
                self.define(&name, Entity::Variable { ty: Some("State".into()), annotated: true }, expr.span, &[]);
                self.variables.push((name.node, name.span));
            }
            _ => self.expr(expr),
        }
    }

    /// The overloads that a call means; without elaboration all that it may mean.
    fn call(&self, at: Span) -> Option<Vec<Span>> {
        let ops = self.resolved.overloads(at)?;
        let mut spans: Vec<Span> = ops.iter().map(|op| self.checker.op_spans[op.0 as usize]).collect();
        spans.sort_unstable();
        spans.dedup();
        Some(spans)
    }

    fn expr(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Path(name) => match self.find_variable(name) {
                Some(variable) => self.refer(expr.span, vec![variable]),
                None if !self.scope().find_types("Fn").is_empty() => {
                    let targets = self.functions(name);
                    self.path(&Path { node: name.clone(), span: expr.span }, targets);
                }
                None => {}
            },
            ExprKind::Paren(inner) | ExprKind::Eval(inner) => self.expr(inner),
            ExprKind::After(side) => self.side(side),
            ExprKind::Call { callee, targs, args } => {
                let targets = match self.facts(&callee.node) {
                    facts if facts.is_empty() => self.call(callee.span).unwrap_or_else(|| self.functions(&callee.node)),
                    facts => facts,
                };
                self.path(callee, targets);
                targs.iter().for_each(|ty| self.ty(ty));
                args.iter().for_each(|arg| self.argument(arg));
            }
            ExprKind::Binary { op, left, right } => {
                self.expr(left);
                let targets = self.call(op.span).unwrap_or_default();
                self.refer(op.span, targets);
                self.expr(right);
            }
            ExprKind::Unary { op, expr } | ExprKind::Postfix { op, expr } => {
                let targets = self.call(op.span).unwrap_or_default();
                self.refer(op.span, targets);
                self.expr(expr);
            }
            ExprKind::Is { expr, ty } => {
                self.expr(expr);
                self.ty(ty);
            }
            ExprKind::Int { .. }
            | ExprKind::Float { .. }
            | ExprKind::Str(_)
            | ExprKind::Wildcard
            | ExprKind::Bool(_)
            | ExprKind::Operator(_)
            | ExprKind::Error => {}
        }
    }

    fn argument(&mut self, arg: &Arg) {
        let list = |indexer: &mut Self, name: &Name| {
            if let Some(variable) = indexer.find_variable(&name.node) {
                indexer.refer(name.span, vec![variable]);
            }
        };
        match arg {
            Arg::Expr(expr) => self.expr(expr),
            Arg::Splat(name) => list(self, name),
            Arg::For { expr, var, list: elements } => {
                list(self, elements);
                self.variable(var, None);
                self.expr(expr);
                self.variables.pop();
            }
        }
    }

    fn steps(&mut self, steps: &[Step]) {
        for step in steps {
            match step {
                Step::Run { ruleset, .. } | Step::Saturate { ruleset, .. } => self.noted(ruleset),
                Step::Repeat { steps, .. } => self.steps(steps),
            }
        }
    }

    fn block(&mut self, statements: &[BlockStatement]) {
        let outside = self.variables.len();
        for statement in statements {
            match statement {
                BlockStatement::Let(name, expr) => {
                    self.expr(expr);
                    self.variable(name, None);
                }
                BlockStatement::Do(expr) | BlockStatement::Return(expr) => self.expr(expr),
                BlockStatement::If { cond, then, els } => {
                    self.expr(cond);
                    self.block(then);
                    self.block(els);
                }
            }
        }
        self.variables.truncate(outside);
    }
}
