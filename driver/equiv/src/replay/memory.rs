//! Memory: objects that do not overlap, byte by byte, with poison, `undef` and the bytes of pointers.

use super::choice::{Chooser, RefinementSide, Stop, undefined, unsupported};
use super::value::{Atom, Doubt, Lane, Object, Pointer, ones};
use std::collections::BTreeMap;

/// A byte.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Byte {
    Poison,
    /// The bits of `undef` are any at each use.
    Bits {
        value: u8,
        undef: u8,
    },
    /// A byte of a pointer, counted from the lowest.
    Pointer(Pointer, u8),
    Unknown(Doubt),
}

impl Byte {
    pub(super) const ZERO: Byte = Byte::Bits { value: 0, undef: 0 };
    const UNDEF: Byte = Byte::Bits { value: 0, undef: 0xff };

    /// As a lane of 8 bits; the byte of a pointer is that pointer.
    fn lane(self) -> Lane {
        match self {
            Byte::Poison => Lane::POISON,
            Byte::Bits { value, undef: 0 } => Lane::int(value.into()),
            Byte::Bits { value, undef } => Lane::Undef { bits: value.into(), mask: undef.into() },
            Byte::Pointer(pointer, _) => Lane::pointer(pointer),
            Byte::Unknown(doubt) => Lane::Unknown(doubt),
        }
    }

    /// May a byte of the second version's memory be this one where the first version has `before`?
    pub(super) fn refines(self, before: Byte) -> bool {
        match (self, before) {
            (Byte::Pointer(_, i), Byte::Pointer(_, j)) if i != j => false,
            // Whether a number is the address of an object is not asked.
            (Byte::Pointer(..), Byte::Bits { .. }) | (Byte::Bits { .. }, Byte::Pointer(..)) => true,
            _ => self.lane().refines(&before.lane(), &|_| false),
        }
    }
}

impl std::fmt::Display for Byte {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Byte::Bits { value, undef: 0 } => write!(f, "{value:02x}"),
            Byte::Pointer(pointer, byte) => write!(f, "byte {byte} of {pointer}"),
            _ => write!(f, "{}", self.lane()),
        }
    }
}

/// An object in memory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Cells {
    pub(super) bytes: Vec<Byte>,
    /// Where it is, if that has been decided.
    pub(super) address: Option<u64>,
    /// What its address is a multiple of.
    pub(super) align: u64,
    /// It must not be written.
    pub(super) constant: bool,
    /// It may be accessed.
    pub(super) alive: bool,
    /// The caller can see it.
    pub(super) visible: bool,
    /// Something has read, or written it.
    pub(super) used: [bool; 2],
    /// By which node of type-based alias analysis each byte was accessed.
    tags: BTreeMap<u64, String>,
}

impl Cells {
    pub(super) fn new(bytes: Vec<Byte>, align: u64) -> Cells {
        Cells {
            bytes,
            address: None,
            align,
            constant: false,
            alive: true,
            visible: true,
            used: [false, false],
            tags: BTreeMap::new(),
        }
    }
}

/// The most bytes that an object may have.
pub(super) const MOST: u64 = 1 << 16;

/// All objects.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Memory {
    pub(super) objects: BTreeMap<Object, Cells>,
    /// Objects whose addresses may have been captured.
    pub(super) escaped: std::collections::BTreeSet<Object>,
    locals: u32,
}

/// An access: where, how much, and what the text says of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Access<'a> {
    pub(super) pointer: Pointer,
    pub(super) size: u64,
    pub(super) align: u64,
    pub(super) writes: bool,
    pub(super) tag: Option<&'a str>,
}

impl Memory {
    /// A new stack slot.
    pub(super) fn local(&mut self, size: u64, align: u64, side: RefinementSide) -> Result<Pointer, Stop> {
        if size > MOST {
            return unsupported("a stack slot of more than 65536 bytes");
        }
        let object = Object::Local(self.locals);
        self.locals += 1;
        let cells = Cells { visible: false, ..Cells::new(vec![uninitialised(side); size as usize], align) };
        self.objects.insert(object, cells);
        Ok(Pointer { object, offset: 0 })
    }

    /// The address of a pointer, if it is known.
    pub(super) fn address(&self, pointer: Pointer) -> Option<u64> {
        match pointer.object {
            Object::None => Some(pointer.offset),
            object => Some(self.objects.get(&object)?.address?.wrapping_add(pointer.offset)),
        }
    }

    /// The size of the object that a pointer is based on.
    pub(super) fn size(&self, pointer: Pointer) -> Option<u64> {
        self.objects.get(&pointer.object).map(|cells| cells.bytes.len() as u64)
    }

    /// Is it a multiple of `align`? `None` where that depends on where the object is.
    pub(super) fn is_aligned(&self, pointer: Pointer, align: u64) -> Option<bool> {
        let align = align.max(1);
        match self.address(pointer) {
            Some(address) => Some(address % align == 0),
            None => {
                let known = self.objects.get(&pointer.object).map_or(1, |cells| cells.align);
                let offset = pointer.offset % align.min(known);
                if offset != 0 { Some(false) } else { (align <= known).then_some(true) }
            }
        }
    }

    /// Checks an access, and notes it: the bytes that it is about.
    pub(super) fn access(&mut self, chooser: &Chooser, access: Access<'_>) -> Result<&mut [Byte], Stop> {
        let Access { pointer, size, align, writes, tag } = access;
        if pointer.object == Object::None {
            return match pointer.offset {
                0 => undefined("it accesses memory at null"),
                _ if chooser.side == RefinementSide::Before => undefined("it accesses memory at an address"),
                _ => unsupported("an access by an address that is a number"),
            };
        }
        // Of what is not modelled it is not known either how it is aligned.
        if !self.objects.contains_key(&pointer.object) {
            return unsupported("an access to what is no object");
        }
        match self.is_aligned(pointer, align) {
            Some(false) => return undefined(format!("an access at {pointer} is not aligned to {align} bytes")),
            Some(true) => {}
            None => chooser.perhaps_undefined("an access may not be aligned")?,
        }
        let Some(cells) = self.objects.get_mut(&pointer.object) else {
            return unsupported("an access to what is no object");
        };
        let end = pointer.offset.checked_add(size).filter(|end| *end <= cells.bytes.len() as u64);
        let Some(end) = end else {
            return undefined(format!("{size} bytes at {pointer} are not all within the object"));
        };
        if cells.constant && writes {
            return undefined(format!("it writes to a constant at {pointer}"));
        }
        if !cells.alive {
            chooser.perhaps_undefined("it accesses a stack slot that is not alive")?;
        }
        cells.used[usize::from(writes)] = true;
        if let (Some(tag), RefinementSide::Before) = (tag, chooser.side) {
            for at in pointer.offset..end {
                if *cells.tags.entry(at).or_insert_with(|| tag.to_string()) != tag {
                    return unsupported("memory that is accessed as values of different types (`!tbaa`)");
                }
            }
        }
        Ok(&mut cells.bytes[pointer.offset as usize..end as usize])
    }

    /// Writes a scalar of `width` bits, or a pointer where that is `None`.
    pub(super) fn store(
        &mut self,
        chooser: &mut Chooser,
        access: Access<'_>,
        lane: &Lane,
        width: Option<u32>,
    ) -> Result<(), Stop> {
        let lane = match (lane, chooser.side) {
            // Several values are written as one of them.
            (Lane::Few(atoms), RefinementSide::After) => Lane::One(atoms[chooser.choose(atoms.len())]),
            _ => lane.clone(),
        };
        for atom in lane.values(64).unwrap_or_default() {
            if let Atom::Pointer(pointer) = atom {
                self.escaped.insert(pointer.object);
            }
        }
        // The bits above a value of an odd width are unspecified.
        let padding = if chooser.side == RefinementSide::Before { !ones(width.unwrap_or(64)) } else { 0 };
        for (byte, i) in self.access(chooser, access)?.iter_mut().zip(0u8..) {
            *byte = part(&lane, i, padding);
        }
        Ok(())
    }

    /// Reads a scalar of `width` bits, or a pointer where that is `None`.
    pub(super) fn load(&mut self, chooser: &Chooser, access: Access<'_>, width: Option<u32>) -> Result<Lane, Stop> {
        let bytes = self.access(chooser, access)?;
        join(chooser, bytes, width)
    }
}

/// A byte of uninitialised memory: the first version might as well have poison there.
pub(super) fn uninitialised(side: RefinementSide) -> Byte {
    if side == RefinementSide::Before { Byte::Poison } else { Byte::UNDEF }
}

/// One byte of a scalar.
fn part(lane: &Lane, i: u8, padding: u128) -> Byte {
    let at = u32::from(i) * 8;
    let byte = |bits: u128| if at < 128 { (bits >> at) as u8 } else { 0 };
    let padded = |value: u8, undef: u8| {
        let undef = undef | byte(padding);
        Byte::Bits { value: value & !undef, undef }
    };
    match lane {
        Lane::One(Atom::Poison) => Byte::Poison,
        Lane::One(Atom::Int(bits)) => padded(byte(*bits), 0),
        Lane::One(Atom::Pointer(Pointer::NULL)) => Byte::ZERO,
        Lane::One(Atom::Pointer(pointer)) => Byte::Pointer(*pointer, i),
        Lane::Undef { bits, mask } => padded(byte(*bits), byte(*mask)),
        Lane::Few(atoms) => {
            let mut parts = atoms.iter().map(|atom| part(&Lane::One(*atom), i, padding));
            match parts.next() {
                Some(first) if parts.all(|other| other == first) => first,
                _ => Byte::Unknown(lane.doubt()),
            }
        }
        Lane::Nan | Lane::Unknown(_) => Byte::Unknown(lane.doubt()),
    }
}

/// A scalar from its bytes.
fn join(chooser: &Chooser, bytes: &[Byte], width: Option<u32>) -> Result<Lane, Stop> {
    if bytes.contains(&Byte::Poison) {
        return Ok(Lane::POISON);
    }
    if let Some(doubt) = bytes.iter().filter_map(|b| if let Byte::Unknown(d) = b { Some(*d) } else { None }).max() {
        return chooser.unclear("a value in memory that is not known", doubt);
    }
    let (mut bits, mut mask) = (0u128, 0u128);
    for (byte, at) in bytes.iter().zip((0..128).step_by(8)) {
        match (byte, width) {
            (Byte::Bits { value, undef }, _) => {
                bits |= u128::from(*value) << at;
                mask |= u128::from(*undef) << at;
            }
            (Byte::Pointer(pointer, 0), None) if at == 0 && is_pointer(bytes, *pointer) => {
                return Ok(Lane::pointer(*pointer));
            }
            _ => return chooser.unclear("a part of a pointer as a number", Doubt::Poison),
        }
    }
    match width {
        None if bits == 0 && mask == 0 => Ok(Lane::pointer(Pointer::NULL)),
        None if mask == ones(64) => Ok(Lane::undef(64)),
        None => chooser.unclear("a number in memory as a pointer", Doubt::Poison),
        Some(width) => {
            let above = !ones(width);
            if bits & !mask & above != 0 || mask & above != 0 && chooser.side == RefinementSide::After {
                return chooser.unclear("a value of an odd width that was written as another one", Doubt::Poison);
            }
            let (bits, mask) = (bits & ones(width), mask & ones(width));
            Ok(if mask == 0 { Lane::int(bits) } else { Lane::Undef { bits, mask } })
        }
    }
}

fn is_pointer(bytes: &[Byte], pointer: Pointer) -> bool {
    bytes.len() == 8 && bytes.iter().zip(0..).all(|(byte, i)| *byte == Byte::Pointer(pointer, i))
}
