//! What a user configures: the file that is named, or the nearest `rewright.json` from the working directory upwards.
//!
//! ```json
//! {
//!   "costs": {
//!     "profile": "latency",
//!     "operations": { "imul": 9, "udiv{i64}": 42, "linalg.mul": 500 },
//!     "per_loop": 20
//!   }
//! }
//! ```
//!
//! Each part is a struct here, and a module acts on it ([`crate::costs`] on the costs); unknown words are mistakes.
//! What a command line says comes before what a file says.

use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The file that is looked for.
pub const FILE: &str = "rewright.json";

/// A configuration.
#[derive(Clone, PartialEq, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// What it is for; nobody but people reads it.
    #[serde(default)]
    pub about: String,
    /// What executing something costs.
    #[serde(default)]
    pub costs: Costs,
}

/// What executing something costs, as a file says it.
#[derive(Clone, PartialEq, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Costs {
    /// A profile that ships.
    pub profile: Option<String>,
    /// By operation.
    pub operations: BTreeMap<String, f64>,
    /// A constant, where it is materialised.
    pub constant: Option<f64>,
    /// A value moved into a block parameter.
    pub parameter: Option<f64>,
    /// A check that is executed without its operation.
    pub check: Option<f64>,
    /// A pure operation that no pack declares.
    pub opaque: Option<f64>,
    /// What a size that a declared cost names counts as where nobody knows it.
    pub assumed: Option<u32>,
    /// How blocks weigh against each other.
    pub weigh: Option<Weigh>,
    /// So many times more for each enclosing loop, where executions are weighed.
    pub per_loop: Option<u32>,
}

/// How blocks weigh against each other.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Weigh {
    /// By how often they are executed.
    Executions,
    /// Each once.
    Occurrences,
}

/// Why there is no configuration.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// It cannot be read.
    #[error("cannot read {0}: {1}")]
    Read(PathBuf, std::io::Error),
    /// It is no configuration; the reason has line and column.
    #[error("{0} is no configuration: {1}")]
    Format(PathBuf, serde_json::Error),
}

/// Reads the file that is named, or the nearest one; without any, nothing is configured.
///
/// # Errors
/// The file cannot be read, or has mistakes.
pub fn load(named: Option<&Path>) -> Result<Config, ConfigError> {
    let Some(path) = named.map(Path::to_path_buf).or_else(nearest) else { return Ok(Config::default()) };
    let text = std::fs::read_to_string(&path).map_err(|e| ConfigError::Read(path.clone(), e))?;
    serde_json::from_str(&text).map_err(|e| ConfigError::Format(path, e))
}

/// The nearest file from the working directory upwards.
fn nearest() -> Option<PathBuf> {
    let here = std::env::current_dir().ok()?;
    here.ancestors().map(|folder| folder.join(FILE)).find(|path| path.is_file())
}
