//! Calls of C functions that packs declare, on the way out.
//!
//! A call that stood in the original is its text with new operands. A call that a rule has made is written anew; how
//! narrow integers and `bool` are passed, the file's own declaration tells. A function that is an intrinsic, too, is written as
//! that: so LLVM knows as much of it as the packs.

use super::operations::width;
use super::{ExportError, Exporter, metadata_text};
use crate::body::{InMemory, Instruction, Operand, Role, Shape};
use crate::module::Definition;
use crate::types::Type;
use rewright_cfg_skeleton::ir::{Inst, Value};
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
        let intrinsic = self.names.intrinsic_of(op);
        let (text, metadata) = match (self.original_call(inst, op), intrinsic, inst.results.first()) {
            (Some(whole), ..) => (self.again(inst, whole)?, metadata_text(whole.metadata.iter())),
            (None, Some(intrinsic), Some(result)) => {
                let native = self.native(*result).clone();
                (self.intrinsic(inst, intrinsic, &native, "")?, self.location(inst))
            }
            _ => (self.anew(inst, op, targs, &function)?, self.location(inst)),
        };
        match inst.results.first() {
            Some(result) if self.structure(self.function.ty(*result)).is_some() => {
                self.slot(*result)?;
                self.line(&text, &metadata);
                Ok(())
            }
            _ => self.statement(inst, &text, &metadata),
        }
    }

    /// The call of the original that this is, where it differs at most in values that have names there.
    fn original_call(&self, inst: &Inst, op: OpId) -> Option<&'a Instruction> {
        let origin = self.poison.origin(inst)?;
        let whole = self.whole(origin)?;
        let Shape::Call { callee: Some(callee), args, in_memory, .. } = &whole.shape else { return None };
        let operands: Vec<&Operand> = operands(args, in_memory).map(|(_, arg)| arg).collect();
        let same = |i: usize| operands[i].is_local() || self.poison.is_same(inst.args[i], origin.args[i]);
        let all_named = operands.len() == inst.args.len() && (0..operands.len()).all(same);
        // Where the result goes is named in the text, or else what is put there would be lost.
        let given = in_memory.iter().filter(|m| m.role == Role::Result).all(|m| args[m.argument].is_local());
        let called = match self.names.intrinsic_of(op) {
            Some(intrinsic) => self.names.intrinsic(callee).is_some_and(|(spelling, _)| spelling == intrinsic),
            None => self.names.functions(callee).contains(&op),
        };
        (called && all_named && given).then_some(whole)
    }

    fn again(&mut self, inst: &Inst, whole: &Instruction) -> Result<String, ExportError> {
        let bad = || ExportError::Operands(whole.opcode.clone());
        let Shape::Call { args, in_memory, .. } = &whole.shape else { return Err(bad()) };
        let operands: Vec<usize> = operands(args, in_memory).map(|(i, _)| i).collect();
        let mut values = vec![];
        for (i, arg) in args.iter().enumerate().filter(|(_, arg)| arg.is_local()) {
            values.push(match operands.iter().position(|operand| *operand == i) {
                Some(operand) => self.operand(inst, operand, &arg.ty)?,
                None => self.raw(*inst.results.first().ok_or_else(bad)?)?,
            });
        }
        match values.len() == whole.template.holes.len() {
            true => Ok(whole.template.fill(&values)),
            false => Err(bad()),
        }
    }

    fn anew(&mut self, inst: &Inst, op: OpId, targs: &[Ty], function: &str) -> Result<String, ExportError> {
        let declared = self.universe.ops.get(op);
        let declaration = self.file.declarations.get(function);
        let given = match declared.results.first() {
            Some(result) => Some(self.passed(result, targs).ok_or_else(|| ExportError::Structure(function.into()))?),
            None => None,
        };
        // A structure goes to where the first argument says.
        let (given, result) = match given {
            Some(given) if given.in_memory.is_some() => (Some(given), Type::Void),
            given => (None, given.map_or(Type::Void, |given| as_declared(given.ty, declaration.map(|d| &d.result)))),
        };
        let first = usize::from(given.is_some());
        let mut passed: Vec<Passed> = given.into_iter().collect();
        for param in &declared.params {
            let Passed { ty, in_memory } =
                self.passed(&param.ty, targs).ok_or_else(|| ExportError::Structure(function.into()))?;
            let here = declaration.and_then(|d| d.parameters.get(passed.len())).map(|p| &p.ty);
            passed.push(Passed { ty: as_declared(ty, here), in_memory });
        }
        let types = || passed.iter().map(|p| &p.ty);
        let narrow = types().chain([&result]).any(is_narrow);
        let attributes: Vec<String> =
            passed.iter().enumerate().map(|(i, p)| p.attribute(if i < first { "sret" } else { "byval" })).collect();
        match declaration {
            None if narrow => return Err(ExportError::Undeclared(function.into())),
            Some(declared) if !takes(declared, types(), &result) || !passes(declared, &attributes) => {
                return Err(ExportError::Otherwise(function.into()));
            }
            _ => {}
        }
        let mut args = vec![];
        for (i, Passed { ty, .. }) in passed.iter().enumerate() {
            let extension = extension(declaration.and_then(|d| d.parameters.get(i)).map_or(&[], |p| &p.attributes));
            let value = match i.checked_sub(first) {
                // Of an integer that may be another one, nothing says what `bool` it is.
                Some(operand) if *ty == Type::Int(1) && !self.is_bit(inst.args[operand]) => {
                    return Err(ExportError::Otherwise(function.into()));
                }
                Some(operand) => self.operand(inst, operand, ty)?,
                None => self.raw(*inst.results.first().ok_or(ExportError::Unwritable(op))?)?,
            };
            args.push(format!("{ty} {extension}{}{value}", attributes[i]));
        }
        let texts: Vec<String> =
            passed.iter().zip(&attributes).map(|(p, a)| format!("{} {a}", p.ty).trim_end().to_string()).collect();
        self.declare(function, &result, &texts);
        let extension = extension(declaration.map_or(&[], |d| &d.before));
        Ok(format!("call {extension}{result} {function}({})", args.join(", ")))
    }

    /// How a value of a declared type is passed.
    fn passed(&self, ty: &TypeExpr, targs: &[Ty]) -> Option<Passed<'a>> {
        let ty = self.universe.types.find_instance(ty, targs)?;
        Some(Passed { ty: self.declared_type(ty)?, in_memory: self.structure(ty) })
    }

    /// Makes the place that a structure's value goes by, under the value's name.
    fn slot(&mut self, value: Value) -> Result<&'a InMemory, ExportError> {
        let form = self.structure(self.function.ty(value)).ok_or(ExportError::Type(value))?;
        let slot = format!("  {} = alloca {}, align {}\n", self.raw(value)?, form.ty, form.align);
        self.slots.push(slot);
        Ok(form)
    }

    /// Fetches a structure that a call of the original took from memory.
    pub(super) fn fetched(&mut self, inst: &Inst) -> Result<(), ExportError> {
        let (&[_], &[value]) = (inst.args.as_slice(), inst.results.as_slice()) else {
            return Err(ExportError::Operands("memcpy".into()));
        };
        let form = self.slot(value)?;
        let (to, from) = (self.raw(value)?, self.operand(inst, 0, &Type::Ptr)?);
        self.copy(inst, form, &to, &from)
    }

    /// Puts a structure where a call of the original put its result.
    pub(super) fn put(&mut self, inst: &Inst) -> Result<(), ExportError> {
        let &[_, value] = inst.args.as_slice() else { return Err(ExportError::Operands("memcpy".into())) };
        let form = self.structure(self.function.ty(value)).ok_or(ExportError::Type(value))?;
        let (to, from) = (self.operand(inst, 0, &Type::Ptr)?, self.raw(value)?);
        self.copy(inst, form, &to, &from)
    }

    fn copy(&mut self, inst: &Inst, form: &InMemory, to: &str, from: &str) -> Result<(), ExportError> {
        let InMemory { ty, align, .. } = form;
        let (size, _) = ty.layout(&self.file.named).ok_or_else(|| ExportError::Operands("memcpy".into()))?;
        let callee = "@llvm.memcpy.p0.p0.i64";
        self.declare(callee, &Type::Void, &["ptr", "ptr", "i64", "i1"].map(String::from));
        let metadata = self.location(inst);
        let text =
            format!("call void {callee}(ptr align {align} {to}, ptr align {align} {from}, i64 {size}, i1 false)");
        self.line(&text, &metadata);
        Ok(())
    }
}

/// The type of something that is passed: of an 8-bit integer, `bool` where C says so.
fn as_declared(ty: Type, here: Option<&Type>) -> Type {
    if ty == Type::Int(8) && here == Some(&Type::Int(1)) { Type::Int(1) } else { ty }
}

/// Does only a declaration say how a value of this type is passed?
fn is_narrow(ty: &Type) -> bool {
    width(ty).is_some_and(|bits| bits < 32)
}

/// How a value is passed.
struct Passed<'a> {
    ty: Type,
    in_memory: Option<&'a InMemory>,
}

impl Passed<'_> {
    /// Attributes of an argument: none, or those of the memory at the address.
    fn attribute(&self, role: &str) -> String {
        self.in_memory.map_or(String::new(), |m| format!("{role}({}) align {} ", m.ty, m.align))
    }
}

/// Arguments except for the one that says where the result goes.
fn operands<'c>(args: &'c [Operand], in_memory: &[InMemory]) -> impl Iterator<Item = (usize, &'c Operand)> {
    let given = in_memory.iter().find(|m| m.role == Role::Result).map(|m| m.argument);
    args.iter().enumerate().filter(move |(i, _)| given != Some(*i))
}

/// Are structures passed in this way?
fn passes(declaration: &Definition, attributes: &[String]) -> bool {
    let stated = |parameter: &[String]| parameter.iter().any(|a| a.starts_with("byval(") || a.starts_with("sret("));
    declaration.parameters.iter().zip(attributes).all(|(parameter, wanted)| match wanted.split_once(") ") {
        Some((kind, _)) => parameter.attributes.contains(&format!("{kind})")),
        None => !stated(&parameter.attributes),
    })
}

/// Is a function declared with these types?
fn takes<'t>(declaration: &Definition, params: impl Iterator<Item = &'t Type>, result: &Type) -> bool {
    !declaration.variadic && declaration.result == *result && declaration.parameters.iter().map(|p| &p.ty).eq(params)
}

fn extension(attributes: &[String]) -> String {
    attributes.iter().filter(|a| EXTENSIONS.contains(&a.as_str())).map(|a| format!("{a} ")).collect()
}
