//! Two files of LLVM IR: do the functions whose bodies differ still do the same?
//!
//! [`Method`] says in which ways they are compared; each sees what others cannot:
//!
//! * [`interpreted`]: both are imported and run in our interpreter, what is opaque made up;
//! * [`compiled`]: clang compiles both as they are written, and a process runs them; what they call is made up;
//! * [`refined`]: an SMT solver is asked, by LLVM's semantics with poison, about small functions.
//!
//! [`replay`] runs both texts on one input, with poison and `undef`: what it calls a difference is one.
//!
//! **Invariant**: inputs depend on nothing but the seed, a function's name and the numbers that it speaks of. What is
//! not compared is said, with its reason.

mod compiled;
mod inputs;
mod interpreted;
mod refined;
pub mod replay;

use super::module::{Definition, File, ReadError, read};
use super::optimise::LlvmOptimiser;
use crate::sums::add_up;
use serde::Serialize;
use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;

/// A way to compare.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Method {
    /// On random inputs in our interpreter of what is taken in
    Interpreted,
    /// On random inputs as clang compiles them, without optimisation
    Compiled,
    /// By an SMT solver, with poison and what is undefined: functions without loops
    Refined,
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
}

/// What was found.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct Report {
    /// Functions whose bodies differ.
    pub changed: u64,
    /// Of these: compared in at least one way.
    pub compared: u64,
    /// By method.
    pub methods: BTreeMap<Method, Tally>,
    /// Functions that are compared in none.
    pub not_compared: Vec<NotCompared>,
    /// Functions that do something else.
    pub refuted: Vec<Refuted>,
}

/// What one method has found.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct Tally {
    /// Functions of which at least one run was compared.
    pub compared: u64,
    /// Runs that were compared; questions that were decided.
    pub runs: u64,
    /// Runs that were not, by reason.
    pub open: BTreeMap<String, u64>,
    /// Functions of which no run was compared, by the reason that most of their runs had.
    pub not_compared: BTreeMap<String, u64>,
}

/// A function that no method has compared.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct NotCompared {
    /// Its name.
    pub function: String,
    /// What most runs of each method had.
    pub reasons: BTreeMap<Method, String>,
}

/// A function that does something else.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Refuted {
    /// Its name.
    pub function: String,
    /// Who says so.
    pub method: Method,
    /// On these arguments.
    pub arguments: Vec<String>,
    /// What differs.
    pub difference: String,
}

impl Report {
    /// Adds that of another file.
    pub fn add(&mut self, other: Report) {
        self.changed += other.changed;
        self.compared += other.compared;
        for (method, tally) in other.methods {
            let own = self.methods.entry(method).or_default();
            own.compared += tally.compared;
            own.runs += tally.runs;
            add_up(&mut own.open, tally.open);
            add_up(&mut own.not_compared, tally.not_compared);
        }
        self.not_compared.extend(other.not_compared);
        self.refuted.extend(other.refuted);
    }
}

/// Two files, and the functions that have one name and different bodies in them.
struct Files<'a> {
    before: &'a File,
    after: &'a File,
    /// Positions in either.
    pairs: Vec<(usize, usize)>,
}

impl<'a> Files<'a> {
    fn new(before: &'a File, after: &'a File) -> Self {
        let bodies: BTreeMap<&str, usize> = after.functions.iter().map(|f| f.name.as_str()).zip(0..).collect();
        let pairs = before
            .functions
            .iter()
            .enumerate()
            .filter_map(|(i, f)| Some((i, *bodies.get(f.name.as_str())?)))
            .filter(|(i, j)| {
                before.text[before.functions[*i].body.clone()] != after.text[after.functions[*j].body.clone()]
            })
            .collect();
        Files { before, after, pairs }
    }

    /// A pair's definitions.
    fn definitions(&self, pair: usize) -> [&'a Definition; 2] {
        let (i, j) = self.pairs[pair];
        [&self.before.functions[i], &self.after.functions[j]]
    }
}

/// What a method has seen of one function.
#[derive(Default)]
struct Seen {
    /// Runs that were compared.
    runs: u64,
    /// Runs that were not, by reason.
    open: BTreeMap<String, u64>,
    /// Arguments, and what differs on them.
    differs: Option<(Vec<String>, String)>,
}

impl Seen {
    /// Nothing, for this reason.
    fn nothing(reason: impl Into<String>) -> Self {
        Seen { open: BTreeMap::from([(reason.into(), 1)]), ..Seen::default() }
    }

    fn not_compared(&mut self, reason: impl Into<String>) {
        *self.open.entry(reason.into()).or_default() += 1;
    }
}

/// Why two texts cannot be compared.
#[derive(Debug, thiserror::Error)]
pub enum ValidateError {
    /// The second one is no file of LLVM IR.
    #[error("what it is compared with: {0}")]
    Read(#[from] ReadError),
    /// What a method needs cannot be run.
    #[error("{0}; `--method` says how to compare without it")]
    Tool(#[from] io::Error),
}

/// Compares the functions of two files that have one name and different bodies.
///
/// # Errors
/// When the second text is no file of LLVM IR, or what a method needs cannot be run.
pub fn validate(llvm: &LlvmOptimiser, before: &File, after: &str, config: &Config) -> Result<Report, ValidateError> {
    let after = read(after.to_string())?;
    let files = Files::new(before, &after);
    let mut report = Report { changed: files.pairs.len() as u64, ..Report::default() };
    // By pair: why it is not compared in some way; `None` where it is in another.
    let mut reasons: Vec<Option<BTreeMap<Method, String>>> = vec![Some(BTreeMap::new()); files.pairs.len()];
    for method in &config.methods {
        let seen = match method {
            Method::Interpreted => interpreted::compare(llvm, &files, config),
            Method::Compiled => compiled::compare(llvm, &files, config)?,
            Method::Refined => refined::compare(&files, config)?,
        };
        let tally = report.methods.entry(*method).or_default();
        for (pair, seen) in seen.into_iter().enumerate() {
            let name = &files.definitions(pair)[0].name;
            tally.runs += seen.runs;
            if seen.runs > 0 {
                tally.compared += 1;
                reasons[pair] = None;
            } else if let Some((reason, _)) = seen.open.iter().max_by_key(|(_, n)| **n) {
                *tally.not_compared.entry(reason.clone()).or_default() += 1;
                if let Some(reasons) = &mut reasons[pair] {
                    reasons.insert(*method, reason.clone());
                }
            }
            add_up(&mut tally.open, seen.open);
            report.refuted.extend(seen.differs.map(|(arguments, difference)| Refuted {
                function: name.clone(),
                method: *method,
                arguments,
                difference,
            }));
        }
    }
    let open = reasons.into_iter().enumerate().filter_map(|(pair, reasons)| {
        Some(NotCompared { function: files.definitions(pair)[0].name.clone(), reasons: reasons? })
    });
    report.not_compared = open.collect();
    report.compared = report.changed - report.not_compared.len() as u64;
    Ok(report)
}
