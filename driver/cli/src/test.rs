//! `rewright test`: runs the examples of packs. What fails is told with the match that made it so and the rules that
//! come nearest; `--update` writes what holds into the packs; rules that take part in no example are listed.
//!
//! Not here: lints, which are `check`'s. Packs with mistakes are not run.

mod update;

use super::findings::{self, Format};
use super::limits::Saturation;
use super::{Finding, examples, out, packs, project, sources, watch};
use anyhow::Result;
use rewright_dsl::diagnostic::count;
use rewright_dsl::diagnostic::{Diagnostic, to_json};
use rewright_packs::Packs;
use serde_json::{Map, json};
use std::path::PathBuf;

/// Arguments of `test`.
#[derive(clap::Args)]
pub(super) struct Args {
    /// Packs, or directories of packs; `-` is standard input [default: those of `rewright.toml`]
    paths: Vec<PathBuf>,
    /// Run only examples whose title, pack or rules contain this
    #[arg(long, value_name = "TEXT")]
    filter: Option<String>,
    /// Write what holds into examples that fail: what a term becomes, which rules fire. What cannot be run stays
    #[arg(short = 'U', long)]
    update: bool,
    /// How to report
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    #[command(flatten)]
    calls: packs::Calls,
    #[command(flatten)]
    saturation: Saturation,
    /// Test again whenever one of the files changes
    #[arg(long, conflicts_with = "update")]
    watch: bool,
}

pub(super) fn run(args: Args) -> Result<Finding> {
    let args = Args { paths: project::packs(args.paths)?, ..args };
    if args.update {
        sources::refuse_dash(&args.paths, "--update")?;
        update::update(&sources::packs(&args.paths)?, args.filter.as_deref(), &args.calls, &args.saturation.budget())?;
    }
    if args.watch {
        sources::refuse_dash(&args.paths, "--watch")?;
    }
    if args.watch { watch::watch(&args.paths, || once(&args)) } else { once(&args) }
}

fn once(args: &Args) -> Result<Finding> {
    let paths = sources::packs(&args.paths)?;
    let Some(Packs { program, sources: files, roots, .. }) = packs::sound(&paths)? else {
        return Ok(Finding::Found);
    };
    let wanted = examples::wanted(&program, &roots, args.filter.as_deref());
    let spinner = out::spinner("examples");
    let ran = examples::run(program, &wanted, &paths, &args.calls, &args.saturation.budget())?;
    spinner.finish_and_clear();
    // Of some examples nothing follows for rules.
    let coverage = if args.filter.is_none() { ran.coverage(&roots) } else { vec![] };
    let silent: Vec<&str> = coverage.iter().filter(|(_, examples)| *examples == 0).map(|(rule, _)| *rule).collect();
    let (total, failed, not_run) = (ran.total, ran.failed.len(), ran.not_run.len());
    let found: Vec<Diagnostic> = ran.failed.iter().chain(&ran.not_run).chain(&ran.cut_short).cloned().collect();
    match args.format {
        Format::Full | Format::Concise => {
            findings::print(args.format, &files, &found);
            silent.iter().for_each(|rule| out::note(&format!("note: {rule} takes part in no example")));
            let covered = match coverage.len() {
                0 => String::new(),
                rules => format!("; {} of {rules} rules take part", rules - silent.len()),
            };
            out::result(&format!(
                "{}: {} passed, {failed} failed{}{covered}\n",
                count(total, "example"),
                total - failed - not_run,
                examples::not_run(not_run)
            ));
        }
        Format::Json => {
            let rules = coverage.iter().map(|(rule, examples)| ((*rule).to_string(), json!(examples)));
            let report = json!({
                "examples": { "total": total, "failed": failed, "not_run": not_run },
                "rules": rules.collect::<Map<_, _>>(),
                "rules_in_no_example": silent,
                "diagnostics": to_json(&found, &files),
            });
            out::result(&format!("{report:#}\n"));
        }
        Format::Sarif | Format::Github | Format::Junit => findings::print(args.format, &files, &found),
    }
    Ok(if found.is_empty() { Finding::Clean } else { Finding::Found })
}
