//! Which statement of the first program a statement of the second one is, and at which point of it.
//!
//! The values of both are walked together; where they name cells or numbers, these must be equal. The equations are
//! solved for the coordinates of the first statement, as the last writer of a cell is sought ([`super::writers`]). A
//! solution is a guess, and [`Matcher::solve`] shows it.

use super::access::{Access, ExecutionPoint, Kind, Program, coordinate, own_point};
use super::affine::{Affine, Var};
use super::constraint::Constraint;
use super::predicate::{Conjunction, Decider};
use super::statements::{Action, Statement, Statements};
use super::value::{Pool, Value, ValueId};
use super::writers::{FEW_CANDIDATES, Reading, guesses};
use super::{ArrayId, ArrayKind, LoadId};

/// A statement of the second program as one of the first.
#[derive(Clone, Debug)]
pub(super) struct Match {
    /// The number of the first statement.
    pub(super) of: usize,
    /// Its coordinates, in terms of the second one's.
    pub(super) at: Vec<Affine>,
    /// Loads of the first program and those of the second one that they are.
    pub(super) loads: Vec<(LoadId, LoadId)>,
    /// Events whose results are used.
    pub(super) events: Vec<(LoadId, LoadId)>,
}

/// Arrays of the second program that are made by functions, with those of the first that they are.
pub(super) type Arrays = Vec<(ArrayId, ArrayId)>;

pub(super) struct Matcher<'a> {
    pub(super) pool: &'a Pool,
    pub(super) before: &'a Statements<'a>,
    pub(super) after: &'a Statements<'a>,
    pub(super) arrays: Arrays,
    equations: Vec<(Affine, Affine)>,
    loads: Vec<(LoadId, LoadId)>,
    events: Vec<(LoadId, LoadId)>,
    binds: Vec<(Var, Var)>,
    /// Pairs of values that are walked or have been.
    seen: Vec<(ValueId, ValueId)>,
}

impl<'a> Matcher<'a> {
    pub(super) fn new(pool: &'a Pool, before: &'a Statements<'a>, after: &'a Statements<'a>) -> Self {
        let (arrays, equations, loads, events, binds, seen) = (vec![], vec![], vec![], vec![], vec![], vec![]);
        Matcher { pool, before, after, arrays, equations, loads, events, binds, seen }
    }

    /// The second program's statement as one of the first.
    pub(super) fn find(&mut self, decider: &mut Decider, context: &Conjunction, number: usize) -> Option<Match> {
        let candidate = &self.after.all[number];
        (0..self.before.all.len()).find_map(|of| {
            let arrays = self.arrays.clone();
            let found =
                self.are_alike(&self.before.all[of], candidate).then(|| self.solve(decider, context, of, number));
            let found = found.flatten();
            if found.is_none() {
                self.arrays = arrays;
            }
            found
        })
    }

    /// Whether both do the same where the equations hold, which are noted.
    fn are_alike(&mut self, a: &Statement, b: &Statement) -> bool {
        for list in [&mut self.loads, &mut self.events] {
            list.clear();
        }
        self.equations.clear();
        self.binds.clear();
        self.seen.clear();
        let cells = match (&a.access.cell, &b.access.cell) {
            (Some(x), Some(y)) => self.array(a.access.array, b.access.array) && self.affines(x, y),
            (None, None) => true,
            _ => false,
        };
        let guards = |s: &Statement| s.guards.iter().map(|g| g.1).collect::<Vec<bool>>();
        cells
            && guards(a) == guards(b)
            && a.guards.iter().zip(&b.guards).all(|(x, y)| self.value(x.0, y.0))
            && self.actions(&a.action, &b.action)
            && self.bounds(a, b)
    }

    /// Bindings on which cells and bounds of the first statement's loops depend are some that the second one can see.
    fn bounds(&mut self, a: &Statement, b: &Statement) -> bool {
        let bounds = a.access.loops.iter().flat_map(|l| l.lower.iter().chain(&l.upper));
        let equated = self.equations.iter().map(|(e, _)| e);
        let needed: Vec<Var> =
            equated.chain(bounds).flat_map(Affine::vars).filter(|v| self.before.binds.contains_key(v)).collect();
        let visible: Vec<Var> = b.access.loops[b.depth()..].iter().map(|l| l.var).collect();
        needed.into_iter().all(|x| {
            visible.iter().any(|y| {
                let mark = self.mark();
                let found = self.bind(x, *y);
                if !found {
                    self.back_to(mark);
                }
                found
            })
        })
    }

    fn actions(&mut self, a: &Action, b: &Action) -> bool {
        match (a, b) {
            (Action::Store(x), Action::Store(y)) | (Action::Trap(x), Action::Trap(y)) => self.value(*x, *y),
            (Action::Alloc(x), Action::Alloc(y)) => self.array(*x, *y) && self.extents(*x, *y),
            (Action::Event(x), Action::Event(y)) => x.name == y.name && self.values(&x.operands, &y.operands),
            (Action::Return(x), Action::Return(y)) => self.values(x, y),
            _ => false,
        }
    }

    fn extents(&mut self, a: ArrayId, b: ArrayId) -> bool {
        let all = |shape: &[Option<Affine>]| shape.iter().cloned().collect::<Option<Vec<Affine>>>();
        match (all(&self.before.nest.array(a).shape), all(&self.after.nest.array(b).shape)) {
            (Some(x), Some(y)) => self.affines(&x, &y),
            _ => false,
        }
    }

    fn array(&mut self, a: ArrayId, b: ArrayId) -> bool {
        let (x, y) = (self.before.nest.array(a), self.after.nest.array(b));
        match (x.kind, y.kind) {
            (ArrayKind::Argument(m), ArrayKind::Argument(n)) => m == n,
            (m, n) if m == n && x.element == y.element && x.shape.len() == y.shape.len() => {
                let known = self.arrays.iter().find(|(l, r)| *l == a || *r == b);
                match known {
                    Some(pair) => *pair == (a, b),
                    None => {
                        self.arrays.push((a, b));
                        true
                    }
                }
            }
            _ => false,
        }
    }

    fn affines(&mut self, a: &[Affine], b: &[Affine]) -> bool {
        a.len() == b.len() && a.iter().zip(b).all(|(x, y)| self.affine(x, y))
    }

    /// Notes that both are equal, and which bindings they mention.
    fn affine(&mut self, a: &Affine, b: &Affine) -> bool {
        let bound = |affine: &Affine, of: &Statements<'_>| {
            let mut vars: Vec<Var> = affine.vars().into_iter().filter(|v| of.binds.contains_key(v)).collect();
            vars.dedup();
            vars
        };
        let (x, y) = (bound(a, self.before), bound(b, self.after));
        // Where one side hides them in a loop's variable, they are found later.
        if x.len() == y.len() && !x.into_iter().zip(y).all(|(x, y)| self.bind(x, y)) {
            return false;
        }
        self.equations.push((a.clone(), b.clone()));
        true
    }

    fn bind(&mut self, x: Var, y: Var) -> bool {
        if let Some(known) = self.binds.iter().find(|(l, r)| *l == x || *r == y) {
            return *known == (x, y);
        }
        self.binds.push((x, y));
        self.equations.push((Affine::var(x), Affine::var(y)));
        self.value(self.before.binds[&x], self.after.binds[&y])
    }

    fn values(&mut self, a: &[ValueId], b: &[ValueId]) -> bool {
        a.len() == b.len() && a.iter().zip(b).all(|(x, y)| self.value(*x, *y))
    }

    fn value(&mut self, a: ValueId, b: ValueId) -> bool {
        if self.seen.contains(&(a, b)) {
            return true;
        }
        self.seen.push((a, b));
        let pool = self.pool;
        match (pool.get(a), pool.get(b)) {
            (Value::Index(x), Value::Index(y)) => self.affine(x, y),
            (Value::Load(x), Value::Load(y)) => self.load(*x, *y),
            (Value::Result(x, m), Value::Result(y, n)) => {
                self.events.push((*x, *y));
                m == n
            }
            (Value::Op(x), Value::Op(y)) => {
                let flags = y.flags.iter().all(|flag| x.flags.contains(flag));
                if x.name != y.name || x.from != y.from || x.ty != y.ty || !flags {
                    return false;
                }
                let mark = self.mark();
                if self.values(&x.operands, &y.operands) {
                    return true;
                }
                let [l, r] = y.operands.as_slice() else { return false };
                self.back_to(mark);
                pool.commutes(&x.name) && self.values(&x.operands, &[*r, *l])
            }
            (Value::Array(x), Value::Array(y)) => {
                let (l, r) = (self.before.nest.array(*x), self.after.nest.array(*y));
                r.serves_as(l) && self.array(*x, *y)
            }
            (x, y) => x == y,
        }
    }

    fn load(&mut self, x: LoadId, y: LoadId) -> bool {
        let (Some(l), Some(r)) = (self.before.loads.get(&x), self.after.loads.get(&y)) else { return false };
        self.loads.push((x, y));
        let cells = (&l.access.cell, &r.access.cell);
        let (Some(a), Some(b)) = cells else { return false };
        self.array(l.access.array, r.access.array) && self.affines(a, b)
    }

    fn mark(&self) -> [usize; 6] {
        let (arrays, equations, loads) = (self.arrays.len(), self.equations.len(), self.loads.len());
        [arrays, equations, loads, self.events.len(), self.binds.len(), self.seen.len()]
    }

    fn back_to(&mut self, [arrays, equations, loads, events, binds, seen]: [usize; 6]) {
        self.arrays.truncate(arrays);
        self.equations.truncate(equations);
        self.loads.truncate(loads);
        self.events.truncate(events);
        self.binds.truncate(binds);
        self.seen.truncate(seen);
    }

    /// A point of the first statement at which all equations hold wherever the second one is executed.
    fn solve(&self, decider: &mut Decider, context: &Conjunction, of: usize, number: usize) -> Option<Match> {
        let (first, second) = (&self.before.all[of].access, &self.after.all[number].access);
        let program = Program::empty(self.before.nest);
        let mut given = context.clone();
        given.extend(Program::empty(self.after.nest).domain(second, &own_point(second)));
        given.retain(|c| !c.is_trivial());
        let (cell, target): (Vec<Affine>, Vec<Affine>) = self.equations.iter().cloned().unzip();
        let mut sought = Program::empty(self.before.nest);
        // Bindings that nothing mentions may have any value.
        let used = |var: Var| self.equations.iter().any(|(a, _)| a.mentions(var));
        let loops = first.loops.iter().enumerate();
        let kept: Vec<usize> =
            loops.filter(|(n, l)| *n < self.before.all[of].depth() || used(l.var)).map(|(n, _)| n).collect();
        let loops = kept.iter().map(|n| first.loops[*n].clone()).collect();
        sought.accesses.push(Access { cell: Some(cell), loops, kind: Kind::Alloc, ..first.clone() });
        let reading = Reading { array: first.array, cell: &target, place: ExecutionPoint::End, most: FEW_CANDIDATES };
        let mut points = guesses(&sought, 0, &reading).into_iter().map(|(_, candidate)| candidate.at);
        let at = points.find_map(|point| {
            let mut at = vec![Affine::default(); first.loops.len()];
            for (n, value) in kept.iter().zip(point) {
                at[*n] = value;
            }
            let of = |var: Var| coordinate(first, &at, var);
            let mut facts = program.domain(first, &at).into_iter();
            let inside = facts.all(|fact| decider.implies(&given, &fact));
            let mut equations = self.equations.iter();
            (inside && equations.all(|(a, b)| decider.equal(&given, &a.replace(&of), b))).then_some(at)
        })?;
        Some(Match { of, at, loads: self.loads.clone(), events: self.events.clone() })
    }
}

/// That two points are one, where they are of one statement.
pub(super) fn equal_points(a: &[Affine], b: &[Affine]) -> Conjunction {
    a.iter().zip(b).map(|(x, y)| Constraint::equal(x, y)).collect()
}
