//! `rewright check`: parses, types and lints packs, and runs every example. `--fix` makes the fixes that are safe
//! first; `--watch` does it all again whenever a file changes.

mod fix;
mod in_c;

use super::findings::{self, Format};
use super::limits::Saturation;
use super::{Finding, examples, out, packs, project, sources, watch};
use anyhow::Result;
use rewright_dsl::diagnostic::{Diagnostic, Label, Severity, count};
use serde_json::json;
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
    #[command(flatten)]
    saturation: Saturation,
    /// Check again whenever one of the files changes
    #[arg(long)]
    watch: bool,
}

pub(super) fn run(args: Args) -> Result<Finding> {
    if args.paths.is_empty() {
        project::check()?;
    }
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
    let imported = (
        files.files.len().saturating_sub(roots.len()),
        examples::counted(program.rules.iter().filter(|rule| !examples::is_of(&roots, &rule.name))),
    );
    let (mut failed, mut not_run, mut silent) = (0, 0, vec![]);
    if sound {
        let spinner = out::spinner("examples");
        let budget = args.saturation.budget();
        let ran = examples::run(program, &wanted, &paths, &args.calls, &budget)?;
        diagnostics.extend(in_c::findings(&ran, &budget));
        spinner.finish_and_clear();
        diagnostics.extend(unknown_instructions(&ran, &roots));
        if args.filter.is_none() {
            silent = ran.silent(&roots);
        }
        (failed, not_run) = (ran.failed.len(), ran.not_run.len());
        diagnostics.extend(ran.failed.into_iter().chain(ran.not_run).chain(ran.cut_short));
    }
    let examples = wanted.len();
    let warnings = diagnostics.iter().filter(|d| d.severity == Severity::Warning).count();
    let errors = diagnostics.len() - warnings;
    match args.format {
        Format::Full | Format::Concise => {
            findings::print(args.format, &files, &diagnostics);
            for rule in &silent {
                out::note(&format!("note: {rule} takes part in no example"));
            }
            // A pack that only gathers others has no rules of its own.
            let gathers = match &imported {
                (packs, of_others) if rules.written == 0 && of_others.written > 0 => {
                    format!(" of its own ({} with {of_others} imported)", count(*packs, "pack"))
                }
                _ => String::new(),
            };
            out::result(&format!(
                "{}{gathers}, {}: {} passed, {failed} failed{}; {}, {}, {} in no example\n",
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
                "imported": { "packs": imported.0, "rules": imported.1.written },
                "examples": { "total": examples, "run": if sound { examples - not_run } else { 0 }, "failed": failed },
                "rules_in_no_example": silent,
                "diagnostics": list,
            });
            out::result(&format!("{report:#}\n"));
        }
        Format::Sarif | Format::Github | Format::Junit => findings::print(args.format, &files, &diagnostics),
    }
    let clean = errors == 0 && (!args.strict || warnings == 0);
    Ok(if clean { Finding::Clean } else { Finding::Found })
}

/// Names of instructions that packs give to operations, and that nothing in the other language has: `RW0518`.
fn unknown_instructions(ran: &examples::Ran, roots: &[String]) -> Vec<Diagnostic> {
    let program = ran.clif.optimiser.program();
    let of_llvm = rewright_llvm::names::Names::new(&mut program.universe.clone()).unknown;
    let of_llvm = of_llvm.into_iter().map(|(op, spelling)| {
        let help = format!("a function of C has an `@` before its name: `@llvm(\"@{spelling}\")`");
        (op, spelling, "LLVM", help)
    });
    let of_clif = ran.clif.names.unknown.iter().map(|(op, spelling)| {
        let help = "an instruction of that name may have other effects than those declared".to_string();
        (*op, spelling.clone(), "Cranelift IR", help)
    });
    let found = of_clif.chain(of_llvm).filter_map(|(op, spelling, language, help)| {
        let is_own = roots.contains(&program.universe.ops.get(op).pack);
        let span = *program.declared.get(op.0 as usize).filter(|_| is_own)?;
        Some(Diagnostic {
            code: "RW0518",
            severity: Severity::Warning,
            message: format!("`{spelling}` is the name of no instruction of {language}"),
            primary: Label { span, text: "no function will hold this operation".into() },
            secondary: vec![],
            help: Some(help),
            fix: None,
        })
    });
    found.collect()
}
