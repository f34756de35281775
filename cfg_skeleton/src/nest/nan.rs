//! The bits of NaNs.
//!
//! Arithmetic that gives a NaN does not say which one: sign and payload may be any. So in the first version such a NaN
//! *may be any*, and the second version may have another one in its place. All other NaNs (those that are given, loaded or
//! written down) have their bits, which copies, selections and signs keep.
//!
//! That is right as long as no operation sees the bits ([`sees_bits`]): what is computed from two values that differ in
//! the bits of a NaN, of which the first may be any, differs in no more than that. Where an operation of either version sees
//! them, values are equal only if all their bits are, and all that is known of a NaN that arithmetic gives is that the
//! same operation gives the same one for the same operands.

/// Where the bits of a NaN come from that an operation gives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Bits {
    /// They may be any.
    Any,
    /// They are those of the first operand, except for the sign, which is the other one.
    Negated,
    /// They are those of the first operand, except for the sign, which is that of a number.
    Magnitude,
    /// They are those of the operand that is chosen.
    Chosen,
    /// They are what is given.
    Given,
}

/// Whether a type is one of floats.
#[must_use]
pub fn is_float(ty: &str) -> bool {
    ty == "bf16"
        || ty == "tf32"
        || ty.strip_prefix('f').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
}

/// Where the bits of a NaN come from that the operation gives.
#[must_use]
pub fn bits_of(name: &str) -> Bits {
    match name {
        "arith.select" => Bits::Chosen,
        "arith.negf" => Bits::Negated,
        "math.absf" | "math.copysign" => Bits::Magnitude,
        "arith.bitcast" => Bits::Given,
        _ if name.starts_with("arith.") || name.starts_with("math.") => Bits::Any,
        _ => Bits::Given,
    }
}

/// Whether the result of an operation from a type to another one may depend on the bits of a NaN in another way than that
/// these are the bits of a NaN that it gives. Of an operation that is not known, it may. A sign that is copied from a
/// constant is no bit of a NaN.
pub(super) fn sees_bits(name: &str, (from, to): (&str, &str), has_constant_sign: bool) -> bool {
    const TESTS: [&str; 4] = ["math.isfinite", "math.isinf", "math.isnan", "math.isnormal"];
    let takes_floats = is_float(from);
    match name {
        "arith.bitcast" => takes_floats,
        "math.copysign" => !has_constant_sign,
        _ if name.starts_with("arith.") => false,
        _ if name.starts_with("math.") => takes_floats && !is_float(to) && !TESTS.contains(&name),
        _ => takes_floats,
    }
}
