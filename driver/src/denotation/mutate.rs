//! Wrong rules on purpose: programs with one rule changed, to show that the harness finds wrong rules.
//!
//! A mutant changes the right side of one rule at one place: another literal, operands exchanged where the operation
//! is not commutative, another operation of the same signature, another variable of the same type. Some mutants are
//! right by chance (`x * 2` and `x + x`): [`separations`](super::separations) tells them apart.

use rewright_dsl::program::{Conclusion, Program, RuleId, VarKind};
use rewright_typeprop::term::Literal;
use rewright_typeprop::{Op, OpId, Term, Universe};

/// A change of one rule.
#[derive(Clone, Debug)]
pub struct Mutant {
    /// The rule.
    pub rule: RuleId,
    /// What was changed, for people.
    pub change: String,
    /// The new right side.
    pub right: Term,
}

impl Mutant {
    /// The program with the changed rule.
    pub fn apply(&self, program: &Program) -> Program {
        let mut program = program.clone();
        program.rules[self.rule.0 as usize].right = Conclusion::Equal(self.right.clone());
        program
    }
}

/// All mutants of a rule, in a fixed order.
pub fn mutants(program: &Program, id: RuleId) -> Vec<Mutant> {
    let rule = program.rule(id);
    let Conclusion::Equal(right) = &rule.right else { return vec![] };
    let mut changes = vec![];
    let vars: Vec<&VarKind> = rule.vars.iter().map(|v| &v.kind).collect();
    collect(&program.universe, &vars, right, &mut |change, right| changes.push((change, right)));
    changes.into_iter().map(|(change, right)| Mutant { rule: id, change, right }).collect()
}

/// Calls `found` with every term that differs from `term` by one change.
fn collect(universe: &Universe, vars: &[&VarKind], term: &Term, found: &mut dyn FnMut(String, Term)) {
    match term {
        Term::Lit(Literal::Int(n), ty) => {
            // Stays in every range that held the literal.
            let other = if *n > 0 { n - 1 } else { n + 1 };
            found(format!("{n} became {other}"), Term::Lit(Literal::Int(other), ty.clone()));
        }
        Term::Lit(Literal::Float(x), ty) => {
            found(format!("{x} became {}", x + 1.0), Term::Lit(Literal::Float(x + 1.0), ty.clone()));
        }
        Term::Lit(Literal::Str(_), _) => {}
        Term::Var(i) => {
            let kind = vars.get(*i as usize);
            for (j, other) in vars.iter().enumerate() {
                if j as u32 != *i && Some(other) == kind {
                    found(format!("variable {i} became {j}"), Term::Var(j as u32));
                }
            }
        }
        Term::Eval(inner) => collect(universe, vars, inner, &mut |c, t| found(c, Term::Eval(Box::new(t)))),
        Term::Call { op, targs, args, state } => {
            let call = |op: OpId, args: Vec<Term>| Term::Call { op, targs: targs.clone(), args, state: state.clone() };
            let here = universe.ops.get(*op);
            for (other, candidate) in universe.ops.iter() {
                if other != *op && same_signature(here, candidate) {
                    found(format!("{} became {}", here.unique, candidate.unique), call(other, args.clone()));
                }
            }
            if let [x, y, ..] = args.as_slice()
                && x != y
                && here.params[0].ty == here.params[1].ty
                && here.params[0].constant == here.params[1].constant
                && !here.laws.commutative
            {
                let mut swapped = args.clone();
                swapped.swap(0, 1);
                found(format!("operands of {} exchanged", here.unique), call(*op, swapped));
            }
            for (i, arg) in args.iter().enumerate() {
                collect(universe, vars, arg, &mut |change, arg| {
                    let mut args = args.clone();
                    args[i] = arg;
                    found(change, call(*op, args));
                });
            }
        }
    }
}

/// Primitive, pure, and with the same types throughout.
fn same_signature(a: &Op, b: &Op) -> bool {
    let params = |op: &Op| op.params.iter().map(|p| (p.ty.clone(), p.constant)).collect::<Vec<_>>();
    a.model.is_some()
        && b.model.is_some()
        && a.effects == b.effects
        && a.tparams.iter().map(|t| &t.bound).eq(b.tparams.iter().map(|t| &t.bound))
        && params(a) == params(b)
        && a.results == b.results
}
