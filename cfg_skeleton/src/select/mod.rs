//! Choosing one program from a saturated e-graph: a [`Selection`] maps (class, segment) to a definition.
//!
//! Greedy and ILP both make one, hoisting is `Selection -> Selection`, the validator checks one and shares no
//! code with the rest, and elaboration only prints it.

use crate::egraph::{ClassId, NodeId};
use crate::ir::BlockId;
use crate::skeleton::{SegmentId, SiteId};
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
}

/// What becomes of a statement.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum StatementChoice {
    /// Executed. A check with a value executes the value's operation iff `fused`, else the bare check.
    Keep {
        /// Checks only.
        fused: bool,
    },
    /// Gone.
    Drop,
}

/// How good a selection is known to be.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Status {
    /// No cheaper one exists under the cost model.
    Optimal,
    /// At most this much (relative) above the best bound.
    Gap(f64),
    /// No bound was computed.
    Greedy,
}

/// One program.
///
/// A use of class `c` in segment `g` takes the definition at the nearest segment that dominates `g` (or is `g`)
/// and defines `c`. Children of a node are used in the node's segment; arguments of an edge in the last segment
/// of the block that it leaves; within one segment definitions must be acyclic.
#[derive(Clone, Debug)]
pub struct Selection {
    /// Definitions.
    pub defs: BTreeMap<(SegmentId, ClassId), Def>,
    /// By `SiteId`.
    pub statements: Vec<StatementChoice>,
    /// Sum over what is executed of frequency times cost, in the cost model's units.
    pub cost: u64,
    /// How good.
    pub status: Status,
}
