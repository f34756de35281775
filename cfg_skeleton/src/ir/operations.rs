//! What values of a function are computed by. A view of one state of a function: changes make it stale.

use super::{Definition, Function, InstKind, Value, definitions};
use rewright_typeprop::{Model, Universe};

/// The operations behind values.
pub(crate) struct Operations<'a> {
    function: &'a Function,
    universe: &'a Universe,
    definitions: Vec<Option<Definition>>,
}

impl<'a> Operations<'a> {
    pub(crate) fn new(function: &'a Function, universe: &'a Universe) -> Self {
        Operations { function, universe, definitions: definitions(function) }
    }

    pub(crate) fn definition(&self, value: Value) -> Option<Definition> {
        self.definitions[value.index()]
    }

    pub(crate) fn into_definitions(self) -> Vec<Option<Definition>> {
        self.definitions
    }

    /// The value, if it is a constant.
    pub(crate) fn constant(&self, value: Value) -> Option<i64> {
        self.function.inst(self.definition(value)?.inst()?).kind.constant()
    }

    /// The model and the operands of a binary operation.
    pub(crate) fn binary(&self, value: Value) -> Option<(Model, [Value; 2])> {
        let inst = self.function.inst(self.definition(value)?.inst()?);
        let InstKind::Op { op, .. } = inst.kind else { return None };
        Some((self.universe.ops.get(op).model?, inst.args.as_slice().try_into().ok()?))
    }

    /// The value as another one plus a constant.
    pub(crate) fn sum(&self, value: Value) -> Option<(Value, i64)> {
        match self.binary(value)? {
            (Model::Add, [x, c]) if self.constant(c).is_some() => Some((x, self.constant(c)?)),
            (Model::Add, [c, x]) => Some((x, self.constant(c)?)),
            (Model::Sub, [x, c]) => Some((x, self.constant(c)?.wrapping_neg())),
            _ => None,
        }
    }
}
