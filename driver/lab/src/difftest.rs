//! Differential testing: every `; run:` and `; print:` directive of CLIF files, before and after optimisation.
//!
//! For each file: optimise, write the whole file again, and run both texts on up to three engines: Cranelift's
//! compiler on this host (in a child process, once per `target` line that the host can run), Cranelift's
//! interpreter, and ours. A test that plain Cranelift does not run here (another architecture, a missing ISA extension)
//! is skipped with a reason; one that it runs before optimisation must run after it, with the same result.
//!
//! **Invariant**: the report depends on the files and on the optimiser only, not on the number of threads.

use crate::LabError;
use cranelift_codegen::ir::{Function, types};
use rayon::prelude::*;
use rewright_clif::import::import;
use rewright_clif::interpret::Functions;
use rewright_clif::names::Names;
use rewright_clif::read::{File, read_bytes, write};
use rewright_native::isolate::{Call, Engine, Job, Worker};
use rewright_native::jit::Imports;
use rewright_native::runtest::{CallOutcome, Directive, TargetError, directives, host_targets, run_ours};
use rewright_pipeline::sums::add_up;
use rewright_typeprop::Universe;
use serde::Serialize;
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// What becomes of one function of a file.
#[derive(Clone, Debug)]
pub enum Change {
    /// A better one takes its place.
    Optimised(Box<Function>),
    /// Nothing better was found.
    Unchanged,
    /// Out of scope.
    PassedThrough(String),
    /// A bug: the original stays.
    Failed(String),
}

/// An optimiser of files: one change per function, in order.
pub type Optimise<'a> = dyn Fn(&File) -> Vec<Change> + Sync + 'a;

/// How to test.
pub struct Config<'a> {
    /// Our own binary, for child processes.
    pub program: PathBuf,
    /// How long one call may take.
    pub seconds: u64,
    /// Operations and their CLIF names, for our own interpreter.
    pub reference: Option<(&'a Universe, &'a Names)>,
    /// Told after each file.
    pub progress: &'a (dyn Fn() + Sync),
}

/// What was found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct DiffTestReport {
    /// Files that were read.
    pub files: u64,
    /// Functions of these.
    pub functions: FunctionCounts,
    /// Directives of these.
    pub directives: DirectiveCounts,
    /// Runs per engine: how many directives it ran before and after.
    pub engines: BTreeMap<&'static str, u64>,
    /// Why directives were skipped: reason -> how many.
    pub skipped_reasons: BTreeMap<String, u64>,
    /// Why functions were passed through: reason -> how many.
    pub passed_through_reasons: BTreeMap<String, u64>,
    /// Differences between before and after, and between engines.
    pub mismatches: Vec<Mismatch>,
    /// Directives that plain Cranelift fails, too: the same outcome before and after.
    pub failed_before: Vec<Mismatch>,
    /// Functions that could not go out.
    pub failures: Vec<Failure>,
    /// Files that could not be read, directives that could not be parsed.
    pub errors: Vec<Failure>,
}

/// What became of functions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct FunctionCounts {
    /// All.
    pub total: u64,
    /// Replaced by a better one.
    pub optimised: u64,
    /// Went through, nothing better.
    pub unchanged: u64,
    /// Out of scope.
    pub passed_through: u64,
    /// Bugs.
    pub failed: u64,
}

/// What became of directives.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct DirectiveCounts {
    /// All.
    pub total: u64,
    /// Ran on at least one engine.
    pub run: u64,
    /// Ran, with the expected result everywhere.
    pub passed: u64,
    /// Ran, with another result somewhere: a mismatch, or a directive that plain Cranelift fails, too.
    pub failed: u64,
    /// Ran nowhere.
    pub skipped: u64,
}

/// A directive that gives something else after optimisation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Mismatch {
    /// The file.
    pub file: String,
    /// The function, as CLIF writes it.
    pub function: String,
    /// The directive.
    pub directive: String,
    /// `jit x86_64`, `cranelift-interpreter`, `rewright-interpreter`.
    pub engine: String,
    /// What the original gives.
    pub before: CallOutcome,
    /// What the optimised one gives.
    pub after: CallOutcome,
}

/// Something that went wrong beside results.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Failure {
    /// The file.
    pub file: String,
    /// The function, where it is about one.
    pub function: Option<String>,
    /// What.
    pub reason: String,
}

/// All `.clif` files under the given paths, sorted, each once.
pub fn collect(paths: &[PathBuf]) -> io::Result<Vec<PathBuf>> {
    let mut found = std::collections::BTreeSet::new();
    for path in paths {
        if !path.try_exists()? {
            return Err(io::Error::new(io::ErrorKind::NotFound, format!("{}: no such file or folder", path.display())));
        }
        if !path.is_dir() {
            found.insert(path.clone());
            continue;
        }
        for entry in ignore::WalkBuilder::new(path).standard_filters(false).build() {
            let path = entry.map_err(io::Error::other)?.into_path();
            if path.extension().is_some_and(|e| e == "clif") && path.is_file() {
                found.insert(path);
            }
        }
    }
    Ok(found.into_iter().collect())
}

/// Tests files.
pub fn difftest(files: &[PathBuf], optimise: &Optimise<'_>, config: &Config<'_>) -> DiffTestReport {
    let workers: Mutex<Vec<Worker>> = Mutex::new(vec![]);
    let reports: Vec<DiffTestReport> = files
        .par_iter()
        .map(|path| {
            let idle = workers.lock().ok().and_then(|mut idle| idle.pop());
            let mut worker = idle.unwrap_or_else(|| Worker::new(config.program.clone()));
            let report = one_file(path, optimise, config, &mut worker);
            if let Ok(mut idle) = workers.lock() {
                idle.push(worker);
            }
            (config.progress)();
            report
        })
        .collect();
    let mut total = DiffTestReport::default();
    for report in reports {
        total.add(report);
    }
    total
}

fn one_file(path: &Path, optimise: &Optimise<'_>, config: &Config<'_>, worker: &mut Worker) -> DiffTestReport {
    let name = path.display().to_string();
    let mut report = DiffTestReport::default();
    let failure = |function, reason| Failure { file: name.clone(), function, reason };
    let read = std::fs::read(path).map_err(|e| e.to_string());
    let file = match read.and_then(|bytes| read_bytes(&bytes).map_err(|e| e.to_string())) {
        Ok(file) => file,
        Err(reason) => {
            report.errors.push(failure(None, reason));
            return report;
        }
    };
    report.files = 1;
    let changes = optimise(&file);
    assert_eq!(changes.len(), file.functions.len(), "one change per function");
    let counts = &mut report.functions;
    for (change, function) in changes.iter().zip(&file.functions) {
        counts.total += 1;
        match change {
            Change::Optimised(_) => counts.optimised += 1,
            Change::Unchanged => counts.unchanged += 1,
            Change::PassedThrough(reason) => {
                counts.passed_through += 1;
                *report.passed_through_reasons.entry(reason.clone()).or_default() += 1;
            }
            Change::Failed(reason) => {
                counts.failed += 1;
                report.failures.push(failure(Some(function.name()), reason.clone()));
            }
        }
    }
    let (found, mistakes) = directives(&file);
    report.errors.extend(mistakes.into_iter().map(|reason| failure(None, reason)));
    if found.is_empty() {
        return report;
    }
    let replaced: Vec<Option<&Function>> = changes
        .iter()
        .map(|change| match change {
            Change::Optimised(function) => Some(&**function),
            _ => None,
        })
        .collect();
    let after = write(&file, &replaced);
    match run_everywhere(&file, &after, &found, config, worker) {
        Ok((runs, skipped)) => {
            let wide = replaced.iter().map(|f| f.is_some_and(is_wide)).collect();
            let backwards = replaced.iter().flatten().any(|f| reads_backwards(f));
            judge(&mut report, &name, &file, &Gaps { wide, backwards }, &found, &runs, &skipped);
        }
        Err(error) => report.errors.push(failure(None, error.to_string())),
    }
    report
}

/// One engine's outcomes, by directive.
struct Runs {
    engine: String,
    before: Vec<CallOutcome>,
    after: Vec<CallOutcome>,
}

/// Runs all directives before and after; also why targets were skipped.
fn run_everywhere(
    file: &File,
    after: &str,
    found: &[Directive],
    config: &Config<'_>,
    worker: &mut Worker,
) -> Result<(Vec<Runs>, Vec<TargetError>), LabError> {
    let call = |d: &Directive| Call::Directive { function: d.function, text: d.text.clone() };
    let calls: Vec<Call> = found.iter().map(call).collect();
    let mut run = |text: &str, engine, target| {
        let job = Job {
            text: text.to_string(),
            engine,
            target,
            calls: calls.clone(),
            seconds: config.seconds,
            imports: Imports::default(),
        };
        worker.run(&job).map_err(LabError::Process)
    };
    let before = write(file, &[]);
    let optimised = rewright_clif::read::read(after).map_err(LabError::Unreadable)?;
    let (mut runs, mut skipped) = (vec![], vec![]);
    for (target, host) in host_targets(file).into_iter().enumerate() {
        match host {
            Ok(host) => runs.push(Runs {
                engine: format!("jit {}", host.name),
                before: run(&before, Engine::Jit, target)?,
                after: run(after, Engine::Jit, target)?,
            }),
            Err(reason) => skipped.push(reason),
        }
    }
    runs.push(Runs {
        engine: "cranelift-interpreter".to_string(),
        before: run(&before, Engine::Interpreter, 0)?,
        after: run(after, Engine::Interpreter, 0)?,
    });
    if let Some((universe, names)) = config.reference {
        let ours = |file: &File| {
            let mut functions = Functions::new(universe);
            for f in &file.functions {
                // A function that does not import ends its runs as failed, which is no finding.
                if file.accepts(&f.func).is_ok()
                    && let Ok(imported) = import(&f.func, names, file.endianness())
                {
                    functions.add(imported, &f.func);
                }
            }
            let run = |d: &Directive| run_ours(&functions, &file.functions[d.function].func, &d.text);
            found.iter().map(run).collect()
        };
        let (before, after) = (ours(file), ours(&optimised));
        runs.push(Runs { engine: "rewright-interpreter".to_string(), before, after });
    }
    Ok((runs, skipped))
}

/// What interpreters do not support in the optimised functions.
struct Gaps {
    /// By function: it computes with 128 bits. Our interpreter has no values of that size.
    wide: Vec<bool>,
    /// An access has an offset below zero. Cranelift's interpreter takes it for one above 4 GiB, and traps.
    backwards: bool,
}

impl Gaps {
    /// Is it for one of these that an engine gives no result of a call of a function?
    fn explain(&self, engine: &str, function: usize, after: &CallOutcome) -> bool {
        match after {
            CallOutcome::Failed(_) if engine.starts_with("rewright") => self.wide[function],
            CallOutcome::Failed(_) | CallOutcome::Trapped(_) => self.backwards && engine.starts_with("cranelift"),
            CallOutcome::Returned { .. } | CallOutcome::TimedOut => false,
        }
    }
}

fn reads_backwards(f: &Function) -> bool {
    let insts = f.layout.blocks().flat_map(|block| f.layout.block_insts(block));
    insts.filter_map(|inst| f.dfg.insts[inst].load_store_offset()).any(|offset| offset < 0)
}

fn is_wide(f: &Function) -> bool {
    f.dfg.values().any(|value| f.dfg.value_type(value) == types::I128)
}

/// Counts and compares.
fn judge(
    report: &mut DiffTestReport,
    name: &str,
    file: &File,
    gaps: &Gaps,
    found: &[Directive],
    runs: &[Runs],
    skipped: &[TargetError],
) {
    for (n, directive) in found.iter().enumerate() {
        report.directives.total += 1;
        let usable = |run: &&Runs| !matches!(run.before[n], CallOutcome::Failed(_) | CallOutcome::TimedOut);
        // A call that traps as it stands does so on every engine; ours alone would be wrong about it.
        let theirs = |run: &&Runs| !run.engine.starts_with("rewright");
        let fails = runs.iter().filter(usable).filter(theirs).any(|run| !run.before[n].holds());
        let compiles = runs.iter().filter(usable).any(|run| run.engine.starts_with("jit") && run.before[n].holds());
        let mut passed = true;
        let mut ran = false;
        for run in runs.iter().filter(usable) {
            let (before, after) = (&run.before[n], &run.after[n]);
            let compiled = run.engine.starts_with("jit");
            // Interpreters have gaps: what only they fail, before and after alike, is no finding about us. Nor is one
            // a judge of a call about whose original the compiler, which meets the expectation, says otherwise.
            let gap = same(before, after, compiled) || compiles;
            if !compiled && !before.holds() && gap && run.engine.starts_with("cranelift") {
                continue;
            }
            let ours = run.engine.starts_with("rewright");
            if ran && gaps.explain(&run.engine, directive.function, after) {
                continue;
            }
            ran = true;
            let engine = if compiled { "jit" } else { run.engine.as_str() };
            *report.engines.entry(ENGINES.iter().find(|e| **e == engine).unwrap_or(&"")).or_default() += 1;
            let agree = same(before, after, compiled);
            let expected = if ours { before.holds() && after.holds() || fails && agree } else { agree };
            let held = before.holds() && after.holds() && expected;
            passed &= held;
            if held {
                continue;
            }
            let list = if expected { &mut report.failed_before } else { &mut report.mismatches };
            list.push(Mismatch {
                file: name.to_string(),
                function: file.functions[directive.function].name(),
                directive: directive.text.clone(),
                engine: run.engine.clone(),
                before: before.clone(),
                after: after.clone(),
            });
        }
        if ran {
            report.directives.run += 1;
            *(if passed { &mut report.directives.passed } else { &mut report.directives.failed }) += 1;
        } else {
            report.directives.skipped += 1;
            *report.skipped_reasons.entry(reason(runs, skipped, n)).or_default() += 1;
        }
    }
}

const ENGINES: [&str; 3] = ["jit", "cranelift-interpreter", "rewright-interpreter"];

/// Why a directive ran nowhere: what the compiler said, else why its targets do not run here.
fn reason(runs: &[Runs], skipped: &[TargetError], directive: usize) -> String {
    let compiled = runs.iter().filter(|run| run.engine.starts_with("jit"));
    let said = compiled.filter_map(|run| match &run.before[directive] {
        CallOutcome::Failed(message) => Some(format!("plain Cranelift does not run it: {message}")),
        CallOutcome::TimedOut => Some("takes too long".to_string()),
        _ => None,
    });
    // A missing extension of this architecture says more than another architecture.
    let near = skipped.iter().find(|reason| !matches!(reason, TargetError::Architecture(_)));
    said.reduce(|_, last| last)
        .or(near.map(TargetError::to_string))
        .unwrap_or_else(|| "no target line that this host can run".to_string())
}

/// Do two outcomes agree? Compiled code does not say which trap it was, interpreters do.
fn same(before: &CallOutcome, after: &CallOutcome, compiled: bool) -> bool {
    match (before, after) {
        (CallOutcome::Returned { values: a, holds: x }, CallOutcome::Returned { values: b, holds: y }) => {
            x == y && (a == b || *x && without_nans(a) == without_nans(b))
        }
        (CallOutcome::Trapped(_), CallOutcome::Trapped(_)) if compiled => true,
        (before, after) => before == after,
    }
}

/// Results with all NaNs made one: which one arithmetic gives is not defined.
fn without_nans(values: &str) -> String {
    let one = |value: &str| if value.contains("NaN") { "NaN".to_string() } else { value.to_string() };
    values.split(", ").map(|v| one(v.trim_matches(['[', ']']))).collect::<Vec<_>>().join(", ")
}

impl DiffTestReport {
    /// Takes another report in.
    fn add(&mut self, other: DiffTestReport) {
        self.files += other.files;
        let (f, g) = (&mut self.functions, other.functions);
        f.total += g.total;
        f.optimised += g.optimised;
        f.unchanged += g.unchanged;
        f.passed_through += g.passed_through;
        f.failed += g.failed;
        let (d, e) = (&mut self.directives, other.directives);
        d.total += e.total;
        d.run += e.run;
        d.passed += e.passed;
        d.failed += e.failed;
        d.skipped += e.skipped;
        add_up(&mut self.engines, other.engines);
        add_up(&mut self.skipped_reasons, other.skipped_reasons);
        add_up(&mut self.passed_through_reasons, other.passed_through_reasons);
        self.mismatches.extend(other.mismatches);
        self.failed_before.extend(other.failed_before);
        self.failures.extend(other.failures);
        self.errors.extend(other.errors);
    }

    /// No mismatch, no failed function, no unreadable file.
    pub fn is_clean(&self) -> bool {
        self.mismatches.is_empty() && self.failures.is_empty() && self.errors.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn returned(values: &str, holds: bool) -> CallOutcome {
        CallOutcome::Returned { values: values.to_string(), holds }
    }

    #[test]
    fn outcomes_compare_up_to_traps_and_nans() {
        assert!(same(&CallOutcome::Trapped("SIGILL".into()), &CallOutcome::Trapped("SIGFPE".into()), true));
        assert!(same(&returned("+NaN", true), &returned("-NaN:0x1", true), true));
        assert!(!same(&CallOutcome::Trapped("int_ovf".into()), &CallOutcome::Trapped("int_divz".into()), false));
        assert!(!same(&returned("1", true), &returned("2", true), true));
        assert!(!same(&returned("1", true), &returned("1", false), true));
        assert!(!same(&returned("1", true), &CallOutcome::TimedOut, true));
    }
}
