//! What selection gives: a [`Selection`] maps (class, segment) to a definition.

use crate::egraph::{ClassId, NodeId};
use crate::ir::BlockId;
use crate::skeleton::{SegmentId, SiteId};
use rewright_extract::Status;
use std::collections::BTreeMap;

/// Where a value comes from.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Def {
    /// A node, computed in that segment.
    Node(NodeId),
    /// The result of a statement, available from the segment after it.
    Result {
        /// The statement.
        site: SiteId,
        /// Which of its results.
        index: u32,
    },
    /// A block parameter, available from its block's first segment.
    Param {
        /// The block.
        block: BlockId,
        /// Which parameter.
        index: u32,
    },
    /// A node that is a recurrence, as a new parameter of its loop's header, available from the header's first segment.
    Recurrence(NodeId),
}

/// What becomes of a statement.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum StatementChoice {
    /// Executed. A check with a value executes the value's operation iff `fused`, else the bare check.
    Keep {
        /// Checks only.
        fused: bool,
    },
    /// Not executed in its place. One that only allocates may be executed elsewhere: wherever a node is defined that takes
    /// the state that stands for its site.
    Drop,
}

/// One program.
///
/// A use of class `c` in segment `g` takes the definition at the nearest segment that dominates `g` (or is `g`)
/// and defines `c`. Children of a node are used in the node's segment; arguments of an edge, and the operands of a
/// recurrence, in the last segment of the block that the edge leaves; within one segment definitions must be acyclic.
#[derive(Clone, Debug)]
pub struct Selection {
    /// Definitions. Classes after those of the view are what is executed at the sites of `Call` and `Write` statements,
    /// by `SiteId`: such a class is defined in the segment before its statement.
    pub defs: BTreeMap<(SegmentId, ClassId), Def>,
    /// By `SiteId`.
    pub statements: Vec<StatementChoice>,
    /// Sum over what is executed of frequency times cost, in the cost model's units.
    pub cost: u64,
    /// The part of the cost that is for computing again what would else have to be kept in memory, which costs more.
    pub rematerialised: u64,
    /// The part of the cost that is for leaving values where the original computes them, for later passes to move.
    pub placement_cost: u64,
    /// How good.
    pub status: Status,
}
