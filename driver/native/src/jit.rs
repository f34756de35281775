//! Running compiled CLIF on the host: except for a system call in `isolate::confine`, the one module with `unsafe`
//! code.
//!
//! [`compile`] puts all functions of a file into one JIT module, with names that they use for each other resolved,
//! and gives each a *trampoline*: a compiled function `(callee, slots)` that loads its arguments from 16-byte slots
//! and stores its results there, so that any signature (several results, vectors, 128-bit integers) is called
//! through one host signature.
//!
//! **Safety**: compiled code is as dangerous as its input. CLIF can read any address, and a wrong rule can make it
//! so. Nothing here keeps it from bringing the process down: callers that run what they did not write use
//! [`crate::isolate`]. This module itself guarantees that pointers are called with the signature that they were
//! compiled with, slots are as many as arguments and results need, and no code is freed while it can be called.

#![allow(unsafe_code, reason = "calls compiled code; reviewed as a whole, see the safety notes at each use")]

mod externals;
mod libcalls;
mod throw;

pub use externals::{Blob, Externals, HostEntry, Imports, Link};

use cranelift_codegen::CodegenError;
use cranelift_codegen::data_value::DataValue;
use cranelift_codegen::ir::{
    AbiParam, Endianness, ExternalName, Function, GlobalValueData, InstBuilder, MemFlagsData, Signature,
    UserExternalName, UserFuncName,
};
use cranelift_codegen::isa::{OwnedTargetIsa, TargetIsa};
use cranelift_codegen::settings::{Configurable, Flags, Value as Setting};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{FuncId, Linkage, Module, ModuleError, default_libcall_names};
use indexmap::IndexMap;
use rewright_clif::panics::{Panic, quietly};

/// Bytes per argument or result.
const SLOT: usize = 16;

/// What begins a message about a function of a library that is allowed and not there.
pub const CANNOT_LINK: &str = "cannot link";

/// Why functions cannot be compiled for this host.
#[derive(Debug, Clone, thiserror::Error)]
pub enum JitError {
    /// Two functions of one name.
    #[error("{0} is defined twice")]
    Duplicate(String),
    /// A call of something that neither the file nor the runtime has.
    #[error("{caller} uses {callee}, which is not in the file")]
    Undefined {
        /// The caller.
        caller: String,
        /// The callee.
        callee: String,
    },
    /// A function of a shared library that cannot be loaded.
    #[error("{CANNOT_LINK} {symbol} from {library}: {reason}")]
    Link {
        /// The function.
        symbol: String,
        /// Its library.
        library: String,
        /// The loader's own words.
        reason: String,
    },
    /// A function of a shared library that the user has not allowed to be called.
    #[error("{}", crate::permission::needs(.0))]
    NotAllowed(String),
    /// Cranelift says no.
    #[error("{0}")]
    Cranelift(String),
    /// There is no such function to call.
    #[error("there is no function {0}")]
    NoFunction(String),
    /// Arguments that do not fit the signature.
    #[error("{name} takes {expected} arguments of its types, not {actual}")]
    Arguments {
        /// Of what.
        name: String,
        /// How many it wants.
        expected: usize,
        /// How many there are.
        actual: usize,
    },
    /// A type that no slot holds.
    #[error("values of type {0} do not fit a slot")]
    Type(String),
}

/// A function in the module.
struct Compiled {
    signature: Signature,
    code: FuncId,
    trampoline: FuncId,
}

/// Functions, compiled and callable.
pub struct Jit {
    /// Taken only when dropped.
    module: Option<JITModule>,
    functions: IndexMap<String, Compiled>,
    /// Calls that catch exceptions.
    sites: Vec<throw::Site>,
    /// What the code uses; dropped after it.
    _externals: Externals,
}

impl Drop for Jit {
    fn drop(&mut self) {
        if let Some(module) = self.module.take() {
            // SAFETY: `call` is the only way to run this code; it borrows `self`, and it returns no pointers.
            unsafe { module.free_memory() }
        }
    }
}

/// An ISA for this host with a file's settings and ISA flags. Without flags: everything that the host has.
pub fn host_isa(flags: Flags, isa_flags: Option<&[Setting]>) -> Result<OwnedTargetIsa, JitError> {
    let built = quietly(|| {
        let mut builder = cranelift_native::builder_with_options(isa_flags.is_none()).map_err(ToString::to_string)?;
        for value in isa_flags.unwrap_or(&[]) {
            builder.set(value.name, &value.value_string()).map_err(|e| e.to_string())?;
        }
        builder.finish(flags).map_err(|e| e.to_string())
    });
    built.map_err(|Panic(message)| message).flatten().map_err(JitError::Cranelift)
}

/// Writes out what called code has given to C's streams and they still hold.
pub fn flush_streams() {
    // SAFETY: a null stream is all streams.
    unsafe {
        libc::fflush(std::ptr::null_mut());
    }
}

/// Compiles functions that may call each other, and what is external, by name.
pub fn compile(functions: &[&Function], isa: OwnedTargetIsa, externals: Externals) -> Result<Jit, JitError> {
    match quietly(|| compile_all(functions, isa, externals)) {
        Ok(result) => result,
        Err(Panic(message)) => Err(JitError::Cranelift(message)),
    }
}

/// What Cranelift says, with what its verifier has found.
fn reason(error: &ModuleError) -> String {
    match error {
        ModuleError::Compilation(CodegenError::Verifier(errors)) => {
            errors.to_string().trim().trim_start_matches("- ").to_string()
        }
        other => other.to_string(),
    }
}

fn compile_all(functions: &[&Function], isa: OwnedTargetIsa, externals: Externals) -> Result<Jit, JitError> {
    let error = |e: ModuleError| JitError::Cranelift(reason(&e));
    let mut builder = JITBuilder::with_isa(isa, default_libcall_names());
    for (name, address) in libcalls::symbols().into_iter().chain(throw::SYMBOL).chain(externals.symbols()) {
        builder.symbol(name, address);
    }
    let mut jit =
        Jit { module: Some(JITModule::new(builder)), functions: IndexMap::new(), sites: vec![], _externals: externals };
    let Jit { module: Some(module), functions: compiled, _externals: externals, .. } = &mut jit else {
        unreachable!("just set")
    };

    for function in functions {
        let name = function.name.to_string();
        let code = module.declare_function(&name, Linkage::Local, &function.signature).map_err(error)?;
        let trampoline = trampoline_signature(module.isa());
        let trampoline =
            module.declare_function(&format!("trampoline to {name}"), Linkage::Local, &trampoline).map_err(error)?;
        let entry = Compiled { signature: function.signature.clone(), code, trampoline };
        if compiled.insert(name.clone(), entry).is_some() {
            return Err(JitError::Duplicate(name));
        }
    }
    let mut context = module.make_context();
    let mut catching = vec![];
    for function in functions {
        let entry = &compiled[&function.name.to_string()];
        context.func = resolved(function, entry.code, compiled, externals, module)?;
        module.define_function(entry.code, &mut context).map_err(error)?;
        let sites = context.compiled_code().map(|code| throw::sites(&code.buffer)).unwrap_or_default();
        catching.extend(sites.into_iter().map(|site| (entry.code, site)));
        module.clear_context(&mut context);
        context.func = trampoline(&entry.signature, module.isa());
        module.define_function(entry.trampoline, &mut context).map_err(error)?;
        module.clear_context(&mut context);
    }
    module.finalize_definitions().map_err(error)?;
    let placed = |(id, site): (FuncId, throw::Site)| site.placed(module.get_finalized_function(id).addr());
    jit.sites = catching.into_iter().map(placed).collect();
    Ok(jit)
}

/// The function with the names that it uses turned into the module's numbers.
fn resolved(
    function: &Function,
    code: FuncId,
    compiled: &IndexMap<String, Compiled>,
    externals: &Externals,
    module: &mut JITModule,
) -> Result<Function, JitError> {
    // Cranelift's module layer numbers functions in namespace 0.
    let number = |id: FuncId| UserExternalName::new(0, id.as_u32());
    let mut out = function.clone();
    out.name = UserFuncName::User(number(code));
    let mut renamed = vec![];
    for (reference, data) in &out.dfg.ext_funcs {
        let callee = match &data.name {
            ExternalName::TestCase(name) => UserFuncName::Testcase(name.clone()).to_string(),
            ExternalName::User(name) => UserFuncName::User(out.params.user_named_funcs()[*name].clone()).to_string(),
            ExternalName::LibCall(_) | ExternalName::KnownSymbol(_) => continue,
        };
        match compiled.get(&callee) {
            Some(target) => renamed.push((reference, number(target.code))),
            None if callee
                .strip_prefix('%')
                .is_some_and(|name| throw::SYMBOL.is_some_and(|(throw, _)| throw == name) || externals.has(name)) =>
            {
                let signature = &out.dfg.signatures[data.signature];
                let declared = module.declare_function(&callee[1..], Linkage::Import, signature);
                let id = declared.map_err(|e| JitError::Cranelift(reason(&e)))?;
                renamed.push((reference, number(id)));
            }
            None => return Err(JitError::Undefined { caller: function.name.to_string(), callee }),
        }
    }
    // All old names are read before the first new one goes into the same table.
    for (value, data) in &function.global_values {
        let GlobalValueData::Symbol { name: ExternalName::TestCase(name), .. } = data else { continue };
        let symbol = UserFuncName::Testcase(name.clone()).to_string();
        let symbol = symbol.trim_start_matches('%');
        if !externals.has(symbol) {
            return Err(JitError::Undefined { caller: function.name.to_string(), callee: format!("%{symbol}") });
        }
        let declared = module.declare_data(symbol, Linkage::Import, false, false);
        let id = declared.map_err(|e| JitError::Cranelift(reason(&e)))?;
        // Namespace 1 is that of data.
        let number = out.params.ensure_user_func_name(UserExternalName::new(1, id.as_u32()));
        if let GlobalValueData::Symbol { name, .. } = &mut out.global_values[value] {
            *name = ExternalName::User(number);
        }
    }
    for (reference, name) in renamed {
        let name = out.params.ensure_user_func_name(name);
        out.dfg.ext_funcs[reference].name = ExternalName::User(name);
    }
    Ok(out)
}

/// `(callee, slots)`
fn trampoline_signature(isa: &dyn TargetIsa) -> Signature {
    let mut signature = Signature::new(isa.default_call_conv());
    signature.params = vec![AbiParam::new(isa.pointer_type()); 2];
    signature
}

/// A function that calls its first argument with what the slots hold, and puts the results there.
fn trampoline(signature: &Signature, isa: &dyn TargetIsa) -> Function {
    let mut func = Function::with_name_signature(UserFuncName::default(), trampoline_signature(isa));
    let mut context = FunctionBuilderContext::new();
    let mut builder = FunctionBuilder::new(&mut func, &mut context);
    let block = builder.create_block();
    builder.append_block_params_for_function_params(block);
    builder.switch_to_block(block);
    let (callee, slots) = (builder.block_params(block)[0], builder.block_params(block)[1]);
    // `DataValue` keeps vectors in little-endian order.
    let flags = |ty: cranelift_codegen::ir::Type| match ty.is_vector() {
        true => MemFlagsData::trusted().with_endianness(Endianness::Little),
        false => MemFlagsData::trusted(),
    };
    let params = signature.params.iter().enumerate();
    let args: Vec<_> =
        params.map(|(n, p)| builder.ins().load(p.value_type, flags(p.value_type), slots, (n * SLOT) as i32)).collect();
    let imported = builder.import_signature(signature.clone());
    let call = builder.ins().call_indirect(imported, callee, &args);
    let results = builder.func.dfg.inst_results(call).to_vec();
    for (n, (result, p)) in results.into_iter().zip(&signature.returns).enumerate() {
        builder.ins().store(flags(p.value_type), result, slots, (n * SLOT) as i32);
    }
    builder.ins().return_(&[]);
    builder.seal_all_blocks();
    builder.finalize(isa.frontend_config());
    func
}

impl Jit {
    /// The signature of a function by its name as CLIF writes it (`%f`).
    pub fn signature(&self, name: &str) -> Option<&Signature> {
        self.functions.get(name).map(|f| &f.signature)
    }

    /// Calls a function. It may trap, and that ends the process: see the module's notes.
    pub fn call(&self, name: &str, args: &[DataValue]) -> Result<Vec<DataValue>, JitError> {
        let function = self.functions.get(name).ok_or_else(|| JitError::NoFunction(name.to_string()))?;
        let module = self.module.as_ref().expect("the module is there until it is dropped");
        let signature = &function.signature;
        let fits = |(p, a): (&AbiParam, &DataValue)| {
            p.value_type == a.ty() || (p.value_type.is_vector() && p.value_type.bytes() == a.ty().bytes())
        };
        if signature.params.len() != args.len() || !signature.params.iter().zip(args).all(fits) {
            let (expected, actual) = (signature.params.len(), args.len());
            return Err(JitError::Arguments { name: name.to_string(), expected, actual });
        }
        for p in signature.params.iter().chain(&signature.returns) {
            if p.value_type.is_dynamic_vector() || p.value_type.bytes() as usize > SLOT {
                return Err(JitError::Type(p.value_type.to_string()));
            }
        }
        let mut slots = vec![0u128; signature.params.len().max(signature.returns.len())];
        for (slot, arg) in slots.iter_mut().zip(args) {
            let mut bytes = [0; SLOT];
            match arg.is_vector() {
                true => arg.write_to_slice_le(&mut bytes),
                false => arg.write_to_slice_ne(&mut bytes),
            }
            *slot = u128::from_ne_bytes(bytes);
        }
        let callee = module.get_finalized_function(function.code);
        let trampoline = module.get_finalized_function(function.trampoline);
        let _catching = throw::catch_with(&self.sites);
        // SAFETY: the trampoline was compiled with the host's calling convention and these two parameters, for
        // exactly this callee's signature; the slots are as many and as large as it accesses, and aligned to 16.
        // That the callee itself behaves is what the module's notes leave to the caller.
        unsafe {
            let trampoline: extern "C" fn(*const u8, *mut u128) = std::mem::transmute(trampoline);
            trampoline(callee, slots.as_mut_ptr());
        }
        let results = signature.returns.iter().zip(&slots);
        Ok(results
            .map(|(p, slot)| match p.value_type.is_vector() {
                true => DataValue::read_from_slice_le(&slot.to_ne_bytes(), p.value_type),
                false => DataValue::read_from_slice_ne(&slot.to_ne_bytes(), p.value_type),
            })
            .collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cranelift_codegen::settings;
    use rewright_clif::read::read;

    fn f64(x: f64) -> DataValue {
        DataValue::F64(x.into())
    }

    fn run(text: &str, name: &str, args: &[DataValue]) -> Result<Vec<DataValue>, JitError> {
        let file = read(text).unwrap();
        let functions: Vec<&Function> = file.functions.iter().map(|f| &f.func).collect();
        let mut flags = settings::builder();
        flags.enable("enable_llvm_abi_extensions").unwrap();
        flags.enable("enable_multi_ret_implicit_sret").unwrap();
        let isa = host_isa(Flags::new(flags), None)?;
        compile(&functions, isa, Externals::default())?.call(name, args)
    }

    #[test]
    fn calls_pass_every_kind_of_value() {
        let text = "function %f(i8, f64, i128, i32x4) -> i32x4, i128, f64, i8 {\n\
            block0(v0: i8, v1: f64, v2: i128, v3: i32x4):\n    return v3, v2, v1, v0\n}\n";
        let vector = DataValue::V128([1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 4, 0, 0, 0]);
        let args = [DataValue::I8(-3), f64(2.5), DataValue::I128(-1 << 70), vector];
        let mut results = run(text, "%f", &args).unwrap();
        results.reverse();
        assert_eq!(results, args);
    }

    #[test]
    fn functions_call_each_other_and_the_runtime() {
        let text = "function %g(f64) -> f64 {\n    fn0 = %CeilF64(f64) -> f64\n\
            block0(v0: f64):\n    v1 = call fn0(v0)\n    return v1\n}\n\
            function %f(f64) -> f64 {\n    fn0 = colocated %g(f64) -> f64\n\
            block0(v0: f64):\n    v1 = call fn0(v0)\n    return v1\n}\n";
        assert_eq!(run(text, "%f", &[f64(1.5)]).unwrap(), [f64(2.0)]);
    }

    #[test]
    fn mistakes_are_errors() {
        let text = "function %f() {\n    fn0 = %nowhere()\nblock0:\n    call fn0()\n    return\n}\n";
        assert!(matches!(run(text, "%f", &[]), Err(JitError::Undefined { .. })));
        let text = "function %f(i32) {\nblock0(v0: i32):\n    return\n}\n";
        assert!(matches!(run(text, "%f", &[]), Err(JitError::Arguments { .. })));
        assert!(matches!(run(text, "%g", &[]), Err(JitError::NoFunction(_))));
    }
}
