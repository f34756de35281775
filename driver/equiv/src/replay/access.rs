//! Values in memory: loads, stores and stack slots.

use super::choice::{RefinementSide, Stop, undefined, unsupported};
use super::machine::{Frame, Machine};
use super::memory::{Access, Byte};
use super::value::{Atom, Lane, Object, Pointer, Value};
use rewright_llvm::body::{Instruction, MemoryAccess, Operand, Slot};
use rewright_llvm::types::Type;

impl<'a> Machine<'a> {
    /// The pointer by which memory is accessed.
    pub(super) fn accessed(&mut self, lane: &Lane) -> Result<Pointer, Stop> {
        match lane {
            Lane::One(Atom::Pointer(pointer)) => Ok(*pointer),
            Lane::One(Atom::Poison) => undefined("it accesses memory at poison"),
            Lane::Undef { .. } => undefined("it accesses memory at `undef`"),
            Lane::Few(atoms) => {
                self.chooser.perhaps_undefined("it accesses memory at what may be `undef`")?;
                match atoms[self.chooser.choose(atoms.len())] {
                    Atom::Pointer(pointer) => Ok(pointer),
                    Atom::Poison => undefined("it accesses memory at poison"),
                    Atom::Int(_) => unsupported("an access by an address that is a number"),
                }
            }
            _ => match self.chooser.side {
                RefinementSide::Before => undefined("it accesses memory at an address that is not known"),
                RefinementSide::After => unsupported("an access by an address that is a number"),
            },
        }
    }

    fn note(&mut self, pointer: Pointer, writes: bool) {
        if !matches!(pointer.object, Object::Local(_)) && self.accesses.last() != Some(&(pointer.object, writes)) {
            self.accesses.push((pointer.object, writes));
        }
    }

    pub(super) fn load(
        &mut self,
        frame: &Frame<'a>,
        instruction: &Instruction,
        address: &Operand,
        access: MemoryAccess,
    ) -> Result<Value, Stop> {
        if !access.plain {
            return unsupported("a load that is volatile or atomic");
        }
        let tag = self.tag(instruction)?;
        if self.program.layout.store_size(&instruction.ty) == Ok(0) {
            return self.everywhere(&instruction.ty, "undef");
        }
        let pointer = self.address(frame, address)?;
        let align = self.stated(access.align, &instruction.ty)?;
        let value = self.load_value(&instruction.ty, pointer, align, tag.as_deref())?;
        self.annotated(instruction, value)
    }

    pub(super) fn store(
        &mut self,
        frame: &Frame<'a>,
        instruction: &Instruction,
        value: &Operand,
        address: &Operand,
        access: MemoryAccess,
    ) -> Result<(), Stop> {
        if !access.plain {
            return unsupported("a store that is volatile or atomic");
        }
        let tag = self.tag(instruction)?;
        self.metadata_is_harmless(instruction)?;
        let stored = self.operand(frame, value)?;
        if self.program.layout.store_size(&value.ty) == Ok(0) {
            return Ok(());
        }
        let pointer = self.address(frame, address)?;
        let align = self.stated(access.align, &value.ty)?;
        self.store_value(&value.ty, &stored, pointer, align, tag.as_deref())
    }

    fn address(&mut self, frame: &Frame<'a>, operand: &Operand) -> Result<Pointer, Stop> {
        let value = self.operand(frame, operand)?;
        match value.scalar() {
            Some(lane) => self.accessed(lane),
            None => unsupported("an access by a vector of pointers"),
        }
    }

    /// The alignment that an access states, or that of its type.
    fn stated(&self, align: u64, ty: &Type) -> Result<u64, Stop> {
        match align {
            0 => self.program.layout.alignment(ty).map_err(Stop::from),
            _ => Ok(align),
        }
    }

    /// Checks a whole access before its parts.
    fn checked(&mut self, ty: &Type, pointer: Pointer, align: u64, writes: bool) -> Result<(), Stop> {
        let size = self.program.layout.store_size(ty)?;
        self.note(pointer, writes);
        // Tags are for the parts, which leave the padding out.
        self.memory.access(&self.chooser, Access { pointer, size, align, writes, tag: None }).map(|_| ())
    }

    /// Reads a value of a type.
    pub(super) fn load_value(
        &mut self,
        ty: &Type,
        pointer: Pointer,
        align: u64,
        tag: Option<&str>,
    ) -> Result<Value, Stop> {
        self.checked(ty, pointer, align, false)?;
        self.load_parts(ty, pointer, tag)
    }

    fn load_parts(&mut self, ty: &Type, pointer: Pointer, tag: Option<&str>) -> Result<Value, Stop> {
        let layout = &self.program.layout;
        if let Some(types) = layout.parts(ty)? {
            let offsets = layout.offsets(ty)?;
            let mut parts = vec![];
            for (ty, offset) in types.iter().zip(offsets) {
                self.chooser.step()?;
                let offset = pointer.offset.wrapping_add(offset);
                parts.push(self.load_parts(ty, Pointer { offset, ..pointer }, tag)?);
            }
            return Ok(Value::Parts(parts));
        }
        let size = layout.store_size(ty)?;
        let width = if *ty == Type::Ptr { None } else { Some(self.width(ty)?) };
        let access = Access { pointer, size, align: 1, writes: false, tag };
        self.memory.load(&self.chooser, access, width).map(Value::Scalar)
    }

    /// Writes a value of a type.
    pub(super) fn store_value(
        &mut self,
        ty: &Type,
        value: &Value,
        pointer: Pointer,
        align: u64,
        tag: Option<&str>,
    ) -> Result<(), Stop> {
        if self.program.layout.store_size(ty) == Ok(0) {
            return Ok(());
        }
        self.checked(ty, pointer, align, true)?;
        if let (Value::Parts(_), RefinementSide::Before) = (value, self.chooser.side) {
            // Padding is not kept.
            let size = self.program.layout.store_size(ty)?;
            let access = Access { pointer, size, align: 1, writes: true, tag: None };
            self.memory.access(&self.chooser, access)?.fill(Byte::Poison);
        }
        self.store_parts(ty, value, pointer, tag)
    }

    fn store_parts(&mut self, ty: &Type, value: &Value, pointer: Pointer, tag: Option<&str>) -> Result<(), Stop> {
        let layout = &self.program.layout;
        match value {
            Value::Parts(parts) => {
                let types = layout.parts(ty)?.unwrap_or_default();
                let offsets = layout.offsets(ty)?;
                for ((ty, part), offset) in types.iter().zip(parts).zip(offsets) {
                    self.chooser.step()?;
                    let offset = pointer.offset.wrapping_add(offset);
                    self.store_parts(ty, part, Pointer { offset, ..pointer }, tag)?;
                }
                Ok(())
            }
            Value::Scalar(lane) => {
                let size = layout.store_size(ty)?;
                let width = if *ty == Type::Ptr { None } else { Some(self.width(ty)?) };
                let access = Access { pointer, size, align: 1, writes: true, tag };
                self.memory.store(&mut self.chooser, access, lane, width)
            }
        }
    }

    /// A new stack slot.
    pub(super) fn slot(&mut self, frame: &Frame<'a>, instruction: &Instruction, slot: &Slot) -> Result<Value, Stop> {
        if instruction.ty != Type::Ptr || !instruction.flags.is_empty() {
            return unsupported("a stack slot of a special kind");
        }
        let layout = &self.program.layout;
        let size = layout.size(&slot.ty)?;
        let natural = layout.alignment(&slot.ty)?;
        let count = match &slot.count {
            None => 1,
            Some(operand) => match self.operand(frame, operand)?.scalar() {
                Some(Lane::One(Atom::Int(n))) => u64::try_from(*n).unwrap_or(u64::MAX),
                _ => return unsupported("a stack slot of a size that is not known"),
            },
        };
        let size = size.saturating_mul(count);
        let align = if slot.align == 0 { natural } else { slot.align };
        let pointer = self.memory.local(size, align, self.chooser.side)?;
        Ok(Value::Scalar(Lane::pointer(pointer)))
    }

    /// `memcpy`, `memmove`: copies bytes.
    pub(super) fn copy(
        &mut self,
        to: &Lane,
        from: &Lane,
        size: u64,
        aligns: [u64; 2],
        may_overlap: bool,
    ) -> Result<(), Stop> {
        if size == 0 {
            return Ok(());
        }
        let (to, from) = (self.accessed(to)?, self.accessed(from)?);
        if !may_overlap && to.object == from.object && to.offset.abs_diff(from.offset) < size && to != from {
            return undefined("it copies between places that overlap");
        }
        self.note(from, false);
        self.note(to, true);
        let read = Access { pointer: from, size, align: aligns[1], writes: false, tag: None };
        let bytes = self.memory.access(&self.chooser, read)?.to_vec();
        for byte in &bytes {
            if let Byte::Pointer(pointer, _) = byte {
                self.memory.escaped.insert(pointer.object);
            }
        }
        let write = Access { pointer: to, size, align: aligns[0], writes: true, tag: None };
        self.memory.access(&self.chooser, write)?.copy_from_slice(&bytes);
        Ok(())
    }

    /// `memset`.
    pub(super) fn set(&mut self, to: &Lane, byte: &Lane, size: u64, align: u64) -> Result<(), Stop> {
        if size == 0 {
            return Ok(());
        }
        let pointer = self.accessed(to)?;
        self.note(pointer, true);
        let access = Access { pointer, size, align, writes: true, tag: None };
        self.memory.access(&self.chooser, access)?;
        let byte = match (byte, self.chooser.side) {
            (Lane::Few(atoms), RefinementSide::After) => &Lane::One(atoms[self.chooser.choose(atoms.len())]),
            _ => byte,
        };
        for at in 0..size {
            self.chooser.step()?;
            let offset = pointer.offset.wrapping_add(at);
            let access = Access { pointer: Pointer { offset, ..pointer }, size: 1, align: 1, writes: true, tag: None };
            self.memory.store(&mut self.chooser, access, byte, Some(8))?;
        }
        Ok(())
    }
}
