//! Values that memory may hold: they are read there again where that is known, and compared with what is there where it is
//! asked. Nothing is accessed by that, so nothing is undefined.

use super::super::meaning::width;
use super::super::region::{Reading, State};
use super::accesses::{Lane, Stored};
use super::loose::UndefBits;
use super::{Leaf, Local, SymbolicExecutor, Terms, Value};
use rewright_llvm::body::{Instruction, Operand, Shape};
use rewright_smt::{Address, Expr, Sort};
use std::collections::BTreeMap;

/// What has been read again where a step begins.
pub(super) struct Read {
    /// Bases, by their place among all of them.
    pub(super) read: Vec<(usize, Leaf)>,
    /// What is known with that.
    pub(super) known: Vec<Expr>,
}

impl<'a> SymbolicExecutor<'a> {
    /// Reads bases again of which it is known that memory holds them, each by one of its readings, and what is known with
    /// that. Of each reading it is said whether all uses of the base see one value.
    pub(super) fn read_again(&mut self, state: &'a State, readings: &BTreeMap<usize, bool>) -> Terms<Read> {
        let (mut open, mut given): (Vec<(&'a Reading, bool)>, Vec<&'a Reading>) = (vec![], vec![]);
        for (reading, is_fixed) in readings.iter().map(|(n, is_fixed)| (&state.readings[*n], *is_fixed)) {
            if reading.base.is_none() {
                given.push(reading);
            } else if open.iter().all(|(other, _)| other.base != reading.base) {
                open.push((reading, is_fixed));
            }
        }
        let (mut read, mut known) = (vec![], vec![]);
        // A base from which another one is read is read before.
        let is_ready = |reading: &Reading, open: &[(&Reading, bool)]| {
            let takes = |base: &Operand| reading.instructions.iter().any(|i| i.template.holes.contains(&base.text));
            !open.iter().any(|(other, _)| takes(&other.value))
        };
        while let Some(ready) = open.iter().position(|(reading, _)| is_ready(reading, &open)) {
            let (reading, is_fixed) = open.remove(ready);
            let (Some(base), Some((mut leaf, holds))) = (reading.base, self.reading(reading)?) else { continue };
            known.push(holds);
            if let (true, Some(mask)) = (is_fixed, leaf.mask) {
                let some = self.s.nonzero(mask);
                known.push(self.s.not(some));
                leaf = Leaf { mask: None, computed: false, place: None, ..leaf };
            }
            self.locals.insert(&state.bases[base].text, Local::of(vec![leaf]));
            read.push((base, leaf));
        }
        for reading in given {
            let Some((leaf, holds)) = self.reading(reading)? else { continue };
            // A fact that cannot be stated of a value is unknown; it is not false.
            let Some(value) = self.one_lane(&reading.value)? else { continue };
            let is_there = self.is_leaf(value, &leaf);
            known.push(holds);
            known.push(match self.choosing.is_first() {
                // Memory is the second version's, in which there may be something else for what is poison or `undef`.
                true => {
                    let some = value.1.map_or(Expr::FALSE, |mask| self.s.nonzero(mask));
                    self.s.or(&[value.0.poison, some, is_there])
                }
                false => is_there,
            });
        }
        Ok(Read { read, known })
    }

    /// When a value is what memory holds: as one value for all uses, or as what each use chooses from.
    pub(super) fn is_read(&mut self, reading: &'a Reading) -> Terms<Expr> {
        let Some((leaf, holds)) = self.reading(reading)? else { return Ok(Expr::FALSE) };
        let is_there = self.is_there(&reading.value, &leaf)?;
        Ok(self.s.and(&[holds, is_there]))
    }

    /// When a value is what has been read.
    fn is_there(&mut self, value: &Operand, leaf: &Leaf) -> Terms<Expr> {
        // The value that its uses may see has been stored there.
        let stored: Vec<Stored<'_>> = self.stored.iter().filter(|stored| stored.value == value.text).copied().collect();
        let mut ways = vec![];
        let width = leaf.value.bits.width();
        let names_samples = self.choosing.names_samples();
        for stored in stored.into_iter().filter(|stored| names_samples && stored.width == width) {
            let [bits, poison, origin] = stored.words;
            let (bits, poison) = (self.s.resize(bits, width), self.s.nonzero(poison));
            let mut same = vec![self.s.equal(bits, leaf.value.bits), self.s.equal(poison, leaf.value.poison)];
            if let (Some(mask), Some(other)) = (stored.mask, leaf.mask) {
                let mask = self.s.resize(mask, width);
                same.push(self.s.equal(mask, other));
            }
            if let Some(other) = leaf.value.origin {
                same.push(self.s.equal(origin, other));
            }
            ways.push(self.s.and(&same));
        }
        ways.push(match self.locals.get(value.text.as_str()) {
            Some(Local::PerUse) => match self.made.get(value.text.as_str()).copied() {
                Some((Instruction { shape: Shape::Phi(values), .. }, at)) => self.all_are_there(values, at, leaf)?,
                _ => Expr::FALSE,
            },
            _ => match self.one_lane(value)? {
                Some(value) => self.is_leaf(value, leaf),
                None => Expr::FALSE,
            },
        });
        Ok(self.s.or(&ways))
    }

    /// A value of one lane that is not computed at each use, and which of its bits may be `undef`.
    fn one_lane(&mut self, value: &Operand) -> Terms<Option<(Value, Option<Expr>)>> {
        Ok(match self.locals.get(value.text.as_str()) {
            Some(Local::Leaf(lanes)) => match lanes[..] {
                [one] => Some((one.value, one.mask)),
                _ => None,
            },
            _ if self.is_loose(value) => None,
            _ => Some((self.operand(value)?, None)),
        })
    }

    /// When each value that may come to a phi is what has been read.
    fn all_are_there(&mut self, values: &'a [(Operand, String)], at: usize, leaf: &Leaf) -> Terms<Expr> {
        let mut all = vec![];
        for (from, when) in self.arrivals(at) {
            let from = &self.body.blocks[from].label;
            let Some((operand, _)) = values.iter().find(|(_, label)| label == from) else { return Ok(Expr::FALSE) };
            let (elsewhere, is_there) = (self.s.not(when), self.is_there(operand, leaf)?);
            all.push(self.s.or(&[elsewhere, is_there]));
        }
        Ok(self.s.and(&all))
    }

    /// When a value, of which some bits may be `undef`, is what has been read.
    fn is_leaf(&mut self, (is, mask): (Value, Option<Expr>), leaf: &Leaf) -> Expr {
        let width = is.bits.width();
        if width != leaf.value.bits.width() {
            return Expr::FALSE;
        }
        let none = self.s.bits(width, 0);
        let [mask, other] = [mask, leaf.mask].map(|mask| mask.unwrap_or(none));
        let same = if mask == none {
            self.s.equal(is.bits, leaf.value.bits)
        } else {
            let differ = self.s.apply("bvxor", &[is.bits, leaf.value.bits], Sort::Bits(width));
            let fixed = self.s.apply("bvnot", &[mask], Sort::Bits(width));
            let differ = self.s.apply("bvand", &[differ, fixed], Sort::Bits(width));
            self.s.equal(differ, none)
        };
        let mut all = vec![same, self.s.equal(mask, other), self.s.equal(is.poison, leaf.value.poison)];
        if let (Some(one), Some(other)) = (is.origin, leaf.value.origin) {
            all.push(self.s.equal(one, other));
        }
        self.s.and(&all)
    }

    /// What memory holds where a reading reads, and when that is one place; `None` where that is several.
    fn reading(&mut self, reading: &'a Reading) -> Terms<Option<(Leaf, Expr)>> {
        let outer = std::mem::replace(&mut self.undef_bits, UndefBits::Plain);
        let found = self.last_of(&reading.instructions);
        self.undef_bits = outer;
        found
    }

    /// What the last one of some instructions reads, and when all that it is computed from is one value, and defined: what is
    /// known of one version's memory then holds of memory that refines it.
    fn last_of(&mut self, instructions: &'a [Instruction]) -> Terms<Option<(Leaf, Expr)>> {
        let Some((last, made)) = instructions.split_last() else { return Ok(None) };
        let mut holds = vec![];
        for i in made {
            let Some(name) = i.result.as_deref() else { return Ok(None) };
            let value = match &i.shape {
                Shape::Load(..) => {
                    let Some(leaf) = self.lane_of(i, &mut holds)? else { return Ok(None) };
                    holds.extend([self.is_one(&leaf), self.s.not(leaf.value.poison)]);
                    vec![leaf.value]
                }
                _ => {
                    for operand in self.operands(i) {
                        let Some(is_one) = self.is_one_value(operand) else { return Ok(None) };
                        let value = self.operand(operand)?;
                        holds.extend([is_one, self.s.not(value.poison)]);
                    }
                    self.made.insert(name, (i, 0));
                    let computed = self.computed(i, 0)?;
                    holds.push(self.s.not(computed.undefined));
                    computed.lanes
                }
            };
            self.locals.insert(name, Local::Fixed(value));
        }
        let leaf = self.lane_of(last, &mut holds)?;
        Ok(leaf.map(|leaf| (leaf, self.s.and(&holds))))
    }

    /// What a load reads, of one lane.
    fn lane_of(&mut self, i: &'a Instruction, holds: &mut Vec<Expr>) -> Terms<Option<Leaf>> {
        let Shape::Load(address, _) = &i.shape else { return Ok(None) };
        let types = self.scalars(&i.ty)?;
        let (Some(is_one), [ty]) = (self.is_one_value(address), types.as_slice()) else { return Ok(None) };
        let pointer = self.operand(address)?;
        holds.extend([is_one, self.s.not(pointer.poison)]);
        let address = Address::sum(self.s, &self.parts(pointer.bits));
        let size = 8 * self.layout.store_size(ty)? as u32;
        let lane = Lane { address, size, width: width(ty)?, ty: ty.clone() };
        self.there(i, &lane).map(Some)
    }

    /// When all uses of an operand see one value; `None` where it is computed at each use.
    fn is_one_value(&mut self, operand: &Operand) -> Option<Expr> {
        match self.locals.get(operand.text.as_str()) {
            Some(Local::PerUse) => None,
            Some(Local::Leaf(lanes)) => {
                let lanes = lanes.clone();
                let all: Vec<Expr> = lanes.iter().map(|leaf| self.is_one(leaf)).collect();
                Some(self.s.and(&all))
            }
            Some(Local::Fixed(_)) => Some(Expr::TRUE),
            None => (!self.is_loose(operand)).then_some(Expr::TRUE),
        }
    }

    fn is_one(&mut self, leaf: &Leaf) -> Expr {
        let some = leaf.mask.map_or(Expr::FALSE, |mask| self.s.nonzero(mask));
        self.s.not(some)
    }
}
