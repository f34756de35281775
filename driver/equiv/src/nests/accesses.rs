//! The accesses of a nest: where they are, which cells they touch, and which come first.
//!
//! A store behind branches on data is a load of its cell and a store of what was there, or of its value: the contents at
//! the end are the same. Accesses are numbered in the order of the text.

use super::claims::Formula;
use super::{Checked, Rejected};
use rewright_cfg_skeleton::nest::value::{Operation, Value};
use rewright_cfg_skeleton::nest::{
    Affine, ArrayId, ArrayKind, For, If, Item, LoadId, Nest, Pool, Store, Undefined, ValueId, Var,
};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// What an access does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Does {
    Load(LoadId),
    Store(ValueId),
    /// Makes all cells undefined.
    Alloc,
}

/// An access, executed for each point of its loops.
#[derive(Clone, Debug)]
pub(super) struct Access {
    pub(super) array: ArrayId,
    /// The cell; all cells of an allocation.
    pub(super) cell: Option<Vec<Affine>>,
    pub(super) loops: Vec<Rc<For>>,
    /// The position among its siblings, at each depth.
    path: Vec<u32>,
    pub(super) does: Does,
    /// Whether the access is made up: it may not be executed.
    pub(super) guarded: bool,
    pub(super) line: u32,
}

/// A place in the execution: an access at a point, or the end.
pub(super) type Place<'a> = Option<(&'a Access, &'a [Affine])>;

/// A nest as its accesses.
pub(super) struct Accesses<'a> {
    pub(super) nest: &'a Nest,
    pub(super) all: Vec<Access>,
    /// The access that each load is.
    pub(super) loads: BTreeMap<LoadId, usize>,
    /// Whether accesses that are executed are in bounds.
    in_bounds: bool,
}

impl Access {
    /// The value of a variable at a point; `None` of variables that are no loop's.
    pub(super) fn coordinate(&self, at: &[Affine], var: Var) -> Option<Affine> {
        at.get(self.loops.iter().position(|l| l.var == var)?).cloned()
    }

    pub(super) fn value_at(&self, affine: &Affine, at: &[Affine]) -> Affine {
        affine.replace(&|var| self.coordinate(at, var))
    }

    pub(super) fn cell_at(&self, at: &[Affine]) -> Option<Vec<Affine>> {
        Some(self.cell.as_ref()?.iter().map(|subscript| self.value_at(subscript, at)).collect())
    }

    /// The variables of its loops.
    pub(super) fn own_point(&self) -> Vec<Affine> {
        self.loops.iter().map(|l| Affine::var(l.var)).collect()
    }

    /// That its loops reach a point.
    pub(super) fn reached(&self, at: &[Affine]) -> Vec<Formula> {
        let mut facts = vec![];
        for (l, value) in self.loops.iter().zip(at) {
            facts.extend(l.lower.iter().map(|lower| Formula::at_least(value, &self.value_at(lower, at))));
            facts.extend(l.upper.iter().map(|upper| Formula::less(value, &self.value_at(upper, at))));
        }
        facts
    }

    /// That it comes first at one point, and the place after it.
    pub(super) fn precedes(&self, at: &[Affine], place: Place<'_>) -> Formula {
        let Some((other, other_at)) = place else { return Formula::All(vec![]) };
        let (mut cases, mut equal) = (vec![], vec![]);
        for (depth, (a, b)) in self.path.iter().zip(&other.path).enumerate() {
            if a < b {
                cases.push(Formula::All(equal.clone()));
            }
            let (true, Some(x), Some(y)) = (a == b, at.get(depth), other_at.get(depth)) else { break };
            cases.push(Formula::All([equal.clone(), vec![Formula::less(x, y)]].concat()));
            equal.push(Formula::equal(x, y));
        }
        Formula::Any(cases)
    }

    /// Whether a load is executed once in each iteration of this access's loops that it is in, and before it.
    pub(super) fn is_after(&self, load: &Access) -> bool {
        let shared = self.loops.len() >= load.loops.len() && self.path.len() >= load.path.len();
        let loops = self.loops.iter().zip(&load.loops).all(|(a, b)| a.var == b.var);
        let Some((last, around)) = load.path.split_last() else { return false };
        shared && loops && self.path.starts_with(around) && self.path[around.len()] > *last
    }
}

impl<'a> Accesses<'a> {
    /// The accesses of a nest that has nothing else.
    pub(super) fn new(nest: &'a Nest, pool: &mut Pool, in_bounds: bool) -> Checked<Self> {
        let undefined = Undefined::of(nest, pool);
        let all = Accesses { nest, all: vec![], loads: BTreeMap::new(), in_bounds };
        let mut walk = Walk {
            pool,
            all,
            loops: vec![],
            path: vec![],
            guards: vec![],
            left: vec![],
            undefined,
            vars: BTreeSet::new(),
        };
        walk.items(&nest.items)?;
        Ok(walk.all)
    }

    /// What holds where an access is executed.
    pub(super) fn executed(&self, access: &Access, at: &[Affine]) -> Vec<Formula> {
        let mut facts = access.reached(at);
        if self.in_bounds && !access.guarded {
            for (subscript, extent) in access.cell_at(at).iter().flatten().zip(&self.nest.array(access.array).shape) {
                facts.push(Formula::at_least(subscript, &Affine::default()));
                facts.extend(extent.as_ref().map(|extent| Formula::less(subscript, extent)));
            }
        }
        facts
    }

    /// The access with a number that a certificate gives.
    pub(super) fn get(&self, number: u32) -> Checked<&Access> {
        self.all.get(number as usize).ok_or_else(|| Rejected::Step(format!("there is no access {number}")))
    }

    /// The accesses that write an array.
    pub(super) fn writers(&self, array: ArrayId) -> impl Iterator<Item = &Access> {
        self.all.iter().filter(move |a| a.array == array && !matches!(a.does, Does::Load(_)))
    }

    /// The array that an argument is.
    pub(super) fn argument(&self, position: u32) -> Option<ArrayId> {
        let found = self.nest.arrays.iter().position(|a| a.kind == ArrayKind::Argument(position))?;
        u32::try_from(found).ok().map(ArrayId)
    }
}

struct Walk<'a, 'p> {
    pool: &'p mut Pool,
    all: Accesses<'a>,
    loops: Vec<Rc<For>>,
    path: Vec<u32>,
    /// The conditions of the branches around, outermost first, and which arm.
    guards: Vec<(ValueId, bool)>,
    /// In a second arm: cells with what the first arm ends with writing to them.
    left: Vec<(ArrayId, ValueId)>,
    undefined: Undefined,
    vars: BTreeSet<Var>,
}

impl Walk<'_, '_> {
    fn items(&mut self, items: &[Item]) -> Checked<()> {
        self.path.push(0);
        items.iter().try_for_each(|item| self.item(item))?;
        self.path.pop();
        Ok(())
    }

    fn item(&mut self, item: &Item) -> Checked<()> {
        match item {
            Item::Load(x) => self.push(x.array, Some(&x.subscripts), Does::Load(x.id), x.line),
            Item::Store(x) => self.store(x),
            Item::Alloc(array, line) => self.push(*array, None, Does::Alloc, *line),
            Item::For(x) => return self.looped(x),
            Item::If(x) => return self.branch(x),
            Item::Event(_) | Item::Trap(..) | Item::Bind(_) => {
                return Err(Rejected::Step(format!("line {} is neither a loop nor an access", item.line())));
            }
        }
        Ok(())
    }

    fn looped(&mut self, x: &For) -> Checked<()> {
        if x.step != 1 || !self.vars.insert(x.var) {
            return Err(Rejected::Step(format!("the loop of line {} has steps, or another one's variable", x.line)));
        }
        self.loops.push(Rc::new(For { body: vec![], lower: x.lower.clone(), upper: x.upper.clone(), ..*x }));
        self.items(&x.body)?;
        self.loops.pop();
        self.next();
        Ok(())
    }

    /// To select by what is undefined is no undefined behaviour, as to branch on it is.
    fn branch(&mut self, x: &If) -> Checked<()> {
        if self.undefined.may_be(self.pool, x.condition) {
            return Err(Rejected::Step(format!("line {} may branch on what is undefined", x.line)));
        }
        for (arm, taken) in [(&x.then, true), (&x.otherwise, false)] {
            self.guards.push((x.condition, taken));
            for item in arm {
                // Latest first.
                let last = x.then.iter().rev().take_while(|_| !taken);
                let stores =
                    last.map_while(|item| if let Item::Store(x) = item { Some((x.array, x.value)) } else { None });
                self.left = stores.filter(|(array, _)| self.all.nest.array(*array).kind == ArrayKind::Cell).collect();
                self.item(item)?;
            }
            self.guards.pop();
        }
        self.left.clear();
        Ok(())
    }

    fn store(&mut self, x: &Store) {
        let mut value = x.value;
        if !self.guards.is_empty() {
            let old = self.made_up_load();
            self.push(x.array, Some(&x.subscripts), Does::Load(old), x.line);
            let (old, ty) = (self.pool.add(Value::Load(old)), &self.all.nest.array(x.array).element);
            // Where the first arm was taken, a cell holds what that has written.
            let left = self.left.iter().find(|(array, _)| *array == x.array).map(|(_, value)| *value);
            for (n, (condition, taken)) in self.guards.iter().rev().enumerate() {
                let other = left.filter(|_| n == 0).unwrap_or(old);
                let operands = if *taken { vec![*condition, value, other] } else { vec![*condition, other, value] };
                let (name, flags) = ("arith.select".to_string(), vec![]);
                let (from, ty) = (ty.clone(), ty.clone());
                value = self.pool.add(Value::Op(Operation { name, flags, from, ty, operands }));
            }
        }
        self.push(x.array, Some(&x.subscripts), Does::Store(value), x.line);
    }

    /// A load that no nest has.
    fn made_up_load(&self) -> LoadId {
        let mut number = u32::MAX - self.all.all.len() as u32;
        while self.pool.find(&Value::Load(LoadId(number))).is_some() {
            number -= 1;
        }
        LoadId(number)
    }

    fn push(&mut self, array: ArrayId, cell: Option<&Vec<Affine>>, does: Does, line: u32) {
        if let Does::Load(load) = does {
            self.all.loads.insert(load, self.all.all.len());
        }
        let (loops, path, guarded) = (self.loops.clone(), self.path.clone(), !self.guards.is_empty());
        self.all.all.push(Access { array, cell: cell.cloned(), loops, path, does, guarded, line });
        self.next();
    }

    /// The next item comes later.
    fn next(&mut self) {
        if let Some(position) = self.path.last_mut() {
            *position += 1;
        }
    }
}
