//! What values are made of, in memory: numbers and pointers, and where they lie.

use crate::not_modelled::NotModelled;
use rewright_llvm::types::{Named, Type};

/// What `harness.c` makes of a leaf.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Class {
    Integer,
    Truth,
    Pointer,
    Float,
    Double,
}

/// A number or pointer of a value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Leaf {
    pub(super) ty: Type,
    pub(super) class: Class,
    /// In bytes, as its size.
    pub(super) offset: usize,
    pub(super) size: usize,
}

/// The leaves of a type that takes `most` bytes or fewer; the reason where it has none.
pub(super) fn leaves(ty: &Type, named: &Named, most: usize) -> Result<Vec<Leaf>, NotModelled> {
    let mut found = vec![];
    let fits = |leaf: &Leaf| leaf.offset + leaf.size <= most;
    match collect(ty, named, 0, &mut found) {
        Some(()) if found.iter().all(fits) => Ok(found),
        Some(()) => Err(format!("a value of more than {most} bytes").into()),
        None => Err(format!("a value of type {ty}, whose parts are not known").into()),
    }
}

fn collect(ty: &Type, named: &Named, offset: usize, found: &mut Vec<Leaf>) -> Option<()> {
    let mut leaf = |class, size| {
        found.push(Leaf { ty: ty.clone(), class, offset, size });
        Some(())
    };
    match ty {
        Type::Void => Some(()),
        Type::Int(1) => leaf(Class::Truth, 1),
        Type::Int(n @ (8 | 16 | 32 | 64 | 128)) => leaf(Class::Integer, *n as usize / 8),
        Type::Ptr => leaf(Class::Pointer, 8),
        Type::Word(word) => match word.as_str() {
            "float" => leaf(Class::Float, 4),
            "double" => leaf(Class::Double, 8),
            _ => None,
        },
        Type::Named(name) => collect(named.get(name)?, named, offset, found),
        Type::Struct(_, fields) => {
            let at = |i| usize::try_from(ty.element(i as u64, named)?.1?).ok();
            (0..fields.len()).try_for_each(|i| collect(&fields[i], named, offset + at(i)?, found))
        }
        Type::Array(n, element) | Type::Vector(n, element) => {
            let size = usize::try_from(element.layout(named)?.0).ok()?;
            // Larger ones do not fit anyway.
            let n = usize::try_from(*n).ok().filter(|n| *n <= 4096)?;
            (0..n).try_for_each(|i| collect(element, named, offset + i * size, found))
        }
        Type::Int(_) | Type::Other(_) => None,
    }
}
