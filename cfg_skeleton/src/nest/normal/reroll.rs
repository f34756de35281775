//! `for i = 0 to n { B(c * i), .., B(c * i + c - 1) }` is `for j = 0 to c * n { B(j) }`.

use super::super::certificate::Step;
use super::super::same::Same;
use super::super::substitute::{Substitution, each_affine, replaced};
use super::super::{Affine, For, Item};
use super::Normaliser;
use super::loops::counts_from_zero;
use rustc_hash::FxHashMap;

impl Normaliser<'_> {
    pub(super) fn reroll(&mut self, x: &For) -> Option<For> {
        if !counts_from_zero(x) {
            return None;
        }
        let copies = (2..=x.body.len()).rev().filter(|c| x.body.len().is_multiple_of(*c));
        let rolled = copies.into_iter().find_map(|copies| Some((copies, self.rerolled(x, copies)?)));
        if let Some((copies, rolled)) = rolled {
            self.steps.push(Step::Reroll(copies as u32));
            return Some(rolled);
        }
        let copies = (2..x.body.len()).rev().filter(|c| (x.body.len() - 2).is_multiple_of(*c));
        let (copies, rolled) = copies.into_iter().find_map(|copies| {
            let body = self.stepwise(x, copies)?;
            Some((copies, self.rerolled(&For { body, ..x.clone() }, copies)?))
        })?;
        self.steps.push(Step::RerollCarried(copies as u32));
        Some(rolled)
    }

    fn rerolled(&mut self, x: &For, copies: usize) -> Option<For> {
        let factor = copies as i128;
        let (first, _) = x.body.split_at(x.body.len() / copies);
        let template = self.divided(x, first, factor)?;
        for (n, copy) in x.body.chunks(first.len()).enumerate() {
            let at = Affine::var(x.var).times(factor).offset(n as i128);
            let expected = replaced(self.pool, &template, x.var, &at);
            if !Same::within(self.pool, self.nest, FxHashMap::default()).items(&expected, copy) {
                return None;
            }
        }
        let upper = x.upper.iter().map(|u| u.times(factor)).collect();
        Some(For { upper, lower: x.lower.clone(), body: template, ..*x })
    }

    /// The items as a function of `factor * var`, where they are one.
    fn divided(&mut self, x: &For, items: &[Item], factor: i128) -> Option<Vec<Item>> {
        let mut whole = true;
        each_affine(self.pool, items, &mut |a| whole &= a.with_var_divided(x.var, factor).is_some());
        if !whole {
            return None;
        }
        let mut map = |a: &Affine| a.with_var_divided(x.var, factor).unwrap_or_else(|| a.clone());
        Some(Substitution::new(&mut map).items(self.pool, items))
    }
}
