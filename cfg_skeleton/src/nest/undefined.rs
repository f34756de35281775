//! Values that may be undefined: what promises, shifts and conversions may give, what is read from an array of the
//! function's own, what is read where such values are written, what calls give, and what is read where there are calls.
//! To branch on one is undefined behaviour, to select by it is not.

use super::value::{BRANCH, Pool, Value, ValueId, may_be_poison};
use super::{Affine, Array, ArrayId, ArrayKind, For, If, Item, LoadId, Nest, Var};
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
        let extents = nest.arrays.iter().flat_map(|array| array.shape.iter().flatten().cloned()).collect::<Vec<_>>();
        found.has_branches |= found.is_data(&extents);
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
                Item::For(x) => {
                    self.has_branches |= self.is_data(&x.lower) || self.is_data(&x.upper);
                    self.collect(&x.body);
                }
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

    /// Whether bounds depend on data.
    fn is_data(&self, bounds: &[Affine]) -> bool {
        bounds.iter().any(|bound| bound.vars().iter().any(|var| self.binds.contains_key(var)))
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

/// Says before each loop whose bounds are data that may be undefined, and before each allocation with such extents, that it is
/// undefined where these are.
pub fn guard_loops(nest: &mut Nest, pool: &mut Pool) {
    let undefined = Undefined::of(nest, pool);
    if !undefined.has_branches {
        return;
    }
    let items = std::mem::take(&mut nest.items);
    nest.items = guarded(items, (&undefined, &nest.arrays), pool, &mut FxHashSet::default());
}

/// `known` are variables of which that has been said.
fn guarded(items: Vec<Item>, of: (&Undefined, &[Array]), pool: &mut Pool, known: &mut FxHashSet<Var>) -> Vec<Item> {
    let mut result = Vec::with_capacity(items.len());
    for item in items {
        result.extend(guards(&item, of, pool, known));
        let mut inner = |items: Vec<Item>| guarded(items, of, pool, &mut known.clone());
        result.push(match item {
            Item::For(x) => Item::For(For { body: inner(x.body), ..x }),
            Item::If(x) => {
                let (then, otherwise) = (inner(x.then), inner(x.otherwise));
                Item::If(If { then, otherwise, ..x })
            }
            item => item,
        });
    }
    result
}

fn guards(
    item: &Item,
    (undefined, arrays): (&Undefined, &[Array]),
    pool: &mut Pool,
    known: &mut FxHashSet<Var>,
) -> Vec<Item> {
    let vars: Vec<Var> = match item {
        Item::For(x) => x.lower.iter().chain(&x.upper).flat_map(Affine::vars).collect(),
        Item::Alloc(array, _) => arrays[array.0 as usize].shape.iter().flatten().flat_map(Affine::vars).collect(),
        _ => return vec![],
    };
    let of_var = |var: Var| Some((var, *undefined.binds.get(&var)?));
    let mut vars: Vec<(Var, ValueId)> = vars.into_iter().filter_map(of_var).collect();
    vars.sort_unstable();
    vars.retain(|(var, value)| !known.contains(var) && undefined.may_be(pool, *value) && known.insert(*var));
    vars.into_iter().map(|(_, value)| Item::Trap(pool.required(BRANCH, value), item.line())).collect()
}
