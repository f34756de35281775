//! Modules of our own text: read, optimised, and made into code.
//!
//! A module is read over the universe of the packs that are to be applied to it: its functions become operations of
//! that universe, so that an [`Optimiser`] is made for one module.
//!
//! Not here: what a call is at run time ([`rewright_clif::linkage`]), what is inlined
//! ([`rewright_cfg_skeleton::ir::inline`]).

mod bodies;
pub mod compile;
mod front;
mod heads;
mod lines;
mod points;
mod results;
mod sides;
mod specialise;
mod unused;

pub use compile::{Clif, CompileError};

use rewright_cfg_skeleton::ir::Module;
use rewright_cfg_skeleton::ir::parse::{self, ParseError};
use rewright_cfg_skeleton::ir::text::Printer;
use rewright_cfg_skeleton::ir::versions::add_versions;
use rewright_clif::names::Names;
use rewright_clif::optimise::trap_code;
use rewright_dsl::program::Program;
use rewright_engine::EngineError;
use rewright_pipeline::front::Statistics;
use rewright_pipeline::optimiser::{Optimiser, Options};
use rewright_pipeline::source::Sides;
use rewright_typeprop::Universe;

/// Why there is no optimiser for a module.
#[derive(Debug, thiserror::Error)]
pub enum ModuleError {
    /// Mistakes in its text, in order.
    #[error("{}", .0.first().map(ToString::to_string).unwrap_or_default())]
    Mistakes(Vec<ParseError>),
    /// The rules do not form a program.
    #[error("the rules do not form a program: {0}")]
    Engine(#[from] EngineError),
}

/// A module and the rules for it.
pub struct ModuleOptimiser {
    /// The pipeline.
    pub optimiser: Optimiser,
    /// As read.
    pub module: Module,
    names: Names,
}

/// A module that went through the pipeline.
pub struct ModuleOutcome {
    /// What goes out.
    pub module: Module,
    /// Its types and operations: the optimiser's, and types that were found since.
    pub universe: Universe,
    /// What became of its functions.
    pub statistics: Statistics,
    /// Calls that were inlined.
    pub inlined: usize,
    /// By function: its text before and after, where it changed (where logging is on).
    pub sides: Vec<Option<Sides>>,
}

impl ModuleOutcome {
    /// As text.
    pub fn print(&self) -> String {
        Printer(&self.module, &self.universe).to_string()
    }
}

impl ModuleOptimiser {
    /// Reads a module over the universe of a program.
    ///
    /// # Errors
    /// Mistakes in the text, all of them; or rules that do not form a program.
    pub fn new(mut program: Program, text: &str) -> Result<Self, ModuleError> {
        let names = Names::new(&mut program.universe);
        let mut module = parse::read(text, &mut program.universe).map_err(ModuleError::Mistakes)?;
        add_versions(&mut module, &mut program.universe);
        bodies::register(&mut program.universe, &module);
        Ok(ModuleOptimiser { optimiser: Optimiser::new(program, trap_code)?, module, names })
    }

    /// Types and operations, those that the module adds among them.
    pub fn universe(&self) -> &Universe {
        &self.optimiser.program().universe
    }

    /// The index of a function by its name, with or without `%`.
    pub fn function(&self, name: &str) -> Option<usize> {
        let bare = |name: &str| name.trim_start_matches('%').to_string();
        self.module.functions.iter().position(|f| bare(&f.name) == bare(name))
    }

    /// Optimises the functions for which `wanted` holds, callees first: the rules that run before inlining, then
    /// calls of small functions that do not recur are replaced by their optimised bodies and types are inferred
    /// again, then the rules that run after inlining. A function that inlining makes dearer keeps its calls. The result
    /// of a function has more specific types for its callers if that costs no more, and versions of functions
    /// without callers go. Blocks are called `b0`, `b3` in a profile, by their numbers.
    pub fn optimise(&self, options: &Options, wanted: impl Fn(usize) -> bool) -> ModuleOutcome {
        points::optimise(self, options, wanted)
    }

    /// What goes out, as CLIF.
    ///
    /// # Errors
    /// When something that it calls has no implementation.
    pub fn compile(&self, outcome: &ModuleOutcome) -> Result<Clif, CompileError> {
        compile::compile(&outcome.module, &outcome.universe, &self.names)
    }
}

#[cfg(test)]
mod tests;
