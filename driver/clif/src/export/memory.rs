//! Addresses and flags of loads and stores on the way out.

use super::{ExportError, Exporter, trap_code};
use cranelift_codegen::cursor::{Cursor, FuncCursor};
use cranelift_codegen::ir as clif;
use cranelift_codegen::ir::{Endianness, InstBuilder, MemFlagsData};
use rewright_cfg_skeleton::ir::{Access, Inst, Value};

impl Exporter<'_> {
    /// An address and an offset that fits the instruction; where it does not, it is added first.
    pub(super) fn address(
        &mut self,
        block: clif::Block,
        address: Value,
        offset: Value,
    ) -> Result<(clif::Value, clif::immediates::Offset32), ExportError> {
        let base = self.value(address)?;
        let value = self.immediate(offset)?;
        if let Ok(offset) = i32::try_from(value) {
            return Ok((base, offset.into()));
        }
        let ty = self.out.dfg.value_type(base);
        let mut cursor = FuncCursor::new(&mut self.out).at_bottom(block);
        let distance = cursor.ins().iconst(ty, value);
        Ok((cursor.ins().iadd(base, distance), 0.into()))
    }

    /// An operand that is a constant.
    pub(super) fn immediate(&self, operand: Value) -> Result<i64, ExportError> {
        self.constants[operand.index()].ok_or(ExportError::NotConstant(operand))
    }

    /// The flags of an access.
    pub(super) fn access(&mut self, access: Access, inst: &Inst) -> Result<clif::MemFlags, ExportError> {
        let region = access.region.0.checked_sub(1).map(clif::AliasRegion::from_u32);
        let trap = access.trap.map(trap_code).transpose()?;
        let mut flags = MemFlagsData::new().with_alias_region(region).with_trap_code(trap);
        if access.movable {
            flags = flags.with_can_move();
        }
        if access.readonly {
            flags = flags.with_readonly();
        }
        if access.aligned {
            flags = flags.with_aligned();
        }
        if self.native == Endianness::Big || self.said_little(inst) {
            flags = flags.with_endianness(Endianness::Little);
        }
        self.mem_flags(flags)
    }

    /// Did the original access state its byte order, although it is the native one?
    fn said_little(&self, inst: &Inst) -> bool {
        let origin = inst.origin.map(clif::Inst::from_u32).filter(|i| self.original.dfg.inst_is_valid(*i));
        let flags = origin.and_then(|origin| self.original.dfg.insts[origin].memflags());
        flags.is_some_and(|f| self.original.dfg.mem_flags[f].explicit_endianness().is_some())
    }

    pub(super) fn mem_flags(&mut self, flags: MemFlagsData) -> Result<clif::MemFlags, ExportError> {
        self.out.dfg.mem_flags.insert(flags).map_err(|_| ExportError::MemFlags)
    }
}
