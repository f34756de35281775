//! Arrays with rows, where that is exact: a subscript is `row * length + column`, and each column is shown to be in its
//! row, in both versions. Then two cells are the same if and only if rows and columns are.

use rewright_cfg_skeleton::nest::{Affine, Array, ArrayId, ArrayKind, Constraint, Decider, Item, Nest};
use std::collections::BTreeSet;

/// An array has at most this many dimensions.
const MOST: usize = 4;

/// Gives arrays of arguments further dimensions, where the facts show that they have them.
pub(super) fn split(nests: [&mut Nest; 2], facts: &[Constraint], decider: &mut Decider) {
    let [before, after] = nests;
    let is_argument = |array: &Array| matches!(array.kind, ArrayKind::Argument(_));
    let arrays = before.arrays.iter().take_while(|array| is_argument(array)).count().min(after.arrays.len());
    for array in (0..arrays as u32).map(ArrayId) {
        for _ in 1..MOST {
            let mut lengths = BTreeSet::new();
            for nest in [&*before, &*after] {
                lengths_of(&nest.items, array, &mut lengths);
            }
            let fit = lengths.into_iter().find_map(|length| {
                let mut both = vec![];
                for nest in [&*before, &*after] {
                    let mut splitter = Splitter { array, length, decider: &mut *decider, given: facts.to_vec() };
                    both.push(splitter.items(&nest.items)?);
                }
                Some(both)
            });
            let Some(mut both) = fit else { break };
            for nest in [&mut *after, &mut *before] {
                nest.items = both.pop().unwrap_or_default();
                nest.arrays[array.0 as usize].shape.push(None);
            }
        }
    }
}

/// The factors in the first subscripts of an array.
fn lengths_of(items: &[Item], array: ArrayId, lengths: &mut BTreeSet<i128>) {
    for item in items {
        let subscripts = match item {
            Item::Load(x) if x.array == array => &x.subscripts,
            Item::Store(x) if x.array == array => &x.subscripts,
            Item::For(x) => {
                lengths_of(&x.body, array, lengths);
                continue;
            }
            Item::If(x) => {
                lengths_of(&x.then, array, lengths);
                lengths_of(&x.otherwise, array, lengths);
                continue;
            }
            _ => continue,
        };
        let factors =
            subscripts[0].terms().filter(|(monomial, _)| !monomial.is_empty()).map(|(_, factor)| factor.abs());
        lengths.extend(factors.filter(|factor| *factor > 1));
    }
}

struct Splitter<'a> {
    array: ArrayId,
    length: i128,
    decider: &'a mut Decider,
    given: Vec<Constraint>,
}

impl Splitter<'_> {
    /// The items with the array's first subscripts split; `None` where one is not shown to be.
    fn items(&mut self, items: &[Item]) -> Option<Vec<Item>> {
        items.iter().map(|item| self.item(item)).collect()
    }

    fn item(&mut self, item: &Item) -> Option<Item> {
        let mut item = item.clone();
        match &mut item {
            Item::Load(x) if x.array == self.array => x.subscripts = self.subscripts(&x.subscripts)?,
            Item::Store(x) if x.array == self.array => x.subscripts = self.subscripts(&x.subscripts)?,
            Item::For(x) => {
                let length = self.given.len();
                let var = Affine::var(x.var);
                self.given.extend(x.lower.iter().map(|low| Constraint::at_least(&var, low)));
                self.given.extend(x.upper.iter().map(|high| Constraint::less(&var, high)));
                x.body = self.items(&x.body)?;
                self.given.truncate(length);
            }
            Item::If(x) => {
                x.then = self.items(&x.then)?;
                x.otherwise = self.items(&x.otherwise)?;
            }
            _ => {}
        }
        Some(item)
    }

    fn subscripts(&mut self, subscripts: &[Affine]) -> Option<Vec<Affine>> {
        let (first, others) = subscripts.split_first()?;
        let mut column = Affine::default();
        for (monomial, factor) in first.terms() {
            if factor % self.length != 0 || monomial.is_empty() {
                column = column.plus(factor, &super::touched::product(monomial));
            }
        }
        // Whole rows in the constant part are rows.
        let constant = column.constant_term();
        let inside = constant.rem_euclid(self.length);
        let column = [inside, inside - self.length].into_iter().find_map(|rest| {
            let column = column.offset(rest - constant);
            let facts = [
                Constraint::at_least(&column, &Affine::default()),
                Constraint::less(&column, &Affine::constant(self.length)),
            ];
            facts.iter().all(|fact| self.decider.implies(&self.given, fact)).then_some(column)
        })?;
        let row = first.plus(-1, &column).floor_div(self.length);
        row.times(self.length).plus(1, &column).same(first).then(|| [vec![row, column], others.to_vec()].concat())
    }
}
