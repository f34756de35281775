//! Certificates: what a proof found, written down.

use super::super::certificate::Certificate;
use super::super::datapath::ValueOracle;
use super::super::normal::{Normal, Steps, normal};
use super::super::predicate::Conjunction;
use super::super::sizes;
use super::super::{Names, Nest, Pool};
use super::{Comparison, Options, Shown};

/// Why two nests do the same, as data; else why there is no certificate.
///
/// # Errors
/// Where nothing is proved, or a proof does what certificates have no name for.
pub fn certificate(
    pool: &mut Pool,
    names: &mut Names,
    before: &Nest,
    after: &Nest,
    options: &Options,
    oracle: &mut (dyn ValueOracle + Send),
) -> Result<Certificate, String> {
    if options.index_bits.is_some() {
        return Err("certificates do not say that `index` does not overflow".into());
    }
    if !after.parallel.is_empty() {
        return Err("certificates do not say that iterations of parallel loops are independent".into());
    }
    let mut comparison = Comparison::new((pool, names), (before, after), options, oracle);
    if let Some(pair) = comparison.overlapping() {
        return Err(format!("{pair} may overlap"));
    }
    let mut forms = comparison.normal_forms(Steps::All);
    if forms.0.steps.is_none() || forms.1.steps.is_none() {
        // Another proof may do without the steps that have no name.
        forms = comparison.normal_forms(Steps::Named);
    }
    let (left, right) = forms;
    let failing = comparison.failing(&left, &right);
    let shown = comparison.shown(&left, &right, &failing)?;
    let (Some(steps), Some(later)) = (left.steps, right.steps) else {
        return Err("what was done to loops has no name in certificates".into());
    };
    let mut precondition: Vec<String> = comparison.assumed.clone();
    precondition.extend(sizes::show(&shown.bounds, &before.sizes));
    Ok(Certificate {
        function: before.name.clone(),
        precondition,
        in_bounds: options.in_bounds,
        before: steps,
        after: later,
        reason: shown.reason,
    })
}

impl Comparison<'_> {
    pub(super) fn normal_forms(&mut self, steps: Steps) -> (Normal, Normal) {
        let mut form = |nest| normal(nest, (self.pool, self.names), &mut self.decider, &self.facts, steps);
        (form(self.before), form(self.after))
    }

    /// A proof of any kind.
    fn shown(&mut self, left: &Normal, right: &Normal, failing: &[Conjunction]) -> Result<Shown, String> {
        if let Ok(shown) = self.by_sequence(left, right, failing, true) {
            return Ok(shown);
        }
        let differs = self.differing(&self.samples(0, false), &|_| true, 4).or_else(|| self.differing_soon());
        if differs.is_some() {
            // A search for a proof of what is wrong takes all that there is.
            return Err("versions differ".into());
        }
        if self.is_deep()
            && let Ok(shown) = self.by_order(left, right, failing)
        {
            return Ok(shown);
        }
        let shown = self.by_values(left, right, failing);
        shown.or_else(|(reason, _)| self.by_order(left, right, failing).map_err(|_| reason))
    }
}
