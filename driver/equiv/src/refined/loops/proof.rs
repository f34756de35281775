//! Induction over pairs of cuts: what holds at each is guessed, and what does not hold left out, until each step leads from
//! what holds to what holds.
//!
//! In a lockstep, where a step fails, it is made harder, then longer: with more effort for this step alone, without the cuts
//! at which it begins, and with more candidates for the counters of the loop around it.

use super::super::super::budget::Budget;
use super::super::super::not_modelled::NotModelled;
use super::super::Undecided;
use super::super::flow::Loop;
use super::induction::{Effort, Induction, Source};
use super::invariants::Invariant;
use super::progress::Progress;
use super::question::LoopQuestion;
use super::regions::RegionStart;
use rewright_smt::Script;
use rewright_smt::solver::Solver;
use std::collections::{BTreeMap, BTreeSet};
use std::io;

/// Why not all questions were decided.
pub(super) struct Failure {
    /// Those that were.
    pub(super) questions: u64,
    pub(super) reason: Undecided,
    /// What more effort would change.
    pub(super) met: Effort,
}

/// Pairs of cuts that may turn out to be in the way.
const MOST_PASSED: usize = 12;

impl Induction<'_> {
    /// How many questions were decided, or why not all.
    pub(super) fn proved(
        mut self,
        progress: &Progress,
        solver: &mut Solver,
        budget: &mut Budget,
    ) -> io::Result<Result<u64, Failure>> {
        let mut outcome = self.run(false, solver, budget)?;
        if matches!(outcome, Ok(true)) {
            let before = self.invariants.clone();
            outcome = self.run(true, solver, budget)?;
            if self.pairs.is_some() && matches!(outcome, Err(Undecided::NotModelled(_))) {
                // An argument of a call that is undefined where the argument may be `undef` is one value behind the
                // call.
                (self.invariants, self.settles) = (before, true);
                outcome = self.run(true, solver, budget)?;
            }
        }
        if let Err(reason) = outcome {
            let Induction { questions, met, .. } = self;
            return Ok(Err(Failure { questions, reason, met }));
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
            Some(pairs) => {
                let mut invariant = Invariant::paired([old, new], at, pairs);
                if self.headers_around(at).any(|header| self.counted.contains(&header)) {
                    invariant.add(Invariant::counted([old, new], self.pair.versions, at, pairs));
                }
                invariant
            }
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
        // Candidates that fail at the entry fail soonest.
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
            self.arrivals.insert(source, question.reached.clone());
            matters |= question.undefined_matters;
            self.met.exact |= question.hides;
            self.met.as_other |= question.chooses;
            let mut answer = question.answer(&s, question.first_steps(), &mut too_hard, solver, budget)?;
            if answer.is_err() && question.first_steps() < u64::MAX {
                // Reads of both versions are easier to compare where they read at one place.
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
            let breaks = question.breaks_a_claim(is_set);
            if breaks || self.parts(&question, is_set) {
                if self.raise(source, &question) {
                    continue;
                }
                // Where values may be `undef`, something else is tried before that.
                let more = match undefined && !self.settles {
                    true => None,
                    false if breaks && self.begins_loop(source) => self.count(source).or_else(|| self.pass(source)),
                    false if breaks => self.pass(source).or_else(|| self.count(source)),
                    false => self.pass(source),
                };
                if let Some(more) = more {
                    open.retain(|source| self.is_there(*source));
                    open.extend(more);
                    continue;
                }
            }
            if breaks {
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

    /// Do the versions reach two cuts that `pairs` does not have as a pair?
    fn parts(&self, question: &LoopQuestion, is_set: impl Fn(usize) -> bool) -> bool {
        let block = |side: usize, cut: usize| self.versions[side].cuts[cut].block;
        let is_pair =
            |at: (usize, usize)| self.pairs.is_none_or(|pairs| pairs.are_blocks(block(0, at.0), block(1, at.1)));
        question.new_pairs.iter().any(|(n, at)| is_set(*n) && !is_pair(*at))
    }

    /// Makes a step of a lockstep one that may be harder, if that may change anything.
    fn raise(&mut self, source: Source, question: &LoopQuestion) -> bool {
        let now = self.effort(source);
        let needs = Effort { exact: question.hides && !now.exact, as_other: question.chooses && !now.as_other };
        let is_harder = self.pairs.is_some() && (needs.exact || needs.as_other);
        if is_harder {
            // Choices are decided sooner than what is hard.
            let exact = now.exact || !needs.as_other;
            self.raised.insert(source, Effort { exact, as_other: now.as_other || needs.as_other });
        }
        is_harder
    }

    /// Does a step begin where a loop does?
    fn begins_loop(&self, source: Source) -> bool {
        let Source::Cuts(at) = source else { return false };
        [at.0, at.1].into_iter().zip(&self.versions).any(|(cut, version)| {
            let block = version.cuts[cut].block;
            version.loops.iter().any(|one| one.header == block)
        })
    }

    /// Is it still a step?
    fn is_there(&self, source: Source) -> bool {
        match source {
            Source::Entry => true,
            Source::Cuts(at) => self.invariants.contains_key(&at),
        }
    }

    /// Steps that may lead to some of these pairs of cuts.
    fn leading_to(&self, pairs: &BTreeSet<(usize, usize)>) -> Vec<Source> {
        let leads = |(_, reached): &(&Source, &BTreeSet<(usize, usize)>)| !reached.is_disjoint(pairs);
        self.arrivals.iter().filter(leads).map(|(source, _)| *source).collect()
    }

    /// Makes the steps of a lockstep to a pair of cuts go on behind it, where a step from there would have to know more; the
    /// steps to be asked then, if no cycle needs the cuts.
    fn pass(&mut self, source: Source) -> Option<Vec<Source>> {
        let Source::Cuts(at) = source else { return None };
        if self.pairs.is_none() || self.passed == MOST_PASSED {
            return None;
        }
        if !self.versions[0].pass(at.0) {
            return None;
        }
        if !self.versions[1].pass(at.1) {
            self.versions[0].cuts[at.0].is_passed = false;
            return None;
        }
        self.passed += 1;
        let gone: BTreeSet<(usize, usize)> =
            self.invariants.keys().copied().filter(|(old, new)| *old == at.0 || *new == at.1).collect();
        let before = self.leading_to(&gone);
        for pair in &gone {
            self.invariants.remove(pair);
            self.arrivals.remove(&Source::Cuts(*pair));
        }
        Some(before.into_iter().filter(|source| self.is_there(*source)).collect())
    }

    /// Headers of the first version's loops around a pair of cuts, the innermost first.
    fn headers_around(&self, at: (usize, usize)) -> impl Iterator<Item = usize> {
        let block = self.versions[0].cuts[at.0].block;
        let mut around: Vec<&Loop> = self.versions[0].loops.iter().filter(|one| one.blocks.contains(&block)).collect();
        around.sort_by_key(|one| one.blocks.len());
        around.into_iter().map(|one| one.header).collect::<Vec<_>>().into_iter()
    }

    /// Says more of the counters of a loop around a step of a lockstep; the steps to be asked then, if there is such a loop.
    fn count(&mut self, source: Source) -> Option<Vec<Source>> {
        let (Some(pairs), Source::Cuts(at)) = (self.pairs, source) else { return None };
        let header = self.headers_around(at).find(|header| !self.counted.contains(header))?;
        self.counted.insert(header);
        let inside: BTreeSet<(usize, usize)> =
            self.invariants.keys().copied().filter(|at| self.headers_around(*at).any(|one| one == header)).collect();
        for at in &inside {
            let [old, new] = &self.versions;
            let more = Invariant::counted([old, new], self.pair.versions, *at, pairs);
            if let Some(invariant) = self.invariants.get_mut(at) {
                invariant.add(more);
            }
        }
        let leads_there = self.leading_to(&inside);
        Some(inside.into_iter().map(Source::Cuts).chain(leads_there).collect())
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
