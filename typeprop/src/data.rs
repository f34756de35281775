//! Constants that are no scalars: arrays and strings, interned by value.
//!
//! An array constant of some type is, like a scalar one, a 64-bit number: its *key* in the [`DataPool`], made from
//! its contents. Equal arrays have equal keys in whatever order they are met and on whatever thread, so that an
//! e-graph compares them by value and its order does not depend on when a rule computed them.
//!
//! **In memory** an array is the address of its first element, row by row; in front of it, one 64-bit word each,
//! stand the rank (next to the elements), then the lengths of its dimensions, the first nearest. So `p` is what a
//! BLAS takes, `((int64_t *)p)[-1]` is the rank, and `((int64_t *)p)[-2]` the number of rows. The data in the pool
//! stay where they are for as long as some universe holds the pool; no code may write to them or free them.

use crate::model::Scalar;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// An array: elements of one representation, row by row.
#[derive(Debug)]
pub struct Data {
    element: Scalar,
    shape: Vec<u64>,
    elements: Vec<i64>,
    image: OnceLock<Vec<u64>>,
}

impl Data {
    /// An array of canonical elements; `None` where they are not as many as the shape says.
    pub fn new(element: Scalar, shape: Vec<u64>, elements: Vec<i64>) -> Option<Data> {
        let count = shape.iter().try_fold(1u64, |n, d| n.checked_mul(*d))?;
        (count == elements.len() as u64).then(|| Data { element, shape, elements, image: OnceLock::new() })
    }

    /// A vector of doubles.
    pub fn of_f64(values: &[f64]) -> Data {
        let elements: Vec<i64> = values.iter().map(|x| x.to_bits() as i64).collect();
        Data { element: Scalar::F64, shape: vec![elements.len() as u64], elements, image: OnceLock::new() }
    }

    /// Text, as bytes.
    pub fn of_text(text: &str) -> Data {
        let elements: Vec<i64> = text.bytes().map(|b| Scalar::I8.canonical(b.into())).collect();
        Data { element: Scalar::I8, shape: vec![elements.len() as u64], elements, image: OnceLock::new() }
    }

    /// Representation of its elements.
    pub fn element(&self) -> Scalar {
        self.element
    }

    /// Lengths of its dimensions.
    pub fn shape(&self) -> &[u64] {
        &self.shape
    }

    /// Canonical elements, row by row.
    pub fn elements(&self) -> &[i64] {
        &self.elements
    }

    /// The elements of an array of doubles.
    pub fn doubles(&self) -> Option<Vec<f64>> {
        let all = || self.elements.iter().map(|n| f64::from_bits(*n as u64)).collect();
        (self.element == Scalar::F64).then(all)
    }

    /// The text that an array of bytes is.
    pub fn text(&self) -> Option<String> {
        if self.element != Scalar::I8 || self.shape.len() != 1 {
            return None;
        }
        String::from_utf8(self.elements.iter().map(|n| *n as u8).collect()).ok()
    }

    /// Words in front of the elements, and the bytes of the elements: what it is in memory, in the host's order.
    pub fn image(&self) -> (Vec<u64>, Vec<u8>) {
        let mut header: Vec<u64> = self.shape.iter().rev().copied().collect();
        header.push(self.shape.len() as u64);
        let width = self.element.bits() as usize / 8;
        let mut bytes = Vec::with_capacity(self.elements.len() * width);
        for n in &self.elements {
            match width {
                1 => bytes.push(*n as u8),
                2 => bytes.extend((*n as u16).to_ne_bytes()),
                4 => bytes.extend((*n as u32).to_ne_bytes()),
                _ => bytes.extend((*n as u64).to_ne_bytes()),
            }
        }
        (header, bytes)
    }

    /// Where its first element is in this process. Read only; stays while the array does.
    pub fn address(&self) -> *const u8 {
        let image = self.image.get_or_init(|| {
            let (mut words, bytes) = self.image();
            for chunk in bytes.chunks(8) {
                let mut word = [0; 8];
                word[..chunk.len()].copy_from_slice(chunk);
                words.push(u64::from_ne_bytes(word));
            }
            // An array without elements has an address, too.
            words.push(0);
            words
        });
        image[self.shape.len() + 1..].as_ptr().cast()
    }

    fn equals(&self, other: &Data) -> bool {
        self.element == other.element && self.shape == other.shape && self.elements == other.elements
    }

    /// FNV-1a over the contents: the same on every machine and in every run.
    fn hash(&self) -> u64 {
        let mut hash = 0xcbf2_9ce4_8422_2325u64;
        let mut take = |word: u64| {
            for byte in word.to_le_bytes() {
                hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
            }
        };
        take(self.element as u64);
        take(self.shape.len() as u64);
        self.shape.iter().for_each(|d| take(*d));
        self.elements.iter().for_each(|n| take(*n as u64));
        hash
    }
}

/// All array constants of a run, by key. Clones share them: keys are made from contents, so that sharing is not
/// observable.
#[derive(Clone, Debug, Default)]
pub struct DataPool(Arc<Mutex<Arrays>>);

#[derive(Debug, Default)]
struct Arrays {
    by_key: BTreeMap<i64, Arc<Data>>,
    /// Keys of those that have been asked for their address.
    by_address: BTreeMap<usize, i64>,
}

impl DataPool {
    /// The key of an array.
    pub fn intern(&self, data: Data) -> i64 {
        self.intern_shared(Arc::new(data))
    }

    /// The key of an array that others hold, too.
    pub fn intern_shared(&self, data: Arc<Data>) -> i64 {
        let mut pool = self.lock();
        // Positive, and larger than any number that may be taken for an address or a small integer.
        let mut key = (data.hash() >> 2 | 1 << 61) as i64;
        while let Some(other) = pool.by_key.get(&key) {
            if other.equals(&data) {
                return key;
            }
            // Two arrays of one hash: once in 2^30 arrays, and then by order of arrival.
            key += 1;
        }
        pool.by_key.insert(key, data);
        key
    }

    /// The array behind a key.
    pub fn get(&self, key: i64) -> Option<Arc<Data>> {
        self.lock().by_key.get(&key).cloned()
    }

    /// Where an array is in this process.
    pub fn address_of(&self, key: i64) -> Option<usize> {
        let mut pool = self.lock();
        let address = pool.by_key.get(&key)?.address() as usize;
        pool.by_address.insert(address, key);
        Some(address)
    }

    /// The array at an address that [`DataPool::address_of`] has given.
    pub fn key_at(&self, address: usize) -> Option<i64> {
        self.lock().by_address.get(&address).copied()
    }

    fn lock(&self) -> MutexGuard<'_, Arrays> {
        // Nothing that runs under the lock leaves the maps half changed.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_are_one_iff_they_are_equal() {
        let pool = DataPool::default();
        let a = pool.intern(Data::of_f64(&[1.0, 2.0]));
        assert_eq!(pool.clone().intern(Data::of_f64(&[1.0, 2.0])), a);
        assert_eq!(DataPool::default().intern(Data::of_f64(&[1.0, 2.0])), a, "keys do not depend on history");
        let others = [
            Data::of_f64(&[1.0, 2.5]),
            Data::new(Scalar::F64, vec![2, 1], Data::of_f64(&[1.0, 2.0]).elements).unwrap(),
            Data::new(Scalar::I64, vec![2], vec![1.0f64.to_bits() as i64, 2.0f64.to_bits() as i64]).unwrap(),
            Data::of_f64(&[0.0, -0.0]),
            Data::of_f64(&[0.0, 0.0]),
        ];
        let mut keys: Vec<i64> = others.into_iter().map(|d| pool.intern(d)).chain([a]).collect();
        keys.sort_unstable();
        keys.dedup();
        assert_eq!(keys.len(), 6);
        assert_eq!(pool.get(a).unwrap().doubles(), Some(vec![1.0, 2.0]));
        assert!(pool.get(7).is_none());
    }

    #[test]
    fn the_header_stands_before_the_elements() {
        let data = Data::new(Scalar::I32, vec![2, 3], vec![1, 2, 3, -4, 5, 6]).unwrap();
        let (header, bytes) = data.image();
        assert_eq!(header, [3, 2, 2]);
        assert_eq!(bytes[12..16], (-4i32).to_ne_bytes());
        assert_eq!(data.address(), data.address());
        assert_eq!(data.address() as usize % 8, 0);
        assert!(Data::new(Scalar::I32, vec![2, 3], vec![1]).is_none());
        assert!(Data::new(Scalar::I8, vec![u64::MAX, 2], vec![1]).is_none());
    }

    #[test]
    fn text_is_bytes() {
        assert_eq!(Data::of_text("größe").text().as_deref(), Some("größe"));
        assert_eq!(Data::of_f64(&[]).text(), None);
    }
}
