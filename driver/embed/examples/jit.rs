//! A small JIT: arithmetic expressions become Cranelift functions, which Rewright optimises in place before Cranelift
//! compiles them. One optimiser is prepared once and used by all threads. It prints the time per function:
//!
//! ```sh
//! cargo run --release --example jit
//! ```

#![allow(clippy::print_stdout, reason = "an example shows what it does")]
#![allow(unsafe_code, reason = "compiled code is called by its address")]

use cpu_time::ThreadTime;
use cranelift_codegen::Context;
use cranelift_codegen::ir::{AbiParam, Function, InstBuilder, Signature, UserFuncName, Value, types::I64};
use cranelift_codegen::isa::{CallConv, OwnedTargetIsa};
use cranelift_codegen::settings::{self, Configurable};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{Linkage, Module, default_libcall_names};
use rewright_clif::optimise::ClifOptimiser;
use rewright_embed::Embedding;
use rewright_pipeline::optimiser::{Fate, Options};
use std::error::Error;
use std::time::Duration;

const THREADS: u64 = 2;
const FUNCTIONS: u64 = 40;

/// An expression over two 64-bit integers; arithmetic wraps.
pub enum Expr {
    /// One of the two parameters.
    Parameter(usize),
    /// A constant.
    Constant(i64),
    /// An operation on two expressions.
    Binary(Operator, Box<Expr>, Box<Expr>),
}

/// An operator on two values.
#[derive(Clone, Copy)]
pub enum Operator {
    /// `x + y`
    Add,
    /// `x - y`
    Sub,
    /// `x * y`
    Mul,
    /// `x & y`
    And,
}

impl Expr {
    /// An expression that depends on the seed alone.
    pub fn random(seed: u64) -> Expr {
        let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        Expr::grow(&mut state, 4)
    }

    fn grow(state: &mut u64, depth: u32) -> Expr {
        // Knuth's generator; the high bits are the good ones.
        *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let draw = *state >> 33;
        if depth == 0 {
            return match draw % 3 {
                0 => Expr::Constant((draw / 3 % 9) as i64),
                n => Expr::Parameter(n as usize - 1),
            };
        }
        let operator = [Operator::Add, Operator::Sub, Operator::Mul, Operator::And][draw as usize % 4];
        Expr::Binary(operator, Box::new(Expr::grow(state, depth - 1)), Box::new(Expr::grow(state, depth - 1)))
    }

    /// Its value for given parameters.
    fn value(&self, parameters: [i64; 2]) -> i64 {
        match self {
            Expr::Parameter(n) => parameters[*n],
            Expr::Constant(n) => *n,
            Expr::Binary(operator, x, y) => {
                let (x, y) = (x.value(parameters), y.value(parameters));
                match operator {
                    Operator::Add => x.wrapping_add(y),
                    Operator::Sub => x.wrapping_sub(y),
                    Operator::Mul => x.wrapping_mul(y),
                    Operator::And => x & y,
                }
            }
        }
    }

    fn emit(&self, builder: &mut FunctionBuilder<'_>, parameters: &[Value]) -> Value {
        match self {
            Expr::Parameter(n) => parameters[*n],
            Expr::Constant(n) => builder.ins().iconst(I64, *n),
            Expr::Binary(operator, x, y) => {
                let (x, y) = (x.emit(builder, parameters), y.emit(builder, parameters));
                match operator {
                    Operator::Add => builder.ins().iadd(x, y),
                    Operator::Sub => builder.ins().isub(x, y),
                    Operator::Mul => builder.ins().imul(x, y),
                    Operator::And => builder.ins().band(x, y),
                }
            }
        }
    }
}

/// The machine that this runs on.
pub fn host() -> Result<OwnedTargetIsa, Box<dyn Error>> {
    let mut flags = settings::builder();
    flags.set("is_pic", "false")?;
    Ok(cranelift_native::builder()?.finish(settings::Flags::new(flags))?)
}

/// The expression as a function of two parameters.
pub fn lower(expr: &Expr, isa: &OwnedTargetIsa) -> Function {
    let mut signature = Signature::new(CallConv::SystemV);
    signature.params.extend([AbiParam::new(I64); 2]);
    signature.returns.push(AbiParam::new(I64));
    let mut function = Function::with_name_signature(UserFuncName::user(0, 0), signature);
    let mut context = FunctionBuilderContext::new();
    let mut builder = FunctionBuilder::new(&mut function, &mut context);
    let entry = builder.create_block();
    builder.append_block_params_for_function_params(entry);
    builder.switch_to_block(entry);
    builder.seal_block(entry);
    let parameters = builder.block_params(entry).to_vec();
    let result = expr.emit(&mut builder, &parameters);
    builder.ins().return_(&[result]);
    builder.finalize(isa.frontend_config());
    function
}

/// The CPU time that one function took.
struct Latency {
    optimise: Duration,
    compile: Duration,
    changed: bool,
}

/// Optimises, compiles, runs and checks one expression.
fn compile(optimiser: &ClifOptimiser, isa: &OwnedTargetIsa, seed: u64) -> Result<Latency, Box<dyn Error>> {
    let expr = Expr::random(seed);
    let mut function = lower(&expr, isa);

    let start = ThreadTime::now();
    let outcome = optimiser.optimise_function(&mut function, &**isa, &Options::default());
    let optimise = start.elapsed();
    if let Fate::PassedThrough(reason) | Fate::Failed(reason) = &outcome.fate {
        return Err(format!("expression {seed}: {reason}").into());
    }

    let start = ThreadTime::now();
    let mut module = JITModule::new(JITBuilder::with_isa(isa.clone(), default_libcall_names()));
    let id = module.declare_function("expression", Linkage::Export, &function.signature)?;
    module.define_function(id, &mut Context::for_function(function))?;
    module.finalize_definitions()?;
    let compile = start.elapsed();

    // SAFETY: the function has this signature, and `module` lives until the end of this scope.
    let code: extern "sysv64" fn(i64, i64) -> i64 = unsafe { std::mem::transmute(module.get_finalized_function(id)) };
    for parameters in [[0, 0], [1, -1], [i64::MAX, 3], [i64::MIN, -7], [123_456_789, 987_654_321]] {
        assert_eq!(code(parameters[0], parameters[1]), expr.value(parameters), "expression {seed}");
    }
    // SAFETY: nothing calls the code any more.
    unsafe { module.free_memory() };
    Ok(Latency { optimise, compile, changed: outcome.fate == Fate::Optimised })
}

fn summary(name: &str, mut times: Vec<Duration>) -> String {
    times.sort();
    let (median, slowest) = (times[times.len() / 2], times[times.len() - 1]);
    format!("{name}: median {median:.0?}, slowest {slowest:.0?}")
}

/// Compiles expressions on several threads, and prints what one took.
pub fn main() -> Result<(), Box<dyn Error>> {
    let optimiser = Embedding::new().named("std")?.clif()?;
    let isa = host()?;
    // The first functions prepare the rules that they need.
    for seed in 0..FUNCTIONS {
        optimiser.optimise_function(&mut lower(&Expr::random(seed), &isa), &*isa, &Options::default());
    }
    let worker = &|thread: u64| {
        let seeds = (0..FUNCTIONS).map(|n| thread * FUNCTIONS + n);
        seeds.map(|seed| compile(&optimiser, &isa, seed).map_err(|e| e.to_string())).collect::<Result<Vec<_>, _>>()
    };
    let finished: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS).map(|thread| scope.spawn(move || worker(thread))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap_or_else(|_| Err("a thread panicked".into()))).collect()
    });
    let latencies = finished.into_iter().collect::<Result<Vec<_>, String>>()?.into_iter().flatten();
    let latencies: Vec<Latency> = latencies.collect();
    let changed = latencies.iter().filter(|latency| latency.changed).count();
    println!("{} functions on {THREADS} threads, {changed} made cheaper", latencies.len());
    println!("{}", summary("optimise", latencies.iter().map(|l| l.optimise).collect()));
    println!("{}", summary("compile", latencies.iter().map(|l| l.compile).collect()));
    assert!(changed > 0);
    Ok(())
}
