//! The control-flow graph of a function: orders, dominators, post-dominators, loops, frequencies.
//!
//! A [`Cfg`] is a snapshot: it does not follow changes to the function. Blocks that the entry does not reach are
//! tolerated and have no place in any order, tree or loop. Edges to blocks outside the layout are ignored (the
//! verifier reports them). Nothing recurses, so depth is bounded by memory alone.

use super::dominance::{DominatorTree, Graph};
use super::loops::LoopForest;
pub use super::loops::{Loop, LoopId};
use super::{BlockId, Counts, EdgeId, Function};

/// What a block weighs that is executed once per call: weights count in sixteenths.
pub const FREQUENCY_ONE: u64 = 16;

/// The share of a block that is executed whenever its function is, except for loops ([`Counts::share`]).
pub const SHARE_ONE: u64 = 1 << 30;

/// Frequencies stop growing at this many executions per call, and so do the iterations of one loop.
pub const MAX_EXECUTIONS: u64 = 100_000;

/// A block that is marked as rarely executed is assumed to be executed once where it would else be this often.
const COLD: u64 = 16;

/// How blocks weigh against each other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Weighing {
    /// By executions per call: those that are known ([`super::Counts`]), else assumed ones.
    Executions {
        /// This many times more for each enclosing loop of which the number of iterations is not known.
        per_loop: u64,
    },
    /// By occurrence: a block counts [`OCCURRENCE`], whatever is known of it, and one more for each enclosing loop, so
    /// that of two programs of one size the one with less in loops is cheaper.
    Occurrences,
}

impl Default for Weighing {
    fn default() -> Self {
        Weighing::Executions { per_loop: 10 }
    }
}

/// What a block weighs outside loops, if occurrences are counted, in units of [`FREQUENCY_ONE`].
pub const OCCURRENCE: u64 = 100;

/// Control flow of one function.
#[derive(Clone, Debug)]
pub struct Cfg {
    reverse_post_order: Vec<BlockId>,
    position: Vec<Option<u32>>,
    predecessors: Vec<Vec<EdgeId>>,
    dominators: DominatorTree,
    children: Vec<Vec<BlockId>>,
    /// On blocks and, last, a virtual exit.
    post_dominators: DominatorTree,
    forest: LoopForest,
    /// By block: marked as rarely executed, or executed only together with one that is.
    cold: Vec<bool>,
    counts: Vec<Counts>,
    /// Does anything say how arms share executions?
    arms_share: bool,
    weighing: Weighing,
}

impl Cfg {
    /// Analyses a function. One without blocks has an empty graph.
    pub fn new(function: &Function) -> Self {
        let n = function.blocks.len();
        let mut in_layout = vec![false; n];
        for b in &function.layout {
            if let Some(flag) = in_layout.get_mut(b.index()) {
                *flag = true;
            }
        }
        // One vertex more than blocks, so that a function without blocks has a root.
        let mut graph = Graph::new(n + 1);
        for b in (0..n).filter(|b| in_layout[*b]) {
            let targets = function.blocks[b].term.edges();
            let targets = targets.iter().map(|e| e.target.0).filter(|t| in_layout.get(*t as usize) == Some(&true));
            graph.succs[b] = targets.collect();
        }
        let entry = function.layout.first().map_or(n as u32, |b| b.0.min(n as u32));
        let mut order = graph.reverse_post_order(entry);
        // Unreachable blocks lose their edges, hence nothing below needs to know them.
        let mut reached = vec![false; n + 1];
        for b in &order {
            reached[*b as usize] = true;
        }
        for (succs, _) in graph.succs.iter_mut().zip(reached).filter(|(_, reached)| !reached) {
            succs.clear();
        }
        let preds = graph.reversed();
        let dominators = DominatorTree::new(&preds, entry, &order);
        let post_dominators = post_dominators(&graph, &order, n);
        let forest = LoopForest::new(&graph, &preds, &order, &dominators);
        order.retain(|b| (*b as usize) < n);

        let mut position = vec![None; n];
        let mut predecessors = vec![Vec::new(); n];
        let mut children = vec![Vec::new(); n];
        for (i, b) in order.iter().enumerate() {
            position[*b as usize] = Some(i as u32);
            for (slot, edge) in function.blocks[*b as usize].term.edges().iter().enumerate() {
                if in_layout.get(edge.target.index()) == Some(&true) {
                    let id = EdgeId { from: BlockId(*b), slot: slot as u32 };
                    predecessors[edge.target.index()].push(id);
                }
            }
            if let Some(parent) = dominators.idom(*b) {
                children[parent as usize].push(BlockId(*b));
            }
        }
        let reverse_post_order = order.into_iter().map(BlockId).collect();
        let cold = match function.blocks.iter().any(|b| b.cold) {
            true => cold_blocks(function, &dominators, &post_dominators),
            false => vec![false; n],
        };
        let counts: Vec<Counts> = function.blocks.iter().map(|b| b.counts).collect();
        let arms_share = counts.iter().any(|counts| counts.share.is_some() || counts.executions.is_some());
        let weighing = Weighing::default();
        Cfg {
            reverse_post_order,
            position,
            predecessors,
            dominators,
            children,
            post_dominators,
            forest,
            cold,
            counts,
            arms_share,
            weighing,
        }
    }

    /// The same with other weights of blocks.
    #[must_use]
    pub fn weighed(self, weighing: Weighing) -> Self {
        Cfg { weighing, ..self }
    }

    /// Unit of the weights of blocks.
    pub fn weighing(&self) -> Weighing {
        self.weighing
    }

    /// Reachable blocks; every block comes after its dominators, and after its predecessors except for back edges.
    pub fn reverse_post_order(&self) -> &[BlockId] {
        &self.reverse_post_order
    }

    /// Position in [`Cfg::reverse_post_order`]; `None` for an unreachable block.
    pub fn position(&self, block: BlockId) -> Option<u32> {
        self.position[block.index()]
    }

    /// Does the entry reach it?
    pub fn is_reachable(&self, block: BlockId) -> bool {
        self.position.get(block.index()).is_some_and(Option::is_some)
    }

    /// Edges from reachable blocks into `block`, ordered by source (in reverse post-order) and slot. Two edges
    /// from one block are two.
    pub fn predecessors(&self, block: BlockId) -> &[EdgeId] {
        &self.predecessors[block.index()]
    }

    /// The immediate dominator; `None` for the entry and for unreachable blocks.
    pub fn idom(&self, block: BlockId) -> Option<BlockId> {
        self.dominators.idom(block.0).map(BlockId)
    }

    /// Children in the dominator tree, in reverse post-order.
    pub fn dominator_children(&self, block: BlockId) -> &[BlockId] {
        &self.children[block.index()]
    }

    /// Does every path from the entry to `b` go through `a`? Reflexive on reachable blocks, and false when one of
    /// them is unreachable. O(1).
    pub fn dominates(&self, a: BlockId, b: BlockId) -> bool {
        self.dominators.dominates(a.0, b.0)
    }

    /// A number that is smaller for a dominator than for what it dominates; subtrees are contiguous.
    pub fn dominator_preorder(&self, block: BlockId) -> u32 {
        self.dominators.preorder(block.0)
    }

    /// Does every path from `b` to an exit go through `a`? Reflexive on reachable blocks. O(1).
    ///
    /// A block from which no exit can be reached counts as an exit itself: nothing outside an endless loop
    /// post-dominates a block that may enter the loop, so "`a` post-dominates `b`" does mean that an execution
    /// that goes on from `b` and does not stay for ever in a loop *that has an exit* passes `a`.
    pub fn post_dominates(&self, a: BlockId, b: BlockId) -> bool {
        self.post_dominators.dominates(a.0, b.0)
    }

    /// All natural loops; a parent comes before its children.
    pub fn loops(&self) -> impl DoubleEndedIterator<Item = (LoopId, &Loop)> {
        self.forest.loops.iter().enumerate().map(|(i, l)| (LoopId(i as u32), l))
    }

    /// How many loops there are.
    pub fn loop_count(&self) -> usize {
        self.forest.loops.len()
    }

    /// A loop.
    pub fn natural_loop(&self, id: LoopId) -> &Loop {
        &self.forest.loops[id.index()]
    }

    /// The innermost natural loop around a block.
    pub fn loop_of(&self, block: BlockId) -> Option<LoopId> {
        self.forest.innermost[block.index()]
    }

    /// The loop that has this block as its header.
    pub fn loop_with_header(&self, block: BlockId) -> Option<LoopId> {
        self.loop_of(block).filter(|l| self.natural_loop(*l).header == block)
    }

    /// The loop and all loops around it, from the inside out.
    pub fn loops_around(&self, block: BlockId) -> impl Iterator<Item = LoopId> {
        std::iter::successors(self.loop_of(block), |l| self.natural_loop(*l).parent)
    }

    /// The blocks of a loop, those of inner loops among them.
    pub fn loop_blocks(&self, id: LoopId) -> &[BlockId] {
        self.forest.blocks(id)
    }

    /// Is the block in the loop (or in a loop inside it)? O(1).
    pub fn loop_contains(&self, id: LoopId, block: BlockId) -> bool {
        self.loop_of(block).is_some_and(|inner| self.forest.encloses(id, inner))
    }

    /// Edges from inside a loop to outside it. Linear in the loop's size.
    pub fn loop_exits(&self, function: &Function, id: LoopId) -> Vec<EdgeId> {
        let mut exits = Vec::new();
        for b in self.loop_blocks(id) {
            for (slot, edge) in function.block(*b).term.edges().iter().enumerate() {
                if self.is_reachable(edge.target) && !self.loop_contains(id, edge.target) {
                    exits.push(EdgeId { from: *b, slot: slot as u32 });
                }
            }
        }
        exits
    }

    /// Is the edge one from a latch to the header of a natural loop?
    pub fn is_back_edge(&self, from: BlockId, target: BlockId) -> bool {
        self.dominates(target, from)
    }

    /// Is the block part of a cycle with several entries, or inside a loop that is?
    pub fn is_irreducible(&self, block: BlockId) -> bool {
        self.forest.irreducible[block.index()]
    }

    /// How many loops are around a block; an irreducible region counts as one.
    pub fn depth(&self, block: BlockId) -> u32 {
        self.forest.cycles[block.index()]
    }

    /// The weight of a block: executions per call in units of [`FREQUENCY_ONE`], unless [`Cfg::weighed`] says otherwise;
    /// zero when unreachable, else at least 1.
    ///
    /// Where they have been counted, they are what was counted. Else each enclosing loop multiplies them by its
    /// iterations, a block that has a share of what the branches above it are executed has that part, and a block that is
    /// marked as rarely executed, or all of whose executions lead to or come from one that is, has a sixteenth.
    pub fn frequency(&self, block: BlockId) -> u64 {
        if !self.is_reachable(block) {
            return 0;
        }
        match self.weighing {
            Weighing::Executions { per_loop } => match self.counts[block.index()].executions {
                Some(counted) => counted.clamp(1, MAX_EXECUTIONS * FREQUENCY_ONE),
                None => {
                    let assumed = self.assumed_executions(block, per_loop) * FREQUENCY_ONE;
                    let shared = match self.counts[block.index()].share {
                        // Rounded up, so that all arms together are never rarer than their branch.
                        Some(share) => (assumed * u64::from(share)).div_ceil(SHARE_ONE),
                        None => assumed,
                    };
                    (shared / if self.is_cold(block) { COLD } else { 1 }).max(1)
                }
            },
            Weighing::Occurrences => (OCCURRENCE + u64::from(self.depth(block))).min(MAX_EXECUTIONS) * FREQUENCY_ONE,
        }
    }

    fn assumed_executions(&self, block: BlockId, per_loop: u64) -> u64 {
        let mut loops = 0;
        let mut product = 1u64;
        for l in self.loops_around(block) {
            let trips = self.counts[self.natural_loop(l).header.index()].trips;
            product = product.saturating_mul(trips.unwrap_or(per_loop)).min(MAX_EXECUTIONS);
            loops += 1;
        }
        let irreducible = self.depth(block).saturating_sub(loops);
        product.saturating_mul(per_loop.saturating_pow(irreducible)).min(MAX_EXECUTIONS)
    }

    /// What an edge weighs: as the block that it leaves, unless the one that it enters is known to be rarer.
    pub fn edge_frequency(&self, from: BlockId, to: BlockId) -> u64 {
        let frequency = self.frequency(from);
        let counts = self.counts[to.index()];
        let known = self.is_cold(to) || counts.executions.is_some() || counts.share.is_some();
        if known { frequency.min(self.frequency(to)) } else { frequency }
    }

    /// Do arms of branches cost together what their branch does, as shares or a profile say?
    pub fn arms_share(&self) -> bool {
        self.arms_share
    }

    /// Is it marked as rarely executed, or executed only together with one that is?
    pub(crate) fn is_cold(&self, block: BlockId) -> bool {
        self.cold[block.index()]
    }
}

/// Blocks that a marked one dominates or post-dominates. So two blocks in a straight line are as rare as each other,
/// whichever is marked, and joining them changes no other block.
fn cold_blocks(function: &Function, dominators: &DominatorTree, post_dominators: &DominatorTree) -> Vec<bool> {
    let below = |tree: &DominatorTree| {
        let mut known: Vec<Option<bool>> = function.blocks.iter().map(|b| b.cold.then_some(true)).collect();
        for b in 0..known.len() as u32 {
            let mut path = vec![];
            let mut at = Some(b);
            // The virtual exit ends the walk, too.
            while let Some(v) = at
                && known.get(v as usize) == Some(&None)
            {
                path.push(v);
                at = tree.idom(v);
            }
            let cold = at.and_then(|v| *known.get(v as usize)?).unwrap_or(false);
            path.into_iter().for_each(|v| known[v as usize] = Some(cold));
        }
        known
    };
    let both = below(dominators).into_iter().zip(below(post_dominators));
    both.map(|(a, b)| a == Some(true) || b == Some(true)).collect()
}

fn post_dominators(graph: &Graph, order: &[u32], n: usize) -> DominatorTree {
    let exit = n as u32;
    let mut succs = Graph::new(n + 1);
    for b in order.iter().filter(|b| **b != exit) {
        succs.succs[*b as usize] = graph.succs[*b as usize].clone();
        if succs.succs[*b as usize].is_empty() {
            succs.succs[*b as usize].push(exit);
        }
    }
    let mut reaches = vec![false; n + 1];
    for b in succs.reversed().reverse_post_order(exit) {
        reaches[b as usize] = true;
    }
    for b in order.iter().filter(|b| !reaches[**b as usize]) {
        succs.succs[*b as usize].push(exit);
    }
    let preds = succs.reversed();
    let order = preds.reverse_post_order(exit);
    DominatorTree::new(&succs, exit, &order)
}

#[cfg(test)]
mod tests;
