//! Statements that combine a cell with a value: `c = c + v`, or `c - v`. Two that combine by one operation, which gives the same in
//! each order, may change their order, as long as nothing else sees what the cell holds in between.

use super::statements::{Action, SECOND_ARM, Statement, Statements};
use super::value::{Pool, Value, ValueId};
use super::{ArrayId, Item, LoadId};
use rustc_hash::FxHashMap;

/// How a statement combines its cell with a value.
#[derive(Clone, Copy, Debug)]
pub(super) struct Update<'a> {
    /// What it reads of the cell.
    pub(super) load: LoadId,
    /// The operation that combines.
    by: &'a str,
    ty: &'a str,
}

impl Update<'_> {
    /// Whether two may change their order.
    pub(super) fn commutes(&self, other: &Update<'_>) -> bool {
        self.by == other.by && self.ty == other.ty
    }
}

/// How each statement combines its cell with a value, where it does and is executed as one: nothing else that it is
/// made from, and no other statement, sees what it reads, and nothing writes to the array between the load and it.
pub(super) fn updates<'a>(pool: &'a Pool, statements: &Statements<'_>) -> Vec<Option<Update<'a>>> {
    let one = |number: usize| {
        let statement = &statements.all[number];
        let Action::Store(value) = statement.action else { return None };
        let Value::Op(operation) = pool.get(value) else { return None };
        let [x, y] = operation.operands[..] else { return None };
        [(x, y), (y, x)].into_iter().enumerate().find_map(|(operand, (own, other))| {
            let Value::Load(load) = *pool.get(own) else { return None };
            let update = Update { load, by: operation.combines(operand)?, ty: &operation.ty };
            let is_alone = is_atomic(statements, statement, load) && !is_seen(pool, statements, number, (load, other));
            is_alone.then_some(update)
        })
    };
    (0..statements.all.len()).map(one).collect()
}

/// Whether a nest may have such statements: their instances are compared sooner than what they leave, which each makes of
/// what the one before it left.
pub(super) fn may_update(pool: &Pool, items: &[Item]) -> bool {
    updated(pool, items, &mut FxHashMap::default())
}

fn updated(pool: &Pool, items: &[Item], loads: &mut FxHashMap<LoadId, ArrayId>) -> bool {
    items.iter().any(|item| match item {
        Item::Load(x) => {
            loads.insert(x.id, x.array);
            false
        }
        Item::Store(x) => match pool.get(x.value) {
            Value::Op(op) => op.operands.iter().enumerate().any(|(operand, value)| match pool.get(*value) {
                Value::Load(load) => loads.get(load) == Some(&x.array) && op.combines(operand).is_some(),
                _ => false,
            }),
            _ => false,
        },
        Item::For(x) => updated(pool, &x.body, loads),
        Item::If(x) => updated(pool, &x.then, loads) || updated(pool, &x.otherwise, loads),
        _ => false,
    })
}

/// Whether a load is of the statement's cell, in the same list of items, with no write to the array in between.
fn is_atomic(statements: &Statements<'_>, statement: &Statement, load: LoadId) -> bool {
    let Some(read) = statements.loads.get(&load) else { return false };
    let (access, own) = (&read.access, &statement.access);
    let (Some((first, list)), Some((last, same))) = (access.path.split_last(), own.path.split_last()) else {
        return false;
    };
    let is_one_arm = (*first >= SECOND_ARM) == (*last >= SECOND_ARM);
    let is_one_cell = access.array == own.array && access.cell == own.cell;
    let between = |other: &&Statement| {
        let position = other.access.path.strip_prefix(list).and_then(|rest| rest.first());
        position.is_some_and(|position| (*first + 1..*last).contains(position))
    };
    let leaves_alone = |other: &Statement| match &other.action {
        Action::Store(_) => other.access.array != own.array,
        Action::Trap(_) => true,
        Action::Alloc(_) | Action::Event(_) | Action::Return(_) => false,
    };
    list == same && is_one_arm && is_one_cell && statements.all.iter().filter(between).all(leaves_alone)
}

/// Whether something but the statement itself, which combines it with a value, sees what a load reads.
fn is_seen(pool: &Pool, statements: &Statements<'_>, number: usize, (load, other): (LoadId, ValueId)) -> bool {
    let mut values: Vec<ValueId> = vec![other];
    for (n, statement) in statements.all.iter().enumerate() {
        values.extend(statement.guards.iter().map(|(condition, _)| *condition));
        match &statement.action {
            Action::Store(value) | Action::Trap(value) => values.extend((n != number).then_some(*value)),
            Action::Event(event) => values.extend(&event.operands),
            Action::Return(results) => values.extend(results),
            Action::Alloc(_) => {}
        }
    }
    values.extend(statements.binds.values());
    statements.reads(pool, &values).contains(&load)
}
