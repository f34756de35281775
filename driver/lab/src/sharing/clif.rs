//! Versions of a file of CLIF, and calls of its functions.

use super::{Made, Subject, Version, status};
use crate::LabError;
use crate::midend::Cranelift;
use cranelift_codegen::ir::{Function, types};
use rewright_cfg_skeleton::select::Status;
use rewright_clif::optimise::ClifOptimiser;
use rewright_clif::read::{File, read, write};
use rewright_native::isolate;
use rewright_native::jit::Imports;
use rewright_pipeline::optimiser::Options;

/// A file, and the rules for it.
pub struct ClifSubject<'a> {
    /// The rules.
    pub clif: &'a ClifOptimiser,
    /// The file.
    pub file: &'a File,
}

impl Subject for ClifSubject<'_> {
    fn chosen(&self, cranelift: &Cranelift, options: &Options) -> Result<Version, LabError> {
        let outcome = self.clif.optimise(self.file, options, |_| true);
        let mut statuses = vec![];
        for function in outcome.statistics.wanted() {
            let chosen = function.outcome.as_ref().map(|o| o.status);
            statuses.push(status(&function.name, &function.fate, chosen)?);
        }
        self.version(cranelift, options, &outcome.replaced, statuses)
    }

    fn by_cranelift(&self, cranelift: &Cranelift, options: &Options) -> Result<Version, LabError> {
        let functions = self.file.functions.iter();
        let made: Result<Vec<_>, LabError> = functions.map(|f| Ok(Some(cranelift.optimise(&f.func)?.0))).collect();
        self.version(cranelift, options, &made?, vec![])
    }
}

impl ClifSubject<'_> {
    fn version(
        &self,
        cranelift: &Cranelift,
        options: &Options,
        replaced: &[Option<Function>],
        statuses: Vec<Status>,
    ) -> Result<Version, LabError> {
        let ClifSubject { clif, file } = self;
        let universe = &clif.optimiser.program().universe;
        let mut made = vec![];
        for (original, replaced) in file.functions.iter().zip(replaced) {
            let function = replaced.as_ref().unwrap_or(&original.func);
            let imported = clif.import_function(function, file.endianness())?;
            let cost = clif.optimiser.cost_of(&imported.function, universe, options);
            made.push(Made { cost, code: cranelift.code(function)?.0 });
        }
        let replaced: Vec<_> = replaced.iter().map(Option::as_ref).collect();
        let text = write(file, &replaced);
        let file = read(&text)?;
        Ok(Version { made, statuses, file, runnable: isolate::Version { text, imports: Imports::default() } })
    }
}

/// A call of a function with a number of iterations as its first argument, and made-up words as the others.
///
/// # Errors
/// A parameter that is no word.
pub fn directive(file: &File, index: usize, iterations: u64) -> Result<String, LabError> {
    let function = &file.functions[index];
    let mut words = vec![];
    for (n, param) in function.func.signature.params.iter().enumerate() {
        if ![types::I64, types::I32].contains(&param.value_type) {
            return Err(LabError::Parameter(param.value_type.to_string()));
        }
        words.push(match n {
            0 => iterations.to_string(),
            // Any odd multiplier spreads bits.
            _ => (n as u32).wrapping_mul(0x2545_f491).cast_signed().to_string(),
        });
    }
    Ok(format!("print: {}({})", function.name(), words.join(", ")))
}
