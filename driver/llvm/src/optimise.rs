//! A file of LLVM IR through the pipeline: import what is understood, optimise, export what became cheaper.

use super::declared_calls::{self, DeclaredCalls};
use super::export::{ExportError, Exported, export};
use super::function_cache::{self, Became, FunctionCache};
use super::import::{ImportError, Imported, Types, import};
use super::locations::Locations;
use super::module::{File, write};
use super::names::Names;
use super::told;
use rewright_cfg_skeleton::ir::frequencies::note_frequencies;
use rewright_cfg_skeleton::ir::{Cfg, Function, InstKind};
use rewright_cfg_skeleton::select::{self, Method};
use rewright_dsl::program::Program;
use rewright_engine::RuleReport;
use rewright_extract::clock;
use rewright_files::cache::Key;
use rewright_pipeline::front::Statistics;
use rewright_pipeline::optimiser::{
    Batch, Fate, FunctionOutcome, Lowered, OptimisedFunction, Optimiser, Options, Phases, Rules, Unwritten, ValueNames,
    untouched,
};
use rewright_pipeline::source::Sides;
use rewright_typeprop::{OpId, RuleId, Universe};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// A program of rules, ready for LLVM IR.
#[derive(Clone)]
pub struct LlvmOptimiser {
    /// The pipeline.
    pub optimiser: Optimiser,
    /// LLVM's spellings of the program's operations.
    pub names: Names,
}

/// What became of a file.
pub struct FileOutcome {
    /// The file that goes out.
    pub text: String,
    /// What became of its functions.
    pub statistics: Statistics,
    /// By function: its text before and after, where it changed (where logging is on).
    pub sides: Vec<Option<Sides>>,
    /// Time for import, for what [`LlvmOptimiser::optimise`] compares with, and for export.
    pub import: Duration,
    /// See `import`.
    pub compare: Duration,
    /// See `import`.
    pub export: Duration,
    /// Functions that were met before.
    pub known: usize,
    /// C functions of which packs say that they do less than LLVM knows, with what that is: the number of such calls.
    pub narrowed: BTreeMap<String, u64>,
    /// What became of calls of C functions that packs of the user declare.
    pub calls: BTreeMap<String, DeclaredCalls>,
    /// The packs' universe with the file's types.
    pub universe: Universe,
}

/// What became of functions of a file that are understood.
struct Results {
    /// In order.
    became: Vec<OfFunction>,
    phases: Phases,
    rules: BTreeMap<RuleId, RuleReport>,
    /// Time for comparing.
    compare: Duration,
    /// Functions that were met before.
    known: usize,
}

/// What became of a function, with the pipeline's own figures where it was asked.
type OfFunction = (Became, Option<OptimisedFunction>);

/// A function of a file.
struct Place<'a> {
    file: &'a File,
    index: usize,
    imported: &'a Imported,
    universe: &'a Universe,
}

/// Operations that a function is made without, one after the other, before it is given up.
const LEFT_OUT: usize = 8;

/// A check's trap code says nothing here: what traps is undefined.
fn trap_code(_: &str) -> u32 {
    0
}

impl LlvmOptimiser {
    /// Takes LLVM's spellings from the program and lowers its rules.
    pub fn new(program: Program) -> Self {
        LlvmOptimiser::of(LlvmOptimiser::lower(program))
    }

    /// Lowers the rules of a program that has LLVM's spellings.
    pub fn lower(mut program: Program) -> Lowered {
        // They name types, which are to be there before rules speak of types by number.
        Names::new(&mut program.universe);
        Lowered::new(program)
    }

    /// The same as [`LlvmOptimiser::new`] of what [`LlvmOptimiser::lower`] gives.
    pub fn of(mut lowered: Lowered) -> Self {
        let names = Names::new(&mut lowered.program.universe);
        let optimiser = Optimiser::of(lowered, trap_code).without(names.unwritable());
        LlvmOptimiser { optimiser, names }
    }

    /// Imports the functions of a file for which `wanted` holds, over a universe with the file's types.
    pub fn import(
        &self,
        file: &File,
        wanted: impl Fn(usize) -> bool,
    ) -> (Vec<Option<Result<Imported, ImportError>>>, Universe) {
        let mut types = Types::new(&self.names, &self.optimiser.program().universe);
        let mut imported: Vec<_> = file
            .functions
            .iter()
            .enumerate()
            .map(|(i, definition)| wanted(i).then(|| import(file, definition, &self.names, &mut types)))
            .collect();
        for function in imported.iter_mut().flatten().flatten() {
            note_frequencies(&mut function.function, &types.universe);
        }
        (imported, types.universe)
    }

    /// Optimises the functions of a file for which `wanted` holds. A function changes only if it becomes cheaper than
    /// without any rule, what is frozen for it included: what moving and sharing alone can do, LLVM does by itself.
    pub fn optimise(&self, file: &File, options: &Options, wanted: impl Fn(usize) -> bool) -> FileOutcome {
        self.optimise_unknown(file, options, wanted, &FunctionCache::default())
    }

    /// The same for one of many files: functions that were met before do not go through the pipeline again.
    pub fn optimise_unknown(
        &self,
        file: &File,
        options: &Options,
        wanted: impl Fn(usize) -> bool,
        known: &FunctionCache,
    ) -> FileOutcome {
        let start = clock::now();
        let (imported, universe) = self.import(file, wanted);
        let import = clock::since(start);
        let mut narrowed = BTreeMap::new();
        for function in imported.iter().flatten().flatten().flat_map(|i| &i.payloads.narrowed) {
            *narrowed.entry(function.clone()).or_default() += 1;
        }
        let functions = imported.iter().flatten().flatten();
        let calls = declared_calls::calls(file, functions, &self.names, &universe);
        let options = &self.options(file, options);
        let understood: Vec<&Imported> = imported.iter().flatten().flatten().collect();
        let Results { became, phases, rules, compare, known: known_before } =
            self.results(&understood, &universe, options, known);
        let start = clock::now();
        let mut became = became.into_iter();
        let (mut replaced, mut functions, mut declarations) = (vec![], vec![], BTreeSet::new());
        let locations = options.log.then(|| Locations::read(&file.text));
        let mut sides = vec![None; file.functions.len()];
        for (index, slot) in imported.iter().enumerate() {
            let mut unwritten = vec![];
            let (new, fate, outcome, names) = match slot {
                None => (None, None, None, ValueNames::default()),
                Some(Err(reason)) => {
                    let head = file.functions[index].head(file);
                    let names = locations.as_ref().map_or_else(ValueNames::default, |locations| ValueNames {
                        place: locations.of_function(head),
                        function: locations.name_of_function(head),
                        ..ValueNames::default()
                    });
                    (None, Some(Fate::PassedThrough(reason.to_string())), None, names)
                }
                Some(Ok(imported)) => {
                    let place = Place { file, index, imported, universe: &universe };
                    let first = became.next().unwrap_or_default();
                    let (became, new, without) = self.written(&place, first, options, known);
                    unwritten = without;
                    let (this, mut outcome) = became;
                    let (new, fate) = match new {
                        Ok(None) if this.fate == Fate::Optimised => {
                            outcome.iter_mut().for_each(OptimisedFunction::take_back);
                            (None, Fate::Unchanged)
                        }
                        Ok(new) => (new, this.fate),
                        Err(reason) => (None, Fate::Failed(format!("export failed: {reason}"))),
                    };
                    let names = locations.as_ref().map_or_else(ValueNames::default, |locations| {
                        let definition = &file.functions[index];
                        let changed = outcome.as_ref().zip(new.as_ref());
                        if let Some((outcome, new)) = changed {
                            let written = (new.body.as_str(), new.prefix.as_str());
                            sides[index] = Some(told::sides(file, definition, imported, outcome, locations, written));
                        }
                        let changed = changed.map(|(outcome, new)| (outcome, new.prefix.as_str()));
                        told::value_names(imported, changed, locations, file, definition)
                    });
                    (new, Some(fate), outcome, names)
                }
            };
            replaced.push(new.map(|new| {
                declarations.extend(new.declarations);
                new.body
            }));
            let name = file.functions[index].name.clone();
            functions.push(fate.map(|fate| FunctionOutcome { name, fate, outcome, names, unwritten }));
        }
        let replaced: Vec<Option<&str>> = replaced.iter().map(Option::as_deref).collect();
        let declarations: Vec<String> = declarations.into_iter().collect();
        let text = write(file, &replaced, &declarations);
        let export = clock::since(start);
        let statistics = Statistics { functions, phases, rules };
        FileOutcome { text, statistics, sides, import, compare, export, known: known_before, narrowed, calls, universe }
    }

    /// C functions that packs of the user declare, with where the first one of that name is declared (`mine.rw:4`).
    pub fn declared(&self) -> BTreeMap<String, String> {
        let program = self.optimiser.program();
        let own = declared_calls::declared(&self.names, &program.universe);
        own.into_iter().map(|(function, op)| (function, program.declaration(op).unwrap_or_default())).collect()
    }

    /// C functions that packs of the user declare, and that a file does not name.
    pub fn unnamed(&self, file: &File) -> Vec<String> {
        declared_calls::unnamed(file, &self.names, &self.optimiser.program().universe)
    }

    /// How functions of a file are selected.
    pub fn options(&self, file: &File, options: &Options) -> Options {
        // A rule must not make a C function call itself. LLVM would make one of two instructions that compute the same,
        // whatever registers there are; and the two might be frozen differently.
        let unavailable = self.names.operations(file.functions.iter().map(|f| f.name.as_str()));
        let prefer_original = !options.standalone;
        let select = select::Options { unavailable, registers: None, prefer_original, ..options.select.clone() };
        // In copies of iterations, a value of one could take the place of that of another, and be poison where it is not.
        Options { select, variants: false, ..options.clone() }
    }

    /// What becomes of functions of one file: what is known of them, or what the pipeline gives.
    fn results(
        &self,
        functions: &[&Imported],
        universe: &Universe,
        options: &Options,
        known: &FunctionCache,
    ) -> Results {
        // Of calls that packs know more of, moving and sharing is what LLVM cannot do.
        let more_is_known: Vec<bool> = functions.iter().map(|i| !i.payloads.narrowed.is_empty()).collect();
        let context = function_cache::context(&self.optimiser.program().universe, universe, options);
        let key = |(i, more): (&&Imported, &bool)| function_cache::key(context, &i.function, *more);
        let keys: Vec<Key> = functions.iter().zip(&more_is_known).map(key).collect();
        let mut became: Vec<(Option<Became>, Option<OptimisedFunction>)> =
            keys.iter().map(|key| (known.find(*key), None)).collect();
        let new: Vec<usize> = (0..became.len()).filter(|i| became[*i].0.is_none()).collect();
        let known_before = became.len() - new.len();
        let originals: Vec<Function> = new.iter().map(|i| functions[*i].function.clone()).collect();
        let more_is_known: Vec<bool> = new.iter().map(|i| more_is_known[*i]).collect();
        let Batch { mut outcomes, phases, rules } = match self.optimiser.schedule(options) {
            Some(_) => self.outcomes(&originals, &more_is_known, universe, options),
            None => Batch { outcomes: untouched(&originals, universe, options), ..Batch::default() },
        };
        let start = clock::now();
        self.compare(&mut outcomes, &originals, &more_is_known, universe, options);
        let compare = clock::since(start);
        for (i, outcome) in new.into_iter().zip(outcomes) {
            let this = Became::of(&outcome);
            known.keep(keys[i], this.clone());
            became[i] = (Some(this), Some(outcome));
        }
        let became = became.into_iter().map(|(this, outcome)| (this.unwrap_or_default(), outcome)).collect();
        Results { became, phases, rules, compare, known: known_before }
    }

    /// Where packs know more of calls than LLVM, it cannot move and share them: values do not stay where they were. And
    /// where choices are to be made quickly, they still are not there: calls cost more at run time than anything else
    /// here, and sharing one often wants two choices at once.
    fn outcomes(
        &self,
        functions: &[Function],
        more_is_known: &[bool],
        universe: &Universe,
        options: &Options,
    ) -> Batch {
        let (mut whole, mut order) = (Batch::default(), vec![]);
        for known in [false, true] {
            let own: Vec<usize> = (0..functions.len()).filter(|i| more_is_known[*i] == known).collect();
            let batch: Vec<Function> = own.iter().map(|i| functions[*i].clone()).collect();
            let method = match options.select.method {
                Method::Greedy if known => Method::Auto,
                method => method,
            };
            let keep_placement = !known && !options.standalone;
            let select = select::Options { method, keep_placement, ..options.select.clone() };
            let options = Options { select, ..options.clone() };
            whole.add(self.optimiser.optimise(&batch, universe, &options));
            order.extend(own);
        }
        let mut outcomes: Vec<(usize, OptimisedFunction)> = order.into_iter().zip(whole.outcomes).collect();
        outcomes.sort_by_key(|(i, _)| *i);
        Batch { outcomes: outcomes.into_iter().map(|(_, outcome)| outcome).collect(), ..whole }
    }

    /// Takes back what would have become as cheap without rules, which is what LLVM's own passes do.
    fn compare(
        &self,
        outcomes: &mut [OptimisedFunction],
        functions: &[Function],
        more_is_known: &[bool],
        universe: &Universe,
        options: &Options,
    ) {
        if options.standalone {
            return;
        }
        let suspect = |i: &usize| outcomes[*i].fate == Fate::Optimised && !more_is_known[*i];
        let cheaper: Vec<usize> = (0..outcomes.len()).filter(suspect).collect();
        let originals: Vec<Function> = cheaper.iter().map(|i| functions[*i].clone()).collect();
        let select = select::Options { keep_placement: false, ..options.select.clone() };
        let without = Options { select, rules: Rules::Nothing, log: false, ..options.clone() };
        let baseline = self.optimiser.optimise(&originals, universe, &without);
        for (i, baseline) in cheaper.into_iter().zip(baseline.outcomes) {
            let outcome = &mut outcomes[i];
            outcome.cost_before = outcome.cost_before.min(baseline.cost_after);
            if outcome.cost_after >= outcome.cost_before {
                outcome.take_back();
            }
        }
    }

    /// A function as it goes out, where it becomes cheaper. It is made without anything that cannot be written there: an
    /// operation whose C function the file does not declare, or a structure that is passed in a way of its own.
    fn written(
        &self,
        place: &Place<'_>,
        first: OfFunction,
        options: &Options,
        known: &FunctionCache,
    ) -> (OfFunction, Result<Option<Exported>, ExportError>, Vec<Unwritten>) {
        let Place { file, index, imported, universe } = *place;
        let (mut made, mut without) = (first, vec![]);
        let mut options = options.clone();
        loop {
            let (this, _) = &made;
            let export = |function| -> Result<_, ExportError> {
                let new = self.exported(file, index, imported, function, universe)?;
                Ok((this.gain > price_of_freezing(&new, function, &options)).then_some(new))
            };
            let new = this.function.as_ref().map(export).transpose().map(Option::flatten);
            let unwritten = new.as_ref().err().zip(this.function.as_ref()).and_then(|(e, f)| self.unwritten(e, f));
            match unwritten {
                Some((op, why)) if without.len() < LEFT_OUT && options.select.unavailable.insert(op) => {
                    without.push(Unwritten { operation: universe.ops.get(op).name.clone(), why });
                    made = self.results(&[imported], universe, &options, known).became.pop().unwrap_or_default();
                }
                _ => return (made, new, without),
            }
        }
    }

    /// The operation of a function that cannot be written, where it is one, and why.
    fn unwritten(&self, error: &ExportError, function: &Function) -> Option<(OpId, String)> {
        match error {
            ExportError::Call { op, why } => Some((*op, why.to_string())),
            // A call gives a type that nothing in the file has.
            ExportError::Type(value) => {
                let mut instructions = function.layout.iter().flat_map(|block| &function.block(*block).insts);
                let maker = instructions.find(|inst| function.inst(**inst).results.contains(value))?;
                let InstKind::Op { op, .. } = &function.inst(*maker).kind else { return None };
                let (callee, _) = self.names.written(*op)?;
                Some((*op, ExportError::Structure(callee.to_string()).to_string()))
            }
            _ => None,
        }
    }

    fn exported(
        &self,
        file: &File,
        index: usize,
        imported: &Imported,
        function: &Function,
        universe: &Universe,
    ) -> Result<Exported, ExportError> {
        let definition = &file.functions[index];
        export(function, imported, file, definition, &self.names, universe)
    }

    /// The file with every function that is understood taken in and written again, not optimised. Tests and
    /// measurements of the front end alone use it.
    pub fn rewrite(&self, file: &File) -> (String, Vec<(String, Option<String>)>) {
        let (imported, universe) = self.import(file, |_| true);
        let (mut bodies, mut declarations, mut functions) = (vec![], BTreeSet::new(), vec![]);
        for (index, imported) in imported.into_iter().flatten().enumerate() {
            let exported = match imported {
                Ok(imported) => {
                    self.exported(file, index, &imported, &imported.function, &universe).map_err(|e| e.to_string())
                }
                Err(error) => Err(error.to_string()),
            };
            functions.push((file.functions[index].name.clone(), exported.as_ref().err().cloned()));
            bodies.push(exported.ok().map(|new| {
                declarations.extend(new.declarations);
                new.body
            }));
        }
        let bodies: Vec<Option<&str>> = bodies.iter().map(Option::as_deref).collect();
        let declarations: Vec<String> = declarations.into_iter().collect();
        (write(file, &bodies, &declarations), functions)
    }
}

/// What freezing costs: nothing when it is executed, but LLVM knows as little of a frozen value as of one that comes
/// out of an operation that it does not know.
fn price_of_freezing(new: &Exported, function: &Function, options: &Options) -> u64 {
    if options.standalone {
        return 0;
    }
    let cfg = Cfg::new(function).weighed(options.select.cost.weighing);
    let executions = new.frozen.iter().map(|b| cfg.frequency(*b)).fold(0, u64::saturating_add);
    executions.saturating_mul(options.select.cost.opaque)
}
