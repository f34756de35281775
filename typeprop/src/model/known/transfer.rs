//! What is known of the result of an operation on integers, from what is known of its operands.
//!
//! Each operation is looked at twice: bit by bit, and by the bounds of its operands. The values that both allow are
//! known.
//!
//! **Invariant**: the result of an operation on operands that are allowed is allowed, whatever the operands are.

use super::super::Model;
use super::{Known, mask, sign_extended};

impl Model {
    /// What is known of a result of `bits` bits; nothing where the model is not known here, or the widths do not fit it.
    pub fn transfer(self, bits: u32, args: &[Known]) -> Known {
        let top = Known::top(bits);
        let found = match *args {
            [x] => unary(self, bits, x),
            [x, y] if self.is_comparison() => decided(self, x, y).map(|holds| Known::constant(bits, i64::from(holds))),
            [x, y] if self.is_shift() => (x.bits == bits).then(|| shifted(self, x, y)),
            [x, y] if self == Model::Concat => {
                (2 * x.bits == bits && y.bits == x.bits).then(|| concatenated(bits, x, y))
            }
            [x, y] if x.bits == bits && y.bits == bits => binary(self, x, y),
            [c, x, y] if self == Model::Select && x.bits == bits && y.bits == bits => Some(match c {
                _ if !c.allows(0) => x,
                _ if c.single() == Some(0) => y,
                _ => x.join(y),
            }),
            [c, x, y] if self == Model::Bitselect && c.bits == bits && x.bits == bits && y.bits == bits => {
                let part = |of: fn(Known) -> u64| c.ones & of(x) | c.zeros & of(y) | of(x) & of(y);
                Some(Known::with_bits(bits, part(|k| k.zeros), part(|k| k.ones)))
            }
            _ => None,
        };
        match found {
            Some(found) => found,
            None if self.is_comparison() && args.iter().all(|arg| arg.bits == args[0].bits) => Known::truth(bits),
            None => top,
        }
    }
}

/// The outcome of a comparison of integers, where it is the same for all of them.
fn decided(model: Model, x: Known, y: Known) -> Option<bool> {
    if x.bits != y.bits {
        return None;
    }
    let below = |x: Known, y: Known| {
        let never = x.unsigned.0 >= y.unsigned.1;
        if x.unsigned.1 < y.unsigned.0 { Some(true) } else { never.then_some(false) }
    };
    let below_signed = |x: Known, y: Known| {
        let never = x.signed.0 >= y.signed.1;
        if x.signed.1 < y.signed.0 { Some(true) } else { never.then_some(false) }
    };
    let equal = match (x.single(), y.single()) {
        (Some(x), Some(y)) => Some(x == y),
        _ => x.meet(y).is_none().then_some(false),
    };
    match model {
        Model::Eq => equal,
        Model::Ne => equal.map(|equal| !equal),
        Model::Ult => below(x, y),
        Model::Ugt => below(y, x),
        Model::Uge => below(x, y).map(|below| !below),
        Model::Ule => below(y, x).map(|below| !below),
        Model::Slt => below_signed(x, y),
        Model::Sgt => below_signed(y, x),
        Model::Sge => below_signed(x, y).map(|below| !below),
        Model::Sle => below_signed(y, x).map(|below| !below),
        _ => None,
    }
}

fn unary(model: Model, bits: u32, x: Known) -> Option<Known> {
    let all = mask(x.bits);
    let zero = Known::constant(x.bits, 0);
    let width = x.bits as u64;
    let (least, greatest) = x.unsigned;
    Some(match model {
        Model::Zext if bits > x.bits => {
            let high = mask(bits) & !all;
            both(Known::with_bits(bits, x.zeros | high, x.ones), Known::within(bits, least, greatest))
        }
        Model::Sext if bits > x.bits => {
            let extended = |of: u64| sign_extended(of, x.bits) as u64;
            let by_bits = Known::with_bits(bits, extended(x.zeros), extended(x.ones));
            both(by_bits, Known::within_signed(bits, x.signed.0, x.signed.1))
        }
        Model::Trunc if bits < x.bits => {
            let mut found = Known::with_bits(bits, x.zeros, x.ones);
            if greatest <= mask(bits) {
                found = both(found, Known::within(bits, least, greatest));
            }
            let narrow = Known::top(bits).signed;
            if x.signed.0 >= narrow.0 && x.signed.1 <= narrow.1 {
                found = both(found, Known::within_signed(bits, x.signed.0, x.signed.1));
            }
            found
        }
        Model::Bmask | Model::Truth => {
            let set = if model == Model::Bmask { -1 } else { 1 };
            let of = |number| Known::constant(bits, number);
            match x.allows(0) {
                false => of(set),
                true if x.single().is_some() => of(0),
                true => of(set).join(of(0)),
            }
        }
        _ if bits != x.bits => return None,
        Model::Bitcast => x,
        Model::Neg => difference(zero, x),
        Model::Not => both(
            Known::with_bits(bits, x.ones, x.zeros),
            both(
                Known::within(bits, !greatest & all, !least & all),
                Known::within_signed(bits, !x.signed.1, !x.signed.0),
            ),
        ),
        Model::Iabs if x.signed.0 >= 0 => x,
        Model::Iabs if x.signed.1 <= 0 => difference(zero, x),
        Model::Iabs => Known::within(bits, 0, x.signed.0.unsigned_abs().max(x.signed.1.unsigned_abs())),
        Model::Clz => {
            let leading = |number: u64| u64::from(number.leading_zeros()) - (64 - width);
            Known::within(bits, leading(greatest), leading(least))
        }
        Model::Ctz => {
            let most = if x.ones == 0 { width - u64::from(!x.allows(0)) } else { x.ones.trailing_zeros().into() };
            Known::within(bits, u64::from(x.zeros.trailing_ones()).min(width), most)
        }
        Model::Cls => Known::within(bits, 0, width - 1),
        Model::Popcnt => {
            let least = u64::from(x.ones.count_ones()).max(u64::from(!x.allows(0)));
            Known::within(bits, least, width - u64::from(x.zeros.count_ones()))
        }
        Model::Bswap => {
            let swapped = |of: u64| of.swap_bytes() >> (64 - bits);
            Known::with_bits(bits, swapped(x.zeros), swapped(x.ones))
        }
        Model::Bitrev => {
            let reversed = |of: u64| of.reverse_bits() >> (64 - bits);
            Known::with_bits(bits, reversed(x.zeros), reversed(x.ones))
        }
        _ => return None,
    })
}

/// Both hold.
fn both(x: Known, y: Known) -> Known {
    x.meet(y).unwrap_or(x)
}

fn concatenated(bits: u32, low: Known, high: Known) -> Known {
    let join = |low: u64, high: u64| low | high << (bits / 2);
    both(
        Known::with_bits(bits, join(low.zeros, high.zeros), join(low.ones, high.ones)),
        Known::within(bits, join(low.unsigned.0, high.unsigned.0), join(low.unsigned.1, high.unsigned.1)),
    )
}

fn binary(model: Model, x: Known, y: Known) -> Option<Known> {
    let bits = x.bits;
    let top = Known::top(bits);
    let unsigned =
        |f: fn(u64, u64) -> u64| Known::within(bits, f(x.unsigned.0, y.unsigned.0), f(x.unsigned.1, y.unsigned.1));
    let signed =
        |f: fn(i64, i64) -> i64| Known::within_signed(bits, f(x.signed.0, y.signed.0), f(x.signed.1, y.signed.1));
    Some(match model {
        Model::Add => sum(x, y),
        Model::Sub => difference(x, y),
        Model::Mul => product(x, y),
        Model::And => both(
            Known::with_bits(bits, x.zeros | y.zeros, x.ones & y.ones),
            Known::within(bits, 0, x.unsigned.1.min(y.unsigned.1)),
        ),
        Model::Or => both(
            Known::with_bits(bits, x.zeros & y.zeros, x.ones | y.ones),
            Known::within(bits, x.unsigned.0.max(y.unsigned.0), mask(bits)),
        ),
        Model::Xor => Known::with_bits(bits, x.zeros & y.zeros | x.ones & y.ones, x.zeros & y.ones | x.ones & y.zeros),
        Model::Umin => both(x.join(y), unsigned(u64::min)),
        Model::Umax => both(x.join(y), unsigned(u64::max)),
        Model::Smin => both(x.join(y), signed(i64::min)),
        Model::Smax => both(x.join(y), signed(i64::max)),
        Model::UaddSat => {
            let all = mask(bits);
            let saturated = |x: u64, y: u64| x.saturating_add(y).min(all);
            Known::within(bits, saturated(x.unsigned.0, y.unsigned.0), saturated(x.unsigned.1, y.unsigned.1))
        }
        Model::UsubSat => {
            Known::within(bits, x.unsigned.0.saturating_sub(y.unsigned.1), x.unsigned.1.saturating_sub(y.unsigned.0))
        }
        Model::SaddSat => {
            let saturated = |x: i64, y: i64| x.saturating_add(y).clamp(top.signed.0, top.signed.1);
            Known::within_signed(bits, saturated(x.signed.0, y.signed.0), saturated(x.signed.1, y.signed.1))
        }
        Model::SsubSat => {
            let saturated = |x: i64, y: i64| x.saturating_sub(y).clamp(top.signed.0, top.signed.1);
            Known::within_signed(bits, saturated(x.signed.0, y.signed.1), saturated(x.signed.1, y.signed.0))
        }
        Model::Umulhi => {
            let high = |x: u64, y: u64| ((u128::from(x) * u128::from(y)) >> bits) as u64;
            Known::within(bits, high(x.unsigned.0, y.unsigned.0), high(x.unsigned.1, y.unsigned.1))
        }
        Model::Smulhi => {
            let (least, greatest) = corners(x, y, |x, y| x * y);
            Known::within_signed(bits, (least >> bits) as i64, (greatest >> bits) as i64)
        }
        Model::Udiv => quotient(x, y),
        Model::Sdiv => signed_quotient(x, y),
        Model::Urem => remainder(x, y),
        Model::Srem => signed_remainder(x, y),
        Model::ShiftAmount => {
            let amounts = amounts(y, bits);
            let (least, greatest) = amounts.fold((63, 0), |(least, greatest), k| (k.min(least), k.max(greatest)));
            Known::within(bits, least, greatest)
        }
        _ => return None,
    })
}

/// The least and the greatest of a function at the ends of signed bounds.
fn corners(x: Known, y: Known, f: impl Fn(i128, i128) -> i128) -> (i128, i128) {
    let ends = |k: Known| [i128::from(k.signed.0), i128::from(k.signed.1)];
    let all = ends(x).into_iter().flat_map(|x| ends(y).map(|y| f(x, y)));
    all.fold((i128::MAX, i128::MIN), |(least, greatest), n| (n.min(least), n.max(greatest)))
}

/// The bits of a sum, one more if `carry`.
fn sum_of_bits(x: Known, y: Known, carry: bool) -> Known {
    let most = (!x.zeros).wrapping_add(!y.zeros).wrapping_add(carry.into());
    let least = x.ones.wrapping_add(y.ones).wrapping_add(carry.into());
    let carried = !(most ^ x.zeros ^ y.zeros) | (least ^ x.ones ^ y.ones);
    let known = (x.zeros | x.ones) & (y.zeros | y.ones) & carried;
    Known::with_bits(x.bits, !most & known, least & known)
}

/// A number of 128 bits is this one at the width, for all between these, where none of them is cut or all are by the same.
fn cut(bits: u32, least: i128, greatest: i128) -> Known {
    let size = 1i128 << bits;
    let mut found = Known::top(bits);
    if least.div_euclid(size) == greatest.div_euclid(size) {
        found = both(found, Known::within(bits, least.rem_euclid(size) as u64, greatest.rem_euclid(size) as u64));
    }
    let half = size / 2;
    if (least + half).div_euclid(size) == (greatest + half).div_euclid(size) {
        let wrapped = |n: i128| ((n + half).rem_euclid(size) - half) as i64;
        found = both(found, Known::within_signed(bits, wrapped(least), wrapped(greatest)));
    }
    found
}

fn sum(x: Known, y: Known) -> Known {
    let unsigned = cut(
        x.bits,
        i128::from(x.unsigned.0) + i128::from(y.unsigned.0),
        i128::from(x.unsigned.1) + i128::from(y.unsigned.1),
    );
    let signed =
        cut(x.bits, i128::from(x.signed.0) + i128::from(y.signed.0), i128::from(x.signed.1) + i128::from(y.signed.1));
    both(sum_of_bits(x, y, false), both(unsigned, signed))
}

fn difference(x: Known, y: Known) -> Known {
    let unsigned = cut(
        x.bits,
        i128::from(x.unsigned.0) - i128::from(y.unsigned.1),
        i128::from(x.unsigned.1) - i128::from(y.unsigned.0),
    );
    let signed =
        cut(x.bits, i128::from(x.signed.0) - i128::from(y.signed.1), i128::from(x.signed.1) - i128::from(y.signed.0));
    let complement = Known::with_bits(y.bits, y.ones, y.zeros);
    both(sum_of_bits(x, complement, true), both(unsigned, signed))
}

fn product(x: Known, y: Known) -> Known {
    let bits = x.bits;
    let zeros = |k: Known| k.zeros.trailing_ones().min(bits);
    let known = |k: Known| (k.zeros | k.ones).trailing_ones().min(bits);
    // This many low bits depend on known ones only.
    let count = (known(x) + zeros(y)).min(known(y) + zeros(x)).min(bits);
    let low = if count == 0 { 0 } else { mask(count) };
    let bottom = x.ones.wrapping_mul(y.ones);
    let by_bits = Known::with_bits(bits, !bottom & low, bottom & low);
    let product = |x: u64, y: u64| u128::from(x) * u128::from(y);
    let greatest = product(x.unsigned.1, y.unsigned.1);
    let unsigned = match greatest <= u128::from(mask(bits)) {
        true => Known::within(bits, product(x.unsigned.0, y.unsigned.0) as u64, greatest as u64),
        false => Known::top(bits),
    };
    let (least, greatest) = corners(x, y, |x, y| x * y);
    both(by_bits, both(unsigned, cut(bits, least, greatest)))
}

fn quotient(x: Known, y: Known) -> Known {
    let by = (y.unsigned.0.max(1), y.unsigned.1);
    let all = Known::constant(x.bits, -1);
    if by.1 == 0 {
        return all;
    }
    let quotient = Known::within(x.bits, x.unsigned.0 / by.1, x.unsigned.1 / by.0);
    if y.allows(0) { quotient.join(all) } else { quotient }
}

fn remainder(x: Known, y: Known) -> Known {
    if x.unsigned.1 < y.unsigned.0 || y.unsigned.1 == 0 {
        return x;
    }
    let below_divisor = if y.allows(0) { mask(x.bits) } else { y.unsigned.1 - 1 };
    Known::within(x.bits, 0, x.unsigned.1.min(below_divisor))
}

fn signed_quotient(x: Known, y: Known) -> Known {
    let overflows = x.allows(Known::top(x.bits).signed.0) && y.allows(-1);
    let one_sign = y.signed.0 > 0 || y.signed.1 < 0;
    if overflows || !one_sign {
        return Known::top(x.bits);
    }
    let (least, greatest) = corners(x, y, |x, y| x / y);
    Known::within_signed(x.bits, least as i64, greatest as i64)
}

fn signed_remainder(x: Known, y: Known) -> Known {
    // It has the sign of `x`, is no further from 0 than that, and nearer than a divisor that is not 0.
    let farthest = y.signed.0.unsigned_abs().max(y.signed.1.unsigned_abs());
    let near = if y.allows(0) { i128::MAX } else { i128::from(farthest) - 1 };
    let least = i128::from(x.signed.0.min(0)).max(-near);
    let greatest = i128::from(x.signed.1.max(0)).min(near);
    Known::within_signed(x.bits, least as i64, greatest as i64)
}

/// The amounts that an operand may be, modulo the width of what is shifted, a power of two: its low bits.
fn amounts(y: Known, width: u32) -> impl Iterator<Item = u64> {
    let low = u64::from(width) - 1;
    let (least, greatest) = y.unsigned;
    let may_be = move |k: u64| {
        let by_bits = k & y.zeros & low == 0 && !k & y.ones & low == 0;
        by_bits && (greatest > low || (least..=greatest).contains(&k))
    };
    (0..u64::from(width)).filter(move |k| may_be(*k))
}

fn shifted(model: Model, x: Known, y: Known) -> Known {
    let each = amounts(y, x.bits).map(|k| shifted_by(model, x, k as u32));
    each.reduce(Known::join).unwrap_or(Known::top(x.bits))
}

fn shifted_by(model: Model, x: Known, k: u32) -> Known {
    let (bits, all) = (x.bits, mask(x.bits));
    let left = |of: u64| of << k & all;
    let right = |of: u64| of >> k;
    let filled = |of: u64| (sign_extended(of, bits) >> k) as u64 & all;
    let vacated = all & !(all >> k);
    match model {
        Model::Shl => {
            let by_bits = Known::with_bits(bits, left(x.zeros) | !left(all) & all, left(x.ones));
            let unsigned = match x.unsigned.1 <= all >> k {
                true => Known::within(bits, x.unsigned.0 << k, x.unsigned.1 << k),
                false => Known::top(bits),
            };
            let by = |n: i64| i128::from(n) << k;
            both(by_bits, both(unsigned, cut(bits, by(x.signed.0), by(x.signed.1))))
        }
        Model::Lshr => both(
            Known::with_bits(bits, right(x.zeros) | vacated, right(x.ones)),
            Known::within(bits, right(x.unsigned.0), right(x.unsigned.1)),
        ),
        Model::Ashr => both(
            Known::with_bits(bits, filled(x.zeros), filled(x.ones)),
            Known::within_signed(bits, x.signed.0 >> k, x.signed.1 >> k),
        ),
        Model::Rotl | Model::Rotr => {
            let k = if model == Model::Rotl { k } else { (bits - k) % bits };
            let rotated = |of: u64| if k == 0 { of } else { (of << k | of >> (bits - k)) & all };
            Known::with_bits(bits, rotated(x.zeros), rotated(x.ones))
        }
        _ => Known::top(bits),
    }
}
