//! Address modes: an access of x86-64 adds a base, an index times 1, 2, 4 or 8, and a constant.
//!
//! A sum that is an address, the same without a constant that it adds, and a shift by up to three of what either of them
//! adds, need no instructions there ([`super::CostModel::address`]). Where such a value is used elsewhere too, it is
//! computed there as well: that is rare, and not counted.

use rewright_typeprop::{Model, OpId, Universe};
use rustc_hash::FxHashSet;
use std::hash::Hash;

/// An operation, its operands, and what it defines, if that is a value.
pub(super) type Definition<'a, Id> = (OpId, &'a [Id], Option<Id>);

/// The longest shift of an index.
const MAX_SHIFT: i64 = 3;

/// Values that are parts of addresses.
#[derive(Debug)]
pub(crate) struct AddressParts<Id> {
    sums: FxHashSet<Id>,
    indices: FxHashSet<Id>,
}

impl<Id: Copy + Eq + Hash> AddressParts<Id> {
    /// Those among some definitions.
    pub(super) fn new<'a, I: Iterator<Item = Definition<'a, Id>>>(
        universe: &Universe,
        definitions: impl Fn() -> I,
        constant: impl Fn(Id) -> Option<i64>,
    ) -> Self
    where
        Id: 'a,
    {
        let is_access = |op: OpId| universe.ops.get(op).is_access();
        let addresses = definitions().filter(|(op, ..)| is_access(*op)).filter_map(|(_, operands, _)| operands.first());
        let mut parts = AddressParts { sums: addresses.copied().collect(), indices: FxHashSet::default() };
        if parts.sums.is_empty() {
            return parts;
        }
        let without_constants: Vec<Id> = parts
            .summands(universe, definitions())
            .filter_map(|[x, y]| match (constant(x), constant(y)) {
                (None, Some(_)) => Some(x),
                (Some(_), None) => Some(y),
                _ => None,
            })
            .collect();
        parts.sums.extend(without_constants);
        parts.indices = parts.summands(universe, definitions()).flatten().collect();
        parts
    }

    /// The two operands of each sum.
    fn summands<'a>(
        &self,
        universe: &Universe,
        definitions: impl Iterator<Item = Definition<'a, Id>>,
    ) -> impl Iterator<Item = [Id; 2]>
    where
        Id: 'a,
    {
        definitions.filter_map(|(op, operands, defined)| match (universe.ops.get(op).model, operands) {
            (Some(Model::Add), [x, y]) if self.sums.contains(&defined?) => Some([*x, *y]),
            _ => None,
        })
    }

    /// Is a value that is defined so part of an address?
    pub(super) fn contains(
        &self,
        universe: &Universe,
        (op, operands, defined): Definition<Id>,
        constant: impl Fn(Id) -> Option<i64>,
    ) -> bool {
        let Some(defined) = defined else { return false };
        match (universe.ops.get(op).model, operands) {
            (Some(Model::Add), _) => self.sums.contains(&defined),
            (Some(Model::Shl), [_, by]) => {
                self.indices.contains(&defined) && constant(*by).is_some_and(|by| (0..=MAX_SHIFT).contains(&by))
            }
            _ => false,
        }
    }
}
