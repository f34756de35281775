//! Where machines share results: a store by its address. A folder, say on a file system of the network, needs nothing
//! else; Redis and S3 come through `opendal`, the only network that results of ours take, in builds with the feature
//! `remote`.
//!
//! **Invariant**: no store is trusted. The contents of one are checked by [`rewright_files::store::Shared`], and one
//! that fails or is slow costs seconds, and never a result.

#[cfg(feature = "remote")]
mod remote;

use rewright_files::store::{Folder, Store};
use std::path::Path;
use std::sync::Arc;

/// Why there is no such store.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The text is no address.
    #[error(
        "`{0}` is no store: name a folder by its whole path (`/mnt/results`), `redis://host:6379` or `s3://bucket/path`"
    )]
    Address(String),
    /// The feature is missing.
    #[error(
        "`{0}` is reached over the network, and this `rewright` was built without: build it with `--features \
         remote-cache`, or name a folder by its whole path"
    )]
    NotBuilt(String),
    /// The address, or what it needs of the environment, has mistakes.
    #[error("{0}: {1}")]
    Refused(String, String),
}

/// The store at an address. Nothing is read, written or connected yet.
///
/// # Errors
/// Where the address has mistakes, or this build has no such stores.
pub fn open(address: &str) -> Result<Arc<dyn Store>, StoreError> {
    let path = address.strip_prefix("file://").unwrap_or(address);
    if Path::new(path).is_absolute() {
        return Ok(Arc::new(Folder::new(path.into())));
    }
    match address.split_once("://") {
        Some(("redis" | "rediss" | "s3", rest)) if !rest.is_empty() => network(address),
        _ => Err(StoreError::Address(address.into())),
    }
}

/// The folder that a store at this address will make when something is kept there.
pub fn missing_folder(address: &str) -> Option<&Path> {
    let path = Path::new(address.strip_prefix("file://").unwrap_or(address));
    (path.is_absolute() && !path.exists()).then_some(path)
}

#[cfg(feature = "remote")]
fn network(address: &str) -> Result<Arc<dyn Store>, StoreError> {
    match remote::Remote::new(address) {
        Ok(remote) => Ok(Arc::new(remote)),
        Err(error) => Err(StoreError::Refused(address.into(), error.to_string())),
    }
}

#[cfg(not(feature = "remote"))]
fn network(address: &str) -> Result<Arc<dyn Store>, StoreError> {
    Err(StoreError::NotBuilt(address.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_folders_or_say_what_they_should_be() {
        let folder = tempfile::tempdir().unwrap();
        for address in [folder.path().display().to_string(), format!("file://{}", folder.path().display())] {
            let store = open(&address).unwrap();
            store.put("a/b", b"one").unwrap();
            assert_eq!((store.get("a/b").unwrap(), store.get("a/c").unwrap()), (Some(b"one".to_vec()), None));
        }
        for wrong in ["results", "", "ftp://host/x", "redis://", "file://results"] {
            let error = open(wrong).err().map(|error| error.to_string()).unwrap_or_default();
            assert!(error.contains("is no store: name a folder by its whole path"), "{wrong}: {error}");
        }
        #[cfg(not(feature = "remote"))]
        for network in ["redis://localhost", "s3://bucket/results"] {
            let error = open(network).err().map(|error| error.to_string()).unwrap_or_default();
            assert!(error.contains("--features remote-cache"), "{network}: {error}");
        }
    }
}
