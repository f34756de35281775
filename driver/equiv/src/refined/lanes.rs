//! Vectors and aggregates as the scalars that they are made of, in order: *lanes*.

use super::super::not_modelled::NotModelled;
use super::super::replay::Layout;
use super::meaning::width;
use rewright_llvm::types::Type;

/// Most lanes of a value.
const MOST: usize = 128;

/// A lane in memory.
pub(super) struct Place {
    /// In bytes, from the beginning of the whole.
    pub(super) offset: u64,
    pub(super) ty: Type,
}

/// The types of a type's lanes.
pub(super) fn scalars(layout: &Layout<'_>, ty: &Type) -> Result<Vec<Type>, NotModelled> {
    let mut found = vec![];
    collect(layout, ty, &mut |ty, _| found.push(ty.clone()), None)?;
    Ok(found)
}

/// Where a type's lanes lie in memory. Structures with padding are not modelled: who stores them leaves it undefined.
pub(super) fn places(layout: &Layout<'_>, ty: &Type) -> Result<Vec<Place>, NotModelled> {
    let mut found = vec![];
    collect(layout, ty, &mut |ty, offset| found.push(Place { offset, ty: ty.clone() }), Some(0))?;
    let mut end = 0;
    for place in &found {
        if place.offset != end {
            return Err(format!("the padding of {ty}").into());
        }
        end += layout.store_size(&place.ty)?;
    }
    match end == layout.store_size(ty)? {
        true => Ok(found),
        false => Err(format!("the padding of {ty}").into()),
    }
}

/// Visits the scalars of a type; with where they lie if the type lies somewhere.
fn collect(
    layout: &Layout<'_>,
    ty: &Type,
    found: &mut impl FnMut(&Type, u64),
    at: Option<u64>,
) -> Result<(), NotModelled> {
    let mut left = MOST;
    collect_within(layout, ty, found, at, &mut left)
}

fn collect_within(
    layout: &Layout<'_>,
    ty: &Type,
    found: &mut impl FnMut(&Type, u64),
    at: Option<u64>,
    left: &mut usize,
) -> Result<(), NotModelled> {
    if *ty == Type::Void {
        return Ok(());
    }
    *left = left.checked_sub(1).ok_or_else(|| format!("as many parts as {ty} has"))?;
    let Some(parts) = layout.parts(ty)? else {
        width(ty)?;
        found(ty, at.unwrap_or(0));
        return Ok(());
    };
    let offsets = at.map(|_| layout.offsets(ty)).transpose()?;
    for (n, part) in parts.iter().enumerate() {
        let at = offsets.as_ref().and_then(|offsets| Some(at? + offsets.get(n)?));
        collect_within(layout, part, found, at, left)?;
    }
    Ok(())
}
