//! Cells that are one: `v = c; d = v`, where `v` is used for nothing else, `c` not later and `d` not earlier.

use super::{Checked, Rejected};
use rewright_cfg_skeleton::nest::value::Value;
use rewright_cfg_skeleton::nest::{ArrayId, ArrayKind, Item, LoadId, Nest, Pool, ValueId};
use std::collections::BTreeSet;

/// The items of a nest with pairs of cells joined: of each pair the first one becomes the second one.
pub(super) fn joined(nest: &Nest, pool: &Pool, pairs: &[(u32, u32)]) -> Checked<Vec<Item>> {
    let mut items = nest.items.clone();
    for (later, earlier) in pairs {
        let (later, earlier) = (ArrayId(*later), ArrayId(*earlier));
        let is_cell = |array: ArrayId| nest.arrays.get(array.0 as usize).is_some_and(|a| a.kind == ArrayKind::Cell);
        let all = [later, earlier].map(|cell| count(&items, cell));
        let join = Join { nest, pool, later, earlier, all };
        if later == earlier || !is_cell(later) || !is_cell(earlier) || !join.somewhere(&mut items) {
            return Err(Rejected::Step(format!("arrays {} and {} are not shown to be one cell", later.0, earlier.0)));
        }
    }
    Ok(items)
}

struct Join<'a> {
    nest: &'a Nest,
    pool: &'a Pool,
    later: ArrayId,
    earlier: ArrayId,
    /// How often both are accessed.
    all: [usize; 2],
}

impl Join<'_> {
    /// Joins them in the list of items that hands one over to the other.
    fn somewhere(&self, items: &mut Vec<Item>) -> bool {
        if let Some(at) = (1..items.len()).find(|at| self.is_handed_over(items, at - 1)) {
            items.drain(at - 1..=at);
            rename(items, self.later, self.earlier);
            return true;
        }
        items.iter_mut().any(|item| match item {
            Item::For(x) => self.somewhere(&mut x.body),
            Item::If(x) => self.somewhere(&mut x.then) || self.somewhere(&mut x.otherwise),
            _ => false,
        })
    }

    fn is_handed_over(&self, items: &[Item], at: usize) -> bool {
        let [Item::Load(load), Item::Store(store)] = &items[at..at + 2] else { return false };
        let is_copy = (load.array, store.array) == (self.earlier, self.later)
            && *self.pool.get(store.value) == Value::Load(load.id);
        let (before, after) = (&items[..at], &items[at + 2..]);
        // Whenever these items are executed, the cell is set first.
        let first = before.iter().find(|item| count(std::slice::from_ref(*item), self.earlier) > 0);
        let is_set = matches!(first, Some(Item::Store(_)));
        let here = [self.later, self.earlier].map(|cell| count(items, cell)) == self.all;
        let apart = count(before, self.later) == 0 && count(after, self.earlier) == 0;
        let others = [before, after].concat();
        is_copy && is_set && here && apart && !self.is_used(&others, load.id)
    }

    /// Whether a value is made from a load, here or at the end.
    fn is_used(&self, items: &[Item], load: LoadId) -> bool {
        let mut values = self.nest.results.clone();
        collect(items, &mut values);
        let (mut seen, mut rest) = (BTreeSet::new(), values);
        while let Some(value) = rest.pop() {
            match self.pool.get(value) {
                _ if !seen.insert(value) => {}
                Value::Load(found) if *found == load => return true,
                Value::Op(op) => rest.extend(&op.operands),
                _ => {}
            }
        }
        false
    }
}

/// The values that items name.
fn collect(items: &[Item], values: &mut Vec<ValueId>) {
    for item in items {
        match item {
            Item::Store(x) => values.push(x.value),
            Item::Bind(x) => values.push(x.value),
            Item::Trap(value, _) => values.push(*value),
            Item::Event(x) => values.extend(&x.operands),
            Item::For(x) => collect(&x.body, values),
            Item::If(x) => {
                values.push(x.condition);
                collect(&x.then, values);
                collect(&x.otherwise, values);
            }
            Item::Load(_) | Item::Alloc(..) => {}
        }
    }
}

/// How many items access an array.
fn count(items: &[Item], array: ArrayId) -> usize {
    let of = |item: &Item| match item {
        Item::Load(x) => usize::from(x.array == array),
        Item::Store(x) => usize::from(x.array == array),
        Item::Alloc(of, _) => usize::from(*of == array),
        Item::For(x) => count(&x.body, array),
        Item::If(x) => count(&x.then, array) + count(&x.otherwise, array),
        Item::Event(_) | Item::Trap(..) | Item::Bind(_) => 0,
    };
    items.iter().map(of).sum()
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
