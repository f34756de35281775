//! Values of LLVM IR as a run sees them, lane by lane, and when one may stand for another.
//!
//! A lane is one value or several. Several come from `undef`: each use of it may see another one. A run that has to
//! cover all that a function may do (see [`super::choice`]) may also lose track of a lane; it is *unknown* then, with
//! what it may be at worst.

use std::fmt;

/// What a pointer may be based on.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) enum Object {
    /// No object: the offset is the address. `null` is the address 0.
    None,
    /// A block of memory that the caller gives.
    Block(u32),
    /// A global variable or function.
    Global(u32),
    /// A stack slot.
    Local(u32),
}

/// An object and a place relative to its start.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct Pointer {
    pub(super) object: Object,
    /// In bytes, modulo 2^64.
    pub(super) offset: u64,
}

impl Pointer {
    pub(super) const NULL: Pointer = Pointer { object: Object::None, offset: 0 };
}

/// One value of a scalar type.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) enum Atom {
    Poison,
    /// Bits of an integer or a float, zero above its width.
    Int(u128),
    Pointer(Pointer),
}

/// The worst that a lane may be of which a run has lost track.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) enum Doubt {
    /// Some value, the same at each use.
    Fixed,
    /// Perhaps another value at each use.
    Undef,
    /// Perhaps poison.
    Poison,
}

/// What is known of one scalar.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) enum Lane {
    One(Atom),
    /// At each use, the bits in `mask` are any; the others are those of `bits`. The mask is not 0.
    Undef {
        bits: u128,
        mask: u128,
    },
    /// At each use one of these: at least two, in order.
    Few(Vec<Atom>),
    /// A NaN with any sign and payload.
    Nan,
    Unknown(Doubt),
}

impl Lane {
    pub(super) const POISON: Lane = Lane::One(Atom::Poison);

    pub(super) fn int(bits: u128) -> Lane {
        Lane::One(Atom::Int(bits))
    }

    pub(super) fn pointer(pointer: Pointer) -> Lane {
        Lane::One(Atom::Pointer(pointer))
    }

    /// `undef` of a width.
    pub(super) fn undef(width: u32) -> Lane {
        Lane::Undef { bits: 0, mask: ones(width) }
    }

    /// What a set of values is. It is not empty.
    pub(super) fn of(mut atoms: Vec<Atom>, width: u32) -> Lane {
        atoms.sort_unstable();
        atoms.dedup();
        match atoms[..] {
            [atom] => Lane::One(atom),
            [Atom::Int(_), ..] if width < 32 && atoms.len() == 1 << width => Lane::undef(width),
            _ => Lane::Few(atoms),
        }
    }

    /// May it be poison?
    pub(super) fn may_be_poison(&self) -> bool {
        match self {
            Lane::One(atom) => *atom == Atom::Poison,
            Lane::Few(atoms) => atoms.contains(&Atom::Poison),
            Lane::Unknown(doubt) => *doubt == Doubt::Poison,
            Lane::Undef { .. } | Lane::Nan => false,
        }
    }

    /// May it be another value at another use, or poison?
    pub(super) fn is_loose(&self) -> bool {
        match self {
            Lane::One(atom) => *atom == Atom::Poison,
            Lane::Undef { .. } | Lane::Few(_) => true,
            Lane::Unknown(doubt) => *doubt != Doubt::Fixed,
            Lane::Nan => false,
        }
    }

    /// How much is lost with it.
    pub(super) fn doubt(&self) -> Doubt {
        match self {
            lane if lane.may_be_poison() => Doubt::Poison,
            Lane::Unknown(doubt) => *doubt,
            Lane::Undef { .. } | Lane::Few(_) => Doubt::Undef,
            Lane::One(_) | Lane::Nan => Doubt::Fixed,
        }
    }

    /// All values that it may have, if these are at most `most`.
    pub(super) fn values(&self, most: usize) -> Option<Vec<Atom>> {
        match self {
            Lane::One(atom) => Some(vec![*atom]),
            Lane::Few(atoms) => (atoms.len() <= most).then(|| atoms.clone()),
            Lane::Undef { bits, mask } => {
                let count = 1usize.checked_shl(mask.count_ones()).filter(|n| *n <= most && *n > 0)?;
                Some((0..count).map(|n| Atom::Int(bits & !mask | deposit(n as u128, *mask))).collect())
            }
            Lane::Nan | Lane::Unknown(_) => None,
        }
    }

    /// May a lane of the second version that is this one stand where the first version has `before`? `nan` says which
    /// bits are a NaN in this type.
    pub(super) fn refines(&self, before: &Lane, nan: &dyn Fn(u128) -> bool) -> bool {
        match before {
            _ if before.may_be_poison() => true,
            Lane::Unknown(Doubt::Fixed) => !self.is_loose(),
            Lane::Unknown(_) => !self.may_be_poison(),
            Lane::Nan => self.all(|atom| matches!(atom, Atom::Int(bits) if nan(bits))),
            Lane::Undef { bits, mask } => match self {
                Lane::Undef { bits: own, mask: choices } => choices & !mask == 0 && own & !mask == bits & !mask,
                _ => self.all(|atom| match atom {
                    Atom::Int(own) => own & !mask == bits & !mask,
                    Atom::Pointer(_) => true,
                    Atom::Poison => false,
                }),
            },
            Lane::One(one) => self.all(|atom| stands_for(atom, *one, nan)),
            Lane::Few(many) => self.all(|atom| many.iter().any(|one| stands_for(atom, *one, nan))),
        }
    }

    /// Are all values that it may have known to be like this?
    fn all(&self, holds: impl Fn(Atom) -> bool) -> bool {
        self.values(MOST_COMPARED).is_some_and(|values| values.into_iter().all(holds))
    }
}

/// Lanes with more values than this are compared by what is chosen, not by their values.
const MOST_COMPARED: usize = 1 << 16;

/// Is a value as good as another one that is not poison? Addresses of stack slots are not compared.
fn stands_for(after: Atom, before: Atom, nan: &dyn Fn(u128) -> bool) -> bool {
    match (after, before) {
        (_, Atom::Pointer(Pointer { object: Object::Local(_), .. })) => after != Atom::Poison,
        (Atom::Int(x), Atom::Int(y)) => x == y || (nan(x) && nan(y)),
        _ => after == before,
    }
}

/// The lowest bits.
pub(super) fn ones(width: u32) -> u128 {
    if width == 0 { 0 } else { u128::MAX >> (128 - width) }
}

/// Spreads the low bits of a number over the bits of a mask.
pub(super) fn deposit(mut number: u128, mut mask: u128) -> u128 {
    let mut out = 0;
    while mask != 0 {
        let lowest = mask & mask.wrapping_neg();
        if number & 1 == 1 {
            out |= lowest;
        }
        number >>= 1;
        mask &= mask - 1;
    }
    out
}

/// A value of any type.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) enum Value {
    Scalar(Lane),
    /// Of a vector, an array or a structure.
    Parts(Vec<Value>),
}

impl Value {
    /// All scalars in it, in order.
    pub(super) fn lanes(&self) -> Vec<&Lane> {
        match self {
            Value::Scalar(lane) => vec![lane],
            Value::Parts(parts) => parts.iter().flat_map(Value::lanes).collect(),
        }
    }

    /// The same with each scalar replaced.
    pub(super) fn try_map<E>(&self, f: &mut dyn FnMut(&Lane) -> Result<Lane, E>) -> Result<Value, E> {
        Ok(match self {
            Value::Scalar(lane) => Value::Scalar(f(lane)?),
            Value::Parts(parts) => Value::Parts(parts.iter().map(|part| part.try_map(f)).collect::<Result<_, _>>()?),
        })
    }

    /// A part of it.
    pub(super) fn part(&self, index: usize) -> Option<&Value> {
        match self {
            Value::Scalar(_) => None,
            Value::Parts(parts) => parts.get(index),
        }
    }

    /// Its only scalar.
    pub(super) fn scalar(&self) -> Option<&Lane> {
        match self {
            Value::Scalar(lane) => Some(lane),
            Value::Parts(_) => None,
        }
    }
}

impl fmt::Display for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Object::None => write!(f, "address"),
            Object::Block(n) => write!(f, "&{n}"),
            Object::Global(n) => write!(f, "&global {n}"),
            Object::Local(n) => write!(f, "&local {n}"),
        }
    }
}

impl fmt::Display for Pointer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Pointer::NULL => write!(f, "null"),
            Pointer { object: Object::None, offset } => write!(f, "address {offset:#x}"),
            Pointer { object, offset } => write!(f, "{object}{:+}", offset as i64),
        }
    }
}

impl fmt::Display for Atom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Atom::Poison => write!(f, "poison"),
            Atom::Int(bits) if *bits < 1024 => write!(f, "{bits}"),
            Atom::Int(bits) => write!(f, "{bits:#x}"),
            Atom::Pointer(pointer) => write!(f, "{pointer}"),
        }
    }
}

impl fmt::Display for Lane {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Lane::One(atom) => write!(f, "{atom}"),
            Lane::Undef { bits, mask } if bits & !mask == 0 => write!(f, "undef"),
            Lane::Undef { bits, mask } => write!(f, "{:#x} with bits {mask:#x} undef", bits & !mask),
            Lane::Few(atoms) => {
                let shown: Vec<_> = atoms.iter().take(8).map(ToString::to_string).collect();
                let more = if atoms.len() > 8 { " | ..." } else { "" };
                write!(f, "{}{more}", shown.join(" | "))
            }
            Lane::Nan => write!(f, "a NaN"),
            Lane::Unknown(_) => write!(f, "any value"),
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Scalar(lane) => write!(f, "{lane}"),
            Value::Parts(parts) => {
                let shown: Vec<_> = parts.iter().map(ToString::to_string).collect();
                write!(f, "{{ {} }}", shown.join(", "))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_for_what() {
        let undef = Lane::undef(8);
        let half = Lane::Undef { bits: 0x30, mask: 0x0f };
        let few = Lane::of(vec![Atom::Int(1), Atom::Int(2)], 8);
        let refines = |after: &Lane, before: &Lane| after.refines(before, &|_| false);
        for lane in [&undef, &half, &few, &Lane::int(3), &Lane::POISON] {
            assert!(refines(lane, &Lane::POISON) && refines(lane, &Lane::Unknown(Doubt::Poison)), "{lane}");
            assert!(refines(lane, lane), "{lane}");
            assert_eq!(refines(lane, &undef), *lane != Lane::POISON, "{lane}");
        }
        assert!(refines(&Lane::int(0x35), &half) && !refines(&Lane::int(0x45), &half));
        assert!(refines(&Lane::int(1), &few) && !refines(&few, &Lane::int(1)) && !refines(&undef, &few));
        assert!(!refines(&undef, &half) && !refines(&undef, &Lane::int(0)));
        let unknown = [Doubt::Fixed, Doubt::Undef].map(Lane::Unknown);
        assert!(refines(&undef, &unknown[1]) && !refines(&Lane::POISON, &unknown[1]));
        assert!(!refines(&undef, &unknown[0]) && refines(&Lane::int(3), &unknown[0]));
        assert!(Lane::int(7).refines(&Lane::Nan, &|bits| bits == 7));
    }

    #[test]
    fn sets_that_are_all_values_are_undef() {
        let all: Vec<Atom> = (0..16).rev().map(Atom::Int).collect();
        assert_eq!(Lane::of(all.clone(), 4), Lane::undef(4));
        assert_eq!(Lane::of(vec![all[0], all[0]], 4), Lane::One(all[0]));
        assert_eq!(Lane::Undef { bits: 8, mask: 5 }.values(4).unwrap(), [8, 9, 12, 13].map(Atom::Int));
    }
}
