//! What every front end gives: a file with the rules for it, the functions that it holds, and what becomes of them.
//!
//! A command that takes files of any language is written once, over [`FrontEnd`] and [`Optimised`].
//!
//! Not here: which language a file is in, which commands decide by its name.

pub use crate::heading::Heading;

use crate::optimiser::{FunctionOutcome, OptimisedFunction, Optimiser, Options, Phases};
use crate::source::{Sides, SourcePlace};
use rewright_cfg_skeleton::ir::parse::Request;
use rewright_cfg_skeleton::ir::specialise::SpecialiseError;
use rewright_cfg_skeleton::ir::{Function, text};
use rewright_dsl::program::Program;
use rewright_engine::{EngineError, RuleReport};
use rewright_typeprop::{OpId, RuleId, Universe};
use std::collections::BTreeMap;
use std::error::Error;

/// Why there is no file to optimise.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The text has mistakes.
    #[error("{}", .mistakes.concat())]
    Mistakes {
        /// In order, each as it follows the name of the file: `:1:5: what is wrong`.
        mistakes: Vec<String>,
        /// What is read, and how, where the language of the text may have been taken for another.
        reader: Option<String>,
    },
    /// It is no text: the byte that is not UTF-8.
    #[error("not UTF-8 text at byte {0}")]
    Encoding(usize),
    /// The rules do not form a program.
    #[error("the rules do not form a program: {0}")]
    Rules(#[from] EngineError),
}

/// Functions of a file as the pipeline takes them.
pub struct Imported {
    /// Those that were asked for and are understood.
    pub functions: Vec<Function>,
    /// The packs' universe with the types of the file.
    pub universe: Universe,
    /// Calls of functions that packs declare, and that are not taken for those.
    pub refused: Vec<RefusedCall>,
    /// By function: where its instructions are in the source, by their numbers, as far as debug information says.
    pub places: Vec<BTreeMap<u32, SourcePlace>>,
}

/// A call that stays as it is although packs declare a function of its name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RefusedCall {
    /// The function of the file that it stands in.
    pub function: String,
    /// What is called, as the file writes it.
    pub callee: String,
    /// The operations that packs declare for it.
    pub declared: Vec<OpId>,
    /// What does not fit.
    pub because: String,
    /// Where it is in the source.
    pub place: Option<SourcePlace>,
}

/// What became of the functions of a file, and the figures of their way.
#[derive(Clone, Debug, Default)]
pub struct Statistics {
    /// By function of the file; `None` for those that were not asked for.
    pub functions: Vec<Option<FunctionOutcome>>,
    /// Time by phase of the pipeline.
    pub phases: Phases,
    /// Matches and time per rule.
    pub rules: BTreeMap<RuleId, RuleReport>,
}

impl Statistics {
    /// The functions that were asked for, in order.
    pub fn wanted(&self) -> impl Iterator<Item = &FunctionOutcome> {
        self.functions.iter().flatten()
    }

    /// What the pipeline gave for them, where it was asked.
    pub fn outcomes(&self) -> impl Iterator<Item = &OptimisedFunction> {
        self.wanted().filter_map(|f| f.outcome.as_ref())
    }

    /// What the pipeline gave for one function of the file.
    pub fn outcome(&self, index: usize) -> Option<&OptimisedFunction> {
        self.functions.get(index)?.as_ref()?.outcome.as_ref()
    }
}

/// Which functions are meant, by their index in the file.
pub type Wanted<'a> = &'a dyn Fn(usize) -> bool;

/// A file in some language, with the rules for it.
pub trait FrontEnd {
    /// Reads a text, and prepares rules for it.
    ///
    /// # Errors
    /// Mistakes in the text, all that the reader finds; or rules that do not form a program.
    fn read(program: Program, text: Vec<u8>) -> Result<Self, ReadError>
    where
        Self: Sized;

    /// The pipeline with these rules.
    fn optimiser(&self) -> &Optimiser;

    /// Its functions, in order.
    fn functions(&self) -> Vec<Heading>;

    /// Why no function of the file is ever optimised, where that is so.
    fn out_of_scope(&self) -> Option<&'static str> {
        None
    }

    /// Adds a function that is another one with constants for some of its parameters; its name.
    ///
    /// # Errors
    /// There is no such function, or constants do not fit.
    fn specialise(&mut self, request: &Request) -> Result<String, SpecialiseError>;

    /// Functions as the pipeline takes them, for callers that look at what happens there.
    fn import(&self, wanted: Wanted<'_>) -> Imported;

    /// Options as [`FrontEnd::optimise`] uses them, for callers that select from an e-graph of [`FrontEnd::import`].
    fn options(&self, options: &Options) -> Options {
        options.clone()
    }

    /// Optimises functions; the others stay as they are.
    fn optimise(&self, options: &Options, wanted: Wanted<'_>) -> Box<dyn Optimised + '_>;
}

/// A file that went through the pipeline.
pub trait Optimised {
    /// What became of its functions.
    fn statistics(&self) -> &Statistics;

    /// The packs' universe with the types of the file.
    fn universe(&self) -> &Universe;

    /// The file in the language that it came in.
    fn write(&self) -> String;

    /// The text of a function before and after in that language, where it changed, logging was on and the front end
    /// knows which names stay.
    fn sides(&self, _index: usize) -> Option<Sides> {
        None
    }

    /// What a compiler takes: the file, unless its language is compiled by way of CLIF.
    ///
    /// # Errors
    /// Something in the file cannot be compiled.
    fn write_compilable(&self) -> Result<String, Box<dyn Error + Send + Sync>> {
        Ok(self.write())
    }

    /// Our own text of what became of functions.
    fn write_ir(&self) -> String {
        let print = |o: &OptimisedFunction| text::print(&o.function, self.universe()) + "\n";
        self.statistics().outcomes().map(print).collect()
    }
}
