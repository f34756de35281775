//! Finding and reading the files that a command was given.

use super::language::Language;
use super::packs;
use anyhow::{Context, Result, bail};
use rewright_dsl::diagnostic::{Diagnostic, Sources};
use std::path::{Path, PathBuf};

/// Every `.rw` file in the given files and directories, sorted within each directory.
pub(super) fn packs(paths: &[PathBuf]) -> Result<Vec<PathBuf>> {
    with_extension(paths, "rw")
}

/// Is a file, by the name that messages give it, one of these? A pack that ships may have the name of a file that is
/// not.
pub(super) fn is_one_of(paths: &[PathBuf], name: &str) -> bool {
    let Ok(file) = std::fs::canonicalize(name) else { return false };
    paths.iter().any(|path| std::fs::canonicalize(path).is_ok_and(|path| path == file))
}

/// Every `.clif` file in the given files and directories, sorted within each directory.
pub(super) fn clif_files(paths: &[PathBuf]) -> Result<Vec<PathBuf>> {
    with_extension(paths, Language::Clif.extension())
}

/// Every `.json` file in the given files and directories, sorted within each directory.
pub(super) fn egraphs(paths: &[PathBuf]) -> Result<Vec<PathBuf>> {
    with_extension(paths, "json")
}

/// Every `.ll` file in the given files and directories, sorted within each directory.
pub(super) fn llvm_files(paths: &[PathBuf]) -> Result<Vec<PathBuf>> {
    with_extension(paths, Language::Llvm.extension())
}

/// Every `.isle` file in the given files and directories, sorted within each directory.
pub(super) fn isle_files(paths: &[PathBuf]) -> Result<Vec<PathBuf>> {
    with_extension(paths, "isle")
}

fn with_extension(paths: &[PathBuf], extension: &str) -> Result<Vec<PathBuf>> {
    let mut found = vec![];
    for path in paths {
        if path.is_dir() {
            let mut inside = vec![];
            for entry in ignore::WalkBuilder::new(path).standard_filters(false).build() {
                let entry = entry.with_context(|| format!("cannot list {}", path.display()))?;
                if entry.path().extension().is_some_and(|e| e == extension) && entry.path().is_file() {
                    inside.push(entry.into_path());
                }
            }
            if inside.is_empty() {
                bail!("{} holds no .{extension} file", path.display());
            }
            inside.sort();
            found.extend(inside);
        } else {
            found.push(path.clone());
        }
    }
    Ok(found)
}

/// The text of a file. Bytes that are not UTF-8 are an error that says so.
pub(super) fn read(path: &Path) -> Result<String> {
    String::from_utf8(bytes(path)?).map_err(|e| {
        anyhow::anyhow!("{} is not text: byte {} is not UTF-8", path.display(), e.utf8_error().valid_up_to())
    })
}

/// The bytes of a file.
pub(super) fn bytes(path: &Path) -> Result<Vec<u8>> {
    std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))
}

/// The index of the function with a name, given with or without its sigil.
pub(super) fn function(path: &Path, functions: impl Iterator<Item = String>, name: &str) -> Result<usize> {
    let bare = |name: &str| name.trim_start_matches(['%', '@']).to_string();
    let names: Vec<String> = functions.collect();
    let found = names.iter().position(|f| bare(f) == bare(name));
    found.with_context(|| {
        let there = if names.is_empty() { "none".to_string() } else { names.join(", ") };
        format!("{} has no function {name}; it has {there}", path.display())
    })
}

/// Diagnostics of one file, to stderr.
pub(super) fn report_one(path: &Path, text: &str, diagnostics: &[Diagnostic]) {
    let files = Sources { files: vec![(path.display().to_string(), text.to_string())] };
    packs::print(&files, diagnostics);
}
