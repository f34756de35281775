//! What it is worth to see sharing: each function of a file as it is chosen with the integer program, greedily, by tree
//! costs, and as Cranelift's own mid-end makes it.
//!
//! All are priced as the front end reads them, and compiled by the same back end without its mid-end. Every version is
//! a whole file, so that versions can be run against each other ([`crate::isolate::Call::Compare`]).

use super::midend::{Code, Cranelift};
use super::optimise::ClifOptimiser;
use super::read::{File, write};
use crate::pipeline::{Fate, Options};
use cranelift_codegen::ir::{Function, types};
use rewright_cfg_skeleton::select::{Method, Status};

/// Who else chooses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rival {
    /// Our greedy selection, which knows of sharing what its rounds teach it.
    Greedy,
    /// The cheapest trees of the same e-graph.
    Tree,
    /// Cranelift's own mid-end, with its own rules.
    Cranelift,
}

impl Rival {
    /// All of them.
    pub const ALL: [Rival; 3] = [Rival::Greedy, Rival::Tree, Rival::Cranelift];

    /// As reports name it.
    pub fn name(self) -> &'static str {
        match self {
            Rival::Greedy => "greedy",
            Rival::Tree => "tree",
            Rival::Cranelift => "cranelift",
        }
    }
}

/// A version of a function.
#[derive(Clone, Debug)]
pub struct Made {
    /// What it costs.
    pub cost: u64,
    /// What the back end makes of it.
    pub code: Code,
}

/// A version of all functions of a file.
#[derive(Clone, Debug)]
pub struct Version {
    /// By function.
    pub made: Vec<Made>,
    /// How good each choice is known to be.
    pub statuses: Vec<Status>,
    /// The file.
    pub text: String,
}

/// The file as `options` choose with this method.
///
/// # Errors
/// A function that does not go through, and why.
pub fn chosen(clif: &ClifOptimiser, cranelift: &Cranelift, file: &File, options: &Options) -> Result<Version, String> {
    let outcome = clif.optimise(file, options, |_| true);
    let mut statuses = vec![];
    for function in outcome.functions.iter().flatten() {
        match (&function.fate, &function.outcome) {
            (Fate::Optimised | Fate::Unchanged, Some(outcome)) => statuses.push(outcome.status),
            (Fate::PassedThrough(reason) | Fate::Failed(reason), _) => {
                return Err(format!("{}: {reason}", function.name));
            }
            (_, None) => return Err(format!("{}: nothing was chosen", function.name)),
        }
    }
    version(clif, cranelift, file, options, &outcome.replaced, statuses)
}

/// The file as a rival chooses.
///
/// # Errors
/// A function that does not go through, and why.
pub fn by(
    rival: Rival,
    clif: &ClifOptimiser,
    cranelift: &Cranelift,
    file: &File,
    options: &Options,
) -> Result<Version, String> {
    let with = |method| chosen(clif, cranelift, file, &Options { method, ..options.clone() });
    match rival {
        Rival::Greedy => with(Method::Greedy),
        Rival::Tree => with(Method::Tree),
        Rival::Cranelift => {
            let made: Result<Vec<Option<Function>>, String> =
                file.functions.iter().map(|f| cranelift.optimise(&f.func).map(|(made, _)| Some(made))).collect();
            version(clif, cranelift, file, options, &made?, vec![])
        }
    }
}

fn version(
    clif: &ClifOptimiser,
    cranelift: &Cranelift,
    file: &File,
    options: &Options,
    replaced: &[Option<Function>],
    statuses: Vec<Status>,
) -> Result<Version, String> {
    let universe = &clif.optimiser.program().universe;
    let mut made = vec![];
    for (original, replaced) in file.functions.iter().zip(replaced) {
        let function = replaced.as_ref().unwrap_or(&original.func);
        let imported = clif.import_function(function, file)?;
        let cost = clif.optimiser.cost_of(&imported.function, universe, options);
        made.push(Made { cost, code: cranelift.code(function)?.0 });
    }
    let replaced: Vec<_> = replaced.iter().map(Option::as_ref).collect();
    Ok(Version { made, statuses, text: write(file, &replaced) })
}

/// A call of a function with a number of iterations as its first argument, and made-up words as the others.
///
/// # Errors
/// A parameter that is no word.
pub fn directive(file: &File, index: usize, iterations: u64) -> Result<String, String> {
    let function = &file.functions[index];
    let mut words = vec![];
    for (n, param) in function.func.signature.params.iter().enumerate() {
        if ![types::I64, types::I32].contains(&param.value_type) {
            return Err(format!("it takes a {}: only i32 and i64 have made-up words", param.value_type));
        }
        words.push(match n {
            0 => iterations.to_string(),
            // Any odd multiplier spreads bits.
            _ => (n as u32).wrapping_mul(0x2545_f491).cast_signed().to_string(),
        });
    }
    Ok(format!("print: {}({})", function.name(), words.join(", ")))
}
