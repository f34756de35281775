//! Verdicts of earlier runs: a rule is asked about again only if it, a meaning that it uses, an option or the solver
//! has changed.

pub(super) use rewright_files::cache::Key;
use rewright_files::cache::{self, Cache};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::path::PathBuf;

/// What the content of files means; goes up whenever verdicts may change for another reason than the rule's.
const VERSION: u32 = 9;

/// Bytes of verdicts that are kept; those of all packs that ship take a few megabytes.
const LIMIT: u64 = 256 << 20;

/// The key of everything that the verdict of a rule depends on.
pub(super) fn key<'a>(parts: impl IntoIterator<Item = &'a str>) -> Key {
    Key::of(VERSION, parts.into_iter().map(str::as_bytes))
}

/// Verdicts that are kept in this folder; if none is named, where all kinds of results are.
pub fn verdicts(folder: Option<PathBuf>) -> Option<Cache> {
    let folder = folder.or_else(|| cache::default_folder("verify"))?;
    Some(Cache::new(folder, LIMIT))
}

/// What was found of a rule, if an earlier run has kept it.
pub(super) fn find<T: DeserializeOwned>(cache: &Cache, key: Key) -> Option<T> {
    serde_json::from_slice(&cache.find(key)?.content).ok()
}

/// The same of what no other machine knows.
pub(super) fn find_here<T: DeserializeOwned>(cache: &Cache, key: Key) -> Option<T> {
    serde_json::from_slice(&cache.find_here(key)?).ok()
}

/// Keeps what was found of a rule on this machine alone.
pub(super) fn keep_here<T: Serialize + ?Sized>(cache: &Cache, key: Key, found: &T) {
    if let Ok(text) = serde_json::to_vec(found) {
        cache.keep_here(key, &text);
    }
}

/// Keeps what was found of a rule.
pub(super) fn keep<T: Serialize + ?Sized>(cache: &Cache, key: Key, found: &T) {
    if let Ok(text) = serde_json::to_vec(found) {
        cache.keep(key, &text);
    }
}
