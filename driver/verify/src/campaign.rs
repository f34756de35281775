//! Is verification itself right? Rules are made wrong, and what it says of them is compared with what values say.
//!
//! 1. At a mutant's narrowest instance two judges work apart: values alone, all of them where they are one or two
//!    bytes, and the solver alone. A mutant that values refute and the solver proves is an *escape*; so is one that the
//!    solver refutes and the evaluator does not confirm. There must be none.
//! 2. A mutant that neither refutes there is verified at all other instances, like any rule. A mutant that survives
//!    that is proved equal, or it is not decided; both are listed.
//!
//! Mutants of a rule about functions of libraries are run as the rule is.
//!
//! A type parameter that stands for more types is about those: at the others the rule is what it was.
//!
//! **Invariant**: a mutant's fate depends on the seed, its rule and the options, not on jobs or on other rules. Fates
//! are cached as verdicts are.

use super::case::Case;
use super::libraries::Libraries;
use super::mutants::{Kind, Mutant, mutants};
use super::prove::{Verified, cases};
use super::report::{InstanceReport, Verdict};
use super::sample::{Effort, Tried};
use super::typing::is_well_typed;
use super::{Options, cache, content, in_parallel, method, start, version};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use rewright_dsl::instances::TypeInstances;
use rewright_dsl::program::{Program, Rule, RuleId};
use rewright_smt::solver::Solver;
use rewright_typeprop::Repr;
use serde::{Deserialize, Serialize};
use std::io;

/// What became of a mutant.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub enum Fate {
    /// It has no instance, or those of the rule and nothing else is changed: it is no mutant.
    Malformed,
    /// Found to be wrong, to hold one way only, or never to match.
    Refuted,
    /// Proved: the change makes no difference.
    Equal,
    /// Proved at smaller widths.
    Narrower,
    /// No value refutes it, and the solver does not know.
    Undecided,
    /// Values and solver contradict each other: a mistake in verification.
    Escaped,
}

impl Fate {
    /// All, in order of their declaration.
    pub const ALL: [Fate; 6] =
        [Fate::Malformed, Fate::Refuted, Fate::Equal, Fate::Narrower, Fate::Undecided, Fate::Escaped];

    /// For people and for programs.
    pub fn words(self) -> &'static str {
        match self {
            Fate::Malformed => "malformed",
            Fate::Refuted => "refuted",
            Fate::Equal => "proved equal",
            Fate::Narrower => "proved equal at smaller widths",
            Fate::Undecided => "undecided",
            Fate::Escaped => "escaped",
        }
    }
}

/// A mutant and what became of it.
#[derive(Clone, PartialEq, Debug)]
pub struct Judged {
    /// The rule that was changed.
    pub rule: RuleId,
    /// What kind of change it was.
    pub kind: Kind,
    /// The change, for people.
    pub change: String,
    /// Its fate.
    pub fate: Fate,
    /// What decided, and at which types.
    pub evidence: String,
}

/// Mutants of each rule, at most this many of each, drawn evenly from all kinds of changes, and their fates.
///
/// # Errors
/// When the solver cannot be started.
pub fn mutate(
    program: &Program,
    rules: &[RuleId],
    per_rule: usize,
    options: &Options,
    done: &(dyn Fn() + Sync),
) -> io::Result<Vec<Judged>> {
    let version = version(options)?;
    let instances = TypeInstances::new(program);
    let libraries = Libraries::of(program);
    let judged = in_parallel(options, rules.len(), &|| start(options), &|index, solver| {
        let rule = program.rule(rules[index]);
        let run = libraries.decide(program, rule, &cases(program, &instances, rule));
        let states_equality = rule.approximate.is_none() && (rule.relaxation.is_none() || run);
        let drawn = if states_equality { draw(program, rule, per_rule, options.seed) } else { vec![] };
        let fates = match run {
            true => ran(program, &instances, &drawn, options, solver)?,
            false => fates(program, &instances, rule, &drawn, options, &version, solver)?,
        };
        done();
        let judged = |(mutant, (fate, evidence)): (Mutant, (Fate, String))| Judged {
            rule: rules[index],
            kind: mutant.kind,
            change: mutant.change,
            fate,
            evidence,
        };
        Ok(drawn.into_iter().zip(fates).map(judged).collect::<Vec<_>>())
    })?;
    Ok(judged.into_iter().flatten().collect())
}

/// The fates of mutants about functions of libraries, which are run: what agrees on all values is not decided. They are not
/// cached.
fn ran(
    program: &Program,
    instances: &TypeInstances<'_>,
    mutants: &[Mutant],
    options: &Options,
    solver: &mut Solver,
) -> io::Result<Vec<(Fate, String)>> {
    let mut fates = vec![];
    for mutant in mutants {
        solver.forget();
        let mut worst = (Fate::Malformed, "no type instance of it can be run".to_string());
        for case in cases(program, instances, &mutant.rule) {
            let InstanceReport { verdict, method, reason, .. } = case.verify(solver, options, u32::MAX)?.report;
            let reason = reason.map_or(String::new(), |reason| format!(": {reason}"));
            let fate = match verdict {
                Verdict::Counterexample | Verdict::OneWay | Verdict::CannotFire => Fate::Refuted,
                Verdict::Equal => Fate::Equal,
                Verdict::Narrower => Fate::Narrower,
                Verdict::Tested | Verdict::NotRun => Fate::Undecided,
                // The changed rule may have no order of calls, or no values.
                Verdict::Unknown => continue,
            };
            if fate == Fate::Refuted {
                worst = (fate, method);
                break;
            }
            if fate > worst.0 {
                worst = (fate, method + &reason);
            }
        }
        fates.push(worst);
    }
    Ok(fates)
}

/// The fates of a rule's mutants with their evidence, by the cache or anew.
fn fates(
    program: &Program,
    instances: &TypeInstances<'_>,
    rule: &Rule,
    drawn: &[Mutant],
    options: &Options,
    version: &str,
    solver: &mut Solver,
) -> io::Result<Vec<(Fate, String)>> {
    let own: Vec<Vec<Option<Repr>>> = cases(program, instances, rule).into_iter().map(|case| case.targs).collect();
    let key = options.cache.as_ref().map(|kept| {
        let mut parts = method(options, version);
        parts.push(format!("mutants at {own:?}"));
        for mutant in drawn {
            parts.extend([mutant.change.clone(), format!("{:?}", mutant.rule.tparams)]);
            parts.extend(content(program, &mutant.rule));
        }
        (kept, cache::key(parts.iter().map(String::as_str)))
    });
    if let Some((kept, key)) = &key
        && let Some(found) = cache::find(kept, *key)
    {
        return Ok(found);
    }
    let mut fates = vec![];
    for mutant in drawn {
        solver.forget();
        let mut cases = cases(program, instances, &mutant.rule);
        if wider(rule, &mutant.rule) {
            cases.retain(|case| !own.contains(&case.targs) && is_well_typed(program, &mutant.rule, &case.types));
        }
        fates.push(judge(cases, options, solver)?);
    }
    if let Some((kept, key)) = key {
        cache::keep(kept, key, &fates);
    }
    Ok(fates)
}

/// One mutant of each kind, then another one of each, until there are enough.
fn draw(program: &Program, rule: &Rule, count: usize, seed: u64) -> Vec<Mutant> {
    // By the rule's name: a rule that is added elsewhere changes no other rule's mutants.
    let name = rule.name.bytes().fold(seed, |hash, byte| hash.rotate_left(5) ^ u64::from(byte));
    let mut rng = ChaCha8Rng::seed_from_u64(name);
    let mut by_kind: Vec<Vec<Mutant>> = vec![vec![]; Kind::ALL.len()];
    for mutant in mutants(program, rule) {
        by_kind[mutant.kind as usize].push(mutant);
    }
    by_kind.iter_mut().for_each(|kind| kind.shuffle(&mut rng));
    let mut drawn = vec![];
    while drawn.len() < count && by_kind.iter().any(|kind| !kind.is_empty()) {
        let round: Vec<Mutant> = by_kind.iter_mut().filter_map(Vec::pop).collect();
        drawn.extend(round);
    }
    drawn.truncate(count);
    drawn
}

/// Is a mutant the rule at more types?
fn wider(rule: &Rule, mutant: &Rule) -> bool {
    let bounds = |rule: &Rule| rule.tparams.iter().map(|p| p.bound.clone()).collect::<Vec<_>>();
    bounds(rule) != bounds(mutant)
}

fn judge(mut cases: Vec<Case<'_>>, options: &Options, solver: &mut Solver) -> io::Result<(Fate, String)> {
    cases.retain(|case| case.question().is_ok());
    cases.sort_by_key(Case::widest);
    let Some((narrowest, wider)) = cases.split_first() else {
        return Ok((Fate::Malformed, "no further type instance has a meaning".into()));
    };
    let effort = Effort { samples: 4 * options.samples, exhaustive: 1 << 16, seed: options.seed };
    let tried = narrowest.tried(effort);
    let alone = narrowest.prove(solver, 0)?;
    let at = |case: &Case<'_>, what: &str| match case.shown().join(", ") {
        types if types.is_empty() => what.to_string(),
        types => format!("{what} at {types}"),
    };
    let proved = matches!(alone.verdict, Verdict::Equal | Verdict::Narrower | Verdict::CannotFire);
    if alone.unconfirmed() || proved && matches!(tried, Tried::Differ(..)) {
        let evidence = format!("values say {}, the solver {}", tried.words(), alone.verdict.words());
        return Ok((Fate::Escaped, at(narrowest, &evidence)));
    }
    if let Tried::Differ(..) = tried {
        let evidence = format!("values; the solver says {}", alone.verdict.words());
        return Ok((Fate::Refuted, at(narrowest, &evidence)));
    }
    if matches!(alone.verdict, Verdict::Counterexample | Verdict::OneWay) {
        return Ok((Fate::Refuted, at(narrowest, &format!("the solver: {}", alone.verdict.words()))));
    }
    let first = match alone.verdict {
        Verdict::Unknown => narrowest.prove_at_smaller_width(solver, options, alone.reason)?,
        _ => alone,
    };
    // Where it never matches it may match elsewhere.
    let mut hard = if first.too_hard() { narrowest.widest() } else { u32::MAX };
    let mut worst = (first.verdict, at(narrowest, &first.method), first.reason.map(|reason| reason.to_string()));
    for (n, case) in wider.iter().enumerate() {
        // One lane is the same question however many there are.
        if cases[..=n].iter().any(|earlier| earlier.lanes_as_in(case)) {
            continue;
        }
        let Verified { report, too_hard } = case.verify(solver, options, hard)?;
        let InstanceReport { verdict, method, reason, .. } = report;
        if matches!(verdict, Verdict::Counterexample | Verdict::OneWay) {
            return Ok((Fate::Refuted, at(case, &method)));
        }
        if too_hard {
            hard = hard.min(case.widest());
        }
        let fires = verdict != Verdict::CannotFire;
        if fires && (worst.0 == Verdict::CannotFire || verdict > worst.0) {
            worst = (verdict, at(case, &method), reason);
        }
    }
    let fate = match worst.0 {
        Verdict::Equal => Fate::Equal,
        Verdict::Narrower => Fate::Narrower,
        Verdict::Tested | Verdict::Unknown | Verdict::NotRun => Fate::Undecided,
        Verdict::CannotFire | Verdict::OneWay | Verdict::Counterexample => Fate::Refuted,
    };
    let reason = worst.2.map_or(String::new(), |reason| format!(": {reason}"));
    Ok((fate, worst.1 + &reason))
}
