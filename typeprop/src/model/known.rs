//! What is known of an integer: bits that are 0 or 1, and bounds of it as an unsigned and as a signed number.
//!
//! [`Known`] is a set of integers of some width. [`Known::meet`] of two is what both allow, [`Known::join`] allows what
//! either does. [`Model::transfer`](super::Model::transfer) says what an operation makes of operands of which something
//! is known (`transfer.rs`), [`Model::refine`](super::Model::refine) what its outcome says of its operands
//! (`refine.rs`).
//!
//! **Invariant**: a [`Known`] holds at least one integer, and its parts agree: bounds follow from bits and bits from
//! bounds, as far as leading bits go.

mod refine;
mod transfer;

#[cfg(test)]
mod tests;

/// A set of integers of one width.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Known {
    /// The width, at most 64.
    bits: u32,
    /// Bits that are 0.
    zeros: u64,
    /// Bits that are 1.
    ones: u64,
    /// The least and the greatest one, without signs.
    unsigned: (u64, u64),
    /// The same with signs.
    signed: (i64, i64),
}

/// All bits of a width.
fn mask(bits: u32) -> u64 {
    u64::MAX >> (64 - bits)
}

/// The low bits of a number as a signed one.
fn sign_extended(number: u64, bits: u32) -> i64 {
    ((number << (64 - bits)) as i64) >> (64 - bits)
}

impl Known {
    /// Nothing is known.
    pub fn top(bits: u32) -> Known {
        let all = mask(bits);
        let least = sign_extended(1 << (bits - 1), bits);
        Known { bits, zeros: 0, ones: 0, unsigned: (0, all), signed: (least, !least) }
    }

    /// It is this number, whose bits beyond the width do not count.
    pub fn constant(bits: u32, number: i64) -> Known {
        let raw = number as u64 & mask(bits);
        let signed = sign_extended(raw, bits);
        Known { bits, zeros: !raw & mask(bits), ones: raw, unsigned: (raw, raw), signed: (signed, signed) }
    }

    /// It is 0 or 1.
    pub fn truth(bits: u32) -> Known {
        Known::within(bits, 0, 1)
    }

    /// It is between these, without signs.
    pub fn within(bits: u32, least: u64, greatest: u64) -> Known {
        let top = Known::top(bits);
        Known { unsigned: (least, greatest), ..top }.reduced().unwrap_or(top)
    }

    /// It is between these, with signs.
    pub fn within_signed(bits: u32, least: i64, greatest: i64) -> Known {
        let top = Known::top(bits);
        Known { signed: (least, greatest), ..top }.reduced().unwrap_or(top)
    }

    /// It has these bits; of those that are both 0 and 1 nothing is known.
    pub fn with_bits(bits: u32, zeros: u64, ones: u64) -> Known {
        let top = Known::top(bits);
        let both = zeros & ones;
        Known { zeros: zeros & !both & mask(bits), ones: ones & !both & mask(bits), ..top }.reduced().unwrap_or(top)
    }

    /// Its width.
    pub fn bits(self) -> u32 {
        self.bits
    }

    /// The least and the greatest one, without signs.
    pub fn unsigned(self) -> (u64, u64) {
        self.unsigned
    }

    /// The least and the greatest one, with signs.
    pub fn signed(self) -> (i64, i64) {
        self.signed
    }

    /// Is nothing known?
    pub fn is_top(self) -> bool {
        self == Known::top(self.bits)
    }

    /// The only one, in canonical form.
    pub fn single(self) -> Option<i64> {
        (self.unsigned.0 == self.unsigned.1).then(|| sign_extended(self.unsigned.0, self.bits))
    }

    /// May it be this number?
    pub fn allows(self, number: i64) -> bool {
        let raw = number as u64 & mask(self.bits);
        let signed = sign_extended(raw, self.bits);
        raw & self.zeros == 0
            && raw & self.ones == self.ones
            && (self.unsigned.0..=self.unsigned.1).contains(&raw)
            && (self.signed.0..=self.signed.1).contains(&signed)
    }

    /// What both allow; `None` where that is nothing, or where their widths differ.
    pub fn meet(self, other: Known) -> Option<Known> {
        self.meet_all([other])
    }

    /// What all allow, in whatever order they come; `None` where that is nothing, or where their widths differ.
    pub fn meet_all(self, others: impl IntoIterator<Item = Known>) -> Option<Known> {
        let mut met = self;
        for other in others {
            if other.bits != met.bits {
                return None;
            }
            (met.zeros, met.ones) = (met.zeros | other.zeros, met.ones | other.ones);
            met.unsigned = (met.unsigned.0.max(other.unsigned.0), met.unsigned.1.min(other.unsigned.1));
            met.signed = (met.signed.0.max(other.signed.0), met.signed.1.min(other.signed.1));
        }
        met.reduced()
    }

    /// What either allows.
    #[must_use]
    pub fn join(self, other: Known) -> Known {
        Known {
            bits: self.bits,
            zeros: self.zeros & other.zeros,
            ones: self.ones & other.ones,
            unsigned: (self.unsigned.0.min(other.unsigned.0), self.unsigned.1.max(other.unsigned.1)),
            signed: (self.signed.0.min(other.signed.0), self.signed.1.max(other.signed.1)),
        }
    }

    /// A set that has few larger ones: bounds that the other one moves are given up, and bits but the lowest ones that
    /// both know.
    #[must_use]
    pub fn widened(self, other: Known) -> Known {
        let (joined, top) = (self.join(other), Known::top(self.bits));
        let low = match (joined.zeros | joined.ones).trailing_ones() {
            64 => u64::MAX,
            known => (1 << known) - 1,
        };
        fn bound<T>(moved: bool, old: T, open: T) -> T {
            if moved { open } else { old }
        }
        let unsigned = (
            bound(joined.unsigned.0 < self.unsigned.0, self.unsigned.0, top.unsigned.0),
            bound(joined.unsigned.1 > self.unsigned.1, self.unsigned.1, top.unsigned.1),
        );
        let signed = (
            bound(joined.signed.0 < self.signed.0, self.signed.0, top.signed.0),
            bound(joined.signed.1 > self.signed.1, self.signed.1, top.signed.1),
        );
        let wide = Known { zeros: joined.zeros & low, ones: joined.ones & low, unsigned, signed, ..top };
        wide.reduced().unwrap_or(top)
    }

    /// Each part narrowed by the others; `None` where that leaves nothing.
    fn reduced(mut self) -> Option<Known> {
        let (all, sign) = (mask(self.bits), 1u64 << (self.bits - 1));
        // A second pass sees what the first one has found of the sign.
        for _ in 0..2 {
            let (least, greatest) = &mut self.unsigned;
            (*least, *greatest) = ((*least).max(self.ones), (*greatest).min(all & !self.zeros));
            let low = if self.zeros & sign == 0 { self.ones | sign } else { self.ones };
            let high = if self.ones & sign == 0 { all & !self.zeros & !sign } else { all & !self.zeros };
            let (low, high) = (sign_extended(low, self.bits), sign_extended(high, self.bits));
            self.signed = (self.signed.0.max(low), self.signed.1.min(high));
            if self.zeros & self.ones != 0 || least > greatest || self.signed.0 > self.signed.1 {
                return None;
            }
            if (*least ^ *greatest) & sign == 0 {
                let (low, high) = (sign_extended(*least, self.bits), sign_extended(*greatest, self.bits));
                self.signed = (self.signed.0.max(low), self.signed.1.min(high));
            }
            if (self.signed.0 < 0) == (self.signed.1 < 0) {
                let (low, high) = (self.signed.0 as u64 & all, self.signed.1 as u64 & all);
                (*least, *greatest) = ((*least).max(low), (*greatest).min(high));
            }
            if least > greatest || self.signed.0 > self.signed.1 {
                return None;
            }
            let same = match *least ^ *greatest {
                0 => all,
                differ => all & !(u64::MAX >> differ.leading_zeros()),
            };
            (self.ones, self.zeros) = (self.ones | *least & same, self.zeros | !*least & same);
            if self.zeros & self.ones != 0 {
                return None;
            }
        }
        Some(self)
    }
}
