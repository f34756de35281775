//! Annotations that say something of a value, as terms: when a value breaks them.

use super::super::annotations::{numbers, parts};
use rewright_smt::{Expr, Script, Sort};

/// Numbers without a sign, from the first to the last one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Interval {
    pub(super) least: u128,
    pub(super) most: u128,
}

impl Interval {
    /// When bits are one of them.
    pub(super) fn holds(self, s: &mut Script, bits: Expr) -> Expr {
        let [least, most] = [self.least, self.most].map(|n| s.bits(bits.width(), n));
        let mut holds = vec![s.apply("bvule", &[bits, most], Sort::Bool)];
        if self.least > 0 {
            holds.push(s.apply("bvule", &[least, bits], Sort::Bool));
        }
        s.and(&holds)
    }
}

/// When bits break `nonnull`, `align` or `range` of a list; what else there is says nothing here.
pub(super) fn broken(s: &mut Script, annotations: &[String], bits: Expr) -> Expr {
    let mut broken = vec![];
    for annotation in annotations {
        match parts(annotation) {
            ("nonnull", _) => {
                let some = s.nonzero(bits);
                broken.push(s.not(some));
            }
            ("align", argument) => broken.push(misaligned(s, bits, argument.parse().unwrap_or(1))),
            ("range", argument) => broken.extend(numbers(argument).and_then(|ends| outside(s, bits, &ends))),
            _ => {}
        }
    }
    s.or(&broken)
}

/// When an address is no multiple of a power of two.
pub(super) fn misaligned(s: &mut Script, address: Expr, align: u64) -> Expr {
    if align <= 1 || !align.is_power_of_two() {
        return Expr::FALSE;
    }
    let low = s.extract(address, align.ilog2() - 1, 0);
    s.nonzero(low)
}

/// When bits lie in none of the ranges that begin and end with these numbers, each end excluded.
pub(super) fn outside(s: &mut Script, bits: Expr, ends: &[i128]) -> Option<Expr> {
    let width = bits.width();
    if ends.is_empty() || !ends.len().is_multiple_of(2) {
        return None;
    }
    let mut inside = vec![];
    for pair in ends.chunks(2) {
        // `[low, high)`, around the end of the numbers where the one is not below the other.
        let [low, high] = [pair[0], pair[1]].map(|n| s.bits(width, n as u128));
        let distance = s.apply("bvsub", &[bits, low], Sort::Bits(width));
        let size = s.apply("bvsub", &[high, low], Sort::Bits(width));
        inside.push(s.apply("bvult", &[distance, size], Sort::Bool));
    }
    let inside = s.or(&inside);
    Some(s.not(inside))
}
