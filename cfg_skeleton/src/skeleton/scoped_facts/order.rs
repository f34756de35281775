//! Which integers are less than which: what was compared, one after the other.
//!
//! `x < y` says `x + 1 <= y`. Such sums are edges of a graph; `x` is less than `y` where a path leads from one to the
//! other whose steps come to more than nothing. An integer is another one and a constant only where that does not
//! overflow.

use super::integers::Integers;
use crate::egraph::known::Computes;
use rewright_typeprop::{Known, Model};
use std::collections::BTreeMap;

/// How many steps a path has.
const MAX_STEPS: usize = 6;

/// How integers are read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Sign {
    Signed,
    Unsigned,
}

/// `less + by <= more`
#[derive(Clone, Copy, Debug)]
struct Step {
    less: usize,
    more: usize,
    by: i128,
}

/// What was compared.
#[derive(Clone, Debug)]
pub(super) struct Order {
    sign: Sign,
    steps: Vec<Step>,
}

impl Order {
    pub(super) fn new(sign: Sign) -> Self {
        Order { sign, steps: vec![] }
    }

    /// A comparison holds.
    pub(super) fn note(&mut self, model: Model, x: usize, y: usize) {
        let signed = self.sign == Sign::Signed;
        let mut step = |less, more, by| self.steps.push(Step { less, more, by });
        match model {
            Model::Eq => {
                step(x, y, 0);
                step(y, x, 0);
            }
            Model::Slt if signed => step(x, y, 1),
            Model::Sle if signed => step(x, y, 0),
            Model::Sgt if signed => step(y, x, 1),
            Model::Sge if signed => step(y, x, 0),
            Model::Ult if !signed => step(x, y, 1),
            Model::Ule if !signed => step(x, y, 0),
            Model::Ugt if !signed => step(y, x, 1),
            Model::Uge if !signed => step(y, x, 0),
            _ => {}
        }
    }

    /// Whether a comparison holds, as far as the order tells.
    pub(super) fn decides(
        &self,
        integers: &Integers,
        known: &impl Fn(usize) -> Option<Known>,
        model: Model,
        x: usize,
        y: usize,
    ) -> Option<bool> {
        let of_the_other = match self.sign {
            Sign::Signed => (Model::Ult..=Model::Uge).contains(&model),
            Sign::Unsigned => (Model::Slt..=Model::Sge).contains(&model),
        };
        if self.steps.is_empty() || of_the_other {
            return None;
        }
        let steps = self.with_sums(integers, known, [x, y]);
        let farthest = |from: usize, to: usize| farthest(&steps, from).get(&to).copied();
        let (up, down) = (farthest(x, y), farthest(y, x));
        let less = up.is_some_and(|by| by > 0);
        let more = down.is_some_and(|by| by > 0);
        let (not_more, not_less) = (up.is_some_and(|by| by >= 0), down.is_some_and(|by| by >= 0));
        let outcome = |holds: bool, fails: bool| if holds { Some(true) } else { fails.then_some(false) };
        match model {
            Model::Slt | Model::Ult => outcome(less, not_less),
            Model::Sle | Model::Ule => outcome(not_more, more),
            Model::Sgt | Model::Ugt => outcome(more, not_more),
            Model::Sge | Model::Uge => outcome(not_less, less),
            Model::Eq => outcome(not_more && not_less, less || more),
            Model::Ne => outcome(less || more, not_more && not_less),
            _ => None,
        }
    }

    /// The steps, and those between integers and their sums with constants that do not overflow.
    fn with_sums(&self, integers: &Integers, known: &impl Fn(usize) -> Option<Known>, asked: [usize; 2]) -> Vec<Step> {
        let mut classes: Vec<usize> = self.steps.iter().flat_map(|step| [step.less, step.more]).chain(asked).collect();
        classes.sort_unstable();
        classes.dedup();
        let mut steps = self.steps.clone();
        for sum in classes {
            for term in integers.terms_of(sum) {
                let (Computes::Model(Model::Add), &[a, b]) = (term.computes, &term.children[..]) else { continue };
                for (x, constant) in [(a, b), (b, a)] {
                    let Some(by) = known(constant).and_then(Known::single) else { continue };
                    let Some(by) = known(x).and_then(|known| self.exact(known, by)) else { continue };
                    steps.push(Step { less: x, more: sum, by });
                    steps.push(Step { less: sum, more: x, by: -by });
                }
            }
        }
        steps
    }

    /// By how much a sum with a constant is more, where it does not overflow.
    fn exact(&self, x: Known, constant: i64) -> Option<i128> {
        let top = Known::top(x.bits());
        let bounds = |known: Known| match self.sign {
            Sign::Signed => (i128::from(known.signed().0), i128::from(known.signed().1)),
            Sign::Unsigned => (i128::from(known.unsigned().0), i128::from(known.unsigned().1)),
        };
        // A constant is a signed number for both: without signs a sum with a negative one is a difference.
        let (by, (least, greatest), (lowest, highest)) = (i128::from(constant), bounds(x), bounds(top));
        (least + by >= lowest && greatest + by <= highest).then_some(by)
    }
}

/// By integer that is reached from another one: the most by which it is at least greater.
fn farthest(steps: &[Step], from: usize) -> BTreeMap<usize, i128> {
    let mut found = BTreeMap::from([(from, 0i128)]);
    for _ in 0..MAX_STEPS {
        let before = found.clone();
        for step in steps {
            let Some(at) = before.get(&step.less) else { continue };
            let reached = at + step.by;
            let best = found.entry(step.more).or_insert(reached);
            *best = reached.max(*best);
        }
        if found == before {
            break;
        }
    }
    found
}
