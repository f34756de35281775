//! Cranelift's own mid-end and back end, as the yardstick: what its optimise pass makes of a function, how long that
//! takes, and what machine code its back end gives for a function that needs no more optimising.

use crate::LabError;
use cranelift_codegen::Context;
use cranelift_codegen::ir::Function;
use cranelift_codegen::isa::OwnedTargetIsa;
use cranelift_codegen::settings::{self, Configurable};
use cranelift_control::ControlPlane;
use rewright_clif::panics::{Panic, quietly};
use std::time::{Duration, Instant};

/// Cranelift for this host.
pub struct Cranelift {
    /// `opt_level=speed`: its mid-end runs.
    speed: OwnedTargetIsa,
    /// `opt_level=none`: only its back end runs.
    none: OwnedTargetIsa,
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

    /// What its optimise pass makes of a function, and the time that it took.
    pub fn optimise(&self, function: &Function) -> Result<(Function, Duration), LabError> {
        let mut context = Context::for_function(function.clone());
        let start = Instant::now();
        quietly(|| context.optimize(&*self.speed, &mut ControlPlane::default()).map_err(|e| e.to_string()))
            .map_err(|Panic(message)| message)
            .flatten()
            .map_err(LabError::Cranelift)?;
        let time = start.elapsed();
        Ok((context.func, time))
    }

    /// The machine code of a function as it is, and the time that the back end took.
    pub fn code(&self, function: &Function) -> Result<(Code, Duration), LabError> {
        let mut context = Context::for_function(function.clone());
        context.set_disasm(true);
        let start = Instant::now();
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
        let time = start.elapsed();
        Ok((Code { bytes, instructions }, time))
    }
}
