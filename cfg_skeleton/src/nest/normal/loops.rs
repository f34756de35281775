//! One loop in normal form: bounds, loops that run never or once, and what is tried on the rest.

use super::super::affine::Affine;
use super::super::certificate::{Polynomial, Step, polynomials};
use super::super::constraint::Constraint;
use super::super::predicate::Conjunction;
use super::super::substitute::{Substitution, replaced};
use super::super::{For, Item, Pool};
use super::{Normaliser, range};

/// A polynomial divided by a constant, and what that is, rounded down.
pub(super) type Floor = (Polynomial, i64, i64);

/// How often a loop may be taken apart and put together.
const ROUNDS: usize = 16;

/// `for i = l to u step s` becomes `for j = 0 to ceil((u - l) / s)`, and `i` becomes `l + s * j`, which is given, too.
pub(in crate::nest) fn count_from_zero(pool: &mut Pool, x: &For) -> (For, Affine) {
    let lower = match x.lower.as_slice() {
        [lower] if x.step != 1 || lower.as_constant() != Some(0) => lower,
        _ => return (x.clone(), Affine::var(x.var)),
    };
    let by = lower.plus(x.step, &Affine::var(x.var));
    let upper = x.upper.iter().map(|u| u.plus(-1, lower).ceil_div(x.step)).collect();
    let body = replaced(pool, &x.body, x.var, &by);
    (For { lower: vec![Affine::default()], upper, step: 1, body, ..*x }, by)
}

impl Normaliser<'_> {
    pub(super) fn loop_(&mut self, x: &For, given: &mut Conjunction) -> Vec<Item> {
        let mut x = count_from_zero(self.pool, x).0;
        self.simplify_bounds(&mut x, given);
        if self.never_runs(&x, given) {
            self.steps.push(Step::Never);
            return vec![];
        }
        if let Some(only) = self.runs_once(&x, given) {
            self.steps.push(Step::Once((&only).into()));
            let body = replaced(self.pool, &x.body, x.var, &only);
            return self.items(&body, given);
        }
        self.steps.push(Step::Enter);
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
                    None => break,
                },
            };
            self.simplify_bounds(&mut x, given);
        }
        self.steps.push(Step::Keep);
        vec![Item::For(x)]
    }

    /// Drops bounds that others imply, and rounds what is known to lie between two multiples.
    pub(super) fn simplify_bounds(&mut self, x: &mut For, given: &[Constraint]) {
        let (lower, upper) = (x.lower.clone(), x.upper.clone());
        self.simpler_bounds(x, given);
        if (&lower, &upper) != (&x.lower, &x.upper) {
            self.steps.push(Step::Bounds { lower: polynomials(&x.lower), upper: polynomials(&x.upper) });
        }
    }

    fn simpler_bounds(&mut self, x: &mut For, given: &[Constraint]) {
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
    fn without_floors(&mut self, affine: &Affine, given: &[Constraint]) -> Affine {
        self.noting_floors(affine, given, &mut vec![])
    }

    /// The same; adds what the floors are.
    fn noting_floors(&mut self, affine: &Affine, given: &[Constraint], found: &mut Vec<Floor>) -> Affine {
        let decider = std::cell::RefCell::new(&mut *self.decider);
        let found = std::cell::RefCell::new(found);
        affine.rebuild(&Affine::var, &|inner, divisor| {
            let within = [0, 1, -1].into_iter().find(|c| {
                let mut decider = decider.borrow_mut();
                let low = Affine::constant(c * divisor);
                decider.implies(given, &Constraint::at_least(&inner, &low))
                    && decider.implies(given, &Constraint::less(&inner, &low.offset(divisor)))
            });
            let Some(within) = within else { return inner.floor_div(divisor) };
            let floor = ((&inner).into(), divisor as i64, within as i64);
            let mut found = found.borrow_mut();
            if !found.contains(&floor) {
                found.push(floor);
            }
            Affine::constant(within)
        })
    }

    /// Replaces floors that are constants wherever the items are, and says which they were.
    pub(super) fn items_without_floors(&mut self, items: &[Item], given: &[Constraint]) -> (Vec<Item>, Vec<Floor>) {
        // The pool and the decider are needed at once.
        let mut pool = std::mem::take(self.pool);
        let mut floors = vec![];
        let mut map = |affine: &Affine| self.noting_floors(affine, given, &mut floors);
        let result = Substitution::new(&mut map).items(&mut pool, items);
        *self.pool = pool;
        (result, floors)
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
