//! Instructions and intrinsics on `float` and `double`, from the Language Reference.
//!
//! The bits of a NaN that arithmetic gives are any NaN's. Fast-math flags that only allow other results make a result
//! loose; `nnan` and `ninf` make it poison.

use super::choice::OpResult;
use super::value::{Atom, ones};
use rewright_llvm::types::Type;

/// A format that is modelled.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Format {
    Single,
    Double,
}

/// Fast-math flags.
pub(super) const FLAGS: [&str; 8] = ["fast", "nnan", "ninf", "nsz", "arcp", "contract", "afn", "reassoc"];

impl Format {
    pub(super) fn of(ty: &Type) -> Option<Format> {
        match ty {
            Type::Word(word) if word == "float" => Some(Format::Single),
            Type::Word(word) if word == "double" => Some(Format::Double),
            _ => None,
        }
    }

    pub(super) fn width(self) -> u32 {
        if self == Format::Single { 32 } else { 64 }
    }

    /// The NaN that LLVM prefers.
    pub(super) fn nan(self) -> u128 {
        if self == Format::Single { 0x7fc0_0000 } else { 0x7ff8_0000_0000_0000 }
    }

    /// The number that some bits are; a `float` is a `double`, too.
    pub(super) fn number(self, bits: u128) -> f64 {
        match self {
            Format::Single => f64::from(f32::from_bits(bits as u32)),
            Format::Double => f64::from_bits(bits as u64),
        }
    }

    pub(super) fn is_nan(self, bits: u128) -> bool {
        self.number(bits).is_nan()
    }

    fn is_signalling(self, bits: u128) -> bool {
        let quiet = if self == Format::Single { 1 << 22 } else { 1 << 51 };
        self.is_nan(bits) && bits & quiet == 0
    }

    fn sign(self) -> u128 {
        1 << (self.width() - 1)
    }
}

/// A result of one of both formats.
#[derive(Clone, Copy)]
enum Number {
    Single(f32),
    Double(f64),
}

impl Number {
    fn bits(self) -> u128 {
        match self {
            Number::Single(x) => x.to_bits().into(),
            Number::Double(x) => x.to_bits().into(),
        }
    }

    fn value(self) -> f64 {
        match self {
            Number::Single(x) => x.into(),
            Number::Double(x) => x,
        }
    }
}

/// Computes in one of both formats.
macro_rules! compute {
    ($format:expr, $($x:ident = $bits:expr),+ => $result:expr) => {
        match $format {
            Format::Single => {
                $(let $x = f32::from_bits($bits as u32);)+
                Number::Single($result)
            }
            Format::Double => {
                $(let $x = f64::from_bits($bits as u64);)+
                Number::Double($result)
            }
        }
    };
}

/// What flags make of a result that operands have.
struct Flags {
    nnan: bool,
    ninf: bool,
    nsz: bool,
    loose: bool,
}

impl Flags {
    fn new(flags: &[String]) -> Flags {
        let says = |word: &str| flags.iter().any(|flag| flag == word || flag == "fast");
        let loose = ["arcp", "contract", "afn", "reassoc"].iter().any(|flag| says(flag));
        Flags { nnan: says("nnan"), ninf: says("ninf"), nsz: says("nsz"), loose }
    }

    fn is_poison(&self, number: f64) -> bool {
        self.nnan && number.is_nan() || self.ninf && number.is_infinite()
    }

    fn apply(&self, operands: &[f64], result: Number) -> OpResult {
        let value = result.value();
        let seen = || operands.iter().copied().chain([value]);
        if seen().any(|n| self.is_poison(n)) {
            return OpResult::Is(Atom::Poison);
        }
        let atom = Atom::Int(result.bits());
        let loose = self.loose || self.nsz && seen().any(|n| n == 0.0);
        match (value.is_nan(), loose) {
            (true, false) => OpResult::Nan,
            (_, true) => OpResult::Loose(if value.is_nan() { Atom::Int(nan_like(result)) } else { atom }),
            _ => OpResult::Is(atom),
        }
    }
}

fn nan_like(number: Number) -> u128 {
    match number {
        Number::Single(_) => Format::Single.nan(),
        Number::Double(_) => Format::Double.nan(),
    }
}

/// An instruction on two floats.
pub(super) fn binary(opcode: &str, flags: &[String], format: Format, a: u128, b: u128) -> Option<OpResult> {
    let result = match opcode {
        "fadd" => compute!(format, x = a, y = b => x + y),
        "fsub" => compute!(format, x = a, y = b => x - y),
        "fmul" => compute!(format, x = a, y = b => x * y),
        "fdiv" => compute!(format, x = a, y = b => x / y),
        "frem" => compute!(format, x = a, y = b => x % y),
        _ => return None,
    };
    Some(Flags::new(flags).apply(&[format.number(a), format.number(b)], result))
}

/// What flags say of a value that is only passed on, as that of `select`.
pub(super) fn passed(flags: &[String], format: Format, a: u128) -> OpResult {
    let flags = Flags::new(flags);
    let number = format.number(a);
    match flags.is_poison(number) {
        true => OpResult::Is(Atom::Poison),
        false if flags.nsz && number == 0.0 => OpResult::Loose(Atom::Int(a)),
        false => OpResult::Is(Atom::Int(a)),
    }
}

/// `fneg`, `fabs`, and `copysign` with the sign of `b`: on bits.
pub(super) fn sign(name: &str, flags: &[String], format: Format, a: u128, b: u128) -> Option<OpResult> {
    let sign = format.sign();
    let bits = match name {
        "fneg" => a ^ sign,
        "fabs" => a & !sign,
        "copysign" => a & !sign | b & sign,
        _ => return None,
    };
    Some(passed(flags, format, bits & ones(format.width())))
}

/// A comparison by `relation`.
pub(super) fn compare(relation: &str, flags: &[String], format: Format, a: u128, b: u128) -> Option<OpResult> {
    let (x, y) = (format.number(a), format.number(b));
    let flags = Flags::new(flags);
    if [x, y].iter().any(|n| flags.is_poison(*n)) {
        return Some(OpResult::Is(Atom::Poison));
    }
    let unordered = x.is_nan() || y.is_nan();
    let holds = match relation {
        "false" => false,
        "true" => true,
        "ord" => !unordered,
        "uno" => unordered,
        _ => {
            let base = match relation.get(1..)? {
                "eq" => x == y,
                "ne" => x != y && !unordered,
                "lt" => x < y,
                "le" => x <= y,
                "gt" => x > y,
                "ge" => x >= y,
                _ => return None,
            };
            match relation.get(..1)? {
                "o" => base,
                "u" => base || unordered,
                _ => return None,
            }
        }
    };
    Some(OpResult::Is(Atom::Int(holds.into())))
}

/// A cast between two formats.
pub(super) fn resize(flags: &[String], from: Format, to: Format, a: u128) -> OpResult {
    let number = from.number(a);
    let result = match to {
        Format::Single => Number::Single(number as f32),
        Format::Double => Number::Double(number),
    };
    Flags::new(flags).apply(&[number], result)
}

/// A float from an integer of `width` bits.
pub(super) fn from_integer(is_signed: bool, width: u32, to: Format, a: u128) -> OpResult {
    let x = super::integer::signed(a, width);
    let number = match (to, is_signed) {
        (Format::Single, true) => Number::Single(x as f32),
        (Format::Single, false) => Number::Single(a as f32),
        (Format::Double, true) => Number::Double(x as f64),
        (Format::Double, false) => Number::Double(a as f64),
    };
    OpResult::Is(Atom::Int(number.bits()))
}

/// An integer of `width` bits from a float: poison where it does not fit, or the nearest one where it `saturates`.
pub(super) fn to_integer(is_signed: bool, saturates: bool, from: Format, width: u32, a: u128) -> OpResult {
    let number = from.number(a).trunc();
    if number.is_nan() {
        return OpResult::Is(if saturates { Atom::Int(0) } else { Atom::Poison });
    }
    let (low, high) = if is_signed {
        let top = 2f64.powi(width as i32 - 1);
        (-top, top)
    } else {
        (0.0, 2f64.powi(width as i32))
    };
    let bits = if number < low {
        is_signed.then(|| 1u128 << (width - 1)).or(Some(0)).filter(|_| saturates)
    } else if number >= high {
        Some(if is_signed { ones(width) >> 1 } else { ones(width) }).filter(|_| saturates)
    } else if is_signed {
        Some(number as i128 as u128 & ones(width))
    } else {
        Some(number as u128)
    };
    OpResult::Is(bits.map_or(Atom::Poison, Atom::Int))
}

/// An intrinsic on floats, by its name without `llvm.` and type; `None` where it is not modelled.
pub(super) fn intrinsic(stem: &str, flags: &[String], format: Format, args: &[u128]) -> Option<OpResult> {
    let a = *args.first()?;
    let b = args.get(1).copied();
    let numbers: Vec<f64> = args.iter().map(|bits| format.number(*bits)).collect();
    let rounded = |result: Number| Some(Flags::new(flags).apply(&numbers, result));
    match stem {
        "fabs" => sign(stem, flags, format, a, 0),
        "copysign" => sign(stem, flags, format, a, b?),
        "sqrt" => rounded(compute!(format, x = a => x.sqrt())),
        "floor" => rounded(compute!(format, x = a => x.floor())),
        "ceil" => rounded(compute!(format, x = a => x.ceil())),
        "trunc" => rounded(compute!(format, x = a => x.trunc())),
        "round" => rounded(compute!(format, x = a => x.round())),
        "rint" | "nearbyint" | "roundeven" => rounded(compute!(format, x = a => x.round_ties_even())),
        "fma" => {
            let c = *args.get(2)?;
            rounded(compute!(format, x = a, y = b?, z = c => x.mul_add(y, z)))
        }
        "fmuladd" => {
            let c = *args.get(2)?;
            let outcome = rounded(compute!(format, x = a, y = b?, z = c => x * y + z));
            let fused = rounded(compute!(format, x = a, y = b?, z = c => x.mul_add(y, z)));
            match outcome {
                _ if outcome == fused => outcome,
                Some(OpResult::Is(atom)) => Some(OpResult::Loose(atom)),
                Some(OpResult::Nan) => Some(OpResult::Loose(Atom::Int(format.nan()))),
                outcome => outcome,
            }
        }
        "minnum" | "maxnum" | "minimum" | "maximum" => extreme(stem, flags, format, a, b?),
        _ => None,
    }
}

fn extreme(stem: &str, flags: &[String], format: Format, a: u128, b: u128) -> Option<OpResult> {
    let (x, y) = (format.number(a), format.number(b));
    let numbers = [x, y];
    let flags = Flags::new(flags);
    if numbers.iter().any(|n| flags.is_poison(*n)) {
        return Some(OpResult::Is(Atom::Poison));
    }
    if x.is_nan() || y.is_nan() {
        return Some(match (stem, x.is_nan() && y.is_nan()) {
            // The result for a signalling NaN has changed between versions of LLVM.
            _ if format.is_signalling(a) || format.is_signalling(b) => OpResult::Unclear("a signalling NaN"),
            ("minimum" | "maximum", _) | (_, true) => OpResult::Nan,
            _ => passed(&[], format, if x.is_nan() { b } else { a }),
        });
    }
    let least = stem.starts_with("min");
    // -0 is below +0, for `minimum` and `maximum`; the others may give either.
    let a_is_less = x < y || x == y && a & format.sign() != 0;
    let chosen = Atom::Int(if a_is_less == least { a } else { b });
    let either = x == y && a != b && (stem.ends_with("num") || flags.nsz);
    Some(if either || flags.nsz && x == 0.0 && y == 0.0 || flags.loose {
        OpResult::Loose(chosen)
    } else {
        OpResult::Is(chosen)
    })
}
