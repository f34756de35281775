//! Loads, stores, and addresses that lie a constant further than others.

use super::{Importer, InstPosition, Read, Source};
use crate::body::{Instruction, Operand, Shape};
use crate::constants::{self, Step};
use crate::names::spelling;
use crate::types::Type;
use rewright_cfg_skeleton::ir::{Access, BlockId, Inst, InstKind, RegionId, Value};
use smallvec::{SmallVec, smallvec};

impl<'a> Importer<'a, '_> {
    /// An address a constant further.
    pub(super) fn offset(&mut self, block: BlockId, place: InstPosition, instruction: &'a Instruction) -> Read<bool> {
        let Some((root, offset)) = self.fixed_offset(instruction) else { return Ok(false) };
        let operand = Operand { ty: Type::Ptr, text: root };
        let base = self.operand(block, &operand)?;
        let params = [self.types.ty(&Type::Ptr), self.types.ty(&Type::Int(64))];
        let result = self.types.ty(&instruction.ty);
        let Some((op, targs)) = self.names.instance(spelling::OFFSET, &params, &[false, true], &[result], false) else {
            return Ok(false);
        };
        let offset = self.constant(block, &Type::Int(64), offset);
        let results = self.results(instruction)?;
        let kind = InstKind::Op { op, targs, access: None };
        self.push(
            block,
            Inst { kind, args: smallvec![base, offset], results, origin: None },
            Source::Instruction(place),
        );
        Ok(true)
    }

    /// An address a number of elements further that is not constant: step by step, the last one is the instruction.
    pub(super) fn element(&mut self, block: BlockId, place: InstPosition, instruction: &'a Instruction) -> Read<bool> {
        let Shape::Offset { base, source, indices } = &instruction.shape else { return Ok(false) };
        let Some(steps) = constants::steps(source, indices, &self.file.named) else { return Ok(false) };
        let (pointer, long) = (self.types.ty(&Type::Ptr), self.types.ty(&Type::Int(64)));
        let result = self.types.ty(&instruction.ty);
        let found = [
            self.names.instance(spelling::ELEMENT, &[pointer, long, long], &[false, false, true], &[pointer], false),
            self.names.instance(spelling::OFFSET, &[pointer, long], &[false, true], &[pointer], false),
        ];
        let [Some(element), Some(offset)] = found else { return Ok(false) };
        let mut widened = vec![];
        for step in &steps {
            let Step::Elements(index, _) = step else { continue };
            let from = self.types.ty(&index.ty);
            let widening = self.names.instance(spelling::WIDEN, &[from], &[false], &[long], false);
            match &index.ty {
                Type::Int(64) => {}
                Type::Int(8 | 16 | 32) if widening.is_some() => {}
                _ => return Ok(false),
            }
            widened.push(widening);
        }
        if base.ty != Type::Ptr || instruction.ty != Type::Ptr || result != pointer || steps.is_empty() {
            return Ok(false);
        }
        let mut at = self.operand(block, base)?;
        let mut widened = widened.into_iter();
        for (position, step) in steps.iter().enumerate() {
            let last = position + 1 == steps.len();
            let (op, args) = match step {
                Step::Bytes(bytes) => (&offset, smallvec![at, self.constant(block, &Type::Int(64), *bytes)]),
                Step::Elements(index, size) => {
                    let mut value = self.operand(block, index)?;
                    if let Some((op, targs)) = widened.next().flatten().filter(|_| index.ty != Type::Int(64)) {
                        let wide = self.new_value(&Type::Int(64));
                        let kind = InstKind::Op { op, targs, access: None };
                        let inst = Inst { kind, args: smallvec![value], results: smallvec![wide], origin: None };
                        self.push(block, inst, Source::Part(place));
                        value = wide;
                    }
                    (&element, smallvec![at, value, self.constant(block, &Type::Int(64), *size)])
                }
            };
            let (op, targs) = op.clone();
            let results = match last {
                true => self.results(instruction)?,
                false => smallvec![self.new_value(&Type::Ptr)],
            };
            at = results[0];
            let kind = InstKind::Op { op, targs, access: None };
            let source = if last { Source::Instruction(place) } else { Source::Part(place) };
            self.push(block, Inst { kind, args, results, origin: None }, source);
        }
        Ok(true)
    }

    /// A load, or with a value a store: to the address of an object, with the offset beside it.
    pub(super) fn access(
        &mut self,
        block: BlockId,
        place: InstPosition,
        instruction: &'a Instruction,
        address: &Operand,
        value: Option<&Operand>,
        aligned: bool,
    ) -> Read<bool> {
        let (pointer, long) = (self.types.ty(&Type::Ptr), self.types.ty(&Type::Int(64)));
        let Some((address_of, address_targs)) =
            self.names.instance(spelling::ADDRESS, &[pointer], &[false], &[long], false)
        else {
            return Ok(false);
        };
        let found = match value {
            None => {
                let result = self.types.ty(&instruction.ty);
                self.names.instance(spelling::LOAD, &[long, long], &[false, true], &[result], true)
            }
            Some(value) => {
                let value = self.types.ty(&value.ty);
                self.names.instance(spelling::STORE, &[long, value, long], &[false, false, true], &[], true)
            }
        };
        let Some((op, targs)) = found else { return Ok(false) };
        let (root, offset) = self.root(&address.text);
        let base = self.operand(block, &Operand { ty: Type::Ptr, text: root })?;
        let location = self.new_value(&Type::Int(64));
        let kind = InstKind::Op { op: address_of, targs: address_targs, access: None };
        self.push(
            block,
            Inst { kind, args: smallvec![base], results: smallvec![location], origin: None },
            Source::Part(place),
        );
        let mut args: SmallVec<[Value; 3]> = smallvec![location];
        if let Some(value) = value {
            args.push(self.operand(block, value)?);
        }
        args.push(self.constant(block, &Type::Int(64), offset));
        let access = Access { region: RegionId(0), trap: None, movable: false, readonly: false, aligned };
        let results = self.results(instruction)?;
        let kind = InstKind::Op { op, targs, access: Some(access) };
        self.push(block, Inst { kind, args, results, origin: None }, Source::Instruction(place));
        Ok(true)
    }

    /// From where, and how many bytes on, a pointer is.
    fn root(&self, text: &str) -> (String, i64) {
        match self.places.get(text) {
            Some(place) => {
                let instruction = &self.body.blocks[place.0].instructions[place.1];
                self.fixed_offset(instruction).unwrap_or_else(|| (text.to_string(), 0))
            }
            None => (text.to_string(), 0),
        }
    }

    /// The same for an instruction that adds constants to a pointer. Chains are followed to their start.
    fn fixed_offset(&self, instruction: &Instruction) -> Option<(String, i64)> {
        let mut instruction = instruction;
        let mut sum = 0i64;
        for _ in 0..=self.places.len() {
            let Shape::Offset { base, source, indices } = &instruction.shape else { return None };
            if base.ty != Type::Ptr {
                return None;
            }
            sum = sum.wrapping_add(constants::offset(source, indices, &self.file.named)?);
            let next = self.places.get(base.text.as_str());
            let next = next.map(|place| &self.body.blocks[place.0].instructions[place.1]);
            match next.filter(|i| constants::is_fixed_offset(i, &self.file.named)) {
                Some(next) => instruction = next,
                None => return Some((base.text.clone(), sum)),
            }
        }
        None
    }
}
