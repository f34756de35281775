//! `rewright fetch`: the dependencies of the project from their git repositories. No other command uses the network.

use super::{Finding, Format, out, project};
use anyhow::{Context, Result};
use rewright_project::fetch::{Fetched, fetch};
use rewright_project::manifest::Source;
use rewright_project::{FILE, lock};
use serde_json::json;

/// Arguments of `fetch`.
#[derive(clap::Args)]
pub(super) struct Args {
    /// Look tags and branches up again, and write what they are now into `rewright.lock`
    #[arg(long)]
    renew: bool,
    /// How to report
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

pub(super) fn run(args: Args) -> Result<Finding> {
    let project = project::here()?.with_context(|| format!("there is no {FILE} here or above"))?;
    project.check_folders()?;
    let spinner = out::spinner("fetching");
    let fetched = fetch(&project, args.renew);
    spinner.finish_and_clear();
    let fetched = fetched?;
    out::result(&match args.format {
        Format::Json => format!("{:#}\n", json!(fetched.iter().map(document).collect::<Vec<_>>())),
        Format::Text if fetched.is_empty() => {
            let folders = project.manifest.dependencies.values().filter(|s| matches!(s, Source::Path { .. })).count();
            match folders {
                0 => format!("{} has no dependencies\n", project.file().display()),
                _ => {
                    format!("all dependencies of {} are folders: there is nothing to fetch\n", project.file().display())
                }
            }
        }
        Format::Text => fetched.iter().map(line).collect(),
    });
    if !fetched.is_empty() {
        out::detail(|| format!("commits are in {}", project.folder.join(lock::FILE).display()));
    }
    Ok(Finding::Clean)
}

fn line(Fetched { locked, before, was_there }: &Fetched) -> String {
    let short = |commit: &str| commit.get(..12).unwrap_or(commit).to_string();
    let change = before.as_deref().map(|before| format!(", {} before", short(before))).unwrap_or_default();
    let how = if *was_there { "was there" } else { "fetched" };
    format!("{}: {} is {}{change} ({how})\n", locked.name, locked.rev, short(&locked.commit))
}

fn document(Fetched { locked, before, was_there }: &Fetched) -> serde_json::Value {
    json!({
        "name": locked.name,
        "git": locked.git,
        "rev": locked.rev,
        "commit": locked.commit,
        "before": before,
        "was_there": was_there,
    })
}
