//! Rematerialisation: computing again what is cheaper to compute than to keep.
//!
//! A value that is alive at the entry of a block takes up a register. Where more are alive than there are
//! registers, some are stored after their definition and loaded before their next use. A node without effects costs
//! less than that if it is cheap and its operands are there anyway: then it is computed again in the blocks that use
//! it, and the value is not alive in between. Where there are registers enough keeping a value is free, and nothing
//! changes. Only the entries of blocks are looked at; the order of instructions within a block belongs to the
//! back end. Constants take no register: back ends make them where they are used.
//!
//! **Invariant**: nothing becomes alive in a block where it was not; an operand is either alive there, or computed
//! again there itself.

use super::check_identity::Speculation;
use super::choices::{AltId, Choices};
use super::error::SelectError;
use super::options::Registers;
use super::pass::{Pass, PassState};
use super::placement::{PlacedId, Placement};
use super::selection::Def;
use crate::egraph::ClassId;
use crate::ir::BlockId;
use crate::skeleton::SegmentId;
use rewright_typeprop::Repr;
use rustc_hash::FxHashSet;
use std::collections::{BTreeMap, BTreeSet};

/// A kind of register.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
enum File {
    Integers,
    Floats,
}

/// A definition: where it stands, and of what.
type Key = (SegmentId, ClassId);

/// A chain of operands that are computed again with a node is no longer than this.
const MAX_DEPTH: u32 = 4;

/// Each round makes some values shorter-lived; what has too many after that keeps them.
const MAX_ROUNDS: u32 = 8;

/// The pass.
pub(crate) struct Rematerialise;

impl Pass for Rematerialise {
    fn name(&self) -> &'static str {
        "rematerialise"
    }

    fn run(&self, state: &mut PassState) -> Result<(), SelectError> {
        let Some(registers) = &state.options.registers else { return Ok(()) };
        let before = state.placement.cost();
        for _ in 0..MAX_ROUNDS {
            let lives = Lives::new(state.choices, registers, &state.placement);
            let again = lives.map(Lives::recompute).unwrap_or_default();
            if again.is_empty() {
                break;
            }
            for ((at, _), alt) in again {
                state.placement.define_again(alt, at);
            }
            state.placement.settle();
        }
        state.rematerialised = state.placement.cost().saturating_sub(before);
        Ok(())
    }
}

/// Which definitions are alive where.
struct Lives<'s, 'c, 'a> {
    choices: &'c Choices<'a>,
    registers: &'s Registers,
    placement: &'s Placement<'c, 'a>,
    /// By definition: its uses in other blocks, the first one of each block.
    uses: BTreeMap<Key, BTreeMap<BlockId, SegmentId>>,
    /// By block: definitions in a register that are alive at its entry.
    alive: Vec<FxHashSet<Key>>,
    /// By block: how many more are alive than there are registers.
    excess: BTreeMap<(BlockId, File), usize>,
    /// Computed again in this round.
    again: BTreeMap<Key, AltId>,
    /// No longer alive where they were.
    shortened: FxHashSet<Key>,
}

impl<'s, 'c, 'a> Lives<'s, 'c, 'a> {
    /// `None` where there are registers enough everywhere.
    fn new(choices: &'c Choices<'a>, registers: &'s Registers, placement: &'s Placement<'c, 'a>) -> Option<Self> {
        // No more can be alive than there are.
        if placement.used().count() <= registers.integers.min(registers.floats) {
            return None;
        }
        let tree = choices.tree;
        let mut uses: BTreeMap<Key, BTreeMap<BlockId, SegmentId>> = BTreeMap::new();
        let mut params: BTreeSet<Key> = BTreeSet::new();
        for id in placement.used() {
            let key = (placement.at(id), placement.class(id));
            if let Def::Param { .. } | Def::Recurrence(_) = placement.def(id) {
                params.insert(key);
            }
            if key.1.index() >= choices.given.view.classes.len() {
                continue;
            }
            for segment in placement.uses(id).filter(|segment| tree.block(*segment) != tree.block(key.0)) {
                let first = uses.entry(key).or_default().entry(tree.block(segment)).or_insert(segment);
                *first = segment.min(*first);
            }
        }
        let blocks = choices.given.skeleton.blocks.len();
        let mut lives = Lives {
            choices,
            registers,
            placement,
            uses,
            alive: vec![FxHashSet::default(); blocks],
            excess: BTreeMap::new(),
            again: BTreeMap::new(),
            shortened: FxHashSet::default(),
        };
        let mut counts: BTreeMap<(BlockId, File), usize> = BTreeMap::new();
        for (at, class) in params {
            if let Some(file) = lives.file(class) {
                *counts.entry((tree.block(at), file)).or_default() += 1;
            }
        }
        for (key, uses) in &lives.uses {
            let Some(file) = lives.file(key.1) else { continue };
            for block in lives.blocks_between(tree.block(key.0), uses.keys().copied()) {
                lives.alive[block.index()].insert(*key);
                *counts.entry((block, file)).or_default() += 1;
            }
        }
        for ((block, file), count) in counts {
            if count > lives.capacity(file) {
                lives.excess.insert((block, file), count - lives.capacity(file));
            }
        }
        (!lives.excess.is_empty()).then_some(lives)
    }

    fn capacity(&self, file: File) -> usize {
        match file {
            File::Integers => self.registers.integers,
            File::Floats => self.registers.floats,
        }
    }

    /// The registers that a class is kept in; `None` for constants and for what is no value.
    fn file(&self, class: ClassId) -> Option<File> {
        let view = self.choices.given.view;
        if view.class(class).constant.is_some() {
            return None;
        }
        let universe = self.choices.given.universe;
        let ty = view.members(class).iter().find_map(|id| view.node(*id).ty(universe))?;
        Some(match universe.types.repr(ty) {
            Some(Repr::Lanes(..) | Repr::F16 | Repr::F128) => File::Floats,
            Some(Repr::Scalar(scalar)) if !scalar.is_int() => File::Floats,
            Some(Repr::Scalar(_) | Repr::Int128 | Repr::Pointer) | None => File::Integers,
        })
    }

    /// The blocks at whose entry something that `from` defines and `to` use is alive.
    fn blocks_between(&self, from: BlockId, to: impl Iterator<Item = BlockId>) -> Vec<BlockId> {
        let mut work: Vec<BlockId> = to.filter(|block| *block != from).collect();
        let mut seen: FxHashSet<BlockId> = work.iter().copied().collect();
        let mut blocks = vec![];
        while let Some(block) = work.pop() {
            blocks.push(block);
            for edge in self.choices.given.cfg.predecessors(block) {
                if edge.from != from && seen.insert(edge.from) {
                    work.push(edge.from);
                }
            }
        }
        blocks
    }

    /// The cheapest values first, until there are registers enough: what to compute again, and where.
    fn recompute(mut self) -> BTreeMap<Key, AltId> {
        let crowded: BTreeMap<Key, File> = self
            .excess
            .keys()
            .flat_map(|(block, file)| self.alive[block.index()].iter().map(|key| (*key, *file)))
            .filter(|(key, file)| self.file(key.1) == Some(*file))
            .collect();
        let mut candidates: Vec<(u64, Key, File)> = crowded
            .into_iter()
            .filter_map(|(key, file)| Some((self.price(key)?.1, key, file)))
            .filter(|(price, ..)| *price <= self.registers.reload)
            .collect();
        candidates.sort_unstable();
        for (_, key, file) in candidates {
            self.shorten(key, file);
        }
        self.again
    }

    /// The definition that stands there, and its price, if it has no effects and may stand anywhere below its operands.
    fn price(&self, (at, class): Key) -> Option<(PlacedId, u64)> {
        let id = self.placement.standing(class, at)?;
        let alt = self.choices.alt(self.placement.alt(id));
        let is_node = matches!(alt.def, Def::Node(_));
        let free = alt.speculation == Speculation::Always && alt.state.is_none() && !alt.children.is_empty();
        (is_node && free).then_some((id, alt.cost.cost))
    }

    /// Computes one value again in each block that uses it after a crowded one.
    fn shorten(&mut self, key: Key, file: File) {
        let tree = self.choices.tree;
        let mut uses: Vec<(BlockId, SegmentId)> = self.uses[&key].iter().map(|(b, s)| (*b, *s)).collect();
        uses.sort_by_key(|(_, segment)| tree.order(*segment));
        // Where the value can be had now, dominators first.
        let mut places = vec![key.0];
        let nearest = |places: &[SegmentId], at: SegmentId| {
            places.iter().rev().copied().find(|place| tree.dominates(*place, at)).unwrap_or(key.0)
        };
        for (block, at) in &uses {
            let nearest = nearest(&places, *at);
            let path = self.blocks_between(tree.block(nearest), [*block].into_iter());
            let crowded = path.iter().filter(|b| self.excess.contains_key(&(**b, file)));
            let Some(frequency) = crowded.map(|b| self.choices.given.cfg.frequency(*b)).max() else { continue };
            let budget = u128::from(self.registers.reload) * u128::from(frequency);
            let mut chain = vec![];
            if let Some(price) = self.chain(key.1, *at, &mut chain, 0)
                && u128::from(price) * u128::from(tree.frequency(*at)) <= budget
            {
                self.again.extend(chain);
                places.push(*at);
            }
        }
        if places.len() == 1 {
            return;
        }
        self.shortened.insert(key);
        let mut rest: FxHashSet<BlockId> = FxHashSet::default();
        for place in &places {
            let own = uses.iter().filter(|(_, at)| nearest(&places, *at) == *place).map(|(block, _)| *block);
            rest.extend(self.blocks_between(tree.block(*place), own));
        }
        for block in self.blocks_between(tree.block(key.0), uses.iter().map(|(block, _)| *block)) {
            if !rest.contains(&block)
                && let Some(excess) = self.excess.get_mut(&(block, file))
            {
                *excess -= 1;
                if *excess == 0 {
                    self.excess.remove(&(block, file));
                }
            }
        }
    }

    /// What must be computed in a segment to have a class there without keeping it, and the price of all of it.
    fn chain(&self, class: ClassId, at: SegmentId, chain: &mut Vec<(Key, AltId)>, depth: u32) -> Option<u64> {
        let choices = self.choices;
        let block = choices.tree.block(at);
        let place = self.placement.at(self.placement.nearest(class, at)?);
        let (id, mut price) = self.price((place, class))?;
        let alt = self.placement.alt(id);
        for operand in choices.alt(alt).children.iter().copied() {
            if choices.given.view.class(operand).constant.is_some() {
                continue;
            }
            let from = self.placement.at(self.placement.nearest(operand, at)?);
            let here = choices.tree.block(from) == block;
            let kept =
                self.alive[block.index()].contains(&(from, operand)) && !self.shortened.contains(&(from, operand));
            if here || kept || chain.iter().any(|(key, _)| *key == (at, operand)) {
                continue;
            }
            if depth == MAX_DEPTH {
                return None;
            }
            price += self.chain(operand, at, chain, depth + 1)?;
        }
        chain.push(((at, class), alt));
        (price <= self.registers.reload).then_some(price)
    }
}
