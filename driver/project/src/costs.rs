//! Prices, as a project's file, a profile that ships (JSON), and the former `rewright.json` say them.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A file of costs alone: a profile, or a former configuration.
#[derive(Clone, PartialEq, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CostFile {
    /// What it is for; no program reads it.
    #[serde(default)]
    pub about: String,
    /// What executing something costs.
    #[serde(default)]
    pub costs: Costs,
}

/// What executing something costs, as a file says it.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Costs {
    /// A profile that ships.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
    /// A constant, where it is materialised.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub constant: Option<f64>,
    /// A value moved into a block parameter.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parameter: Option<f64>,
    /// A check that is executed without its operation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub check: Option<f64>,
    /// A pure operation that no pack declares.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub opaque: Option<f64>,
    /// A sum or a shift that is part of an address.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub address: Option<f64>,
    /// What a size that a declared cost names counts as where it is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub assumed: Option<u32>,
    /// How blocks weigh against each other.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weigh: Option<Weigh>,
    /// This many times more for each enclosing loop, where executions are weighed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub per_loop: Option<u32>,
    /// By operation. The last field: TOML writes values before tables.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub operations: BTreeMap<String, f64>,
}

/// How blocks weigh against each other.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Weigh {
    /// By how often they are executed.
    Executions,
    /// Each once.
    Occurrences,
}
