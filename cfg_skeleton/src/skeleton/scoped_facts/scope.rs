//! What holds at a place: conditions that were tested on the way there, and what follows from them.

use super::Assumption;
use super::integers::Integers;
use super::order::{Order, Sign};
use crate::egraph::ClassId;
use crate::egraph::known::{Computes, IntTerm};
use rewright_typeprop::{Known, Model};
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;

/// How deep terms are looked at to find out what is known of one.
const MAX_DEPTH: u32 = 6;

/// How many terms are looked at for one answer, and how many for what one condition says.
const FUEL: u32 = 200;

/// How many conditions are noted; the outermost ones are.
const MAX_CONDITIONS: u32 = 32;

/// What holds at a place.
#[derive(Clone)]
pub(in super::super) struct Scope {
    integers: Rc<Integers>,
    /// By class: what is known here, where that is more than everywhere.
    here: FxHashMap<usize, Known>,
    /// Those classes, and those that are computed from them: of others nothing more is known than everywhere.
    affected: FxHashSet<usize>,
    signed: Order,
    unsigned: Order,
    /// How many conditions were noted.
    conditions: u32,
}

impl Scope {
    /// Where nothing was tested.
    pub(super) fn new(integers: Rc<Integers>) -> Self {
        let (signed, unsigned) = (Order::new(Sign::Signed), Order::new(Sign::Unsigned));
        Scope { integers, here: FxHashMap::default(), affected: FxHashSet::default(), signed, unsigned, conditions: 0 }
    }

    /// Whether a condition is other than zero, if that is known.
    pub(in super::super) fn decides(&self, condition: ClassId) -> Option<bool> {
        let known = self.known(condition)?;
        match (known.allows(0), known.single()) {
            (false, _) => Some(true),
            (true, Some(_)) => Some(false),
            (true, None) => self.integers.comparisons(condition.index()).find_map(|(model, x, y)| {
                let known = |class| self.of(class);
                [&self.signed, &self.unsigned]
                    .into_iter()
                    .find_map(|order| order.decides(&self.integers, &known, model, x, y))
            }),
        }
    }

    /// What is known of a class here.
    pub(in super::super) fn known(&self, class: ClassId) -> Option<Known> {
        self.of(class.index())
    }

    /// The same, as far as it was noted.
    pub(super) fn narrowed(&self, class: ClassId) -> Option<Known> {
        self.here.get(&class.index()).copied().or(self.integers.everywhere[class.index()])
    }

    fn of(&self, class: usize) -> Option<Known> {
        self.at_depth(class, MAX_DEPTH, &mut { FUEL })
    }

    fn at_depth(&self, class: usize, depth: u32, fuel: &mut u32) -> Option<Known> {
        let mut known = self.here.get(&class).copied().or(self.integers.everywhere[class])?;
        if depth == 0 || known.single().is_some() || !self.affected.contains(&class) {
            return Some(known);
        }
        let is_affected = |term: &&IntTerm| term.children.iter().any(|child| self.affected.contains(child));
        let terms = self.integers.terms_of(class).filter(|term| matches!(term.computes, Computes::Model(_)));
        for term in terms.filter(is_affected) {
            let Some(left) = fuel.checked_sub(1) else { break };
            *fuel = left;
            let mut is_narrower = false;
            let operands = term.operands(|child| {
                let known = self.at_depth(child, depth - 1, fuel);
                is_narrower |= known != self.integers.everywhere[child];
                known
            });
            // What it says otherwise is known everywhere.
            let value = is_narrower.then(|| term.value_of(operands.as_deref())).flatten();
            // Where both cannot be, nothing is executed here.
            known = value.and_then(|value| known.meet(value)).unwrap_or(known);
        }
        Some(known)
    }

    /// From here on this holds.
    pub(super) fn hold(&mut self, assumption: Assumption) {
        match assumption {
            Assumption::Condition(class, holds) => self.assume(class, holds),
            Assumption::Constant(class, constant) => self.assume_constant(class, constant),
        }
    }

    /// From here on a class is this constant.
    fn assume_constant(&mut self, class: ClassId, constant: i64) {
        if let Some(known) = self.known(class) {
            self.narrow(class.index(), Known::constant(known.bits(), constant));
        }
    }

    /// From here on a condition is other than zero, or zero.
    pub(super) fn assume(&mut self, condition: ClassId, holds: bool) {
        if self.conditions == MAX_CONDITIONS {
            return;
        }
        self.conditions += 1;
        let mut work = vec![(condition.index(), holds)];
        let mut fuel = FUEL;
        while let Some((class, holds)) = work.pop() {
            let Some(left) = fuel.checked_sub(1) else { return };
            fuel = left;
            let Some(known) = self.of(class) else { continue };
            let zero = Known::constant(known.bits(), 0);
            if let Some((known, _)) = Model::Eq.refine(!holds, known, zero) {
                self.narrow(class, known);
            }
            let integers = self.integers.clone();
            for term in integers.terms_of(class) {
                let Computes::Model(model) = term.computes else { continue };
                match (model, &term.children[..]) {
                    (Model::Truth | Model::Zext | Model::Sext | Model::Bmask, [x]) => work.push((*x, holds)),
                    (Model::And, [x, y]) if holds => work.extend([(*x, true), (*y, true)]),
                    (Model::Or, [x, y]) if !holds => work.extend([(*x, false), (*y, false)]),
                    (Model::Xor, [x, y]) => work.extend(self.negated(*x, *y).map(|x| (x, !holds))),
                    (_, [x, y]) => work.extend(self.compare(model, holds, *x, *y)),
                    _ => {}
                }
            }
        }
    }

    /// What is 0 where the exclusive or of two integers is not, and the other way round.
    fn negated(&self, x: usize, y: usize) -> Option<usize> {
        let is_truth = |class| self.of(class).is_some_and(|known| known.unsigned().1 <= 1);
        let is_one = |class| self.of(class).and_then(Known::single) == Some(1);
        [(x, y), (y, x)].into_iter().find_map(|(x, y)| (is_truth(x) && is_one(y)).then_some(x))
    }

    /// Notes how a comparison came out. Gives what is zero, or other than zero, because of that.
    fn compare(&mut self, model: Model, holds: bool, x: usize, y: usize) -> Option<(usize, bool)> {
        let model = if holds { model } else { model.negation()? };
        let (known_x, known_y) = (self.of(x)?, self.of(y)?);
        if let Some((new_x, new_y)) = model.refine(true, known_x, known_y) {
            self.narrow(x, new_x);
            self.narrow(y, new_y);
        }
        self.signed.note(model, x, y);
        self.unsigned.note(model, x, y);
        let zero = |known: Known| known.single() == Some(0);
        let other = if zero(known_y) { x } else { zero(known_x).then_some(y)? };
        match model {
            Model::Eq => Some((other, false)),
            Model::Ne => Some((other, true)),
            _ => None,
        }
    }

    fn narrow(&mut self, class: usize, to: Known) {
        let before = self.here.get(&class).copied().or(self.integers.everywhere[class]);
        let Some((before, after)) = before.and_then(|before| Some((before, before.meet(to)?))) else { return };
        if after != before {
            self.here.insert(class, after);
            self.affect(class);
        }
    }

    /// More is known of a class.
    fn affect(&mut self, class: usize) {
        let mut work = vec![class];
        while let Some(class) = work.pop() {
            if self.affected.insert(class) {
                work.extend(self.integers.computed_from(class));
            }
        }
    }
}
