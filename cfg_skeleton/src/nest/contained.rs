//! The second program touches no cell that may not exist.
//!
//! A cell exists if the type of its array says so, or, dimension by dimension, if the first program touches a cell with
//! the same subscript there: its accesses are in bounds.

use super::access::{Access, ExecutionPoint, Kind, Program, cell, own_point};
use super::affine::Affine;
use super::certificate::{Instance, Touched, polynomials};
use super::constraint::Constraint;
use super::flatten::flatten;
use super::predicate::{Conjunction, Decider, without};
use super::sizes;
use super::writers::{MAX_CANDIDATES, Reading, guesses};
use super::{ArrayId, ArrayKind, Assumption, Line, Names, Nest, Pool};

/// Whether each cell that the second nest touches is one that the first nest touches, too, whatever sizes are for which
/// the assumptions hold.
pub fn touches_no_more(
    pool: &mut Pool,
    names: &mut Names,
    [before, after]: [&Nest; 2],
    assumed: &[Assumption],
    decider: &mut Decider,
) -> bool {
    let mut program = |nest: &Nest| flatten(nest, pool, names).and_then(|flat| Program::new(&flat, false)).ok();
    let (Some(first), Some(second)) = (program(before), program(after)) else { return false };
    let mut context = sizes::facts(&before.sizes);
    context.extend(assumed.iter().filter_map(|assumption| assumption.constraint(&before.sizes)));
    outside(&first, &second, decider, &context, (false, &mut vec![])).is_none()
}

/// The first access of `after` that may be out of bounds. `before` is a program whose domains claim no bounds.
///
/// With `own`, only arrays that the function makes itself are looked at. Adds why other subscripts are in bounds.
pub(crate) fn outside(
    before: &Program,
    after: &Program,
    decider: &mut Decider,
    context: &Conjunction,
    (own, found): (bool, &mut Vec<Touched>),
) -> Option<Line> {
    let asked = after.accesses.iter().enumerate().filter(|(_, a)| a.kind != Kind::Alloc);
    let mut asked = asked.filter(|(_, a)| !own || !matches!(after.nest.array(a.array).kind, ArrayKind::Argument(_)));
    let outside = asked.find(|(number, _)| !inside(before, after, decider, context, (*number, found)));
    outside.map(|(_, access)| access.line)
}

fn inside(
    before: &Program,
    after: &Program,
    decider: &mut Decider,
    context: &Conjunction,
    (number, found): (usize, &mut Vec<Touched>),
) -> bool {
    let access = &after.accesses[number];
    let at = own_point(access);
    let Some(subscripts) = cell(access, &at) else { return true };
    let mut given = context.clone();
    given.extend(after.domain(access, &at));
    let array = after.nest.array(access.array);
    let same = |a: &super::Array| matches!(a.kind, ArrayKind::Argument(_)) && a.kind == array.kind;
    let other = before.nest.arrays.iter().position(same).map(|n| ArrayId(n as u32));
    subscripts.iter().enumerate().all(|(dimension, subscript)| {
        let low = decider.implies(&given, &Constraint::at_least(subscript, &Affine::default()));
        let extent = array.shape[dimension].as_ref();
        let high = extent.is_some_and(|extent| decider.implies(&given, &Constraint::less(subscript, extent)));
        if low && high {
            return true;
        }
        let by = other.and_then(|other| touched(before, decider, &given, (other, dimension, subscript)));
        let is_touched = by.is_some();
        let (access, dimension) = (number as u32, dimension as u32);
        found.extend(by.map(|by| Touched { access, dimension, by }));
        is_touched
    })
}

/// Accesses of the first program, one of which certainly touches a cell with this subscript.
fn touched(
    before: &Program,
    decider: &mut Decider,
    given: &Conjunction,
    (array, dimension, subscript): (ArrayId, usize, &Affine),
) -> Option<Vec<Instance>> {
    let (mut left, mut by) = (vec![given.clone()], vec![]);
    for (number, access) in before.accesses.iter().enumerate() {
        let Some(subscripts) = access.cell.as_ref().filter(|_| access.array == array && !access.guarded) else {
            continue;
        };
        // The same access, as if the array had this dimension only.
        let mut projected = Program::empty(&before.nest);
        projected
            .accesses
            .push(Access { cell: Some(vec![subscripts[dimension].clone()]), ..before.accesses[number].clone() });
        let target = [subscript.clone()];
        let reading = Reading { array, cell: &target, place: ExecutionPoint::End, most: MAX_CANDIDATES };
        for (_, candidate) in guesses(&projected, 0, &reading) {
            let rest: Vec<Conjunction> =
                left.iter().flat_map(|part| without(decider, part, &candidate.guard)).collect();
            if rest != left {
                by.push((number as u32, polynomials(&candidate.at)));
            }
            left = rest;
            if left.is_empty() {
                return Some(by);
            }
            if left.len() > 64 {
                return None;
            }
        }
    }
    left.is_empty().then_some(by)
}
