//! Runs the examples of packs: each becomes a small function that goes through the whole pipeline, or (for
//! `equals` and `differs`) a pair of roots in one e-graph.
//!
//! **Invariant**: `becomes` and `stays` never put the expected term into the e-graph, so a rule cannot start from
//! the answer.

mod build;
mod canonical;
mod error;
mod explain_failure;
mod text;

pub use build::{function, subject};
pub use canonical::canonical;

pub use error::ExampleError;

use crate::optimiser::{Accept, Fate, Optimiser, Options, Rules};
use crate::stops::describe;
use explain_failure::Stage;
use rewright_cfg_skeleton::egraph::{EGraphInput, Head, InputId, LeafId, Node, Stop, TokenId};
use rewright_cfg_skeleton::ir::{Function, InstKind};
use rewright_cfg_skeleton::select::cost::reported;
use rewright_dsl::expectation::Expectation;
use rewright_dsl::program::{Claim, Example, Program, RuleId, Verdict};
use rewright_engine::Budget;
use rewright_typeprop::{Term, Universe};
use smallvec::{SmallVec, smallvec};
use std::collections::BTreeMap;

/// What running one example gave.
#[derive(Clone, Debug)]
pub struct ExampleOutcome {
    /// Index in [`Program::examples`].
    pub example: usize,
    /// Why its verdict does not hold; `None` when it does. A `todo` example is turned around already.
    pub failure: Option<Failure>,
    /// Rules that took part.
    pub fired: Vec<RuleId>,
    /// Budgets that ended before the rules did, where the example holds, and only as far as rules have run: it says that
    /// terms are different, or that one stays as it is.
    pub cut_short: Vec<String>,
}

/// Why an example fails.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Failure {
    /// What is there instead of what is expected.
    pub found: String,
    /// How it came to that, and how near what is expected came: a line each.
    pub why: Vec<String>,
    /// What holds instead. `None` where the example could not be run, or no pack can write what is there.
    pub instead: Option<Expectation>,
}

impl Failure {
    fn new(found: impl Into<String>) -> Failure {
        Failure { found: found.into(), why: vec![], instead: None }
    }

    fn or_rather(self, result: Option<String>) -> Failure {
        let instead = result.map(|result| Expectation { result: Some(result), ..Expectation::default() });
        Failure { instead, ..self }
    }
}

/// Runs examples within a budget: those under one schedule share their e-graphs.
pub fn run(optimiser: &Optimiser, indices: &[usize], budget: &Budget) -> Vec<ExampleOutcome> {
    let program = optimiser.program();
    let mut universe = program.universe.clone();
    let mut judgements: BTreeMap<usize, Result<Judgement, ExampleError>> = BTreeMap::new();
    let mut by_schedule: BTreeMap<String, Vec<(usize, Trial)>> = BTreeMap::new();
    for index in indices {
        let example = &program.examples[*index];
        match trial(&mut universe, example) {
            Ok(trial) => by_schedule.entry(schedule(program, example)).or_default().push((*index, trial)),
            Err(reason) => drop(judgements.insert(*index, Err(reason))),
        }
    }
    for (schedule, trials) in &by_schedule {
        judge(optimiser, &universe, (schedule, budget), trials, &mut judgements);
    }
    judgements.into_iter().map(|(index, judgement)| outcome(program, index, judgement)).collect()
}

fn outcome(program: &Program, index: usize, judgement: Result<Judgement, ExampleError>) -> ExampleOutcome {
    let example = &program.examples[index];
    let (mut failure, fired, stops) = match judgement {
        Ok(Judgement { failure, fired, stops }) => (failure, fired, stops),
        Err(error) => (Some(Failure::new(error.to_string())), vec![], vec![]),
    };
    let stops: Vec<String> = stops.iter().map(|stop| describe(program, stop)).collect();
    let negative = matches!(&example.claim, Claim::Term { verdict: Verdict::Differs(_) | Verdict::Stays, .. });
    let cut_short = if negative && failure.is_none() && !example.todo { stops.clone() } else { vec![] };
    if let Some(failure) = &mut failure {
        failure.why.extend(stops);
    }
    if example.todo {
        failure = match failure {
            Some(_) => None,
            None => Some(Failure {
                instead: Some(Expectation { holds: true, ..Expectation::default() }),
                ..Failure::new("holds now: take `todo` away")
            }),
        };
    }
    ExampleOutcome { example: index, failure, fired, cut_short }
}

/// Positions in `fires` of rules that took no part.
fn silent(program: &Program, example: &Example, fired: &[RuleId]) -> Vec<usize> {
    let families: Vec<RuleId> = fired.iter().map(|r| program.rule(*r).family).collect();
    let took_part = |rule: &RuleId| families.contains(&program.rule(*rule).family);
    example.fires.iter().enumerate().filter(|(_, rule)| !took_part(rule)).map(|(position, _)| position).collect()
}

/// The names of an example's parameters.
fn parameters(example: &Example) -> impl Iterator<Item = &str> {
    let mut set = vec![];
    if let Claim::Program { before, after } = &example.claim {
        [before, after].into_iter().for_each(|block| build::collect_set(block, &mut set));
    }
    let named = example.params.iter().zip(&example.names).enumerate();
    named.filter(move |(i, (ty, _))| ty.is_some() && !set.contains(&(*i as u32))).map(|(_, (_, name))| name.as_str())
}

/// What is to be run for one example.
enum Trial {
    /// Optimise a function; it must become the other one.
    Becomes { before: Box<Function>, wanted: Box<Function> },
    /// Saturate two roots; they must share a class, or not.
    Same { input: EGraphInput, roots: [InputId; 2], expected: bool },
}

fn trial(universe: &mut Universe, example: &Example) -> Result<Trial, ExampleError> {
    match &example.claim {
        Claim::Term { subject, verdict: Verdict::Equals(other) } => {
            return same_class(universe, example, subject, other, true);
        }
        Claim::Term { subject, verdict: Verdict::Differs(other) } => {
            return same_class(universe, example, subject, other, false);
        }
        Claim::Term { .. } | Claim::Program { .. } => {}
    }
    let before = subject(universe, example)?;
    let wanted = expected(universe, example)?.unwrap_or_else(|| before.clone());
    Ok(Trial::Becomes { before: Box::new(before), wanted: Box::new(wanted) })
}

/// What an example says that its program becomes, as a function; `None` where it says that terms are equal, or differ.
///
/// # Errors
/// Why no function is what the example says.
pub fn expected(universe: &mut Universe, example: &Example) -> Result<Option<Function>, ExampleError> {
    Ok(match &example.claim {
        Claim::Program { after, .. } => {
            let mut wanted = build::program(universe, example, after)?;
            rewright_cfg_skeleton::ir::cleanup::cleanup(&mut wanted, universe);
            Some(wanted)
        }
        Claim::Term { subject, verdict } => match verdict {
            Verdict::Equals(_) | Verdict::Differs(_) => None,
            Verdict::Becomes(expected) => Some(build::function(universe, example, expected)?),
            Verdict::Stays => Some(build::function(universe, example, subject)?),
        },
    })
}

/// Runs all trials of one schedule.
fn judge(
    optimiser: &Optimiser,
    universe: &Universe,
    (schedule, budget): (&str, &Budget),
    trials: &[(usize, Trial)],
    judgements: &mut BTreeMap<usize, Result<Judgement, ExampleError>>,
) {
    let rules = Rules::Schedule(schedule.into());
    let options = Options { rules, budget: budget.clone(), log: true, accept: Accept::Any, ..Options::default() };
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
    let saturated = optimiser.saturate(&inputs, &universe.types, &options);
    let mut views = saturated.as_ref().map(|views| views.iter()).map_err(|error| ExampleError::from(error.clone()));
    let program = optimiser.program();
    for (index, trial) in trials {
        let example = &program.examples[*index];
        let stage = Stage { optimiser, universe, options: &options, example };
        let judgement = match trial {
            Trial::Becomes { before, wanted } => {
                let outcome = outcomes.next().expect("one outcome for each function that went in");
                became(&stage, before, &outcome, wanted)
            }
            Trial::Same { input, roots, expected } => views.as_mut().map_err(|error| error.clone()).map(|views| {
                let view = views.next().expect("one view for each input that went in");
                let mut fired: Vec<_> = view.applications.iter().map(|a| a.rule).collect();
                fired.sort_unstable();
                fired.dedup();
                let failure = match (view.class_of(roots[0]) == view.class_of(roots[1]), expected) {
                    (true, true) | (false, false) => None,
                    (false, true) => Some(stage.apart(input, *roots, &fired)),
                    (true, false) => Some(stage.united(input, *roots)),
                };
                Judgement { failure, fired, stops: view.stops.clone() }
            }),
        };
        // A verdict that holds for another reason than the one that is named does not count.
        let judgement = judgement.map(|mut judgement| {
            let silent = silent(program, example, &judgement.fired);
            if !silent.is_empty() {
                let names: Vec<_> = silent.iter().map(|i| program.rule(example.fires[*i]).name.as_str()).collect();
                let failure = judgement.failure.get_or_insert_with(|| Failure {
                    instead: Some(Expectation::default()),
                    ..Failure::new(format!("the verdict holds, but {} took no part in it", names.join(", ")))
                });
                failure.why.extend(stage.nearest(trial, &silent));
                if let Some(instead) = &mut failure.instead {
                    instead.silent = silent;
                }
            }
            judgement
        });
        judgements.insert(*index, judgement);
    }
}

/// Did a function become what it should?
fn became(
    stage: &Stage<'_>,
    before: &Function,
    outcome: &crate::optimiser::OptimisedFunction,
    wanted: &Function,
) -> Result<Judgement, ExampleError> {
    if let Fate::Failed(reason) | Fate::PassedThrough(reason) = &outcome.fate {
        return Err(ExampleError::NotOptimised(reason.clone()));
    }
    let (fired, stops) = (outcome.rules.clone(), outcome.stops.clone());
    let canonical = |f: &Function| canonical(stage.universe, f);
    let got = &outcome.function;
    if canonical(got) == canonical(wanted) {
        return Ok(Judgement { failure: None, fired, stops });
    }
    let cost = |f: &Function| reported(stage.optimiser.cost_of(f, stage.universe, stage.options));
    let (cost_got, cost_wanted) = (cost(got), cost(wanted));
    let is_same = canonical(got) == canonical(before);
    let found = match is_same {
        true => format!("stays {}, at cost {cost_got}; what is expected costs {cost_wanted}", stage.shown(got)),
        false => format!("becomes {}, at cost {cost_got}; what is expected costs {cost_wanted}", stage.shown(got)),
    };
    let result = match &stage.example.claim {
        Claim::Program { .. } => text::statements(stage.universe, stage.example, got),
        Claim::Term { .. } if is_same => Some("stays".into()),
        Claim::Term { .. } => text::term(stage.universe, stage.example, got).map(|term| format!("becomes {term}")),
    };
    let mut failure = Failure::new(found).or_rather(result);
    if matches!(stage.example.claim, Claim::Term { .. }) && writes(stage.universe, got) > writes(stage.universe, wanted)
    {
        failure.why.push("the term's own statements stay; `equals` is about its value alone".into());
    }
    failure.why.extend(stage.decisive(before, got, wanted));
    failure.why.extend(stage.missing(before, wanted, cost_got, cost_wanted));
    Ok(Judgement { failure: Some(failure), fired, stops })
}

/// How many statements write memory.
fn writes(universe: &Universe, f: &Function) -> usize {
    let insts = f.layout.iter().flat_map(|block| &f.block(*block).insts);
    let writes = |kind: &InstKind| matches!(kind, InstKind::Op { op, .. } if universe.ops.get(*op).gives_state());
    insts.filter(|id| writes(&f.inst(**id).kind)).count()
}

fn same_class(
    universe: &mut Universe,
    example: &Example,
    subject: &Term,
    other: &Term,
    expected: bool,
) -> Result<Trial, ExampleError> {
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
    failure: Option<Failure>,
    /// Rules that took part.
    fired: Vec<RuleId>,
    /// Budgets that ended before the rules did.
    stops: Vec<Stop>,
}

/// The schedule that an example runs under: the one it names, or its pack's default.
pub fn schedule(program: &Program, example: &Example) -> String {
    let own = format!("{}.default", example.pack);
    match &example.using {
        Some(name) => name.clone(),
        None if program.schedules.contains_key(&own) => own,
        None => "default".into(),
    }
}
