//! Operations and opaque instructions on the way out.

use super::{ExportError, Exporter, metadata_text};
use crate::import::Source;
use crate::names::{self, InstructionForm};
use crate::types::Type;
use rewright_cfg_skeleton::ir::{Inst, InstId, InstKind, OpaqueEffects, PayloadId, Value};
use rewright_typeprop::OpId;

impl Exporter<'_> {
    /// Writes an instruction, and the frozen copies of its results.
    pub(super) fn instruction(&mut self, id: InstId) -> Result<(), ExportError> {
        let inst = self.function.inst(id);
        match &inst.kind {
            InstKind::Const(_) | InstKind::Check { .. } => return Ok(()),
            InstKind::Op { op, targs, access } => match (self.names.written(*op), access) {
                (Some((_, InstructionForm::Call)), _) => {
                    self.call(inst, *op, targs).map_err(|why| ExportError::Call { op: *op, why: Box::new(why) })?;
                }
                (_, Some(access)) => self.access(inst, *op, *access)?,
                (_, None) => self.operation(inst, *op)?,
            },
            InstKind::Opaque { payload, effects } => self.opaque(inst, *payload, *effects)?,
        }
        for result in &inst.results {
            self.freeze(*result)?;
        }
        Ok(())
    }

    /// Is the i-th operand used as the original uses it?
    pub(super) fn is_clean(&self, inst: &Inst, index: usize) -> bool {
        let total = inst.results.iter().any(|v| self.poison.is_non_poison(*v));
        let by_itself = !matches!(&inst.kind, InstKind::Op { access: None, .. })
            && !matches!(&inst.kind, InstKind::Opaque { effects: OpaqueEffects::Pure, .. });
        (by_itself || !total) && self.poison.is_clean(inst, index)
    }

    pub(super) fn operand(&mut self, inst: &Inst, index: usize, wanted: &Type) -> Result<String, ExportError> {
        let clean = self.is_clean(inst, index);
        self.used(inst.args[index], wanted, clean)
    }

    fn operand_type(&self, inst: &Inst, index: usize) -> Result<Type, ExportError> {
        let value = inst.args[index];
        self.declared_type(self.function.ty(value)).ok_or(ExportError::Type(value))
    }

    /// Flags that all originals of an exact operation have; none where they are not all of this opcode and type.
    fn flags(&self, inst: &Inst, opcode: &str, ty: &Type) -> String {
        let Some(origin) = self.poison.with_flags(inst) else { return String::new() };
        let mut common: Option<Vec<String>> = None;
        for member in self.original.members(origin) {
            let Some(whole) = self.whole(self.imported.function.inst(*member)) else { return String::new() };
            let operand = match &whole.shape {
                crate::body::Shape::Plain(operands) => operands.last().map(|o| &o.ty),
                _ => None,
            };
            if whole.opcode != opcode || operand != Some(ty) {
                return String::new();
            }
            common = Some(match common {
                None => whole.flags.clone(),
                Some(flags) => flags.into_iter().filter(|f| whole.flags.contains(f)).collect(),
            });
        }
        common.unwrap_or_default().iter().map(|f| format!("{f} ")).collect()
    }

    fn operation(&mut self, inst: &Inst, op: OpId) -> Result<(), ExportError> {
        let table = self.names;
        let (opcode, written) = table.written(op).ok_or(ExportError::Unwritable(op))?;
        let bad = || ExportError::Operands(opcode.to_string());
        let &[result] = inst.results.as_slice() else { return Err(bad()) };
        let native = self.native(result).clone();
        if let (InstructionForm::Pointer, 1) = (written, inst.args.len()) {
            // One pointer under two of our types.
            let same = self.operand(inst, 0, &Type::Ptr)?;
            self.pointers.insert(result, same);
            return Ok(());
        }
        let name = self.raw(result)?;
        let dbg = self.location(inst);
        let text = match (written, inst.args.len()) {
            (InstructionForm::Binary, 2) => {
                let x = self.operand(inst, 0, &native)?;
                let y = self.operand(inst, 1, &native)?;
                let flags = self.flags(inst, opcode, &native);
                format!("{opcode} {flags}{native} {x}, {y}")
            }
            (InstructionForm::Shift, 2) => {
                let x = self.operand(inst, 0, &native)?;
                let bits = width(&native).ok_or_else(bad)?;
                let y = match self.number(inst.args[1]) {
                    Some(n) => (n as u64 % bits).to_string(),
                    None if self.poison.with_flags(inst).is_some() && self.operand_type(inst, 1)? == native => {
                        self.operand(inst, 1, &native)?
                    }
                    None => {
                        let amount = self.amount(inst, 1, &native)?;
                        let masked = self.temporary();
                        self.line(&format!("{masked} = and {native} {amount}, {}", bits - 1), &dbg);
                        masked
                    }
                };
                let flags = self.flags(inst, opcode, &native);
                format!("{opcode} {flags}{native} {x}, {y}")
            }
            (InstructionForm::SignedRemainder, 2) => {
                let x = self.operand(inst, 0, &native)?;
                let mut y = self.operand(inst, 1, &native)?;
                if self.number(inst.args[1]).is_none_or(|n| n == -1) {
                    // The least integer by -1 is undefined in LLVM, and 0 here, like all by 1.
                    let (is, safe) = (self.temporary(), self.temporary());
                    self.line(&format!("{is} = icmp eq {native} {y}, -1"), &dbg);
                    self.line(&format!("{safe} = select i1 {is}, {native} 1, {native} {y}"), &dbg);
                    y = safe;
                }
                format!("{opcode} {native} {x}, {y}")
            }
            (InstructionForm::With(constant), 1) => {
                let x = self.operand(inst, 0, &native)?;
                format!("{opcode} {native} {constant}, {x}")
            }
            (InstructionForm::Compare, 2) => {
                let ty = self.compared_type(inst, opcode)?;
                let x = self.operand(inst, 0, &ty)?;
                let y = self.operand(inst, 1, &ty)?;
                let (head, condition) = opcode.split_once(' ').ok_or_else(bad)?;
                let flags = self.flags(inst, opcode, &ty);
                format!("{head} {flags}{condition} {ty} {x}, {y}")
            }
            (InstructionForm::Unary, 1) => {
                let x = self.operand(inst, 0, &native)?;
                let flags = self.flags(inst, opcode, &native);
                format!("{opcode} {flags}{native} {x}")
            }
            (InstructionForm::Cast | InstructionForm::Address, 1) => {
                let from = match self.native(inst.args[0]) {
                    // A truth value is 0 or 1 as an unsigned integer only.
                    Type::Int(1) if names::casts_truth(opcode) && self.number(inst.args[0]).is_none() => Type::Int(1),
                    _ => self.operand_type(inst, 0)?,
                };
                let x = self.operand(inst, 0, &from)?;
                let flags = self.flags(inst, opcode, &from);
                format!("{opcode} {flags}{from} {x} to {native}")
            }
            (InstructionForm::Mask, 1) => {
                let clean = self.is_clean(inst, 0);
                let x = self.condition(inst.args[0], clean)?;
                format!("sext i1 {x} to {native}")
            }
            (InstructionForm::Select, 3) => {
                let clean = self.is_clean(inst, 0);
                let c = self.condition(inst.args[0], clean)?;
                let x = self.operand(inst, 1, &native)?;
                let y = self.operand(inst, 2, &native)?;
                format!("{opcode} i1 {c}, {native} {x}, {native} {y}")
            }
            (InstructionForm::Intrinsic(more), n) if n > 0 => self.intrinsic(inst, opcode, &native, more)?,
            (InstructionForm::Conversion, 1) => {
                let from = self.operand_type(inst, 0)?;
                let x = self.operand(inst, 0, &from)?;
                match self.narrow_original(inst) {
                    Some(narrow) => format!("{narrow} {from} {x} to {native}"),
                    None => {
                        let callee = format!("@{opcode}.{}.{}", mangled(&native), mangled(&from));
                        self.declare(&callee, &native, &[from.to_string()]);
                        format!("call {native} {callee}({from} {x})")
                    }
                }
            }
            (InstructionForm::Rotate, 2) => {
                let x = self.operand(inst, 0, &native)?;
                let y = self.amount(inst, 1, &native)?;
                let callee = format!("@{opcode}.{}", mangled(&native));
                self.declare(&callee, &native, &vec![native.to_string(); 3]);
                format!("call {native} {callee}({native} {x}, {native} {x}, {native} {y})")
            }
            (InstructionForm::Offset, 2) => {
                let base = self.operand(inst, 0, &Type::Ptr)?;
                let offset = self.number(inst.args[1]).ok_or_else(bad)?;
                let flags = self.offset_flags(inst);
                format!("getelementptr {flags}i8, ptr {base}, i64 {offset}")
            }
            (InstructionForm::Element, 3) => {
                let base = self.operand(inst, 0, &Type::Ptr)?;
                let index = self.operand(inst, 1, &Type::Int(64))?;
                let flags = self.element_flags(inst);
                match self.number(inst.args[2]).ok_or_else(bad)? {
                    size @ (1 | 2 | 4 | 8) => format!("getelementptr {flags}i{}, ptr {base}, i64 {index}", 8 * size),
                    size @ 1.. => format!("getelementptr {flags}[{size} x i8], ptr {base}, i64 {index}"),
                    size => {
                        let bytes = self.temporary();
                        self.line(&format!("{bytes} = mul i64 {index}, {size}"), &dbg);
                        format!("getelementptr i8, ptr {base}, i64 {bytes}")
                    }
                }
            }
            _ => return Err(bad()),
        };
        self.line(&format!("{name} = {text}"), &dbg);
        Ok(())
    }

    /// The type in which two operands are compared: truth values as such, where the order is the same.
    fn compared_type(&self, inst: &Inst, opcode: &str) -> Result<Type, ExportError> {
        let constant = |v: Value| self.number(v).is_some_and(|n| matches!(n, 0 | 1));
        let truth = |v: Value| *self.native(v) == Type::Int(1);
        let both = inst.args.iter().all(|v| truth(*v) || constant(*v)) && inst.args.iter().any(|v| truth(*v));
        if both && names::compares_truth(opcode) && !inst.args.iter().all(|v| self.number(*v).is_some()) {
            return Ok(Type::Int(1));
        }
        self.operand_type(inst, 0)
    }

    /// The amount of a shift in the type of what is shifted: only its low bits count.
    fn amount(&mut self, inst: &Inst, index: usize, wanted: &Type) -> Result<String, ExportError> {
        let from = self.operand_type(inst, index)?;
        let (Some(have), Some(want)) = (width(&from), width(wanted)) else {
            return Err(ExportError::Type(inst.args[index]));
        };
        if self.number(inst.args[index]).is_some_and(|n| (0..64).contains(&n)) {
            return self.used(inst.args[index], wanted, true);
        }
        let name = self.operand(inst, index, &from)?;
        if have == want {
            return Ok(name);
        }
        let result = self.temporary();
        let cast = if have < want { "zext" } else { "trunc" };
        self.line(&format!("{result} = {cast} {from} {name} to {wanted}"), "");
        Ok(result)
    }

    /// The opcode of an exact conversion all of whose originals are poison out of range.
    fn narrow_original(&self, inst: &Inst) -> Option<String> {
        let origin = self.poison.with_flags(inst)?;
        let mut opcodes = self.original.members(origin).iter().map(|m| {
            let whole = self.whole(self.imported.function.inst(*m))?;
            matches!(whole.shape, crate::body::Shape::Plain(_)).then_some(&whole.opcode)
        });
        let first = opcodes.next()??;
        opcodes.all(|o| o == Some(first)).then(|| first.clone())
    }

    pub(super) fn intrinsic(
        &mut self,
        inst: &Inst,
        opcode: &str,
        native: &Type,
        more: &str,
    ) -> Result<String, ExportError> {
        let mut args = vec![];
        for i in 0..inst.args.len() {
            args.push(format!("{native} {}", self.operand(inst, i, native)?));
        }
        let callee = format!("@{opcode}.{}", mangled(native));
        let mut types = vec![native.to_string(); args.len()];
        if !more.is_empty() {
            types.push("i1 immarg".into());
        }
        self.declare(&callee, native, &types);
        Ok(format!("call {native} {callee}({}{more})", args.join(", ")))
    }

    pub(super) fn declare(&mut self, callee: &str, result: &Type, params: &[String]) {
        if !self.file.attributes.contains_key(callee) {
            self.declarations.insert(format!("declare {result} {callee}({})", params.join(", ")));
        }
    }

    /// The original text with new operands.
    fn opaque(&mut self, inst: &Inst, payload: PayloadId, effects: OpaqueEffects) -> Result<(), ExportError> {
        match inst.origin.and_then(|o| self.imported.payloads.sources.get(o as usize)) {
            Some(Source::Cases(_)) => return Ok(()),
            Some(Source::Fetched(_)) => return self.fetched(inst),
            Some(Source::Put(_)) => return self.put(inst),
            _ => {}
        }
        let place = *self.imported.payloads.opaque.get(payload.index()).ok_or(ExportError::Payload(payload))?;
        let representative = self.at(place);
        let whole = self.whole(inst).unwrap_or(representative);
        let pure = effects == OpaqueEffects::Pure;
        let exact = self.poison.with_flags(inst).is_some();
        let template = match &representative.bare {
            Some(bare) if pure && !exact => bare,
            _ => &representative.template,
        };
        if template.holes.len() != inst.args.len() {
            return Err(ExportError::Operands(representative.opcode.clone()));
        }
        let mut values = vec![];
        for (i, hole) in template.holes.iter().enumerate() {
            let local = self.imported.payloads.locals.get(hole);
            // A truth value that the original has widened is wanted as the integer that it became.
            let wanted = match local {
                Some(v) => self.imported.payloads.types[v.index()].clone(),
                None => Type::Int(8),
            };
            values.push(self.operand(inst, i, &wanted)?);
        }
        let text = template.fill(&values);
        let metadata = match pure && !exact {
            true => self.location(inst),
            false => metadata_text(whole.metadata.iter()),
        };
        self.statement(inst, &text, &metadata)
    }
}

/// Bits of an integer type.
pub(super) fn width(ty: &Type) -> Option<u64> {
    match ty {
        Type::Int(n) => Some(u64::from(*n)),
        _ => None,
    }
}

/// A type in the name of an intrinsic.
fn mangled(ty: &Type) -> String {
    match ty {
        Type::Word(word) if word == "float" => "f32".into(),
        Type::Word(word) if word == "double" => "f64".into(),
        other => other.to_string(),
    }
}
