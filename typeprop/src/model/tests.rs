//! Against native arithmetic, on edges and on pseudo-random values, at every width.

use super::*;

/// Edges, and a fixed pseudo-random sequence (xorshift; Marsaglia 2003).
fn samples() -> Vec<u64> {
    let mut out = vec![0, 1, 2, 3, 7, 8, 15, 16, 31, 32, 33, 63, 64, 65, 100, 127, 128, 129, 255, 256];
    for bits in [8, 16, 32, 64] {
        let top = 1u64 << (bits - 1);
        out.extend([top, top - 1, top + 1, top.wrapping_neg(), (top - 1).wrapping_neg()]);
    }
    out.extend([u64::MAX, u64::MAX - 1, 0xaaaa_aaaa_aaaa_aaaa, 0x0123_4567_89ab_cdef]);
    let mut x = 0x9e37_79b9_7f4a_7c15u64;
    for _ in 0..40 {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        out.push(x);
    }
    out
}

fn float_samples() -> Vec<f64> {
    let mut out =
        vec![0.0, 0.5, 1.0, 1.5, 2.5, 3.0, 126.9, 127.0, 128.0, 255.5, 256.0, 1e10, 4294967295.5, 1e19, 1e300];
    out.extend([2147483647.5, 9.2e18, 1.8446744073709552e19, f64::MIN_POSITIVE, 5e-324, f64::MAX, f64::INFINITY]);
    out.extend(samples().iter().map(|bits| f64::from_bits(*bits)));
    out.extend(samples().iter().map(|bits| *bits as i64 as f64 / 7.0));
    out.extend(out.clone().iter().map(|x| -x));
    out
}

fn value(model: Model, types: &[Scalar], result: Scalar, args: &[i64]) -> i64 {
    match model.eval(types, result, args) {
        Evaluation::Value(v) => {
            assert_eq!(v, result.canonical(v as u64), "{model:?} gave a constant that is not canonical");
            v
        }
        other => panic!("{model:?} {types:?} {args:?}: {other:?}"),
    }
}

#[test]
fn names_round_trip() {
    for model in Model::ALL {
        assert_eq!(Model::from_name(model.name()), Some(*model));
    }
    assert_eq!(Model::from_name("frobnicate"), None);
}

#[test]
fn malformed_uses_are_undefined() {
    let undefined = |m: Model, t: &[Scalar], r, a: &[i64]| assert_eq!(m.eval(t, r, a), Evaluation::Undefined, "{m:?}");
    undefined(Model::Add, &[Scalar::I8], Scalar::I8, &[1]);
    undefined(Model::Add, &[Scalar::I8, Scalar::I16], Scalar::I8, &[1, 2]);
    undefined(Model::Add, &[Scalar::F32, Scalar::F32], Scalar::F32, &[1, 2]);
    undefined(Model::Zext, &[Scalar::I16], Scalar::I8, &[1]);
    undefined(Model::Sext, &[Scalar::I16], Scalar::I16, &[1]);
    undefined(Model::Trunc, &[Scalar::I16], Scalar::I32, &[1]);
    undefined(Model::Bitcast, &[Scalar::I16], Scalar::F32, &[1]);
    undefined(Model::Fpromote, &[Scalar::F64], Scalar::F64, &[1]);
    undefined(Model::Fadd, &[Scalar::F64, Scalar::F32], Scalar::F64, &[1, 1]);
    undefined(Model::FcvtToSint, &[Scalar::F64], Scalar::F32, &[1]);
    for model in Model::ALL {
        undefined(*model, &[], Scalar::I8, &[]);
        if model.memory().is_some() {
            undefined(*model, &[Scalar::I64; 3][..model.arity()], Scalar::I64, &[0; 3][..model.arity()]);
        }
    }
}

macro_rules! integers {
    ($name:ident, $scalar:ident, $s:ty, $u:ty, $wide_s:ty, $wide_u:ty) => {
        #[test]
        fn $name() {
            let ty = Scalar::$scalar;
            let bits = ty.bits();
            for x in samples() {
                let (sx, ux) = (x as $s, x as $u);
                let unary = |m| value(m, &[ty], ty, &[sx as i64]) as $s;
                assert_eq!(unary(Model::Neg), sx.wrapping_neg());
                assert_eq!(unary(Model::Not), !sx);
                assert_eq!(unary(Model::Iabs), sx.wrapping_abs());
                assert_eq!(unary(Model::Clz), sx.leading_zeros() as $s);
                assert_eq!(unary(Model::Ctz), sx.trailing_zeros() as $s);
                let cls = if sx < 0 { sx.leading_ones() } else { sx.leading_zeros() } - 1;
                assert_eq!(unary(Model::Cls), cls as $s);
                assert_eq!(unary(Model::Popcnt), sx.count_ones() as $s);
                assert_eq!(unary(Model::Bswap), sx.swap_bytes());
                assert_eq!(unary(Model::Bitrev), sx.reverse_bits());
                assert_eq!(unary(Model::Width), bits as $s);
                for (to, zext, sext) in [
                    (Scalar::I8, ux as u8 as i8 as i64, sx as i8 as i64),
                    (Scalar::I16, ux as u16 as i16 as i64, sx as i16 as i64),
                    (Scalar::I32, ux as u32 as i32 as i64, sx as i32 as i64),
                    (Scalar::I64, ux as u64 as i64, sx as i64),
                ] {
                    if to.bits() > bits {
                        assert_eq!(value(Model::Zext, &[ty], to, &[sx as i64]), zext);
                        assert_eq!(value(Model::Sext, &[ty], to, &[sx as i64]), sext);
                    }
                    if to.bits() < bits {
                        assert_eq!(value(Model::Trunc, &[ty], to, &[sx as i64]), sext);
                    }
                    assert_eq!(value(Model::Bmask, &[ty], to, &[sx as i64]), if sx == 0 { 0 } else { -1 });
                }
                let unsigned = |to| value(Model::FcvtFromUint, &[ty], to, &[sx as i64]) as u64;
                assert_eq!(unsigned(Scalar::F32), u64::from((ux as f32).to_bits()));
                assert_eq!(unsigned(Scalar::F64), (ux as f64).to_bits());
                let signed = |to| value(Model::FcvtFromSint, &[ty], to, &[sx as i64]) as u64;
                assert_eq!(signed(Scalar::F32), u64::from((sx as f32).to_bits()));
                assert_eq!(signed(Scalar::F64), (sx as f64).to_bits());
                for y in samples() {
                    let (sy, uy) = (y as $s, y as $u);
                    let binary = |m| value(m, &[ty, ty], ty, &[sx as i64, sy as i64]) as $s;
                    assert_eq!(binary(Model::Add), sx.wrapping_add(sy));
                    assert_eq!(binary(Model::Sub), sx.wrapping_sub(sy));
                    assert_eq!(binary(Model::Mul), sx.wrapping_mul(sy));
                    assert_eq!(binary(Model::Udiv), if uy == 0 { -1 } else { (ux / uy) as $s });
                    assert_eq!(binary(Model::Urem), if uy == 0 { sx } else { (ux % uy) as $s });
                    let by_zero = if sx < 0 { 1 } else { -1 };
                    assert_eq!(binary(Model::Sdiv), if sy == 0 { by_zero } else { sx.wrapping_div(sy) });
                    assert_eq!(binary(Model::Srem), if sy == 0 { sx } else { sx.wrapping_rem(sy) });
                    assert_eq!(binary(Model::And), sx & sy);
                    assert_eq!(binary(Model::Or), sx | sy);
                    assert_eq!(binary(Model::Xor), sx ^ sy);
                    assert_eq!(binary(Model::Umin), ux.min(uy) as $s);
                    assert_eq!(binary(Model::Umax), ux.max(uy) as $s);
                    assert_eq!(binary(Model::Smin), sx.min(sy));
                    assert_eq!(binary(Model::Smax), sx.max(sy));
                    assert_eq!(binary(Model::Umulhi), ((ux as $wide_u * uy as $wide_u) >> bits) as $s);
                    assert_eq!(binary(Model::Smulhi), ((sx as $wide_s * sy as $wide_s) >> bits) as $s);
                    assert_eq!(binary(Model::UaddSat), ux.saturating_add(uy) as $s);
                    assert_eq!(binary(Model::UsubSat), ux.saturating_sub(uy) as $s);
                    assert_eq!(binary(Model::SaddSat), sx.saturating_add(sy));
                    assert_eq!(binary(Model::SsubSat), sx.saturating_sub(sy));
                    for (amount_ty, amount) in
                        [(Scalar::I8, y as i8 as i64), (Scalar::I32, y as i32 as i64), (Scalar::I64, y as i64)]
                    {
                        let by = (y % u64::from(bits)) as u32;
                        let shift = |m| value(m, &[ty, amount_ty], ty, &[sx as i64, amount]) as $s;
                        assert_eq!(shift(Model::Shl), sx << by);
                        assert_eq!(shift(Model::Lshr), (ux >> by) as $s);
                        assert_eq!(shift(Model::Ashr), sx >> by);
                        assert_eq!(shift(Model::Rotl), sx.rotate_left(by));
                        assert_eq!(shift(Model::Rotr), sx.rotate_right(by));
                    }
                    let shift_amount = value(Model::ShiftAmount, &[ty, Scalar::I64], Scalar::I8, &[0, y as i64]);
                    assert_eq!(shift_amount as u64, y % u64::from(bits));
                    for (model, holds) in [
                        (Model::Eq, sx == sy),
                        (Model::Ne, sx != sy),
                        (Model::Slt, sx < sy),
                        (Model::Sle, sx <= sy),
                        (Model::Sgt, sx > sy),
                        (Model::Sge, sx >= sy),
                        (Model::Ult, ux < uy),
                        (Model::Ule, ux <= uy),
                        (Model::Ugt, ux > uy),
                        (Model::Uge, ux >= uy),
                    ] {
                        assert_eq!(value(model, &[ty, ty], Scalar::I8, &[sx as i64, sy as i64]), i64::from(holds));
                    }
                    let z = x.rotate_left(17) as $s;
                    let three = [sx as i64, sy as i64, z as i64];
                    assert_eq!(value(Model::Bitselect, &[ty; 3], ty, &three) as $s, (sx & sy) | (!sx & z));
                    assert_eq!(value(Model::Select, &[ty; 3], ty, &three) as $s, if sx != 0 { sy } else { z });
                }
            }
        }
    };
}
integers!(at_8, I8, i8, u8, i16, u16);
integers!(at_16, I16, i16, u16, i32, u32);
integers!(at_32, I32, i32, u32, i64, u64);
integers!(at_64, I64, i64, u64, i128, u128);

/// Exhaustive at 8 bits; samples above.
#[test]
fn magic_divides() {
    let check = |ty: Scalar, x: i64, d: i64| {
        let bits = ty.bits();
        let (ux, ud) = (ty.zero_extended(x), ty.zero_extended(d));
        if ud >= 3 && !ud.is_power_of_two() {
            let of = |m| ty.zero_extended(value(m, &[ty], ty, &[d]));
            let high = ((u128::from(of(Model::UdivMagic)) * u128::from(ux)) >> bits) as u64;
            let shift = of(Model::UdivShift);
            let quotient = match of(Model::UdivMagicWide) {
                0 => high >> shift,
                _ => (((ux - high) >> 1) + high) >> (shift - 1),
            };
            assert_eq!(quotient, ux / ud, "{ty:?} {ux} / {ud}");
        }
        if d >= 3 && !ud.is_power_of_two() {
            let of = |m| value(m, &[ty], ty, &[d]);
            let multiplier = of(Model::SdivMagic);
            let mut high = (i128::from(multiplier) * i128::from(x)) >> bits;
            if multiplier < 0 {
                high += i128::from(x);
            }
            let quotient = (high >> of(Model::SdivShift)) - i128::from(x >> 63);
            assert_eq!(quotient as i64, x / d, "{ty:?} {x} / {d}");
        }
    };
    for x in i8::MIN..=i8::MAX {
        for d in i8::MIN..=i8::MAX {
            check(Scalar::I8, i64::from(x), i64::from(d));
        }
    }
    for ty in [Scalar::I16, Scalar::I32, Scalar::I64] {
        for x in samples() {
            for d in samples() {
                check(ty, ty.canonical(x), ty.canonical(d));
                check(ty, ty.canonical((x - x % d.max(1)).wrapping_sub(1)), ty.canonical(d));
            }
        }
    }
}

macro_rules! floats {
    ($name:ident, $scalar:ident, $f:ty, $bits:ty) => {
        #[test]
        fn $name() {
            let ty = Scalar::$scalar;
            let bits = |x: $f| x.to_bits() as i64;
            let mut values: Vec<$f> = float_samples().iter().map(|x| *x as $f).collect();
            values.extend(samples().iter().map(|raw| <$f>::from_bits(*raw as $bits)));
            let expected = |x: $f| if x.is_nan() { Evaluation::Nan } else { Evaluation::Value(bits(x)) };
            for x in values.iter().copied() {
                let unary = |m: Model| m.eval(&[ty], ty, &[bits(x)]);
                assert_eq!(unary(Model::Sqrt), expected(x.sqrt()));
                assert_eq!(unary(Model::Fceil), expected(x.ceil()));
                assert_eq!(unary(Model::Ffloor), expected(x.floor()));
                assert_eq!(unary(Model::Ftrunc), expected(x.trunc()));
                assert_eq!(unary(Model::Fnearest), expected(x.round_ties_even()));
                assert_eq!(unary(Model::Fneg), Evaluation::Value(bits(-x)));
                assert_eq!(unary(Model::Fabs), Evaluation::Value(bits(x.abs())));
                for (u, s) in [(Model::FcvtToUint, Model::FcvtToSint), (Model::FcvtToUintSat, Model::FcvtToSintSat)] {
                    let to = |m: Model, r| value(m, &[ty], r, &[bits(x)]);
                    assert_eq!(to(u, Scalar::I8) as u8, x as u8);
                    assert_eq!(to(u, Scalar::I16) as u16, x as u16);
                    assert_eq!(to(u, Scalar::I32) as u32, x as u32);
                    assert_eq!(to(u, Scalar::I64) as u64, x as u64);
                    assert_eq!(to(s, Scalar::I8) as i8, x as i8);
                    assert_eq!(to(s, Scalar::I16) as i16, x as i16);
                    assert_eq!(to(s, Scalar::I32) as i32, x as i32);
                    assert_eq!(to(s, Scalar::I64), x as i64);
                }
                for y in values.iter().copied() {
                    let binary = |m: Model| m.eval(&[ty, ty], ty, &[bits(x), bits(y)]);
                    assert_eq!(binary(Model::Fadd), expected(x + y));
                    assert_eq!(binary(Model::Fsub), expected(x - y));
                    assert_eq!(binary(Model::Fmul), expected(x * y));
                    assert_eq!(binary(Model::Fdiv), expected(x / y));
                    assert_eq!(binary(Model::Fcopysign), Evaluation::Value(bits(x.copysign(y))));
                    let either_nan = x.is_nan() || y.is_nan();
                    let least = if either_nan {
                        <$f>::NAN
                    } else if x.total_cmp(&y).is_lt() {
                        x
                    } else {
                        y
                    };
                    let greatest = if either_nan {
                        <$f>::NAN
                    } else if x.total_cmp(&y).is_gt() {
                        x
                    } else {
                        y
                    };
                    assert_eq!(binary(Model::Fmin), expected(least));
                    assert_eq!(binary(Model::Fmax), expected(greatest));
                    let three = Model::Fma.eval(&[ty; 3], ty, &[bits(x), bits(y), bits(1.5)]);
                    assert_eq!(three, expected(x.mul_add(y, 1.5)));
                    for (model, holds) in [
                        (Model::FcmpEq, x == y),
                        (Model::FcmpNe, x != y),
                        (Model::FcmpLt, x < y),
                        (Model::FcmpLe, x <= y),
                        (Model::FcmpGt, x > y),
                        (Model::FcmpGe, x >= y),
                        (Model::FcmpOrd, !either_nan),
                        (Model::FcmpUno, either_nan),
                        (Model::FcmpUeq, either_nan || x == y),
                        (Model::FcmpOne, !either_nan && x != y),
                        (Model::FcmpUlt, either_nan || x < y),
                        (Model::FcmpUle, either_nan || x <= y),
                        (Model::FcmpUgt, either_nan || x > y),
                        (Model::FcmpUge, either_nan || x >= y),
                    ] {
                        assert_eq!(value(model, &[ty, ty], Scalar::I8, &[bits(x), bits(y)]), i64::from(holds));
                    }
                }
            }
        }
    };
}
floats!(single, F32, f32, u32);
floats!(double, F64, f64, u64);

#[test]
fn between_formats() {
    for x in float_samples() {
        let to = |m: Model, from, to, bits: i64| m.eval(&[from], to, &[bits]);
        let narrow = x as f32;
        let nan_or = |v: i64| if x.is_nan() { Evaluation::Nan } else { Evaluation::Value(v) };
        assert_eq!(
            to(Model::Fdemote, Scalar::F64, Scalar::F32, x.to_bits() as i64),
            nan_or(i64::from(narrow.to_bits()))
        );
        let wide = f64::from(narrow).to_bits() as i64;
        assert_eq!(to(Model::Fpromote, Scalar::F32, Scalar::F64, i64::from(narrow.to_bits())), nan_or(wide));
        let raw = x.to_bits() as i64;
        assert_eq!(to(Model::Bitcast, Scalar::F64, Scalar::I64, raw), Evaluation::Value(raw));
        let bits = narrow.to_bits();
        let as_int = i64::from(bits as i32);
        assert_eq!(to(Model::Bitcast, Scalar::F32, Scalar::I32, i64::from(bits)), Evaluation::Value(as_int));
        assert_eq!(to(Model::Bitcast, Scalar::I32, Scalar::F32, as_int), Evaluation::Value(i64::from(bits)));
    }
}

#[test]
fn what_sees_the_bits_of_a_nan() {
    let nans = [0x7fc0_0000, 0x7fc0_1234, 0xffc0_0001];
    // So that masks keep and set some of their bits.
    let plain = 0x2555_5555;
    for model in Model::ALL.iter().filter(|m| !matches!(m, Model::Select | Model::Splat)) {
        let results = [Scalar::F32, Scalar::F64, Scalar::I8, Scalar::I32];
        for result in results.into_iter().filter(|_| model.memory().is_none()) {
            let types = vec![Scalar::F32; model.arity()];
            // One operand is a NaN, the others are not.
            let outcomes = |at: usize| {
                nans.map(|nan| {
                    let mut args = vec![plain; types.len()];
                    args[at] = nan;
                    model.eval(&types, result, &args)
                })
            };
            let seen = (0..types.len()).any(|at| outcomes(at).windows(2).any(|pair| pair[0] != pair[1]));
            let has_meaning = outcomes(0)[0] != Evaluation::Undefined;
            assert_eq!(seen, has_meaning && model.sees_nan_bits(), "{model:?} to {result:?}");
        }
    }
}

#[test]
fn bits_of_floats_are_those_of_integers() {
    for (float, int) in [(Scalar::F32, Scalar::I32), (Scalar::F64, Scalar::I64)] {
        let same = |model: Model, args: &[u64]| {
            let at = |ty: Scalar| {
                let args: Vec<i64> = args.iter().map(|a| ty.canonical(*a)).collect();
                let Evaluation::Value(v) = model.eval(&vec![ty; args.len()], ty, &args) else { panic!("{model:?}") };
                ty.zero_extended(v)
            };
            assert_eq!(at(float), at(int), "{model:?} {args:?}");
        };
        for x in samples() {
            same(Model::Not, &[x]);
            for y in samples() {
                for model in [Model::And, Model::Or, Model::Xor] {
                    same(model, &[x, y]);
                }
                same(Model::Bitselect, &[x, y, !x]);
            }
        }
        assert_eq!(Model::And.eval(&[float, int], float, &[1, 1]), Evaluation::Undefined);
        assert_eq!(Model::Add.eval(&[int, float], float, &[1, 1]), Evaluation::Undefined);
    }
}
