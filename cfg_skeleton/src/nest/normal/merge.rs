//! `for i = 0 to a { B(i) } for j = 0 to b { B(a + j) }` is `for i = 0 to a + b { B(i) }`, on a condition.

use super::super::constraint::Constraint;
use super::super::predicate::Conjunction;
use super::super::same::Same;
use super::super::substitute::replaced;
use super::super::{Affine, For};
use super::loops::counts_from_zero;
use super::{Condition, Normaliser};
use rustc_hash::FxHashMap;

impl Normaliser<'_> {
    pub(super) fn merge(&mut self, a: &For, b: &For, given: &Conjunction) -> Option<For> {
        let [first] = a.upper.as_slice() else { return None };
        if !counts_from_zero(a) || !counts_from_zero(b) || a.body.len() != b.body.len() {
            return None;
        }
        let expected = replaced(self.pool, &a.body, a.var, &first.plus(1, &Affine::var(b.var)));
        if !Same::within(self.pool, self.nest, FxHashMap::default()).items(&expected, &b.body) {
            return None;
        }
        let zero = Affine::default();
        let runs = std::iter::once(first).chain(&b.upper);
        if !runs.into_iter().all(|trips| self.is(given, &Constraint::at_least(trips, &zero))) {
            let condition = Condition::joined(given, first, &b.upper);
            if !self.is_about_sizes(&condition) {
                return None;
            }
            self.conditions.push(condition);
        }
        let upper = b.upper.iter().map(|u| first.plus(1, u)).collect();
        Some(For { upper, lower: a.lower.clone(), body: a.body.clone(), ..*a })
    }
}
