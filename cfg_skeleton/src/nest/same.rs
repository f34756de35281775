//! Whether two lists of items execute the same sequence of accesses and events.

use super::affine::{Affine, Var};
use super::datapath::Renaming;
use super::datapath::aligned::Pair;
use super::value::{Pool, Value, ValueId};
use super::{ArrayId, ArrayKind, Item, LoadId, Nest, Parallel};
use rustc_hash::{FxHashMap, FxHashSet};

/// How the second list's names correspond to the first one's.
pub(crate) struct Same<'a> {
    pool: &'a Pool,
    left: &'a Nest,
    right: &'a Nest,
    /// Whether operations may lose flags on the right.
    refine: bool,
    vars: FxHashMap<Var, Affine>,
    loads: FxHashMap<LoadId, LoadId>,
    /// Loads of the left list that it has made by now.
    made: FxHashSet<LoadId>,
    arrays: FxHashMap<ArrayId, ArrayId>,
    known: FxHashMap<(ValueId, ValueId), bool>,
    /// Values that are to be equal, where the caller decides that later.
    pairs: Option<Vec<Pair>>,
    /// Whether a name of the right list stands for two of the left one, at different places.
    ambiguous: bool,
    /// The first items that differ, by their lines.
    pub(crate) difference: Option<(u32, u32)>,
}

impl<'a> Same<'a> {
    /// Compares items of one nest with items of another.
    pub(crate) fn between(pool: &'a Pool, left: &'a Nest, right: &'a Nest) -> Self {
        Same {
            pool,
            left,
            right,
            refine: true,
            vars: FxHashMap::default(),
            loads: FxHashMap::default(),
            made: FxHashSet::default(),
            arrays: FxHashMap::default(),
            known: FxHashMap::default(),
            pairs: None,
            ambiguous: false,
            difference: None,
        }
    }

    /// Compares items of one nest; `vars` replaces variables on the right.
    pub(crate) fn within(pool: &'a Pool, nest: &'a Nest, vars: FxHashMap<Var, Affine>) -> Self {
        Same { vars, refine: false, ..Same::between(pool, nest, nest) }
    }

    fn affine(&self, left: &Affine, right: &Affine) -> bool {
        left.same(&right.replace(&|var| self.vars.get(&var).cloned()))
    }

    fn affines(&self, left: &[Affine], right: &[Affine]) -> bool {
        left.len() == right.len() && left.iter().zip(right).all(|(l, r)| self.affine(l, r))
    }

    /// As sets: the order of bounds says nothing.
    fn bounds(&self, left: &[Affine], right: &[Affine]) -> bool {
        let covers = |a: &[Affine], b: &[Affine], swap: bool| {
            a.iter().all(|x| b.iter().any(|y| if swap { self.affine(y, x) } else { self.affine(x, y) }))
        };
        covers(left, right, false) && covers(right, left, true)
    }

    /// Arrays correspond by position where they are arguments, and by first use where not.
    fn array(&mut self, left: ArrayId, right: ArrayId) -> bool {
        if std::ptr::eq(self.left, self.right) {
            return left == right;
        }
        let (a, b) = (self.left.array(left), self.right.array(right));
        match (a.kind, b.kind) {
            (ArrayKind::Argument(m), ArrayKind::Argument(n)) => m == n,
            (m, n) if m == n && a.element == b.element && a.shape.len() == b.shape.len() => {
                let injective = self.arrays.iter().all(|(r, l)| (*r == right) == (*l == left));
                injective && *self.arrays.entry(right).or_insert(left) == left
            }
            _ => false,
        }
    }

    /// The same of arrays that others are given.
    fn given(&mut self, (left, right): (ArrayId, ArrayId)) -> bool {
        self.right.array(right).serves_as(self.left.array(left)) && self.array(left, right)
    }

    /// Extents of arrays that are made here.
    fn extents(&self, left: ArrayId, right: ArrayId) -> bool {
        let (a, b) = (&self.left.array(left).shape, &self.right.array(right).shape);
        a.len() == b.len() && a.iter().zip(b).all(|pair| matches!(pair, (Some(l), Some(r)) if self.affine(l, r)))
    }

    /// Whether two values are equal where corresponding loads read the same.
    pub(crate) fn value(&mut self, left: ValueId, right: ValueId) -> bool {
        if let Some(&known) = self.known.get(&(left, right)) {
            return known;
        }
        let pool = self.pool;
        let result = match (pool.get(left), pool.get(right)) {
            (Value::Index(a), Value::Index(b)) => self.affine(a, b),
            (Value::Load(a), Value::Load(b)) => self.load(*a, *b),
            (Value::Result(a, m), Value::Result(b, n)) => m == n && self.load(*a, *b),
            (Value::Op(a), Value::Op(b)) => {
                let flags = if self.refine { b.flags.iter().all(|f| a.flags.contains(f)) } else { a.flags == b.flags };
                let kind = a.name == b.name && a.from == b.from && a.ty == b.ty && flags;
                let (l, r) = (&a.operands, &b.operands);
                kind && l.len() == r.len()
                    && (l.iter().zip(r).all(|(l, r)| self.value(*l, *r))
                        || (l.len() == 2
                            && self.pool.commutes(&a.name)
                            && self.value(l[0], r[1])
                            && self.value(l[1], r[0])))
            }
            (Value::Array(a), Value::Array(b)) => self.given((*a, *b)),
            (a, b) => a == b,
        };
        self.known.insert((left, right), result);
        result
    }

    /// Loads that no list has made are from outside, where names agree.
    fn load(&self, left: LoadId, right: LoadId) -> bool {
        match self.loads.get(&right) {
            Some(&of) => of == left,
            None => left == right && !self.made.contains(&left),
        }
    }

    fn results(&mut self, left: LoadId, right: LoadId) {
        self.ambiguous |= self.loads.insert(right, left).is_some_and(|other| other != left);
        self.made.insert(left);
        self.known.clear();
    }

    /// From here on, a variable of the right list is one of the left list.
    fn renames(&mut self, right: Var, left: Var) {
        let left = Affine::var(left);
        self.ambiguous |= self.vars.insert(right, left.clone()).is_some_and(|other| other != left);
        self.known.clear();
    }

    /// Whether both nests do the same and return the same.
    pub(crate) fn program(&mut self) -> bool {
        let (left, right) = (self.left, self.right);
        self.items(&left.items, &right.items)
            && left.results.len() == right.results.len()
            && left.results.iter().zip(&right.results).all(|(l, r)| self.computes((*l, *r), (0, 0)))
    }

    /// Whether the right nest does what the left one does whatever orders of iterations are chosen: statements are the
    /// same, and loops that are parallel on the right are so on the left.
    pub(crate) fn in_any_order(mut self) -> bool {
        let same = self.program() && !self.ambiguous;
        let var = |(var, _): &(Var, String)| self.vars.get(var).cloned().unwrap_or_else(|| Affine::var(*var));
        let is_parallel = |loops: &Parallel| {
            let vars: Vec<Affine> = loops.vars.iter().map(var).collect();
            let of = |other: &Parallel| other.vars.iter().map(|(var, _)| Affine::var(*var)).collect::<Vec<_>>();
            self.left.parallel.iter().any(|other| of(other) == vars)
        };
        same && self.right.parallel.iter().all(is_parallel)
    }

    /// What is left to be shown: that these values are equal. `None` where statements do not correspond one to one.
    pub(crate) fn but_for_values(mut self) -> Option<(Vec<Pair>, Renaming)> {
        self.pairs = Some(vec![]);
        let same = self.program();
        let renaming = Renaming { vars: self.vars, loads: self.loads };
        self.pairs.filter(|_| same && !self.ambiguous).map(|pairs| (pairs, renaming))
    }

    /// Whether two statements compute the same value.
    fn computes(&mut self, (left, right): (ValueId, ValueId), lines: (u32, u32)) -> bool {
        if let (Value::Array(a), Value::Array(b)) = (self.pool.get(left), self.pool.get(right)) {
            return self.given((*a, *b));
        }
        match &mut self.pairs {
            Some(pairs) => {
                pairs.push(Pair { left, right, by_operands: false, lines });
                true
            }
            None => self.value(left, right),
        }
    }

    /// Whether two statements execute the same operation on the same operands.
    fn executes(&mut self, (left, right): (ValueId, ValueId), lines: (u32, u32)) -> bool {
        match &mut self.pairs {
            Some(pairs) => {
                pairs.push(Pair { left, right, by_operands: true, lines });
                true
            }
            None => self.value(left, right),
        }
    }

    /// Whether both lists do the same.
    pub(crate) fn items(&mut self, left: &[Item], right: &[Item]) -> bool {
        for (l, r) in left.iter().zip(right) {
            if !self.item(l, r) {
                self.difference.get_or_insert((l.line(), r.line()));
                return false;
            }
        }
        let rest = (left.get(right.len()), right.get(left.len()));
        if let (None, None) = rest {
            return true;
        }
        let line = |item: Option<&Item>| item.map_or(0, Item::line);
        self.difference.get_or_insert((line(rest.0), line(rest.1)));
        false
    }

    fn item(&mut self, left: &Item, right: &Item) -> bool {
        match (left, right) {
            (Item::Load(l), Item::Load(r)) => {
                let same = self.array(l.array, r.array) && self.affines(&l.subscripts, &r.subscripts);
                self.results(l.id, r.id);
                same
            }
            (Item::Store(l), Item::Store(r)) => {
                self.array(l.array, r.array)
                    && self.affines(&l.subscripts, &r.subscripts)
                    && self.computes((l.value, r.value), (l.line, r.line))
            }
            (Item::For(l), Item::For(r)) => {
                if l.step != r.step || !self.bounds(&l.lower, &r.lower) || !self.bounds(&l.upper, &r.upper) {
                    return false;
                }
                self.renames(r.var, l.var);
                self.items(&l.body, &r.body)
            }
            (Item::If(l), Item::If(r)) => {
                self.computes((l.condition, r.condition), (l.line, r.line))
                    && self.items(&l.then, &r.then)
                    && self.items(&l.otherwise, &r.otherwise)
            }
            (Item::Event(l), Item::Event(r)) => {
                let operands = l.operands.len() == r.operands.len()
                    && l.operands.iter().zip(&r.operands).all(|(a, b)| self.computes((*a, *b), (l.line, r.line)));
                self.results(l.id, r.id);
                operands && l.name == r.name
            }
            (Item::Bind(l), Item::Bind(r)) => {
                let same = self.computes((l.value, r.value), (l.line, r.line));
                self.renames(r.var, l.var);
                same
            }
            (Item::Trap(l, m), Item::Trap(r, n)) => self.executes((*l, *r), (*m, *n)),
            (Item::Alloc(l, _), Item::Alloc(r, _)) => self.array(*l, *r) && self.extents(*l, *r),
            _ => false,
        }
    }
}

impl Item {
    /// Where the item is in the source.
    #[must_use]
    pub fn line(&self) -> u32 {
        match self {
            Item::Load(x) => x.line,
            Item::Store(x) => x.line,
            Item::For(x) => x.line,
            Item::If(x) => x.line,
            Item::Event(x) => x.line,
            Item::Bind(x) => x.line,
            Item::Trap(_, line) | Item::Alloc(_, line) => *line,
        }
    }
}
