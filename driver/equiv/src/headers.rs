//! What stands around two bodies: signatures, attributes, the globals and functions that they mention.
//!
//! Parameters are compared by position, types by their structure. Promises of the second version's module beyond those
//! of the first one's are not known to hold, and what a global is must be the same in both where either body mentions
//! it.

use super::annotations::table::AnnotationTarget;
use super::annotations::{AnnotationError, check, is_of_floats, parts};
use super::modules::{Module, Version, is_convention};
use super::promises::Promises;
use super::structure::structure;
use rewright_llvm::body::{Body, Instruction, Shape};
use rewright_llvm::lex::global_names;
use rewright_llvm::module::{Definition, resolve};
use rewright_llvm::types::Type;
use std::collections::BTreeSet;

/// Why nothing is proved of two versions by their bodies.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub(super) enum HeaderError {
    #[error("the data layouts differ")]
    Layouts,
    #[error(transparent)]
    Function(#[from] AnnotationError),
    #[error("{0} in what it gives")]
    Result(AnnotationError),
    #[error("{error} at parameter {n}")]
    Parameter { error: AnnotationError, n: usize },
    #[error("the global {0} is another one")]
    Global(String),
    #[error("{error} of {name}")]
    Callee { error: AnnotationError, name: String },
    #[error("{0} has other parameters")]
    Parameters(String),
}

/// What differs in how the versions are called; `None` if a call of one is a call of the other.
pub(super) fn signature(before: Version<'_>, after: Version<'_>) -> Option<String> {
    let [was, is] = [before, after].map(|v| {
        let definition = v.definition;
        let structure = |ty: &Type| structure(ty, &v.file().named);
        let parameters: Vec<String> = definition.parameters.iter().map(|p| structure(&p.ty)).collect();
        let more = if definition.variadic { ", ..." } else { "" };
        let convention = v.module.before(definition).into_iter().find(|word| is_convention(word) && word != "ccc");
        let convention = convention.map_or(String::new(), |c| format!("{c} "));
        format!("{convention}{} ({}{more})", structure(&definition.result), parameters.join(", "))
    });
    (was != is).then(|| format!("its signature was {was}, and is {is}"))
}

/// Why nothing is proved of two versions by their bodies. If the second version's body is given, the promises that it
/// is seen to keep are known, and the caller compares promises of values.
pub(super) fn compare(before: Version<'_>, after: Version<'_>, body: Option<&Body>) -> Result<(), HeaderError> {
    let of_values = |a: &str| body.is_some() && is_of_values(a);
    if before.file().data_layout != after.file().data_layout {
        return Err(HeaderError::Layouts);
    }
    let (was, is) = (before.definition, after.definition);
    // Attributes about floats that both have hold of each operation, and the operations of the second version are
    // others.
    if let Some(said) = is.attributes.iter().find(|a| is_of_floats(a) && body.is_some_and(computes_floats)) {
        return Err(AnnotationError::Unmodelled(said.clone()).into());
    }
    let promises = body.map(|body| Promises::new(after, body));
    check(AnnotationTarget::Function, &was.attributes, &is.attributes, |a| {
        promises.as_ref().is_some_and(|p| p.hold(a))
    })?;
    let kept = |a: &str| of_values(a) || promises.as_ref().is_some_and(|p| p.hold_of_result(a));
    let (words, new_words) = (before.module.before(was), after.module.before(is));
    check(AnnotationTarget::Result, &words, &new_words, kept).map_err(HeaderError::Result)?;
    for (n, (was, is)) in was.parameters.iter().zip(&is.parameters).enumerate() {
        let kept = |a: &str| of_values(a) || promises.as_ref().is_some_and(|p| p.hold_of_parameter(&is.name, a));
        check(AnnotationTarget::Parameter, &was.attributes, &is.attributes, kept)
            .map_err(|error| HeaderError::Parameter { error, n })?;
    }
    mentioned(before, after, &[])
}

/// Whether an attribute promises something of the values that a function is given or gives.
fn is_of_values(attribute: &str) -> bool {
    ["noundef", "nonnull", "align", "range", "returned"].contains(&parts(attribute).0)
}

/// Why attributes of arguments and results of the second version may promise more of their values. [`compare`] leaves these to
/// callers that know the values.
pub(super) fn of_values(before: Version<'_>, after: Version<'_>) -> Result<(), HeaderError> {
    let kept = |attribute: &str| !is_of_values(attribute);
    let (was, is) = (before.definition, after.definition);
    let (words, new_words) = (before.module.before(was), after.module.before(is));
    check(AnnotationTarget::Result, &words, &new_words, kept).map_err(HeaderError::Result)?;
    for (n, (was, is)) in was.parameters.iter().zip(&is.parameters).enumerate() {
        check(AnnotationTarget::Parameter, &was.attributes, &is.attributes, kept)
            .map_err(|error| HeaderError::Parameter { error, n })?;
    }
    Ok(())
}

/// Does a body compute with floats, or compare them?
fn computes_floats(body: &Body) -> bool {
    fn is_float(ty: &Type) -> bool {
        match ty {
            Type::Word(_) => true,
            Type::Vector(_, element) | Type::Array(_, element) => is_float(element),
            Type::Struct(_, fields) => fields.iter().any(is_float),
            _ => false,
        }
    }
    let computes = |i: &Instruction| match &i.shape {
        Shape::Plain(operands) => is_float(&i.ty) || operands.iter().any(|operand| is_float(&operand.ty)),
        Shape::Call { args, .. } => is_float(&i.ty) || args.iter().any(|arg| is_float(&arg.ty)),
        _ => false,
    };
    body.blocks.iter().flat_map(|block| &block.instructions).any(computes)
}

/// A global that either version mentions, and that is another one in the other module: runs have one for both.
pub(super) fn another_global(before: Version<'_>, after: Version<'_>) -> Option<HeaderError> {
    mentioned(before, after, &[]).err().filter(|error| matches!(error, HeaderError::Global(_)))
}

/// Globals and functions that either body mentions or the text of one that has been inlined, and those that the definitions
/// of such globals mention: a pointer that is loaded from one leads to others.
pub(super) fn mentioned(before: Version<'_>, after: Version<'_>, inlined: &[&str]) -> Result<(), HeaderError> {
    let own = |name: &str| name == before.definition.name || name == after.definition.name;
    let texts = [before.text(), after.text()].into_iter().chain(inlined.iter().copied());
    let mut todo: BTreeSet<String> = texts.flat_map(global_names).map(String::from).collect();
    let mut seen = BTreeSet::new();
    while let Some(name) = todo.pop_first() {
        if own(&name) || !seen.insert(name.clone()) {
            continue;
        }
        let functions = [before, after].map(|v| v.module.function(&name));
        let globals = [before, after].map(|v| v.module.global(&name));
        match (functions, &globals) {
            ([Some(was), Some(is)], _) => declared(&name, (before.module, was), (after.module, is))?,
            (_, [Some(was), Some(is)]) if was == is => {}
            (_, [Some(_), Some(_)]) if before.module.global_as_read(&name) == after.module.global_as_read(&name) => {}
            // A global that the other module does not have is mentioned by one version only.
            ([None, None], [None, _] | [_, None]) | ([Some(_), None] | [None, Some(_)], [None, None]) => {}
            _ => return Err(HeaderError::Global(name)),
        }
        todo.extend(globals.iter().flatten().flat_map(|text| global_names(text)).map(String::from));
    }
    Ok(())
}

/// What two modules say of a function that is called.
fn declared(name: &str, was: (&Module<'_>, &Definition), is: (&Module<'_>, &Definition)) -> Result<(), HeaderError> {
    let of = |error| HeaderError::Callee { error, name: name.to_string() };
    let [was_attributes, is_attributes] = [was, is].map(|(module, definition)| {
        let mut list = definition.attributes.clone();
        resolve(&mut list, &module.file.groups);
        list
    });
    if name.starts_with("@llvm.") {
        // LLVM's readers give an intrinsic its own attributes, whatever a declaration says.
        let all = [was_attributes, is_attributes].concat();
        return check(AnnotationTarget::Function, &all, &all, |_| false).map_err(of);
    }
    check(AnnotationTarget::Function, &was_attributes, &is_attributes, |_| false).map_err(of)?;
    check(AnnotationTarget::Result, &was.0.before(was.1), &is.0.before(is.1), |_| false).map_err(of)?;
    if was.1.parameters.len() != is.1.parameters.len() {
        return Err(HeaderError::Parameters(name.to_string()));
    }
    for (was, is) in was.1.parameters.iter().zip(&is.1.parameters) {
        check(AnnotationTarget::Parameter, &was.attributes, &is.attributes, |_| false).map_err(of)?;
    }
    Ok(())
}
