//! One loop in normal form: bounds, loops that run never or once, and what is tried on the rest.

use super::super::affine::Affine;
use super::super::constraint::Constraint;
use super::super::predicate::Conjunction;
use super::super::substitute::{Substitution, replaced};
use super::super::{For, Item};
use super::{Normaliser, range};

/// How often a loop may be taken apart and put together.
const ROUNDS: usize = 16;

impl Normaliser<'_> {
    pub(super) fn loop_(&mut self, x: &For, given: &mut Conjunction) -> Vec<Item> {
        let mut x = self.count_from_zero(x);
        self.simplify_bounds(&mut x, given);
        if self.never_runs(&x, given) {
            return vec![];
        }
        if let Some(only) = self.runs_once(&x, given) {
            let body = replaced(self.pool, &x.body, x.var, &only);
            return self.items(&body, given);
        }
        let body = self.inside(&x, given, |this, given| this.items(&x.body, given));
        if body.is_empty() {
            return vec![];
        }
        x.body = body;
        self.rounds(x, given)
    }

    /// Tries what changes a whole loop until nothing does.
    fn rounds(&mut self, mut x: For, given: &mut Conjunction) -> Vec<Item> {
        for _ in 0..ROUNDS {
            x = match self.reroll(&x).or_else(|| self.untile(&x, given)) {
                Some(changed) => changed,
                None => match self.split(&x, given).or_else(|| self.uncoalesce(&x, given)) {
                    // The parts are loops of their own.
                    Some(changed) => return self.loop_(&changed, given),
                    None => return vec![Item::For(x)],
                },
            };
            self.simplify_bounds(&mut x, given);
        }
        vec![Item::For(x)]
    }

    /// `for i = l to u step s` becomes `for j = 0 to ceil((u - l) / s)`, and `i` becomes `l + s * j`.
    fn count_from_zero(&mut self, x: &For) -> For {
        let [lower] = x.lower.as_slice() else { return x.clone() };
        if x.step == 1 && lower.as_constant() == Some(0) {
            return x.clone();
        }
        let by = lower.plus(x.step, &Affine::var(x.var));
        let upper = x.upper.iter().map(|u| u.plus(-1, lower).ceil_div(x.step)).collect();
        let body = replaced(self.pool, &x.body, x.var, &by);
        For { lower: vec![Affine::default()], upper, step: 1, body, ..*x }
    }

    /// Drops bounds that others imply, and rounds what is known to lie between two multiples.
    pub(super) fn simplify_bounds(&mut self, x: &mut For, given: &[Constraint]) {
        for bound in x.upper.iter_mut().chain(&mut x.lower) {
            *bound = self.without_floors(bound, given);
        }
        x.lower.sort();
        x.lower.dedup();
        x.upper.sort();
        x.upper.dedup();
        let mut at = 0;
        while at < x.upper.len() && x.upper.len() > 1 {
            let bound = x.upper[at].clone();
            let others = x.upper.iter().enumerate().filter(|(n, _)| *n != at);
            let facts: Vec<_> = others.map(|(_, other)| Constraint::at_least(&bound, other)).collect();
            if facts.iter().any(|fact| self.is(given, fact)) {
                x.upper.remove(at);
            } else {
                at += 1;
            }
        }
    }

    /// Replaces floors that are constants in this place.
    pub(super) fn without_floors(&mut self, affine: &Affine, given: &[Constraint]) -> Affine {
        let decider = std::cell::RefCell::new(&mut *self.decider);
        affine.rebuild(&Affine::var, &|inner, divisor| {
            let within = [0, 1, -1].into_iter().find(|c| {
                let mut decider = decider.borrow_mut();
                let low = Affine::constant(c * divisor);
                decider.implies(given, &Constraint::at_least(&inner, &low))
                    && decider.implies(given, &Constraint::less(&inner, &low.offset(divisor)))
            });
            within.map_or_else(|| inner.floor_div(divisor), Affine::constant)
        })
    }

    /// Replaces floors that are constants wherever the items are.
    pub(super) fn items_without_floors(&mut self, items: &[Item], given: &[Constraint]) -> Vec<Item> {
        // The pool and the decider are needed at once.
        let mut pool = std::mem::take(self.pool);
        let mut map = |affine: &Affine| self.without_floors(affine, given);
        let result = Substitution::new(&mut map).items(&mut pool, items);
        *self.pool = pool;
        result
    }

    fn never_runs(&mut self, x: &For, given: &[Constraint]) -> bool {
        let all: Vec<_> = given.iter().cloned().chain(range(x)).collect();
        self.decider.impossible(&all)
    }

    /// The one value of the variable, where there is one whatever the sizes.
    fn runs_once(&mut self, x: &For, given: &[Constraint]) -> Option<Affine> {
        let [lower] = x.lower.as_slice() else { return None };
        let next = lower.offset(1);
        let runs = x.upper.iter().all(|u| self.is(given, &Constraint::at_least(u, &next)));
        let last = lower.offset(x.step);
        let ends = runs && x.upper.iter().any(|u| self.is(given, &Constraint::at_least(&last, u)));
        (runs && ends).then(|| lower.clone())
    }
}

/// Whether the loop counts from 0 in steps of 1.
pub(super) fn counts_from_zero(x: &For) -> bool {
    x.step == 1 && matches!(x.lower.as_slice(), [lower] if lower.as_constant() == Some(0))
}
