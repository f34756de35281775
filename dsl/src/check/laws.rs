//! The rules that declarations imply.
//!
//! `idempotent`, `identity` and `recurrence` become rules of the ruleset `pack.laws`, `associative` of `pack.assoc`, which no
//! default schedule runs, since it grows. `commutative` makes no rule: patterns are expanded where they are lowered.

use super::Checker;
use super::report::Diag;
use crate::program::{Conclusion, Guard, Rule, Var, VarKind};
use crate::syntax::ast::Span;
use rewright_typeprop::ops::LoopRole;
use rewright_typeprop::{Op, OpId, Term, TypeExpr};

/// The ruleset of laws that only simplify.
pub(super) const LAWS: &str = "laws";
/// The ruleset of associativity.
pub(super) const ASSOC: &str = "assoc";

impl Checker<'_> {
    pub(super) fn check_laws(&mut self) {
        for index in 0..self.fns.len() {
            let id = self.fns[index].op;
            let op = self.program.universe.ops.get(id).clone();
            let span = self.op_spans[id.0 as usize];
            for (ruleset, law) in implied(id, &op) {
                self.enter_law(&op, span, ruleset, law);
            }
            if let Some(step) = op.recurrence() {
                self.enter_recognition(id, &op, step, span);
            }
        }
    }

    /// A value that a loop carries and whose next one is `step` of itself is a recurrence:
    /// `theta(l, a, step(x, s)) => rec(l, a, s) when same(x, theta(l, a, step(x, s)))`.
    fn enter_recognition(&mut self, id: OpId, op: &Op, step: OpId, span: Span) {
        let ops = &self.program.universe.ops;
        let thetas = ops.iter().filter(|(_, theta)| {
            theta.in_loop == Some(LoopRole::Theta) && theta.params.first().map(|p| &p.ty) == Some(&op.params[0].ty)
        });
        let thetas: Vec<OpId> = thetas.map(|(id, _)| id).collect();
        if thetas.is_empty() {
            let message = format!("nothing says what a loop of `{}` carries", op.name);
            return self.report(
                Diag::error("RW0314", span, message, "no `@model(\"theta\")` is about such a loop")
                    .help("`import std.loops`, and use its `Loop`"),
            );
        }
        let set = format!("{}.{LAWS}", op.pack);
        let own = |args: &[&Term], id| call(id, op, args.iter().copied().cloned().collect());
        let [l, first, next, x] = [&Term::Var(0), &Term::Var(1), &Term::Var(2), &Term::Var(3)];
        let rules: Vec<Rule> = thetas
            .into_iter()
            .enumerate()
            .map(|(n, theta)| {
                let targs = vec![op.params[1].ty.clone()];
                let args = vec![l.clone(), first.clone(), own(&[x, next], step)];
                let left = Term::Call { op: theta, targs, args, state: None };
                let value = |name: &str, ty: &TypeExpr| Var {
                    name: name.into(),
                    kind: VarKind::Value { ty: ty.clone(), constant: false },
                };
                let [of, ty] = [&op.params[0].ty, &op.params[1].ty];
                let vars = vec![value("l", of), value("first", ty), value("step", ty), value("x", ty)];
                let number = if n == 0 { String::new() } else { format!(".{}", n + 1) };
                let name = format!("{set}.{}.recurrence{number}", op.unique);
                let right = Conclusion::Equal(own(&[l, first, next], id));
                let same = Guard::Class { same: true, left: x.clone(), right: left.clone() };
                Rule {
                    span,
                    tparams: op.tparams.clone(),
                    guards: vec![same],
                    law: true,
                    ..Rule::new(name, vars, vec![left], right)
                }
            })
            .collect();
        for rule in rules {
            let name = rule.name.clone();
            self.enter(&set, &name, rule);
        }
    }

    fn enter_law(&mut self, op: &Op, span: Span, ruleset: &str, law: Law) {
        let var = |name: &&str| Var {
            name: (*name).into(),
            kind: VarKind::Value { ty: op.params[0].ty.clone(), constant: false },
        };
        let set = format!("{}.{ruleset}", op.pack);
        let name = format!("{set}.{}.{}", op.unique, law.name);
        let vars = ["x", "y", "z"][..law.vars].iter().map(var).collect();
        let rule = Rule {
            span,
            tparams: op.tparams.clone(),
            law: true,
            ..Rule::new(name.clone(), vars, vec![law.left], Conclusion::Equal(law.right))
        };
        self.enter(&set, &name, rule);
    }
}

/// An equation over as many variables of the type of the operation's first parameter.
struct Law {
    name: &'static str,
    vars: usize,
    left: Term,
    right: Term,
}

/// The laws of an operation, with the rulesets that they belong to.
fn implied(id: OpId, op: &Op) -> Vec<(&'static str, Law)> {
    let apply = |args: &[&Term]| call(id, op, args.iter().copied().cloned().collect());
    let [x, y, z] = [&Term::Var(0), &Term::Var(1), &Term::Var(2)];
    let mut implied = vec![];
    if op.laws.idempotent {
        let (left, right) = match op.params.len() {
            1 => (apply(&[&apply(&[x])]), apply(&[x])),
            _ => (apply(&[x, x]), x.clone()),
        };
        implied.push((LAWS, Law { name: "idempotent", vars: 1, left, right }));
    }
    if let Some(element) = &op.laws.identity {
        let (left, right) = (apply(&[x, element]), x.clone());
        implied.push((LAWS, Law { name: "identity", vars: 1, left, right }));
        if !op.laws.commutative && op.params[0].ty == op.params[1].ty {
            let (left, right) = (apply(&[element, x]), x.clone());
            implied.push((LAWS, Law { name: "identity_left", vars: 1, left, right }));
        }
    }
    if op.laws.associative {
        let (left, right) = (apply(&[&apply(&[x, y]), z]), apply(&[x, &apply(&[y, z])]));
        implied.push((ASSOC, Law { name: "associative", vars: 3, left: left.clone(), right: right.clone() }));
        implied.push((ASSOC, Law { name: "associative.back", vars: 3, left: right, right: left }));
    }
    implied
}

/// A call at the operation's own type parameters.
fn call(id: OpId, op: &Op, args: Vec<Term>) -> Term {
    Term::Call { op: id, targs: (0..op.tparams.len() as u32).map(TypeExpr::Param).collect(), args, state: None }
}
