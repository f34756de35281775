//! The dominator tree of segments: a block's segments form a chain, and the first one hangs below the last one of
//! the block's immediate dominator.
//!
//! Dominance is O(1), nearest common dominators are O(log depth) by jump pointers (Myers, "An applicative
//! random-access stack", 1983), frequencies are those of the blocks. Segments of unreachable blocks are not in
//! the tree.

use crate::ir::BlockId;
use crate::ir::cfg::Cfg;
use crate::skeleton::{SegmentId, Skeleton};

/// Segments and how they dominate each other.
pub(crate) struct SegmentTree<'a> {
    cfg: &'a Cfg,
    pub(super) skeleton: &'a Skeleton,
    /// Per block: a dominator some way up, for long walks; the block itself at the root.
    jump: Vec<BlockId>,
    depth: Vec<u32>,
    /// Per block: the nearest strict dominator that is executed less often.
    rarer: Vec<Option<BlockId>>,
    frequency: Vec<u64>,
}

impl<'a> SegmentTree<'a> {
    pub(crate) fn new(skeleton: &'a Skeleton, cfg: &'a Cfg) -> Self {
        let n = skeleton.blocks.len();
        let mut jump: Vec<BlockId> = (0..n as u32).map(BlockId).collect();
        let mut depth = vec![0u32; n];
        let mut rarer: Vec<Option<BlockId>> = vec![None; n];
        let mut frequency = vec![0; n];
        for block in cfg.reverse_post_order() {
            frequency[block.index()] = cfg.frequency(*block);
            let Some(up) = cfg.idom(*block) else { continue };
            depth[block.index()] = depth[up.index()] + 1;
            let far = jump[up.index()];
            let (near, farther) = (depth[up.index()] - depth[far.index()], jump[far.index()]);
            let same = near == depth[far.index()] - depth[farther.index()] && far != up;
            jump[block.index()] = if same { farther } else { up };
            let mut at = Some(up);
            while let Some(b) = at
                && frequency[b.index()] >= frequency[block.index()]
            {
                at = rarer[b.index()];
            }
            rarer[block.index()] = at;
        }
        SegmentTree { cfg, skeleton, jump, depth, rarer, frequency }
    }

    pub(crate) fn block(&self, segment: SegmentId) -> BlockId {
        self.skeleton.segment_block[segment.index()]
    }

    /// The first segment of the entry.
    pub(crate) fn root(&self) -> SegmentId {
        SegmentId(self.skeleton.blocks[self.skeleton.layout[0].index()].first_segment)
    }

    pub(crate) fn first(&self, block: BlockId) -> SegmentId {
        SegmentId(self.skeleton.blocks[block.index()].first_segment)
    }

    pub(crate) fn last(&self, block: BlockId) -> SegmentId {
        self.skeleton.last_segment(block)
    }

    /// Assumed executions per call.
    pub(crate) fn frequency(&self, segment: SegmentId) -> u64 {
        self.frequency[self.block(segment).index()]
    }

    /// Smaller for a dominator than for what it dominates.
    pub(crate) fn order(&self, segment: SegmentId) -> u64 {
        u64::from(self.cfg.dominator_preorder(self.block(segment))) << 32 | u64::from(segment.0)
    }

    /// Reflexive.
    pub(crate) fn dominates(&self, a: SegmentId, b: SegmentId) -> bool {
        let (block_a, block_b) = (self.block(a), self.block(b));
        if block_a == block_b { a <= b } else { self.cfg.dominates(block_a, block_b) }
    }

    pub(crate) fn parent(&self, segment: SegmentId) -> Option<SegmentId> {
        let block = self.block(segment);
        if segment != self.first(block) {
            return Some(SegmentId(segment.0 - 1));
        }
        self.cfg.idom(block).map(|up| self.last(up))
    }

    /// The deepest segment that dominates both.
    pub(crate) fn common(&self, a: SegmentId, b: SegmentId) -> SegmentId {
        let (block_a, block_b) = (self.block(a), self.block(b));
        if block_a == block_b {
            return a.min(b);
        }
        let mut at = if self.depth[block_a.index()] >= self.depth[block_b.index()] { block_a } else { block_b };
        let other = if at == block_a { block_b } else { block_a };
        while !self.cfg.dominates(at, other) {
            let far = self.jump[at.index()];
            at = match self.cfg.idom(at) {
                Some(_) if far != at && !self.cfg.dominates(far, other) => far,
                Some(up) => up,
                None => break,
            };
        }
        if at == block_a {
            a
        } else if at == block_b {
            b
        } else {
            self.last(at)
        }
    }

    /// The last segment of the nearest strict dominator block that is executed less often.
    pub(crate) fn rarer(&self, segment: SegmentId) -> Option<SegmentId> {
        self.rarer[self.block(segment).index()].map(|b| self.last(b))
    }

    /// The child of `top` in the tree of blocks below which `segment` lies, by its first segment; `None` where the
    /// segment is in `top`'s own block.
    pub(crate) fn branch_below(&self, top: BlockId, segment: SegmentId) -> Option<BlockId> {
        let block = self.block(segment);
        if block == top {
            return None;
        }
        let children = self.cfg.dominator_children(top);
        children.iter().copied().find(|c| self.cfg.dominates(*c, block))
    }

    /// Sorts by dominance order, and leaves out what another one of them dominates.
    pub(crate) fn minimal(&self, segments: &mut Vec<SegmentId>) {
        segments.sort_by_key(|s| self.order(*s));
        let mut kept: Vec<SegmentId> = Vec::with_capacity(segments.len());
        // In preorder, a dominator that is kept and not the last one kept cannot dominate: subtrees are contiguous.
        for s in segments.drain(..) {
            if kept.last().is_none_or(|k| !self.dominates(*k, s)) {
                kept.push(s);
            }
        }
        *segments = kept;
    }
}
