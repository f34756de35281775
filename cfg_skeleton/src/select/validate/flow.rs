//! Control flow from the skeleton's edges alone: reachability and dominance (Cooper, Harvey, Kennedy, "A simple, fast
//! dominance algorithm", 2001).

use crate::ir::BlockId;
use crate::skeleton::{SegmentId, SiteId, Skeleton};

/// Blocks that the entry reaches, and how they dominate each other.
pub(super) struct Flow {
    /// Reverse post-order.
    order: Vec<BlockId>,
    predecessors: Vec<Vec<BlockId>>,
    /// By block: entry and exit time in a walk of the dominator tree; `None` where unreachable.
    times: Vec<Option<(u32, u32)>>,
    segment_block: Vec<BlockId>,
}

impl Flow {
    pub(super) fn new(skeleton: &Skeleton) -> Self {
        let n = skeleton.blocks.len();
        let entry = skeleton.layout[0];
        let (mut order, mut seen) = (vec![], vec![false; n]);
        let mut stack = vec![(entry, 0)];
        seen[entry.index()] = true;
        while let Some((block, edge)) = stack.pop() {
            match skeleton.blocks[block.index()].edges.get(edge) {
                None => order.push(block),
                Some(e) => {
                    stack.push((block, edge + 1));
                    if !std::mem::replace(&mut seen[e.target.index()], true) {
                        stack.push((e.target, 0));
                    }
                }
            }
        }
        order.reverse();
        let mut position = vec![usize::MAX; n];
        let mut predecessors = vec![vec![]; n];
        for (i, block) in order.iter().enumerate() {
            position[block.index()] = i;
            for edge in &skeleton.blocks[block.index()].edges {
                // One block's edges come together.
                if predecessors[edge.target.index()].last() != Some(block) {
                    predecessors[edge.target.index()].push(*block);
                }
            }
        }
        let mut idom: Vec<Option<usize>> = vec![None; order.len()];
        idom[0] = Some(0);
        let mut changed = true;
        while changed {
            changed = false;
            for i in 1..order.len() {
                let mut new: Option<usize> = None;
                for pred in &predecessors[order[i].index()] {
                    let mut a = position[pred.index()];
                    if idom[a].is_none() {
                        continue;
                    }
                    if let Some(mut b) = new {
                        while a != b {
                            while a > b {
                                a = idom[a].unwrap_or(0);
                            }
                            while b > a {
                                b = idom[b].unwrap_or(0);
                            }
                        }
                    }
                    new = Some(a);
                }
                if new != idom[i] {
                    idom[i] = new;
                    changed = true;
                }
            }
        }
        let mut children = vec![vec![]; order.len()];
        for i in 1..order.len() {
            children[idom[i].unwrap_or(0)].push(i);
        }
        let mut times = vec![None; n];
        let (mut clock, mut stack) = (0, vec![(0usize, 0usize)]);
        let mut entered = vec![0u32; order.len()];
        while let Some((at, child)) = stack.pop() {
            if child == 0 {
                entered[at] = clock;
                clock += 1;
            }
            match children[at].get(child) {
                Some(next) => {
                    stack.push((at, child + 1));
                    stack.push((*next, 0));
                }
                None => {
                    times[order[at].index()] = Some((entered[at], clock));
                    clock += 1;
                }
            }
        }
        Flow { order, predecessors, times, segment_block: skeleton.segment_block.clone() }
    }

    pub(super) fn reachable(&self) -> Vec<BlockId> {
        self.order.clone()
    }

    pub(super) fn sites(&self, skeleton: &Skeleton) -> Vec<SiteId> {
        self.order.iter().flat_map(|b| skeleton.sites(*b)).collect()
    }

    pub(super) fn predecessors(&self, block: BlockId) -> Vec<BlockId> {
        self.predecessors.get(block.index()).cloned().unwrap_or_default()
    }

    pub(super) fn is_reachable(&self, segment: SegmentId) -> bool {
        self.segment_block.get(segment.index()).is_some_and(|b| self.times[b.index()].is_some())
    }

    /// Reflexive; false where one is unreachable.
    pub(super) fn dominates(&self, a: SegmentId, b: SegmentId) -> bool {
        let (Some(block_a), Some(block_b)) = (self.segment_block.get(a.index()), self.segment_block.get(b.index()))
        else {
            return false;
        };
        let (Some(ta), Some(tb)) = (self.times[block_a.index()], self.times[block_b.index()]) else { return false };
        if block_a == block_b { a <= b } else { ta.0 <= tb.0 && tb.1 <= ta.1 }
    }
}
