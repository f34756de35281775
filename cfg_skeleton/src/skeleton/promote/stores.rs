//! Stores that leave loops.

use super::{Known, Location, Planner, Replacement, Sunk};
use crate::Saturated;
use crate::ir::{BlockId, EdgeId, InstId, InstKind, LoopId, Terminator, Value};
use crate::skeleton::StatementKind;
use std::collections::{BTreeMap, BTreeSet};

/// What it takes for the stores of a loop to one location to be executed behind it.
pub(super) struct Sinking {
    /// Entries with parameters.
    pub(super) needed: BTreeSet<usize>,
    /// What takes the place of loads in the loop; parameters by entry.
    pub(super) instead: BTreeMap<Value, Replacement>,
    /// Instructions that go.
    pub(super) removed: BTreeMap<InstId, BlockId>,
    /// Parameters by entry.
    pub(super) stores: Vec<Sunk>,
}

/// Stores of a loop, with their blocks.
type Stores = Vec<(InstId, BlockId)>;

/// Stores that leave loops, inner loops first. `needed`: entries that have parameters anyway.
pub(super) fn sunk(planner: &Planner<'_>, needed: &BTreeSet<usize>) -> Vec<Sinking> {
    let cfg = planner.given.cfg;
    let mut needed = needed.clone();
    let mut found: Vec<(LoopId, Location, Sinking)> = vec![];
    for (id, l) in cfg.loops().rev() {
        for (location, stores) in stored(planner, id).unwrap_or_default() {
            let overlaps = |other: LoopId| {
                cfg.loop_contains(id, cfg.natural_loop(other).header) || cfg.loop_contains(other, l.header)
            };
            if found.iter().any(|(other, at, _)| at.region == location.region && overlaps(*other)) {
                continue;
            }
            if let Some(sinking) = sink(planner, id, &location, &stores, &needed) {
                needed.extend(&sinking.needed);
                found.push((id, location, sinking));
            }
        }
    }
    found.into_iter().map(|(_, _, sinking)| sinking).collect()
}

/// The stores of a loop by their location, of regions in which there is one; `None` where memory is observed while it runs.
fn stored(planner: &Planner<'_>, id: LoopId) -> Option<Vec<(Location, Stores)>> {
    let Saturated { function: f, cfg, skeleton, .. } = planner.given;
    let mut regions: BTreeMap<u32, Stores> = BTreeMap::new();
    for block in cfg.loop_blocks(id) {
        if matches!(f.block(*block).term, Terminator::Opaque { .. }) {
            return None;
        }
        for site in skeleton.sites(*block) {
            let statement = skeleton.statement(site);
            match &statement.kind {
                StatementKind::Write { region, trap: None, .. } => {
                    regions.entry(region.0).or_default().push((statement.inst, *block));
                }
                StatementKind::Check { observes: false, .. }
                | StatementKind::Opaque { observes: false, writes: false, .. }
                | StatementKind::Call { observes: false, writes: false, .. } => {}
                _ => return None,
            }
        }
    }
    let found = regions.into_values().filter_map(|stores| {
        let is_of =
            |location: &&Location| stores.iter().all(|(store, block)| planner.accesses(location, *store, true, *block));
        let mut locations = planner.entries.iter().map(|entry| &entry.location);
        let location = locations.find(is_of)?.clone();
        Some((location, stores))
    });
    Some(found.collect())
}

fn sink(
    planner: &Planner<'_>,
    id: LoopId,
    location: &Location,
    stores: &Stores,
    needed: &BTreeSet<usize>,
) -> Option<Sinking> {
    let Saturated { function: f, cfg, .. } = planner.given;
    let above = cfg.idom(cfg.natural_loop(id).header)?;
    let target = |edge: &EdgeId| f.block(edge.from).term.edges()[edge.slot as usize].target;
    let edges = cfg.loop_exits(f, id);
    let exits: BTreeSet<BlockId> = edges.iter().map(target).collect();
    let alone = |exit: &BlockId| cfg.predecessors(*exit).iter().all(|edge| cfg.loop_contains(id, edge.from));
    let stored = |edge: &EdgeId| planner.was_accessed(location, edge.from, true);
    if exits.is_empty() || !exits.iter().all(alone) || !edges.iter().all(stored) {
        return None;
    }
    // What is stored behind the loop.
    let behind = exits.iter().map(|exit| {
        let at = |number: &usize| {
            let entry = &planner.entries[*number];
            entry.block == *exit && entry.location == *location && planner.has_sources(*number)
        };
        Some((*exit, (0..planner.entries.len()).find(at)?))
    });
    let behind: Vec<(BlockId, usize)> = behind.collect::<Option<_>>()?;
    // What the loop itself takes.
    let mut instead = BTreeMap::new();
    let mut lost: Vec<Value> = vec![];
    let mut removed: BTreeMap<InstId, BlockId> = stores.iter().copied().collect();
    let is_in = |block: BlockId| cfg.loop_contains(id, block);
    for load in planner.loads.iter().filter(|load| load.location.region == location.region && is_in(load.block)) {
        if load.may_trap {
            return None;
        }
        removed.insert(load.inst, load.block);
        let entry = planner.entry_of(load.class, load.ty, load.block, |number| planner.has_sources(number));
        match entry.map(Replacement::Param).or_else(|| planner.value_before(load).map(Replacement::Value)) {
            Some(by) => drop(instead.insert(load.value, by)),
            None if load.is_used => return None,
            None => lost.push(load.value),
        }
    }
    let taken = instead.values().filter_map(|by| match by {
        Replacement::Param(entry) => Some(*entry),
        Replacement::Value(_) => None,
    });
    let own = planner.needed(behind.iter().map(|(_, entry)| *entry).chain(taken));
    // Memory is not up to date while the loop runs.
    let is_stale = |number: &usize| {
        let entry = &planner.entries[*number];
        let mut known = entry.edges.iter().zip(&entry.sources);
        entry.location.region == location.region && known.any(|(edge, known)| *known == Known::Load && is_in(edge.from))
    };
    let takes_lost = |number: &usize| {
        let sources = &planner.entries[*number].sources;
        sources.iter().any(|known| matches!(known, Known::Value(value) if lost.contains(value)))
    };
    let is_lost = |by: &Replacement| matches!(by, Replacement::Value(value) if lost.contains(value));
    let all = || needed.union(&own);
    if all().any(is_stale) || all().any(takes_lost) || instead.values().any(is_lost) {
        return None;
    }
    let further: BTreeSet<usize> = own.difference(needed).copied().collect();
    let saved: u64 = stores.iter().map(|(_, block)| cfg.frequency(*block)).sum();
    if saved <= planner.loaded(&further) + exits.iter().map(|exit| cfg.frequency(*exit)).sum::<u64>() {
        return None;
    }
    let accesses = || {
        stores.iter().filter_map(|(store, _)| match &f.inst(*store).kind {
            InstKind::Op { access, .. } => *access,
            _ => None,
        })
    };
    let mut kind = f.inst(stores.first()?.0).kind.clone();
    if let InstKind::Op { access: Some(access), .. } = &mut kind {
        // It stands for the store before the loop, too, of which nothing is known here.
        access.aligned = false;
        access.movable = accesses().all(|access| access.movable);
    }
    let sunk = behind.into_iter().map(|(block, param)| {
        let (copies, operands) = planner.address(stores[0].0, above)?;
        Some(Sunk { block, copies, kind: kind.clone(), operands: operands.try_into().ok()?, param })
    });
    let stores = sunk.collect::<Option<Vec<Sunk>>>()?;
    Some(Sinking { needed: own, instead, removed, stores })
}
