//! Functions of shared libraries as what rules may compute while matching: `eval(f(..))` of a pure operation whose
//! pack says `@link("library", "symbol")` calls the function on constants.
//!
//! A library's code runs in a process of its own ([`crate::isolate`]), if it is allowed to ([`crate::permission`]): a
//! function that traps has no value there, hence there is no match. Of any other call without a value, the program that
//! registers the functions is told why ([`Unanswered`]). Calls are remembered: the same constants are met again in
//! every round. Nothing is started or loaded before the first call.
//!
//! Arguments are scalars and array constants; results are scalars. Arrays and handles that a library gives belong to
//! one process and are no constants.

use crate::isolate::{Call, Engine, Job, Worker};
use crate::module::compile::{self, CompileError};
use crate::permission::needs;
use crate::runtest::{CallOutcome, Returned};
use rewright_cfg_skeleton::ir::{Function, InstKind, Module, Terminator, Value};
use rewright_clif::names::Names;
use rewright_dsl::program::{Program, RuleId};
use rewright_typeprop::eval::scalar_of;
use rewright_typeprop::{Constant, OpId, Scalar, Term, Ty, Universe};
use smallvec::SmallVec;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{self, Display, Formatter};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

/// Seconds that a call may take.
const SECONDS: u64 = 1;

/// A call that gave no value, and not because the function has none there.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Unanswered {
    /// The user has not allowed the library to be called.
    NotAllowed {
        /// As packs name it.
        library: String,
    },
    /// It was tried.
    Failed {
        /// The function.
        operation: String,
        /// Its library.
        library: String,
        /// What happened.
        why: String,
    },
}

impl Display for Unanswered {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Unanswered::NotAllowed { library } => {
                write!(f, "rules that compute with functions of {library}: {}", needs(library))
            }
            Unanswered::Failed { operation, library, why } => {
                write!(f, "rules that compute with `{operation}` of {library} do not match where it fails: {why}")
            }
        }
    }
}

/// Is told of each call that was not answered.
pub type Listener = Arc<dyn Fn(Unanswered) + Send + Sync>;

/// Registers the pure functions of shared libraries. `program` is our own binary.
pub fn register(universe: &mut Universe, program: PathBuf, listener: &Listener) {
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
    let state = Mutex::new(State::new(program));
    let service = Arc::new(Service { universe: own, names, listener: listener.clone(), state });
    for op in linked {
        let decl = universe.ops.get(op);
        let Some(link) = &decl.link else { continue };
        if !link.allowed {
            let (listener, library) = (listener.clone(), link.library.clone());
            universe.hosts.register(decl.unique.clone(), move |_: &[Constant]| {
                listener(Unanswered::NotAllowed { library: library.clone() });
                None
            });
            continue;
        }
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

/// Libraries of others whose functions rules compute with while matching, and that nothing else says the meaning of,
/// each with the first rule that does.
pub fn computed_with(program: &Program) -> BTreeMap<String, RuleId> {
    let mut found = BTreeMap::new();
    for (rule, id) in program.rules.iter().zip((0..).map(RuleId)) {
        for term in rule.terms().flat_map(Term::subterms) {
            let Term::Eval(inner) = term else { continue };
            let Term::Call { op, .. } = &**inner else { continue };
            let op = program.universe.ops.get(*op);
            if let Some(link) = op.link.as_ref().filter(|link| op.spec.is_none() && !link.allowed) {
                found.entry(link.library.clone()).or_insert(id);
            }
        }
    }
    found
}

struct Service {
    universe: Universe,
    names: Names,
    listener: Listener,
    state: Mutex<State>,
}

/// Why a call gave no value.
struct Failure {
    why: String,
    /// No other call will.
    always: bool,
}

/// Why there is no job that makes a call.
#[derive(Debug, thiserror::Error)]
enum NoJob {
    /// A type without an instance in the universe.
    #[error("a type of it is not known here")]
    Type,
    /// The function that makes the call does not become CLIF.
    #[error(transparent)]
    Compile(#[from] CompileError),
}

struct State {
    worker: Worker,
    /// By operation and arguments; `None` is no value.
    known: BTreeMap<(OpId, Vec<i64>), Option<i64>>,
    /// Functions that cannot be called at all.
    broken: BTreeSet<OpId>,
}

impl State {
    fn new(program: PathBuf) -> Self {
        State { worker: Worker::new(program), known: BTreeMap::new(), broken: BTreeSet::new() }
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
        if state.broken.contains(&op) {
            return None;
        }
        let value = match self.call(&mut state.worker, op, &words) {
            Ok(value) => value,
            Err(Failure { why, always }) => {
                let decl = self.universe.ops.get(op);
                let library = decl.link.as_ref().map_or(String::new(), |link| link.library.clone());
                (self.listener)(Unanswered::Failed { operation: decl.name.clone(), library, why });
                if always {
                    state.broken.insert(op);
                }
                None
            }
        };
        state.known.insert((op, words), value);
        value
    }

    /// The value of a call; none where it traps.
    fn call(&self, worker: &mut Worker, op: OpId, words: &[i64]) -> Result<Option<i64>, Failure> {
        let always = |why: String| Failure { why, always: true };
        let job = self.job(op, words).map_err(|e| always(e.to_string()))?;
        let outcome = worker.run(&job).map_err(|e| always(format!("cannot start a process for it: {e}")))?.pop();
        match outcome {
            Some(CallOutcome::Returned { values, .. }) => {
                let returned: Returned = serde_json::from_str(&values).map_err(|e| always(e.to_string()))?;
                Ok(returned.results.first().copied())
            }
            Some(CallOutcome::Trapped(_)) => Ok(None),
            Some(CallOutcome::TimedOut) => {
                Err(Failure { why: format!("it did not come back within {SECONDS} s"), always: false })
            }
            Some(CallOutcome::Failed(why)) => Err(Failure { why, always: false }),
            None => Err(always("the call gave nothing".into())),
        }
    }

    /// A function that makes the call, as a file of its own.
    fn job(&self, op: OpId, words: &[i64]) -> Result<Job, NoJob> {
        let function = self.function(op, words).ok_or(NoJob::Type)?;
        let module = Module { functions: vec![function], ..Module::default() };
        let clif = compile::compile(&module, &self.universe, &self.names)?;
        Ok(Job {
            text: clif.text,
            engine: Engine::Jit,
            target: 0,
            calls: vec![Call::OnMemory { function: 0, args: vec![], memory: vec![], pointers: vec![] }],
            seconds: SECONDS,
            imports: clif.imports,
        })
    }

    fn function(&self, op: OpId, words: &[i64]) -> Option<Function> {
        let decl = self.universe.ops.get(op);
        let ty = |expr| self.universe.types.find_instance(expr, &[]);
        let mut f = Function { results: vec![ty(decl.results.first()?)?], ..Function::new("%eval") };
        let entry = f.add_block();
        // The caller of a function on memory passes the memory's address first.
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
        Some(f)
    }
}
