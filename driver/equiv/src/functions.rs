//! Two versions of a function of our IR, from whatever language: CLIF, our own text.
//!
//! Here nothing is poison and nothing undefined but what accesses promise, so the second version refines the first one
//! if it gives the same, leaves the same memory and traps in the same way. A pair is proved where both are one text
//! ([`shape`]); or by the solver ([`terms`]), loops by [`induction`]; it is refuted by an input on which both have been run ([`runs`]).
//!
//! A called function is taken to do the same in both versions; it is a pair of its own.

mod cuts;
mod induction;
mod input;
mod prover;
mod region;
mod runs;
mod session;
mod shape;
mod terms;

use crate::nests::Checker;
use crate::{Accepted, Config, NO_CERTIFICATE, raised};
use rewright_cfg_skeleton::ir::interp::{Memory, Outcome};
use rewright_cfg_skeleton::ir::{Function, PayloadId};
use rewright_cfg_skeleton::nest::arguments::Argument;
use rewright_cfg_skeleton::nest::certificate::Certificate;
use rewright_cfg_skeleton::verdict::{Evidence, Tier};
use rewright_typeprop::{Scalar, Universe};

pub use input::WordInput;
pub use prover::Prover;

/// One version of a function.
#[derive(Clone, Copy)]
pub struct FunctionVersion<'a> {
    /// Verified.
    pub function: &'a Function,
    /// Its types and operations.
    pub universe: &'a Universe,
    /// What an instruction or terminator that is not modelled does, as text without its operands. Two with one text do
    /// the same on the same operands, in both versions.
    pub opaque: &'a dyn Fn(PayloadId) -> String,
    /// The number of a trap code that a pack names.
    pub trap_code: fn(&str) -> u32,
    /// Calls it.
    pub run: &'a Runner<'a>,
}

/// Calls a function: arguments, memory, the NaN that arithmetic gives, and how many steps it may take.
pub type Runner<'a> = dyn Fn(&[i64], &mut Memory, fn(Scalar) -> i64, u64) -> Outcome + 'a;

/// What is known of two versions.
pub fn compare(
    before: FunctionVersion<'_>,
    after: FunctionVersion<'_>,
    config: &Config,
    prover: &mut Prover,
) -> Evidence {
    if let Some(reason) = other_signature(before, after) {
        return Evidence::nothing(reason);
    }
    if shape::same(before, after) {
        return Evidence { proved: Some(Tier::Same), ..Evidence::default() };
    }
    if let Some(input) = &config.words {
        return runs::on(before, after, input);
    }
    let evidence = runs::compare(before, after, config);
    if evidence.refuted.is_some() {
        return evidence;
    }
    let mut evidence = prover.decide([before, after], config, evidence);
    let is_open = evidence.proved.is_none() && evidence.refuted.is_none();
    if is_open && [before, after].into_iter().any(induction::has_loops) {
        let replay = &mut |arguments: &[Argument]| runs::shown_by_arguments([before, after], arguments);
        raised::words::with([before, after], raised::decide).note(&mut evidence, replay);
    }
    evidence
}

/// Why two versions do the same as nests of loops.
///
/// # Errors
/// Why there is no certificate.
pub fn certificate(name: &str, before: FunctionVersion<'_>, after: FunctionVersion<'_>) -> Result<Certificate, String> {
    match other_signature(before, after) {
        Some(reason) => Err(reason),
        None => raised::words::with([before, after], |versions, licence| raised::certificate(name, versions, licence)),
    }
}

/// Checks a certificate of two versions; one of two that are one text is not looked at.
///
/// # Errors
/// Why it is not accepted.
pub fn check(
    certificate: Option<&Certificate>,
    before: FunctionVersion<'_>,
    after: FunctionVersion<'_>,
    checker: &mut Checker,
) -> Result<Accepted, String> {
    if let Some(reason) = other_signature(before, after) {
        return Err(reason);
    }
    if shape::same(before, after) {
        return Ok(Accepted::default());
    }
    let certificate = certificate.ok_or(NO_CERTIFICATE)?;
    raised::words::with([before, after], |versions, licence| raised::check(versions, licence, certificate, checker))
}

/// How types of arguments or results differ.
fn other_signature(before: FunctionVersion<'_>, after: FunctionVersion<'_>) -> Option<String> {
    let [was, is] = [before, after].map(|FunctionVersion { function, universe, .. }| {
        let shown = |ty| universe.types.display(ty);
        let parameters = function.block(function.entry()).params.iter().map(|value| shown(function.ty(*value)));
        let results: Vec<String> = function.results.iter().map(|ty| shown(*ty)).collect();
        format!("({}) -> ({})", parameters.collect::<Vec<_>>().join(", "), results.join(", "))
    });
    (was != is).then(|| format!("its signature was {was}, and is {is}"))
}
