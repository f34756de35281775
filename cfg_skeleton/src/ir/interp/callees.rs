//! Calls of functions of a module, for the interpreter.

use super::{Host, InterpreterState, Memory, Outcome, Point, run_on};
use crate::ir::{Inst, InstKind, Module, Terminator};
use rewright_typeprop::{Scalar, Universe};
use smallvec::SmallVec;
use std::cell::Cell;
use std::rc::Rc;

/// Calls may nest this deep: a frame of the interpreter takes some hundred bytes of the machine's stack.
const MAX_DEPTH: u32 = 200;

/// Runs the bodies of a module's operations, and leaves everything else to another host. Points that are reached
/// inside of callees are not observed.
pub struct Callees<'a> {
    universe: &'a Universe,
    module: &'a Module,
    outside: &'a mut dyn Host,
    /// What is left for all callees together.
    fuel: Rc<Cell<u64>>,
    depth: u32,
}

impl<'a> Callees<'a> {
    /// All callees together may take `fuel` instructions and calls.
    pub fn new(universe: &'a Universe, module: &'a Module, outside: &'a mut dyn Host, fuel: u64) -> Self {
        Callees { universe, module, outside, fuel: Rc::new(Cell::new(fuel)), depth: 0 }
    }
}

impl Host for Callees<'_> {
    fn trap_code(&self, name: &str) -> u32 {
        self.outside.trap_code(name)
    }

    fn nan(&self, scalar: Scalar) -> i64 {
        self.outside.nan(scalar)
    }

    fn execute(&mut self, inst: &Inst, args: &[i64], memory: &mut Memory) -> Result<SmallVec<[i64; 2]>, Outcome> {
        let body = match &inst.kind {
            InstKind::Op { op, .. } => self.module.bodies.get(op),
            _ => None,
        };
        let Some(body) = body.and_then(|index| self.module.functions.get(*index)) else {
            return self.outside.execute(inst, args, memory);
        };
        if self.depth == MAX_DEPTH {
            return Err(Outcome::OutOfFuel);
        }
        self.depth += 1;
        let (universe, fuel) = (self.universe, self.fuel.clone());
        let outcome = run_on(body, universe, args, memory, self, &fuel);
        self.depth -= 1;
        match outcome {
            Outcome::Return(results) => Ok(results.into()),
            other => Err(other),
        }
    }

    fn leave(&mut self, term: &Terminator, args: &[i64], memory: &mut Memory) -> Result<(usize, Vec<i64>), Outcome> {
        self.outside.leave(term, args, memory)
    }

    fn observe(&mut self, at: Point, state: InterpreterState<'_>) {
        if self.depth == 0 {
            self.outside.observe(at, state);
        }
    }
}
