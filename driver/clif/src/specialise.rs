//! Functions of a CLIF file with constants for some of their parameters.
//!
//! The new function begins in a block of its own, which makes the constants and goes on in what was the entry.

use super::inline::callee_name;
use super::names::scalar_of;
use super::read::{File, FileFunction};
use cranelift_codegen::cursor::{Cursor, FuncCursor};
use cranelift_codegen::ir::{ArgumentPurpose, BlockArg, Function, InstBuilder, Type, UserFuncName, Value};
use rewright_cfg_skeleton::ir::parse::Request;
use rewright_cfg_skeleton::ir::specialise::{SpecialiseError, check_arguments, name_for};
use rewright_typeprop::{Scalar, Ty, Universe};

/// Adds a function to a file, at its end; or in the place of the general one, if the request gives it that one's name.
/// Gives the new function's name.
///
/// # Errors
/// There is no such function, constants do not fit, or the general one cannot go.
pub fn specialise(
    file: &mut File,
    request: &Request,
    universe: &Universe,
    ty: impl Fn(Type) -> Ty,
) -> Result<String, SpecialiseError> {
    let bare = |name: &str| name.trim_start_matches('%').to_string();
    let names: Vec<String> = file.functions.iter().map(FileFunction::name).collect();
    let general = names.iter().position(|name| bare(name) == bare(&request.function));
    let general = general.ok_or_else(|| SpecialiseError::NoFunction(request.function.clone()))?;
    let name = name_for(&names[general], request.name.as_deref(), &names)?;
    let replaces = name == names[general];
    if replaces && file.functions.iter().any(|f| calls(&f.func, &name)) {
        return Err(SpecialiseError::Called(name));
    }
    let from = &file.functions[general];
    let types: Vec<Ty> = from.func.signature.params.iter().map(|param| ty(param.value_type)).collect();
    let arguments = request.arguments(&types, universe)?;
    let func = bound(&from.func, &name, &arguments)?;
    file.accepts(&func).map_err(|e| SpecialiseError::Unsupported(format!("Cranelift's verifier rejects it: {e}")))?;
    let text = FileFunction { comments: vec![], ..from.clone() }.replaced(&func);
    let added = FileFunction { func, line: from.line, text, comments: vec![] };
    match (replaces, file.functions.last_mut()) {
        (true, _) => file.functions[general] = added,
        (false, last) => {
            // The last function's text may end in its brace.
            if let Some(last) = last {
                let missing = "\n".repeat(2 - last.text.chars().rev().take_while(|c| *c == '\n').count().min(2));
                last.text += &missing;
            }
            file.functions.push(added);
        }
    }
    Ok(name)
}

/// Does a function name another one of that name?
fn calls(func: &Function, name: &str) -> bool {
    func.dfg.ext_funcs.keys().any(|callee| callee_name(func, callee).is_some_and(|callee| callee == name))
}

/// The copy.
fn bound(general: &Function, name: &str, arguments: &[Option<i64>]) -> Result<Function, SpecialiseError> {
    let params = &general.signature.params;
    check_arguments(&general.name.to_string(), params.len(), arguments)?;
    let Some(entry) = general.layout.entry_block() else {
        return Err(SpecialiseError::Unsupported(format!("{} has no block", general.name)));
    };
    let mut func = general.clone();
    func.name = named(name);
    func.signature.params = vec![];
    let start = func.dfg.make_block();
    func.layout.insert_block(start, entry);
    let mut passed: Vec<BlockArg> = vec![];
    for (position, (param, argument)) in (1..).zip(params.iter().zip(arguments)) {
        let ty = param.value_type;
        let value = match argument {
            None => {
                func.signature.params.push(*param);
                func.dfg.append_block_param(start, ty)
            }
            Some(number) => {
                let scalar =
                    scalar_of(ty).filter(|scalar| param.purpose == ArgumentPurpose::Normal && fits(*scalar, *number));
                let scalar = scalar.ok_or_else(|| SpecialiseError::Type { position, ty: ty.to_string() })?;
                constant(&mut FuncCursor::new(&mut func).at_bottom(start), ty, scalar, *number)
            }
        };
        passed.push(value.into());
    }
    FuncCursor::new(&mut func).at_bottom(start).ins().jump(entry, &passed);
    Ok(func)
}

/// A number that the parameter's type has, with a sign or without.
fn fits(scalar: Scalar, number: i64) -> bool {
    let canonical = scalar.canonical(number as u64);
    canonical == number || scalar.zero_extended(canonical) == number as u64
}

fn constant(at: &mut FuncCursor<'_>, ty: Type, scalar: Scalar, number: i64) -> Value {
    let bits = scalar.zero_extended(scalar.canonical(number as u64));
    match scalar {
        Scalar::F32 => at.ins().f32const(f32::from_bits(bits as u32)),
        Scalar::F64 => at.ins().f64const(f64::from_bits(bits)),
        _ => at.ins().iconst(ty, bits as i64),
    }
}

/// A name as CLIF writes it.
fn named(name: &str) -> UserFuncName {
    let user = name.strip_prefix('u').and_then(|rest| rest.split_once(':'));
    match user.and_then(|(namespace, index)| Some((namespace.parse().ok()?, index.parse().ok()?))) {
        Some((namespace, index)) => UserFuncName::user(namespace, index),
        None => UserFuncName::testcase(name.trim_start_matches('%')),
    }
}
