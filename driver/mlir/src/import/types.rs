//! Types of arrays.

use thiserror::Error;

/// Why a type is not that of an array.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub(crate) enum TypeError {
    /// It is no `memref` with extents and a type of elements.
    #[error("the array type `{0}` is not understood")]
    NoArray(String),
    /// It is not known that each cell has a place of its own.
    #[error("the layout of `{0}` is not understood")]
    Layout(String),
}

/// An array's extents and the type of its elements.
pub(crate) struct Memref {
    pub(crate) shape: Vec<Option<i128>>,
    pub(crate) element: String,
    /// Distances between neighbours in each dimension, where rows do not follow each other.
    pub(crate) strides: Option<Vec<i128>>,
}

impl Memref {
    /// Reads `memref<?x64xf32>`, and layouts in which each cell has a place of its own: the identity, and strides that
    /// are numbers.
    pub(crate) fn read(ty: &str) -> Result<Self, TypeError> {
        let (shape, rest) = Self::shape(ty)?;
        let layout = || TypeError::Layout(ty.to_string());
        let mut parts = split(&rest).into_iter();
        let element = parts.next().unwrap_or_default().to_string();
        let mut strides = None;
        for part in parts {
            if let Some(inner) = part.strip_prefix("strided<[") {
                let inner = inner.split(']').next().unwrap_or_default();
                let numbers = inner.split(',').map(|n| n.trim().parse::<i128>().ok());
                let numbers: Vec<i128> = numbers.collect::<Option<_>>().ok_or_else(layout)?;
                strides = Some(numbers).filter(|strides| are_apart(strides, &shape));
                if strides.is_none() {
                    return Err(layout());
                }
            } else if part.split(':').next().is_none_or(|space| space.trim().parse::<u32>().is_err()) {
                // A number is a memory space.
                return Err(layout());
            }
        }
        Ok(Memref { shape, element, strides })
    }

    /// The extents, and what follows in the type.
    pub(crate) fn shape(ty: &str) -> Result<(Vec<Option<i128>>, String), TypeError> {
        let error = || TypeError::NoArray(ty.to_string());
        let inner = ty.strip_prefix("memref<").and_then(|t| t.strip_suffix('>')).ok_or_else(error)?;
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
        Ok((shape, rest.to_string()))
    }
}

/// Whether each cell has a place of its own: in each dimension what lies in it is no longer than the distance in the next.
fn are_apart(strides: &[i128], shape: &[Option<i128>]) -> bool {
    let mut all: Vec<(i128, Option<i128>)> = strides.iter().copied().zip(shape.iter().copied()).collect();
    all.sort_by_key(|(stride, _)| *stride);
    let apart = |pair: &[(i128, Option<i128>)]| {
        let [(stride, extent), (next, _)] = pair else { return true };
        extent.is_some_and(|extent| extent.checked_mul(*stride).is_some_and(|length| length <= *next))
    };
    strides.len() == shape.len() && all.iter().all(|(stride, _)| *stride > 0) && all.windows(2).all(apart)
}

/// The parts between commas outside of brackets.
fn split(text: &str) -> Vec<&str> {
    let (mut parts, mut depth, mut start) = (vec![], 0, 0);
    for (at, c) in text.char_indices() {
        match c {
            '<' | '(' | '[' => depth += 1,
            '>' | ')' | ']' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(text[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(text[start..].trim());
    parts
}
