//! Cranelift's own mid-end and back end, as the yardstick: what its optimise pass makes of a function, how long that
//! takes, and what machine code its back end gives for a function that needs no more optimising.

use crate::LabError;
use cranelift_codegen::Context;
use cranelift_codegen::ir::{Function, Opcode};
use cranelift_codegen::isa::OwnedTargetIsa;
use cranelift_codegen::settings::{self, Configurable};
use cranelift_control::ControlPlane;
use rewright_clif::panics::{Panic, quietly};
use rewright_clif::read::File;
use rewright_extract::clock;
use std::time::Duration;

/// Cranelift for this host.
pub struct Cranelift {
    /// `opt_level=speed`: its mid-end runs.
    speed: OwnedTargetIsa,
    /// `opt_level=none`: only its back end runs.
    none: OwnedTargetIsa,
}

/// What Cranelift's optimise pass makes of the functions of a file, in several runs.
#[derive(Default)]
pub struct FilePass {
    /// By function, where the pass takes it: the result, and the processor time of the fastest run.
    pub made: Vec<Option<(Function, Duration)>>,
}

impl FilePass {
    /// One more run.
    pub fn run(&mut self, cranelift: &Cranelift, file: &File) {
        self.made.resize(file.functions.len(), None);
        for (slot, function) in self.made.iter_mut().zip(&file.functions) {
            if let Ok((made, time)) = cranelift.optimise(&function.func) {
                let before = slot.take().map_or(time, |(_, time)| time);
                *slot = Some((made, time.min(before)));
            }
        }
    }
}

/// What a function costs by the table that Cranelift's own mid-end selects by, each instruction counted once
/// (`egraph/cost.rs` there, which is private).
pub fn own_cost(function: &Function) -> u64 {
    let instructions = function.layout.blocks().flat_map(|block| function.layout.block_insts(block));
    instructions.map(|inst| cost_of(function.dfg.insts[inst].opcode())).sum()
}

fn cost_of(opcode: Opcode) -> u64 {
    match opcode {
        Opcode::Iconst | Opcode::F32const | Opcode::F64const => 1,
        Opcode::Uextend | Opcode::Sextend | Opcode::Ireduce | Opcode::Iconcat | Opcode::Isplit => 1,
        Opcode::Iadd | Opcode::Isub | Opcode::Ishl | Opcode::Ushr | Opcode::Sshr => 3,
        Opcode::Band | Opcode::Bor | Opcode::Bxor | Opcode::Bnot => 3,
        Opcode::Imul => 10,
        _ => {
            let traps = opcode.can_trap() || opcode.other_side_effects();
            let effects = [(traps, 10), (opcode.can_load(), 20), (opcode.can_store(), 50)];
            4 + effects.iter().filter(|(has, _)| *has).map(|(_, cost)| cost).sum::<u64>()
        }
    }
}

/// Machine code, measured.
#[derive(Clone, Copy, Debug, Default)]
pub struct Code {
    /// Bytes.
    pub bytes: usize,
    /// Instructions of the back end's own code, after register allocation.
    pub instructions: usize,
}

impl Cranelift {
    /// For this host with all that it supports.
    pub fn host() -> Result<Self, LabError> {
        let isa = |level: &str| -> Result<OwnedTargetIsa, LabError> {
            let set = |error: settings::SetError| LabError::Host(error.to_string());
            let mut flags = settings::builder();
            flags.set("opt_level", level).map_err(set)?;
            // Without it i128 in a signature is an error, even for functions that only this yardstick compiles.
            flags.set("enable_llvm_abi_extensions", "true").map_err(set)?;
            // So do many results, which modules of our own text may have.
            flags.set("enable_multi_ret_implicit_sret", "true").map_err(set)?;
            let builder = cranelift_native::builder().map_err(|reason| LabError::Host(reason.to_string()))?;
            builder.finish(settings::Flags::new(flags)).map_err(|e| LabError::Host(e.to_string()))
        };
        Ok(Cranelift { speed: isa("speed")?, none: isa("none")? })
    }

    /// What its optimise pass makes of a function, and the processor time that it took.
    pub fn optimise(&self, function: &Function) -> Result<(Function, Duration), LabError> {
        let mut context = Context::for_function(function.clone());
        let start = clock::now();
        quietly(|| context.optimize(&*self.speed, &mut ControlPlane::default()).map_err(|e| e.to_string()))
            .map_err(|Panic(message)| message)
            .flatten()
            .map_err(LabError::Cranelift)?;
        let time = clock::since(start);
        Ok((context.func, time))
    }

    /// The machine code of a function as it is, and the processor time that the back end took.
    pub fn code(&self, function: &Function) -> Result<(Code, Duration), LabError> {
        let mut context = Context::for_function(function.clone());
        context.set_disasm(true);
        let start = clock::now();
        let (bytes, instructions) = quietly(|| {
            let code =
                context.compile(&*self.none, &mut ControlPlane::default()).map_err(|e| format!("{:?}", e.inner))?;
            let listing = code.vcode.as_deref().unwrap_or_default();
            let instructions = listing.lines().filter(|l| l.starts_with("  ") && !l.trim_start().starts_with(';'));
            Ok::<_, String>((code.code_info().total_size as usize, instructions.count()))
        })
        .map_err(|Panic(message)| message)
        .flatten()
        .map_err(LabError::Cranelift)?;
        let time = clock::since(start);
        Ok((Code { bytes, instructions }, time))
    }
}

#[cfg(test)]
mod tests {
    use super::own_cost;
    use rewright_clif::read::read;

    #[test]
    fn each_instruction_counts_once() {
        let text = "function %f(i64, i64) -> i64 {\nblock0(v0: i64, v1: i64):\n    v2 = iadd v0, v1\n    \
                    v3 = load.i64 v1\n    v4 = imul v2, v3\n    return v4\n}\n";
        let file = read(text).unwrap();
        let (iadd, load, imul, ret) = (3, 4 + 20, 10, 4);
        assert_eq!(own_cost(&file.functions[0].func), iadd + load + imul + ret);
    }
}
