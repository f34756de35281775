//! Our own text as a front end: a module is read over its rules, so that the optimiser is the file.

use super::{ModuleError, ModuleOptimiser, ModuleOutcome};
use rewright_cfg_skeleton::ir::BlockId;
use rewright_cfg_skeleton::ir::parse::Request;
use rewright_cfg_skeleton::ir::specialise::SpecialiseError;
use rewright_dsl::program::Program;
use rewright_pipeline::front::{FrontEnd, Heading, Imported, Optimised, ReadError, Statistics, Wanted};
use rewright_pipeline::optimiser::{Optimiser, Options};
use rewright_pipeline::source::Sides;
use rewright_typeprop::Universe;
use std::collections::BTreeMap;
use std::error::Error;

/// A block as profiles name it.
pub(super) fn block_name(block: BlockId) -> String {
    format!("b{}", block.0)
}

impl From<ModuleError> for ReadError {
    fn from(error: ModuleError) -> Self {
        match error {
            ModuleError::Mistakes(mistakes) => {
                ReadError::Mistakes { mistakes: mistakes.iter().map(|e| format!(":{e}")).collect(), reader: None }
            }
            ModuleError::Engine(error) => ReadError::Rules(error),
        }
    }
}

impl FrontEnd for ModuleOptimiser {
    fn read(program: Program, text: Vec<u8>) -> Result<Self, ReadError> {
        let text = String::from_utf8(text).map_err(|e| ReadError::Encoding(e.utf8_error().valid_up_to()))?;
        Ok(ModuleOptimiser::new(program, &text)?)
    }

    fn optimiser(&self) -> &Optimiser {
        &self.optimiser
    }

    fn functions(&self) -> Vec<Heading> {
        let functions = self.module.functions.iter();
        let heading = functions.map(|f| Heading {
            name: f.name.clone(),
            blocks: f.layout.iter().map(|block| block_name(*block)).collect(),
        });
        heading.collect()
    }

    fn specialise(&mut self, request: &Request) -> Result<String, SpecialiseError> {
        let general = self.function(&request.function);
        let general = general.ok_or_else(|| SpecialiseError::NoFunction(request.function.clone()))?;
        let f = &self.module.functions[general];
        let types: Vec<_> = f.block(f.entry()).params.iter().map(|param| f.ty(*param)).collect();
        let arguments = request.arguments(&types, self.universe())?;
        let added = self.add_specialised(general, &arguments, request.name.as_deref())?;
        Ok(self.module.functions[added].name.clone())
    }

    fn import(&self, wanted: Wanted<'_>) -> Imported {
        let functions = self.module.functions.iter().enumerate().filter(|(index, _)| wanted(*index));
        let functions: Vec<_> = functions.map(|(_, f)| f.clone()).collect();
        let places = vec![BTreeMap::new(); functions.len()];
        Imported { functions, universe: self.universe().clone(), refused: vec![], places }
    }

    fn optimise(&self, options: &Options, wanted: Wanted<'_>) -> Box<dyn Optimised + '_> {
        Box::new(OptimisedModule { outcome: self.optimise(options, wanted), optimiser: self })
    }
}

struct OptimisedModule<'a> {
    outcome: ModuleOutcome,
    optimiser: &'a ModuleOptimiser,
}

impl Optimised for OptimisedModule<'_> {
    fn statistics(&self) -> &Statistics {
        &self.outcome.statistics
    }

    fn universe(&self) -> &Universe {
        &self.outcome.universe
    }

    fn write(&self) -> String {
        self.outcome.print()
    }

    fn sides(&self, index: usize) -> Option<Sides> {
        self.outcome.sides.get(index)?.clone()
    }

    fn write_compilable(&self) -> Result<String, Box<dyn Error + Send + Sync>> {
        Ok(self.optimiser.compile(&self.outcome)?.text)
    }

    /// All of the module: it is our own text.
    fn write_ir(&self) -> String {
        self.write()
    }
}
