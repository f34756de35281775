//! The rules that declarations imply.
//!
//! `idempotent` and `identity` become rules of the ruleset `pack.laws`, `associative` of `pack.assoc`, which no
//! default schedule runs, since it grows. `commutative` makes no rule: patterns are expanded where they are lowered.

use super::Checker;
use crate::program::{Conclusion, Rule, RuleId, Var, VarKind};
use crate::syntax::ast::Span;
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
            if op.laws.idempotent {
                let left = if op.params.len() == 1 {
                    call(id, &op, vec![call(id, &op, vec![Term::Var(0)])])
                } else {
                    call(id, &op, vec![Term::Var(0), Term::Var(0)])
                };
                let right = if op.params.len() == 1 { call(id, &op, vec![Term::Var(0)]) } else { Term::Var(0) };
                self.law_rule(&op, span, LAWS, "idempotent", 1, left, right);
            }
            if let Some(element) = op.laws.identity.clone() {
                let right = call(id, &op, vec![Term::Var(0), element.clone()]);
                self.law_rule(&op, span, LAWS, "identity", 1, right, Term::Var(0));
                if !op.laws.commutative && op.params[0].ty == op.params[1].ty {
                    let left = call(id, &op, vec![element, Term::Var(0)]);
                    self.law_rule(&op, span, LAWS, "identity_left", 1, left, Term::Var(0));
                }
            }
            if op.laws.associative {
                let [x, y, z] = [Term::Var(0), Term::Var(1), Term::Var(2)];
                let to_left = call(id, &op, vec![call(id, &op, vec![x.clone(), y.clone()]), z.clone()]);
                let to_right = call(id, &op, vec![x, call(id, &op, vec![y, z])]);
                self.law_rule(&op, span, ASSOC, "associative", 3, to_left.clone(), to_right.clone());
                self.law_rule(&op, span, ASSOC, "associative.back", 3, to_right, to_left);
            }
        }
    }

    #[expect(clippy::too_many_arguments, reason = "one rule, spelled out")]
    fn law_rule(&mut self, op: &Op, span: Span, set: &str, law: &str, vars: usize, left: Term, right: Term) {
        let id = RuleId(self.program.rules.len() as u32);
        let var = |i: usize| Var {
            name: ["x", "y", "z"][i].into(),
            kind: VarKind::Value { ty: op.params[0].ty.clone(), constant: false },
        };
        let set = format!("{}.{set}", op.pack);
        let name = format!("{set}.{}.{law}", op.unique);
        self.rule_names.insert(name.clone(), id);
        self.program.rules.push(Rule {
            family: id,
            span,
            tparams: op.tparams.clone(),
            law: true,
            ..Rule::new(name, (0..vars).map(var).collect(), vec![left], Conclusion::Equal(right))
        });
        self.program.rulesets.entry(set).or_default().push(id);
    }
}

/// A call at the operation's own type parameters.
fn call(id: OpId, op: &Op, args: Vec<Term>) -> Term {
    Term::Call { op: id, targs: (0..op.tparams.len() as u32).map(TypeExpr::Param).collect(), args, state: None }
}
