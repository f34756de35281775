//! The time of one call in two versions of a file, in turn: what `rewright run --compare` measures.
//!
//! The versions are called alternately in one process, each one first in half of the pairs, after one call each that
//! is not counted. So whatever else the machine does meets both alike, and what is to be believed is the ratio within
//! pairs, not the times.

use super::error::JobError;
use crate::jit::{Externals, Imports, Jit, JitError};
use crate::runtest::{CallOutcome, arguments, compile_file, host_targets};
use cranelift_codegen::data_value::{DataValue, DisplayDataValues};
use rewright_clif::read::read;
use serde::{Deserialize, Serialize};
use std::time::{Duration, Instant};

/// A version of a file: its text as CLIF, and what it uses that is not in it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Version {
    /// The whole file.
    pub text: String,
    /// What it uses.
    pub imports: Imports,
}

/// What two versions gave.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Comparison {
    /// Results of the last call of each.
    pub values: [String; 2],
    /// Seconds, pair by pair.
    pub seconds: Vec<[f64; 2]>,
}

impl Comparison {
    /// The median time of a version.
    pub fn median(&self, version: usize) -> Duration {
        Duration::from_secs_f64(quantile(self.seconds.iter().map(|pair| pair[version]).collect(), 0.5))
    }

    /// How many times as long as the second version the first one takes, over the pairs: lower quartile, median,
    /// upper quartile.
    pub fn ratios(&self) -> [f64; 3] {
        let ratios: Vec<f64> = self.seconds.iter().map(|[a, b]| a / b.max(1e-9)).collect();
        [0.25, 0.5, 0.75].map(|at| quantile(ratios.clone(), at))
    }
}

/// Of none: 0.
fn quantile(mut values: Vec<f64>, at: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    let index = (values.len().saturating_sub(1) as f64 * at).round() as usize;
    values.get(index).copied().unwrap_or_default()
}

/// Calls a function of two versions in turn. The outcome's values are a [`Comparison`]; it holds iff all results of
/// both were the same, bit by bit, or as numbers within `tolerance` of the larger one.
pub(super) fn compare(
    before: &Jit,
    after: &Version,
    name: &str,
    text: &str,
    pairs: u32,
    tolerance: f64,
) -> CallOutcome {
    match measure(before, after, name, text, pairs, tolerance) {
        Err(error) => CallOutcome::Failed(error.to_string()),
        Ok((comparison, holds)) => match serde_json::to_string(&comparison) {
            Ok(values) => CallOutcome::Returned { values, holds },
            Err(error) => CallOutcome::Failed(error.to_string()),
        },
    }
}

fn measure(
    before: &Jit,
    after: &Version,
    name: &str,
    text: &str,
    pairs: u32,
    tolerance: f64,
) -> Result<(Comparison, bool), JobError> {
    let file = read(&after.text)?;
    let target = host_targets(&file).into_iter().find_map(Result::ok).ok_or(JobError::NoHostTarget)?;
    let externals = Externals::load(&after.imports)?;
    let after = compile_file(&file, &target, externals)?;
    let signature = before.signature(name).ok_or_else(|| JitError::NoFunction(name.to_string()))?;
    let args = arguments(text, signature)?;
    let call = |jit: &Jit| -> Result<(Vec<DataValue>, f64), JitError> {
        let start = Instant::now();
        let values = jit.call(name, &args)?;
        Ok((values, start.elapsed().as_secs_f64()))
    };
    let versions = [before, &after];
    let mut same = true;
    let mut last = [call(before)?.0, call(&after)?.0];
    let mut seconds = vec![];
    for pair in 0..pairs {
        let mut times = [0.0; 2];
        let first = pair as usize % 2;
        for version in [first, 1 - first] {
            let (values, time) = call(versions[version])?;
            times[version] = time;
            last[version] = values;
        }
        let [a, b] = &last;
        same &= a.len() == b.len() && a.iter().zip(b).all(|(a, b)| is_same(a, b, tolerance));
        seconds.push(times);
    }
    Ok((Comparison { values: last.map(|values| DisplayDataValues(&values).to_string()), seconds }, same))
}

/// Bit by bit, or as floats that differ by at most `tolerance` of the larger one.
fn is_same(a: &DataValue, b: &DataValue, tolerance: f64) -> bool {
    let number = |value: &DataValue| match value {
        DataValue::F32(x) => Some(f64::from(x.as_f32())),
        DataValue::F64(x) => Some(x.as_f64()),
        _ => None,
    };
    a.bitwise_eq(b) || number(a).zip(number(b)).is_some_and(|(a, b)| (a - b).abs() <= tolerance * a.abs().max(b.abs()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use cranelift_codegen::ir::immediates::Ieee64;

    #[test]
    fn floats_may_differ_by_what_is_allowed() {
        let float = |x| DataValue::F64(Ieee64::with_float(x));
        let [one, near, far] = [1.0, 1.0 + 1e-9, 1.1].map(float);
        assert!(is_same(&one, &one, 0.0) && !is_same(&one, &near, 0.0) && is_same(&one, &near, 1e-8));
        assert!(!is_same(&one, &far, 1e-8));
        let [nan, integer] = [float(f64::NAN), DataValue::I64(1)];
        assert!(is_same(&nan, &nan, 0.0) && !is_same(&nan, &one, 1.0) && !is_same(&integer, &one, 1.0));
    }

    #[test]
    fn ratios_are_of_pairs() {
        let comparison = Comparison { values: Default::default(), seconds: vec![[2.0, 1.0], [30.0, 10.0], [4.0, 1.0]] };
        assert_eq!(comparison.ratios(), [3.0, 3.0, 4.0]);
        assert_eq!(comparison.median(0), Duration::from_secs(4));
        assert_eq!(Comparison { seconds: vec![], ..comparison }.ratios(), [0.0; 3]);
    }
}
