//! Versions of a module of our own text.

use super::{Made, Subject, Version, status};
use crate::LabError;
use crate::midend::Cranelift;
use rewright_clif::read::{read, write};
use rewright_native::isolate;
use rewright_native::module::{Clif, CompileError, ModuleOptimiser};
use rewright_pipeline::optimiser::{FunctionOutcome, Options};

impl Subject for ModuleOptimiser {
    fn chosen(&self, cranelift: &Cranelift, options: &Options) -> Result<Version, LabError> {
        let outcome = self.optimise(options, |_| true);
        let chosen = |f: &FunctionOutcome| status(&f.name, &f.fate, f.outcome.as_ref().map(|o| o.status));
        let statuses: Result<_, _> = outcome.statistics.wanted().map(chosen).collect();
        let costs = outcome.statistics.outcomes().map(|o| o.cost_after).collect();
        Ok(Version { statuses: statuses?, ..version(cranelift, self.compile(&outcome), costs)? })
    }

    /// It does not know what a call is worth, and neither moves nor merges any: its version is priced as the original.
    fn by_cranelift(&self, cranelift: &Cranelift, options: &Options) -> Result<Version, LabError> {
        let cost = |f| self.optimiser.cost_of(f, self.universe(), options);
        let costs = self.module.functions.iter().map(cost).collect();
        let mut original = self.compile(&self.optimise(options, |_| false))?;
        let functions = original.file.functions.iter();
        let made: Result<Vec<_>, _> = functions.map(|f| Ok::<_, LabError>(cranelift.optimise(&f.func)?.0)).collect();
        original.text = write(&original.file, &made?.iter().map(Some).collect::<Vec<_>>());
        original.file = read(&original.text)?;
        version(cranelift, Ok(original), costs)
    }
}

fn version(cranelift: &Cranelift, clif: Result<Clif, CompileError>, costs: Vec<u64>) -> Result<Version, LabError> {
    let Clif { text, file, imports, .. } = clif?;
    let made = file.functions.iter().zip(costs);
    let made: Result<_, LabError> = made.map(|(f, cost)| Ok(Made { cost, code: cranelift.code(&f.func)?.0 })).collect();
    Ok(Version { made: made?, statuses: vec![], file, runnable: isolate::Version { text, imports } })
}
