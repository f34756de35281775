//! The normal form: a nest that executes the same sequence of accesses and events, in a form that many versions share.
//!
//! * Loops count from 0 in steps of 1 ([`count_from_zero`]); bounds that others imply are gone.
//! * Loops that never run are gone, and those that run once are their bodies.
//! * `for step k { B(i) .. B(i + k - 1) }` becomes `for { B }` (`reroll`), `for 0..a { B } for a..b { B }` becomes
//!   `for 0..b { B }` (`merge`), tiles of one loop become the loop (`untile`), and a loop over `N * M` that only looks
//!   at quotients and remainders by `M` becomes two (`split`), also where `M` is a size (`uncoalesce`).
//!
//! All but `merge` and `uncoalesce` are equalities of sequences. These two need a [`Condition`] of the result.

mod carried;
mod loops;
mod merge;
mod reroll;
mod split;
mod uncoalesce;
mod untile;

pub(super) use loops::count_from_zero;

use super::affine::Affine;
use super::certificate::{Changes, Step};
use super::constraint::Constraint;
use super::predicate::{Conjunction, Decider};
use super::sizes::{LARGE, constraints};
use super::{ArrayId, ArrayKind, For, If, Item, Names, Nest, Pool, Value};
use rustc_hash::FxHashSet;

/// Where a nest in normal form may do something else: wherever all constraints of one case hold.
#[derive(Clone, Debug)]
pub(crate) struct Condition {
    /// The cases, with what holds where the loops are.
    pub(crate) failing: Vec<Conjunction>,
}

impl Condition {
    /// For two loops that are taken for one: it has `first` iterations, then the smallest of `rest`. That is right where
    /// neither number is negative, or neither is positive.
    pub(crate) fn joined(given: &Conjunction, first: &Affine, rest: &[Affine]) -> Self {
        let zero = Affine::default();
        let with = |more: Vec<Constraint>| given.iter().cloned().chain(more).collect();
        let mut behind = vec![Constraint::less(first, &zero)];
        behind.extend(rest.iter().map(|r| Constraint::less(&zero, r)));
        let mut failing = vec![with(behind)];
        for r in rest {
            failing.push(with(vec![Constraint::less(&zero, first), Constraint::less(r, &zero)]));
        }
        Condition { failing }
    }

    /// For a loop over products of `size` with `outer` that is taken for two: not where all are negative.
    pub(crate) fn split(given: &Conjunction, size: &Affine, outer: &[Affine]) -> Self {
        let negative = |e: &Affine| Constraint::less(e, &Affine::default());
        let all = std::iter::once(size).chain(outer).map(negative);
        Condition { failing: vec![given.iter().cloned().chain(all).collect()] }
    }
}

/// A nest in normal form.
pub(crate) struct Normal {
    pub(crate) nest: Nest,
    /// Where the nest does what the original does.
    pub(crate) conditions: Vec<Condition>,
    /// The nest before stores to arrays that are not read were dropped, if there were any.
    pub(crate) with_unread: Option<Nest>,
    /// What was done.
    pub(crate) changes: Changes,
}

/// Brings a nest into normal form, where `facts` hold of sizes.
pub(crate) fn normal(
    nest: &Nest,
    (pool, names): (&mut Pool, &mut Names),
    decider: &mut Decider,
    facts: &Conjunction,
) -> Normal {
    let mut normaliser = Normaliser { nest, pool, names, decider, conditions: vec![], steps: vec![] };
    let mut given = facts.clone();
    let (cells_joined, joined) = carried::join_cells(nest, normaliser.pool);
    let mut items = normaliser.items(&cells_joined, &mut given);
    let changes = Changes { joined, steps: normaliser.steps };
    let conditions = normaliser.conditions;
    let whole = items.clone();
    drop_unread(nest, pool, &mut items);
    let with_unread = (whole != items).then(|| Nest { items: whole, ..nest.clone() });
    Normal { nest: Nest { items, ..nest.clone() }, conditions, with_unread, changes }
}

struct Normaliser<'a> {
    nest: &'a Nest,
    pool: &'a mut Pool,
    names: &'a mut Names,
    decider: &'a mut Decider,
    conditions: Vec<Condition>,
    /// What has been done to loops so far.
    steps: Vec<Step>,
}

impl Normaliser<'_> {
    fn items(&mut self, items: &[Item], given: &mut Conjunction) -> Vec<Item> {
        let mut result: Vec<Item> = vec![];
        for item in items {
            for item in self.item(item, given) {
                result.push(item);
                self.merge_last(&mut result, given);
            }
        }
        result
    }

    /// Merges the last two items while they are loops that are one.
    fn merge_last(&mut self, items: &mut Vec<Item>, given: &Conjunction) {
        while let [.., Item::For(a), Item::For(b)] = items.as_slice() {
            let Some(merged) = self.merge(a, b, given) else { break };
            self.steps.push(Step::Merge);
            items.truncate(items.len() - 2);
            items.push(Item::For(merged));
        }
    }

    fn item(&mut self, item: &Item, given: &mut Conjunction) -> Vec<Item> {
        match item {
            Item::For(x) => self.loop_(x, given),
            Item::If(x) => {
                // A branch without effects stays: its condition may be undefined.
                let (then, otherwise) = (self.items(&x.then, given), self.items(&x.otherwise, given));
                vec![Item::If(If { then, otherwise, ..x.clone() })]
            }
            other => vec![other.clone()],
        }
    }

    /// Runs `f` where the loop's variable is in its range, too.
    fn inside<T>(&mut self, x: &For, given: &mut Conjunction, f: impl FnOnce(&mut Self, &mut Conjunction) -> T) -> T {
        let length = given.len();
        given.extend(range(x));
        let result = f(self, given);
        given.truncate(length);
        result
    }

    /// Whether the condition holds for all sizes that are large enough: where it does not, it is about what loops do.
    fn is_about_sizes(&mut self, condition: &Condition) -> bool {
        let large = self.nest.sizes.iter().map(|size| (size.var, Some(LARGE))).collect();
        let large = constraints(&large);
        condition.failing.iter().all(|case| {
            let all: Conjunction = case.iter().chain(&large).cloned().collect();
            self.decider.impossible(&all)
        })
    }

    fn is(&mut self, given: &[Constraint], fact: &Constraint) -> bool {
        self.decider.implies(given, fact)
    }
}

/// What holds of a loop's variable in its body; steps aside.
pub(crate) fn range(x: &For) -> Vec<Constraint> {
    let var = Affine::var(x.var);
    let lower = x.lower.iter().map(|l| Constraint::at_least(&var, l));
    let upper = x.upper.iter().map(|u| Constraint::less(&var, u));
    lower.chain(upper).collect()
}

/// Drops arrays of the function's own that are not read, with what is stored there.
fn drop_unread(nest: &Nest, pool: &Pool, items: &mut Vec<Item>) {
    let mut read: FxHashSet<ArrayId> = nest.given_back(pool).into_iter().collect();
    arrays_read(pool, items, &mut read);
    remove(items, &|array| is_own(nest, array) && !read.contains(&array));
}

fn is_own(nest: &Nest, array: ArrayId) -> bool {
    !matches!(nest.array(array).kind, ArrayKind::Argument(_))
}

fn arrays_read(pool: &Pool, items: &[Item], read: &mut FxHashSet<ArrayId>) {
    for item in items {
        match item {
            Item::Load(x) => drop(read.insert(x.array)),
            Item::For(x) => arrays_read(pool, &x.body, read),
            Item::If(x) => {
                arrays_read(pool, &x.then, read);
                arrays_read(pool, &x.otherwise, read);
            }
            Item::Event(x) => {
                let arrays = x.operands.iter().filter_map(|&o| match pool.get(o) {
                    Value::Array(array) => Some(*array),
                    _ => None,
                });
                read.extend(arrays);
            }
            Item::Store(_) | Item::Trap(..) | Item::Alloc(..) | Item::Bind(_) => {}
        }
    }
}

fn remove(items: &mut Vec<Item>, unread: &dyn Fn(ArrayId) -> bool) {
    items.retain_mut(|item| match item {
        Item::Store(x) => !unread(x.array),
        Item::Alloc(array, _) => !unread(*array),
        Item::For(x) => {
            remove(&mut x.body, unread);
            !x.body.is_empty()
        }
        Item::If(x) => {
            remove(&mut x.then, unread);
            remove(&mut x.otherwise, unread);
            true
        }
        Item::Load(_) | Item::Event(_) | Item::Trap(..) | Item::Bind(_) => true,
    });
}
