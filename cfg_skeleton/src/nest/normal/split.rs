//! `for z = 0 to n * m { B(floor(z / m), z mod m) }` is `for i = 0 to n { for j = 0 to m { B(i, j) } }`.

use super::super::affine::Atom;
use super::super::certificate::Step;
use super::super::predicate::Conjunction;
use super::super::substitute::{each_affine, replaced};
use super::super::{Affine, For, Item};
use super::loops::counts_from_zero;
use super::{Normaliser, range};

impl Normaliser<'_> {
    pub(super) fn split(&mut self, x: &For, given: &mut Conjunction) -> Option<For> {
        if !counts_from_zero(x) {
            return None;
        }
        let mut divisors = vec![];
        each_affine(self.pool, &x.body, &mut |affine| {
            affine.each_atom(&mut |atom| {
                if let Atom::Floor(inner, divisor) = atom
                    && inner.mentions(x.var)
                {
                    divisors.push(*divisor);
                }
            });
        });
        divisors.sort_unstable();
        divisors.dedup();
        // Larger ones first: smaller ones are split off the inner loop.
        divisors.into_iter().rev().find_map(|divisor| self.split_by(x, divisor, given))
    }

    fn split_by(&mut self, x: &For, size: i128, given: &mut Conjunction) -> Option<For> {
        let upper: Vec<Affine> = x.upper.iter().map(|u| quotient(u, size)).collect::<Option<_>>()?;
        let var = self.names.var();
        let (outer, inner) = (Affine::var(x.var), Affine::var(var));
        let body = replaced(self.pool, &x.body, x.var, &outer.times(size).plus(1, &inner));
        let lower = vec![Affine::default()];
        let mut inner =
            For { var, lower: lower.clone(), upper: vec![Affine::constant(size)], step: 1, body, line: x.line };
        let facts: Conjunction = given.iter().cloned().chain(range(&inner)).collect();
        let floors;
        (inner.body, floors) = self.items_without_floors(&inner.body, &facts);
        let mut left = false;
        each_affine(self.pool, &inner.body, &mut |affine| {
            affine.each_atom(&mut |atom| {
                left |= matches!(atom, Atom::Floor(e, d) if e.mentions(x.var) || (*d == size && e.mentions(var)));
            });
        });
        if left {
            return None;
        }
        self.steps.push(Step::Split { size: size as i64, var: var.0, floors });
        Some(For { lower, upper, body: vec![Item::For(inner)], ..*x })
    }
}

/// The polynomial divided by the constant, where it is a multiple of it.
fn quotient(affine: &Affine, divisor: i128) -> Option<Affine> {
    let quotient = affine.floor_div(divisor);
    quotient.times(divisor).same(affine).then_some(quotient)
}
