//! Objects whose places are known: stack slots, and global variables of the module.
//!
//! Live objects lie apart, none at null and none around the end of the address space. A slot is a new object: what was
//! there before, and what callers give, is no pointer into it. Every access to an object is within its bounds, by a
//! pointer to it, and no access writes to a constant. No other code changes a slot that does not escape.
//!
//! All of this is known where a version begins at the entry of a function; at a cut of a loop slots are like any values
//! that are not null.
//! Slots of both versions that are alike (the n-th one of its size and alignment) may lie at the same place: the first
//! version may choose where its own lie.

use super::super::lanes::places;
use super::object::{Kind, Object, apart, within};
use super::{Access, AccessKind, SymbolicExecutor, Terms, Value, blocks};
use rewright_llvm::body::{Block, Instruction, Shape, Slot};
use rewright_llvm::captures::{self, captured, holes};
use rewright_llvm::types::Type;
use rewright_smt::{self as smt, Address, Expr, Sort};
use std::collections::BTreeSet;

/// Objects of slots are numbers whose bytes are beyond this one's in no memory that callers give.
const SLOTS: u128 = 0xff << 56;

/// Bytes of a constant that are looked at.
const MOST_BYTES: u64 = 64;

impl<'a> SymbolicExecutor<'a> {
    /// A stack slot.
    pub(super) fn slot(&mut self, i: &'a Instruction, slot: &Slot) -> Terms<()> {
        if !i.flags.is_empty() || i.ty != Type::Ptr {
            return Err("a stack slot of its own kind".into());
        }
        // Slots keep their order, and their content is not compared.
        self.assumed.insert("what is on the stack");
        let count = slot.count.as_ref().map_or(Some(1), |count| count.text.parse().ok());
        let size = self.layout.size(&slot.ty).ok().zip(count).and_then(|(size, count)| size.checked_mul(count));
        let align = match slot.align {
            0 => self.layout.alignment(&slot.ty)?,
            align => align,
        };
        let size = size.ok_or("a stack slot of unknown size")?;
        let escapes = self.escaping.contains(i.result.as_deref().unwrap_or_default());
        let alike = format!("{} of {size} by {align}", if escapes { "known slot" } else { "slot" });
        let n = self.alike.entry(alike.clone()).or_default();
        *n += 1;
        let name = format!("{alike}, {n}");
        let bits = self.place(&name, align);
        let number = self.slot_number(&name);
        let origin = self.s.bits(64, SLOTS + number);
        self.slots.push(bits);
        self.is_somewhere(bits);
        if self.lasting_slots {
            if !escapes {
                self.s.keep_private(bits);
            }
            let kind = Kind::Slot { escapes };
            self.object(Object { address: bits, size, exact: true, origin, kind, shared: false });
        }
        self.define(i, super::Local::Fixed(vec![Value { bits, poison: Expr::FALSE, origin: Some(origin) }]));
        Ok(())
    }

    /// A number for a slot of this name, the same in both versions.
    fn slot_number(&self, name: &str) -> u128 {
        name.bytes().fold(0xcbf2_9ce4_8422_2325_u128, |hash, byte| {
            ((hash ^ u128::from(byte)).wrapping_mul(0x100_0000_01b3)) & 0xff_ffff_ffff_ffff
        })
    }

    /// A global variable that is mentioned.
    pub(super) fn global(&mut self, name: &str, address: Expr, origin: Expr) -> Terms<()> {
        if self.objects.iter().any(|object| object.origin == origin) {
            return Ok(());
        }
        let Some((global, shared)) = self.version.module.variable(name) else { return Ok(()) };
        let Ok(size) = self.layout.size(&global.ty) else { return Ok(()) };
        let kind = Kind::Global { constant: global.constant };
        let exact = global.initial.is_some();
        self.object(Object { address, size, exact, origin, kind, shared });
        let (true, Some(text)) = (global.constant && size <= MOST_BYTES, &global.initial) else { return Ok(()) };
        self.s.keep_private(address);
        let (Ok(lanes), Ok(places)) = (self.constant_lanes(&global.ty, text, 0), places(&self.layout, &global.ty))
        else {
            return Ok(());
        };
        for (lane, place) in lanes.iter().zip(&places.lanes) {
            if lane.poison != Expr::FALSE || text.contains("undef") {
                continue;
            }
            let bits = 8 * self.layout.store_size(&place.ty)? as u32;
            let value = self.s.resize(lane.bits, bits);
            let none = self.s.bits(bits, 0);
            let chains = [
                (self.given.memory, value),
                (self.given.poison_memory, none),
                (self.given.mask, none),
                (self.given.origins, lane.origin.unwrap_or(none)),
            ];
            for (chain, holds) in chains {
                if chain == self.given.origins && lane.origin.is_none() {
                    continue;
                }
                for n in 0..bits / 8 {
                    let at = Address::sum(self.s, &[address]).plus(place.offset + u64::from(n));
                    let byte = self.s.extract(holds, 8 * n + 7, 8 * n);
                    let read = smt::read(self.s, chain, &at);
                    let same = self.s.equal(read, byte);
                    self.facts.push(same);
                }
            }
        }
        Ok(())
    }

    /// Notes that an address is not null.
    pub(super) fn is_somewhere(&mut self, address: Expr) {
        let some = self.s.nonzero(address);
        if !self.facts.contains(&some) {
            self.facts.push(some);
        }
    }

    /// Notes an object, and what is known of its place.
    fn object(&mut self, object: Object) {
        self.is_somewhere(object.address);
        let last = self.s.bits(64, u128::from(u64::MAX - object.size.saturating_sub(1)));
        let fits = self.s.apply("bvule", &[object.address, last], Sort::Bool);
        self.facts.push(fits);
        for other in self.objects.clone() {
            if object.shared || other.shared {
                continue;
            }
            let apart = apart(self.s, &other, object.address, object.size);
            let one = self.s.equal(object.origin, other.origin);
            let others = self.s.not(one);
            self.facts.extend([apart, others]);
        }
        self.objects.push(object);
    }

    /// When an access of the first version is undefined for where it goes.
    pub(super) fn strays(&mut self, access: &Access) -> Expr {
        let mut bad = vec![];
        for object in self.objects.clone() {
            let own = self.s.equal(access.origin, object.origin);
            if object.exact {
                let inside = within(self.s, &object, access.address, access.bytes);
                let outside = self.s.not(inside);
                bad.push(self.s.and(&[own, outside]));
            }
            let apart = apart(self.s, &object, access.address, access.bytes);
            let common = self.s.not(apart);
            match object.kind {
                Kind::Slot { .. } => {
                    let other = self.s.not(own);
                    bad.push(self.s.and(&[other, common]));
                }
                Kind::Global { constant: true } if access.kind == AccessKind::Write => bad.push(common),
                Kind::Global { .. } => {}
            }
        }
        self.s.or(&bad)
    }
}

/// Are slots there from the entry to the end?
pub(in super::super) fn last(blocks: &[Block]) -> bool {
    let ends = |i: &Instruction| matches!(&i.shape, Shape::Call { callee: Some(callee), .. } if callee.starts_with("@llvm.stackrestore"));
    !blocks.iter().flat_map(|block| &block.instructions).any(ends)
}

/// Slots whose addresses may escape, by name.
pub(super) fn escaping(blocks: &[Block]) -> BTreeSet<&str> {
    captured(blocks, passed)
}

/// Slots whose addresses some instructions may let escape, or that a call among them is given.
pub(in super::super) fn captured_by<'b>(
    instructions: impl Iterator<Item = &'b Instruction> + Clone,
    call: &'b Instruction,
) -> BTreeSet<&'b str> {
    captures::captured_by(instructions, |i| if std::ptr::eq(i, call) { holes(i).collect() } else { passed(i) })
}

/// What a call or a return makes known.
fn passed(i: &Instruction) -> Vec<&str> {
    match &i.shape {
        Shape::Call { callee: Some(callee), .. } if callee.starts_with("@llvm.lifetime.") => vec![],
        Shape::Call { .. } if blocks::of_known_length(i).is_some() => vec![],
        _ => holes(i).collect(),
    }
}
