//! `--shard` of `validate`: files are divided, or the functions of one file.

use super::compare::Comparer;
use super::files::{Files, Pair};
use super::report::Report;
use super::{Args, Second};
use crate::language::Language;
use crate::shard::{Run, Sharding};
use crate::{Finding, out, sources};
use anyhow::{Error, Result};
use rewright_dsl::diagnostic::count;
use rewright_dsl::program::Program;
use rewright_equiv::Part;
use rewright_files::cache::Key;
use rewright_wrap::rules::Ready;
use serde_json::Value;

/// What this process compares of a run.
pub(super) struct Division {
    sharding: Sharding,
    /// All files of the run.
    files: Vec<String>,
    /// Functions of the one file are divided.
    by_function: bool,
    /// What decides the results.
    inputs: Vec<String>,
}

impl Division {
    /// Leaves in the files, or in the functions that are compared, those of this part.
    ///
    /// Functions of one file are compared one by one, except where passes make versions of versions, and in MLIR, where
    /// a verdict depends on those of other functions.
    ///
    /// # Errors
    /// Files that cannot be read.
    pub(super) fn of(args: &Args, second: &Second, files: &mut Files, comparer: &mut Comparer) -> Result<Self> {
        let sharding = args.sharding;
        let names: Vec<String> = all(files).map(|pair| pair.name.clone()).collect();
        let mut division = Division { sharding, files: names, by_function: false, inputs: vec![] };
        let Some(shard) = sharding.shard else { return Ok(division) };
        division.inputs = inputs(args, files, comparer)?;
        let by_pass = matches!(second, Second::Commands(passes) if passes.by_pass());
        match &files.pairs[..] {
            [one] if division.files.len() == 1 && one.language != Language::Mlir && !by_pass => {
                division.by_function = true;
                comparer.config.part = Some(Part { first: shard.k - 1, step: shard.n });
            }
            _ => {
                let mut item = 0..;
                let mut is_own = |_: &mut Pair| item.next().is_some_and(|item| shard.has(item));
                files.pairs.retain_mut(&mut is_own);
                files.only.iter_mut().for_each(|only| only.retain_mut(&mut is_own));
                sharding.say(all(files).count(), division.files.len(), "file");
            }
        }
        Ok(division)
    }

    /// Is this a part only?
    pub(super) fn is_part(&self) -> bool {
        self.sharding.shard.is_some()
    }

    /// Says how many functions this part has, where they are divided.
    pub(super) fn say(&self, report: &Report) {
        if let Some(shard) = self.sharding.shard.filter(|_| self.by_function) {
            let own = count(report.functions(), "function");
            out::note(&format!("note: part {shard}: {own} of {}", self.files.join(", ")));
        }
    }

    /// The report for programs.
    pub(super) fn document(&self, report: &Report, comparer: &Comparer, found: &Result<Finding>) -> Value {
        let own = Program::default();
        let program = comparer.program.as_ref().or(comparer.rules.as_ref().map(program)).unwrap_or(&own);
        let run = Run {
            command: "validate",
            program,
            inputs: self.inputs.clone(),
            settings: &["schema"],
            item: &|list, index, entry| self.item(report, list, index, entry),
            error: found.as_ref().err().map(Error::to_string),
        };
        let (is_found, mut json) = (matches!(found, Ok(Finding::Found)), report.json());
        if self.by_function && comparer.config.part.is_some_and(|part| part.first > 0) {
            // Each part has it; the first one counts it.
            json["files"]["compared"] = 0.into();
        }
        self.sharding.document(json, &run, is_found)
    }

    /// The number of the file or function that an entry of a list tells of.
    fn item(&self, report: &Report, list: &str, index: usize, entry: &Value) -> Option<usize> {
        let file = |name: &str| self.files.iter().position(|file| file == name);
        let function = |index: usize, file_name: &str| match self.by_function {
            true => report.positions().nth(index),
            false => file(file_name),
        };
        match (list, entry) {
            ("functions", entry) => function(index, entry["file"].as_str()?),
            ("assumptions", Value::String(assumption)) => {
                let (at, file) = report.first_with(assumption)?;
                function(at, file)
            }
            (_, Value::String(name)) => file(name),
            (_, entry) => file(entry["file"].as_str()?),
        }
    }
}

fn program(rules: &Ready) -> &Program {
    rules.optimiser.optimiser.program()
}

fn all(files: &Files) -> impl Iterator<Item = &Pair> {
    files.pairs.iter().chain(files.only.iter().flatten())
}

/// What decides the results, beside rules.
fn inputs(args: &Args, files: &Files, comparer: &Comparer) -> Result<Vec<String>> {
    let mut inputs = vec![];
    for pair in all(files) {
        let mut bytes = vec![sources::bytes(&pair.before)?];
        bytes.extend(pair.after.as_deref().map(sources::bytes).transpose()?);
        let content = Key::of(1, bytes.iter().map(Vec::as_slice));
        inputs.push(format!("{} {:?} {content}", pair.name, pair.language));
    }
    let costs = comparer.rules.as_ref().map_or(&comparer.options, |rules| &rules.options);
    inputs.push(format!("{:?} {:?} {costs:?}", comparer.config, comparer.nests));
    inputs.push(format!("{:?} {:?} {:?} {}", args.after, args.each, args.require, args.timeout));
    Ok(inputs)
}
