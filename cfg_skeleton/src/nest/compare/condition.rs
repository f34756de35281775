//! For which sizes versions do the same, where bounds of sizes do not say it: `n % 4 == 0`, `m <= n`, and unions.
//!
//! Runs on all small sizes show where versions differ. A union of conjunctions that holds nowhere there, and wherever they
//! agree and do something, is guessed; then each conjunction is proved to suffice. So a condition is exact as far as runs
//! have seen, and holds as far as proofs show.

use super::super::certificate::Case;
use super::super::constraint::Constraint;
use super::super::datapath::Asked;
use super::super::difference::{Runs, executes, find};
use super::super::predicate::Decider;
use super::super::{Affine, Size, Var};
use super::Comparison;
use rustc_hash::FxHashMap;

/// With more sizes, nothing is guessed.
const MAX_SIZES: usize = 3;

/// The range of each size, by how many there are.
const RANGES: [std::ops::RangeInclusive<i128>; MAX_SIZES] = [-6..=24, -2..=8, -1..=4];

/// Values of all sizes that are tried first: most versions that are wrong are wrong for all of them.
const UNIFORM: [i128; 7] = [4, 3, 2, 1, 5, 6, 8];

/// The largest divisor that is tried.
const MAX_DIVISOR: i128 = 8;

/// No condition has more parts.
const MAX_PARTS: usize = 3;

/// No part has more conjuncts.
const MAX_CONJUNCTS: usize = 4;

/// Loads, stores and iterations of a run.
const FUEL: u64 = 4_000;

/// Of the budget for a proof, a part is for those of guesses.
const SHARE: u64 = 30;

type Sizes = FxHashMap<Var, i128>;

/// A condition that may be part of others.
#[derive(Clone, Debug)]
struct Atom {
    text: String,
    constraint: Constraint,
    /// At which of the tried sizes it holds.
    holds: Vec<bool>,
}

/// What runs have shown at some sizes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Seen {
    Differ,
    Agree,
    /// Nothing was executed.
    Nothing,
}

/// Sizes for which versions do the same.
pub(super) struct Condition {
    parts: Vec<Vec<Atom>>,
    /// A proof for each part.
    pub(super) cases: Vec<Case>,
    /// Wherever versions were seen to differ, the first one does nothing.
    pub(super) is_idle_elsewhere: bool,
}

impl Condition {
    pub(super) fn holds(&self, sizes: &Sizes) -> bool {
        self.parts.iter().any(|part| part.iter().all(|atom| holds(&atom.constraint, sizes)))
    }

    pub(super) fn text(&self) -> String {
        let several = self.parts.len() > 1;
        let part = |part: &Vec<Atom>| {
            let text: Vec<&str> = part.iter().map(|atom| atom.text.as_str()).collect();
            if several && text.len() > 1 { format!("({})", text.join(" and ")) } else { text.join(" and ") }
        };
        self.parts.iter().map(part).collect::<Vec<_>>().join(" or ")
    }
}

fn holds(constraint: &Constraint, sizes: &Sizes) -> bool {
    let value = constraint.expr.eval(&|var| sizes.get(&var).copied());
    value.is_some_and(|value| value == 0 || (value > 0 && !constraint.equality))
}

impl Comparison<'_> {
    /// Exactly the sizes for which both do the same, as far as runs show, where that is found and proved.
    pub(super) fn condition(&mut self) -> Option<Condition> {
        if self.before.sizes.is_empty() || self.before.sizes.len() > MAX_SIZES || self.overlapping().is_some() {
            return None;
        }
        let (sizes, seen): (Vec<Sizes>, Vec<Seen>) = self.seen()?.into_iter().unzip();
        let atoms = atoms(&self.before.sizes, &sizes);
        let parts = guess(&atoms, &seen)?;
        let cases = parts.iter().map(|part| self.suffices(part)).collect::<Option<_>>()?;
        let mut differ = sizes.iter().zip(&seen).filter(|(_, seen)| **seen == Seen::Differ);
        let is_idle_elsewhere = differ.all(|(sizes, _)| !executes(self.pool, self.before, sizes, FUEL));
        Some(Condition { parts, cases, is_idle_elsewhere })
    }

    /// What runs show at small sizes; `None` where they agree nowhere, or on none of a few sizes that are the same.
    fn seen(&self) -> Option<Vec<(Sizes, Seen)>> {
        let runs = Runs { fuel: FUEL, ..self.runs(1) };
        let at = |sizes: Sizes| {
            let nests = [self.before, self.after];
            let differ = find(self.pool, nests, std::slice::from_ref(&sizes), &|_| true, &runs).is_some();
            let seen = match differ {
                true => Seen::Differ,
                false if nests.iter().any(|nest| executes(self.pool, nest, &sizes, FUEL)) => Seen::Agree,
                false => Seen::Nothing,
            };
            (sizes, seen)
        };
        let uniform = |value: i128| self.before.sizes.iter().map(|size| (size.var, value)).collect::<Sizes>();
        if UNIFORM.map(uniform).into_iter().all(|sizes| at(sizes).1 != Seen::Agree) {
            return None;
        }
        let all = grid(&self.before.sizes).into_iter().filter(|sizes| self.facts.iter().all(|fact| holds(fact, sizes)));
        let seen: Vec<(Sizes, Seen)> = all.map(at).collect();
        seen.iter().any(|(_, seen)| *seen == Seen::Agree).then_some(seen)
    }

    /// A proof that both do the same where all conjuncts hold.
    fn suffices(&mut self, part: &[Atom]) -> Option<Case> {
        let (length, budget) = (self.facts.len(), self.options.budget / SHARE);
        let decider = std::mem::replace(&mut self.decider, Decider::new(budget));
        let asked = std::mem::replace(&mut self.asked, Asked::none());
        self.facts.extend(part.iter().map(|atom| atom.constraint.clone()));
        let (left, right) = self.normal_forms();
        let failing = self.failing(&left, &right);
        let shown = self.by_sequence(&left, &right, &failing, false).ok();
        let shown = shown.or_else(|| self.by_values(&left, &right, &failing).ok());
        let shown = shown.or_else(|| self.by_order(&left, &right, &failing).ok());
        self.facts.truncate(length);
        (self.decider, self.asked) = (decider, asked);
        let shown = shown.filter(|shown| shown.bounds.iter().all(|(_, bound)| bound.is_none()))?;
        let conjuncts = part.iter().map(|atom| atom.text.clone());
        let precondition = self.assumed.iter().cloned().chain(conjuncts).collect();
        Some(Case { precondition, before: left.changes, after: right.changes, reason: shown.reason })
    }
}

/// All small sizes.
fn grid(sizes: &[Size]) -> Vec<Sizes> {
    let mut all = vec![Sizes::default()];
    for size in sizes {
        let range = RANGES[sizes.len() - 1].clone();
        let with = |sizes: &Sizes| {
            let sizes = sizes.clone();
            range.clone().map(move |value| {
                let mut sizes = sizes.clone();
                sizes.insert(size.var, value);
                sizes
            })
        };
        all = all.iter().flat_map(with).collect();
    }
    all
}

/// Conditions on one size and on two; those that say more about large sizes come first.
fn atoms(sizes: &[Size], tried: &[Sizes]) -> Vec<Atom> {
    let mut atoms: Vec<Atom> = vec![];
    let mut add = |text: String, constraint: Constraint| {
        let holds = tried.iter().map(|sizes| holds(&constraint, sizes)).collect();
        atoms.push(Atom { text, constraint, holds });
    };
    let range = RANGES[sizes.len() - 1].clone();
    for size in sizes {
        let (name, var) = (&size.name, Affine::var(size.var));
        for value in range.clone() {
            add(format!("{name} >= {value}"), Constraint::at_least(&var, &Affine::constant(value)));
        }
        for divisor in 2..=MAX_DIVISOR {
            for rest in 0..divisor {
                let constraint = Constraint::equal(&var.modulo(divisor), &Affine::constant(rest));
                add(format!("{name} % {divisor} == {rest}"), constraint);
            }
        }
        for value in range.clone().rev() {
            add(format!("{name} <= {value}"), Constraint::at_least(&Affine::constant(value), &var));
        }
    }
    for a in sizes {
        for b in sizes.iter().filter(|b| b.var != a.var) {
            let (x, y) = (Affine::var(a.var), Affine::var(b.var));
            for distance in -2..=2i128 {
                let sum = match distance {
                    0 => b.name.clone(),
                    1.. => format!("{} + {distance}", b.name),
                    _ => format!("{} - {}", b.name, -distance),
                };
                add(format!("{} <= {sum}", a.name), Constraint::at_least(&y.offset(distance), &x));
                if a.var < b.var {
                    add(format!("{} == {sum}", a.name), Constraint::equal(&x, &y.offset(distance)));
                }
            }
        }
    }
    atoms
}

/// A union that holds wherever versions agree and do something, and nowhere where they differ.
fn guess(atoms: &[Atom], seen: &[Seen]) -> Option<Vec<Vec<Atom>>> {
    let mut open: Vec<bool> = seen.iter().map(|seen| *seen == Seen::Agree).collect();
    let mut parts = vec![];
    while open.iter().any(|open| *open) {
        if parts.len() == MAX_PARTS {
            return None;
        }
        let part = Choice { atoms, seen, open: &open, best: None }.conjunction()?;
        for (at, open) in open.iter_mut().enumerate() {
            *open &= !part.iter().all(|atom| atom.holds[at]);
        }
        parts.push(part);
    }
    Some(parts)
}

/// What a conjunction is worth: at how many open sizes it holds, and at how many at which versions do not differ.
type Worth = (usize, usize);

/// Chooses a conjunction that holds nowhere where versions differ, and at as many open sizes as one finds.
struct Choice<'a> {
    atoms: &'a [Atom],
    seen: &'a [Seen],
    open: &'a [bool],
    best: Option<(Worth, Vec<&'a Atom>)>,
}

impl<'a> Choice<'a> {
    /// Of one conjunct, of two, or of more that are added one by one.
    fn conjunction(mut self) -> Option<Vec<Atom>> {
        let atoms = self.atoms;
        for atom in atoms {
            self.offer(&atom.holds, vec![atom]);
        }
        if !self.is_whole() {
            for (n, a) in atoms.iter().enumerate() {
                for b in &atoms[..n] {
                    self.offer(&both(&a.holds, &b.holds), vec![b, a]);
                }
            }
        }
        if !self.is_whole() {
            self.one_by_one();
        }
        self.best.map(|(_, part)| part.into_iter().cloned().collect())
    }

    /// Whether the best one holds at all open sizes.
    fn is_whole(&self) -> bool {
        let all = self.open.iter().filter(|open| **open).count();
        self.best.as_ref().is_some_and(|((most, _), _)| *most == all)
    }

    /// Each further conjunct keeps as many open sizes as it can, and then excludes as much as it can.
    fn one_by_one(&mut self) {
        let (mut here, mut part) = (vec![true; self.seen.len()], vec![]);
        while part.len() < MAX_CONJUNCTS && self.differing(&here) > 0 {
            let gain = |atom: &&Atom| {
                let with = both(&here, &atom.holds);
                (self.worth(&with).0, std::cmp::Reverse(self.differing(&with)))
            };
            let useful = self.atoms.iter().filter(|a| self.differing(&both(&here, &a.holds)) < self.differing(&here));
            // The first of the best.
            let Some(next) = useful.rev().max_by_key(gain) else { return };
            here = both(&here, &next.holds);
            part.push(next);
            self.offer(&here, part.clone());
        }
    }

    fn offer(&mut self, holds: &[bool], part: Vec<&'a Atom>) {
        let worth = self.worth(holds);
        let is_better = self.best.as_ref().is_none_or(|(most, of)| {
            worth.0 > most.0 || (worth.0 == most.0 && part.len() == of.len() && worth.1 > most.1)
        });
        if worth.0 > 0 && is_better && self.differing(holds) == 0 {
            self.best = Some((worth, part));
        }
    }

    /// A condition that holds at more sizes at which nothing happens says less, and is preferred.
    fn worth(&self, holds: &[bool]) -> Worth {
        let count = |of: &dyn Fn(usize) -> bool| (0..holds.len()).filter(|n| holds[*n] && of(*n)).count();
        (count(&|n| self.open[n]), count(&|n| self.seen[n] != Seen::Differ))
    }

    fn differing(&self, holds: &[bool]) -> usize {
        holds.iter().zip(self.seen).filter(|(holds, seen)| **holds && **seen == Seen::Differ).count()
    }
}

fn both(a: &[bool], b: &[bool]) -> Vec<bool> {
    a.iter().zip(b).map(|(a, b)| *a && *b).collect()
}
