//! Removal of unused bindings.

use super::substitute::{each_affine, each_affine_of};
use super::{Item, Nest, Pool, Var};
use rustc_hash::FxHashSet;

impl Nest {
    /// Drops bindings of variables that nothing in the nest names.
    pub fn drop_unused_bindings(&mut self, pool: &Pool) {
        loop {
            let mut used = FxHashSet::default();
            each_affine(pool, &self.items, &mut |affine| used.extend(affine.vars()));
            each_affine_of(pool, &self.results, &mut |affine| used.extend(affine.vars()));
            if !drop_but(&mut self.items, &used) {
                return;
            }
        }
    }
}

/// Drops bindings of other variables; whether there were any.
fn drop_but(items: &mut Vec<Item>, used: &FxHashSet<Var>) -> bool {
    let length = items.len();
    items.retain(|item| !matches!(item, Item::Bind(bind) if !used.contains(&bind.var)));
    let mut dropped = items.len() < length;
    for item in items {
        dropped |= match item {
            Item::For(x) => drop_but(&mut x.body, used),
            Item::If(x) => drop_but(&mut x.then, used) | drop_but(&mut x.otherwise, used),
            _ => false,
        };
    }
    dropped
}
