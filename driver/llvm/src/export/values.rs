//! Values and their types on the way out: truth values are `i1` where they can be, and become integers where an
//! integer is needed.

use super::{ExportError, Exporter};
use crate::body::InMemory;
use crate::constants;
use crate::names::{InstructionForm, keeps_truth};
use crate::types::Type;
use rewright_cfg_skeleton::ir::{BlockId, Cfg, Definition, EdgeArg, Function, Inst, InstKind, OpaqueEffects, Value};
use rewright_typeprop::Ty;

const TRUTH: Type = Type::Int(1);

impl<'a> Exporter<'a> {
    /// Decides under which type each value goes: a truth value is one from the beginning, or of truth values.
    pub(super) fn find_natives(&mut self, cfg: &Cfg) -> Result<(), ExportError> {
        let function = self.function;
        self.natives = vec![Type::Void; function.values.len()];
        // Optimistically, then taken back: parameters of blocks may depend on each other.
        let mut truth = vec![true; function.values.len()];
        loop {
            let mut changed = false;
            for b in cfg.reverse_post_order() {
                for id in &function.block(*b).insts {
                    let inst = function.inst(*id);
                    for (i, r) in inst.results.iter().enumerate() {
                        if truth[r.index()] && !self.is_truth(function, inst, i, &truth) {
                            truth[r.index()] = false;
                            changed = true;
                        }
                    }
                }
                for edge in function.block(*b).term.edges() {
                    for (arg, p) in edge.args.iter().zip(&function.block(edge.target).params) {
                        let EdgeArg::Value(v) = arg else { continue };
                        if truth[p.index()] && !truth[v.index()] {
                            truth[p.index()] = false;
                            changed = true;
                        }
                    }
                }
            }
            for (i, p) in function.block(function.entry()).params.iter().enumerate() {
                let original = self.imported.function.block(self.imported.function.entry()).params.get(i);
                let is = original.is_some_and(|o| self.imported.payloads.types[o.index()] == TRUTH);
                if truth[p.index()] && !is {
                    truth[p.index()] = false;
                    changed = true;
                }
            }
            if !changed {
                break;
            }
        }
        for (v, truth) in truth.iter().enumerate() {
            let value = Value(v as u32);
            self.natives[v] = match self.poison.definitions[v] {
                Some(_) if *truth => TRUTH,
                Some(_) => self.declared_type(self.function.ty(value)).ok_or(ExportError::Type(value))?,
                None => Type::Void,
            };
        }
        Ok(())
    }

    fn is_truth(&self, function: &Function, inst: &Inst, result: usize, truth: &[bool]) -> bool {
        let all = |args: &[Value]| args.iter().all(|v| truth[v.index()]);
        match &inst.kind {
            InstKind::Const(n) => {
                self.names.llvm_type(function.ty(inst.results[0]), &self.universe.types) == Some(&Type::Int(8))
                    && matches!(n, 0 | 1)
            }
            InstKind::Op { op, .. } => match self.names.written(*op) {
                Some((_, InstructionForm::Compare)) => true,
                Some((opcode, InstructionForm::Binary)) => keeps_truth(opcode) && all(&inst.args),
                Some((_, InstructionForm::Select)) => all(&inst.args[1..]),
                Some((callee, InstructionForm::Call)) => self.gives_truth(callee),
                _ => false,
            },
            InstKind::Opaque { .. } => {
                let origin = self.poison.origin(inst).and_then(|o| o.results.get(result));
                origin.is_some_and(|o| self.imported.payloads.types[o.index()] == TRUTH)
            }
            InstKind::Check { .. } => false,
        }
    }

    /// Does a C function give `bool`? How that is passed, the file's declaration says.
    fn gives_truth(&self, callee: &str) -> bool {
        self.file.declarations.get(callee).is_some_and(|declared| declared.result == TRUTH)
    }

    /// Is a value 0 or 1 for certain?
    pub(super) fn is_bit(&self, value: Value) -> bool {
        *self.native(value) == TRUTH || matches!(self.number(value), Some(0 | 1))
    }

    /// LLVM's type for one of ours, apart from truth values.
    pub(super) fn declared_type(&self, ty: Ty) -> Option<Type> {
        let known = self.names.llvm_type(ty, &self.universe.types).or_else(|| self.opaque_types.get(&ty));
        // The value of a structure goes by the address of a place that has nothing else.
        known.cloned().or_else(|| self.structure(ty).map(|_| Type::Ptr))
    }

    /// How a structure of this type is passed in memory.
    pub(super) fn structure(&self, ty: Ty) -> Option<&'a InMemory> {
        self.imported.payloads.structure(self.universe, ty)
    }

    pub(super) fn native(&self, value: Value) -> &Type {
        &self.natives[value.index()]
    }

    /// The constant that a value is.
    pub(super) fn number(&self, value: Value) -> Option<i64> {
        match self.defining(value)?.kind {
            InstKind::Const(n) => Some(n),
            _ => None,
        }
    }

    /// The instruction that gives a value.
    pub(super) fn defining(&self, value: Value) -> Option<&Inst> {
        match self.poison.definitions[value.index()]? {
            Definition::Result(_, id, _) => Some(self.function.inst(id)),
            Definition::Param(..) => None,
        }
    }

    /// The name of a value as it is defined.
    pub(super) fn raw(&self, value: Value) -> Result<String, ExportError> {
        if let Some(name) = self.pointers.get(&value) {
            return Ok(name.clone());
        }
        match self.poison.definitions[value.index()] {
            Some(Definition::Param(b, i)) if b == self.function.entry() => {
                let own = self.definition.parameters.len();
                match self.definition.parameters.get(i) {
                    Some(parameter) => Ok(parameter.name.clone()),
                    None => match self.imported.payloads.leaves.get(i - own) {
                        Some(leaf) => Ok(leaf.text.clone()),
                        None => Err(ExportError::Undefined(value)),
                    },
                }
            }
            Some(_) => Ok(format!("%{}.{}", self.prefix, value.0)),
            None => Err(ExportError::Undefined(value)),
        }
    }

    /// Is there a frozen copy of the value?
    pub(super) fn is_frozen(&self, value: Value) -> bool {
        if !self.poison.is_non_poison(value) || self.structure(self.function.ty(value)).is_some() {
            return false;
        }
        match self.poison.definitions[value.index()] {
            Some(Definition::Param(b, i)) if b == self.function.entry() => {
                let own = self.definition.parameters.len();
                match self.definition.parameters.get(i) {
                    Some(parameter) => !parameter.attributes.iter().any(|a| a == "noundef"),
                    // The address of a global is never poison.
                    None => self.imported.payloads.leaves.get(i - own).is_some_and(|l| !l.text.starts_with('@')),
                }
            }
            Some(Definition::Param(..)) | None => false,
            Some(Definition::Result(_, id, _)) => match &self.function.inst(id).kind {
                InstKind::Op { access, .. } => access.is_some(),
                InstKind::Opaque { effects, .. } => *effects != OpaqueEffects::Pinned || !self.is_quiet(id),
                InstKind::Const(_) | InstKind::Check { .. } => false,
            },
        }
    }

    /// Gives something that is never poison: a stack slot's address, what was frozen, the position of a case.
    fn is_quiet(&self, id: rewright_cfg_skeleton::ir::InstId) -> bool {
        use crate::body::Shape;
        match self.whole(self.function.inst(id)) {
            Some(instruction) => matches!(instruction.shape, Shape::Alloca(_)) || instruction.opcode == "freeze",
            None => true,
        }
    }

    /// Writes the frozen copy of a value, if it is to have one.
    pub(super) fn freeze(&mut self, value: Value) -> Result<(), ExportError> {
        if self.is_frozen(value) {
            let text = format!("%{}.{}.f = freeze {} {}", self.prefix, value.0, self.native(value), self.raw(value)?);
            self.line(&text, "");
        }
        Ok(())
    }

    /// Where [`Exporter::freeze`] writes a copy, once for each.
    pub(super) fn frozen(&self, cfg: &Cfg) -> Vec<BlockId> {
        let reachable = self.function.layout.iter().copied().filter(|b| cfg.is_reachable(*b));
        let results = |b: BlockId| {
            let written = self.function.block(b).insts.iter().filter(|id| self.written[id.index()]);
            written.flat_map(|id| &self.function.inst(*id).results).filter(|v| self.is_frozen(**v))
        };
        let parameters = self.function.block(self.function.entry()).params.iter().filter(|p| self.is_frozen(**p));
        let entry = parameters.map(|_| self.function.entry());
        entry.chain(reachable.flat_map(|b| results(b).map(move |_| b))).collect()
    }

    /// A value under the type that it has. `clean`: it may be poison if the original was.
    fn name(&self, value: Value, clean: bool) -> Result<String, ExportError> {
        if !clean && self.is_frozen(value) {
            return Ok(format!("%{}.{}.f", self.prefix, value.0));
        }
        self.raw(value)
    }

    /// A value under a type that is wanted.
    pub(super) fn used(&mut self, value: Value, wanted: &Type, clean: bool) -> Result<String, ExportError> {
        if let Some(n) = self.number(value) {
            return constants::write(wanted, n).ok_or_else(|| ExportError::Constant(n, wanted.clone()));
        }
        let name = self.name(value, clean)?;
        let native = self.native(value).clone();
        if native == *wanted {
            return Ok(name);
        }
        let cast = match (&native, wanted) {
            (Type::Int(1), Type::Int(8)) => "zext",
            // A value that was a truth value in the original is 0 or 1.
            (Type::Int(8), Type::Int(1)) => "trunc",
            _ => return Err(ExportError::Type(value)),
        };
        let result = self.temporary();
        self.line(&format!("{result} = {cast} {native} {name} to {wanted}"), "");
        Ok(result)
    }

    /// "It is not zero", as a truth value.
    pub(super) fn condition(&mut self, value: Value, clean: bool) -> Result<String, ExportError> {
        if let Some(n) = self.number(value) {
            return Ok(if n == 0 { "false" } else { "true" }.into());
        }
        let name = self.name(value, clean)?;
        let native = self.native(value).clone();
        match native {
            Type::Int(1) => Ok(name),
            Type::Int(_) => {
                let result = self.temporary();
                self.line(&format!("{result} = icmp ne {native} {name}, 0"), "");
                Ok(result)
            }
            _ => Err(ExportError::Type(value)),
        }
    }
}
