//! Memory as a chain of writes: what is read is the last byte that was written at the address, or an unknown one.
//!
//! Addresses are sums of terms and a constant. Two of them are compared by what they do not have in common, so that
//! accesses from one base are compared by their offsets: that is what makes such questions easy for a solver.
//!
//! The contents before the first write are a variable per address that is read; where two of these addresses are
//! equal, so are the bytes (Ackermann 1954). So the solver sees bit vectors and nothing else.

use super::address::Address;
use super::expr::{Expr, Sort};
use super::script::{Read, Script, Written};
use rewright_typeprop::model::MemoryAccess;

impl Address {
    /// The sum of terms: of what these are sums of, where the laws of a ring are known.
    pub fn sum(s: &mut Script, parts: &[Expr]) -> Self {
        let mut sum = Address { terms: vec![], constant: 0 };
        let parts: Vec<Expr> = parts.iter().flat_map(|part| s.summands(*part)).collect();
        for part in parts {
            match s.constant(part) {
                Some(n) => sum.constant = sum.constant.wrapping_add(n as u64),
                None => sum.terms.push(part),
            }
        }
        sum.terms.sort_unstable_by_key(|t| t.id);
        sum
    }

    /// As one term.
    pub fn term(&self, s: &mut Script) -> Expr {
        let mut parts = self.terms.clone();
        if self.constant != 0 || parts.is_empty() {
            parts.push(s.bits(64, self.constant.into()));
        }
        match parts.as_slice() {
            [one] => *one,
            several => s.apply("bvadd", several, Sort::Bits(64)),
        }
    }

    /// Is it the other one?
    fn is(&self, s: &mut Script, other: &Address) -> Expr {
        let (mut own, mut others) = (self.terms.clone(), other.terms.clone());
        own.retain(|term| match others.iter().position(|o| o == term) {
            Some(at) => {
                others.remove(at);
                false
            }
            None => true,
        });
        let distance = other.constant.wrapping_sub(self.constant);
        if own.is_empty() && others.is_empty() {
            return if distance == 0 { Expr::TRUE } else { Expr::FALSE };
        }
        let sort = Sort::Bits(64);
        let zero = s.bits(64, 0);
        let total = |s: &mut Script, terms: &[Expr]| match terms {
            [] => zero,
            [one] => *one,
            several => s.apply("bvadd", several, sort),
        };
        let (own, others) = (total(s, &own), total(s, &others));
        let difference = if others == zero { own } else { s.apply("bvsub", &[own, others], sort) };
        let distance = s.bits(64, distance.into());
        s.equal(difference, distance)
    }
}

/// Memory after one byte has been written.
fn write(s: &mut Script, memory: Expr, address: Address, written: Written) -> Expr {
    let at = address.term(s);
    let key = format!("{} after {} at {}", s.name(memory), s.name(written.byte), s.name(at));
    let after = named(s, key);
    s.writes.insert(after.id, (memory, address, written));
    after
}

/// The memory that a key tells from all others.
fn named(s: &mut Script, key: String) -> Expr {
    if let Some(known) = s.known.get(&key) {
        return *known;
    }
    let name = format!("memory {}", s.known.len());
    let memory = s.named(name, Sort::Memory);
    s.known.insert(key, memory);
    memory
}

/// The byte at an address.
pub fn read(s: &mut Script, memory: Expr, address: &Address) -> Expr {
    if let Some((before, when, time)) = s.given.get(&memory.id).copied() {
        if s.private.iter().any(|own| address.is_from(*own)) {
            return read(s, before, address);
        }
        let at = address.term(s);
        let theirs = s.unknown("byte that others leave", &[time, at], Sort::Bits(8));
        if s.assumed.contains(&when) {
            return theirs;
        }
        let own = read(s, before, address);
        return s.choose(when, theirs, own);
    }
    let Some((before, at, Written { byte, when })) = s.writes.get(&memory.id).cloned() else {
        return initial(s, memory, address);
    };
    let byte = when.filter(|(when, _)| s.assumed.contains(when)).map_or(byte, |(_, byte)| byte);
    let here = address.is(s, &at);
    if here == Expr::TRUE {
        return byte;
    }
    let otherwise = read(s, before, address);
    s.choose(here, byte, otherwise)
}

/// Do two memories hold the same bytes? Two that began as one can differ only where either of them has been written to;
/// others may differ anywhere.
pub fn same(s: &mut Script, left: Expr, right: Expr) -> Expr {
    let [(mut addresses, base), (others, other_base)] = [left, right].map(|memory| written(s, memory));
    let new: Vec<Address> = others.into_iter().filter(|address| !addresses.contains(address)).collect();
    addresses.extend(new);
    if base != other_base {
        addresses.push(Address::of(s.variable("address", Sort::Bits(64))));
    }
    let mut equal = vec![];
    for address in &addresses {
        let (left, right) = (read(s, left, address), read(s, right, address));
        equal.push(s.equal(left, right));
    }
    s.and(&equal)
}

/// Where a memory has been written to, the last one first, and the memory that it began as.
pub fn written(s: &Script, mut memory: Expr) -> (Vec<Address>, Expr) {
    let mut addresses = vec![];
    loop {
        if let Some((before, address, _)) = s.writes.get(&memory.id) {
            if !addresses.contains(address) {
                addresses.push(address.clone());
            }
            memory = *before;
        } else if let Some((before, _, _)) = s.given.get(&memory.id) {
            memory = *before;
        } else {
            return (addresses, memory);
        }
    }
}

/// Where two memories may hold other bytes, if others have left the same in both: where either has been written to since
/// they were one memory. A byte elsewhere that is the same as one of these is compared there.
pub fn may_differ(s: &Script, left: Expr, right: Expr) -> Vec<Address> {
    let [left, right] = [left, right].map(|memory| states(s, memory));
    let common = right.iter().find(|(memory, _)| left.iter().any(|(other, _)| other == memory));
    let since = |states: &[State]| -> Vec<State> {
        states.iter().take_while(|(memory, _)| common.is_none_or(|(common, _)| common != memory)).cloned().collect()
    };
    let mut changes = [since(&left), since(&right)].concat();
    // Writes of other code may be anywhere.
    if changes.iter().any(|(_, written)| written.is_none()) {
        changes = [left, right].concat();
    }
    changes.into_iter().filter_map(|(_, written)| written).collect()
}

/// A memory, and where it has been written to, if that is what has been done to it last.
type State = (u32, Option<Address>);

/// A memory and all before it.
fn states(s: &Script, memory: Expr) -> Vec<State> {
    let (mut states, mut memory) = (vec![], memory.id);
    loop {
        let written = s.writes.get(&memory);
        states.push((memory, written.map(|(_, address, _)| address.clone())));
        memory = match (written, s.given.get(&memory)) {
            (Some((before, ..)), _) | (None, Some((before, ..))) => before.id,
            (None, None) => return states,
        };
    }
}

/// Memory after other code could write to it, if that code was given it: what it holds is unknown, except that equal
/// times leave equal bytes.
pub fn given(s: &mut Script, memory: Expr, when: Expr, time: Expr) -> Expr {
    let key = format!("{} given when {} at {}", s.name(memory), s.name(when), s.name(time));
    let after = named(s, key);
    s.given.insert(after.id, (memory, when, time));
    after
}

/// The byte that a memory variable holds at an address.
fn initial(s: &mut Script, memory: Expr, address: &Address) -> Expr {
    let reads: Vec<Read> = s.reads.iter().filter(|read| read.memory == memory).cloned().collect();
    if let Some(known) = reads.iter().find(|read| read.address == *address) {
        return known.byte;
    }
    let name = format!("{} byte {}", s.name(memory).trim_matches('|'), reads.len());
    let byte = s.variable(&name, Sort::Bits(8));
    let at = s.variable(&format!("{name} at"), Sort::Bits(64));
    let term = address.term(s);
    let mut known = vec![s.equal(at, term)];
    for earlier in &reads {
        let here = address.is(s, &earlier.address);
        let (elsewhere, same) = (s.not(here), s.equal(byte, earlier.byte));
        known.push(s.or(&[elsewhere, same]));
    }
    let known = s.and(&known);
    s.assume(byte, known);
    s.reads.push(Read { memory, address: address.clone(), at, byte });
    byte
}

/// The bytes at an address, little-endian, extended to `width`.
pub fn load(s: &mut Script, memory: Expr, address: &Address, access: MemoryAccess, width: u32) -> Expr {
    let bytes = u64::from(access.bits.unwrap_or(width) / 8);
    let mut parts: Vec<Expr> = (0..bytes).map(|i| read(s, memory, &address.plus(i))).collect();
    parts.reverse();
    let raw = s.concat(&parts);
    if access.signed { s.sign_extend(raw, width) } else { s.resize(raw, width) }
}

/// Memory after the low bits of a value have been written, little-endian.
pub fn store(s: &mut Script, memory: Expr, address: &Address, access: MemoryAccess, value: Expr) -> Expr {
    let bytes = access.bits.unwrap_or(value.width()) / 8;
    (0..bytes).fold(memory, |memory, i| {
        let byte = s.extract(value, 8 * i + 7, 8 * i);
        write(s, memory, address.plus(i.into()), Written { byte, when: None })
    })
}

/// Memory after the low bits of a value have been written, little-endian, where a condition holds.
pub fn store_when(
    s: &mut Script,
    memory: Expr,
    address: &Address,
    access: MemoryAccess,
    (when, value): (Expr, Expr),
) -> Expr {
    if when == Expr::TRUE {
        return store(s, memory, address, access, value);
    }
    // The old contents count where the condition does not hold.
    let assumed = std::mem::take(&mut s.assumed);
    let old = load(s, memory, address, access, value.width());
    s.assumed = assumed;
    let left = s.choose(when, value, old);
    let bytes = access.bits.unwrap_or(value.width()) / 8;
    (0..bytes).fold(memory, |memory, i| {
        let [byte, plain] = [left, value].map(|value| s.extract(value, 8 * i + 7, 8 * i));
        write(s, memory, address.plus(i.into()), Written { byte, when: Some((when, plain)) })
    })
}
