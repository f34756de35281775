//! Meanings of integer operations, computed in 128 bits and cut to the result's width.

use super::{Model, Scalar, magic};

/// `None`: no meaning at these representations.
pub(super) fn eval(model: Model, types: &[Scalar], result: Scalar, args: &[i64]) -> Option<i64> {
    use Model::*;
    if !result.is_int() || !types.iter().all(|t| t.is_int()) {
        return None;
    }
    let ty = types[0];
    let bits = ty.bits();
    let fits = match model {
        Zext | Sext => result.bits() > bits,
        Trunc => result.bits() < bits,
        Concat => result.bits() == 2 * bits && types[1] == ty,
        Splat => false,
        Bmask | ShiftAmount => true,
        Truth => result == Scalar::I8,
        Shl | Lshr | Ashr | Rotl | Rotr => result == ty,
        Eq | Ne | Slt | Sle | Sgt | Sge | Ult | Ule | Ugt | Uge => types[1] == ty,
        _ => result == ty && types.iter().all(|t| *t == ty),
    };
    let amount = types.get(1).map_or(bits, |t| t.bits());
    fits.then(|| at_width(model, [bits, amount], args)).flatten().map(|value| result.canonical(value as u64))
}

/// The value of an operation whose first operand has `bits` bits, and whose second one `amount`, before it is cut to the
/// width of its result.
pub(super) fn at_width(model: Model, [bits, amount]: [u32; 2], args: &[i64]) -> Option<i128> {
    use Model::*;
    let arg = |n: usize| args.get(n).copied().unwrap_or_default();
    let (x, y) = (arg(0), arg(1));
    let unsigned = |v: i64, bits: u32| i128::from(v as u64 & (u64::MAX >> (64 - bits)));
    let (ux, uy) = (unsigned(x, bits), unsigned(y, amount));
    let (sx, sy) = (i128::from(x), i128::from(y));
    let (least, greatest, all_ones) = (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1, (1i128 << bits) - 1);
    let amount = (uy % i128::from(bits)) as u32;
    let rotated_left = |by: u32| (ux << by) | (ux >> (bits - by));
    Some(match model {
        Add => sx + sy,
        Sub => sx - sy,
        Mul => sx * sy,
        Neg => -sx,
        Udiv => ux.checked_div(uy).unwrap_or(all_ones),
        Sdiv => sx.checked_div(sy).unwrap_or(if sx < 0 { 1 } else { -1 }),
        Urem => ux.checked_rem(uy).unwrap_or(ux),
        Srem => sx.checked_rem(sy).unwrap_or(sx),
        And => sx & sy,
        Or => sx | sy,
        Xor => sx ^ sy,
        Not => !sx,
        Shl => ux << amount,
        Lshr => ux >> amount,
        Ashr => sx >> amount,
        Rotl => rotated_left(amount),
        Rotr => rotated_left(bits - amount),
        Umin => ux.min(uy),
        Umax => ux.max(uy),
        Smin => sx.min(sy),
        Smax => sx.max(sy),
        Iabs => sx.abs(),
        Umulhi => ((ux as u128 * uy as u128) >> bits) as i128,
        Smulhi => (sx * sy) >> bits,
        UaddSat => (ux + uy).min(all_ones),
        UsubSat => (ux - uy).max(0),
        SaddSat => (sx + sy).clamp(least, greatest),
        SsubSat => (sx - sy).clamp(least, greatest),
        Clz => leading_zeros(ux, bits),
        Ctz => i128::from(ux.trailing_zeros().min(bits)),
        Cls => leading_zeros(if sx < 0 { !sx } else { sx }, bits) - 1,
        Popcnt => i128::from(ux.count_ones()),
        Bswap => i128::from((ux as u64).swap_bytes() >> (64 - bits)),
        Bitrev => i128::from((ux as u64).reverse_bits() >> (64 - bits)),
        Zext => ux,
        Sext | Trunc => sx,
        Concat => ux | uy << bits,
        Bmask => -i128::from(ux != 0),
        Truth => i128::from(ux != 0),
        Bitselect => (sx & sy) | (!sx & i128::from(arg(2))),
        Eq => i128::from(sx == sy),
        Ne => i128::from(sx != sy),
        Slt => i128::from(sx < sy),
        Sle => i128::from(sx <= sy),
        Sgt => i128::from(sx > sy),
        Sge => i128::from(sx >= sy),
        Ult => i128::from(ux < uy),
        Ule => i128::from(ux <= uy),
        Ugt => i128::from(ux > uy),
        Uge => i128::from(ux >= uy),
        ShiftAmount => i128::from(amount),
        UdivMagic => magic::unsigned(ux as u64, bits).multiplier as i128,
        UdivMagicWide => (magic::unsigned(ux as u64, bits).multiplier >> bits) as i128,
        UdivShift => i128::from(magic::unsigned(ux as u64, bits).shift),
        SdivMagic => magic::signed(x, bits).multiplier as i128,
        SdivShift => i128::from(magic::signed(x, bits).shift),
        _ => return None,
    })
}

/// Of a non-negative number below `2^bits`.
fn leading_zeros(value: i128, bits: u32) -> i128 {
    i128::from(value.leading_zeros()) - i128::from(128 - bits)
}
