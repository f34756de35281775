//! Memory for the interpreter: byte arrays at addresses that the caller gives. An access outside, or across the
//! end of one, fails.

/// A piece of memory.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Area {
    /// Address of the first byte.
    pub base: u64,
    /// Contents.
    pub bytes: Vec<u8>,
}

/// All memory that a function may touch.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Memory {
    areas: Vec<Area>,
}

impl Memory {
    /// Adds an area. It must not overlap another one, else the first one is found.
    pub fn add(&mut self, base: u64, bytes: Vec<u8>) {
        self.areas.push(Area { base, bytes });
    }

    /// The areas in the order in which they were added.
    pub fn areas(&self) -> &[Area] {
        &self.areas
    }

    /// The area and the bytes of it that an access touches.
    fn find(&self, address: u64, size: u32) -> Option<(usize, std::ops::Range<usize>)> {
        self.areas.iter().enumerate().find_map(|(i, area)| {
            let start = usize::try_from(address.checked_sub(area.base)?).ok()?;
            let range = start..start.checked_add(size as usize)?;
            (range.end <= area.bytes.len()).then_some((i, range))
        })
    }

    /// Is there an area that has all `size` bytes?
    pub(super) fn has(&self, address: u64, size: u32) -> bool {
        self.find(address, size).is_some()
    }

    /// Reads `size` (at most 8) bytes, little-endian, zero-extended.
    pub fn load(&self, address: u64, size: u32) -> Option<u64> {
        let (area, range) = self.find(address, size)?;
        Some(self.areas[area].bytes[range].iter().rev().fold(0, |n, b| n << 8 | u64::from(*b)))
    }

    /// Writes the low `size` (at most 8) bytes of `value`, little-endian.
    pub fn store(&mut self, address: u64, size: u32, value: u64) -> Option<()> {
        let (area, range) = self.find(address, size)?;
        for (i, b) in self.areas[area].bytes[range].iter_mut().enumerate() {
            *b = (value >> (8 * i)) as u8;
        }
        Some(())
    }
}
