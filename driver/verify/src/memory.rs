//! Memory on concrete values: bytes by address, with pseudo-random ones where nothing was stored.
//!
//! The provenance of pointers is in a memory of its own, at the addresses where they are: a pointer's store writes
//! both, all other stores leave provenance alone. So what is loaded as an integer and put back changes nothing, and a
//! pointer that is loaded from where an integer was stored has nothing of the pointer whose address that was.
//!
//! **Invariant**: memories with the same bytes everywhere are equal values, whatever was stored to get there.

use std::collections::BTreeMap;

/// Byte-addressed memory; addresses wrap.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Bytes {
    written: BTreeMap<u64, u8>,
    /// This many low bits of an address make no difference to what was there before.
    alike: u32,
}

/// Memory with the provenance of the pointers in it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Memory {
    pub(super) bytes: Bytes,
    pub(super) provenance: Bytes,
}

impl Memory {
    /// One in which 64 bytes are alike, so that vectors are read that have one value in all lanes.
    pub(super) fn of_stretches() -> Self {
        let bytes = Bytes { alike: 6, ..Bytes::default() };
        Memory { bytes, ..Memory::default() }
    }
}

impl Bytes {
    /// A memory with these bytes.
    pub(super) fn holding(bytes: &[(u64, u8)]) -> Self {
        let mut memory = Bytes::default();
        bytes.iter().for_each(|(address, byte)| memory.store(*address, 8, u128::from(*byte)));
        memory
    }

    fn byte(&self, address: u64) -> u8 {
        let stretch = address >> self.alike;
        self.written.get(&address).copied().unwrap_or_else(|| (stretch.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8)
    }

    /// The bytes at an address, little-endian.
    pub(super) fn load(&self, address: u64, bits: u32) -> u128 {
        (0..u64::from(bits / 8)).map(|i| u128::from(self.byte(address.wrapping_add(i))) << (8 * i)).sum()
    }

    /// Storing the byte that is there leaves the memory as it is.
    pub(super) fn store(&mut self, address: u64, bits: u32, value: u128) {
        for i in 0..u64::from(bits / 8) {
            let (at, byte) = (address.wrapping_add(i), (value >> (8 * i)) as u8);
            self.written.remove(&at);
            if self.byte(at) != byte {
                self.written.insert(at, byte);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_stored_is_read_and_wraps() {
        let mut memory = Bytes::default();
        memory.store(u64::MAX, 16, 0x1234);
        assert_eq!((memory.load(u64::MAX, 8), memory.load(0, 8)), (0x34, 0x12));
        assert_eq!(memory.load(u64::MAX, 16), 0x1234);
    }

    #[test]
    fn equal_bytes_are_equal_memories() {
        let mut memory = Bytes::default();
        let before = memory.load(8, 32);
        memory.store(8, 64, 7);
        assert_ne!(memory, Bytes::default());
        memory.store(8, 32, before);
        memory.store(12, 32, Bytes::default().load(12, 32));
        assert_eq!(memory, Bytes::default());
    }
}
