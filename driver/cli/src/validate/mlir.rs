//! `rewright validate a.mlir b.mlir`: two MLIR files, compared without rules.

use crate::language::Language;
use crate::{Finding, Format, out, sources};
use anyhow::{Result, anyhow};
use rewright_mlir::{Options, validate};
use std::path::{Path, PathBuf};

/// The two files, where all that are named are MLIR; `None` where none is.
pub(super) fn pair<'a>(paths: &'a [PathBuf], with: Option<&'a Path>) -> Result<Option<(&'a Path, &'a Path)>> {
    let named: Vec<&Path> = paths.iter().map(PathBuf::as_path).chain(with).collect();
    let is_mlir = |path: &&Path| Language::of(path) == Language::Mlir;
    match named.as_slice() {
        [before, after] if named.iter().all(is_mlir) => Ok(Some((before, after))),
        _ if named.iter().any(is_mlir) => {
            Err(anyhow!("MLIR is compared file by file: name two files that end in `.mlir`, the earlier version first"))
        }
        _ => Ok(None),
    }
}

/// Compares the files; a refuted function is a finding.
pub(super) fn run(before: &Path, after: &Path, format: Format) -> Result<Finding> {
    let report = validate(&sources::read(before)?, &sources::read(after)?, &Options::default());
    out::result(&match format {
        Format::Json => format!("{}\n", serde_json::to_string_pretty(&report)?),
        Format::Text => report.to_string(),
    });
    if report.functions.is_empty() {
        return Err(anyhow!("neither file has a function with a body"));
    }
    super::finding(&report.functions)
}
