//! What a load sees of memory: the state before it, without the stores that it does not see ([`Aliases`]).
//!
//! Such a state need not be the one of memory at any place, but a load in it is a function of its operands and that state as
//! any other is. So rules forward what was stored before, across what is not seen. The load itself, as an instruction,
//! reads a state of its own that is live at its site only: what it reads there is what it would read in the state that it
//! sees. Elsewhere it does not hold: two loads that see different stores are never one, and behind a store that the load does
//! not see, memory may differ.
//!
//! From the state before the load the way leads back over stores. Where paths meet, it goes on at the end of the immediate
//! dominator if nothing between the two changes what the load sees; else what is there is all of memory.

use super::roles::{Role, Roles};
use crate::egraph::{Head, InputId};
use crate::ir::alias::{Aliases, Unseen};
use crate::ir::{BlockId, Cfg, Function, InstId, Terminator};
use crate::skeleton::SkeletonBlock;
use crate::skeleton::nodes::Nodes;
use rustc_hash::{FxHashMap, FxHashSet};

/// Stores, and places where paths meet, that are looked at for one load.
const MAX_STEPS: usize = 64;

/// Blocks between a block in which paths meet and its immediate dominator.
const MAX_BLOCKS: usize = 64;

/// Stores that are looked at for one load where paths meet, all together.
const MAX_STORES: usize = 256;

/// What writes a region between a block's immediate dominator and the block.
#[derive(Clone, Default)]
struct Between {
    stores: Vec<InstId>,
    /// Is each block executed once at most from the one to the other?
    is_acyclic: bool,
}

/// The states that loads see.
#[derive(Default)]
pub(super) struct Views {
    /// Is there a load that does not see all?
    is_wanted: bool,
    /// By state: the stores that leave it behind.
    stores: FxHashMap<InputId, Vec<InstId>>,
    /// By state: the block that begins with it, because others meet there.
    meets: FxHashMap<InputId, BlockId>,
    /// By row and block; `None` where something writes that is no store.
    between: FxHashMap<(usize, BlockId), Option<Between>>,
    /// By node of a load that reads a state of its own: the state that it sees.
    seen: FxHashMap<InputId, InputId>,
}

/// The function around.
pub(super) struct Around<'a, 'b> {
    pub(super) function: &'a Function,
    pub(super) cfg: &'a Cfg,
    pub(super) roles: &'b Roles<'a>,
    pub(super) blocks: &'b [SkeletonBlock],
}

impl Views {
    /// Of a function of which nothing is known yet but its accesses.
    pub(super) fn new(aliases: &Aliases) -> Self {
        Views { is_wanted: !aliases.is_empty(), ..Views::default() }
    }

    /// Notes that a store leaves a state behind.
    pub(super) fn stored(&mut self, state: InputId, store: InstId) {
        if self.is_wanted {
            self.stores.entry(state).or_default().push(store);
        }
    }

    /// Notes that a block begins with a state.
    pub(super) fn met(&mut self, state: InputId, block: BlockId) {
        if self.is_wanted {
            self.meets.insert(state, block);
        }
    }

    /// Notes that a load sees a state.
    pub(super) fn set_seen(&mut self, load: InputId, state: InputId) {
        self.seen.insert(load, state);
    }

    /// The state that a load sees which reads a state of its own.
    pub(super) fn seen(&self, load: InputId) -> Option<InputId> {
        self.seen.get(&load).copied()
    }

    /// The state that a load sees, if it is not the one before it, `state`.
    pub(super) fn of(
        &mut self,
        around: &Around<'_, '_>,
        nodes: &mut Nodes<'_>,
        load: InstId,
        row: usize,
        state: InputId,
    ) -> Option<InputId> {
        let aliases = &around.function.aliases;
        if !self.is_wanted || !aliases.has_unseen(load) {
            return None;
        }
        // Stores that are seen, the last one first, as far as nothing before them is left out.
        let (mut kept, mut at, mut left_out) = (vec![], state, 0);
        let (mut last, mut stores) = (None, MAX_STORES);
        for _ in 0..MAX_STEPS {
            let node = nodes.node(at);
            if let (Head::Op(_), Some(before), Some(by)) = (node.head, node.children.last(), self.stores.get(&at)) {
                if by.iter().all(|store| aliases.unseen(load, *store).is_some()) {
                    left_out += 1;
                    last = Some((kept.len(), *before));
                } else {
                    kept.push(at);
                }
                at = *before;
                continue;
            }
            let Some(block) = self.meets.get(&at).copied() else { break };
            let Some(above) = around.cfg.idom(block) else { break };
            let between = self.between.entry((row, block)).or_insert_with(|| around.between(row, block, above));
            let Some(between) = between.as_ref().filter(|between| between.stores.len() <= stores) else { break };
            if !between.are_unseen(aliases, load) {
                break;
            }
            stores -= between.stores.len();
            left_out += 1;
            at = around.blocks[above.index()].end[row];
            last = Some((kept.len(), at));
        }
        let (number, mut seen) = last.filter(|_| left_out > 0)?;
        for store in kept[..number].iter().rev() {
            let node = nodes.node(*store).clone();
            let mut children = node.children;
            *children.last_mut()? = seen;
            seen = nodes.add(node.head, node.types, children);
        }
        (seen != state).then_some(seen)
    }
}

impl Between {
    fn are_unseen(&self, aliases: &Aliases, load: InstId) -> bool {
        self.stores.iter().all(|store| match aliases.unseen(load, *store) {
            Some(Unseen::All) => true,
            Some(Unseen::Last) => self.is_acyclic,
            None => false,
        })
    }
}

impl Around<'_, '_> {
    /// What is executed between a block and its immediate dominator, and writes a region.
    fn between(&self, row: usize, block: BlockId, above: BlockId) -> Option<Between> {
        let Around { function: f, cfg, roles, .. } = *self;
        let sources = |block: BlockId| cfg.predecessors(block).iter().map(|edge| edge.from);
        let mut found: FxHashSet<BlockId> = FxHashSet::default();
        let mut work: Vec<BlockId> = sources(block).collect();
        while let Some(at) = work.pop() {
            if at == above || !found.insert(at) {
                continue;
            }
            if found.len() > MAX_BLOCKS {
                return None;
            }
            work.extend(sources(at));
        }
        let is_opaque = |at: BlockId| matches!(f.block(at).term, Terminator::Opaque { .. });
        if is_opaque(above) || found.iter().any(|at| is_opaque(*at)) {
            return None;
        }
        let mut stores = vec![];
        let mut order: Vec<BlockId> = found.iter().copied().collect();
        order.sort_unstable();
        for inst in order.iter().flat_map(|at| &f.block(*at).insts) {
            match roles.of(f.inst(*inst)) {
                Role::Write { region, .. } if region.index() == row => stores.push(*inst),
                Role::Pinned { writes: true, .. } => return None,
                Role::Call { region: Some(region), .. } if region.index() == row => return None,
                Role::Call { region: None, writes: true, .. } => return None,
                _ => {}
            }
        }
        let is_forward = |from: BlockId, to: BlockId| cfg.position(from) < cfg.position(to);
        let is_acyclic = order.iter().chain([&block]).all(|to| sources(*to).all(|from| is_forward(from, *to)));
        Some(Between { stores, is_acyclic })
    }
}

#[cfg(test)]
mod tests;
