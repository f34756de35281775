//! Loads that the second version executes before paths meet, and the first one behind that: they were hoisted out of a
//! loop, or only the paths need them on which the value is not known.
//!
//! Such a load may be undefined, so both versions have to be cut behind it, and not where the paths meet.

use super::super::super::flow::Flow;
use super::{Pairing, kind};
use rewright_llvm::body::{Instruction, Shape};
use std::collections::BTreeMap;

/// A load that has no counterpart in the block of the other version.
pub(super) struct OwnLoad<'a> {
    block: usize,
    position: usize,
    pub(super) load: &'a Instruction,
}

impl Pairing {
    /// By pair of blocks, the positions behind hoisted loads. Their values become pairs.
    pub(super) fn behind_hoisted(
        &mut self,
        flows: &[Flow<'_>; 2],
        blocks: &[(usize, usize)],
        own: &[Vec<OwnLoad<'_>>; 2],
    ) -> Vec<Option<(usize, usize)>> {
        let mut found = vec![];
        for (n, (old, new)) in blocks.iter().enumerate() {
            let meet = [(0, *old), (1, *new)].iter().all(|(n, at)| flows[*n].predecessors(*at).nth(1).is_some());
            let elsewhere = || own[1].iter().filter(|other| other.block != *new).map(|other| other.load);
            let is_hoisted = |own: &&OwnLoad<'_>| {
                meet && own.block == *old && elsewhere().any(|other| kind(other) == kind(own.load))
            };
            let hoisted: Vec<_> = own[0].iter().filter(is_hoisted).collect();
            let phis = flows[1].body.blocks[*new].phis();
            for OwnLoad { load, .. } in &hoisted {
                if !is_among(&self.values, load)
                    && let Some(other) =
                        phis.clone().chain(elsewhere()).find(|i| i.ty == load.ty && !is_among(&self.turned, i))
                {
                    self.pair(load, other);
                }
            }
            found.push(hoisted.last().map(|last| {
                let before = self.positions[n].iter().rev().find(|(x, _)| *x < last.position);
                (last.position + 1, before.map_or(0, |(_, y)| y + 1).max(phis.count()))
            }));
        }
        found
    }

    /// Loads of a version that are no pair within a pair of blocks.
    pub(super) fn own_loads<'a>(&self, version: usize, flow: &Flow<'a>, blocks: &[(usize, usize)]) -> Vec<OwnLoad<'a>> {
        let mut found = vec![];
        for block in flow.order() {
            let pair = blocks.iter().position(|(old, new)| [*old, *new][version] == *block);
            let is_pair = |position: usize| {
                pair.is_some_and(|n| self.positions[n].iter().any(|(x, y)| [*x, *y][version] == position))
            };
            for (position, load) in flow.body.blocks[*block].instructions.iter().enumerate() {
                if matches!(load.shape, Shape::Load(..)) && !is_pair(position) {
                    found.push(OwnLoad { block: *block, position, load });
                }
            }
        }
        found
    }
}

/// Is the value of an instruction part of a pair?
fn is_among(pairs: &BTreeMap<String, String>, i: &Instruction) -> bool {
    i.result.as_ref().is_some_and(|name| pairs.contains_key(name))
}
