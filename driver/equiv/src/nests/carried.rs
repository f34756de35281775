//! Loops that carry a value through several copies of what they do, as copies that hand it on in a cell.

use super::{Checked, Rejected, wrong};
use rewright_cfg_skeleton::nest::value::{Operation, Value};
use rewright_cfg_skeleton::nest::{ArrayKind, For, Item, Load, LoadId, Nest, Pool, Store, ValueId};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

/// `v = c; .. c = f(f(v))` as `v = c; .. c = f(v); w = c; .. c = f(w)`. Nothing but the loop sees the cell `c`, so what is
/// stored there on the way may be anything, and what is loaded in between does not depend on it.
pub(super) fn one_by_one(nest: &Nest, pool: &mut Pool, x: &For, copies: u32) -> Checked<Vec<Item>> {
    let copies = copies as usize;
    let other = || wrong("it carries no value through so many copies", x);
    let [Item::Load(head), middle @ .., Item::Store(last)] = x.body.as_slice() else { return Err(other()) };
    let is_cell = nest.array(head.array).kind == ArrayKind::Cell && last.array == head.array;
    let is_apart = |item: &Item| matches!(item, Item::Load(load) if load.array != head.array);
    if copies < 2
        || !is_cell
        || middle.is_empty()
        || !middle.len().is_multiple_of(copies)
        || !middle.iter().all(is_apart)
    {
        return Err(other());
    }
    let parts: Vec<&[Item]> = middle.chunks(middle.len() / copies).collect();
    let loads = |items: &[Item]| items.iter().filter_map(load_of).collect::<BTreeSet<LoadId>>();
    let (mut items, mut carried, mut done) = (vec![], head.id, BTreeSet::from([head.id]));
    let mut before = pool.add(Value::Load(head.id));
    for (n, part) in parts.iter().enumerate() {
        done.extend(loads(part));
        let value = match n + 1 == copies {
            true => last.value,
            false => outermost(pool, last.value, head.id, &done).ok_or_else(other)?,
        };
        let from = pool.add(Value::Load(carried));
        let stored = with(pool, value, (before, from), &mut FxHashMap::default());
        items.push(Item::Load(Load { id: carried, ..head.clone() }));
        items.extend(part.iter().cloned());
        items.push(Item::Store(Store { value: stored, ..last.clone() }));
        (before, carried) = (value, unused(pool)?);
    }
    Ok(items)
}

fn load_of(item: &Item) -> Option<LoadId> {
    if let Item::Load(load) = item { Some(load.id) } else { None }
}

/// The outermost value on the way to what is carried that needs these loads only.
fn outermost(pool: &Pool, value: ValueId, carried: LoadId, done: &BTreeSet<LoadId>) -> Option<ValueId> {
    let mut here = value;
    while !reads(pool, here).is_subset(done) {
        let Value::Op(op) = pool.get(here) else { return None };
        here = *op.operands.iter().find(|o| reads(pool, **o).contains(&carried))?;
    }
    Some(here)
}

/// All loads that a value is made from.
fn reads(pool: &Pool, value: ValueId) -> BTreeSet<LoadId> {
    let (mut found, mut seen, mut rest) = (BTreeSet::new(), BTreeSet::new(), vec![value]);
    while let Some(value) = rest.pop() {
        match pool.get(value) {
            _ if !seen.insert(value) => {}
            Value::Load(load) => drop(found.insert(*load)),
            Value::Op(op) => rest.extend(&op.operands),
            _ => {}
        }
    }
    found
}

/// The value with another one in it replaced.
fn with(
    pool: &mut Pool,
    value: ValueId,
    (from, to): (ValueId, ValueId),
    known: &mut FxHashMap<ValueId, ValueId>,
) -> ValueId {
    if value == from {
        return to;
    }
    if let Some(known) = known.get(&value) {
        return *known;
    }
    let Value::Op(op) = pool.get(value).clone() else { return value };
    let operands = op.operands.iter().map(|o| with(pool, *o, (from, to), known)).collect();
    let replaced = pool.add(Value::Op(Operation { operands, ..op }));
    known.insert(value, replaced);
    replaced
}

/// A load that no value is made from.
fn unused(pool: &Pool) -> Checked<LoadId> {
    let mut numbers = (0..=u32::MAX / 2).rev().map(LoadId);
    numbers
        .find(|load| pool.find(&Value::Load(*load)).is_none())
        .ok_or_else(|| Rejected::Step("there are too many loads".into()))
}
