//! Types of arrays.

use thiserror::Error;

/// Why a type is not that of an array.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub(crate) enum TypeError {
    /// It is no `memref` with extents and a type of elements.
    #[error("the array type `{0}` is not understood")]
    NoArray(String),
    /// Elements do not lie in the order of their subscripts.
    #[error("the layout of `{0}` is not understood")]
    Layout(String),
}

/// An array's extents and the type of its elements.
pub(crate) struct Memref {
    pub(crate) shape: Vec<Option<i128>>,
    pub(crate) element: String,
}

impl Memref {
    /// Reads `memref<?x64xf32>`; layouts other than the identity are not understood.
    pub(crate) fn read(ty: &str) -> Result<Self, TypeError> {
        let error = || TypeError::NoArray(ty.to_string());
        let inner = ty.strip_prefix("memref<").and_then(|t| t.strip_suffix('>')).ok_or_else(error)?;
        let (inner, layout) = match split(inner) {
            Some((inner, layout)) => (inner, Some(layout.trim())),
            None => (inner, None),
        };
        // A number is a memory space.
        if layout.is_some_and(|l| l.parse::<u32>().is_err()) {
            return Err(TypeError::Layout(ty.to_string()));
        }
        let (mut shape, mut rest) = (vec![], inner.trim());
        loop {
            let end = rest.find(|c: char| !(c.is_ascii_digit() || c == '?')).unwrap_or(rest.len());
            let Some(after) = rest[end..].strip_prefix('x').filter(|_| end > 0) else { break };
            shape.push(match &rest[..end] {
                "?" => None,
                digits => Some(digits.parse().ok().filter(|n| *n < crate::map::LARGEST).ok_or_else(error)?),
            });
            rest = after;
        }
        if rest.is_empty() || rest.starts_with(['*', '?']) {
            return Err(error());
        }
        Ok(Memref { shape, element: rest.to_string() })
    }
}

/// Splits at the first comma outside of brackets.
fn split(text: &str) -> Option<(&str, &str)> {
    let mut depth = 0;
    for (at, c) in text.char_indices() {
        match c {
            '<' | '(' | '[' => depth += 1,
            '>' | ')' | ']' => depth -= 1,
            ',' if depth == 0 => return Some((&text[..at], &text[at + 1..])),
            _ => {}
        }
    }
    None
}
