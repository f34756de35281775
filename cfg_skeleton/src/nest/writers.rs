//! Which store writes what a load reads: candidates, and a decision between them that is proved.
//!
//! The last writer of a cell before a place is found as its largest point in the order of execution: loop by loop, a
//! variable that the cell's subscripts determine has that value, and any other one is the largest that bounds allow.
//! Where several bounds may be the smallest, each gives a candidate. Candidates are guesses. A [`Piece`] is claimed
//! only after it is shown that nothing writes the cell between the candidate and the place, and "nothing has written
//! it" only after it is shown of every store.

use super::access::{Access, ExecutionPoint, Kind, Program, cell, own_point, unknown, unknown_point};
use super::affine::{Affine, Var};
use super::constraint::Constraint;
use super::predicate::{Conjunction, Decider, without};
use super::{ArrayId, FIRST_LOOP_VAR};
use std::cell::RefCell;

/// Where a cell's contents come from.
#[derive(Clone, Debug)]
pub(crate) enum Source {
    /// An access (a store or an allocation) at a point.
    Access(usize, Vec<Affine>),
    /// From before the call.
    Initial,
}

/// Where contents come from while a condition holds.
#[derive(Clone, Debug)]
pub(crate) struct Piece {
    pub(crate) guard: Conjunction,
    pub(crate) source: Source,
}

/// A cell that is read at a place.
pub(crate) struct Reading<'a> {
    pub(crate) array: ArrayId,
    pub(crate) cell: &'a [Affine],
    pub(crate) place: ExecutionPoint<'a>,
    /// More candidates than this for one writer are not made.
    pub(crate) most: usize,
}

/// More candidates than this for the last writer of a cell are not made.
pub(crate) const MAX_CANDIDATES: usize = 48;

/// More candidates than this for the one point that has a cell are not made.
pub(crate) const FEW_CANDIDATES: usize = 8;

/// More cases than this are not looked at.
const MAX_CASES: usize = 400;

/// A guess: an access at a point, and when that point exists and comes before the reading.
pub(crate) struct Candidate {
    access: usize,
    pub(crate) at: Vec<Affine>,
    pub(crate) guard: Conjunction,
}

/// All places from which the contents may come, each with its condition; they exclude each other.
///
/// `None` if no candidates were found that cover all cases.
pub(crate) fn pieces(
    program: &Program,
    decider: &mut Decider,
    reading: &Reading<'_>,
    given: &Conjunction,
) -> Option<Vec<Piece>> {
    let writers: Vec<usize> = (0..program.accesses.len())
        .filter(|&n| program.accesses[n].array == reading.array && !matches!(program.accesses[n].kind, Kind::Load(_)))
        .collect();
    let mut candidates = vec![];
    for &writer in &writers {
        candidates.extend(guesses(program, writer, reading));
    }
    // A write that shares more loops with the reading is mostly later, and so is one that comes later in the text.
    candidates.sort_by_key(|(level, candidate)| std::cmp::Reverse((*level, candidate.access)));
    let candidates: Vec<Candidate> = candidates.into_iter().map(|(_, candidate)| candidate).collect();
    let mut search = Search { program, decider, reading, writers, candidates, pieces: vec![], cases: 0 };
    let mut used = vec![false; search.candidates.len()];
    search.decide(given.clone(), 0, &mut used)?;
    Some(search.pieces)
}

struct Search<'a, 'b> {
    program: &'a Program,
    decider: &'b mut Decider,
    reading: &'a Reading<'a>,
    writers: Vec<usize>,
    candidates: Vec<Candidate>,
    pieces: Vec<Piece>,
    cases: usize,
}

impl Search<'_, '_> {
    /// Decides where `given` holds; `possible` candidates are known to exist there.
    fn decide(&mut self, given: Conjunction, from: usize, possible: &mut Vec<bool>) -> Option<()> {
        self.cases += 1;
        if self.cases > MAX_CASES || self.decider.exhausted() {
            return None;
        }
        if let Some(n) = (0..from).rev().find(|&n| possible[n] && self.is_last(n, &given)) {
            self.claim(n, &given);
            return Some(());
        }
        for next in from..self.candidates.len() {
            let mut inside = given.clone();
            inside.extend(self.candidates[next].guard.iter().filter(|c| !c.is_trivial()).cloned());
            if self.decider.impossible(&inside) {
                continue;
            }
            if self.is_last(next, &inside) {
                self.claim(next, &inside);
            } else {
                possible[next] = true;
                self.decide(inside, next + 1, possible)?;
                possible[next] = false;
            }
            let guard = self.candidates[next].guard.clone();
            for part in without(self.decider, &given, &guard) {
                self.decide(part, next + 1, possible)?;
            }
            return Some(());
        }
        if !self.is_initial(&given) {
            return None;
        }
        self.pieces.push(Piece { guard: given, source: Source::Initial });
        Some(())
    }

    fn claim(&mut self, n: usize, given: &Conjunction) {
        let Candidate { access, at, .. } = &self.candidates[n];
        self.pieces.push(Piece { guard: given.clone(), source: Source::Access(*access, at.clone()) });
    }

    /// Nothing writes the cell between the candidate and the reading.
    fn is_last(&mut self, n: usize, given: &Conjunction) -> bool {
        let candidate = &self.candidates[n];
        let (access, at) = (&self.program.accesses[candidate.access], &candidate.at);
        self.writers.iter().all(|&other| {
            let between = &self.program.accesses[other];
            let point = unknown_point(between, 1);
            let after = self.program.before(access, at, ExecutionPoint::At(between, &point));
            let no_write = |case: &Conjunction| {
                never_writes(self.program, self.decider, self.reading, given, (between, &point), case)
            };
            after.iter().all(no_write)
        })
    }

    /// Nothing writes the cell before the reading.
    fn is_initial(&mut self, given: &Conjunction) -> bool {
        self.writers.iter().all(|&writer| {
            let access = &self.program.accesses[writer];
            let point = unknown_point(access, 1);
            never_writes(self.program, self.decider, self.reading, given, (access, &point), &vec![])
        })
    }
}

/// The access does not write the cell before the reading where both conditions hold.
fn never_writes(
    program: &Program,
    decider: &mut Decider,
    reading: &Reading<'_>,
    given: &Conjunction,
    (access, point): (&Access, &[Affine]),
    case: &Conjunction,
) -> bool {
    let mut all = given.clone();
    all.extend(program.domain(access, point));
    all.extend(case.iter().cloned());
    if let Some(written) = cell(access, point) {
        all.extend(written.iter().zip(reading.cell).map(|(a, b)| Constraint::equal(a, b)));
    }
    program.before(access, point, reading.place).into_iter().all(|before| {
        let length = all.len();
        all.extend(before);
        let impossible = decider.impossible(&all);
        all.truncate(length);
        impossible
    })
}

/// Points at which the writer may write the cell last, with the number of loops that they share with the reading.
pub(crate) fn guesses(program: &Program, writer: usize, reading: &Reading<'_>) -> Vec<(usize, Candidate)> {
    let access = &program.accesses[writer];
    let point = unknown_point(access, 0);
    let mut base = program.domain(access, &point);
    if let Some(written) = cell(access, &point) {
        base.extend(written.iter().zip(reading.cell).map(|(a, b)| Constraint::equal(a, b)));
    }
    let mut result: Vec<(usize, Candidate)> = vec![];
    let shared = match reading.place {
        ExecutionPoint::At(other, _) => Program::shared(access, other),
        ExecutionPoint::End => 0,
    };
    for (level, order) in program.before(access, &point, reading.place).into_iter().enumerate() {
        let mut system = base.clone();
        system.extend(order);
        let mut points = vec![];
        let size = (access.loops.len(), reading.most);
        maximal_points(&without_floors(&system), &mut vec![], size, &mut points);
        for at in points {
            let mut guard = program.domain(access, &at);
            if let Some(written) = cell(access, &at) {
                guard.extend(written.iter().zip(reading.cell).map(|(a, b)| Constraint::equal(a, b)));
            }
            // The order is part of the guard; the cases exclude each other.
            let of = |var: Var| (0..at.len()).find(|&n| unknown(0, n as u32) == var).map(|n| at[n].clone());
            let order = &system[base.len()..];
            guard.extend(order.iter().map(|c| c.replace(&of)));
            guard.retain(|c| !c.is_trivial());
            if !result.iter().any(|(_, c)| c.at == at && c.guard == guard) {
                result.push((level.min(shared), Candidate { access: writer, at, guard }));
            }
        }
    }
    result
}

/// Constraints in which floors of coordinates are coordinates of their own, after all others.
fn without_floors(system: &Conjunction) -> Conjunction {
    let floors: RefCell<Vec<(Affine, i128)>> = RefCell::default();
    let is_coordinate = |var: &Var| (0..FIRST_FLOOR).any(|n| unknown(0, n) == *var);
    let quotient = |inner: Affine, divisor: i128| {
        if !inner.vars().iter().any(is_coordinate) {
            return inner.floor_div(divisor);
        }
        let mut floors = floors.borrow_mut();
        let known = floors.iter().position(|(e, d)| *d == divisor && e.same(&inner));
        let number = known.unwrap_or_else(|| {
            floors.push((inner, divisor));
            floors.len() - 1
        });
        Affine::var(unknown(0, FIRST_FLOOR + number as u32))
    };
    let rebuilt = system.iter().map(|c| Constraint { expr: c.expr.rebuild(&Affine::var, &quotient), ..c.clone() });
    let mut result: Conjunction = rebuilt.collect();
    for (number, (inner, divisor)) in floors.into_inner().into_iter().enumerate() {
        let multiple = Affine::var(unknown(0, FIRST_FLOOR + number as u32)).times(divisor);
        result.push(Constraint::at_least(&inner, &multiple));
        result.push(Constraint::less(&inner, &multiple.offset(divisor)));
    }
    result
}

/// Coordinates from here on are floors.
const FIRST_FLOOR: u32 = 64;

/// More floors than this are not looked at.
const MAX_FLOORS: u32 = 16;

/// Extends `known` coordinates to points that are largest in lexicographic order, as far as bounds tell.
fn maximal_points(
    system: &Conjunction,
    known: &mut Vec<Affine>,
    (length, most): (usize, usize),
    points: &mut Vec<Vec<Affine>>,
) {
    if points.len() >= most {
        return;
    }
    let next = known.len();
    if next == length {
        points.push(known.clone());
        return;
    }
    let of = |var: Var| (0..next).find(|&n| unknown(0, n as u32) == var).map(|n| known[n].clone());
    let system: Conjunction = system.iter().map(|c| c.replace(&of)).filter(|c| !c.is_trivial()).collect();
    for value in largest(&system, next, length) {
        known.push(value);
        maximal_points(&system, known, (length, most), points);
        known.pop();
    }
}

/// Values that may be the largest of coordinate `next`, where earlier ones are known.
fn largest(system: &Conjunction, next: usize, length: usize) -> Vec<Affine> {
    let var = unknown(0, next as u32);
    let floors = (0..MAX_FLOORS).map(|n| unknown(0, FIRST_FLOOR + n));
    let later: Vec<Var> = (next + 1..length).map(|n| unknown(0, n as u32)).chain(floors).collect();
    let open = |c: &Constraint| later.iter().any(|v| c.expr.mentions(*v));
    for constraint in system.iter().filter(|c| c.equality && !open(c)) {
        if let Some(value) = solved(&constraint.expr, var) {
            return vec![value];
        }
    }
    let mut rows: Vec<Affine> = vec![];
    for constraint in system {
        rows.push(constraint.expr.clone());
        if constraint.equality {
            rows.push(constraint.expr.times(-1));
        }
    }
    for &v in later.iter().rev() {
        rows = projected(&rows, v);
    }
    let mut values = vec![];
    for row in &rows {
        let coefficient = row.coefficient(var);
        let rest = row.plus(-coefficient, &Affine::var(var));
        if coefficient < 0 && !rest.mentions(var) {
            let value = rest.floor_div(-coefficient);
            if !values.contains(&value) {
                values.push(value);
            }
        }
    }
    // Values that the cell gives come before those that sizes allow.
    values.sort_by_key(|value| value.vars().iter().filter(|var| var.0 < FIRST_LOOP_VAR).count());
    values
}

/// The value of the variable where `expr` is 0, rounded down; `None` if the variable is not linear in it.
fn solved(expr: &Affine, var: Var) -> Option<Affine> {
    let coefficient = expr.coefficient(var);
    let rest = expr.plus(-coefficient, &Affine::var(var));
    if coefficient == 0 || rest.mentions(var) {
        return None;
    }
    Some(rest.times(-coefficient.signum()).floor_div(coefficient.abs()))
}

/// What follows from the rows (each at least 0) without the variable, over the rationals.
fn projected(rows: &[Affine], var: Var) -> Vec<Affine> {
    let linear = |row: &&Affine| !row.plus(-row.coefficient(var), &Affine::var(var)).mentions(var);
    let rows: Vec<&Affine> = rows.iter().filter(linear).collect();
    let mut result: Vec<Affine> = rows.iter().filter(|r| r.coefficient(var) == 0).map(|r| (*r).clone()).collect();
    for low in rows.iter().filter(|r| r.coefficient(var) > 0) {
        for high in rows.iter().filter(|r| r.coefficient(var) < 0) {
            let (a, b) = (low.coefficient(var), -high.coefficient(var));
            let row = low.times(b).plus(a, high);
            if row.as_constant().is_none() && !result.contains(&row) && result.len() < 200 {
                result.push(row);
            }
        }
    }
    result
}

/// Where the contents come from that a load reads at its own point.
pub(crate) fn of_load(
    program: &Program,
    decider: &mut Decider,
    load: usize,
    context: &Conjunction,
) -> Option<Vec<Piece>> {
    let access = &program.accesses[load];
    let at = own_point(access);
    let subscripts = cell(access, &at)?;
    let mut given = context.clone();
    given.extend(program.domain(access, &at));
    let reading = Reading {
        array: access.array,
        cell: &subscripts,
        place: ExecutionPoint::At(access, &at),
        most: MAX_CANDIDATES,
    };
    pieces(program, decider, &reading, &given)
}
