//! Statements `c = c + v`, or `c - v`, of which two may change their order.

use super::statements::{Action, Position, Statement, Statements};
use rewright_cfg_skeleton::nest::value::Value;
use rewright_cfg_skeleton::nest::{LoadId, Pool, ValueId};

/// A statement that combines what its cell holds with a value, by an operation that gives the same in each order.
#[derive(Clone, Copy)]
pub(super) struct Update<'a> {
    /// The load of the cell.
    pub(super) load: LoadId,
    by: &'a str,
    ty: &'a str,
}

impl Update<'_> {
    pub(super) fn commutes(&self, other: &Update<'_>) -> bool {
        (self.by, self.ty) == (other.by, other.ty)
    }
}

/// The update that a statement is. The loaded value is used for nothing else in the nest, and the array is not written
/// between the load and the store.
pub(super) fn update<'a>(pool: &'a Pool, statements: &Statements<'_>, number: usize) -> Option<Update<'a>> {
    let statement = &statements.all[number];
    let Action::Store(stored) = statement.action else { return None };
    let Value::Op(operation) = pool.get(stored) else { return None };
    let &[left, right] = operation.operands.as_slice() else { return None };
    let load_of = |value: ValueId| match pool.get(value) {
        Value::Load(load) => Some(*load),
        _ => None,
    };
    let mut sides = [(left, right), (right, left)].into_iter().enumerate();
    sides.find_map(|(operand, (cell, rest))| {
        let (load, by) = (load_of(cell)?, operation.combines(operand)?);
        let is_update =
            is_undivided(statements, statement, load) && !is_used_elsewhere(pool, statements, number, load, rest);
        is_update.then_some(Update { load, by, ty: &operation.ty })
    })
}

fn is_undivided(statements: &Statements<'_>, statement: &Statement, load: LoadId) -> bool {
    let Some(read) = statements.loads.get(&load) else { return false };
    let is_own_cell = Some(read.array) == statement.array && Some(&read.cell) == statement.cell.as_ref();
    let position = &statement.position;
    let writes_between = |other: &&Statement| {
        let is_harmless = match other.action {
            Action::Store(_) => other.array != statement.array,
            Action::Trap(_) => true,
            Action::Alloc | Action::Event(_) | Action::Return(_) => false,
        };
        !is_harmless && other.position.is_between(&read.position, position)
    };
    is_own_cell && read.position.is_beside(position) && !statements.all.iter().any(|other| writes_between(&other))
}

fn is_used_elsewhere(pool: &Pool, statements: &Statements<'_>, number: usize, load: LoadId, rest: ValueId) -> bool {
    let mut uses = vec![rest];
    uses.extend(statements.binds.values().map(|bound| bound.value));
    for (n, other) in statements.all.iter().enumerate() {
        uses.extend(other.guards.iter().map(|(condition, _)| *condition));
        match &other.action {
            Action::Store(_) if n == number => {}
            Action::Store(value) | Action::Trap(value) => uses.push(*value),
            Action::Event(event) => uses.extend(&event.operands),
            Action::Return(values) => uses.extend(values),
            Action::Alloc => {}
        }
    }
    statements.reads(pool, &uses).contains(&load)
}

impl Position {
    /// Whether this is before another one in the same list of items.
    fn is_beside(&self, later: &Position) -> bool {
        let [own, other] = [self, later].map(Position::place);
        own.1 == other.1 && own.0 < other.0 && self.is_in_second_arm() == later.is_in_second_arm()
    }

    /// Whether it is between two items of one list, perhaps within one of those.
    fn is_between(&self, first: &Position, last: &Position) -> bool {
        let ((start, list), (end, _)) = (first.place(), last.place());
        self.item_of(list).is_some_and(|item| start < item && item < end)
    }
}
