//! Nests without branches on data: what a branch would store is selected, `if c { A[i] = v }` becomes
//! `A[i] = select(c, v, A[i])`.
//!
//! The values in memory at the end are the same. Accesses are executed that the branch guarded: code that asks what a
//! program touches has to know them.

use super::value::{Operation, Pool, Value, ValueId};
use super::{ArrayId, ArrayKind, If, Item, Line, Load, LoadId, Names, Nest, Store, Undefined};
use rustc_hash::{FxHashMap, FxHashSet};

/// A nest without branches.
pub(crate) struct Flat {
    pub(crate) nest: Nest,
    /// Loads that are not always executed where they are.
    pub(crate) guarded_loads: FxHashSet<LoadId>,
    /// Stores that are not always executed where they are, by the load of the same cell that precedes them.
    pub(crate) guarded_stores: FxHashSet<LoadId>,
}

/// Why a nest has no values that only depend on stores.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub(crate) enum NotPlain {
    /// An operation with effects that are not known.
    #[error("line {0}: `{1}` may do anything")]
    Event(Line, String),
    /// A subscript or a bound that is data.
    #[error("line {0}: an index is computed from data")]
    Data(Line),
    /// A division by what may be zero.
    #[error("line {0}: a division may be undefined")]
    Trap(Line),
    /// A branch whose condition may be undefined.
    #[error("line {0}: a branch on what may be undefined")]
    Branch(Line),
    /// A loop whose iterations have no simple bounds.
    #[error("line {0}: a loop with several lower bounds has a step")]
    Step(Line),
    /// Neither a loop nor an access.
    #[error("line {0}: what is executed here is not a plain access")]
    NoAccess(Line),
}

pub(crate) fn flatten(nest: &Nest, pool: &mut Pool, names: &mut Names) -> Result<Flat, NotPlain> {
    let flat = Flat { nest: nest.clone(), guarded_loads: FxHashSet::default(), guarded_stores: FxHashSet::default() };
    let undefined = Undefined::of(nest, pool);
    let mut flattener = Flattener { pool, names, flat, guards: vec![], given: FxHashMap::default(), undefined };
    let items = flattener.items(&nest.items)?;
    let mut flat = flattener.flat;
    flat.nest.items = items;
    Ok(flat)
}

struct Flattener<'a> {
    pool: &'a mut Pool,
    names: &'a mut Names,
    flat: Flat,
    /// Conditions of the branches around, outermost first, and which arm.
    guards: Vec<(ValueId, bool)>,
    /// Of the branch around, what its first arm leaves in cells of which the second arm gives the other value.
    given: FxHashMap<ArrayId, ValueId>,
    undefined: Undefined,
}

impl Flattener<'_> {
    fn items(&mut self, items: &[Item]) -> Result<Vec<Item>, NotPlain> {
        let mut result = vec![];
        for item in items {
            self.item(item, &mut result)?;
        }
        Ok(result)
    }

    fn item(&mut self, item: &Item, result: &mut Vec<Item>) -> Result<(), NotPlain> {
        match item {
            Item::Load(x) => {
                if !self.guards.is_empty() {
                    self.flat.guarded_loads.insert(x.id);
                }
                result.push(item.clone());
            }
            Item::Store(x) => self.store(x, result),
            Item::For(x) => {
                let body = self.items(&x.body)?;
                result.push(Item::For(super::For { body, lower: x.lower.clone(), upper: x.upper.clone(), ..*x }));
            }
            Item::If(x) => self.branch(x, result)?,
            Item::Alloc(..) => result.push(item.clone()),
            Item::Event(x) => return Err(NotPlain::Event(x.line, x.name.clone())),
            Item::Trap(_, line) => return Err(NotPlain::Trap(*line)),
            Item::Bind(x) => return Err(NotPlain::Data(x.line)),
        }
        Ok(())
    }

    fn branch(&mut self, x: &If, result: &mut Vec<Item>) -> Result<(), NotPlain> {
        // To branch on an undefined value is undefined behaviour, to select by one is not.
        if self.undefined.may_be(self.pool, x.condition) {
            return Err(NotPlain::Branch(x.line));
        }
        for (arm, taken) in [(&x.then, true), (&x.otherwise, false)] {
            self.guards.push((x.condition, taken));
            for item in arm {
                let given = if taken { FxHashMap::default() } else { self.given_by(&x.then) };
                self.given = given;
                self.item(item, result)?;
            }
            self.guards.pop();
        }
        self.given.clear();
        Ok(())
    }

    /// The values of the last stores to cells at the end of an arm.
    fn given_by(&self, arm: &[Item]) -> FxHashMap<ArrayId, ValueId> {
        let stores = arm.iter().rev().map_while(|item| if let Item::Store(x) = item { Some(x) } else { None });
        let cells = stores.filter(|x| self.flat.nest.array(x.array).kind == ArrayKind::Cell);
        let mut given = FxHashMap::default();
        for x in cells {
            given.entry(x.array).or_insert(x.value);
        }
        given
    }

    fn store(&mut self, x: &Store, result: &mut Vec<Item>) {
        if self.guards.is_empty() {
            result.push(Item::Store(x.clone()));
            return;
        }
        let id = self.names.load();
        self.flat.guarded_loads.insert(id);
        self.flat.guarded_stores.insert(id);
        result.push(Item::Load(Load { id, array: x.array, subscripts: x.subscripts.clone(), line: x.line }));
        let old = self.pool.add(Value::Load(id));
        let ty = self.flat.nest.array(x.array).element.clone();
        let mut given = self.given.get(&x.array).copied();
        let value = self.guards.iter().rev().fold(x.value, |value, &(condition, taken)| {
            let other = given.take().unwrap_or(old);
            let operands = if taken { vec![condition, value, other] } else { vec![condition, other, value] };
            let name = "arith.select".to_string();
            self.pool.add(Value::Op(Operation { name, flags: vec![], from: ty.clone(), ty: ty.clone(), operands }))
        });
        result.push(Item::Store(Store { value, ..x.clone() }));
    }
}
