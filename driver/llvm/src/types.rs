//! LLVM's types: read, printed as LLVM prints them, laid out in memory.
//!
//! Layout is that of 64-bit targets whose scalars are aligned to their size (x86-64, AArch64); a type whose layout
//! depends on more has none here, and what needs it stays opaque.

use super::cursor::Cursor;
use super::error::NotUnderstood;
use super::lex::Kind;
use rustc_hash::FxHashMap;
use std::fmt;

/// A type.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Type {
    /// `void`
    Void,
    /// `i1` .. `i8388607`
    Int(u32),
    /// `float`, `double`, `half`, `x86_fp80`, ...: by its word. So `label`, `token`, `metadata`.
    Word(String),
    /// `ptr`
    Ptr,
    /// `%struct.V`
    Named(String),
    /// `{ i32, ptr }`, packed: `<{ i32, ptr }>`
    Struct(bool, Vec<Type>),
    /// `[4 x i32]`
    Array(u64, Box<Type>),
    /// `<4 x float>`
    Vector(u64, Box<Type>),
    /// Read and printed, but not understood: scalable vectors, target types, functions, other address spaces.
    Other(String),
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Type::Void => write!(f, "void"),
            Type::Int(n) => write!(f, "i{n}"),
            Type::Word(text) | Type::Named(text) | Type::Other(text) => write!(f, "{text}"),
            Type::Ptr => write!(f, "ptr"),
            Type::Struct(packed, fields) => {
                let inner: Vec<_> = fields.iter().map(ToString::to_string).collect();
                let inner = if inner.is_empty() { "{}".into() } else { format!("{{ {} }}", inner.join(", ")) };
                if *packed { write!(f, "<{inner}>") } else { write!(f, "{inner}") }
            }
            Type::Array(n, element) => write!(f, "[{n} x {element}]"),
            Type::Vector(n, element) => write!(f, "<{n} x {element}>"),
        }
    }
}

/// Words that are types. `iN` and `ptr` are read by themselves.
const WORDS: [&str; 12] = [
    "float",
    "double",
    "half",
    "bfloat",
    "fp128",
    "x86_fp80",
    "ppc_fp128",
    "x86_mmx",
    "x86_amx",
    "label",
    "token",
    "metadata",
];

/// Does a type start here?
pub fn starts(cursor: &Cursor<'_>) -> bool {
    match cursor.kind() {
        Some(Kind::Local) => true,
        Some(Kind::Word) => {
            let word = cursor.text();
            word == "void" || word == "ptr" || word == "target" || integer(word).is_some() || WORDS.contains(&word)
        }
        Some(Kind::Punctuation) => matches!(cursor.text(), "{" | "[" | "<"),
        _ => false,
    }
}

fn integer(word: &str) -> Option<u32> {
    let digits = word.strip_prefix('i')?;
    (!digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit())).then(|| digits.parse().ok()).flatten()
}

/// How deep types may nest. LLVM's own are a handful deep.
const MAX_DEPTH: u32 = 64;

/// Reads a type; the reason where there is none.
pub fn parse(cursor: &mut Cursor<'_>) -> Result<Type, NotUnderstood> {
    parse_at(cursor, 0)
}

fn parse_at(cursor: &mut Cursor<'_>, depth: u32) -> Result<Type, NotUnderstood> {
    if !starts(cursor) || depth > MAX_DEPTH {
        return Err(format!("no type at `{}`", cursor.text()).into());
    }
    let start = cursor.at();
    let mut ty = match (cursor.kind(), cursor.text()) {
        (Some(Kind::Local), name) => {
            let ty = Type::Named(name.to_string());
            cursor.skip();
            ty
        }
        (Some(Kind::Punctuation), "{") => Type::Struct(false, fields(cursor, depth)?),
        (Some(Kind::Punctuation), "[") => {
            cursor.skip();
            let ty = counted(cursor, depth)?;
            cursor.expect("]")?;
            Type::Array(ty.0, Box::new(ty.1))
        }
        (Some(Kind::Punctuation), _) => {
            cursor.skip();
            if cursor.text() == "{" {
                let fields = fields(cursor, depth)?;
                cursor.expect(">")?;
                Type::Struct(true, fields)
            } else if cursor.text() == "vscale" {
                while !cursor.is_done() && cursor.text() != ">" {
                    cursor.skip();
                }
                cursor.expect(">")?;
                Type::Other(cursor.since(start).to_string())
            } else {
                let ty = counted(cursor, depth)?;
                cursor.expect(">")?;
                Type::Vector(ty.0, Box::new(ty.1))
            }
        }
        (_, "void") => {
            cursor.skip();
            Type::Void
        }
        (_, "ptr") => {
            cursor.skip();
            if cursor.text() == "addrspace" {
                cursor.skip();
                cursor.skip_group();
                Type::Other(cursor.since(start).to_string())
            } else {
                Type::Ptr
            }
        }
        (_, "target") => {
            cursor.skip();
            cursor.skip_group();
            Type::Other(cursor.since(start).to_string())
        }
        (_, word) => {
            let ty = integer(word).map_or_else(|| Type::Word(word.to_string()), Type::Int);
            cursor.skip();
            ty
        }
    };
    // A function's type: `i32 (ptr, ...)`.
    if cursor.text() == "(" {
        cursor.skip_group();
        ty = Type::Other(cursor.since(start).to_string());
    }
    if cursor.text() == "*" {
        return Err("typed pointers, of LLVM 14 and older".into());
    }
    Ok(ty)
}

fn counted(cursor: &mut Cursor<'_>, depth: u32) -> Result<(u64, Type), NotUnderstood> {
    let count = cursor.text().parse().map_err(|_| format!("no count at `{}`", cursor.text()))?;
    cursor.skip();
    cursor.expect("x")?;
    Ok((count, parse_at(cursor, depth + 1)?))
}

fn fields(cursor: &mut Cursor<'_>, depth: u32) -> Result<Vec<Type>, NotUnderstood> {
    cursor.expect("{")?;
    let mut fields = vec![];
    while cursor.text() != "}" {
        if !fields.is_empty() {
            cursor.expect(",")?;
        }
        fields.push(parse_at(cursor, depth + 1)?);
    }
    cursor.expect("}")?;
    Ok(fields)
}

/// Named types of a module.
pub type Named = FxHashMap<String, Type>;

impl Type {
    /// Size with its padding, and alignment, in bytes.
    pub fn layout(&self, named: &Named) -> Option<(u64, u64)> {
        self.layout_at(named, 0)
    }

    fn layout_at(&self, named: &Named, depth: u32) -> Option<(u64, u64)> {
        if depth > MAX_DEPTH {
            return None;
        }
        match self {
            Type::Int(n @ (8 | 16 | 32 | 64)) => Some((u64::from(n / 8), u64::from(n / 8))),
            Type::Ptr => Some((8, 8)),
            Type::Word(word) => match word.as_str() {
                "half" | "bfloat" => Some((2, 2)),
                "float" => Some((4, 4)),
                "double" => Some((8, 8)),
                "fp128" | "x86_fp80" => Some((16, 16)),
                _ => None,
            },
            Type::Named(name) => named.get(name)?.layout_at(named, depth + 1),
            Type::Array(n, element) => {
                let (size, align) = element.layout_at(named, depth + 1)?;
                Some((size.checked_mul(*n)?, align))
            }
            Type::Struct(packed, fields) => {
                let (mut size, mut align) = (0u64, 1);
                for field in fields {
                    let (inner, wants) = field.layout_at(named, depth + 1)?;
                    let wants = if *packed { 1 } else { wants };
                    size = size.checked_next_multiple_of(wants)?.checked_add(inner)?;
                    align = align.max(wants);
                }
                Some((size.checked_next_multiple_of(align)?, align))
            }
            Type::Int(_) | Type::Vector(..) | Type::Void | Type::Other(_) => None,
        }
    }

    /// The type of a part, and how far in it lies in bytes, where both are known.
    pub fn element(&self, index: u64, named: &Named) -> Option<(Type, Option<u64>)> {
        match self {
            Type::Named(name) => named.get(name)?.element(index, named),
            Type::Array(_, element) => {
                let offset = element.layout(named).and_then(|(size, _)| size.checked_mul(index));
                Some(((**element).clone(), offset))
            }
            Type::Struct(packed, fields) => {
                let ty = fields.get(usize::try_from(index).ok()?)?;
                let before = fields[..index as usize].iter();
                let offset = before.chain([ty]).try_fold((0u64, 0u64), |(_, end), field| {
                    let (size, align) = field.layout(named)?;
                    let start = end.checked_next_multiple_of(if *packed { 1 } else { align })?;
                    Some((start, start.checked_add(size)?))
                });
                Some((ty.clone(), offset.map(|(start, _)| start)))
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lex::tokens;

    fn read(text: &str) -> Result<Type, NotUnderstood> {
        let tokens = tokens(text);
        parse(&mut Cursor::new(text, &tokens))
    }

    #[test]
    fn types_print_as_they_are_read() {
        for text in [
            "void",
            "i1",
            "i64",
            "float",
            "ptr",
            "%struct.V",
            "{ i32, ptr }",
            "<{ i8, i32 }>",
            "[4 x [2 x i8]]",
            "{}",
            "<4 x float>",
            "<vscale x 4 x i32>",
            "ptr addrspace(1)",
            "i32 (ptr, ...)",
            "target(\"spirv.Image\")",
        ] {
            assert_eq!(read(text).map(|t| t.to_string()), Ok(text.to_string()));
        }
        for wrong in ["add", "", "[x i8]", "{ i32", "i32*", "<4 x", "@f"] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
        assert!(read(&"[1 x ".repeat(100_000)).is_err());
    }

    #[test]
    fn layouts_are_those_of_c() {
        let mut named = Named::default();
        named.insert("%s".into(), read("{ i8, i32, { i8, double }, [3 x i16], ptr }").unwrap());
        named.insert("%loop".into(), read("{ %loop }").unwrap());
        assert_eq!(read("%s").unwrap().layout(&named), Some((40, 8)));
        assert_eq!(read("<{ i8, i32 }>").unwrap().layout(&named), Some((5, 1)));
        assert_eq!(read("%loop").unwrap().layout(&named), None);
        assert_eq!(read("%s").unwrap().element(3, &named), Some((read("[3 x i16]").unwrap(), Some(24))));
        assert_eq!(read("%s").unwrap().element(9, &named), None);
        assert_eq!(read("[9 x i64]").unwrap().element(3, &named), Some((Type::Int(64), Some(24))));
    }
}
