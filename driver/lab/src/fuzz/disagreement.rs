//! How two runs of a function differ.

use rewright_cfg_skeleton::ir::interp::Outcome;
use std::fmt::{self, Display, Formatter};
use thiserror::Error;

/// How a run differs from the one that it is compared with. It is shown as one before and one after optimisation.
#[derive(Clone, PartialEq, Debug, Error)]
pub(super) enum Disagreement {
    /// In a result.
    Result { index: usize, before: i64, after: i64 },
    /// In how it ends.
    Outcome { before: Outcome, after: Outcome },
    /// In what it leaves in memory.
    Byte { index: usize, before: u8, after: u8 },
}

impl Disagreement {
    /// The same with other names for the two runs.
    pub(super) fn between(&self, [first, second]: [&str; 2]) -> String {
        match self {
            Disagreement::Result { index, before, after } => {
                format!("result {index} is {before} {first} and {after} {second}")
            }
            Disagreement::Outcome { before, after } => format!("{before:?} {first} and {after:?} {second}"),
            Disagreement::Byte { index, before, after } => {
                format!("byte {index} of the memory is {before:#04x} {first} and {after:#04x} {second}")
            }
        }
    }
}

impl Display for Disagreement {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&self.between(["before", "after"]))
    }
}

/// Why the outcome of compiled code is not what is expected.
#[derive(Debug, Error)]
pub(super) enum Misfit {
    /// What came back is no JSON of results.
    #[error(transparent)]
    Unreadable(#[from] serde_json::Error),
    /// The function does something else than interpreted.
    #[error("{}", .0.between(["interpreted", "compiled"]))]
    Differs(Disagreement),
    /// It ends in another way.
    #[error("{compiled}, interpreted {interpreted:?}")]
    Ends { compiled: String, interpreted: Outcome },
}
