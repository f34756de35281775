//! CLIF through the pipeline, a file or one function: import what can be imported, optimise, export what became
//! cheaper.

mod calls;

use super::export::{ExportError, Exported, Surroundings, export};
use super::import::{ImportError, Imported, import};
use super::inline::Calls;
use super::names::Names;
use super::read::{File, Rejected, verify};
use super::{tail_calls, told};
use cranelift_codegen::ir::{self as clif, Endianness, TrapCode};
use cranelift_codegen::isa::TargetIsa;
use cranelift_codegen::settings::FlagsOrIsa;
use rewright_cfg_skeleton::ir::Function;
use rewright_cfg_skeleton::ir::frequencies::note_frequencies;
use rewright_dsl::program::Program;
use rewright_engine::EngineError;
use rewright_extract::clock;
use rewright_pipeline::front::Statistics;
use rewright_pipeline::optimiser::{Batch, Fate, FunctionOutcome, OptimisedFunction, Optimiser, Options, ValueNames};
use rewright_pipeline::source::Sides;
use std::time::Duration;

/// A program of rules, ready for CLIF.
#[derive(Clone)]
pub struct ClifOptimiser {
    /// The pipeline.
    pub optimiser: Optimiser,
    /// CLIF's spellings of the program's operations.
    pub names: Names,
}

/// Why a function stays as it is.
#[derive(Debug, thiserror::Error)]
pub enum OutOfScope {
    /// It is wrong as it stands.
    #[error("Cranelift's verifier rejects it: {0}")]
    Rejected(Rejected),
    /// It holds something that is not read.
    #[error(transparent)]
    Import(#[from] ImportError),
}

/// What became of a file.
pub struct FileOutcome {
    /// By function of the file: what takes its place, if it became cheaper.
    pub replaced: Vec<Option<clif::Function>>,
    /// What became of its functions.
    pub statistics: Statistics,
    /// By function: its text before and after, where it changed (where logging is on).
    pub sides: Vec<Option<Sides>>,
    /// Time for import and for export.
    pub import: Duration,
    /// See `import`.
    pub export: Duration,
}

/// The number that the IR has for a trap code that a pack names: Cranelift's byte; 0 where it knows none.
pub fn trap_code(name: &str) -> u32 {
    name.parse::<TrapCode>().map_or(0, |code| code.as_raw().get().into())
}

impl ClifOptimiser {
    /// Takes CLIF's spellings from the program and lowers its rules.
    pub fn new(mut program: Program) -> Result<Self, EngineError> {
        let names = Names::new(&mut program.universe);
        Ok(ClifOptimiser { optimiser: Optimiser::new(program, trap_code)?, names })
    }

    /// Imports one function of a file; the reason where it is out of scope.
    pub fn import(&self, file: &File, index: usize) -> Result<Imported, OutOfScope> {
        let function = &file.functions[index].func;
        file.accepts(function).map_err(OutOfScope::Rejected)?;
        self.import_function(function, file.endianness())
    }

    /// Imports a function that is in no file. `native` is the byte order of accesses that state none.
    pub fn import_function(&self, function: &clif::Function, native: Endianness) -> Result<Imported, OutOfScope> {
        let mut imported = import(function, &self.names, native)?;
        note_frequencies(&mut imported.function, &self.optimiser.program().universe);
        Ok(imported)
    }

    /// Optimises one function in place, for a compiler that holds functions and not files. It is verified for `isa`
    /// before and after; the outcome says what became of it, and unless that is [`Fate::Optimised`] it stays as it is.
    /// Any number of threads may do so at once: each gets an engine that is kept for the next function, and what comes
    /// out does not depend on what came before.
    pub fn optimise_function(
        &self,
        function: &mut clif::Function,
        isa: &dyn TargetIsa,
        options: &Options,
    ) -> FunctionOutcome {
        let name = function.name.to_string();
        let imported = verify(function, isa.into())
            .map_err(OutOfScope::Rejected)
            .and_then(|()| self.import_function(function, isa.endianness()));
        let mut imported = match imported {
            Ok(imported) => imported,
            Err(reason) => {
                let fate = Fate::PassedThrough(reason.to_string());
                return FunctionOutcome { name, fate, outcome: None, names: ValueNames::default(), unwritten: vec![] };
            }
        };
        let universe = &self.optimiser.program().universe;
        let makes_loops = self.optimiser.makes_loops(universe, options);
        let jumps = if makes_loops { tail_calls::jump(function, &mut imported, universe) } else { 0 };
        let mut batch = self.optimiser.optimise(std::slice::from_ref(&imported.function), universe, options);
        let mut outcome = batch.outcomes.pop().expect("one outcome per function that went in");
        outcome.note_tail_calls(jumps, &imported.function);
        let (new, fate, names) = self.exported(function, || Ok(isa.into()), isa.endianness(), &imported, &outcome);
        if let Some(new) = new {
            *function = new.function;
        }
        FunctionOutcome { name, fate, outcome: Some(outcome), names, unwritten: vec![] }
    }

    /// Optimises the functions of a file for which `wanted` holds.
    pub fn optimise(&self, file: &File, options: &Options, wanted: impl Fn(usize) -> bool) -> FileOutcome {
        let start = clock::now();
        let mut imported: Vec<Option<Result<Imported, OutOfScope>>> =
            (0..file.functions.len()).map(|i| wanted(i).then(|| self.import(file, i))).collect();
        if let Some(counts) = &options.counts {
            for Imported { function, payloads } in imported.iter_mut().flatten().flatten() {
                counts.note(function, |block| payloads.blocks[block.index()].to_string());
            }
        }
        let universe = &self.optimiser.program().universe;
        let makes_loops = self.optimiser.makes_loops(universe, options);
        let calls = Calls::new(file);
        let jump = |(index, slot): (usize, &mut Option<Result<Imported, OutOfScope>>)| match slot {
            Some(Ok(imported)) if makes_loops && calls.is_only(file, index) => {
                tail_calls::jump(&file.functions[index].func, imported, universe)
            }
            _ => 0,
        };
        let jumps: Vec<usize> = imported.iter_mut().enumerate().map(jump).collect();
        let import = clock::since(start);
        let functions: Vec<Function> =
            imported.iter().flatten().filter_map(|i| i.as_ref().ok().map(|i| i.function.clone())).collect();
        let Batch { outcomes, phases, rules } = self.optimiser.optimise(&functions, universe, options);
        let start = clock::now();
        let mut outcomes = outcomes.into_iter();
        let (mut replaced, mut functions, mut sides) = (vec![], vec![], vec![]);
        for (index, slot) in imported.into_iter().enumerate() {
            let name = file.functions[index].name();
            let mut told = None;
            let (new, outcome) = match slot {
                None => (None, None),
                Some(Err(reason)) => {
                    let fate = Fate::PassedThrough(reason.to_string());
                    (None, Some((fate, None, ValueNames::default())))
                }
                Some(Ok(imported)) => {
                    let mut outcome = outcomes.next().expect("one outcome per function that went in");
                    outcome.note_tail_calls(jumps[index], &imported.function);
                    let original = &file.functions[index].func;
                    let accepted = || file.accepts(original);
                    let (new, fate, names) = self.exported(original, accepted, file.endianness(), &imported, &outcome);
                    let written = new.as_ref().filter(|_| options.log);
                    told = written.map(|new| told::sides(original, &imported, &outcome, new));
                    (new.map(|new| new.function), Some((fate, Some(outcome), names)))
                }
            };
            replaced.push(new);
            sides.push(told);
            functions.push(outcome.map(|(fate, outcome, names)| FunctionOutcome {
                name,
                fate,
                outcome,
                names,
                unwritten: vec![],
            }));
        }
        let statistics = Statistics { functions, phases, rules };
        let mut outcome = FileOutcome { replaced, statistics, sides, import, export: clock::since(start) };
        // A profile counts blocks of functions as they are.
        let options = self.optimiser.with_variants(universe, options);
        if options.variants && options.counts.is_none() {
            self.inline_calls(file, &calls, &options, &mut outcome);
        }
        outcome
    }

    fn exported<'a>(
        &self,
        original: &clif::Function,
        accepted: impl FnOnce() -> Result<FlagsOrIsa<'a>, Rejected>,
        native: Endianness,
        imported: &Imported,
        outcome: &OptimisedFunction,
    ) -> (Option<Exported>, Fate, ValueNames) {
        let mut names = ValueNames::default();
        if outcome.fate != Fate::Optimised {
            return (None, outcome.fate.clone(), names);
        }
        let exported = accepted().map_err(ExportError::from).and_then(|fisa| {
            let around = Surroundings { original, payloads: &imported.payloads, linkage: None, native, fisa };
            export(&outcome.function, &self.names, &around)
        });
        match exported {
            Ok(exported) => {
                if !outcome.changed.is_empty() {
                    names.results = exported.values.iter().map(|value| value.map(|value| value.to_string())).collect();
                    let numbers = outcome.changed.iter().flat_map(|changed| &changed.was);
                    let results = |number: &u32| original.dfg.inst_results(clif::Inst::from_u32(*number));
                    names.originals = numbers.filter_map(|n| Some((*n, results(n).first()?.to_string()))).collect();
                }
                (Some(exported), Fate::Optimised, names)
            }
            Err(reason) => (None, Fate::Failed(format!("export failed: {reason}")), names),
        }
    }
}
