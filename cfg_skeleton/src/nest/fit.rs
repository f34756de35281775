//! Polynomials through points: the loop variables of one store as functions of those of another.

use super::access::Program;
use super::affine::{Affine, Atom, Var};
use super::lockstep::{Point, Points};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// Points of two stores that belong together, in terms of the second one's loop variables.
#[derive(Clone, Debug)]
pub(crate) struct Relation {
    /// The first store's loop variables.
    pub(crate) before: Vec<Affine>,
    /// What holds of the second one's variables, as polynomials that are 0.
    pub(crate) only: Vec<Affine>,
}

/// Relations by the numbers of the two stores.
pub(crate) type Relations = BTreeMap<(u32, u32), Relation>;

/// Solutions are sought modulo this prime; coefficients are small.
const PRIME: i128 = (1 << 61) - 1;

/// No more floors than this are tried.
const MAX_FLOORS: usize = 24;

/// The relations that hold at all points.
pub(crate) fn relations(
    before: &Program,
    after: &Program,
    sizes: &[FxHashMap<Var, i128>],
    points: &Points,
) -> Relations {
    let divisors = divisors(before, after);
    let of = |((a, b), points): (&(u32, u32), &Vec<Point>)| {
        let relation =
            fit(after, *b, before.accesses[before.stores[*a as usize]].loops.len(), sizes, points, &divisors)?;
        Some(((*a, *b), relation))
    };
    points.iter().filter_map(of).collect()
}

/// Constants by which the programs divide, or at which their loops end.
fn divisors(before: &Program, after: &Program) -> Vec<i128> {
    let mut found = vec![];
    for access in before.accesses.iter().chain(&after.accesses) {
        let bounds = access.loops.iter().flat_map(|l| &l.upper);
        for affine in bounds.chain(access.cell.iter().flatten()) {
            found.extend(affine.as_constant());
            affine.each_atom(&mut |atom| {
                if let Atom::Floor(_, divisor) = atom {
                    found.push(*divisor);
                }
            });
        }
    }
    found.retain(|d| (2..=4096).contains(d));
    found.sort_unstable();
    found.dedup();
    found
}

fn fit(
    after: &Program,
    store: u32,
    width: usize,
    sizes: &[FxHashMap<Var, i128>],
    points: &[Point],
    divisors: &[i128],
) -> Option<Relation> {
    let access = &after.accesses[after.stores[store as usize]];
    let depth = access.loops.len();
    let mut features: Vec<Affine> = access.loops.iter().map(|l| Affine::var(l.var)).collect();
    features.push(Affine::constant(1));
    features.extend(after.nest.sizes.iter().map(|s| Affine::var(s.var)));
    let simple = features.len();
    let bases: Vec<Affine> = features[..depth].iter().chain(access.cell.iter().flatten()).cloned().collect();
    for base in bases {
        for &divisor in divisors {
            let floor = base.floor_div(divisor);
            if !features.contains(&floor) && features.len() < simple + MAX_FLOORS {
                features.push(floor);
            }
        }
    }
    let rows: Vec<Vec<i128>> =
        points.iter().map(|point| values(&features, access, point, sizes)).collect::<Option<_>>()?;
    let sum = |coefficients: Vec<i128>, features: &[Affine]| {
        coefficients.iter().zip(features).fold(Affine::default(), |sum, (c, f)| sum.plus(*c, f))
    };
    let target = |n: usize| {
        let wanted: Vec<i128> = points.iter().map(|p| i128::from(p.before[n])).collect();
        let plain = solve(&rows, simple, &wanted);
        Some(sum(plain.or_else(|| solve(&rows, features.len(), &wanted))?, &features))
    };
    let before = (0..width).map(target).collect::<Option<_>>()?;
    // Variables that the sizes determine, as where only the last of many stores counts.
    let fixed = |n: usize| {
        let rows: Vec<Vec<i128>> = rows.iter().map(|row| row[depth..simple].to_vec()).collect();
        let wanted: Vec<i128> = points.iter().map(|p| i128::from(p.after[n])).collect();
        let value = sum(solve(&rows, simple - depth, &wanted)?, &features[depth..simple]);
        Some(features[n].plus(-1, &value))
    };
    let only = (0..depth).filter_map(fixed).collect();
    Some(Relation { before, only })
}

fn values(
    features: &[Affine],
    access: &super::access::Access,
    point: &Point,
    sizes: &[FxHashMap<Var, i128>],
) -> Option<Vec<i128>> {
    let of = |var: Var| {
        let position = access.loops.iter().position(|l| l.var == var);
        position.map(|n| i128::from(point.after[n])).or_else(|| sizes[point.sizes].get(&var).copied())
    };
    features.iter().map(|feature| feature.eval(&of)).collect()
}

/// Coefficients of the first `width` features that give the wanted values; the first features are preferred.
fn solve(rows: &[Vec<i128>], width: usize, wanted: &[i128]) -> Option<Vec<i128>> {
    let mut basis: Vec<(usize, Vec<i128>)> = vec![];
    for (row, value) in rows.iter().zip(wanted) {
        let mut row: Vec<i128> = row[..width].iter().chain([value]).map(|v| v.rem_euclid(PRIME)).collect();
        for (pivot, known) in &basis {
            subtract(&mut row, known, *pivot);
        }
        let Some(pivot) = row[..width].iter().position(|v| *v != 0) else {
            if row[width] != 0 {
                return None;
            }
            continue;
        };
        let inverse = power(row[pivot], PRIME - 2);
        row.iter_mut().for_each(|v| *v = *v * inverse % PRIME);
        for (_, known) in &mut basis {
            subtract(known, &row, pivot);
        }
        basis.push((pivot, row));
    }
    let mut result = vec![0; width];
    for (pivot, row) in basis {
        let value = row[width];
        result[pivot] = if value > PRIME / 2 { value - PRIME } else { value };
    }
    let fits = |(row, value): (&Vec<i128>, &i128)| {
        result.iter().zip(row).try_fold(0i128, |sum, (c, v)| sum.checked_add(c.checked_mul(*v)?)) == Some(*value)
    };
    let small = result.iter().all(|c| c.abs() < 1 << 20);
    (small && rows.iter().zip(wanted).all(fits)).then_some(result)
}

/// Makes the entry at `pivot` zero.
fn subtract(row: &mut [i128], by: &[i128], pivot: usize) {
    let factor = row[pivot];
    if factor != 0 {
        for (v, b) in row.iter_mut().zip(by) {
            *v = (*v - factor * b).rem_euclid(PRIME);
        }
    }
}

fn power(base: i128, exponent: i128) -> i128 {
    let (mut result, mut base, mut rest) = (1, base, exponent);
    while rest > 0 {
        if rest & 1 == 1 {
            result = result * base % PRIME;
        }
        base = base * base % PRIME;
        rest >>= 1;
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_features_are_preferred() {
        // Target 2a + b - 3, with a feature c = a + b that could stand for both.
        let rows: Vec<Vec<i128>> = (0..20).map(|n| vec![n % 5, n / 5, 1, n % 5 + n / 5]).collect();
        let wanted: Vec<i128> = rows.iter().map(|r| 2 * r[0] + r[1] - 3).collect();
        assert_eq!(solve(&rows, 4, &wanted), Some(vec![2, 1, -3, 0]));
        let odd: Vec<i128> = rows.iter().map(|r| r[0] * r[1]).collect();
        assert_eq!(solve(&rows, 4, &odd), None);
    }
}
