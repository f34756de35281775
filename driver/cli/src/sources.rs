//! Finding and reading the files that a command was given.

use super::language::Language;
use anyhow::{Context, Result, bail};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

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
        anyhow::anyhow!(
            "{} is not text: byte {} is not UTF-8; save it as UTF-8",
            path.display(),
            e.utf8_error().valid_up_to()
        )
    })
}

/// Is this how a command line names standard input and standard output?
pub(super) fn is_dash(path: &Path) -> bool {
    path == Path::new("-")
}

/// The first `-` among paths that a command writes to is an error: standard input is no file.
pub(super) fn refuse_dash(paths: &[PathBuf], option: &str) -> Result<()> {
    match paths.iter().any(|path| is_dash(path)) {
        true => bail!("{option} needs files; `-` is standard input"),
        false => Ok(()),
    }
}

/// The path for a reader that opens files by itself: for `-` the device that is standard input.
pub(super) fn openable(path: &Path) -> &Path {
    if is_dash(path) { Path::new("/dev/stdin") } else { path }
}

/// The bytes of a file, or of standard input, which is read once however often a command asks for it.
pub(super) fn bytes(path: &Path) -> Result<Vec<u8>> {
    if is_dash(path) {
        return standard_input();
    }
    std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))
}

fn standard_input() -> Result<Vec<u8>> {
    static READ: Mutex<Option<Vec<u8>>> = Mutex::new(None);
    let mut read = READ.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(bytes) = &*read {
        return Ok(bytes.clone());
    }
    let mut bytes = vec![];
    std::io::stdin().lock().read_to_end(&mut bytes).context("cannot read standard input")?;
    *read = Some(bytes.clone());
    Ok(bytes)
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
