//! One step of the induction as a question: from the entry or from a pair of cuts to the next.

use super::Induction;
use super::invariant::Candidate;
use crate::functions::region::Region;
use crate::functions::terms::{Given, State, Symbolic, Terms, alike, behaviour, representation, state};
use rewright_smt::{Expr, Script, Sort};

/// Bits of small numbers.
const SMALL: u32 = 3;

/// Where a step begins.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Source {
    Entry,
    /// By version.
    Cuts((usize, usize)),
}

/// What an answer to a question may break.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Claim {
    /// Both do the same.
    Alike(&'static str),
    /// This pair of cuts is not reached.
    Unreached((usize, usize)),
    /// This candidate holds at this pair of cuts.
    Candidate((usize, usize), usize),
}

/// A question; an answer speaks against the step.
pub(super) struct Question {
    /// Nothing where there is nothing to ask.
    pub(super) text: Option<String>,
    /// Variables that are set where a claim is broken.
    pub(super) claims: Vec<(String, Claim)>,
    /// There is something hard of which nothing is known.
    pub(super) hides: bool,
    /// Arithmetic may give a NaN.
    pub(super) has_nan: bool,
}

impl Question {
    /// Where numbers are `small`, all is known of what is hard; an answer refutes the step nevertheless.
    pub(super) fn new(induction: &Induction<'_>, source: Source, small: bool) -> Terms<Question> {
        let mut script = Script::new();
        (script.opaque, script.laws) = (induction.opaque && !small, true);
        let s = &mut script;
        let given = Given::new(s, induction.versions[0].version)?;
        let (begun, mut assumed) = match source {
            Source::Entry => ([None, None], vec![]),
            Source::Cuts(at) => {
                let (states, assumed) = begin(s, induction, at, &given)?;
                (states.map(Some), assumed)
            }
        };
        if small {
            assumed.extend(small_numbers(s, &given, &begun));
        }
        let from = match source {
            Source::Entry => [None, None],
            Source::Cuts((old, new)) => [Some(old), Some(new)],
        };
        let mut done = vec![];
        for side in 0..2 {
            let cuts = &induction.versions[side];
            let region = Region::new(cuts, from[side])?;
            done.push(behaviour(s, cuts, &region, begun[side].as_ref(), &given)?);
        }
        let [old, new] = [&done[0], &done[1]];
        let mut flags = Flags { s, equations: vec![], broken: vec![], claims: vec![] };
        for (holds, what) in alike(flags.s, old, new) {
            flags.claim(holds, Claim::Alike(what));
        }
        // Facts where cuts are reached are about the memory that is left there.
        let left =
            [old, new].map(|done| Given { memory: done.memory, trace: done.trace, arguments: given.arguments.clone() });
        for was in &old.arrivals {
            for is in &new.arrivals {
                let at = (was.cut, is.cut);
                let both = flags.s.and(&[was.reached, is.reached]);
                let neither = flags.s.not(both);
                let Some(invariant) = induction.invariants.get(&at) else {
                    flags.claim(neither, Claim::Unreached(at));
                    continue;
                };
                let [one, two] = &induction.versions;
                let states =
                    [state(flags.s, one, at.0, &was.bases, &left[0])?, state(flags.s, two, at.1, &is.bases, &left[1])?];
                for (n, candidate) in invariant.left() {
                    let holds = holds(flags.s, induction, candidate, at, [&states[0], &states[1]]);
                    let holds = flags.s.or(&[neither, holds]);
                    flags.claim(holds, Claim::Candidate(at, n));
                }
            }
        }
        let Flags { equations, broken, claims, .. } = flags;
        let any = s.or(&broken);
        assumed.push(any);
        assumed.extend(equations);
        let question = s.and(&assumed);
        let text = (!claims.is_empty()).then(|| s.asserting(question).text);
        Ok(Question { text, claims, hides: s.hides(), has_nan: old.has_nan || new.has_nan })
    }
}

/// What is known at a pair of cuts of both versions, and what is assumed of it.
fn begin(
    s: &mut Script,
    induction: &Induction<'_>,
    at: (usize, usize),
    given: &Given,
) -> Terms<([State; 2], Vec<Expr>)> {
    let invariant = &induction.invariants[&at];
    let [one, two] = &induction.versions;
    let mut bases = vec![];
    for (n, value) in one.all[at.0].bases.iter().enumerate() {
        let width = representation(one.version, one.version.function.ty(*value))?.bits();
        bases.push(Symbolic { bits: s.variable(&format!("base {n}"), Sort::Bits(width)), nan: Expr::FALSE });
    }
    let old = state(s, one, at.0, &bases, given)?;
    let mut bases = vec![];
    for (n, value) in two.all[at.1].bases.iter().enumerate() {
        let width = representation(two.version, two.version.function.ty(*value))?.bits();
        // Equal values are one term.
        let origin = invariant.origin(*value).and_then(|(from, how)| Some((old.value(from)?.bits, how)));
        let bits = match origin {
            Some((from, how)) => how.made(s, from, width),
            None => s.variable(&format!("base {n} of the second version"), Sort::Bits(width)),
        };
        bases.push(Symbolic { bits, nan: Expr::FALSE });
    }
    let new = state(s, two, at.1, &bases, given)?;
    let mut assumed = vec![old.facts, new.facts];
    let candidates: Vec<Candidate> = invariant.left().map(|(_, candidate)| candidate.clone()).collect();
    for candidate in &candidates {
        assumed.push(holds(s, induction, candidate, at, [&old, &new]));
    }
    Ok(([old, new], assumed))
}

/// The arguments, and the values at the start, are small numbers.
fn small_numbers(s: &mut Script, given: &Given, begun: &[Option<State>; 2]) -> Vec<Expr> {
    let bases = begun.iter().flatten().flat_map(|state| state.bases.iter().copied());
    let numbers: Vec<Expr> = given.arguments.iter().copied().chain(bases).collect();
    let mut all = vec![];
    for (n, number) in numbers.into_iter().enumerate().filter(|(_, number)| number.width() > SMALL) {
        let low = s.variable(&format!("small {n}"), Sort::Bits(SMALL));
        let whole = s.resize(low, number.width());
        all.push(s.equal(number, whole));
    }
    all
}

/// A candidate of a pair of cuts; what cannot be said does not hold.
fn holds(
    s: &mut Script,
    induction: &Induction<'_>,
    candidate: &Candidate,
    at: (usize, usize),
    states: [&State; 2],
) -> Expr {
    let [one, two] = &induction.versions;
    candidate.holds(s, [&one.all[at.0], &two.all[at.1]], states).unwrap_or(Expr::FALSE)
}

/// Claims, each with a variable that says whether an answer breaks it.
struct Flags<'s> {
    s: &'s mut Script,
    equations: Vec<Expr>,
    broken: Vec<Expr>,
    claims: Vec<(String, Claim)>,
}

impl Flags<'_> {
    fn claim(&mut self, holds: Expr, claim: Claim) {
        if holds == Expr::TRUE {
            return;
        }
        let flag = self.s.variable(&format!("claim {} is broken", self.claims.len()), Sort::Bool);
        let broken = self.s.not(holds);
        let equation = self.s.equal(flag, broken);
        self.equations.push(equation);
        self.broken.push(broken);
        self.claims.push((self.s.name(flag).to_string(), claim));
    }
}
