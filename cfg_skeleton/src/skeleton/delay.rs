//! Stores that not all paths need: those go that none needs, and one is executed where it is needed.
//!
//! Selection drops a store that is overwritten before anything looks, as long as one state is live on all ways from it.
//! Where paths meet with different states it looks no further, and it drops a store on all ways or on none. Here, the ways
//! from a store are followed through the function, by the bytes that it writes. It is *not needed* on a way on which they
//! are overwritten before
//!
//! * anything reads them, but for loads whose values are known otherwise, or observes memory (calls, what may trap, exits);
//! * the way begins another iteration of a loop that the store is in: then its address is another one.
//!
//! A loop that the store is not in may be passed. A store that is needed on some ways only is executed at the heads of arms
//! that only these ways take. It passes nothing then that may write the same bytes, and is executed on no path on which it
//! was not.
//!
//! A store to a private object is not needed where the object is not read again: calls and exits do not observe it.
//!
//! A store that may trap passes nothing that memory shows when it traps, and where it is not needed, a store to the same
//! bytes traps in its place, with the same code.

use super::copies::Values;
use super::roles::{Role, Roles};
use crate::Saturated;
use crate::addresses::base;
use crate::egraph::ClassId;
use crate::ir::normalise::close;
use crate::ir::objects::{ObjectId, Place, PrivateObjects};
use crate::ir::uses::replace_uses;
use crate::ir::{BlockId, Function, InstId, InstKind, RegionId, Value};
use rewright_typeprop::Repr;
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};

/// Blocks that are looked at for one store.
const MAX_BLOCKS: usize = 64;

/// Instructions that are looked at for one store.
const MAX_STEPS: usize = 256;

/// Branches on the way to where a store is needed.
const MAX_DEPTH: usize = 8;

/// A store that goes, or is executed later and on fewer paths.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Delay {
    store: InstId,
    /// The blocks in which it is executed first.
    to: Vec<BlockId>,
    /// Loads on the way that it is not executed before any more, and what they give.
    instead: BTreeMap<Value, Value>,
}

impl Delay {
    /// Is the store executed at all?
    pub fn is_gone(&self) -> bool {
        self.to.is_empty()
    }
}

/// Stores that are not needed where they are.
pub fn delays(given: Saturated) -> Vec<Delay> {
    let Saturated { function: f, cfg, universe, skeleton, .. } = given;
    let roles = Roles::new(f, cfg, universe);
    let bytes = (0..f.insts.len() as u32).map(|inst| accessed(given, InstId(inst))).collect();
    let private = PrivateObjects::new(f, cfg, universe);
    let walker = Walker { given, roles, bytes, places: object_places(given), private, values: Values::new(given) };
    let blocks = skeleton.layout.iter();
    let sites = blocks.flat_map(|block| (0..f.block(*block).insts.len()).map(|at| (*block, at)));
    sites.filter_map(|(block, at)| walker.delay(block, at)).collect()
}

/// The function with its stores where they are needed.
pub fn apply_delays(f: &Function, delays: &[Delay]) -> Function {
    let mut out = f.clone();
    let instead: FxHashMap<Value, Value> =
        delays.iter().flat_map(|delay| &delay.instead).map(|(v, by)| (*v, *by)).collect();
    replace_uses(&mut out, &instead);
    let is_replaced =
        |f: &Function, inst: &InstId| f.inst(*inst).results.iter().any(|value| instead.contains_key(value));
    for block in out.layout.clone() {
        let mut insts = std::mem::take(&mut out.blocks[block.index()].insts);
        insts.retain(|inst| !is_replaced(&out, inst) && delays.iter().all(|delay| delay.store != *inst));
        out.blocks[block.index()].insts = insts;
    }
    // Those that were executed first stay first.
    for delay in delays.iter().rev() {
        let mut last = Some(delay.store);
        for to in &delay.to {
            let inst = last.take().unwrap_or_else(|| {
                let copy = out.inst(delay.store).clone();
                out.insts.push(copy);
                InstId(out.insts.len() as u32 - 1)
            });
            out.blocks[to.index()].insts.insert(0, inst);
        }
    }
    close(&mut out);
    out
}

/// Accessed bytes: an offset from an address that is not itself a sum with a constant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Bytes {
    base: ClassId,
    offset: i64,
    number: i64,
    /// A number over a pointer leaves its provenance there.
    are_pointer: bool,
}

impl Bytes {
    fn are_apart_from(self, other: Bytes) -> bool {
        let ahead = self.offset.wrapping_sub(other.offset) as u64;
        let behind = other.offset.wrapping_sub(self.offset) as u64;
        self.base == other.base && ahead >= other.number as u64 && behind >= self.number as u64
    }

    fn cover(self, other: Bytes) -> bool {
        if other.are_pointer && !self.are_pointer {
            return false;
        }
        let ahead = other.offset.wrapping_sub(self.offset);
        self.base == other.base && (0..self.number).contains(&ahead) && ahead + other.number <= self.number
    }
}

/// A store that is looked at. Of one that writes anywhere, the object is known.
#[derive(Clone, Copy)]
struct Store {
    block: BlockId,
    region: RegionId,
    /// The bytes that it writes, if they are known.
    bytes: Option<Bytes>,
    /// What it traps with.
    trap: Option<u32>,
    /// The object that it writes to, where that is private.
    object: Option<ObjectId>,
}

/// What an instruction is for a store before it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Step {
    Passed,
    /// It reads the bytes, and what it gives is known otherwise.
    Known(Value, Value),
    /// It may write some of the bytes.
    Written,
    /// It writes all of them.
    Overwritten,
    /// The store is executed before it.
    Needed,
}

/// What was met on the ways from a store.
#[derive(Default)]
struct Met {
    blocks: usize,
    steps: usize,
    /// Was a block entered that begins with a state of its own?
    is_merged: bool,
    instead: BTreeMap<Value, Value>,
}

/// The bytes that a load or store accesses, if that is known.
fn accessed(given: Saturated, id: InstId) -> Option<Bytes> {
    let Saturated { function: f, universe, skeleton, view, .. } = given;
    let inst = f.inst(id);
    let InstKind::Op { op, targs, access: Some(_) } = &inst.kind else { return None };
    let model = universe.ops.get(*op).model?.memory()?;
    let bits = match model.bits {
        Some(bits) => bits,
        None => targs.first().and_then(|ty| universe.types.repr(*ty)).map(Repr::total_bits)?,
    };
    let class = |value: &Value| skeleton.value_input[value.index()].map(|input| view.class_of(input));
    let (address, offset) = match (model.store, &inst.args[..]) {
        (true, [address, _, offset]) | (false, [address, offset]) => (class(address)?, class(offset)?),
        _ => return None,
    };
    let (base, offset) = base(view, universe, address, view.class(offset).constant?);
    let are_pointer = targs.first().and_then(|ty| universe.types.repr(*ty)) == Some(Repr::Pointer);
    Some(Bytes { base, offset, number: i64::from(bits.div_ceil(8)), are_pointer })
}

/// By class of an address: where it points in an object.
fn object_places(given: Saturated) -> FxHashMap<ClassId, Place> {
    let Saturated { function: f, skeleton, view, .. } = given;
    let places = f.insts.iter().filter_map(|inst| {
        let place = f.objects.place(inst)?;
        let input = skeleton.value_input[inst.results.first()?.index()]?;
        Some((view.class_of(input), place))
    });
    places.collect()
}

struct Walker<'a> {
    given: Saturated<'a>,
    roles: Roles<'a>,
    /// By instruction: what it accesses, if that is known.
    bytes: Vec<Option<Bytes>>,
    /// By class of an address: where it points in an object.
    places: FxHashMap<ClassId, Place>,
    private: PrivateObjects,
    values: Values<'a>,
}

impl Walker<'_> {
    fn delay(&self, block: BlockId, at: usize) -> Option<Delay> {
        let id = self.given.function.block(block).insts[at];
        let store = self.store(block, id)?;
        if store.object.is_some() && store.bytes.is_some() {
            // What is in an object that is not read again may be anything, whichever bytes a loop writes.
            let anywhere = Store { bytes: None, ..store };
            let mut met = Met::default();
            if self.is_dead(&anywhere, block, at + 1, &mut met) {
                return Some(Delay { store: id, to: vec![], instead: met.instead });
            }
        }
        let mut met = Met::default();
        if self.is_dead(&store, block, at + 1, &mut met) {
            // Where there is one state on all ways, selection sees to what is overwritten.
            return (met.is_merged || store.object.is_some()).then_some(Delay {
                store: id,
                to: vec![],
                instead: met.instead,
            });
        }
        let mut met = Met::default();
        let to = self.needed(&store, block, at + 1, 0, &mut met)?;
        Some(Delay { store: id, to, instead: met.instead })
    }

    fn store(&self, block: BlockId, id: InstId) -> Option<Store> {
        let inst = self.given.function.inst(id);
        let Role::Write { region, mut trap } = self.roles.of(inst) else { return None };
        let bytes = self.bytes[id.index()];
        let mut object = self.object(id);
        if object.is_some() && bytes.is_some_and(|bytes| self.is_inside(bytes)) {
            trap = None;
        }
        // Where it traps, that is seen.
        object = object.filter(|_| trap.is_none());
        (bytes.is_some() || object.is_some()).then_some(Store { block, region, bytes, trap, object })
    }

    /// The private object that an access is of.
    fn object(&self, id: InstId) -> Option<ObjectId> {
        let inst = self.given.function.inst(id);
        let InstKind::Op { op, access: Some(_), .. } = &inst.kind else { return None };
        let memory = self.given.universe.ops.get(*op).model?.memory();
        memory.and(inst.args.first()).and_then(|address| self.private.of(*address))
    }

    /// Are bytes within an object of a known size?
    fn is_inside(&self, bytes: Bytes) -> bool {
        let Some(Place { offset, size: Some(size), .. }) = self.places.get(&bytes.base) else { return false };
        let (from, number) = (i128::from(*offset) + i128::from(bytes.offset), i128::from(bytes.number));
        from >= 0 && from + number <= i128::from(*size)
    }

    /// Is a store not needed on any way from a place?
    fn is_dead(&self, store: &Store, block: BlockId, from: usize, met: &mut Met) -> bool {
        let Saturated { function: f, skeleton, .. } = self.given;
        let mut entered = BTreeSet::new();
        let mut work = vec![(block, from)];
        while let Some((block, from)) = work.pop() {
            let data = &skeleton.blocks[block.index()];
            if from == 0 {
                met.is_merged |= data.tokens.iter().any(|(region, _)| *region == store.region);
            }
            met.blocks += 1;
            if met.blocks > MAX_BLOCKS {
                return false;
            }
            match self.first(store, block, from, true, met) {
                Some(Step::Overwritten) => continue,
                Some(_) => return false,
                None => {}
            }
            // One that does not come to an end does not trap.
            if (data.observes && store.object.is_none()) || (store.trap.is_some() && data.edges.is_empty()) {
                return false;
            }
            for edge in f.block(block).term.edges() {
                if !self.may_follow(store, block, edge.target) {
                    return false;
                }
                if entered.insert(edge.target) {
                    work.push((edge.target, 0));
                }
            }
        }
        true
    }

    /// The blocks at whose heads a store is executed that is needed somewhere behind a place: no more often than there, and
    /// not on all ways; `None` if there are none.
    fn needed(&self, store: &Store, block: BlockId, from: usize, depth: usize, met: &mut Met) -> Option<Vec<BlockId>> {
        let Saturated { function: f, cfg, skeleton, .. } = self.given;
        let edges = f.block(block).term.edges();
        let is_needed = self.first(store, block, from, false, met).is_some();
        if is_needed || skeleton.blocks[block.index()].observes || edges.is_empty() || depth > MAX_DEPTH {
            return None;
        }
        let (mut places, mut is_spared) = (vec![], false);
        for target in edges.iter().map(|edge| edge.target) {
            let may_follow = self.may_follow(store, block, target);
            if may_follow && self.is_dead(store, target, 0, met) {
                is_spared = true;
                continue;
            }
            if !may_follow || cfg.predecessors(target).len() > 1 {
                return None;
            }
            match self.needed(store, target, 0, depth + 1, met) {
                Some(further) => {
                    places.extend(further);
                    is_spared = true;
                }
                None => places.push(target),
            }
        }
        let later: u64 = places.iter().map(|place| cfg.frequency(*place)).sum();
        (is_spared && later <= cfg.frequency(block)).then_some(places)
    }

    /// May an edge be followed: not into the next iteration of a loop that the store is in, nor, if that may trap, round any
    /// loop? A store to anywhere in an object is the same in each iteration.
    fn may_follow(&self, store: &Store, from: BlockId, to: BlockId) -> bool {
        let cfg = self.given.cfg;
        if store.bytes.is_none() {
            return true;
        }
        let goes_round = cfg.is_back_edge(from, to);
        !cfg.is_irreducible(to) && !(goes_round && (store.trap.is_some() || cfg.dominates(to, store.block)))
    }

    /// The first instruction of a block, from a position on, that a store does not pass.
    fn first(&self, store: &Store, block: BlockId, from: usize, is_dead: bool, met: &mut Met) -> Option<Step> {
        for id in &self.given.function.block(block).insts[from..] {
            met.steps += 1;
            if met.steps > MAX_STEPS {
                return Some(Step::Needed);
            }
            match self.step(store, *id, block) {
                Step::Passed => {}
                // What nobody reads may be written in between.
                Step::Written if is_dead => {}
                Step::Known(value, by) => drop(met.instead.insert(value, by)),
                step => return Some(step),
            }
        }
        None
    }

    fn step(&self, store: &Store, id: InstId, block: BlockId) -> Step {
        let Saturated { function: f, universe, .. } = self.given;
        let inst = f.inst(id);
        if store.object.is_some() {
            return self.step_in_object(store, id, block);
        }
        match self.roles.of(inst) {
            Role::Constant(_) | Role::Value | Role::Opaque(_) => Step::Passed,
            Role::Trapping | Role::Check { .. } | Role::Load { check: Some(true), .. } => Step::Needed,
            Role::Call { observes, writes, .. } | Role::Pinned { observes, writes } => match observes || writes {
                true => Step::Needed,
                false => Step::Passed,
            },
            // It is said not to trap only of executions that have passed the store.
            Role::Load { check: Some(false), .. } if store.trap.is_some() => {
                self.known(id, block).unwrap_or(Step::Needed)
            }
            Role::Load { row, .. } if row != store.region.index() => Step::Passed,
            Role::Load { .. } => match self.bytes[id.index()] {
                Some(bytes) if store.bytes.is_some_and(|own| bytes.are_apart_from(own)) => Step::Passed,
                _ => self.known(id, block).unwrap_or(Step::Needed),
            },
            Role::Write { region, trap } => {
                let bytes = self.bytes[id.index()].filter(|_| region == store.region);
                let reads = match &inst.kind {
                    InstKind::Op { op, .. } => !universe.ops.get(*op).effects.reads.is_empty(),
                    _ => true,
                };
                match (bytes.zip(store.bytes), store.trap, trap) {
                    (Some((bytes, own)), Some(_), _) if trap == store.trap && bytes == own => Step::Overwritten,
                    (_, Some(_), _) | (_, None, Some(_)) => Step::Needed,
                    _ if region != store.region => Step::Passed,
                    (None, ..) if reads => Step::Needed,
                    (None, ..) => Step::Written,
                    (Some((bytes, own)), ..) if bytes.cover(own) => Step::Overwritten,
                    (Some((bytes, own)), ..) if bytes.are_apart_from(own) => Step::Passed,
                    (Some(_), ..) => Step::Written,
                }
            }
        }
    }

    /// The same for a store to a private object: only accesses of that say something of it.
    fn step_in_object(&self, store: &Store, id: InstId, block: BlockId) -> Step {
        let Saturated { function: f, universe, .. } = self.given;
        let InstKind::Op { op, .. } = &f.inst(id).kind else { return Step::Passed };
        if self.object(id) != store.object {
            return Step::Passed;
        }
        let bytes = self.bytes[id.index()].zip(store.bytes);
        let is_apart = bytes.is_some_and(|(bytes, own)| bytes.are_apart_from(own));
        if is_apart {
            return Step::Passed;
        }
        match universe.ops.get(*op).effects.writes.is_empty() {
            true => self.known(id, block).unwrap_or(Step::Needed),
            false if bytes.is_some_and(|(bytes, own)| bytes.cover(own)) => Step::Overwritten,
            false => Step::Written,
        }
    }

    /// A load that gives what is known before it.
    fn known(&self, id: InstId, block: BlockId) -> Option<Step> {
        let Saturated { function: f, cfg, skeleton, view, .. } = self.given;
        let [value] = f.inst(id).results[..] else { return None };
        let class = view.class_of(skeleton.value_input[value.index()]?);
        let place = |inst: InstId| f.block(block).insts.iter().position(|other| *other == inst);
        let mut known = self.values.of_class(class, f.ty(value)).filter(|other| {
            let Some(definition) = self.values.definitions[other.index()] else { return false };
            match (definition.block() == block, definition.inst()) {
                (true, Some(inst)) => place(inst) < place(id),
                (true, None) => true,
                (false, _) => cfg.dominates(definition.block(), block),
            }
        });
        known.next().map(|other| Step::Known(value, other))
    }
}

#[cfg(test)]
mod tests;
