//! What stands in segments, and the nearest of it at or above a segment.

use super::segments::SegmentTree;
use crate::skeleton::SegmentId;
use smallvec::SmallVec;

/// Things of one kind, at most one in each segment.
#[derive(Clone, Debug)]
pub(crate) struct Standing<T> {
    /// In dominance preorder.
    list: SmallVec<[(SegmentId, T); 1]>,
}

impl<T> Default for Standing<T> {
    fn default() -> Self {
        Standing { list: SmallVec::new() }
    }
}

impl<T: Copy> Standing<T> {
    fn find(&self, tree: &SegmentTree, at: SegmentId) -> Result<usize, usize> {
        self.list.binary_search_by_key(&tree.order(at), |(segment, _)| tree.order(*segment))
    }

    /// Puts something into a segment; gives back what stood there.
    pub(crate) fn insert(&mut self, tree: &SegmentTree, at: SegmentId, thing: T) -> Option<T> {
        match self.find(tree, at) {
            Ok(n) => Some(std::mem::replace(&mut self.list[n].1, thing)),
            Err(n) => {
                self.list.insert(n, (at, thing));
                None
            }
        }
    }

    /// Takes what stands in a segment away.
    pub(crate) fn remove(&mut self, tree: &SegmentTree, at: SegmentId) {
        if let Ok(n) = self.find(tree, at) {
            self.list.remove(n);
        }
    }

    /// What stands in exactly that segment.
    pub(crate) fn at(&self, tree: &SegmentTree, at: SegmentId) -> Option<T> {
        self.find(tree, at).ok().map(|n| self.list[n].1)
    }

    /// What stands in the nearest segment that dominates a segment, or in the segment itself.
    pub(crate) fn nearest(&self, tree: &SegmentTree, at: SegmentId) -> Option<(SegmentId, T)> {
        let mut end = self.find(tree, at).map_or_else(|n| n, |n| n + 1);
        // A segment that precedes another one in preorder and dominates it dominates all that is between the two, too.
        while let Some((found, thing)) = end.checked_sub(1).and_then(|last| self.list.get(last)) {
            if tree.dominates(*found, at) {
                return Some((*found, *thing));
            }
            let common = tree.common(*found, at);
            end = self.list[..end].partition_point(|(segment, _)| tree.order(*segment) <= tree.order(common));
        }
        None
    }
}
