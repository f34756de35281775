//! Long functions of one block, as files of CLIF: how time, memory and cost behave where a block is long.
//!
//! They are random functions without control flow, traps and calls ([`crate::generate`]). Every value that nothing else
//! uses is returned, so that no part of a function is dead.

use crate::LabError;
use crate::generate::{Generator, Shape};
use crate::written;
use rewright_cfg_skeleton::ir::{Function, Terminator};
use rewright_clif::names::trap_code;
use rewright_clif::optimise::ClifOptimiser;
use rewright_clif::read::{File, read};

/// Makes such functions over the operations of a program.
pub struct StraightLines<'a> {
    clif: &'a ClifOptimiser,
    generator: Generator<'a>,
}

impl<'a> StraightLines<'a> {
    /// For the operations of a program that CLIF has.
    pub fn new(clif: &'a ClifOptimiser) -> Self {
        let mut generator = Generator::new(&clif.optimiser.program().universe, trap_code("heap_oob"));
        generator.retain(|function| written::file(clif, None, &[function]).is_ok());
        StraightLines { clif, generator }
    }

    /// A file with one function of about this many instructions, constants not counted. It depends on both numbers and
    /// the program's operations only.
    ///
    /// # Errors
    /// Where there is no compiler for this host, or the function is not written.
    pub fn file(&self, seed: u64, instructions: usize) -> Result<File, LabError> {
        let shape = Shape { size: instructions, depth: 0, memory: true, traps: false };
        let mut function = self.generator.function(seed, shape);
        return_unused(&mut function);
        Ok(read(&written::file(self.clif, None, &[&function])?)?)
    }
}

/// Returns the values that nothing else uses, and no others.
fn return_unused(function: &mut Function) {
    let entry = function.entry();
    let mut used = vec![false; function.values.len()];
    let insts = || function.block(entry).insts.iter().map(|inst| function.inst(*inst));
    insts().flat_map(|inst| &inst.args).for_each(|value| used[value.index()] = true);
    let unused = insts().flat_map(|inst| &inst.results).copied().filter(|value| !used[value.index()]);
    let returned: Vec<_> = unused.collect();
    function.results = returned.iter().map(|value| function.ty(*value)).collect();
    function.blocks[entry.index()].term = Terminator::Return(returned.into_iter().collect());
}
