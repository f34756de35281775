//! What `validate` assumes of MLIR, and the options that say otherwise.

use super::files::Pair;
use crate::language::Language;
use crate::sources;
use anyhow::{Context, Result, bail};
use rewright_mlir::{Assumption, MAX_INDEX_BITS, Options, Signature};
use std::collections::BTreeSet;

/// Options for MLIR.
#[derive(clap::Args)]
pub(super) struct Assumed {
    /// Compare for these sizes only: `n >= 1`, `2*m <= n + 4`, several joined by `and`; names are those of the first
    /// version. For MLIR; repeatable
    #[arg(long, value_name = "CONDITION")]
    assume: Vec<String>,
    /// These two arguments of MLIR, by their names in the first version, may be or overlap one array: `a,b`. Then only
    /// versions that access them in the same order are proved. Other arguments do not overlap; repeatable
    #[arg(long, value_name = "A,B")]
    may_alias: Vec<String>,
    /// Do not assume that accesses of the first version are in bounds: arrays have cells for all subscripts. For MLIR
    #[arg(long)]
    no_assume_in_bounds: bool,
    /// Show, not assume, that arithmetic on `index` does not overflow so many bits; sizes fit them. For MLIR
    #[arg(long, value_name = "BITS", value_parser = clap::value_parser!(u32).range(8..=i64::from(MAX_INDEX_BITS)))]
    index_bits: Option<u32>,
    /// Compare the bits of all NaNs. Otherwise, unless an operation sees them, a NaN that arithmetic of the first version
    /// gives may be any other one in the second version. For MLIR
    #[arg(long)]
    compare_nans: bool,
}

impl Assumed {
    /// An option that is given.
    pub(super) fn given(&self) -> Option<&'static str> {
        let options = [
            (!self.assume.is_empty(), "--assume"),
            (!self.may_alias.is_empty(), "--may-alias"),
            (self.no_assume_in_bounds, "--no-assume-in-bounds"),
            (self.index_bits.is_some(), "--index-bits"),
            (self.compare_nans, "--compare-nans"),
        ];
        options.into_iter().find(|(given, _)| *given).map(|(_, option)| option)
    }

    /// How nests are compared.
    ///
    /// # Errors
    /// Conditions on names that no function of the first versions has.
    pub(super) fn options<'p>(&self, pairs: impl Iterator<Item = &'p Pair>) -> Result<Options> {
        let mut signatures: Vec<Signature> = vec![];
        if !self.assume.is_empty() || !self.may_alias.is_empty() {
            for pair in pairs.filter(|pair| pair.language == Language::Mlir) {
                signatures.extend(rewright_mlir::signatures(&String::from_utf8_lossy(&sources::bytes(&pair.before)?)));
            }
        }
        Ok(Options {
            in_bounds: !self.no_assume_in_bounds,
            may_alias: self.overlapping(&signatures)?,
            index_bits: self.index_bits,
            compare_nans: self.compare_nans,
            sizes: self.conditions(&signatures)?,
            ..Options::default()
        })
    }

    /// What is assumed of sizes. Each condition must be about the sizes of some function.
    fn conditions(&self, signatures: &[Signature]) -> Result<Vec<Assumption>> {
        let conditions = self.assume.iter().flat_map(|text| text.split(" and "));
        let conditions =
            conditions.map(|text| text.parse().context("--assume")).collect::<Result<Vec<Assumption>>>()?;
        for condition in &conditions {
            if !signatures.iter().any(|signature| condition.names().all(|name| has(&signature.sizes, name))) {
                let known = known(signatures.iter().flat_map(|signature| &signature.sizes));
                bail!("--assume `{condition}`: no function of the first version has these sizes; there are {known}");
            }
        }
        Ok(conditions)
    }

    /// Pairs of arrays that may overlap. Some function must have both.
    fn overlapping(&self, signatures: &[Signature]) -> Result<Vec<(String, String)>> {
        let mut pairs = vec![];
        for text in &self.may_alias {
            let Some((a, b)) = text.split_once(',') else {
                bail!("--may-alias `{text}`: it takes two names of arrays, as in `a,b`");
            };
            let (a, b) = (a.trim(), b.trim());
            if bare(a) == bare(b) || !signatures.iter().any(|s| has(&s.arrays, a) && has(&s.arrays, b)) {
                let known = known(signatures.iter().flat_map(|signature| &signature.arrays));
                bail!("--may-alias `{text}`: no function of the first version has these two arrays; there are {known}");
            }
            pairs.push((format!("%{}", bare(a)), format!("%{}", bare(b))));
        }
        Ok(pairs)
    }
}

fn bare(name: &str) -> &str {
    name.trim_start_matches('%')
}

fn has(names: &[String], name: &str) -> bool {
    names.iter().any(|known| bare(known) == bare(name))
}

fn known<'n>(names: impl Iterator<Item = &'n String>) -> String {
    let known: BTreeSet<&str> = names.map(String::as_str).collect();
    if known.is_empty() { "none".into() } else { known.into_iter().collect::<Vec<_>>().join(", ") }
}
