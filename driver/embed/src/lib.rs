//! Rewright inside another program: register packs and Rust functions, verify rules, optimise a module, get code.
//!
//! A pack's text declares types, functions and rules; a `host fn` of it is a Rust function that the program
//! registers under its name. `driver/embed/examples/embedding.rs` is a whole program, `verifying.rs` one that verifies
//! its rules, `jit.rs` a JIT that optimises Cranelift's functions as it makes them:
//!
//! ```no_run
//! use rewright_embed::Embedding;
//! use rewright_pipeline::optimiser::Options;
//! use rewright_typeprop::Constant;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let mut embedding = Embedding::new();
//! embedding.pack("mine.rw", "pack mine\nimport std.core\nhost fn half(x: f64) -> f64  pure  cost 90\n");
//! embedding.host("half", |args| Some((args[0].float()? / 2.0).into()));
//! let module = embedding.module("func %f(%x: f64) -> f64 {\n  %y = half %x\n  return %y\n}\n")?;
//! let outcome = module.optimise(&Options::default(), |_| true);
//! let code = embedding.code(&module, &outcome)?;
//! assert_eq!(code.call("f", &[3.0.into()])?[0].float(), Some(1.5));
//! # Ok(())
//! # }
//! ```
//!
//! Compiled code runs in this process: it is as safe as the libraries that it is linked with.

use cranelift_codegen::data_value::DataValue;
use rewright_clif::optimise::ClifOptimiser;
use rewright_dsl::diagnostic::{Severity, render};
use rewright_dsl::load::{Origin, Root};
use rewright_dsl::program::{Program, RuleId};
use rewright_native::jit::{Jit, JitError};
use rewright_native::module::{Clif, CompileError, ModuleError, ModuleOptimiser, ModuleOutcome};
use rewright_native::permission::{Allowed, NoLibrary};
use rewright_native::{foreign, isolate};
use rewright_packs::{self as packs, PackError};
use rewright_typeprop::{Constant, DataPool, HostFns, Scalar, Ty, Universe};
use rewright_verify::{self as verify, RuleReport};
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

/// Why an embedding program gets no module.
#[derive(Debug, thiserror::Error)]
pub enum EmbedError {
    /// No such pack ships, or a file cannot be read.
    #[error(transparent)]
    Pack(#[from] PackError),
    /// Mistakes in packs, as they would be printed.
    #[error("{0}")]
    Diagnostics(String),
    /// The solver, or a process that runs libraries, cannot be started.
    #[error("verification stopped: {0}")]
    Verification(#[from] std::io::Error),
    /// Mistakes in the module, or rules that do not form a program.
    #[error(transparent)]
    Module(#[from] ModuleError),
}

/// Packs and Rust functions of an embedding program.
#[derive(Default)]
pub struct Embedding {
    roots: Vec<Root>,
    hosts: HostFns,
    allowed: Allowed,
    worker: Option<PathBuf>,
    /// The packs, checked when first needed.
    checked: OnceLock<Program>,
}

impl Embedding {
    /// Without packs: at least one is needed to optimise anything.
    pub fn new() -> Self {
        Embedding::default()
    }

    /// Adds a pack by its text. `name` is what diagnostics call it.
    pub fn pack(&mut self, name: &str, text: &str) -> &mut Self {
        self.roots.push(Root { origin: Origin::Disk(name.into()), text: text.into(), library: false });
        self.checked = OnceLock::new();
        self
    }

    /// Adds a pack that ships (`std`, `std.arith`), or a file.
    ///
    /// # Errors
    /// When there is none.
    pub fn named(&mut self, name: &str) -> Result<&mut Self, EmbedError> {
        self.roots.push(packs::root(name.as_ref())?);
        self.checked = OnceLock::new();
        Ok(self)
    }

    /// Registers the Rust function behind a `host fn`, called `pack.name` where several packs declare one of that name.
    /// `None` is "no value here": no match while matching, a trap at run time, as a panic of the function is.
    pub fn host(
        &mut self,
        name: &str,
        function: impl Fn(&[Constant]) -> Option<Constant> + Send + Sync + 'static,
    ) -> &mut Self {
        self.hosts.register(name, function);
        self
    }

    /// Lets packs call functions of a shared library that they name (`@link`): a file by its path, or, by a name
    /// without `/`, what the system's loader finds under it. Compiled code calls them in this process; see SECURITY.md.
    /// Without permission, a library is not even opened, and code that calls it is not compiled.
    ///
    /// # Errors
    /// There is no such file.
    pub fn allow_link(&mut self, library: &str) -> Result<&mut Self, NoLibrary> {
        self.allowed.add(library)?;
        Ok(self)
    }

    /// Lets rules compute what functions of shared libraries that are allowed give on constants (`eval(f(..))` of a
    /// function that is `@link`ed). A library's code runs in a process of its own for that, where a trap, or a second
    /// without a result, is no match: `program` is `rewright`, or any program that begins as [`work`] says, this one
    /// among them (`std::env::current_exe()`). Without a worker such rules do not match.
    pub fn worker(&mut self, program: impl Into<PathBuf>) -> &mut Self {
        self.worker = Some(program.into());
        self
    }

    /// Reads a module over the packs, which are read and checked for the first one only.
    ///
    /// # Errors
    /// Mistakes in packs or in the module.
    pub fn module(&self, text: &str) -> Result<ModuleOptimiser, EmbedError> {
        Ok(ModuleOptimiser::new(self.program()?, text)?)
    }

    /// The packs, ready for the functions of a compiler that holds them as Cranelift does:
    /// [`ClifOptimiser::optimise_function`] optimises one in place. Packs are read once, here; the optimiser holds
    /// no global state and may be used by several threads at once, and its clones share what it has prepared.
    /// `driver/embed/examples/jit.rs` is a small JIT. For functions of our own IR there is
    /// [`ClifOptimiser::optimiser`].
    ///
    /// # Errors
    /// Mistakes in packs.
    pub fn clif(&self) -> Result<ClifOptimiser, EmbedError> {
        Ok(ClifOptimiser::new(self.program()?).map_err(ModuleError::from)?)
    }

    /// Verifies the rules whose qualified names are `wanted`, as `rewright verify` does, with what only this program
    /// knows: a rule whose sides call registered functions is tested on values of their types. Numbers need nothing; of
    /// other types the pack says how values are made (`@sample`) and what there is to see of them (`@observe`). By
    /// name, in the order of the packs. Functions run in this process, on any values of their types: one that gives
    /// `None` there is not tried, and one that panics ends it.
    ///
    /// ```
    /// use rewright_embed::Embedding;
    /// use rewright_verify::{Options, Verdict};
    ///
    /// let mut embedding = Embedding::new();
    /// embedding.pack(
    ///     "mine.rw",
    ///     "pack mine\nimport std.core\nhost fn half(x: f64) -> f64  pure  cost 90\n\
    ///      ruleset r { rule signs(x: f64): half(fneg(x)) => fneg(half(x)) }\n",
    /// );
    /// embedding.host("half", |args| Some((args[0].float()? / 2.0).into()));
    /// let reports = embedding.verify(&Options::default(), |rule| rule.starts_with("mine."))?;
    /// assert_eq!(reports[0].1.verdict, Verdict::Tested);
    /// # Ok::<(), rewright_embed::EmbedError>(())
    /// ```
    ///
    /// # Errors
    /// Mistakes in packs; a solver that cannot be started.
    pub fn verify(
        &self,
        options: &verify::Options,
        wanted: impl Fn(&str) -> bool,
    ) -> Result<Vec<(String, RuleReport)>, EmbedError> {
        let program = self.program()?;
        let options = verify::Options { program: options.program.clone().or(self.worker.clone()), ..options.clone() };
        let rules = (0..).map(RuleId).take(program.rules.len());
        let rules: Vec<RuleId> = rules.filter(|rule| wanted(&program.rule(*rule).name)).collect();
        let reports = verify::verify(&program, &rules, &options, &|| {})?;
        Ok(reports.into_iter().map(|report| (program.rule(report.rule).name.clone(), report)).collect())
    }

    /// The packs, with what is registered.
    fn program(&self) -> Result<Program, EmbedError> {
        let mut program = match self.checked.get() {
            Some(checked) => checked.clone(),
            None => {
                let checked = self.check()?;
                self.checked.get_or_init(|| checked).clone()
            }
        };
        self.allowed.grant(&mut program);
        if let Some(worker) = &self.worker {
            // The embedding program says what is allowed; a call that fails is no match.
            foreign::register(&mut program.universe, worker.clone(), &(Arc::new(|_| ()) as foreign::Listener));
        }
        program.universe.hosts.extend(&self.hosts);
        Ok(program)
    }

    /// The packs alone.
    fn check(&self) -> Result<Program, EmbedError> {
        let loaded = packs::load_applied(self.roots.clone());
        let errors: Vec<_> = loaded.diagnostics.iter().filter(|d| d.severity == Severity::Error).cloned().collect();
        match errors.is_empty() {
            true => Ok(loaded.program),
            false => Err(EmbedError::Diagnostics(render(&errors, &loaded.sources, false))),
        }
    }

    /// Compiles what went out for this process.
    ///
    /// # Errors
    /// Something that the module calls has no implementation, or a library is not there or not allowed.
    pub fn code(&self, module: &ModuleOptimiser, outcome: &ModuleOutcome) -> Result<Code, CompileError> {
        let clif = module.compile(outcome)?;
        let mut functions = vec![];
        for (f, name) in outcome.module.functions.iter().zip(&clif.names) {
            let plain = f.name.strip_prefix('%').unwrap_or(&f.name).to_string();
            functions.push(Entry { name: plain, symbol: format!("%{name}"), results: f.results.clone() });
        }
        Ok(Code { jit: Clif::jit(clif)?, functions, universe: outcome.universe.clone() })
    }
}

/// What a program that is its own [`Embedding::worker`] does first in its `main`, before it opens a file or starts a
/// thread, as the process gives up its rights and closes what it did not open itself: true where the process was
/// started to make calls for another one; they have been made then, and the process is to end.
///
/// # Errors
/// The other process does not read what it asked for.
pub fn work() -> std::io::Result<bool> {
    let asked = std::env::args_os().nth(1).is_some_and(|command| command == isolate::COMMAND);
    if asked {
        isolate::serve()?;
    }
    Ok(asked)
}

struct Entry {
    name: String,
    symbol: String,
    results: Vec<Ty>,
}

/// Compiled functions.
pub struct Code {
    jit: Jit,
    functions: Vec<Entry>,
    universe: Universe,
}

impl Code {
    /// Calls a function by its name in the module, without `%`. Array results that the data pool holds come back as
    /// arrays, other values without a machine representation as handles.
    ///
    /// # Errors
    /// There is no such function, or the arguments do not fit it.
    pub fn call(&self, name: &str, args: &[Constant]) -> Result<Vec<Constant>, JitError> {
        let entry = self.functions.iter().find(|f| f.name == name);
        let entry = entry.ok_or_else(|| JitError::NoFunction(name.to_string()))?;
        let data: &DataPool = &self.universe.data;
        let args: Vec<DataValue> = args.iter().map(|arg| machine(data, arg)).collect();
        let results = self.jit.call(&entry.symbol, &args)?;
        let back = |(value, ty): (&DataValue, &Ty)| constant(&self.universe, value, *ty);
        Ok(results.iter().zip(&entry.results).map(back).collect())
    }
}

fn machine(data: &DataPool, constant: &Constant) -> DataValue {
    match constant {
        Constant::Scalar(Scalar::I8, n) => DataValue::I8(*n as i8),
        Constant::Scalar(Scalar::I16, n) => DataValue::I16(*n as i16),
        Constant::Scalar(Scalar::I32, n) => DataValue::I32(*n as i32),
        Constant::Scalar(Scalar::I64, n) | Constant::Handle(n) => DataValue::I64(*n),
        Constant::Scalar(Scalar::F32, n) => DataValue::F32(f32::from_bits(*n as u32).into()),
        Constant::Scalar(Scalar::F64, n) => DataValue::F64(f64::from_bits(*n as u64).into()),
        Constant::Data(array) => {
            let key = data.intern_shared(array.clone());
            DataValue::I64(data.address_of(key).map_or(0, |address| address as i64))
        }
    }
}

fn constant(universe: &Universe, value: &DataValue, ty: Ty) -> Constant {
    let word = match value {
        DataValue::I8(n) => i64::from(*n),
        DataValue::I16(n) => i64::from(*n),
        DataValue::I32(n) => i64::from(*n),
        DataValue::I64(n) => *n,
        DataValue::F32(x) => i64::from(x.bits()),
        DataValue::F64(x) => x.bits() as i64,
        _ => 0,
    };
    match universe.types.scalar(ty) {
        Some(scalar) => Constant::Scalar(scalar, scalar.canonical(word as u64)),
        None => {
            let array = universe.data.key_at(word as usize).and_then(|key| universe.data.get(key));
            array.map_or(Constant::Handle(word), Constant::Data)
        }
    }
}
