//! Items with polynomials replaced, and what they read.

use rewright_cfg_skeleton::nest::value::{Operation, Value};
use rewright_cfg_skeleton::nest::{Affine, ArrayId, Bind, Event, For, If, Item, Load, Pool, Store, ValueId, Var};
use rustc_hash::FxHashMap;

/// Replaces polynomials; `None` where one has no replacement.
pub(super) struct Map<'a> {
    pool: &'a mut Pool,
    of: &'a dyn Fn(&Affine) -> Option<Affine>,
    done: FxHashMap<ValueId, ValueId>,
}

impl<'a> Map<'a> {
    pub(super) fn new(pool: &'a mut Pool, of: &'a dyn Fn(&Affine) -> Option<Affine>) -> Map<'a> {
        Map { pool, of, done: FxHashMap::default() }
    }

    fn affines(&self, affines: &[Affine]) -> Option<Vec<Affine>> {
        affines.iter().map(self.of).collect()
    }

    fn value(&mut self, id: ValueId) -> Option<ValueId> {
        if let Some(done) = self.done.get(&id) {
            return Some(*done);
        }
        let value = match self.pool.get(id).clone() {
            Value::Index(affine) => Value::Index((self.of)(&affine)?),
            Value::Op(op) => {
                let operands = op.operands.iter().map(|o| self.value(*o)).collect::<Option<_>>()?;
                Value::Op(Operation { operands, ..op })
            }
            other => other,
        };
        let result = self.pool.add(value);
        self.done.insert(id, result);
        Some(result)
    }

    pub(super) fn items(&mut self, items: &[Item]) -> Option<Vec<Item>> {
        items.iter().map(|item| self.item(item)).collect()
    }

    fn item(&mut self, item: &Item) -> Option<Item> {
        Some(match item {
            Item::Load(x) => Item::Load(Load { subscripts: self.affines(&x.subscripts)?, ..x.clone() }),
            Item::Store(x) => {
                let (subscripts, value) = (self.affines(&x.subscripts)?, self.value(x.value)?);
                Item::Store(Store { subscripts, value, ..x.clone() })
            }
            Item::For(x) => {
                let (lower, upper) = (self.affines(&x.lower)?, self.affines(&x.upper)?);
                Item::For(For { lower, upper, body: self.items(&x.body)?, ..*x })
            }
            Item::If(x) => {
                let (condition, line) = (self.value(x.condition)?, x.line);
                Item::If(If { condition, then: self.items(&x.then)?, otherwise: self.items(&x.otherwise)?, line })
            }
            Item::Event(x) => {
                let operands = x.operands.iter().map(|o| self.value(*o)).collect::<Option<_>>()?;
                Item::Event(Event { operands, ..x.clone() })
            }
            Item::Bind(x) => Item::Bind(Bind { value: self.value(x.value)?, ..x.clone() }),
            Item::Trap(value, line) => Item::Trap(self.value(*value)?, *line),
            Item::Alloc(array, line) => Item::Alloc(*array, *line),
        })
    }
}

/// Whether something reads the array.
pub(super) fn reads(pool: &Pool, items: &[Item], array: ArrayId) -> bool {
    items.iter().any(|item| match item {
        Item::Load(x) => x.array == array,
        Item::For(x) => reads(pool, &x.body, array),
        Item::If(x) => reads(pool, &x.then, array) || reads(pool, &x.otherwise, array),
        Item::Event(x) => x.operands.iter().any(|o| *pool.get(*o) == Value::Array(array)),
        Item::Store(_) | Item::Trap(..) | Item::Alloc(..) | Item::Bind(_) => false,
    })
}

/// Whether polynomials of the items mention the variable.
pub(super) fn mentions(pool: &mut Pool, items: &[Item], var: Var) -> bool {
    let absent = |affine: &Affine| (!affine.mentions(var)).then(|| affine.clone());
    Map::new(pool, &absent).items(items).is_none()
}

/// Whether the items give the variable values.
pub(super) fn defines(items: &[Item], var: Var) -> bool {
    items.iter().any(|item| match item {
        Item::For(x) => x.var == var || defines(&x.body, var),
        Item::If(x) => defines(&x.then, var) || defines(&x.otherwise, var),
        Item::Bind(x) => x.var == var,
        _ => false,
    })
}
