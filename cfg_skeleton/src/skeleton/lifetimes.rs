//! Where memory may be freed: a call can free or unmap what was accessed before it, so that an access says nothing
//! about an equal one behind the call.

use super::{SegmentId, Skeleton, StatementKind};
use crate::egraph::Head;
use crate::ir::BlockId;
use rewright_typeprop::Universe;
use rustc_hash::FxHashMap;

/// By segment: a number. Where two segments have the same number and one dominates the other, nothing on any way from
/// the last time in the first one to the second one may free memory.
///
/// Statements that may free begin a number, and so do blocks where numbers meet, as in static single assignment form.
pub struct Lifetimes(Vec<u32>);

impl Lifetimes {
    /// Those of a function, whose blocks are given in reverse post-order, each with its immediate dominator.
    pub fn new(skeleton: &Skeleton, universe: &Universe, dominators: &[(BlockId, Option<BlockId>)]) -> Self {
        let frees: Vec<bool> = skeleton.statements.iter().map(|s| may_free(skeleton, universe, &s.kind)).collect();
        let mut numbers = vec![0; skeleton.segment_block.len()];
        if !frees.contains(&true) {
            return Lifetimes(numbers);
        }
        let idom: FxHashMap<BlockId, Option<BlockId>> = dominators.iter().copied().collect();
        let mut begins = vec![false; skeleton.blocks.len()];
        for (block, _) in dominators {
            begins[block.index()] = skeleton.sites(*block).any(|site| frees[site.index()]);
        }
        let mut meets = vec![false; skeleton.blocks.len()];
        let mut changed = true;
        while std::mem::take(&mut changed) {
            for (block, _) in dominators {
                for edge in &skeleton.blocks[block.index()].edges {
                    let (target, mut from) = (edge.target, Some(*block));
                    let top = idom.get(&target).copied().flatten();
                    while let Some(at) = from.filter(|at| Some(*at) != top && !meets[target.index()]) {
                        if begins[at.index()] {
                            (meets[target.index()], begins[target.index()]) = (true, true);
                            changed = true;
                        }
                        from = idom.get(&at).copied().flatten();
                    }
                }
            }
        }
        let statements = skeleton.statements.len() as u32;
        let mut last = vec![0; skeleton.blocks.len()];
        for (block, above) in dominators {
            let mut number = match above {
                _ if meets[block.index()] => 1 + statements + block.0,
                Some(above) => last[above.index()],
                None => 0,
            };
            numbers[skeleton.blocks[block.index()].first_segment as usize] = number;
            for site in skeleton.sites(*block) {
                if frees[site.index()] {
                    number = 1 + site.0;
                }
                numbers[skeleton.segment_after(site).index()] = number;
            }
            last[block.index()] = number;
        }
        Lifetimes(numbers)
    }

    /// What could be accessed in the first segment, which dominates the second one, can be accessed there, too.
    pub fn last(&self, from: SegmentId, to: SegmentId) -> bool {
        self.0.get(from.index()) == self.0.get(to.index())
    }
}

/// Only loads and stores are known not to. A call that a pack declares frees what its object owned, whatever region
/// it writes.
fn may_free(skeleton: &Skeleton, universe: &Universe, kind: &StatementKind) -> bool {
    match kind {
        StatementKind::Opaque { writes, .. } | StatementKind::Call { writes, .. } => *writes,
        StatementKind::Write { out, .. } => {
            let Head::Op(op) = skeleton.input.nodes[out.index()].head else { return true };
            universe.ops.get(op).model.and_then(|model| model.memory()).is_none()
        }
        StatementKind::Check { .. } => false,
    }
}
