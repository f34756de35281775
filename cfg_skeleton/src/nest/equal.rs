//! Two programs leave the same values in memory: a proof by induction on time.
//!
//! A goal says that two terms are equal where a condition holds. A load is replaced by what its writers store
//! ([`super::writers`]), operations are compared operand by operand, and initial contents by their cells. Where both
//! sides are contents that stores have written, a relation between the two stores may be used that is to be shown
//! itself, for all points of its second store. Each step goes back in time on one side and forward on none, so
//! relations may be used to show each other.
//!
//! Values that are computed in other ways are equal where an oracle says so ([`rewritten`]).
//!
//! Relations are guesses; one that is wrong fails to be shown, and then nothing is claimed.

use super::access::{Access, ExecutionPoint, Program, cell, coordinate, own_point, unknown};
use super::affine::{Affine, Var};
use super::certificate::Cells;
use super::constraint::Constraint;
use super::datapath::Asked;
use super::fit::Relations;
use super::lockstep::{is_local_copy, stored_value};
use super::predicate::{Conjunction, Decider};
use super::value::{Operation, Pool, Value, ValueId};
use super::writers::{MAX_CANDIDATES, Piece, Reading, Source, of_load, pieces};
use super::{ArrayId, ArrayKind, LoadId};
use rustc_hash::FxHashMap;
use std::collections::{BTreeSet, VecDeque};
use std::rc::Rc;

mod found;
mod rewritten;

/// Goals until the proof is given up.
const MAX_GOALS: usize = 20_000;

/// Loads that are replaced one after another until the proof is given up.
const MAX_DEPTH: usize = 60;

/// Facts that a goal may rest on until the proof is given up: of more, cases could no longer be told apart.
const MAX_FACTS: usize = 300;

/// Facts in all that are kept of what loads read until the proof is given up: each takes some hundred bytes.
const MAX_KNOWN_FACTS: usize = 1_000_000;

/// Copying this many facts costs a step of the decision procedure.
const FACTS_PER_STEP: u64 = 4;

/// Why a proof is given up.
pub(crate) const SPENT: &str = "the budget is spent";

/// Why a proof fails, with the lines of the two statements that it could not show to be equal.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Failure {
    pub(crate) lines: (u32, u32),
    pub(crate) reason: String,
}

/// The two sides of a comparison.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Side {
    Before,
    After,
}

/// Values of the loop variables around a statement.
type Point = Rc<Vec<Affine>>;

/// A value on one side.
#[derive(Clone, Debug)]
enum Term {
    /// A tree at a point of an access; of none outside of loops.
    Tree(ValueId, Option<usize>, Point),
    /// What an access has written at a point.
    Written(usize, Point),
    /// What a cell of an argument held before the call.
    Initial(ArrayId, Rc<Vec<Affine>>),
}

pub(crate) struct Proof<'a, 'o> {
    pool: &'a Pool,
    before: &'a Program,
    after: &'a Program,
    decider: &'a mut Decider,
    relations: &'a Relations,
    asked: &'a mut Asked<'o>,
    context: Conjunction,
    /// The first tree of the question that is being built.
    left_of_question: Option<rewritten::Tree>,
    /// Operations around what is compared: the oracle is asked of whole trees.
    inside: usize,
    known: FxHashMap<(bool, LoadId), Option<Rc<Vec<Piece>>>>,
    /// Facts in what is known.
    facts: usize,
    /// What the cells of arguments hold at the end.
    last: Vec<found::Last>,
    /// Relations that were used, by the numbers of the stores.
    used: BTreeSet<(u32, u32)>,
    open: VecDeque<(u32, u32)>,
    goals: usize,
    failure: Option<Failure>,
    line: (u32, u32),
}

impl<'a, 'o> Proof<'a, 'o> {
    pub(crate) fn new(
        pool: &'a Pool,
        (before, after): (&'a Program, &'a Program),
        decider: &'a mut Decider,
        relations: &'a Relations,
        asked: &'a mut Asked<'o>,
        context: Conjunction,
    ) -> Self {
        Proof {
            pool,
            before,
            after,
            decider,
            relations,
            asked,
            context,
            left_of_question: None,
            inside: 0,
            known: FxHashMap::default(),
            facts: 0,
            last: vec![],
            used: BTreeSet::new(),
            open: VecDeque::new(),
            goals: 0,
            failure: None,
            line: (0, 0),
        }
    }

    /// Shows that all cells of arguments and all results are equal, and says why.
    pub(crate) fn show(mut self) -> Result<Cells, Failure> {
        let shown = self.outputs() && self.results() && self.obligations();
        if shown {
            return Ok(self.found());
        }
        let reason = "the values could not be shown to be equal".to_string();
        Err(self.failure.unwrap_or(Failure { lines: self.line, reason }))
    }

    fn fail(&mut self, reason: impl Into<String>) -> bool {
        self.failure.get_or_insert(Failure { lines: self.line, reason: reason.into() });
        false
    }

    fn program(&self, side: Side) -> &'a Program {
        match side {
            Side::Before => self.before,
            Side::After => self.after,
        }
    }

    fn outputs(&mut self) -> bool {
        let arguments = |program: &Program| -> BTreeSet<u32> {
            let kind = |n: &usize| match program.nest.array(program.accesses[*n].array).kind {
                ArrayKind::Argument(position) => Some(position),
                _ => None,
            };
            program.stores.iter().filter_map(kind).collect()
        };
        let written: BTreeSet<u32> = arguments(self.before).union(&arguments(self.after)).copied().collect();
        written.into_iter().all(|position| self.output(position))
    }

    fn output(&mut self, position: u32) -> bool {
        let find = |program: &Program| {
            program.nest.arrays.iter().position(|a| a.kind == ArrayKind::Argument(position)).map(|n| ArrayId(n as u32))
        };
        let (Some(a), Some(b)) = (find(self.before), find(self.after)) else {
            return self.fail("an argument is missing");
        };
        let shape = &self.before.nest.array(a).shape;
        let target: Vec<Affine> = (0..shape.len() as u32).map(|n| Affine::var(unknown(2, n))).collect();
        let mut given = self.context.clone();
        for (subscript, extent) in target.iter().zip(shape) {
            given.push(Constraint::at_least(subscript, &Affine::default()));
            given.extend(extent.as_ref().map(|extent| Constraint::less(subscript, extent)));
        }
        let mut last = |program: &Program, array| {
            let reading = Reading { array, cell: &target, place: ExecutionPoint::End, most: MAX_CANDIDATES };
            pieces(program, self.decider, &reading, &given)
        };
        let (left, right) = (last(self.before, a), last(self.after, b));
        let (Some(left), Some(right)) = (left, right) else {
            return self.fail(format!("the last store to a cell of argument {position} is not known"));
        };
        self.last.push(found::Last { position, given, left: left.clone(), right: right.clone() });
        let target = Rc::new(target);
        for l in &left {
            for r in &right {
                let mut both = l.guard.clone();
                both.extend(r.guard.iter().cloned());
                if self.decider.impossible(&both) {
                    continue;
                }
                let term = |source: &Source, array| match source {
                    Source::Access(n, at) => Term::Written(*n, Rc::new(at.clone())),
                    Source::Initial => Term::Initial(array, target.clone()),
                };
                let (x, y) = (term(&l.source, a), term(&r.source, b));
                self.line = (self.line_of(&x, Side::Before), self.line_of(&y, Side::After));
                if !self.goal(x, y, &both, 0) {
                    return false;
                }
            }
        }
        true
    }

    fn line_of(&self, term: &Term, side: Side) -> u32 {
        match term {
            Term::Tree(_, Some(n), _) | Term::Written(n, _) => self.program(side).accesses[*n].line,
            _ => 0,
        }
    }

    fn results(&mut self) -> bool {
        let (left, right) = (self.before.nest.results.clone(), self.after.nest.results.clone());
        let context = self.context.clone();
        let tree = |value| Term::Tree(value, None, Rc::new(vec![]));
        left.into_iter().zip(right).all(|(a, b)| self.goal(tree(a), tree(b), &context, 0))
    }

    /// Shows the relations that were used, and those that this uses.
    fn obligations(&mut self) -> bool {
        while let Some((a, b)) = self.open.pop_front() {
            let (m, n) = (self.before.stores[a as usize], self.after.stores[b as usize]);
            let (x, y) = (&self.before.accesses[m], &self.after.accesses[n]);
            let (left, right) = (self.relations[&(a, b)].before.clone(), own_point(y));
            let mut given = self.context.clone();
            given.extend(self.after.domain(y, &right));
            given.extend(self.before.domain(x, &left));
            let only = &self.relations[&(a, b)].only;
            given.extend(only.iter().map(|expr| Constraint::equal(expr, &Affine::default())));
            given.retain(|c| !c.is_trivial());
            self.line = (x.line, y.line);
            let (Some(v), Some(w)) = (stored_value(self.before, m), stored_value(self.after, n)) else { return false };
            if !self.goal(Term::Tree(v, Some(m), Rc::new(left)), Term::Tree(w, Some(n), Rc::new(right)), &given, 0) {
                return false;
            }
        }
        true
    }

    /// Shows that two terms are equal where `given` holds.
    fn goal(&mut self, a: Term, b: Term, given: &Conjunction, depth: usize) -> bool {
        self.goals += 1;
        let is_too_large = depth > MAX_DEPTH || given.len() > MAX_FACTS;
        if self.goals > MAX_GOALS || is_too_large || self.decider.exhausted() {
            return self.fail(SPENT);
        }
        match (&a, &b) {
            (Term::Tree(v, x, p), Term::Tree(w, y, q)) if self.inside == 0 && (self.is_op(*v) || self.is_op(*w)) => {
                let (left, right) = ((*v, *x, p.clone()), (*w, *y, q.clone()));
                self.silently(|proof| proof.step(a, b, given, depth)) || self.rewritten(&left, &right, given)
            }
            _ => self.step(a, b, given, depth),
        }
    }

    fn is_op(&self, value: ValueId) -> bool {
        matches!(self.pool.get(value), Value::Op(_))
    }

    /// The same goal, operation by operation.
    fn step(&mut self, a: Term, b: Term, given: &Conjunction, depth: usize) -> bool {
        if let Some((load, point)) = self.load(&a) {
            let mut shown = |proof: &mut Self, term, given: &_| proof.goal(term, b.clone(), given, depth + 1);
            return self.read(Side::Before, (load, &point), given, &mut shown);
        }
        if let Some((load, point)) = self.load(&b) {
            let mut shown = |proof: &mut Self, term, given: &_| proof.goal(a.clone(), term, given, depth + 1);
            return self.read(Side::After, (load, &point), given, &mut shown);
        }
        match (a, b) {
            (Term::Written(m, p), Term::Written(n, q)) => self.stores((m, p), (n, q), given, depth),
            (Term::Written(m, p), b) => match self.stored(Side::Before, m, &p) {
                Some(a) => self.unfolded(a, b, given, depth),
                None => self.fail("a value is undefined before"),
            },
            (a, Term::Written(n, q)) => match self.stored(Side::After, n, &q) {
                Some(b) => self.unfolded(a, b, given, depth),
                None => self.fail("a value is undefined after"),
            },
            (Term::Initial(x, p), Term::Initial(y, q)) => self.initial((x, &p), (y, &q), given),
            (Term::Tree(v, x, p), Term::Tree(w, y, q)) => self.trees((v, x, p), (w, y, q), given, depth),
            _ => self.fail("a computed value meets initial contents"),
        }
    }

    fn load(&self, term: &Term) -> Option<(LoadId, Point)> {
        match term {
            Term::Tree(value, _, point) => match self.pool.get(*value) {
                Value::Load(load) => Some((*load, point.clone())),
                _ => None,
            },
            _ => None,
        }
    }

    /// The value that an access writes; `None` if that is undefined.
    fn stored(&self, side: Side, access: usize, point: &Point) -> Option<Term> {
        Some(Term::Tree(stored_value(self.program(side), access)?, Some(access), point.clone()))
    }

    /// Whether what a load reads at a point is shown to be right in each case.
    fn read(
        &mut self,
        side: Side,
        (load, point): (LoadId, &Point),
        given: &Conjunction,
        shown: &mut dyn FnMut(&mut Self, Term, &Conjunction) -> bool,
    ) -> bool {
        let program = self.program(side);
        let Some(&number) = program.loads.get(&load) else { return false };
        let access: &Access = &program.accesses[number];
        let key = (side == Side::Before, load);
        if !self.known.contains_key(&key) {
            let found = of_load(program, self.decider, number, &self.context);
            self.facts += found.iter().flatten().map(|piece| piece.guard.len()).sum::<usize>();
            self.known.insert(key, found.map(Rc::new));
        }
        if self.facts > MAX_KNOWN_FACTS {
            return self.fail(SPENT);
        }
        let Some(pieces) = self.known[&key].clone() else {
            return self.fail(format!("what line {} reads is not known", access.line));
        };
        let at: Vec<Affine> = point.iter().take(access.loops.len()).cloned().collect();
        let of = |var: Var| coordinate(access, &at, var);
        pieces.iter().all(|piece| {
            let guard = piece.guard.iter().map(|c| c.replace(&of)).filter(|c| !c.is_trivial() && !given.contains(c));
            let mut all = given.clone();
            all.extend(guard);
            // What many facts cost that soon contradict each other.
            self.decider.charge(all.len() as u64 / FACTS_PER_STEP);
            if self.decider.impossible(&all) {
                return true;
            }
            let term = match &piece.source {
                Source::Access(n, at) => Term::Written(*n, Rc::new(at.iter().map(|e| e.replace(&of)).collect())),
                Source::Initial => match cell(access, &at) {
                    Some(cell) => Term::Initial(access.array, Rc::new(cell)),
                    None => return false,
                },
            };
            shown(self, term, &all)
        })
    }

    fn stores(&mut self, (m, p): (usize, Point), (n, q): (usize, Point), given: &Conjunction, depth: usize) -> bool {
        if self.related((m, &p), (n, &q), given) {
            return true;
        }
        let copies = (is_local_copy(self.pool, self.before, m), is_local_copy(self.pool, self.after, n));
        let (left, right) = (self.stored(Side::Before, m, &p), self.stored(Side::After, n, &q));
        let (Some(left), Some(right)) = (left, right) else { return self.fail("a value is undefined") };
        match copies {
            (false, true) => self.unfolded(Term::Written(m, p), right, given, depth),
            (true, false) => self.unfolded(left, Term::Written(n, q), given, depth),
            _ => self.unfolded(left, right, given, depth),
        }
    }

    /// A goal about what statements store: whole trees.
    fn unfolded(&mut self, a: Term, b: Term, given: &Conjunction, depth: usize) -> bool {
        let inside = std::mem::take(&mut self.inside);
        let holds = self.goal(a, b, given, depth + 1);
        self.inside = inside;
        holds
    }

    /// Whether a relation says that these are equal; it is noted as used.
    fn related(&mut self, (m, p): (usize, &Point), (n, q): (usize, &Point), given: &Conjunction) -> bool {
        let (before, after) = (self.before, self.after);
        let number = |program: &Program, access| program.stores.iter().position(|s| *s == access).map(|n| n as u32);
        let (Some(a), Some(b)) = (number(before, m), number(after, n)) else { return false };
        let Some(relation) = self.relations.get(&(a, b)) else { return false };
        let access = &after.accesses[n];
        let of = |var: Var| coordinate(access, q, var);
        let expected: Vec<Affine> = relation.before.iter().map(|e| e.replace(&of)).collect();
        let zero = Affine::default();
        let holds = relation.only.iter().all(|e| self.decider.equal(given, &e.replace(&of), &zero))
            && p.iter().zip(&expected).all(|(x, y)| self.decider.equal(given, x, y));
        if holds && self.used.insert((a, b)) {
            self.open.push_back((a, b));
        }
        holds
    }

    fn initial(&mut self, (x, p): (ArrayId, &[Affine]), (y, q): (ArrayId, &[Affine]), given: &Conjunction) -> bool {
        let kinds = (self.before.nest.array(x).kind, self.after.nest.array(y).kind);
        let same = matches!(kinds, (ArrayKind::Argument(m), ArrayKind::Argument(n)) if m == n);
        if !same || p.len() != q.len() || !p.iter().zip(q).all(|(a, b)| self.decider.equal(given, a, b)) {
            return self.fail("initial contents of different cells meet");
        }
        true
    }

    fn trees(
        &mut self,
        (v, x, p): (ValueId, Option<usize>, Point),
        (w, y, q): (ValueId, Option<usize>, Point),
        given: &Conjunction,
        depth: usize,
    ) -> bool {
        let pool = self.pool;
        match (pool.get(v), pool.get(w)) {
            (Value::Index(a), Value::Index(b)) => {
                let a = self.at(Side::Before, a, x, &p);
                let b = self.at(Side::After, b, y, &q);
                self.decider.equal(given, &a, &b) || self.fail("two indices differ")
            }
            (Value::Op(a), Value::Op(b)) => {
                if !same_operation(a, b) {
                    return self.fail(format!("`{}` meets `{}`", a.name, b.name));
                }
                let mut operands = |right: Vec<ValueId>| {
                    self.inside += 1;
                    let same = a.operands.iter().zip(right).all(|(&l, r)| {
                        self.goal(Term::Tree(l, x, p.clone()), Term::Tree(r, y, q.clone()), given, depth + 1)
                    });
                    self.inside -= 1;
                    same
                };
                if operands(b.operands.clone()) {
                    return true;
                }
                if b.operands.len() != 2 || !pool.commutes(&a.name) {
                    return false;
                }
                operands(vec![b.operands[1], b.operands[0]])
            }
            (Value::Argument(a), Value::Argument(b)) => a == b || self.fail("two arguments differ"),
            (Value::Constant(a), Value::Constant(b)) => a == b || self.fail("two constants differ"),
            _ => self.fail("values of different kinds meet"),
        }
    }

    /// A polynomial at a point.
    fn at(&self, side: Side, affine: &Affine, access: Option<usize>, point: &Point) -> Affine {
        let Some(access) = access else { return affine.clone() };
        let access = &self.program(side).accesses[access];
        affine.replace(&|var| coordinate(access, point, var))
    }
}

/// Whether the operations are the same; the second one may promise less.
fn same_operation(a: &Operation, b: &Operation) -> bool {
    let flags = b.flags.iter().all(|flag| a.flags.contains(flag));
    a.name == b.name && a.from == b.from && a.ty == b.ty && a.operands.len() == b.operands.len() && flags
}
