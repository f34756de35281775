//! Terms and their sorts.

/// An IEEE-754 binary format.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Format {
    /// Bits of the exponent.
    pub exponent: u32,
    /// Bits of the significand, the hidden one among them.
    pub significand: u32,
}

impl Format {
    /// The format whose values take this many bits. Below 32 bits these are no machine types: proofs at smaller
    /// widths use them.
    pub fn of_width(bits: u32) -> Option<Format> {
        let exponent = match bits {
            128 => 15,
            64 => 11,
            32 => 8,
            16 => 5,
            8 => 4,
            _ => return None,
        };
        Some(Format { exponent, significand: bits - exponent })
    }
}

/// The sort of a term.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Sort {
    /// A truth value.
    Bool,
    /// A bit vector: an integer, or the bits of a float.
    Bits(u32),
    /// A float, inside an operation.
    Float(Format),
    /// Bytes by address: a chain of writes over unknown bytes. Not a sort that a solver sees.
    Memory,
    /// A type without representation, by [`Script::domain`](super::Script::domain).
    Domain(u32),
}

impl Sort {
    /// Is it a bit vector or a truth value?
    pub(crate) fn is_of_bits(self) -> bool {
        matches!(self, Sort::Bool | Sort::Bits(_))
    }
}

/// A term of a [`Script`](super::Script).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Expr {
    pub(super) id: u32,
    pub(super) sort: Sort,
}

impl Expr {
    /// False.
    pub const FALSE: Expr = Expr { id: 0, sort: Sort::Bool };
    /// True.
    pub const TRUE: Expr = Expr { id: 1, sort: Sort::Bool };

    /// Its sort.
    pub fn sort(self) -> Sort {
        self.sort
    }

    /// The width of a bit vector; 0 for all else.
    pub fn width(self) -> u32 {
        if let Sort::Bits(width) = self.sort { width } else { 0 }
    }
}
