//! Folders for what a command needs while it runs.
//!
//! A process that is killed, as builds often are (Ctrl-C), removes nothing. So each folder is locked as long as its
//! owner lives, and a process that makes one first removes those that are not locked: the system releases a lock when
//! its process ends, however that ends.
//!
//! **Invariant**: a folder whose owner lives stays. Between making one and locking it there is a moment, so young ones
//! stay, too.

use crate::scratch_folder;
use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::time::Duration;
use tempfile::TempDir;

/// How the names of our folders begin.
const PREFIX: &str = "rewright-";

/// A younger folder may not be locked yet.
const YOUNG: Duration = Duration::from_secs(60);

/// A folder that goes with its owner, or when the next one is made beside it.
pub struct Scratch {
    folder: TempDir,
    _lock: File,
}

impl Scratch {
    /// A folder where the system has such things.
    ///
    /// # Errors
    /// Where none can be made.
    pub fn new() -> io::Result<Self> {
        let place = std::env::temp_dir();
        sweep(&place);
        Self::inside(&place)
    }

    /// A folder in one that goes as a whole.
    ///
    /// # Errors
    /// Where none can be made.
    pub fn inside(place: &Path) -> io::Result<Self> {
        let folder = scratch_folder(PREFIX, place)?;
        let lock = File::open(folder.path())?;
        lock.lock()?;
        Ok(Scratch { folder, _lock: lock })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }
}

/// Removes folders of ours that are not locked. A folder that cannot be removed stays: it may be another user's.
fn sweep(place: &Path) {
    let Ok(entries) = fs::read_dir(place) else { return };
    let ours = entries.flatten().filter(|entry| entry.file_name().as_encoded_bytes().starts_with(PREFIX.as_bytes()));
    for entry in ours {
        let facts = entry.metadata().ok().filter(fs::Metadata::is_dir);
        let age = facts.and_then(|facts| facts.modified().ok()?.elapsed().ok());
        if age.is_some_and(|age| age >= YOUNG)
            && let Ok(folder) = File::open(entry.path())
            && folder.try_lock().is_ok()
        {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::SystemTime;

    #[test]
    fn only_what_nobody_holds_is_removed() {
        let place = tempfile::tempdir().unwrap();
        let old = |path: &Path| File::open(path).unwrap().set_modified(SystemTime::UNIX_EPOCH).unwrap();
        let make = |name: &str| {
            let path = place.path().join(name);
            fs::create_dir(&path).unwrap();
            fs::write(path.join("raw.bc"), "").unwrap();
            path
        };
        let [left, young, other] = ["rewright-left", "rewright-young", "left"].map(make);
        let held = Scratch::inside(place.path()).unwrap();
        for path in [&left, &other, held.path()] {
            old(path);
        }
        sweep(place.path());
        assert_eq!([&left, &young, &other, held.path()].map(Path::exists), [false, true, true, true]);
        let path = held.path().to_path_buf();
        drop(held);
        assert!(!path.exists());
    }
}
