//! Two files of LLVM IR: does each function of the second one only what the function of that name in the first one may
//! do?
//!
//! A pair is *the same* if its texts are ([`same`], where [`headers`] allow it). Others are compared by [`Method`]s;
//! each sees what others cannot:
//!
//! * [`replayed`]: both texts are run by an interpreter of LLVM IR that knows poison and undefined behaviour;
//! * [`refined`]: an SMT solver is asked, by LLVM's semantics with poison, about small functions;
//! * [`interpreted`]: both are imported and run in our interpreter, what is opaque made up;
//! * [`compiled`]: clang compiles both as they are written, and a process runs them; what they call is made up;
//! * [`raised`]: both become nests of loops, where loops count and addresses are affine.
//!
//! What they find is evidence, of which [`verdict`] makes one verdict. An answer of the solver is an input to be
//! replayed, and the last two never refute.
//!
//! [`replay`] runs both texts on one input, with poison and `undef`: what it calls a difference is one.
//!
//! **Invariant**: inputs depend on nothing but the seed, a function's name and the numbers that it speaks of. A
//! function that is not compared is reported, with its reason; every function that either file defines is counted.

mod annotations;
mod budget;
mod callees;
mod certificates;
pub mod command;
mod compiled;
mod conversion;
pub mod datapath;
pub mod functions;
mod headers;
mod inputs;
mod interpreted;
mod library;
mod literals;
mod memory_blocks;
mod metadata;
mod modules;
pub mod nests;
mod not_modelled;
mod promises;
mod raise;
mod raised;
mod recursion;
mod refined;
pub mod replay;
mod replayed;
mod rests;
mod same;
mod structure;
mod surroundings;
mod unwritten;
pub mod verdict;

use callees::as_called;
pub use certificates::{Found, certificates, check_certificates};
use clap::ValueEnum;
use functions::WordInput;
use library::with_library;
use modules::{Module, Version};
pub use raised::Accepted;
use replay::Input;
use rests::{Dependencies, Judged};
use rewright_cfg_skeleton::verdict::{Counts, Evidence, Side, Tier, Verdict};
use rewright_llvm::lex::global_names;
use rewright_llvm::module::{Definition, File, ReadError, read};
use rewright_llvm::optimise::LlvmOptimiser;
use rewright_pipeline::sums::add_up;
use rustc_hash::FxHashMap;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::PathBuf;
use verdict::{DOUBT, VOUCHED, ValidationReport};

/// The default limit of the solver for a function, in its own steps.
pub const SOLVER_STEPS: u64 = refined::STEPS;

/// The default number of inputs for each function.
pub const RUNS: u32 = 64;

/// The default solver.
pub const SOLVER: &str = "z3 -in";

/// The default compiler for both versions.
pub const CLANG: &str = "clang-19";

/// Why a function without a certificate is not accepted.
pub(crate) const NO_CERTIFICATE: &str = "there is no certificate of it";

/// A way to compare.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Method {
    /// Both texts on inputs that are worth trying, with poison and what is undefined
    Replayed,
    /// On random inputs in our interpreter of what is taken in
    Interpreted,
    /// On random inputs as clang compiles them, without optimisation
    Compiled,
    /// By an SMT solver, with poison and what is undefined; loops by induction
    Refined,
    /// As nests of loops that count, where nothing else decides: accesses in another order
    Nests,
}

/// How much to try.
#[derive(Clone, Debug)]
pub struct Config {
    /// In which ways.
    pub methods: Vec<Method>,
    /// Inputs for each function.
    pub runs: u32,
    /// Of the random numbers.
    pub seed: u64,
    /// What compiles LLVM IR.
    pub clang: PathBuf,
    /// The solver: program and arguments; it reads SMT-LIB from its standard input.
    pub solver: Vec<String>,
    /// What it may do for a function, in its own steps; for a file twenty times that.
    pub solver_steps: u64,
    /// The second file may be made from all of the first one: what a function is given and what its callees do may have
    /// been used.
    pub whole_modules: bool,
    /// C functions (`@f`) of which packs say what rules may do with their calls. In a run, such a call gives something made
    /// up, so that a difference says nothing about a function that has one.
    pub vouched: BTreeSet<String>,
    /// Only this function.
    pub function: Option<String>,
    /// Only these of the functions of both files.
    pub part: Option<Part>,
    /// Both versions are run on this input, and compared in no other way.
    pub input: Option<Input>,
    /// The same for functions of our IR.
    pub words: Option<WordInput>,
}

/// Every n-th function of two files together: those of the first file, then those that only the second one has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Part {
    /// The position of the first one.
    pub first: usize,
    /// `n`.
    pub step: usize,
}

impl Config {
    /// What was made of each function by itself, by the methods that prove and refute.
    pub fn of_own_changes() -> Config {
        Config {
            methods: vec![Method::Replayed, Method::Refined],
            runs: RUNS,
            seed: 1,
            clang: CLANG.into(),
            solver: SOLVER.split(' ').map(String::from).collect(),
            solver_steps: SOLVER_STEPS,
            whole_modules: false,
            vouched: BTreeSet::new(),
            function: None,
            part: None,
            input: None,
            words: None,
        }
    }

    /// Is the function at this position one of those that are compared?
    pub fn has(&self, position: usize) -> bool {
        self.part.is_none_or(|part| position % part.step == part.first)
    }
}

/// Two files, and the functions that are to be compared.
struct Files<'a> {
    before: &'a File,
    after: &'a File,
    modules: [&'a Module<'a>; 2],
    /// Positions in either.
    pairs: Vec<(usize, usize)>,
}

impl<'a> Files<'a> {
    /// A pair's definitions.
    fn definitions(&self, pair: usize) -> [&'a Definition; 2] {
        let (i, j) = self.pairs[pair];
        [&self.modules[0].own.functions[i], &self.modules[1].own.functions[j]]
    }

    /// A pair with its modules.
    fn versions(&self, pair: usize) -> [Version<'a>; 2] {
        let [old, new] = self.definitions(pair);
        [Version { module: self.modules[0], definition: old }, Version { module: self.modules[1], definition: new }]
    }
}

/// What a method has seen of one function.
#[derive(Default, Debug)]
struct Seen {
    /// Runs that were compared.
    runs: u64,
    /// Runs that were not, by reason.
    open: BTreeMap<String, u64>,
    /// Arguments, and what differs on them.
    differs: Option<(Vec<String>, String)>,
    /// Something differs, and it is open whether that counts.
    doubts: bool,
}

impl Seen {
    /// Nothing, for this reason.
    fn nothing(reason: impl ToString) -> Self {
        Seen { open: BTreeMap::from([(reason.to_string(), 1)]), ..Seen::default() }
    }

    fn not_compared(&mut self, reason: impl ToString) {
        *self.open.entry(reason.to_string()).or_default() += 1;
    }

    /// What most runs had that were not compared.
    fn reason(&self) -> Option<&String> {
        self.open.iter().max_by_key(|(_, n)| **n).map(|(reason, _)| reason)
    }
}

/// Why two texts cannot be compared.
#[derive(Debug, thiserror::Error)]
pub enum ValidateError {
    /// The second one is no file of LLVM IR.
    #[error("what it is compared with: {0}")]
    Read(#[from] ReadError),
    /// The function that is asked for is not there.
    #[error("neither file defines {0}")]
    Function(String),
    /// A method needs packs, and there are none.
    #[error("this method needs packs")]
    Packs,
    /// A program that a method needs cannot be run.
    #[error("{0}; `--method` says how to compare without it")]
    Tool(#[from] io::Error),
}

impl Method {
    /// Does it need packs, which say what operations mean?
    pub fn needs_packs(self) -> bool {
        matches!(self, Method::Interpreted | Method::Compiled | Method::Nests)
    }
}

/// Compares the functions of two files by their names.
///
/// # Errors
/// When the second text is no file of LLVM IR, or what a method needs is not there or cannot be run.
pub fn validate(
    llvm: Option<&LlvmOptimiser>,
    before: &File,
    after: &str,
    config: &Config,
) -> Result<ValidationReport, ValidateError> {
    let after = read(after.to_string())?;
    let own = [&*with_library(before), &*with_library(&after)];
    let [before, after] = &as_called(own[0], own[1], &BTreeSet::new());
    let modules = Module::pair([before, after], own);
    let only = config.function.as_deref();
    if let Some(name) = only.filter(|name| before.functions.iter().chain(&after.functions).all(|f| f.name != *name)) {
        return Err(ValidateError::Function(name.to_string()));
    }
    let dependencies = Dependencies::new(&modules);
    let mut found = FunctionPairs::new(&dependencies, &modules, config);
    let files = Files { before, after, modules: [&modules[0], &modules[1]], pairs: std::mem::take(&mut found.open) };
    let mut evidence: Vec<Evidence> = files.pairs.iter().map(|_| Evidence::default()).collect();
    let mut report = ValidationReport { unchanged: found.unchanged, ..ValidationReport::default() };
    // Of what is beside functions the first part tells.
    if config.whole_modules && config.has(0) {
        report.modules = surroundings::differences(&modules[0], &modules[1]);
    }
    for method in &config.methods {
        let seen = match method {
            Method::Replayed => run_on(replayed::compare(&files, config), &mut evidence),
            Method::Interpreted => interpreted::compare(llvm.ok_or(ValidateError::Packs)?, &files, config),
            Method::Compiled => compiled::compare(llvm.ok_or(ValidateError::Packs)?, &files, config)?,
            Method::Refined => solved(&files, refined::compare(&files, config)?, config, &mut evidence),
            Method::Nests => raised::llvm::compare(llvm.ok_or(ValidateError::Packs)?, &files, config, &mut evidence),
        };
        let tally = report.methods.entry(*method).or_default();
        for (seen, evidence) in seen.into_iter().zip(&mut evidence) {
            if matches!(method, Method::Interpreted | Method::Compiled) {
                tested(*method, &seen, evidence);
            }
            tally.runs += seen.runs;
            if seen.runs > 0 {
                tally.compared += 1;
            } else if let Some(reason) = seen.reason() {
                *tally.not_compared.entry(reason.clone()).or_default() += 1;
            }
            add_up(&mut tally.runs_not_compared, seen.open);
        }
    }
    let mut all: Vec<Judged<'_>> = vec![];
    for (pair, mut evidence) in evidence.into_iter().enumerate() {
        leave_to_packs(&files, pair, config, &mut evidence);
        all.push(Judged { position: files.pairs[pair].0, versions: files.versions(pair), evidence });
    }
    let files = Files { pairs: std::mem::take(&mut found.same), ..files };
    for (pair, (position, _)) in files.pairs.iter().enumerate() {
        let evidence = Evidence { proved: Some(Tier::Same), ..Evidence::default() };
        all.push(Judged { position: *position, versions: files.versions(pair), evidence });
    }
    rests::settle(&mut all, &dependencies, config);
    for Judged { position, versions, evidence } in all {
        found.verdicts.insert(position, Verdict::new(&versions[0].definition.name, evidence));
    }
    for (position, verdict) in found.verdicts {
        report.note(position, verdict);
    }
    report.counts = Counts::of(&report.functions);
    Ok(report)
}

/// Takes back what is said against a function that calls one that packs vouch for, unless a proof contradicts it.
fn leave_to_packs(files: &Files<'_>, pair: usize, config: &Config, evidence: &mut Evidence) {
    let Some(refuted) = evidence.refuted.take_if(|_| evidence.proved.is_none()) else { return };
    let called = files.versions(pair).map(|version| global_names(version.text()));
    let vouched = called.iter().flatten().filter(|name| config.vouched.contains(**name)).collect::<BTreeSet<_>>();
    if vouched.is_empty() {
        evidence.refuted = Some(refuted);
        return;
    }
    let (names, verb) =
        (vouched.iter().map(|name| **name).collect::<Vec<_>>(), if vouched.len() == 1 { "does" } else { "do" });
    evidence.reasons.insert(
        0,
        format!(
            "{VOUCHED} {} {verb}; `rewright verify` tests the rules. If such a call might do anything, the versions would \
             differ {refuted}",
            names.join(", ")
        ),
    );
    evidence.doubted = true;
}

/// Compares a file with what rules have made of it, by the methods that prove and refute, with the usual solver.
/// `vouched`: as in [`Config`].
///
/// # Errors
/// As [`validate`].
pub fn own_changes(before: &File, after: &str, vouched: BTreeSet<String>) -> Result<ValidationReport, ValidateError> {
    validate(None, before, after, &Config { vouched, ..Config::of_own_changes() })
}

/// Notes what running both texts has shown.
fn run_on(found: Vec<replayed::Replayed>, evidence: &mut [Evidence]) -> Vec<Seen> {
    let note = |(one, evidence): (replayed::Replayed, &mut Evidence)| {
        evidence.refuted = one.refuted;
        match one.seen.reason() {
            Some(reason) if one.seen.doubts => {
                evidence.doubted = true;
                evidence.reasons.push(reason.clone());
            }
            Some(reason) if one.seen.runs == 0 => evidence.reasons.push(format!("replayed: {reason}")),
            _ => {}
        }
        evidence.runs += one.seen.runs;
        one.seen
    };
    found.into_iter().zip(evidence).map(note).collect()
}

/// Notes what the solver has decided, and replays its answers.
fn solved(files: &Files<'_>, decided: Vec<refined::Decided>, config: &Config, evidence: &mut [Evidence]) -> Vec<Seen> {
    let mut all = vec![];
    for (pair, (one, evidence)) in decided.into_iter().zip(evidence).enumerate() {
        if one.proved {
            evidence.proved = Some(Tier::Solver);
        }
        if let Some(reason) = one.seen.reason() {
            evidence.reasons.insert(0, reason.clone());
        }
        if let (Some(input), None) = (&one.model, &evidence.refuted) {
            match replayed::replayed(files.versions(pair), input, config) {
                Ok(found) => evidence.refuted = Some(found),
                Err(reason) => {
                    evidence.doubted = true;
                    evidence.reasons.push(format!("the solver's answer is not confirmed: {reason}"));
                }
            }
        }
        all.push(one.seen);
    }
    all
}

/// Notes what runs have shown.
fn tested(method: Method, seen: &Seen, evidence: &mut Evidence) {
    let name = method.to_possible_value().map_or(String::new(), |value| value.get_name().to_string());
    match (&seen.differs, seen.reason()) {
        (Some((arguments, difference)), _) => {
            let on = arguments.join(", ");
            evidence.doubted = true;
            evidence.reasons.insert(0, format!("{DOUBT}: {name} on ({on}), {difference}; no replay confirms it"));
        }
        (None, Some(reason)) if seen.runs == 0 => evidence.reasons.push(format!("{name}: {reason}")),
        _ => {}
    }
    evidence.runs += seen.runs;
}

/// Functions of two modules by what is known without comparing bodies.
struct FunctionPairs {
    /// Positions of those that are to be compared.
    open: Vec<(usize, usize)>,
    /// Of those that are one text, but not byte for byte with all that they mention and lead to.
    same: Vec<(usize, usize)>,
    /// By position: in the first module, or behind its functions.
    verdicts: BTreeMap<usize, Verdict>,
    /// Those that are in both byte for byte, with all that they mention and lead to.
    unchanged: u64,
}

impl FunctionPairs {
    /// Of all functions, of one, or of a part of them.
    fn new(dependencies: &Dependencies<'_>, modules: &[Module<'_>; 2], config: &Config) -> FunctionPairs {
        let [before, after] = modules;
        let asked = |position: usize, name: &str| {
            config.has(position) && config.function.as_deref().is_none_or(|only| only == name)
        };
        let mut found = FunctionPairs { open: vec![], same: vec![], verdicts: BTreeMap::new(), unchanged: 0 };
        let mut others: FxHashMap<&str, usize> = after.own.functions.iter().map(|f| f.name.as_str()).zip(0..).collect();
        for (i, was) in before.own.functions.iter().enumerate() {
            let partner = others.remove(was.name.as_str());
            if !asked(i, &was.name) {
                continue;
            }
            let sides = [(Side::First, before), (Side::Second, after)];
            if let Some((which, _)) = sides.into_iter().find(|(_, module)| module.is_ambiguous(&was.name)) {
                let reason = format!("the {which} file defines several functions of this name");
                found.verdicts.insert(i, unknown(&was.name, &reason));
                continue;
            }
            let Some(j) = partner else {
                found.verdicts.insert(i, Verdict::new(&was.name, Evidence::only(Side::First)));
                continue;
            };
            let versions = [
                Version { module: before, definition: was },
                Version { module: after, definition: &after.own.functions[j] },
            ];
            if let Some(reason) = headers::signature(versions[0], versions[1]) {
                found.verdicts.insert(i, unknown(&was.name, &reason));
            } else if dependencies.is_same(&was.name) {
                if versions[0].text() == versions[1].text() && dependencies.of(&was.name).is_empty() {
                    found.unchanged += 1;
                } else {
                    found.same.push((i, j));
                }
            } else {
                found.open.push((i, j));
            }
        }
        let only = after.own.functions.iter().filter(|f| others.contains_key(f.name.as_str()));
        let positions = before.own.functions.len()..;
        for (position, f) in positions.zip(only).filter(|(position, f)| asked(*position, &f.name)) {
            found.verdicts.insert(position, Verdict::new(&f.name, Evidence::only(Side::Second)));
        }
        found
    }
}

fn unknown(function: &str, reason: &str) -> Verdict {
    Verdict::new(function, Evidence::nothing(reason))
}
