//! Items with variables, loads and arrays replaced.

use super::affine::{Affine, Var};
use super::value::{Operation, Pool, Value, ValueId};
use super::{Bind, Event, For, If, Item, Load, Store};
use rustc_hash::FxHashMap;

/// Replaces polynomials as a function says.
pub(crate) struct Substitution<'a> {
    map: &'a mut dyn FnMut(&Affine) -> Affine,
    done: FxHashMap<ValueId, ValueId>,
}

impl<'a> Substitution<'a> {
    /// Replaces polynomials.
    pub(crate) fn new(map: &'a mut dyn FnMut(&Affine) -> Affine) -> Self {
        Substitution { map, done: FxHashMap::default() }
    }

    fn affine(&mut self, affine: &Affine) -> Affine {
        (self.map)(affine)
    }

    fn affines(&mut self, affines: &[Affine]) -> Vec<Affine> {
        affines.iter().map(|a| (self.map)(a)).collect()
    }

    pub(crate) fn value(&mut self, pool: &mut Pool, id: ValueId) -> ValueId {
        if let Some(&done) = self.done.get(&id) {
            return done;
        }
        let value = match pool.get(id).clone() {
            Value::Index(affine) => Value::Index(self.affine(&affine)),
            Value::Op(op) => {
                let operands = op.operands.iter().map(|&o| self.value(pool, o)).collect();
                Value::Op(Operation { operands, ..op })
            }
            other => other,
        };
        let result = pool.add(value);
        self.done.insert(id, result);
        result
    }

    pub(crate) fn items(&mut self, pool: &mut Pool, items: &[Item]) -> Vec<Item> {
        items.iter().map(|item| self.item(pool, item)).collect()
    }

    fn item(&mut self, pool: &mut Pool, item: &Item) -> Item {
        match item {
            Item::Load(x) => Item::Load(Load { subscripts: self.affines(&x.subscripts), ..x.clone() }),
            Item::Store(x) => {
                let value = self.value(pool, x.value);
                Item::Store(Store { subscripts: self.affines(&x.subscripts), value, ..x.clone() })
            }
            Item::For(x) => Item::For(For {
                lower: self.affines(&x.lower),
                upper: self.affines(&x.upper),
                body: self.items(pool, &x.body),
                ..*x
            }),
            Item::If(x) => Item::If(If {
                condition: self.value(pool, x.condition),
                then: self.items(pool, &x.then),
                otherwise: self.items(pool, &x.otherwise),
                line: x.line,
            }),
            Item::Event(x) => {
                let operands = x.operands.iter().map(|&o| self.value(pool, o)).collect();
                Item::Event(Event { operands, ..x.clone() })
            }
            Item::Bind(x) => Item::Bind(Bind { value: self.value(pool, x.value), ..x.clone() }),
            Item::Trap(value, line) => Item::Trap(self.value(pool, *value), *line),
            Item::Alloc(array, line) => Item::Alloc(*array, *line),
        }
    }
}

/// Items in which a variable is replaced.
pub(crate) fn replaced(pool: &mut Pool, items: &[Item], var: Var, by: &Affine) -> Vec<Item> {
    Substitution::new(&mut |affine| affine.replace(&|v| (v == var).then(|| by.clone()))).items(pool, items)
}

/// Calls `visit` for every polynomial in the items.
pub(crate) fn each_affine(pool: &Pool, items: &[Item], visit: &mut dyn FnMut(&Affine)) {
    let mut seen = rustc_hash::FxHashSet::default();
    walk(pool, items, &mut seen, visit);
}

/// Calls `visit` for every polynomial in the values.
pub(crate) fn each_affine_of(pool: &Pool, values: &[ValueId], visit: &mut dyn FnMut(&Affine)) {
    let mut seen = rustc_hash::FxHashSet::default();
    values.iter().for_each(|&value| walk_value(pool, value, &mut seen, visit));
}

type Seen = rustc_hash::FxHashSet<ValueId>;

fn walk(pool: &Pool, items: &[Item], seen: &mut Seen, visit: &mut dyn FnMut(&Affine)) {
    for item in items {
        match item {
            Item::Load(x) => x.subscripts.iter().for_each(&mut *visit),
            Item::Store(x) => {
                x.subscripts.iter().for_each(&mut *visit);
                walk_value(pool, x.value, seen, visit);
            }
            Item::For(x) => {
                x.lower.iter().chain(&x.upper).for_each(&mut *visit);
                walk(pool, &x.body, seen, visit);
            }
            Item::If(x) => {
                walk_value(pool, x.condition, seen, visit);
                walk(pool, &x.then, seen, visit);
                walk(pool, &x.otherwise, seen, visit);
            }
            Item::Event(x) => x.operands.iter().for_each(|&o| walk_value(pool, o, seen, visit)),
            Item::Bind(x) => walk_value(pool, x.value, seen, visit),
            Item::Trap(value, _) => walk_value(pool, *value, seen, visit),
            Item::Alloc(..) => {}
        }
    }
}

fn walk_value(pool: &Pool, id: ValueId, seen: &mut Seen, visit: &mut dyn FnMut(&Affine)) {
    if !seen.insert(id) {
        return;
    }
    match pool.get(id) {
        Value::Index(affine) => visit(affine),
        Value::Op(op) => op.operands.iter().for_each(|&o| walk_value(pool, o, seen, visit)),
        _ => {}
    }
}

/// Whether the variable occurs in the items.
pub(crate) fn mentions(pool: &Pool, items: &[Item], var: Var) -> bool {
    let mut found = false;
    each_affine(pool, items, &mut |affine| found |= affine.mentions(var));
    found
}
