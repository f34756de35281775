//! Whether two lists of items are the same up to names.

use super::{Checked, Rejected};
use rewright_cfg_skeleton::nest::datapath::{Answer, Question, Term, TermKind, ValueOracle};
use rewright_cfg_skeleton::nest::value::{Operation, Value};
use rewright_cfg_skeleton::nest::{Affine, ArrayId, ArrayKind, Item, LoadId, Nest, Parallel, Pool, ValueId, Var};
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};

/// Whether both nests execute the same, value by value; where values are computed in other ways, the oracle is asked.
pub(super) fn same(pool: &Pool, left: &Nest, right: &Nest, oracle: &mut dyn ValueOracle) -> Checked<()> {
    let mut same = Same { pool, left, right, names: Names::default(), differing: Some(vec![]) };
    let results = left.results.len() == right.results.len();
    if !results || !same.items(&left.items, &right.items) {
        return Err(Rejected::Differs("statements differ".into()));
    }
    for (l, r) in left.results.iter().zip(&right.results) {
        same.statement(*l, *r);
    }
    let differing = same.differing.take().unwrap_or_default();
    let mut questions = vec![];
    for (l, r) in differing {
        questions.push(same.question(l, r).ok_or_else(|| Rejected::Differs("values differ".into()))?);
    }
    match oracle.answer(&questions).into_iter().find(|answer| !matches!(answer, Answer::Equal(_))) {
        None => Ok(()),
        Some(Answer::Unknown(reason)) => Err(Rejected::Differs(format!("values are not shown to be equal: {reason}"))),
        Some(Answer::Equal(_)) => Ok(()),
    }
}

/// Whether both nests have the same statements, and loops that are parallel on the right are so on the left: then each
/// order that the right one may choose is one of the left one.
pub(super) fn in_any_order(pool: &Pool, left: &Nest, right: &Nest) -> bool {
    let mut same = Same { pool, left, right, names: Names::default(), differing: None };
    let is_same = left.results.len() == right.results.len()
        && same.items(&left.items, &right.items)
        && left.results.iter().zip(&right.results).all(|(l, r)| same.value(*l, *r));
    let of = |loops: &Parallel| loops.vars.iter().map(|(var, _)| Some(*var)).collect::<Vec<_>>();
    let renamed =
        |loops: &Parallel| loops.vars.iter().map(|(var, _)| same.names.vars.get(var).copied()).collect::<Vec<_>>();
    is_same && right.parallel.iter().all(|loops| left.parallel.iter().any(|other| of(other) == renamed(loops)))
}

/// Whether items of one nest are the same up to names of what they define.
pub(super) fn same_items(pool: &Pool, nest: &Nest, left: &[Item], right: &[Item]) -> bool {
    Same { pool, left: nest, right: nest, names: Names::default(), differing: None }.items(left, right)
}

/// What names of the right side are on the left one. Each stands for one only.
#[derive(Default)]
struct Names {
    vars: BTreeMap<Var, Var>,
    loads: BTreeMap<LoadId, LoadId>,
    arrays: BTreeMap<ArrayId, ArrayId>,
    known: FxHashMap<(ValueId, ValueId), bool>,
}

struct Same<'a> {
    pool: &'a Pool,
    left: &'a Nest,
    right: &'a Nest,
    names: Names,
    /// Values that differ, where that is decided later.
    differing: Option<Vec<(ValueId, ValueId)>>,
}

impl Same<'_> {
    fn is_within(&self) -> bool {
        std::ptr::eq(self.left, self.right)
    }

    fn affine(&self, left: &Affine, right: &Affine) -> bool {
        left.same(&right.replace(&|var| self.names.vars.get(&var).map(|of| Affine::var(*of))))
    }

    fn affines(&self, left: &[Affine], right: &[Affine]) -> bool {
        left.len() == right.len() && left.iter().zip(right).all(|(l, r)| self.affine(l, r))
    }

    fn bounds(&self, left: &[Affine], right: &[Affine]) -> bool {
        left.iter().all(|l| right.iter().any(|r| self.affine(l, r)))
            && right.iter().all(|r| left.iter().any(|l| self.affine(l, r)))
    }

    fn array(&mut self, left: ArrayId, right: ArrayId) -> bool {
        if self.is_within() {
            return left == right;
        }
        let (a, b) = (self.left.array(left), self.right.array(right));
        if let (ArrayKind::Argument(m), ArrayKind::Argument(n)) = (a.kind, b.kind) {
            return m == n;
        }
        let free = !self.names.arrays.contains_key(&right) && !self.names.arrays.values().any(|l| *l == left);
        if free {
            self.names.arrays.insert(right, left);
        }
        a.kind == b.kind && a.element == b.element && self.names.arrays.get(&right) == Some(&left)
    }

    /// From here on, the right name is the left one.
    fn defines(&mut self, left: LoadId, right: LoadId) -> bool {
        self.names.known.clear();
        *self.names.loads.entry(right).or_insert(left) == left
    }

    /// Names that neither side defines are the same.
    fn load(&self, left: LoadId, right: LoadId) -> bool {
        match self.names.loads.get(&right) {
            Some(of) => *of == left,
            None => self.is_within() && left == right && !self.names.loads.values().any(|l| *l == left),
        }
    }

    fn value(&mut self, left: ValueId, right: ValueId) -> bool {
        if let Some(known) = self.names.known.get(&(left, right)) {
            return *known;
        }
        let pool = self.pool;
        let same = match (pool.get(left), pool.get(right)) {
            (Value::Index(a), Value::Index(b)) => self.affine(a, b),
            (Value::Load(a), Value::Load(b)) => self.load(*a, *b),
            (Value::Result(a, m), Value::Result(b, n)) => m == n && self.load(*a, *b),
            (Value::Array(a), Value::Array(b)) => {
                self.right.array(*b).serves_as(self.left.array(*a)) && self.array(*a, *b)
            }
            (Value::Op(a), Value::Op(b)) => {
                let flags =
                    if self.is_within() { a.flags == b.flags } else { b.flags.iter().all(|f| a.flags.contains(f)) };
                let (l, r) = (&a.operands, &b.operands);
                let swapped = l.len() == 2 && pool.commutes(&a.name);
                (&a.name, &a.from, &a.ty, l.len()) == (&b.name, &b.from, &b.ty, r.len())
                    && flags
                    && (l.iter().zip(r).all(|(l, r)| self.value(*l, *r))
                        || (swapped && self.value(l[0], r[1]) && self.value(l[1], r[0])))
            }
            (a, b) => a == b,
        };
        self.names.known.insert((left, right), same);
        same
    }

    /// What two statements compute.
    fn statement(&mut self, left: ValueId, right: ValueId) -> bool {
        if self.value(left, right) {
            return true;
        }
        match &mut self.differing {
            Some(differing) => {
                differing.push((left, right));
                true
            }
            None => false,
        }
    }

    fn items(&mut self, left: &[Item], right: &[Item]) -> bool {
        left.len() == right.len() && left.iter().zip(right).all(|(l, r)| self.item(l, r))
    }

    fn item(&mut self, left: &Item, right: &Item) -> bool {
        match (left, right) {
            (Item::Load(l), Item::Load(r)) => {
                self.array(l.array, r.array) && self.affines(&l.subscripts, &r.subscripts) && self.defines(l.id, r.id)
            }
            (Item::Store(l), Item::Store(r)) => {
                self.array(l.array, r.array)
                    && self.affines(&l.subscripts, &r.subscripts)
                    && self.statement(l.value, r.value)
            }
            (Item::For(l), Item::For(r)) => {
                self.names.known.clear();
                l.step == r.step
                    && self.bounds(&l.lower, &r.lower)
                    && self.bounds(&l.upper, &r.upper)
                    && *self.names.vars.entry(r.var).or_insert(l.var) == l.var
                    && self.items(&l.body, &r.body)
            }
            (Item::If(l), Item::If(r)) => {
                self.statement(l.condition, r.condition)
                    && self.items(&l.then, &r.then)
                    && self.items(&l.otherwise, &r.otherwise)
            }
            (Item::Event(l), Item::Event(r)) => {
                l.name == r.name
                    && l.operands.len() == r.operands.len()
                    && l.operands.iter().zip(&r.operands).all(|(l, r)| self.value(*l, *r))
                    && self.defines(l.id, r.id)
            }
            (Item::Bind(l), Item::Bind(r)) => {
                let same = self.value(l.value, r.value);
                self.names.known.clear();
                same && *self.names.vars.entry(r.var).or_insert(l.var) == l.var
            }
            // Whether an operation is undefined depends on its operands.
            (Item::Trap(l, _), Item::Trap(r, _)) => self.value(*l, *r),
            (Item::Alloc(l, _), Item::Alloc(r, _)) => {
                let (a, b) = (&self.left.array(*l).shape, &self.right.array(*r).shape);
                let shape = a.len() == b.len()
                    && a.iter().zip(b).all(|pair| matches!(pair, (Some(l), Some(r)) if self.affine(l, r)));
                shape && self.array(*l, *r)
            }
            _ => false,
        }
    }

    /// Whether one value may stand for the other, down to what both read.
    fn question(&self, left: ValueId, right: ValueId) -> Option<Question> {
        let mut builder = Builder { same: self, terms: vec![], leaves: vec![], loads: BTreeMap::new() };
        let mut stored = BTreeSet::new();
        arrays_stored(&self.left.items, &mut stored);
        elements(self.left, &self.left.items, &stored, &mut builder.loads);
        let l = builder.term(left, true, &mut FxHashMap::default())?;
        let r = builder.term(right, false, &mut FxHashMap::default())?;
        Some(Question { terms: builder.terms, left: l, right: r, nans: self.pool.sees_nans() })
    }
}

/// Questions have no more terms.
const MAX_TERMS: usize = 2_000;

struct Builder<'a, 'b> {
    same: &'a Same<'b>,
    terms: Vec<Term>,
    /// What of the left side leaves are.
    leaves: Vec<(Value, u32)>,
    /// Types of what the left side's loads read, and whether that is certainly no poison.
    loads: BTreeMap<LoadId, (String, bool)>,
}

impl Builder<'_, '_> {
    fn term(&mut self, id: ValueId, left: bool, known: &mut FxHashMap<ValueId, u32>) -> Option<u32> {
        if let Some(term) = known.get(&id) {
            return Some(*term);
        }
        let names = &self.same.names;
        let rename = |load: &LoadId| if left { Some(*load) } else { names.loads.get(load).copied() };
        let term = match self.same.pool.get(id) {
            Value::Op(Operation { name, flags, from, ty, operands }) => {
                let operands = operands.iter().map(|o| self.term(*o, left, known)).collect::<Option<_>>()?;
                let kind = TermKind::Op { name: name.clone(), flags: flags.clone(), from: from.clone(), operands };
                self.add(Term { ty: ty.clone(), kind })?
            }
            Value::Constant(constant) => {
                let kind = TermKind::Constant(constant.number.clone());
                self.add(Term { ty: constant.ty.clone(), kind })?
            }
            Value::Load(load) => {
                let load = rename(load)?;
                let (ty, defined) = self.loads.get(&load)?.clone();
                self.leaf(Value::Load(load), &ty, defined)?
            }
            Value::Argument(n) => {
                let ty = self.same.left.arguments.get(*n as usize)?.clone();
                self.leaf(Value::Argument(*n), &ty, true)?
            }
            Value::Index(affine) => {
                let of = |var| names.vars.get(&var).filter(|_| !left).map(|of| Affine::var(*of));
                self.leaf(Value::Index(affine.replace(&of)), "index", false)?
            }
            Value::Result(..) | Value::Array(_) => return None,
        };
        known.insert(id, term);
        Some(term)
    }

    fn leaf(&mut self, value: Value, ty: &str, defined: bool) -> Option<u32> {
        if let Some((_, term)) = self.leaves.iter().find(|(other, _)| *other == value) {
            return Some(*term);
        }
        let term = self.add(Term { ty: ty.to_string(), kind: TermKind::Leaf { defined } })?;
        self.leaves.push((value, term));
        Some(term)
    }

    fn add(&mut self, term: Term) -> Option<u32> {
        self.terms.push(term);
        (self.terms.len() <= MAX_TERMS).then_some(self.terms.len() as u32 - 1)
    }
}

/// What loads read: what an argument holds from before the call is no poison.
fn elements(nest: &Nest, items: &[Item], stored: &BTreeSet<ArrayId>, found: &mut BTreeMap<LoadId, (String, bool)>) {
    for item in items {
        match item {
            Item::Load(x) => {
                let array = nest.array(x.array);
                let defined = matches!(array.kind, ArrayKind::Argument(_)) && !stored.contains(&x.array);
                found.insert(x.id, (array.element.clone(), defined));
            }
            Item::For(x) => elements(nest, &x.body, stored, found),
            Item::If(x) => {
                elements(nest, &x.then, stored, found);
                elements(nest, &x.otherwise, stored, found);
            }
            _ => {}
        }
    }
}

fn arrays_stored(items: &[Item], stored: &mut BTreeSet<ArrayId>) {
    for item in items {
        match item {
            Item::Store(x) => drop(stored.insert(x.array)),
            Item::For(x) => arrays_stored(&x.body, stored),
            Item::If(x) => {
                arrays_stored(&x.then, stored);
                arrays_stored(&x.otherwise, stored);
            }
            _ => {}
        }
    }
}
