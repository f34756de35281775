//! Where a node is computed so that all its uses have it, as rarely as that can be (Click, "Global code motion", 1995).

use super::choices::{AltId, Choices};
use crate::ir::BlockId;
use crate::skeleton::SegmentId;
use std::collections::BTreeMap;

/// Segments in which a node is computed so that all uses have it: the nearest common dominator, or several where
/// that is executed more often than the uses together; then up to where it is executed less often.
pub(crate) fn segments(choices: &Choices, alt: AltId, top: SegmentId, mut uses: Vec<SegmentId>) -> Vec<SegmentId> {
    let tree = choices.tree;
    uses.sort();
    uses.dedup();
    let mut placed = vec![];
    let mut work = if uses.is_empty() { vec![] } else { vec![uses] };
    while let Some(group) = work.pop() {
        let Some(mut at) = group.iter().copied().reduce(|a, b| tree.common(a, b)) else { continue };
        let block = tree.block(at);
        let mut blocks: Vec<BlockId> = group.iter().map(|s| tree.block(*s)).collect();
        blocks.dedup();
        if blocks.len() > 1 {
            let below: u64 = blocks.iter().map(|b| choices.given.cfg.frequency(*b)).fold(0, u64::saturating_add);
            if tree.frequency(at) > below {
                let mut parts: BTreeMap<Option<BlockId>, Vec<SegmentId>> = BTreeMap::new();
                for segment in group {
                    parts.entry(tree.branch_below(block, segment)).or_default().push(segment);
                }
                work.extend(parts.into_values());
                continue;
            }
        }
        while !choices.computable(alt, at) {
            match tree.parent(at) {
                Some(up) if at != top => at = up,
                _ => break,
            }
        }
        while let Some(up) = tree.rarer(at) {
            if !tree.dominates(top, up) || !choices.computable(alt, up) {
                break;
            }
            at = up;
        }
        placed.push(at);
    }
    placed.sort();
    placed.dedup();
    placed
}
