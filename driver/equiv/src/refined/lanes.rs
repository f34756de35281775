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

/// What of a type lies where in memory.
pub(super) struct Places {
    pub(super) lanes: Vec<Place>,
    /// Bytes between lanes.
    pub(super) padding: Vec<u64>,
}

/// Where a type's lanes lie in memory.
pub(super) fn places(layout: &Layout<'_>, ty: &Type) -> Result<Places, NotModelled> {
    let mut lanes = vec![];
    collect(layout, ty, &mut |ty, offset| lanes.push(Place { offset, ty: ty.clone() }), Some(0))?;
    let (mut end, mut padding) = (0, vec![]);
    for place in &lanes {
        padding.extend(end..place.offset);
        end = place.offset + layout.store_size(&place.ty)?;
    }
    padding.extend(end..layout.store_size(ty)?);
    if padding.len() > MOST {
        return Err(format!("the padding of {ty}").into());
    }
    Ok(Places { lanes, padding })
}

/// Visits the scalars of a type; with where they lie if the type lies somewhere.
fn collect(
    layout: &Layout<'_>,
    ty: &Type,
    found: &mut impl FnMut(&Type, u64),
    at: Option<u64>,
) -> Result<(), NotModelled> {
    let (mut left, mut todo) = (MOST, vec![(ty.clone(), at)]);
    while let Some((ty, at)) = todo.pop() {
        if ty == Type::Void {
            continue;
        }
        left = left.checked_sub(1).ok_or_else(|| format!("as many parts as {ty} has"))?;
        let Some(parts) = layout.parts(&ty)? else {
            width(&ty)?;
            found(&ty, at.unwrap_or(0));
            continue;
        };
        let offsets = at.map(|_| layout.offsets(&ty)).transpose()?;
        let place = |n: usize| offsets.as_ref().and_then(|offsets| Some(at? + offsets.get(n)?));
        todo.extend(parts.into_iter().enumerate().rev().map(|(n, part)| (part, place(n))));
    }
    Ok(())
}
