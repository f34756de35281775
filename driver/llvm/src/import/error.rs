//! Why a function is not imported.

use crate::error::NotUnderstood;
use crate::module::UNKNOWN_LAYOUT;

/// Why a function is not imported: it goes out as it came in.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ImportError {
    /// [`File::known_layout`](crate::module::File::known_layout) does not hold.
    #[error("{}", UNKNOWN_LAYOUT)]
    Layout,
    /// Something else may jump into it.
    #[error("the address of one of its blocks is taken")]
    BlockAddress,
    /// An attribute by which its control flow or arithmetic has rules of its own.
    #[error("attribute {0}")]
    Attribute(&'static str),
    /// An attribute says so.
    #[error("floats that flush denormal numbers")]
    Denormals,
    /// It calls `setjmp` or the like.
    #[error("a call that may return twice")]
    ReturnsTwice,
    /// A value of a type that has no values elsewhere: `token`, `label`, `metadata`.
    #[error("a value of type {0}")]
    ValueType(String),
    /// Its text cannot be read.
    #[error(transparent)]
    Text(#[from] NotUnderstood),
    /// A branch to a label that no block has.
    #[error("there is no block {0}")]
    NoBlock(String),
    /// The entry has a predecessor.
    #[error("a branch to the entry")]
    BranchToEntry,
    /// A use without a definition.
    #[error("{0} is not defined")]
    Undefined(String),
    /// A use of what no reachable block defines.
    #[error("{0} is defined where control does not come")]
    Unreachable(String),
    /// A value that copies itself.
    #[error("{0} is defined by itself")]
    Cyclic(String),
    /// A phi without a value for one of its predecessors.
    #[error("a phi of {block} has no value from {from}")]
    Phi {
        /// The label of the block of the phi.
        block: String,
        /// The label of the predecessor.
        from: String,
    },
    /// A call whose operands are not those that packs declare, though structures were taken apart for it.
    #[error("{0} takes other operands")]
    Operands(String),
    /// A call gives a structure of an unknown type in memory.
    #[error("a call gives a structure that packs do not name")]
    StructureGiven,
    /// A call takes a structure of an unknown type in memory.
    #[error("a call takes a structure that packs do not name")]
    StructureTaken,
}
