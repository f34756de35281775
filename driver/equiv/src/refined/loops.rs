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
//! Before all that, versions are cut at many places, where both do the same one after the other ([`lockstep`]): with or
//! without loops.
//!
//! Loops that end after a few iterations whatever they are given are written out before ([`unrolled`]).

mod beginning;
mod bounds;
mod candidate;
mod claims;
mod cut_version;
mod invariants;
mod lockstep;
mod progress;
mod question;
mod ranges;
mod readings;
mod recomputed;
mod regions;
mod scalarised;
mod steps;
#[cfg(test)]
mod tests;
mod unrolled;

use super::super::budget::Budget;
use super::super::modules::Version;
use super::super::not_modelled::NotModelled;
use super::flow::Flow;
use super::symexec::Keys;
use super::{Decided, Pair, Undecided};
use cut_version::CutVersion;
use invariants::{Invariant, look};
use lockstep::{Lockstep, Pairs};
use progress::Progress;
use question::{LoopQuestion, Source};
use readings::Wanted;
use regions::{CutAt, RegionStart, cuts_at};
use rewright_cfg_skeleton::ir::OpaqueEffects;
use rewright_llvm::body::{Block, Body, Instruction, Shape};
use rewright_llvm::effects;
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
        if effort != EFFORTS[0] && (!met.asks_for(effort) || budget.spent().is_some()) {
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
            met.add(failure.met);
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

/// Asks where both versions go in lockstep; how many questions were decided if all were.
pub(super) fn in_lockstep(pair: &Pair<'_>, solver: &mut Solver, budget: &mut Budget) -> io::Result<Option<u64>> {
    let Some(lockstep) = Lockstep::new(&pair.bodies) else { return Ok(None) };
    let bodies = &lockstep.bodies;
    let pair = &Pair { versions: pair.versions, keys: Keys::new(pair.versions, bodies), bodies: bodies.clone() };
    let Ok(progress) = progress::compare(pair) else { return Ok(None) };
    let writers = [0, 1].map(|n| writers(pair.versions[n], &pair.bodies[n]));
    let version = |n: usize| {
        let flow = Flow::new(&pair.bodies[n]);
        let wanted = Wanted {
            is_alone: &|block, name| lockstep.is_alone(n, block, name),
            may_be_read: &|ty| lockstep.may_be_read(ty),
            writers: &writers[n],
        };
        let cuts = cuts_at(&flow, lockstep.cuts(n), &wanted);
        CutVersion::of(flow, cuts, 0)
    };
    let kept = budget.keep_half();
    let mut met = Effort { exact: false, as_other: false };
    let mut found = None;
    for effort in EFFORTS {
        if !met.asks_for(effort) || budget.spent().is_some() {
            continue;
        }
        let (Ok(old), Ok(new)) = (version(0), version(1)) else { break };
        let induction = Induction { pairs: Some(&lockstep.pairs), ..Induction::new(pair, [old, new], effort) };
        match induction.proved(&progress, solver, budget)? {
            Ok(questions) => {
                found = Some(questions);
                break;
            }
            Err(failure) => met.add(failure.met),
        }
    }
    budget.release(kept);
    Ok(found)
}

/// Positions of calls that may write to memory, by block.
fn writers(version: Version<'_>, body: &Body) -> BTreeMap<usize, Vec<usize>> {
    let writes = |i: &Instruction| {
        matches!(i.shape, Shape::Call { .. }) && effects::of(version.file(), i) == OpaqueEffects::Writes
    };
    let of =
        |block: &Block| (0..block.instructions.len()).filter(|n| writes(&block.instructions[*n])).collect::<Vec<_>>();
    body.blocks.iter().map(of).enumerate().filter(|(_, positions)| !positions.is_empty()).collect()
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

impl Effort {
    /// May so much effort change anything?
    fn asks_for(self, effort: Effort) -> bool {
        match effort {
            Effort { exact: true, .. } => self.exact,
            Effort { as_other: true, .. } => self.as_other,
            _ => true,
        }
    }

    fn add(&mut self, other: Effort) {
        self.exact |= other.exact;
        self.as_other |= other.as_other;
    }
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
    let versions = match cut_versions(&pair.bodies, way) {
        Ok(versions) => versions,
        Err(reason) => {
            let met = Effort { exact: false, as_other: false };
            return Ok(Err(Failure { questions: 0, reason: reason.into(), met }));
        }
    };
    let iterations = if way.unrolled { steps::iterations(&versions) } else { BTreeMap::new() };
    Induction { iterations, ..Induction::new(pair, versions, effort) }.proved(progress, solver, budget)
}

/// Both versions, cut in one way. What may be a NaN is one value to the first version, and to the second one where the
/// first one has it, too.
fn cut_versions(bodies: &[Body; 2], way: Way) -> Result<[CutVersion<'_>; 2], NotModelled> {
    let peeled = usize::from(way.peeled);
    let old = CutVersion::new(&bodies[0], way.old, peeled, |_, _| true)?;
    let bases = old.cuts.iter().flat_map(|cut| &cut.state.bases);
    let looks: BTreeSet<String> = bases.map(|base| look(&old.flow, &base.text)).collect();
    let new = CutVersion::new(&bodies[1], way.new, peeled, |flow, name| looks.contains(&look(flow, name)))?;
    Ok([old, new])
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
    /// The pairs of a lockstep; without it, all blocks and values may be pairs.
    pairs: Option<&'a Pairs>,
    invariants: BTreeMap<(usize, usize), Invariant>,
    questions: u64,
}

impl<'a> Induction<'a> {
    fn new(pair: &'a Pair<'a>, versions: [CutVersion<'a>; 2], effort: Effort) -> Induction<'a> {
        let met = Effort { exact: false, as_other: false };
        let (iterations, invariants) = (BTreeMap::new(), BTreeMap::new());
        Induction { pair, versions, iterations, effort, met, pairs: None, invariants, questions: 0 }
    }

    /// How many questions were decided, or why not all.
    fn proved(
        mut self,
        progress: &Progress,
        solver: &mut Solver,
        budget: &mut Budget,
    ) -> io::Result<Result<u64, Failure>> {
        for undefined in [false, true] {
            match self.run(undefined, solver, budget)? {
                Ok(true) => {}
                Ok(false) => break,
                Err(reason) => {
                    let Induction { questions, met, .. } = self;
                    return Ok(Err(Failure { questions, reason, met }));
                }
            }
        }
        let Induction { questions, met, versions, invariants, .. } = self;
        match progress {
            Progress::ByPairs(promises) if !promises.keeps(&versions, invariants.into_keys()) => {
                Ok(Err(Failure { questions, reason: NotModelled::from(promises.reason.clone()).into(), met }))
            }
            _ => Ok(Ok(questions)),
        }
    }

    /// Pairs of cuts that are likely to come next.
    fn expected(&mut self, source: Source) -> Vec<Source> {
        let Some(pairs) = self.pairs else { return vec![] };
        let from = match source {
            Source::Entry => [RegionStart::Entry; 2],
            Source::Cuts(at) => [at.0, at.1].map(|cut| RegionStart::Cut { cut, iterations: 1 }),
        };
        let [Ok(old), Ok(new)] = [0, 1].map(|n| self.versions[n].region(from[n])) else { return vec![] };
        let mut more = vec![];
        for was in &old.arrivals {
            for is in &new.arrivals {
                let at = (was.cut, is.cut);
                let [old, new] = [(0, was.cut), (1, is.cut)].map(|(n, cut)| self.versions[n].cuts[cut].block);
                if pairs.are_blocks(old, new) && !self.invariants.contains_key(&at) {
                    self.invariants.insert(at, self.candidates(at));
                    more.push(Source::Cuts(at));
                }
            }
        }
        more
    }

    /// The candidates for the invariant at a pair of cuts.
    fn candidates(&self, at: (usize, usize)) -> Invariant {
        let [old, new] = &self.versions;
        match self.pairs {
            Some(pairs) => Invariant::paired([old, new], at, pairs),
            None => {
                let iterations = self.iterations.get(&at).copied().unwrap_or(1);
                Invariant::candidates([old, new], self.pair.versions, at, iterations)
            }
        }
    }

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
            open.extend(self.expected(source));
            let (mut s, mut question) = match self.question(source, undefined, &[], budget) {
                Ok(question) => question,
                Err(reason) => return Ok(Err(reason)),
            };
            if !question.fallen.is_empty() {
                open.extend(self.drop(question.fallen, undefined));
                continue;
            }
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
            open.extend(changed);
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
    fn learn(&mut self, question: &LoopQuestion, is_set: impl Fn(usize) -> bool, undefined: bool) -> Vec<Source> {
        let mut changed = vec![];
        for (n, at) in &question.new_pairs {
            if is_set(*n) {
                self.invariants.insert(*at, self.candidates(*at));
                changed.push(Source::Cuts(*at));
            }
        }
        let broken =
            question.candidates.iter().filter(|(n, ..)| is_set(*n)).map(|(_, at, candidate)| (*at, *candidate));
        changed.extend(self.drop(broken.collect(), undefined));
        changed
    }

    /// Leaves out candidates; the cuts at which something else is to be asked.
    fn drop(&mut self, candidates: Vec<((usize, usize), usize)>, undefined: bool) -> Vec<Source> {
        let mut failed: BTreeMap<(usize, usize), Vec<usize>> = BTreeMap::new();
        for (at, candidate) in candidates {
            failed.entry(at).or_default().push(candidate);
        }
        for (at, candidates) in &failed {
            if let Some(invariant) = self.invariants.get_mut(at) {
                invariant.drop(candidates, undefined);
            }
        }
        failed.into_keys().map(Source::Cuts).collect()
    }
}
