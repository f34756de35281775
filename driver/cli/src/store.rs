//! The store that machines share, as a command line, the environment or the project names it.

use super::{out, project};
use anyhow::{Context, Result};
use rewright_files::cache::Cache;
use rewright_files::store::Shared;
use std::path::PathBuf;

/// Names the store.
pub(super) const VARIABLE: &str = "REWRIGHT_CACHE_STORE";

/// The option.
#[derive(clap::Args, Clone)]
pub(super) struct Stored {
    /// Look for results in a store that machines share, too, and keep them there: a folder by its whole path, or, in
    /// builds with `remote-cache`, `redis://host:6379` or `s3://bucket/path` [default: `REWRIGHT_CACHE_STORE`; in builds,
    /// `store` of `[cache]` in `rewright.toml`]
    #[arg(long, value_name = "ADDRESS", conflicts_with = "no_cache")]
    cache_store: Option<String>,
}

impl Stored {
    /// As a command line names it.
    pub(super) fn named(&self) -> Option<&str> {
        self.cache_store.as_deref()
    }
}

/// The address that the user names: on the command line, or in the environment.
pub(super) fn of_user(named: Option<&str>) -> Option<String> {
    let variable = std::env::var(VARIABLE).ok().filter(|address| !address.is_empty());
    named.map(String::from).or(variable)
}

/// The address for a build: the user's, or the project's, whose code runs in a build anyway. Where a project is
/// judged, its own store has no say.
pub(super) fn of_build(named: Option<&str>) -> Result<Option<String>> {
    if let Some(address) = of_user(named) {
        return Ok(Some(address));
    }
    Ok(project::here()?.and_then(|project| project.manifest.cache.store))
}

/// Says that the store of this address is a folder that is not there yet: a slip in its name would make a second one.
pub(super) fn say_missing(address: &str) {
    if let Some(folder) = rewright_store::missing_folder(address) {
        out::note(&format!("note: there is no folder {} yet; it is made for the store", folder.display()));
    }
}

/// A cache with the store of this address behind it, if there is one. Processes with the same marker do not ask a store that has
/// failed once.
pub(super) fn behind(cache: Cache, address: Option<String>, kind: &str, marker: Option<PathBuf>) -> Result<Cache> {
    let Some(address) = address else { return Ok(cache) };
    let store = rewright_store::open(&address).context("no store for results")?;
    out::detail(|| format!("store: {address}"));
    Ok(cache.with_store(Shared::new(store, kind, marker)))
}
