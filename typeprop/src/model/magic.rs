//! Division by a constant as a multiplication (Granlund and Montgomery 1994; Hacker's Delight, chapter 10).

/// The multiplier and the shift that replace a division. Meaningful for divisors from 3 up that are no power of
/// two; for all others both are 0.
#[derive(Clone, Copy, Default)]
pub(super) struct Magic {
    /// Below `2^(N+1)`: unsigned ones may need one bit more than the type has.
    pub(super) multiplier: u128,
    /// How far the high half of the product is still to be shifted.
    pub(super) shift: u32,
}

/// `x / d` is `(multiplier * x) >> (bits + shift)` for all unsigned `x`.
///
/// The multiplier is `(2^p + e) / d` for the least `p` at which the excess `e` is at most `2^(p - bits)`. `2^p`
/// itself may not fit 128 bits, so quotient and remainder are doubled together.
pub(super) fn unsigned(divisor: u64, bits: u32) -> Magic {
    let d = u128::from(divisor);
    if d < 3 || d.is_power_of_two() {
        return Magic::default();
    }
    let (mut quotient, mut remainder, mut shift) = ((1u128 << bits) / d, (1u128 << bits) % d, 0);
    while d - remainder > 1 << shift {
        shift += 1;
        (quotient, remainder) = (2 * quotient + 2 * remainder / d, 2 * remainder % d);
    }
    Magic { multiplier: quotient + 1, shift }
}

/// `x / d` is `(multiplier * x) >> (bits + shift)` for all signed `x`, plus 1 for negative ones.
pub(super) fn signed(divisor: i64, bits: u32) -> Magic {
    if divisor < 3 || (divisor as u64).is_power_of_two() {
        return Magic::default();
    }
    let d = divisor as u128;
    let half = 1u128 << (bits - 1);
    let greatest = half - 1 - half % d;
    let mut power = bits;
    while 1u128 << power <= greatest * (d - (1u128 << power) % d) {
        power += 1;
    }
    Magic { multiplier: (1u128 << power) / d + 1, shift: power - bits }
}
