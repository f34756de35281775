//! Where each class can be had: the minimal segments below which (and in which) it is available, as the least fixed
//! point over all alternatives.
//!
//! A class is constructible in a segment iff one of its minimal segments dominates it; the sets are antichains and
//! nearly always hold one segment. A node can be *computed* where its operands are constructible, the state that it
//! reads is the planned live one, and its speculation holds; a state does not stay live, so for readers that is not
//! everything below a minimal segment.

use super::check_identity::Speculation;
use super::choices::{AltId, Choices};
use smallvec::SmallVec;
use std::collections::VecDeque;

impl Choices<'_> {
    /// The least fixed point.
    pub(super) fn fix(&mut self) {
        self.minimal = vec![SmallVec::new(); self.alternatives.len()];
        let mut queue: VecDeque<AltId> = (0..self.alternatives.len() as u32).map(AltId).collect();
        let mut queued = vec![true; self.alternatives.len()];
        let root = self.tree.root();
        let mut candidates = vec![];
        while let Some(id) = queue.pop_front() {
            queued[id.index()] = false;
            let alt = &self.alternatives[id.index()];
            candidates.clear();
            match alt.at {
                Some(at) => candidates.push(at),
                None => {
                    if alt.children.iter().any(|c| self.available[c.index()].is_empty()) {
                        continue;
                    }
                    candidates.push(root);
                    for child in &alt.children {
                        candidates.extend(self.available[child.index()].iter().copied());
                    }
                    if let Some(state) = alt.state {
                        candidates.extend(self.tops.get(&state).into_iter().flatten().copied());
                    }
                    if let Speculation::IfChecked(keys) = &alt.speculation {
                        let known = keys.iter().filter_map(|k| self.plan.known.get(k.0 as usize));
                        candidates.extend(known.flatten().map(|k| k.from));
                    }
                }
            }
            candidates.retain(|at| self.computable(id, *at));
            self.tree.minimal(&mut candidates);
            if candidates.as_slice() == self.minimal[id.index()].as_slice() {
                continue;
            }
            self.minimal[id.index()] = SmallVec::from_slice(&candidates);
            let class = self.alternatives[id.index()].class;
            let available = &self.available[class.index()];
            let before = available.len();
            candidates.extend(available.iter().copied());
            self.tree.minimal(&mut candidates);
            if candidates.len() == before && candidates.as_slice() == self.available[class.index()].as_slice() {
                continue;
            }
            self.available[class.index()] = SmallVec::from_slice(&candidates);
            for user in &self.users[class.index()] {
                if !queued[user.index()] {
                    queued[user.index()] = true;
                    queue.push_back(*user);
                }
            }
        }
    }
}
