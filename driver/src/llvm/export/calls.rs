//! Calls of C functions that packs declare, on the way out.
//!
//! A call that stood in the original is its text with new operands. A call that a rule has made is written anew; how
//! narrow integers are passed, the file's own declaration tells.

use super::operations::width;
use super::{ExportError, Exporter, metadata_text};
use crate::llvm::body::{Instruction, Shape};
use crate::llvm::module::Definition;
use crate::llvm::types::Type;
use rewright_cfg_skeleton::ir::Inst;
use rewright_typeprop::{OpId, Ty, TypeExpr};

/// Attributes that change how a value is passed.
const EXTENSIONS: [&str; 2] = ["signext", "zeroext"];

impl<'a> Exporter<'a> {
    pub(super) fn call(&mut self, inst: &Inst, op: OpId, targs: &[Ty]) -> Result<(), ExportError> {
        let (function, _) = self.names.written(op).ok_or(ExportError::Unwritable(op))?;
        let function = function.to_string();
        if self.file.functions.iter().any(|f| f.name == function) {
            return Err(ExportError::Defined(function));
        }
        let (text, metadata) = match self.original_call(inst, &function) {
            Some(whole) => (self.again(inst, whole)?, metadata_text(whole.metadata.iter())),
            None => (self.anew(inst, op, targs, &function)?, self.location(inst)),
        };
        self.statement(inst, &text, &metadata)
    }

    /// The call of the original that this is, where it differs at most in values that have names there.
    fn original_call(&self, inst: &Inst, function: &str) -> Option<&'a Instruction> {
        let origin = self.faithful.origin(inst)?;
        let whole = self.whole(origin)?;
        let Shape::Call { callee: Some(callee), args, .. } = &whole.shape else { return None };
        let same = |i: usize| args[i].is_local() || self.faithful.is_same(inst.args[i], origin.args[i]);
        (callee == function && args.len() == inst.args.len() && (0..args.len()).all(same)).then_some(whole)
    }

    fn again(&mut self, inst: &Inst, whole: &Instruction) -> Result<String, ExportError> {
        let Shape::Call { args, .. } = &whole.shape else { return Err(ExportError::Operands(whole.opcode.clone())) };
        let mut values = vec![];
        for (i, arg) in args.iter().enumerate().filter(|(_, arg)| arg.is_local()) {
            values.push(self.operand(inst, i, &arg.ty)?);
        }
        match values.len() == whole.template.holes.len() {
            true => Ok(whole.template.fill(&values)),
            false => Err(ExportError::Operands(whole.opcode.clone())),
        }
    }

    fn anew(&mut self, inst: &Inst, op: OpId, targs: &[Ty], function: &str) -> Result<String, ExportError> {
        let declared = self.universe.ops.get(op);
        let declaration = self.file.declarations.get(function);
        let mut types = vec![];
        for param in &declared.params {
            types.push(self.passed(&param.ty, targs).ok_or(ExportError::Unwritable(op))?);
        }
        let result = match declared.results.first() {
            Some(result) => self.passed(result, targs).ok_or(ExportError::Unwritable(op))?,
            None => Type::Void,
        };
        let narrow = types.iter().chain([&result]).any(|ty| width(ty).is_some_and(|bits| bits < 32));
        if declaration.map_or(narrow, |d| !takes(d, &types, &result)) {
            return Err(ExportError::Undeclared(function.into()));
        }
        let mut args = vec![];
        for (i, ty) in types.iter().enumerate() {
            let extension = extension(declaration.and_then(|d| d.parameters.get(i)).map_or(&[], |p| &p.attributes));
            args.push(format!("{ty} {extension}{}", self.operand(inst, i, ty)?));
        }
        let texts: Vec<String> = types.iter().map(Type::to_string).collect();
        self.declare(function, &result, &texts);
        let extension = extension(declaration.map_or(&[], |d| &d.before));
        Ok(format!("call {extension}{result} {function}({})", args.join(", ")))
    }

    /// LLVM's type of a declared one.
    fn passed(&self, ty: &TypeExpr, targs: &[Ty]) -> Option<Type> {
        self.declared_type(self.universe.types.find_instance(ty, targs)?)
    }
}

/// Is a function declared with these types?
fn takes(declaration: &Definition, params: &[Type], result: &Type) -> bool {
    !declaration.variadic && declaration.result == *result && declaration.parameters.iter().map(|p| &p.ty).eq(params)
}

fn extension(attributes: &[String]) -> String {
    attributes.iter().filter(|a| EXTENSIONS.contains(&a.as_str())).map(|a| format!("{a} ")).collect()
}
