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
    /// Distances between neighbours in each dimension, where rows do not follow each other; `None` where the type does not
    /// say one.
    pub(crate) strides: Option<Vec<Option<i128>>>,
}

impl Memref {
    /// Reads `memref<?x64xf32>`, and layouts in which each cell has or may have a place of its own: the identity, and strides.
    pub(crate) fn read(ty: &str) -> Result<Self, TypeError> {
        let (shape, rest) = Self::shape(ty)?;
        let layout = || TypeError::Layout(ty.to_string());
        let mut parts = split(&rest).into_iter();
        let element = parts.next().unwrap_or_default().to_string();
        let mut strides = None;
        for part in parts {
            if let Some(inner) = part.strip_prefix("strided<[") {
                let numbers = distances(inner.split(']').next().unwrap_or_default()).ok_or_else(layout)?;
                let may_be_apart = match numbers.iter().copied().collect::<Option<Vec<i128>>>() {
                    Some(numbers) => are_apart(&numbers, &shape),
                    None => numbers.len() == shape.len() && numbers.iter().flatten().all(|stride| *stride > 0),
                };
                if !may_be_apart {
                    return Err(layout());
                }
                strides = Some(numbers);
            } else if part.split(':').next().is_none_or(|space| space.trim().parse::<u32>().is_err()) {
                // A number is a memory space.
                return Err(layout());
            }
        }
        Ok(Memref { shape, element, strides })
    }

    /// Whether each cell is known to have a place of its own.
    pub(crate) fn is_apart(&self) -> bool {
        self.strides.iter().flatten().all(Option::is_some)
    }

    /// Whether a type says nothing of where cells are that another one does not say, both with these extents.
    pub(crate) fn says_no_more(ty: &str, than: &str) -> Result<bool, TypeError> {
        let (to, from) = (Self::layout(ty)?, Self::layout(than)?);
        Ok(to.len() == from.len() && to.iter().zip(&from).all(|(to, from)| to.is_none() || to == from))
    }

    /// Distances between neighbours in each dimension, and behind them the number of the first cell.
    fn layout(ty: &str) -> Result<Vec<Option<i128>>, TypeError> {
        let (shape, rest) = Self::shape(ty)?;
        let layout = || TypeError::Layout(ty.to_string());
        let mut parts = split(&rest).into_iter().skip(1);
        let Some(inner) = parts.find_map(|part| part.strip_prefix("strided<[")) else {
            // Rows follow each other.
            let mut distances = vec![Some(1i128)];
            for extent in shape.iter().skip(1).rev() {
                let row = distances.last().copied().flatten().zip(*extent);
                distances.push(row.map(|(distance, extent)| distance.saturating_mul(extent)));
            }
            distances.truncate(shape.len());
            distances.reverse();
            distances.push(Some(0));
            return Ok(distances);
        };
        let (strides, rest) = inner.split_once(']').ok_or_else(layout)?;
        let mut all = distances(strides).ok_or_else(layout)?;
        let offset = rest.trim_end_matches('>').rsplit_once(':').map_or("0", |(_, offset)| offset);
        all.extend(distances(offset).ok_or_else(layout)?);
        Ok(all)
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

/// Numbers between commas; `None` for `?`.
fn distances(text: &str) -> Option<Vec<Option<i128>>> {
    let one = |text: &str| match text.trim() {
        "?" => Some(None),
        number => number.parse().ok().map(Some),
    };
    text.split(',').map(one).collect()
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
