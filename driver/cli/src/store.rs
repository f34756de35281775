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
    /// builds with `remote-cache`, `redis://host:6379` or `s3://bucket/path` [default: `REWRIGHT_CACHE_STORE`, or
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

/// The address that counts: what a command line says, the environment, the project.
pub(super) fn address(named: Option<&str>) -> Result<Option<String>> {
    let variable = std::env::var(VARIABLE).ok().filter(|address| !address.is_empty());
    if let Some(address) = named.map(String::from).or(variable) {
        return Ok(Some(address));
    }
    Ok(project::here()?.and_then(|project| project.manifest.cache.store))
}

/// A cache with the store behind it that is named, if one is. Processes with the same marker do not ask a store that has
/// failed once.
pub(super) fn behind(cache: Cache, named: Option<&str>, kind: &str, marker: Option<PathBuf>) -> Result<Cache> {
    let Some(address) = address(named)? else { return Ok(cache) };
    let store = rewright_store::open(&address).context("no store for results")?;
    out::detail(|| format!("store: {address}"));
    Ok(cache.with_store(Shared::new(store, kind, marker)))
}
