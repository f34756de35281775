//! CLIF files on our own interpreter: imported functions, with what is opaque of stack slots and direct calls
//! supplied from the original.
//!
//! It runs what the IR models: scalars, memory in stack slots, calls within the file, arithmetic that says whether it
//! overflowed. Everything else ends a run as unsupported, which is no finding.

use super::executed::Executed;
use super::import::{Imported, Payloads};
use super::inline::callee_name;
use super::names::scalar_of;
use super::names::trap_code;
use cranelift_codegen::data_value::DataValue;
use cranelift_codegen::entity::EntityRef;
use cranelift_codegen::ir::immediates::{Ieee32, Ieee64};
use cranelift_codegen::ir::{self as clif, InstructionData, Opcode, Type, types};
use indexmap::IndexMap;
use rewright_cfg_skeleton::ir::interp::{self, Host, InterpreterState, Memory, Outcome, Point};
use rewright_cfg_skeleton::ir::{Function, Inst, InstKind};
use rewright_typeprop::{Scalar, Universe};
use smallvec::SmallVec;

/// Instructions that one activation may take.
const FUEL: u64 = 2_000_000;
/// Activations that one call from a directive may make, and how deep they may nest.
const ACTIVATIONS: u32 = 2_000;
const DEPTH: u32 = 100;

/// Where memory begins that the caller does not give.
const FIRST_ADDRESS: u64 = 0x1_0000;

/// An imported function with its original.
#[derive(Clone, Copy)]
pub struct Subject<'a> {
    /// Ours.
    pub function: &'a Function,
    /// Instructions of the original.
    pub payloads: &'a Payloads,
    /// The original.
    pub original: &'a clif::Function,
}

/// Functions that may call each other.
pub struct Functions<'a> {
    universe: &'a Universe,
    by_name: IndexMap<String, (Imported, &'a clif::Function)>,
}

impl<'a> Functions<'a> {
    /// No function yet.
    pub fn new(universe: &'a Universe) -> Self {
        Functions { universe, by_name: IndexMap::new() }
    }

    /// Adds a function with its original.
    pub fn add(&mut self, imported: Imported, original: &'a clif::Function) {
        self.by_name.insert(original.name.to_string(), (imported, original));
    }

    /// Calls a function by its name as CLIF writes it.
    pub fn call(&self, name: &str, args: &[DataValue]) -> Result<Vec<DataValue>, Outcome> {
        self.call_counted(name, args, FUEL).0
    }

    /// The same with this many instructions for each activation, and what has been executed.
    pub fn call_counted(
        &self,
        name: &str,
        args: &[DataValue],
        fuel: u64,
    ) -> (Result<Vec<DataValue>, Outcome>, Executed) {
        let mut shared = Shared::new(FIRST_ADDRESS, ACTIVATIONS, fuel, interp::quiet_nan);
        let results = self.call_sharing(name, args, &mut shared);
        (results, shared.executed)
    }

    fn call_sharing(&self, name: &str, args: &[DataValue], shared: &mut Shared) -> Result<Vec<DataValue>, Outcome> {
        let unsupported = |what: &str| Outcome::Unsupported(what.to_string());
        let (_, original) = self.by_name.get(name).ok_or_else(|| unsupported("not imported"))?;
        let args: Option<Vec<i64>> = args.iter().map(to_canonical).collect();
        let args = args.ok_or_else(|| unsupported("an argument that is no scalar"))?;
        let results = match self.activate(name, &args, &mut Memory::default(), shared, 0) {
            Outcome::Return(results) => results,
            other => return Err(other),
        };
        let typed = results.iter().zip(&original.signature.returns);
        let typed: Option<Vec<DataValue>> = typed.map(|(n, p)| from_canonical(*n, p.value_type)).collect();
        typed.ok_or_else(|| unsupported("a result that is no scalar"))
    }

    /// Calls a function that is not among them, on memory of the caller's. Each activation has `fuel`, and there
    /// are at most as many.
    pub fn run(
        &self,
        subject: Subject<'_>,
        args: &[i64],
        memory: &mut Memory,
        nan: fn(Scalar) -> i64,
        fuel: u64,
    ) -> Outcome {
        let mut shared = Shared::beside(memory, fuel, nan);
        self.enter(subject, args, memory, &mut shared, 0)
    }

    /// Calls a function by its name as CLIF writes it, on memory of the caller's, with canonical constants: how it ended,
    /// and what has been executed. Each activation has `fuel`, and there are at most as many.
    pub fn call_on(&self, name: &str, args: &[i64], memory: &mut Memory, fuel: u64) -> (Outcome, Executed) {
        let mut shared = Shared::beside(memory, fuel, interp::quiet_nan);
        let outcome = self.activate(name, args, memory, &mut shared, 0);
        (outcome, shared.executed)
    }

    fn activate(&self, name: &str, args: &[i64], memory: &mut Memory, shared: &mut Shared, depth: u32) -> Outcome {
        let Some((imported, original)) = self.by_name.get(name) else {
            return Outcome::Unsupported(format!("{name} is not in the file"));
        };
        let subject = Subject { function: &imported.function, payloads: &imported.payloads, original };
        self.enter(subject, args, memory, shared, depth)
    }

    fn enter(
        &self,
        subject: Subject<'_>,
        args: &[i64],
        memory: &mut Memory,
        shared: &mut Shared,
        depth: u32,
    ) -> Outcome {
        if shared.activations == 0 || depth > DEPTH {
            return Outcome::OutOfFuel;
        }
        shared.activations -= 1;
        let mut slots = vec![];
        for slot in subject.original.sized_stack_slots.values() {
            // Far enough apart that no access crosses from one to the next.
            let align = 1u64 << slot.align_shift.min(16);
            let base = shared.next_address.next_multiple_of(align.max(16));
            shared.next_address = base + u64::from(slot.size) + 4096;
            memory.add(base, vec![0; slot.size as usize]);
            slots.push(base);
        }
        let fuel = shared.fuel;
        let mut frame = Frame { functions: self, subject, slots, shared, depth };
        interp::run(subject.function, self.universe, args, memory, &mut frame, fuel)
    }
}

/// What all activations of one call share.
struct Shared {
    next_address: u64,
    /// How many more there may be.
    activations: u32,
    /// Of each activation.
    fuel: u64,
    /// What arithmetic gives as NaN.
    nan: fn(Scalar) -> i64,
    executed: Executed,
}

impl Shared {
    fn new(next_address: u64, activations: u32, fuel: u64, nan: fn(Scalar) -> i64) -> Self {
        Shared { next_address, activations, fuel, nan, executed: Executed::default() }
    }

    /// With stack slots behind memory of the caller's.
    fn beside(memory: &Memory, fuel: u64, nan: fn(Scalar) -> i64) -> Self {
        let ends = memory.areas().iter().map(|a| a.base.saturating_add(a.bytes.len() as u64));
        let next_address = ends.max().unwrap_or(0).max(FIRST_ADDRESS);
        Shared::new(next_address, u32::try_from(fuel).unwrap_or(u32::MAX), fuel, nan)
    }
}

struct Frame<'a, 's> {
    functions: &'a Functions<'a>,
    subject: Subject<'a>,
    slots: Vec<u64>,
    shared: &'s mut Shared,
    depth: u32,
}

impl Host for Frame<'_, '_> {
    fn trap_code(&self, name: &str) -> u32 {
        trap_code(name)
    }

    fn nan(&self, scalar: Scalar) -> i64 {
        (self.shared.nan)(scalar)
    }

    fn observe(&mut self, at: Point, _: InterpreterState<'_>) {
        self.shared.executed.reach(self.subject.function, at);
    }

    fn execute(&mut self, inst: &Inst, args: &[i64], memory: &mut Memory) -> Result<SmallVec<[i64; 2]>, Outcome> {
        let original = match inst.kind {
            InstKind::Opaque { payload, .. } => self.subject.payloads.inst(payload),
            _ => None,
        };
        let data = original.map(|i| &self.subject.original.dfg.insts[i]);
        match data {
            Some(InstructionData::StackAddr { stack_slot, offset, .. }) => {
                let base = self.slots.get(stack_slot.index()).copied().unwrap_or(0);
                Ok(SmallVec::from_slice(&[base as i64 + i64::from(i32::from(*offset))]))
            }
            Some(InstructionData::Call { func_ref, .. }) => {
                let callee = callee_name(self.subject.original, *func_ref)
                    .ok_or_else(|| Outcome::Unsupported("a call out of the file".into()))?;
                if !self.subject.original.dfg.ext_funcs[*func_ref].colocated {
                    self.shared.executed.call(&callee, args);
                }
                match self.functions.activate(&callee, args, memory, self.shared, self.depth + 1) {
                    Outcome::Return(results) => Ok(results.into()),
                    other => Err(other),
                }
            }
            Some(InstructionData::Binary { opcode, args: [x, _] }) => {
                overflowing(*opcode, self.subject.original.dfg.value_type(*x), args).ok_or_else(not_modelled)
            }
            Some(InstructionData::IntAddTrap { args: [x, _], code, .. }) => {
                let ty = self.subject.original.dfg.value_type(*x);
                match overflowing(Opcode::UaddOverflow, ty, args).ok_or_else(not_modelled)?[..] {
                    [sum, 0] => Ok(SmallVec::from_slice(&[sum])),
                    _ => Err(Outcome::Trap(code.as_raw().get().into())),
                }
            }
            _ => Err(not_modelled()),
        }
    }
}

fn not_modelled() -> Outcome {
    Outcome::Unsupported("an instruction that is not modelled".into())
}

/// The result modulo the width, and whether that is not the result.
fn overflowing(opcode: Opcode, ty: Type, args: &[i64]) -> Option<SmallVec<[i64; 2]>> {
    let scalar = scalar_of(ty)?;
    let &[x, y] = args else { return None };
    let signed = matches!(opcode, Opcode::SaddOverflow | Opcode::SsubOverflow | Opcode::SmulOverflow);
    let wide = |n: i64| if signed { i128::from(n) } else { i128::from(scalar.zero_extended(n)) };
    let exact = match opcode {
        Opcode::UaddOverflow | Opcode::SaddOverflow => wide(x) + wide(y),
        Opcode::UsubOverflow | Opcode::SsubOverflow => wide(x) - wide(y),
        Opcode::UmulOverflow | Opcode::SmulOverflow => wide(x).checked_mul(wide(y))?,
        _ => return None,
    };
    let result = scalar.canonical(exact as u64);
    Some(SmallVec::from_slice(&[result, i64::from(wide(result) != exact)]))
}

/// A scalar as the interpreter holds it.
pub fn to_canonical(value: &DataValue) -> Option<i64> {
    let raw = match value {
        DataValue::I8(n) => *n as u64,
        DataValue::I16(n) => *n as u64,
        DataValue::I32(n) => *n as u64,
        DataValue::I64(n) => *n as u64,
        DataValue::F32(f) => f.bits().into(),
        DataValue::F64(f) => f.bits(),
        _ => return None,
    };
    Some(scalar_of(value.ty())?.canonical(raw))
}

/// The scalar that the interpreter holds as `n`.
pub fn from_canonical(n: i64, ty: Type) -> Option<DataValue> {
    Some(match ty {
        types::I8 => DataValue::I8(n as i8),
        types::I16 => DataValue::I16(n as i16),
        types::I32 => DataValue::I32(n as i32),
        types::I64 => DataValue::I64(n),
        types::F32 => DataValue::F32(Ieee32::with_bits(n as u32)),
        types::F64 => DataValue::F64(Ieee64::with_bits(n as u64)),
        _ => return None,
    })
}
