//! Verdicts of earlier runs: a rule is asked about again only if it, a meaning that it uses, an option or the solver has
//! changed. One file per rule.

use crate::cache::write_whole;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::path::{Path, PathBuf};

/// What the content of files means; goes up whenever verdicts may change for another reason than the rule's.
const VERSION: u32 = 6;

pub(super) use crate::cache::Key;

/// The key of everything that the verdict of a rule depends on.
pub(super) fn key<'a>(parts: impl IntoIterator<Item = &'a str>) -> Key {
    Key::of(VERSION, parts.into_iter().map(str::as_bytes))
}

/// The folder where verdicts are kept if none is named.
pub fn default_folder() -> Option<PathBuf> {
    crate::cache::default_folder("verify")
}

fn file(folder: &Path, key: Key) -> PathBuf {
    folder.join(format!("{key}.json"))
}

/// What was found of a rule, if an earlier run has kept it.
pub(super) fn find<T: DeserializeOwned>(folder: &Path, key: Key) -> Option<T> {
    serde_json::from_slice(&std::fs::read(file(folder, key)).ok()?).ok()
}

/// Keeps what was found of a rule. Whoever comes at the same time writes the same.
///
/// # Errors
/// When the folder cannot be written to.
pub(super) fn keep<T: Serialize + ?Sized>(folder: &Path, key: Key, found: &T) -> std::io::Result<()> {
    std::fs::create_dir_all(folder)?;
    let text = serde_json::to_vec(found).map_err(std::io::Error::other)?;
    write_whole(&file(folder, key), &text)
}
