//! Variables of rules and examples: how they are declared, where they occur, what binds them.

use super::elab::Elab;
use super::guards::Condition;
use super::nodes::{NodeId, NodeKind, VariableKind};
use super::report::Diag;
use crate::program::{Var, VarKind};
use crate::syntax::ast::{Expr, ExprKind, Param, Side, Span, Type, TypeKind};

impl Elab<'_> {
    /// Declares the parameters of a rule or example. `open`: a type with subtypes stands for any of them.
    /// One without a type is a state if it is ever written after `after`.
    pub(crate) fn parameters(&mut self, params: &[Param], states: &[&str], open: bool) {
        for param in params {
            let name = &param.name;
            if let Some(first) = self.variable(&name.node) {
                let first = self.variables[first as usize].span;
                self.report(
                    Diag::error("RW0210", name.span, format!("parameter `{}` twice", name.node), "again here")
                        .also(first, "first here"),
                );
                continue;
            }
            let is_state = |ty: &Type| match &ty.kind {
                TypeKind::Named { path, args } => path.node == "State" && args.is_empty(),
                _ => false,
            };
            let untyped_state = param.ty.is_none() && states.contains(&name.node.as_str());
            if untyped_state || param.ty.as_ref().is_some_and(is_state) {
                self.declare(&name.node, name.span, VariableKind::State);
                continue;
            }
            if let Some(ty) = param.ty.as_ref().filter(|ty| self.is_unknown(ty))
                && states.contains(&name.node.as_str())
            {
                let TypeKind::Named { path, .. } = &ty.kind else { continue };
                let message = format!("unknown type `{}`", path.node);
                self.report(
                    Diag::error("RW0202", ty.span, message, "the type of a state")
                        .help(format!("`{}` stands behind `after`: write `{}: State`", name.node, name.node)),
                );
                self.declare(&name.node, name.span, VariableKind::State);
                continue;
            }
            let ty = match &param.ty {
                None => self.solver.fresh(),
                Some(ty) => {
                    let ty = self.written_type(ty);
                    self.solver.open_below(ty, open)
                }
            };
            self.declare(&name.node, name.span, VariableKind::Value { ty, constant: param.constant });
        }
    }

    /// Is it the name of no type?
    fn is_unknown(&self, ty: &Type) -> bool {
        let TypeKind::Named { path, .. } = &ty.kind else { return false };
        let (scope, name) = (self.scope, &path.node);
        scope.find_types(name).is_empty()
            && scope.find_families(name).is_empty()
            && !scope.is_excused(name)
            && self.tparams.iter().all(|param| param.name != *name)
    }

    pub(crate) fn program_variables(&self) -> Option<Vec<Var>> {
        let var = |v: &super::nodes::Variable| {
            Some(Var {
                name: v.name.clone(),
                kind: match &v.kind {
                    VariableKind::State => VarKind::State,
                    VariableKind::Value { ty, constant } => {
                        VarKind::Value { ty: self.solver.to_expr(ty)?, constant: *constant }
                    }
                },
            })
        };
        self.variables.iter().map(var).collect()
    }

    /// Variables below a node, states among them, in order of occurrence.
    pub(crate) fn variables_in(&self, id: NodeId, out: &mut Vec<u32>) {
        match &self.node(id).kind {
            NodeKind::Var(v) if !out.contains(v) => out.push(*v),
            NodeKind::Call(call) => {
                call.args.iter().for_each(|a| self.variables_in(*a, out));
                if let Some(state) = call.state {
                    self.variables_in(state, out);
                }
            }
            NodeKind::Eval(inner) => self.variables_in(*inner, out),
            _ => {}
        }
    }

    /// Facts that must hold bind the variables that they mention.
    pub(super) fn bound_by_facts(&self, conditions: &[Condition], out: &mut Vec<u32>) {
        for condition in conditions {
            if let Condition::Fact(_, args) = condition {
                args.iter().for_each(|a| self.variables_in(*a, out));
            }
        }
    }

    pub(super) fn must_be_bound(&mut self, id: NodeId, bound: &[u32], place: &str) {
        let mut used = Vec::new();
        self.occurrences(id, &mut used);
        let mut said: Vec<u32> = Vec::new();
        for (variable, span) in used {
            if bound.contains(&variable) || said.contains(&variable) {
                continue;
            }
            said.push(variable);
            let variable = self.variables[variable as usize].clone();
            self.report(
                Diag::error(
                    "RW0403",
                    span,
                    format!("`{}` is {place} but not on the left", variable.name),
                    "nothing binds it",
                )
                .also(variable.span, "declared here")
                .help("mention it on the left side"),
            );
        }
    }

    fn occurrences(&self, id: NodeId, out: &mut Vec<(u32, Span)>) {
        let node = self.node(id);
        match &node.kind {
            NodeKind::Var(v) => out.push((*v, node.span)),
            NodeKind::Call(call) => {
                call.args.iter().for_each(|a| self.occurrences(*a, out));
                if let Some(state) = call.state {
                    self.occurrences(state, out);
                }
            }
            NodeKind::Eval(inner) => self.occurrences(*inner, out),
            NodeKind::Lit(_) | NodeKind::Error => {}
        }
    }
}

/// Names that stand after `after` in sides.
pub(super) fn state_names<'s>(sides: &[&'s Side]) -> Vec<&'s str> {
    let mut out = Vec::new();
    for side in sides {
        states_of(side, &mut out);
        side.walk(&mut |part| states_below(part, &mut out));
    }
    out
}

/// Names that stand after `after` in an expression.
pub(super) fn states_in(expr: &Expr) -> Vec<&str> {
    let mut out = Vec::new();
    expr.walk(&mut |part| states_below(part, &mut out));
    out
}

fn states_below<'s>(part: &'s Expr, out: &mut Vec<&'s str>) {
    if let ExprKind::After(side) = &part.kind {
        states_of(side, out);
    }
}

/// The names among a side's own states.
fn states_of<'s>(side: &'s Side, out: &mut Vec<&'s str>) {
    for after in &side.after {
        let mut inner = after;
        while let ExprKind::Paren(next) = &inner.kind {
            inner = next;
        }
        if let ExprKind::Path(name) = &inner.kind {
            out.push(name);
        }
    }
}
