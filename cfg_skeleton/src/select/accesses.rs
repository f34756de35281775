//! Which bytes may be written at a place, by what other accesses prove.
//!
//! An access of its own width proves the same access. Several together prove a wider one: the bytes of a word may be
//! written where each of them may.

use super::check_identity::{CheckIdentities, CheckIdentity, CheckIdentityId};
use crate::egraph::ClassId;
use rustc_hash::FxHashMap;

/// Bits at an address: its base, an offset in bytes from there, and how many bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Bits {
    pub(super) base: ClassId,
    pub(super) offset: i64,
    pub(super) width: u32,
}

impl Bits {
    /// The bits that a check of an access is about; `None` for other checks.
    pub(super) fn of(key: &CheckIdentity) -> Option<Bits> {
        match *key {
            CheckIdentity::Access(base, offset, width) => Some(Bits { base, offset, width }),
            CheckIdentity::Condition(_) | CheckIdentity::Operation(..) => None,
        }
    }

    fn bytes(self) -> i64 {
        i64::from(self.width.div_ceil(8))
    }

    /// Is each of the bytes one of some of these accesses?
    pub(super) fn are_among(self, parts: impl Iterator<Item = Bits>) -> bool {
        // Offsets wrap, so all are counted from the first byte that is asked for.
        let mut ranges: Vec<(i64, i64)> = parts
            .filter(|part| part.base == self.base)
            .map(|part| (part.offset.wrapping_sub(self.offset), part.bytes()))
            .collect();
        ranges.sort_unstable();
        let mut reached = 0;
        for (start, bytes) in ranges {
            if start > reached {
                break;
            }
            reached = reached.max(start.saturating_add(bytes));
        }
        reached >= self.bytes()
    }
}

/// Checks of accesses, by the base of their address.
#[derive(Default)]
pub(super) struct Accesses {
    by_base: FxHashMap<ClassId, Vec<(Bits, CheckIdentityId)>>,
}

impl Accesses {
    /// All that are known by now.
    pub(super) fn new(keys: &CheckIdentities) -> Self {
        let mut accesses = Accesses::default();
        for (key, id) in keys.all() {
            if let Some(bits) = Bits::of(key) {
                accesses.by_base.entry(bits.base).or_default().push((bits, id));
            }
        }
        accesses
    }

    /// Those with the same base.
    pub(super) fn beside(&self, bits: Bits) -> impl Iterator<Item = (Bits, CheckIdentityId)> {
        self.by_base.get(&bits.base).into_iter().flatten().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bits(base: u32, offset: i64, width: u32) -> Bits {
        Bits { base: ClassId(base), offset, width }
    }

    #[test]
    fn bytes_are_covered_together() {
        let word = bits(0, 4, 32);
        let covered = |parts: &[Bits]| word.are_among(parts.iter().copied());
        assert!(covered(&[word]));
        assert!(covered(&[bits(0, 0, 64)]));
        assert!(covered(&[bits(0, 7, 8), bits(0, 5, 16), bits(0, 4, 8)]), "in any order");
        assert!(covered(&[bits(0, 3, 16), bits(0, 4, 16), bits(0, 5, 64)]), "some of them overlap");
        assert!(!covered(&[bits(0, 4, 8), bits(0, 6, 16)]), "a gap");
        assert!(!covered(&[bits(0, 4, 16), bits(0, 6, 8)]), "the last byte");
        assert!(!covered(&[bits(0, 5, 32)]), "the first byte");
        assert!(!covered(&[bits(1, 4, 32)]), "another base");
        let last = bits(0, i64::MAX, 16);
        assert!(last.are_among([bits(0, i64::MIN, 8), bits(0, i64::MAX, 8)].into_iter()), "offsets wrap");
    }
}
