//! Sizes and alignments by a module's data layout.
//!
//! Only layouts with 64-bit pointers in one address space and little-endian bytes are taken; for every other one there
//! is a reason.

use rewright_llvm::types::{Named, Type};
use std::collections::BTreeMap;

/// Types may nest this deep.
const MAX_DEPTH: u32 = 64;

/// Why a data layout, or a type by it, is not modelled.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum LayoutError {
    /// Bytes in the other order.
    #[error("the data layout is big-endian")]
    BigEndian,
    /// This part of the data layout.
    #[error("the data layout says `{0}`")]
    Specification(String),
    /// A named type without a definition.
    #[error("the type {0} is opaque")]
    Opaque(String),
    /// A type that holds itself, or nests too deeply.
    #[error("the type {0} has no end")]
    Endless(Type),
    /// More bytes than can be counted.
    #[error("the type {0} is too large")]
    TooLarge(Type),
    /// A type of values.
    #[error("a value of type {0}")]
    Value(Type),
    /// A vector whose elements are no whole bytes.
    #[error("{0} in memory")]
    InMemory(Type),
    /// A type that is no aggregate, or one with too many parts.
    #[error("parts of {0}")]
    Parts(Type),
}

/// The data layout of a module, with its named types.
#[derive(Clone)]
pub(crate) struct Layout<'a> {
    named: &'a Named,
    /// Alignment in bytes of integers, floats and vectors, by kind and width in bits.
    aligned: BTreeMap<(char, u32), u64>,
    /// Least alignment of structures.
    aggregate: u64,
}

impl<'a> Layout<'a> {
    /// Reads the text of `target datalayout`; the reason where it is one that is not modelled.
    pub(crate) fn new(text: &str, named: &'a Named) -> Result<Layout<'a>, LayoutError> {
        let defaults = [
            (('i', 1), 1),
            (('i', 8), 1),
            (('i', 16), 2),
            (('i', 32), 4),
            (('i', 64), 4),
            (('f', 16), 2),
            (('f', 32), 4),
            (('f', 64), 8),
            (('f', 128), 16),
            (('v', 64), 8),
            (('v', 128), 16),
        ];
        let mut layout = Layout { named, aligned: BTreeMap::from(defaults), aggregate: 1 };
        for part in text.split('-').filter(|part| !part.is_empty()) {
            layout.specification(part)?;
        }
        Ok(layout)
    }

    fn specification(&mut self, part: &str) -> Result<(), LayoutError> {
        let not_modelled = || LayoutError::Specification(part.to_string());
        let (head, rest) = part.split_once(':').unwrap_or((part, ""));
        let mut numbers = rest.split(':').map(|n| n.parse::<u64>().ok());
        let first = numbers.next().flatten();
        let kind = head.chars().next().unwrap_or(' ');
        let width = head.get(1..).filter(|digits| !digits.is_empty()).map(|digits| digits.parse::<u32>());
        match kind {
            'E' => Err(LayoutError::BigEndian),
            'p' => match width {
                None | Some(Ok(0)) if rest.is_empty() || first == Some(64) => Ok(()),
                None | Some(Ok(0)) => Err(not_modelled()),
                // Of other address spaces, whose pointers are not modelled.
                Some(_) => Ok(()),
            },
            'i' | 'f' | 'v' => {
                let bits = first.filter(|bits| *bits % 8 == 0 && *bits > 0).ok_or_else(not_modelled)?;
                let width = width.and_then(Result::ok).ok_or_else(not_modelled)?;
                self.aligned.insert((kind, width), bits / 8);
                Ok(())
            }
            'a' => {
                self.aggregate = (first.ok_or_else(not_modelled)? / 8).max(1);
                Ok(())
            }
            'e' | 'm' | 'S' | 's' | 'F' => Ok(()),
            'n' if !head.starts_with("ni") => Ok(()),
            'A' | 'G' | 'P' if matches!(width, Some(Ok(0))) => Ok(()),
            _ => Err(not_modelled()),
        }
    }

    /// A type with its name resolved.
    pub(crate) fn resolve<'t>(&'t self, ty: &'t Type) -> Result<&'t Type, LayoutError> {
        let mut ty = ty;
        for _ in 0..MAX_DEPTH {
            match ty {
                Type::Named(name) => ty = self.named.get(name).ok_or_else(|| LayoutError::Opaque(name.clone()))?,
                _ => return Ok(ty),
            }
        }
        Err(LayoutError::Endless(ty.clone()))
    }

    /// Bits of a scalar; the reason where it is not modelled.
    pub(crate) fn width(&self, ty: &Type) -> Result<u32, LayoutError> {
        match ty {
            Type::Int(n @ 1..=128) => Ok(*n),
            Type::Ptr => Ok(64),
            Type::Word(word) => match word.as_str() {
                "half" | "bfloat" => Ok(16),
                "float" => Ok(32),
                "double" => Ok(64),
                _ => Err(LayoutError::Value(ty.clone())),
            },
            _ => Err(LayoutError::Value(ty.clone())),
        }
    }

    /// The types of the parts of an aggregate or vector; `None` for a scalar.
    pub(crate) fn parts(&self, ty: &Type) -> Result<Option<Vec<Type>>, LayoutError> {
        let many = |n: u64, element: &Type| match n {
            0..=4096 => Ok(Some(vec![element.clone(); n as usize])),
            _ => Err(LayoutError::Value(ty.clone())),
        };
        match self.resolve(ty)? {
            Type::Array(n, element) | Type::Vector(n, element) => many(*n, element),
            Type::Struct(_, fields) => Ok(Some(fields.clone())),
            scalar => self.width(scalar).map(|_| None),
        }
    }

    /// Is a type the same as one of another module?
    pub(crate) fn is_same(&self, ty: &Type, other: &Layout<'_>, theirs: &Type) -> bool {
        match (self.resolve(ty), other.resolve(theirs)) {
            (Ok(Type::Void), Ok(Type::Void)) => true,
            (Ok(own), Ok(theirs)) if own == theirs && !matches!(own, Type::Struct(..)) => true,
            (Ok(own), Ok(theirs)) => match (self.parts(own), other.parts(theirs)) {
                (Ok(Some(parts)), Ok(Some(others))) => {
                    parts.len() == others.len()
                        && std::mem::discriminant(own) == std::mem::discriminant(theirs)
                        && parts.iter().zip(&others).all(|(part, theirs)| self.is_same(part, other, theirs))
                }
                _ => own == theirs,
            },
            _ => ty == theirs,
        }
    }

    /// Bytes that a value of a type takes in memory, without padding behind it.
    pub(crate) fn store_size(&self, ty: &Type) -> Result<u64, LayoutError> {
        match self.resolve(ty)? {
            Type::Vector(n, element) => {
                let bits = u64::from(self.width(element)?);
                Ok(bits.checked_mul(*n).ok_or_else(|| too_large(ty))?.div_ceil(8))
            }
            Type::Array(..) | Type::Struct(..) => self.size(ty),
            scalar => Ok(u64::from(self.width(scalar)?).div_ceil(8)),
        }
    }

    /// Bytes from one value of a type to the next in an array.
    pub(crate) fn size(&self, ty: &Type) -> Result<u64, LayoutError> {
        Ok(self.size_and_alignment(ty, 0)?.0)
    }

    /// Alignment that the type asks for, in bytes.
    pub(crate) fn alignment(&self, ty: &Type) -> Result<u64, LayoutError> {
        Ok(self.size_and_alignment(ty, 0)?.1)
    }

    fn size_and_alignment(&self, ty: &Type, depth: u32) -> Result<(u64, u64), LayoutError> {
        if depth > MAX_DEPTH {
            return Err(LayoutError::Endless(ty.clone()));
        }
        let ty = self.resolve(ty)?;
        match ty {
            Type::Array(n, element) => {
                let (size, align) = self.size_and_alignment(element, depth + 1)?;
                Ok((size.checked_mul(*n).ok_or_else(|| too_large(ty))?, align))
            }
            Type::Struct(packed, fields) => {
                let (mut end, mut align) = (0u64, if *packed { 1 } else { self.aggregate });
                for field in fields {
                    let (size, wanted) = self.size_and_alignment(field, depth + 1)?;
                    let wanted = if *packed { 1 } else { wanted };
                    let start = end.checked_next_multiple_of(wanted);
                    end = start.and_then(|start| start.checked_add(size)).ok_or_else(|| too_large(ty))?;
                    align = align.max(wanted);
                }
                Ok((end.checked_next_multiple_of(align).ok_or_else(|| too_large(ty))?, align))
            }
            _ => {
                let size = self.store_size(ty)?;
                let align = self.scalar_alignment(ty, size)?;
                Ok((size.checked_next_multiple_of(align).ok_or_else(|| too_large(ty))?, align))
            }
        }
    }

    /// Of an integer, float, pointer or vector: what the layout says of it, or of the next larger integer.
    fn scalar_alignment(&self, ty: &Type, size: u64) -> Result<u64, LayoutError> {
        let natural = size.next_power_of_two().max(1);
        let bits = |n: u64| u32::try_from(n).map_err(|_| too_large(ty));
        Ok(match ty {
            Type::Int(n) => {
                let integers = |from: u32| self.aligned.range(('i', from)..=('i', u32::MAX));
                let larger = integers(*n).next().map(|(_, align)| *align);
                // An integer wider than all that are listed is aligned as the widest one.
                larger.or_else(|| integers(0).next_back().map(|(_, align)| *align)).unwrap_or(natural)
            }
            Type::Vector(n, element) => {
                let width = n.checked_mul(u64::from(self.width(element)?)).ok_or_else(|| too_large(ty))?;
                self.aligned.get(&('v', bits(width)?)).copied().unwrap_or(natural)
            }
            Type::Word(_) => self.aligned.get(&('f', bits(size * 8)?)).copied().unwrap_or(natural),
            _ => 8,
        })
    }

    /// Where each part of an aggregate in memory starts.
    pub(crate) fn offsets(&self, ty: &Type) -> Result<Vec<u64>, LayoutError> {
        let ty = self.resolve(ty)?;
        let step = |n: u64, size: u64| (0..n).map(|i| i * size).collect();
        match ty {
            Type::Array(n @ 0..=4096, element) => Ok(step(*n, self.size(element)?)),
            Type::Vector(n, element) => match self.width(element)? {
                bits if bits % 8 == 0 => Ok(step(*n, u64::from(bits / 8))),
                _ => Err(LayoutError::InMemory(ty.clone())),
            },
            Type::Struct(packed, fields) => {
                let (mut found, mut end) = (vec![], 0u64);
                for field in fields {
                    let (size, align) = self.size_and_alignment(field, 0)?;
                    let start = if *packed { end } else { end.next_multiple_of(align) };
                    found.push(start);
                    end = start.checked_add(size).ok_or_else(|| too_large(ty))?;
                }
                Ok(found)
            }
            _ => Err(LayoutError::Parts(ty.clone())),
        }
    }
}

fn too_large(ty: &Type) -> LayoutError {
    LayoutError::TooLarge(ty.clone())
}

#[cfg(test)]
mod tests {
    use super::*;
    use rewright_llvm::cursor::Cursor;
    use rewright_llvm::lex::tokens;
    use rewright_llvm::types;

    fn read(text: &str) -> Type {
        let tokens = tokens(text);
        types::parse(&mut Cursor::new(text, &tokens)).unwrap()
    }

    #[test]
    fn sizes_follow_the_layout() {
        let named = Named::default();
        let x86 = Layout::new("e-m:e-p270:32:32-i64:64-i128:128-f80:128-n8:16:32:64-S128", &named).unwrap();
        let none = Layout::new("", &named).unwrap();
        for (ty, size, align) in [
            ("i1", 1, 1),
            ("i31", 4, 4),
            ("i48", 8, 8),
            ("i128", 16, 16),
            ("<4 x i32>", 16, 16),
            ("<3 x i32>", 16, 16),
            ("<2 x i8>", 2, 2),
            ("{ i8, i64, i16 }", 24, 8),
            ("<{ i8, i64 }>", 9, 1),
            ("[3 x { i8, ptr }]", 48, 8),
            ("{}", 0, 1),
        ] {
            let ty = read(ty);
            assert_eq!((x86.size(&ty), x86.alignment(&ty)), (Ok(size), Ok(align)), "{ty}");
        }
        assert_eq!(none.alignment(&read("i64")), Ok(4));
        assert_eq!(x86.offsets(&read("{ i8, i32, i8, i64 }")), Ok(vec![0, 4, 8, 16]));
        assert!(x86.size(&read("[9223372036854775807 x i64]")).is_err());
    }

    #[test]
    fn other_layouts_have_a_reason() {
        let named = Named::default();
        for text in ["E", "e-p:32:32", "e-ni:1", "e-P1", "e-A5", "e-i32:7"] {
            assert!(Layout::new(text, &named).is_err(), "{text}");
        }
    }
}
