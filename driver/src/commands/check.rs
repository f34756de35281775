//! `rewright check`: parses, types and lints packs, and runs every example. `--fix` makes the fixes that are safe first;
//! `--watch` does it all again whenever a file changes.

mod fix;
mod watch;

use super::findings::{self, Format};
use super::{Finding, out, packs, sources};
use crate::clif::optimise::ClifOptimiser;
use crate::examples;
use anyhow::{Context, Result};
use rewright_dsl::diagnostic::{Diagnostic, Label, Severity};
use rewright_dsl::program::Program;
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// Arguments of `check`.
#[derive(clap::Args)]
pub(super) struct Args {
    /// Packs, or directories of packs
    #[arg(required = true)]
    paths: Vec<PathBuf>,
    /// How to report
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    /// Warnings are findings, too
    #[arg(long)]
    strict: bool,
    /// Run only examples whose title, pack or rules contain this
    #[arg(long, value_name = "TEXT")]
    filter: Option<String>,
    /// Make the fixes that are safe, in the files
    #[arg(long)]
    fix: bool,
    /// Check again whenever one of the files changes
    #[arg(long)]
    watch: bool,
}

impl Args {
    /// Is an example to be run?
    fn asks_for(&self, program: &Program, example: usize) -> bool {
        let Some(text) = &self.filter else { return true };
        let example = &program.examples[example];
        let rules = example.fires.iter().map(|rule| program.rule(*rule).name.as_str());
        [example.title.as_str(), example.pack.as_str()].into_iter().chain(rules).any(|name| name.contains(text))
    }
}

pub(super) fn run(args: Args) -> Result<Finding> {
    if args.watch { watch::watch(&args.paths, || once(&args)) } else { once(&args) }
}

fn once(args: &Args) -> Result<Finding> {
    if args.fix {
        fix::fix(&sources::packs(&args.paths)?)?;
    }
    let roots = sources::packs(&args.paths)?;
    let crate::packs::Packs { program, sources: files, mut diagnostics, roots } = packs::load(&roots)?;
    let sound = diagnostics.iter().all(|d| d.severity != Severity::Error);
    // What is only imported has been checked by its own author.
    let own = |name: &str| roots.iter().any(|r| name.strip_prefix(r).is_some_and(|rest| rest.starts_with('.')));
    let asked = |i: &usize| roots.contains(&program.examples[*i].pack) && args.asks_for(&program, *i);
    let wanted: Vec<usize> = (0..program.examples.len()).filter(asked).collect();
    let (rules, examples) = (program.rules.iter().filter(|r| own(&r.name)).count(), wanted.len());
    let mut failed = 0;
    let mut silent = vec![];
    let mut unknown: Vec<(String, String)> = vec![];
    if sound {
        let clif = ClifOptimiser::new(packs::linked(program)?).context("the rules do not form a program")?;
        let optimiser = &clif.optimiser;
        let program = optimiser.program();
        let declared_here =
            |name: &str| program.universe.ops.iter().any(|(_, op)| op.unique == name && roots.contains(&op.pack));
        unknown.extend(clif.names.unknown.clone().into_iter().filter(|(op, _)| declared_here(op)));
        let mut fired = BTreeSet::new();
        for outcome in examples::run(optimiser, &wanted) {
            fired.extend(outcome.fired.iter().map(|rule| program.rule(*rule).family));
            if let Some(failure) = outcome.failure {
                failed += 1;
                let example = &program.examples[outcome.example];
                diagnostics.push(Diagnostic {
                    code: "RW0601",
                    severity: Severity::Error,
                    message: format!("example {:?} of {} fails", example.title, example.pack),
                    primary: Label { span: example.span, text: failure },
                    secondary: vec![],
                    help: None,
                    fix: None,
                });
            }
        }
        silent = program
            .rules
            .iter()
            .enumerate()
            .filter(|(i, rule)| rule.family.0 as usize == *i && !fired.contains(&rule.family))
            .map(|(_, rule)| rule)
            .filter(|rule| !rule.law && own(&rule.name) && args.filter.is_none())
            .map(|rule| rule.name.clone())
            .collect();
    }
    let mut warnings = diagnostics.iter().filter(|d| d.severity == Severity::Warning).count();
    let errors = diagnostics.len() - warnings;
    warnings += unknown.len();
    match args.format {
        Format::Full | Format::Concise => {
            findings::print(args.format, &files, &diagnostics);
            for (op, spelling) in &unknown {
                out::note(&format!(
                    "warning: {op}: no CLIF instruction is spelled {spelling:?}, or its effects are not those declared; \
                     no function will hold this operation"
                ));
            }
            for rule in &silent {
                out::note(&format!("note: {rule} takes part in no example"));
            }
            out::result(&format!(
                "{rules} rules, {examples} examples: {} passed, {failed} failed; {errors} errors, {warnings} warnings, {} rules in no example\n",
                if sound { examples - failed } else { 0 },
                silent.len()
            ));
        }
        Format::Json => {
            let list = rewright_dsl::diagnostic::to_json(&diagnostics, &files);
            let report = json!({
                "rules": rules,
                "examples": { "total": examples, "run": if sound { examples } else { 0 }, "failed": failed },
                "rules_in_no_example": silent,
                "unknown_clif_names": unknown.iter().cloned().collect::<BTreeMap<_, _>>(),
                "diagnostics": list,
            });
            out::result(&format!("{report:#}\n"));
        }
        Format::Sarif | Format::Github | Format::Junit => findings::print(args.format, &files, &diagnostics),
    }
    let clean = errors == 0 && (!args.strict || warnings == 0);
    Ok(if clean { Finding::Clean } else { Finding::Found })
}
