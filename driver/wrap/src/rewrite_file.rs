//! Rules on the text of one file, in this process or in the one that serves a build.

use super::declared::near;
use super::rules::Ready;
use super::statistics::Facts;
use anyhow::{Result, anyhow};
use rewright_extract::clock;
use rewright_llvm::function_cache::FunctionCache;
use rewright_llvm::module;
use rewright_llvm::optimise::FileOutcome;
use rewright_pipeline::optimiser::{Fate, FunctionOutcome, Options};
use rewright_pipeline::source::Sides;
use rewright_report::remarks::{FunctionReport, Names};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// What rules did.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Applied {
    /// By function.
    pub facts: Facts,
    /// C functions that packs of the user declare, and that the file does not name.
    pub unnamed: Vec<String>,
    /// C functions that packs of the user declare.
    pub declared: BTreeSet<String>,
    /// The new text, if a function has changed.
    pub text: Option<String>,
    /// What became of its functions, where that is to be told.
    pub functions: Option<Vec<FunctionReport>>,
}

/// Applies rules to a file of LLVM IR. To tell what became of its functions, each goes through the pipeline, also those
/// that were met before; what goes out is the same.
///
/// # Errors
/// Where the file cannot be read. A bug of ours is an error here, so that the user's build need not suffer from it.
pub fn apply(rules: &Ready, text: Vec<u8>, told: bool) -> Result<Applied> {
    let start = clock::now();
    let file = module::read_bytes(text)?;
    let read = clock::since(start);
    let Ready { optimiser, options, known } = rules;
    let (logging, unknown) = (Options { log: true, ..options.clone() }, FunctionCache::default());
    let (options, known) = if told { (&logging, &unknown) } else { (options, known) };
    let outcome = catch_unwind(AssertUnwindSafe(|| optimiser.optimise_unknown(&file, options, |_| true, known)))
        .map_err(|_| anyhow!("a bug in rewright: it panicked"))?;
    let program = optimiser.optimiser.program();
    let mut facts = Facts::of(&outcome, program);
    let (unnamed, declared) = (optimiser.unnamed(&file), optimiser.declared().into_keys().collect());
    facts.near = near(&unnamed, &declared, file.declarations.keys().map(String::as_str));
    facts.unlogged = u64::from(!options.log && facts.optimised > 0);
    let report = |(f, sides): (&Option<FunctionOutcome>, &Option<Sides>)| {
        Some(FunctionReport::of(program, f.as_ref()?, sides.clone(), Names::OfSource))
    };
    let functions = || outcome.statistics.functions.iter().zip(&outcome.sides).filter_map(report).collect();
    let functions = told.then(functions);
    let FileOutcome { import, compare, export, .. } = outcome;
    let own = outcome.statistics.phases.times.iter().map(|(phase, time)| (phase.name(), *time));
    let around = [("import", read + import), ("compare", compare), ("export", export)];
    for (phase, time) in own.chain(around) {
        *facts.seconds.entry(format!("rules: {phase}")).or_default() += time.as_secs_f64();
    }
    let changed = outcome.statistics.wanted().any(|f| f.fate == Fate::Optimised);
    Ok(Applied { facts, unnamed, declared, text: changed.then_some(outcome.text), functions })
}
