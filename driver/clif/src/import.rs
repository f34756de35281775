//! Cranelift's function to ours.
//!
//! Scalar instructions whose opcode a pack declares become operations, conditional traps become checks, branches
//! become terminators with arguments on edges; everything else becomes opaque, with the effects that Cranelift
//! states of its opcode. Opaque things are kept as the *original instruction*: [`Payloads`] maps a payload back to
//! it, and `export` clones it with new operands.
//!
//! **Invariants**: the input has passed Cranelift's verifier. Unreachable blocks are left out. Two pure opaque
//! instructions share a payload iff they agree in everything but their operands.
//!
//! What it does not do: it normalises nothing (no preheaders, no split edges).

mod opaque;

use crate::names::{Cond, Names, Spelling};
use cranelift_codegen::entity::SecondaryMap;
use cranelift_codegen::ir as clif;
use cranelift_codegen::ir::{BlockArg, Endianness, InstructionData, Opcode};
use cranelift_codegen::packed_option::{PackedOption, ReservedValue};
use opaque::{WithoutOperands, effects};
use rewright_cfg_skeleton::ir::objects::{ObjectId, Place};
use rewright_cfg_skeleton::ir::{
    Access, BlockId, Edge, EdgeArg, Function, Inst, InstId, InstKind, OpaqueEffects, PayloadId, RegionId, Terminator,
    Value,
};
use rewright_typeprop::Ty;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::collections::BTreeSet;

/// Why a function cannot be imported; it then passes through as it is.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// No block at all.
    #[error("the function has no body")]
    Empty,
    /// A block without a terminator: the function has not passed the verifier.
    #[error("{0} has no terminator")]
    Unterminated(clif::Block),
    /// Cranelift cannot write what it reads here, so a changed function could not go out as text.
    #[error("it uses dynamic vector types, which Cranelift cannot print")]
    DynamicTypes,
}

/// What the front end kept of the original function.
#[derive(Clone, Debug, Default)]
pub struct Payloads {
    /// The instruction behind each payload.
    pub insts: Vec<clif::Inst>,
    /// The original block behind each of our blocks.
    pub blocks: Vec<clif::Block>,
    /// By value of ours: the original's, if it has one.
    pub values: Vec<Option<clif::Value>>,
}

impl Payloads {
    /// The instruction behind a payload.
    pub fn inst(&self, payload: PayloadId) -> Option<clif::Inst> {
        self.insts.get(payload.index()).copied()
    }
}

/// A function and what was kept of its original.
#[derive(Clone, Debug)]
pub struct Imported {
    /// Ours.
    pub function: Function,
    /// For the way back.
    pub payloads: Payloads,
}

/// Imports a function that has passed Cranelift's verifier. `native` is the byte order of accesses that state none.
pub fn import(func: &clif::Function, names: &Names, native: Endianness) -> Result<Imported, ImportError> {
    let entry = func.layout.entry_block().ok_or(ImportError::Empty)?;
    if !func.dfg.dynamic_types.is_empty() {
        return Err(ImportError::DynamicTypes);
    }
    let mut importer = Importer {
        func,
        names,
        native,
        out: Function {
            results: func.signature.returns.iter().map(|r| names.ty(r.value_type)).collect(),
            regions: regions(func),
            ..Function::new(func.name.to_string())
        },
        payloads: Payloads::default(),
        shared: FxHashMap::default(),
        shown: shown(func),
        values: SecondaryMap::new(),
        blocks: SecondaryMap::new(),
    };
    let reachable = reachable(func, entry);
    for block in func.layout.blocks().filter(|b| reachable[*b]) {
        let id = importer.out.add_block();
        importer.blocks[block] = id.0 + 1;
        importer.payloads.blocks.push(block);
    }
    for block in importer.payloads.blocks.clone() {
        importer.block(block)?;
    }
    let Importer { out, mut payloads, values, .. } = importer;
    payloads.values = vec![None; out.values.len()];
    for (theirs, ours) in values.iter() {
        if let Some(ValueIndex(index)) = ours.expand() {
            payloads.values[index as usize] = Some(theirs);
        }
    }
    Ok(Imported { function: out, payloads })
}

/// Region 0 is the one of accesses that name none; the others follow CLIF's numbers.
fn regions(func: &clif::Function) -> Vec<String> {
    let named = func.dfg.alias_regions.iter().map(|(region, _)| region.to_string());
    std::iter::once("any".to_string()).chain(named).collect()
}

/// Slots that stack maps name, or all of them where the place of the frame is known.
fn shown(func: &clif::Function) -> BTreeSet<clif::StackSlot> {
    let insts = || func.layout.blocks().flat_map(|block| func.layout.block_insts(block));
    let is_about_frame =
        |inst| matches!(func.dfg.insts[inst].opcode(), Opcode::GetFramePointer | Opcode::GetStackPointer);
    if insts().any(is_about_frame) {
        return func.sized_stack_slots.keys().collect();
    }
    let entries = insts().filter_map(|inst| func.dfg.user_stack_map_entries(inst)).flatten();
    entries.map(|entry| entry.slot).collect()
}

/// Blocks that control can reach.
fn reachable(func: &clif::Function, entry: clif::Block) -> SecondaryMap<clif::Block, bool> {
    let mut seen = SecondaryMap::with_default(false);
    let mut work = vec![entry];
    while let Some(block) = work.pop() {
        if !std::mem::replace(&mut seen[block], true) {
            work.extend(func.block_successors(block));
        }
    }
    seen
}

struct Importer<'a> {
    func: &'a clif::Function,
    names: &'a Names,
    native: Endianness,
    out: Function,
    payloads: Payloads,
    /// Payloads of pure opaque instructions, by everything but their operands.
    shared: FxHashMap<(InstructionData, SmallVec<[clif::Type; 2]>), PayloadId>,
    /// Slots that stack maps name, or all of them where the place of the frame is known.
    shown: BTreeSet<clif::StackSlot>,
    /// Our value, by original value without aliases.
    values: SecondaryMap<clif::Value, PackedOption<ValueIndex>>,
    /// One more than our block's number; zero for unreachable blocks.
    blocks: SecondaryMap<clif::Block, u32>,
}

/// A `Value` that packs.
#[derive(Clone, Copy, PartialEq, Eq)]
struct ValueIndex(u32);

impl ReservedValue for ValueIndex {
    fn reserved_value() -> Self {
        ValueIndex(u32::MAX)
    }
    fn is_reserved_value(&self) -> bool {
        self.0 == u32::MAX
    }
}

impl Importer<'_> {
    /// Our value for an original one; made on first sight, since layout order is not dominance order.
    fn value(&mut self, value: clif::Value) -> Value {
        let value = self.func.dfg.resolve_aliases(value);
        if let Some(ValueIndex(index)) = self.values[value].expand() {
            return Value(index);
        }
        let ours = self.out.add_value(self.names.ty(self.func.dfg.value_type(value)));
        self.values[value] = Some(ValueIndex(ours.0)).into();
        ours
    }

    fn values<'v>(&mut self, values: impl IntoIterator<Item = &'v clif::Value>) -> SmallVec<[Value; 3]> {
        values.into_iter().map(|v| self.value(*v)).collect()
    }

    fn block(&mut self, block: clif::Block) -> Result<(), ImportError> {
        let id = self.block_id(block);
        let params: Vec<clif::Value> = self.func.dfg.block_params(block).to_vec();
        let params = params.iter().map(|v| self.value(*v)).collect();
        self.out.blocks[id.index()].params = params;
        self.out.blocks[id.index()].cold = self.func.layout.is_cold(block);
        let mut terminated = false;
        for inst in self.func.layout.block_insts(block) {
            if self.func.dfg.insts[inst].opcode().is_terminator() {
                self.out.blocks[id.index()].term = self.terminator(inst);
                terminated = true;
                break;
            }
            self.inst(id, inst);
        }
        if terminated { Ok(()) } else { Err(ImportError::Unterminated(block)) }
    }

    fn block_id(&self, block: clif::Block) -> BlockId {
        // Reachable blocks name reachable blocks only.
        BlockId(self.blocks[block].wrapping_sub(1))
    }

    fn edge(&mut self, call: &clif::BlockCall) -> Edge {
        let pool = &self.func.dfg.value_lists;
        let target = self.block_id(call.block(pool));
        let args = call.args(pool).map(|arg| match arg {
            BlockArg::Value(v) => EdgeArg::Value(self.value(v)),
            BlockArg::TryCallRet(n) => EdgeArg::Terminator(n * 2),
            BlockArg::TryCallExn(n) => EdgeArg::Terminator(n * 2 + 1),
        });
        Edge { target, args: args.collect() }
    }

    fn terminator(&mut self, inst: clif::Inst) -> Terminator {
        let dfg = &self.func.dfg;
        match &dfg.insts[inst] {
            InstructionData::Jump { destination, .. } => Terminator::Jump(self.edge(destination)),
            InstructionData::Brif { arg, blocks, .. } => {
                Terminator::Branch { cond: self.value(*arg), then: self.edge(&blocks[0]), els: self.edge(&blocks[1]) }
            }
            InstructionData::BranchTable { arg, table, .. } => {
                let table = &dfg.jump_tables[*table];
                Terminator::Switch {
                    index: self.value(*arg),
                    targets: table.as_slice().iter().map(|call| self.edge(call)).collect(),
                    default: self.edge(&table.default_block()),
                }
            }
            InstructionData::Trap { code, .. } => Terminator::Trap { code: code.as_raw().get().into() },
            InstructionData::MultiAry { opcode: Opcode::Return, .. } => {
                let values = dfg.inst_args(inst).to_vec();
                Terminator::Return(values.iter().map(|v| self.value(*v)).collect())
            }
            data => {
                let operands: Vec<_> = operands(self.func, inst).collect();
                let args = operands.iter().map(|v| self.value(*v)).collect();
                let calls: &[clif::BlockCall] = match data.exception_table() {
                    Some(table) => dfg.exception_tables[table].all_branches(),
                    None => &[],
                };
                let targets = calls.iter().map(|call| self.edge(call)).collect();
                Terminator::Opaque { payload: self.payload(inst), args, targets }
            }
        }
    }

    /// Appends our instruction for `inst`, and constants for its immediates.
    fn inst(&mut self, block: BlockId, inst: clif::Inst) {
        let data = self.func.dfg.insts[inst];
        if let Some(kind) = self.constant(inst, &data) {
            return self.append(block, kind, SmallVec::new(), inst);
        }
        if let InstructionData::CondTrap { opcode, arg, code } = data {
            let kind = InstKind::Check { code: code.as_raw().get().into(), when: opcode == Opcode::Trapnz };
            let args = self.values(&[arg]);
            return self.append(block, kind, args, inst);
        }
        if let Some((kind, args)) = self.operation(block, inst, &data) {
            return self.append(block, kind, args, inst);
        }
        let effects = effects(self.func, inst);
        let payload = if effects == OpaqueEffects::Pure { self.shared_payload(inst) } else { self.payload(inst) };
        let operands: Vec<_> = operands(self.func, inst).collect();
        let args = self.values(&operands);
        if let Some(place) = self.place(inst) {
            self.out.objects.set_place(payload, place);
        }
        self.append(block, InstKind::Opaque { payload, effects }, args, inst);
    }

    fn append(&mut self, block: BlockId, kind: InstKind, args: SmallVec<[Value; 3]>, inst: clif::Inst) {
        let results: Vec<clif::Value> = self.func.dfg.inst_results(inst).to_vec();
        let results = results.iter().map(|v| self.value(*v)).collect();
        self.push(block, Inst { kind, args, results, origin: Some(inst.as_u32()) });
    }

    fn push(&mut self, block: BlockId, inst: Inst) {
        let id = InstId(self.out.insts.len() as u32);
        self.out.insts.push(inst);
        self.out.blocks[block.index()].insts.push(id);
    }

    fn constant(&self, inst: clif::Inst, data: &InstructionData) -> Option<InstKind> {
        let raw = match *data {
            InstructionData::UnaryImm { imm, .. } => imm.bits() as u64,
            InstructionData::UnaryIeee32 { imm, .. } => imm.bits().into(),
            InstructionData::UnaryIeee64 { imm, .. } => imm.bits(),
            InstructionData::UnaryConst { constant_handle, .. } => {
                return self.vector(inst, constant_handle).map(InstKind::Const);
            }
            _ => return None,
        };
        let result = *self.func.dfg.inst_results(inst).first()?;
        let scalar = self.names.scalar(self.names.ty(self.func.dfg.value_type(result)))?;
        Some(InstKind::Const(scalar.canonical(raw)))
    }

    /// What all lanes of a constant hold, if they hold the same.
    fn vector(&self, inst: clif::Inst, constant: clif::Constant) -> Option<i64> {
        let ty = self.func.dfg.value_type(*self.func.dfg.inst_results(inst).first()?);
        let lane = self.names.lane(self.names.ty(ty)).filter(|_| ty.is_vector())?;
        let bytes = self.func.dfg.constants.get(constant).as_slice();
        let mut lanes = bytes.chunks_exact(ty.lane_bits() as usize / 8);
        let first = lanes.next()?;
        let raw = first.iter().rev().fold(0u64, |raw, byte| raw << 8 | u64::from(*byte));
        (bytes.len() == ty.bytes() as usize && lanes.all(|lane| lane == first)).then(|| lane.canonical(raw))
    }

    /// A declared operation, if one fits.
    fn operation(
        &mut self,
        block: BlockId,
        inst: clif::Inst,
        data: &InstructionData,
    ) -> Option<(InstKind, SmallVec<[Value; 3]>)> {
        let dfg = &self.func.dfg;
        let mut immediates: SmallVec<[i64; 2]> = SmallVec::new();
        let mut access = None;
        let operands: SmallVec<[clif::Value; 3]> = match *data {
            InstructionData::Unary { arg, .. } => SmallVec::from_slice(&[arg]),
            InstructionData::Binary { args, .. }
            | InstructionData::IntCompare { args, .. }
            | InstructionData::FloatCompare { args, .. } => SmallVec::from_slice(&args),
            InstructionData::Ternary { args, .. } => SmallVec::from_slice(&args),
            InstructionData::IntAddTrap { args, .. } if self.sum_fits(args) => SmallVec::from_slice(&args),
            // A cast between scalars has no lanes to order, so its flags say nothing.
            InstructionData::LoadNoOffset { arg, opcode, .. } if !opcode.can_load() => SmallVec::from_slice(&[arg]),
            // A literal that has no constant of its own is made of two words.
            InstructionData::UnaryIeee16 { imm, .. } => {
                immediates.extend([imm.bits().into(), 0]);
                SmallVec::new()
            }
            InstructionData::UnaryConst { constant_handle, .. } => {
                immediates.extend(words(dfg.constants.get(constant_handle).as_slice())?);
                SmallVec::new()
            }
            InstructionData::Load { arg, flags, offset, .. } => {
                immediates.push(i32::from(offset).into());
                access = Some(self.access(dfg.mem_flags[flags])?);
                SmallVec::from_slice(&[arg])
            }
            InstructionData::Store { args: [value, address], flags, offset, .. } => {
                immediates.push(i32::from(offset).into());
                access = Some(self.access(dfg.mem_flags[flags])?);
                SmallVec::from_slice(&[address, value])
            }
            _ => return None,
        };
        let mut params: SmallVec<[Ty; 4]> = operands.iter().map(|v| self.names.ty(dfg.value_type(*v))).collect();
        let mut constant: SmallVec<[bool; 4]> = SmallVec::from_elem(false, params.len());
        let word = self.names.ty(clif::types::I64);
        for _ in &immediates {
            params.push(word);
            constant.push(true);
        }
        let results: SmallVec<[Ty; 2]> =
            dfg.inst_results(inst).iter().map(|v| self.names.ty(dfg.value_type(*v))).collect();
        let spelling = match data {
            InstructionData::IntAddTrap { .. } => Spelling { opcode: Opcode::Iadd, cond: Cond::None },
            data => Spelling::of(data),
        };
        let (op, targs) = self.names.instance(spelling, &params, &constant, &results, access.is_some())?;
        let mut args = self.values(&operands);
        for value in immediates {
            let immediate = self.out.add_value(word);
            let results = SmallVec::from_slice(&[immediate]);
            self.push(block, Inst { kind: InstKind::Const(value), args: SmallVec::new(), results, origin: None });
            args.push(immediate);
        }
        Some((InstKind::Op { op, targs, access }, args))
    }

    /// Is the unsigned sum of two values in the range of their type, whatever they are? So a sum that traps beyond that
    /// is a plain one. Only the definitions of the operands are looked at: constants and zero-extended values.
    fn sum_fits(&self, operands: [clif::Value; 2]) -> bool {
        let dfg = &self.func.dfg;
        let bits = dfg.value_type(operands[0]).bits();
        let greatest = |bits: u32| u128::MAX >> (128 - bits);
        let bound =
            |operand: clif::Value| match dfg.value_def(dfg.resolve_aliases(operand)).inst().map(|i| dfg.insts[i]) {
                Some(InstructionData::UnaryImm { opcode: Opcode::Iconst, imm }) => imm.bits() as u128 & greatest(bits),
                Some(InstructionData::Unary { opcode: Opcode::Uextend, arg }) => greatest(dfg.value_type(arg).bits()),
                _ => greatest(bits),
            };
        let [x, y] = operands.map(bound);
        x.checked_add(y).is_some_and(|sum| sum <= greatest(bits))
    }

    /// What we keep of an access's flags; `None` where it is not in the byte order that the model has.
    fn access(&self, flags: clif::MemFlagsData) -> Option<Access> {
        (flags.endianness(self.native) == Endianness::Little).then(|| Access {
            region: RegionId(flags.alias_region().map_or(0, |r| r.as_u32() + 1)),
            trap: flags.trap_code().map(|code| code.as_raw().get().into()),
            movable: flags.can_move(),
            readonly: flags.readonly(),
            aligned: flags.aligned(),
        })
    }

    fn payload(&mut self, inst: clif::Inst) -> PayloadId {
        self.payloads.insts.push(inst);
        PayloadId(self.payloads.insts.len() as u32 - 1)
    }

    /// Where an address of a stack slot points, unless others look into that: a slot with a key is shown to the embedder, one
    /// of a stack map to a garbage collector, and any to code that knows where the frame is.
    fn place(&self, inst: clif::Inst) -> Option<Place> {
        let func = self.func;
        let InstructionData::StackAddr { stack_slot, offset, .. } = func.dfg.insts[inst] else { return None };
        let slot = &func.sized_stack_slots[stack_slot];
        if slot.key.is_some() || self.shown.contains(&stack_slot) {
            return None;
        }
        let object = ObjectId::Numbered(stack_slot.as_u32());
        Some(Place { object, offset: offset.into(), size: Some(slot.size.into()) })
    }

    fn shared_payload(&mut self, inst: clif::Inst) -> PayloadId {
        let dfg = &self.func.dfg;
        let key = dfg.insts[inst].map(WithoutOperands);
        let results = dfg.inst_results(inst).iter().map(|v| dfg.value_type(*v)).collect();
        if let Some(payload) = self.shared.get(&(key, SmallVec::clone(&results))) {
            return *payload;
        }
        let payload = self.payload(inst);
        self.shared.insert((key, results), payload);
        payload
    }
}

/// At most 16 bytes as two words, the low one first.
fn words(bytes: &[u8]) -> Option<[i64; 2]> {
    let mut all = [0; 16];
    all.get_mut(..bytes.len())?.copy_from_slice(bytes);
    let all = u128::from_le_bytes(all);
    Some([all as i64, (all >> 64) as i64])
}

/// All values that an instruction uses itself, in the order in which `export` puts them back: not those that its
/// branches carry.
pub(crate) fn operands(func: &clif::Function, inst: clif::Inst) -> impl Iterator<Item = clif::Value> {
    let data = &func.dfg.insts[inst];
    let contexts = data.exception_table().into_iter().flat_map(|table| {
        func.dfg.exception_tables[table].items().filter_map(|item| match item {
            clif::ExceptionTableItem::Context(value) => Some(value),
            _ => None,
        })
    });
    func.dfg.inst_args(inst).iter().copied().chain(contexts)
}

#[cfg(test)]
mod tests;
