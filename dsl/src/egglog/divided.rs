//! Rules about whole calls that write and give a value: they say that states are equal, and that values are.

use crate::program::{Conclusion, Rule};
use rewright_typeprop::ops::{OpTable, Part};
use rewright_typeprop::{OpId, Term};

/// The values of both sides, where these are whole calls, which terms name by the states after them.
pub(super) fn values(ops: &OpTable, rule: &Rule) -> Option<[Term; 2]> {
    let Conclusion::Equal(right) = &rule.right else { return None };
    let value = |term: &Term| match term {
        Term::Call { op, .. } => match ops.get(*op).part_of {
            Some(Part::State(whole)) => Some(with_operation(term, ops.get(whole).parts?.value)),
            _ => None,
        },
        _ => None,
    };
    Some([value(&rule.left[0])?, value(right)?])
}

/// A rule that puts one statement in the place of another one, whatever the state is, as a rule about both calls in a
/// state: what holds of the state after the one holds of the other's.
pub(super) fn whole(ops: &OpTable, rule: &Rule) -> Option<Rule> {
    let (Conclusion::Equal(right), [left]) = (&rule.right, &rule.left[..]) else { return None };
    let (Term::Call { state: Some(ours), .. }, Term::Call { state: Some(theirs), .. }) = (left, right) else {
        return None;
    };
    let Term::Var(site) = **ours else { return None };
    let is_alone = |term: &Term| term.variables().filter(|variable| *variable == site).count() == 1;
    if rule.relaxation.is_some() || ours != theirs || !is_alone(left) || !is_alone(right) {
        return None;
    }
    let state = |term: &Term| match term {
        Term::Call { op, .. } => Some(with_operation(term, ops.get(*op).parts?.state)),
        _ => None,
    };
    Some(Rule { left: vec![state(left)?], right: Conclusion::Equal(state(right)?), ..rule.clone() })
}

fn with_operation(term: &Term, op: OpId) -> Term {
    match term.clone() {
        Term::Call { targs, args, state, .. } => Term::Call { op, targs, args, state },
        other => other,
    }
}
