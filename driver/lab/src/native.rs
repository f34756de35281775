//! Functions that run: as they are, as Cranelift's mid-end makes them, as rules do, and as both do one after the other;
//! how much each version executes, and whether all do the same.
//!
//! A call is a directive of the file (`; run: %f(1) == 2`), or a function of WebAssembly without parameters of its own,
//! which is called with a made-up context ([`context`]). Our interpreter counts what a call executes; what does not trap
//! there is compiled and called as well. All versions must give the same, and leave the same in memory.

mod context;

use crate::LabError;
use crate::midend::{Code, Cranelift};
use context::{Context, wants_context_only};
use cranelift_codegen::ir::Function;
use rewright_cfg_skeleton::ir::interp::{Memory, Outcome};
use rewright_clif::interpret::Functions;
use rewright_clif::optimise::ClifOptimiser;
use rewright_clif::read::{File, write};
use rewright_native::isolate::{self, Engine, Job, Worker};
use rewright_native::jit::Imports;
use rewright_native::runtest::{CallOutcome, Directive, directives, host_targets, run_counted};
use rewright_pipeline::optimiser::{Fate, Options};

/// Instructions that each call may take.
const FUEL: u64 = 1_000_000_000;

/// Seconds that a compiled call may take.
const SECONDS: u64 = 60;

/// Calls of one job: each brings its memory.
const AT_ONCE: usize = 16;

/// Where the interpreter has contexts.
const BASE: u64 = 1 << 20;

/// Which version of a function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Version {
    /// As it is.
    Original,
    /// As Cranelift's mid-end makes it.
    Cranelift,
    /// As rules make it.
    Ours,
    /// As Cranelift's mid-end makes ours.
    Both,
}

impl Version {
    /// All of them.
    pub const ALL: [Version; 4] = [Version::Original, Version::Cranelift, Version::Ours, Version::Both];

    /// As reports name it.
    pub fn name(self) -> &'static str {
        match self {
            Version::Original => "original",
            Version::Cranelift => "cranelift",
            Version::Ours => "ours",
            Version::Both => "both",
        }
    }
}

/// A version of a function.
#[derive(Clone, Debug)]
pub struct Made {
    /// Instructions that its calls execute together, by our interpreter: or why one of them is not run.
    pub executed: Result<u64, String>,
    /// What the back end makes of it, where the host has all that it uses.
    pub code: Option<Code>,
}

/// A function that is called.
#[derive(Clone, Debug)]
pub struct Row {
    /// As CLIF writes its name.
    pub name: String,
    /// In the order of [`Version::ALL`].
    pub made: [Made; 4],
    /// Where a version does not do what the original does.
    pub difference: Option<String>,
    /// Why versions are not compared as compiled code, too: the original traps, or one is not compiled.
    pub only_interpreted: Option<String>,
}

/// How a function is called.
enum Call<'c> {
    Directive(Directive),
    /// By index.
    WithContext(usize, &'c Context),
}

impl Call<'_> {
    fn function(&self) -> usize {
        match self {
            Call::Directive(directive) => directive.function,
            Call::WithContext(function, _) => *function,
        }
    }

    fn compiled(&self) -> isolate::Call {
        match self {
            Call::Directive(Directive { function, text }) => {
                isolate::Call::Directive { function: *function, text: text.clone() }
            }
            Call::WithContext(function, Context { memory, pointers }) => isolate::Call::OnMemory {
                function: *function,
                args: vec![0],
                memory: memory.clone(),
                pointers: pointers.clone(),
            },
        }
    }
}

/// What a call gave our interpreter.
#[derive(Clone, PartialEq, Eq)]
struct Ran {
    result: String,
    memory: Option<Memory>,
    executed: u64,
    returned: bool,
}

impl Ran {
    fn same(&self, other: &Ran) -> bool {
        (&self.result, &self.memory) == (&other.result, &other.memory)
    }
}

/// Measures the functions of a file that are called.
///
/// # Errors
/// A function that one of the mid-ends does not take, or a directive that is invalid.
pub fn measure(
    file: &File,
    clif: &ClifOptimiser,
    cranelift: &Cranelift,
    options: &Options,
    worker: &mut Worker,
) -> Result<Vec<Row>, LabError> {
    let (found, mistakes) = directives(file);
    if let Some(mistake) = mistakes.into_iter().next() {
        return Err(LabError::Directive(mistake));
    }
    let context = Context::of(file.functions.iter().map(|f| &f.func));
    let without_parameters = (0..file.functions.len()).filter(|i| wants_context_only(&file.functions[*i].func));
    let mut calls: Vec<Call<'_>> = found.into_iter().map(Call::Directive).collect();
    calls.extend(without_parameters.map(|function| Call::WithContext(function, &context)));
    if calls.is_empty() {
        return Ok(vec![]);
    }
    let versions = versions(file, clif, cranelift, options)?;
    let ran = versions.each_ref().map(|version| interpreted(file, clif, version, &calls));
    // With a context, what the interpreter does not run to its end is not known to stay in its memory.
    let safe = |call: &usize| match (&calls[*call], &ran[0][*call]) {
        (_, Ok(ran)) => ran.returned,
        (Call::Directive(_), Err(_)) => true,
        (Call::WithContext(..), Err(_)) => false,
    };
    let compared: Vec<usize> = (0..calls.len()).filter(safe).collect();
    let mut compiled = vec![];
    for version in &versions {
        let calls: Vec<_> = compared.iter().map(|call| calls[*call].compiled()).collect();
        compiled.push(run(file, version, &calls, worker)?);
    }
    let code = |function| cranelift.code(function).ok().map(|(code, _)| code);
    let mut rows = vec![];
    for (index, function) in file.functions.iter().enumerate() {
        let own: Vec<usize> = (0..calls.len()).filter(|call| calls[*call].function() == index).collect();
        if own.is_empty() {
            continue;
        }
        let mut made = vec![];
        for (version, ran) in versions.iter().zip(&ran) {
            let executed = own.iter().map(|call| ran[*call].as_ref().map(|ran| ran.executed).map_err(Clone::clone));
            made.push(Made { executed: executed.sum(), code: code(version[index].as_ref().unwrap_or(&function.func)) });
        }
        let made = made.try_into().unwrap_or_else(|_| unreachable!("one for each version"));
        let own_compiled: Vec<usize> = (0..compared.len()).filter(|n| own.contains(&compared[*n])).collect();
        let difference = own.iter().find_map(|call| difference(ran.each_ref().map(|ran| &ran[*call])));
        let difference = difference.or_else(|| {
            let outcomes = |n: &usize| compiled.iter().map(|outcomes| &outcomes[*n]).collect();
            own_compiled.iter().find_map(|n| compiled_difference(outcomes(n)))
        });
        let traps = own.iter().filter_map(|call| ran[0][*call].as_ref().ok().filter(|ran| !ran.returned));
        let traps = traps.map(|ran| ran.result.clone()).next();
        let only_interpreted =
            traps.or_else(|| own_compiled.iter().find_map(|n| compiled.iter().find_map(|of| not_returned(&of[*n]))));
        rows.push(Row { name: function.name(), made, difference, only_interpreted });
    }
    Ok(rows)
}

/// What takes the place of functions, in each version.
fn versions(
    file: &File,
    clif: &ClifOptimiser,
    cranelift: &Cranelift,
    options: &Options,
) -> Result<[Vec<Option<Function>>; 4], LabError> {
    let outcome = clif.optimise(file, options, |_| true);
    for made in outcome.statistics.wanted() {
        if let Fate::Failed(reason) = &made.fate {
            return Err(LabError::NotChosen(made.name.clone(), reason.clone()));
        }
    }
    let (original, ours) = (vec![None; file.functions.len()], outcome.replaced);
    let by_cranelift = |version: &[Option<Function>]| -> Result<Vec<Option<Function>>, LabError> {
        whole(file, version).into_iter().map(|f| Ok(Some(cranelift.optimise(f)?.0))).collect()
    };
    let (theirs, both) = (by_cranelift(&original)?, by_cranelift(&ours)?);
    Ok([original, theirs, ours, both])
}

/// All functions of a version.
fn whole<'f>(file: &'f File, version: &'f [Option<Function>]) -> Vec<&'f Function> {
    file.functions.iter().zip(version).map(|(original, replaced)| replaced.as_ref().unwrap_or(&original.func)).collect()
}

/// What calls of a version give our interpreter, or why they do not end there.
fn interpreted(
    file: &File,
    clif: &ClifOptimiser,
    version: &[Option<Function>],
    calls: &[Call<'_>],
) -> Vec<Result<Ran, String>> {
    let version = whole(file, version);
    let mut functions = Functions::new(&clif.optimiser.program().universe);
    for function in &version {
        if let Ok(imported) = clif.import_function(function, file.endianness()) {
            functions.add(imported, function);
        }
    }
    let call = |call: &Call<'_>| match call {
        Call::Directive(Directive { function, text }) => {
            let (result, executed) = run_counted(&functions, version[*function], text, FUEL)?;
            let returned = !result.starts_with("trap ");
            Ok(Ran { result, memory: None, executed: executed.instructions, returned })
        }
        Call::WithContext(function, context) => {
            let mut memory = Memory::default();
            memory.add(BASE, context.at(BASE));
            let name = version[*function].name.to_string();
            let (outcome, executed) = functions.call_on(&name, &[BASE as i64, 0], &mut memory, FUEL);
            let (result, returned) = match outcome {
                Outcome::Return(results) => (format!("{results:?}"), true),
                Outcome::Trap(code) => (format!("trap {code}"), false),
                Outcome::OutOfFuel => return Err(format!("it takes more than {FUEL} instructions")),
                Outcome::Unsupported(reason) => return Err(reason),
            };
            // The rest are stack slots, of which versions may have others.
            let mut seen = Memory::default();
            memory.areas().iter().take(1).for_each(|area| seen.add(area.base, area.bytes.clone()));
            Ok(Ran { result, memory: Some(seen), executed: executed.instructions, returned })
        }
    };
    calls.iter().map(call).collect()
}

/// What calls of a version give when it is compiled.
fn run(
    file: &File,
    version: &[Option<Function>],
    calls: &[isolate::Call],
    worker: &mut Worker,
) -> Result<Vec<CallOutcome>, LabError> {
    let text = write(file, &version.iter().map(Option::as_ref).collect::<Vec<_>>());
    let target = host_targets(file).iter().position(Result::is_ok).unwrap_or(0);
    let mut outcomes = vec![];
    for calls in calls.chunks(AT_ONCE) {
        let (text, calls, imports) = (text.clone(), calls.to_vec(), Imports::default());
        let job = Job { text, engine: Engine::Jit, target, calls, seconds: SECONDS, imports };
        outcomes.extend(worker.run(&job).map_err(LabError::Process)?);
    }
    Ok(outcomes)
}

/// Where a version that our interpreter runs does not do what the first one does.
fn difference(ran: [&Result<Ran, String>; 4]) -> Option<String> {
    let original = ran[0].as_ref().ok()?;
    Version::ALL.iter().zip(ran).find_map(|(version, ran)| {
        let ran = ran.as_ref().ok().filter(|ran| !ran.same(original))?;
        let what = if ran.result == original.result { "leaves another memory".into() } else { said(&ran.result) };
        Some(format!("{}, interpreted, {what}; the original gives {}", version.name(), original.result))
    })
}

/// The same for compiled versions.
fn compiled_difference(outcomes: Vec<&CallOutcome>) -> Option<String> {
    let original = outcomes.first()?;
    Version::ALL.iter().zip(&outcomes).find_map(|(version, outcome)| {
        // CLIF's text does not keep all that Cranelift's mid-end makes.
        let not_read =
            matches!(version, Version::Cranelift | Version::Both) && matches!(outcome, CallOutcome::Failed(_));
        if not_read || same_outcome(original, outcome) {
            return None;
        }
        let what = match outcome {
            CallOutcome::Returned { values, .. } if values.len() < 100 => said(values),
            CallOutcome::Returned { .. } => "gives another result or memory".into(),
            other => format!("ends otherwise: {other:?}"),
        };
        Some(format!("{}, compiled, {what}", version.name()))
    })
}

fn said(result: &str) -> String {
    format!("gives {result}")
}

fn not_returned(outcome: &CallOutcome) -> Option<String> {
    match outcome {
        CallOutcome::Returned { .. } => None,
        CallOutcome::Failed(why) => Some(why.clone()),
        CallOutcome::Trapped(how) => Some(format!("it trapped: {how}")),
        CallOutcome::TimedOut => Some(format!("it did not return within {SECONDS} s")),
    }
}

/// Which NaN arithmetic gives is not defined.
fn same_outcome(a: &CallOutcome, b: &CallOutcome) -> bool {
    match (a, b) {
        (CallOutcome::Returned { values: a, .. }, CallOutcome::Returned { values: b, .. }) => {
            a == b || a.contains("NaN") && b.contains("NaN")
        }
        _ => a == b,
    }
}
