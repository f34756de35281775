//! What a function is run on: arguments, memory, and what the functions that it calls answer.
//!
//! An input is JSON that a person can read and write:
//!
//! ```json
//! {
//!   "arguments": ["7", "&0+4", "poison", ["1", "undef"]],
//!   "memory": [{ "align": 16, "bytes": "2a 00 undef poison &0+8" }],
//!   "globals": { "@g": "01 00 00 00" },
//!   "answers": [{ "callee": "@f", "call": 0, "result": "3" }],
//!   "seed": 0
//! }
//! ```

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

/// What a function is run on.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// One for each parameter.
    pub arguments: Vec<Datum>,
    /// Blocks of memory that pointers may point into: `&0` is the start of the first one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub memory: Vec<Block>,
    /// What is in global variables that are not constant, by name. Others have what their module initialises them with.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub globals: BTreeMap<String, Bytes>,
    /// Answers of called functions; the first one that fits counts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub answers: Vec<Answer>,
    /// What other calls answer is made from this number.
    #[serde(default)]
    pub seed: u64,
}

/// A block of memory.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Block {
    /// Its address is a multiple of this power of two, and of no larger one.
    #[serde(default = "default_align")]
    pub align: u64,
    /// What is in it.
    pub bytes: Bytes,
}

fn default_align() -> u64 {
    16
}

/// What a call answers.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Answer {
    /// Whose: `@f`.
    pub callee: String,
    /// Only on these arguments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arguments: Option<Vec<Datum>>,
    /// Only at its n-th call, counted from 0. Functions that keep nothing in memory answer the same at each call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<u32>,
    /// Its result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<Datum>,
    /// What it writes before it returns.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub writes: Vec<Write>,
}

/// What a call writes.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Write {
    /// Where: `&0+4` or `@g+4`.
    pub to: InputAddress,
    /// What.
    pub bytes: Bytes,
}

/// A place in a block or a global.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub enum InputAddress {
    /// In a block of the input.
    Block(u32, i64),
    /// In a global, or a function.
    Global(String, i64),
}

/// A value.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Datum {
    /// Of a scalar.
    Scalar(Scalar),
    /// Of a vector, an array or a structure.
    Parts(Vec<Datum>),
}

/// A value of a scalar type.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub enum Scalar {
    /// The bits of an integer or float. Written `7`, `-1` or `0x7f`.
    Bits(u128),
    /// Another value at each use.
    Undef,
    /// Poison.
    Poison,
    /// The pointer to no object.
    Null,
    /// A pointer.
    Pointer(InputAddress),
}

/// Bytes of memory.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Bytes(pub Vec<Cell>);

/// One byte, or a pointer in eight.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Cell {
    /// Two digits.
    Byte(u8),
    /// Any value at each use.
    Undef,
    /// Poison.
    Poison,
    /// Eight bytes.
    Pointer(InputAddress),
}

/// A text that is no part of an input.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum InputError {
    /// It should be a place.
    #[error("`{0}` is no place: write `&0+4` or `@g+4`")]
    Address(String),
    /// It should be a value.
    #[error("`{0}` is no value: write a number, `undef`, `poison`, `null` or `&0+4`")]
    Scalar(String),
    /// It should be a byte, or some.
    #[error("`{0}` is no byte: write two hexadecimal digits, `undef`, `poison` or `&0+4`")]
    Byte(String),
}

impl Cell {
    /// How many bytes it takes.
    pub fn size(&self) -> u64 {
        if matches!(self, Cell::Pointer(_)) { 8 } else { 1 }
    }
}

impl fmt::Display for InputAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let offset = match self {
            InputAddress::Block(n, offset) => {
                write!(f, "&{n}")?;
                *offset
            }
            InputAddress::Global(name, offset) => {
                write!(f, "{name}")?;
                *offset
            }
        };
        if offset == 0 { Ok(()) } else { write!(f, "{offset:+}") }
    }
}

impl FromStr for InputAddress {
    type Err = InputError;

    fn from_str(text: &str) -> Result<InputAddress, InputError> {
        let bad = || InputError::Address(text.to_string());
        // A name in quotes may hold anything.
        let named = text.rfind('"').map_or(1, |quote| quote + 1).min(text.len());
        let tail = text.get(named..).ok_or_else(bad)?;
        let sign = tail.find(['+', '-']).map(|at| named + at);
        let (base, offset) = match sign {
            // A name may hold a sign: what follows it is a number, then.
            Some(at) if text[at + 1..].bytes().all(|b| b.is_ascii_digit()) && at + 1 < text.len() => {
                (&text[..at], text[at..].parse().map_err(|_| bad())?)
            }
            _ => (text, 0),
        };
        match base.split_at_checked(1) {
            Some(("&", number)) => Ok(InputAddress::Block(number.parse().map_err(|_| bad())?, offset)),
            Some(("@", name)) if !name.is_empty() => Ok(InputAddress::Global(base.to_string(), offset)),
            _ => Err(bad()),
        }
    }
}

impl fmt::Display for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Scalar::Bits(bits) if *bits < 1024 => write!(f, "{bits}"),
            Scalar::Bits(bits) => write!(f, "{bits:#x}"),
            Scalar::Undef => write!(f, "undef"),
            Scalar::Poison => write!(f, "poison"),
            Scalar::Null => write!(f, "null"),
            Scalar::Pointer(place) => write!(f, "{place}"),
        }
    }
}

impl FromStr for Scalar {
    type Err = InputError;

    fn from_str(text: &str) -> Result<Scalar, InputError> {
        let bad = || InputError::Scalar(text.to_string());
        match text {
            "undef" => return Ok(Scalar::Undef),
            "poison" => return Ok(Scalar::Poison),
            "null" => return Ok(Scalar::Null),
            _ => {}
        }
        if let Some(digits) = text.strip_prefix("0x") {
            return u128::from_str_radix(digits, 16).map(Scalar::Bits).map_err(|_| bad());
        }
        if text.starts_with(['&', '@']) {
            return text.parse().map(Scalar::Pointer);
        }
        let signed = || text.parse::<i128>().map(|n| n as u128);
        text.parse::<u128>().or_else(|_| signed()).map(Scalar::Bits).map_err(|_| bad())
    }
}

impl fmt::Display for Datum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Datum::Scalar(scalar) => write!(f, "{scalar}"),
            Datum::Parts(parts) => {
                let shown: Vec<_> = parts.iter().map(ToString::to_string).collect();
                write!(f, "{{ {} }}", shown.join(", "))
            }
        }
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, cell) in self.0.iter().enumerate() {
            if i > 0 {
                write!(f, " ")?;
            }
            match cell {
                Cell::Byte(byte) => write!(f, "{byte:02x}")?,
                Cell::Undef => write!(f, "undef")?,
                Cell::Poison => write!(f, "poison")?,
                Cell::Pointer(place) => write!(f, "{place}")?,
            }
        }
        Ok(())
    }
}

impl FromStr for Bytes {
    type Err = InputError;

    fn from_str(text: &str) -> Result<Bytes, InputError> {
        let bad = |word: &str| InputError::Byte(word.to_string());
        let mut cells = vec![];
        for word in text.split_ascii_whitespace() {
            match word {
                "undef" => cells.push(Cell::Undef),
                "poison" => cells.push(Cell::Poison),
                _ if word.starts_with(['&', '@']) => cells.push(Cell::Pointer(word.parse()?)),
                _ if word.len() % 2 == 0 && word.bytes().all(|b| b.is_ascii_hexdigit()) => {
                    for at in (0..word.len()).step_by(2) {
                        let byte = u8::from_str_radix(&word[at..at + 2], 16);
                        cells.push(Cell::Byte(byte.map_err(|_| bad(word))?));
                    }
                }
                _ => return Err(bad(word)),
            }
        }
        Ok(Bytes(cells))
    }
}

/// As JSON, what is written in text is a string.
macro_rules! as_text {
    ($($ty:ty),+) => {$(
        impl From<$ty> for String {
            fn from(value: $ty) -> String {
                value.to_string()
            }
        }

        impl TryFrom<String> for $ty {
            type Error = InputError;

            fn try_from(text: String) -> Result<$ty, InputError> {
                text.parse()
            }
        }
    )+};
}

as_text!(InputAddress, Scalar, Bytes);

impl Bytes {
    /// For a person: long ones without their end.
    fn short(&self) -> String {
        let size: u64 = self.0.iter().map(Cell::size).sum();
        match self.0.get(..SHOWN) {
            Some(first) if size > SHORT => format!("{} .. {size} bytes", Bytes(first.to_vec())),
            _ => self.to_string(),
        }
    }
}

/// Memory of more bytes than this is shown without its end.
const SHORT: u64 = 64;

/// This many of its bytes are shown.
const SHOWN: usize = 16;

impl fmt::Display for Input {
    /// A line for each part, as a person would give them; the JSON has all bytes.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let arguments: Vec<_> = self.arguments.iter().map(ToString::to_string).collect();
        write!(f, "({})", arguments.join(", "))?;
        for (n, block) in self.memory.iter().enumerate() {
            write!(f, ", &{n} = [{}]", block.bytes.short())?;
        }
        for (name, bytes) in &self.globals {
            write!(f, ", {name} = [{}]", bytes.short())?;
        }
        for answer in &self.answers {
            let call = answer.call.map(|n| format!(" (call {n})")).unwrap_or_default();
            let result = answer.result.as_ref().map_or("nothing".into(), ToString::to_string);
            write!(f, ", {}{call} gives {result}", answer.callee)?;
            for write in &answer.writes {
                write!(f, " and writes [{}] to {}", write.bytes, write.to)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_are_read_as_they_are_written() {
        let text = r#"{"arguments":["7","-1","0x7f","&0+4","@g","poison",["1","undef"],"null","@\"a+1 b\"-2"],
            "memory":[{"bytes":"2a00 undef poison &0-8"}],"globals":{"@g":"01"},
            "answers":[{"callee":"@f","call":1,"result":"3","writes":[{"to":"@g+1","bytes":"ff"}]}]}"#;
        let input: Input = serde_json::from_str(text).unwrap();
        assert_eq!(input.memory[0].align, 16);
        assert_eq!(input.memory[0].bytes.0.iter().map(Cell::size).sum::<u64>(), 12);
        let again = serde_json::to_string(&input).unwrap();
        assert_eq!(serde_json::from_str::<Input>(&again).unwrap(), input);
        assert_eq!(input.arguments[8], Datum::Scalar(Scalar::Pointer(InputAddress::Global("@\"a+1 b\"".into(), -2))));
    }

    #[test]
    fn what_is_no_input_is_said() {
        for bad in [
            r#"{"arguments":["seven"]}"#,
            r#"{"arguments":["&x"]}"#,
            r#"{"arguments":[],"memory":[{"bytes":"abc"}]}"#,
            r#"{"arguments":[],"more":1}"#,
            r#"{"arguments":["0x1ffffffffffffffffffffffffffffffff"]}"#,
        ] {
            assert!(serde_json::from_str::<Input>(bad).is_err(), "{bad}");
        }
    }
}
