//! `rewright allow`: permissions for packs to call functions of libraries, given, shown, and taken away.

use super::{Finding, Format, out, packs, sources};
use anyhow::Result;
use rewright_native::permission::grants::{Grant, Grants};
use serde_json::json;
use std::path::PathBuf;

/// Arguments of `allow`.
#[derive(clap::Args)]
pub(super) struct Args {
    /// Packs, or directories of packs; without any, permissions are shown
    paths: Vec<PathBuf>,
    /// Take their permissions away
    #[arg(long, requires = "paths")]
    revoke: bool,
    /// How to report
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

pub(super) fn run(args: Args) -> Result<Finding> {
    let mut grants = Grants::load()?;
    if args.paths.is_empty() {
        let lines: Vec<String> = grants.grants.iter().map(line).collect();
        let listed = grants.grants.iter().map(|grant| json!({ "pack": grant.pack, "libraries": grant.libraries }));
        out::result(&match args.format {
            Format::Json => format!("{:#}\n", json!(listed.collect::<Vec<_>>())),
            Format::Text if lines.is_empty() => "no pack has a permission\n".to_string(),
            Format::Text => lines.concat(),
        });
        return Ok(Finding::Clean);
    }
    sources::refuse_dash(&args.paths, "a permission")?;
    let paths = sources::packs(&args.paths)?;
    // Of a pack with mistakes nobody knows what it would call.
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

fn line(Grant { pack, libraries, .. }: &Grant) -> String {
    let libraries: Vec<&str> = libraries.iter().map(String::as_str).collect();
    format!("{}: may call functions of {}\n", pack.display(), libraries.join(", "))
}
