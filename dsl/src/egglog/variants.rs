//! Commutativity, compiled away: a pattern over a commutative operation becomes one pattern per order of its
//! operands, so that no commuted node needs to exist for a rule to match.
//!
//! **Invariant**: the rule as written comes first. Variants that are equal up to the names of variables, and up
//! to the order of commuted operands on the right, are one.

use super::variant_keys::Numbers;
use crate::program::{Conclusion, Guard, Rule};
use rewright_typeprop::{OpTable, Term};
use rustc_hash::FxHashSet;

/// At most this many variants of a rule. Four commutative operations give 16; the innermost of a larger pattern
/// are matched in the order written, and in the other one once the rule that unites commuted forms has seen both.
const MAX_VARIANTS: usize = 16;

/// At most this many operations of one pattern are turned around, the outermost first: 2^6 candidates, of which
/// symmetry usually leaves few.
const MAX_SITES: usize = 6;

/// All distinct variants of a rule.
pub(super) fn variants(ops: &OpTable, rule: &Rule) -> Vec<Rule> {
    let mut depths = Vec::new();
    let mut original = rule.clone();
    for_each_pattern(&mut original, &mut |term| visit(ops, term, 0, &mut |depth, _| depths.push(depth)));
    if depths.is_empty() {
        return vec![original];
    }
    let mut sites: Vec<usize> = (0..depths.len()).collect();
    sites.sort_by_key(|i| depths[*i]);
    sites.truncate(MAX_SITES);

    // A fact that is concluded of the matched term is concluded of the turned one.
    let matched: Vec<Option<usize>> = match &rule.right {
        Conclusion::Fact(_, terms) => terms.iter().map(|t| rule.left.iter().position(|left| left == t)).collect(),
        Conclusion::Equal(_) => Vec::new(),
    };

    let mut numbers = Numbers::default();
    let mut seen = FxHashSet::default();
    let mut result = Vec::new();
    for mask in 0..1usize << sites.len() {
        let mut variant = rule.clone();
        let mut at = 0;
        for_each_pattern(&mut variant, &mut |term| {
            visit(ops, term, 0, &mut |_, args| {
                if sites.iter().position(|site| *site == at).is_some_and(|bit| mask >> bit & 1 == 1) {
                    args.swap(0, 1);
                }
                at += 1;
            });
        });
        if let Conclusion::Fact(_, terms) = &mut variant.right {
            for (term, left) in terms.iter_mut().zip(&matched) {
                if let Some(left) = left {
                    *term = variant.left[*left].clone();
                }
            }
        }
        if seen.insert(numbers.key(ops, &variant)) {
            result.push(variant);
            if result.len() == MAX_VARIANTS {
                break;
            }
        }
    }
    result
}

/// The terms of a rule that are matched in the e-graph.
fn for_each_pattern(rule: &mut Rule, f: &mut impl FnMut(&mut Term)) {
    rule.left.iter_mut().for_each(&mut *f);
    for guard in &mut rule.guards {
        match guard {
            Guard::Fact(_, terms) => terms.iter_mut().for_each(&mut *f),
            Guard::Class { left, right, .. } => {
                f(left);
                f(right);
            }
            Guard::Is(term, _) => f(term),
            Guard::Holds(_) | Guard::Compare { .. } | Guard::Not(_) | Guard::Or(..) => {}
        }
    }
}

/// Calls `f` with the depth and operands of each commutative call, children first: so turning operands around
/// does not change the order in which calls are met.
fn visit(ops: &OpTable, term: &mut Term, depth: usize, f: &mut impl FnMut(usize, &mut Vec<Term>)) {
    let Term::Call { op, args, state, .. } = term else { return };
    for arg in args.iter_mut() {
        visit(ops, arg, depth + 1, f);
    }
    if let Some(state) = state {
        visit(ops, state, depth + 1, f);
    }
    if ops.get(*op).laws.commutative && args.len() >= 2 {
        f(depth, args);
    }
}
