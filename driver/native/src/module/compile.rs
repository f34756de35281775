//! A module as CLIF that the host's compiler takes, and what that uses from outside.

use crate::jit::{Blob, Externals, HostEntry, Imports, Jit, JitError, Link, compile as jit_compile};
use crate::runtest::host_targets;
use cranelift_codegen::ir::Endianness;
use cranelift_codegen::isa::CallConv;
use rewright_cfg_skeleton::ir::{Function, InstKind, Module};
use rewright_clif::export::{ExportError, Surroundings, export, head};
use rewright_clif::import::Payloads;
use rewright_clif::linkage::{Linkage, data_name};
use rewright_clif::names::Names;
use rewright_clif::print::print;
use rewright_clif::read::{File, ReadError, read};
use rewright_typeprop::eval::scalar_of;
use rewright_typeprop::{OpId, Ty, Universe};
use smallvec::SmallVec;
use std::fmt::Write as _;

/// Many results go through memory; 128-bit integers are passed as LLVM passes them.
const HEADER: &str = "test run\nset enable_multi_ret_implicit_sret=true\nset enable_llvm_abi_extensions=true\n\n";

/// Why a module cannot be compiled.
#[derive(Debug, thiserror::Error)]
pub enum CompileError {
    /// Something that it calls has no implementation.
    #[error("%{function} calls `{operation}`, which cannot be executed: {why}")]
    Missing {
        /// The caller.
        function: String,
        /// What it calls.
        operation: String,
        /// Why.
        why: String,
    },
    /// A function that CLIF cannot write.
    #[error("%{function}: {error}")]
    Export {
        /// The function.
        function: String,
        /// Why.
        error: ExportError,
    },
    /// Cranelift does not read what it printed: a bug.
    #[error("{0}")]
    Read(#[from] ReadError),
    /// No compiler for this host.
    #[error("Cranelift has no compiler for this host: {0}")]
    Host(String),
    /// Linking or compiling.
    #[error("{0}")]
    Jit(#[from] JitError),
}

/// A module as CLIF, and what that uses.
pub struct Clif {
    /// As text.
    pub text: String,
    /// As read back.
    pub file: File,
    /// What another process needs to run it; Rust functions cannot go there.
    pub imports: Imports,
    /// Names of the Rust functions that it calls.
    pub hosts: Vec<String>,
    /// By function of the module: its name in CLIF, without `%`.
    pub names: Vec<String>,
    entries: Vec<HostEntry>,
    universe: Universe,
}

impl Clif {
    /// Compiles it for this process: constants are where the universe has them, and its Rust functions are called.
    ///
    /// # Errors
    /// A library or a symbol that is not there; code that the host's compiler refuses.
    pub fn jit(self) -> Result<Jit, CompileError> {
        let mut externals = Externals::default();
        for link in &self.imports.links {
            externals.link(link)?;
        }
        let data = &self.universe.data;
        for key in self.imports.data.iter().filter_map(|blob| key_of(&blob.name)) {
            // Rust functions know an array by its address.
            data.address_of(key);
            if let Some(array) = data.get(key) {
                externals.share(data_name(key), array);
            }
        }
        if !self.entries.is_empty() {
            externals.hosts(self.universe, self.entries);
        }
        let target = host_targets(&self.file).into_iter().next().ok_or(CompileError::Host(String::new()))?;
        let target = target.map_err(|e| CompileError::Host(e.to_string()))?;
        let functions: Vec<_> = self.file.functions.iter().map(|f| &f.func).collect();
        Ok(jit_compile(&functions, target.isa, externals)?)
    }
}

fn key_of(name: &str) -> Option<i64> {
    i64::from_str_radix(name.strip_prefix("data_")?, 16).ok()
}

/// A verified module as CLIF.
pub fn compile(module: &Module, universe: &Universe, names: &Names) -> Result<Clif, CompileError> {
    let linkage = Linkage::new(module, universe, |op| names.spelling(op).is_some());
    let empty = read(HEADER)?;
    let isa = empty.isa.as_ref().ok_or_else(|| CompileError::Host("its architecture is not supported".into()))?;
    let convention = CallConv::triple_default(isa.triple());
    let mut text = HEADER.to_string();
    let mut data = vec![];
    for key in &linkage.data {
        let Some(array) = universe.data.get(*key) else { continue };
        let (header, bytes) = array.image();
        let _ = writeln!(text, "; %{}: {:?} of shape {:?}", data_name(*key), array.element(), array.shape());
        data.push(Blob { name: data_name(*key), header, bytes });
    }
    for (f, name) in module.functions.iter().zip(&linkage.names) {
        if let Some((operation, why)) = missing(f, &linkage, universe) {
            return Err(CompileError::Missing { function: name.clone(), operation, why });
        }
        let failed = |error| CompileError::Export { function: name.clone(), error };
        let head = head(f, name, names, Some(&linkage), convention, None).map_err(failed)?;
        let around = Surroundings {
            original: &head,
            payloads: &Payloads::default(),
            linkage: Some(&linkage),
            native: Endianness::Little,
            fisa: isa.as_ref().into(),
        };
        text.push_str(&print(&export(f, names, &around).map_err(failed)?.function));
        text.push('\n');
    }
    let links = linkage.symbols.into_values();
    let links = links.map(|own| Link { library: own.library, symbol: own.symbol, allowed: own.allowed }).collect();
    let entries: Vec<HostEntry> = linkage.hosts.iter().map(|(op, targs)| entry(universe, *op, targs)).collect();
    let file = read(&text)?;
    let hosts = entries.iter().map(|e| e.name.clone()).collect();
    let imports = Imports { links, data };
    Ok(Clif { text, file, imports, hosts, names: linkage.names, entries, universe: universe.clone() })
}

fn entry(universe: &Universe, op: OpId, targs: &SmallVec<[Ty; 2]>) -> HostEntry {
    let decl = universe.ops.get(op);
    let scalars: Vec<_> = targs.iter().map(|ty| universe.types.scalar(*ty)).collect();
    let scalar = |expr| scalar_of(&universe.types, expr, &scalars);
    HostEntry {
        name: decl.name.clone(),
        params: decl.params.iter().map(|p| scalar(&p.ty)).collect(),
        result: decl.results.first().map(scalar),
    }
}

/// Something that a function calls and that nothing implements.
fn missing(f: &Function, linkage: &Linkage<'_>, universe: &Universe) -> Option<(String, String)> {
    f.layout.iter().flat_map(|b| &f.block(*b).insts).find_map(|i| match &f.inst(*i).kind {
        InstKind::Op { op, .. } => linkage.missing.get(op).map(|why| (universe.ops.get(*op).name.clone(), why.clone())),
        _ => None,
    })
}
