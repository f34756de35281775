//! Our function back to Cranelift's.
//!
//! Everything around the body (signature, stack slots, global values, external functions, constants, alias
//! regions) is taken over from the original; blocks and instructions are laid out anew. Opaque instructions are the
//! original ones with new operands; declared operations go through [`Names`]; constants that are only immediates
//! of instructions are not emitted.
//!
//! **Invariant**: what [`export`] returns has passed Cranelift's verifier. If it cannot, the caller keeps the
//! original function and reports a failure.

mod calls;
mod memory;
mod opaque;
mod terminator;

use crate::import::Payloads;
use crate::linkage::Linkage;
use crate::names::{Cond, Names, Spelling, scalar_of};
use crate::read::Rejected;
use cranelift_codegen::cursor::{Cursor, FuncCursor};
use cranelift_codegen::ir as clif;
use cranelift_codegen::ir::instructions::InstructionFormat;
use cranelift_codegen::ir::{Endianness, InstBuilder, InstructionData, MemFlagsData, Opcode, TrapCode};
use cranelift_codegen::isa::CallConv;
use cranelift_codegen::settings::FlagsOrIsa;
use cranelift_codegen::verify_function;
use rewright_cfg_skeleton::ir::{Access, BlockId, Cfg, EdgeArg, Function, Inst, InstKind, PayloadId, Value};
use rewright_typeprop::OpId;
use smallvec::SmallVec;
use std::num::NonZeroU8;

/// Why a function cannot go out. Each of these is a bug of an earlier stage: the original goes out instead.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// An operation that CLIF has no name for.
    #[error("operation {0:?} has no CLIF spelling")]
    NoSpelling(OpId),
    /// A call whose operands are not of the types that its declaration gives a machine representation.
    #[error("operands of {0:?} have another machine representation than its parameters")]
    CallTypes(OpId),
    /// An operation whose operands do not fit its instruction's format.
    #[error("operands of `{0}` do not fit its format")]
    Operands(Opcode),
    /// A type that CLIF cannot write.
    #[error("value {0:?} has a type that CLIF cannot write")]
    Type(Value),
    /// A result type that is not what the instruction gives.
    #[error("`{opcode}` gives {actual}, not {expected}")]
    Result {
        /// The instruction.
        opcode: Opcode,
        /// What the function says.
        expected: clif::Type,
        /// What Cranelift says.
        actual: clif::Type,
    },
    /// A use that no definition dominates.
    #[error("value {0:?} is used before it is defined")]
    Undefined(Value),
    /// A `const` operand that is not a constant.
    #[error("value {0:?} must be a constant")]
    NotConstant(Value),
    /// A payload that the import did not make.
    #[error("payload {0:?} is unknown")]
    Payload(PayloadId),
    /// A trap code that CLIF cannot write.
    #[error("trap code {0} is unknown")]
    TrapCode(u32),
    /// An exception handler whose call is gone.
    #[error("the call of an exception handler is gone")]
    Handler,
    /// More different memory flags than Cranelift can hold.
    #[error("too many different memory flags")]
    MemFlags,
    /// There is nothing to export for.
    #[error(transparent)]
    Rejected(#[from] Rejected),
    /// Cranelift's verifier objects.
    #[error("verifier: {0}")]
    Verifier(String),
}

/// What a function is exported into.
pub struct Surroundings<'a> {
    /// The CLIF function that it was imported from, or a [`head`]: all but the body is taken over.
    pub original: &'a clif::Function,
    /// Instructions of `original` that stand for what is opaque.
    pub payloads: &'a Payloads,
    /// What calls are linked to, for functions of modules: operations that are no instructions are calls then.
    pub linkage: Option<&'a Linkage<'a>>,
    /// The byte order of accesses that state none.
    pub native: Endianness,
    /// What the result is verified for.
    pub fisa: FlagsOrIsa<'a>,
}

/// A function that went out.
pub struct Exported {
    /// As CLIF.
    pub function: clif::Function,
    /// By value of ours: what it is called there, if it is there.
    pub values: Vec<Option<clif::Value>>,
    /// The same of blocks.
    pub blocks: Vec<Option<clif::Block>>,
}

/// Exports a function.
///
/// # Errors
/// See [`ExportError`].
pub fn export(function: &Function, names: &Names, around: &Surroundings<'_>) -> Result<Exported, ExportError> {
    // A block comes after those that dominate it.
    let cfg = Cfg::new(function);
    let order = cfg.reverse_post_order();
    let mut exporter = Exporter {
        function,
        original: around.original,
        payloads: around.payloads,
        names,
        linkage: around.linkage,
        native: around.native,
        out: shell(around.original),
        blocks: vec![None; function.blocks.len()],
        entry_call: None,
        values: vec![None; function.values.len()],
        constants: vec![None; function.values.len()],
        wanted: wanted(function, names),
    };
    exporter.lay_out(order)?;
    for block in order {
        exporter.block(*block)?;
    }
    let Exporter { out, values, blocks, .. } = exporter;
    verify_function(&out, around.fisa).map_err(|errors| ExportError::Verifier(errors.to_string()))?;
    Ok(Exported { function: out, values, blocks })
}

/// The head of a function that comes from no CLIF function: its name (without `%`), its signature and its alias
/// regions, on top of what `outside` holds, where what is opaque is an instruction of that.
///
/// # Errors
/// A parameter that CLIF has no type for.
pub fn head(
    function: &Function,
    name: &str,
    names: &Names,
    linkage: Option<&Linkage<'_>>,
    convention: CallConv,
    outside: Option<&clif::Function>,
) -> Result<clif::Function, ExportError> {
    let abi = |ty| names.clif_type(ty).or_else(|| linkage.map(|linkage| linkage.abi(ty))).map(clif::AbiParam::new);
    let mut signature = clif::Signature::new(convention);
    for param in &function.block(function.entry()).params {
        signature.params.push(abi(function.ty(*param)).ok_or(ExportError::Type(*param))?);
    }
    signature.returns = function.results.iter().filter_map(|ty| abi(*ty)).collect();
    let mut head = outside.map_or_else(clif::Function::new, clif::Function::clone);
    head.name = clif::UserFuncName::testcase(name);
    head.signature = signature;
    for (user_id, region) in (0..).zip(function.regions.iter().skip(1)) {
        let description = region.clone().into();
        head.dfg.alias_regions.push(clif::AliasRegionData { user_id, description });
    }
    Ok(head)
}

/// The original without its body.
fn shell(original: &clif::Function) -> clif::Function {
    let mut out = clif::Function::with_name_signature(original.name.clone(), original.signature.clone());
    out.params = original.params.clone();
    out.sized_stack_slots = original.sized_stack_slots.clone();
    out.dynamic_stack_slots = original.dynamic_stack_slots.clone();
    out.global_values = original.global_values.clone();
    out.stack_limit = original.stack_limit;
    out.dfg.signatures = original.dfg.signatures.clone();
    out.dfg.ext_funcs = original.dfg.ext_funcs.clone();
    out.dfg.constants = original.dfg.constants.clone();
    out.dfg.immediates = original.dfg.immediates.clone();
    out.dfg.dynamic_types = original.dfg.dynamic_types.clone();
    out.dfg.mem_flags = original.dfg.mem_flags.clone();
    out.dfg.alias_regions = original.dfg.alias_regions.clone();
    out
}

/// Values that something uses as more than an immediate.
fn wanted(function: &Function, names: &Names) -> Vec<bool> {
    let mut wanted = vec![false; function.values.len()];
    for block in &function.layout {
        let block = function.block(*block);
        for inst in block.insts.iter().map(|i| function.inst(*i)) {
            let constant: &[bool] = match &inst.kind {
                // A call has no immediates.
                InstKind::Op { op, .. } if names.spelling(*op).is_some() => names.constants(*op),
                _ => &[],
            };
            for (n, arg) in inst.args.iter().enumerate() {
                wanted[arg.index()] |= !constant.get(n).copied().unwrap_or(false);
            }
        }
        for value in block.term.operands() {
            wanted[value.index()] = true;
        }
        for edge in block.term.edges() {
            for arg in &edge.args {
                if let EdgeArg::Value(value) = arg {
                    wanted[value.index()] = true;
                }
            }
        }
    }
    wanted
}

struct Exporter<'a> {
    function: &'a Function,
    original: &'a clif::Function,
    payloads: &'a Payloads,
    names: &'a Names,
    linkage: Option<&'a Linkage<'a>>,
    native: Endianness,
    out: clif::Function,
    blocks: Vec<Option<clif::Block>>,
    /// Where the entry's terminator goes if instructions name its block: CLIF lets nothing name the entry.
    entry_call: Option<clif::Block>,
    values: Vec<Option<clif::Value>>,
    /// Canonical constants, by value.
    constants: Vec<Option<i64>>,
    wanted: Vec<bool>,
}

impl Exporter<'_> {
    /// Blocks in our order, with their parameters.
    fn lay_out(&mut self, reachable: &[BlockId]) -> Result<(), ExportError> {
        let mut live = vec![false; self.function.blocks.len()];
        for block in reachable {
            live[block.index()] = true;
        }
        for id in self.function.layout.iter().copied().filter(|b| live[b.index()]) {
            let block = self.out.dfg.make_block();
            self.out.layout.append_block(block);
            self.blocks[id.index()] = Some(block);
            let data = self.function.block(id);
            if data.cold && id != self.function.entry() {
                self.out.layout.set_cold(block);
            }
            for param in &data.params {
                let ty = self.clif_type(*param)?;
                self.values[param.index()] = Some(self.out.dfg.append_block_param(block, ty));
            }
            if id == self.function.entry() && self.entry_is_named() {
                let call = self.out.dfg.make_block();
                self.out.layout.append_block(call);
                self.entry_call = Some(call);
            }
        }
        Ok(())
    }

    fn clif_type(&self, value: Value) -> Result<clif::Type, ExportError> {
        let ty = self.function.ty(value);
        let known = self.names.clif_type(ty).or_else(|| self.linkage.map(|linkage| linkage.abi(ty)));
        known.ok_or(ExportError::Type(value))
    }

    fn value(&self, value: Value) -> Result<clif::Value, ExportError> {
        self.values[value.index()].ok_or(ExportError::Undefined(value))
    }

    fn values(&self, values: &[Value]) -> Result<SmallVec<[clif::Value; 4]>, ExportError> {
        values.iter().map(|v| self.value(*v)).collect()
    }

    fn block(&mut self, id: BlockId) -> Result<(), ExportError> {
        let block = self.blocks[id.index()].expect("every reachable block is laid out");
        let function = self.function;
        for inst in &function.block(id).insts {
            self.inst(block, function.inst(*inst))?;
        }
        self.terminator(id, block)
    }

    /// Appends an instruction whose result types follow from `ctrl`.
    fn append(&mut self, block: clif::Block, data: InstructionData, ctrl: clif::Type) -> clif::Inst {
        let inst = self.out.dfg.make_inst(data);
        self.out.dfg.make_inst_results(inst, ctrl);
        self.out.layout.append_inst(inst, block);
        inst
    }

    /// Binds our results to those of `made`, and takes over the source location.
    fn bind(&mut self, made: clif::Inst, inst: &Inst) -> Result<(), ExportError> {
        let actual: SmallVec<[clif::Value; 2]> = self.out.dfg.inst_results(made).iter().copied().collect();
        let opcode = self.out.dfg.insts[made].opcode();
        if actual.len() != inst.results.len() {
            return Err(ExportError::Operands(opcode));
        }
        for (ours, theirs) in inst.results.iter().zip(actual) {
            let (expected, actual) = (self.clif_type(*ours)?, self.out.dfg.value_type(theirs));
            if expected != actual {
                return Err(ExportError::Result { opcode, expected, actual });
            }
            self.values[ours.index()] = Some(theirs);
        }
        if let Some(origin) = inst.origin {
            self.locate(made, clif::Inst::from_u32(origin));
        }
        Ok(())
    }

    fn locate(&mut self, made: clif::Inst, origin: clif::Inst) {
        if self.original.dfg.inst_is_valid(origin) {
            let loc = self.original.srcloc(origin);
            if !loc.is_default() {
                self.out.set_srcloc(made, loc);
            }
        }
    }

    fn inst(&mut self, block: clif::Block, inst: &Inst) -> Result<(), ExportError> {
        match &inst.kind {
            InstKind::Const(value) => self.constant(block, inst, *value),
            InstKind::Check { code, when } => {
                let opcode = if *when { Opcode::Trapnz } else { Opcode::Trapz };
                let &[arg] = inst.args.as_slice() else { return Err(ExportError::Operands(opcode)) };
                let data = InstructionData::CondTrap { opcode, arg: self.value(arg)?, code: trap_code(*code)? };
                let made = self.append(block, data, clif::types::INVALID);
                self.bind(made, inst)
            }
            InstKind::Op { op, targs, .. } if self.names.spelling(*op).is_none() => match self.linkage {
                Some(linkage) => self.call(block, inst, *op, targs, linkage),
                None => Err(ExportError::NoSpelling(*op)),
            },
            InstKind::Op { op, access, .. } => {
                let spelling = self.names.spelling(*op).ok_or(ExportError::NoSpelling(*op))?;
                let data = self.operation(block, spelling, inst, *access)?;
                let ctrl = match data.typevar_operand(&self.out.dfg.value_lists) {
                    Some(operand) if spelling.opcode.constraints().requires_typevar_operand() => {
                        self.out.dfg.value_type(operand)
                    }
                    _ => match inst.results.first() {
                        Some(result) => self.clif_type(*result)?,
                        None => clif::types::INVALID,
                    },
                };
                let made = self.append(block, data, ctrl);
                self.bind(made, inst)
            }
            InstKind::Opaque { payload, .. } => {
                let representative = self.payloads.inst(*payload).ok_or(ExportError::Payload(*payload))?;
                let args = self.values(&inst.args)?;
                let made = self.opaque(block, representative, &args)?;
                self.bind(made, inst)?;
                self.carry_over(made, inst.origin.map_or(representative, clif::Inst::from_u32));
                Ok(())
            }
        }
    }

    /// A constant, unless it is only an immediate of other instructions.
    fn constant(&mut self, block: clif::Block, inst: &Inst, value: i64) -> Result<(), ExportError> {
        let &[result] = inst.results.as_slice() else { return Err(ExportError::Operands(Opcode::Iconst)) };
        self.constants[result.index()] = Some(value);
        if !self.wanted[result.index()] {
            return Ok(());
        }
        let ty = self.clif_type(result)?;
        if let Some(linkage) = self.linkage
            && linkage.data.contains(&value)
            && linkage.universe.types.scalar(self.function.ty(result)).is_none()
        {
            self.values[result.index()] = Some(self.array(block, value));
            return Ok(());
        }
        let scalar = scalar_of(ty.lane_type()).ok_or(ExportError::Type(result))?;
        if ty.is_vector() {
            let lane = &value.to_le_bytes()[..ty.lane_bits() as usize / 8];
            let handle = self.out.dfg.constants.insert(lane.repeat(ty.lane_count() as usize).into());
            let made = FuncCursor::new(&mut self.out).at_bottom(block).ins().vconst(ty, handle);
            let made = self.out.dfg.value_def(made).unwrap_inst();
            return self.bind(made, inst);
        }
        let mut cursor = FuncCursor::new(&mut self.out).at_bottom(block);
        let made = match ty {
            clif::types::F32 => cursor.ins().f32const(clif::immediates::Ieee32::with_bits(value as u32)),
            clif::types::F64 => cursor.ins().f64const(clif::immediates::Ieee64::with_bits(value as u64)),
            // CLIF wants integers without the sign's copies.
            _ => cursor.ins().iconst(ty, value & (-1i64 as u64 >> (64 - scalar.bits())) as i64),
        };
        let made = self.out.dfg.value_def(made).unwrap_inst();
        self.bind(made, inst)
    }

    /// The instruction of a declared operation.
    fn operation(
        &mut self,
        block: clif::Block,
        spelling: Spelling,
        inst: &Inst,
        access: Option<Access>,
    ) -> Result<InstructionData, ExportError> {
        let opcode = spelling.opcode;
        let bad = || ExportError::Operands(opcode);
        let args = inst.args.as_slice();
        Ok(match (opcode.format(), args, access, spelling.cond) {
            (InstructionFormat::Unary, &[x], None, _) => InstructionData::Unary { opcode, arg: self.value(x)? },
            (InstructionFormat::Binary, &[x, y], None, _) => {
                InstructionData::Binary { opcode, args: [self.value(x)?, self.value(y)?] }
            }
            (InstructionFormat::Ternary, &[x, y, z], None, _) => {
                InstructionData::Ternary { opcode, args: [self.value(x)?, self.value(y)?, self.value(z)?] }
            }
            (InstructionFormat::IntCompare, &[x, y], None, Cond::Int(cond)) => {
                InstructionData::IntCompare { opcode, args: [self.value(x)?, self.value(y)?], cond }
            }
            (InstructionFormat::FloatCompare, &[x, y], None, Cond::Float(cond)) => {
                InstructionData::FloatCompare { opcode, args: [self.value(x)?, self.value(y)?], cond }
            }
            (InstructionFormat::UnaryIeee16, &[low, _], None, _) => {
                let imm = clif::immediates::Ieee16::with_bits(self.immediate(low)? as u16);
                InstructionData::UnaryIeee16 { opcode, imm }
            }
            (InstructionFormat::UnaryConst, &[low, high], None, _) => {
                let bytes = [self.immediate(low)?, self.immediate(high)?].map(i64::to_le_bytes).concat();
                let size = self.clif_type(*inst.results.first().ok_or_else(bad)?)?.bytes() as usize;
                let bytes = bytes.get(..size).ok_or_else(bad)?;
                let constant_handle = self.out.dfg.constants.insert(bytes.into());
                InstructionData::UnaryConst { opcode, constant_handle }
            }
            (InstructionFormat::LoadNoOffset, &[x], None, _) => {
                let flags = self.mem_flags(MemFlagsData::new())?;
                InstructionData::LoadNoOffset { opcode, arg: self.value(x)?, flags }
            }
            (InstructionFormat::Load, &[address, offset], Some(access), _) => {
                let (arg, offset) = self.address(block, address, offset)?;
                InstructionData::Load { opcode, arg, flags: self.access(access, inst)?, offset }
            }
            (InstructionFormat::Store, &[address, value, offset], Some(access), _) => {
                let (address, offset) = self.address(block, address, offset)?;
                let args = [self.value(value)?, address];
                InstructionData::Store { opcode, args, flags: self.access(access, inst)?, offset }
            }
            _ => return Err(bad()),
        })
    }
}

/// Our number of a trap code is Cranelift's byte.
fn trap_code(code: u32) -> Result<TrapCode, ExportError> {
    let byte = u8::try_from(code).ok().and_then(NonZeroU8::new).ok_or(ExportError::TrapCode(code))?;
    Ok(TrapCode::from_raw(byte))
}
