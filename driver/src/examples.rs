//! Runs the examples of packs: each becomes a small function that goes through the whole pipeline, or (for
//! `equals` and `differs`) a pair of roots in one e-graph.
//!
//! **Invariant**: `becomes` and `stays` never put the expected term into the e-graph, so a rule cannot start from
//! the answer.

pub(crate) mod build;
mod canonical;

pub use canonical::canonical;

use crate::near::{Near, near};
use crate::pipeline::{Fate, Optimiser, Options};
use rewright_cfg_skeleton::egraph::{EGraphInput, Head, InputId, LeafId, Node, TokenId};
use rewright_cfg_skeleton::ir::Function;
use rewright_cfg_skeleton::ir::normalise::normalise;
use rewright_cfg_skeleton::select::cost::reported;
use rewright_dsl::program::{Claim, Example, Program, Rule, RuleId, Verdict};
use rewright_typeprop::{Term, Universe};
use smallvec::{SmallVec, smallvec};
use std::collections::BTreeMap;

/// What running one example gave.
#[derive(Clone, Debug)]
pub struct ExampleOutcome {
    /// Index in [`Program::examples`].
    pub example: usize,
    /// Why its verdict does not hold; `None` when it does. A `todo` example is turned around already.
    pub failure: Option<String>,
    /// Rules that took part.
    pub fired: Vec<RuleId>,
}

/// Runs examples: those under one schedule share their e-graphs.
pub fn run(optimiser: &Optimiser, indices: &[usize]) -> Vec<ExampleOutcome> {
    let program = optimiser.program();
    let mut universe = program.universe.clone();
    let mut judgements: BTreeMap<usize, Result<Judgement, String>> = BTreeMap::new();
    let mut by_schedule: BTreeMap<String, Vec<(usize, Trial)>> = BTreeMap::new();
    for index in indices {
        let example = &program.examples[*index];
        match trial(&mut universe, example) {
            Ok(trial) => by_schedule.entry(schedule(program, example)).or_default().push((*index, trial)),
            Err(reason) => drop(judgements.insert(*index, Err(reason))),
        }
    }
    for (schedule, trials) in &by_schedule {
        judge(optimiser, &universe, schedule, trials, &mut judgements);
    }
    judgements.into_iter().map(|(index, judgement)| outcome(program, index, judgement)).collect()
}

fn outcome(program: &Program, index: usize, judgement: Result<Judgement, String>) -> ExampleOutcome {
    let example = &program.examples[index];
    let Judgement { mut failure, fired, near } =
        judgement.unwrap_or_else(|reason| Judgement { failure: Some(reason), fired: vec![], near: vec![] });
    if failure.is_none() {
        let missing: Vec<_> = silent(program, example, &fired).map(|rule| rule.name.as_str()).collect();
        if !missing.is_empty() {
            failure = Some(format!("the verdict holds, but {} took no part in it", missing.join(", ")));
        }
    }
    if let Some(failure) = &mut failure {
        near.iter().for_each(|near| failure.push_str(&format!("\n  {near}")));
    }
    if example.todo {
        failure = match failure {
            Some(_) => None,
            None => Some("holds now: take `todo` away".into()),
        };
    }
    ExampleOutcome { example: index, failure, fired }
}

/// Rules that are to take part in an example and did not.
fn silent<'p>(program: &'p Program, example: &Example, fired: &[RuleId]) -> impl Iterator<Item = &'p Rule> {
    let families: Vec<RuleId> = fired.iter().map(|r| program.rule(*r).family).collect();
    let rules = example.fires.iter().map(|r| program.rule(*r)).collect::<Vec<_>>().into_iter();
    rules.filter(move |rule| !families.contains(&rule.family))
}

/// How near each rule that took no part came to match in the function.
fn nearest<'p>(
    optimiser: &Optimiser,
    universe: &Universe,
    options: &Options,
    before: &Function,
    silent: impl Iterator<Item = &'p Rule>,
) -> Vec<String> {
    let mut silent = silent.peekable();
    if silent.peek().is_none() {
        return vec![];
    }
    let mut before = before.clone();
    normalise(&mut before);
    let skeleton = optimiser.build(&before, universe).1;
    let Ok(view) = optimiser.saturate_one(&skeleton.input, &universe.types, options) else { return vec![] };
    let describe = |rule: &Rule| match near(optimiser.program(), universe, rule, &skeleton, &view) {
        None => format!("{}: there is no operation like the root of its left side", rule.name),
        Some(Near { at, miss: Some(miss), .. }) => format!("{}: at {at}: {miss}", rule.name),
        Some(Near { at, miss: None, .. }) => format!("{}: matches {at}, and adds nothing new", rule.name),
    };
    silent.map(describe).collect()
}

/// What is to be run for one example.
enum Trial {
    /// Optimise a function; it must become the other one.
    Becomes { before: Box<Function>, wanted: Box<Function> },
    /// Saturate two roots; they must share a class, or not.
    Same { input: EGraphInput, roots: [InputId; 2], expected: bool },
}

fn trial(universe: &mut Universe, example: &Example) -> Result<Trial, String> {
    let (before, wanted) = match &example.claim {
        Claim::Program { before, after } => {
            let mut wanted = build::program(universe, example, after)?;
            rewright_cfg_skeleton::ir::cleanup::cleanup(&mut wanted, universe);
            (build::program(universe, example, before)?, wanted)
        }
        Claim::Term { subject, verdict } => {
            let expected = match verdict {
                Verdict::Equals(other) => return same_class(universe, example, subject, other, true),
                Verdict::Differs(other) => return same_class(universe, example, subject, other, false),
                Verdict::Becomes(expected) => expected,
                Verdict::Stays => subject,
            };
            (build::function(universe, example, subject)?, build::function(universe, example, expected)?)
        }
    };
    Ok(Trial::Becomes { before: Box::new(before), wanted: Box::new(wanted) })
}

/// Runs all trials of one schedule.
fn judge(
    optimiser: &Optimiser,
    universe: &Universe,
    schedule: &str,
    trials: &[(usize, Trial)],
    judgements: &mut BTreeMap<usize, Result<Judgement, String>>,
) {
    let options =
        Options { schedule: Some(schedule.into()), log: true, keep_if_not_cheaper: true, ..Options::default() };
    let functions: Vec<Function> = trials
        .iter()
        .filter_map(|(_, trial)| match trial {
            Trial::Becomes { before, .. } => Some((**before).clone()),
            Trial::Same { .. } => None,
        })
        .collect();
    let inputs: Vec<&EGraphInput> = trials
        .iter()
        .filter_map(|(_, trial)| match trial {
            Trial::Same { input, .. } => Some(input),
            Trial::Becomes { .. } => None,
        })
        .collect();
    let mut outcomes = optimiser.optimise(&functions, universe, &options).outcomes.into_iter();
    let saturated = optimiser.saturate(&inputs, &universe.types, &options).map_err(|e| e.to_string());
    let mut views = saturated.as_ref().map(|views| views.iter()).map_err(Clone::clone);
    for (index, trial) in trials {
        let judgement = match trial {
            Trial::Becomes { before, wanted } => {
                let outcome = outcomes.next().expect("one outcome for each function that went in");
                became(optimiser, universe, &options, &outcome, wanted).map(|(failure, fired)| {
                    let program = optimiser.program();
                    let silent = silent(program, &program.examples[*index], &fired);
                    Judgement { failure, near: nearest(optimiser, universe, &options, before, silent), fired }
                })
            }
            Trial::Same { roots: [a, b], expected, .. } => match &mut views {
                Err(error) => Err(error.clone()),
                Ok(views) => {
                    let view = views.next().expect("one view for each input that went in");
                    let mut fired: Vec<_> = view.applications.iter().map(|a| RuleId(a.rule)).collect();
                    fired.sort_unstable();
                    fired.dedup();
                    let failure = match (view.class_of(*a) == view.class_of(*b), expected) {
                        (true, true) | (false, false) => None,
                        (false, true) => Some("the two sides are in different classes".into()),
                        (true, false) => Some("the two sides are in one class".into()),
                    };
                    Ok(Judgement { failure, fired, near: vec![] })
                }
            },
        };
        judgements.insert(*index, judgement);
    }
}

fn became(
    optimiser: &Optimiser,
    universe: &Universe,
    options: &Options,
    outcome: &crate::pipeline::Outcome,
    wanted: &Function,
) -> Result<(Option<String>, Vec<RuleId>), String> {
    if let Fate::Failed(reason) | Fate::PassedThrough(reason) = &outcome.fate {
        return Err(format!("it did not go through the optimiser: {reason}"));
    }
    let fired = outcome.rules.iter().map(|r| RuleId(*r)).collect();
    let (got, want) = (canonical(universe, &outcome.function), canonical(universe, wanted));
    if got == want {
        return Ok((None, fired));
    }
    let cost = |f: &Function| reported(optimiser.cost_of(f, universe, options));
    let failure =
        format!("became  {got} (cost {})\n  expected {want} (cost {})", cost(&outcome.function), cost(wanted));
    Ok((Some(failure), fired))
}

fn same_class(
    universe: &mut Universe,
    example: &Example,
    subject: &Term,
    other: &Term,
    expected: bool,
) -> Result<Trial, String> {
    let mut input = EGraphInput::default();
    let mut variables = vec![];
    for (i, ty) in example.params.iter().enumerate() {
        let (head, types) = match ty {
            Some(ty) => (Head::Leaf(LeafId(i as u32)), smallvec![*ty]),
            None => (Head::Token(TokenId(i as u32)), SmallVec::new()),
        };
        variables.push(input.add(Node { head, types, children: SmallVec::new() }));
    }
    let a = build::node(universe, &mut input, &variables, subject)?;
    let b = build::node(universe, &mut input, &variables, other)?;
    Ok(Trial::Same { input, roots: [a, b], expected })
}

/// What became of a trial.
struct Judgement {
    /// Why its verdict does not hold.
    failure: Option<String>,
    /// Rules that took part.
    fired: Vec<RuleId>,
    /// How near rules came that should have.
    near: Vec<String>,
}

/// The schedule that an example runs under: the one it names, or its pack's default.
fn schedule(program: &Program, example: &Example) -> String {
    let own = format!("{}.default", example.pack);
    match &example.using {
        Some(name) => name.clone(),
        None if program.schedules.contains_key(&own) => own,
        None => "default".into(),
    }
}
