//! The closed vocabulary of scalar meanings. A pack's `@model(name)` picks one; the interpreter and constant folding
//! read it from here. `verify` says each of them to an SMT solver, too, and is tested against this. Nothing else in the
//! workspace gives a meaning to an operation.
//!
//! Integers are two's complement and wrap; shift amounts are taken modulo the width; division is total
//! (SMT-LIB's value at zero, the trap is a check beside it). Floats are IEEE-754, bit-exact where the standard
//! is; a NaN that arithmetic *produces* has no defined bits ([`Evaluation::Nan`]).
//!
//! [`Model::eval`] dispatches: integers are in `int.rs`, floats in `float.rs`, what is larger than a word in `repr.rs`.
//! [`Model::transfer`] (`known.rs`) gives what is known of a result if something is known of the operands.
//! Memory accesses have names here so that a declaration can say what it is, but no value: their meaning needs a
//! memory, which the interpreter has. A malformed use (wrong arity, widths that do not fit) is
//! [`Evaluation::Undefined`], never a panic.

mod edges;
mod float;
mod int;
pub mod known;
mod magic;
mod repr;

use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

pub use known::Known;
pub use repr::Repr;
pub(crate) use repr::widen;

/// A machine representation.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Serialize, Deserialize)]
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

    /// The bits of a canonical constant of this type, zero-extended.
    pub fn zero_extended(self, canonical: i64) -> u64 {
        canonical as u64 & (u64::MAX >> (64 - self.bits()))
    }

    /// Is a canonical constant of this type a NaN?
    pub fn is_nan(self, canonical: i64) -> bool {
        match self {
            Scalar::F32 => f32::from_bits(canonical as u32).is_nan(),
            Scalar::F64 => f64::from_bits(canonical as u64).is_nan(),
            _ => false,
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
pub enum Evaluation<V = i64> {
    /// A constant in canonical form (see [`Scalar::canonical`]).
    Value(V),
    /// Arithmetic produced a NaN: some NaN, never folded.
    Nan,
    /// The model has no meaning at these representations: a malformed declaration.
    Undefined,
}

/// Defines [`Model`] beside its table of names.
macro_rules! models {
    ($($(#[$doc:meta])* $variant:ident = $name:literal, $arity:literal;)*) => {
        /// A primitive meaning. The first operand's representation is written `N` (its width) below.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Serialize, Deserialize)]
        pub enum Model {
            $($(#[$doc])* $variant,)*
        }

        impl Model {
            /// Every model, in the order of declaration.
            pub const ALL: &[Model] = &[$(Model::$variant,)*];

            /// The name that packs use in `@model("...")`.
            pub fn name(self) -> &'static str {
                match self {
                    $(Model::$variant => $name,)*
                }
            }

            /// The model of that name.
            pub fn from_name(name: &str) -> Option<Model> {
                Some(match name {
                    $($name => Model::$variant,)*
                    _ => return None,
                })
            }

            /// How many operands it takes. Memory models count address, stored value and constant offset.
            pub fn arity(self) -> usize {
                match self {
                    $(Model::$variant => $arity,)*
                }
            }
        }
    };
}

models! {
    /// `x + y`
    Add = "add", 2;
    /// `x - y`
    Sub = "sub", 2;
    /// `x * y`
    Mul = "mul", 2;
    /// `-x`
    Neg = "neg", 1;
    /// Unsigned quotient; all ones where `y` is 0.
    Udiv = "udiv", 2;
    /// Signed quotient, rounded to zero; where `y` is 0: 1 for negative `x`, else -1. The least integer over -1 is
    /// itself.
    Sdiv = "sdiv", 2;
    /// Unsigned remainder; `x` where `y` is 0.
    Urem = "urem", 2;
    /// Signed remainder with the sign of `x`; `x` where `y` is 0. The least integer by -1 is 0.
    Srem = "srem", 2;
    /// Bitwise and, of floats, too.
    And = "and", 2;
    /// Bitwise or.
    Or = "or", 2;
    /// Bitwise exclusive or.
    Xor = "xor", 2;
    /// Bitwise complement.
    Not = "not", 1;
    /// Shift left by `y mod N`.
    Shl = "shl", 2;
    /// Logical shift right by `y mod N`.
    Lshr = "lshr", 2;
    /// Arithmetic shift right by `y mod N`.
    Ashr = "ashr", 2;
    /// Rotate left by `y mod N`.
    Rotl = "rotl", 2;
    /// Rotate right by `y mod N`.
    Rotr = "rotr", 2;
    /// Unsigned minimum.
    Umin = "umin", 2;
    /// Unsigned maximum.
    Umax = "umax", 2;
    /// Signed minimum.
    Smin = "smin", 2;
    /// Signed maximum.
    Smax = "smax", 2;
    /// Absolute value; the least integer stays.
    Iabs = "iabs", 1;
    /// High half of the unsigned product.
    Umulhi = "umulhi", 2;
    /// High half of the signed product.
    Smulhi = "smulhi", 2;
    /// Unsigned sum, saturating.
    UaddSat = "uadd_sat", 2;
    /// Unsigned difference, saturating.
    UsubSat = "usub_sat", 2;
    /// Signed sum, saturating.
    SaddSat = "sadd_sat", 2;
    /// Signed difference, saturating.
    SsubSat = "ssub_sat", 2;
    /// Leading zeros; N for 0.
    Clz = "clz", 1;
    /// Trailing zeros; N for 0.
    Ctz = "ctz", 1;
    /// Leading bits after the sign bit that equal it; N - 1 for 0 and -1.
    Cls = "cls", 1;
    /// One bits.
    Popcnt = "popcnt", 1;
    /// Bytes in reverse order.
    Bswap = "bswap", 1;
    /// Bits in reverse order.
    Bitrev = "bitrev", 1;
    /// Zero extension to a wider integer.
    Zext = "zext", 1;
    /// Sign extension to a wider integer.
    Sext = "sext", 1;
    /// The integer of twice the width whose low half is `x` and whose high half is `y`.
    Concat = "concat", 2;
    /// A vector with `x` in every lane.
    Splat = "splat", 1;
    /// The lower half of the lanes, sign-extended to twice the width.
    SwidenLow = "swiden_low", 1;
    /// The upper half of the lanes, sign-extended to twice the width.
    SwidenHigh = "swiden_high", 1;
    /// The lower half of the lanes, zero-extended to twice the width.
    UwidenLow = "uwiden_low", 1;
    /// The upper half of the lanes, zero-extended to twice the width.
    UwidenHigh = "uwiden_high", 1;
    /// A vector with `x` in lane 0, and 0 in the others.
    ScalarToVector = "scalar_to_vector", 1;
    /// The value whose bits are the low ones of two 64-bit words, the low word first.
    FromWords = "from_words", 2;
    /// Low bits, to a narrower integer.
    Trunc = "trunc", 1;
    /// All ones unless `x` is 0, at any integer width.
    Bmask = "bmask", 1;
    /// 1 unless `x` is 0, as eight bits: what a branch sees of an integer of any width.
    Truth = "truth", 1;
    /// `x` unless the integer condition is 0, else `y`.
    Select = "select", 3;
    /// `(c and x) or (not c and y)`, bit by bit.
    Bitselect = "bitselect", 3;
    /// 1 iff equal, else 0; so all comparisons.
    Eq = "eq", 2;
    /// 1 iff different.
    Ne = "ne", 2;
    /// Signed less.
    Slt = "slt", 2;
    /// Signed less or equal.
    Sle = "sle", 2;
    /// Signed greater.
    Sgt = "sgt", 2;
    /// Signed greater or equal.
    Sge = "sge", 2;
    /// Unsigned less.
    Ult = "ult", 2;
    /// Unsigned less or equal.
    Ule = "ule", 2;
    /// Unsigned greater.
    Ugt = "ugt", 2;
    /// Unsigned greater or equal.
    Uge = "uge", 2;
    /// Width of the operand's type in bits, whatever its value: for guards.
    Width = "width", 1;
    /// `y mod N`, whatever `x` is, at any integer type: for guards.
    ShiftAmount = "shift_amount", 2;
    /// Low N bits of the multiplier that replaces an unsigned division by `x` (0 below 3 and for powers of two).
    UdivMagic = "udiv_magic", 1;
    /// 1 iff that multiplier has N + 1 bits.
    UdivMagicWide = "udiv_magic_wide", 1;
    /// How far the high half of that product is still to be shifted.
    UdivShift = "udiv_shift", 1;
    /// The multiplier that replaces a signed division by `x` (0 below 3 and for powers of two), as N bits.
    SdivMagic = "sdiv_magic", 1;
    /// How far the high half of that product is still to be shifted.
    SdivShift = "sdiv_shift", 1;
    /// IEEE sum.
    Fadd = "fadd", 2;
    /// IEEE difference.
    Fsub = "fsub", 2;
    /// IEEE product.
    Fmul = "fmul", 2;
    /// IEEE quotient.
    Fdiv = "fdiv", 2;
    /// IEEE square root.
    Sqrt = "sqrt", 1;
    /// `x * y + z`, rounded once.
    Fma = "fma", 3;
    /// Minimum; -0 is less than +0; NaN if either is NaN.
    Fmin = "fmin", 2;
    /// Maximum; -0 is less than +0; NaN if either is NaN.
    Fmax = "fmax", 2;
    /// Flips the sign bit, also of a NaN.
    Fneg = "fneg", 1;
    /// Clears the sign bit, also of a NaN.
    Fabs = "fabs", 1;
    /// `x` with the sign bit of `y`, also for NaNs.
    Fcopysign = "fcopysign", 2;
    /// Rounds up to an integral value.
    Fceil = "fceil", 1;
    /// Rounds down to an integral value.
    Ffloor = "ffloor", 1;
    /// Rounds towards zero to an integral value.
    Ftrunc = "ftrunc", 1;
    /// Rounds to the nearest integral value, ties to even.
    Fnearest = "fnearest", 1;
    /// Ordered and equal.
    FcmpEq = "fcmp_eq", 2;
    /// Unordered or different.
    FcmpNe = "fcmp_ne", 2;
    /// Ordered and less.
    FcmpLt = "fcmp_lt", 2;
    /// Ordered and less or equal.
    FcmpLe = "fcmp_le", 2;
    /// Ordered and greater.
    FcmpGt = "fcmp_gt", 2;
    /// Ordered and greater or equal.
    FcmpGe = "fcmp_ge", 2;
    /// Neither is NaN.
    FcmpOrd = "fcmp_ord", 2;
    /// One is NaN.
    FcmpUno = "fcmp_uno", 2;
    /// Unordered or equal.
    FcmpUeq = "fcmp_ueq", 2;
    /// Ordered and different.
    FcmpOne = "fcmp_one", 2;
    /// Unordered or less.
    FcmpUlt = "fcmp_ult", 2;
    /// Unordered or less or equal.
    FcmpUle = "fcmp_ule", 2;
    /// Unordered or greater.
    FcmpUgt = "fcmp_ugt", 2;
    /// Unordered or greater or equal.
    FcmpUge = "fcmp_uge", 2;
    /// binary32 to binary64.
    Fpromote = "fpromote", 1;
    /// binary64 to binary32, rounded to nearest.
    Fdemote = "fdemote", 1;
    /// From an unsigned integer, rounded to nearest.
    FcvtFromUint = "fcvt_from_uint", 1;
    /// From a signed integer, rounded to nearest.
    FcvtFromSint = "fcvt_from_sint", 1;
    /// To an unsigned integer, towards zero; where that traps, the saturated value (0 for NaN).
    FcvtToUint = "fcvt_to_uint", 1;
    /// To a signed integer, towards zero; where that traps, the saturated value (0 for NaN).
    FcvtToSint = "fcvt_to_sint", 1;
    /// To an unsigned integer, towards zero, saturating; 0 for NaN.
    FcvtToUintSat = "fcvt_to_uint_sat", 1;
    /// To a signed integer, towards zero, saturating; 0 for NaN.
    FcvtToSintSat = "fcvt_to_sint_sat", 1;
    /// The same bits at another type of the same width.
    Bitcast = "bitcast", 1;
    /// Reads a value of the result's type, little-endian, at address + offset.
    Load = "load", 2;
    /// Reads 8 bits, zero-extended.
    LoadZext8 = "load_zext8", 2;
    /// Reads 16 bits, zero-extended.
    LoadZext16 = "load_zext16", 2;
    /// Reads 32 bits, zero-extended.
    LoadZext32 = "load_zext32", 2;
    /// Reads 8 bits, sign-extended.
    LoadSext8 = "load_sext8", 2;
    /// Reads 16 bits, sign-extended.
    LoadSext16 = "load_sext16", 2;
    /// Reads 32 bits, sign-extended.
    LoadSext32 = "load_sext32", 2;
    /// Writes the operand (address, value, offset), little-endian.
    Store = "store", 3;
    /// Writes the low 8 bits.
    StoreTrunc8 = "store_trunc8", 3;
    /// Writes the low 16 bits.
    StoreTrunc16 = "store_trunc16", 3;
    /// Writes the low 32 bits.
    StoreTrunc32 = "store_trunc32", 3;
}

/// What a memory model does: enough for an interpreter.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct MemoryAccess {
    /// Writes (operands: address, value, offset), or reads (address, offset).
    pub store: bool,
    /// Bits in memory; `None`: as many as the value's type has.
    pub bits: Option<u32>,
    /// A narrower read extends with the sign.
    pub signed: bool,
}

impl Model {
    /// What the model does to memory, if it does.
    pub fn memory(self) -> Option<MemoryAccess> {
        let (store, bits, signed) = match self {
            Model::Load => (false, None, false),
            Model::LoadZext8 => (false, Some(8), false),
            Model::LoadZext16 => (false, Some(16), false),
            Model::LoadZext32 => (false, Some(32), false),
            Model::LoadSext8 => (false, Some(8), true),
            Model::LoadSext16 => (false, Some(16), true),
            Model::LoadSext32 => (false, Some(32), true),
            Model::Store => (true, None, false),
            Model::StoreTrunc8 => (true, Some(8), false),
            Model::StoreTrunc16 => (true, Some(16), false),
            Model::StoreTrunc32 => (true, Some(32), false),
            _ => return None,
        };
        Some(MemoryAccess { store, bits, signed })
    }

    /// Does it look at the bits of a float, so that it tells one NaN from another? Float arithmetic and comparisons do
    /// not; bitwise operations, and those on the sign, do. An operation that hands an operand on, or asks for its type,
    /// looks at nothing.
    pub fn sees_nan_bits(self) -> bool {
        let arithmetic = (Model::Fadd..=Model::FcvtToSintSat).contains(&self);
        match self {
            Model::Fneg | Model::Fabs | Model::Fcopysign => true,
            Model::Select | Model::Splat | Model::ScalarToVector | Model::Width => false,
            _ => !arithmetic,
        }
    }

    /// Has it a value at these representations? That depends on them alone: it has one for all operands, or for none,
    /// but that vectors whose lanes differ have none here.
    pub fn has_meaning_at(self, types: &[Repr], result: Repr) -> bool {
        let zeros: SmallVec<[i128; 4]> = types.iter().map(|_| 0).collect();
        self.eval_at(types, result, &zeros) != Evaluation::Undefined
    }

    /// The value on constants. `types` and `args` (canonical) are the operands', `result` is the result's type.
    pub fn eval(self, types: &[Scalar], result: Scalar, args: &[i64]) -> Evaluation {
        if types.len() != args.len() || args.len() != self.arity() {
            return Evaluation::Undefined;
        }
        let value = match self {
            Model::Width => Some(result.canonical(u64::from(types[0].bits()))),
            Model::Bitcast if types[0].bits() == result.bits() => {
                Some(result.canonical(types[0].zero_extended(args[0])))
            }
            Model::Select if types[0].is_int() && types[1] == result && types[2] == result => {
                Some(if args[0] != 0 { args[1] } else { args[2] })
            }
            Model::Bitcast | Model::Select => None,
            _ if self.memory().is_some() => None,
            Model::And | Model::Or | Model::Xor | Model::Not | Model::Bitselect
                if !result.is_int() && types.iter().all(|t| *t == result) =>
            {
                // As of the integer with the same bits.
                let int = if result == Scalar::F32 { Scalar::I32 } else { Scalar::I64 };
                let args: SmallVec<[i64; 3]> = args.iter().map(|a| int.canonical(*a as u64)).collect();
                let types: SmallVec<[Scalar; 3]> = types.iter().map(|_| int).collect();
                int::eval(self, &types, int, &args).map(|bits| result.canonical(bits as u64))
            }
            _ if self >= Model::Fadd => return float::eval(self, types, result, args),
            _ => int::eval(self, types, result, args),
        };
        value.map_or(Evaluation::Undefined, Evaluation::Value)
    }
}

#[cfg(test)]
mod tests;
