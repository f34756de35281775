//! Conditions: `when` and `requires`.
//!
//! Facts and classes are looked up. Everything else is computed while matching, so it may speak only of constants,
//! of literals, and of what an operation gives whatever its operand is (the width of a type). One exception: a
//! comparison may look up a domain function that has no meaning to compute with (`n == cols(A)`).

use super::elab::Elab;
use super::nodes::{Around, NodeId, NodeKind, VariableKind};
use super::report::Diag;
use super::solve::IType;
use crate::program::{FactId, Guard};
use crate::syntax::ast::{Arg, Clause, ClauseKind, Expr, ExprKind, Span};

/// A condition whose terms are still nodes.
#[derive(Clone, Debug)]
pub(crate) enum Condition {
    Fact(FactId, Vec<NodeId>),
    Holds(NodeId),
    Compare { equal: bool, left: NodeId, right: NodeId },
    Class { same: bool, left: NodeId, right: NodeId },
    Is(NodeId, IType),
    Not(Box<Condition>),
    Or(Box<Condition>, Box<Condition>),
}

impl Condition {
    /// All nodes that it mentions.
    pub(crate) fn nodes(&self) -> Vec<NodeId> {
        match self {
            Condition::Fact(_, args) => args.clone(),
            Condition::Holds(a) | Condition::Is(a, _) => vec![*a],
            Condition::Compare { left, right, .. } | Condition::Class { left, right, .. } => vec![*left, *right],
            Condition::Not(inner) => inner.nodes(),
            Condition::Or(a, b) => a.nodes().into_iter().chain(b.nodes()).collect(),
        }
    }

    /// Is it computed from constants, so that it may be negated?
    fn is_computed(&self) -> bool {
        match self {
            Condition::Holds(_) | Condition::Compare { .. } => true,
            Condition::Not(inner) => inner.is_computed(),
            Condition::Or(a, b) => a.is_computed() && b.is_computed(),
            Condition::Fact(..) | Condition::Class { .. } | Condition::Is(..) => false,
        }
    }
}

impl Elab<'_> {
    /// The conditions of a `when`: a conjunction at the top becomes several.
    pub(crate) fn conditions(&mut self, exprs: &[Expr], around: Around) -> Vec<Condition> {
        let mut out = Vec::new();
        let mut todo: Vec<&Expr> = exprs.iter().rev().collect();
        while let Some(expr) = todo.pop() {
            match &expr.kind {
                ExprKind::Paren(inner) => todo.push(inner),
                ExprKind::Binary { op, left, right } if op.node == "and" => todo.extend([&**right, &**left]),
                _ => out.extend(self.guard(expr, around)),
            }
        }
        out
    }

    /// The conditions of all `when`s among these clauses.
    pub(super) fn whens<'c>(&mut self, clauses: impl IntoIterator<Item = &'c Clause>) -> Vec<Condition> {
        let mut out = Vec::new();
        for clause in clauses {
            if let ClauseKind::When(exprs) = &clause.kind {
                out.extend(self.conditions(exprs, Around::GUARD));
            }
        }
        out
    }

    /// One condition.
    pub(crate) fn guard(&mut self, expr: &Expr, around: Around) -> Option<Condition> {
        if self.depth >= 200 {
            self.expr(expr, around);
            return None;
        }
        self.depth += 1;
        let condition = self.guard_inner(expr, around);
        self.depth -= 1;
        condition
    }

    fn guard_inner(&mut self, expr: &Expr, around: Around) -> Option<Condition> {
        match &expr.kind {
            ExprKind::Paren(inner) => self.guard(inner, around),
            ExprKind::Call { callee, args, .. } if matches!(callee.node.as_str(), "same" | "distinct") => {
                let [Arg::Expr(a), Arg::Expr(b)] = &args[..] else {
                    let message = format!("`{}` takes 2 arguments, here are {}", callee.node, args.len());
                    self.report(Diag::error("RW0302", expr.span, message, "wrong number"));
                    return None;
                };
                let (left, right) = (self.expr(a, around), self.expr(b, around));
                self.alike(left, right, expr.span);
                Some(Condition::Class { same: callee.node == "same", left, right })
            }
            ExprKind::Call { callee, args, .. } if !self.scope.find_facts(&callee.node).is_empty() => {
                let facts = self.scope.find_facts(&callee.node);
                let [fact] = facts[..] else {
                    let found = facts.iter().map(|id| &self.facts[id.0 as usize]);
                    let found = found.map(|fact| (fact.name.clone(), Some(fact.span)));
                    self.report(super::name_clashes::several("facts", callee, found));
                    return None;
                };
                Some(Condition::Fact(fact, self.fact_args(fact, args, expr.span, around)?))
            }
            ExprKind::Call { callee, .. }
                if self.scope.find_ops(&callee.node).is_empty() && !self.scope.is_excused(&callee.node) =>
            {
                let (tables, last) = self.scope.tables(&callee.node);
                let mut known: Vec<String> =
                    tables.iter().flat_map(|t| t.facts.keys().chain(t.ops.keys())).cloned().collect();
                known.extend(["same".into(), "distinct".into()]);
                self.report(
                    Diag::error(
                        "RW0203",
                        callee.span,
                        format!("unknown fact or function `{}`", callee.node),
                        "not declared or imported",
                    )
                    .nearest(last, known.iter().map(String::as_str), || Some(format!("declare it: `fact {last}(..)`"))),
                );
                None
            }
            ExprKind::Is { expr: inner, ty } => {
                let node = self.expr(inner, around);
                let ty = self.written_type(ty);
                Some(Condition::Is(node, ty))
            }
            ExprKind::Binary { op, left, right } if matches!(op.node.as_str(), "==" | "!=") => {
                let (a, b) = (self.expr(left, around), self.expr(right, around));
                self.alike(a, b, expr.span);
                Some(Condition::Compare { equal: op.node == "==", left: a, right: b })
            }
            ExprKind::Binary { op, left, right } if op.node == "or" => {
                let (a, b) = (self.guard(left, around)?, self.guard(right, around)?);
                let or = Condition::Or(Box::new(a), Box::new(b));
                self.computed(or, expr.span)
            }
            ExprKind::Binary { op, left, right } if op.node == "and" => {
                // Below `or` and `not`: the same by De Morgan.
                let (a, b) = (self.guard(left, around)?, self.guard(right, around)?);
                let not = |c| Box::new(Condition::Not(Box::new(c)));
                let and = Condition::Not(Box::new(Condition::Or(not(a), not(b))));
                self.computed(and, expr.span)
            }
            ExprKind::Unary { op, expr: inner } if op.node == "not" => {
                let inner = self.guard(inner, around)?;
                self.computed(Condition::Not(Box::new(inner)), expr.span)
            }
            _ => Some(Condition::Holds(self.expr(expr, around))),
        }
    }

    fn computed(&mut self, condition: Condition, span: Span) -> Option<Condition> {
        if condition.is_computed() {
            return Some(condition);
        }
        self.report(
            Diag::error(
                "RW0317",
                span,
                "`not` and `or` are over computed conditions only",
                "mentions a fact, a class or a type",
            )
            .help("facts may only become true: write one rule per alternative"),
        );
        None
    }

    fn alike(&mut self, left: NodeId, right: NodeId, span: Span) {
        let (a, b) = (self.node(left).ty.clone(), self.node(right).ty.clone());
        if self.solver.unify(&a, &b).is_err() {
            let (a, b) = (self.show(&a), self.show(&b));
            self.report(Diag::error(
                "RW0301",
                span,
                format!("`{a}` is compared with `{b}`"),
                "the two sides differ in type",
            ));
        }
    }

    /// Can it be computed while matching?
    pub(crate) fn is_static(&self, id: NodeId) -> bool {
        match &self.node(id).kind {
            NodeKind::Var(v) => {
                matches!(self.variables[*v as usize].kind, VariableKind::Value { constant: true, .. })
            }
            NodeKind::Lit(_) | NodeKind::Error => true,
            NodeKind::Eval(inner) => self.is_static(*inner),
            NodeKind::Call(call) => {
                let Some((op, _)) = &call.chosen else { return true };
                match self.computable.get(op.0 as usize) {
                    Some(Some(needs)) => {
                        call.args.iter().zip(needs).all(|(arg, needed)| !needed || self.is_static(*arg))
                    }
                    _ => false,
                }
            }
        }
    }

    /// The first part that cannot be computed while matching.
    pub(crate) fn first_dynamic(&self, id: NodeId) -> NodeId {
        if let NodeKind::Call(call) = &self.node(id).kind
            && let Some((op, _)) = &call.chosen
            && let Some(Some(needs)) = self.computable.get(op.0 as usize)
        {
            for (arg, needed) in call.args.iter().zip(needs) {
                if *needed && !self.is_static(*arg) {
                    return self.first_dynamic(*arg);
                }
            }
        }
        match &self.node(id).kind {
            NodeKind::Eval(inner) => self.first_dynamic(*inner),
            _ => id,
        }
    }

    /// After solving: what is computed must be computable.
    pub(crate) fn check_computed(&mut self, condition: &Condition) {
        match condition {
            Condition::Fact(..) | Condition::Class { .. } | Condition::Is(..) => {}
            Condition::Not(inner) => self.check_computed(inner),
            Condition::Or(a, b) => {
                self.check_computed(a);
                self.check_computed(b);
            }
            Condition::Holds(node) => self.must_be_static(*node, false),
            Condition::Compare { left, right, .. } => {
                self.must_be_static(*left, true);
                self.must_be_static(*right, true);
            }
        }
    }

    fn must_be_static(&mut self, id: NodeId, lookup: bool) {
        if self.failed || self.is_static(id) {
            return;
        }
        if lookup && self.is_lookup(id) {
            return;
        }
        let part = self.first_dynamic(id);
        let span = self.node(part).span;
        let report = match &self.node(part).kind {
            NodeKind::Var(v) => {
                let variable = self.variables[*v as usize].clone();
                let message = format!("`{}` is not known while matching", variable.name);
                let report = Diag::error("RW0317", span, message, "known only at run time");
                report.also(variable.span, "declared here").help(format!(
                    "declare `const {}` to match constants only; `same(a, b)` and `distinct(a, b)` compare any values",
                    variable.name
                ))
            }
            _ => Diag::error("RW0317", span, "this cannot be computed while matching", "has no meaning to compute by")
                .help("conditions may call functions with a `@model` or a `spec`, and look up facts"),
        };
        self.report(report);
    }

    /// A domain function, looked up: it has no meaning, and gives a constant if its class holds one.
    fn is_lookup(&self, id: NodeId) -> bool {
        let NodeKind::Call(call) = &self.node(id).kind else { return false };
        let Some((op, _)) = &call.chosen else { return false };
        let decl = self.universe.ops.get(*op);
        decl.effects.is_pure() && decl.model.is_none() && decl.spec.is_none() && !decl.host
    }

    /// The finished condition; `None` if something was wrong.
    pub(crate) fn close_guard(&self, condition: &Condition) -> Option<Guard> {
        Some(match condition {
            Condition::Fact(id, args) => Guard::Fact(*id, args.iter().map(|a| self.term(*a)).collect::<Option<_>>()?),
            Condition::Holds(node) => Guard::Holds(self.term(*node)?),
            Condition::Compare { equal, left, right } => {
                Guard::Compare { equal: *equal, left: self.term(*left)?, right: self.term(*right)? }
            }
            Condition::Class { same, left, right } => {
                Guard::Class { same: *same, left: self.term(*left)?, right: self.term(*right)? }
            }
            Condition::Is(node, ty) => Guard::Is(self.term(*node)?, self.solver.to_expr(ty)?),
            Condition::Not(inner) => Guard::Not(Box::new(self.close_guard(inner)?)),
            Condition::Or(a, b) => Guard::Or(Box::new(self.close_guard(a)?), Box::new(self.close_guard(b)?)),
        })
    }
}
