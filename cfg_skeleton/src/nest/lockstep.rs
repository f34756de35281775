//! Which stores of two programs compute the same values: seen on runs, as a guess for the proof.
//!
//! Both programs are run on the same input, and every store is recorded with the origins of what it reads. From the
//! final contents of each cell the two computations are followed back together: where both read what a store has
//! written, these two stores belong together at these points. [`super::fit`] makes polynomials of the points.

use super::access::{Kind, Program};
use super::affine::Var;
use super::input::{Input, mix};
use super::run::{End, FinalState, Origins, Read, StoreInstance, run};
use super::value::{Pool, Value, ValueId};
use super::{ArrayKind, Nest};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;

/// Points of two stores that belong together, and the sizes they were seen with.
#[derive(Clone, Debug)]
pub(crate) struct Point {
    pub(crate) before: Vec<i64>,
    pub(crate) after: Vec<i64>,
    pub(crate) sizes: usize,
}

/// Points by the numbers of the two stores.
pub(crate) type Points = BTreeMap<(u32, u32), Vec<Point>>;

/// Points per pair of stores and run.
const MAX_POINTS: usize = 300;

/// Runs both programs on one input and adds the points that belong together.
pub(crate) fn observe(
    pool: &Pool,
    before: &Program,
    after: &Program,
    (sizes, number): (&FxHashMap<Var, i128>, usize),
    points: &mut Points,
) {
    let sizes = sizes.clone();
    let input = Input { sizes, seed: 7, indices: vec![], fuel: 200_000, in_bounds: true, backwards: false, one: None };
    let left = run(&before.nest, pool, &input, None, true);
    let right = run(&after.nest, pool, &input, None, true);
    // The last writes of a run that was cut short say nothing.
    if !matches!((&left.end, &right.end), (End::Returned(_), End::Returned(_))) {
        return;
    }
    let (seen, compared, digests) = (FxHashSet::default(), FxHashSet::default(), FxHashMap::default());
    let mut walk = Walk { pool, before, after, left: &left, right: &right, seen, compared, digests, rest: vec![] };
    walk.start();
    let mut counts: FxHashMap<(u32, u32), usize> = FxHashMap::default();
    let mut seen: Vec<(StoreInstance, StoreInstance)> = walk.finish();
    // Spread over the run, whatever order they were found in.
    seen.sort_by_key(|&(a, b)| (mix(u64::from(a) << 32 | u64::from(b)), a, b));
    for (a, b) in seen {
        let (a, b) = (&left.record[a as usize], &right.record[b as usize]);
        let count = counts.entry((a.store, b.store)).or_insert(0);
        *count += 1;
        if *count <= MAX_POINTS {
            let point = Point { before: a.at.clone(), after: b.at.clone(), sizes: number };
            points.entry((a.store, b.store)).or_default().push(point);
        }
    }
}

/// A value in one of the runs: a tree at a store, or what a cell held.
#[derive(Clone)]
enum Term {
    Tree(ValueId, Option<StoreInstance>),
    Contents(Origins),
}

/// A value at a store.
type Tree = (ValueId, Option<StoreInstance>);

struct Walk<'a> {
    pool: &'a Pool,
    before: &'a Program,
    after: &'a Program,
    left: &'a FinalState,
    right: &'a FinalState,
    seen: FxHashSet<(StoreInstance, StoreInstance)>,
    compared: FxHashSet<(Tree, Tree)>,
    digests: FxHashMap<(Tree, bool), u64>,
    rest: Vec<(Term, Term)>,
}

impl Walk<'_> {
    fn start(&mut self) {
        let position = |nest: &Nest, kind| nest.arrays.iter().position(|a| a.kind == kind);
        for (n, array) in self.before.nest.arrays.iter().enumerate() {
            if !matches!(array.kind, ArrayKind::Argument(_)) {
                continue;
            }
            let Some(m) = position(&self.after.nest, array.kind) else { continue };
            let mut cells: Vec<_> = self.right.memory[m].iter().collect();
            cells.sort_by_key(|(cell, _)| *cell);
            for (cell, content) in cells {
                if let Some(other) = self.left.memory[n].get(cell) {
                    let (a, b) = (Term::Contents(other.writer.clone()), Term::Contents(content.writer.clone()));
                    self.rest.push((a, b));
                }
            }
        }
        for (&a, &b) in self.before.nest.results.iter().zip(&self.after.nest.results) {
            self.rest.push((Term::Tree(a, None), Term::Tree(b, None)));
        }
    }

    fn finish(mut self) -> Vec<(StoreInstance, StoreInstance)> {
        while let Some((a, b)) = self.rest.pop() {
            self.step(a, b);
        }
        self.seen.into_iter().collect()
    }

    fn step(&mut self, a: Term, b: Term) {
        match (self.resolved(a, true), self.resolved(b, false)) {
            (Term::Contents(Origins::Store(i)), Term::Contents(Origins::Store(j))) => self.stores(i, j),
            (Term::Contents(Origins::Store(i)), b) => {
                let value = self.written(i, true);
                self.rest.push((value, b));
            }
            (a, Term::Contents(Origins::Store(j))) => {
                let value = self.written(j, false);
                self.rest.push((a, value));
            }
            (Term::Tree(x, i), Term::Tree(y, j)) => self.operations((x, i), (y, j)),
            _ => {}
        }
    }

    /// A load becomes the contents that it reads.
    fn resolved(&self, term: Term, left: bool) -> Term {
        let Term::Tree(value, at) = &term else { return term };
        let Value::Load(load) = self.pool.get(*value) else { return term };
        let read = self.reads(*at, left).iter().find(|(id, ..)| id == load);
        Term::Contents(read.map_or(Origins::Undefined, |(_, origin, _)| origin.clone()))
    }

    fn reads(&self, at: Option<StoreInstance>, left: bool) -> &[Read] {
        let outcome = if left { self.left } else { self.right };
        at.map_or(&outcome.results, |at| &outcome.record[at as usize].loads)
    }

    /// The value tree of a store, at the store.
    fn written(&self, at: StoreInstance, left: bool) -> Term {
        let (program, outcome) = if left { (self.before, self.left) } else { (self.after, self.right) };
        let store = outcome.record[at as usize].store;
        Term::Tree(stored_value(program, program.stores[store as usize]).unwrap_or(ValueId(0)), Some(at))
    }

    fn stores(&mut self, i: StoreInstance, j: StoreInstance) {
        let (a, b) = (&self.left.record[i as usize], &self.right.record[j as usize]);
        if a.value != b.value || !self.seen.insert((i, j)) {
            return;
        }
        let copies = |program: &Program, store: u32| is_local_copy(self.pool, program, program.stores[store as usize]);
        let (x, y) = (copies(self.before, a.store), copies(self.after, b.store));
        let keep = |i| Term::Contents(Origins::Store(i));
        let (left, right) = (self.written(i, true), self.written(j, false));
        self.rest.push(match (x, y) {
            (false, true) => (keep(i), right),
            (true, false) => (left, keep(j)),
            _ => (left, right),
        });
    }

    fn operations(&mut self, (x, i): Tree, (y, j): Tree) {
        if !self.compared.insert(((x, i), (y, j))) {
            return;
        }
        let (Value::Op(a), Value::Op(b)) = (self.pool.get(x), self.pool.get(y)) else { return };
        if a.name != b.name || a.operands.len() != b.operands.len() {
            return;
        }
        let mut right = b.operands.clone();
        if right.len() == 2 && self.pool.commutes(&a.name) {
            let straight = self.digest(a.operands[0], i, true) == self.digest(right[0], j, false)
                && self.digest(a.operands[1], i, true) == self.digest(right[1], j, false);
            if !straight {
                right.swap(0, 1);
            }
        }
        let pairs = a.operands.iter().zip(right);
        self.rest.extend(pairs.map(|(&l, r)| (Term::Tree(l, i), Term::Tree(r, j))));
    }

    /// A number that differs for different values, mostly.
    fn digest(&mut self, value: ValueId, at: Option<StoreInstance>, left: bool) -> u64 {
        if let Some(known) = self.digests.get(&((value, at), left)) {
            return *known;
        }
        let pool = self.pool;
        let digest = match pool.get(value) {
            Value::Load(load) => {
                let read = self.reads(at, left).iter().find(|(id, ..)| id == load);
                let bits = read.and_then(|(.., bits)| *bits);
                mix(bits.map_or(1, |b| b as u64 ^ (b >> 64) as u64))
            }
            Value::Op(op) => op.operands.iter().fold(op.name.len() as u64, |hash, &operand| {
                let next = self.digest(operand, at, left);
                // Operands of a sum may change places.
                if self.pool.commutes(&op.name) { hash.wrapping_add(mix(next)) } else { mix(hash ^ next) }
            }),
            Value::Index(_) => 3,
            _ => mix(u64::from(value.0)),
        };
        self.digests.insert(((value, at), left), digest);
        digest
    }
}

/// What a store writes.
pub(crate) fn stored_value(program: &Program, access: usize) -> Option<ValueId> {
    match program.accesses[access].kind {
        Kind::Store(value) => Some(value),
        _ => None,
    }
}

/// Whether a store only keeps what it has read, in an array of the function's own.
pub(crate) fn is_local_copy(pool: &Pool, program: &Program, access: usize) -> bool {
    let local = !matches!(program.nest.array(program.accesses[access].array).kind, ArrayKind::Argument(_));
    local && stored_value(program, access).is_some_and(|value| matches!(pool.get(value), Value::Load(_)))
}
