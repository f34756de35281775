//! Where accesses are in the iterations of two loops, one in the other: whether they keep their order if the loops are
//! interchanged, and how much nearer to each other they come.
//!
//! Where an address is `p + A x + B y` in the iterations x and y, it says which pairs of iterations access the same. If A and
//! B are numbers and the loop over y makes so few iterations that its accesses stay within A, the two addresses of a pair
//! are equal for few differences of x and of y, which are tried. If A is B times the number of iterations over y, whatever
//! that is, addresses run through memory without a gap, and meet if both differences are zero. In both cases addresses must not come
//! round; that they do not follows from how often the loops iterate, or as in [`super::fused`] from steps of at most a
//! megabyte that are all accessed.

use super::accesses::{Access, MAX_STEP, accesses, stays_below};
use super::fusion::Tested;
use super::interchange::Nest;
use super::polynomial::{Iterations, Polynomial, extended};
use crate::ir::cfg::MAX_EXECUTIONS;
use crate::ir::objects::PrivateObjects;
use crate::ir::operations::Operations;
use crate::ir::relation::Relation;
use crate::ir::trip_count::{CountedBranch, CountedLoops};
use crate::ir::{Cfg, Function, Value};
use rewright_typeprop::Universe;

/// By how many bytes two addresses differ in one iteration, at most, if it is known where they meet.
const MAX_DISTANCE: i128 = 1 << 40;

/// Bytes that memory and caches move at once.
pub(super) const LINE: i64 = 64;

/// So many lines are still in the first cache when they are accessed again, and so many in the second one. A line from there
/// costs a tenth of one of which it is not known where it comes from: on x86-64, about one addition, and 60 to 100 from memory.
const FIRST_CACHE: i128 = 128;
const SECOND_CACHE: i128 = 1024;

/// Where accesses of a nest are in its iterations.
pub(super) struct Places<'a> {
    pub(super) iterations: Iterations<'a>,
    /// Of the outer and the inner loop.
    loops: [Counted; 2],
}

/// How often a loop iterates.
struct Counted {
    /// As a number, at most.
    trips: Option<i128>,
    /// As what loops do not change, or none if that is less than zero.
    number: Option<Polynomial>,
    /// At most 2 to the power of this.
    bits: u32,
}

/// What an address adds in each iteration of the outer and of the inner loop.
type Steps = [Polynomial; 2];

impl<'a> Places<'a> {
    pub(super) fn new(nest: &Nest<'a>, universe: &'a Universe, cfg: &Cfg, operations: &'a Operations<'a>) -> Self {
        let counted = CountedLoops::new(nest.function(), cfg, universe);
        let of = vec![nest.outer.of, nest.inner.of];
        let mut iterations = Iterations { of, universe, operations, monotone: vec![] };
        let both = [&nest.outer, &nest.inner];
        let tests = both.map(|l| {
            let tests = counted.counted_branches(l.of.id, cfg.natural_loop(l.of.id));
            tests.into_iter().filter(|test| test.block == l.test).collect::<Vec<_>>()
        });
        let is_first = nest.tested == Tested::First;
        for (l, tests) in both.into_iter().zip(&tests) {
            let counters = nest.counters(l.of.header);
            let is_param = |value: Value| counters.iter().any(|(_, param)| *param == value);
            let ends_before_it_wraps = |test: &&CountedBranch| {
                let by_one = matches!((test.relation, test.step), (Relation::Lt, 1) | (Relation::Gt, -1));
                is_first && by_one && is_param(test.counter)
            };
            iterations
                .monotone
                .extend(tests.iter().filter(ends_before_it_wraps).map(|test| (test.counter, test.signed)));
        }
        let loops = [0, 1].map(|n| {
            let l = both[n];
            let trips = counted.trips(l.of.id, cfg.natural_loop(l.of.id)).filter(|trips| *trips < MAX_EXECUTIONS);
            // A header that tests last executes once more than what follows it.
            let more = u64::from(!is_first && l.test == l.of.header);
            let trips = trips.map(|trips| trips + more);
            let bits = tests[n].iter().map(|test| bits(nest.function(), universe, test)).min().unwrap_or(64);
            let number = tests[n].iter().find_map(|test| iterations.number(test));
            Counted { trips: trips.map(i128::from), number, bits }
        });
        Places { iterations, loops }
    }

    /// What an address adds in each iteration, and what it begins with.
    pub(super) fn steps(&self, access: &Access) -> Option<(Steps, Polynomial)> {
        let (first, mut steps) = access.address.as_ref()?.by_iterations()?;
        Some(([0, 1].map(|n| steps.remove(&n).unwrap_or_default()), first))
    }

    /// Is there no pair of iterations in which both access the same byte, and which comes before the other one in one
    /// loop and behind it in the other?
    pub(super) fn keep_order(&self, one: &Access, other: &Access) -> bool {
        let (Some((steps, first)), Some((others, second))) = (self.steps(one), self.steps(other)) else { return false };
        if steps != others {
            return false;
        }
        let distance = second.plus(-1, &first);
        let numbers = [0, 1].map(|n| steps[n].as_constant().map(i128::from));
        let each_time = one.each_time || other.each_time;
        let size = i128::from(one.size.max(other.size));
        if let ([Some(x), Some(y)], Some(distance)) = (numbers, distance.as_constant()) {
            let meetings = Meetings { sizes: [one, other].map(|a| i128::from(a.size)), distance: distance.into() };
            return meetings.distance.abs() < MAX_DISTANCE && self.meet_in_order(&meetings, [x, y], each_time);
        }
        // The one loop goes through as much as the other one passes in each iteration.
        let fills = |small: usize, large: usize| {
            let (Some(by), Some(number)) = (numbers[small], &self.loops[small].number) else { return false };
            let whole = number.times(&Polynomial::constant(by as i64));
            by.abs() >= size && by.abs() <= MAX_STEP && each_time && whole == steps[large]
        };
        distance == Polynomial::default() && (fills(1, 0) || fills(0, 1))
    }

    fn meet_in_order(&self, meetings: &Meetings, [x, y]: [i128; 2], each_time: bool) -> bool {
        let comes_round = |n: usize, by: i128| {
            let is_known = self.loops[n].trips.is_some_and(|trips| by.abs().saturating_mul(trips + 1) < MAX_DISTANCE);
            let stays = stays_below(by.abs(), self.loops[n].bits) || (each_time && by.abs() <= MAX_STEP);
            !is_known && !stays
        };
        if comes_round(0, x) || comes_round(1, y) {
            return false;
        }
        match (x, y) {
            (0, 0) => !meetings.meet(0),
            // They meet in all iterations of the other loop, so in equal ones of this one, or the order matters.
            (0, by) | (by, 0) => meetings.differences(by).into_iter().all(|n| n == 0),
            _ => {
                let (outer_is_larger, [large, small]) =
                    if x.abs() >= y.abs() { (true, [x, y]) } else { (false, [y, x]) };
                let Some(trips) = self.loops[usize::from(outer_is_larger)].trips else { return false };
                let width = small.abs() * (trips - 1);
                if width + *meetings.sizes.iter().max().unwrap_or(&0) > large.abs() {
                    return false;
                }
                // The larger steps bring the addresses so near to each other that the smaller ones can do the rest.
                let near = -meetings.distance / large;
                let candidates = (near - 2..=near + 2).flat_map(|n| {
                    let rest = Meetings { distance: meetings.distance + n * large, ..*meetings };
                    rest.differences(small).into_iter().map(move |m| (n, m))
                });
                candidates.filter(|(_, m)| m.abs() < trips).all(|(n, m)| n.signum() * m.signum() >= 0)
            }
        }
    }
}

impl Iterations<'_> {
    /// How often a loop iterates that tests first, counts in steps of one, and stops before its counter comes round.
    fn number(&self, test: &CountedBranch) -> Option<Polynomial> {
        if !self.monotone.contains(&(test.counter, test.signed)) {
            return None;
        }
        let (first, _) = self.polynomial(test.counter)?.by_iterations()?;
        let bits = self.universe.types.scalar(self.of[0].function.ty(test.counter))?.bits();
        let first = extended(first, bits, test.signed);
        let bound = match (test.limit, test.bound) {
            (Some(n), _) => extended(Polynomial::constant(n), bits, test.signed),
            (None, Some(bound)) => self.steady(bound, test.signed)?,
            (None, None) => Polynomial::default(),
        };
        Some(if test.step == 1 { bound.plus(-1, &first) } else { first.plus(-1, &bound) })
    }
}

/// A loop iterates at most 2 to the power of this many times.
fn bits(function: &Function, universe: &Universe, test: &CountedBranch) -> u32 {
    let bits = universe.types.scalar(function.ty(test.counter)).map_or(64, |scalar| scalar.bits());
    bits - test.step.trailing_zeros().min(bits)
}

/// Two accesses, the second one so many bytes behind the first one.
#[derive(Clone, Copy)]
struct Meetings {
    sizes: [i128; 2],
    distance: i128,
}

impl Meetings {
    /// Have they a byte in common if the second one moves on?
    fn meet(&self, by: i128) -> bool {
        let at = self.distance + by;
        -self.sizes[1] < at && at < self.sizes[0]
    }

    /// After how many steps they meet, the second one less the first one.
    fn differences(&self, step: i128) -> Vec<i128> {
        let reach = self.sizes.iter().max().unwrap_or(&0) / step.abs() + 1;
        let near = -self.distance / step;
        (near - reach..=near + reach).filter(|n| self.meet(n * step)).collect()
    }
}

/// How many lines fewer are moved in one iteration of the inner loop if the loops are interchanged, in units of 1 / [`LINE`];
/// less than zero if there are more.
pub(super) fn nearer(nest: &Nest<'_>, universe: &Universe, cfg: &Cfg) -> Option<i64> {
    let operations = Operations::new(nest.function(), universe);
    let places = Places::new(nest, universe, cfg, &operations);
    let objects = PrivateObjects::new(nest.function(), cfg, universe);
    let moved = |n: usize, step: &Polynomial| {
        let lines = step.as_constant().map_or(LINE, |by| by.saturating_abs().min(LINE));
        match places.loops[n].trips {
            Some(0..=FIRST_CACHE) => 0,
            Some(..=SECOND_CACHE) => lines / 10,
            _ => lines,
        }
    };
    let accesses = accesses(&places.iterations, &objects).ok()?;
    let steps = accesses.iter().filter(|access| access.each_time).filter_map(|access| places.steps(access));
    Some(steps.map(|([outer, inner], _)| moved(1, &inner) - moved(0, &outer)).sum())
}
