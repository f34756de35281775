//! CLIF as a front end: a file with the rules for it.

use super::optimise::{ClifOptimiser, FileOutcome};
use super::read::{self, CRANELIFT, File, read_bytes, write};
use super::specialise::specialise;
use rewright_cfg_skeleton::ir::parse::Request;
use rewright_cfg_skeleton::ir::specialise::SpecialiseError;
use rewright_dsl::program::Program;
use rewright_pipeline::front::{FrontEnd, Heading, Imported, Optimised, ReadError, Statistics, Wanted};
use rewright_pipeline::optimiser::{Optimiser, Options};
use rewright_pipeline::source::Sides;
use rewright_typeprop::Universe;
use std::collections::BTreeMap;

/// A file of CLIF, and the rules for it.
pub struct ClifInput {
    /// The rules.
    pub rules: ClifOptimiser,
    /// The file.
    pub file: File,
}

impl From<read::ReadError> for ReadError {
    fn from(error: read::ReadError) -> Self {
        let reader = match error {
            read::ReadError::Parse { .. } => Some(format!("CLIF as Cranelift {CRANELIFT} does")),
            read::ReadError::Encoding(_) | read::ReadError::Reader(_) => None,
        };
        ReadError::Mistakes { mistakes: vec![format!(": {error}")], reader }
    }
}

impl FrontEnd for ClifInput {
    fn read(program: Program, text: Vec<u8>) -> Result<Self, ReadError> {
        let file = read_bytes(&text)?;
        Ok(ClifInput { rules: ClifOptimiser::new(program)?, file })
    }

    fn optimiser(&self) -> &Optimiser {
        &self.rules.optimiser
    }

    fn functions(&self) -> Vec<Heading> {
        let functions = self.file.functions.iter();
        let heading = functions.map(|f| Heading {
            name: f.name(),
            blocks: f.func.layout.blocks().map(|block| block.to_string()).collect(),
        });
        heading.collect()
    }

    fn specialise(&mut self, request: &Request) -> Result<String, SpecialiseError> {
        let ClifOptimiser { optimiser, names } = &self.rules;
        specialise(&mut self.file, request, &optimiser.program().universe, |ty| names.ty(ty))
    }

    fn import(&self, wanted: Wanted<'_>) -> Imported {
        let indices = (0..self.file.functions.len()).filter(|index| wanted(*index));
        let understood = indices.filter_map(|index| self.rules.import(&self.file, index).ok());
        let functions: Vec<_> = understood.map(|imported| imported.function).collect();
        let places = vec![BTreeMap::new(); functions.len()];
        Imported { functions, universe: self.rules.optimiser.program().universe.clone(), refused: vec![], places }
    }

    fn optimise(&self, options: &Options, wanted: Wanted<'_>) -> Box<dyn Optimised + '_> {
        Box::new(OptimisedFile { outcome: self.rules.optimise(&self.file, options, wanted), input: self })
    }
}

struct OptimisedFile<'a> {
    outcome: FileOutcome,
    input: &'a ClifInput,
}

impl Optimised for OptimisedFile<'_> {
    fn statistics(&self) -> &Statistics {
        &self.outcome.statistics
    }

    fn universe(&self) -> &Universe {
        &self.input.rules.optimiser.program().universe
    }

    fn sides(&self, index: usize) -> Option<Sides> {
        self.outcome.sides.get(index)?.clone()
    }

    fn write(&self) -> String {
        let replaced: Vec<_> = self.outcome.replaced.iter().map(Option::as_ref).collect();
        write(&self.input.file, &replaced)
    }
}
