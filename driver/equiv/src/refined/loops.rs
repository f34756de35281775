//! Loops, by induction over cuts.
//!
//! Both versions are cut where loops begin again ([`regions`]). What is between cuts has no loops: from a pair of cuts,
//! at which an *invariant* holds of the values of both, both come to a pair of cuts at which its invariant holds, or
//! both leave, or the first one is undefined. Then the second one does in any number of iterations what the first one
//! may do, and runs for ever only where that does.
//!
//! Invariants are found by leaving out of many candidates ([`invariants`]) all that do not hold when a pair is reached,
//! until all that are left do. Memory at a cut, and what calls know, must be the same.
//!
//! What may be `undef` goes through a cut as a set of values, of which each use sees one. The second version's set is
//! within the first one's, and the first version, which may do anything that it may do with less, is given the second
//! one's, where each use sees the same. Of a set nothing is known but whether it is one value: it may have poison beside
//! values, since that may depend on what a use of something else has seen.
//!
//! Loops are met in the same order by both: each iteration of one is an iteration of the other, where headers are cut
//! before or behind the condition of another iteration, and the first iteration stands alone or not. Where the second
//! version counts in steps that are a multiple of the first one's, one iteration may also be that many ([`steps`]): a loop
//! that was unrolled in part, or vectorised, whose vectors are taken lane by lane ([`scalarised`]).
//!
//! Loops that end after a few iterations whatever they are given are written out before ([`unrolled`]).

mod beginning;
mod bounds;
mod candidate;
mod claims;
mod invariants;
mod progress;
mod question;
mod regions;
mod scalarised;
mod steps;
#[cfg(test)]
mod tests;
mod unrolled;

use super::super::budget::Budget;
use super::super::not_modelled::NotModelled;
use super::flow::Flow;
use super::region::Region;
use super::symexec::Keys;
use super::{Decided, Pair, Undecided};
use invariants::Invariant;
use progress::Progress;
use question::{LoopQuestion, Source};
use regions::{Cut, CutAt, RegionStart, cuts, region};
use rewright_llvm::body::{Body, Instruction, Shape};
use rewright_smt::Script;
use rewright_smt::solver::Solver;
use std::collections::{BTreeMap, BTreeSet};
use std::io;

/// A way to cut both versions.
#[derive(Clone, Copy)]
struct Way {
    old: CutAt,
    new: CutAt,
    /// Do first iterations stand alone?
    peeled: bool,
    /// Are iterations of the second version several of the first one, where it counts in larger steps?
    unrolled: bool,
}

impl Way {
    const fn new(old: CutAt, new: CutAt) -> Way {
        Way { old, new, peeled: false, unrolled: false }
    }

    const fn peeled(self) -> Way {
        Way { peeled: true, ..self }
    }

    const fn unrolled(self) -> Way {
        Way { unrolled: true, ..self }
    }
}

/// The likeliest first.
const UNROLLED: [Way; 2] =
    [Way::new(CutAt::Header, CutAt::Header).unrolled(), Way::new(CutAt::Inside, CutAt::Header).unrolled()];

/// The likeliest first.
const WAYS: [Way; 6] = [
    Way::new(CutAt::Header, CutAt::Header),
    Way::new(CutAt::Inside, CutAt::Header),
    Way::new(CutAt::Header, CutAt::Header).peeled(),
    Way::new(CutAt::Inside, CutAt::Header).peeled(),
    Way::new(CutAt::Inside, CutAt::Inside),
    Way::new(CutAt::Inside, CutAt::Inside).peeled(),
];

/// Does a body have a loop?
pub(super) fn has_loops(body: &Body) -> bool {
    !Flow::new(body).loops().is_empty()
}

/// The ways that are tried for two bodies, in order: where steps differ, first those in which iterations are several. Where
/// only the first version decides in headers whether there is another iteration, that is behind those of the second one.
fn ways(bodies: &[Body; 2]) -> Vec<Way> {
    let unrolled = UNROLLED.into_iter().filter(|_| steps::differ(bodies));
    let decides = bodies.each_ref().map(|body| regions::decides_at_headers(&Flow::new(body)));
    let is_other = |at: CutAt, n: usize| at == CutAt::Header || decides[n];
    let mut ways: Vec<Way> = unrolled.chain(WAYS).filter(|way| is_other(way.old, 0) && is_other(way.new, 1)).collect();
    if decides == [true, false] {
        ways.sort_by_key(|way| (!way.unrolled, way.old == CutAt::Header));
    }
    ways
}

/// One version, cut.
struct CutVersion<'a> {
    flow: Flow<'a>,
    cuts: Vec<Cut>,
    slots: Vec<Instruction>,
    /// First iterations that stand alone.
    peeled: usize,
}

impl<'a> CutVersion<'a> {
    fn new(body: &'a Body, at: CutAt, peeled: usize) -> Result<CutVersion<'a>, NotModelled> {
        let flow = Flow::new(body);
        let cuts = cuts(&flow, at);
        let is_slot = |i: &&Instruction| matches!(i.shape, Shape::Alloca(_));
        if body.blocks[1..].iter().any(|block| block.instructions.iter().any(|i| is_slot(&i))) {
            return Err("a stack slot that is not made at the entry".into());
        }
        let slots = body.blocks[0].instructions.iter().filter(is_slot).cloned().collect();
        Ok(CutVersion { flow, cuts, slots, peeled })
    }

    /// What is executed from the entry or from a cut.
    fn region(&self, from: RegionStart) -> Result<Region, NotModelled> {
        region(&self.flow, &self.cuts, from, self.peeled)
    }
}

/// Asks whether the second version refines the first one, where either has loops.
pub(super) fn decide(
    pair: &Pair<'_>,
    solver: &mut Solver,
    budget: &mut Budget,
    decided: &mut Decided,
) -> io::Result<()> {
    let progress = match progress::compare(pair) {
        Ok(progress) => progress,
        Err(reason) => {
            decided.seen.not_compared(reason);
            return Ok(());
        }
    };
    let written_out = match progress {
        Progress::Kept => unrolled::decide(pair, solver, budget)?,
        Progress::ByPairs(_) => None,
    };
    if let Some(found) = written_out.as_ref().filter(|found| found.proved) {
        decided.seen.runs += found.seen.runs;
        decided.proved = true;
        return Ok(());
    }
    let bodies = [0, 1].map(|n| scalarised::scalarised(&pair.bodies[n]));
    let pair = &Pair { versions: pair.versions, keys: Keys::new(pair.versions, &bodies), bodies };
    let mut ways = ways(&pair.bodies);
    // Where iterations are several, pairs are not all that the first version passes.
    ways.retain(|way| matches!(progress, Progress::Kept) || !way.unrolled);
    let mut furthest: Option<Failure> = None;
    let mut met = Effort { exact: false, as_other: false };
    for effort in EFFORTS {
        let more = if effort.exact { met.exact } else { met.as_other };
        if effort != EFFORTS[0] && (!more || budget.spent().is_some()) {
            continue;
        }
        for way in ways.iter().copied() {
            let failure = match proved(pair, way, effort, &progress, solver, budget)? {
                Ok(questions) => {
                    decided.seen.runs += questions;
                    decided.proved = true;
                    return Ok(());
                }
                Err(failure) => failure,
            };
            met.exact |= failure.met.exact;
            met.as_other |= failure.met.as_other;
            let spent = matches!(failure.reason, Undecided::Budget(_));
            if spent || furthest.as_ref().is_none_or(|most| failure.questions > most.questions) {
                furthest = Some(failure);
            }
            if spent {
                break;
            }
        }
    }
    match (written_out, furthest) {
        (Some(found), _) => *decided = found,
        (None, Some(failure)) => decided.seen.not_compared(failure.reason),
        (None, None) => {}
    }
    Ok(())
}

/// Why not all questions were decided.
struct Failure {
    /// Those that were.
    questions: u64,
    reason: Undecided,
    /// What more effort would change.
    met: Effort,
}

/// How hard questions may be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Effort {
    /// What solvers find hard is what it is; else nothing is known of it.
    exact: bool,
    /// The first version is undefined, too, where it is so by choices that the second one makes elsewhere.
    as_other: bool,
}

/// The easiest first, which are mostly enough.
const EFFORTS: [Effort; 3] = [
    Effort { exact: false, as_other: false },
    Effort { exact: false, as_other: true },
    Effort { exact: true, as_other: true },
];

/// Both versions cut in one way: how many questions were decided, or why not all.
fn proved(
    pair: &Pair<'_>,
    way: Way,
    effort: Effort,
    progress: &Progress,
    solver: &mut Solver,
    budget: &mut Budget,
) -> io::Result<Result<u64, Failure>> {
    let [old, new] =
        [(0, way.old), (1, way.new)].map(|(n, at)| CutVersion::new(&pair.bodies[n], at, usize::from(way.peeled)));
    let versions = match (old, new) {
        (Ok(old), Ok(new)) => [old, new],
        (Err(reason), _) | (_, Err(reason)) => {
            let met = Effort { exact: false, as_other: false };
            return Ok(Err(Failure { questions: 0, reason: reason.into(), met }));
        }
    };
    let met = Effort { exact: false, as_other: false };
    let iterations = if way.unrolled { steps::iterations(&versions) } else { BTreeMap::new() };
    let mut induction =
        Induction { pair, versions, iterations, effort, met, invariants: BTreeMap::new(), questions: 0 };
    for undefined in [false, true] {
        match induction.run(undefined, solver, budget)? {
            Ok(true) => {}
            Ok(false) => break,
            Err(reason) => {
                let Induction { questions, met, .. } = induction;
                return Ok(Err(Failure { questions, reason, met }));
            }
        }
    }
    let Induction { questions, met, versions, invariants, .. } = induction;
    match progress {
        Progress::ByPairs(promises) if !promises.keeps(&versions, invariants.into_keys()) => {
            Ok(Err(Failure { questions, reason: NotModelled::from(promises.reason.clone()).into(), met }))
        }
        _ => Ok(Ok(questions)),
    }
}

/// Pairs of cuts with what is thought to hold there.
struct Induction<'a> {
    pair: &'a Pair<'a>,
    versions: [CutVersion<'a>; 2],
    /// Iterations of the first version that are one of the second one, by pair of cuts, where that is not one.
    iterations: BTreeMap<(usize, usize), usize>,
    effort: Effort,
    /// What more effort would change.
    met: Effort,
    invariants: BTreeMap<(usize, usize), Invariant>,
    questions: u64,
}

impl Induction<'_> {
    /// Leaves out candidates until all hold. Is something else to be asked, where values may be `undef`?
    fn run(
        &mut self,
        undefined: bool,
        solver: &mut Solver,
        budget: &mut Budget,
    ) -> io::Result<Result<bool, Undecided>> {
        let (mut matters, mut too_hard) = (false, BTreeSet::new());
        // What fails at the entry fails soonest.
        let mut open = BTreeSet::from([Source::Entry]);
        open.extend(self.invariants.keys().map(|at| Source::Cuts(*at)));
        while let Some(source) = open.first().copied() {
            let (mut s, mut question) = match self.question(source, undefined, &[], budget) {
                Ok(question) => question,
                Err(reason) => return Ok(Err(reason)),
            };
            matters |= question.undefined_matters;
            self.met.exact |= question.hides;
            self.met.as_other |= question.chooses;
            let mut answer = question.answer(&s, question.first_steps(), &mut too_hard, solver, budget)?;
            if answer.is_err() && question.first_steps() < u64::MAX {
                // What both read is easier to see where it is read at one place.
                let places = question.same_places(&s, solver, budget)?;
                (s, question) = match self.question(source, undefined, &places, budget) {
                    Ok(question) => question,
                    Err(reason) => return Ok(Err(reason)),
                };
                answer = question.answer(&s, u64::MAX, &mut too_hard, solver, budget)?;
            }
            let values = match answer {
                Ok(Some(values)) => values,
                Ok(None) => {
                    self.questions += 1;
                    open.remove(&source);
                    continue;
                }
                Err(reason) => return Ok(Err(reason)),
            };
            let is_set = |n: usize| values.get(n).copied().flatten() == Some(1);
            // With fewer candidates more is possible, and this still is.
            if question.breaks_a_claim(is_set) {
                return Ok(Err(NotModelled::from(question.failure(is_set)).into()));
            }
            let changed = self.learn(&question, is_set, undefined);
            if changed.is_empty() {
                return Ok(Err(NotModelled::from(question.failure(is_set)).into()));
            }
            open.extend(changed.into_iter().map(Source::Cuts));
        }
        Ok(Ok(!undefined && matters))
    }

    /// A step as a question, and the terms that it is made of. The budget is charged with them, whatever they serve.
    fn question(
        &self,
        source: Source,
        undefined: bool,
        places: &[(usize, usize)],
        budget: &mut Budget,
    ) -> Result<(Script, LoopQuestion), Undecided> {
        if let Some(spent) = budget.spent() {
            return Err(spent.into());
        }
        let mut script = Script::new();
        let question = LoopQuestion::new(&mut script, self, source, undefined, places);
        budget.charge_terms(script.terms());
        Ok((script, question?))
    }

    /// What an answer shows: pairs of cuts that are reached, and candidates that do not hold there.
    fn learn(
        &mut self,
        question: &LoopQuestion,
        is_set: impl Fn(usize) -> bool,
        undefined: bool,
    ) -> Vec<(usize, usize)> {
        let mut changed = vec![];
        for (n, at) in &question.new_pairs {
            if is_set(*n) {
                let [old, new] = &self.versions;
                let iterations = self.iterations.get(at).copied().unwrap_or(1);
                let invariant = Invariant::candidates([old, new], self.pair.versions, *at, iterations);
                self.invariants.insert(*at, invariant);
                changed.push(*at);
            }
        }
        let mut broken: BTreeMap<(usize, usize), Vec<usize>> = BTreeMap::new();
        for (n, at, candidate) in &question.candidates {
            if is_set(*n) {
                broken.entry(*at).or_default().push(*candidate);
            }
        }
        for (at, candidates) in broken {
            if let Some(invariant) = self.invariants.get_mut(&at) {
                invariant.drop(&candidates, undefined);
                changed.push(at);
            }
        }
        changed
    }
}
