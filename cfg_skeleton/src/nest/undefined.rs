//! Values that may be undefined: what promises, shifts and conversions may give, what is read from an array of the
//! function's own, what is read where such values are written, what calls give, and what is read where there are calls.
//! To branch on one is undefined behaviour, to select by it is not.

use super::value::{Pool, Value, ValueId, may_be_poison};
use super::{ArrayId, ArrayKind, Item, LoadId, Nest, Var};
use rustc_hash::{FxHashMap, FxHashSet};

/// Which values of a nest with branches may be undefined.
#[derive(Debug, Default)]
pub struct Undefined {
    arrays: FxHashSet<ArrayId>,
    loads: FxHashMap<LoadId, ArrayId>,
    binds: FxHashMap<Var, ValueId>,
    stores: Vec<(ArrayId, ValueId)>,
    has_branches: bool,
    /// The nest has calls, which may return undefined values and write them to memory.
    has_calls: bool,
}

impl Undefined {
    /// Finds the arrays of a nest that may hold undefined values. A nest without branches needs none.
    #[must_use]
    pub fn of(nest: &Nest, pool: &Pool) -> Self {
        let mut found = Undefined::default();
        found.collect(&nest.items);
        if !found.has_branches {
            return found;
        }
        let all = (0..).map(ArrayId).zip(&nest.arrays);
        let is_undefined = |array: &super::Array| found.has_calls || array.kind == ArrayKind::Local;
        found.arrays = all.filter(|(_, array)| is_undefined(array)).map(|(id, _)| id).collect();
        loop {
            let before = found.arrays.len();
            let mut defined = FxHashSet::default();
            for (array, value) in found.stores.clone() {
                if !found.arrays.contains(&array) && found.is_reached(pool, value, &mut defined) {
                    found.arrays.insert(array);
                }
            }
            if found.arrays.len() == before {
                return found;
            }
        }
    }

    fn collect(&mut self, items: &[Item]) {
        for item in items {
            match item {
                Item::Load(x) => drop(self.loads.insert(x.id, x.array)),
                Item::Store(x) => self.stores.push((x.array, x.value)),
                Item::Bind(x) => drop(self.binds.insert(x.var, x.value)),
                Item::For(x) => self.collect(&x.body),
                Item::If(x) => {
                    self.has_branches = true;
                    self.collect(&x.then);
                    self.collect(&x.otherwise);
                }
                Item::Event(_) => self.has_calls = true,
                Item::Alloc(..) | Item::Trap(..) => {}
            }
        }
    }

    /// Whether a value may be undefined.
    #[must_use]
    pub fn may_be(&self, pool: &Pool, value: ValueId) -> bool {
        self.is_reached(pool, value, &mut FxHashSet::default())
    }

    /// Whether a value is made from one that may be undefined; values that are not are noted.
    fn is_reached(&self, pool: &Pool, value: ValueId, defined: &mut FxHashSet<ValueId>) -> bool {
        let (mut rest, mut seen) = (vec![value], FxHashSet::default());
        while let Some(value) = rest.pop() {
            if defined.contains(&value) || !seen.insert(value) {
                continue;
            }
            match pool.get(value) {
                Value::Op(op) if may_be_poison(pool, op) => return true,
                Value::Result(..) => return true,
                Value::Op(op) => rest.extend(&op.operands),
                Value::Load(load) if self.loads.get(load).is_none_or(|array| self.arrays.contains(array)) => {
                    return true;
                }
                Value::Index(index) => rest.extend(index.vars().iter().filter_map(|var| self.binds.get(var))),
                _ => {}
            }
        }
        defined.extend(seen);
        false
    }
}
