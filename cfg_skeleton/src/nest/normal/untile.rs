//! `for x = 0 to .. { for y = 0 to min(t, n - t * x) { B(t * x + y) } }` is `for z = 0 to n { B(z) }`.

use super::super::certificate::{Step, polynomials};
use super::super::constraint::Constraint;
use super::super::predicate::Conjunction;
use super::super::substitute::{mentions, replaced};
use super::super::{Affine, For, Item};
use super::loops::counts_from_zero;
use super::{Normaliser, range};

impl Normaliser<'_> {
    pub(super) fn untile(&mut self, x: &For, given: &mut Conjunction) -> Option<For> {
        let [Item::For(y)] = x.body.as_slice() else { return None };
        if !counts_from_zero(x) || !counts_from_zero(y) {
            return None;
        }
        let mut sizes: Vec<i128> = y.upper.iter().filter_map(Affine::as_constant).filter(|t| *t > 1).collect();
        // Where only the rest bounds a tile, its coefficient tells the size.
        sizes.extend(y.upper.iter().map(|u| -u.coefficient(x.var)).filter(|t| *t > 1));
        sizes.sort_unstable();
        sizes.dedup();
        let (size, joined) = sizes.into_iter().find_map(|size| Some((size, self.untiled(x, y, size, given)?)))?;
        let upper = polynomials(&joined.upper);
        self.steps.push(Step::Untile { size: size as i64, var: joined.var.0, upper });
        Some(joined)
    }

    fn untiled(&mut self, x: &For, y: &For, size: i128, given: &mut Conjunction) -> Option<For> {
        let z = self.names.var();
        let (outer, whole) = (Affine::var(x.var), Affine::var(z));
        let body = replaced(self.pool, &y.body, y.var, &whole.plus(-size, &outer));
        if mentions(self.pool, &body, x.var) {
            return None;
        }
        let ends = y.upper.iter().map(|u| u.plus(size, &outer)).filter(|end| !end.mentions(x.var));
        let mut upper: Vec<Affine> = ends.collect();
        if upper.is_empty() {
            upper = x.upper.iter().map(|u| u.times(size)).collect();
        }
        let joined = For { var: z, lower: vec![Affine::default()], upper, step: 1, body, line: x.line };
        (self.tiles_are_inside(x, y, size, &joined, given) && self.tiles_cover(x, y, size, &joined, given))
            .then_some(joined)
    }

    /// Each point of a tile is one of the loop, and no tile reaches into the next: the order is the loop's.
    fn tiles_are_inside(&mut self, x: &For, y: &For, size: i128, joined: &For, given: &[Constraint]) -> bool {
        let tile: Conjunction = given.iter().cloned().chain(range(x)).chain(range(y)).collect();
        let (outer, inner) = (Affine::var(x.var), Affine::var(y.var));
        let point = outer.times(size).plus(1, &inner);
        self.is(&tile, &Constraint::less(&inner, &Affine::constant(size)))
            && joined.upper.iter().all(|end| self.is(&tile, &Constraint::less(&point, end)))
    }

    /// Each point of the loop is in a tile.
    fn tiles_cover(&mut self, x: &For, y: &For, size: i128, joined: &For, given: &[Constraint]) -> bool {
        let loop_: Conjunction = given.iter().cloned().chain(range(joined)).collect();
        let whole = Affine::var(joined.var);
        let tile = whole.floor_div(size);
        let at = |var| {
            if var == x.var { Some(tile.clone()) } else { (var == y.var).then(|| whole.plus(-size, &tile)) }
        };
        range(x).iter().chain(&range(y)).all(|constraint| self.is(&loop_, &constraint.replace(&at)))
    }
}
