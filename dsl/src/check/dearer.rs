//! Rules that are never chosen: what they make costs more than what they match, and no rule takes it any further.
//!
//! The parts of what a rule makes may be computed anyway, and so be free; the call at its root is what it adds. That is
//! compared with all calls that the left side may save. Functions whose costs are not fixed, or that a profile prices as
//! instructions, and types that another overload may want, are no subject of this.

use super::report::Diag;
use super::wording::short;
use super::{Checker, WrittenRule};
use crate::program::{Claim, Conclusion, Rule, RuleId, Verdict};
use rewright_typeprop::ops::Cost;
use rewright_typeprop::{Op, OpId, Term};

impl Checker<'_> {
    /// Says of a rule that it is never chosen.
    pub(super) fn lint_dearer(&mut self, written: &WrittenRule) {
        let [id, ..] = written.rules[..] else { return };
        // Of two directions, one is the dearer one.
        let is_back = |id: &RuleId| self.program.rule(*id).name.split('[').next().is_some_and(|n| n.ends_with(".back"));
        if written.rules.iter().any(is_back) {
            return;
        }
        let rule = self.program.rule(id);
        let Some((root, saved, added)) = self.dearer(rule) else { return };
        if self.is_taken_further(root) || self.is_shown_to_be_chosen(rule) {
            return;
        }
        let ops = &self.program.universe.ops;
        let name = ops.get(root).name.clone();
        let message = format!("rule `{}` is never chosen: `{name}` is dearer than its left side", short(&rule.name));
        let label = format!("costs {added} or more, and saves {saved} at most");
        self.report(
            Diag::lint("RW0521", written.name, message, label)
                .also(self.op_spans[root.0 as usize], "no rule matches a call of it")
                .help("turn the rule around, correct a cost, or state a rule that makes something of its result"),
        );
    }

    /// The operation at the root of the right side, what the left side costs, and what that operation does, if it is more.
    fn dearer(&self, rule: &Rule) -> Option<(OpId, u64, u64)> {
        let (Conclusion::Equal(right @ Term::Call { op, .. }), [left]) = (&rule.right, &rule.left[..]) else {
            return None;
        };
        if rule.is_block || rule.relaxation.is_some() || rule.approximate.is_some() {
            return None;
        }
        let ops = &self.program.universe.ops;
        let (ours, theirs) = (ops.get(root(left)?), ops.get(*op));
        if ours.results != theirs.results || theirs.is_of_control() {
            return None;
        }
        let mut calls: Vec<&Term> = vec![];
        for term in left.subterms().filter(|term| matches!(term, Term::Call { .. })) {
            if !calls.contains(&term) {
                calls.push(term);
            }
        }
        let saved = calls.iter().map(|term| cost(ops.get(root(term)?))).sum::<Option<u64>>()?;
        let added = cost(theirs)?;
        (added > saved && !calls.contains(&right)).then_some((*op, saved, added))
    }

    /// Does a rule look for a call of this operation, or of an overload?
    fn is_taken_further(&self, op: OpId) -> bool {
        let ops = &self.program.universe.ops;
        let wanted = &ops.get(op).name;
        let is_it = |term: &Term| root(term).is_some_and(|op| ops.get(op).name == *wanted);
        let matched = |rule: &Rule| {
            let asked = rule.guards.iter().flat_map(|guard| guard.terms());
            rule.left.iter().chain(asked).flat_map(Term::subterms).any(is_it)
        };
        self.program.rules.iter().any(matched)
    }

    /// Does an example say that a term becomes what this rule makes?
    fn is_shown_to_be_chosen(&self, rule: &Rule) -> bool {
        self.program.examples.iter().any(|example| {
            let fires = example.fires.iter().any(|id| self.program.rule(*id).family == rule.family);
            fires && matches!(example.claim, Claim::Term { verdict: Verdict::Becomes(_), .. } | Claim::Program { .. })
        })
    }
}

fn root(term: &Term) -> Option<OpId> {
    match term {
        Term::Call { op, .. } => Some(*op),
        _ => None,
    }
}

/// What a call costs, if that is fixed for all who use the pack.
fn cost(op: &Op) -> Option<u64> {
    let is_instruction = op.names.values().any(|name| !name.starts_with('@'));
    match op.cost {
        Cost::Fixed(cost) if !is_instruction => Some(cost.into()),
        Cost::Fixed(_) | Cost::Expr(_) => None,
    }
}
