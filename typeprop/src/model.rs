//! The closed vocabulary of scalar meanings. A pack's `@model(name)` picks one; the interpreter, constant
//! folding and (later) SMT read it from here. Nothing else in the workspace gives a meaning to an operation.
//!
//! Integers are two's complement and wrap; shift amounts are taken modulo the width; division is total
//! (SMT-LIB's value at zero, the trap is a check beside it). Floats are IEEE-754, bit-exact where the standard
//! is; a NaN that arithmetic *produces* has no defined bits ([`Outcome::Nan`]).

/// A machine representation.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Scalar {
    /// 8-bit integer; also what comparisons give (0 or 1).
    I8,
    /// 16-bit integer.
    I16,
    /// 32-bit integer.
    I32,
    /// 64-bit integer; also addresses.
    I64,
    /// IEEE-754 binary32.
    F32,
    /// IEEE-754 binary64.
    F64,
}

impl Scalar {
    /// Width in bits.
    pub fn bits(self) -> u32 {
        match self {
            Scalar::I8 => 8,
            Scalar::I16 => 16,
            Scalar::I32 | Scalar::F32 => 32,
            Scalar::I64 | Scalar::F64 => 64,
        }
    }

    /// Is it an integer?
    pub fn is_int(self) -> bool {
        !matches!(self, Scalar::F32 | Scalar::F64)
    }

    /// The canonical 64-bit form of a constant: integers sign-extended, float bits zero-extended. Every stage
    /// stores constants in this form, so that `-1` is `-1` at every width.
    pub fn canonical(self, raw: u64) -> i64 {
        match self {
            Scalar::I8 => raw as i8 as i64,
            Scalar::I16 => raw as i16 as i64,
            Scalar::I32 => raw as i32 as i64,
            Scalar::F32 => raw as u32 as i64,
            Scalar::I64 | Scalar::F64 => raw as i64,
        }
    }

    /// The name that packs use in `model`: `bv8` .. `bv64`, `fp32`, `fp64`.
    pub fn from_name(name: &str) -> Option<Scalar> {
        Some(match name {
            "bv8" => Scalar::I8,
            "bv16" => Scalar::I16,
            "bv32" => Scalar::I32,
            "bv64" => Scalar::I64,
            "fp32" => Scalar::F32,
            "fp64" => Scalar::F64,
            _ => return None,
        })
    }
}

/// What evaluating an operation on constants gives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// A constant in canonical form (see [`Scalar::canonical`]).
    Value(i64),
    /// Arithmetic produced a NaN: some NaN, never folded.
    Nan,
    /// The model has no meaning at these representations: a malformed declaration.
    Undefined,
}

/// A primitive meaning.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Model {
    /// `x + y`
    Add,
}
