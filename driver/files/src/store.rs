//! A second place behind a [`Cache`](super::cache::Cache) that many machines share.
//!
//! **Invariant**: what is found is what was kept under an equal key: an entry begins with a SHA-256 of its kind, key
//! and content, and one that does not fit does not count. Users who may write to a store are trusted nevertheless: they
//! can keep anything under any key.
//!
//! A store that fails is not asked again, by this process or by others that have the same marker.

use super::key::Key;
use super::place;
use sha2::{Digest, Sha256};
use std::fmt::{self, Debug, Formatter};
use std::fs::{self, Permissions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Contents by name.
pub trait Store: Send + Sync {
    /// What messages call it.
    fn address(&self) -> String;

    /// What is kept under a name.
    ///
    /// # Errors
    /// Where that cannot be found out.
    fn get(&self, name: &str) -> io::Result<Option<Vec<u8>>>;

    /// Keeps a content, whole or not at all.
    ///
    /// # Errors
    /// Where it is not kept.
    fn put(&self, name: &str, content: &[u8]) -> io::Result<()>;
}

/// A folder, which may be on a file system of the network. It grows; its owner cleans it up.
pub struct Folder(PathBuf);

impl Folder {
    /// It need not exist.
    pub fn new(path: PathBuf) -> Self {
        Folder(path)
    }
}

impl Store for Folder {
    fn address(&self) -> String {
        self.0.display().to_string()
    }

    fn get(&self, name: &str) -> io::Result<Option<Vec<u8>>> {
        match fs::read(self.0.join(name)) {
            Ok(content) => Ok(Some(content)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn put(&self, name: &str, content: &[u8]) -> io::Result<()> {
        let file = self.0.join(name);
        file.parent().map_or(Ok(()), fs::create_dir_all)?;
        // Others are to read it.
        place(&file, content, Permissions::from_mode(0o644))
    }
}

/// A SHA-256 in hexadecimal.
pub fn digest(content: &[u8]) -> String {
    Sha256::digest(content).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// What an entry begins with; another form has another name.
const MAGIC: &[u8] = b"rewright result 1\n";

/// Results of one kind in a store.
pub struct Shared {
    store: Arc<dyn Store>,
    kind: String,
    failed: AtomicBool,
    /// A file that says that the store has failed.
    marker: Option<PathBuf>,
}

impl Debug for Shared {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{} in {}", self.kind, self.store.address())
    }
}

/// Why there is no result.
type Trouble = String;

impl Shared {
    /// Results of a kind, which is part of their names. Processes with the same marker do not ask a store that has
    /// failed once.
    pub fn new(store: Arc<dyn Store>, kind: &str, marker: Option<PathBuf>) -> Self {
        // Machine code and runs of it are of one kind of machine.
        let kind = format!("{kind}-{}-{}", std::env::consts::ARCH, std::env::consts::OS);
        Shared { store, kind, failed: AtomicBool::new(false), marker }
    }

    fn name(&self, key: Key) -> String {
        let key = key.to_string();
        format!("{}/{}/{}", self.kind, &key[..2], &key[2..])
    }

    fn head(&self, key: Key, content: &[u8]) -> Vec<u8> {
        let mut sum = Sha256::new();
        for part in [MAGIC, self.kind.as_bytes(), b"\0", &key.bytes(), content] {
            sum.update(part);
        }
        [MAGIC, &sum.finalize()].concat()
    }

    fn is_out(&self) -> bool {
        self.failed.load(Ordering::Relaxed) || self.marker.as_ref().is_some_and(|marker| marker.exists())
    }

    fn failure(&self, error: &io::Error) -> Trouble {
        self.failed.store(true, Ordering::Relaxed);
        self.marker.as_ref().map(fs::File::create);
        format!("results are not shared: {}: {error}", self.store.address())
    }

    /// What is kept under a key.
    ///
    /// # Errors
    /// What went wrong; there is no result then.
    pub(super) fn find(&self, key: Key) -> Result<Option<Vec<u8>>, Trouble> {
        if self.is_out() {
            return Ok(None);
        }
        let name = self.name(key);
        let Some(mut entry) = self.store.get(&name).map_err(|error| self.failure(&error))? else { return Ok(None) };
        let length = self.head(key, b"").len();
        let is_sound = entry.split_at_checked(length).is_some_and(|(head, content)| *head == self.head(key, content));
        if !is_sound {
            return Err(format!(
                "{name} of {} is not what was kept under that name; it is made again",
                self.store.address()
            ));
        }
        entry.drain(..length);
        Ok(Some(entry))
    }

    /// Keeps a result.
    ///
    /// # Errors
    /// Why it is not kept.
    pub(super) fn keep(&self, key: Key, content: &[u8]) -> Result<(), Trouble> {
        if self.is_out() {
            return Ok(());
        }
        let entry = [&self.head(key, content), content].concat();
        self.store.put(&self.name(key), &entry).map_err(|error| self.failure(&error))
    }
}
