//! What operations that CLIF has no instruction for are at run time: calls.
//!
//! An operation is called as the function of the module that is its body, as the symbol of a shared library that
//! its pack names (`@link("libm.so.6", "hypot")`), or as a Rust function that the embedding program registers.
//!
//! **Values.** A value of a type with a machine representation is that. Any other value is one 64-bit word: the
//! address of an array (see [`rewright_typeprop::data`]) or a handle that belongs to the functions that make and
//! take it. Nothing here copies, frees or counts references: constants and what Rust functions give belong to the
//! universe's data pool and live as long as it; what a library allocates, its own functions free, and a pack
//! declares them with their effects.

use cranelift_codegen::ir::{self as clif, AbiParam, Type, types};
use cranelift_codegen::isa::CallConv;
use indexmap::IndexSet;
use rewright_cfg_skeleton::ir::{Function, InstKind, Module};
use rewright_typeprop::ops::{Extension, Link};
use rewright_typeprop::{OpId, Scalar, Ty, TypeExpr, Universe};
use smallvec::SmallVec;
use std::collections::{BTreeMap, BTreeSet};

/// The name in CLIF of what calls Rust functions.
pub const HOST_CALL: &str = "rewright_call_host";
/// The name in CLIF of the table of Rust functions.
pub const HOST_TABLE: &str = "rewright_hosts";

/// How an operation is called.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Callee {
    /// A function of the module, by its name in CLIF without `%`.
    Function(String),
    /// A symbol of a shared library.
    Symbol(String),
    /// A Rust function.
    Host,
}

/// Names of everything that a module calls.
#[derive(Clone, Debug)]
pub struct Linkage<'a> {
    pub(crate) universe: &'a Universe,
    callees: BTreeMap<OpId, Callee>,
    /// Symbols that are called.
    pub symbols: BTreeMap<String, Link>,
    /// Rust functions that are called: the operation and its type arguments.
    pub hosts: IndexSet<(OpId, SmallVec<[Ty; 2]>)>,
    /// Array constants, by key.
    pub data: BTreeSet<i64>,
    /// By function of the module: its name in CLIF.
    pub names: Vec<String>,
    /// Operations that nothing implements, with why.
    pub missing: BTreeMap<OpId, String>,
}

impl<'a> Linkage<'a> {
    /// Looks at all that a module calls. `spelled` are operations that CLIF has an instruction for.
    pub fn new(module: &Module, universe: &'a Universe, spelled: impl Fn(OpId) -> bool) -> Linkage<'a> {
        let mut linkage = Linkage {
            universe,
            callees: BTreeMap::new(),
            symbols: BTreeMap::new(),
            hosts: IndexSet::new(),
            data: BTreeSet::new(),
            names: function_names(module),
            missing: BTreeMap::new(),
        };
        for f in &module.functions {
            for inst in f.layout.iter().flat_map(|b| &f.block(*b).insts).map(|i| f.inst(*i)) {
                match &inst.kind {
                    InstKind::Op { op, targs, .. } if !spelled(*op) => {
                        linkage.link(module, *op);
                        if linkage.callee(*op) == Some(&Callee::Host) {
                            linkage.hosts.insert((*op, targs.clone()));
                        }
                    }
                    InstKind::Const(key) => {
                        let ty = f.ty(inst.results[0]);
                        if universe.types.scalar(ty).is_none() && universe.data.get(*key).is_some() {
                            linkage.data.insert(*key);
                        }
                    }
                    _ => {}
                }
            }
        }
        linkage
    }

    fn link(&mut self, module: &Module, op: OpId) {
        if self.callees.contains_key(&op) || self.missing.contains_key(&op) {
            return;
        }
        let decl = self.universe.ops.get(op);
        let callee = if let Some(body) = module.bodies.get(&op) {
            Callee::Function(self.names[*body].clone())
        } else if let Some(link) = &decl.link {
            let known = self.symbols.entry(link.symbol.clone()).or_insert_with(|| link.clone());
            if known.library != link.library {
                let why = format!("symbol {} is wanted from {} and from {}", link.symbol, known.library, link.library);
                self.missing.insert(op, why);
                return;
            }
            // A symbol is allowed only if every declaration of it is.
            known.allowed &= link.allowed;
            Callee::Symbol(link.symbol.clone())
        } else if self.universe.hosts.get(&decl.name).is_some() {
            Callee::Host
        } else {
            let why = match decl.host {
                true => "no Rust function is registered under its name",
                false => "it has no instruction (`@clif`), no symbol (`@link`), and no body in the file",
            };
            self.missing.insert(op, why.into());
            return;
        };
        self.callees.insert(op, callee);
    }

    /// How an operation is called.
    pub fn callee(&self, op: OpId) -> Option<&Callee> {
        self.callees.get(&op)
    }

    /// The CLIF type of a value.
    pub fn abi(&self, ty: Ty) -> Type {
        self.universe.types.scalar(ty).map_or(types::I64, scalar_type)
    }

    /// The signature of a called operation at type arguments.
    pub fn signature(&self, op: OpId, targs: &[Ty], convention: CallConv) -> clif::Signature {
        let decl = self.universe.ops.get(op);
        let narrow = decl.link.as_ref().and_then(|link| link.narrow);
        let abi = |expr: &TypeExpr| {
            let ty = self.universe.types.find_instance(expr, targs).map_or(types::I64, |ty| self.abi(ty));
            match narrow.filter(|_| ty == types::I8 || ty == types::I16) {
                Some(Extension::Signed) => AbiParam::new(ty).sext(),
                Some(Extension::Unsigned) => AbiParam::new(ty).uext(),
                None => AbiParam::new(ty),
            }
        };
        let mut signature = clif::Signature::new(convention);
        signature.params = decl.params.iter().map(|p| abi(&p.ty)).collect();
        signature.returns = decl.results.iter().map(abi).collect();
        signature
    }
}

/// The name of an array constant in CLIF.
pub fn data_name(key: i64) -> String {
    format!("data_{key:x}")
}

fn scalar_type(scalar: Scalar) -> Type {
    match scalar {
        Scalar::I8 => types::I8,
        Scalar::I16 => types::I16,
        Scalar::I32 => types::I32,
        Scalar::I64 => types::I64,
        Scalar::F32 => types::F32,
        Scalar::F64 => types::F64,
    }
}

/// Names that CLIF can write, all different.
fn function_names(module: &Module) -> Vec<String> {
    let mut taken: BTreeSet<String> = BTreeSet::new();
    let plain = |f: &Function| f.name.strip_prefix('%').unwrap_or(&f.name).to_string();
    let writable = |name: &str| !name.is_empty() && name.bytes().all(|c| c.is_ascii_alphanumeric() || c == b'_');
    taken.extend(module.functions.iter().map(plain).filter(|n| writable(n)));
    let mut names = vec![];
    for (i, f) in module.functions.iter().enumerate() {
        let name = plain(f);
        let repeated = module.functions[..i].iter().any(|earlier| plain(earlier) == name);
        if writable(&name) && !repeated {
            names.push(name);
            continue;
        }
        let replaced = name.replace(|c: char| !c.is_ascii_alphanumeric() && c != '_', "_");
        let free = (i..).map(|n| format!("{replaced}_{n}")).find(|n| !taken.contains(n)).expect("numbers do not end");
        taken.insert(free.clone());
        names.push(free);
    }
    names
}
