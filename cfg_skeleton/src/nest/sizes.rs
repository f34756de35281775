//! Which sizes to try, and under which lower bounds of sizes something holds.

use super::affine::{Affine, Atom, Var};
use super::constraint::Constraint;
use super::input::mix;
use super::predicate::{Conjunction, Decider};
use super::{Item, Nest, Origin, Size};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

/// A lower bound for each size, or none.
pub(crate) type Bounds = Vec<(Var, Option<i128>)>;

/// The strongest lower bound that is tried.
pub(crate) const LARGE: i128 = 2;

/// Lower bounds that are tried, strongest first.
const STEPS: [Option<i128>; 4] = [Some(LARGE), Some(1), Some(0), None];

/// The bounds as constraints.
pub(crate) fn constraints(bounds: &Bounds) -> Conjunction {
    let bound = |(var, bound): &(Var, Option<i128>)| {
        bound.map(|b| Constraint::at_least(&Affine::var(*var), &Affine::constant(b)))
    };
    bounds.iter().filter_map(bound).collect()
}

/// What always holds of sizes.
pub(crate) fn facts(sizes: &[Size]) -> Conjunction {
    let mut facts = vec![];
    for size in sizes {
        let var = Affine::var(size.var);
        match size.origin {
            Origin::Extent(..) => facts.push(Constraint::at_least(&var, &Affine::default())),
            Origin::Argument(_, Some(width @ 1..=60)) => {
                let half = 1i128 << (width - 1);
                facts.push(Constraint::at_least(&var, &Affine::constant(-half)));
                facts.push(Constraint::less(&var, &Affine::constant(half)));
            }
            Origin::Argument(..) => {}
        }
    }
    facts
}

/// The weakest bounds of those that are tried under which no case is possible; `None` where there are none.
pub(crate) fn excluding(decider: &mut Decider, sizes: &[Size], cases: &[Conjunction]) -> Option<Bounds> {
    weakest(sizes, &mut |bounds| {
        let given = constraints(bounds);
        cases.iter().all(|case| {
            let all: Conjunction = case.iter().chain(&given).cloned().collect();
            decider.impossible(&all)
        })
    })
}

/// The weakest bounds of those that are tried for which `holds`, one size after another.
pub(crate) fn weakest(sizes: &[Size], holds: &mut dyn FnMut(&Bounds) -> bool) -> Option<Bounds> {
    let free: Bounds = sizes.iter().map(|s| (s.var, None)).collect();
    if holds(&free) {
        return Some(free);
    }
    let uniform = |bound| sizes.iter().map(|s| (s.var, bound)).collect::<Bounds>();
    let mut bounds = [Some(0), Some(1), Some(LARGE)].into_iter().map(uniform).find(|bounds| holds(bounds))?;
    for at in 0..bounds.len() {
        let start = bounds[at].1;
        for step in STEPS.into_iter().filter(|step| *step < start) {
            let before = bounds[at].1;
            bounds[at].1 = step;
            if !holds(&bounds) {
                bounds[at].1 = before;
                break;
            }
        }
    }
    Some(bounds)
}

/// The bounds as text.
pub(crate) fn show(bounds: &Bounds, sizes: &[Size]) -> Vec<String> {
    let name = |var: Var| sizes.iter().find(|s| s.var == var).map_or_else(String::new, |s| s.name.clone());
    bounds.iter().filter_map(|(var, bound)| bound.map(|b| format!("{} >= {b}", name(*var)))).collect()
}

/// Sizes to run with: small ones, those around multiples of tile sizes, mixtures, and, if `odd`, negative ones.
pub(crate) fn samples(nest: &Nest, rounds: u64, odd: bool) -> Vec<FxHashMap<Var, i128>> {
    let uniform: &[i128] = if odd { &[-1, 0, -2, -3, -5, -7] } else { &[5, 7, 3, 2, 1, 4, 9, 13, 6, 8, 18, 35] };
    let mixed: &[i128] = if odd {
        &[-9, -7, -5, -3, -2, -1, 0, 1, 2, 3, 5, 7, 9]
    } else {
        &[1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 13, 17, 18, 33]
    };
    let all = |value: i128| nest.sizes.iter().map(|s| (s.var, limit(s, value))).collect();
    let mut result: Vec<FxHashMap<Var, i128>> = uniform.iter().map(|&value| all(value)).collect();
    if nest.sizes.is_empty() {
        result.truncate(1);
        return result;
    }
    for round in 0..rounds {
        let pick = |(n, s): (usize, &Size)| {
            let hash = mix(mix(round) ^ n as u64);
            (s.var, limit(s, mixed[(hash % mixed.len() as u64) as usize]))
        };
        result.push(nest.sizes.iter().enumerate().map(pick).collect());
    }
    result
}

/// Sizes around the constants of both nests (bounds, extents), one size at a time: there programs change what they do.
pub(crate) fn landmarks(before: &Nest, after: &Nest) -> Vec<FxHashMap<Var, i128>> {
    let mut constants = BTreeSet::new();
    for nest in [before, after] {
        bounds_of(&nest.items, &mut |bound| {
            constants.extend(bound.terms().map(|(_, c)| c.abs()));
            bound.each_atom(&mut |atom| {
                if let Atom::Floor(_, divisor) = atom {
                    constants.insert(*divisor);
                }
            });
        });
        let extents = nest.arrays.iter().flat_map(|a| &a.shape).flatten();
        constants.extend(extents.filter_map(Affine::as_constant));
    }
    let mut result = vec![];
    for constant in constants.into_iter().filter(|c| (2..=MAX_LANDMARK).contains(c)) {
        for size in &before.sizes {
            let value = |s: &Size| if s.var == size.var { constant + 1 } else { 3 };
            result.push(before.sizes.iter().map(|s| (s.var, limit(s, value(s)))).collect());
        }
    }
    result.truncate(MAX_LANDMARKS);
    result
}

/// Constants above this are not tried as sizes.
const MAX_LANDMARK: i128 = 5000;

/// No more sizes than this are made from constants.
const MAX_LANDMARKS: usize = 40;

fn bounds_of(items: &[Item], visit: &mut dyn FnMut(&Affine)) {
    for item in items {
        match item {
            Item::For(x) => {
                x.lower.iter().chain(&x.upper).for_each(&mut *visit);
                bounds_of(&x.body, visit);
            }
            Item::If(x) => {
                bounds_of(&x.then, visit);
                bounds_of(&x.otherwise, visit);
            }
            _ => {}
        }
    }
}

/// Sizes below the bounds, one size at a time, with others that let loops run.
pub(crate) fn beyond(sizes: &[Size], bounds: &Bounds) -> Vec<FxHashMap<Var, i128>> {
    let mut result = vec![];
    for (var, bound) in bounds {
        let Some(bound) = bound else { continue };
        for value in bound - 6..*bound {
            let of = |s: &Size| if s.var == *var { value } else { OTHER };
            result.push(sizes.iter().map(|s| (s.var, limit(s, of(s)))).collect());
        }
    }
    result
}

/// Of a size that lets loops run.
const OTHER: i128 = 5;

/// The value, where the size can have it.
fn limit(size: &Size, value: i128) -> i128 {
    match size.origin {
        Origin::Extent(..) => value.max(0),
        Origin::Argument(_, Some(width @ 1..=8)) => value.rem_euclid(1 << (width - 1)),
        Origin::Argument(..) => value,
    }
}
