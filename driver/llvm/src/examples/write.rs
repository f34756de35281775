//! Functions of examples as a file of LLVM IR.
//!
//! They go out as every function does ([`export`]): each is its own original, so nothing has to be frozen and no flag is
//! kept. The functions that it calls are declared as the pack declares them.

use crate::body::Body;
use crate::export::{ExportError, export};
use crate::import::{Imported, Payloads, Source};
use crate::module::{self, File};
use crate::names::{InstructionForm, Names};
use crate::types::Type;
use rewright_cfg_skeleton::ir::{Function, Inst, InstKind, Terminator, Value};
use rewright_typeprop::{Ty, Universe};
use std::collections::{BTreeMap, BTreeSet};

const HEAD: &str = "target datalayout = \"e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128\"\n\
                    target triple = \"x86_64-pc-linux-gnu\"\n";

/// A file of these functions, by name; the reason where one cannot be written.
pub(super) fn file(functions: &[(&str, &Function)], names: &Names, universe: &Universe) -> Result<File, String> {
    let names = &names.as_calls();
    let mut writer = Writer { universe, names, declarations: BTreeMap::new() };
    let mut heads = String::new();
    for (name, function) in functions {
        heads += &writer.head(name, function)?;
    }
    let declared: String = writer.declarations.values().cloned().collect();
    let file = module::read(format!("{HEAD}{declared}{heads}")).map_err(|error| error.to_string())?;
    let (mut bodies, mut declarations) = (vec![], BTreeSet::new());
    for ((_, function), definition) in functions.iter().zip(&file.functions) {
        let imported = writer.imported(function)?;
        let exported = export(&imported.function, &imported, &file, definition, names, universe);
        let exported = exported.map_err(|error: ExportError| error.to_string())?;
        declarations.extend(exported.declarations);
        bodies.push(exported.body);
    }
    let bodies: Vec<Option<&str>> = bodies.iter().map(|body| Some(body.as_str())).collect();
    let declarations: Vec<String> = declarations.into_iter().collect();
    module::read(module::write(&file, &bodies, &declarations)).map_err(|error| error.to_string())
}

struct Writer<'a> {
    universe: &'a Universe,
    names: &'a Names,
    /// By C function.
    declarations: BTreeMap<String, String>,
}

impl Writer<'_> {
    fn ty(&self, ty: Ty) -> Result<Type, String> {
        let types = &self.universe.types;
        let found = self.names.llvm_type(ty, types);
        found.cloned().ok_or_else(|| format!("no value in C has the type `{}`", types.display(ty)))
    }

    fn types(&self, f: &Function, values: &[Value]) -> Result<Vec<String>, String> {
        values.iter().map(|value| Ok(self.ty(f.ty(*value))?.to_string())).collect()
    }

    /// A definition without a body, after declarations of what it calls.
    fn head(&mut self, name: &str, f: &Function) -> Result<String, String> {
        let result = match f.layout.iter().map(|block| &f.block(*block).term).find_map(|term| match term {
            Terminator::Return(values) => Some(values),
            _ => None,
        }) {
            None => "void".to_string(),
            Some(values) => self.result(f, values)?,
        };
        for inst in f.layout.iter().flat_map(|block| &f.block(*block).insts).map(|id| f.inst(*id)) {
            self.declare(f, inst)?;
        }
        let parameters = self.types(f, &f.block(f.entry()).params)?.join(", ");
        Ok(format!("define {result} {name}({parameters}) {{\n}}\n"))
    }

    fn result(&self, f: &Function, values: &[Value]) -> Result<String, String> {
        match values {
            [] => Ok("void".into()),
            [value] => Ok(self.ty(f.ty(*value))?.to_string()),
            _ => Err("it has several results".into()),
        }
    }

    /// Declares the C function that an instruction calls; the reason where it is no C function and nothing else of
    /// LLVM's.
    fn declare(&mut self, f: &Function, inst: &Inst) -> Result<(), String> {
        let op = match &inst.kind {
            InstKind::Const(_) => return Ok(()),
            InstKind::Op { op, .. } => *op,
            InstKind::Check { .. } | InstKind::Opaque { .. } => return Err("it has a check".into()),
        };
        let callee = match self.names.written(op) {
            Some((callee, InstructionForm::Call)) => callee.to_string(),
            Some((_, InstructionForm::Store)) => return Err("it stores".into()),
            Some(_) => return Ok(()),
            None => {
                let name = &self.universe.ops.get(op).name;
                return Err(format!("`{name}` is no C function, and no instruction of LLVM"));
            }
        };
        let result = self.result(f, &inst.results)?;
        let line = format!("declare {result} {callee}({})\n", self.types(f, &inst.args)?.join(", "));
        let known = self.declarations.entry(callee.clone()).or_insert_with(|| line.clone());
        if *known == line { Ok(()) } else { Err(format!("`{callee}` has several types")) }
    }

    /// A function as its own original.
    fn imported(&self, f: &Function) -> Result<Imported, String> {
        let mut function = f.clone();
        for (number, inst) in function.insts.iter_mut().enumerate() {
            inst.origin = (!matches!(inst.kind, InstKind::Const(_))).then_some(number as u32);
        }
        let types = (0..f.values.len() as u32).map(|value| self.ty(f.ty(Value(value))));
        let payloads = Payloads {
            sources: vec![Source::Constant; f.insts.len()],
            types: types.collect::<Result<_, _>>()?,
            ..Payloads::default()
        };
        Ok(Imported { function, body: Body { blocks: vec![], variables: vec![] }, payloads })
    }
}
