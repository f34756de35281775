//! Instructions that packs declare: arithmetic, on truth values too, and which accesses are operations.

use super::{Importer, InstPosition, Read, Source};
use crate::body::{Instruction, MemoryAccess, Operand, Shape};
use crate::layout::alignment_of;
use crate::names::{InstructionForm, Truth, narrow, spelling, truth};
use crate::types::Type;
use rewright_cfg_skeleton::ir::{BlockId, Inst, InstKind, Promise, Value};
use rewright_typeprop::Ty;
use smallvec::{SmallVec, smallvec};

impl<'a> Importer<'a, '_> {
    /// Appends operations, if packs declare what the instruction does.
    pub(super) fn modelled(&mut self, block: BlockId, place: InstPosition, instruction: &'a Instruction) -> Read<bool> {
        match &instruction.shape {
            Shape::Load(address, _) | Shape::Offset { base: address, .. }
                if self.structures.leads_into(&address.text) =>
            {
                Ok(false)
            }
            Shape::Plain(operands) => self.plain(block, place, instruction, operands),
            Shape::Call { callee: Some(callee), args, in_memory, bundles: false, .. } => {
                let Some((spelling, written)) = self.names.intrinsic(callee) else {
                    let is_operation = self.call(block, place, instruction, callee, args, in_memory)?;
                    if !is_operation {
                        self.refuse(instruction, callee, args);
                    }
                    return Ok(is_operation);
                };
                let operands = match (written, &args[..]) {
                    (InstructionForm::Rotate, [x, y, n]) if x == y => vec![x.clone(), n.clone()],
                    (InstructionForm::Rotate, _) => return Ok(false),
                    // Whether some value is poison: with ours it is not.
                    (InstructionForm::Intrinsic(", i1 false"), [x, _]) => vec![x.clone()],
                    _ => args.clone(),
                };
                // They mean something else on a bit than on a byte that is 0 or 1.
                if operands.iter().map(|o| &o.ty).chain([&instruction.ty]).any(|ty| *ty == Type::Int(1)) {
                    return Ok(false);
                }
                self.operation(block, place, instruction, &spelling, &operands)
            }
            Shape::Load(address, access) if access.plain && instruction.ty != Type::Int(1) => {
                self.access(block, place, instruction, address, None, self.is_aligned(*access, &instruction.ty))
            }
            Shape::Store(value, address, access) if access.plain && value.ty != Type::Int(1) => {
                self.access(block, place, instruction, address, Some(value), self.is_aligned(*access, &value.ty))
            }
            Shape::Offset { .. } => {
                Ok(self.offset(block, place, instruction)? || self.element(block, place, instruction)?)
            }
            _ => Ok(false),
        }
    }

    fn plain(
        &mut self,
        block: BlockId,
        place: InstPosition,
        instruction: &'a Instruction,
        operands: &[Operand],
    ) -> Read<bool> {
        match (truth_of(instruction), operands) {
            (None, _) => self.operation(block, place, instruction, narrow(&instruction.opcode), operands),
            (Some(Truth::Operation(spelling)), _) => self.operation(block, place, instruction, spelling, operands),
            (Some(Truth::LowestBit), [x]) => self.lowest_bit(block, place, instruction, x),
            (Some(Truth::Same | Truth::LowestBit | Truth::Opaque), _) => Ok(false),
        }
    }

    /// Is an access aligned to the size of what is there?
    fn is_aligned(&self, access: MemoryAccess, ty: &Type) -> bool {
        let size = ty.layout(&self.file.named).map_or(0, |(size, _)| size);
        alignment_of(access, ty, self.file).unwrap_or(1) >= size
    }

    /// `trunc iN %x to i1`
    fn lowest_bit(
        &mut self,
        block: BlockId,
        place: InstPosition,
        instruction: &'a Instruction,
        x: &Operand,
    ) -> Read<bool> {
        let (from, byte) = (self.types.ty(&x.ty), self.types.ty(&Type::Int(8)));
        let narrowing = self.names.instance(spelling::NARROW, &[from], &[false], &[byte], false);
        let Some((and, and_targs)) = self.names.instance(spelling::AND, &[byte, byte], &[false, false], &[byte], false)
        else {
            return Ok(false);
        };
        if narrowing.is_none() && x.ty != Type::Int(8) {
            return Ok(false);
        }
        let mut value = self.operand(block, x)?;
        if let Some((op, targs)) = narrowing {
            let result = self.new_value(&Type::Int(8));
            let kind = InstKind::Op { op, targs, access: None };
            self.push(
                block,
                Inst { kind, args: smallvec![value], results: smallvec![result], origin: None },
                Source::Part(place),
            );
            value = result;
        }
        let one = self.constant(block, &Type::Int(8), 1);
        let results = self.results(instruction)?;
        let kind = InstKind::Op { op: and, targs: and_targs, access: None };
        self.push(block, Inst { kind, args: smallvec![value, one], results, origin: None }, Source::Part(place));
        Ok(true)
    }

    fn operation(
        &mut self,
        block: BlockId,
        place: InstPosition,
        instruction: &'a Instruction,
        spelling: &str,
        operands: &[Operand],
    ) -> Read<bool> {
        let params: SmallVec<[Ty; 4]> = operands.iter().map(|o| self.types.ty(&o.ty)).collect();
        let result = self.types.ty(&instruction.ty);
        let constant = vec![false; params.len()];
        let Some((op, targs)) = self.names.instance(spelling, &params, &constant, &[result], false) else {
            return Ok(false);
        };
        // A C function that is an intrinsic, too, is no operation where it is defined.
        let defined =
            |(name, written)| written == InstructionForm::Call && self.file.functions.iter().any(|f| f.name == name);
        if instruction.result.is_none() || self.names.written(op).is_some_and(defined) {
            return Ok(false);
        }
        let mut args = SmallVec::new();
        for operand in operands {
            args.push(self.operand(block, operand)?);
        }
        let results = self.results(instruction)?;
        if self.backed.contains(&place) {
            self.promise(instruction, &params, &args);
        }
        let kind = InstKind::Op { op, targs, access: None };
        self.push(block, Inst { kind, args, results, origin: None }, Source::Instruction(place));
        Ok(true)
    }

    /// What the flags of an instruction say of its operands, as far as packs have operations for it.
    fn promise(&mut self, instruction: &Instruction, params: &[Ty], args: &[Value]) {
        let truth = self.types.ty(&Type::Int(8));
        for flag in &instruction.flags {
            let spelling = format!("{} {flag}", instruction.opcode);
            let found = self.names.instance(&spelling, params, &vec![false; params.len()], &[truth], false);
            if let Some((op, targs)) = found {
                self.out.promises.push(Promise { op, targs, args: args.into(), ty: truth, value: 0 });
            }
        }
    }
}

/// How an instruction on truth values is understood.
pub(super) fn truth_of(instruction: &Instruction) -> Option<Truth> {
    let Shape::Plain(operands) = &instruction.shape else { return None };
    let types: Vec<Type> = operands.iter().map(|o| o.ty.clone()).collect();
    truth(&instruction.opcode, &types, &instruction.ty)
}
