//! `rewright fmt`: formats rule packs in place, or says which are not formatted.

use super::{Finding, out, sources};
use anyhow::Result;
use rewright_files as files;
use std::path::PathBuf;

/// Arguments of `fmt`.
#[derive(clap::Args)]
pub(super) struct Args {
    /// Packs, or directories of packs
    #[arg(required = true)]
    paths: Vec<PathBuf>,
    /// Change nothing; exit 1 and name the files that are not formatted
    #[arg(long)]
    check: bool,
}

pub(super) fn run(args: Args) -> Result<Finding> {
    let mut finding = Finding::Clean;
    for path in sources::packs(&args.paths)? {
        let text = sources::read(&path)?;
        match rewright_dsl::fmt::format(&text) {
            Ok(formatted) if formatted == text => {}
            Ok(_) if args.check => {
                finding = Finding::Found;
                out::result(&format!("{}\n", path.display()));
            }
            Ok(formatted) => files::write(&path, formatted)?,
            Err(diagnostics) => {
                finding = Finding::Found;
                sources::report_one(&path, &text, &diagnostics);
            }
        }
    }
    Ok(finding)
}
