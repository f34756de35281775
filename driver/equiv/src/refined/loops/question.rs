//! One step of the induction as a question: from the entry or from a pair of cuts to the next.

use super::super::inputs::{Inputs, Leaf};
use super::super::refines::{placed, refines};
use super::super::symexec::{Begun, Behaviour, Choosing, Likeness, NOWHERE, Request, Start, behaviour};
use super::beginning::Beginning;
use super::candidate::{Candidate, fact};
use super::claims::Claims;
use super::induction::{Induction, Source};
use super::invariants::MOST_CANDIDATES;
use super::regions::RegionStart;
use super::{Budget, NotModelled, Undecided};
use rewright_llvm::body::Operand;
use rewright_smt::solver::{Answer, Limit, Solver};
use rewright_smt::{Expr, Script, Sort};
use rustc_hash::FxHashSet;
use std::collections::{BTreeMap, BTreeSet};
use std::io;

/// Bits of small numbers: two iterations of a loop are among them.
const SMALL: u32 = 3;

/// Steps of the solver for a question about small numbers.
const SMALL_STEPS: u64 = 300_000;

/// Steps of the solver for a question that can be put in another way.
const FIRST_STEPS: u64 = 400_000;

/// A question about some claims.
struct Asking {
    question: Expr,
    claims: Vec<usize>,
}

/// A question; an answer speaks against the step. Numbers are those of what is wanted.
pub(super) struct LoopQuestion {
    whole: Asking,
    /// Parts of it with small numbers, which are mostly enough to see what does not hold, and soon answered: candidates
    /// alone, and all.
    parts: Vec<Asking>,
    /// Variables that say what an answer shows.
    wanted: Vec<String>,
    /// Pairs of cuts that it may lead to.
    pub(super) reached: BTreeSet<(usize, usize)>,
    /// Pairs of cuts that were not known before.
    pub(super) new_pairs: Vec<(usize, (usize, usize))>,
    /// Candidates that do not hold at a pair of cuts.
    pub(super) candidates: Vec<(usize, (usize, usize), usize)>,
    /// Candidates that are seen not to hold, by pair of cuts, where both versions come to the same places.
    pub(super) fallen: Vec<((usize, usize), usize)>,
    /// What else does not hold.
    claims: Vec<(usize, &'static str)>,
    pub(super) undefined_matters: bool,
    /// There is something hard of which nothing is known.
    pub(super) hides: bool,
    /// The second version makes choices.
    pub(super) chooses: bool,
    /// Accesses, by version, that may go to the same place, and the question whether one does not.
    places: Vec<((usize, usize), Expr)>,
    source: Source,
}

/// Values that candidates ask for, by version.
type Asked = [Vec<Request>; 2];

impl LoopQuestion {
    /// For accesses of the first version by number, the ones of the second version are given that are sure to go to the
    /// same `places`.
    pub(super) fn new(
        s: &mut Script,
        induction: &Induction<'_>,
        source: Source,
        undefined: bool,
        places: &[(usize, usize)],
    ) -> Result<LoopQuestion, NotModelled> {
        let pair = induction.pair;
        let effort = induction.effort(source);
        s.opaque = !effort.exact;
        s.laws = true;
        let given = Inputs::new(s, pair.versions, &pair.bodies, undefined)?;
        let iterations = match source {
            Source::Entry => 1,
            Source::Cuts(at) => induction.iterations.get(&at).copied().unwrap_or(1),
        };
        let from = match source {
            Source::Entry => [RegionStart::Entry; 2],
            Source::Cuts(at) => {
                [(at.0, iterations), (at.1, 1)].map(|(cut, iterations)| RegionStart::Cut { cut, iterations })
            }
        };
        let [old, new] = &induction.versions;
        let regions = [old.region(from[0])?, new.region(from[1])?];
        let (mut leaves, mut assumed) = ([vec![], vec![]], vec![given.promised]);
        let (mut limits, mut readings) = (vec![], [BTreeMap::new(), BTreeMap::new()]);
        if let Source::Cuts(at) = source {
            let mut begin = Beginning { s, induction, at, undefined };
            leaves = begin.leaves()?;
            limits = begin.limits(&leaves);
            readings = [0, 1].map(|side| begin.readings(side));
        }
        let asked = asked(induction);
        let begun = facts_at(induction, source);
        let asked_readings = asked_readings(induction);
        let start = |side: usize, state| Start {
            body: &regions[side].body,
            state,
            slots: &induction.versions[side].slots,
            arrivals: &regions[side].arrivals,
            requests: &asked[side],
            begun: &begun[side],
            readings: &readings[side],
            asked_readings: &asked_readings[side],
            like: &[],
            contexts: &[],
            places: &NOWHERE,
            limits: &limits,
        };
        let state = |side: usize| match from[side] {
            RegionStart::Entry => None,
            RegionStart::Cut { cut, .. } => Some(&induction.versions[side].cuts[cut].state),
        };
        let new_leaves = leaves[1].clone();
        let new_start = start(1, state(1).map(|state| (state, new_leaves.as_slice())));
        let new = behaviour(s, pair.versions[1], &new_start, &given, &pair.keys, Choosing::Anything)?;
        let mut folded = None;
        if let Source::Cuts(at) = source {
            let mut begin = Beginning { s, induction, at, undefined };
            begin.are_read(&mut leaves, &new.begun.read);
            assumed.extend(begin.assumed(&leaves)?);
            folded = begin.folded(&leaves);
        }
        let no_readings = BTreeMap::new();
        let old_start = match &folded {
            // Its bases are others.
            Some((state, leaves)) => Start { readings: &no_readings, ..start(0, Some((state, leaves.as_slice()))) },
            None => start(0, state(0).map(|state| (state, leaves[0].as_slice()))),
        };
        let contexts = if effort.as_other { new.contexts.as_slice() } else { &[] };
        let places = places.iter().map(|(old, is)| (*old, new.accesses[*is].place.clone())).collect();
        let old_start = Start { like: &new.chosen, contexts, places: &places, ..old_start };
        let like = Choosing::Like(Likeness::ALL[0]);
        let old = behaviour(s, pair.versions[0], &old_start, &given, &pair.keys, like)?;
        assumed.extend([old.begun.known, new.begun.known]);
        assumed.extend(facts(s, induction, source, [&old.begun, &new.begun]));
        let defined = s.not(old.undefined);
        assumed.extend([defined, placed(s, &old, &new)]);
        let places = if places.is_empty() { same_places(s, &old, &new, &assumed) } else { vec![] };
        let (same, _) = refines(s, &old, &new)?;
        let known: FxHashSet<Expr> = assumed.iter().copied().collect();
        let mut claims = Claims::new(s, induction.settles);
        let mut plain = vec![(claims.flagged(same), "what it does")];
        let ends = claims.both_end(&old, &new);
        plain.push((claims.flagged(ends), "whether there is another iteration"));
        let memory = claims.memory(&old, &new)?;
        plain.push((claims.flagged(memory), "what is in memory"));
        let (mut reached, mut new_pairs, mut candidates, mut fallen) = (BTreeSet::new(), vec![], vec![], vec![]);
        for was in &old.arrived {
            for is in &new.arrived {
                let at = (was.cut, is.cut);
                let both = claims.s.and(&[was.reached, is.reached]);
                if both != Expr::FALSE {
                    reached.insert(at);
                }
                let Some(invariant) = induction.invariants.get(&at) else {
                    let neither = claims.s.not(both);
                    new_pairs.extend(claims.flagged(neither).map(|n| (n, at)));
                    continue;
                };
                for (n, candidate) in invariant.left() {
                    if matches!(candidate, Candidate::Fixed { .. }) && !undefined {
                        continue;
                    }
                    let number = number(induction, at, n);
                    let holds = claims.holds(candidate, [was, is], number)?;
                    if holds == Expr::FALSE && induction.pairs.is_some() {
                        fallen.push((at, n));
                        continue;
                    }
                    // A fact that holds where the step begins, and is about the same values, holds where it ends.
                    if known.contains(&holds) {
                        continue;
                    }
                    let holds = claims.when(both, holds);
                    candidates.extend(claims.flagged(holds).map(|flag| (flag, at, n)));
                }
            }
        }
        let undefined_matters = old.undefined_matters || new.undefined_matters;
        let Claims { flags, all, wanted, .. } = claims;
        let small = small(s, &leaves, &given.parameters, SMALL + iterations.ilog2());
        let mut asking = |claims: Vec<usize>, more: &[Expr]| {
            let of = |all: &[Expr]| claims.iter().map(|n| all[*n]).collect::<Vec<_>>();
            let (good, flags) = (s.and(&of(&all)), of(&flags));
            let bad = s.not(good);
            Asking { question: s.and(&[&assumed, more, &[bad], &flags].concat()), claims }
        };
        let [some, every] = [candidates.iter().map(|(n, ..)| *n).collect::<Vec<_>>(), (0..all.len()).collect()];
        // Small questions that hardly ever fail are asked at once.
        let parts = match induction.pairs {
            Some(_) => vec![],
            None => vec![asking(some, &[small]), asking(every.clone(), &[small])],
        };
        let whole = asking(every, &[]);
        let hides = s.hides();
        let claims = plain.into_iter().filter_map(|(flag, what)| Some((flag?, what))).collect();
        Ok(LoopQuestion {
            whole,
            parts,
            wanted,
            reached,
            new_pairs,
            candidates,
            fallen,
            claims,
            undefined_matters,
            hides,
            chooses: !new.contexts.is_empty(),
            places,
            source,
        })
    }

    /// Accesses, by version, that are sure to go to the same place.
    pub(super) fn same_places(
        &self,
        s: &Script,
        solver: &mut Solver,
        budget: &mut Budget,
    ) -> io::Result<Vec<(usize, usize)>> {
        let mut same = vec![];
        for (places, claim) in &self.places {
            let Ok(limit) = budget.limit() else { break };
            let limit = Limit { steps: limit.steps.min(SMALL_STEPS), ..limit };
            let text = s.asserting(*claim).text;
            let answer = solver.ask_within(&text, &[], limit)?;
            budget.charge(solver.spent());
            same.extend((answer == Answer::Unsat).then_some(*places));
        }
        Ok(same)
    }

    /// Steps for a first try, where another way to put it is left.
    pub(super) fn first_steps(&self) -> u64 {
        if self.places.is_empty() { u64::MAX } else { FIRST_STEPS }
    }

    /// Values of what is wanted that answer the question, if there are any, or why it is undecided within `most` steps.
    ///
    /// Parts that were `too_hard` for the step with more candidates are not asked again.
    pub(super) fn answer(
        &self,
        s: &Script,
        most: u64,
        too_hard: &mut BTreeSet<(Source, usize)>,
        solver: &mut Solver,
        budget: &mut Budget,
    ) -> io::Result<Result<Option<Vec<Option<u128>>>, Undecided>> {
        let is_asked = |n: usize, part: &Asking| !part.claims.is_empty() && !too_hard.contains(&(self.source, n));
        let parts = self.parts.iter().enumerate().filter(|(n, part)| is_asked(*n, part));
        let parts: Vec<(Option<usize>, &Asking)> = parts.map(|(n, part)| (Some(n), part)).collect();
        for (part, asking) in parts.into_iter().chain([(None, &self.whole)]) {
            let is_all = part.is_none();
            let wanted: Vec<&str> = asking.claims.iter().map(|n| self.wanted[*n].as_str()).collect();
            let limit = match budget.limit() {
                Ok(limit) if is_all => Limit { steps: limit.steps.min(most), ..limit },
                Ok(limit) => Limit { steps: limit.steps.min(SMALL_STEPS), ..limit },
                Err(reason) => return Ok(Err(reason.into())),
            };
            let text = s.asserting(asking.question).text;
            let answer = solver.ask_within(&text, &wanted, limit)?;
            budget.charge(solver.spent());
            match answer {
                Answer::Sat(values) => {
                    let mut all = vec![None; self.wanted.len()];
                    for (n, value) in asking.claims.iter().zip(values) {
                        all[*n] = value;
                    }
                    return Ok(Ok(Some(all)));
                }
                Answer::Unknown(_) if !is_all => too_hard.extend(part.map(|n| (self.source, n))),
                _ if !is_all => {}
                Answer::Unsat => return Ok(Ok(None)),
                Answer::Unknown(reason) if reason.is_too_hard() => {
                    let spent = budget.spent().map_or(Undecided::Time(limit.time.as_secs()), Undecided::Budget);
                    return Ok(Err(spent));
                }
                Answer::Unknown(reason) => return Ok(Err(Undecided::Solver(reason))),
            }
        }
        Ok(Err(NotModelled::from("no question").into()))
    }

    /// Does an answer break something that does not depend on which candidates there are?
    pub(super) fn breaks_a_claim(&self, is_set: impl Fn(usize) -> bool) -> bool {
        self.claims.iter().any(|(n, _)| is_set(*n))
    }

    /// Why the step fails, if no candidate does.
    pub(super) fn failure(&self, is_set: impl Fn(usize) -> bool) -> String {
        let what = self.claims.iter().find(|(n, _)| is_set(*n)).map_or("something", |(_, what)| *what);
        let at = match self.source {
            Source::Entry => "before the first loop",
            Source::Cuts(_) => "in a loop",
        };
        format!("it has a loop, and no invariant is found: {at}, {what} may differ")
    }
}

/// Accesses of both versions in their order, where it is not seen that they go to the same place: whether one of the
/// first version does not, where it is made.
fn same_places(s: &mut Script, old: &Behaviour, new: &Behaviour, assumed: &[Expr]) -> Vec<((usize, usize), Expr)> {
    let mut all = vec![];
    for (n, (was, is)) in old.accesses.iter().zip(&new.accesses).enumerate() {
        if was.address == is.address || (was.bytes, was.kind) != (is.bytes, is.kind) {
            continue;
        }
        let same = s.equal(was.address, is.address);
        let differ = s.not(same);
        all.push(((n, n), s.and(&[assumed, &[was.reached, differ]].concat())));
    }
    all
}

/// When values that both are given are small numbers, and what they read first is zeros and ones.
fn small(s: &mut Script, leaves: &[Vec<Leaf>; 2], parameters: &[Vec<Leaf>], bits: u32) -> Expr {
    let leaves = leaves.iter().chain(parameters).flatten();
    let numbers = leaves.filter(|leaf| leaf.value.origin.is_none()).map(|leaf| leaf.value.bits);
    let bytes: Vec<Expr> = s.reads().iter().map(|read| read.byte).collect();
    let sized = numbers.map(|number| (number, bits)).chain(bytes.into_iter().map(|byte| (byte, 1))).collect::<Vec<_>>();
    let mut all = vec![];
    for (n, (number, bits)) in sized.into_iter().enumerate().filter(|(_, (number, bits))| number.width() > *bits) {
        let low = s.variable(&format!("small {n}"), Sort::Bits(bits));
        let whole = s.resize(low, number.width());
        all.push(s.equal(number, whole));
    }
    s.and(&all)
}

/// A number for each candidate of each pair of cuts.
fn number(induction: &Induction<'_>, at: (usize, usize), candidate: usize) -> usize {
    let pairs = at.0 * induction.versions[1].cuts.len() + at.1;
    pairs * MOST_CANDIDATES + candidate
}

/// A value that a candidate asks for: of which version, and which of those that it asks for.
type Wanted = (usize, usize, Operand);

/// What a candidate asks for at a pair of cuts.
fn wanted(induction: &Induction<'_>, at: (usize, usize), candidate: &Candidate) -> Vec<Wanted> {
    let cuts = [at.0, at.1];
    let base = |side: usize, n: usize| induction.versions[side].cuts[cuts[side]].state.bases[n].clone();
    match candidate {
        Candidate::Read { .. } => vec![],
        Candidate::Fixed { side, base: n } => vec![(*side, 0, base(*side, *n))],
        Candidate::Defined { old } => vec![(0, 0, base(0, *old))],
        Candidate::Related { old, new, .. } | Candidate::Alike { old, new } => {
            vec![(0, 0, base(0, *old)), (1, 0, base(1, *new))]
        }
        Candidate::Fact { side, left, right, .. } => vec![(*side, 0, left.clone()), (*side, 1, right.clone())],
        Candidate::Distance { old, new, .. } => {
            let of = |side: usize, pair: &[Operand; 2]| [(side, 0, pair[0].clone()), (side, 1, pair[1].clone())];
            [of(0, old), of(1, new)].concat()
        }
        Candidate::Within { new, .. } | Candidate::Multiple { new, .. } => vec![(1, 0, base(1, *new))],
        Candidate::Folded { old, new, .. } => {
            let lanes = new.iter().enumerate().map(|(part, n)| (1, part, base(1, *n)));
            [(0, 0, base(0, *old))].into_iter().chain(lanes).collect()
        }
    }
}

/// Values of which candidates say something where a step begins, by version.
fn facts_at(induction: &Induction<'_>, source: Source) -> [Vec<((usize, usize), Operand)>; 2] {
    let mut asked = [vec![], vec![]];
    let Source::Cuts(at) = source else { return asked };
    for (n, candidate) in induction.invariants[&at].left() {
        if matches!(candidate, Candidate::Fact { .. } | Candidate::Distance { .. }) {
            for (side, part, operand) in wanted(induction, at, candidate) {
                asked[side].push(((n, part), operand));
            }
        }
    }
    asked
}

/// What candidates say of these values.
fn facts(s: &mut Script, induction: &Induction<'_>, source: Source, begun: [&Begun; 2]) -> Vec<Expr> {
    let Source::Cuts(at) = source else { return vec![] };
    let mut facts = vec![];
    for (n, candidate) in induction.invariants[&at].left() {
        let value = |side: usize, part: usize| {
            let asked = begun[side].values.iter().find(|(who, _)| *who == (n, part));
            asked.map(|(_, value)| *value)
        };
        facts.extend(fact(s, candidate, value));
    }
    facts
}

/// Readings of which candidates ask whether they hold where a cut is reached, by version: cut and reading.
fn asked_readings(induction: &Induction<'_>) -> [BTreeSet<(usize, usize)>; 2] {
    let mut asked = [BTreeSet::new(), BTreeSet::new()];
    for (at, invariant) in &induction.invariants {
        for (_, candidate) in invariant.left() {
            if let Candidate::Read { side, reading } = candidate {
                asked[*side].insert(([at.0, at.1][*side], *reading));
            }
        }
    }
    asked
}

/// What all candidates want to know where their cuts are reached.
fn asked(induction: &Induction<'_>) -> Asked {
    let mut asked: Asked = [vec![], vec![]];
    for (at, invariant) in &induction.invariants {
        for (n, candidate) in invariant.left() {
            let who = number(induction, *at, n);
            for (side, part, operand) in wanted(induction, *at, candidate) {
                asked[side].push(Request { cut: [at.0, at.1][side], who, part, operand });
            }
        }
    }
    asked
}
