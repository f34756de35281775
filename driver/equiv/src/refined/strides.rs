//! What an index of `getelementptr` counts.

use crate::replay::Layout;
use rewright_llvm::types::Type;

/// What an index adds to an address.
pub(super) enum Stride {
    /// This many bytes, once: it names a field.
    Field(u64),
    /// This many bytes each.
    Each(u64),
}

/// The type at which an index into one leads, and what it adds. The `first` index counts values of the type itself.
/// `index` is its number, where that is a constant.
pub(super) fn stride(layout: &Layout<'_>, ty: &Type, first: bool, index: Option<i64>) -> Option<(Type, Stride)> {
    if first {
        return Some((ty.clone(), Stride::Each(layout.size(ty).ok()?)));
    }
    Some(match layout.resolve(ty).ok()? {
        Type::Array(_, element) => ((**element).clone(), Stride::Each(layout.size(element).ok()?)),
        Type::Vector(_, element) => ((**element).clone(), Stride::Each(layout.store_size(element).ok()?)),
        whole => {
            let field = usize::try_from(index?).ok()?;
            let (fields, offsets) = (layout.parts(whole).ok()??, layout.offsets(whole).ok()?);
            (fields.get(field)?.clone(), Stride::Field(*offsets.get(field)?))
        }
    })
}
