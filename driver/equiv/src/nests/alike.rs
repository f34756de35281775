//! Whether a statement of the second version does what one of the first does at a point, where both read the same.

use super::claims::{Formula, Prover};
use super::statements::{Action, Position, Statement, Statements};
use super::{Checked, Rejected};
use rewright_cfg_skeleton::nest::value::Value;
use rewright_cfg_skeleton::nest::{Affine, ArrayId, ArrayKind, LoadId, Pool, ValueId, Var};
use std::collections::BTreeSet;

/// A statement of the second version as one of the first.
pub(super) struct Match {
    pub(super) of: usize,
    pub(super) at: Vec<Affine>,
}

/// What two statements have in common.
#[derive(Clone, Default)]
pub(super) struct Found {
    /// Loads of the first version, and those of the second that they are.
    pub(super) loads: Vec<(LoadId, LoadId)>,
    /// Calls whose results are used.
    pub(super) events: Vec<(LoadId, LoadId)>,
    /// Bindings of the first version that matter, and those of the second that they are.
    binds: Vec<(Var, Var)>,
}

impl Found {
    /// Whether a binding of the first version matters.
    pub(super) fn uses(&self, var: Var) -> bool {
        self.binds.iter().any(|(x, _)| *x == var)
    }
}

pub(super) struct Alike<'a> {
    pool: &'a Pool,
    prover: &'a mut Prover,
    before: &'a Statements<'a>,
    after: &'a Statements<'a>,
    context: &'a [Formula],
    /// Arrays of the functions' own.
    arrays: Vec<(ArrayId, ArrayId)>,
}

/// Two statements that are compared.
struct Pair<'a> {
    first: &'a Position,
    at: &'a [Affine],
    second: &'a Position,
    found: Found,
    /// Values that are compared or have been, with the loops around.
    seen: BTreeSet<(ValueId, ValueId, usize)>,
}

impl<'a> Alike<'a> {
    pub(super) fn new(
        (pool, prover): (&'a Pool, &'a mut Prover),
        (before, after): (&'a Statements<'a>, &'a Statements<'a>),
        context: &'a [Formula],
    ) -> Self {
        Alike { pool, prover, before, after, context, arrays: vec![] }
    }

    /// What a statement has in common with the instance that it is.
    pub(super) fn same(&mut self, said: &Match, second: &Statement) -> Checked<Found> {
        let first = &self.before.all[said.of];
        let (found, seen) = (Found::default(), BTreeSet::new());
        let mut pair = Pair { first: &first.position, at: &said.at, second: &second.position, found, seen };
        let depth = second.position.loops.len();
        if self.statements(first, second, &mut pair, depth)? {
            return Ok(pair.found);
        }
        let lines = (first.position.line, second.position.line);
        Err(Rejected::Differs(format!("lines {} and {} are not shown to do the same", lines.0, lines.1)))
    }

    fn statements(
        &mut self,
        first: &Statement,
        second: &Statement,
        pair: &mut Pair<'_>,
        depth: usize,
    ) -> Checked<bool> {
        for l in &first.position.loops {
            for var in l.lower.iter().chain(&l.upper).flat_map(Affine::vars) {
                if !self.bound(var, pair)? {
                    return Ok(false);
                }
            }
        }
        let reached = Formula::All(first.position.reached(pair.at, first.position.loops.len()));
        let arms = |s: &Statement| s.guards.iter().map(|(_, taken)| *taken).collect::<Vec<bool>>();
        let conditions = |s: &Statement| s.guards.iter().map(|(condition, _)| *condition).collect::<Vec<ValueId>>();
        let cells = match (&first.cell, &second.cell) {
            (Some(x), Some(y)) => self.affines(x, y, pair, depth)?,
            (x, y) => x.is_none() && y.is_none(),
        };
        let arrays = match (first.array, second.array) {
            (Some(x), Some(y)) => self.array(x, y),
            (x, y) => x == y,
        };
        Ok(cells
            && arrays
            && arms(first) == arms(second)
            && self.shown(&reached, pair, depth)?
            && self.values(&conditions(first), &conditions(second), pair, depth)?
            && self.actions(first, second, pair, depth)?)
    }

    fn actions(&mut self, first: &Statement, second: &Statement, pair: &mut Pair<'_>, depth: usize) -> Checked<bool> {
        match (&first.action, &second.action) {
            (Action::Store(x), Action::Store(y)) | (Action::Trap(x), Action::Trap(y)) => {
                self.value(*x, *y, pair, depth)
            }
            (Action::Event(x), Action::Event(y)) => {
                Ok(x.name == y.name && self.values(&x.operands, &y.operands, pair, depth)?)
            }
            (Action::Return(x), Action::Return(y)) => self.values(x, y, pair, depth),
            (Action::Alloc, Action::Alloc) => {
                let extents = |of: &Statements<'_>, statement: &Statement| -> Option<Vec<Affine>> {
                    of.nest.array(statement.array?).shape.iter().cloned().collect()
                };
                match (extents(self.before, first), extents(self.after, second)) {
                    (Some(x), Some(y)) => self.affines(&x, &y, pair, depth),
                    _ => Ok(false),
                }
            }
            _ => Ok(false),
        }
    }

    /// Whether a claim holds in the first loops around the second statement.
    fn shown(&mut self, claim: &Formula, pair: &Pair<'_>, depth: usize) -> Checked<bool> {
        let reached = pair.second.reached(&pair.second.own_point(), depth);
        self.prover.holds(&[self.context, &reached].concat(), claim)
    }

    fn array(&mut self, a: ArrayId, b: ArrayId) -> bool {
        let (x, y) = (self.before.nest.array(a), self.after.nest.array(b));
        if let (ArrayKind::Argument(m), ArrayKind::Argument(n)) = (x.kind, y.kind) {
            return m == n;
        }
        let known = self.arrays.iter().find(|(l, r)| *l == a || *r == b).copied();
        let pair = known.unwrap_or_else(|| {
            self.arrays.push((a, b));
            (a, b)
        });
        pair == (a, b) && x.kind == y.kind && x.element == y.element && x.shape.len() == y.shape.len()
    }

    fn affines(&mut self, a: &[Affine], b: &[Affine], pair: &mut Pair<'_>, depth: usize) -> Checked<bool> {
        for var in a.iter().flat_map(Affine::vars) {
            if !self.bound(var, pair)? {
                return Ok(false);
            }
        }
        self.shown(&Formula::all_equal(&pair.first.values_at(a, pair.at), b), pair, depth)
    }

    /// Whether a variable of the first version has its value: if it is a binding, it must be one of the second version.
    fn bound(&mut self, x: Var, pair: &mut Pair<'_>) -> Checked<bool> {
        let Some(value) = self.before.binds.get(&x).map(|bound| bound.value) else { return Ok(true) };
        if pair.found.uses(x) {
            return Ok(true);
        }
        let at = pair.first.coordinate(pair.at, x);
        let is = |y: &&Var| at.as_ref().is_some_and(|at| at.same(&Affine::var(**y)));
        let Some(y) = pair.second.binds.iter().find(is).copied() else { return Ok(false) };
        let of = &self.after.binds[&y];
        pair.found.binds.push((x, y));
        // The facts about the iteration in which it is bound suffice.
        self.value(value, of.value, pair, of.depth)
    }

    fn values(&mut self, a: &[ValueId], b: &[ValueId], pair: &mut Pair<'_>, depth: usize) -> Checked<bool> {
        if a.len() != b.len() {
            return Ok(false);
        }
        a.iter().zip(b).try_fold(true, |same, (x, y)| Ok(same && self.value(*x, *y, pair, depth)?))
    }

    fn value(&mut self, a: ValueId, b: ValueId, pair: &mut Pair<'_>, depth: usize) -> Checked<bool> {
        if !pair.seen.insert((a, b, depth)) {
            return Ok(true);
        }
        match (self.pool.get(a), self.pool.get(b)) {
            (Value::Index(x), Value::Index(y)) => {
                self.affines(std::slice::from_ref(x), std::slice::from_ref(y), pair, depth)
            }
            (Value::Load(x), Value::Load(y)) => self.load(*x, *y, pair, depth),
            (Value::Result(x, m), Value::Result(y, n)) => {
                pair.found.events.push((*x, *y));
                Ok(m == n)
            }
            (Value::Array(x), Value::Array(y)) => {
                let (l, r) = (self.before.nest.array(*x), self.after.nest.array(*y));
                Ok(r.serves_as(l) && self.array(*x, *y))
            }
            (Value::Op(x), Value::Op(y)) => {
                // The second one may promise less.
                let flags = y.flags.iter().all(|flag| x.flags.contains(flag));
                if (&x.name, &x.from, &x.ty) != (&y.name, &y.from, &y.ty) || !flags {
                    return Ok(false);
                }
                let state = (self.arrays.clone(), pair.found.clone(), pair.seen.clone());
                if self.values(&x.operands, &y.operands, pair, depth)? {
                    return Ok(true);
                }
                let ([_, _], [l, r], true) =
                    (x.operands.as_slice(), y.operands.as_slice(), self.pool.commutes(&x.name))
                else {
                    return Ok(false);
                };
                (self.arrays, pair.found, pair.seen) = state;
                self.values(&x.operands, &[*r, *l], pair, depth)
            }
            (x, y) => Ok(x == y),
        }
    }

    fn load(&mut self, x: LoadId, y: LoadId, pair: &mut Pair<'_>, depth: usize) -> Checked<bool> {
        let (Some(l), Some(r)) = (self.before.loads.get(&x), self.after.loads.get(&y)) else { return Ok(false) };
        let is_there = pair.first.is_after(&l.position) && pair.second.is_after(&r.position);
        pair.found.loads.push((x, y));
        Ok(is_there && self.array(l.array, r.array) && self.affines(&l.cell, &r.cell, pair, depth)?)
    }
}
