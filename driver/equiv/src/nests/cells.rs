//! Whether two nests leave the same in each cell, for the reason that a certificate gives.
//!
//! Values are followed back in both versions: a load becomes what its writers store ([`flow`]), operations
//! are compared operand by operand, and initial contents by their cells. Where contents that two stores have written
//! meet, a relation may say that they are equal; what a relation says is shown in the same way, for all points of its
//! second store. Contents that stores have written are older than the stores that read them, in both versions: relations
//! may be used to show each other, by induction on time.

mod bounds;
mod values;

use super::accesses::{Access, Accesses, Does};
use super::claims::{Formula, Prover};
use super::flow::{self, Piece, Reading, point, read};
use super::{Checked, Rejected};
use rewright_cfg_skeleton::nest::certificate::{self, cell_var};
use rewright_cfg_skeleton::nest::datapath::ValueOracle;
use rewright_cfg_skeleton::nest::value::Value;
use rewright_cfg_skeleton::nest::{Affine, ArrayId, ArrayKind, LoadId, Pool, ValueId, Var};
use std::collections::{BTreeMap, BTreeSet};

/// What a load reads, with what holds in each case.
type Cases = Vec<(Term, Vec<Formula>)>;

/// Goals until a certificate is given up.
const MAX_GOALS: usize = 5_000;

/// Loads that are followed one after another.
const MAX_DEPTH: usize = 60;

/// Values that are asked of, to show that loads of other such values read the same.
const MAX_ASKED: usize = 3;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Side {
    Before,
    After,
}

/// A value on one side.
#[derive(Clone, Debug)]
enum Term {
    /// A value at a point of an access, or at the end.
    Tree(ValueId, Option<usize>, Vec<Affine>),
    /// What an access has written at a point.
    Written(usize, Vec<Affine>),
    /// What a cell of an argument held before the call.
    Initial(ArrayId, Vec<Affine>),
}

/// Two stores that write the same.
struct Relation {
    at: Vec<Affine>,
    only: Vec<Formula>,
}

/// What is checked of two nests.
pub(super) struct Cells<'a, 'n> {
    pub(super) pool: &'a Pool,
    pub(super) prover: &'a mut Prover,
    pub(super) oracle: &'a mut dyn ValueOracle,
    pub(super) before: &'a Accesses<'n>,
    pub(super) after: &'a Accesses<'n>,
    /// What holds of sizes.
    pub(super) context: Vec<Formula>,
}

/// Shows that both leave the same in each cell and give the same results, and that the second one is in bounds.
pub(super) fn same<'a>(cells: Cells<'a, '_>, said: &'a certificate::Cells) -> Checked<()> {
    let mut walk = Walk {
        sizes: cells.before.nest.sizes.iter().map(|size| size.var).collect(),
        cells,
        said,
        flows: BTreeMap::new(),
        relations: BTreeMap::new(),
        used: BTreeSet::new(),
        open: vec![],
        goals: 0,
        inside: 0,
        asking: 0,
    };
    walk.relations()?;
    walk.loads()?;
    walk.in_bounds()?;
    walk.outputs()?;
    walk.results()?;
    walk.unused();
    while let Some(pair) = walk.open.pop() {
        walk.relation(pair)?;
    }
    Ok(())
}

struct Walk<'a, 'n> {
    cells: Cells<'a, 'n>,
    said: &'a certificate::Cells,
    sizes: Vec<Var>,
    /// What loads read, where that is shown.
    flows: BTreeMap<(Side, LoadId), Vec<Piece>>,
    relations: BTreeMap<(usize, usize), Relation>,
    /// Relations that are or will be shown.
    used: BTreeSet<(usize, usize)>,
    open: Vec<(usize, usize)>,
    goals: usize,
    /// How many operations are around what is compared.
    inside: usize,
    /// How many values are being asked of.
    asking: usize,
}

fn differs(what: impl Into<String>) -> Rejected {
    Rejected::Differs(what.into())
}

impl<'a, 'n> Walk<'a, 'n> {
    fn program(&self, side: Side) -> &'a Accesses<'n> {
        match side {
            Side::Before => self.cells.before,
            Side::After => self.cells.after,
        }
    }

    /// The sizes, and the variables of the access's loops.
    fn vars(&self, access: &Access) -> Vec<Var> {
        self.sizes.iter().copied().chain(access.loops.iter().map(|l| l.var)).collect()
    }

    /// Reads what is said of stores.
    fn relations(&mut self) -> Checked<()> {
        for said in &self.said.relations {
            let vars = self.vars(self.cells.after.get(said.after)?);
            let (before, at) = point(&(said.before, said.at.clone()), self.cells.before, &vars)?;
            let zero = |p| Ok(Formula::equal(&read(p, &vars)?, &Affine::default()));
            let only = said.only.iter().map(zero).collect::<Checked<_>>()?;
            self.relations.insert((before, said.after as usize), Relation { at, only });
        }
        Ok(())
    }

    /// All cells of arguments that a version writes.
    fn outputs(&mut self) -> Checked<()> {
        let written = |program: &Accesses<'_>| -> Vec<u32> {
            let stores = program.all.iter().filter(|a| matches!(a.does, Does::Store(_)));
            let kind = |access: &Access| match program.nest.array(access.array).kind {
                ArrayKind::Argument(position) => Some(position),
                _ => None,
            };
            stores.filter_map(kind).collect()
        };
        let all: BTreeSet<u32> = [written(self.cells.before), written(self.cells.after)].concat().into_iter().collect();
        all.into_iter().try_for_each(|position| self.output(position))
    }

    /// Claims about loads are shown, needed or not: a certificate that says anything wrong is rejected.
    fn loads(&mut self) -> Checked<()> {
        for (side, flow) in [(Side::Before, &self.said.before), (Side::After, &self.said.after)] {
            for (number, _) in &flow.loads {
                let access = self.program(side).get(*number)?;
                let Does::Load(load) = access.does else {
                    return Err(Rejected::Step(format!("access {number} is no load")));
                };
                self.pieces(side, load, access)?;
            }
        }
        Ok(())
    }

    /// Relations that were not needed are to be shown, too.
    fn unused(&mut self) {
        let unused: Vec<_> = self.relations.keys().filter(|pair| !self.used.contains(*pair)).copied().collect();
        self.used.extend(&unused);
        self.open.extend(unused);
    }

    fn output(&mut self, position: u32) -> Checked<()> {
        let arrays = (self.cells.before.argument(position), self.cells.after.argument(position));
        let (Some(left), Some(right)) = arrays else { return Err(differs("an argument is missing")) };
        let shape = &self.cells.before.nest.array(left).shape;
        let subscripts: Vec<Var> = (0..shape.len() as u32).map(cell_var).collect();
        let cell: Vec<Affine> = subscripts.iter().copied().map(Affine::var).collect();
        let vars = [self.sizes.clone(), subscripts].concat();
        let mut given = self.cells.context.clone();
        for (subscript, extent) in cell.iter().zip(shape) {
            given.push(Formula::at_least(subscript, &Affine::default()));
            given.extend(extent.as_ref().map(|extent| Formula::less(subscript, extent)));
        }
        let mut last = |side, array| {
            let (program, flow) = match side {
                Side::Before => (self.cells.before, &self.said.before),
                Side::After => (self.cells.after, &self.said.after),
            };
            let said = flow.last.iter().find(|(of, _)| *of == position).map(|(_, pieces)| pieces);
            let said = said.ok_or_else(|| Rejected::Step(format!("nothing is said of argument {position}")))?;
            let reading = Reading { array, cell: &cell, place: None, given: given.clone(), vars: &vars };
            flow::pieces(self.cells.prover, program, &reading, said)
        };
        let (before, after) = (last(Side::Before, left)?, last(Side::After, right)?);
        for x in &before {
            for y in &after {
                let both = [given.clone(), x.guard.clone(), y.guard.clone()].concat();
                let term = |piece: &Piece, array| match &piece.source {
                    Some((number, at)) => Term::Written(*number, at.clone()),
                    None => Term::Initial(array, cell.clone()),
                };
                if !self.cells.prover.contradict(&both)? && !self.goal(&term(x, left), &term(y, right), &both, 0)? {
                    return Err(differs(format!("cells of argument {position} are not shown to hold the same")));
                }
            }
        }
        Ok(())
    }

    fn results(&mut self) -> Checked<()> {
        let (left, right) = (&self.cells.before.nest.results, &self.cells.after.nest.results);
        let context = self.cells.context.clone();
        let mut same = left.len() == right.len();
        for (l, r) in left.iter().zip(right) {
            same = same && self.goal(&Term::Tree(*l, None, vec![]), &Term::Tree(*r, None, vec![]), &context, 0)?;
        }
        if same { Ok(()) } else { Err(differs("results are not shown to be equal")) }
    }

    /// Shows what is said of two stores.
    fn relation(&mut self, (m, n): (usize, usize)) -> Checked<()> {
        let (x, y) = (&self.cells.before.all[m], &self.cells.after.all[n]);
        let Relation { at, only } = &self.relations[&(m, n)];
        let (left, right) = (at.clone(), y.own_point());
        let mut given = [self.cells.context.clone(), only.clone()].concat();
        given.extend(self.cells.after.executed(y, &right));
        given.extend(self.cells.before.executed(x, &left));
        let (Does::Store(v), Does::Store(w)) = (x.does, y.does) else {
            return Err(differs("a relation is about what is no store"));
        };
        if self.goal(&Term::Tree(v, Some(m), left), &Term::Tree(w, Some(n), right), &given, 0)? {
            return Ok(());
        }
        Err(differs(format!("what lines {} and {} store is not shown to be equal", x.line, y.line)))
    }

    /// Whether two terms are shown to be equal where `given` holds.
    fn goal(&mut self, a: &Term, b: &Term, given: &[Formula], depth: usize) -> Checked<bool> {
        self.goals += 1;
        if self.goals > MAX_GOALS || depth > MAX_DEPTH {
            return Ok(false);
        }
        if let Some(cases) = self.read(Side::Before, a, given)? {
            for (term, given) in cases {
                if !self.goal(&term, b, &given, depth + 1)? {
                    return Ok(false);
                }
            }
            return Ok(true);
        }
        if let Some(cases) = self.read(Side::After, b, given)? {
            for (term, given) in cases {
                if !self.goal(a, &term, &given, depth + 1)? {
                    return Ok(false);
                }
            }
            return Ok(true);
        }
        match (a, b) {
            (Term::Initial(x, p), Term::Initial(y, q)) => {
                let kinds = (self.cells.before.nest.array(*x).kind, self.cells.after.nest.array(*y).kind);
                let same = matches!(kinds, (ArrayKind::Argument(m), ArrayKind::Argument(n)) if m == n);
                Ok(same && self.cells.prover.holds(given, &Formula::all_equal(p, q))?)
            }
            (Term::Tree(v, x, p), Term::Tree(w, y, q)) => {
                if self.trees((*v, *x, p), (*w, *y, q), given, depth)? {
                    return Ok(true);
                }
                // Values are asked of as a whole.
                let is_whole = self.inside == 0 && self.asking < MAX_ASKED;
                if !is_whole || ![*v, *w].iter().any(|value| is_op(self.cells.pool, *value)) {
                    return Ok(false);
                }
                self.asking += 1;
                let holds = self.attempt(|walk| walk.asked((*v, *x, p), (*w, *y, q), given, depth));
                self.asking -= 1;
                holds
            }
            (Term::Tree(..), Term::Initial(..)) | (Term::Initial(..), Term::Tree(..)) => Ok(false),
            _ => self.written(a, b, given, depth),
        }
    }

    /// A goal about what a store has written, on one side or on both.
    fn written(&mut self, a: &Term, b: &Term, given: &[Formula], depth: usize) -> Checked<bool> {
        if let (Term::Written(m, p), Term::Written(n, q)) = (a, b)
            && self.is_related((*m, p), (*n, q), given)?
        {
            return Ok(true);
        }
        let copies = (self.is_local_copy(Side::Before, a), self.is_local_copy(Side::After, b));
        let both = matches!((a, b), (Term::Written(..), Term::Written(..)));
        let left = if both && copies == (false, true) { Some(a.clone()) } else { self.stored(Side::Before, a) };
        let right = if both && copies == (true, false) { Some(b.clone()) } else { self.stored(Side::After, b) };
        // An undefined value is equal to nothing.
        let (Some(left), Some(right)) = (left, right) else { return Ok(false) };
        let inside = std::mem::take(&mut self.inside);
        let same = self.goal(&left, &right, given, depth + 1);
        self.inside = inside;
        same
    }

    /// The value that a store has written; others are as they are.
    fn stored(&self, side: Side, term: &Term) -> Option<Term> {
        let Term::Written(number, at) = term else { return Some(term.clone()) };
        match self.program(side).all[*number].does {
            Does::Store(value) => Some(Term::Tree(value, Some(*number), at.clone())),
            _ => None,
        }
    }

    /// Whether a store only keeps what it has read, in an array of the function's own.
    fn is_local_copy(&self, side: Side, term: &Term) -> bool {
        let Term::Written(number, _) = term else { return false };
        let access = &self.program(side).all[*number];
        let is_own = !matches!(self.program(side).nest.array(access.array).kind, ArrayKind::Argument(_));
        is_own && matches!(access.does, Does::Store(value) if matches!(self.cells.pool.get(value), Value::Load(_)))
    }

    /// Whether a relation says that two stores write the same. It is to be shown, too.
    fn is_related(
        &mut self,
        (m, p): (usize, &[Affine]),
        (n, q): (usize, &[Affine]),
        given: &[Formula],
    ) -> Checked<bool> {
        let Some(Relation { at, only }) = self.relations.get(&(m, n)) else { return Ok(false) };
        let access = &self.cells.after.all[n];
        let mut claims: Vec<Formula> = only.iter().map(|f| f.replace(&|var| access.coordinate(q, var))).collect();
        let expected: Vec<Affine> = at.iter().map(|e| access.value_at(e, q)).collect();
        claims.push(Formula::all_equal(p, &expected));
        let holds = self.cells.prover.holds(given, &Formula::All(claims))?;
        if holds && self.used.insert((m, n)) {
            self.open.push((m, n));
        }
        Ok(holds)
    }

    /// What a term that is a load reads, with what holds in each case; `None` where it is no load.
    fn read(&mut self, side: Side, term: &Term, given: &[Formula]) -> Checked<Option<Cases>> {
        let Term::Tree(value, at, point) = term else { return Ok(None) };
        let Value::Load(load) = self.cells.pool.get(*value) else { return Ok(None) };
        let program = self.program(side);
        let unknown = || Rejected::Step("a value is made from a load that is not there".into());
        let access = &program.all[*program.loads.get(load).ok_or_else(unknown)?];
        let is_before = at.map_or(access.loops.is_empty(), |at| program.all[at].is_after(access));
        if !is_before {
            return Err(unknown());
        }
        let point = &point[..access.loops.len()];
        let cell = access.cell_at(point).ok_or_else(unknown)?;
        let mut cases = vec![];
        for piece in self.pieces(side, *load, access)? {
            let of = |var: Var| access.coordinate(point, var);
            let guard: Vec<Formula> = piece.guard.iter().map(|f| f.replace(&of)).collect();
            let all = [given.to_vec(), guard].concat();
            if self.cells.prover.contradict(&all)? {
                continue;
            }
            let term = match piece.source {
                Some((number, at)) => Term::Written(number, at.iter().map(|e| e.replace(&of)).collect()),
                None => Term::Initial(access.array, cell.clone()),
            };
            cases.push((term, all));
        }
        Ok(Some(cases))
    }

    /// What a load reads at its own point.
    fn pieces(&mut self, side: Side, load: LoadId, access: &Access) -> Checked<Vec<Piece>> {
        if let Some(pieces) = self.flows.get(&(side, load)) {
            return Ok(pieces.clone());
        }
        let program = self.program(side);
        let flow = if side == Side::Before { &self.said.before } else { &self.said.after };
        let said = flow.loads.iter().find(|(number, _)| program.loads.get(&load) == Some(&(*number as usize)));
        let (_, said) = said.ok_or_else(|| Rejected::Step(format!("nothing is said of line {}", access.line)))?;
        let point = access.own_point();
        let given = [self.cells.context.clone(), program.executed(access, &point)].concat();
        let cell = access.cell_at(&point).unwrap_or_default();
        let (place, vars) = (Some((access, point.as_slice())), self.vars(access));
        let reading = Reading { array: access.array, cell: &cell, place, given, vars: &vars };
        let pieces = flow::pieces(self.cells.prover, program, &reading, said)?;
        self.flows.insert((side, load), pieces.clone());
        Ok(pieces)
    }

    fn trees(
        &mut self,
        (v, x, p): (ValueId, Option<usize>, &[Affine]),
        (w, y, q): (ValueId, Option<usize>, &[Affine]),
        given: &[Formula],
        depth: usize,
    ) -> Checked<bool> {
        let pool = self.cells.pool;
        match (pool.get(v), pool.get(w)) {
            (Value::Index(a), Value::Index(b)) => {
                let (a, b) = (self.at(Side::Before, a, x, p), self.at(Side::After, b, y, q));
                self.cells.prover.holds(given, &Formula::equal(&a, &b))
            }
            (Value::Op(a), Value::Op(b)) => {
                // The second one may promise less.
                let flags = b.flags.iter().all(|flag| a.flags.contains(flag));
                let (l, r) = (&a.operands, &b.operands);
                if (&a.name, &a.from, &a.ty, l.len()) != (&b.name, &b.from, &b.ty, r.len()) || !flags {
                    return Ok(false);
                }
                let mut orders = vec![r.clone()];
                if r.len() == 2 && pool.commutes(&a.name) {
                    orders.push(vec![r[1], r[0]]);
                }
                for order in orders {
                    let pairs = l.iter().zip(order);
                    let pairs = pairs.map(|(l, r)| (Term::Tree(*l, x, p.to_vec()), Term::Tree(r, y, q.to_vec())));
                    self.inside += 1;
                    let same = self.attempt(|walk| walk.goals(pairs, given, depth + 1));
                    self.inside -= 1;
                    if same? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            (Value::Argument(a), Value::Argument(b)) => Ok(a == b),
            (Value::Constant(a), Value::Constant(b)) => Ok(a == b),
            _ => Ok(false),
        }
    }

    fn goals(
        &mut self,
        mut pairs: impl Iterator<Item = (Term, Term)>,
        given: &[Formula],
        depth: usize,
    ) -> Checked<bool> {
        pairs.try_fold(true, |same, (l, r)| Ok(same && self.goal(&l, &r, given, depth)?))
    }

    /// Tries what may fail; relations that a failure has used need not be shown.
    fn attempt(&mut self, attempt: impl FnOnce(&mut Self) -> Checked<bool>) -> Checked<bool> {
        let (used, open) = (self.used.clone(), self.open.clone());
        let holds = attempt(self)?;
        if !holds {
            (self.used, self.open) = (used, open);
        }
        Ok(holds)
    }

    /// A polynomial at a point.
    fn at(&self, side: Side, affine: &Affine, access: Option<usize>, point: &[Affine]) -> Affine {
        access.map_or_else(|| affine.clone(), |n| self.program(side).all[n].value_at(affine, point))
    }
}

fn is_op(pool: &Pool, value: ValueId) -> bool {
    matches!(pool.get(value), Value::Op(_))
}
