//! Loops that count: that they end, and after how many iterations.
//!
//! **That a loop ends.** Let p be a parameter of the header that every back edge sets to p + s, for one constant s. In
//! iteration i it is p0 + i s modulo 2^N. Let a block that belongs to no inner loop and dominates every latch (hence
//! runs once in each iteration, if the inner loops end) leave the loop on a comparison of x = p + k with a value n
//! that the loop does not change. Write s = g m with m odd and g = 2^t, t < N. Then x takes, before it repeats, every
//! value that is congruent to x0 modulo g: r, r + g, .., r + 2^N - g for some r < g that is not known. The loop ends
//! if for every r one of these satisfies the exit condition:
//!
//! | exit when | condition (unsigned; signed comparisons after adding 2^(N-1) to both sides) |
//! |---|---|
//! | x != n | always, as there are two values at least |
//! | x == n | g = 1 |
//! | x >= n, x > n | 2^N - g >= n, resp. > n: the greatest value where r = 0 |
//! | x <= n, x < n | g - 1 <= n, resp. < n: the least value where r = g - 1 |
//!
//! Where n is not a constant, the condition must hold for every n: g = 1 for `>=` and `<=`, never for `>` and `<`.
//! Comparisons, sums and differences are recognised by their models.
//!
//! **After how many iterations.** Where p0 and n are constants, the first iteration in which the condition holds is
//! found by counting, up to [`MAX_EXECUTIONS`]. A loop has a trip count if all its exits are such branches: then the
//! first of them decides. A header that tests before the loop's body runs once more than the body; the body counts.

use super::cfg::MAX_EXECUTIONS;
use super::operations::Operations;
use super::relation::Relation;
use super::{BlockId, Cfg, Definition, EdgeArg, EdgeId, Function, Loop, LoopId, Terminator, Value};
use rewright_typeprop::{Model, Universe};

/// Operations that lead from values outside a loop to a bound that is computed in it, one behind the other.
const MAX_DEPTH: usize = 8;

/// Notes trip counts at the headers of loops, as far as they are found and not known yet.
///
/// Front ends do so once: what is found anew in a result would make it dearer than what it came from.
pub fn note_trips(function: &mut Function, universe: &Universe) {
    let cfg = Cfg::new(function);
    if cfg.loop_count() == 0 {
        return;
    }
    let counted = CountedLoops::new(function, &cfg, universe);
    let found: Vec<(BlockId, Option<u64>)> = cfg.loops().map(|(id, l)| (l.header, counted.trips(id, l))).collect();
    for (header, trips) in found {
        let known = &mut function.blocks[header.index()].counts.trips;
        *known = known.or(trips);
    }
}

/// What counting says of a function's loops.
pub(crate) struct CountedLoops<'a> {
    function: &'a Function,
    cfg: &'a Cfg,
    universe: &'a Universe,
    operations: Operations<'a>,
}

/// A branch that leaves a loop when a counter stands so to a value that the loop does not change.
struct ExitTest {
    /// The counter, and what it is compared with.
    sides: (Value, Bound),
    signed: bool,
    bits: u32,
    relation: Relation,
    /// What makes a signed comparison an unsigned one.
    flip: u64,
    /// The counter in the first iteration, where it is known.
    first: Option<u64>,
    step: u64,
    bound: Option<u64>,
}

impl ExitTest {
    /// Does it hold at last, whatever the counter begins with?
    fn is_reached(&self) -> bool {
        self.relation.has_exit(self.step.trailing_zeros(), self.bits, self.bound.map(|n| n ^ self.flip))
    }

    /// In how many iterations it does not hold before it does, at most [`MAX_EXECUTIONS`].
    fn stays(&self) -> Option<u64> {
        let (first, bound) = (self.first?, self.bound? ^ self.flip);
        let counter = |i: u64| first.wrapping_add(i.wrapping_mul(self.step)) & (u64::MAX >> (64 - self.bits));
        let reached = (0..MAX_EXECUTIONS).find(|i| self.relation.holds(counter(*i) ^ self.flip, bound));
        Some(reached.unwrap_or(MAX_EXECUTIONS))
    }
}

/// A branch that every iteration comes to once, and that stays in the loop while a comparison of a counter with a value
/// from outside the loop holds.
pub(crate) struct CountedBranch {
    /// The block that ends with it.
    pub(crate) block: BlockId,
    /// The edge that stays, of two.
    pub(crate) slot: usize,
    pub(crate) relation: Relation,
    pub(crate) signed: bool,
    /// A parameter of the header, or one plus a constant.
    pub(crate) counter: Value,
    /// The value from outside the loop that the counter is compared with; none for zero.
    pub(crate) bound: Option<Value>,
    /// That value, if it is a constant, in canonical form.
    pub(crate) limit: Option<i64>,
    /// The constant that each iteration adds to the counter, in canonical form.
    pub(crate) step: i64,
}

/// What decides of each iteration whether another one follows.
pub(crate) struct Continuation {
    pub(crate) goes_on: GoesOn,
    /// The loop goes on less often than 2 to the power of this.
    pub(crate) bits: u32,
    /// How often it goes on, where that is known.
    pub(crate) trips: Option<u64>,
}

/// While what a loop goes on.
pub(crate) enum GoesOn {
    /// A comparison of a counter with a value that the loop does not change holds.
    While { model: Model, counter: Value, bound: Limit },
    /// A counter is not zero.
    NotZero(Value),
}

/// What a counter is compared with.
pub(crate) enum Limit {
    Value(Value),
    /// Of the counter's type, in canonical form.
    Constant(i64),
}

impl<'a> CountedLoops<'a> {
    pub(crate) fn new(function: &'a Function, cfg: &'a Cfg, universe: &'a Universe) -> Self {
        CountedLoops { function, cfg, universe, operations: Operations::new(function, universe) }
    }

    pub(super) fn definition(&self, v: Value) -> Option<Definition> {
        self.operations.definition(v)
    }

    pub(super) fn into_definitions(self) -> Vec<Option<Definition>> {
        self.operations.into_definitions()
    }

    /// While what a loop goes on that has one exit, and is sure to take it whatever it begins with.
    pub(crate) fn continuation(&self, id: LoopId, l: &Loop) -> Option<Continuation> {
        let [exit] = self.cfg.loop_exits(self.function, id)[..] else { return None };
        let test = self.exit_tests(id, l, exit.from).into_iter().find(ExitTest::is_reached)?;
        let relation = test.relation.negated();
        let (counter, bound) = test.sides;
        let known = |bound| self.operations.constant(bound).zip(self.universe.types.scalar(self.function.ty(bound)));
        let goes_on = match (bound, relation) {
            // It ends, so the bound is not the last value, and there is a next one.
            (Bound::Value(bound), Relation::Le | Relation::Ge) if let Some((n, scalar)) = known(bound) => {
                let (strict, next) = if relation == Relation::Le {
                    (Relation::Lt, n.wrapping_add(1))
                } else {
                    (Relation::Gt, n.wrapping_sub(1))
                };
                let bound = Limit::Constant(scalar.canonical(next as u64));
                GoesOn::While { model: strict.model(test.signed), counter, bound }
            }
            (Bound::Value(bound), _) => {
                GoesOn::While { model: relation.model(test.signed), counter, bound: Limit::Value(bound) }
            }
            (Bound::Zero, Relation::Ne) => GoesOn::NotZero(counter),
            (Bound::Zero, _) => return None,
        };
        let trips = test.stays().filter(|n| *n < MAX_EXECUTIONS);
        Some(Continuation { goes_on, bits: test.bits, trips })
    }

    /// Its branches that stay in it while a counter has not come to a bound.
    pub(crate) fn counted_branches(&self, id: LoopId, l: &Loop) -> Vec<CountedBranch> {
        let exits = self.cfg.loop_exits(self.function, id).into_iter();
        let tests = exits.flat_map(|exit| {
            let tests = self.exit_tests(id, l, exit.from).into_iter();
            tests.map(move |test| (exit, test))
        });
        let branch = |(exit, test): (EdgeId, ExitTest)| {
            let (counter, bound) = test.sides;
            let scalar = self.universe.types.scalar(self.function.ty(counter))?;
            let bound = match bound {
                Bound::Value(value) if test.bound.is_none() && self.is_defined_in(id, value) => return None,
                Bound::Value(value) => Some(value),
                Bound::Zero => None,
            };
            Some(CountedBranch {
                block: exit.from,
                slot: 1 - exit.slot as usize,
                relation: test.relation.negated(),
                signed: test.signed,
                counter,
                bound,
                limit: test.bound.map(|bound| scalar.canonical(bound)),
                step: scalar.canonical(test.step),
            })
        };
        tests.filter_map(branch).collect()
    }

    /// Is it sure to end, if the loops in it do?
    pub(crate) fn ends(&self, id: LoopId, l: &Loop) -> bool {
        let blocks = self.cfg.loop_blocks(id).iter();
        blocks.flat_map(|b| self.exit_tests(id, l, *b)).any(|test| test.is_reached())
    }

    /// Iterations each time that it is entered, at least 1.
    pub(crate) fn trips(&self, id: LoopId, l: &Loop) -> Option<u64> {
        let mut least = None;
        for exit in self.cfg.loop_exits(self.function, id) {
            let stays = self.exit_tests(id, l, exit.from).iter().find_map(ExitTest::stays)?;
            let before_the_body = exit.from == l.header && !l.latches.contains(&l.header);
            let trips = stays + u64::from(!before_the_body);
            least = Some(least.map_or(trips, |least: u64| least.min(trips)));
        }
        least.map(|trips| trips.clamp(1, MAX_EXECUTIONS))
    }

    /// The branch at the end of a block, if it runs once in each iteration and may leave the loop: read with one
    /// operand as the counter, or with the other.
    fn exit_tests(&self, id: LoopId, l: &Loop, b: BlockId) -> Vec<ExitTest> {
        let once = self.cfg.loop_of(b) == Some(id) && l.latches.iter().all(|latch| self.cfg.dominates(b, *latch));
        let Terminator::Branch { cond, then, els } = &self.function.block(b).term else { return vec![] };
        let (then_stays, else_stays) =
            (self.cfg.loop_contains(id, then.target), self.cfg.loop_contains(id, els.target));
        if !once || then_stays == else_stays {
            return vec![];
        }
        let exit_when = else_stays;
        let readings = if let Some((model, [x, y])) = self.operations.binary(*cond)
            && let Some((relation, signed)) = Relation::of(model)
        {
            let relation = if exit_when { relation } else { relation.negated() };
            vec![
                self.exit_test(id, l, x, relation, signed, Bound::Value(y)),
                self.exit_test(id, l, y, relation.swapped(), signed, Bound::Value(x)),
            ]
        } else {
            let relation = if exit_when { Relation::Ne } else { Relation::Eq };
            vec![self.exit_test(id, l, *cond, relation, false, Bound::Zero)]
        };
        readings.into_iter().flatten().collect()
    }

    fn exit_test(
        &self,
        id: LoopId,
        l: &Loop,
        x: Value,
        relation: Relation,
        signed: bool,
        given: Bound,
    ) -> Option<ExitTest> {
        let scalar = self.universe.types.scalar(self.function.ty(x)).filter(|s| s.is_int())?;
        let bound = match given {
            Bound::Zero => Some(0),
            Bound::Value(v) => match self.operations.constant(v) {
                Some(n) => Some(scalar.zero_extended(n)),
                None if self.may_vary(id, v, MAX_DEPTH) => return None,
                None => None,
            },
        };
        let flip = if signed { 1 << (scalar.bits() - 1) } else { 0 };
        let counter = self.counter(id, l, x)?;
        let [first, step] = [counter.first, Some(counter.step)].map(|n| n.map(|n| scalar.zero_extended(n)));
        Some(ExitTest { sides: (x, given), signed, bits: scalar.bits(), relation, flip, first, step: step?, bound })
    }

    fn is_defined_in(&self, id: LoopId, v: Value) -> bool {
        self.operations.definition(v).is_none_or(|d| self.cfg.loop_contains(id, d.block()))
    }

    /// May it differ between iterations? Not if it is computed from what the loop does not change, however often.
    fn may_vary(&self, id: LoopId, v: Value, depth: usize) -> bool {
        match self.operations.definition(v) {
            Some(definition) if !self.cfg.loop_contains(id, definition.block()) => false,
            Some(Definition::Result(_, inst, _)) if depth > 0 => {
                let inst = self.function.inst(inst);
                !inst.is_silent(self.universe) || inst.args.iter().any(|arg| self.may_vary(id, *arg, depth - 1))
            }
            _ => true,
        }
    }

    /// What `x`, a parameter of the header or one plus a constant, begins with and what each iteration adds to it.
    fn counter(&self, id: LoopId, l: &Loop, x: Value) -> Option<Counter> {
        let params = &self.function.block(l.header).params;
        let position = |v: Value| params.iter().position(|p| *p == v);
        let (index, offset) = match position(x) {
            Some(index) => (index, 0),
            None => self.operations.sum(x).and_then(|(base, offset)| Some((position(base)?, offset)))?,
        };
        let (mut starts, mut step) = (vec![], None);
        for e in self.cfg.predecessors(l.header) {
            let edges = self.function.block(e.from).term.edges();
            let Some(EdgeArg::Value(next)) = edges[e.slot as usize].args.get(index).copied() else {
                if self.cfg.loop_contains(id, e.from) {
                    return None;
                }
                starts.push(None);
                continue;
            };
            if !self.cfg.loop_contains(id, e.from) {
                starts.push(self.operations.constant(next));
                continue;
            }
            let (base, by) = self.operations.sum(next)?;
            if base != params[index] || step.is_some_and(|s| s != by) {
                return None;
            }
            step = Some(by);
        }
        let start = starts.first().copied().flatten().filter(|_| starts.iter().all(|s| *s == starts[0]));
        Some(Counter { first: start.map(|n| n.wrapping_add(offset)), step: step? })
    }
}

struct Counter {
    first: Option<i64>,
    step: i64,
}

#[derive(Clone, Copy)]
enum Bound {
    Zero,
    Value(Value),
}

impl Relation {
    /// The table in the module's header, with g = 2^`t`.
    fn has_exit(self, t: u32, bits: u32, n: Option<u64>) -> bool {
        if t >= bits {
            return false;
        }
        let last = (1u64 << t) - 1;
        let top = (u64::MAX >> (64 - bits)) - last;
        match (self, n) {
            (Relation::Ne, _) => true,
            (Relation::Eq, _) => t == 0,
            (Relation::Ge, Some(n)) => top >= n,
            (Relation::Gt, Some(n)) => top > n,
            (Relation::Le, Some(n)) => last <= n,
            (Relation::Lt, Some(n)) => last < n,
            (Relation::Ge | Relation::Le, None) => t == 0,
            (Relation::Gt | Relation::Lt, None) => false,
        }
    }
}

#[cfg(test)]
mod tests;
