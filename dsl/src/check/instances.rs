//! At which machine types a rule makes sense.
//!
//! A rule with type parameters stands for its instances. An instance exists if its literals fit, each call on the
//! left has a meaning at those types (no extension to a narrower type), and no condition that depends on types
//! alone fails. A rule without any instance can never fire; one whose right side has no meaning at an instance
//! would build nonsense there.

use super::Checker;
use super::report::{Report, listed};
use crate::program::{Conclusion, Guard, Rule};
use crate::syntax::ast::Span;
use rewright_typeprop::eval::{evaluate_at, evaluate_term, literal, repr_of};
use rewright_typeprop::types::TypeData;
use rewright_typeprop::{Outcome, Repr, Term, Ty, TypeExpr};

/// More combinations than this are not looked at.
const LIMIT: usize = 2000;

/// What an instance says of a side.
#[derive(Clone, Copy, PartialEq)]
enum Sense {
    Good,
    LiteralTooLarge,
    Meaningless,
}

impl Checker<'_> {
    /// Lints of one rule over all its instances.
    pub(super) fn lint_instances(&mut self, rule: &Rule, at: Span) {
        let choices: Vec<Vec<Ty>> = (0..rule.tparams.len()).map(|p| self.machine_types(rule, p)).collect();
        let combinations = choices.iter().map(Vec::len).try_fold(1usize, usize::checked_mul);
        if choices.iter().any(Vec::is_empty) || combinations.is_none_or(|n| n > LIMIT) {
            return;
        }
        let mut picked = vec![0; choices.len()];
        let (mut tried, mut nonsense) = (Vec::new(), Vec::new());
        let mut fires = false;
        loop {
            let targs: Vec<Ty> = picked.iter().zip(&choices).map(|(i, all)| all[*i]).collect();
            let left = rule.left.iter().map(|t| self.sense(t, &targs)).find(|s| *s != Sense::Good);
            let shown = || -> String {
                let types = &self.program.universe.types;
                let pairs: Vec<String> = rule
                    .tparams
                    .iter()
                    .zip(&targs)
                    .map(|(p, t)| format!("{} = {}", p.name, types.display(*t)))
                    .collect();
                pairs.join(", ")
            };
            if left.is_none() && !rule.guards.iter().any(|g| self.truth(g, &targs) == Some(false)) {
                fires = true;
                if let Conclusion::Equal(right) = &rule.right
                    && self.sense(right, &targs) == Sense::Meaningless
                {
                    nonsense.push(shown());
                }
            } else {
                tried.push(shown());
            }
            if !advance(&mut picked, &choices) {
                break;
            }
        }
        let list = |mut items: Vec<String>| {
            let more = items.len().saturating_sub(4);
            items.truncate(4);
            let items = listed(&items.iter().map(|i| format!("`{i}`")).collect::<Vec<_>>());
            if more > 0 { format!("{items} and {more} more") } else { items }
        };
        if !fires {
            let label = if rule.tparams.is_empty() {
                "not at these types".to_string()
            } else {
                format!("neither at {}", list(tried).replace(" and ", " nor at "))
            };
            self.report(
                Report::lint("RW0505", at, "this rule can never fire", label)
                    .help("the left side has no meaning there, a literal does not fit, or a condition on types fails"),
            );
        } else if !nonsense.is_empty() && !rule.tparams.is_empty() {
            self.report(
                Report::lint(
                    "RW0509",
                    at,
                    format!("the right side has no meaning at {}", list(nonsense)),
                    "would build a call that no machine has",
                )
                .help("add a condition on the types: `when bits(x) < ..`, or narrow a type parameter"),
            );
        }
    }

    /// Declared machine types below the bound of a type parameter.
    fn machine_types(&mut self, rule: &Rule, param: usize) -> Vec<Ty> {
        let types = &mut self.program.universe.types;
        let bound = match &rule.tparams[param].bound {
            None => Some(Ty::ANY),
            Some(bound) => types.instantiate(bound, &[]),
        };
        let Some(bound) = bound else { return Vec::new() };
        let machine: Vec<_> = types
            .decls()
            .filter(|(_, d)| d.model.is_some() && d.params.is_empty() && !d.opaque)
            .map(|(id, _)| id)
            .collect();
        let mut out = Vec::new();
        for id in machine {
            let ty = types.intern(TypeData::App(id, Default::default()));
            if types.is_subtype(ty, bound) {
                out.push(ty);
            }
        }
        out
    }

    fn repr(&self, ty: &TypeExpr, targs: &[Ty]) -> Option<Repr> {
        let types = &self.program.universe.types;
        let targs: Vec<Option<Repr>> = targs.iter().map(|ty| types.repr(*ty)).collect();
        repr_of(types, ty, &targs)
    }

    fn sense(&self, term: &Term, targs: &[Ty]) -> Sense {
        match term {
            Term::Var(_) => Sense::Good,
            Term::Lit(lit, ty) => match self.repr(ty, targs) {
                Some(repr) if repr.lane().and_then(|scalar| literal(lit, scalar)).is_none() => Sense::LiteralTooLarge,
                _ => Sense::Good,
            },
            Term::Eval(inner) => self.sense(inner, targs),
            Term::Call { op, targs: inner, args, state } => {
                let below = args.iter().chain(state.as_deref()).map(|t| self.sense(t, targs));
                if let Some(bad) = below.into_iter().find(|s| *s != Sense::Good) {
                    return bad;
                }
                let decl = self.program.universe.ops.get(*op);
                let computed = match decl.model {
                    Some(model) => model.memory().is_none(),
                    None => decl.spec.is_some() && !decl.effects.takes_state(),
                };
                if !computed {
                    return Sense::Good;
                }
                let reprs: Vec<Option<Repr>> = inner.iter().map(|t| self.repr(t, targs)).collect();
                // Some operations have no meaning at some values; none at any means none at these types.
                let undefined = |n: i128| {
                    let args = vec![n; decl.params.len()];
                    evaluate_at(&self.program.universe, *op, &reprs, &args) == Outcome::Undefined
                };
                if [0, 1, 3, 7, 64].into_iter().all(undefined) { Sense::Meaningless } else { Sense::Good }
            }
        }
    }

    /// What a condition is at an instance, if types alone decide it.
    fn truth(&self, guard: &Guard, targs: &[Ty]) -> Option<bool> {
        match guard {
            Guard::Fact(..) | Guard::Class { .. } | Guard::Is(..) => None,
            Guard::Holds(term) => self.value(term, targs).map(|v| v != 0),
            Guard::Compare { equal, left, right } => {
                Some((self.value(left, targs)? == self.value(right, targs)?) == *equal)
            }
            Guard::Not(inner) => self.truth(inner, targs).map(|t| !t),
            Guard::Or(a, b) => match (self.truth(a, targs), self.truth(b, targs)) {
                (Some(true), _) | (_, Some(true)) => Some(true),
                (Some(false), Some(false)) => Some(false),
                _ => None,
            },
        }
    }

    fn value(&self, term: &Term, targs: &[Ty]) -> Option<i64> {
        let mut needed = vec![false; 64];
        if !super::computable::needs(term, &self.computable, &mut needed) || needed.contains(&true) {
            return None;
        }
        match evaluate_term(&self.program.universe, term, targs, &[0; 64]) {
            Outcome::Value(value) => Some(value),
            Outcome::Nan | Outcome::Undefined => None,
        }
    }
}

/// The next combination; false after the last.
fn advance(picked: &mut [usize], choices: &[Vec<Ty>]) -> bool {
    for (index, all) in picked.iter_mut().zip(choices) {
        *index += 1;
        if *index < all.len() {
            return true;
        }
        *index = 0;
    }
    false
}
