//! The skeleton: what of a function is not in the e-graph, namely the order of its statements and its control.
//!
//! A block is a list of [`Statement`]s, cut into *segments*: segment `i` of a block is before its statement `i`,
//! the last one is before its terminator. A statement is a *site*. Values between statements have no position;
//! selection gives each one a segment.
//!
//! **Traps are checks.** A trapping operation is a total pure value plus a [`StatementKind::Check`] at its place.
//! **State** is threaded by tokens: [`Skeleton::live`] says which state is live in each segment for each region;
//! a node that reads a state can be computed only where that state is live.

mod arms;
mod arriving;
mod branch_facts;
pub mod build;
pub mod changes;
mod copies;
mod delay;
pub mod dot;
mod hoist;
mod lifetimes;
mod loop_states;
mod loops;
mod merges;
pub mod narrow;
mod nodes;
#[cfg(test)]
mod programs;
mod promote;
mod roles;
mod scoped_facts;
mod shortcut;
mod threads;
pub mod variance;
mod views;

pub use arms::{merges, past_arms};
pub use arriving::Arriving;
pub(crate) use branch_facts::truths;
pub use branch_facts::{Conjunction, Test};
pub use build::{build, build_with_truth};
pub use changes::{Change, apply, changes};
pub use delay::{Delay, apply_delays, delays};
pub use hoist::{Hoist, apply_hoists, hoists};
pub use loop_states::LeftState;
pub use promote::{Promotion, apply_promotion, promotion};
pub use scoped_facts::KnownAtEnds;
pub use shortcut::{Obstacle, Shortcut, shortcut, simple_loops};
pub use threads::{Threads, apply_threads, threads};

use crate::egraph::{EGraphInput, InputId, Stays};
use crate::ir::{BlockId, EdgeArg, InstId, RegionId, Value, id};
use smallvec::SmallVec;

id! {
    /// A statement, numbered through the function in layout order.
    SiteId,
    /// A piece of a block between two statements, numbered through the function in layout order.
    SegmentId,
}

/// A function as skeleton and e-graph input.
#[derive(Clone, Debug)]
pub struct Skeleton {
    /// What goes into the e-graph.
    pub input: EGraphInput,
    /// By `BlockId`; blocks outside the layout are empty.
    pub blocks: Vec<SkeletonBlock>,
    /// In layout order; the first is the entry.
    pub layout: Vec<BlockId>,
    /// By `SiteId`.
    pub statements: Vec<Statement>,
    /// By `SegmentId`: the block that it is a piece of.
    pub segment_block: Vec<BlockId>,
    /// `live[row][segment]`: the state that is live there in the original program. Row `r` is region `r`'s memory;
    /// row `regions + r` is what region `r`'s readonly accesses see, the same token everywhere. Empty where the
    /// function has no modelled access.
    pub live: Vec<Vec<InputId>>,
    /// By segment: a number. Where two segments have one number and the first dominates the second, no statement that may
    /// free memory is executed from the last time in the first to the second. All 0 where the function has no modelled
    /// access.
    pub lifetimes: Vec<u32>,
    /// For each IR value that the e-graph holds, its node.
    pub value_input: Vec<Option<InputId>>,
    /// Nodes of trapping operations that may be computed wherever their operands and their state are (a load that
    /// its front end calls movable). They, and nodes with the same operation and operands, need no licence.
    pub movable: Vec<InputId>,
    /// Loops that rules may speak of; those of [`EGraphInput::loops`].
    pub loops: Vec<SimpleLoop>,
    /// The states of memory behind these loops, where a pack declares operations for them.
    pub left: Vec<LeftState>,
    /// Comparisons that are tested behind branches on related ones, by [`Test`].
    pub conjunctions: Vec<Conjunction>,
    /// Loads of locations at merge points.
    pub arriving: Vec<Arriving>,
}

/// A natural loop that one edge enters and one edge closes, neither of an opaque terminator: its header can have further
/// parameters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SimpleLoop {
    /// The constant that stands for it: the number of the loop, in reverse post-order of headers.
    pub constant: InputId,
    /// The block that dominates all others.
    pub header: BlockId,
    /// The block with the edge that enters.
    pub before: BlockId,
    /// The block with the edge that closes.
    pub latch: BlockId,
    /// What decides whether it goes on, where rules may ask that.
    pub stays: Option<Stays>,
}

/// A block of the skeleton.
#[derive(Clone, Debug, Default)]
pub struct SkeletonBlock {
    /// Value parameters: leaf nodes.
    pub params: Vec<InputId>,
    /// State parameters: one per region that needs one here, with its token node. Their arguments are the
    /// predecessors' [`SkeletonBlock::end`].
    pub tokens: Vec<(RegionId, InputId)>,
    /// By row of [`Skeleton::live`]: the state that its edges carry. That of its last segment, except after an
    /// opaque terminator.
    pub end: SmallVec<[InputId; 2]>,
    /// First of its segments; it has `sites.len() + 1`.
    pub first_segment: u32,
    /// Statements in order: `first_site .. first_site + sites`.
    pub first_site: u32,
    /// How many statements.
    pub sites: u32,
    /// Operands of the terminator: roots in the last segment. That of a branch is its condition's truth where there
    /// is such an operation.
    pub operands: SmallVec<[InputId; 2]>,
    /// The terminator observes every region (return, trap, opaque).
    pub observes: bool,
    /// By slot: what the edge carries. Needed only where the target's parameter is.
    pub edges: Vec<SkeletonEdge>,
}

/// An edge of the skeleton.
#[derive(Clone, Debug)]
pub struct SkeletonEdge {
    /// Where it goes.
    pub target: BlockId,
    /// By parameter: the node, or the terminator's own result.
    pub args: SmallVec<[SkeletonArg; 2]>,
}

/// What an edge carries to one parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SkeletonArg {
    /// A class, taken at the end of the block that the edge leaves.
    Node(InputId),
    /// The terminator's own result.
    Terminator(u32),
}

impl SkeletonArg {
    /// The IR's form of an argument that the terminator makes.
    pub fn terminator(arg: EdgeArg) -> Option<Self> {
        match arg {
            EdgeArg::Value(_) => None,
            EdgeArg::Terminator(n) => Some(SkeletonArg::Terminator(n)),
        }
    }
}

impl Skeleton {
    /// The segments of a block, first to last.
    pub fn segments(&self, block: BlockId) -> impl DoubleEndedIterator<Item = SegmentId> + use<> {
        let b = &self.blocks[block.index()];
        (b.first_segment..b.first_segment + b.sites + 1).map(SegmentId)
    }

    /// The statements of a block, first to last.
    pub fn sites(&self, block: BlockId) -> impl DoubleEndedIterator<Item = SiteId> + use<> {
        let b = &self.blocks[block.index()];
        (b.first_site..b.first_site + b.sites).map(SiteId)
    }

    /// The segment that ends at a statement. The next number is the segment after it.
    pub fn segment_before(&self, site: SiteId) -> SegmentId {
        let b = &self.blocks[self.statement(site).block.index()];
        SegmentId(b.first_segment + (site.0 - b.first_site))
    }

    /// The statement at the end of a segment that is not its block's last one.
    pub fn site_after(&self, segment: SegmentId) -> SiteId {
        let b = &self.blocks[self.segment_block[segment.index()].index()];
        SiteId(b.first_site + (segment.0 - b.first_segment))
    }

    /// The segment that begins after a statement.
    pub fn segment_after(&self, site: SiteId) -> SegmentId {
        SegmentId(self.segment_before(site).0 + 1)
    }

    /// The last segment of a block, where its terminator and its edges take their operands.
    pub fn last_segment(&self, block: BlockId) -> SegmentId {
        let b = &self.blocks[block.index()];
        SegmentId(b.first_segment + b.sites)
    }

    /// Does what could be accessed in one segment stay accessible up to another one, which it dominates?
    pub fn stays_accessible(&self, from: SegmentId, to: SegmentId) -> bool {
        self.lifetimes[from.index()] == self.lifetimes[to.index()]
    }

    /// A statement.
    pub fn statement(&self, site: SiteId) -> &Statement {
        &self.statements[site.index()]
    }
}

/// A statement.
#[derive(Clone, Debug)]
pub struct Statement {
    /// The block it stands in.
    pub block: BlockId,
    /// The instruction it came from.
    pub inst: InstId,
    /// What it does.
    pub kind: StatementKind,
    /// Its results, available after it.
    pub results: SmallVec<[(Value, InputId); 1]>,
}

/// What a statement does.
#[derive(Clone, Debug)]
pub enum StatementKind {
    /// Kept as it is; its operands are roots.
    Opaque {
        /// Operands.
        operands: SmallVec<[InputId; 3]>,
        /// Observes every region.
        observes: bool,
        /// Gives every region a new state.
        writes: bool,
    },
    /// A declared operation that writes one region: node `out` is the state after it. It may be dropped where
    /// the states say so.
    Write {
        /// The node of the state after it.
        out: InputId,
        /// The region.
        region: RegionId,
        /// May trap, with this code.
        trap: Option<u32>,
        /// Address operands that identify the access (operands before the stored value), for equal checks.
        key: SmallVec<[InputId; 3]>,
    },
    /// A declared operation that stands at a site (see `Op::is_sited`): node `node` over its operands and
    /// `site`, a state that is live nowhere but in the segment before it. Other nodes of the same class over `site`
    /// may be executed in its place. It goes only where a rule licenses that, or where its result and the state after
    /// it are unused. One that observes and writes nothing only allocates: it may be executed further down instead.
    Call {
        /// The operation, with its result as class.
        node: InputId,
        /// The state that stands for the site.
        site: InputId,
        /// Observes every region.
        observes: bool,
        /// Gives every region a new state; only `after.region` if that is there.
        writes: bool,
        /// The state after it, where it has a name.
        after: Option<StateAfter>,
    },
    /// A check in its place. Kept, it observes every region. It goes only if it cannot trap or an equal check
    /// that is kept dominates it, or follows with no site between.
    ///
    /// An instruction with several trap conditions is several checks one after the other, with the same `inst`,
    /// `value` and `results`. One that is kept fused performs them all.
    Check {
        /// What is checked.
        key: CheckKey,
        /// The total value that goes with it (the tuple, if there are several). Executing that operation performs
        /// the check, and its results are available after this statement.
        value: Option<InputId>,
        /// May it trap at all? A load that cannot trap (`notrap`) has a check that only licenses its position.
        observes: bool,
        /// The state that the value is read in, where that is one of its own.
        own: Option<OwnState>,
    },
}

/// A state that stands for what a load reads at its site, where it does not see all stores: live in the segment before the
/// statement, if memory is there what it is in the original, or what the load sees of it.
#[derive(Clone, Copy, Debug)]
pub struct OwnState {
    /// The state.
    pub state: InputId,
    /// The region that is read.
    pub region: RegionId,
    /// The state that the load sees; another node of its class reads that.
    pub seen: InputId,
}

/// The state after a call that writes one region and gives a value (see `Op::parts`): a function of the call's operands
/// and of the state before it, as the value is. So it may be executed in another state, or not at all, as a write may.
#[derive(Clone, Copy, Debug)]
pub struct StateAfter {
    /// The region.
    pub region: RegionId,
    /// The node.
    pub out: InputId,
}

/// When two checks are the same check.
#[derive(Clone, Debug)]
pub enum CheckKey {
    /// Traps with `code` iff `condition` is not zero.
    Condition {
        /// An integer.
        condition: InputId,
        /// What is tested if the check is executed by itself: the condition's truth where there is such an
        /// operation, else the condition.
        tested: InputId,
        /// The front end's number for the trap code.
        code: u32,
    },
    /// Executing the value's own operation on these operands tells. Equal where the operation, its type
    /// arguments, its operands without the state, and `code` are equal.
    Operation {
        /// The front end's number for the trap code, if it may trap.
        code: Option<u32>,
    },
}
