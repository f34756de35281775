//! The directives of CLIF test files: `; run: %f(1, 2) == 3`, `; print: %f(1)`, and on which targets they run.
//!
//! The rules are those of Cranelift's own test runner: a directive stands after the function that it calls; a file
//! runs once for every `target` line whose architecture is the host's and whose ISA flags the host has; everything
//! else is skipped with a reason.

use crate::jit::{Externals, Jit, JitError, compile, host_isa};
use cranelift_codegen::data_value::{DataValue, DisplayDataValues};
use cranelift_codegen::ir::{Function, Signature, Type};
use cranelift_codegen::isa::{OwnedTargetIsa, TargetIsa};
use cranelift_interpreter::environment::FunctionStore;
use cranelift_interpreter::interpreter::{Interpreter, InterpreterError, InterpreterState};
use cranelift_interpreter::step::{ControlFlow, CraneliftTrap};
use cranelift_reader::{Comparison, Invocation, RunCommand, parse_run_command};
use rewright_cfg_skeleton::ir::interp;
use rewright_clif::executed::Executed;
use rewright_clif::interpret::{Functions, from_canonical, to_canonical};
use rewright_clif::panics::{Panic, quietly};
use rewright_clif::read::{File, is_directive};
use serde::{Deserialize, Serialize};

/// Instructions that Cranelift's interpreter may take for one call.
const FUEL: u64 = 20_000_000;

/// A directive of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Directive {
    /// Index of the function that it belongs to.
    pub function: usize,
    /// Without semicolons: `run: %f(1) == 2`.
    pub text: String,
}

/// What became of a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallOutcome {
    /// It returned.
    Returned {
        /// All results, bit by bit.
        values: String,
        /// What the directive expects holds.
        holds: bool,
    },
    /// It trapped, or the process died of it.
    Trapped(String),
    /// It did not come back in time.
    TimedOut,
    /// It could not be run: not compiled, not supported.
    Failed(String),
}

impl CallOutcome {
    /// Did it return what the directive expects?
    pub fn holds(&self) -> bool {
        matches!(self, CallOutcome::Returned { holds: true, .. })
    }
}

/// Why a text is no directive.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum DirectiveError {
    /// It does not begin like one.
    #[error("not a directive")]
    NotOne,
    /// Cranelift's reader does not read it.
    #[error("{0}")]
    Syntax(String),
    /// Cranelift's reader panicked.
    #[error(transparent)]
    Reader(#[from] Panic),
}

/// All directives, in the order of the file. Comments that begin like one but are not one are mistakes; in a file whose
/// `test` lines run nothing, all comments are just that.
pub fn directives(file: &File) -> (Vec<Directive>, Vec<String>) {
    let (mut found, mut mistakes) = (vec![], vec![]);
    let runs = |command: &String| matches!(command.split_whitespace().next(), Some("run" | "interpret"));
    if !file.commands.is_empty() && !file.commands.iter().any(runs) {
        return (found, mistakes);
    }
    for (n, function) in file.functions.iter().enumerate() {
        for comment in &function.comments {
            let text = comment.trim_start_matches([';', ' ']).trim_end();
            match parse(text, &function.func.signature) {
                Ok(Some(_)) => found.push(Directive { function: n, text: text.to_string() }),
                Ok(None) => {}
                Err(message) => mistakes.push(format!("{}: `{text}`: {message}", function.name())),
            }
        }
    }
    (found, mistakes)
}

/// Reads one directive; `None` if the comment is no directive.
pub fn parse(text: &str, signature: &Signature) -> Result<Option<RunCommand>, DirectiveError> {
    if !is_directive(text) {
        return Ok(None);
    }
    quietly(|| parse_run_command(text, signature))?.map_err(|e| DirectiveError::Syntax(e.message))
}

/// What a directive calls, and what it says of the results.
fn invocation(command: &RunCommand) -> (&Invocation, Option<(&Comparison, &[DataValue])>) {
    match command {
        RunCommand::Print(invocation) => (invocation, None),
        RunCommand::Run(invocation, comparison, expected) => (invocation, Some((comparison, expected))),
    }
}

fn judge(command: &RunCommand, values: &[DataValue], same: impl Fn(&DataValue, &DataValue) -> bool) -> CallOutcome {
    let holds = match invocation(command).1 {
        None => true,
        Some((comparison, expected)) => {
            let equal = values.len() == expected.len() && values.iter().zip(expected).all(|(a, b)| same(a, b));
            equal == matches!(comparison, Comparison::Equals)
        }
    };
    CallOutcome::Returned { values: DisplayDataValues(values).to_string(), holds }
}

/// A way to run a file on this host.
pub struct HostTarget {
    /// As the file names it.
    pub name: String,
    /// The host's ISA with the file's flags.
    pub isa: OwnedTargetIsa,
}

/// Why the host cannot run a target of a file.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum TargetError {
    /// This Cranelift was built without a feature that the file asks for.
    #[error("needs a Cranelift built with feature {0}")]
    Feature(String),
    /// Another architecture.
    #[error("target {0} does not run on this host")]
    Architecture(String),
    /// The processor lacks an extension of its architecture.
    #[error("this host has no {0}")]
    Extension(String),
    /// The target reserves a register that the host's own code uses.
    #[error("enable_pinned_reg: the host's own code uses that register")]
    PinnedRegister,
    /// Cranelift does not accept the settings.
    #[error("{0}")]
    Unusable(String),
}

/// Every target of a file: how to run it here, or why not. A file without targets runs on the host as it is.
pub fn host_targets(file: &File) -> Vec<Result<HostTarget, TargetError>> {
    if let Some(feature) = file.features.iter().find(|f| f.wanted) {
        return vec![Err(TargetError::Feature(feature.name.to_string()))];
    }
    if file.isas.is_empty() {
        let isa = host_isa(file.flags.clone(), None).map_err(|e| TargetError::Unusable(e.to_string()));
        return vec![isa.map(|isa| HostTarget { name: "host".to_string(), isa })];
    }
    let target = |isa: &OwnedTargetIsa| {
        if isa.flags().enable_pinned_reg() {
            return Err(TargetError::PinnedRegister);
        }
        let unusable = |e: JitError| TargetError::Unusable(e.to_string());
        let host = host_isa(isa.flags().clone(), None).map_err(unusable)?;
        compatible(host.as_ref(), isa.as_ref())?;
        let flags = isa.isa_flags();
        let built = host_isa(isa.flags().clone(), Some(&flags)).map_err(unusable)?;
        Ok(HostTarget { name: isa.triple().to_string(), isa: built })
    };
    file.isas.iter().map(target).collect()
}

/// Can the host run what is compiled for `requested`?
fn compatible(host: &dyn TargetIsa, requested: &dyn TargetIsa) -> Result<(), TargetError> {
    let (has, wants) = (host.triple().architecture, requested.triple().architecture);
    if has != wants {
        return Err(TargetError::Architecture(wants.to_string()));
    }
    let available = host.isa_flags();
    for flag in requested.isa_flags().iter().filter(|f| f.as_bool() == Some(true)) {
        if !available.iter().any(|f| f.name == flag.name && f.as_bool() == Some(true)) {
            return Err(TargetError::Extension(flag.name.to_string()));
        }
    }
    Ok(())
}

/// A file's functions, compiled for the host.
pub fn compile_file(file: &File, target: &HostTarget, externals: Externals) -> Result<Jit, JitError> {
    let functions: Vec<&Function> = file.functions.iter().map(|f| &f.func).collect();
    compile(&functions, target.isa.clone(), externals)
}

/// What a directive passes to the function that it calls.
pub fn arguments(text: &str, signature: &Signature) -> Result<Vec<DataValue>, DirectiveError> {
    Ok(invocation(&command(text, signature)?).0.args.clone())
}

/// Runs one directive on compiled code. The process may die of it.
pub fn run_compiled(jit: &Jit, name: &str, text: &str) -> CallOutcome {
    let Some(signature) = jit.signature(name) else {
        return CallOutcome::Failed(format!("there is no function {name}"));
    };
    match command(text, signature) {
        Err(error) => CallOutcome::Failed(error.to_string()),
        Ok(command) => match jit.call(name, &invocation(&command).0.args) {
            Ok(values) => judge(&command, &values, DataValue::bitwise_eq),
            Err(error) => CallOutcome::Failed(error.to_string()),
        },
    }
}

/// What a [`run_on_memory`] gave.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Returned {
    /// Results as canonical constants.
    pub results: Vec<i64>,
    /// The memory after the call.
    pub memory: Vec<u8>,
}

/// Room on both sides of that memory, so that a small mistake of the code does not end in our own heap.
const MARGIN: usize = 256;

/// Runs a compiled function on memory of its own, whose address is the first argument. The words at `pointers` are places
/// in the memory; the function finds their addresses there, and gives places back. The process may die of it.
pub fn run_on_memory(jit: &Jit, name: &str, args: &[i64], memory: &[u8], pointers: &[usize]) -> CallOutcome {
    let Some(signature) = jit.signature(name) else {
        return CallOutcome::Failed(format!("there is no function {name}"));
    };
    let mut bytes = vec![0u8; memory.len() + 2 * MARGIN];
    bytes[MARGIN..][..memory.len()].copy_from_slice(memory);
    let types = signature.params.iter().skip(1).map(|p| p.value_type);
    let Some(mut values) = args.iter().zip(types).map(|(n, ty)| from_canonical(*n, ty)).collect::<Option<Vec<_>>>()
    else {
        return CallOutcome::Failed("an argument that is no scalar".to_string());
    };
    let base = bytes[MARGIN..].as_mut_ptr().expose_provenance() as u64;
    values.insert(0, DataValue::I64(base as i64));
    relocate(&mut bytes[MARGIN..], pointers, base);
    match jit.call(name, &values) {
        Err(error) => CallOutcome::Failed(error.to_string()),
        Ok(results) => {
            relocate(&mut bytes[MARGIN..], pointers, base.wrapping_neg());
            let results = results.iter().filter_map(to_canonical).collect();
            let returned = Returned { results, memory: bytes[MARGIN..][..memory.len()].to_vec() };
            match serde_json::to_string(&returned) {
                Ok(values) => CallOutcome::Returned { values, holds: true },
                Err(error) => CallOutcome::Failed(error.to_string()),
            }
        }
    }
}

/// Adds a number to each of the words of some memory that stand at these places.
pub fn relocate(memory: &mut [u8], pointers: &[usize], by: u64) {
    for at in pointers {
        if let Some(word) = memory.get_mut(*at..).and_then(<[u8]>::first_chunk_mut) {
            *word = u64::from_le_bytes(*word).wrapping_add(by).to_le_bytes();
        }
    }
}

/// Runs a compiled function on rows of arguments, each in the low bits of its word; so are the results. The process may
/// die of it.
pub fn run_on_words(jit: &Jit, name: &str, rows: &[Vec<u128>]) -> CallOutcome {
    let Some(signature) = jit.signature(name) else {
        return CallOutcome::Failed(format!("there is no function {name}"));
    };
    let types: Vec<Type> = signature.params.iter().map(|p| p.value_type).collect();
    if let Some(large) = types.iter().find(|ty| ty.is_dynamic_vector() || ty.bits() > u128::BITS) {
        return CallOutcome::Failed(format!("values of type {large} do not fit a word"));
    }
    let call = |row: &Vec<u128>| {
        let args = row.iter().zip(&types).map(|(word, ty)| DataValue::read_from_slice_le(&word.to_le_bytes(), *ty));
        let results = jit.call(name, &args.collect::<Vec<_>>())?;
        let word = |value: &DataValue| {
            let mut bytes = [0; size_of::<u128>()];
            value.write_to_slice_le(&mut bytes);
            u128::from_le_bytes(bytes)
        };
        Ok::<Vec<u128>, JitError>(results.iter().map(word).collect())
    };
    let results = rows.iter().map(call).collect::<Result<Vec<_>, _>>();
    let values = results.map_err(|e| e.to_string()).and_then(|r| serde_json::to_string(&r).map_err(|e| e.to_string()));
    values.map_or_else(CallOutcome::Failed, |values| CallOutcome::Returned { values, holds: true })
}

/// Runs one directive on Cranelift's interpreter.
pub fn run_interpreted(file: &File, function: usize, text: &str) -> CallOutcome {
    let Some(function) = file.functions.get(function) else { return CallOutcome::Failed("no such function".into()) };
    let command = match command(text, &function.func.signature) {
        Ok(command) => command,
        Err(error) => return CallOutcome::Failed(error.to_string()),
    };
    let mut store = FunctionStore::default();
    for f in &file.functions {
        store.add(f.name(), &f.func);
    }
    let state = InterpreterState::default().with_function_store(store).with_libcall_handler(libcall);
    let run = || {
        let mut interpreter = Interpreter::new(state).with_fuel(Some(FUEL));
        match interpreter.call_by_name(&function.name(), &invocation(&command).0.args) {
            Ok(ControlFlow::Return(values)) => judge(&command, &values, DataValue::bitwise_eq),
            Ok(ControlFlow::Trap(trap)) => CallOutcome::Trapped(format!("{trap:?}")),
            Ok(other) => CallOutcome::Failed(format!("unexpected {other:?}")),
            Err(InterpreterError::FuelExhausted) => CallOutcome::TimedOut,
            Err(error) => CallOutcome::Failed(error.to_string()),
        }
    };
    quietly(run).unwrap_or_else(|panic| CallOutcome::Failed(panic.to_string()))
}

/// Runs one directive on our own interpreter. NaNs are equal: which one arithmetic gives is not defined.
pub fn run_ours(functions: &Functions<'_>, function: &Function, text: &str) -> CallOutcome {
    let name = function.name.to_string();
    let command = match command(text, &function.signature) {
        Ok(command) => command,
        Err(error) => return CallOutcome::Failed(error.to_string()),
    };
    match functions.call(&name, &invocation(&command).0.args) {
        Ok(values) => judge(&command, &values, |a, b| a.bitwise_eq(b) || is_nan(a) && is_nan(b)),
        Err(interp::Outcome::Trap(code)) => CallOutcome::Trapped(code.to_string()),
        Err(interp::Outcome::OutOfFuel) => CallOutcome::TimedOut,
        Err(other) => CallOutcome::Failed(format!("{other:?}")),
    }
}

/// Runs one directive on our own interpreter, with this many instructions for each call: what it gives, and what has
/// been executed.
///
/// # Errors
/// Why it cannot be run to an end.
pub fn run_counted(
    functions: &Functions<'_>,
    function: &Function,
    text: &str,
    fuel: u64,
) -> Result<(String, Executed), String> {
    let command = command(text, &function.signature).map_err(|error| error.to_string())?;
    let name = function.name.to_string();
    let (results, executed) = functions.call_counted(&name, &invocation(&command).0.args, fuel);
    let shown = match results {
        Ok(values) => DisplayDataValues(&values).to_string(),
        Err(interp::Outcome::Trap(code)) => format!("trap {code}"),
        Err(interp::Outcome::OutOfFuel) => return Err(format!("it takes more than {fuel} instructions")),
        Err(interp::Outcome::Unsupported(reason)) => return Err(reason),
        Err(interp::Outcome::Return(_)) => String::new(),
    };
    Ok((shown, executed))
}

fn is_nan(value: &DataValue) -> bool {
    match value {
        DataValue::F32(f) => f.is_nan(),
        DataValue::F64(f) => f.is_nan(),
        _ => false,
    }
}

/// What Cranelift's interpreter is told of library calls.
fn libcall(
    call: cranelift_codegen::ir::LibCall,
    args: smallvec::SmallVec<[DataValue; 1]>,
) -> Result<smallvec::SmallVec<[DataValue; 1]>, CraneliftTrap> {
    use cranelift_codegen::ir::LibCall;
    let result = match (call, args.as_slice()) {
        (LibCall::CeilF32, [DataValue::F32(x)]) => DataValue::F32(x.ceil()),
        (LibCall::CeilF64, [DataValue::F64(x)]) => DataValue::F64(x.ceil()),
        (LibCall::FloorF32, [DataValue::F32(x)]) => DataValue::F32(x.floor()),
        (LibCall::FloorF64, [DataValue::F64(x)]) => DataValue::F64(x.floor()),
        (LibCall::TruncF32, [DataValue::F32(x)]) => DataValue::F32(x.trunc()),
        (LibCall::TruncF64, [DataValue::F64(x)]) => DataValue::F64(x.trunc()),
        (LibCall::NearestF32, [DataValue::F32(x)]) => DataValue::F32(x.round_ties_even()),
        (LibCall::NearestF64, [DataValue::F64(x)]) => DataValue::F64(x.round_ties_even()),
        (other, _) => panic!("library call {other} is not interpreted"),
    };
    Ok(smallvec::smallvec![result])
}

/// The directive. It calls the function that it stands after, whatever name it gives, as in Cranelift's own runner.
fn command(text: &str, signature: &Signature) -> Result<RunCommand, DirectiveError> {
    parse(text, signature)?.ok_or(DirectiveError::NotOne)
}
