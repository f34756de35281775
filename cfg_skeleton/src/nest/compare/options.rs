//! Options of a comparison: assumptions and limits.

use super::super::Assumption;

/// Assumptions and limits of a comparison.
#[derive(Clone, Debug)]
pub struct Options {
    /// Accesses of the first nest are in bounds.
    pub in_bounds: bool,
    /// Arrays, by the names of two arguments of the first nest, that may overlap. Others do not.
    pub may_alias: Vec<(String, String)>,
    /// Arithmetic on `index` is shown not to overflow this many bits. Without, it is assumed not to overflow.
    pub index_bits: Option<u32>,
    /// The bits of all NaNs are compared, also where nothing sees them.
    pub compare_nans: bool,
    /// Assumptions about sizes. Those that speak of a size that a nest does not have are not used there.
    pub sizes: Vec<Assumption>,
    /// Steps of the decision procedure.
    pub budget: u64,
    /// Loads, stores and iterations per run.
    pub fuel: u64,
    /// Mixtures of sizes to run with.
    pub rounds: u64,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            in_bounds: true,
            may_alias: vec![],
            index_bits: None,
            compare_nans: false,
            sizes: vec![],
            budget: 30_000_000,
            fuel: 400_000,
            rounds: 40,
        }
    }
}

/// The assumptions that a proof under these options rests on, where the bits of `nans` are compared or not.
#[must_use]
pub fn assumptions(
    in_bounds: bool,
    may_alias: &[(String, String)],
    index_bits: Option<u32>,
    nans: bool,
) -> Vec<String> {
    let pairs: Vec<String> = may_alias.iter().map(|(a, b)| format!("{a} and {b}")).collect();
    let but = if pairs.is_empty() { String::new() } else { format!(" (but {} may)", pairs.join(", ")) };
    let mut assumptions = vec![format!("arrays that are different arguments do not overlap{but}")];
    if in_bounds {
        assumptions.push("accesses of the first version are in bounds".into());
    }
    assumptions.push(match index_bits {
        None => "arithmetic on `index` does not overflow".into(),
        Some(bits) => format!("`index` has at least {bits} bits, and sizes fit {bits} bits"),
    });
    assumptions.push(assumption_of_nans(nans));
    assumptions
}

/// The assumption about NaNs, by whether their bits are compared.
#[must_use]
pub fn assumption_of_nans(compared: bool) -> String {
    let same = "an operation that gives a NaN gives the same one for the same operands";
    let any = "a NaN that arithmetic of the first version gives may be any other one in the second version";
    if compared { same } else { any }.to_string()
}
