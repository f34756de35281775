//! Edge values: constants at which the meanings of two terms are likeliest to differ.

use super::repr::soft_float;
use super::{Repr, Scalar};
use rustc_hash::FxHashSet;

impl Repr {
    /// The canonical constants of a representation at which operations are likeliest to differ: the smallest, the
    /// largest, those around powers of two, special floats. Small ones first; of a vector those of a lane.
    pub fn edges(self) -> Vec<i128> {
        let raw = match self.lane() {
            None if self.is_int() => wide_edges(),
            None => soft_float::edges(self),
            Some(lane) if lane.is_int() => integer_edges(lane.bits()).into_iter().map(u128::from).collect(),
            Some(lane) => float_edges(lane).into_iter().map(u128::from).collect(),
        };
        let mut seen = FxHashSet::default();
        raw.into_iter().map(|r| self.canonical(r)).filter(|value| seen.insert(*value)).collect()
    }
}

fn integer_edges(bits: u32) -> Vec<u64> {
    let top = 1u64 << (bits - 1);
    let mut raw = vec![0, 1, !0, 2, !1, 3, !2, 4, !3, 5, 7, 8, !7, 9, 10, 15, 16, !15, 17, 24, 31, 32, 48, 56, 63, 64];
    raw.extend([127, 128, 255, 256, 0xff00, 0xffff, 0x7fff_ffff, 0xffff_ffff, top, top - 1, top + 1]);
    raw.extend([top >> 1, !top >> 1, 0x5555_5555_5555_5555, 0xaaaa_aaaa_aaaa_aaaa, 0x0123_4567_89ab_cdef]);
    raw.extend((0..bits).step_by(5).map(|i| 1 << i));
    raw
}

/// Edges of 128-bit integers: those of both halves.
fn wide_edges() -> Vec<u128> {
    let halves: [u64; 10] = [0, 1, !0, 2, 63, 64, 127, 1 << 63, (1 << 63) - 1, !1];
    let joined = |high: &u64| halves.map(|low| u128::from(low) | u128::from(*high) << 64);
    halves.iter().flat_map(joined).collect()
}

fn float_edges(lane: Scalar) -> Vec<u64> {
    let mut raw = vec![];
    let whole = [0.0, 1.0, 0.5, 1.5, 2.5, 3.0, 127.0, 128.0, 255.5, 32768.0, 65535.0, 2_147_483_648.0, 1e9];
    let powers = [2f64.powi(63), 2f64.powi(64), 1e300, f64::MAX, f64::INFINITY];
    let limits = [f64::MIN_POSITIVE, f64::from(f32::MAX), f64::from(f32::MIN_POSITIVE)];
    for value in whole.into_iter().chain(powers).chain(limits) {
        raw.extend([value, -value].map(|v| float(lane, v)));
    }
    // Subnormals; quiet and signalling NaNs of both signs.
    let sign = 1u64 << (lane.bits() - 1);
    let infinity = float(lane, f64::INFINITY);
    let quiet = if lane == Scalar::F32 { 1 << 22 } else { 1 << 51 };
    for bits in [1, 2, 0xfffff, infinity | quiet, infinity | 1, infinity | quiet | 0x1234] {
        raw.extend([bits, bits | sign]);
    }
    raw
}

fn float(lane: Scalar, value: f64) -> u64 {
    match lane {
        Scalar::F32 => (value as f32).to_bits().into(),
        _ => value.to_bits(),
    }
}
