//! Versions in languages that become our IR: CLIF, and our own text.

use super::text::{Text, mistakes};
use crate::language::Language;
use anyhow::{Context, Result};
use rewright_cfg_skeleton::ir::interp::{self, Callees, Host, Memory};
use rewright_cfg_skeleton::ir::{Function, PayloadId};
use rewright_cfg_skeleton::verdict::{Evidence, Side, Verdict};
use rewright_clif::describe::describe;
use rewright_clif::front::ClifInput;
use rewright_clif::import::Imported;
use rewright_clif::interpret::{Functions, Subject};
use rewright_clif::optimise::{ClifOptimiser, OutOfScope, trap_code};
use rewright_clif::read::{File, read_bytes};
use rewright_dsl::diagnostic::count;
use rewright_dsl::program::Program;
use rewright_equiv::functions::{FunctionVersion, Prover, compare as compare_functions};
use rewright_equiv::verdict::ValidationReport;
use rewright_equiv::{Config, ValidateError};
use rewright_native::module::ModuleOptimiser;
use rewright_pipeline::front::{FrontEnd, ReadError};
use rewright_pipeline::optimiser::Options;
use rewright_typeprop::Scalar;
use std::collections::BTreeMap;

/// Compares two versions of a file.
///
/// # Errors
/// Mistakes in one of them; a function that neither has.
pub(super) fn compare(
    language: Language,
    program: Program,
    versions: [&Text; 2],
    config: &Config,
) -> Result<ValidationReport> {
    let mut prover = Prover::new(config);
    let ask = &mut |_: &str, before: FunctionVersion<'_>, after: FunctionVersion<'_>| {
        compare_functions(before, after, config, &mut prover)
    };
    let functions = each(language, program, versions, config, (ask, &|evidence| evidence))?;
    let verdicts = functions.into_iter().map(|(i, name, evidence)| (i, Verdict::new(&name, evidence)));
    Ok(ValidationReport::of(verdicts))
}

/// What is asked of two versions of a function, by its name; and what is said where there are no two.
type Asked<'a, T> = (&'a mut dyn FnMut(&str, FunctionVersion<'_>, FunctionVersion<'_>) -> T, &'a dyn Fn(Evidence) -> T);

/// Asks something of each function: by position, with its name.
///
/// # Errors
/// Mistakes in one of the versions; a function that neither has.
pub(super) fn each<T>(
    language: Language,
    program: Program,
    versions: [&Text; 2],
    config: &Config,
    asked: Asked<'_, T>,
) -> Result<Vec<(usize, String, T)>> {
    match language {
        Language::Own => own(program, versions, config, asked),
        Language::Clif | Language::Llvm | Language::Mlir => clif(program, versions, config, asked),
    }
}

/// A file as rules make it.
///
/// # Errors
/// Mistakes in it.
pub(super) fn optimised(language: Language, program: Program, text: &Text, options: &Options) -> Result<Vec<u8>> {
    fn written<F: FrontEnd>(program: Program, text: &Text, options: &Options) -> Result<Vec<u8>> {
        let input = F::read(program, text.bytes.clone()).map_err(|error| mistakes(&text.name, error))?;
        let outcome = input.optimise(options, &|_| true);
        Ok(outcome.write().into_bytes())
    }
    match language {
        Language::Own => written::<ModuleOptimiser>(program, text, options),
        Language::Clif | Language::Llvm | Language::Mlir => written::<ClifInput>(program, text, options),
    }
}

/// A function by its name, and by what reports call it: of several of one name, `%f#2` is the second one.
struct Named<'n> {
    name: &'n str,
    shown: String,
}

/// How many functions there are of each name.
fn counted(names: &[String]) -> BTreeMap<&str, usize> {
    let mut counts = BTreeMap::new();
    names.iter().for_each(|name| *counts.entry(name.as_str()).or_default() += 1);
    counts
}

fn numbered(names: &[String]) -> Vec<Named<'_>> {
    let counts = counted(names);
    let shown = |(at, name): (usize, &String)| match counts[name.as_str()] {
        1 => name.clone(),
        _ => format!("{name}#{}", names[..=at].iter().filter(|other| *other == name).count()),
    };
    names.iter().enumerate().map(|(at, name)| Named { name, shown: shown((at, name)) }).collect()
}

/// Pairs functions by their names, those of one name in the order in which they come, and asks of each pair by its
/// positions.
fn by_name<T>(
    names: [Vec<String>; 2],
    config: &Config,
    mut ask: impl FnMut(usize, usize) -> T,
    nothing: &dyn Fn(Evidence) -> T,
) -> Result<Vec<(usize, String, T)>> {
    let bare = |name: &str| name.trim_start_matches(['%', '@']).to_string();
    let asked = config.function.as_deref().map(bare);
    let wanted = |position: usize, one: &Named<'_>| {
        let is_asked = |asked: &String| *asked == bare(&one.shown) || *asked == bare(one.name);
        config.has(position) && asked.as_ref().is_none_or(is_asked)
    };
    let counts = names.each_ref().map(|names| counted(names));
    let only = |side: Side, name: &str| {
        let [first, second] = counts.each_ref().map(|counts| counts.get(name).copied().unwrap_or_default());
        let evidence = Evidence::only(side);
        if first == 0 || second == 0 {
            return evidence;
        }
        let reason =
            format!("the first file defines {} of this name, and the second one {second}", count(first, "function"));
        Evidence { reasons: vec![reason], ..evidence }
    };
    let has_partner = |name: &str| counts[0].get(name) == counts[1].get(name);
    let [before, after] = names.each_ref().map(|names| numbered(names));
    let mut functions = vec![];
    for (i, one) in before.iter().enumerate().filter(|(i, one)| wanted(*i, one)) {
        let partner = after.iter().position(|other| other.shown == one.shown);
        let found = match partner.filter(|_| has_partner(one.name)) {
            Some(j) => ask(i, j),
            None => nothing(only(Side::First, one.name)),
        };
        functions.push((i, one.shown.clone(), found));
    }
    let new = (before.len()..).zip(after.iter().filter(|one| !has_partner(one.name)));
    for (position, one) in new.filter(|(position, one)| wanted(*position, one)) {
        functions.push((position, one.shown.clone(), nothing(only(Side::Second, one.name))));
    }
    if let (Some(name), true) = (&config.function, functions.is_empty()) {
        return Err(ValidateError::Function(name.clone()).into());
    }
    Ok(functions)
}

fn clif<T>(
    program: Program,
    versions: [&Text; 2],
    config: &Config,
    (ask, nothing): Asked<'_, T>,
) -> Result<Vec<(usize, String, T)>> {
    let rules = ClifOptimiser::new(program).context("the rules do not form a program")?;
    let read = |text: &Text| read_bytes(&text.bytes).map_err(|error| mistakes(&text.name, ReadError::from(error)));
    let [before, after] = [read(versions[0])?, read(versions[1])?];
    let [first, second] = [ClifVersion::new(&rules, &before), ClifVersion::new(&rules, &after)];
    let names = [&before, &after].map(|file| file.functions.iter().map(|f| f.name()).collect());
    by_name(
        names,
        config,
        |i, j| {
            let name = before.functions[i].name();
            let asked = first.with(i, (&second, j), |before, after| ask(&name, before, after));
            asked.unwrap_or_else(|reason| nothing(Evidence::nothing(reason)))
        },
        nothing,
    )
}

/// A version of a file of CLIF.
struct ClifVersion<'a> {
    rules: &'a ClifOptimiser,
    file: &'a File,
    imported: Vec<Result<Imported, OutOfScope>>,
    callees: Functions<'a>,
}

impl<'a> ClifVersion<'a> {
    fn new(rules: &'a ClifOptimiser, file: &'a File) -> Self {
        let imported: Vec<_> = (0..file.functions.len()).map(|index| rules.import(file, index)).collect();
        let mut callees = Functions::new(&rules.optimiser.program().universe);
        // Of several functions of one name, it is unknown which one is called.
        let names: Vec<String> = file.functions.iter().map(|function| function.name()).collect();
        let counts = counted(&names);
        for ((one, function), name) in imported.iter().zip(&file.functions).zip(&names) {
            if let (Ok(one), 1) = (one, counts[name.as_str()]) {
                callees.add(one.clone(), &function.func);
            }
        }
        ClifVersion { rules, file, imported, callees }
    }

    /// Asks something of a function and another one, else why they are not comparable.
    fn with<T>(
        &self,
        i: usize,
        (other, j): (&ClifVersion<'_>, usize),
        ask: impl FnOnce(FunctionVersion<'_>, FunctionVersion<'_>) -> T,
    ) -> std::result::Result<T, String> {
        let [was, is] = [&self.file.functions[i].func, &other.file.functions[j].func];
        if was.signature != is.signature {
            return Err(format!("its signature was {}, and is {}", was.signature, is.signature));
        }
        let not_read = |which: Side, reason: &OutOfScope| Err(format!("the {which} version: {reason}"));
        match (&self.imported[i], &other.imported[j]) {
            (Err(reason), _) => not_read(Side::First, reason),
            (_, Err(reason)) => not_read(Side::Second, reason),
            (Ok(one), Ok(two)) => Ok(self.version(one, i, |before| other.version(two, j, |after| ask(before, after)))),
        }
    }

    fn version<T>(&self, imported: &Imported, index: usize, then: impl FnOnce(FunctionVersion<'_>) -> T) -> T {
        let original = &self.file.functions[index].func;
        let Imported { function, payloads } = imported;
        let subject = Subject { function, payloads, original };
        let opaque = |payload: PayloadId| describe(original, payloads, payload);
        let run = |arguments: &[i64], memory: &mut Memory, nan: fn(Scalar) -> i64, fuel: u64| {
            self.callees.run(subject, arguments, memory, nan, fuel)
        };
        let universe = &self.rules.optimiser.program().universe;
        then(FunctionVersion { function, universe, opaque: &opaque, trap_code, run: &run })
    }
}

fn own<T>(
    program: Program,
    versions: [&Text; 2],
    config: &Config,
    (ask, nothing): Asked<'_, T>,
) -> Result<Vec<(usize, String, T)>> {
    let read = |text: &Text| {
        ModuleOptimiser::read(program.clone(), text.bytes.clone()).map_err(|error| mistakes(&text.name, error))
    };
    let [before, after] = [read(versions[0])?, read(versions[1])?];
    // Versions for more specific types, which stand behind them, are not of the text.
    let names = [&before, &after].map(|version| {
        let functions = version.module.functions.iter().enumerate();
        let written = functions.filter(|(index, _)| !version.module.versions.contains_key(index));
        written.map(|(_, f)| f.name.clone()).collect()
    });
    let both = |i: usize, j: usize| {
        let (was, is) = (&before.module.functions[i], &after.module.functions[j]);
        own_version(&before, was, |before| own_version(&after, is, |after| ask(&was.name, before, after)))
    };
    by_name(names, config, both, nothing)
}

fn own_version<T>(module: &ModuleOptimiser, function: &Function, then: impl FnOnce(FunctionVersion<'_>) -> T) -> T {
    let opaque = |payload: PayloadId| format!("payload {}", payload.0);
    let run = |arguments: &[i64], memory: &mut Memory, nan: fn(Scalar) -> i64, fuel: u64| {
        let mut outside = Outside { nan };
        let mut host = Callees::new(module.universe(), &module.module, &mut outside, fuel);
        interp::run(function, module.universe(), arguments, memory, &mut host, fuel)
    };
    then(FunctionVersion { function, universe: module.universe(), opaque: &opaque, trap_code, run: &run })
}

/// Nothing but trap codes and NaNs.
struct Outside {
    nan: fn(Scalar) -> i64,
}

impl Host for Outside {
    fn trap_code(&self, name: &str) -> u32 {
        trap_code(name)
    }

    fn nan(&self, scalar: Scalar) -> i64 {
        (self.nan)(scalar)
    }
}
