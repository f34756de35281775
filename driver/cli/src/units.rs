//! The functions of a file, imported: for commands that look at e-graphs and write no file.

use super::sources;
use anyhow::{Context, Result};
use rewright_cfg_skeleton::ir::Function;
use rewright_clif::optimise::ClifOptimiser;
use rewright_dsl::program::Program;
use rewright_llvm::optimise::LlvmOptimiser;
use rewright_pipeline::optimiser::Optimiser;
use rewright_typeprop::Universe;
use std::path::Path;

/// Functions with what optimises them.
pub(super) struct Units {
    /// For the rules of the packs.
    pub(super) optimiser: Optimiser,
    /// The packs' universe with the types of the file.
    pub(super) universe: Universe,
    /// Those that are in scope.
    pub(super) functions: Vec<Function>,
}

/// The functions of a file, or the one that is named; `None` where the file has mistakes, which are on stderr then.
pub(super) fn units(path: &Path, program: Program, name: Option<&str>) -> Result<Option<Units>> {
    let choose = |names: Vec<String>| -> Result<Option<usize>> {
        name.map(|name| sources::function(path, names.into_iter(), name)).transpose()
    };
    let wanted = |chosen: Option<usize>| move |index: usize| chosen.is_none_or(|chosen| chosen == index);
    match path.extension().and_then(|e| e.to_str()) {
        Some("ir") => {
            let Some(module) = sources::module(path, program)? else { return Ok(None) };
            let originals = &module.module.functions;
            let wanted = wanted(choose(originals.iter().map(|f| f.name.clone()).collect())?);
            let functions = originals.iter().enumerate().filter(|(i, _)| wanted(*i)).map(|(_, f)| f.clone()).collect();
            let universe = module.universe().clone();
            Ok(Some(Units { optimiser: module.optimiser, universe, functions }))
        }
        Some("ll" | "bc") => {
            let Some(file) = sources::llvm(path)? else { return Ok(None) };
            let llvm = LlvmOptimiser::new(program);
            let chosen = choose(file.functions.iter().map(|f| f.name.clone()).collect())?;
            let (imported, universe) = llvm.import(&file, wanted(chosen));
            let functions = imported.into_iter().flatten().flatten().map(|imported| imported.function).collect();
            Ok(Some(Units { optimiser: llvm.optimiser, universe, functions }))
        }
        _ => {
            let Some(file) = sources::clif(path)? else { return Ok(None) };
            let clif = ClifOptimiser::new(program).context("the rules do not form a program")?;
            let wanted = wanted(choose(file.functions.iter().map(|f| f.name()).collect())?);
            let functions = (0..file.functions.len()).filter(|i| wanted(*i));
            let functions = functions.filter_map(|i| clif.import(&file, i).ok().map(|i| i.function)).collect();
            let universe = clif.optimiser.program().universe.clone();
            Ok(Some(Units { optimiser: clif.optimiser, universe, functions }))
        }
    }
}
