//! Loops of which a few iterations are all: both versions are written out without loops, and that they are never at the
//! end of what has been written out is a part of the question.

use super::super::Pair;
use super::super::flow::Flow;
use super::super::region::Region;
use super::super::symexec::{Choosing, Keys, Likeness, Start, behaviour};
use super::super::{Decided, Inputs};
use super::regions::{CutAt, RegionStart, cuts, region};
use super::{Budget, Undecided};
use crate::not_modelled::NotModelled;
use rewright_llvm::body::Body;
use rewright_smt::Script;
use rewright_smt::solver::{Answer, Limit, Solver};
use std::io;

/// Iterations that are written out, at most, fewest first.
const ITERATIONS: [usize; 2] = [3, 17];

/// Steps of the solver to see whether iterations are all.
const STEPS: u64 = 100_000;

/// Blocks that are written out.
const MOST_BLOCKS: usize = 120;

/// What is decided of what is written out; `None` where that is not all.
pub(super) fn decide(pair: &Pair<'_>, solver: &mut Solver, budget: &mut Budget) -> io::Result<Option<Decided>> {
    for iterations in ITERATIONS {
        let regions = match [0, 1].map(|n| written_out(&pair.bodies[n], iterations)) {
            [Ok(old), Ok(new)] => [old, new],
            _ => return Ok(None),
        };
        if is_all(pair, 0, &regions[0], solver, budget)? && is_all(pair, 1, &regions[1], solver, budget)? {
            let bodies = regions.map(|region| region.body);
            let unrolled = Pair { versions: pair.versions, keys: Keys::new(pair.versions, &bodies), bodies };
            let mut found = Decided::default();
            unrolled.without_loops(solver, budget, &mut found)?;
            return Ok(Some(found));
        }
    }
    Ok(None)
}

/// A body without loops whose ends are those of the function, or arrivals where another iteration would begin.
fn written_out(body: &Body, iterations: usize) -> Result<Region, NotModelled> {
    let flow = Flow::new(body);
    let region = region(&flow, &cuts(&flow, CutAt::Header, |_| false), RegionStart::Entry, iterations)?;
    match region.body.blocks.len() <= MOST_BLOCKS {
        true => Ok(region),
        false => Err("too many iterations".into()),
    }
}

/// Does no execution of a version, by itself, come to another iteration?
fn is_all(
    pair: &Pair<'_>,
    version: usize,
    region: &Region,
    solver: &mut Solver,
    budget: &mut Budget,
) -> io::Result<bool> {
    if region.arrivals.is_empty() {
        return Ok(true);
    }
    let (Ok(asked), Ok(limit)) = (another(pair, version, region), budget.limit()) else { return Ok(false) };
    let answer = solver.ask_within(&asked, &[], Limit { steps: limit.steps.min(STEPS), ..limit })?;
    budget.charge(solver.spent());
    Ok(answer == Answer::Unsat)
}

/// The question whether there is another iteration.
fn another(pair: &Pair<'_>, version: usize, region: &Region) -> Result<String, Undecided> {
    let mut script = Script::new();
    let s = &mut script;
    let given = Inputs::new(s, pair.versions, &pair.bodies, true)?;
    let start = Start { arrivals: &region.arrivals, ..Start::all(&region.body) };
    let choosing = if version == 0 { Choosing::Like(Likeness::ALL[0]) } else { Choosing::Anything };
    let found = behaviour(s, pair.versions[version], &start, &given, &pair.keys, choosing)?;
    let arrived: Vec<_> = found.arrived.iter().map(|arrived| arrived.reached).collect();
    let arrived = s.or(&arrived);
    let claim = s.and(&[arrived, found.facts, given.promised]);
    Ok(s.asserting(claim).text)
}
