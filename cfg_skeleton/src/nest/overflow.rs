//! Whether arithmetic on indices fits a number of bits, where loops and sizes allow.
//!
//! Sums and products may wrap on the way, because they are exact modulo a power of two; what is compared, divided or
//! used as a subscript must be in range. So bounds, subscripts, indices that become data, and dividends are looked at.

use super::affine::{Affine, Atom};
use super::constraint::Constraint;
use super::normal::range;
use super::predicate::{Conjunction, Decider};
use super::value::{Pool, Value, ValueId};
use super::{Item, Line, Nest, Size, Var};

/// More bits than this are not decided.
pub const MAX_BITS: u32 = 48;

/// What is in range.
pub(super) fn in_range(affine: &Affine, bits: u32) -> [Constraint; 2] {
    let half = 1i128 << (bits.clamp(2, MAX_BITS) - 1);
    [Constraint::at_least(affine, &Affine::constant(-half)), Constraint::less(affine, &Affine::constant(half))]
}

/// Sizes are in range.
pub(super) fn of_sizes(sizes: &[Size], bits: u32) -> Conjunction {
    sizes.iter().flat_map(|size| in_range(&Affine::var(size.var), bits)).collect()
}

/// The first line at which arithmetic may overflow.
pub(super) fn first(nest: &Nest, pool: &Pool, decider: &mut Decider, context: &Conjunction, bits: u32) -> Option<Line> {
    let mut walk = Walk { pool, decider, bits, given: context.clone() };
    walk.items(nest.checked.as_ref().unwrap_or(&nest.items))
}

struct Walk<'a> {
    pool: &'a Pool,
    decider: &'a mut Decider,
    bits: u32,
    given: Conjunction,
}

impl Walk<'_> {
    fn items(&mut self, items: &[Item]) -> Option<Line> {
        let length = self.given.len();
        let found = items.iter().find_map(|item| self.item(item));
        self.given.truncate(length);
        found
    }

    fn item(&mut self, item: &Item) -> Option<Line> {
        let line = item.line();
        match item {
            Item::Load(x) => self.affines(&x.subscripts, line),
            Item::Store(x) => self.affines(&x.subscripts, line).or_else(|| self.values(&[x.value], line)),
            Item::Bind(x) => {
                let found = self.values(&[x.value], line);
                // Its value is an index, whatever it is.
                self.given.extend(in_range(&Affine::var(x.var), self.bits));
                found
            }
            Item::Event(x) => self.values(&x.operands, line),
            Item::Trap(value, _) => self.values(&[*value], line),
            Item::Alloc(..) => None,
            Item::If(x) => {
                let condition = self.values(&[x.condition], line);
                condition.or_else(|| self.items(&x.then)).or_else(|| self.items(&x.otherwise))
            }
            Item::For(x) => {
                let bounds = self.affines(&x.lower, line).or_else(|| self.affines(&x.upper, line));
                let length = self.given.len();
                self.given.extend(range(x));
                let next = Affine::var(x.var).offset(x.step);
                let found = bounds.or_else(|| self.affines(&[next], line)).or_else(|| self.items(&x.body));
                self.given.truncate(length);
                found
            }
        }
    }

    fn values(&mut self, values: &[ValueId], line: Line) -> Option<Line> {
        let pool = self.pool;
        pool.reachable(values.iter().copied()).into_iter().find_map(|value| match pool.get(value) {
            Value::Index(affine) => self.affines(std::slice::from_ref(affine), line),
            _ => None,
        })
    }

    fn affines(&mut self, affines: &[Affine], line: Line) -> Option<Line> {
        affines.iter().any(|affine| !self.fits(affine)).then_some(line)
    }

    /// Whether the polynomial is in range, and whatever is divided in it.
    fn fits(&mut self, affine: &Affine) -> bool {
        let mut dividends = vec![];
        affine.each_atom(&mut |atom: &Atom| {
            if let Atom::Floor(inner, _) = atom {
                dividends.push((**inner).clone());
            }
        });
        let is_var =
            |e: &Affine| e.vars().len() == 1 && e.same(&Affine::var(e.vars().first().copied().unwrap_or(Var(0))));
        dividends
            .iter()
            .chain([affine])
            .filter(|e| !is_var(e))
            .all(|e| in_range(e, self.bits).iter().all(|fact| self.decider.implies(&self.given, fact)))
    }
}
