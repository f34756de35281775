//! What a nest does on numbers, to know which certificates say what is wrong.
//!
//! Values are hashes of how they are computed; integers from memory are small, so that they can be subscripts.

use rewright_cfg_skeleton::nest::certificate::{Fact, Instance, Polynomial};
use rewright_cfg_skeleton::nest::value::Value;
use rewright_cfg_skeleton::nest::{Affine, ArrayId, ArrayKind, For, Item, LoadId, Nest, Pool, ValueId, Var};
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};

pub(super) type Point = Vec<i128>;

/// An execution of an access or of a statement.
pub(super) type Executed = (u32, Point);

#[derive(Clone, Debug)]
struct Content {
    value: i128,
    writer: Option<Executed>,
}

/// A run on some sizes.
#[derive(Default)]
pub(super) struct Ran {
    pub(super) sizes: BTreeMap<Var, i128>,
    /// What each execution of a load reads: which execution wrote it.
    pub(super) loads: BTreeMap<Executed, Option<Executed>>,
    /// What each execution of an access does: its cell, and what it reads or writes.
    pub(super) accesses: BTreeMap<Executed, (Point, i128)>,
    /// What each statement does: the cell, and the value.
    pub(super) statements: BTreeMap<Executed, (Point, i128)>,
    /// The values of all variables where accesses are executed.
    pub(super) at_access: BTreeMap<Executed, BTreeMap<Var, i128>>,
    /// The same of statements.
    pub(super) at_statement: BTreeMap<Executed, BTreeMap<Var, i128>>,
    /// The loops around each statement.
    pub(super) depths: Vec<usize>,
    memory: BTreeMap<(u32, Point), Content>,
    /// The contents of arguments at the end, by their positions.
    pub(super) last: BTreeMap<(u32, Point), Option<Executed>>,
    vars: BTreeMap<Var, i128>,
    read: BTreeMap<LoadId, i128>,
    access: u32,
    statement: u32,
}

fn hash(of: impl Hash) -> i128 {
    let mut hasher = DefaultHasher::new();
    of.hash(&mut hasher);
    i128::from(hasher.finish() >> 1)
}

fn is_integer(ty: &str) -> bool {
    ty == "index" || ty.starts_with('i')
}

impl Ran {
    /// Runs a nest that has no branches.
    pub(super) fn new(nest: &Nest, pool: &Pool, sizes: BTreeMap<Var, i128>) -> Ran {
        let mut ran = Ran { vars: sizes.clone(), sizes, ..Ran::default() };
        depths(&nest.items, 0, &mut ran.depths);
        ran.depths.push(0);
        ran.items(nest, pool, &nest.items, &mut vec![]);
        let values = nest.results.iter().map(|value| ran.value(pool, *value)).collect::<Vec<i128>>();
        ran.done(&[], vec![], hash(values));
        for ((array, cell), content) in &ran.memory {
            if let ArrayKind::Argument(position) = nest.array(ArrayId(*array)).kind {
                ran.last.insert((position, cell.clone()), content.writer.clone());
            }
        }
        ran
    }

    fn affine(&self, affine: &Affine) -> i128 {
        affine.eval(&|var| self.vars.get(&var).copied()).expect("variables have values")
    }

    fn value(&self, pool: &Pool, value: ValueId) -> i128 {
        match pool.get(value) {
            Value::Index(affine) => self.affine(affine),
            Value::Load(load) | Value::Result(load, _) => self.read[load],
            Value::Op(op) => {
                let mut operands: Vec<i128> = op.operands.iter().map(|o| self.value(pool, *o)).collect();
                if let [only] = operands.as_slice()
                    && op.name == "arith.index_cast"
                {
                    return *only;
                }
                if pool.commutes(&op.name) {
                    operands.sort_unstable();
                }
                hash((&op.name, operands))
            }
            other => hash(other),
        }
    }

    /// The numbers of what comes in a list are the same in each iteration.
    fn items(&mut self, nest: &Nest, pool: &Pool, items: &[Item], loops: &mut Vec<i128>) {
        for item in items {
            match item {
                Item::For(x) => self.looped(nest, pool, x, loops),
                Item::Load(x) => {
                    let cell: Point = x.subscripts.iter().map(|s| self.affine(s)).collect();
                    let array = nest.array(x.array);
                    let first = hash((format!("{:?}", array.kind), &cell));
                    let first = if is_integer(&array.element) { first % 5 } else { first };
                    let content = self.memory.get(&(x.array.0, cell.clone())).cloned();
                    let content = content.unwrap_or(Content { value: first, writer: None });
                    self.loads.insert((self.access, loops.clone()), content.writer);
                    self.read.insert(x.id, content.value);
                    self.accessed(loops, cell, content.value);
                }
                Item::Store(x) => {
                    let cell: Point = x.subscripts.iter().map(|s| self.affine(s)).collect();
                    let value = self.value(pool, x.value);
                    let writer = Some((self.access, loops.clone()));
                    self.memory.insert((x.array.0, cell.clone()), Content { value, writer });
                    self.accessed(loops, cell.clone(), value);
                    self.done(loops, cell, value);
                }
                Item::Alloc(array, _) => {
                    self.memory.retain(|(of, _), _| *of != array.0);
                    self.access += 1;
                    self.done(loops, vec![], 0);
                }
                Item::Event(x) => {
                    let operands: Vec<i128> = x.operands.iter().map(|o| self.value(pool, *o)).collect();
                    self.read.insert(x.id, hash((&x.name, &operands)));
                    self.done(loops, vec![], hash((&x.name, operands)));
                }
                Item::Trap(value, _) => self.done(loops, vec![], self.value(pool, *value)),
                Item::Bind(x) => drop(self.vars.insert(x.var, self.value(pool, x.value))),
                Item::If(_) => unreachable!("nests of these tests have no branches"),
            }
        }
    }

    fn accessed(&mut self, loops: &[i128], cell: Point, value: i128) {
        self.accesses.insert((self.access, loops.to_vec()), (cell, value));
        self.at_access.insert((self.access, loops.to_vec()), self.vars.clone());
        self.access += 1;
    }

    fn done(&mut self, loops: &[i128], cell: Point, value: i128) {
        self.statements.insert((self.statement, loops.to_vec()), (cell, value));
        self.at_statement.insert((self.statement, loops.to_vec()), self.vars.clone());
        self.statement += 1;
    }

    fn looped(&mut self, nest: &Nest, pool: &Pool, x: &For, loops: &mut Vec<i128>) {
        let from = x.lower.iter().map(|l| self.affine(l)).max().expect("a bound");
        let to = x.upper.iter().map(|u| self.affine(u)).min().expect("a bound");
        let (access, statement) = (self.access, self.statement);
        for value in from..to {
            (self.access, self.statement) = (access, statement);
            self.vars.insert(x.var, value);
            loops.push(value);
            self.items(nest, pool, &x.body, loops);
            loops.pop();
        }
        let (accesses, statements) = counted(&x.body);
        (self.access, self.statement) = (access + accesses, statement + statements);
    }

    /// The value of a polynomial, where variables have values.
    pub(super) fn at(&self, polynomial: &Polynomial, vars: &BTreeMap<Var, i128>) -> Option<i128> {
        let of = |var: Var| vars.get(&var).or_else(|| self.sizes.get(&var)).copied();
        polynomial.read()?.eval(&of)
    }

    pub(super) fn point(&self, at: &[Polynomial], vars: &BTreeMap<Var, i128>) -> Option<Point> {
        at.iter().map(|p| self.at(p, vars)).collect()
    }

    pub(super) fn instance(&self, (number, at): &Instance, vars: &BTreeMap<Var, i128>) -> Option<Executed> {
        Some((*number, self.point(at, vars)?))
    }

    pub(super) fn holds(&self, fact: &Fact, vars: &BTreeMap<Var, i128>) -> bool {
        match fact {
            Fact::Zero(p) => self.at(p, vars) == Some(0),
            Fact::NotNegative(p) => self.at(p, vars).is_some_and(|value| value >= 0),
        }
    }
}

/// How many accesses and statements there are.
fn counted(items: &[Item]) -> (u32, u32) {
    let of = |item: &Item| match item {
        Item::For(x) => counted(&x.body),
        Item::Load(_) => (1, 0),
        Item::Store(_) | Item::Alloc(..) => (1, 1),
        Item::Event(_) | Item::Trap(..) => (0, 1),
        Item::Bind(_) => (0, 0),
        Item::If(_) => unreachable!("nests of these tests have no branches"),
    };
    items.iter().map(of).fold((0, 0), |(a, b), (c, d)| (a + c, b + d))
}

/// The loops around each statement.
fn depths(items: &[Item], depth: usize, found: &mut Vec<usize>) {
    for item in items {
        match item {
            Item::For(x) => depths(&x.body, depth + 1, found),
            Item::Store(_) | Item::Alloc(..) | Item::Event(_) | Item::Trap(..) => found.push(depth),
            Item::Load(_) | Item::Bind(_) | Item::If(_) => {}
        }
    }
}
