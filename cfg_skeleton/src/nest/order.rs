//! Two programs execute the same instances of statements, and keep the order of those that touch one cell.
//!
//! Each statement of the second program is one of the first ([`super::matching`]), and each instance of the first is
//! an instance of exactly one statement of the second. Where one instance writes what another one reads or writes, they
//! come in one order in both programs; so do calls, which may do anything to what they can see. Then each instance
//! reads what it reads in the first program, by induction over the second one's execution, and writes the same. Statements
//! that combine a cell with values by one operation ([`super::updates`]) may change their order: what else reads or writes
//! the cell comes after the same of them.
//!
//! Subscripts may be data: two that are data may be equal. Bounds may be data that nothing writes.

use super::access::{Access, ExecutionPoint, Program, cell, coordinate, own_point, unknown_point};
use super::affine::{Affine, Var};
use super::certificate::{self, Instance, polynomials};
use super::constraint::Constraint;
use super::equal::{Failure, SPENT};
use super::matching::{Match, Matcher, equal_points};
use super::predicate::{Conjunction, Decider, without};
use super::statements::{Action, Statement, Statements};
use super::updates::{Update, updates};
use super::value::{Pool, Value, ValueId};
use super::writers::{FEW_CANDIDATES, Reading, guesses};
use super::{ArrayId, ArrayKind, Line, LoadId, Nest, Undefined};
use rustc_hash::FxHashSet;

/// More pairs of accesses than this are not looked at.
const MAX_PAIRS: usize = 40_000;

/// More parts of an iteration space than this are not looked at.
const MAX_PARTS: usize = 64;

/// Two programs, and how statements of the second are statements of the first.
pub(super) struct Order<'a> {
    pool: &'a Pool,
    before: &'a Statements<'a>,
    after: &'a Statements<'a>,
    decider: &'a mut Decider,
    context: Conjunction,
    matches: Vec<Match>,
    /// Where the second program executes each statement of the first.
    found: Vec<Vec<Instance>>,
    /// Statements of both programs that combine their cells with values.
    updates: [Vec<Option<Update<'a>>>; 2],
}

/// What a statement touches at a point, in both programs.
#[derive(Clone, Debug)]
struct Touch<'a> {
    statement: usize,
    /// Of the first and of the second program; how many of their coordinates are loops.
    access: [&'a Access; 2],
    depth: [usize; 2],
    kind: Kind,
    /// It is a part of this.
    update: Option<Update<'a>>,
}

/// What is touched.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Read,
    Write,
    /// All cells of an array.
    Alloc(ArrayId),
    /// All that a call can see.
    Event,
    /// Nothing, but it may end the execution.
    Trap,
}

/// Shows that both programs do the same, and says why.
pub(super) fn show(
    pool: &Pool,
    (before, after): (&Nest, &Nest),
    decider: &mut Decider,
    context: Conjunction,
) -> Result<certificate::Order, Failure> {
    let fail = |lines, reason: &str| Failure { lines, reason: reason.to_string() };
    let stepped = || fail((0, 0), "a loop with several lower bounds has a step");
    let first = Statements::new(before).ok_or_else(stepped)?;
    let second = Statements::new(after).ok_or_else(stepped)?;
    if second.empty_branch {
        return Err(fail((0, 0), "a branch without effects may be on what is undefined"));
    }
    if let Some(line) = undefined_branch(pool, &second) {
        return Err(fail((0, line), "a branch may be on what is undefined"));
    }
    if !bounds_are_fixed(pool, &first) || !bounds_are_fixed(pool, &second) {
        return Err(fail((0, 0), "the bounds of a loop are data that may change"));
    }
    let mut matcher = Matcher::new(pool, &first, &second);
    let mut matches = vec![];
    for number in 0..second.all.len() {
        let Some(found) = matcher.find(decider, &context, number) else {
            let line = second.all[number].access.line;
            return Err(fail((0, line), "no statement of the first version does the same in another place"));
        };
        matches.push(found);
    }
    let updates = [updates(pool, &first), updates(pool, &second)];
    let mut order = Order { pool, before: &first, after: &second, decider, context, matches, found: vec![], updates };
    order.instances()?;
    order.unused_loads()?;
    order.conflicts()?;
    let matches = order.matches.iter().map(|found| (found.of as u32, polynomials(&found.at))).collect();
    Ok(certificate::Order { matches, instances: order.found })
}

/// A statement behind a branch on what may have no value: it may be executed more often than what it guards.
fn undefined_branch(pool: &Pool, statements: &Statements<'_>) -> Option<Line> {
    let undefined = Undefined::of(statements.nest, pool);
    let is_undefined = |s: &&Statement| s.guards.iter().any(|(condition, _)| undefined.may_be(pool, *condition));
    statements.all.iter().find(is_undefined).map(|statement| statement.access.line)
}

/// Whether the data in bounds of loops is the same during the whole call: contents that nothing writes.
fn bounds_are_fixed(pool: &Pool, statements: &Statements<'_>) -> bool {
    if statements.bounding.is_empty() {
        return true;
    }
    let written: FxHashSet<ArrayId> = statements
        .all
        .iter()
        .filter(|s| matches!(s.action, Action::Store(_) | Action::Alloc(_)))
        .map(|s| match s.action {
            Action::Alloc(array) => array,
            _ => s.access.array,
        })
        .collect();
    let values: Vec<ValueId> =
        statements.bounding.iter().filter_map(|var| statements.binds.get(var).copied()).collect();
    let fixed = |load: &LoadId| {
        let read = &statements.loads[load];
        let is_argument = matches!(statements.nest.array(read.access.array).kind, ArrayKind::Argument(_));
        is_argument && !written.contains(&read.access.array)
    };
    let reads = statements.reads(pool, &values);
    statements.events.is_empty() && reads.iter().all(|load| statements.loads.contains_key(load) && fixed(load))
}

impl<'a> Order<'a> {
    fn fail<T>(&self, numbers: (usize, usize), reason: &str) -> Result<T, Failure> {
        let line = |s: Option<&Statement>| s.map_or(0, |s| s.access.line);
        let lines = (line(self.before.all.get(numbers.0)), line(self.after.all.get(numbers.1)));
        let spent = if self.decider.exhausted() { SPENT } else { reason };
        Err(Failure { lines, reason: spent.to_string() })
    }

    /// Each instance of the first program is one of the second, and only one.
    fn instances(&mut self) -> Result<(), Failure> {
        for number in 0..self.before.all.len() {
            let parts: Vec<usize> = (0..self.matches.len()).filter(|n| self.matches[*n].of == number).collect();
            self.all_are_executed(number, &parts)?;
            for (position, &a) in parts.iter().enumerate() {
                for &b in &parts[position..] {
                    if !self.are_distinct(a, b) {
                        return self.fail((number, b), "an instance may be executed twice");
                    }
                }
            }
        }
        for number in 0..self.matches.len() {
            if !self.events_agree(number) {
                return self.fail((self.matches[number].of, number), "the result of another call is used");
            }
        }
        Ok(())
    }

    fn all_are_executed(&mut self, number: usize, parts: &[usize]) -> Result<(), Failure> {
        let first = &self.before.all[number].access;
        let point = own_point(first);
        let mut all = self.context.clone();
        all.extend(Program::empty(self.before.nest).domain(first, &point));
        all.retain(|c| !c.is_trivial());
        let (mut left, mut instances) = (vec![all], vec![]);
        left.retain(|part| !self.decider.impossible(part));
        for &part in parts {
            let second = &self.after.all[part];
            let mut sought = Program::empty(self.after.nest);
            let found = &self.matches[part];
            // Coordinates of bindings that are used have values; the others do not matter.
            let depth = second.depth();
            let used = |var: Var| {
                let bounds = second.access.loops.iter().flat_map(|l| l.lower.iter().chain(&l.upper));
                found.at.iter().chain(bounds).any(|e| e.mentions(var))
            };
            let loops = second.access.loops.iter().enumerate();
            let kept: Vec<usize> = loops.filter(|(n, l)| *n < depth || used(l.var)).map(|(n, _)| n).collect();
            let loops = kept.iter().map(|n| second.access.loops[*n].clone()).collect();
            sought.accesses.push(Access { cell: Some(found.at.clone()), loops, ..second.access.clone() });
            let reading =
                Reading { array: second.access.array, cell: &point, place: ExecutionPoint::End, most: FEW_CANDIDATES };
            for (_, candidate) in guesses(&sought, 0, &reading) {
                let rest: Vec<Conjunction> =
                    left.iter().flat_map(|rest| without(self.decider, rest, &candidate.guard)).collect();
                if rest != left {
                    let mut at = vec![Affine::default(); second.access.loops.len()];
                    for (n, value) in kept.iter().zip(candidate.at) {
                        at[*n] = value;
                    }
                    instances.push((part as u32, polynomials(&at)));
                }
                left = rest;
                if left.len() > MAX_PARTS || self.decider.exhausted() {
                    return self.fail((number, usize::MAX), "an instance may be missing");
                }
                if left.is_empty() {
                    break;
                }
            }
        }
        if left.is_empty() {
            self.found.push(instances);
            return Ok(());
        }
        self.fail((number, usize::MAX), "an instance may be missing")
    }

    /// No instance of the first program is executed by both, or twice by one.
    fn are_distinct(&mut self, a: usize, b: usize) -> bool {
        let (p, q) = (self.point(a, 0), self.point(b, 1));
        let mut all = self.context.clone();
        all.extend(self.domain(a, &p));
        all.extend(self.domain(b, &q));
        let (x, y) = (self.first_point(a, &p), self.first_point(b, &q));
        // At one point, bindings have one value.
        all.extend(equal_points(&x, &y));
        if a != b {
            return self.decider.impossible(&all);
        }
        let depth = self.after.all[a].depth();
        (0..depth).all(|n| {
            [Constraint::less(&p[n], &q[n]), Constraint::less(&q[n], &p[n])].into_iter().all(|differs| {
                let mut all = all.clone();
                all.push(differs);
                self.decider.impossible(&all)
            })
        })
    }

    /// The events whose results are used are one and the same.
    fn events_agree(&mut self, number: usize) -> bool {
        let found = self.matches[number].clone();
        let point = own_point(&self.after.all[number].access);
        let mut given = self.context.clone();
        given.extend(self.domain(number, &point));
        found.events.iter().all(|(x, y)| {
            let (Some(&m), Some(&n)) = (self.before.events.get(x), self.after.events.get(y)) else { return false };
            let other = &self.matches[n];
            let depth = self.before.all[m].depth();
            // The event is in loops that are around the statement, too.
            let at = |var: Var| coordinate(&self.after.all[number].access, &point, var);
            let expected: Vec<Affine> = other.at[..depth].iter().map(|e| e.replace(&at)).collect();
            other.of == m
                && found.at.len() >= depth
                && expected.iter().zip(&found.at).all(|(e, f)| self.decider.equal(&given, e, f))
        })
    }

    /// A load that no statement needs is no reason to read what may not exist.
    fn unused_loads(&mut self) -> Result<(), Failure> {
        let used: FxHashSet<_> = self.matches.iter().flat_map(|m| m.loads.iter().map(|(_, l)| *l)).collect();
        let mut unused: Vec<_> = self.after.loads.iter().filter(|(id, _)| !used.contains(id)).collect();
        unused.sort_by_key(|(id, _)| **id);
        for (_, read) in unused {
            let point = own_point(&read.access);
            let mut given = self.context.clone();
            given.extend(Program::empty(self.after.nest).domain(&read.access, &point));
            let shape = &self.after.nest.array(read.access.array).shape;
            let subscripts = read.access.cell.iter().flatten();
            let inside = subscripts.zip(shape).all(|(subscript, extent)| {
                let Some(extent) = extent else { return false };
                self.decider.implies(&given, &Constraint::at_least(subscript, &Affine::default()))
                    && self.decider.implies(&given, &Constraint::less(subscript, extent))
            });
            if !inside {
                let reason = "the access may be out of bounds".to_string();
                return Err(Failure { lines: (0, read.access.line), reason });
            }
        }
        Ok(())
    }

    fn touches(&self, number: usize) -> Vec<Touch<'a>> {
        let (before, after) = (self.before, self.after);
        let of = self.matches[number].of;
        let (x, y) = (&before.all[of], &after.all[number]);
        let update = self.updates[0][of].zip(self.updates[1][number]);
        let update = update.filter(|(x, y)| self.matches[number].loads.contains(&(x.load, y.load)));
        let of_loads = self.matches[number].loads.iter().filter_map(|(l, r)| {
            let part = update.filter(|(x, y)| (x.load, y.load) == (*l, *r)).map(|(_, update)| update);
            let (l, r) = (before.loads.get(l)?, after.loads.get(r)?);
            let access = [&l.access, &r.access];
            Some(Touch { statement: number, access, depth: [l.depth, r.depth], kind: Kind::Read, update: part })
        });
        let mut touches: Vec<Touch<'a>> = of_loads.collect();
        let kind = match &y.action {
            Action::Store(_) => Kind::Write,
            Action::Alloc(array) => Kind::Alloc(*array),
            Action::Event(_) => Kind::Event,
            Action::Trap(_) => Kind::Trap,
            Action::Return(_) => return touches,
        };
        let access = [&x.access, &y.access];
        let update = update.map(|(_, update)| update);
        touches.push(Touch { statement: number, access, depth: [x.depth(), y.depth()], kind, update });
        touches
    }

    /// Instances that touch one cell, one of them to write, keep their order.
    fn conflicts(&mut self) -> Result<(), Failure> {
        let touches: Vec<Touch<'a>> = (0..self.matches.len()).flat_map(|n| self.touches(n)).collect();
        let passed = self.passed();
        let mut pairs = 0;
        for a in &touches {
            for b in &touches {
                if !self.may_conflict(a, b, &passed) {
                    continue;
                }
                pairs += 1;
                if pairs > MAX_PAIRS {
                    let reason = "there are too many accesses to compare their order".to_string();
                    return Err(Failure { lines: (0, 0), reason });
                }
                if !self.keep_order(a, b) {
                    let lines = (a.access[1].line, b.access[1].line);
                    let order = format!("lines {} and {} of the second file may change their order", lines.0, lines.1);
                    return Err(Failure { lines: (a.access[0].line, lines.1), reason: order });
                }
            }
        }
        Ok(())
    }

    /// Arrays of the function's own that calls are given.
    fn passed(&self) -> FxHashSet<ArrayId> {
        let events = self.after.all.iter().filter_map(|s| match &s.action {
            Action::Event(event) => Some(event),
            _ => None,
        });
        let operands = events.flat_map(|event| &event.operands);
        let arrays = operands.filter_map(|o| match self.pool.get(*o) {
            Value::Array(array) => Some(*array),
            _ => None,
        });
        arrays.collect()
    }

    fn may_conflict(&self, a: &Touch<'_>, b: &Touch<'_>, passed: &FxHashSet<ArrayId>) -> bool {
        let array = |touch: &Touch<'_>| match touch.kind {
            Kind::Alloc(array) => array,
            _ => touch.access[1].array,
        };
        let seen = |touch: &Touch<'_>| match touch.kind {
            Kind::Event | Kind::Trap => true,
            _ => {
                let array = array(touch);
                matches!(self.after.nest.array(array).kind, ArrayKind::Argument(_)) || passed.contains(&array)
            }
        };
        match (a.kind, b.kind) {
            (Kind::Event, _) => seen(b),
            (_, Kind::Event) => seen(a),
            (Kind::Trap, _) | (_, Kind::Trap) | (Kind::Read, Kind::Read) => false,
            _ if a.update.zip(b.update).is_some_and(|(a, b)| a.commutes(&b)) => false,
            _ => array(a) == array(b),
        }
    }

    fn point(&self, number: usize, bank: u32) -> Vec<Affine> {
        unknown_point(&self.after.all[number].access, bank)
    }

    fn domain(&self, number: usize, point: &[Affine]) -> Conjunction {
        let mut domain = Program::empty(self.after.nest).domain(&self.after.all[number].access, point);
        domain.retain(|c| !c.is_trivial());
        domain
    }

    /// The point of the first program at which it executes what the second one does at a point.
    fn first_point(&self, number: usize, point: &[Affine]) -> Vec<Affine> {
        let access = &self.after.all[number].access;
        self.matches[number].at.iter().map(|e| e.replace(&|var| coordinate(access, point, var))).collect()
    }

    /// Where the second program executes `a` before `b`, the first one does.
    fn keep_order(&mut self, a: &Touch<'_>, b: &Touch<'_>) -> bool {
        let (p, q) = (self.point(a.statement, 0), self.point(b.statement, 1));
        let (x, y) = (self.first_point(a.statement, &p), self.first_point(b.statement, &q));
        let mut given = self.context.clone();
        given.extend(self.domain(a.statement, &p));
        given.extend(self.domain(b.statement, &q));
        let statement = |touch: &Touch<'_>| &self.after.all[touch.statement].access;
        let placed = |touch: &Touch<'_>, point: &[Affine]| {
            let access = Access { loops: statement(touch).loops.clone(), ..touch.access[1].clone() };
            cell(&access, point)
        };
        if let (Some(left), Some(right)) = (placed(a, &p), placed(b, &q)) {
            given.extend(equal_points(&left, &right));
        }
        let program = Program::empty(self.after.nest);
        let now = program.before(a.access[1], &p[..a.depth[1]], ExecutionPoint::At(b.access[1], &q[..b.depth[1]]));
        let once = program.before(b.access[0], &y[..b.depth[0]], ExecutionPoint::At(a.access[0], &x[..a.depth[0]]));
        now.iter().all(|now| {
            once.iter().all(|once| {
                let mut all: Conjunction = given.iter().chain(now).chain(once).cloned().collect();
                all.extend(self.equal_bindings((a.statement, &p), (b.statement, &q), now));
                self.decider.impossible(&all)
            })
        })
    }

    /// Bindings have one value in one iteration of the loops around them; `case` says which coordinates are equal.
    fn equal_bindings(&self, a: (usize, &[Affine]), b: (usize, &[Affine]), case: &Conjunction) -> Conjunction {
        let [left, right] = [a.0, b.0].map(|number| &self.after.all[number].access.loops);
        let same = |n: usize| left[n].var == right[n].var && case.contains(&Constraint::equal(&a.1[n], &b.1[n]));
        let shared = (0..left.len().min(right.len())).take_while(|n| same(*n)).count();
        let bindings = left.iter().enumerate().filter_map(|(m, l)| {
            let depth = self.after.bind_depths.get(&l.var)?;
            let n = right.iter().position(|r| r.var == l.var)?;
            (*depth <= shared).then(|| Constraint::equal(&a.1[m], &b.1[n]))
        });
        bindings.collect()
    }
}
