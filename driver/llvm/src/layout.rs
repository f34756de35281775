//! Data layouts that proofs and refutations know, and from which alignments are taken that a text leaves out: little
//! endian, pointers of 64 bits that are integers, one address space.

use crate::instruction::MemoryAccess;
use crate::module::File;
use crate::types::{Named, Type};

/// What a file's data layout says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Layout {
    /// Scalars to 64 bits are aligned to their size. Without it structures that hold 64-bit integers are laid out in
    /// another way than [`Type::layout`] says.
    natural: bool,
    /// `x86_fp80` is aligned to 16 bytes.
    extended: bool,
}

/// A part of a data layout that is not one of those that are known.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("the data layout `{0}`")]
pub struct UnknownLayout(String);

impl Layout {
    /// The layout of a file.
    ///
    /// # Errors
    /// The part that is not one of those that are known.
    pub fn of(file: &File) -> Result<Layout, UnknownLayout> {
        // LLVM's defaults.
        let (mut pointers, mut double, mut wide, mut extended) = (64, 64, 32, false);
        for part in file.data_layout.split('-') {
            let unknown = || Err(UnknownLayout(part.to_string()));
            let (name, rest) = part.split_once(':').unwrap_or((part, ""));
            let numbers: Vec<u32> = rest.split(':').filter_map(|n| n.parse().ok()).collect();
            match name {
                "E" => return unknown(),
                "p" | "p0" => match numbers.as_slice() {
                    [64, 64, ..] => pointers = 64,
                    _ => return unknown(),
                },
                "i8" if numbers.first() != Some(&8) => return unknown(),
                "i16" | "f16" if numbers.first() != Some(&16) => return unknown(),
                "f128" if numbers.first() != Some(&128) => return unknown(),
                "f80" => extended = numbers.first() == Some(&128),
                "i32" | "f32" if numbers.first() != Some(&32) => return unknown(),
                "i64" => wide = numbers.first().copied().unwrap_or(0),
                "f64" => double = numbers.first().copied().unwrap_or(0),
                _ if name.len() > 1 && name.starts_with(['A', 'G', 'P']) && name[1..].parse() != Ok(0u32) => {
                    return unknown();
                }
                _ => {}
            }
        }
        Ok(Layout { natural: (pointers, double, wide) == (64, 64, 64), extended })
    }

    /// Is a type laid out as [`Type::layout`] says?
    pub fn knows(self, ty: &Type, named: &Named) -> bool {
        self.natural || !holds_wide(ty, named, 0)
    }

    /// The alignment of an access whose text does not say it.
    pub fn alignment(self, ty: &Type, named: &Named) -> Option<u64> {
        if *ty == Type::Int(1) {
            return Some(1);
        }
        if matches!(ty, Type::Word(word) if word == "x86_fp80") && !self.extended {
            return None;
        }
        self.knows(ty, named).then(|| ty.layout(named).map(|(_, align)| align)).flatten()
    }
}

/// The alignment of an access: what its text says, or where it says nothing, what the layout of the file has for its type;
/// `None` if that is not known.
pub fn alignment_of(access: MemoryAccess, ty: &Type, file: &File) -> Option<u64> {
    match access.align {
        0 => Layout::of(file).ok()?.alignment(ty, &file.named),
        align => Some(align),
    }
}

/// How deep types may nest.
const DEPTH: u32 = 64;

fn holds_wide(ty: &Type, named: &Named, depth: u32) -> bool {
    let inside = |ty: &Type| holds_wide(ty, named, depth + 1);
    match ty {
        _ if depth > DEPTH => true,
        Type::Int(n) => *n > 32,
        Type::Word(word) => word != "float",
        Type::Ptr => false,
        Type::Named(name) => named.get(name).is_none_or(inside),
        Type::Struct(_, fields) => fields.iter().any(inside),
        Type::Array(_, element) => inside(element),
        Type::Void | Type::Vector(..) | Type::Other(_) => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::module::read;

    fn layout(text: &str) -> Result<Layout, UnknownLayout> {
        Layout::of(&read(format!("target datalayout = \"{text}\"\n")).unwrap())
    }

    #[test]
    fn layouts_that_are_known() {
        let named = Named::default();
        let natural =
            layout("e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128").unwrap();
        assert!(natural.knows(&Type::Int(64), &named));
        assert_eq!(natural.alignment(&Type::Int(64), &named), Some(8));
        let extended = Type::Word("x86_fp80".into());
        assert_eq!(natural.alignment(&extended, &named), Some(16));
        assert_eq!(layout("e-i64:64").unwrap().alignment(&extended, &named), None);
        let default = Layout::of(&read(String::new()).unwrap()).unwrap();
        assert!(!default.knows(&Type::Int(64), &named) && default.knows(&Type::Ptr, &named));
        for other in ["E-i64:64", "e-p:32:32", "e-A5", "e-i64:64-P1", "e-i32:16", "e-f128:64"] {
            assert!(layout(other).is_err(), "{other}");
        }
    }
}
