//! Parallel loops: whether the order of their iterations makes no difference.
//!
//! Iterations of a parallel loop are executed in any order, also at the same time. A nest goes through them in one
//! order, and knows which loops those are ([`Parallel`]). Where no two iterations touch one cell, one of them to write
//! it, and none calls anything, all orders do the same: then what holds of the nest holds of the program.

use super::access::{Access, Program, cell, unknown_point};
use super::affine::{Affine, Var};
use super::constraint::Constraint;
use super::normal::count_from_zero;
use super::predicate::{Conjunction, Decider};
use super::statements::{Action, Statements};
use super::{ArrayKind, For, If, Item, Line, Nest, Parallel, Pool};
use rustc_hash::FxHashMap;

/// More pairs of accesses are not compared.
const MAX_PAIRS: usize = 20_000;

/// Numbers that are tried for sizes and loop variables of two iterations.
const SMALL: [i128; 12] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 16, -1, -2];

/// Two iterations of which it is not known that their order makes no difference.
pub(crate) struct Collision {
    /// The line of the loops.
    line: Line,
    what: What,
}

enum What {
    /// A call, or something else that may do anything.
    Event(Line),
    /// A reduction that may give something else in another order.
    Reduction(Option<String>, Line),
    /// Two accesses to one array, and an example where one was found.
    Accesses { array: String, lines: (Line, Line), example: Option<String> },
    /// They cannot be compared, and why.
    Unknown(&'static str),
}

impl std::fmt::Display for Collision {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "iterations of the parallel loop at line {} ", self.line)?;
        match &self.what {
            What::Event(line) => write!(f, "may do anything in any order (line {line})"),
            What::Reduction(by, line) => {
                let by = by.as_deref().unwrap_or("an operation of which that is not known");
                write!(f, "are combined in any order by {by}, which may give another result (line {line})")
            }
            What::Accesses { array, lines, example } => {
                let may = if example.is_some() { "touch" } else { "may touch" };
                let (a, b) = lines;
                write!(f, "{may} one cell of `{array}` in any order (lines {a} and {b})")?;
                example.iter().try_for_each(|example| write!(f, ": {example}"))
            }
            What::Unknown(why) => write!(f, "could not be compared: {why}"),
        }
    }
}

/// Something that iterations do.
struct Touch<'s> {
    access: &'s Access,
    writes: bool,
}

/// The first parallel loops whose iterations may collide where the context holds. Arrays of two arguments are one where
/// `may_overlap` says so.
pub(crate) fn collision(
    nest: &Nest,
    pool: &mut Pool,
    decider: &mut Decider,
    context: &Conjunction,
    may_overlap: &dyn Fn(u32, u32) -> bool,
) -> Option<Collision> {
    let first = nest.parallel.first()?;
    let mut values = FxHashMap::default();
    let nest = Nest { items: in_steps_of_one(pool, &nest.items, &mut values), ..nest.clone() };
    let Some(statements) = Statements::new(&nest) else {
        let what = What::Unknown("a loop with several lower bounds has a step");
        return Some(Collision { line: first.line, what });
    };
    nest.parallel.iter().find_map(|loops| {
        let mut search = Search { statements: &statements, loops, decider, context, may_overlap, values: &values };
        search.collision().map(|what| Collision { line: loops.line, what })
    })
}

/// Loops with a step count from zero; what the value of each loop's variable in the source is.
fn in_steps_of_one(pool: &mut Pool, items: &[Item], values: &mut FxHashMap<Var, Affine>) -> Vec<Item> {
    let mut result = vec![];
    for item in items {
        result.push(match item {
            Item::For(x) => {
                let (x, value) = if x.step == 1 { (x.clone(), Affine::var(x.var)) } else { count_from_zero(pool, x) };
                values.insert(x.var, value);
                let body = in_steps_of_one(pool, &x.body, values);
                Item::For(For { body, ..x })
            }
            Item::If(x) => {
                let then = in_steps_of_one(pool, &x.then, values);
                Item::If(If { then, otherwise: in_steps_of_one(pool, &x.otherwise, values), ..*x })
            }
            other => other.clone(),
        });
    }
    result
}

struct Search<'s, 'n> {
    statements: &'s Statements<'n>,
    loops: &'s Parallel,
    decider: &'s mut Decider,
    context: &'s Conjunction,
    may_overlap: &'s dyn Fn(u32, u32) -> bool,
    values: &'s FxHashMap<Var, Affine>,
}

impl<'s> Search<'s, '_> {
    fn collision(&mut self) -> Option<What> {
        if let Some(ordered) = self.loops.reductions.iter().find(|reduction| !reduction.is_free()) {
            return Some(What::Reduction(ordered.by.clone(), ordered.line));
        }
        let touches = match self.touches() {
            Ok(touches) => touches,
            Err(event) => return Some(What::Event(event)),
        };
        let mut pairs = 0;
        for a in &touches {
            for b in touches.iter().filter(|b| a.writes || b.writes) {
                if !self.is_one_array(a, b) {
                    continue;
                }
                pairs += 1;
                if pairs > MAX_PAIRS {
                    return Some(What::Unknown("there are too many accesses"));
                }
                if let Some(found) = self.collide(a, b) {
                    return Some(found);
                }
            }
        }
        None
    }

    /// Accesses of iterations to arrays that are not their own; the line of a statement that may do anything.
    fn touches(&self) -> Result<Vec<Touch<'s>>, Line> {
        let statements = self.statements;
        let inside = |access: &Access| self.outer(access).is_some();
        let reduced = |array| self.loops.reductions.iter().any(|reduction| reduction.cells.contains(&array));
        let is_shared = |array| !self.loops.own.contains(&array) && !reduced(array);
        let shared = |access: &Access| inside(access) && is_shared(access.array);
        let mut touches = vec![];
        for statement in &statements.all {
            let access = &statement.access;
            match statement.action {
                Action::Event(_) if inside(access) => return Err(access.line),
                Action::Store(_) if shared(access) => touches.push(Touch { access, writes: true }),
                _ => {}
            }
        }
        let mut loads: Vec<_> = statements.loads.iter().collect();
        loads.sort_by_key(|(id, _)| **id);
        let loads = loads.into_iter().map(|(_, read)| &read.access);
        touches.extend(loads.filter(|access| shared(access)).map(|access| Touch { access, writes: false }));
        Ok(touches)
    }

    /// How many loops are around the parallel ones, where these are around an access.
    fn outer(&self, access: &Access) -> Option<usize> {
        let (first, _) = self.loops.vars.first()?;
        access.loops.iter().position(|l| l.var == *first)
    }

    fn is_one_array(&self, a: &Touch<'_>, b: &Touch<'_>) -> bool {
        let kind = |touch: &Touch<'_>| self.statements.nest.array(touch.access.array).kind;
        a.access.array == b.access.array
            || matches!((kind(a), kind(b)), (ArrayKind::Argument(x), ArrayKind::Argument(y)) if (self.may_overlap)(x, y))
    }

    /// Whether an iteration may touch with `a` what a later one touches with `b`.
    fn collide(&mut self, a: &Touch<'_>, b: &Touch<'_>) -> Option<What> {
        let outer = self.outer(a.access)?;
        let (p, q) = (unknown_point(a.access, 0), unknown_point(b.access, 1));
        let mut given = self.given(a.access, &p);
        given.extend(self.given(b.access, &q));
        given.extend((0..outer).map(|n| Constraint::equal(&p[n], &q[n])));
        given.extend(self.equal_bindings((a.access, &p), (b.access, &q), outer));
        if a.access.array == b.access.array
            && let (Some(x), Some(y)) = (cell(a.access, &p), cell(b.access, &q))
        {
            given.extend(x.iter().zip(&y).map(|(x, y)| Constraint::equal(x, y)));
        }
        for n in outer..outer + self.loops.vars.len() {
            let mut case = given.clone();
            case.push(Constraint::less(&p[n], &q[n]));
            case.retain(|constraint| !constraint.is_trivial());
            if !self.decider.impossible(&case) {
                let array = self.statements.nest.array(a.access.array).name.clone();
                let example = self.example(case, (a.access, &p), (b.access, &q));
                return Some(What::Accesses { array, lines: (a.access.line, b.access.line), example });
            }
            given.push(Constraint::equal(&p[n], &q[n]));
        }
        None
    }

    fn given(&self, access: &Access, point: &[Affine]) -> Conjunction {
        let mut given = self.context.clone();
        given.extend(Program::empty(self.statements.nest).domain(access, point));
        given
    }

    /// A value that is computed from data outside of the loops is one number.
    fn equal_bindings(&self, a: (&Access, &[Affine]), b: (&Access, &[Affine]), outer: usize) -> Conjunction {
        let bindings = a.0.loops.iter().enumerate().filter_map(|(m, l)| {
            let depth = self.statements.bind_depths.get(&l.var)?;
            let n = b.0.loops.iter().position(|other| other.var == l.var)?;
            (*depth <= outer).then(|| Constraint::equal(&a.1[m], &b.1[n]))
        });
        bindings.collect()
    }

    /// Small sizes and two iterations for which all constraints hold.
    fn example(&mut self, mut case: Conjunction, a: (&Access, &[Affine]), b: (&Access, &[Affine])) -> Option<String> {
        let mut vars: Vec<Var> = case.iter().flat_map(|constraint| constraint.expr.vars()).collect();
        vars.sort_unstable();
        vars.dedup();
        let mut found = FxHashMap::default();
        for var in vars {
            let value = SMALL.into_iter().find(|value| {
                let number = Affine::constant(*value);
                let with: Conjunction =
                    case.iter().map(|c| c.replace(&|v| (v == var).then(|| number.clone()))).collect();
                let fits = !self.decider.impossible(&with);
                if fits {
                    case = with;
                }
                fits
            })?;
            found.insert(var, value);
        }
        if !case.iter().all(Constraint::is_trivial) {
            return None;
        }
        let sizes = self.statements.nest.sizes.iter();
        let sizes = sizes.filter_map(|size| Some(format!("{} = {}", size.name, found.get(&size.var)?)));
        let iteration = |(access, point): (&Access, &[Affine])| {
            let of = |var: Var| match access.loops.iter().position(|l| l.var == var) {
                Some(n) => point[n].eval(&|var| found.get(&var).copied()),
                None => found.get(&var).copied(),
            };
            let shown = self.loops.vars.iter().map(|(var, name)| {
                let value = self.values.get(var).and_then(|value| value.eval(&of));
                value.map(|value| format!("{name} = {value}"))
            });
            shown.collect::<Option<Vec<_>>>().map(|shown| format!("({})", shown.join(", ")))
        };
        let sizes: Vec<String> = sizes.collect();
        let iterations = format!("the iterations {} and {}", iteration(a)?, iteration(b)?);
        Some(if sizes.is_empty() { iterations } else { format!("{iterations} where {}", sizes.join(", ")) })
    }
}
