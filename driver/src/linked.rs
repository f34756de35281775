//! Functions of shared libraries as what rules may compute while matching: `eval(f(..))` of a pure operation whose
//! pack says `@link("library", "symbol")` calls the function on constants.
//!
//! A library's code can do anything, so it runs in a process of its own ([`crate::isolate`]): a function that traps,
//! or that does not come back in time, has no value there, hence there is no match. Calls are remembered: the same
//! constants are met again in every round. Nothing is started or loaded before the first call.
//!
//! Arguments are scalars and array constants; results are scalars. Arrays and handles that a library gives belong to
//! one process and are no constants.

use crate::clif::names::Names;
use crate::isolate::{Call, Engine, Job, Worker};
use crate::module::compile;
use crate::runtest::{Outcome, Returned};
use rewright_cfg_skeleton::ir::{Function, InstKind, Module, Terminator, Value};
use rewright_typeprop::eval::scalar_of;
use rewright_typeprop::{Constant, OpId, Scalar, Ty, Universe};
use smallvec::SmallVec;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

/// Seconds that a call may take.
const SECONDS: u64 = 1;

/// Registers the pure functions of shared libraries. `program` is our own binary.
pub fn register(universe: &mut Universe, program: PathBuf) {
    let linked: Vec<OpId> = universe.ops.iter().filter(|(_, op)| op.is_linked_value()).map(|(id, _)| id).collect();
    if linked.is_empty() {
        return;
    }
    let mut own = universe.clone();
    let names = Names::new(&mut own);
    for op in &linked {
        let decl = own.ops.get(*op);
        for expr in decl.params.iter().map(|p| &p.ty).chain(&decl.results) {
            // A type that no term of the packs has is found by its declaration only.
            own.types.instantiate(expr, &[]);
        }
    }
    let service = Arc::new(Service { universe: own, names, state: Mutex::new(State::new(program)) });
    for op in linked {
        let decl = universe.ops.get(op);
        let scalar = |expr| scalar_of(&universe.types, expr, &[]);
        let params: Vec<Option<Scalar>> = decl.params.iter().map(|p| scalar(&p.ty)).collect();
        let Some(result) = decl.results.first().and_then(scalar) else { continue };
        let (service, name) = (service.clone(), decl.unique.clone());
        universe.hosts.register(name, move |args: &[Constant]| {
            let words = service.words(&params, args)?;
            service.value(op, words).map(|value| Constant::Scalar(result, value))
        });
    }
}

struct Service {
    universe: Universe,
    names: Names,
    state: Mutex<State>,
}

struct State {
    worker: Worker,
    /// By operation and arguments; `None` is no value.
    known: BTreeMap<(OpId, Vec<i64>), Option<i64>>,
}

impl State {
    fn new(program: PathBuf) -> Self {
        State { worker: Worker::new(program), known: BTreeMap::new() }
    }
}

impl Service {
    /// Arguments as constants of the IR: keys of arrays. `None` where they are not what the function takes: overloads
    /// of a name share it.
    fn words(&self, params: &[Option<Scalar>], args: &[Constant]) -> Option<Vec<i64>> {
        let word = |(param, arg): (&Option<Scalar>, &Constant)| match (param, arg) {
            (Some(wanted), Constant::Scalar(scalar, n)) if wanted == scalar => Some(*n),
            (None, Constant::Data(data)) => Some(self.universe.data.intern_shared(data.clone())),
            _ => None,
        };
        (params.len() == args.len()).then(|| params.iter().zip(args).map(word).collect())?
    }

    fn value(&self, op: OpId, words: Vec<i64>) -> Option<i64> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(value) = state.known.get(&(op, words.clone())) {
            return *value;
        }
        let value = self.job(op, &words).and_then(|job| match state.worker.run(&job).ok()?.pop()? {
            Outcome::Returned { values, .. } => {
                serde_json::from_str::<Returned>(&values).ok()?.results.first().copied()
            }
            Outcome::Trapped(_) | Outcome::TimedOut | Outcome::Failed(_) => None,
        });
        state.known.insert((op, words), value);
        value
    }

    /// A function that makes the call, as a file of its own.
    fn job(&self, op: OpId, words: &[i64]) -> Option<Job> {
        let decl = self.universe.ops.get(op);
        let ty = |expr| self.universe.types.find_instance(expr, &[]);
        let mut f = Function { results: vec![ty(decl.results.first()?)?], ..Function::new("%eval") };
        let entry = f.add_block();
        // What runs a function on memory passes the memory's address first.
        let memory = f.add_value(Ty::ANY);
        f.blocks[entry.index()].params.push(memory);
        let mut args: SmallVec<[Value; 3]> = SmallVec::new();
        for (param, word) in decl.params.iter().zip(words) {
            let id = f.append(entry, InstKind::Const(*word), &[], &[ty(&param.ty)?]);
            args.push(f.inst(id).results[0]);
        }
        let kind = InstKind::Op { op, targs: SmallVec::new(), access: None };
        let results = f.results.clone();
        let call = f.append(entry, kind, &args, &results);
        f.blocks[entry.index()].term = Terminator::Return(f.inst(call).results.iter().copied().collect());
        let module = Module { functions: vec![f], ..Module::default() };
        let clif = compile::compile(&module, &self.universe, &self.names).ok()?;
        Some(Job {
            text: clif.text,
            engine: Engine::Jit,
            target: 0,
            calls: vec![Call::OnMemory { function: 0, args: vec![], memory: vec![] }],
            seconds: SECONDS,
            imports: clif.imports,
        })
    }
}
