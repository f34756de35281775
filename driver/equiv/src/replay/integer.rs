//! Instructions and intrinsics on integers of up to 128 bits, from the Language Reference.
//!
//! Operands are not poison: the caller has checked that, except for divisions, which decide themselves.

use super::choice::OpResult;
use super::value::{Atom, ones};

/// The signed number of some bits.
pub(super) fn signed(bits: u128, width: u32) -> i128 {
    ((bits << (128 - width)) as i128) >> (128 - width)
}

fn least(width: u32) -> u128 {
    1 << (width - 1)
}

fn is(bits: u128, width: u32) -> OpResult {
    OpResult::Is(Atom::Int(bits & ones(width)))
}

const POISON: OpResult = OpResult::Is(Atom::Poison);

fn unless(poison: bool, bits: u128, width: u32) -> OpResult {
    if poison { POISON } else { is(bits, width) }
}

fn says(flags: &[String], flag: &str) -> bool {
    flags.iter().any(|f| f == flag)
}

/// The flags that an instruction on integers may have.
pub(super) const FLAGS: [&str; 6] = ["nsw", "nuw", "exact", "disjoint", "nneg", "samesign"];

/// Is it a division or remainder?
pub(super) fn divides(opcode: &str) -> bool {
    matches!(opcode, "udiv" | "sdiv" | "urem" | "srem")
}

/// Is its result never poison if no operand is?
pub(super) fn is_total(opcode: &str, flags: &[String]) -> bool {
    !matches!(opcode, "shl" | "lshr" | "ashr") && flags.iter().all(|flag| !FLAGS.contains(&flag.as_str()))
}

/// An instruction with two operands of `width` bits.
pub(super) fn binary(opcode: &str, flags: &[String], width: u32, a: Atom, b: Atom) -> Option<OpResult> {
    if divides(opcode) {
        return Some(division(opcode, flags, width, a, b));
    }
    let (Atom::Int(a), Atom::Int(b)) = (a, b) else { return None };
    let (x, y) = (signed(a, width), signed(b, width));
    let fits = |n: Option<i128>| n.is_some_and(|n| signed(n as u128, width) == n);
    let (nuw, nsw) = (says(flags, "nuw"), says(flags, "nsw"));
    let checked = |bits: u128, unsigned: Option<u128>, signed: Option<i128>| {
        let wraps = unsigned.is_none_or(|n| n > ones(width));
        unless(nuw && wraps || nsw && !fits(signed), bits, width)
    };
    let amount = u32::try_from(b).ok().filter(|n| *n < width);
    Some(match (opcode, amount) {
        ("add", _) => checked(a.wrapping_add(b), a.checked_add(b), x.checked_add(y)),
        ("sub", _) => checked(a.wrapping_sub(b), a.checked_sub(b), x.checked_sub(y)),
        ("mul", _) => checked(a.wrapping_mul(b), a.checked_mul(b), x.checked_mul(y)),
        ("shl" | "lshr" | "ashr", None) => POISON,
        ("shl", Some(n)) => {
            let bits = (a << n) & ones(width);
            unless(nuw && bits >> n != a || nsw && signed(bits, width) >> n != x, bits, width)
        }
        ("lshr", Some(n)) => unless(says(flags, "exact") && (a >> n) << n != a, a >> n, width),
        ("ashr", Some(n)) => unless(says(flags, "exact") && (a >> n) << n != a, (x >> n) as u128, width),
        ("and", _) => is(a & b, width),
        ("or", _) => unless(says(flags, "disjoint") && a & b != 0, a | b, width),
        ("xor", _) => is(a ^ b, width),
        _ => return None,
    })
}

fn division(opcode: &str, flags: &[String], width: u32, a: Atom, b: Atom) -> OpResult {
    let Atom::Int(b) = b else { return OpResult::Undefined("it divides by poison") };
    if b == 0 {
        return OpResult::Undefined("it divides by 0");
    }
    let y = signed(b, width);
    let is_signed = opcode.starts_with('s');
    let Atom::Int(a) = a else {
        return if is_signed && y == -1 { OpResult::Undefined("it divides poison by -1") } else { POISON };
    };
    let x = signed(a, width);
    if is_signed && y == -1 && a == least(width) {
        return OpResult::Undefined("a division overflows");
    }
    let (quotient, rest) = if is_signed { ((x / y) as u128, (x % y) as u128) } else { (a / b, a % b) };
    if opcode.ends_with("rem") { is(rest, width) } else { unless(says(flags, "exact") && rest != 0, quotient, width) }
}

/// A comparison by `relation`.
pub(super) fn compare(relation: &str, flags: &[String], width: u32, a: u128, b: u128) -> Option<OpResult> {
    let (x, y) = (signed(a, width), signed(b, width));
    let holds = match relation {
        "eq" => a == b,
        "ne" => a != b,
        "ult" => a < b,
        "ule" => a <= b,
        "ugt" => a > b,
        "uge" => a >= b,
        "slt" => x < y,
        "sle" => x <= y,
        "sgt" => x > y,
        "sge" => x >= y,
        _ => return None,
    };
    Some(unless(says(flags, "samesign") && (x < 0) != (y < 0), u128::from(holds), 1))
}

/// A cast from `from` to `to` bits.
pub(super) fn cast(opcode: &str, flags: &[String], from: u32, to: u32, a: u128) -> Option<OpResult> {
    Some(match opcode {
        "zext" => unless(says(flags, "nneg") && signed(a, from) < 0, a, to),
        "sext" => is(signed(a, from) as u128, to),
        "trunc" => {
            let cut = a & ones(to);
            let wraps = says(flags, "nuw") && cut != a || says(flags, "nsw") && signed(cut, to) != signed(a, from);
            unless(wraps, cut, to)
        }
        "bitcast" if from == to => is(a, to),
        _ => return None,
    })
}

/// An intrinsic whose operands and result have `width` bits, by its name without `llvm.` and type; `None` where it is
/// another one.
pub(super) fn intrinsic(stem: &str, width: u32, args: &[u128]) -> Option<OpResult> {
    let (a, b) = (*args.first()?, args.get(1).copied().unwrap_or(0));
    let (x, y) = (signed(a, width), signed(b, width));
    let top = signed(ones(width) >> 1, width);
    let bottom = signed(least(width), width);
    // Signed sums are clamped by the sign of the first operand if they overflow.
    let clamp = |n: Option<i128>, over: i128| n.filter(|n| signed(*n as u128, width) == *n).unwrap_or(over) as u128;
    Some(match stem {
        "umin" => is(a.min(b), width),
        "umax" => is(a.max(b), width),
        "smin" => is(x.min(y) as u128, width),
        "smax" => is(x.max(y) as u128, width),
        "abs" => unless(b == 1 && a == least(width), x.unsigned_abs(), width),
        "ctpop" => is(a.count_ones().into(), width),
        "ctlz" => unless(b == 1 && a == 0, (a.leading_zeros() - (128 - width)).into(), width),
        "cttz" => unless(b == 1 && a == 0, a.trailing_zeros().min(width).into(), width),
        "bitreverse" => is(a.reverse_bits() >> (128 - width), width),
        "bswap" if width.is_multiple_of(16) => is(a.swap_bytes() >> (128 - width), width),
        "fshl" | "fshr" => {
            let amount = (*args.get(2)? % u128::from(width)) as u32;
            let left = if stem == "fshl" { amount } else { width - amount };
            // The upper or lower half of both, shifted.
            match left {
                0 => is(a, width),
                n if n == width => is(b, width),
                n => is(a << n | b >> (width - n), width),
            }
        }
        "uadd.sat" => is(a.saturating_add(b).min(ones(width)), width),
        "usub.sat" => is(a.saturating_sub(b), width),
        "sadd.sat" => is(clamp(x.checked_add(y), if x < 0 { bottom } else { top }), width),
        "ssub.sat" => is(clamp(x.checked_sub(y), if x < 0 { bottom } else { top }), width),
        "ushl.sat" | "sshl.sat" => {
            let Some(n) = u32::try_from(b).ok().filter(|n| *n < width) else { return Some(POISON) };
            let bits = (a << n) & ones(width);
            if stem == "ushl.sat" {
                is(if bits >> n == a { bits } else { ones(width) }, width)
            } else if signed(bits, width) >> n == x {
                is(bits, width)
            } else {
                is(if x < 0 { bottom } else { top } as u128, width)
            }
        }
        "expect" | "ssa.copy" => is(a, width),
        _ => return None,
    })
}

/// `ucmp` or `scmp` of operands of `width` bits: -1, 0 or 1 of `result` bits.
pub(super) fn three_way(stem: &str, width: u32, result: u32, a: u128, b: u128) -> OpResult {
    let order = if stem == "scmp" { signed(a, width).cmp(&signed(b, width)) } else { a.cmp(&b) };
    is(order as i8 as i128 as u128, result)
}

/// What `uadd.with.overflow` and its like give, and whether that overflows.
pub(super) fn overflowing(stem: &str, width: u32, a: u128, b: u128) -> Option<(u128, bool)> {
    let (x, y) = (signed(a, width), signed(b, width));
    let fits = |n: Option<i128>| n.is_some_and(|n| signed(n as u128, width) == n);
    let below = |n: Option<u128>| n.is_some_and(|n| n <= ones(width));
    let (bits, exact) = match stem {
        "uadd" => (a.wrapping_add(b), below(a.checked_add(b))),
        "usub" => (a.wrapping_sub(b), below(a.checked_sub(b))),
        "umul" => (a.wrapping_mul(b), below(a.checked_mul(b))),
        "sadd" => (a.wrapping_add(b), fits(x.checked_add(y))),
        "ssub" => (a.wrapping_sub(b), fits(x.checked_sub(y))),
        "smul" => (a.wrapping_mul(b), fits(x.checked_mul(y))),
        _ => return None,
    };
    Some((bits & ones(width), !exact))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flag(name: &str) -> Vec<String> {
        vec![name.to_string()]
    }

    fn value(outcome: Option<OpResult>) -> Option<u128> {
        match outcome {
            Some(OpResult::Is(Atom::Int(bits))) => Some(bits),
            Some(OpResult::Is(Atom::Poison)) => None,
            other => panic!("{other:?}"),
        }
    }

    /// All operands of small widths, by unlimited integers.
    #[test]
    fn arithmetic_is_that_of_unlimited_integers() {
        for width in 1..=5 {
            let count = 1i128 << width;
            for (a, b) in (0..count).flat_map(|a| (0..count).map(move |b| (a, b))) {
                let wrap = |n: i128| if n >= count / 2 { n - count } else { n };
                let (x, y) = (wrap(a), wrap(b));
                let run = |opcode: &str, flags: &[String]| {
                    value(binary(opcode, flags, width, Atom::Int(a as u128), Atom::Int(b as u128)))
                };
                let cut = |n: i128| Some(n.rem_euclid(count) as u128);
                for (opcode, unsigned, signed) in [("add", a + b, x + y), ("sub", a - b, x - y), ("mul", a * b, x * y)]
                {
                    assert_eq!(run(opcode, &[]), cut(unsigned), "{opcode} {a} {b}");
                    let fits = (0..count).contains(&unsigned);
                    assert_eq!(run(opcode, &flag("nuw")), cut(unsigned).filter(|_| fits), "{opcode} nuw {a} {b}");
                    let fits = (-count / 2..count / 2).contains(&signed);
                    assert_eq!(run(opcode, &flag("nsw")), cut(signed).filter(|_| fits), "{opcode} nsw {a} {b}");
                }
                let shifts = b < i128::from(width);
                let power = 1i128 << if shifts { b } else { 0 };
                let within = |is: bool| move |_: &u128| shifts && is;
                assert_eq!(run("shl", &[]), cut(a * power).filter(within(true)));
                assert_eq!(run("shl", &flag("nuw")), cut(a * power).filter(within(a * power < count)));
                let fits = (-count / 2..count / 2).contains(&(x * power));
                assert_eq!(run("shl", &flag("nsw")), cut(x * power).filter(within(fits)), "shl nsw {a} {b}");
                assert_eq!(run("lshr", &[]), cut(a / power).filter(within(true)));
                assert_eq!(run("ashr", &[]), cut(x.div_euclid(power)).filter(within(true)));
                assert_eq!(run("lshr", &flag("exact")), cut(a / power).filter(within(a % power == 0)));
                assert_eq!(run("ashr", &flag("exact")), cut(x.div_euclid(power)).filter(within(a % power == 0)));
                assert_eq!(run("or", &flag("disjoint")), cut(a | b).filter(|_| a & b == 0));
                if b != 0 {
                    assert_eq!((run("udiv", &[]), run("urem", &[])), (cut(a / b), cut(a % b)));
                    assert_eq!(run("udiv", &flag("exact")), cut(a / b).filter(|_| a % b == 0));
                }
                if b != 0 && !(x == -count / 2 && y == -1) {
                    assert_eq!((run("sdiv", &[]), run("srem", &[])), (cut(x / y), cut(x % y)));
                } else {
                    let outcome = binary("sdiv", &[], width, Atom::Int(a as u128), Atom::Int(b as u128));
                    assert!(matches!(outcome, Some(OpResult::Undefined(_))), "{a} {b}");
                }
            }
        }
    }

    #[test]
    fn intrinsics_are_what_they_say() {
        for width in [4u32, 8] {
            let count = 1i128 << width;
            for (a, b) in (0..count).flat_map(|a| (0..count).map(move |b| (a, b))) {
                let wrap = |n: i128| if n >= count / 2 { n - count } else { n };
                let (x, y) = (wrap(a), wrap(b));
                let run = |stem: &str| value(intrinsic(stem, width, &[a as u128, b as u128])).unwrap_or(u128::MAX);
                let cut = |n: i128| n.rem_euclid(count) as u128;
                assert_eq!(run("smax"), cut(x.max(y)));
                assert_eq!(run("umin"), cut(a.min(b)));
                assert_eq!(run("uadd.sat"), cut((a + b).min(count - 1)));
                assert_eq!(run("usub.sat"), cut((a - b).max(0)));
                assert_eq!(run("sadd.sat"), cut((x + y).clamp(-count / 2, count / 2 - 1)));
                assert_eq!(run("ssub.sat"), cut((x - y).clamp(-count / 2, count / 2 - 1)));
                assert_eq!(run("ctpop"), (0..width).filter(|i| a >> i & 1 == 1).count() as u128);
                let amount = b % i128::from(width);
                let rotated = cut(a << amount) | (a >> (i128::from(width) - amount)) as u128;
                let args = [a as u128, a as u128, b as u128];
                assert_eq!(value(intrinsic("fshl", width, &args)), Some(rotated & ones(width)), "{a} {b}");
                let over = !(-count / 2..count / 2).contains(&(x * y));
                assert_eq!(overflowing("smul", width, a as u128, b as u128), Some((cut(x * y), over)));
            }
        }
    }

    #[test]
    fn the_widest_integers_do_not_overflow_ours() {
        let all = u128::MAX;
        assert_eq!(value(binary("mul", &flag("nuw"), 128, Atom::Int(all), Atom::Int(2))), None);
        assert_eq!(value(binary("mul", &flag("nsw"), 128, Atom::Int(all), Atom::Int(2))), Some(all - 1));
        assert_eq!(value(binary("add", &flag("nsw"), 128, Atom::Int(all >> 1), Atom::Int(1))), None);
        assert_eq!(value(binary("ashr", &[], 128, Atom::Int(all), Atom::Int(127))), Some(all));
        assert_eq!(value(intrinsic("ctlz", 128, &[0, 0])), Some(128));
    }
}
