//! What a version may execute from its entry or from a cut up to the next cuts.

use super::cuts::Cuts;
use crate::not_modelled::NotModelled;
use rewright_cfg_skeleton::ir::{BlockId, EdgeId, Value};
use rustc_hash::{FxHashMap, FxHashSet};

/// Blocks of which each is executed once at most.
pub(super) struct Region {
    /// All that leads to a block comes before it.
    pub(super) order: Vec<BlockId>,
    /// Values that are there at the start, and that a block of the region computes anew.
    pub(super) older: Vec<Value>,
}

impl Region {
    /// From a cut, or from the entry.
    ///
    /// # Errors
    /// There is a loop that no cut is in.
    pub(super) fn new(cuts: &Cuts<'_>, from: Option<usize>) -> Result<Region, NotModelled> {
        let function = cuts.version.function;
        let first = from.map_or(function.entry(), |cut| cuts.all[cut].first);
        let mut order = vec![];
        let mut is_done: FxHashMap<BlockId, bool> = FxHashMap::default();
        let mut stack = vec![(first, 0)];
        is_done.insert(first, false);
        while let Some((block, slot)) = stack.pop() {
            let edges = function.block(block).term.edges();
            let Some(edge) = edges.get(slot) else {
                is_done.insert(block, true);
                order.push(block);
                continue;
            };
            stack.push((block, slot + 1));
            if cuts.by_edge.contains_key(&EdgeId { from: block, slot: slot as u32 }) {
                continue;
            }
            match is_done.get(&edge.target) {
                None => {
                    is_done.insert(edge.target, false);
                    stack.push((edge.target, 0));
                }
                Some(false) => return Err("it has a loop that can be entered at several places".into()),
                Some(true) => {}
            }
        }
        order.reverse();
        let inside: FxHashSet<BlockId> = order.iter().copied().collect();
        let before = from.map_or(&[][..], |cut| &cuts.all[cut].before);
        let again = before.iter().filter(|block| inside.contains(block));
        let older = again.flat_map(|block| cuts.values_of(*block)).collect();
        Ok(Region { order, older })
    }
}
