//! Calls on the way out: operations that CLIF has no instruction for, and array constants.

use super::{ExportError, Exporter};
use crate::linkage::{Callee, HOST_CALL, HOST_TABLE, Linkage, data_name};
use cranelift_codegen::cursor::{Cursor, FuncCursor};
use cranelift_codegen::ir::{
    self as clif, AbiParam, ExtFuncData, ExternalName, GlobalValueData, InstBuilder, MemFlagsData, StackSlotData,
    StackSlotKind, TrapCode, types,
};
use rewright_cfg_skeleton::ir::Inst;
use rewright_typeprop::{OpId, Ty};
use smallvec::SmallVec;

/// Bytes of an argument or a result of a Rust function.
const SLOT: u32 = 8;

impl Exporter<'_> {
    /// A call of an operation that is no instruction.
    pub(super) fn call(
        &mut self,
        block: clif::Block,
        inst: &Inst,
        op: OpId,
        targs: &[Ty],
        linkage: &Linkage<'_>,
    ) -> Result<(), ExportError> {
        let callee = linkage.callee(op).ok_or(ExportError::NoSpelling(op))?;
        let signature = linkage.signature(op, targs, self.out.signature.call_conv);
        let args = self.values(&inst.args)?;
        let fits = |(p, a): (&AbiParam, &clif::Value)| p.value_type == self.out.dfg.value_type(*a);
        if signature.params.len() != args.len() || !signature.params.iter().zip(&args).all(fits) {
            return Err(ExportError::CallTypes(op));
        }
        match callee {
            Callee::Function(name) | Callee::Symbol(name) => {
                let function = self.function_reference(name, signature);
                let made = FuncCursor::new(&mut self.out).at_bottom(block).ins().call(function, &args);
                self.bind_call(made, inst)
            }
            Callee::Host => {
                let index = linkage.hosts.get_index_of(&(op, SmallVec::from_slice(targs)));
                let index = index.ok_or(ExportError::NoSpelling(op))?;
                self.call_host(block, inst, index as u32, &signature, &args);
                Ok(())
            }
        }
    }

    fn bind_call(&mut self, made: clif::Inst, inst: &Inst) -> Result<(), ExportError> {
        let results: SmallVec<[clif::Value; 2]> = self.out.dfg.inst_results(made).iter().copied().collect();
        for (ours, theirs) in inst.results.iter().zip(results) {
            if self.clif_type(*ours)? != self.out.dfg.value_type(theirs) {
                return Err(ExportError::Type(*ours));
            }
            self.values[ours.index()] = Some(theirs);
        }
        Ok(())
    }

    /// A Rust function takes and gives values in 8-byte slots, and says whether it has a value.
    fn call_host(
        &mut self,
        block: clif::Block,
        inst: &Inst,
        index: u32,
        signature: &clif::Signature,
        args: &[clif::Value],
    ) {
        let count = signature.params.len().max(signature.returns.len()).max(1) as u32;
        let slot = self.out.create_sized_stack_slot(StackSlotData::new(StackSlotKind::ExplicitSlot, count * SLOT, 3));
        let mut entry = clif::Signature::new(self.out.signature.call_conv);
        entry.params = [types::I64, types::I64, types::I64].map(AbiParam::new).to_vec();
        entry.returns = vec![AbiParam::new(types::I8)];
        let function = self.function_reference(HOST_CALL, entry);
        let table = self.symbol(HOST_TABLE);
        let flags = MemFlagsData::trusted();
        let mut cursor = FuncCursor::new(&mut self.out).at_bottom(block);
        let address = cursor.ins().stack_addr(types::I64, slot, 0);
        for (n, arg) in args.iter().enumerate() {
            cursor.ins().store(flags, *arg, address, (n as u32 * SLOT) as i32);
        }
        let table = cursor.ins().symbol_value(types::I64, table);
        let index = cursor.ins().iconst(types::I64, i64::from(index));
        let call = cursor.ins().call(function, &[table, index, address]);
        let done = cursor.func.dfg.first_result(call);
        cursor.ins().trapz(done, TrapCode::unwrap_user(1));
        for (n, (result, param)) in inst.results.iter().zip(&signature.returns).enumerate() {
            let loaded = cursor.ins().load(param.value_type, flags, address, (n as u32 * SLOT) as i32);
            self.values[result.index()] = Some(loaded);
        }
    }

    /// The address of an array constant.
    pub(super) fn array(&mut self, block: clif::Block, key: i64) -> clif::Value {
        let symbol = self.symbol(&data_name(key));
        FuncCursor::new(&mut self.out).at_bottom(block).ins().symbol_value(types::I64, symbol)
    }

    fn function_reference(&mut self, name: &str, signature: clif::Signature) -> clif::FuncRef {
        let external = ExternalName::testcase(name);
        let known = self
            .out
            .dfg
            .ext_funcs
            .iter()
            .find(|(_, data)| data.name == external && self.out.dfg.signatures[data.signature] == signature);
        if let Some((known, _)) = known {
            return known;
        }
        let signature = self.out.import_signature(signature);
        self.out.import_function(ExtFuncData { name: external, signature, colocated: false, patchable: false })
    }

    fn symbol(&mut self, name: &str) -> clif::GlobalValue {
        let name = ExternalName::testcase(name);
        let known = self.out.global_values.iter().find(|(_, data)| match data {
            GlobalValueData::Symbol { name: other, .. } => *other == name,
            _ => false,
        });
        if let Some((known, _)) = known {
            return known;
        }
        let data = GlobalValueData::Symbol { name, offset: 0.into(), colocated: false, tls: false };
        self.out.create_global_value(data)
    }
}
