//! Certificates: what a proof found, written down.

use super::super::certificate::Certificate;
use super::super::datapath::ValueOracle;
use super::super::{Names, Nest, Pool};
use super::{Comparison, Options};

/// Why two nests do the same, as data; else why there is no certificate.
///
/// # Errors
/// Where nothing is proved.
pub fn certificate(
    pool: &mut Pool,
    names: &mut Names,
    before: &Nest,
    after: &Nest,
    options: &Options,
    oracle: &mut (dyn ValueOracle + Send),
) -> Result<Certificate, String> {
    let mut comparison = Comparison::new((pool, names), (before, after), options, oracle);
    comparison.is_certifying = true;
    let evidence = comparison.in_any_order();
    if evidence.proved.is_none() || evidence.refuted.is_some() {
        let reason = evidence.reasons.into_iter().next();
        return Err(reason.unwrap_or_else(|| "versions differ".into()));
    }
    // Where none that are written may overlap, nothing depends on it.
    let may_alias = comparison.overlapping().map(|_| options.may_alias.clone()).unwrap_or_default();
    Ok(Certificate {
        function: before.name.clone(),
        in_bounds: options.in_bounds,
        may_alias,
        index_bits: options.index_bits,
        most: None,
        cases: comparison.cases,
    })
}
