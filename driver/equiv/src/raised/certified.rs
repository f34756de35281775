//! Certificates of functions that are nests.
//!
//! A certificate is about the nests. That the functions are these nests, and that the second one touches and promises no
//! more than the first, is found out again; whatever that rests on is confirmed by the solver.

use super::{LARGE, Licence, Pair, Subject};
use crate::nests::Checker;
use rewright_cfg_skeleton::nest::certificate::Certificate;
use rewright_cfg_skeleton::nest::compare;
use rewright_cfg_skeleton::nest::datapath::NoOracle;

/// What is accepted of two versions: that the second one does the same.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Accepted {
    /// If this holds.
    pub precondition: Option<String>,
    /// What that rests on.
    pub assumptions: Vec<String>,
}

/// Why two versions do the same, else why there is no certificate.
pub(crate) fn certificate(
    name: &str,
    versions: [Subject<'_>; 2],
    licence: &dyn Licence,
) -> Result<Certificate, String> {
    let (mut reasons, mut row): (Vec<String>, Option<i128>) = (vec![], None);
    for most in [None, Some(LARGE)] {
        let pair = Pair::new(&versions, licence, most, None);
        row = pair.as_ref().ok().and_then(|pair| pair.row);
        match pair.and_then(|mut pair| pair.certificate(name)) {
            Err(reason) if reasons.contains(&reason) => {}
            Err(reason) => reasons.push(reason),
            found => return found,
        }
    }
    if let Some(row) = row.filter(|row| *row < LARGE)
        && let Ok(found) = Pair::new(&versions, licence, Some(row), None).and_then(|mut pair| pair.certificate(name))
    {
        return Ok(found);
    }
    Err(reasons.join("; "))
}

/// Checks a certificate of two versions.
pub(crate) fn check(
    versions: [Subject<'_>; 2],
    licence: &dyn Licence,
    certificate: &Certificate,
    checker: &mut Checker,
) -> Result<Accepted, String> {
    if certificate.in_bounds || certificate.index_bits.is_some() || !certificate.may_alias.is_empty() {
        return Err("it says of arrays and of `index` what is about MLIR".into());
    }
    let mut pair = Pair::new(&versions, licence, certificate.most.map(i128::from), checker.confirmation())?;
    let [before, after] = &pair.nests;
    let checked = checker.check(certificate, (before, after), &mut pair.pool, &mut NoOracle);
    checked.map_err(|reason| reason.to_string())?;
    if let Some(reason) = pair.touched_anew() {
        return Err(reason);
    }
    let (bounds, mut of_sizes) = (pair.bounds(), certificate.clone());
    for case in &mut of_sizes.cases {
        case.precondition.retain(|condition| !bounds.contains(condition));
    }
    Ok(Accepted { precondition: pair.precondition(of_sizes.precondition()), assumptions: pair.assumptions() })
}

impl Pair<'_> {
    fn certificate(&mut self, name: &str) -> Result<Certificate, String> {
        let options = self.options();
        let [before, after] = &self.nests;
        let found = compare::certificate(&mut self.pool, &mut self.names, before, after, &options, &mut NoOracle)?;
        match self.touched_anew() {
            Some(reason) => Err(reason),
            None => {
                Ok(Certificate { function: name.to_string(), most: self.most.and_then(|m| m.try_into().ok()), ..found })
            }
        }
    }
}
