//! `rewright allow`: permissions for packs to call functions of libraries, given, shown, and taken away.

use super::{Finding, Format, out, packs, project, sources};
use anyhow::{Context, Result, bail};
use rewright_native::permission::grants::{Grant, Grants};
use rewright_native::permission::identity;
use rewright_project::FILE;
use serde_json::json;
use std::collections::BTreeSet;
use std::path::PathBuf;

/// Arguments of `allow`.
#[derive(clap::Args)]
pub(super) struct Args {
    /// Packs, or directories of packs; without any, permissions are shown
    paths: Vec<PathBuf>,
    /// The packs of the project around the working directory; its `links` must list what they name
    #[arg(long, conflicts_with = "paths")]
    project: bool,
    /// Take their permissions away
    #[arg(long)]
    revoke: bool,
    /// How to report
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

pub(super) fn run(args: Args) -> Result<Finding> {
    let mut grants = Grants::load()?;
    let links = if args.project { Some(links()?) } else { None };
    let paths = if args.project { project::packs(args.paths)? } else { args.paths };
    if paths.is_empty() {
        if args.revoke {
            bail!("`--revoke` wants packs, or `--project`");
        }
        let lines: Vec<String> = grants.grants.iter().map(line).collect();
        let listed = grants.grants.iter().map(|grant| json!({ "pack": grant.pack, "libraries": grant.libraries }));
        out::result(&match args.format {
            Format::Json => format!("{:#}\n", json!(listed.collect::<Vec<_>>())),
            Format::Text if lines.is_empty() => "no pack has a permission\n".to_string(),
            Format::Text => lines.concat(),
        });
        return Ok(Finding::Clean);
    }
    sources::refuse_dash(&paths, "a permission")?;
    let paths = sources::packs(&paths)?;
    // It is unknown which functions a pack with mistakes would call.
    if !args.revoke && packs::sound(&paths)?.is_none() {
        return Ok(Finding::Found);
    }
    let (mut text, mut listed) = (String::new(), vec![]);
    for path in &paths {
        let (shown, root) = (path.display(), rewright_packs::root(path)?);
        text += &if args.revoke {
            let had = grants.take(&root)?;
            listed.push(json!({ "pack": path, "libraries": [] }));
            format!("{shown}: {}\n", if had { "may call nothing any more" } else { "had no permission" })
        } else {
            let libraries: Vec<String> = grants.give(&root)?.into_iter().collect();
            let is_listed = |library: &&String| links.as_ref().is_none_or(|links| links.contains(*library));
            if let Some(library) = libraries.iter().find(|library| !is_listed(library)) {
                bail!("{shown} names {library}, which {FILE} does not list in `links`: nothing is allowed");
            }
            listed.push(json!({ "pack": path, "libraries": libraries }));
            match libraries.as_slice() {
                [] => format!("{shown}: names no library that needs a permission\n"),
                libraries => format!("{shown}: may call functions of {}\n", libraries.join(", ")),
            }
        };
    }
    let file = grants.save()?;
    out::result(&match args.format {
        Format::Json => format!("{:#}\n", json!(listed)),
        Format::Text => text,
    });
    out::note(&format!("note: written to {}", file.display()));
    Ok(Finding::Clean)
}

/// The libraries that the project lists, by what permissions know them by.
fn links() -> Result<BTreeSet<String>> {
    let project = project::here()?.with_context(|| format!("there is no {FILE} here or above"))?;
    let known = |link: &PathBuf| {
        let name = link.to_str().with_context(|| format!("{} is not UTF-8", link.display()))?;
        identity(name).with_context(|| format!("{} lists {name}, which is not there", project.file().display()))
    };
    project.links().iter().map(known).collect()
}

fn line(Grant { pack, libraries, .. }: &Grant) -> String {
    let libraries: Vec<&str> = libraries.iter().map(String::as_str).collect();
    format!("{}: may call functions of {}\n", pack.display(), libraries.join(", "))
}
