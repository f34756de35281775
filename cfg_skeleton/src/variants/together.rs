//! Several iterations behind one test: a counter has as far to go as they take it.
//!
//! A loop of copies comes ahead of the loop. Before each round of it a test asks whether the loop's own tests would let that many
//! iterations follow one another; if so they follow without them, else the loop itself executes the rest. The test is one
//! of those in the table of [`super::decided`], which checks it.

use super::copies::Copies;
use super::shapes::Copyable;
use crate::ir::relation::Relation;
use crate::ir::trip_count::{CountedBranch, CountedLoops};
use crate::ir::{BlockId, InstKind, Value, definitions};
use rewright_typeprop::{Model, Scalar, Ty, Universe};
use smallvec::smallvec;

/// A branch that can be decided for several iterations at once.
struct Ahead {
    branch: CountedBranch,
    ty: Ty,
    scalar: Scalar,
    /// How far the last of the iterations is from the first.
    by: i64,
}

impl Copyable<'_> {
    /// May several iterations follow one test, more than once? Copies of a loop with others in it are not worth their size.
    pub(super) fn goes_on(&self, times: u64, universe: &Universe) -> bool {
        let is_innermost = self.blocks().iter().all(|block| self.cfg.loop_of(*block) == Some(self.id));
        is_innermost && self.assumed_trips() >= 2 * times && self.test_ahead(times, universe).is_some()
    }

    /// Several iterations follow one test as long as that many are left; the loop itself executes the rest.
    pub(super) fn together(&self, copies: &mut Copies<'_>, times: u64, universe: &Universe) -> Option<()> {
        let ahead = self.test_ahead(times, universe)?;
        let choice = copies.choice(self.header, self.before);
        let cond = self.condition(&ahead, copies, choice, universe)?;
        let iterations: Vec<_> = (0..times).map(|_| copies.copy(self.blocks())).collect();
        let trips = self.assumed_trips();
        // The last iteration fails the test at its end, the header's test fails once more than there are iterations.
        let passed = trips.saturating_sub(u64::from(ahead.branch.block != self.header));
        let rounds = passed / times;
        for iteration in &iterations {
            copies.decide(iteration[&ahead.branch.block], ahead.branch.slot);
            self.follow(copies, iteration, (rounds, trips));
        }
        for pair in iterations.windows(2) {
            copies.redirect(pair[0][&self.latch], pair[0][&self.header], pair[1][&self.header]);
        }
        let (first, last) = (iterations.first()?, iterations.last()?);
        copies.choose(choice, cond, [first[&self.header], self.header]);
        copies.redirect(self.before, self.header, choice);
        copies.redirect(last[&self.latch], last[&self.header], choice);
        let rest = (trips - rounds * times, trips);
        self.blocks().iter().for_each(|block| self.share(copies, *block, *block, rest));
        let executions = self.cfg.frequency(self.before).saturating_mul(rounds + 1);
        let must_progress = self.function.block(self.header).must_progress;
        let data = copies.block_mut(choice);
        (data.counts.executions, data.must_progress) = (Some(executions), must_progress);
        Some(())
    }

    /// The first branch of the loop whose counter tells of several iterations whether it stays.
    fn test_ahead(&self, times: u64, universe: &Universe) -> Option<Ahead> {
        let l = self.cfg.natural_loop(self.id);
        let branches = CountedLoops::new(self.function, self.cfg, universe).counted_branches(self.id, l);
        branches.into_iter().find_map(|branch| {
            let ty = self.function.ty(branch.counter);
            let scalar = universe.types.scalar(ty)?;
            let by = i64::try_from(branch.step.unsigned_abs().checked_mul(times - 1)?).ok()?;
            let ahead = Ahead { branch, ty, scalar, by };
            ahead.is_possible().then_some(ahead)
        })
    }

    /// Computes whether the branch stays in the loop that often.
    fn condition(&self, ahead: &Ahead, copies: &mut Copies<'_>, choice: BlockId, universe: &Universe) -> Option<Value> {
        let branch = &ahead.branch;
        let defined = definitions(self.function)[branch.counter.index()]?.inst();
        let counter = copies.again(choice, branch.counter, defined.as_slice());
        let mut made = Made { copies, choice, universe, ty: ahead.ty };
        if branch.relation == Relation::Ne {
            let bound = match branch.bound {
                Some(bound) => bound,
                None => made.constant(0)?,
            };
            let [to, from] = if ahead.is_up() { [bound, counter] } else { [counter, bound] };
            let distance = made.binary(Model::Sub, [to, from])?;
            let least = made.constant(ahead.by)?;
            return made.compare(Relation::Gt, false, [distance, least]);
        }
        let nearer = match branch.limit {
            Some(n) => made.constant(ahead.nearer(n)?)?,
            None => {
                let [limited, back] = match (ahead.is_up(), branch.signed) {
                    (true, true) => [Model::Smax, Model::Sub],
                    (true, false) => [Model::Umax, Model::Sub],
                    (false, true) => [Model::Smin, Model::Add],
                    (false, false) => [Model::Umin, Model::Add],
                };
                let last = made.constant(ahead.last())?;
                let limit = made.binary(limited, [branch.bound?, last])?;
                let by = made.constant(ahead.by)?;
                made.binary(back, [limit, by])?
            }
        };
        made.compare(branch.relation, branch.signed, [counter, nearer])
    }
}

impl Ahead {
    fn is_up(&self) -> bool {
        self.branch.step > 0
    }

    /// Does the counter go towards the bound, to which there is a test that is nearer?
    fn is_possible(&self) -> bool {
        let has_nearer = self.branch.limit.is_none_or(|n| self.nearer(n).is_some());
        let is_number = self.scalar.canonical(self.by as u64) == self.by;
        is_number
            && match self.branch.relation {
                Relation::Lt => self.is_up() && has_nearer,
                Relation::Gt => !self.is_up() && has_nearer,
                // There may be no number beyond the last one.
                Relation::Le => self.is_up() && has_nearer && self.branch.limit.is_some(),
                Relation::Ge => !self.is_up() && has_nearer && self.branch.limit.is_some(),
                Relation::Ne => true,
                Relation::Eq => false,
            }
    }

    /// A constant bound, less what the last iteration is ahead; none beyond the least or the greatest number.
    fn nearer(&self, n: i64) -> Option<i64> {
        let by = i128::from(if self.is_up() { -self.by } else { self.by });
        let (least, greatest) = self.numbers();
        let n = if self.branch.signed { i128::from(n) } else { i128::from(self.scalar.zero_extended(n)) };
        let nearer = n + by;
        (least..=greatest).contains(&nearer).then(|| self.scalar.canonical(nearer as u64))
    }

    /// The least, or greatest, bound to which the last iteration can come.
    fn last(&self) -> i64 {
        let (least, greatest) = self.numbers();
        let by = i128::from(self.by);
        self.scalar.canonical(if self.is_up() { least + by } else { greatest - by } as u64)
    }

    /// The least and the greatest number that the test compares.
    fn numbers(&self) -> (i128, i128) {
        let bits = self.scalar.bits();
        match self.branch.signed {
            true => (-(1 << (bits - 1)), (1 << (bits - 1)) - 1),
            false => (0, (1 << bits) - 1),
        }
    }
}

/// What is computed in a block that chooses, over one type.
struct Made<'m, 'c> {
    copies: &'m mut Copies<'c>,
    choice: BlockId,
    universe: &'m Universe,
    ty: Ty,
}

impl Made<'_, '_> {
    fn constant(&mut self, n: i64) -> Option<Value> {
        self.copies.compute(self.choice, InstKind::Const(n), &[], &[self.ty]).first().copied()
    }

    fn binary(&mut self, model: Model, operands: [Value; 2]) -> Option<Value> {
        let op = self.universe.binary(model, self.ty)?;
        let result = self.universe.types.find_instance(self.universe.ops.get(op).results.first()?, &[self.ty])?;
        let kind = InstKind::Op { op, targs: smallvec![self.ty], access: None };
        self.copies.compute(self.choice, kind, &operands, &[result]).first().copied()
    }

    fn compare(&mut self, relation: Relation, signed: bool, [x, y]: [Value; 2]) -> Option<Value> {
        let compared = self.binary(relation.model(signed), [x, y]);
        compared.or_else(|| self.binary(relation.swapped().model(signed), [y, x]))
    }
}

#[cfg(test)]
mod tests;
