//! Loops of our IR, by induction over cuts.
//!
//! Both versions are cut where loops begin again ([`super::cuts`]). The code between cuts has no loops: from a pair of
//! cuts, at which an *invariant* holds of the values of both, both come to a pair of cuts at which its invariant holds,
//! or both end alike. So both do the same in any number of iterations, and one runs for ever only where the other does:
//! no licence is needed to say that a loop ends.
//!
//! Invariants are found by leaving out of many candidates ([`invariant`]) all that do not hold when a pair is reached,
//! until all that are left do. Memory at a cut, and what has been done that is not modelled, must be the same. A fact
//! that is known without induction needs no candidate: instructions that have been executed wherever a cut is reached
//! gave what they give, checks among them did not trap, and branches went the way that leads there.

mod forms;
mod invariant;
mod question;

use super::FunctionVersion;
use super::cuts::{CutAt, Cuts};
use super::session::{Session, Undecided};
use crate::not_modelled::NotModelled;
use forms::forms;
use invariant::Invariant;
use question::{Claim, Question, Source};
use rewright_cfg_skeleton::ir::Cfg;
use rewright_smt::solver::Answer;
use std::collections::{BTreeMap, BTreeSet};

/// Ways to cut both versions, the likeliest first.
const WAYS: [[CutAt; 2]; 9] = {
    use CutAt::{Again, Header, Inside};
    [
        [Header, Header],
        [Inside, Header],
        [Again, Header],
        [Inside, Inside],
        [Again, Again],
        [Header, Inside],
        [Header, Again],
        [Inside, Again],
        [Again, Inside],
    ]
};

/// Steps of the solver for one question.
const STEPS: u64 = 400_000;

/// Steps for one that has orders of values among its claims.
const ORDER_STEPS: u64 = 150_000;

/// Steps for one that is about small numbers.
const SMALL_STEPS: u64 = 100_000;

/// Does a version have a loop?
pub(super) fn has_loops(version: FunctionVersion<'_>) -> bool {
    let cfg = Cfg::new(version.function);
    cfg.loop_count() > 0 || cfg.reverse_post_order().iter().any(|block| cfg.is_irreducible(*block))
}

/// Both versions do the same.
pub(super) struct Proved {
    /// Arithmetic may give a NaN.
    pub(super) has_nan: bool,
}

/// Asks whether the second version does the same as the first one: as they are, in other forms, and then once more with
/// all that is known of what is hard.
///
/// # Errors
/// Why not all questions are decided for it.
pub(super) fn decide(versions: [FunctionVersion<'_>; 2], session: &mut Session<'_>) -> Result<Proved, Undecided> {
    let mut search = Search { session, furthest: None, hides: false };
    let mut proved = search.attempt(versions, &WAYS, true);
    // Hard questions take long, so only the likeliest way is tried.
    let likeliest = search.furthest.as_ref().map(|failure| failure.way);
    proved = proved.or_else(|| search.other_forms(versions));
    if let (None, Some(way), true) = (&proved, likeliest, search.hides) {
        proved = search.attempt(versions, &[way], false);
    }
    match (proved, search.furthest) {
        (Some(proved), _) => Ok(proved),
        (None, Some(failure)) => Err(failure.reason),
        (None, None) => Err(NotModelled::from("it has a loop").into()),
    }
}

/// Attempts, and what they have come to.
struct Search<'a, 'b> {
    session: &'a mut Session<'b>,
    furthest: Option<Failure>,
    /// There was something hard of which nothing was known.
    hides: bool,
}

impl Search<'_, '_> {
    /// Tries each version in forms that are more like the other one.
    fn other_forms(&mut self, [first, second]: [FunctionVersion<'_>; 2]) -> Option<Proved> {
        let one = forms(first, second);
        let proved = one
            .iter()
            .find_map(|form| self.attempt([FunctionVersion { function: form, ..first }, second], &WAYS, true));
        proved.or_else(|| {
            let other = forms(second, first);
            other
                .iter()
                .find_map(|form| self.attempt([first, FunctionVersion { function: form, ..second }], &WAYS, true))
        })
    }

    /// Tries ways to cut two versions.
    fn attempt(&mut self, versions: [FunctionVersion<'_>; 2], ways: &[[CutAt; 2]], opaque: bool) -> Option<Proved> {
        for way in ways {
            if self.furthest.as_ref().is_some_and(|failure| matches!(failure.reason, Undecided::Budget(_))) {
                return None;
            }
            let cuts = [Cuts::new(versions[0], way[0]), Cuts::new(versions[1], way[1])];
            let mut induction = Induction {
                versions: cuts,
                opaque,
                invariants: BTreeMap::new(),
                done: 0,
                hides: false,
                has_nan: false,
            };
            let reason = match induction.run(self.session) {
                Ok(()) => return Some(Proved { has_nan: induction.has_nan }),
                Err(reason) => reason,
            };
            self.hides |= induction.hides;
            let is_spent = matches!(reason, Undecided::Budget(_));
            if is_spent || self.furthest.as_ref().is_none_or(|most| induction.done > most.done) {
                self.furthest = Some(Failure { done: induction.done, reason, way: *way });
            }
        }
        None
    }
}

/// Why not all questions were decided.
struct Failure {
    /// Those that were.
    done: u64,
    reason: Undecided,
    /// How both were cut.
    way: [CutAt; 2],
}

/// Pairs of cuts with what is thought to hold there.
struct Induction<'a> {
    versions: [Cuts<'a>; 2],
    /// Of what solvers find hard nothing is known.
    opaque: bool,
    invariants: BTreeMap<(usize, usize), Invariant>,
    /// Questions that were decided.
    done: u64,
    hides: bool,
    has_nan: bool,
}

impl Induction<'_> {
    /// Claims of a step that do not hold.
    fn broken(&mut self, source: Source, session: &mut Session<'_>) -> Result<Vec<Claim>, Undecided> {
        let question = Question::new(self, source, false)?;
        self.hides |= question.hides;
        self.has_nan |= question.has_nan;
        if question.hides {
            // A candidate that does not hold for small numbers does not hold, and is not dropped because something is
            // not known.
            let small = Question::new(self, source, true)?;
            let found = answer(&small, session, SMALL_STEPS).unwrap_or_default();
            if !found.is_empty() {
                return Ok(found);
            }
        }
        // Orders that are hard to decide are left out.
        let claims = question.claims.iter().map(|(_, claim)| *claim);
        let orders: Vec<Claim> = claims.filter(|claim| self.is_order(*claim)).collect();
        let most = if orders.is_empty() { STEPS } else { ORDER_STEPS };
        match answer(&question, session, most) {
            Err(Undecided::Unanswered(reason)) if reason.is_too_hard() && !orders.is_empty() => Ok(orders),
            answered => answered,
        }
    }

    fn is_order(&self, claim: Claim) -> bool {
        matches!(claim, Claim::Candidate(at, n) if self.invariants[&at].is_order(n))
    }

    /// Leaves out candidates until all hold.
    fn run(&mut self, session: &mut Session<'_>) -> Result<(), Undecided> {
        let mut open = BTreeSet::from([Source::Entry]);
        while let Some(source) = open.first().copied() {
            let broken = self.broken(source, session)?;
            if broken.is_empty() {
                self.done += 1;
                open.remove(&source);
                continue;
            }
            // With fewer candidates more is possible, and this still is.
            if broken.iter().any(|claim| matches!(claim, Claim::Alike(_))) {
                return Err(failure(source, &broken).into());
            }
            let mut changed = BTreeSet::new();
            for claim in &broken {
                match *claim {
                    Claim::Unreached(at) => {
                        let [old, new] = &self.versions;
                        self.invariants.insert(at, Invariant::candidates([old, new], at));
                        changed.insert(at);
                    }
                    Claim::Candidate(at, n) => {
                        if let Some(invariant) = self.invariants.get_mut(&at) {
                            invariant.drop(n);
                        }
                        changed.insert(at);
                    }
                    Claim::Alike(_) => {}
                }
            }
            open.extend(changed.into_iter().map(Source::Cuts));
        }
        Ok(())
    }
}

/// The claims that an answer breaks; none where there is no answer.
fn answer(question: &Question, session: &mut Session<'_>, most: u64) -> Result<Vec<Claim>, Undecided> {
    let Some(text) = &question.text else { return Ok(vec![]) };
    let wanted: Vec<&str> = question.claims.iter().map(|(name, _)| name.as_str()).collect();
    match session.ask(text, &wanted, most)? {
        Answer::Unsat => Ok(vec![]),
        Answer::Sat(values) => {
            let is_set = |n: usize| values.get(n).copied().flatten() == Some(1);
            let broken: Vec<Claim> =
                question.claims.iter().enumerate().filter(|(n, _)| is_set(*n)).map(|(_, (_, claim))| *claim).collect();
            match broken.is_empty() {
                true => Err(NotModelled::from("the solver does not say what it has found").into()),
                false => Ok(broken),
            }
        }
        Answer::Unknown(reason) => Err(session.unanswered(reason)),
    }
}

/// Why a step fails where no candidate does.
fn failure(source: Source, broken: &[Claim]) -> NotModelled {
    let what = broken.iter().find_map(|claim| match claim {
        Claim::Alike(what) => Some(*what),
        _ => None,
    });
    let at = match source {
        Source::Entry => "before the first loop",
        Source::Cuts(_) => "in a loop",
    };
    format!("it has a loop, and no invariant is found: {at}, {} may differ", what.unwrap_or("something")).into()
}
