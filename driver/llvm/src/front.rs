//! LLVM IR as a front end: a file with the rules for it.

use super::locations::Locations;
use super::module::{self, File, UNKNOWN_LAYOUT, read_bytes};
use super::optimise::{FileOutcome, LlvmOptimiser};
use super::told;
use rewright_cfg_skeleton::ir::parse::Request;
use rewright_cfg_skeleton::ir::specialise::SpecialiseError;
use rewright_cfg_skeleton::select;
use rewright_dsl::program::Program;
use rewright_pipeline::front::{FrontEnd, Heading, Imported, Optimised, ReadError, RefusedCall, Statistics, Wanted};
use rewright_pipeline::optimiser::{Optimiser, Options};
use rewright_pipeline::source::Sides;
use rewright_typeprop::Universe;

/// A file of LLVM IR, and the rules for it.
pub struct LlvmInput {
    /// The rules.
    pub rules: LlvmOptimiser,
    /// The file.
    pub file: File,
}

impl From<module::ReadError> for ReadError {
    fn from(error: module::ReadError) -> Self {
        ReadError::Mistakes { mistakes: vec![format!(": {error}")], reader: None }
    }
}

impl FrontEnd for LlvmInput {
    fn read(program: Program, text: Vec<u8>) -> Result<Self, ReadError> {
        let file = read_bytes(text)?;
        Ok(LlvmInput { rules: LlvmOptimiser::new(program), file })
    }

    fn optimiser(&self) -> &Optimiser {
        &self.rules.optimiser
    }

    /// Without blocks: profiles of LLVM IR are LLVM's own.
    fn functions(&self) -> Vec<Heading> {
        self.file.functions.iter().map(|f| Heading { name: f.name.clone(), blocks: vec![] }).collect()
    }

    fn out_of_scope(&self) -> Option<&'static str> {
        (!self.file.known_layout && !self.file.functions.is_empty()).then_some(UNKNOWN_LAYOUT)
    }

    fn specialise(&mut self, _request: &Request) -> Result<String, SpecialiseError> {
        let reason =
            "functions of LLVM IR are specialised by LLVM's own passes: this is for CLIF and Rewright's own text";
        Err(SpecialiseError::Unsupported(reason.into()))
    }

    fn import(&self, wanted: Wanted<'_>) -> Imported {
        let (imported, universe) = self.rules.import(&self.file, wanted);
        let understood: Vec<_> = imported.into_iter().flatten().flatten().collect();
        let locations = Locations::read(&self.file.text);
        let refused = |imported: &super::import::Imported| -> Vec<RefusedCall> {
            let calls = imported.payloads.refused.iter().map(|call| RefusedCall {
                function: imported.function.name.clone(),
                callee: call.callee.clone(),
                declared: self.rules.names.functions(&call.callee).to_vec(),
                because: call.because.clone(),
                place: told::place(imported, call.position, &locations),
            });
            calls.collect()
        };
        let refused = understood.iter().flat_map(refused).collect();
        let places = understood.iter().map(|imported| told::places(imported, &locations)).collect();
        let functions = understood.into_iter().map(|imported| imported.function).collect();
        Imported { functions, universe, refused, places }
    }

    /// Values of most functions keep their placement, unless no other passes follow; of those with calls that packs know
    /// better, what is computed where may differ.
    fn options(&self, options: &Options) -> Options {
        let options = self.rules.options(&self.file, options);
        Options { select: select::Options { keep_placement: !options.standalone, ..options.select }, ..options }
    }

    fn optimise(&self, options: &Options, wanted: Wanted<'_>) -> Box<dyn Optimised + '_> {
        Box::new(self.rules.optimise(&self.file, options, wanted))
    }
}

impl Optimised for FileOutcome {
    fn statistics(&self) -> &Statistics {
        &self.statistics
    }

    fn universe(&self) -> &Universe {
        &self.universe
    }

    fn write(&self) -> String {
        self.text.clone()
    }

    fn sides(&self, index: usize) -> Option<Sides> {
        self.sides.get(index).cloned().flatten()
    }
}
