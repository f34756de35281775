//! Certificates of what is proved of nests of loops: written, and checked.

use super::compare::Comparer;
use super::ir;
use super::report::Report;
use super::text::{Text, not_text};
use super::values::Values;
use crate::language::Language;
use crate::{Finding, out, sources};
use anyhow::{Context, Result, bail};
use rewright_cfg_skeleton::nest::certificate::{Certificate, Certificates, FORMAT};
use rewright_cfg_skeleton::nest::compare::assumptions;
use rewright_cfg_skeleton::nest::datapath::ValueOracle;
use rewright_cfg_skeleton::verdict::Evidence;
use rewright_dsl::diagnostic::count;
use rewright_equiv::Accepted;
use rewright_equiv::functions::{self, FunctionVersion};
use rewright_equiv::nests::Checker;
use rewright_llvm::module;
use rewright_llvm::optimise::LlvmOptimiser;
use rewright_mlir::Pair;
use std::path::Path;

/// Two files of one language, and how they are compared.
pub(super) struct Files<'a> {
    pub(super) language: Language,
    pub(super) versions: [&'a Text; 2],
    pub(super) comparer: &'a Comparer,
}

/// Something of each function, by name; else why there is none.
type Found<T> = Vec<(String, std::result::Result<T, String>)>;

/// Writes certificates of the functions of two files that are not refuted. Facts about values that only rules show are
/// in none.
///
/// # Errors
/// Mistakes in the files; where the file cannot be written.
pub(super) fn write(path: &Path, files: &Files<'_>, values: Values, report: &Report) -> Result<()> {
    let found = match files.language {
        Language::Mlir => of_mlir(files, values)?,
        Language::Llvm => {
            let (optimiser, before, after) = llvm(files)?;
            rewright_equiv::certificates(optimiser, &before, &after, &files.comparer.config)?
        }
        Language::Clif | Language::Own => {
            let ask = &mut |name: &str, before: FunctionVersion<'_>, after: FunctionVersion<'_>| {
                functions::certificate(name, before, after)
            };
            of_our_ir(files, ask)?
        }
    };
    let mut certificates = Certificates { format: FORMAT, functions: vec![] };
    for (function, found) in found {
        let is_refuted = report.is_refuted_of(&function);
        match found {
            Ok(_) if is_refuted => out::note(&format!("note: no certificate of {function}: runs refute it")),
            Ok(certificate) => certificates.functions.push(certificate),
            Err(reason) => out::note(&format!("note: no certificate of {function}: {reason}")),
        }
    }
    let text = serde_json::to_string_pretty(&certificates)? + "\n";
    rewright_files::write(path, text.as_bytes()).with_context(|| format!("cannot write {}", path.display()))?;
    out::note(&format!("{} in {}", count(certificates.functions.len(), "certificate"), path.display()));
    Ok(())
}

fn of_mlir(files: &Files<'_>, values: Values) -> Result<Found<Certificate>> {
    let [before, after] = texts(files.versions)?;
    let (mut values, options) = (values.by_solver_only(), &files.comparer.nests);
    let blocks = rewright_mlir::without_nests(&before);
    let mut found = rewright_mlir::with_stack(|| rewright_mlir::certificates(&before, &after, options, &mut values));
    for (_, found) in found.iter_mut().filter(|(name, _)| blocks.contains(name)) {
        if let Err(reason) = found {
            reason.push_str("; what is no nest is proved by the solver alone, of which there is no certificate");
        }
    }
    Ok(found)
}

fn llvm<'a>(files: &Files<'a>) -> Result<(&'a LlvmOptimiser, module::File, String)> {
    let rules = files.comparer.rules.as_ref().context("packs are loaded for this")?;
    let [_, after] = texts(files.versions)?;
    Ok((&rules.optimiser, super::compare::llvm(files.versions[0])?, after))
}

/// What is asked of two versions of a function.
type Asked<'a, T> = &'a mut dyn FnMut(&str, FunctionVersion<'_>, FunctionVersion<'_>) -> std::result::Result<T, String>;

fn of_our_ir<T>(files: &Files<'_>, ask: Asked<'_, T>) -> Result<Found<T>> {
    let program = files.comparer.program.clone().context("packs are loaded for this")?;
    let nothing = |evidence: Evidence| Err(evidence.reasons.join("; "));
    let found = ir::each(files.language, program, files.versions, &files.comparer.config, (ask, &nothing))?;
    Ok(found.into_iter().map(|(_, name, found)| (name, found)).collect())
}

/// Checks certificates of the functions of two files; anything but a certificate of each function that is accepted is a
/// finding.
///
/// # Errors
/// Mistakes in the files; where the file holds no certificates.
pub(super) fn check(
    path: &Path,
    files: &Files<'_>,
    new: &(dyn Fn() -> Checker + Sync),
    values: Values,
) -> Result<Finding> {
    let text = sources::read(path)?;
    let said: Certificates =
        serde_json::from_str(&text).with_context(|| format!("{} holds no certificates", path.display()))?;
    if said.format != FORMAT {
        bail!("{} has certificates of format {}; this program reads format {FORMAT}", path.display(), said.format);
    }
    let mut checker = new();
    let (found, claims) = match files.language {
        Language::Mlir => checked_mlir(files, &said, new, values)?,
        Language::Llvm => {
            let (optimiser, before, after) = llvm(files)?;
            let config = &files.comparer.config;
            let found = rewright_equiv::check_certificates(optimiser, (&before, &after), config, &said, &mut checker)?;
            (found, checker.claims())
        }
        Language::Clif | Language::Own => {
            let ask = &mut |name: &str, before: FunctionVersion<'_>, after: FunctionVersion<'_>| {
                functions::check(said.of(name)?, before, after, &mut checker)
            };
            let found = of_our_ir(files, ask)?;
            (found, checker.claims())
        }
    };
    let (mut accepted, mut assumed): (usize, Vec<String>) = (0, vec![]);
    for (name, found) in &found {
        let line = match found {
            Err(reason) => format!("not accepted: {reason}"),
            Ok(Accepted { precondition, assumptions }) => {
                accepted += 1;
                let new = assumptions.iter().filter(|assumption| !assumed.contains(assumption));
                assumed.extend(new.cloned().collect::<Vec<_>>());
                precondition.as_ref().map_or("accepted".into(), |condition| format!("accepted if {condition}"))
            }
        };
        out::result(&format!("{name}: {line}\n"));
    }
    for certificate in said.functions.iter().filter(|c| found.iter().all(|(name, _)| *name != c.function)) {
        out::result(&format!("{}: neither version has such a function, or both have the same\n", certificate.function));
    }
    out::result(&format!(
        "{}: {accepted} accepted, {} not; {}\n",
        count(found.len(), "function"),
        found.len() - accepted,
        count(usize::try_from(claims)?, "claim")
    ));
    if !assumed.is_empty() {
        out::result(&format!("assumed: {}\n", assumed.join("; ")));
    }
    Ok(if accepted == found.len() && accepted > 0 { Finding::Clean } else { Finding::Found })
}

/// What is accepted, and how many claims the solver was asked.
fn checked_mlir(
    files: &Files<'_>,
    said: &Certificates,
    new: &(dyn Fn() -> Checker + Sync),
    values: Values,
) -> Result<(Found<Accepted>, u64)> {
    let [before, after] = texts(files.versions)?;
    let mut oracle = values.by_solver_only();
    Ok(rewright_mlir::with_stack(|| {
        let mut checker = new();
        let mut checked: Found<(Accepted, Vec<String>)> = vec![];
        for (name, pair) in rewright_mlir::pairs(&before, &after) {
            let found = one(&name, pair, said, &mut checker, &mut oracle);
            checked.push((name, found));
        }
        rewright_mlir::without_dependent(&mut checked, |(accepted, calls)| (accepted.precondition.is_none(), calls));
        let found = checked.into_iter().map(|(name, found)| (name, found.map(|(accepted, _)| accepted)));
        (found.collect(), checker.claims())
    }))
}

/// What is accepted of a function, and which functions are taken to do the same.
fn one(
    name: &str,
    pair: std::result::Result<Pair, String>,
    said: &Certificates,
    checker: &mut Checker,
    oracle: &mut dyn ValueOracle,
) -> std::result::Result<(Accepted, Vec<String>), String> {
    let certificate = said.of(name)?.ok_or("there is no certificate of it")?;
    let mut pair = pair?;
    if certificate.most.is_some() {
        return Err("it is about a function that is no nest by itself".into());
    }
    pair.check_calls(&certificate.may_alias)?;
    checker
        .check(certificate, (&pair.before, &pair.after), &mut pair.pool, oracle)
        .map_err(|reason| reason.to_string())?;
    let Certificate { in_bounds, may_alias, index_bits, .. } = certificate;
    let mut assumptions = assumptions(*in_bounds, may_alias, *index_bits, pair.pool.sees_nans());
    assumptions.extend(pair.after.assumptions(&pair.before));
    Ok((Accepted { precondition: pair.precondition(certificate.precondition()), assumptions }, pair.calls))
}

fn texts(versions: [&Text; 2]) -> Result<[String; 2]> {
    let text = |of: &Text| String::from_utf8(of.bytes.clone()).map_err(|error| not_text(of, &error));
    Ok([text(versions[0])?, text(versions[1])?])
}
