//! That iterations of parallel loops do not collide: no two of them touch one cell, one to write it, and none does what
//! may be anything. Then all orders in which they may be executed do the same.

use super::claims::{Formula, Prover};
use super::mapped::Map;
use super::statements::{Action, Position, Statements};
use super::{Checked, Rejected};
use rewright_cfg_skeleton::nest::{Affine, ArrayId, ArrayKind, For, If, Item, Nest, Parallel, Pool};

/// Something that iterations do.
struct Touch<'s> {
    position: &'s Position,
    array: ArrayId,
    cell: &'s [Affine],
    writes: bool,
}

/// Shows it of all parallel loops of a version. Arguments of these names may overlap.
pub(super) fn independent(
    (pool, prover): (&mut Pool, &mut Prover),
    nest: &Nest,
    context: &[Formula],
    may_alias: &[(String, String)],
) -> Checked<()> {
    if nest.parallel.is_empty() {
        return Ok(());
    }
    let nest = Nest { items: by_one(pool, &nest.items)?, ..nest.clone() };
    let statements = Statements::new(&nest)?;
    let overlapping = may_alias.iter().filter_map(|(a, b)| Some((nest.argument(a)?, nest.argument(b)?))).collect();
    let mut search = Search { statements: &statements, prover, context, overlapping };
    nest.parallel.iter().try_for_each(|loops| search.independent(loops))
}

/// Loops with steps count from 0 in steps of 1.
fn by_one(pool: &mut Pool, items: &[Item]) -> Checked<Vec<Item>> {
    let of = |item: &Item| {
        Ok(match item {
            Item::For(x) => {
                let mut x = x.clone();
                if x.step != 1 {
                    let wrong = || Rejected::Step(format!("the loop of line {} has steps", x.line));
                    let [lower] = x.lower.as_slice() else { return Err(wrong()) };
                    let value = lower.plus(x.step, &Affine::var(x.var));
                    let replaced = |affine: &Affine| Some(affine.replace(&|v| (v == x.var).then(|| value.clone())));
                    let body = Map::new(pool, &replaced).items(&x.body).ok_or_else(wrong)?;
                    let upper = x.upper.iter().map(|u| u.plus(-1, lower).ceil_div(x.step)).collect();
                    x = For { lower: vec![Affine::default()], upper, step: 1, body, ..x };
                }
                let body = by_one(pool, &x.body)?;
                Item::For(For { body, ..x })
            }
            Item::If(x) => {
                let (then, otherwise) = (by_one(pool, &x.then)?, by_one(pool, &x.otherwise)?);
                Item::If(If { then, otherwise, ..x.clone() })
            }
            other => other.clone(),
        })
    };
    items.iter().map(of).collect()
}

struct Search<'a, 'n> {
    statements: &'a Statements<'n>,
    prover: &'a mut Prover,
    context: &'a [Formula],
    overlapping: Vec<(u32, u32)>,
}

impl<'a> Search<'a, '_> {
    fn independent(&mut self, loops: &Parallel) -> Checked<()> {
        let touches = self.touches(loops)?;
        for a in &touches {
            for b in &touches {
                if (a.writes || b.writes) && self.may_be_one(a.array, b.array) {
                    self.apart(loops, a, b)?;
                }
            }
        }
        Ok(())
    }

    /// How many loops are around the parallel ones, where these are around something.
    fn outer(loops: &Parallel, position: &Position) -> Option<usize> {
        let (first, _) = loops.vars.first()?;
        position.loops.iter().position(|l| l.var == *first)
    }

    /// What iterations do with what is not their own.
    fn touches(&self, loops: &Parallel) -> Checked<Vec<Touch<'a>>> {
        let statements = self.statements;
        let inside = |position: &Position| Self::outer(loops, position).is_some();
        if let Some(reduction) = loops.reductions.iter().find(|reduction| !reduction.is_free()) {
            let line = reduction.line;
            return Err(Rejected::Differs(format!("what line {line} combines depends on the order of iterations")));
        }
        let reduced = |array: ArrayId| loops.reductions.iter().any(|reduction| reduction.cells.contains(&array));
        let is_shared = |array: ArrayId| !loops.own.contains(&array) && !reduced(array);
        let mut touches = vec![];
        for statement in statements.all.iter().filter(|statement| inside(&statement.position)) {
            match (&statement.action, statement.array, &statement.cell) {
                (Action::Event(_), ..) => {
                    let line = statement.position.line;
                    return Err(Rejected::Differs(format!("line {line} may do anything in any order")));
                }
                (Action::Store(_), Some(array), Some(cell)) if is_shared(array) => {
                    touches.push(Touch { position: &statement.position, array, cell, writes: true });
                }
                _ => {}
            }
        }
        for read in statements.loads.values().filter(|read| inside(&read.position) && is_shared(read.array)) {
            touches.push(Touch { position: &read.position, array: read.array, cell: &read.cell, writes: false });
        }
        Ok(touches)
    }

    fn may_be_one(&self, a: ArrayId, b: ArrayId) -> bool {
        let kind = |array: ArrayId| self.statements.nest.array(array).kind;
        let (ArrayKind::Argument(x), ArrayKind::Argument(y)) = (kind(a), kind(b)) else { return a == b };
        a == b || self.overlapping.contains(&(x, y)) || self.overlapping.contains(&(y, x))
    }

    /// Shows that an iteration does not touch with `a` what a later one touches with `b`.
    fn apart(&mut self, loops: &Parallel, a: &Touch<'_>, b: &Touch<'_>) -> Checked<()> {
        let Some(outer) = Self::outer(loops, a.position) else { return Ok(()) };
        let (p, q) = (a.position.any_point(0), b.position.any_point(1));
        let mut given = self.context.to_vec();
        for (touch, at) in [(a, &p), (b, &q)] {
            given.extend(touch.position.reached(at, touch.position.loops.len()));
        }
        given.push(Formula::all_equal(&p[..outer], &q[..outer]));
        // Outside of the loops, a binding has one value.
        for (var, _) in self.statements.binds.iter().filter(|(_, bound)| bound.depth <= outer) {
            if let (Some(x), Some(y)) = (a.position.coordinate(&p, *var), b.position.coordinate(&q, *var)) {
                given.push(Formula::equal(&x, &y));
            }
        }
        if a.array == b.array {
            let [x, y] = [a.position.values_at(a.cell, &p), b.position.values_at(b.cell, &q)];
            given.push(Formula::known_equal(&x, &y));
        }
        let (what, line) = (a.position.line, b.position.line);
        let what = format!("that iterations do not touch one cell in any order (lines {what} and {line})");
        // The first number in which they differ is smaller.
        let (mut later, mut same) = (vec![], vec![]);
        for n in outer..outer + loops.vars.len() {
            later.push(Formula::All([same.clone(), vec![Formula::less(&p[n], &q[n])]].concat()));
            same.push(Formula::equal(&p[n], &q[n]));
        }
        given.push(Formula::Any(later));
        self.prover.show(&what, &given, &Formula::FALSE)
    }
}
