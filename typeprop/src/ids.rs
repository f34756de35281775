//! Ids of entries in tables: below both the tables and the terms that mention them.

use serde::{Deserialize, Serialize};

/// An operation: an index into [`OpTable`](crate::ops::OpTable).
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct OpId(pub u32);

/// A rule: an index into the rules of a checked program. Engines and selections report about a rule by
/// it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct RuleId(pub u32);
