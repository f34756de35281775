//! `rewright check`: parses, types and lints packs, and runs every example. `--fix` makes the fixes that are safe
//! first; `--watch` does it all again whenever a file changes.

mod fix;
mod in_c;

use super::findings::{self, Format};
use super::{Finding, examples, out, packs, project, sources, watch};
use anyhow::Result;
use rewright_dsl::diagnostic::Severity;
use rewright_dsl::diagnostic::count;
use serde_json::json;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Arguments of `check`.
#[derive(clap::Args)]
pub(super) struct Args {
    /// Packs, or directories of packs; `-` is standard input [default: those of `rewright.toml`]
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
    #[command(flatten)]
    calls: packs::Calls,
    /// Check again whenever one of the files changes
    #[arg(long)]
    watch: bool,
}

pub(super) fn run(args: Args) -> Result<Finding> {
    let args = Args { paths: project::packs(args.paths)?, ..args };
    if args.watch {
        sources::refuse_dash(&args.paths, "--watch")?;
    }
    if args.watch { watch::watch(&args.paths, || once(&args)) } else { once(&args) }
}

fn once(args: &Args) -> Result<Finding> {
    if args.fix {
        sources::refuse_dash(&args.paths, "--fix")?;
        fix::fix(&sources::packs(&args.paths)?)?;
    }
    let paths = sources::packs(&args.paths)?;
    let rewright_packs::Packs { program, sources: files, mut diagnostics, roots } = packs::load(&paths)?;
    let sound = diagnostics.iter().all(|d| d.severity != Severity::Error);
    let wanted = examples::wanted(&program, &roots, args.filter.as_deref());
    let rules = examples::counted(program.rules.iter().filter(|rule| examples::is_of(&roots, &rule.name)));
    let (mut failed, mut not_run, mut silent) = (0, 0, vec![]);
    let (mut unknown, mut unknown_in_llvm) = (vec![], vec![]);
    if sound {
        let spinner = out::spinner("examples");
        let ran = examples::run(program, &wanted, &paths, &args.calls)?;
        diagnostics.extend(in_c::findings(&ran));
        spinner.finish_and_clear();
        let universe = &ran.clif.optimiser.program().universe;
        let declared_here =
            |name: &str| universe.ops.iter().any(|(_, op)| op.unique == name && roots.contains(&op.pack));
        unknown.extend(ran.clif.names.unknown.clone().into_iter().filter(|(op, _)| declared_here(op)));
        let of_llvm = rewright_llvm::names::Names::new(&mut ran.clif.optimiser.program().universe.clone()).unknown;
        unknown_in_llvm.extend(of_llvm.into_iter().filter(|(op, _)| declared_here(op)));
        if args.filter.is_none() {
            silent = ran.silent(&roots);
        }
        (failed, not_run) = (ran.failed.len(), ran.not_run.len());
        diagnostics.extend(ran.failed.into_iter().chain(ran.not_run));
    }
    let examples = wanted.len();
    let mut warnings = diagnostics.iter().filter(|d| d.severity == Severity::Warning).count();
    let errors = diagnostics.len() - warnings;
    warnings += unknown.len() + unknown_in_llvm.len();
    match args.format {
        Format::Full | Format::Concise => {
            findings::print(args.format, &files, &diagnostics);
            for (op, spelling) in &unknown {
                out::note(&format!(
                    "warning: {op}: no CLIF instruction is spelled {spelling:?}, or its effects are not those \
                     declared; \
                     no function will hold this operation"
                ));
            }
            for (op, spelling) in &unknown_in_llvm {
                out::note(&format!(
                    "warning: {op}: LLVM has no instruction or intrinsic that is spelled {spelling:?}; the C function of \
                     that name is \"@{spelling}\""
                ));
            }
            for rule in &silent {
                out::note(&format!("note: {rule} takes part in no example"));
            }
            out::result(&format!(
                "{}, {}: {} passed, {failed} failed{}; {}, {}, {} in no example\n",
                rules,
                count(examples, "example"),
                if sound { examples - failed - not_run } else { 0 },
                examples::not_run(not_run),
                count(errors, "error"),
                count(warnings, "warning"),
                count(silent.len(), "rule")
            ));
        }
        Format::Json => {
            let list = rewright_dsl::diagnostic::to_json(&diagnostics, &files);
            let report = json!({
                "rules": rules.written,
                "examples": { "total": examples, "run": if sound { examples - not_run } else { 0 }, "failed": failed },
                "rules_in_no_example": silent,
                "unknown_clif_names": unknown.iter().cloned().collect::<BTreeMap<_, _>>(),
                "unknown_llvm_names": unknown_in_llvm.iter().cloned().collect::<BTreeMap<_, _>>(),
                "diagnostics": list,
            });
            out::result(&format!("{report:#}\n"));
        }
        Format::Sarif | Format::Github | Format::Junit => findings::print(args.format, &files, &diagnostics),
    }
    let clean = errors == 0 && (!args.strict || warnings == 0);
    Ok(if clean { Finding::Clean } else { Finding::Found })
}
