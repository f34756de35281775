//! Values that loops carry, as unrolled loops and loops of one: cells are private, so what lies between two uses of one
//! is free.
//!
//! * `for { v = c; .. c = f(f(v)) }` becomes `for { v = c; .. c = f(v); w = c; .. c = f(w) }`, which rerolls.
//! * A cell that begins with what another one ends with is that one: loops that follow each other are joined.

use super::super::value::{Operation, Pool, Value, ValueId, loads_of};
use super::super::{ArrayId, ArrayKind, For, Item, Load, LoadId, Nest, Store};
use super::Normaliser;
use rustc_hash::FxHashMap;

impl Normaliser<'_> {
    /// The loop's body as `copies` bodies, where the value that it carries is computed in that many steps.
    pub(super) fn stepwise(&mut self, x: &For, copies: usize) -> Option<Vec<Item>> {
        let [Item::Load(head), middle @ .., Item::Store(last)] = x.body.as_slice() else { return None };
        let is_carried = self.nest.array(head.array).kind == ArrayKind::Cell && head.array == last.array;
        let loads: Vec<&Load> =
            middle.iter().filter_map(|item| if let Item::Load(l) = item { Some(l) } else { None }).collect();
        let plain = loads.len() == middle.len() && loads.iter().all(|load| load.array != head.array);
        if !is_carried || !plain || loads.is_empty() || !loads.len().is_multiple_of(copies) {
            return None;
        }
        let each = loads.len() / copies;
        let turn: FxHashMap<LoadId, usize> = loads.iter().enumerate().map(|(n, load)| (load.id, n / each)).collect();
        let spine = self.spine(last.value, head.id)?;
        let mut items = vec![];
        let mut carried = (self.pool.add(Value::Load(head.id)), head.id);
        let mut replaced = carried.0;
        for copy in 0..copies {
            // The outermost value that needs no load of a later turn.
            let ready =
                |value: &ValueId| self.needs(*value).iter().all(|load| turn.get(load).is_none_or(|t| *t <= copy));
            let value = *spine.iter().find(|value| ready(value))?;
            let stepped = self.with_value(value, replaced, carried.0);
            if copy > 0 {
                items.push(Item::Load(Load { id: carried.1, ..head.clone() }));
            } else {
                items.push(Item::Load(head.clone()));
            }
            items.extend(middle[copy * each..(copy + 1) * each].iter().cloned());
            items.push(Item::Store(Store { value: stepped, ..last.clone() }));
            let id = self.names.load();
            carried = (self.pool.add(Value::Load(id)), id);
            replaced = value;
        }
        Some(items)
    }

    fn needs(&self, value: ValueId) -> Vec<LoadId> {
        loads_of(self.pool, value).collect()
    }

    /// The values on the way from a value to the one load in it, outermost first; `None` where there are several ways.
    fn spine(&self, value: ValueId, load: LoadId) -> Option<Vec<ValueId>> {
        let mut spine = vec![value];
        let mut here = value;
        loop {
            match self.pool.get(here) {
                Value::Load(id) => return (*id == load).then_some(spine),
                Value::Op(op) => {
                    let mut ways = op.operands.iter().filter(|o| self.needs(**o).contains(&load));
                    let (Some(&next), None) = (ways.next(), ways.next()) else { return None };
                    spine.push(next);
                    here = next;
                }
                _ => return None,
            }
        }
    }

    /// The value with another one in it replaced.
    fn with_value(&mut self, value: ValueId, from: ValueId, to: ValueId) -> ValueId {
        if value == from {
            return to;
        }
        let Value::Op(op) = self.pool.get(value).clone() else { return value };
        let operands = op.operands.iter().map(|&o| self.with_value(o, from, to)).collect();
        self.pool.add(Value::Op(Operation { operands, ..op }))
    }
}

/// `v = c; d = v`, where `v` is used for nothing else, `c` not later and `d` not earlier: `d` is `c` from the beginning.
/// Both are used in one list of items and nowhere else. Gives the pairs of cells, too: `d` and `c`.
pub(super) fn join_cells(nest: &Nest, pool: &Pool) -> (Vec<Item>, Vec<(u32, u32)>) {
    let mut items = nest.items.clone();
    let mut uses = FxHashMap::default();
    count(&items, &mut uses);
    let mut joiner = Joiner { nest, pool, uses, joined: vec![] };
    joiner.join(&mut items);
    (items, joiner.joined)
}

struct Joiner<'a> {
    nest: &'a Nest,
    pool: &'a Pool,
    /// How many accesses each array has in the whole nest.
    uses: FxHashMap<ArrayId, usize>,
    joined: Vec<(u32, u32)>,
}

impl Joiner<'_> {
    fn join(&mut self, items: &mut Vec<Item>) {
        for item in items.iter_mut() {
            match item {
                Item::For(x) => self.join(&mut x.body),
                Item::If(x) => {
                    self.join(&mut x.then);
                    self.join(&mut x.otherwise);
                }
                _ => {}
            }
        }
        while let Some((at, from, to)) = self.handed_over(items) {
            items.drain(at..at + 2);
            rename(items, from, to);
            self.joined.push((from.0, to.0));
            let moved = self.uses.remove(&from).unwrap_or(0);
            *self.uses.entry(to).or_default() += moved;
            *self.uses.entry(to).or_default() -= 2;
        }
    }

    /// Where a cell is handed over: the position, the later cell and the earlier one.
    fn handed_over(&self, items: &[Item]) -> Option<(usize, ArrayId, ArrayId)> {
        let copy = |pair: &[Item]| {
            let [Item::Load(load), Item::Store(store)] = pair else { return None };
            let cells = [load.array, store.array].map(|array| self.nest.array(array).kind == ArrayKind::Cell);
            let is_copy = matches!(self.pool.get(store.value), Value::Load(id) if *id == load.id);
            (cells == [true, true] && is_copy && load.array != store.array).then_some((load.clone(), store.array))
        };
        let copies = items.windows(2).enumerate().filter_map(|(at, pair)| copy(pair).map(|(load, to)| (at, load, to)));
        copies.into_iter().find_map(|(at, load, later)| {
            let (before, after) = (&items[..at], &items[at + 2..]);
            let apart = !touches(before, later) && !touches(after, load.array);
            let mut here = FxHashMap::default();
            count(items, &mut here);
            let own = [load.array, later].iter().all(|cell| here.get(cell) == self.uses.get(cell));
            let alone = !uses(self.pool, after, load.id) && !self.is_result(load.id);
            let joined = apart && own && alone && begins_with_store(before, load.array);
            joined.then_some((at, later, load.array))
        })
    }

    fn is_result(&self, load: LoadId) -> bool {
        self.nest.results.iter().any(|result| loads_of(self.pool, *result).any(|found| found == load))
    }
}

/// Counts the accesses of each array.
fn count(items: &[Item], uses: &mut FxHashMap<ArrayId, usize>) {
    for item in items {
        match item {
            Item::Load(x) => *uses.entry(x.array).or_default() += 1,
            Item::Store(x) => *uses.entry(x.array).or_default() += 1,
            Item::For(x) => count(&x.body, uses),
            Item::If(x) => {
                count(&x.then, uses);
                count(&x.otherwise, uses);
            }
            _ => {}
        }
    }
}

/// Whether the cell is set in these items before anything else is done with it.
fn begins_with_store(items: &[Item], cell: ArrayId) -> bool {
    let first = items.iter().find(|item| touches(std::slice::from_ref(item), cell));
    matches!(first, Some(Item::Store(_)))
}

fn touches(items: &[Item], array: ArrayId) -> bool {
    items.iter().any(|item| match item {
        Item::Load(x) => x.array == array,
        Item::Store(x) => x.array == array,
        Item::For(x) => touches(&x.body, array),
        Item::If(x) => touches(&x.then, array) || touches(&x.otherwise, array),
        Item::Alloc(a, _) => *a == array,
        Item::Event(_) | Item::Trap(..) | Item::Bind(_) => false,
    })
}

fn uses(pool: &Pool, items: &[Item], load: LoadId) -> bool {
    let has = |value: ValueId| loads_of(pool, value).any(|found| found == load);
    items.iter().any(|item| match item {
        Item::Store(x) => has(x.value),
        Item::Bind(x) => has(x.value),
        Item::Trap(value, _) => has(*value),
        Item::Event(x) => x.operands.iter().any(|o| has(*o)),
        Item::If(x) => has(x.condition) || uses(pool, &x.then, load) || uses(pool, &x.otherwise, load),
        Item::For(x) => uses(pool, &x.body, load),
        Item::Load(_) | Item::Alloc(..) => false,
    })
}

fn rename(items: &mut [Item], from: ArrayId, to: ArrayId) {
    for item in items {
        match item {
            Item::Load(x) if x.array == from => x.array = to,
            Item::Store(x) if x.array == from => x.array = to,
            Item::For(x) => rename(&mut x.body, from, to),
            Item::If(x) => {
                rename(&mut x.then, from, to);
                rename(&mut x.otherwise, from, to);
            }
            _ => {}
        }
    }
}
