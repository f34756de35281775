//! Addresses, and what is read and written there.
//!
//! A pointer is its address and the object that it belongs to. Addresses are kept as sums: those that have terms in
//! common are compared by the rest.

use super::super::facts;
use super::super::lanes::{Place, places};
use super::super::meaning::width;
use super::super::strides::{Stride, stride};
use super::annotated::{is_defined, promises};
use super::bounds::Step;
use super::{Access, AccessKind, Leaf, Local, Memory, SymbolicExecutor, Terms, Value};
use rewright_llvm::body::{Instruction, MemoryAccess as Said, Operand, Shape};
use rewright_llvm::types::Type;
use rewright_smt::{self as smt, Address, Expr, Sort};
use rewright_typeprop::model::MemoryAccess;

/// Where a lane is read or written.
pub(super) struct Lane {
    pub(super) address: Address,
    /// In bits, whole bytes.
    pub(super) size: u32,
    /// Bits of the lane.
    pub(super) width: u32,
    pub(super) ty: Type,
}

/// A lane of a value that may be another one for each use, as it has been stored.
#[derive(Clone, Copy)]
pub(super) struct Stored<'a> {
    pub(super) value: &'a str,
    /// The lane, if it comes from outside; else it is computed at each use, and is all there is.
    leaf: Option<Leaf>,
    /// Bits of the lane.
    pub(super) width: u32,
    /// What is in memory: the bits of a sample, which of them are poison, the object, and which may be `undef`.
    pub(super) words: [Expr; 3],
    pub(super) mask: Option<Expr>,
}

/// What an access goes to.
struct Accessed {
    lanes: Vec<Lane>,
    /// Bytes between lanes.
    padding: Vec<Address>,
}

impl<'a> SymbolicExecutor<'a> {
    /// A pointer that lies further on.
    pub(super) fn offset(
        &mut self,
        i: &Instruction,
        base: &Operand,
        source: &Type,
        indices: &[Operand],
    ) -> Terms<Value> {
        let unknown = || format!("an offset into {source}");
        if i.ty != Type::Ptr {
            return Err(unknown().into());
        }
        let base = self.operand(base)?;
        let origin = base.origin.ok_or_else(unknown)?;
        let (mut poison, mut parts, mut steps) = (vec![base.poison], vec![], vec![]);
        let (mut ty, mut first) = (source.clone(), true);
        for index in indices {
            let constant = index.text.parse::<i64>().ok();
            let (next, stride) = stride(&self.layout, &ty, first, constant).ok_or_else(unknown)?;
            let size = match stride {
                Stride::Each(size) => size,
                Stride::Field(offset) => {
                    parts.push(self.s.bits(64, offset.into()));
                    steps.push(Step::Constant(offset as i64));
                    (ty, first) = (next, false);
                    continue;
                }
            };
            if size > 0 {
                let value = self.operand(index)?;
                if value.bits.width() > 64 {
                    return Err(unknown().into());
                }
                poison.push(value.poison);
                parts.push(match constant {
                    Some(n) => {
                        let bytes =
                            i64::try_from(size).ok().and_then(|size| n.checked_mul(size)).ok_or_else(unknown)?;
                        steps.push(Step::Constant(bytes));
                        self.s.bits(64, u128::from(bytes as u64))
                    }
                    None => {
                        let index = match self.is_loose(index) {
                            true => self.s.sign_extend(value.bits, 64),
                            false => self.widened(index, true, 64)?,
                        };
                        steps.push(Step::Index(index, size));
                        let size = self.s.bits(64, size.into());
                        self.s.apply("bvmul", &[index, size], Sort::Bits(64))
                    }
                });
            } else if constant != Some(0) {
                return Err(unknown().into());
            }
            (ty, first) = (next, false);
        }
        for flag in &i.flags {
            if !["inbounds", "nusw", "nuw"].contains(&flag.as_str()) {
                return Err(format!("`getelementptr {flag}`").into());
            }
            self.assumed.insert("where objects end");
            poison.push(self.leaves(flag, base, &steps)?);
        }
        parts.extend(self.parts(base.bits));
        let bits = Address::sum(self.s, &parts).term(self.s);
        self.sums.insert(bits, parts);
        Ok(Value { bits, poison: self.s.or(&poison), origin: Some(origin) })
    }

    pub(super) fn parts(&self, pointer: Expr) -> Vec<Expr> {
        self.sums.get(&pointer).cloned().unwrap_or_else(|| vec![pointer])
    }

    /// Where an access goes: it is undefined where that is poison, `undef`, null or not aligned as the access says.
    fn access(
        &mut self,
        i: &Instruction,
        (pointer, said): (&Operand, &Said),
        ty: &Type,
        at: usize,
        kind: AccessKind,
    ) -> Terms<Accessed> {
        let (places, bytes) = (places(&self.layout, ty)?, self.layout.store_size(ty)?);
        let align = match said.align {
            0 => self.layout.alignment(ty)?,
            align => align,
        };
        let pointer = self.settled(pointer, at)?;
        let address = self.accessed(pointer, (bytes, align), at, kind, promises(self.version, i))?;
        let lane = |lane: Place| {
            let (width, bytes) = (width(&lane.ty)?, self.layout.store_size(&lane.ty)?);
            Ok(Lane { address: address.plus(lane.offset), size: 8 * bytes as u32, width, ty: lane.ty })
        };
        let lanes = places.lanes.into_iter().map(lane).collect::<Terms<_>>()?;
        let padding = places.padding.into_iter().map(|offset| address.plus(offset)).collect();
        Ok(Accessed { lanes, padding })
    }

    /// Notes that this many bytes are accessed.
    pub(super) fn accessed(
        &mut self,
        pointer: Value,
        (bytes, align): (u64, u64),
        at: usize,
        kind: AccessKind,
        promises: Vec<String>,
    ) -> Terms<Address> {
        let origin = pointer.origin.ok_or("an address without an object")?;
        self.undefined(at, pointer.poison);
        if bytes > 0 {
            let mut bad = vec![facts::misaligned(self.s, pointer.bits, align)];
            if !self.null_is_valid() {
                let some = self.s.nonzero(pointer.bits);
                bad.push(self.s.not(some));
            }
            let bad = self.s.or(&bad);
            self.undefined(at, bad);
        }
        let known = self.places.get(&self.accesses.len()).cloned();
        let place = known.unwrap_or_else(|| Address::sum(self.s, &self.parts(pointer.bits)));
        let access = Access {
            reached: self.reached[at],
            address: place.term(self.s),
            place: place.clone(),
            origin,
            bytes,
            kind,
            allowed: kind == AccessKind::Promised || self.keys.accesses_are_allowed(),
            epoch: self.epoch,
            promises,
        };
        if self.choosing.is_first() && bytes > 0 {
            let strays = self.strays(&access);
            self.undefined(at, strays);
            if bytes > align.max(1) {
                // No object lies around the end of the address space.
                let last = self.s.bits(64, u128::from(u64::MAX - (bytes - 1)));
                let turns = self.s.apply("bvugt", &[access.address, last], Sort::Bool);
                self.undefined(at, turns);
            }
        }
        self.accesses.push(access);
        Ok(place)
    }

    pub(super) fn load(&mut self, i: &'a Instruction, at: usize) -> Terms<()> {
        let Shape::Load(from, said) = &i.shape else { return Ok(()) };
        let Accessed { lanes, .. } = self.access(i, (from, said), &i.ty, at, AccessKind::Read)?;
        let leaves: Vec<Leaf> = lanes.iter().map(|lane| self.loaded(i, lane, at)).collect::<Terms<_>>()?;
        self.undefined_matters |= !is_defined(i);
        let made = match lanes.as_slice() {
            [lane] if !is_defined(i) && self.is_as_stored(i, lane)? => self.made_as(&i.ty, lane),
            _ => None,
        };
        match (&i.result, made) {
            (Some(name), Some(made)) => {
                self.made.insert(name, made);
                self.define(i, Local::PerUse);
            }
            _ => self.define(i, Local::of(leaves)),
        }
        Ok(())
    }

    /// What computes at each use what has been stored where this is read, if that is of this type.
    fn made_as(&mut self, ty: &Type, lane: &Lane) -> Option<(&'a Instruction, usize)> {
        let stored = self.stored_at(lane).filter(|stored| stored.leaf.is_none())?;
        match self.locals.get(stored.value) {
            Some(Local::PerUse) => self.made.get(stored.value).copied().filter(|(i, _)| i.ty == *ty),
            _ => None,
        }
    }

    /// A lane that is read by an access.
    fn loaded(&mut self, i: &Instruction, lane: &Lane, at: usize) -> Terms<Leaf> {
        let leaf = self.there(i, lane)?;
        if is_defined(i) {
            let some = leaf.mask.map_or(Expr::FALSE, |mask| self.s.nonzero(mask));
            let bad = self.s.or(&[leaf.value.poison, some]);
            self.undefined(at, bad);
            return Ok(Leaf { mask: None, computed: false, place: None, ..leaf });
        }
        Ok(match self.stored_at(lane).and_then(|stored| stored.leaf).filter(|_| leaf.mask.is_some()) {
            Some(stored) if !stored.computed => {
                Leaf { value: Value { bits: stored.value.bits, ..leaf.value }, ..stored }
            }
            // A value that is poison at some uses only has been stored as poison or not: each use of it decides anew.
            Some(stored) if self.is_as_stored(i, lane)? => {
                Leaf { value: Value { origin: leaf.value.origin, ..stored.value }, ..stored }
            }
            _ => leaf,
        })
    }

    /// Is what an instruction reads as a lane poison only where memory is?
    fn is_as_stored(&mut self, i: &Instruction, lane: &Lane) -> Terms<bool> {
        let any = self.read(self.memory[0].bits, lane);
        Ok(lane.width == lane.size && self.breaks_metadata(i, any)? == Expr::FALSE)
    }

    /// What an instruction would read as a lane.
    pub(super) fn there(&mut self, i: &Instruction, lane: &Lane) -> Terms<Leaf> {
        let [raw, poison_memory] =
            [self.memory[0].bits, self.memory[0].poison_memory].map(|memory| self.read(memory, lane));
        let bits = self.s.resize(raw, lane.width);
        let mut poison = vec![self.s.nonzero(poison_memory), self.is_not_stored_so(raw, lane)];
        poison.push(self.breaks_metadata(i, bits)?);
        let origin = if lane.ty == Type::Ptr { Some(self.read(self.memory[0].origins, lane)) } else { None };
        let mask = self.given.undefined.then(|| self.read(self.mask, lane));
        if let Some(mask) = mask {
            poison.push(self.is_not_stored_so(mask, lane));
        }
        let mask = mask.map(|mask| self.s.resize(mask, lane.width));
        let poison = self.s.or(&poison);
        let value = Value { bits, poison, origin };
        let key = lane.address.term(self.s);
        // Later stores of others may be another set of values.
        let place = self.inside.then_some(self.memory[0].bits);
        Ok(match mask {
            Some(mask) => Leaf { value, mask: Some(mask), key, computed: self.inside, place },
            None => Leaf { value, mask: None, key, computed: false, place: None },
        })
    }

    /// What has been stored where this is read: all that is in memory there is what that store has written.
    fn stored_at(&mut self, lane: &Lane) -> Option<Stored<'a>> {
        if self.stored.is_empty() || !self.choosing.names_samples() {
            return None;
        }
        let Memory { bits, poison_memory, origins } = self.memory[0];
        let words = [bits, poison_memory, origins].map(|memory| self.read(memory, lane));
        let mask = self.given.undefined.then(|| self.read(self.mask, lane));
        let is_there = |stored: &&Stored<'_>| (stored.width, stored.words, stored.mask) == (lane.width, words, mask);
        self.stored.iter().find(is_there).copied()
    }

    /// A lane of what is stored, if that may be another value for each use.
    fn note_stored(&mut self, value: &'a Operand, n: usize, lane: &Lane, words: [Expr; 3], mask: Option<Expr>) {
        let (leaf, is_whole) = match self.locals.get(value.text.as_str()) {
            Some(Local::Leaf(lanes)) => (lanes.get(n).copied(), true),
            Some(Local::PerUse) => (None, lane.ty == value.ty),
            _ => return,
        };
        if is_whole {
            self.stored.push(Stored { value: &value.text, leaf, width: lane.width, words, mask });
        }
    }

    /// A lane that is no whole bytes is stored with zeros above it; where there is something else, it is poison.
    fn is_not_stored_so(&mut self, raw: Expr, lane: &Lane) -> Expr {
        if lane.width == lane.size {
            return Expr::FALSE;
        }
        let above = self.s.extract(raw, lane.size - 1, lane.width);
        self.s.nonzero(above)
    }

    pub(super) fn store(&mut self, i: &'a Instruction, at: usize) -> Terms<()> {
        let Shape::Store(value, to, said) = &i.shape else { return Ok(()) };
        let Accessed { lanes, padding } = self.access(i, (to, said), &value.ty, at, AccessKind::Write)?;
        let here = self.reached[at];
        if lanes.iter().any(|lane| lane.ty == Type::Ptr) {
            self.assumed.insert("pointers in memory");
        }
        let samples = self.samples(value, "stored")?;
        let mut first = vec![];
        for (n, sample) in samples.into_iter().enumerate() {
            for (lane, sample) in lanes.iter().zip(sample) {
                let (all, none) = (self.s.bits(lane.size, u128::MAX), self.s.bits(lane.size, 0));
                let Memory { bits, poison_memory, origins } = self.memory[n];
                let is_poison = self.s.choose(sample.poison, all, none);
                let origin = sample.origin.filter(|_| lane.ty == Type::Ptr).unwrap_or(none);
                let stored = self.s.resize(sample.bits, lane.size);
                if n == 0 {
                    first.push([stored, is_poison, origin]);
                }
                self.memory[n] = Memory {
                    bits: self.write(bits, lane, here, stored),
                    poison_memory: self.write(poison_memory, lane, here, is_poison),
                    origins: self.write(origins, lane, here, origin),
                };
            }
        }
        if !self.choosing.is_first() {
            self.spoiled(padding, here);
        }
        for (n, (lane, words)) in lanes.iter().zip(first).enumerate() {
            let mut stored_mask = None;
            if self.given.undefined {
                let mask = self.mask_of(value, n, lane.width);
                let mask = self.s.resize(mask, lane.size);
                self.mask = self.write(self.mask, lane, here, mask);
                stored_mask = Some(mask);
            }
            self.note_stored(value, n, lane, words, stored_mask);
        }
        Ok(())
    }

    /// The content of padding that the second version stores is not observable. The first one may leave what is there.
    fn spoiled(&mut self, padding: Vec<Address>, here: Expr) {
        let all = self.s.bits(8, u128::MAX);
        for address in padding {
            let lane = Lane { address, size: 8, width: 8, ty: Type::Int(8) };
            for n in 0..2 {
                self.memory[n].poison_memory = self.write(self.memory[n].poison_memory, &lane, here, all);
            }
        }
    }

    /// Which bits of a lane of a stored value are `undef`: of the second version at least these, of the first version at
    /// most these.
    fn mask_of(&mut self, value: &Operand, lane: usize, width: u32) -> Expr {
        let is_loose = self.is_loose(value);
        match self.locals.get(value.text.as_str()) {
            Some(Local::Leaf(lanes)) => {
                lanes.get(lane).and_then(|leaf| leaf.mask).unwrap_or_else(|| self.s.bits(width, 0))
            }
            // A value that the first version may have chosen is one of those that it may hold.
            Some(Local::PerUse) if self.choosing.is_first() => self.s.bits(width, 0),
            Some(Local::PerUse) => self.s.bits(width, u128::MAX),
            _ if value.text == "undef" => self.s.bits(width, u128::MAX),
            _ if is_loose && !self.choosing.is_first() => self.s.bits(width, u128::MAX),
            _ => self.s.bits(width, 0),
        }
    }

    fn read(&mut self, memory: Expr, place: &Lane) -> Expr {
        let how = MemoryAccess { bits: Some(place.size), signed: false, store: false };
        smt::load(self.s, memory, &place.address, how, place.size)
    }

    fn write(&mut self, memory: Expr, place: &Lane, when: Expr, value: Expr) -> Expr {
        let how = MemoryAccess { bits: Some(place.size), signed: false, store: true };
        smt::store_when(self.s, memory, &place.address, how, (when, value))
    }
}
