//! Where a node is computed so that all its uses have it, as rarely as that can be (Click, "Global code motion", 1995).
//! A statement that moves stays at the top where moving gains nothing, and goes to one place only where several could
//! execute it twice.

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
    let all = uses.iter().copied().reduce(|a, b| tree.common(a, b));
    let mut placed = vec![];
    let mut work = if uses.is_empty() { vec![] } else { vec![uses] };
    while let Some(group) = work.pop() {
        let Some(at) = group.iter().copied().reduce(|a, b| tree.common(a, b)) else { continue };
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
        placed.push(place(choices, alt, top, at));
    }
    placed.sort();
    placed.dedup();
    match (choices.moved(alt), all) {
        (Some(site), Some(all)) if choices.moves.meet(tree, site, &placed) => vec![place(choices, alt, top, all)],
        _ => placed,
    }
}

/// The rarest segment between two, the lower one of which needs the node, in which it can be computed.
fn place(choices: &Choices, alt: AltId, top: SegmentId, mut at: SegmentId) -> SegmentId {
    let tree = choices.tree;
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
    let stays = choices.moved(alt).is_some() && tree.frequency(at) == tree.frequency(top);
    if stays { top } else { at }
}
