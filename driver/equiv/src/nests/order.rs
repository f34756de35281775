//! Whether two nests execute the same instances of statements, in an order that makes no difference.
//!
//! A certificate says of which instance of the first version each instance of the second is one, and where the second
//! one executes each instance of the first. Shown are: both do the same ([`super::alike`]) where what they read is the same; each
//! instance of the first is executed, and only once; instances that touch one cell, one of them to write, keep their
//! order, and so do calls and what they see. Then each instance reads what it reads in the first version, by induction
//! over the second one's execution. Statements `c = c + v` ([`super::updates`]) may change their order among themselves: each
//! adds what it adds in the first version, and whatever else sees the cell comes after the same of them.

use super::alike::{Alike, Found, Match};
use super::claims::{Formula, Prover};
use super::flow::read;
use super::statements::{Action, Position, Statement, Statements};
use super::updates::{Update, update};
use super::{Checked, Rejected};
use rewright_cfg_skeleton::nest::certificate::{self, Instance};
use rewright_cfg_skeleton::nest::value::Value;
use rewright_cfg_skeleton::nest::{Affine, ArrayId, ArrayKind, Pool, Undefined, Var};
use std::collections::BTreeSet;

/// What a statement touches, in both versions.
struct Touch<'a> {
    statement: usize,
    before: &'a Position,
    after: &'a Position,
    /// The second version's cell; `None` for all cells, or for none.
    cell: Option<&'a [Affine]>,
    kind: Kind,
    /// What it is a part of.
    update: Option<Update<'a>>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Read(ArrayId),
    Write(ArrayId),
    Event,
    Trap,
}

struct Order<'a> {
    pool: &'a Pool,
    prover: &'a mut Prover,
    before: &'a Statements<'a>,
    after: &'a Statements<'a>,
    context: &'a [Formula],
    matches: Vec<Match>,
    found: Vec<Found>,
}

/// Shows that both versions do the same.
pub(super) fn same(
    (pool, prover): (&Pool, &mut Prover),
    (before, after): (&Statements<'_>, &Statements<'_>),
    context: &[Formula],
    said: &certificate::Order,
) -> Checked<()> {
    for statements in [before, after] {
        bounds_are_fixed(pool, statements)?;
        if let Some(line) = statements.empty_branch {
            return Err(Rejected::Step(format!("the branch of line {line} has no effects")));
        }
    }
    defined_branches(pool, after)?;
    let sizes: Vec<Var> = before.nest.sizes.iter().map(|size| size.var).collect();
    if said.matches.len() != after.all.len() || said.instances.len() != before.all.len() {
        return Err(Rejected::Step("something else is said than of each statement".into()));
    }
    let matches = said.matches.iter().zip(&after.all);
    let matches =
        matches.map(|(said, of)| instance(said, before, &of.position, &sizes)).collect::<Checked<Vec<_>>>()?;
    let mut alike = Alike::new((pool, prover), (before, after), context);
    let found = matches.iter().zip(&after.all);
    let found = found.map(|(found, statement)| alike.same(found, statement)).collect::<Checked<Vec<_>>>()?;
    let mut order = Order { pool, prover, before, after, context, matches, found };
    for (number, said) in said.instances.iter().enumerate() {
        let position = &before.all[number].position;
        let instances = said.iter().map(|said| instance(said, after, position, &sizes)).collect::<Checked<Vec<_>>>()?;
        order.is_executed(number, &instances)?;
    }
    order.once()?;
    order.results_agree()?;
    order.unused_loads()?;
    order.conflicts()
}

/// An instance of a statement in terms of the coordinates at another one's position.
fn instance((number, at): &Instance, of: &Statements<'_>, seen: &Position, sizes: &[Var]) -> Checked<Match> {
    let statement = of.all.get(*number as usize);
    let statement = statement.ok_or_else(|| Rejected::Step(format!("there is no statement {number}")))?;
    if statement.position.coordinates() != at.len() {
        return Err(Rejected::Step(format!("statement {number} has not so many coordinates")));
    }
    let own = seen.own_point();
    let vars: Vec<Var> = sizes.iter().copied().chain(own.iter().flat_map(Affine::vars)).collect();
    Ok(Match { of: *number as usize, at: at.iter().map(|p| read(p, &vars)).collect::<Checked<_>>()? })
}

/// Data in bounds of loops is the same during the whole call: it comes from arguments that nothing writes.
fn bounds_are_fixed(pool: &Pool, statements: &Statements<'_>) -> Checked<()> {
    let values = statements.bounding();
    let is_written = |array: ArrayId| statements.all.iter().any(|s| s.array == Some(array));
    let is_fixed =
        |array: ArrayId| matches!(statements.nest.array(array).kind, ArrayKind::Argument(_)) && !is_written(array);
    let mut reads = statements.reads(pool, &values).into_iter();
    let fixed = reads.all(|load| statements.loads.get(&load).is_some_and(|read| is_fixed(read.array)));
    if values.is_empty() || (fixed && statements.events.is_empty()) {
        return Ok(());
    }
    Err(Rejected::Differs("bounds of loops are data that may change".into()))
}

/// No branch is on what may be undefined.
fn defined_branches(pool: &Pool, statements: &Statements<'_>) -> Checked<()> {
    let undefined = Undefined::of(statements.nest, pool);
    for statement in &statements.all {
        if statement.guards.iter().any(|(condition, _)| undefined.may_be(pool, *condition)) {
            let line = statement.position.line;
            return Err(Rejected::Differs(format!("the branch around line {line} may be on what is undefined")));
        }
    }
    Ok(())
}

impl<'a> Order<'a> {
    /// The first version's instance that the second one executes at a point.
    fn first_point(&self, number: usize, at: &[Affine]) -> Vec<Affine> {
        self.after.all[number].position.values_at(&self.matches[number].at, at)
    }

    /// Each instance of a statement of the first version is executed by one of these.
    fn is_executed(&mut self, number: usize, instances: &[Match]) -> Checked<()> {
        let position = &self.before.all[number].position;
        let (own, depth) = (position.own_point(), position.loops.len());
        let mut cases = vec![];
        for Match { of, at } in instances {
            let second = &self.after.all[*of].position;
            let mut case = second.reached(at, second.loops.len());
            let back = self.first_point(*of, at);
            // Bindings that matter are those of the second version.
            let kept = (0..own.len()).filter(|n| *n < depth || self.found[*of].uses(position.binds[*n - depth]));
            case.extend(kept.map(|n| Formula::equal(&back[n], &own[n])));
            cases.push(if self.matches[*of].of == number { Formula::All(case) } else { Formula::FALSE });
        }
        let given = [self.context.to_vec(), position.reached(&own, depth)].concat();
        self.prover.show(&format!("that line {} is executed", position.line), &given, &Formula::Any(cases))
    }

    /// No instance of the first version is executed twice.
    fn once(&mut self) -> Checked<()> {
        for a in 0..self.matches.len() {
            for b in (a..self.matches.len()).filter(|b| self.matches[*b].of == self.matches[a].of) {
                let (x, y) = (&self.after.all[a].position, &self.after.all[b].position);
                let (p, q) = (x.any_point(0), y.any_point(1));
                let mut facts = [self.context.to_vec(), x.reached(&p, x.loops.len())].concat();
                facts.extend(y.reached(&q, y.loops.len()));
                facts.push(Formula::known_equal(&self.first_point(a, &p), &self.first_point(b, &q)));
                let depth = x.loops.len();
                let same = if a == b { Formula::all_equal(&p[..depth], &q[..depth]) } else { Formula::FALSE };
                self.prover.show(&format!("that line {} is not executed twice", x.line), &facts, &same)?;
            }
        }
        Ok(())
    }

    /// Results of calls that are used are those of the same calls.
    fn results_agree(&mut self) -> Checked<()> {
        for number in 0..self.matches.len() {
            let position = &self.after.all[number].position;
            let own = position.own_point();
            let given = [self.context.to_vec(), position.reached(&own, position.loops.len())].concat();
            for (x, y) in &self.found[number].events {
                let unknown = || Rejected::Differs("a value is made from a call that is not there".into());
                let m = *self.before.events.get(x).ok_or_else(unknown)?;
                let n = *self.after.events.get(y).ok_or_else(unknown)?;
                let depth = self.before.all[m].position.loops.len();
                let expected = position.values_at(&self.matches[n].at[..depth], &own);
                let found = &self.matches[number].at;
                if self.matches[n].of != m || found.len() < depth {
                    return Err(Rejected::Differs("results of different calls are used".into()));
                }
                let claim = Formula::all_equal(&expected, &found[..depth]);
                self.prover.show("that results of one call are used", &given, &claim)?;
            }
        }
        Ok(())
    }

    /// Loads that no statement needs are in bounds.
    fn unused_loads(&mut self) -> Checked<()> {
        let used: BTreeSet<_> = self.found.iter().flat_map(|f| f.loads.iter().map(|(_, load)| *load)).collect();
        for (_, read) in self.after.loads.iter().filter(|(load, _)| !used.contains(*load)) {
            let position = &read.position;
            let given = [self.context.to_vec(), position.reached(&position.own_point(), position.loops.len())].concat();
            let mut inside = vec![];
            for (subscript, extent) in read.cell.iter().zip(&self.after.nest.array(read.array).shape) {
                inside.push(Formula::at_least(subscript, &Affine::default()));
                inside.push(extent.as_ref().map_or(Formula::FALSE, |extent| Formula::less(subscript, extent)));
            }
            self.prover.show(&format!("that line {} is in bounds", position.line), &given, &Formula::All(inside))?;
        }
        Ok(())
    }

    fn touches(&self, number: usize) -> Vec<Touch<'a>> {
        let (before, after) = (self.before, self.after);
        let (x, y): (&Statement, &Statement) = (&before.all[self.matches[number].of], &after.all[number]);
        let updates = update(self.pool, before, self.matches[number].of).zip(update(self.pool, after, number));
        let updates = updates.filter(|(x, y)| self.found[number].loads.contains(&(x.load, y.load)));
        let loads = self.found[number].loads.iter().filter_map(|(l, r)| {
            let update = updates.filter(|(x, y)| (x.load, y.load) == (*l, *r)).map(|(_, update)| update);
            let (l, r) = (before.loads.get(l)?, after.loads.get(r)?);
            let (before, after, cell) = (&l.position, &r.position, Some(r.cell.as_slice()));
            Some(Touch { statement: number, before, after, cell, kind: Kind::Read(r.array), update })
        });
        let mut touches: Vec<Touch<'a>> = loads.collect();
        let kind = match (&y.action, y.array) {
            (Action::Store(_) | Action::Alloc, Some(array)) => Kind::Write(array),
            (Action::Event(_), _) => Kind::Event,
            (Action::Trap(_), _) => Kind::Trap,
            _ => return touches,
        };
        let (before, after) = (&x.position, &y.position);
        let update = updates.map(|(_, update)| update);
        touches.push(Touch { statement: number, before, after, cell: y.cell.as_deref(), kind, update });
        touches
    }

    /// Instances that touch one cell, one of them to write, keep their order.
    fn conflicts(&mut self) -> Checked<()> {
        let touches: Vec<Touch<'a>> = (0..self.matches.len()).flat_map(|n| self.touches(n)).collect();
        let seen = self.seen_by_calls();
        for a in &touches {
            for b in &touches {
                let is_seen = |touch: &Touch<'_>| match touch.kind {
                    Kind::Read(array) | Kind::Write(array) => seen.contains(&array),
                    Kind::Event | Kind::Trap => true,
                };
                let conflict = match (a.kind, b.kind) {
                    (Kind::Event, _) => is_seen(b),
                    (_, Kind::Event) => is_seen(a),
                    (Kind::Write(x), Kind::Read(y) | Kind::Write(y)) | (Kind::Read(x), Kind::Write(y)) => x == y,
                    _ => false,
                };
                let commutes = a.update.zip(b.update).is_some_and(|(a, b)| a.commutes(&b));
                if conflict && !commutes {
                    self.keep_order(a, b)?;
                }
            }
        }
        Ok(())
    }

    /// Arrays that calls may look at: arguments, and what they are given.
    fn seen_by_calls(&self) -> BTreeSet<ArrayId> {
        let arrays = (0..self.after.nest.arrays.len() as u32).map(ArrayId);
        let argument = |array: &ArrayId| matches!(self.after.nest.array(*array).kind, ArrayKind::Argument(_));
        let mut seen: BTreeSet<ArrayId> = arrays.filter(argument).collect();
        for statement in &self.after.all {
            let Action::Event(event) = &statement.action else { continue };
            seen.extend(event.operands.iter().filter_map(|operand| match self.pool.get(*operand) {
                Value::Array(array) => Some(*array),
                _ => None,
            }));
        }
        seen
    }

    /// Where the second version executes `a` before `b`, the first one does not execute `b` before `a`.
    fn keep_order(&mut self, a: &Touch<'_>, b: &Touch<'_>) -> Checked<()> {
        let statement = |touch: &Touch<'_>| &self.after.all[touch.statement].position;
        let (s, t) = (statement(a), statement(b));
        let (p, q) = (s.any_point(0), t.any_point(1));
        let mut given = [self.context.to_vec(), s.reached(&p, s.loops.len()), t.reached(&q, t.loops.len())].concat();
        if let (Some(left), Some(right)) = (a.cell, b.cell) {
            given.push(Formula::known_equal(&s.values_at(left, &p), &t.values_at(right, &q)));
        }
        let (x, y) = (self.first_point(a.statement, &p), self.first_point(b.statement, &q));
        let once = b.before.precedes(&y, a.before, &x).into_iter().map(|(_, case)| case).collect();
        given.push(Formula::Any(once));
        for (shared, now) in a.after.precedes(&p, b.after, &q) {
            let mut facts = [given.clone(), vec![now]].concat();
            // In one iteration of the loops around, a binding has one value.
            for (var, bound) in &self.after.binds {
                if let (true, Some(x), Some(y)) =
                    (bound.depth <= shared, s.coordinate(&p, *var), t.coordinate(&q, *var))
                {
                    facts.push(Formula::equal(&x, &y));
                }
            }
            let what = format!("that lines {} and {} keep their order", a.after.line, b.after.line);
            self.prover.show(&what, &facts, &Formula::FALSE)?;
        }
        Ok(())
    }
}
