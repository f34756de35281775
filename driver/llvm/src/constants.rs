//! Constants as LLVM writes them, and offsets that are constants.

use super::body::{Instruction, Operand, Shape};
use super::types::{Named, Type};

/// The bits of a constant that is a number: integers to 64 bits, floats, truth values, `null`.
pub fn read(ty: &Type, text: &str) -> Option<u64> {
    match ty {
        Type::Int(1) => match text {
            "true" | "1" | "-1" => Some(1),
            "false" | "0" => Some(0),
            _ => None,
        },
        Type::Int(8 | 16 | 32 | 64) => match text {
            "zeroinitializer" => Some(0),
            _ => text.parse::<i64>().map(|n| n as u64).or_else(|_| text.parse::<u64>()).ok(),
        },
        Type::Ptr => (text == "null").then_some(0),
        Type::Word(word) => {
            let double = match text.strip_prefix("0x") {
                Some(digits) if digits.bytes().all(|b| b.is_ascii_hexdigit()) => {
                    u64::from_str_radix(digits, 16).ok()?
                }
                Some(_) => return None,
                None if text.contains('.') => text.parse::<f64>().ok()?.to_bits(),
                None => return None,
            };
            match word.as_str() {
                "double" => Some(double),
                "float" => narrowed(double).map(u64::from),
                _ => None,
            }
        }
        _ => None,
    }
}

/// A constant of ours as LLVM writes it.
pub fn write(ty: &Type, bits: i64) -> Option<String> {
    match ty {
        Type::Int(1) => Some(if bits & 1 == 1 { "true" } else { "false" }.into()),
        Type::Int(8 | 16 | 32 | 64) => Some(bits.to_string()),
        Type::Ptr => (bits == 0).then(|| "null".into()),
        Type::Word(word) => match word.as_str() {
            "double" => Some(format!("0x{:016X}", bits as u64)),
            "float" => Some(format!("0x{:016X}", widened(bits as u32))),
            _ => None,
        },
        _ => None,
    }
}

/// LLVM writes a `float` as the `double` of the same value; a NaN keeps its upper bits.
fn narrowed(double: u64) -> Option<u32> {
    let value = f64::from_bits(double);
    let bits = if value.is_nan() {
        (((double >> 63) as u32) << 31) | 0x7f80_0000 | ((double >> 29) as u32 & 0x007f_ffff)
    } else {
        (value as f32).to_bits()
    };
    (widened(bits) == double).then_some(bits)
}

fn widened(float: u32) -> u64 {
    let value = f32::from_bits(float);
    if value.is_nan() {
        (u64::from(float >> 31) << 63) | 0x7ff0_0000_0000_0000 | (u64::from(float & 0x007f_ffff) << 29)
    } else {
        f64::from(value).to_bits()
    }
}

/// How many bytes constant indices into a type go; `None` where an index varies or the layout is not known.
pub fn offset(source: &Type, indices: &[Operand], named: &Named) -> Option<i64> {
    offset_at(source, indices, named, |o| match o.ty {
        Type::Int(8 | 16 | 32 | 64) => o.text.parse::<i64>().ok(),
        _ => None,
    })
}

/// The same, where `index` gives the value of each operand.
pub fn offset_at(
    source: &Type,
    indices: &[Operand],
    named: &Named,
    index: impl Fn(&Operand) -> Option<i64>,
) -> Option<i64> {
    let (first, rest) = indices.split_first()?;
    let mut sum = match index(first)? {
        0 => 0,
        n => n.checked_mul(i64::try_from(source.layout(named)?.0).ok()?)?,
    };
    let mut ty = source.clone();
    for operand in rest {
        let n = index(operand)?;
        // An array may be left at either end.
        let (element, offset) = match &ty {
            Type::Array(_, element) => {
                let size = i64::try_from(element.layout(named)?.0).ok()?;
                ((**element).clone(), n.checked_mul(size)?)
            }
            _ => {
                let (element, offset) = ty.element(u64::try_from(n).ok()?, named)?;
                (element, i64::try_from(offset?).ok()?)
            }
        };
        sum = sum.checked_add(offset)?;
        ty = element;
    }
    Some(sum)
}

/// A step from one pointer to another within its object.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Step<'o> {
    /// This many bytes.
    Bytes(i64),
    /// As many elements of this many bytes as an operand says.
    Elements(&'o Operand, i64),
}

/// The steps of indices into a type, of which some vary; `None` where a layout is not known. Bytes that follow each other
/// are one step, and none is no step.
pub fn steps<'o>(source: &Type, indices: &'o [Operand], named: &Named) -> Option<Vec<Step<'o>>> {
    let mut steps: Vec<Step<'o>> = vec![];
    let mut ty = Type::Array(0, Box::new(source.clone()));
    for operand in indices {
        let constant = operand.text.parse::<i64>().ok().filter(|_| matches!(operand.ty, Type::Int(8 | 16 | 32 | 64)));
        let (element, step) = match (&ty, constant) {
            (Type::Array(_, element), constant) => {
                let size = i64::try_from(element.layout(named)?.0).ok()?;
                let step = match constant {
                    Some(n) => Step::Bytes(n.checked_mul(size)?),
                    None => Step::Elements(operand, size),
                };
                ((**element).clone(), step)
            }
            (_, Some(n)) => {
                let (element, offset) = ty.element(u64::try_from(n).ok()?, named)?;
                (element, Step::Bytes(i64::try_from(offset?).ok()?))
            }
            (_, None) => return None,
        };
        match (steps.last_mut(), step) {
            (_, Step::Bytes(0) | Step::Elements(_, 0)) => {}
            (Some(Step::Bytes(before)), Step::Bytes(bytes)) => *before = before.checked_add(bytes)?,
            (_, step) => steps.push(step),
        }
        ty = element;
    }
    Some(steps)
}

/// Does an instruction add a constant to a pointer?
pub fn is_fixed_offset(instruction: &Instruction, named: &Named) -> bool {
    match &instruction.shape {
        Shape::Offset { base, source, indices } => base.ty == Type::Ptr && offset(source, indices, named).is_some(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_they_are_written() {
        let float = Type::Word("float".into());
        let double = Type::Word("double".into());
        for (ty, text, bits) in [
            (Type::Int(8), "-1", 0xffff_ffff_ffff_ffff),
            (Type::Int(64), "9223372036854775808", 1 << 63),
            (Type::Int(1), "true", 1),
            (Type::Ptr, "null", 0),
            (double.clone(), "1.000000e+00", 0x3ff0_0000_0000_0000),
            (double.clone(), "0x7FF8000000000001", 0x7ff8_0000_0000_0001),
            (float.clone(), "0x3FB99999A0000000", 0x3dcc_cccd),
            (float.clone(), "0x7FF0000020000000", 0x7f80_0001),
        ] {
            assert_eq!(read(&ty, text), Some(bits), "{text}");
            let again = write(&ty, bits as i64).and_then(|text| read(&ty, &text));
            assert_eq!(again, Some(bits), "{text}");
        }
        for (ty, text) in [
            (Type::Int(128), "1"),
            (Type::Int(32), "undef"),
            (float.clone(), "0x3FB9999999999999"),
            (double, "0xK3FFF8000000000000000"),
            (Type::Ptr, "@g"),
        ] {
            assert_eq!(read(&ty, text), None, "{text}");
        }
    }
}
