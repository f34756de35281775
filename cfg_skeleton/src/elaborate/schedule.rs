//! The order of a block's definitions: near that of the original, so that registers hold values for as long as there.
//!
//! A selection says in which segment something is defined, and any earlier one of the same block is as good to it where
//! the operands can be had. What has no effect, reads no memory and cannot trap is computed where the original computes
//! it, or, where it does not, right after the last of its operands. What has none in the block is computed where it is
//! needed.
//!
//! **Invariant**: nothing is computed before its operands, nor after the segment that the selection names.

use super::resolve::Use;
use super::{Emitter, Progress};
use crate::egraph::Head;
use crate::ir::BlockId;
use crate::select::Def;
use crate::skeleton::SegmentId;
use rustc_hash::FxHashMap;
use std::collections::hash_map::Entry;

/// Where a definition stands in its block.
#[derive(Clone, Copy)]
struct Place {
    /// The segment at whose end it is there, if it is not needed before.
    segment: SegmentId,
    /// The first segment in which it can be had.
    ready: SegmentId,
    /// Its place in the original's block; where that has none, the place of the last operand that has one.
    position: Option<usize>,
}

impl Emitter<'_> {
    /// By segment of a block: what is computed there if that has not been needed before, in order.
    pub(super) fn schedule(&self, block: BlockId) -> Vec<Vec<u32>> {
        let statements = self.positions_of_statements(block);
        let mut places: FxHashMap<u32, Place> = FxHashMap::default();
        let mut ordered = vec![];
        for root in self.skeleton.segments(block).flat_map(|segment| self.resolution.in_segment(segment)) {
            let mut stack = vec![(root, false)];
            while let Some((def, is_open)) = stack.pop() {
                if is_open {
                    places.insert(def, self.place(block, def, &places, &statements));
                    ordered.push(def);
                } else if self.live[def as usize]
                    && let Entry::Vacant(entry) = places.entry(def)
                {
                    let segment = self.resolution.defs[def as usize].0;
                    entry.insert(Place { segment, ready: segment, position: None });
                    stack.push((def, true));
                    stack.extend(self.operands_in(block, def).map(|operand| (operand, false)));
                }
            }
        }
        ordered.sort_by_key(|def| places[def].position.unwrap_or(usize::MAX));
        let mut schedule = vec![vec![]; self.skeleton.segments(block).count()];
        for def in ordered {
            schedule[(places[&def].segment.0 - self.first_segment(block).0) as usize].push(def);
        }
        schedule
    }

    fn first_segment(&self, block: BlockId) -> SegmentId {
        SegmentId(self.skeleton.blocks[block.index()].first_segment)
    }

    /// Operands that are defined in the same block, and have not been emitted yet.
    pub(super) fn operands_in(&self, block: BlockId, def: u32) -> impl Iterator<Item = u32> {
        let defs = self.resolution.uses[def as usize].iter();
        let defs = defs.filter_map(|used| if let Use::Def(def) = used { Some(*def) } else { None });
        defs.filter(move |operand| {
            self.skeleton.segment_block[self.resolution.defs[*operand as usize].0.index()] == block
                && self.state[*operand as usize] != Progress::Done
        })
    }

    /// Where the original's statements are in a block, first to last.
    fn positions_of_statements(&self, block: BlockId) -> Vec<usize> {
        let mut insts = self.f.block(block).insts.iter().enumerate();
        let sites = self.skeleton.sites(block).map(|site| self.skeleton.statement(site).inst);
        // Checks of one instruction are several statements.
        let mut last = None;
        sites
            .map(|inst| match last {
                Some((known, position)) if known == inst => position,
                _ => {
                    let position =
                        insts.find(|(_, other)| **other == inst).map_or(usize::MAX, |(position, _)| position);
                    last = Some((inst, position));
                    position
                }
            })
            .collect()
    }

    /// Where a definition stands whose operands have their places.
    fn place(&self, block: BlockId, def: u32, places: &FxHashMap<u32, Place>, statements: &[usize]) -> Place {
        let (latest, class, choice) = self.resolution.defs[def as usize];
        let operands = || self.operands_in(block, def).filter_map(|operand| places.get(&operand));
        let own = self.originals.position(class, block);
        if !self.may_move(choice) {
            // What is executed at a site comes last.
            return Place { segment: latest, ready: latest, position: own };
        }
        let position = own.or_else(|| operands().filter_map(|operand| operand.position).max());
        let first = self.first_segment(block);
        let ready = operands().map(|operand| operand.ready).max().unwrap_or(first);
        match position {
            None => Place { segment: latest, ready, position },
            Some(at) => {
                let before = statements.iter().filter(|statement| **statement < at).count() as u32;
                let segment = SegmentId(first.0 + before).max(ready).min(latest);
                Place { segment, ready: segment, position }
            }
        }
    }

    /// May it be computed anywhere behind its operands?
    fn may_move(&self, choice: Def) -> bool {
        let Def::Node(id) = choice else { return false };
        match self.view.node(id).head {
            Head::Op(op) => self.universe.ops.get(op).effects.is_pure(),
            Head::Const(_) | Head::Opaque(_) | Head::Proj(_) | Head::Copy => true,
            Head::Leaf(_) | Head::Token(_) => false,
        }
    }
}
