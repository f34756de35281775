//! All orders in which iterations of parallel loops may be executed.
//!
//! Nests go through them in one order, which a program may choose. So a proof of nests holds of all orders where no two
//! iterations of the second version collide, and what refutes nests says something where none of the first version do.

use super::super::difference::{Runs, find};
use super::super::same::Same;
use super::super::{Nest, parallel, sizes};
use super::Comparison;
use crate::verdict::{Counterexample, Evidence};

impl Comparison<'_> {
    /// The evidence, for all orders.
    pub(super) fn in_any_order(&mut self) -> Evidence {
        let evidence = self.without_assuming();
        if evidence.refuted.is_some() && evidence.proved.is_none() {
            return match self.collision(self.before) {
                Some(why) => {
                    Evidence::nothing(format!("the versions differ in one order, but in the first file {why}"))
                }
                None => self.with_condition_in_any_order(evidence),
            };
        }
        if evidence.proved.is_none() {
            return evidence;
        }
        if Same::between(self.pool, self.before, self.after).in_any_order() {
            return evidence;
        }
        let Some(why) = self.collision(self.after) else { return evidence };
        if self.collision(self.before).is_none()
            && let Some(found) = self.differing_backwards()
        {
            let pattern = Some(format!("the last iterations of parallel loops are executed first; {why}"));
            return Evidence { refuted: Some(Counterexample { pattern, ..found }), ..Evidence::default() };
        }
        Evidence::nothing(format!("in the second file, {why}"))
    }

    /// A proof for some sizes is one for one order only.
    fn with_condition_in_any_order(&mut self, evidence: Evidence) -> Evidence {
        match evidence.holds_if {
            Some(_) if self.collision(self.after).is_some() => Evidence { holds_if: None, ..evidence },
            _ => evidence,
        }
    }

    /// Which iterations of a version may collide.
    fn collision(&mut self, nest: &Nest) -> Option<String> {
        let mut context = self.facts.clone();
        context.extend(sizes::constraints(&self.shown));
        let pairs = self.options.may_alias.iter();
        let pairs: Vec<(u32, u32)> =
            pairs.filter_map(|(a, b)| Some((self.before.argument(a)?, self.before.argument(b)?))).collect();
        let may_overlap = |a: u32, b: u32| pairs.contains(&(a, b)) || pairs.contains(&(b, a));
        let found = parallel::collision(nest, self.pool, &mut self.decider, &context, &may_overlap);
        found.map(|found| found.to_string())
    }

    /// An input on which it matters that iterations of the second version are executed last first.
    fn differing_backwards(&self) -> Option<Counterexample> {
        let runs = Runs { backwards: true, ..self.runs(4) };
        let samples = self.samples(self.options.rounds, false);
        let found = find(self.pool, [self.before, self.after], &samples, &|_| true, &runs);
        found.as_ref().map(Counterexample::from)
    }
}
