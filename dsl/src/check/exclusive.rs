//! Conditions that exclude each other.
//!
//! Of comparisons between constants and literals that is decided: whether some constants meet them depends only on how
//! these are ordered among each other and the literals, and each order has an example close to a literal or an end of the
//! type. Conditions over anything else are taken to hold.

use crate::program::{Guard, Rule, VarKind};
use rewright_typeprop::eval::{evaluate_term, literal, repr_of};
use rewright_typeprop::model::{Model, Scalar};
use rewright_typeprop::{Evaluation, Repr, Term, Ty, Universe};
use std::collections::BTreeSet;

/// Combinations of constants beyond this are not tried.
const MAX_TRIED: usize = 50_000;

/// May all conditions of a rule be met at these types?
pub(super) fn may_hold(universe: &Universe, rule: &Rule, targs: &[Ty]) -> bool {
    if rule.guards.iter().enumerate().any(|(at, guard)| rule.guards[..at].iter().any(|other| contradicts(guard, other)))
        || rule.guards.iter().any(is_never)
    {
        return false;
    }
    let reprs: Vec<Option<Repr>> = targs.iter().map(|ty| universe.types.repr(*ty)).collect();
    let scalar = |var: u32| match &rule.vars.get(var as usize)?.kind {
        VarKind::Value { ty, constant: true } => {
            repr_of(&universe.types, ty, &reprs)?.lane().filter(|scalar| scalar.is_int())
        }
        _ => None,
    };
    let over_constants = |guard: &&Guard| {
        let terms = guard.terms();
        is_comparison(universe, guard) && terms.iter().all(|term| term.variables().all(|var| scalar(var).is_some()))
    };
    let guards: Vec<&Guard> = rule.guards.iter().filter(over_constants).collect();
    let vars: BTreeSet<u32> = guards.iter().flat_map(|guard| guard.terms()).flat_map(Term::variables).collect();
    let literals = || guards.iter().flat_map(|guard| guard.terms()).flat_map(Term::subterms);
    let candidates: Vec<(u32, Vec<i64>)> = vars
        .iter()
        .filter_map(|var| {
            let scalar = scalar(*var)?;
            let named = literals().filter_map(|term| match term {
                Term::Lit(lit, _) => literal(lit, scalar),
                _ => None,
            });
            Some((*var, near(named, scalar, vars.len() as i64)))
        })
        .collect();
    let count = candidates.iter().map(|(_, values)| values.len()).try_fold(1usize, usize::checked_mul);
    if guards.is_empty() || count.is_none_or(|count| count > MAX_TRIED) {
        return true;
    }
    let mut values = vec![0; rule.vars.len()];
    any_meets(&candidates, &mut values, &|values| guards.iter().all(|guard| holds(universe, guard, targs, values)))
}

/// These values and the ends of a type, with this many values on both sides of each.
fn near(named: impl Iterator<Item = i64>, scalar: Scalar, reach: i64) -> Vec<i64> {
    let least = scalar.canonical(1u64 << (scalar.bits() - 1));
    let bases = named.chain([0, least]);
    let around = bases.flat_map(|base| (-reach - 1..=reach + 1).map(move |by| base.wrapping_add(by)));
    let all: BTreeSet<i64> = around.map(|value| scalar.canonical(value as u64)).collect();
    all.into_iter().collect()
}

fn any_meets(candidates: &[(u32, Vec<i64>)], values: &mut Vec<i64>, meets: &dyn Fn(&[i64]) -> bool) -> bool {
    let Some(((var, own), rest)) = candidates.split_first() else { return meets(values) };
    own.iter().any(|value| {
        values[*var as usize] = *value;
        any_meets(rest, values, meets)
    })
}

/// Does a condition hold? One that cannot be computed does.
fn holds(universe: &Universe, guard: &Guard, targs: &[Ty], values: &[i64]) -> bool {
    let value = |term: &Term| match evaluate_term(universe, term, targs, values) {
        Evaluation::Value(n) => Some(n),
        Evaluation::Nan | Evaluation::Undefined => None,
    };
    match guard {
        Guard::Holds(term) => value(term).is_none_or(|n| n != 0),
        Guard::Compare { equal, left, right } => {
            let both = value(left).zip(value(right));
            both.is_none_or(|(left, right)| (left == right) == *equal)
        }
        Guard::Not(inner) => !holds(universe, inner, targs, values),
        Guard::Or(a, b) => holds(universe, a, targs, values) || holds(universe, b, targs, values),
        Guard::Fact(..) | Guard::Class { .. } | Guard::Is(..) => true,
    }
}

/// Is a condition made of comparisons between variables and literals?
fn is_comparison(universe: &Universe, guard: &Guard) -> bool {
    let is_plain = |term: &Term| matches!(term, Term::Var(_) | Term::Lit(..));
    match guard {
        Guard::Holds(Term::Call { op, args, .. }) => {
            let compares = |model: Model| {
                use Model::*;
                matches!(model, Eq | Ne | Slt | Sle | Sgt | Sge | Ult | Ule | Ugt | Uge)
            };
            universe.ops.get(*op).model.is_some_and(compares) && args.iter().all(is_plain)
        }
        Guard::Holds(term) => is_plain(term),
        Guard::Compare { left, right, .. } => is_plain(left) && is_plain(right),
        Guard::Not(inner) => is_comparison(universe, inner),
        Guard::Or(a, b) => is_comparison(universe, a) && is_comparison(universe, b),
        Guard::Fact(..) | Guard::Class { .. } | Guard::Is(..) => false,
    }
}

/// Do two conditions say the opposite of each other?
fn contradicts(one: &Guard, other: &Guard) -> bool {
    match (one, other) {
        (Guard::Class { same, left, right }, Guard::Class { same: opposite, left: l, right: r }) => {
            same != opposite && ((left, right) == (l, r) || (left, right) == (r, l))
        }
        (Guard::Not(inner), guard) | (guard, Guard::Not(inner)) => **inner == *guard,
        _ => false,
    }
}

/// Does a condition ask whether a value is another one than itself?
fn is_never(guard: &Guard) -> bool {
    matches!(guard, Guard::Class { same: false, left, right } if left == right)
}
