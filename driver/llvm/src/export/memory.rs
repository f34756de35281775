//! Loads, stores and offsets on the way out.

use super::{ExportError, Exporter, metadata_text};
use crate::body::{Instruction, Shape};
use crate::import::Source;
use crate::layout::alignment_of;
use crate::names::InstructionForm;
use crate::types::Type;
use rewright_cfg_skeleton::ir::{Access, Definition, Inst, InstKind, Value};
use rewright_typeprop::OpId;

/// Metadata that says something of the value that is read.
const OF_THE_VALUE: [&str; 6] =
    ["!range", "!nonnull", "!noundef", "!align", "!dereferenceable", "!dereferenceable_or_null"];

impl<'a> Exporter<'a> {
    pub(super) fn access(&mut self, inst: &Inst, op: OpId, access: Access) -> Result<(), ExportError> {
        let names = self.names;
        let (opcode, written) = names.written(op).ok_or(ExportError::Unwritable(op))?;
        let bad = || ExportError::Operands(opcode.to_string());
        let origin = self.poison.origin(inst);
        match (written, inst.args.as_slice()) {
            (InstructionForm::Load, [_, _]) => {
                let result = *inst.results.first().ok_or_else(bad)?;
                let ty = self.native(result).clone();
                let like: Vec<&Instruction> = origin
                    .map(|o| self.original.accesses_like(o))
                    .unwrap_or_default()
                    .iter()
                    .filter_map(|id| self.whole(self.imported.function.inst(*id)))
                    .collect();
                let address = self.address(inst, 1, &like)?;
                let align = self.alignment(&ty, access, &like);
                let mut metadata = vec![];
                if let Some((first, rest)) = like.split_first() {
                    let total = self.poison.is_non_poison(result);
                    metadata = first.metadata.clone();
                    metadata.retain(|m| {
                        m.0 != "!dbg"
                            && rest.iter().all(|l| l.metadata.contains(m))
                            && !(total && OF_THE_VALUE.contains(&m.0.as_str()))
                    });
                }
                let metadata = self.location(inst) + &metadata_text(metadata.iter());
                let name = self.raw(result)?;
                self.line(&format!("{name} = {opcode} {ty}, ptr {address}, align {align}"), &metadata);
            }
            (InstructionForm::Store, [_, value, _]) => {
                if let Some(replaced) = self.poison.store_replaced(inst) {
                    return self.other_store(inst, replaced, opcode);
                }
                let ty = self.declared_type(self.function.ty(*value)).ok_or(ExportError::Type(*value))?;
                let text = self.operand(inst, 1, &ty)?;
                // One that stands for several of a loop is none of the original's.
                let whole = origin.and_then(|_| self.whole(inst));
                let address = self.address(inst, 2, whole.as_slice())?;
                let align = match whole.map(|whole| &whole.shape) {
                    Some(Shape::Store(value, _, access)) => alignment_of(*access, &value.ty, self.file).unwrap_or(1),
                    _ => self.alignment(&ty, access, &[]),
                };
                let metadata = whole.map(|whole| metadata_text(whole.metadata.iter())).unwrap_or_default();
                self.line(&format!("{opcode} {ty} {text}, ptr {address}, align {align}"), &metadata);
            }
            _ => return Err(bad()),
        }
        Ok(())
    }

    /// A store of other bytes in the place of one of the original. Of the original's promises only that of its address
    /// counts, as far as it says something of this one.
    fn other_store(&mut self, inst: &Inst, replaced: &'a Inst, opcode: &str) -> Result<(), ExportError> {
        let value = inst.args[1];
        let ty = self.declared_type(self.function.ty(value)).ok_or(ExportError::Type(value))?;
        let text = self.operand(inst, 1, &ty)?;
        let address = self.address(inst, 2, &[])?;
        let stated = match self.whole(inst).map(|whole| &whole.shape) {
            Some(Shape::Store(value, _, access)) => alignment_of(*access, &value.ty, self.file).unwrap_or(1),
            _ => 1,
        };
        let from_same = self.poison.is_same(inst.args[0], replaced.args[0]);
        let align = match (self.number(inst.args[2]), self.original_number(replaced.args[2])) {
            (Some(here), Some(there)) if from_same => align_at(stated, here.wrapping_sub(there)),
            _ => 1,
        };
        let dbg = self.location(inst);
        self.line(&format!("{opcode} {ty} {text}, ptr {address}, align {align}"), &dbg);
        Ok(())
    }

    /// What a value of the original is, if it is a constant.
    fn original_number(&self, value: Value) -> Option<i64> {
        match self.original.definitions[value.index()]? {
            Definition::Result(_, id, _) => match self.imported.function.inst(id).kind {
                InstKind::Const(n) => Some(n),
                _ => None,
            },
            Definition::Param(..) => None,
        }
    }

    /// The pointer of an access: that whose address its first operand is, and the constant operand `offset` on.
    fn address(&mut self, inst: &Inst, offset: usize, like: &[&Instruction]) -> Result<String, ExportError> {
        let location = inst.args[0];
        let clean = self.is_clean(inst, 0);
        let defining = self.defining(location).ok_or(ExportError::Address)?.clone();
        let is_address = match &defining.kind {
            InstKind::Op { op, .. } => matches!(self.names.written(*op), Some((_, InstructionForm::Address))),
            _ => false,
        };
        let pointer = match defining.args.as_slice() {
            [pointer] if is_address => *pointer,
            // The address of null, where a branch is decided.
            _ if self.number(location).is_some() => location,
            _ => return Err(ExportError::Address),
        };
        let clean = clean && (pointer == location || self.is_clean(&defining, 0));
        let base = self.used(pointer, &Type::Ptr, clean)?;
        let offset = self.number(inst.args[offset]).ok_or(ExportError::Address)?;
        if offset == 0 {
            return Ok(base);
        }
        let exact = clean || !self.poison.is_non_poison(location);
        let flags = if exact { self.common_offset_flags(like) } else { String::new() };
        let result = self.temporary();
        let dbg = self.location(inst);
        self.line(&format!("{result} = getelementptr {flags}i8, ptr {base}, i64 {offset}"), &dbg);
        Ok(result)
    }

    /// Flags of an offset that stands for itself.
    pub(super) fn offset_flags(&self, inst: &Inst) -> String {
        let Some(origin) = self.poison.with_flags(inst) else { return String::new() };
        let mut chains = vec![];
        for member in self.original.members(origin) {
            match self.whole(self.imported.function.inst(*member)) {
                Some(whole) => chains.push(self.chain_flags(whole)),
                None => return String::new(),
            }
        }
        intersection(chains)
    }

    /// Flags of a step to an element that stands for itself: those of the instructions that it is a part of.
    pub(super) fn element_flags(&self, inst: &Inst) -> String {
        let Some(origin) = self.poison.with_flags(inst) else { return String::new() };
        let sources = &self.imported.payloads.sources;
        let members = self.original.members(origin).iter();
        let places = members.map(|member| sources.get(member.index()).and_then(Source::position));
        let flags = places.map(|place| place.map_or(vec![], |place| self.at(place).flags.clone()));
        intersection(flags.collect())
    }

    /// Flags that the pointers of all these accesses were made with.
    fn common_offset_flags(&self, like: &[&Instruction]) -> String {
        let chains = like.iter().map(|instruction| match &instruction.shape {
            Shape::Load(address, _) | Shape::Store(_, address, _) => match self.named(&address.text) {
                Some(pointer) => self.chain_flags(pointer),
                None => vec![],
            },
            _ => vec![],
        });
        intersection(chains.collect())
    }

    fn named(&self, local: &str) -> Option<&'a Instruction> {
        let value = self.imported.payloads.locals.get(local)?;
        match self.original.definitions[value.index()]? {
            Definition::Result(_, id, _) => self.whole(self.imported.function.inst(id)),
            Definition::Param(..) => None,
        }
    }

    /// Flags that each of a chain of constant offsets has.
    fn chain_flags(&self, last: &'a Instruction) -> Vec<String> {
        let mut flags = last.flags.clone();
        let mut at = last;
        while let Shape::Offset { base, .. } = &at.shape {
            match self.named(&base.text).filter(|i| crate::constants::is_fixed_offset(i, &self.file.named)) {
                Some(next) => {
                    flags.retain(|f| next.flags.contains(f));
                    at = next;
                }
                None => return flags,
            }
        }
        vec![]
    }

    /// What is known of the address: natural alignment, or the least that any such access states.
    fn alignment(&self, ty: &Type, access: Access, like: &[&Instruction]) -> u64 {
        let stated = like.iter().map(|i| match &i.shape {
            Shape::Load(_, access) => alignment_of(*access, &i.ty, self.file).unwrap_or(1),
            Shape::Store(value, _, access) => alignment_of(*access, &value.ty, self.file).unwrap_or(1),
            _ => 1,
        });
        let natural = ty.layout(&self.file.named).map_or(1, |(_, align)| align);
        let known = if access.aligned { natural } else { 1 };
        known.max(stated.min().unwrap_or(1))
    }
}

/// The alignment of an address that is this many bytes from an aligned one.
fn align_at(align: u64, distance: i64) -> u64 {
    match distance {
        0 => align,
        _ => align.min(1 << distance.trailing_zeros()),
    }
}

fn intersection(mut chains: Vec<Vec<String>>) -> String {
    let Some(mut flags) = chains.pop() else { return String::new() };
    // A range of indices belongs to the form in which it was written.
    flags.retain(|f| !f.contains('(') && chains.iter().all(|c| c.contains(f)));
    flags.iter().map(|f| format!("{f} ")).collect()
}
