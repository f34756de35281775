//! What both versions are run on, as a refutation says it: `{"arguments":["-1","2.5"],"memory":7}`, with `"bytes":65536`
//! where that is more than usual.

use rewright_typeprop::Scalar;
use serde::{Deserialize, Serialize};

/// Arguments, and the number that memory is made from.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WordInput {
    /// One for each parameter: a number, or the bits of a float: `0x7fc00000`.
    pub arguments: Vec<String>,
    /// The contents of memory are made from this number.
    #[serde(default)]
    pub memory: u64,
    /// Bytes of memory.
    #[serde(default = "few", skip_serializing_if = "is_few")]
    pub bytes: u64,
}

/// Bytes of memory where no more are needed.
pub(super) const FEW: u64 = 1 << 12;

/// No input has more.
pub(super) const MOST: u64 = 1 << 20;

fn few() -> u64 {
    FEW
}

fn is_few(bytes: &u64) -> bool {
    *bytes == FEW
}

impl WordInput {
    /// The arguments as words of some types; the reason where they are no such words.
    pub(super) fn words(&self, parameters: &[Scalar]) -> Result<Vec<i64>, String> {
        if self.bytes > MOST {
            return Err(format!("it has {} bytes of memory, of at most {MOST}", self.bytes));
        }
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
