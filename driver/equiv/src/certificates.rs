//! Certificates of functions of LLVM IR that are nests of loops, by name.

use crate::callees::as_called;
use crate::library::with_library;
use crate::modules::Module;
use crate::nests::Checker;
use crate::raised::{self, Accepted};
use crate::rests::Dependencies;
use crate::{Config, Files, FunctionPairs, NO_CERTIFICATE, ValidateError};
use rewright_cfg_skeleton::nest::certificate::{Certificate, Certificates};
use rewright_llvm::module::{File, read};
use rewright_llvm::optimise::LlvmOptimiser;

/// What is found of functions, by name; else why it is not.
pub type Found<T> = Vec<(String, Result<T, String>)>;

/// Certificates of the functions of two files that are not one text.
///
/// # Errors
/// Where the second text is no file of LLVM IR.
pub fn certificates(
    llvm: &LlvmOptimiser,
    before: &File,
    after: &str,
    config: &Config,
) -> Result<Found<Certificate>, ValidateError> {
    each(before, after, config, |name, files, pair| {
        let found = raised::llvm::each(llvm, files, &[pair], &mut |_, versions, licence| {
            raised::certificate(name, versions, licence)
        });
        found.into_iter().next().map_or_else(|| Err(NO_CERTIFICATE.into()), |(_, found)| found)
    })
}

/// Checks certificates of the functions of two files; those that are one text need none.
///
/// # Errors
/// Where the second text is no file of LLVM IR.
pub fn check_certificates(
    llvm: &LlvmOptimiser,
    (before, after): (&File, &str),
    config: &Config,
    said: &Certificates,
    checker: &mut Checker,
) -> Result<Found<Accepted>, ValidateError> {
    each(before, after, config, |name, files, pair| {
        let certificate = said.of(name)?.ok_or(NO_CERTIFICATE)?;
        let found = raised::llvm::each(llvm, files, &[pair], &mut |_, versions, licence| {
            raised::check(versions, licence, certificate, checker)
        });
        found.into_iter().next().map_or_else(|| Err(NO_CERTIFICATE.into()), |(_, found)| found)
    })
}

fn each<T>(
    before: &File,
    after: &str,
    config: &Config,
    mut of: impl FnMut(&str, &Files<'_>, usize) -> Result<T, String>,
) -> Result<Found<T>, ValidateError> {
    let after = read(after.to_string())?;
    let own = [&*with_library(before), &*with_library(&after)];
    let [before, after] = &as_called(own[0], own[1], &Default::default());
    let modules = Module::pair([before, after], own);
    let mut pairs = FunctionPairs::new(&Dependencies::new(&modules), &modules, config);
    let open = std::mem::take(&mut pairs.open);
    let files = Files { before, after, modules: [&modules[0], &modules[1]], pairs: open };
    let name = |pair: usize| before.functions[files.pairs[pair].0].name.clone();
    let mut found: Found<T> = (0..files.pairs.len()).map(|pair| (name(pair), of(&name(pair), &files, pair))).collect();
    let others = pairs.verdicts.into_values().filter(|verdict| !verdict.is_proved());
    found.extend(others.map(|verdict| (verdict.function, Err(verdict.reasons.join("; ")))));
    Ok(found)
}
