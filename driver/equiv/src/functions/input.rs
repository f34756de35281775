//! What both versions are run on, as a refutation says it: `{"arguments":["-1","2.5"],"memory":7}`.

use rewright_typeprop::Scalar;
use serde::{Deserialize, Serialize};

/// Arguments, and the number that memory is made from.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WordInput {
    /// One for each parameter: a number, or the bits of a float: `0x7fc00000`.
    pub arguments: Vec<String>,
    /// What is in memory is made from this number.
    #[serde(default)]
    pub memory: u64,
}

impl WordInput {
    /// The arguments as words of some types; the reason where they are none.
    pub(super) fn words(&self, parameters: &[Scalar]) -> Result<Vec<i64>, String> {
        if self.arguments.len() != parameters.len() {
            return Err(format!("it takes {} arguments, and the input has {}", parameters.len(), self.arguments.len()));
        }
        let word = |(text, scalar): (&String, &Scalar)| {
            word(text, *scalar).ok_or_else(|| format!("`{text}` is no argument of type {scalar:?}"))
        };
        self.arguments.iter().zip(parameters).map(word).collect()
    }
}

fn word(text: &str, scalar: Scalar) -> Option<i64> {
    if let Some(digits) = text.strip_prefix("0x") {
        return u64::from_str_radix(digits, 16).ok().map(|bits| scalar.canonical(bits));
    }
    match scalar {
        Scalar::F32 => text.parse::<f32>().ok().map(|number| scalar.canonical(number.to_bits().into())),
        Scalar::F64 => text.parse::<f64>().ok().map(|number| scalar.canonical(number.to_bits())),
        _ => text.parse::<i64>().ok().map(|number| scalar.canonical(number as u64)),
    }
}
