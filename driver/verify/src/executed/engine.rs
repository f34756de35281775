//! An experiment, ready to run: compiled, in a process of its own, or here in the interpreter.

use super::experiment::{Experiment, Interface, Sides};
use super::inputs::{Given, Values};
use super::plan::Plan;
use crate::case::Case;
use crate::code::Built;
use rewright_cfg_skeleton::ir::{Function, Module, interp};
use rewright_clif::names::Names;
use rewright_native::isolate::{Call, Engine, Job, Worker};
use rewright_native::module::compile::{Clif, compile};
use rewright_native::runtest::{CallOutcome, Returned};
use rewright_typeprop::Universe;
use std::io;
use std::path::{Path, PathBuf};

/// Seconds that a call may take.
const SECONDS: u64 = 5;

/// Calls at a time.
const AT_ONCE: usize = 20;

/// Steps of the interpreter that a call may take: it has no loops.
const FUEL: u64 = 100_000;

/// How a call ended.
pub(super) enum End {
    /// With results, and so the memory.
    Results(Vec<i64>, Vec<u8>),
    /// In a trap, and which one.
    Trapped(String),
    /// Without either: it takes too long, or wants what the interpreter does not know.
    Nothing(String),
    /// It cannot be run at all.
    Failed(String),
}

/// What runs a function.
enum Runs {
    /// A process of its own, of this program: the function as CLIF.
    Apart(Box<Clif>, PathBuf),
    /// The interpreter.
    Here(Box<Function>),
}

/// Sides of a rule's instance, ready to run.
pub(super) struct Prepared {
    engine: Runs,
    pub(super) interface: Interface,
    pub(super) universe: Universe,
}

impl Prepared {
    pub(super) fn new(case: &Case<'_>, program: Option<&Path>, sides: Sides, plan: Plan) -> Built<Self> {
        let mut universe = case.program.universe.clone();
        let (function, interface) = Experiment::new(case, &mut universe, plan)?.written(sides)?;
        let engine = if interface.is_called_here {
            if interface.given.iter().any(|(_, given)| matches!(given, Given::Place(_))) {
                return Err("no made-up pointer may be given to a program's own functions".into());
            }
            Runs::Here(Box::new(function))
        } else {
            let module = Module { functions: vec![function], ..Module::default() };
            let names = Names::new(&mut universe);
            let clif = compile(&module, &universe, &names).map_err(|e| e.to_string())?;
            Runs::Apart(Box::new(clif), program.ok_or("libraries are not run here")?.to_path_buf())
        };
        Ok(Prepared { engine, interface, universe })
    }

    /// A library that it would call and may not.
    pub(super) fn refused(&self) -> Option<&str> {
        match &self.engine {
            Runs::Apart(clif, _) => clif.imports.refused(),
            Runs::Here(_) => None,
        }
    }

    /// Does the rule match where a call had these results?
    pub(super) fn matches(&self, results: &[i64]) -> bool {
        self.interface.conditions.iter().all(|condition| condition.holds(results))
    }

    /// How calls end, in order.
    pub(super) fn ends(&self, calls: &[&Values]) -> io::Result<Vec<End>> {
        match &self.engine {
            Runs::Here(code) => Ok(calls.iter().map(|call| self.interpreted(code, call)).collect()),
            Runs::Apart(clif, program) => isolated(clif, program, calls),
        }
    }

    fn interpreted(&self, function: &Function, call: &Values) -> End {
        // It has no pointers: the memory's address is unused.
        let args: Vec<i64> = std::iter::once(0).chain(call.args.iter().copied()).collect();
        let mut outside = interp::NoHost(|_: &str| 0);
        match interp::run(function, &self.universe, &args, &mut interp::Memory::default(), &mut outside, FUEL) {
            interp::Outcome::Return(results) => End::Results(results, vec![]),
            interp::Outcome::Trap(_) => End::Trapped("it traps".into()),
            interp::Outcome::OutOfFuel => End::Nothing("it takes too long".into()),
            interp::Outcome::Unsupported(why) => End::Nothing(why),
        }
    }
}

/// Calls in a process of their own, a few at a time. If none of the first ones comes back, there are no others.
fn isolated(clif: &Clif, program: &Path, calls: &[&Values]) -> io::Result<Vec<End>> {
    let mut worker = Worker::new(program.to_path_buf());
    let mut ends = vec![];
    for calls in calls.chunks(AT_ONCE) {
        for outcome in worker.run(&job(clif, calls))? {
            ends.push(match outcome {
                CallOutcome::Returned { values, .. } => {
                    let returned = serde_json::from_str::<Returned>(&values)?;
                    End::Results(returned.results, returned.memory)
                }
                CallOutcome::Failed(why) => End::Failed(why),
                CallOutcome::Trapped(signal) => End::Trapped(signal),
                CallOutcome::TimedOut => End::Nothing("it takes too long".into()),
            });
        }
        if !ends.iter().any(|end| matches!(end, End::Results(..))) {
            break;
        }
    }
    Ok(ends)
}

fn job(clif: &Clif, calls: &[&Values]) -> Job {
    let calls = calls.iter().map(|Values { args, memory }| Call::OnMemory {
        function: 0,
        args: args.clone(),
        memory: memory.clone(),
        pointers: vec![],
    });
    Job {
        text: clif.text.clone(),
        engine: Engine::Jit,
        target: 0,
        calls: calls.collect(),
        seconds: SECONDS,
        imports: clif.imports.clone(),
    }
}
