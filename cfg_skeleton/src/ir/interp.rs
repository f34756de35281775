//! Runs a function: the reference semantics of the IR, with fuel and traps.
//!
//! Meanings come from the operation table alone: `model` and `spec` through [`rewright_typeprop::eval`], trap
//! conditions from `checks`, accesses from [`Model::memory`]. Opaque instructions are left to a [`Host`]; one that
//! knows nothing ends the run as [`Outcome::Unsupported`].
//!
//! Values are canonical 64-bit constants ([`Scalar::canonical`]). Arithmetic that gives a NaN gives the canonical
//! quiet NaN: compare floats up to NaN.
//!
//! **Invariant**: on a verified function nothing panics; the loop is over blocks, so no input is too deep.

mod callees;
mod memory;

pub use callees::Callees;
pub use memory::{Area, Memory};

use super::{BlockId, Edge, EdgeArg, Function, Inst, InstId, InstKind, Terminator, Value};
use rewright_typeprop::model::{Evaluation, MemoryAccess};
use rewright_typeprop::{Model, Op, OpId, Scalar, Ty, Universe, eval};
use smallvec::SmallVec;
use std::cell::Cell;

/// How a run ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// The results.
    Return(Vec<i64>),
    /// A trap, by the front end's number.
    Trap(u32),
    /// Too many steps.
    OutOfFuel,
    /// Something has no meaning here, or its behaviour is undefined.
    Unsupported(String),
}

/// A place between two instructions of a block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Point {
    /// The block.
    pub block: BlockId,
    /// How many of its instructions have been executed; 0 is after its parameters have got their values.
    pub executed: usize,
}

/// What is known while a function runs.
pub struct InterpreterState<'a> {
    /// By value; `None` before its definition is first executed. Values of earlier visits stay until redefined.
    pub values: &'a [Option<i64>],
    /// Memory.
    pub memory: &'a Memory,
}

/// What an instruction gives: one value per result.
pub type Results = SmallVec<[i64; 2]>;

/// What the interpreter asks of the outside world. Every method has a default.
pub trait Host {
    /// The front end's number for a trap code that a pack names.
    fn trap_code(&self, name: &str) -> u32 {
        let _ = name;
        0
    }

    /// The NaN that arithmetic gives, whose sign and payload no semantics states.
    fn nan(&self, scalar: Scalar) -> i64 {
        quiet_nan(scalar)
    }

    /// Executes an instruction that is opaque, or an operation without a meaning; one value per result.
    fn execute(&mut self, inst: &Inst, args: &[i64], memory: &mut Memory) -> Result<Results, Outcome> {
        let _ = (inst, args, memory);
        Err(Outcome::Unsupported("an instruction that is not modelled".into()))
    }

    /// Is called for an access to an address that no area of the memory has. Where it has added one that does, the
    /// access is tried again.
    fn reach(&mut self, address: u64, memory: &mut Memory) {
        let _ = (address, memory);
    }

    /// Executes an opaque terminator: which edge it takes, and its own results by number.
    fn leave(&mut self, term: &Terminator, args: &[i64], memory: &mut Memory) -> Result<(usize, Vec<i64>), Outcome> {
        let _ = (term, args, memory);
        Err(Outcome::Unsupported("a terminator that is not modelled".into()))
    }

    /// Sees the state at every point that is reached.
    fn observe(&mut self, at: Point, state: InterpreterState<'_>) {
        let _ = (at, state);
    }
}

/// A host that knows nothing but the numbers of trap codes.
pub struct NoHost<F: Fn(&str) -> u32>(pub F);

impl<F: Fn(&str) -> u32> Host for NoHost<F> {
    fn trap_code(&self, name: &str) -> u32 {
        (self.0)(name)
    }
}

/// Calls a verified function. Each instruction and each terminator takes one unit of fuel.
pub fn run(
    function: &Function,
    universe: &Universe,
    args: &[i64],
    memory: &mut Memory,
    host: &mut dyn Host,
    fuel: u64,
) -> Outcome {
    run_on(function, universe, args, memory, host, &Cell::new(fuel))
}

/// [`run`] on fuel that others use, too.
fn run_on(
    function: &Function,
    universe: &Universe,
    args: &[i64],
    memory: &mut Memory,
    host: &mut dyn Host,
    fuel: &Cell<u64>,
) -> Outcome {
    let values = vec![None; function.values.len()];
    let mut run = Run { function, universe, memory, host, values, fuel };
    match run.all(args) {
        Ok(results) => Outcome::Return(results),
        Err(outcome) => outcome,
    }
}

struct Run<'a> {
    function: &'a Function,
    universe: &'a Universe,
    memory: &'a mut Memory,
    host: &'a mut dyn Host,
    values: Vec<Option<i64>>,
    fuel: &'a Cell<u64>,
}

type Args = SmallVec<[i64; 4]>;

fn unsupported<T>(reason: impl Into<String>) -> Result<T, Outcome> {
    Err(Outcome::Unsupported(reason.into()))
}

impl Run<'_> {
    fn all(&mut self, args: &[i64]) -> Result<Vec<i64>, Outcome> {
        let Some(entry) = self.function.layout.first() else { return unsupported("a function without blocks") };
        let mut at = *entry;
        if args.len() != self.function.block(at).params.len() {
            return unsupported("wrong number of arguments");
        }
        self.enter(at, args);
        loop {
            let block = self.function.block(at);
            self.observe(at, 0);
            for (i, id) in block.insts.iter().enumerate() {
                self.burn()?;
                self.inst(*id)?;
                self.observe(at, i + 1);
            }
            self.burn()?;
            let operands = self.get_all(block.term.operands())?;
            let (edge, own) = match &block.term {
                Terminator::Return(_) => return Ok(operands.to_vec()),
                Terminator::Trap { code } => return Err(Outcome::Trap(*code)),
                Terminator::Jump(edge) => (edge, vec![]),
                Terminator::Branch { then, els, .. } => (if operands[0] != 0 { then } else { els }, vec![]),
                Terminator::Switch { index, targets, default } => {
                    let bits = self.scalar(self.function.ty(*index))?.zero_extended(operands[0]);
                    let target = usize::try_from(bits).ok().and_then(|i| targets.get(i));
                    (target.unwrap_or(default), vec![])
                }
                Terminator::Opaque { targets, .. } => {
                    let (slot, own) = self.host.leave(&block.term, &operands, self.memory)?;
                    match targets.get(slot) {
                        Some(edge) => (edge, own),
                        None => return unsupported("a terminator took an edge that it does not have"),
                    }
                }
            };
            let args = self.edge(edge, &own)?;
            at = edge.target;
            self.enter(at, &args);
        }
    }

    fn burn(&mut self) -> Result<(), Outcome> {
        self.fuel.set(self.fuel.get().checked_sub(1).ok_or(Outcome::OutOfFuel)?);
        Ok(())
    }

    fn observe(&mut self, block: BlockId, executed: usize) {
        self.host.observe(Point { block, executed }, InterpreterState { values: &self.values, memory: self.memory });
    }

    fn edge(&mut self, edge: &Edge, own: &[i64]) -> Result<Args, Outcome> {
        let mut args = Args::new();
        for arg in &edge.args {
            args.push(match arg {
                EdgeArg::Value(v) => self.get(*v)?,
                EdgeArg::Terminator(n) => match own.get(*n as usize) {
                    Some(n) => *n,
                    None => return unsupported("a terminator result without a value"),
                },
            });
        }
        Ok(args)
    }

    fn enter(&mut self, block: BlockId, args: &[i64]) {
        for (param, arg) in self.function.block(block).params.iter().zip(args) {
            self.set(*param, *arg);
        }
    }

    fn get(&self, value: Value) -> Result<i64, Outcome> {
        match self.values[value.index()] {
            Some(n) => Ok(n),
            None => unsupported(format!("v{} is used before its definition", value.0)),
        }
    }

    fn get_all(&self, values: &[Value]) -> Result<Args, Outcome> {
        values.iter().map(|v| self.get(*v)).collect()
    }

    fn set(&mut self, value: Value, n: i64) {
        let scalar = self.universe.types.lane(self.function.ty(value));
        self.values[value.index()] = Some(scalar.map_or(n, |s| s.canonical(n as u64)));
    }

    fn scalar(&self, ty: Ty) -> Result<Scalar, Outcome> {
        match self.universe.types.lane(ty) {
            Some(scalar) => Ok(scalar),
            None => unsupported(format!("type {} has no representation", self.universe.types.display(ty))),
        }
    }

    fn inst(&mut self, id: InstId) -> Result<(), Outcome> {
        let inst = self.function.inst(id);
        let args = self.get_all(&inst.args)?;
        match &inst.kind {
            InstKind::Const(n) => self.set(inst.results[0], *n),
            InstKind::Check { code, when } => {
                if (args[0] != 0) == *when {
                    return Err(Outcome::Trap(*code));
                }
            }
            InstKind::Opaque { .. } => self.outside(inst, &args)?,
            InstKind::Op { op, targs, .. } => self.op(inst, *op, targs, &args)?,
        }
        Ok(())
    }

    fn outside(&mut self, inst: &Inst, args: &[i64]) -> Result<(), Outcome> {
        let results = self.host.execute(inst, args, self.memory)?;
        if results.len() != inst.results.len() {
            return unsupported("an instruction gave the wrong number of results");
        }
        for (value, n) in inst.results.iter().zip(results) {
            self.set(*value, n);
        }
        Ok(())
    }

    fn op(&mut self, inst: &Inst, id: OpId, targs: &[Ty], args: &[i64]) -> Result<(), Outcome> {
        let op = self.universe.ops.get(id);
        if let Some(memory) = op.model.and_then(Model::memory) {
            return self.access(inst, op, memory, args);
        }
        if op.model.is_none() && op.spec.is_none() || !op.effects.is_value() || op.takes_state() {
            return match self.universe.hosts.get(&op.name) {
                Some(_) if op.host => self.registered(inst, op, targs, args),
                _ => self.outside(inst, args),
            };
        }
        for check in &op.checks {
            let traps = match &check.condition {
                Some(condition) => match eval::evaluate_term(self.universe, condition, targs, args) {
                    Evaluation::Value(n) => n != 0,
                    _ => return unsupported(format!("{}: its trap condition has no value", op.unique)),
                },
                None => self.conversion_overflows(inst, op, args)?,
            };
            if traps {
                return Err(Outcome::Trap(self.host.trap_code(&check.code)));
            }
        }
        let [result] = inst.results.as_slice() else { return self.outside(inst, args) };
        match eval::evaluate(self.universe, id, targs, args) {
            Evaluation::Value(n) => self.set(*result, n),
            Evaluation::Nan => {
                let nan = self.host.nan(self.scalar(self.function.ty(*result))?);
                self.set(*result, nan);
            }
            Evaluation::Undefined => return unsupported(format!("{} has no value here", op.unique)),
        }
        Ok(())
    }

    /// A Rust function of the embedding program; that it has no value is a trap.
    fn registered(&mut self, inst: &Inst, op: &Op, targs: &[Ty], args: &[i64]) -> Result<(), Outcome> {
        let types = &self.universe.types;
        let scalars: SmallVec<[Option<Scalar>; 2]> = targs.iter().map(|ty| types.scalar(*ty)).collect();
        let scalar = |expr| eval::scalar_of(types, expr, &scalars);
        let params: SmallVec<[Option<Scalar>; 4]> = op.params.iter().map(|p| scalar(&p.ty)).collect();
        let result = op.results.first().and_then(scalar);
        match (eval::call_host(self.universe, &op.name, &params, result, args), inst.results.first()) {
            (Some(Evaluation::Value(n)), Some(value)) => self.set(*value, n),
            (Some(Evaluation::Nan), Some(value)) => {
                let nan = self.host.nan(self.scalar(self.function.ty(*value))?);
                self.set(*value, nan);
            }
            (Some(_), None) => {}
            _ => return Err(Outcome::Trap(self.host.trap_code(crate::ir::calls::CALL_TRAP))),
        }
        Ok(())
    }

    /// The one check that declarations leave open, since its condition would need constants that depend on two
    /// types: does a number lie outside the integers that it is converted to? Not asked of a NaN.
    fn conversion_overflows(&mut self, inst: &Inst, op: &Op, args: &[i64]) -> Result<bool, Outcome> {
        let (Some(model @ (Model::FcvtToUint | Model::FcvtToSint)), [arg], [result]) =
            (op.model, inst.args.as_slice(), inst.results.as_slice())
        else {
            return unsupported(format!("{}: only executing it tells whether it traps", op.unique));
        };
        let x = match self.scalar(self.function.ty(*arg))? {
            Scalar::F32 => f64::from(f32::from_bits(args[0] as u32)),
            _ => f64::from_bits(args[0] as u64),
        };
        let bits = self.scalar(self.function.ty(*result))?.bits() as i32;
        let (low, high) = match model {
            Model::FcvtToUint => (0.0, 2f64.powi(bits)),
            _ => (-(2f64.powi(bits - 1)), 2f64.powi(bits - 1)),
        };
        let x = x.trunc();
        Ok(x < low || x >= high)
    }

    fn access(&mut self, inst: &Inst, op: &Op, memory: MemoryAccess, args: &[i64]) -> Result<(), Outcome> {
        let (moved, offset) = match (memory.store, inst.args.as_slice(), inst.results.as_slice()) {
            (true, [_, value, _], []) => (*value, args[2]),
            (false, [_, _], [result]) => (*result, args[1]),
            _ => return unsupported(format!("{} is not declared as its model needs", op.unique)),
        };
        let ty = self.function.ty(moved);
        let Some(scalar) = self.universe.types.scalar(ty) else {
            return unsupported(format!("{} in memory", self.universe.types.display(ty)));
        };
        let bits = memory.bits.unwrap_or(scalar.bits());
        let address = (args[0] as u64).wrapping_add(offset as u64);
        if let InstKind::Op { access: Some(access), .. } = &inst.kind
            && access.aligned
            && !address.is_multiple_of(u64::from(bits / 8))
        {
            return unsupported(format!("{}: an address that is not aligned, as the access promises", op.unique));
        }
        if !self.memory.has(address, bits / 8) {
            self.host.reach(address, self.memory);
        }
        let done = if memory.store {
            self.memory.store(address, bits / 8, args[1] as u64)
        } else {
            self.memory.load(address, bits / 8).map(|raw| {
                let up = 64 - bits;
                let wide = if memory.signed { ((raw << up) as i64 >> up) as u64 } else { raw };
                self.set(moved, scalar.canonical(wide));
            })
        };
        match (done, &inst.kind) {
            (Some(()), _) => Ok(()),
            (None, InstKind::Op { access: Some(access), .. }) if access.trap.is_some() => {
                Err(Outcome::Trap(access.trap.unwrap_or_default()))
            }
            (None, _) => unsupported(format!("{}: access outside memory that is said not to trap", op.unique)),
        }
    }
}

/// What arithmetic that gives a NaN gives here.
pub fn quiet_nan(scalar: Scalar) -> i64 {
    match scalar {
        Scalar::F32 => scalar.canonical(u64::from(f32::NAN.to_bits())),
        _ => scalar.canonical(f64::NAN.to_bits()),
    }
}

/// Are two constants of a type equal, where all NaNs are one?
pub fn equal_up_to_nan(scalar: Option<Scalar>, a: i64, b: i64) -> bool {
    let nan = |n: i64| match scalar {
        Some(Scalar::F32) => f32::from_bits(n as u32).is_nan(),
        Some(Scalar::F64) => f64::from_bits(n as u64).is_nan(),
        _ => false,
    };
    a == b || nan(a) && nan(b)
}

#[cfg(test)]
mod tests;
