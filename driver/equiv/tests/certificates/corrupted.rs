//! Changes to certificates, and whether runs show that what results is wrong.

use super::ran::{Point, Ran};
use rand::Rng;
use rand::seq::{IndexedMutRandom as _, IndexedRandom as _};
use rewright_cfg_skeleton::nest::Var;
use rewright_cfg_skeleton::nest::certificate::{
    Cells, Fact, Flow, Instance, Order, Piece, Polynomial, Reason, Touched, cell_var,
};
use std::collections::BTreeMap;

/// What is changed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Corruption {
    PieceLeftOut,
    SourceLeftOut,
    Source,
    FactLeftOut,
    Fact,
    Relation,
    Touched,
    Match,
    InstanceLeftOut,
    Instance,
}

/// Changes one thing; nothing where there is no such thing.
pub(super) fn corrupt(reason: &mut Reason, rng: &mut impl Rng) -> Option<Corruption> {
    match reason {
        Reason::Cells(cells) => corrupt_cells(cells, rng),
        Reason::Order(order) => corrupt_order(order, rng),
        Reason::Sequence => None,
    }
}

fn corrupt_cells(cells: &mut Cells, rng: &mut impl Rng) -> Option<Corruption> {
    match rng.random_range(0..8) {
        0 => {
            let at = &mut cells.relations.choose_mut(rng)?.at;
            change(at.choose_mut(rng)?, rng);
            return Some(Corruption::Relation);
        }
        1 => {
            let touched = cells.touched.choose_mut(rng)?;
            change(touched.by.choose_mut(rng)?.1.choose_mut(rng)?, rng);
            return Some(Corruption::Touched);
        }
        _ => {}
    }
    let flow = if rng.random_bool(0.5) { &mut cells.before } else { &mut cells.after };
    let pieces = if rng.random_bool(0.7) { &mut flow.loads } else { &mut flow.last };
    let (_, pieces) = pieces.choose_mut(rng)?;
    let n = rng.random_range(0..pieces.len());
    let piece = &mut pieces[n];
    Some(match rng.random_range(0..5) {
        0 => {
            pieces.remove(n);
            Corruption::PieceLeftOut
        }
        1 => {
            piece.source.take()?;
            Corruption::SourceLeftOut
        }
        2 => {
            change(piece.source.as_mut()?.1.choose_mut(rng)?, rng);
            Corruption::Source
        }
        3 => {
            if piece.guard.is_empty() {
                return None;
            }
            piece.guard.remove(rng.random_range(0..piece.guard.len()));
            Corruption::FactLeftOut
        }
        _ => {
            match piece.guard.choose_mut(rng)? {
                Fact::Zero(p) | Fact::NotNegative(p) => change(p, rng),
            }
            Corruption::Fact
        }
    })
}

fn corrupt_order(order: &mut Order, rng: &mut impl Rng) -> Option<Corruption> {
    if rng.random_bool(0.5) {
        let (of, at) = order.matches.choose_mut(rng)?;
        if rng.random_bool(0.2) {
            *of = of.checked_sub(1)?;
        } else {
            change(at.choose_mut(rng)?, rng);
        }
        return Some(Corruption::Match);
    }
    let instances = order.instances.choose_mut(rng)?;
    if rng.random_bool(0.3) {
        instances.pop()?;
        return Some(Corruption::InstanceLeftOut);
    }
    change(instances.choose_mut(rng)?.1.choose_mut(rng)?, rng);
    Some(Corruption::Instance)
}

/// Another coefficient, or another term.
fn change(polynomial: &mut Polynomial, rng: &mut impl Rng) {
    let by = *[-2, -1, 1, 3].choose(rng).unwrap_or(&1);
    match polynomial.0.choose_mut(rng) {
        Some((coefficient, _)) if rng.random_bool(0.6) => *coefficient += by,
        _ => polynomial.0.push((by, vec![])),
    }
}

/// What is wrong with a certificate, as runs show; `None` where they show nothing.
pub(super) fn wrong(reason: &Reason, runs: &[[Ran; 2]]) -> Option<String> {
    runs.iter().find_map(|runs| match reason {
        Reason::Cells(cells) => wrong_cells(cells, runs),
        Reason::Order(order) => wrong_order(order, runs),
        Reason::Sequence => None,
    })
}

fn wrong_cells(cells: &Cells, [before, after]: &[Ran; 2]) -> Option<String> {
    let flows = [(&cells.before, before), (&cells.after, after)];
    let flow = flows.into_iter().find_map(|(flow, ran)| wrong_loads(flow, ran).or_else(|| wrong_last(flow, ran)));
    let relations = || {
        cells.relations.iter().find_map(|relation| {
            let stores = after.accesses.iter().filter(|((number, _), _)| *number == relation.after);
            stores.into_iter().find_map(|(executed, (_, value))| {
                let vars = &after.at_access[executed];
                let holds = relation.only.iter().all(|p| after.at(p, vars) == Some(0));
                let other = before.accesses.get(&(relation.before, after.point(&relation.at, vars)?))?;
                (holds && other.1 != *value).then(|| format!("{relation:?} is wrong at {executed:?}"))
            })
        })
    };
    let touched = || cells.touched.iter().find_map(|touched| wrong_touched(touched, before, after));
    flow.or_else(relations).or_else(touched)
}

fn wrong_pieces(pieces: &[Piece], ran: &Ran, vars: &BTreeMap<Var, i128>, writer: Option<&(u32, Point)>) -> bool {
    let here: Vec<&Piece> = pieces.iter().filter(|p| p.guard.iter().all(|fact| ran.holds(fact, vars))).collect();
    here.is_empty() || here.iter().any(|p| p.source.as_ref().and_then(|s| ran.instance(s, vars)).as_ref() != writer)
}

fn wrong_loads(flow: &Flow, ran: &Ran) -> Option<String> {
    flow.loads.iter().find_map(|(number, pieces)| {
        let loads = ran.loads.iter().filter(|((load, _), _)| load == number);
        loads.into_iter().find_map(|(executed, writer)| {
            let is_wrong = wrong_pieces(pieces, ran, &ran.at_access[executed], writer.as_ref());
            is_wrong.then(|| format!("{executed:?} reads what {writer:?} writes"))
        })
    })
}

fn wrong_last(flow: &Flow, ran: &Ran) -> Option<String> {
    flow.last.iter().find_map(|(position, pieces)| {
        let cells = ran.last.iter().filter(|((of, _), _)| of == position);
        cells.into_iter().find_map(|((_, cell), writer)| {
            let vars = cell.iter().enumerate().map(|(n, value)| (cell_var(n as u32), *value)).collect();
            let is_wrong = wrong_pieces(pieces, ran, &vars, writer.as_ref());
            is_wrong.then(|| format!("argument {position} at {cell:?}: {writer:?}"))
        })
    })
}

fn wrong_touched(touched: &Touched, before: &Ran, after: &Ran) -> Option<String> {
    let accesses = after.accesses.iter().filter(|((number, _), _)| *number == touched.access);
    accesses.into_iter().find_map(|(executed, (cell, _))| {
        let vars = &after.at_access[executed];
        let dimension = touched.dimension as usize;
        let same = |instance: &Instance| {
            let other = after.instance(instance, vars).and_then(|instance| before.accesses.get(&instance));
            other.is_some_and(|(other, _)| other[dimension] == cell[dimension])
        };
        (!touched.by.iter().any(same)).then(|| format!("{executed:?} has no other"))
    })
}

fn wrong_order(order: &Order, [before, after]: &[Ran; 2]) -> Option<String> {
    let first = |number: u32, at: &Point| {
        let (of, point) = &order.matches[number as usize];
        let vars = &after.at_statement[&(number, at.clone())];
        Some((*of, after.point(point.get(..before.depths[*of as usize])?, vars)?))
    };
    let matches = after.statements.iter().find_map(|((number, at), does)| {
        let found = first(*number, at).and_then(|instance| before.statements.get(&instance));
        (found != Some(does)).then(|| format!("statement {number} at {at:?} does something else"))
    });
    matches.or_else(|| {
        before.at_statement.iter().find_map(|((number, at), vars)| {
            let executes = |(of, point): &Instance| {
                let loops = after.depths[*of as usize];
                let Some(point) = point.get(..loops).and_then(|point| before.point(point, vars)) else { return false };
                after.statements.contains_key(&(*of, point.clone()))
                    && first(*of, &point) == Some((*number, at.clone()))
            };
            let is_executed = order.instances[*number as usize].iter().any(executes);
            (!is_executed).then(|| format!("statement {number} at {at:?} is not executed"))
        })
    })
}
