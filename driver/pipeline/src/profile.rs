//! A profile: how often blocks of functions were executed, as a file says.
//!
//! ```json
//! { "function": { "block0": 1000, "block3": 12 } }
//! ```
//!
//! Functions by name, with or without `%`; blocks as CLIF writes them, or as our own text numbers them (`b3`). Counts
//! are of all runs together; those of the entry say how many calls there were, so it has to be among them. A block that
//! is not there weighs as if there were no profile.

use crate::heading::Heading;
use rewright_cfg_skeleton::ir::cfg::FREQUENCY_ONE;
use rewright_cfg_skeleton::ir::{BlockId, Function};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Why a profile cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum CountsError {
    /// It cannot be read.
    #[error("cannot read {0}: {1}")]
    Read(PathBuf, std::io::Error),
    /// It is no profile; the reason has line and column.
    #[error("{0} is no profile: {1}; it looks like {{\"f\": {{\"block0\": 1000, \"block3\": 12}}}}")]
    Format(PathBuf, serde_json::Error),
    /// It counts in a function that is not there.
    #[error("the profile counts in `{0}`, which the input does not have; it has {known}", known = .1.join(", "))]
    NoFunction(String, Vec<String>),
    /// It counts a block that is not there.
    #[error("the profile counts `{1}` of `{0}`, which has no such block; it has {known}", known = .2.join(", "))]
    NoBlock(String, String, Vec<String>),
    /// It does not say of a function how often it was called.
    #[error("the profile does not count `{1}`, the entry of `{0}`, or counts 0: it says how many calls there were")]
    NoEntry(String, String),
}

/// Executions by function and block.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct BlockCounts {
    functions: BTreeMap<String, BTreeMap<String, u64>>,
}

fn bare(name: &str) -> &str {
    name.strip_prefix('%').unwrap_or(name)
}

impl BlockCounts {
    /// Reads a profile.
    ///
    /// # Errors
    /// The file cannot be read, or is no profile.
    pub fn read(path: &Path) -> Result<Self, CountsError> {
        let text = std::fs::read_to_string(path).map_err(|e| CountsError::Read(path.to_path_buf(), e))?;
        let named: BTreeMap<String, BTreeMap<String, u64>> =
            serde_json::from_str(&text).map_err(|e| CountsError::Format(path.to_path_buf(), e))?;
        Ok(BlockCounts {
            functions: named.into_iter().map(|(name, blocks)| (bare(&name).to_string(), blocks)).collect(),
        })
    }

    /// Does an input with these functions have what is counted?
    ///
    /// # Errors
    /// A function or block that is not there, or an entry without a count.
    pub fn check(&self, input: &[Heading]) -> Result<(), CountsError> {
        for (name, counts) in &self.functions {
            let Some(Heading { blocks, .. }) = input.iter().find(|function| bare(&function.name) == name) else {
                let known = input.iter().map(|function| function.name.clone()).collect();
                return Err(CountsError::NoFunction(name.clone(), known));
            };
            if let Some(missing) = counts.keys().find(|block| !blocks.contains(block)) {
                return Err(CountsError::NoBlock(name.clone(), missing.clone(), blocks.clone()));
            }
            if let Some(entry) = blocks.first().filter(|entry| counts.get(*entry).is_none_or(|n| *n == 0)) {
                return Err(CountsError::NoEntry(name.clone(), entry.clone()));
            }
        }
        Ok(())
    }

    /// Notes counts on the blocks of a function, whose names in the input are given.
    pub fn note(&self, function: &mut Function, block_name: impl Fn(BlockId) -> String) {
        let Some(counts) = self.functions.get(bare(&function.name)) else { return };
        let calls = counts.get(&block_name(function.entry())).copied().filter(|n| *n > 0);
        let Some(calls) = calls else { return };
        for block in function.layout.clone() {
            if let Some(count) = counts.get(&block_name(block)) {
                let executions = u128::from(*count) * u128::from(FREQUENCY_ONE) / u128::from(calls);
                function.blocks[block.index()].counts.executions = Some(u64::try_from(executions).unwrap_or(u64::MAX));
            }
        }
    }
}
