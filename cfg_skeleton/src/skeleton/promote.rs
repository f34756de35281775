//! Memory that becomes values: loads where paths meet take parameters of blocks, and what a loop stores to one location is
//! stored once, behind it.
//!
//! A load of a location in the first state of a block ([`super::arriving`]) becomes a parameter of that block, if on each
//! edge into it the value is known: it is a value that is defined there, such a parameter, or it is loaded at the end of the
//! edge's block. Loads are added only
//!
//! * where the location is accessed on all paths to there, or will be accessed on all paths from there, with nothing in
//!   between that may end the function or make memory inaccessible, or where the front end says that it may be loaded
//!   anywhere;
//! * where loads are executed more often that need not be executed any more.
//!
//! So loads are forwarded from stores in several arms, partly redundant loads go, and a loop carries what it keeps in
//! memory. Loads whose values nothing takes any more are left to selection, which knows of their checks.
//!
//! Stores of a loop go behind it where nothing observes memory while it runs, all writes of the region are to one location,
//! all loads of the region become values, and each exit is reached only if the location has been stored to: no path gets a
//! store that had none, with nothing in between that others could have noticed.

mod accesses;
mod apply;
mod stores;
#[cfg(test)]
mod tests;

pub use apply::apply_promotion;

use super::Arriving;
use super::copies::{Copied, Operand, Values};
use crate::Saturated;
use crate::egraph::{ClassId, Head, InputId};
use crate::ir::uses::uses;
use crate::ir::{Access, BlockId, EdgeId, Inst, InstId, InstKind, RegionId, Terminator, Value};
use rewright_typeprop::{OpId, Ty};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::collections::{BTreeMap, BTreeSet};

/// Loads that become parameters, and stores that leave loops.
#[derive(Clone, Debug, Default)]
pub struct Promotion {
    params: Vec<NewParam>,
    /// Values that others take the place of.
    instead: Vec<(Value, Replacement)>,
    /// Instructions that go, with their blocks.
    removed: BTreeMap<InstId, BlockId>,
    /// What is executed first in blocks.
    stores: Vec<Sunk>,
}

/// A parameter of a block.
#[derive(Clone, Debug)]
struct NewParam {
    block: BlockId,
    ty: Ty,
    /// By edge into the block: what it carries.
    args: Vec<(EdgeId, Source)>,
}

/// What an edge carries.
#[derive(Clone, Debug)]
enum Source {
    Value(Value),
    /// The new parameter of this number.
    Param(usize),
    /// What is computed at the end of the edge's block: the last one of these.
    Computed(Vec<Copied>),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Replacement {
    Value(Value),
    /// The new parameter of this number.
    Param(usize),
}

/// A store behind a loop.
#[derive(Clone, Debug)]
struct Sunk {
    block: BlockId,
    /// What is computed for its operands.
    copies: Vec<Copied>,
    kind: InstKind,
    /// The address and the offset.
    operands: [Operand; 2],
    /// The new parameter whose value is stored.
    param: usize,
}

impl Promotion {
    /// How many loads become values.
    pub fn loads(&self) -> usize {
        self.instead.len()
    }

    /// How many stores are executed behind loops instead.
    pub fn stores(&self) -> usize {
        self.stores.len()
    }
}

/// What is promoted in a function, if anything is.
pub fn promotion(given: Saturated) -> Option<Promotion> {
    let arriving = &given.skeleton.arriving;
    if arriving.is_empty() {
        return None;
    }
    let mut planner = Planner::new(given);
    loop {
        planner.settle();
        let dear = planner.dear();
        if dear.is_empty() {
            break;
        }
        dear.into_iter().for_each(|number| planner.entries[number].may_load = false);
    }
    let mut promotion = Promotion::default();
    let mut needed = planner.needed(planner.wanted.iter().map(|wanted| wanted.entry));
    let mut instead: BTreeMap<Value, Replacement> = BTreeMap::new();
    let sunk = stores::sunk(&planner, &needed);
    for sunk in &sunk {
        needed.extend(&sunk.needed);
        instead.extend(&sunk.instead);
    }
    for load in planner.loads.iter().filter(|load| load.is_used) {
        let entry = planner.entry_of(load.class, load.ty, load.block, |number| needed.contains(&number));
        if let Some(entry) = entry {
            instead.entry(load.value).or_insert(Replacement::Param(entry));
        }
    }
    if instead.is_empty() && sunk.is_empty() {
        return None;
    }
    let numbers: FxHashMap<usize, usize> = needed.iter().enumerate().map(|(new, old)| (*old, new)).collect();
    promotion.params = needed.iter().map(|number| planner.param(*number, &numbers)).collect();
    promotion.instead = instead
        .into_iter()
        .map(|(value, by)| match by {
            Replacement::Param(number) => (value, Replacement::Param(numbers[&number])),
            Replacement::Value(_) => (value, by),
        })
        .collect();
    for stores::Sinking { removed, stores, .. } in sunk {
        promotion.removed.extend(removed);
        promotion.stores.extend(stores.into_iter().map(|store| Sunk { param: numbers[&store.param], ..store }));
    }
    Some(promotion)
}

/// A location, up to the view's equalities.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Location {
    op: OpId,
    types: SmallVec<[Ty; 2]>,
    operands: SmallVec<[ClassId; 2]>,
    region: RegionId,
}

/// A location at the entry of a block.
struct Entry<'a> {
    arriving: &'a Arriving,
    block: BlockId,
    location: Location,
    ty: Ty,
    /// The edges into the block.
    edges: Vec<EdgeId>,
    /// May something be loaded at their ends?
    may_load: bool,
    /// By edge: how its value is known; empty where one is not.
    sources: Vec<Known>,
}

/// How a value is known at the end of an edge.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Known {
    Value(Value),
    Constant(i64),
    /// By the parameter for another entry.
    Entry(usize),
    /// If it is loaded.
    Load,
}

/// A load that is there.
struct Load {
    value: Value,
    inst: InstId,
    block: BlockId,
    class: ClassId,
    ty: Ty,
    location: Location,
    is_used: bool,
    /// May it trap where it is?
    may_trap: bool,
}

/// A load that nothing before it gives the value of, and the entry that does.
struct Wanted {
    block: BlockId,
    entry: usize,
}

struct Planner<'a> {
    given: Saturated<'a>,
    values: Values<'a>,
    entries: Vec<Entry<'a>>,
    by_class: FxHashMap<ClassId, Vec<usize>>,
    loads: Vec<Load>,
    /// What is known of accesses of a location: that of the instructions that access it, together.
    known: BTreeMap<Location, Access>,
    wanted: Vec<Wanted>,
}

impl<'a> Planner<'a> {
    fn new(given: Saturated<'a>) -> Self {
        let Saturated { function: f, cfg, skeleton, view, universe } = given;
        let (mut entries, mut by_class): (Vec<Entry<'_>>, FxHashMap<ClassId, Vec<usize>>) =
            (vec![], FxHashMap::default());
        for arriving in &skeleton.arriving {
            let node = &skeleton.input.nodes[arriving.load.index()];
            let (Some(location), Some(ty)) = (location(given, arriving.load, arriving.region), node.ty(universe))
            else {
                continue;
            };
            let class = view.class_of(arriving.load);
            by_class.entry(class).or_default().push(entries.len());
            let edges = cfg.predecessors(arriving.block).to_vec();
            let block = arriving.block;
            entries.push(Entry { arriving, block, location, ty, edges, may_load: true, sources: vec![] });
        }
        let mut used = vec![false; f.values.len()];
        skeleton.layout.iter().for_each(|block| uses(f, *block, |value, _| used[value.index()] = true));
        let (mut loads, mut accesses) = (vec![], BTreeMap::new());
        for block in &skeleton.layout {
            for id in &f.block(*block).insts {
                let inst = f.inst(*id);
                let InstKind::Op { op, access: Some(access), .. } = &inst.kind else { continue };
                let effects = &universe.ops.get(*op).effects;
                let [value] = inst.results[..] else { continue };
                let input = skeleton.value_input[value.index()];
                let input = input.filter(|input| skeleton.input.nodes[input.index()].head == Head::Op(*op));
                let (Some(input), true, false) =
                    (input, effects.is_value() && effects.reads.len() == 1, access.readonly)
                else {
                    continue;
                };
                let Some(location) = location(given, input, access.region) else { continue };
                note(&mut accesses, &location, *access);
                let (is_used, may_trap) = (used[value.index()], access.trap.is_some());
                let (inst, block, class, ty) = (*id, *block, view.class_of(input), f.ty(value));
                loads.push(Load { value, inst, block, class, ty, location, is_used, may_trap });
            }
        }
        for entry in &entries {
            if let (InstKind::Op { access: Some(access), .. }, true) =
                (&f.inst(entry.arriving.inst).kind, !accesses.contains_key(&entry.location))
            {
                note(&mut accesses, &entry.location, *access);
            }
        }
        Planner { given, values: Values::new(given), entries, by_class, loads, known: accesses, wanted: vec![] }
    }

    /// Finds out which entries can have parameters, and which loads want one: the most that can be.
    fn settle(&mut self) {
        let mut alive = vec![true; self.entries.len()];
        let mut sources: Vec<Vec<Known>> = vec![vec![]; self.entries.len()];
        loop {
            let mut changed = false;
            for number in 0..self.entries.len() {
                if !alive[number] {
                    continue;
                }
                let edges = 0..self.entries[number].edges.len();
                match edges.map(|edge| self.way(number, edge, &alive)).collect::<Option<Vec<Known>>>() {
                    Some(found) => sources[number] = found,
                    None => (alive[number], changed) = (false, true),
                }
            }
            if !changed {
                break;
            }
        }
        for (number, found) in sources.into_iter().enumerate() {
            self.entries[number].sources = if alive[number] { found } else { vec![] };
        }
        let wanted = self.loads.iter().filter(|load| load.is_used && !self.is_known_before(load));
        let wanted = wanted.filter_map(|load| {
            let entry = self.entry_of(load.class, load.ty, load.block, |number| self.has_sources(number))?;
            let goes = !load.may_trap || self.is_checked(load, entry);
            goes.then_some(Wanted { block: load.block, entry })
        });
        self.wanted = wanted.collect();
    }

    fn has_sources(&self, number: usize) -> bool {
        !self.entries[number].sources.is_empty()
    }

    /// How the value of an entry is known at the end of an edge, where others are known that are alive.
    fn way(&self, number: usize, edge: usize, alive: &[bool]) -> Option<Known> {
        let Saturated { function: f, cfg, view, .. } = self.given;
        let entry = &self.entries[number];
        let (from, class) = (entry.edges[edge].from, view.class_of(entry.arriving.over[edge]));
        if let Some(value) = self.values.of_class(class, entry.ty).find(|value| self.values.is_available(*value, from))
        {
            return Some(Known::Value(value));
        }
        if let Some(constant) = self.values.constant(class, entry.ty) {
            return Some(Known::Constant(constant));
        }
        if let Some(other) = self.entry_of(class, entry.ty, from, |other| alive[other]) {
            return Some(Known::Entry(other));
        }
        let jumps = matches!(f.block(from).term, Terminator::Jump(_));
        let above = cfg.idom(entry.block)?;
        let can = entry.may_load
            && jumps
            && self.address(entry.arriving.inst, above).is_some()
            && (self.known[&entry.location].movable || self.is_accessible(&entry.location, from));
        can.then_some(Known::Load)
    }

    /// The nearest entry above the end of a block that has the value of a class.
    fn entry_of(&self, class: ClassId, ty: Ty, at: BlockId, fits: impl Fn(usize) -> bool) -> Option<usize> {
        let cfg = self.given.cfg;
        let all = self.by_class.get(&class).into_iter().flatten().copied();
        let mut fitting = all.filter(|number| {
            let entry = &self.entries[*number];
            entry.ty == ty && cfg.dominates(entry.block, at) && fits(*number)
        });
        let first = fitting.next()?;
        Some(fitting.fold(first, |best, other| {
            let nearer = cfg.dominates(self.entries[best].block, self.entries[other].block);
            if nearer && self.entries[best].block != self.entries[other].block { other } else { best }
        }))
    }

    /// Is what is loaded defined before?
    fn is_known_before(&self, load: &Load) -> bool {
        self.value_before(load).is_some() || self.values.constant(load.class, load.ty).is_some()
    }

    /// A value that is what is loaded, and defined before.
    fn value_before(&self, load: &Load) -> Option<Value> {
        let Saturated { function: f, cfg, .. } = self.given;
        self.values.of_class(load.class, load.ty).find(|value| {
            let Some(definition) = self.values.definitions[value.index()] else { return false };
            let insts = &f.block(load.block).insts;
            let place = |inst: InstId| insts.iter().position(|other| *other == inst);
            match (definition.block() == load.block, definition.inst()) {
                (true, Some(inst)) => place(inst) < place(load.inst),
                (true, None) => true,
                (false, _) => cfg.dominates(definition.block(), load.block),
            }
        })
    }

    /// Is an access of its location executed before a load, that is there or will be, so that it need not trap itself?
    fn is_checked(&self, load: &Load, entry: usize) -> bool {
        let cfg = self.given.cfg;
        let is_above = |block: BlockId| block != load.block && cfg.dominates(block, load.block);
        let accesses = |block: BlockId| {
            let insts = &self.given.function.block(block).insts;
            insts.iter().any(|inst| self.accesses(&load.location, *inst, false, block))
        };
        let will = |number: &usize| {
            let Entry { location, edges, sources, .. } = &self.entries[*number];
            let mut known = edges.iter().zip(sources);
            *location == load.location && known.any(|(edge, known)| *known == Known::Load && is_above(edge.from))
        };
        let mut above = std::iter::successors(cfg.idom(load.block), |block| cfg.idom(*block));
        above.any(accesses) || self.needed([entry].into_iter()).iter().any(will)
    }

    /// Some entries with all whose parameters they take.
    fn needed(&self, entries: impl Iterator<Item = usize>) -> BTreeSet<usize> {
        let (mut needed, mut work) = (BTreeSet::new(), entries.collect::<Vec<usize>>());
        while let Some(number) = work.pop() {
            if needed.insert(number) {
                work.extend(self.entries[number].sources.iter().filter_map(|known| match known {
                    Known::Entry(other) => Some(*other),
                    _ => None,
                }));
            }
        }
        needed
    }

    /// The cost of the loads at the ends of edges into some entries.
    fn loaded(&self, entries: &BTreeSet<usize>) -> u64 {
        let of = |number: &usize| {
            let entry = &self.entries[*number];
            let loaded = entry.edges.iter().zip(&entry.sources).filter(|(_, known)| **known == Known::Load);
            loaded.map(|(edge, _)| self.given.cfg.frequency(edge.from)).sum::<u64>()
        };
        entries.iter().map(of).sum()
    }

    /// Entries at whose edges something is loaded, where that costs as much as is saved, or more.
    fn dear(&self) -> Vec<usize> {
        let mut dear = vec![];
        let mut left: Vec<&Wanted> = self.wanted.iter().collect();
        while let Some(first) = left.pop() {
            // Those that share an entry go together.
            let (mut group, mut own) = (self.needed([first.entry].into_iter()), vec![first]);
            loop {
                let (shared, others): (Vec<_>, Vec<_>) =
                    left.into_iter().partition(|wanted| !self.needed([wanted.entry].into_iter()).is_disjoint(&group));
                left = others;
                if shared.is_empty() {
                    break;
                }
                group.extend(shared.iter().flat_map(|wanted| self.needed([wanted.entry].into_iter())));
                own.extend(shared);
            }
            let loaded = self.loaded(&group);
            let saved: u64 = own.iter().map(|wanted| self.given.cfg.frequency(wanted.block)).sum();
            if loaded > 0 && loaded >= saved {
                let loading = |number: &usize| self.entries[*number].sources.contains(&Known::Load);
                dear.extend(group.into_iter().filter(loading));
            }
        }
        dear
    }

    /// How the operands of an access that decide where it is are computed at the end of a block.
    fn address(&self, inst: InstId, at: BlockId) -> Option<(Vec<Copied>, Vec<Operand>)> {
        let inst = self.given.function.inst(inst);
        let mut copies = vec![];
        let operands = address_of(self.given, inst).map(|value| self.values.operand(value, at, &mut copies));
        let operands = operands.collect::<Option<Vec<Operand>>>()?;
        Some((copies, operands))
    }

    fn param(&self, number: usize, numbers: &FxHashMap<usize, usize>) -> NewParam {
        let Entry { block, ty, edges, sources, .. } = &self.entries[number];
        let source = |known: &Known| match known {
            Known::Value(value) => Source::Value(*value),
            Known::Constant(constant) => Source::Computed(vec![Copied::constant(*ty, *constant)]),
            Known::Entry(other) => Source::Param(numbers[other]),
            Known::Load => Source::Computed(self.load_of(number)),
        };
        let args = edges.iter().copied().zip(sources.iter().map(source)).collect();
        NewParam { block: *block, ty: *ty, args }
    }

    /// The load of an entry, at the end of a block before it.
    fn load_of(&self, number: usize) -> Vec<Copied> {
        let Entry { arriving, block, location, ty, .. } = &self.entries[number];
        let above = self.given.cfg.idom(*block).expect("a block with an entry has a dominator");
        let (mut copies, operands) = self.address(arriving.inst, above).expect("it was found to be known");
        let access = Some(self.known[location]);
        let kind = InstKind::Op { op: location.op, targs: location.types.clone(), access };
        let types = [*ty].into_iter().collect();
        copies.push(Copied { kind, operands: operands.into_iter().collect(), types });
        copies
    }
}

/// The location of a node that loads.
fn location(given: Saturated, load: InputId, region: RegionId) -> Option<Location> {
    let node = &given.skeleton.input.nodes[load.index()];
    let Head::Op(op) = node.head else { return None };
    let (_, operands) = node.children.split_last()?;
    let operands = operands.iter().map(|operand| given.view.class_of(*operand)).collect();
    Some(Location { op, types: node.types.clone(), operands, region })
}

/// The operands of an access that say where it is: all but what a store stores.
fn address_of<'a>(given: Saturated<'a>, inst: &'a Inst) -> impl Iterator<Item = Value> + 'a {
    let stores = match inst.kind {
        InstKind::Op { op, .. } => given.universe.ops.get(op).model.and_then(|m| m.memory()).is_some_and(|m| m.store),
        _ => false,
    };
    let args = inst.args.iter().enumerate().filter(move |(position, _)| !(stores && *position == 1));
    args.map(|(_, value)| *value)
}

/// Several accesses of a location have only the properties that each of them has.
fn note(accesses: &mut BTreeMap<Location, Access>, location: &Location, access: Access) {
    let known = accesses.entry(location.clone()).or_insert(access);
    known.aligned &= access.aligned;
    known.movable &= access.movable;
    known.trap = known.trap.or(access.trap);
}
