//! What operations of `arith` and `math` compute, on bits.
//!
//! Above the bits of a NaN stands what of it may be otherwise ([`nan`](super::nan)): [`ANY_PAYLOAD`], [`ANY_SIGN`].

use super::nan::{Bits, bits_of};
use super::value::{BRANCH, Operation, POSITIVE, may_trap};
use smallvec::SmallVec;

/// The payload of this NaN may be any.
pub(crate) const ANY_PAYLOAD: u128 = 1 << 126;

/// The sign of this NaN may be any.
pub(crate) const ANY_SIGN: u128 = 1 << 127;

/// A type that can be executed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Scalar {
    /// An integer of this many bits; `index` has 64.
    Int(u32),
    /// IEEE-754 single precision.
    F32,
    /// IEEE-754 double precision.
    F64,
}

impl Scalar {
    pub(crate) fn named(ty: &str) -> Option<Self> {
        match ty {
            "index" => Some(Scalar::Int(64)),
            "f32" => Some(Scalar::F32),
            "f64" => Some(Scalar::F64),
            _ => match ty.strip_prefix('i')?.parse() {
                Ok(width @ 1..=64) => Some(Scalar::Int(width)),
                _ => None,
            },
        }
    }

    fn float(self, bits: u128) -> f64 {
        if self == Scalar::F32 { f64::from(f32::from_bits(bits as u32)) } else { f64::from_bits(bits as u64) }
    }

    /// How many bytes a value takes in memory.
    pub(crate) fn bytes(self) -> usize {
        match self {
            Scalar::Int(width) => width.div_ceil(8) as usize,
            Scalar::F32 => 4,
            Scalar::F64 => 8,
        }
    }

    /// The bits of the number, rounded to the type.
    pub(crate) fn bits_of(self, number: f64) -> u128 {
        if self == Scalar::F32 { u128::from((number as f32).to_bits()) } else { u128::from(number.to_bits()) }
    }

    fn is_nan(self, bits: u128) -> bool {
        !matches!(self, Scalar::Int(_)) && self.float(bits).is_nan()
    }

    fn sign(self) -> u128 {
        1 << (8 * self.bytes() - 1)
    }

    /// The bits without what may be otherwise.
    fn bits(bits: u128) -> u128 {
        bits & !(ANY_PAYLOAD | ANY_SIGN)
    }

    /// Whether the second version may have the second value where the first one has the first.
    pub(crate) fn allows(self, first: u128, second: u128) -> bool {
        let is_free = first & ANY_PAYLOAD != 0 && self.is_nan(second);
        let has_sign = (first | second) & ANY_SIGN != 0 || (first ^ second) & self.sign() == 0;
        Scalar::bits(first) == Scalar::bits(second) || (is_free && has_sign)
    }

    /// The NaN that arithmetic gives.
    fn any_nan(self) -> u128 {
        let quiet = if self == Scalar::F32 { 0x7fc0_0000 } else { 0x7ff8_0000_0000_0000 };
        quiet | ANY_PAYLOAD | ANY_SIGN
    }

    /// The value, with one NaN for all.
    pub(crate) fn canonical(self, bits: u128) -> u128 {
        if self.is_nan(bits) { self.bits_of(f64::NAN) } else { bits }
    }

    /// The value as a person writes it.
    pub(crate) fn show(self, bits: u128) -> String {
        match self {
            Scalar::Int(1) => (if bits == 1 { "true" } else { "false" }).to_string(),
            Scalar::Int(width) => signed(bits, width).to_string(),
            _ if self.is_nan(bits) && bits & ANY_PAYLOAD == 0 => format!("NaN ({bits:#x})"),
            _ => format!("{:?}", self.float(bits)),
        }
    }
}

/// Why an execution stops.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Stop {
    /// Behaviour is undefined from here on, and why.
    Undefined(String),
    /// The operation or its type cannot be executed here.
    Unknown(String),
}

pub(crate) fn signed(bits: u128, width: u32) -> i128 {
    let shift = 128 - width;
    ((bits << shift) as i128) >> shift
}

pub(crate) fn wrapped(number: i128, width: u32) -> u128 {
    (number as u128) & (u128::MAX >> (128 - width))
}

/// The result of an operation; `None` is poison.
pub(crate) fn operate(op: &Operation, operands: &[Option<u128>]) -> Result<Option<u128>, Stop> {
    operate_on(op, types(op)?, operands)
}

/// The types of an operation's operands and of its result, where it can be executed.
pub(crate) fn types(op: &Operation) -> Result<(Scalar, Scalar), Stop> {
    if !op.flags.is_empty() && !["arith.addi", "arith.subi", "arith.muli"].contains(&op.name.as_str()) {
        return Err(Stop::Unknown(format!("`{}` with {}", op.name, op.flags.join(", "))));
    }
    Scalar::named(&op.from).zip(Scalar::named(&op.ty)).ok_or_else(|| unknown(op))
}

fn unknown(op: &Operation) -> Stop {
    Stop::Unknown(format!("`{}` on `{}`", op.name, op.from))
}

/// The result of an operation between these types; `None` is poison.
pub(crate) fn operate_on(
    op: &Operation,
    (from, to): (Scalar, Scalar),
    operands: &[Option<u128>],
) -> Result<Option<u128>, Stop> {
    let unknown = || unknown(op);
    if op.name == "arith.select" {
        let [condition, then, otherwise] = operands else { return Err(unknown()) };
        return Ok(condition.and_then(|c| if c == 1 { *then } else { *otherwise }));
    }
    if op.name == BRANCH && operands.first().is_some_and(Option::is_none) {
        return Err(Stop::Undefined("a branch on an undefined value".into()));
    }
    if may_trap(&op.name) && operands.get(1).is_some_and(Option::is_none) {
        return Err(Stop::Unknown(format!("`{}` by a value that is poison", op.name)));
    }
    let Some(operands) = operands.iter().copied().collect::<Option<SmallVec<[u128; 4]>>>() else { return Ok(None) };
    let result = match (from, operands.as_slice()) {
        (Scalar::Int(_), [a]) if op.name == BRANCH => Ok(Some(*a)),
        (Scalar::Int(width), [a]) if op.name == POSITIVE => match signed(*a, width) {
            1.. => Ok(Some(*a)),
            _ => Err(Stop::Undefined("a division by what is not positive".into())),
        },
        (Scalar::Int(width), [a]) => convert(op, *a, width, to).ok_or_else(unknown),
        (Scalar::Int(width), [a, b]) => integer(op, *a, *b, width)?.ok_or_else(unknown),
        (_, [a]) if op.name == "arith.bitcast" && a & ANY_PAYLOAD != 0 => Err(unseen(op)),
        (_, [a]) => float_unary(op, *a, from, to).ok_or_else(unknown),
        (_, [a, b]) if op.name.ends_with("numf") && from.float(*a) == 0.0 && from.float(*b) == 0.0 && a != b => {
            Err(Stop::Unknown(format!("`{}` of zeros of both signs, which may be either", op.name)))
        }
        (_, [_, sign]) if op.name == "math.copysign" && sign & ANY_SIGN != 0 => Err(unseen(op)),
        (_, operands) => float(op, operands, from).map(Some).ok_or_else(unknown),
    }?;
    let is_any = bits_of(&op.name) == Bits::Any;
    Ok(result.map(|bits| if is_any && to.is_nan(bits) { to.any_nan() } else { bits }))
}

fn unseen(op: &Operation) -> Stop {
    Stop::Unknown(format!("`{}` of a NaN that arithmetic gives, which may be any", op.name))
}

fn convert(op: &Operation, bits: u128, width: u32, to: Scalar) -> Option<Option<u128>> {
    let number = signed(bits, width);
    let result = match (op.name.strip_prefix("arith.").or_else(|| op.name.strip_prefix("math."))?, to) {
        ("extsi" | "index_cast", Scalar::Int(w)) => wrapped(number, w),
        ("extui" | "index_castui" | "trunci", Scalar::Int(w)) => wrapped(bits as i128, w),
        ("bitcast", _) => bits,
        ("absi", Scalar::Int(w)) => wrapped(number.abs(), w),
        ("sitofp", Scalar::F32) => u128::from((number as f32).to_bits()),
        ("uitofp", Scalar::F32) => u128::from((bits as f32).to_bits()),
        ("sitofp", Scalar::F64) => to.bits_of(number as f64),
        ("uitofp", Scalar::F64) => to.bits_of(bits as f64),
        _ => return None,
    };
    Some(Some(result))
}

/// Integer arithmetic; the outer option is whether the operation is known, the inner one whether it is poison.
fn integer(op: &Operation, a: u128, b: u128, width: u32) -> Result<Option<Option<u128>>, Stop> {
    let Some(name) = op.name.strip_prefix("arith.") else { return Ok(None) };
    let (x, y) = (signed(a, width), signed(b, width));
    let undefined = |why: &str| Err(Stop::Undefined(format!("`{}` {why}", op.name)));
    let overflows = x == signed(1 << (width - 1), width) && y == -1;
    if name.contains("div") || name.starts_with("rem") {
        if b == 0 {
            return undefined("by zero");
        }
        if overflows && (name.ends_with("divsi")) {
            return undefined("overflows");
        }
        if overflows && name == "remsi" {
            return Err(Stop::Unknown("`arith.remsi` of the least number by -1, which LLVM leaves undefined".into()));
        }
    }
    if name.starts_with("sh") && b >= u128::from(width) {
        return Ok(Some(None));
    }
    let (of_signed, of_unsigned) = match name {
        "addi" => (x.checked_add(y), a.checked_add(b)),
        "subi" => (x.checked_sub(y), a.checked_sub(b)),
        "muli" => (x.checked_mul(y), a.checked_mul(b)),
        _ => (None, None),
    };
    let mask = u128::MAX >> (128 - width);
    let result = match name {
        "addi" => a.wrapping_add(b),
        "subi" => a.wrapping_sub(b),
        "muli" => a.wrapping_mul(b),
        "divsi" => wrapped(x / y, width),
        "divui" => a / b,
        "remsi" => wrapped(x % y, width),
        "remui" => a % b,
        "floordivsi" => wrapped(x.div_euclid(y) - i128::from(y < 0 && x.rem_euclid(y) != 0), width),
        "ceildivsi" => wrapped(x / y + i128::from(x % y != 0 && (x < 0) == (y < 0)), width),
        "ceildivui" => a.div_ceil(b),
        "andi" => a & b,
        "ori" => a | b,
        "xori" => a ^ b,
        "shli" => a << b,
        "shrsi" => wrapped(x >> b, width),
        "shrui" => a >> b,
        "maxsi" => wrapped(x.max(y), width),
        "minsi" => wrapped(x.min(y), width),
        "maxui" => a.max(b),
        "minui" => a.min(b),
        _ => match name.strip_prefix("cmpi.").and_then(|predicate| compare(predicate, x, y, a, b)) {
            Some(holds) => return Ok(Some(Some(u128::from(holds)))),
            None => return Ok(None),
        },
    } & mask;
    let fits = |flag: &String| match flag.as_str() {
        "nsw" => of_signed == Some(signed(result, width)),
        "nuw" => of_unsigned == Some(result),
        _ => false,
    };
    Ok(Some(op.flags.iter().all(fits).then_some(result)))
}

fn compare(predicate: &str, x: i128, y: i128, a: u128, b: u128) -> Option<bool> {
    Some(match predicate {
        "eq" => a == b,
        "ne" => a != b,
        "slt" => x < y,
        "sle" => x <= y,
        "sgt" => x > y,
        "sge" => x >= y,
        "ult" => a < b,
        "ule" => a <= b,
        "ugt" => a > b,
        "uge" => a >= b,
        _ => return None,
    })
}

fn float_unary(op: &Operation, bits: u128, from: Scalar, to: Scalar) -> Option<Option<u128>> {
    let x = from.float(bits);
    let name = op.name.strip_prefix("arith.").or_else(|| op.name.strip_prefix("math."))?;
    let sign = from.sign();
    let result = match (name, to) {
        ("bitcast", _) => bits,
        ("negf", _) => bits ^ sign,
        ("absf", _) => bits & !(sign | ANY_SIGN),
        ("extf" | "truncf", Scalar::F32 | Scalar::F64) => to.bits_of(x),
        ("fptosi" | "fptoui", Scalar::Int(width)) => {
            let (whole, low, high) = (x.trunc(), -(2f64.powi(width as i32 - 1)), 2f64.powi(width as i32 - 1));
            let inside =
                if name == "fptosi" { whole >= low && whole < high } else { whole >= 0.0 && whole < 2.0 * high };
            return Some(inside.then(|| wrapped(whole as i128, width)));
        }
        ("sqrt", _) => to.bits_of(x.sqrt()),
        ("floor", _) => to.bits_of(x.floor()),
        ("ceil", _) => to.bits_of(x.ceil()),
        ("trunc", _) => to.bits_of(x.trunc()),
        _ => return None,
    };
    Some(Some(result))
}

fn float(op: &Operation, operands: &[u128], ty: Scalar) -> Option<u128> {
    let numbers: Vec<f64> = operands.iter().map(|&bits| ty.float(bits)).collect();
    // Twice the precision and more: rounding to single precision afterwards rounds once (Figueroa 1995).
    let round = |number: f64| ty.bits_of(number);
    let minimum = |a: f64, b: f64| if a == b { f64::from_bits(a.to_bits() | b.to_bits()) } else { a.min(b) };
    let maximum = |a: f64, b: f64| if a == b { f64::from_bits(a.to_bits() & b.to_bits()) } else { a.max(b) };
    if let ("math.copysign", [magnitude, sign]) = (op.name.as_str(), operands) {
        return Some((magnitude & !(ty.sign() | ANY_SIGN)) | (sign & ty.sign()));
    }
    Some(match (op.name.strip_prefix("arith.")?, numbers.as_slice()) {
        ("addf", [a, b]) => round(a + b),
        ("subf", [a, b]) => round(a - b),
        ("mulf", [a, b]) => round(a * b),
        ("divf", [a, b]) => round(a / b),
        ("remf", [a, b]) => round(a % b),
        ("maximumf" | "minimumf", [a, b]) if a.is_nan() || b.is_nan() => round(f64::NAN),
        ("maximumf" | "maxnumf", [a, b]) => round(maximum(*a, *b)),
        ("minimumf" | "minnumf", [a, b]) => round(minimum(*a, *b)),
        (name, [a, b]) => u128::from(compare_floats(name.strip_prefix("cmpf.")?, *a, *b)?),
        _ => return None,
    })
}

fn compare_floats(predicate: &str, a: f64, b: f64) -> Option<bool> {
    let unordered = a.is_nan() || b.is_nan();
    let holds = match predicate.get(1..) {
        _ if predicate == "true" => return Some(true),
        _ if predicate == "false" => return Some(false),
        _ if predicate == "ord" => return Some(!unordered),
        _ if predicate == "uno" => return Some(unordered),
        Some("eq") => a == b,
        Some("ne") => a != b && !unordered,
        Some("lt") => a < b,
        Some("le") => a <= b,
        Some("gt") => a > b,
        Some("ge") => a >= b,
        _ => return None,
    };
    match predicate.as_bytes().first() {
        Some(b'o') => Some(holds),
        Some(b'u') => Some(holds || unordered),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn op(name: &str, ty: &str, a: u128, b: u128) -> Result<Option<u128>, Stop> {
        let (from, to) = (ty.to_string(), if name.contains("cmp") { "i1" } else { ty }.to_string());
        let op = Operation { name: format!("arith.{name}"), flags: vec![], from, ty: to, operands: vec![] };
        operate(&op, &[Some(a), Some(b)])
    }

    #[test]
    fn division_rounds_as_its_name_says() {
        for x in -9i128..9 {
            for y in (-4i128..5).filter(|y| *y != 0) {
                let of = |name| signed(op(name, "i8", wrapped(x, 8), wrapped(y, 8)).unwrap().unwrap(), 8);
                let exact = x as f64 / y as f64;
                assert_eq!(of("divsi"), exact.trunc() as i128);
                assert_eq!(of("floordivsi"), exact.floor() as i128, "{x} / {y}");
                assert_eq!(of("ceildivsi"), exact.ceil() as i128, "{x} / {y}");
                assert_eq!(of("remsi"), x % y);
            }
        }
        assert!(matches!(op("divsi", "i8", 5, 0), Err(Stop::Undefined(_))));
        assert!(matches!(op("divsi", "i8", 0x80, 0xff), Err(Stop::Undefined(_))));
    }

    #[test]
    fn overflow_flags_make_poison() {
        let mut add = Operation {
            name: "arith.addi".into(),
            flags: vec![],
            from: "i8".into(),
            ty: "i8".into(),
            operands: vec![],
        };
        assert_eq!(operate(&add, &[Some(0x7f), Some(1)]), Ok(Some(0x80)));
        add.flags.push("nsw".into());
        assert_eq!(operate(&add, &[Some(0x7f), Some(1)]), Ok(None));
        assert_eq!(op("shli", "i8", 1, 8), Ok(None));
    }

    #[test]
    fn nans_of_arithmetic_may_be_any_and_others_are_what_they_are() {
        let (f32, given) = (Scalar::F32, 0xffc0_0005);
        let unary = |name: &str, bits| {
            let (from, ty) = ("f32".to_string(), if name == "arith.bitcast" { "i32" } else { "f32" }.to_string());
            operate(&Operation { name: name.into(), flags: vec![], from, ty, operands: vec![] }, &[Some(bits)])
        };
        let made = op("addf", "f32", given, given).unwrap().unwrap();
        assert!(f32.allows(made, given) && !f32.allows(given, 0x7fc0_0000));
        assert!(!f32.allows(made, u128::from(1f32.to_bits())));
        assert_eq!(unary("arith.bitcast", given), Ok(Some(given)));
        assert!(matches!(unary("arith.bitcast", made), Err(Stop::Unknown(_))));
        assert_eq!(unary("arith.negf", given), Ok(Some(0x7fc0_0005)));
        // The payload may be any, but the sign is clear.
        let magnitude = unary("math.absf", made).unwrap().unwrap();
        assert!(f32.allows(magnitude, 0x7fc0_0005) && !f32.allows(magnitude, given));
        assert!(f32.allows(unary("arith.negf", made).unwrap().unwrap(), given));
    }

    #[test]
    fn floats_keep_the_sign_of_zero() {
        let zero = |sign: f64| u128::from((0.0 * sign).to_bits());
        assert_eq!(op("addf", "f64", zero(-1.0), zero(-1.0)), Ok(Some(zero(-1.0))));
        assert_eq!(op("addf", "f64", zero(-1.0), zero(1.0)), Ok(Some(zero(1.0))));
        assert_eq!(op("minimumf", "f64", zero(1.0), zero(-1.0)), Ok(Some(zero(-1.0))));
        assert_eq!(op("cmpf.une", "f64", zero(1.0), u128::from(f64::NAN.to_bits())), Ok(Some(1)));
        assert_eq!(op("cmpf.one", "f64", zero(1.0), u128::from(f64::NAN.to_bits())), Ok(Some(0)));
    }
}
