//! Runs the examples of packs: each becomes a small function that goes through the whole pipeline, or (for
//! `equals` and `differs`) a pair of roots in one e-graph.
//!
//! **Invariant**: `becomes` and `stays` never put the expected term into the e-graph, so a rule cannot start from
//! the answer.

use crate::pipeline::{Fate, Optimiser, Options};
use rewright_cfg_skeleton::egraph::{EGraphInput, Head, InputId, LeafId, Node, TokenId};
use rewright_cfg_skeleton::ir::{Access, Function, InstKind, RegionId, Terminator, Value};
use rewright_dsl::program::{Example, Program, RuleId, Verdict};
use rewright_typeprop::{Outcome, Term, Ty, TypeExpr, Universe, term::Literal};
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
    let (mut failure, fired) = judgement.unwrap_or_else(|reason| (Some(reason), vec![]));
    if failure.is_none() {
        let missing: Vec<_> =
            example.fires.iter().filter(|r| !fired.contains(r)).map(|r| program.rule(*r).name.as_str()).collect();
        if !missing.is_empty() {
            failure = Some(format!("the verdict holds, but {} took no part in it", missing.join(", ")));
        }
    }
    if example.todo {
        failure = match failure {
            Some(_) => None,
            None => Some("holds now: take `todo` away".into()),
        };
    }
    ExampleOutcome { example: index, failure, fired }
}

/// What is to be run for one example.
enum Trial {
    /// Optimise a function; it must become the other one.
    Becomes { before: Box<Function>, wanted: Box<Function> },
    /// Saturate two roots; they must share a class, or not.
    Same { input: EGraphInput, roots: [InputId; 2], expected: bool },
}

fn trial(universe: &mut Universe, example: &Example) -> Result<Trial, String> {
    let becomes = |universe: &mut Universe, expected: &Term| {
        let before = Box::new(function(universe, example, &example.subject)?);
        Ok(Trial::Becomes { before, wanted: Box::new(function(universe, example, expected)?) })
    };
    match &example.verdict {
        Verdict::Becomes(expected) => becomes(universe, expected),
        Verdict::Stays => becomes(universe, &example.subject),
        Verdict::Equals(other) => same_class(universe, example, other, true),
        Verdict::Differs(other) => same_class(universe, example, other, false),
    }
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
            Trial::Becomes { wanted, .. } => {
                let outcome = outcomes.next().expect("one outcome for each function that went in");
                became(optimiser, universe, &outcome, wanted)
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
                    Ok((failure, fired))
                }
            },
        };
        judgements.insert(*index, judgement);
    }
}

fn became(
    optimiser: &Optimiser,
    universe: &Universe,
    outcome: &crate::pipeline::Outcome,
    wanted: &Function,
) -> Result<Judgement, String> {
    if let Fate::Failed(reason) | Fate::PassedThrough(reason) = &outcome.fate {
        return Err(format!("it did not go through the optimiser: {reason}"));
    }
    let fired = outcome.rules.iter().map(|r| RuleId(*r)).collect();
    let (got, want) = (canonical(universe, &outcome.function), canonical(universe, wanted));
    if got == want {
        return Ok((None, fired));
    }
    let cost = |f: &Function| optimiser.cost_of(f, universe);
    let failure =
        format!("became  {got} (cost {})\n  expected {want} (cost {})", cost(&outcome.function), cost(wanted));
    Ok((Some(failure), fired))
}

fn same_class(universe: &mut Universe, example: &Example, other: &Term, expected: bool) -> Result<Trial, String> {
    let mut input = EGraphInput::default();
    let mut variables = vec![];
    for (i, ty) in example.params.iter().enumerate() {
        let (head, types) = match ty {
            Some(ty) => (Head::Leaf(LeafId(i as u32)), smallvec![*ty]),
            None => (Head::Token(TokenId(i as u32)), SmallVec::new()),
        };
        variables.push(input.add(Node { head, types, children: SmallVec::new() }));
    }
    let a = node(universe, &mut input, &variables, &example.subject)?;
    let b = node(universe, &mut input, &variables, other)?;
    Ok(Trial::Same { input, roots: [a, b], expected })
}

type Judgement = (Option<String>, Vec<RuleId>);

/// The subject of an example as a function, over a universe that has all its types.
///
/// # Errors
/// When the subject is no program.
pub fn subject(program: &Program, example: usize) -> Result<(Universe, Function), String> {
    let mut universe = program.universe.clone();
    let example = &program.examples[example];
    let f = function(&mut universe, example, &example.subject)?;
    Ok((universe, f))
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

/// The canonical constant of a literal at a type.
fn literal(universe: &Universe, literal: &Literal, ty: Ty) -> Result<i64, String> {
    let scalar = universe
        .types
        .scalar(ty)
        .ok_or_else(|| format!("a literal of type {} has no machine form", universe.types.display(ty)))?;
    rewright_typeprop::eval::literal(literal, scalar)
        .ok_or_else(|| format!("the literal does not fit {}", universe.types.display(ty)))
}

fn close(universe: &mut Universe, expr: &TypeExpr) -> Result<Ty, String> {
    universe.types.instantiate(expr, &[]).ok_or_else(|| "the example's types are not closed".to_string())
}

/// Evaluates what `eval` and computed right sides leave: a call whose operands are all constants stays a call
/// here; only `Term::Eval` is computed.
fn evaluated(universe: &mut Universe, term: &Term) -> Result<Option<(i64, Ty)>, String> {
    Ok(match term {
        Term::Lit(lit, ty) => {
            let ty = close(universe, ty)?;
            Some((literal(universe, lit, ty)?, ty))
        }
        Term::Eval(inner) => evaluated(universe, inner)?,
        Term::Call { op, targs, args, .. } => {
            let targs = targs.iter().map(|t| close(universe, t)).collect::<Result<Vec<_>, _>>()?;
            let mut constants = vec![];
            for arg in args {
                match evaluated(universe, arg)? {
                    Some((constant, _)) => constants.push(constant),
                    None => return Ok(None),
                }
            }
            let result = universe.ops.get(*op).results[0].clone();
            let ty = universe.types.instantiate(&result, &targs).ok_or("a result type is not closed")?;
            match rewright_typeprop::eval::evaluate(universe, *op, &targs, &constants) {
                Outcome::Value(value) => Some((value, ty)),
                Outcome::Nan | Outcome::Undefined => None,
            }
        }
        Term::Var(_) => None,
    })
}

/// A term as a node of an e-graph input.
fn node(
    universe: &mut Universe,
    input: &mut EGraphInput,
    variables: &[InputId],
    term: &Term,
) -> Result<InputId, String> {
    match term {
        Term::Var(i) => Ok(variables[*i as usize]),
        Term::Lit(..) | Term::Eval(_) => {
            let (constant, ty) =
                evaluated(universe, term)?.ok_or("`eval` in an example must be over literals".to_string())?;
            Ok(input.add(Node { head: Head::Const(constant), types: smallvec![ty], children: SmallVec::new() }))
        }
        Term::Call { op, targs, args, state } => {
            let types = targs.iter().map(|t| close(universe, t)).collect::<Result<_, _>>()?;
            let mut children = SmallVec::new();
            for term in args.iter().chain(state.as_deref()) {
                children.push(node(universe, input, variables, term)?);
            }
            Ok(input.add(Node { head: Head::Op(*op), types, children }))
        }
    }
}

/// A term as a function of one block that returns it (or, for a state, ends in it).
pub(crate) fn function(universe: &mut Universe, example: &Example, term: &Term) -> Result<Function, String> {
    let mut f = Function {
        name: example.title.clone(),
        results: vec![],
        blocks: vec![],
        layout: vec![],
        insts: vec![],
        values: vec![],
        regions: vec!["memory".into()],
    };
    let entry = f.add_block();
    let mut variables = vec![];
    for ty in &example.params {
        variables.push(ty.map(|ty| {
            let value = f.add_value(ty);
            f.blocks[entry.index()].params.push(value);
            value
        }));
    }
    let mut chain = vec![];
    collect_states(term, &mut chain)?;
    let mut emitter = Emitter { universe, f: &mut f, variables, done: vec![] };
    for depth in 0..chain.len() {
        emitter.loads_in(term, chain[depth])?;
        if let Some(next) = chain.get(depth + 1) {
            emitter.emit(next)?;
        }
    }
    let value = emitter.emit(term)?;
    let results: SmallVec<[Value; 2]> = value.into_iter().collect();
    f.results = results.iter().map(|v| f.ty(*v)).collect();
    f.blocks[entry.index()].term = Terminator::Return(results);
    Ok(f)
}

/// The states that a term mentions, outermost last; they must form one chain, since a program has one order.
fn collect_states<'t>(term: &'t Term, chain: &mut Vec<&'t Term>) -> Result<(), String> {
    let Term::Call { args, state, .. } = term else { return Ok(()) };
    if let Some(state) = state {
        collect_states(state, chain)?;
        if !chain.contains(&&**state) {
            let follows = match (&**state, chain.last()) {
                (Term::Call { state: Some(before), .. }, Some(last)) => **before == **last,
                (Term::Var(_), None) => true,
                _ => false,
            };
            if !follows {
                return Err("its states are not one sequence, so it is no program; use `equals`".into());
            }
            chain.push(state);
        }
    }
    args.iter().try_for_each(|arg| collect_states(arg, chain))
}

struct Emitter<'a, 't> {
    universe: &'a mut Universe,
    f: &'a mut Function,
    variables: Vec<Option<Value>>,
    done: Vec<(&'t Term, Option<Value>)>,
}

impl<'t> Emitter<'_, 't> {
    /// Emits every load of `term` that stands in `state`, before the next state begins.
    fn loads_in(&mut self, term: &'t Term, state: &Term) -> Result<(), String> {
        let Term::Call { op, args, state: own, .. } = term else { return Ok(()) };
        for arg in args.iter().chain(own.as_deref()) {
            self.loads_in(arg, state)?;
        }
        if own.as_deref() == Some(state) && !self.universe.ops.get(*op).effects.gives_state() {
            self.emit(term)?;
        }
        Ok(())
    }

    /// Emits a term once; `None` for states and operations without results.
    fn emit(&mut self, term: &'t Term) -> Result<Option<Value>, String> {
        if let Some((_, value)) = self.done.iter().find(|(t, _)| *t == term) {
            return Ok(*value);
        }
        let entry = self.f.entry();
        let value = match term {
            Term::Var(i) => return Ok(self.variables[*i as usize]),
            Term::Lit(..) | Term::Eval(_) => {
                let (constant, ty) =
                    evaluated(self.universe, term)?.ok_or("`eval` in an example must be over literals")?;
                let inst = self.f.append(entry, InstKind::Const(constant), &[], &[ty]);
                Some(self.f.inst(inst).results[0])
            }
            Term::Call { op, targs, args, .. } => {
                let targs: SmallVec<[Ty; 2]> =
                    targs.iter().map(|t| close(self.universe, t)).collect::<Result<_, _>>()?;
                let mut operands = vec![];
                for arg in args {
                    operands.push(self.emit(arg)?.ok_or("a state stands where a value is wanted")?);
                }
                let declared = self.universe.ops.get(*op).clone();
                let mut results = vec![];
                for result in &declared.results {
                    results.push(self.universe.types.instantiate(result, &targs).ok_or("a result type is not closed")?);
                }
                let access = declared.effects.takes_state().then_some(Access {
                    region: RegionId(0),
                    trap: None,
                    movable: true,
                    readonly: false,
                    aligned: false,
                });
                let inst = self.f.append(entry, InstKind::Op { op: *op, targs, access }, &operands, &results);
                self.f.inst(inst).results.first().copied()
            }
        };
        self.done.push((term, value));
        Ok(value)
    }
}

/// A one-block function as text, equal for functions that differ only in numbering, in the order of independent
/// values, or in the operands of commutative operations.
pub fn canonical(universe: &Universe, f: &Function) -> String {
    let mut text: Vec<String> = vec![String::new(); f.values.len()];
    for (i, param) in f.block(f.entry()).params.iter().enumerate() {
        text[param.index()] = format!("${i}");
    }
    let mut effects = vec![];
    for id in &f.block(f.entry()).insts {
        let inst = f.inst(*id);
        let mut operands: Vec<_> = inst.args.iter().map(|a| text[a.index()].clone()).collect();
        let types = |tys: &[Ty]| tys.iter().map(|t| universe.types.display(*t)).collect::<Vec<_>>().join(", ");
        let shown = match &inst.kind {
            InstKind::Const(n) => n.to_string(),
            InstKind::Check { code, when } => format!("check.{code}.{when}({})", operands.join(", ")),
            InstKind::Opaque { payload, .. } => format!("opaque.{}({})", payload.0, operands.join(", ")),
            InstKind::Op { op, targs, .. } => {
                let op = universe.ops.get(*op);
                if op.laws.commutative {
                    operands.sort();
                }
                if op.effects.takes_state() {
                    operands.push(format!("state {}", effects.len()));
                }
                format!("{}{{{}}}({})", op.unique, types(targs), operands.join(", "))
            }
        };
        let is_effect = match &inst.kind {
            InstKind::Op { op, .. } => universe.ops.get(*op).effects.gives_state(),
            InstKind::Check { .. } => true,
            InstKind::Const(_) | InstKind::Opaque { .. } => false,
        };
        if is_effect {
            effects.push(shown);
        } else if let Some(result) = inst.results.first() {
            text[result.index()] = shown;
        }
    }
    if let Terminator::Return(values) = &f.block(f.entry()).term {
        effects.extend(values.iter().map(|v| text[v.index()].clone()));
    }
    effects.join("; ")
}
