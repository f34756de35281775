//! Addresses as a base and an offset: what is accessed at `p + 8` is accessed at `p` with the offset 8.

use crate::egraph::{ClassId, EGraphView, Head};
use rewright_typeprop::{Model, Universe};

/// An address with an offset, as another one that is no sum with a constant. Sums of each other have one of them.
pub(crate) fn base(view: &EGraphView, universe: &Universe, address: ClassId, offset: i64) -> (ClassId, i64) {
    let mut passed = vec![(address, offset)];
    while let Some((base, offset)) = passed.last().copied() {
        let nodes = view.class(base).nodes.iter().map(|id| view.node(*id));
        let sums =
            nodes.filter(|node| matches!(node.head, Head::Op(op) if universe.ops.get(op).model == Some(Model::Add)));
        let further = sums.filter_map(|sum| match sum.children[..] {
            [x, y] => match (view.class(x).constant, view.class(y).constant) {
                (None, Some(n)) => Some((x, n)),
                (Some(n), None) => Some((y, n)),
                _ => None,
            },
            _ => None,
        });
        let Some((next, added)) = further.min() else { return (base, offset) };
        if let Some(start) = passed.iter().position(|(class, _)| *class == next) {
            // Whichever it began with, this one is among them.
            return passed[start..].iter().copied().min().unwrap_or((base, offset));
        }
        passed.push((next, offset.wrapping_add(added)));
    }
    (address, offset)
}
