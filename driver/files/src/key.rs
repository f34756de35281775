//! Names of results: hashes of everything that these depend on.

use std::hash::{DefaultHasher, Hash, Hasher};

/// A hash of everything that a result depends on.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Key(u128);

/// Two hashes that begin differently. They may be others in another release of Rust: then all is made anew.
struct Both(DefaultHasher, DefaultHasher);

impl Both {
    fn new(version: u32) -> Self {
        let mut both = Both(DefaultHasher::new(), DefaultHasher::new());
        both.0.write_u32(version);
        both.1.write_u32(!version);
        both
    }

    fn key(&self) -> Key {
        Key(u128::from(self.0.finish()) | u128::from(self.1.finish()) << 64)
    }
}

impl Hasher for Both {
    fn write(&mut self, bytes: &[u8]) {
        self.0.write(bytes);
        self.1.write(bytes);
    }

    fn finish(&self) -> u64 {
        self.0.finish()
    }
}

impl Key {
    /// `version` goes up whenever results may change for another reason than their parts.
    pub fn of<'a>(version: u32, parts: impl IntoIterator<Item = &'a [u8]>) -> Self {
        let mut both = Both::new(version);
        for part in parts {
            both.write_usize(part.len());
            both.write(part);
        }
        both.key()
    }

    /// The same of a value, which this build of the program alone knows again.
    pub fn of_value(version: u32, value: &impl Hash) -> Self {
        let mut both = Both::new(version);
        value.hash(&mut both);
        both.key()
    }

    /// As a part of another key.
    pub fn bytes(&self) -> [u8; 16] {
        self.0.to_le_bytes()
    }
}

impl std::fmt::Display for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}
